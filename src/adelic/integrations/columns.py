"""Columns of tables as p-adic digits: what `adelic.integrations.sklearn` makes features of.

`adelic.numbers.columns` reads them. Here are decimals whose denominators the primes of the space divide.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import AdelicError
from adelic.numbers import AdeleSpace
from adelic.numbers.places import finite
from adelic.numbers.places.real import nearest_floats
from adelic.numbers.rationals import Rationals


def mantissa_bits(dtype: np.dtype[Any]) -> int:
    """Return how many bits of a float its type stores; 0 of other types.

    >>> mantissa_bits(np.dtype(np.float32)), mantissa_bits(np.dtype(np.int64))
    (23, 0)
    """
    return int(np.finfo(dtype).nmant) if dtype.kind == "f" else 0


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Put the name of a column before the errors of a block.

    >>> with naming("'day'"):
    ...     raise AdelicError("it is empty")
    Traceback (most recent call last):
    adelic.errors.AdelicError: column 'day': it is empty
    """
    try:
        yield
    except AdelicError as error:
        raise type(error)(f"column {column}: {error}") from None


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a column's numbers.

    Attributes:
        real: the nearest float64, (rows,).
        digits: p-adic digits, (rows, n_primes, max_precision), lowest first.
    """

    real: npt.NDArray[np.float64]
    digits: npt.NDArray[Any]


def encode_column(
    numbers: Rationals, space: AdeleSpace, *, truncate: bool, real: npt.NDArray[np.float64] | None = None
) -> Coordinates:
    """Return the coordinates of numbers in the window of digits that the space holds.

    Where p divides a denominator more often than the window has fractional digits, `truncate` leaves out the digits
    below the window, at that p alone; otherwise that is a PrecisionError. `real` has the nearest float64 of each
    number, if that is known.

    >>> from adelic.numbers import rationals
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
