"""Numbers beyond float64: arrays of float64 times a power of two, with the rounding of float64 and no overflow."""

from typing import Any, Union

import numpy as np
import numpy.typing as npt

_GREATEST_EXPONENT = 2**40
"""Numbers beyond 2^_GREATEST_EXPONENT count as infinite, those as small as its inverse as not known (NaN)."""
_ZERO = -(2**50)  # the exponent of 0: below all others
_ALIGNED = -1200  # further down nothing is left of a float64

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Operand = Union["Wide", Floats, float]


class Wide:
    """An array of numbers mantissa · 2^exponent; results are as float64's, to half a unit in the 53rd bit.

    Attributes:
        mantissa: float64 (*), 0 or in size from 1/2 to 1; or infinite or NaN.
        exponent: int64 (*).

    >>> x = Wide(np.array([1.5, -3.0])) * Wide(np.array([1.0, 1.0]), np.array([2000, -2000]))
    >>> (x * x).exponent
    array([ 4002, -3996])
    >>> (x / x).floats(0)
    array([1., 1.])
    """

    __slots__ = ("exponent", "mantissa")
    __array_ufunc__ = None  # so that NumPy leaves `ndarray * Wide` to this class

    def __init__(self, mantissa: Any, exponent: Any = 0) -> None:
        self.mantissa, shift = np.frexp(np.asarray(mantissa, dtype=np.float64))
        self.exponent: Integers = np.asarray(np.asarray(exponent, dtype=np.int64) + shift)
        is_far = np.abs(self.exponent) > _GREATEST_EXPONENT
        if np.any(is_far):
            beyond = np.where(self.exponent > 0, np.copysign(np.inf, self.mantissa), np.nan)
            self.mantissa = np.where(is_far & (self.mantissa != 0), beyond, self.mantissa)
        self.exponent = np.where(self.mantissa == 0, _ZERO, self.exponent)

    def floats(self, exponent: Any) -> Floats:
        """Return the numbers in units of 2^exponent, infinite or rounded to 0 beyond float64."""
        with np.errstate(over="ignore", under="ignore"):
            floats: Floats = np.ldexp(self.mantissa, np.clip(self.exponent - exponent, -4000, 4000).astype(np.int32))
        return floats

    def __neg__(self) -> "Wide":
        return Wide(-self.mantissa, self.exponent)

    def __abs__(self) -> "Wide":
        return Wide(np.abs(self.mantissa), self.exponent)

    def __add__(self, other: Operand) -> "Wide":
        right = _wide(other)
        exponent = np.maximum(self.exponent, right.exponent)
        parts = [
            np.ldexp(x.mantissa, np.maximum(x.exponent - exponent, _ALIGNED).astype(np.int32)) for x in (self, right)
        ]
        with np.errstate(invalid="ignore"):
            return Wide(parts[0] + parts[1], exponent)

    def __sub__(self, other: Operand) -> "Wide":
        return self + -_wide(other)

    def __mul__(self, other: Operand) -> "Wide":
        right = _wide(other)
        with np.errstate(invalid="ignore"):
            return Wide(self.mantissa * right.mantissa, self.exponent + right.exponent)

    def __truediv__(self, other: Operand) -> "Wide":
        right = _wide(other)
        with np.errstate(all="ignore"):
            return Wide(self.mantissa / right.mantissa, self.exponent - right.exponent)

    def __rtruediv__(self, other: Operand) -> "Wide":
        return _wide(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __le__(self, other: Operand) -> npt.NDArray[np.bool_]:
        return np.asarray((self - other).mantissa <= 0)

    def __ge__(self, other: Operand) -> npt.NDArray[np.bool_]:
        return _wide(other) <= self


def _wide(x: Operand) -> Wide:
    return x if isinstance(x, Wide) else Wide(x)


def choose(condition: npt.NDArray[np.bool_], x: Operand, y: Operand) -> Wide:
    """Return x where a condition holds, y elsewhere.

    >>> choose(np.array([True, False]), 1.0, Wide(np.array([2.0, 3.0]))).floats(0)
    array([1., 3.])
    """
    a, b = _wide(x), _wide(y)
    return Wide(np.where(condition, a.mantissa, b.mantissa), np.where(condition, a.exponent, b.exponent))


def nearest(n: int, m: int) -> tuple[float, int]:
    """Return n/m, m > 0, as a float64 and a power of two, (mantissa, exponent), rounded once.

    >>> nearest(3, 1), nearest(10**400, 1)[1], nearest(-1, 3 * 2**5000)
    ((0.75, 2), 1329, (-0.6666666666666666, -5001))
    """
    # The parts become as long as each other, so that their quotient, which Python rounds once, is between 1/2 and 2.
    exponent = abs(n).bit_length() - m.bit_length()
    quotient = n / (m << exponent) if exponent > 0 else (n << -exponent) / m
    mantissa, shift = np.frexp(quotient)
    return float(mantissa), exponent + int(shift)
