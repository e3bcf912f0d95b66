"""Columns of tables as exact rationals, with dates, missing entries and types, which lists of numbers lack.

That is integers stored as floats, missing entries, dates, truth values, text and objects.
"""

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.rationals import Rationals, entries, is_pair, objects

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?")
_NUMBERS = (Rational, float, str, Decimal, np.number, np.bool_)


_REMEDIES = {
    "time": "; take the seconds since midnight",
    "timedelta": "; take its seconds: total_seconds()",
    "Timedelta": "; take its seconds: total_seconds()",
    "Period": "; take its first day: to_timestamp()",
}
"""The name of values that are often in tables and are no numbers."""


class ValueTypeError(EncodingError, TypeError):
    """A value is of a type that no number has; a TypeError too, as scikit-learn expects of its estimators.

    >>> read_column(np.array([{}], dtype=object), floats="error")
    Traceback (most recent call last):
    adelic.numbers.columns.reading.ValueTypeError: argument must be a string or a number, not dict: {} at position [0]
    """


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        numbers: its values, 0 if one is missing.
        is_missing: whether a value is NaN, None or NA, bool (rows,).
        dtype: the dtype of the values; object if they are text or Python objects.
        real: the nearest float64 of each number, if that is known without computing it.
        seconds: of the day, int64 (rows,), of dates and times, if a caller has taken them apart.
    """

    numbers: Rationals
    is_missing: npt.NDArray[np.bool_]
    dtype: np.dtype[Any]
    real: npt.NDArray[np.float64] | None = None
    seconds: npt.NDArray[np.int64] | None = None


def columns_of(table: Any) -> list[npt.NDArray[Any]]:
    """Return the columns of a pandas or polars data frame, an Arrow table or a matrix, as one-dimensional arrays.

    >>> [column.tolist() for column in columns_of(np.array([[1, 2], [3, 4]]))]
    [[1, 3], [2, 4]]
    """
    is_frame(table)  # or an error
    if hasattr(table, "column_names"):
        return [_from_arrow(table.column(j)) for j in range(table.num_columns)]
    if not hasattr(table, "columns"):
        return [table[:, j] for j in range(table.shape[1])]
    if hasattr(table, "iloc"):
        return [_from_pandas(table.iloc[:, j]) for j in range(table.shape[1])]
    return [_from_polars(table[:, j]) for j in range(table.shape[1])]


def is_frame(table: Any) -> bool:
    """Return whether a table is a data frame or an Arrow table, whose columns have their own types.

    A lazy frame, which has no values yet, is an EncodingError, and so are two equal names.

    >>> is_frame(np.eye(2))
    False
    """
    if hasattr(table, "collect_schema") and not hasattr(table, "shape"):
        raise EncodingError(f"a {type(table).__name__} has no values yet; collect() makes a data frame of it")
    is_arrow, has_dtypes = hasattr(table, "column_names"), hasattr(table, "columns") and hasattr(table, "dtypes")
    names = list(table.column_names if is_arrow else table.columns) if is_arrow or has_dtypes else []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise EncodingError(f"the table has two columns {describe(twice)}; rename one of them")
    return bool(names) or has_dtypes


def _from_arrow(column: Any) -> npt.NDArray[Any]:
    """Return a column of Arrow; as objects if NumPy would make floats of other values."""
    array = np.asarray(column.to_numpy(zero_copy_only=False))
    is_plain = array.dtype.kind in "biuM" or str(column.type) in ("halffloat", "float", "double")
    return array if is_plain else objects(column.to_pylist())


def _from_pandas(series: Any) -> npt.NDArray[Any]:
    """Return a pandas series; as objects if NumPy would make floats of integers next to an NA."""
    has_gaps = not isinstance(series.dtype, np.dtype) and series.isna().any()
    if has_gaps and series.dtype.kind == "f" and hasattr(series.dtype, "numpy_dtype"):
        return np.asarray(series.to_numpy(series.dtype.numpy_dtype, na_value=np.nan))  # objects would all be float64
    return np.asarray((series.astype(object) if has_gaps else series).to_numpy())


def _from_polars(series: Any) -> npt.NDArray[Any]:
    """Return a polars series; as objects if NumPy would make floats of integers next to a null."""
    is_plain = (series.dtype.is_numeric() and not series.dtype.is_decimal()) or str(series.dtype) == "Boolean"
    if is_plain and (series.null_count() == 0 or series.dtype.is_float()):  # NaN for null: objects would be float64
        return np.asarray(rationals.as_array(series))
    return objects(series.to_list())


def read_column(values: npt.NDArray[Any], *, floats: str) -> Column:
    """Return a column as exact rationals.

    Floats that are integers a float of their type is sure to hold (below 2^53 for float64) are these integers, whatever
    the policy: tables store integers so. Other floats follow the policy. Truth values are 1 and 0. A date, also as the
    text "2026-11-23", is its number of days since 1 January 1970, in its own time zone; with a time of day it is none.
    A time of day alone is its seconds since midnight.
    Nothing tells a whole number next to dates from such a number of days. With floats="never", for callers that take no
    policy, truth values are refused.

    Values are integers, floats, truth values, dates, text or objects, (rows,). A value that is not a number, or a float
    without a policy, is an EncodingError, another type a ValueTypeError, a denominator 0 a DivisionByZeroError.

    >>> column = read_column(np.array([3.0, np.nan, 0.1]), floats="shortest")
    >>> column.numbers.numerators, column.numbers.denominators, column.is_missing
    (array([3, 0, 1]), array([ 1,  1, 10]), array([False,  True, False]))
    """
    if values.dtype.kind == "f":
        gaps = np.isnan(values)
        numbers = _read_floats(values, gaps, floats)
        # A number read from a float64 is nearer to no other float, unless a denominator is limited.
        is_nearest = values.dtype == np.float64 and floats in ("shortest", "exact")
        real = np.where(gaps, 0.0, values) + 0.0 if is_nearest else None  # no −0
        return Column(numbers, gaps, values.dtype, real)
    if values.dtype.kind == "M":
        return _read_dates(values)
    if values.dtype.kind == "b" and floats != "never":
        return replace(read_column(values.astype(np.uint8), floats=floats), dtype=values.dtype)
    if values.dtype.kind == "O":
        gaps = np.array([is_missing(value) for value in values], dtype=np.bool_)
        pairs = enumerate(zip(values, gaps, strict=True))
        found = [0 if missing else _plain(v, i, floats) for i, (v, missing) in pairs]
        return Column(rationals.read(found, floats=floats), gaps, values.dtype)
    if values.dtype.kind in "US":
        return read_column(values.astype(object), floats=floats)
    return Column(rationals.read(values, floats=floats), np.zeros(len(values), dtype=np.bool_), values.dtype)


def _read_floats(values: npt.NDArray[Any], is_missing: npt.NDArray[np.bool_], floats: str) -> Rationals:
    """Return floats under a policy; each of those that are not integers is read once, however often it occurs."""
    rationals.float_policy(floats)  # an unknown policy is an error for integers, too
    values = np.where(is_missing, values.dtype.type(0), values)
    is_integer = (np.abs(values) < exact_below(values.dtype)) & (np.trunc(values) == values)
    numerators = np.where(is_integer, values, 0).astype(np.int64)
    if is_integer.all():
        return rationals.read(numerators, transient=True)
    denominators = np.ones(len(values), dtype=np.int64)
    others = np.flatnonzero(~is_integer)
    distinct, first, inverse = np.unique(values[others], return_index=True, return_inverse=True)
    try:
        read = read_floats(distinct, floats)
    except EncodingError:
        for i in others[np.sort(first)].tolist():  # name the first row that will not do, not the smallest number
            try:
                rationals.read(values[i], floats=floats)
            except EncodingError as error:
                raise EncodingError(f"at position [{i}]: {error}") from None
        raise
    numerators, denominators = (part.astype(read.numerators.dtype) for part in (numerators, denominators))
    numerators[others], denominators[others] = read.numerators[inverse], read.denominators[inverse]
    return Rationals(numerators, denominators, values.shape)


def _read_dates(values: npt.NDArray[np.datetime64], first: int = 0) -> Column:
    """Return dates, the rows of a column from the first one on, as days since 1 January 1970.

    >>> _read_dates(np.array(["1970-01-08", "NaT"], dtype="datetime64[ns]")).numbers.numerators
    array([7, 0])
    """
    is_missing = np.isnat(values)
    # In two steps, since NumPy knows no factor between days and units finer than nanoseconds.
    middle = values.astype("datetime64[ms]") if np.datetime_data(values.dtype)[0] in ("ps", "fs", "as") else values
    days = middle.astype("datetime64[D]")
    # Back, since years that are too far wrap around.
    timed = np.flatnonzero(
        ((days.astype(middle.dtype) != middle) | (middle.astype(values.dtype) != values)) & ~is_missing
    )
    if len(timed):
        raise EncodingError(
            f"{values[timed[0]]}{at_position((first + int(timed[0]),))} has a time of day, or is no day that int64 "
            "counts; round to days, or take the seconds since some moment as a column of integers"
        )
    numbers = np.where(is_missing, 0, days.astype(np.int64))
    return Column(rationals.read(numbers), is_missing, values.dtype)


def exact_below(dtype: np.dtype[Any]) -> float:
    """Return 2^b for floats of b bits: each integer below is one of them, and the neighbour of no other.

    Of long floats it is 2^63 at most, which int64 holds.

    >>> exact_below(np.dtype(np.float32)) == 2**24
    True
    """
    return float(2.0 ** min(np.finfo(dtype).nmant + 1, 63))


def is_missing(value: Any) -> bool:
    """Return whether a value is None, pandas's NA or NaT, or NaN of any type."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # to compare a signalling NaN raises
    return isinstance(value, (float, np.floating)) and bool(value != value)


def is_date_text(value: str) -> bool:
    """Return whether a text is written as a date; as a number it means nothing.

    >>> is_date_text("2026-11-23"), is_date_text("2026-11")
    (True, False)
    """
    return _DATE.fullmatch(value.strip()) is not None


def seconds_of(value: Any) -> Fraction | None:
    """Return the seconds since midnight of a time of day, also of text such as "13:30" or "13:30:05"; else None.

    >>> seconds_of("13:30"), seconds_of(datetime.time(0, 1)), seconds_of("25:00")
    (Fraction(48600, 1), Fraction(60, 1), None)
    """
    is_read = isinstance(value, str | datetime.time) and _CLOCK.fullmatch(str(value).strip())
    if not is_read:
        return None
    hour, minute, second = is_read.groups("0")
    return 3600 * int(hour) + 60 * int(minute) + Fraction(second)


def is_any_missing(values: Any) -> bool:
    """Return whether an entry of an array, a series or nested lists is None, NA or NaN.

    >>> is_any_missing([[1, None], [2, 3]]), is_any_missing([1, "x"])
    (True, False)
    """
    return any(is_missing(value) for value in series_of(values).reshape(-1).tolist())


def _plain(value: Any, row: int, floats: str) -> Any:
    """Return an object as `rationals.read` takes it in a list of numbers."""
    if (seconds := seconds_of(value)) is not None:
        return seconds
    if isinstance(value, str) and is_date_text(value):
        try:
            value = datetime.date.fromisoformat(value.strip())
        except ValueError as error:
            raise EncodingError(f"{describe(value)}{at_position((row,))} is not a date: {error}") from None
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)  # the day by its own clock, not by UTC
    if isinstance(value, datetime.date):
        # NumPy's array would drop the nanoseconds of pandas' Timestamp, so it converts itself.
        dates = np.array([getattr(value, "asm8", value)])
        dates = dates.astype("datetime64[us]") if dates.dtype == object else dates
        return int(_read_dates(dates, row).numbers.numerators[0])
    if not (isinstance(value, _NUMBERS) or is_pair(value) or rationals.is_flint(value)):
        kind = f"argument must be a string or a number, not {type(value).__name__}"
        remedy = _REMEDIES.get(type(value).__name__, "")
        raise ValueTypeError(f"{kind}: {describe(value)}{at_position((row,))}{remedy}")
    if isinstance(value, (bool, np.bool_)):
        return value if floats == "never" else int(value)
    if isinstance(value, (float, np.floating)):
        limit = exact_below(value.dtype) if isinstance(value, np.floating) else rationals.EXACT
        return int(value) if abs(float(value)) < limit and value == int(value) else value
    return value


def series_of(values: Any) -> npt.NDArray[Any]:
    """Return a pandas or polars series or data frame, an array, a tensor or nested lists as an array, (*).

    Nothing is lost: objects if NumPy would make floats of integers, or one type of floats of another, or forget which
    entries are masked; these are None. A tuple of two in a list is a pair, one entry.

    >>> series_of([1, None, 2**70])
    array([1, None, 1180591620717411303424], dtype=object)
    """
    if is_frame(values):
        parts = columns_of(values)
        kinds = {part.dtype for part in parts}
        return np.stack(parts if len(kinds) == 1 else [_as_objects(part) for part in parts], axis=-1)
    if hasattr(values, "iloc"):
        return _from_pandas(values)
    if hasattr(values, "null_count"):
        return _from_polars(values) if hasattr(values, "to_list") else _from_arrow(values)
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        return np.asarray((values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy())
    if isinstance(values, np.ndarray):
        return unmasked(values)
    if not isinstance(values, list | tuple | range):
        array = np.asarray(values)
        return array if array.dtype.kind in "biufM" else np.array(values, dtype=object)
    try:
        array = np.asarray(values)
        if _keeps(array, leaf_types(values)):
            return array
    except ValueError:  # ragged, or pairs next to numbers
        pass
    return entries(list(values))


def unmasked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as it is, or of objects with None if an entry is masked.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True]))
    array([1, None], dtype=object)
    """
    if not (isinstance(array, np.ma.MaskedArray) and np.any(array.mask)):
        return array
    found = _as_objects(array.data)
    found[np.ma.getmaskarray(array)] = None
    return found


def _as_objects(array: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    """Return an array as one of objects, in which floats keep their types: astype would make each float64."""
    is_float = array.dtype.kind == "f"
    return objects(list(array.reshape(-1))).reshape(array.shape) if is_float else np.asarray(array.astype(object))


def matrix_of(table: Any) -> Any:
    """Return rows, each a list or tuple, as a matrix that loses nothing, and a matrix without masks; all else as it is.

    >>> matrix_of([[1, 0.5], [2**60 + 1, 0.5]])
    array([[1, 0.5],
           [1152921504606846977, 0.5]], dtype=object)
    """
    if isinstance(table, np.ndarray):
        return unmasked(table)
    if not isinstance(table, list | tuple):
        return table
    array = np.asarray(table)
    is_safe = array.dtype.kind in "biuc" or (
        array.dtype.kind == "f"
        and _keeps(array, leaf_types(table, is_entry=lambda _: False))
        and not np.any(np.abs(array) >= rationals.EXACT)
    )
    return array if is_safe or array.ndim != 2 else np.array(table, dtype=object)


def leaf_types(values: Any, *, is_entry: Callable[[Any], bool] = is_pair) -> set[type]:
    """Return the types of the entries of nested sequences; float counts as numpy.float64, an array as its entries.

    >>> sorted(kind.__name__ for kind in leaf_types([[1, 0.5], [(1, 2), np.float32(1)]]))
    ['float32', 'float64', 'int', 'tuple']
    """
    found = set(map(type, values))
    if any(issubclass(kind, list | tuple | range | np.ndarray) for kind in found):
        found = set()
        for value in values:
            if isinstance(value, list | tuple | range) and not is_entry(value):
                found |= leaf_types(value, is_entry=is_entry)
            else:
                found.add(value.dtype.type if type(value) is np.ndarray else type(value))
    return {np.float64 if kind is float else kind for kind in found}


def _keeps(array: npt.NDArray[Any], types: set[type]) -> bool:
    """Return whether the array that NumPy made of entries of some types has all of them, and as they were."""
    kind = array.dtype.kind
    if kind in "iu":
        return all(issubclass(t, int | np.integer) and t is not bool for t in types)
    if kind == "f" and types == {int, np.float64}:
        return not np.any(np.abs(array) >= rationals.EXACT)
    return types == {array.dtype.type} or (kind, types) == ("b", {bool})


def read_values(values: Any, *, floats: str = "shortest") -> tuple[Rationals, npt.NDArray[np.bool_]]:
    """Return values of any shape as exact rationals, 0 if one is missing, and which are missing, bool (*).

    Values are whatever `rationals.read` takes, a tuple of two as (numerators, denominators), and whatever `series_of`
    does. Apart from missing entries and dates, they mean the same as there, except that floats that are integers are
    these integers whatever the policy, as tables store integers with gaps, and that with a policy truth values are 1
    and 0; `floats` is as for `read_column`. A value that is not a number, or ragged rows, are an EncodingError.

    >>> numbers, is_missing = read_values([["19.99", None], [3, 0.5]])
    >>> numbers.fraction(0), numbers.shape, is_missing.tolist()
    (Fraction(1999, 100), (2, 2), [[False, True], [False, False]])
    """
    if is_pair(values):
        numbers = rationals.read(values, floats=floats)
        return numbers, np.zeros(numbers.shape, dtype=np.bool_)
    array = series_of(values)
    column = read_column(array.reshape(-1), floats=floats)
    return Rationals(column.numbers.numerators, column.numbers.denominators, array.shape), column.is_missing.reshape(
        array.shape
    )


_DIGITS = 18
"""10^18 is an int64, and so is an integer of as many digits."""
_FEW_DECIMALS = 6
"""Floats with as few, such as prices, are read without their text, at a tenth of its time."""
_BITS = 62
"""2^62 is an int64."""

Integers = npt.NDArray[np.int64]


def read_floats(values: npt.NDArray[np.floating], floats: str) -> Rationals:
    """Return the result of `rationals.read` for floats, (rows,), at a tenth of its time.

    >>> read_floats(np.array([0.1, -2.5e-7]), "shortest")
    Rationals(numerators=array([ 1, -1]), denominators=array([     10, 4000000]), shape=(2,))
    """
    if floats not in ("shortest", "exact") or values.dtype.itemsize > 8 or not np.isfinite(values).all():
        return rationals.read(values, floats=floats)
    if floats == "exact":
        return _binary(values.astype(np.float64))
    if values.dtype != np.float64:
        return _decimal([str(v) for v in values])  # unique among floats of the same dtype, as repr is for float64
    # No two decimals of at most 15 digits have the same float64, so one that has it is the shortest.
    n, m = values, np.ones(len(values), dtype=np.int64)
    is_found = np.zeros(len(values), dtype=np.bool_)
    for k in range(_FEW_DECIMALS + 1):
        with np.errstate(over="ignore"):
            scaled = np.rint(values * 10.0**k)
        fits = ~is_found & (np.abs(scaled) < 1e15) & (scaled / 10.0**k == values)
        n, m, is_found = np.where(fits, scaled, n), np.where(fits, 10**k, m), is_found | fits
    n = np.where(is_found, n, 0).astype(np.int64)
    divisor, others = np.gcd(n, m), np.flatnonzero(~is_found)
    rest = _decimal([repr(v) for v in values[others].tolist()])
    pairs = list(zip(rest.numerators.tolist(), rest.denominators.tolist(), strict=True))
    return _joined(n // divisor, m // divisor, others, pairs)


def _decimal(texts: Sequence[str]) -> Rationals:
    """Return the numbers of texts such as "-0.25" and "1e+16", each n / 10^k."""
    n, k = np.empty(len(texts), dtype=np.int64), np.empty(len(texts), dtype=np.int64)
    for i, text in enumerate(texts):
        mantissa, _, exponent = text.partition("e")
        whole, _, decimals = mantissa.partition(".")
        n[i], k[i] = int(whole + decimals), len(decimals) - int(exponent or 0)
    is_small = (k >= 0) & (k <= _DIGITS)
    m = 10 ** np.where(is_small, k, 0)
    divisor = np.gcd(n, m)
    others = np.flatnonzero(~is_small)
    pairs = [(int(n[i]) * Fraction(10) ** -int(k[i])).as_integer_ratio() for i in others]
    return _joined(n // divisor, m // divisor, others, pairs)


def _binary(values: npt.NDArray[np.float64]) -> Rationals:
    """Return float64 numbers as they are, each n · 2^e with n odd, or 0."""
    mantissa, exponent = np.frexp(values)
    n, e = (mantissa * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53
    zeros = np.frexp((n & -n).astype(np.float64))[1].astype(np.int64) - 1  # at the low end of n
    zeros[n == 0] = 0
    n, e = n >> zeros, np.where(n == 0, 0, e + zeros)
    is_small = (e <= 0) & (e >= -_BITS)
    m = np.left_shift(1, np.where(is_small, -e, 0))
    others = np.flatnonzero(~is_small)
    pairs = [(int(n[i]) << max(0, int(e[i])), 1 << max(0, -int(e[i]))) for i in others]
    return _joined(n, m, others, pairs)


def _joined(n: Integers, m: Integers, others: Integers, pairs: list[tuple[int, int]]) -> Rationals:
    """Return int64 fractions, with longer ones at the positions of others."""
    if not len(others):
        return Rationals(n, m, n.shape)
    numerators, denominators = n.astype(object), m.astype(object)
    numerators[others], denominators[others] = zip(*pairs, strict=True)
    is_small = all(-(2**63) <= a < 2**63 and b < 2**63 for a, b in pairs)
    dtype = np.int64 if is_small else object
    return Rationals(numerators.astype(dtype), denominators.astype(dtype), n.shape)
