"""Columns of other libraries: every value as it is, or one line that says what would do."""

import datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.data import from_table
from adelic.errors import AdelicError, EncodingError
from adelic.numbers import rationals
from adelic.numbers.columns.reading import read_floats, read_values

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

BIG = 2**60 + 1
DAYS = ("Y", "M", "W", "D", "h", "s", "ms", "us", "ns", "ps", "fs", "as")


def values_of(given):
    numbers, is_missing = read_values(given)
    pairs = zip(map(numbers.fraction, range(len(numbers.numerators))), is_missing.reshape(-1), strict=True)
    return [None if missing else number for number, missing in pairs]


@pytest.mark.parametrize("name", ["Int128", "UInt128"])
def test_polars_integers_of_128_bits(name):
    column = pl.Series("x", [2**100 + 1, 7], dtype=getattr(pl, name))
    assert values_of(column) == values_of(pl.DataFrame({"x": column})) == [2**100 + 1, 7]
    assert AdeleSpace(precision=30).encode(column).decode().tolist() == [2**100 + 1, 7]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, BIG]), [1, None, BIG]),
        (pa.array([1, BIG], pa.int64()), [1, BIG]),
        (pa.array([0.1, None], pa.float32()), [Fraction(1, 10), None]),
        (pa.array(["1/3", None]), [Fraction(1, 3), None]),
        (pa.array([datetime.date(1970, 1, 3), None]), [2, None]),
        (pa.array([True, None]), [1, None]),
    ],
    ids=str,
)
def test_arrow(column, expected):
    """A number beside a gap is no float."""
    assert values_of(column) == values_of(pa.chunked_array([column])) == values_of(pa.table({"x": column})) == expected


@pytest.mark.parametrize("unit", DAYS)
def test_dates_of_every_unit(unit):
    assert values_of(np.array([0, "NaT"], dtype=f"datetime64[{unit}]")) == [0, None]
    if DAYS.index(unit) > DAYS.index("D"):
        with pytest.raises(EncodingError, match=r" at position \[1\] has a time of day, or is no day"):
            read_values(np.array([0, 1], dtype=f"datetime64[{unit}]"))
    for day in (106750, -106750):  # nearly the last ones in nanoseconds
        if unit in ("D", "h", "s", "ms", "us", "ns"):
            assert values_of(np.array([day], dtype="datetime64[D]").astype(f"datetime64[{unit}]")) == [day]


@pytest.mark.parametrize("read", [read_values, lambda t: from_table(t, target="x")], ids=["values", "table"])
def test_tables_that_have_no_columns(read):
    with pytest.raises(AdelicError, match=r"^a LazyFrame has no values yet; collect\(\) makes a data frame of it$"):
        read(pl.LazyFrame({"x": [1]}))
    with pytest.raises(AdelicError, match=r"^the table has two columns 'x'; rename one of them$"):
        read(pa.table([[1], [2]], names=["x", "x"]))


NOON, NO_TEXT = datetime.time(12, 30), r"^argument must be a string or a number, not .* at position \[0\]; "
NANOSECOND = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000000001")]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.Series([NOON.replace(tzinfo=datetime.UTC)]), NO_TEXT + "take the seconds since midnight"),
        (pl.Series([datetime.timedelta(1)]), NO_TEXT + "take its seconds"),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), NO_TEXT + "take its first day"),
        (np.array([2**60], dtype="datetime64[Y]"), "is no day that int64 counts"),
        # NumPy's arrays of Python's dates drop what pandas has beyond microseconds.
        (np.array(NANOSECOND, dtype=object), r"at position \[1\] has a time of day"),
    ],
    ids=["with a zone", "span", "period", "years", "nanoseconds"],
)
def test_times_that_are_no_numbers(column, words):
    with pytest.raises(EncodingError, match=words):
        read_values(column)


@pytest.mark.parametrize("column", [pl.Series([NOON]), pd.Series([NOON]), ["12:30"], ["12:30:00.0"]])
def test_times_of_day_are_seconds_since_midnight(column):
    assert values_of(column) == [45_000]


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
@pytest.mark.parametrize("value", EDGES)
def test_floats_at_the_edges_are_read_as_ever(policy, value):
    for sign in (1, -1):
        around = np.array([value, np.nextafter(value, 0), np.nextafter(value, 1), 0.0, -0.0]) * sign
        assert_read_alike(around, policy)
        assert_read_alike(around[:1], policy)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_refused_as_ever(value):
    with pytest.raises(EncodingError, match="is not a rational number"):
        read_floats(np.array([0.5, value]), "shortest")
    with pytest.raises(EncodingError, match="is a float and may not be"):
        read_floats(np.array([0.5]), "error")
