"""Columns whose numbers were lost before are told; those whose numbers are what they seem are not."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import ConfigurationError, EncodingError, LeadingZerosWarning, LossyFloatWarning
from adelic.numbers.columns.lossy import _DIGITS, _is_short, check_lossy
from adelic.numbers.columns.reading import read_values


def told(values, floats="shortest"):
    return check_lossy(values, floats=floats, lossy="warn")


PRICES = st.lists(st.integers(-(10**11), 10**11).map(lambda cents: cents / 100), min_size=1, max_size=8)
INTEGERS = st.lists(st.integers(-(2**53) + 1, 2**53 - 1).map(float) | st.just(np.nan), min_size=1, max_size=8)
QUARTERS = st.lists(st.integers(-(2**30), 2**30).map(lambda n: n / 4), min_size=1, max_size=8)


@given(PRICES | INTEGERS | QUARTERS)
def test_clean_prices_and_integers_are_silent(values):
    assert told(np.array(values)) is None
    assert told(np.array(values, dtype=object)) is None


@given(st.lists(st.integers(-(2**24) + 1, 2**24 - 1), max_size=8), st.lists(st.integers(0, 10**7 - 1), max_size=8))
def test_clean_float32_is_silent(integers, cents):
    assert told(np.array([*integers, *(c / 100 for c in cents)], dtype=np.float32)) is None


@given(st.floats(2.0**53, allow_infinity=False), st.sampled_from([1, -1]), st.sampled_from(["exact", "limit:100"]))
def test_integers_beyond_a_float_are_told(value, sign, floats):
    for policy in (floats, "shortest"):
        with pytest.warns(LossyFloatWarning, match=r"position \[1\].* 2\^53.*Int64"):
            told([0.5, sign * value], policy)


@pytest.mark.parametrize(
    ("values", "bits"),
    [
        (np.array([2**24], np.float32), 24),
        (np.array([2**11], np.float16), 11),
        (torch.tensor([2.0**8], dtype=torch.bfloat16), 8),
        (torch.tensor([2.0**24]), 24),
        (pd.Series([2**24], dtype="Float32"), 24),
        (pl.Series([2.0**24], dtype=pl.Float32), 24),
        ([None, "1/3", np.float32(2**24)], 24),
        ([None, "1/3", 2.0**53], 53),
    ],
)
def test_each_type_of_floats_has_its_bound(values, bits):
    with pytest.warns(LossyFloatWarning, match=rf"2\^{bits},"):
        told(values)
    below = [value - 1 if isinstance(value, float | np.floating) else value for value in values]
    assert told(type(values)(below) if isinstance(values, pd.Series | list) else values - 1) is None


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != int(x)))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_digits_are_counted_as_in_the_shortest_decimal(dtype, value):
    value = dtype(value)
    if value == np.trunc(value):
        return
    digits = _DIGITS[np.dtype(dtype).name]
    written = str(value).partition("e")[0].lstrip("-0.").replace(".", "")
    assert _is_short(np.array([value]), digits).tolist() == [len(written) <= digits]


@given(st.integers(1, 10**15 - 1).filter(lambda n: n % 10), st.integers(1, 300))
def test_fifteen_digits_are_silent(n, exponent):
    value = float(f"{n}e-{exponent}")
    assert told([0.5, value]) is None or value == int(value)


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, float(np.float32(19.99)), 123456789.123456789])
def test_decimals_without_meaning_are_told(value):
    with pytest.warns(LossyFloatWarning, match=r"position \[2\]: .* round the column to its decimals"):
        told([0.5, 7, value])
    assert told([value], "exact") is told([value], "limit:1000") is None


def test_float32_that_was_widened_is_told_by_the_number_it_was():
    rng = np.random.default_rng(0)
    for size in (100, 10**4, 10**6):
        prices = rng.uniform(0, size, 200).round(2)
        with pytest.warns(LossyFloatWarning, match="seems to be the float32"):
            told(prices.astype(np.float32).astype(np.float64))
        assert told(prices) is None
    with pytest.warns(LossyFloatWarning, match=r"19\.989999771118164 seems to be the float32 19\.99"):
        told([float(np.float32(19.99))])


@given(st.integers(0, 6), st.lists(st.integers(-(2**24), 2**24), min_size=1, max_size=8))
def test_binary_fractions_are_no_widened_floats(exponent, numerators):
    """Halves, quarters, … of one kind, which float32 holds, have its last bit within one power of two."""
    assert told(np.array(numerators) / 2**exponent) is None


@pytest.mark.parametrize("text", ["00501", " 007", "-05", "00.5", "007/5", "0_1"])
def test_text_with_leading_zeros_is_told(text):
    with pytest.warns(LeadingZerosWarning, match=r"position \[2\].*leading zeros"):
        told(["0", "0.25", text], "error")
    with pytest.raises(EncodingError, match="column 'zip', at position"):
        check_lossy(pd.Series([text], name="zip"), floats="error", lossy="error")


def test_numbers_as_text_are_silent():
    assert told(["0", "0.5", "-0.25", "0/7", "10", "1e05", "0999-01-01", ".05", None]) is None


def test_one_warning_is_enough():
    with pytest.warns(LossyFloatWarning) as caught:
        message = told([2.0**60, 0.1 + 0.2, 2.0**61])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_lossy([2.0**60], floats="shortest", lossy="warn", told=[message])
        check_lossy([2.0**60], floats="shortest", lossy="ignore")
    with pytest.raises(EncodingError, match="1152921504606846976 is at or beyond"):
        check_lossy([2.0**60], floats="shortest", lossy="error")
    with pytest.raises(ConfigurationError, match="lossy='no' is unknown"):
        check_lossy([], floats="shortest", lossy="no")


F32 = np.array([19.99, 5, 0.1], np.float32)
SHORT = {
    "pandas": pd.Series([*F32, None], dtype="Float32"),
    "pyarrow": pd.Series([*F32, None], dtype=pd.ArrowDtype(pa.float32())),
    "polars": pl.Series([*F32.tolist(), None], dtype=pl.Float32),
    "masked": np.ma.array([*F32, np.float32(7)], mask=[0, 0, 0, 1]),
    "frame": pd.DataFrame({"a": [*F32, np.float32(np.nan)], "b": 1}),
}


@pytest.mark.parametrize("name", SHORT)
def test_short_floats_with_gaps_are_none_that_were_widened(name):
    numbers, is_missing = read_values(SHORT[name])
    first = [numbers.fraction(i) for i in range(len(is_missing.reshape(-1)))][:: 2 if name == "frame" else 1]
    assert first[:3] == [Fraction(1999, 100), 5, Fraction(1, 10)]
    assert is_missing.sum() == 1
    assert told(SHORT[name]) is None


@pytest.mark.parametrize(
    ("column", "word"),
    [
        (["3", "1.2345678901234568e+16"], r"beyond 2\^53"),
        (["1.5e+17", "3"], r"beyond 2\^53"),
        (["1.2345678901234568e16"], r"beyond 2\^53"),  # as polars writes it
        (["12345678901234568.0"], r"beyond 2\^53"),
        ([Decimal("0.30000000000000004"), Decimal(3)], "15 significant digits"),  # as JSON lines are read
        (["1.5", "0.30000000000000004"], "15 significant digits"),
        (["63.70000076293945", "19.989999771118164"], "float32"),
    ],
)
def test_text_that_is_a_float_as_programs_write_it_is_told(column, word):
    with pytest.raises(EncodingError, match=word):
        check_lossy(column, floats="never", lossy="error")


@pytest.mark.parametrize(
    "column",
    [
        ["12345678901234568"],
        ["1.30000000000000004", "0.30000000000000004"],  # the first is no float's
        ["19.99", "123456789.01", "-0.25", "3.14159265358979"],
        ["1e5", "2e-7", "7/5", "1e40"],
        ["2026-11-23"],
        ["12345678.12345678", "98765432.10000001"],  # amounts with eight decimals
        [Decimal("19.99"), Decimal("12345678901234568"), Decimal("1.30000000000000004")],
    ],
)
def test_exact_text_is_not_told(column):
    check_lossy(column, floats="never", lossy="error")
