"""Coordinates that a caller gives, read and checked; and the real row of the layout that a network eats."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, RangeError
from adelic.numbers import finite, rationals, real
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.real import RealPlace
from adelic.numbers.window import Window


def read_digits(given: npt.NDArray[Any], shape: tuple[int, ...], window: Window) -> FinitePlaces:
    """Return digits of numbers of a shape, all known, or raise `EncodingError`."""
    expected = (*shape, len(window.primes), window.precision)
    if given.shape != expected:
        raise EncodingError(f"digits have shape {given.shape}; for real values of shape {shape} it is {expected}")
    dtype = finite.digit_dtype(window.primes)
    greatest = np.array([p - 1 for p in window.primes], dtype=dtype)[:, None]
    if not window.is_uniform:
        greatest = np.where(window.exists, greatest, 0).astype(dtype)
    if given.dtype.kind == "f":
        is_digit = (given >= 0) & (given <= greatest) & (given == np.floor(given))
    else:  # unsigned, so large digits are compared exactly
        is_digit = (given >= 0) & ((given if given.dtype == object else given.astype(np.uint64)) <= greatest)
    wrong = np.argwhere(~is_digit)
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        p = window.primes[at[-2]]
        if not window.exists[at[-2:]]:
            raise EncodingError(
                f"{given[at]!s}{at_position(at)} is beyond the {window.precisions[at[-2]]} lowest digits, all that "
                f"the prime {p} has; such columns are 0"
            )
        raise EncodingError(f"{given[at]!s}{at_position(at)} is not a digit at the prime {p}; digits are 0 … {p - 1}")
    known = finite.all_known(window, shape)
    return FinitePlaces(given.astype(dtype), known)


def measured(real_value: Any, radius: Any, shape: tuple[int, ...]) -> RealPlace:
    """Return the real place of a caller's values, or of numbers of a shape without any, or raise `EncodingError`."""
    if real_value is None:
        if radius is not None:
            raise EncodingError("radius is the error bound of a real value; without one, leave it out")
        return real.unknown(shape)
    exact = _exact_numbers(real_value)
    if exact is None:
        given = number_array("real values", real_value)
        value = _floats(given)
        return real.from_values(value, _rounding(given) if radius is None else _radii(radius, value.shape))
    numbers = [exact.fraction(i) for i in range(len(exact.numerators))]
    sizes = [abs(q) / 2**53 for q in numbers] if radius is None else _exact_radii(radius, exact.shape)
    return real.from_numbers(numbers, sizes).reshape(exact.shape)


def _rounding(given: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return how far numbers may be from floats of fewer bits than float64, if they are such: half a last place."""
    if given.dtype.kind != "f" or given.dtype.itemsize >= 8:
        return None
    limits = np.finfo(given.dtype)
    # Of floats below the normal ones half of the least is lost.
    return np.abs(given.astype(np.float64)) * float(limits.eps) / 2 + float(limits.smallest_subnormal)


def _exact_numbers(values: Any) -> rationals.Rationals | None:
    """Return values as rationals if they are exact numbers or long floats, which float64 may not hold, else None."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    if array.dtype == np.longdouble != np.float64 and np.all(np.isfinite(array)):
        return rationals.read(array, floats="exact")
    if array.dtype != object or any(isinstance(x, (str, bytes)) or x is None for x in array.flat):
        return None
    return rationals.read(array.tolist() if array.shape else values, floats="exact")


def number_array(name: str, values: Any) -> npt.NDArray[Any]:
    """Return integers or floats as an array, or raise `EncodingError`."""
    array = rationals.as_array(values)
    try:
        array = _array_of_lists(values) if array is None else array
    except ValueError:
        raise EncodingError(f"{name} are ragged: all entries of an array need the same shape") from None
    is_of_integers = array.dtype == object and all(type(x) is int for x in array.flat)  # beyond 64 bits
    if array.dtype.kind not in "iuf" and array.size and not is_of_integers:
        raise EncodingError(f"{name} must be integers or floats, not an array of dtype {array.dtype}")
    return array


def _array_of_lists(values: Any) -> npt.NDArray[Any]:
    """Return nested lists as an array; NumPy would round integers from 2^63 on next to smaller ones to float64."""
    array = np.asarray(values)
    if array.dtype == np.float64 and np.any(array >= 2.0**63):
        exact = np.array(values, dtype=object)
        if all(type(x) is int and 0 <= x < 2**64 for x in exact.flat):
            return exact.astype(np.uint64)
    return array


def _floats(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return a float64 copy, which later changes of the caller's array do not reach."""
    with np.errstate(over="ignore"):  # of longer floats
        return array.astype(np.float64)


def _radii(radius: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return error bounds of real values of a shape, or raise `EncodingError`."""
    exact = _exact_numbers(radius)
    if exact is None:
        radii = _floats(number_array("radii", radius))
    else:
        nearest = real.nearest_floats(exact).reshape(exact.shape)
        radii = np.where(nearest < 0, nearest, np.nextafter(nearest, np.inf))  # the nearest may be below the bound
    radii = _broadcast(radii, shape)
    wrong = np.argwhere(~(radii >= 0))
    if len(wrong):
        raise _radius_error(str(radii[tuple(wrong[0])]), wrong[0].tolist())
    return radii


def _exact_radii(radius: Any, shape: tuple[int, ...]) -> list[Fraction | None]:
    """Return error bounds of exact numbers of a shape, flattened, None for an infinite one."""
    exact = _exact_numbers(radius)
    if exact is None:
        return [Fraction(r) if np.isfinite(r) else None for r in _radii(radius, shape).ravel().tolist()]
    which = _broadcast(np.arange(len(exact.numerators)).reshape(exact.shape), shape)
    radii = [exact.fraction(i) for i in which.ravel().tolist()]
    for i, r in enumerate(radii):
        if r < 0:
            raise _radius_error(describe(r), np.unravel_index(i, shape))
    return list(radii)


def _broadcast(radii: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    try:
        return np.broadcast_to(radii, shape)
    except ValueError:
        raise EncodingError(f"radii of shape {radii.shape} do not fit real values of shape {shape}") from None


def _radius_error(value: str, position: Sequence[SupportsInt]) -> EncodingError:
    return EncodingError(f"the radius {value}{at_position(position)} is not an error bound; radii are at least 0")


def check_float32(primes: tuple[int, ...]) -> None:
    """Raise `EncodingError` unless float32 holds all digits, which it does up to the prime 2^24."""
    if max(primes) > 2**24:
        raise EncodingError(f"float32 does not hold the digits of the prime {max(primes)}; use .digits")


def write_real_row(values: npt.NDArray[np.float64], out: npt.NDArray[np.float32], shape: tuple[int, ...]) -> None:
    """Write [0, …, 0, q] into row 0 of `out`, (size, n_primes + 1, precision).

    A value beyond float32 is a RangeError.
    """
    with np.errstate(over="ignore"):
        out[:, 0, :-1] = 0
        out[:, 0, -1] = values
    beyond = np.flatnonzero(~np.isfinite(out[:, 0, -1]))
    if len(beyond):
        position = np.unravel_index(beyond[0], shape)
        raise RangeError(
            f"the real value {values[beyond[0]]:.6g}{at_position(position)} is beyond float32 (3.4e38), so the real "
            "row would be infinite; feed .digits alone, or scale the numbers"
        )
