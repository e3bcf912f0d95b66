"""Floats are read many at a time as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import EncodingError
from adelic.numbers import rationals
from adelic.numbers.columns.floats import read_floats
from adelic.numbers.columns.reading import read_column

EDGES = [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53, 2.0**62, 2.0**63, 1e16, 1e22, 1e-18, 1e-19]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def assert_read_alike(values, policy):
    ours, theirs = read_floats(values, policy), rationals.read(values, floats=policy)
    assert ours.numerators.tolist() == theirs.numerators.tolist()
    assert ours.denominators.tolist() == theirs.denominators.tolist()
    assert ours.numerators.dtype == ours.denominators.dtype == theirs.numerators.dtype
    assert ours.shape == theirs.shape


@given(st.lists(FLOATS | st.floats(-1, 1) | st.floats(-(10.0**9), 10.0**9), max_size=6))
@pytest.mark.parametrize("policy", ["shortest", "exact", "limit:1000"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_floats_are_read_as_ever(policy, dtype, values):
    with np.errstate(over="ignore"):
        array = np.array(values, dtype=dtype)
    assert_read_alike(array[np.isfinite(array)], policy)


@pytest.mark.parametrize("policy", ["shortest", "exact"])
def test_floats_at_the_edges_are_read_as_ever(policy):
    for sign in (1, -1):
        for value in EDGES:
            around = np.array([value, np.nextafter(value, 0), np.nextafter(value, 1), 0.0, -0.0]) * sign
            assert_read_alike(around, policy)
            assert_read_alike(around[:1], policy)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_refused_as_ever(value):
    with pytest.raises(EncodingError, match="is not a rational number"):
        read_floats(np.array([0.5, value]), "shortest")
    with pytest.raises(EncodingError, match="is a float and may not be"):
        read_floats(np.array([0.5]), "error")


def test_nanoseconds_are_a_time_of_day():
    """NumPy's arrays of Python's dates drop what pandas has beyond microseconds."""
    pandas = pytest.importorskip("pandas")
    day, later = pandas.Timestamp("2020-01-01"), pandas.Timestamp("2020-01-01 00:00:00.000000001")
    assert read_column(np.array([day, day], dtype=object), floats="exact").numbers.numerators.tolist() == [18262] * 2
    with pytest.raises(EncodingError, match=r"at position \[1\] has a time of day"):
        read_column(np.array([day, later], dtype=object), floats="exact")
