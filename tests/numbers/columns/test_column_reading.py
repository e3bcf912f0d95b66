"""Columns of other libraries: every value as it is, or one line that says what would do."""

import datetime
from fractions import Fraction

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.data import from_table
from adelic.errors import AdelicError, EncodingError
from adelic.numbers.columns.reading import read_values

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


def test_years_that_int64_counts_no_days_of():
    with pytest.raises(EncodingError, match="is no day that int64 counts"):
        read_values(np.array([2**60], dtype="datetime64[Y]"))


@pytest.mark.parametrize("read", [read_values, lambda t: from_table(t, target="x")], ids=["values", "table"])
def test_tables_that_have_no_columns(read):
    with pytest.raises(AdelicError, match=r"^a LazyFrame has no values yet; collect\(\) makes a data frame of it$"):
        read(pl.LazyFrame({"x": [1]}))
    with pytest.raises(AdelicError, match=r"^the table has two columns 'x'; rename one of them$"):
        read(pa.table([[1], [2]], names=["x", "x"]))


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        (pl.Series([datetime.time(12, 30)]), "take the seconds since midnight"),
        (pd.Series([datetime.time(12, 30)]), "take the seconds since midnight"),
        (pl.Series([datetime.timedelta(1)]), "take its seconds"),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), "take its first day"),
    ],
    ids=["polars", "pandas", "span", "period"],
)
def test_times_that_are_no_numbers(column, remedy):
    with pytest.raises(
        EncodingError, match=rf"^argument must be a string or a number, not .* at position \[0\]; {remedy}"
    ):
        read_values(column)
