"""Columns of tables as exact rationals and p-adic digits: what `adelic.integrations.sklearn` makes features of.

Tables bring what lists of numbers do not: integers that are stored as floats, missing entries, text and objects, and
decimals whose denominators the primes of the space divide.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError
from adelic.integrations.floats import read_floats
from adelic.numbers import AdeleSpace, rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.places import finite
from adelic.numbers.places.real import nearest_floats
from adelic.numbers.rationals import Rationals

_NUMBERS = (int, float, str, Fraction, Decimal, np.number, np.bool_)


class ValueTypeError(EncodingError, TypeError):
    """A value is of a type that no number has; a TypeError too, as scikit-learn expects of its estimators.

    >>> read_column(np.array([{}], dtype=object), floats="error")
    Traceback (most recent call last):
    adelic.integrations.columns.ValueTypeError: argument must be a string or a number, not dict: {} at position [0]
    """


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        numbers: its values, 0 where one is missing.
        is_missing: where a value is NaN, None or NA, bool (rows,).
        dtype: that of the values; object where they are text or Python objects.
        real: the nearest float64 of each number, where that is known without computing it.
    """

    numbers: Rationals
    is_missing: npt.NDArray[np.bool_]
    dtype: np.dtype[Any]
    real: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a column's numbers.

    Attributes:
        real: the nearest float64, (rows,).
        digits: p-adic digits, (rows, n_primes, max_precision), lowest first.
    """

    real: npt.NDArray[np.float64]
    digits: npt.NDArray[Any]


def columns_of(table: Any) -> list[npt.NDArray[Any]]:
    """Return the columns of a pandas or polars data frame, or of a matrix, as one-dimensional arrays.

    >>> [column.tolist() for column in columns_of(np.array([[1, 2], [3, 4]]))]
    [[1, 3], [2, 4]]
    """
    if not hasattr(table, "columns"):
        return [table[:, j] for j in range(table.shape[1])]
    if hasattr(table, "iloc"):
        return [_from_pandas(table.iloc[:, j]) for j in range(table.shape[1])]
    return [_from_polars(table[:, j]) for j in range(table.shape[1])]


def _from_pandas(series: Any) -> npt.NDArray[Any]:
    """Return a pandas series; as objects where NumPy would make floats of integers beside an NA."""
    has_gaps = not isinstance(series.dtype, np.dtype) and series.isna().any()
    return np.asarray((series.astype(object) if has_gaps else series).to_numpy())


def _from_polars(series: Any) -> npt.NDArray[Any]:
    """Return a polars series; as objects where NumPy would make floats of integers beside a null."""
    is_plain = (series.dtype.is_numeric() and not series.dtype.is_decimal()) or str(series.dtype) == "Boolean"
    if series.null_count() == 0 and is_plain:
        return np.asarray(series.to_numpy())
    return objects(series.to_list())


def objects(values: list[Any]) -> npt.NDArray[np.object_]:
    """Return values as an array of objects with one axis, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def read_column(values: npt.NDArray[Any], *, floats: str) -> Column:
    """Return a column as exact rationals.

    Floats that are integers a float of their type is sure to hold (below 2^53 for float64) are these integers, whatever
    the policy: tables store integers so. Other floats follow the policy. Truth values are 1 and 0.

    Args:
        values: integers, floats, truth values, text or objects, (rows,).
        floats: the policy, as for `AdeleSpace.encode`.

    Raises:
        EncodingError: a value is not a number, or a float comes without a policy.
        ValueTypeError: a value's type is not one of numbers.
        DivisionByZeroError: a denominator is zero.

    >>> column = read_column(np.array([3.0, np.nan, 0.1]), floats="shortest")
    >>> column.numbers.numerators, column.numbers.denominators, column.is_missing
    (array([3, 0, 1]), array([ 1,  1, 10]), array([False,  True, False]))
    """
    if values.dtype.kind == "f":
        is_missing = np.isnan(values)
        numbers = _read_floats(values, is_missing, floats)
        # What is read of a float64 is nearer to no other, unless a denominator is limited.
        is_nearest = values.dtype == np.float64 and floats in ("shortest", "exact")
        real = np.where(is_missing, 0.0, values) + 0.0 if is_nearest else None  # no −0
        return Column(numbers, is_missing, values.dtype, real)
    if values.dtype.kind == "b":
        return replace(read_column(values.astype(np.uint8), floats=floats), dtype=values.dtype)
    if values.dtype.kind == "O":
        is_missing = np.array([_is_missing(value) for value in values], dtype=np.bool_)
        found = [0 if missing else _plain(v, i) for i, (v, missing) in enumerate(zip(values, is_missing, strict=True))]
        return Column(rationals.read(found, floats=floats), is_missing, values.dtype)
    numbers = rationals.read(values, floats=floats)
    is_text = values.dtype.kind not in "iu"
    dtype = np.dtype(object) if is_text else values.dtype
    return Column(numbers, np.zeros(len(values), dtype=np.bool_), dtype)


def _read_floats(values: npt.NDArray[Any], is_missing: npt.NDArray[np.bool_], floats: str) -> Rationals:
    """Return floats under a policy; each of those that are not integers is read once, however often it occurs."""
    rationals.float_policy(floats)  # an unknown policy is an error for integers, too
    values = np.where(is_missing, values.dtype.type(0), values)
    is_integer = (np.abs(values) < _exact_below(values.dtype)) & (np.trunc(values) == values)
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


def _exact_below(dtype: np.dtype[Any]) -> float:
    """Return 2^b where floats have b bits: each integer below is one of them, and the neighbour of no other."""
    return float(2.0 ** (np.finfo(dtype).nmant + 1))


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, pandas's NA, or NaN of any type."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def _plain(value: Any, row: int) -> Any:
    """Return an object as `rationals.read` takes it in a list of numbers."""
    if not isinstance(value, _NUMBERS):
        kind = f"argument must be a string or a number, not {type(value).__name__}"
        raise ValueTypeError(f"{kind}: {describe(value)}{at_position((row,))}")
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        limit = _exact_below(value.dtype) if isinstance(value, np.floating) else rationals.EXACT
        return int(value) if abs(float(value)) < limit and value == int(value) else value
    return value


def encode_column(
    numbers: Rationals, space: AdeleSpace, *, truncate: bool, real: npt.NDArray[np.float64] | None = None
) -> Coordinates:
    """Return the coordinates of numbers in the window of digits that the space holds.

    Args:
        numbers: rationals.
        space: the space.
        truncate: where p divides a denominator more often than the window has fractional digits, leave out the digits
            below the window, at that p alone; otherwise that is an error.
        real: the nearest float64 of each number, if that is known.

    Raises:
        PrecisionError: there are digits below the window.

    >>> space = AdeleSpace(primes=(2, 5), precision=4)
    >>> encode_column(rationals.read(["7/5"]), space, truncate=True)    # 7/5 is 1.2 in Q_5
    Coordinates(real=array([1.4]), digits=array([[[1, 1, 0, 1],
            [1, 0, 0, 0]]], dtype=uint8))
    """
    n, m = numbers.numerators, numbers.denominators
    real = nearest_floats(numbers) if real is None else real
    if truncate and not numbers.is_small and (fits := _fits_int64(numbers)).any():  # few long numbers slow no others
        parts = [
            encode_column(
                Rationals(n[rows].astype(dtype), m[rows].astype(dtype), (int(rows.sum()),)),
                space,
                truncate=truncate,
                real=real[rows],
            )
            for rows, dtype in ((fits, np.int64), (~fits, object))
        ]
        digits = np.empty((len(n), *parts[0].digits.shape[1:]), dtype=parts[0].digits.dtype)
        digits[fits], digits[~fits] = parts[0].digits, parts[1].digits
        return Coordinates(real, digits)
    below = np.flatnonzero(_has_digits_below(numbers, space)) if truncate else np.empty(0, dtype=np.int64)
    if not len(below):
        return Coordinates(real, _encode(numbers, space)[..., ::-1])
    inside = np.ones(len(n), dtype=np.bool_)
    inside[below] = False
    rest = _encode(Rationals(n[inside], m[inside], (int(inside.sum()),)), space)
    digits = np.empty((len(n), *rest.shape[1:]), dtype=rest.dtype)
    digits[inside] = rest
    for j, precision in enumerate(space.precisions):
        digits[below, j] = 0
        digits[below, j, -precision:] = _window(n[below], m[below], space.part([j]))
    return Coordinates(real, digits[..., ::-1])


def _fits_int64(numbers: Rationals) -> npt.NDArray[np.bool_]:
    n, m = numbers.numerators.astype(object), numbers.denominators.astype(object)
    return np.asarray((np.abs(n) < 2**63) & (m < 2**63), dtype=np.bool_)


def _encode(numbers: Rationals, space: AdeleSpace) -> npt.NDArray[Any]:
    """Return the digits alone, (rows, n_primes, precision), highest first."""
    digits = np.empty((len(numbers.numerators), space.n_primes, space.max_precision), finite.digit_dtype(space.primes))
    finite.encode(numbers, space.window, digits)
    return digits


def _has_digits_below(numbers: Rationals, space: AdeleSpace) -> npt.NDArray[np.bool_]:
    """Return where some prime divides the denominator more often than the window has fractional digits."""
    found = np.zeros(len(numbers.numerators), dtype=np.bool_)
    if numbers.is_integral:
        return found
    for p in space.primes:
        power = p ** (space.fractional_digits + 1)
        if power < 2**63 or not numbers.is_small:  # others divide no int64
            found |= (numbers.denominators % power == 0).astype(np.bool_)
    return found


def _window(n: npt.NDArray[Any], m: npt.NDArray[Any], place: AdeleSpace) -> npt.NDArray[Any]:
    """Return the digits of n/m at p^(N − F − 1) … p^(−F), (rows, N), p the one prime of a space; not those below.

    Where m = p^k · m', they are the digits of n/m' from p^(k − F) on, and n/m' has no fractional digits.
    """
    (p,), precision, fractional = place.primes, place.max_precision, place.fractional_digits
    valuations, m = np.zeros(len(n), dtype=np.int64), m.copy()
    while (divisible := (m % p == 0).astype(np.bool_)).any():
        m[divisible] //= p
        valuations[divisible] += 1
    out: npt.NDArray[Any] | None = None
    for k in np.unique(valuations).tolist():
        rows = np.flatnonzero(valuations == k)
        if k <= fractional:
            digits = _encode(Rationals(n[rows], m[rows] * p**k if k else m[rows], rows.shape), place)
        else:
            deep = AdeleSpace((p,), precision + k - fractional)
            digits = _encode(Rationals(n[rows], m[rows], rows.shape), deep)
        out = np.empty((len(n), precision), dtype=digits.dtype) if out is None else out
        out[rows] = digits[:, 0, :precision]
    return np.empty((0, precision), dtype=np.uint8) if out is None else out
