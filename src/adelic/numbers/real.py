"""The real place: float64 values with rigorous error radii, and what is known of the denominators.

A real coordinate is a ball (value ± radius), as in ball arithmetic, so that equality of computed adeles does not hang on
float64's last bit, and so that decoding can tell an honest rounding error from a contradiction.

Beside the ball stands a bound of the reduced denominator. Below 2^53 it is exact in this sense: it is a multiple of the
denominator. From 2^53 on it is only an upper bound. Without it a sum such as 1 + M/m (M the modulus of all p-adic digits,
m huge) would have the digits of 1 and the float64 value of 1, and would decode to a wrong number.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.rationals import Rationals

EXACT = 2.0**53  # integers below it are exact in float64
_HALF_ULP = 2.0**-53
_TINY = 5e-324
_SLACK = 1 + 2.0**-50  # radii are computed in float64 too: round them up

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RealPlace:
    """The real coordinates of an array of numbers; every field is float64 and has the array's shape.

    Attributes:
        value: the nearest float64, or the result of float64 operations.
        radius: |true number − value| is at most this.
        denominator: bound of the reduced denominator (see the module's docstring); inf when unknown.
        magnitude: log2 |q| of a number beyond float64 that lies inside the space's decoding bound; NaN otherwise.
    """

    value: Floats
    radius: Floats
    denominator: Floats
    magnitude: Floats

    def __getitem__(self, key: Any) -> "RealPlace":
        return RealPlace(self.value[key], self.radius[key], self.denominator[key], self.magnitude[key])

    def reshape(self, shape: tuple[int, ...]) -> "RealPlace":
        """Return the same coordinates under another array shape."""
        return RealPlace(*(field.reshape(shape) for field in self._fields()))

    def broadcast_to(self, shape: tuple[int, ...]) -> "RealPlace":
        """Return the same coordinates broadcast to an array shape."""
        return RealPlace(*(np.broadcast_to(field, shape) for field in self._fields()))

    def _fields(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.value, self.radius, self.denominator, self.magnitude

    def __neg__(self) -> "RealPlace":
        return RealPlace(-self.value, self.radius, self.denominator, self.magnitude)

    def __add__(self, other: "RealPlace") -> "RealPlace":
        with np.errstate(invalid="ignore", over="ignore"):
            value = self.value + other.value
            radius = self.radius + other.radius + np.abs(value) * _HALF_ULP
        return _rounded(value, radius, _common_denominator(self.denominator, other.denominator))

    def __mul__(self, other: "RealPlace") -> "RealPlace":
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            value = self.value * other.value
            radius = (
                np.abs(self.value) * other.radius
                + np.abs(other.value) * self.radius
                + self.radius * other.radius
                + np.abs(value) * _HALF_ULP
                + _TINY
            )
            denominator = self.denominator * other.denominator
        is_zero = self._is_zero() | other._is_zero()
        value, radius, denominator = (np.where(is_zero, z, f) for z, f in ((0, value), (0, radius), (1, denominator)))
        return _rounded(value, radius, denominator)

    def _is_zero(self) -> npt.NDArray[np.bool_]:
        """Return where the ball is the point 0."""
        return (self.value == 0) & (self.radius == 0)

    def reciprocal(self) -> "RealPlace":
        """Return 1 / self; the radius is infinite where the ball holds 0."""
        with np.errstate(all="ignore"):
            value = 1 / self.value
            gap = np.abs(self.value) - self.radius
            radius = self.radius / (np.abs(self.value) * gap) + np.abs(value) * _HALF_ULP + _TINY
            radius = np.where(gap > 0, radius, np.inf)
            # The new denominator is the old numerator, n = value · denominator, an integer: exact if the ball says so.
            exact_product = self.value * self.denominator
            numerator = np.rint(exact_product)
            error = self.radius * self.denominator + np.abs(exact_product) * _HALF_ULP
            is_exact = (self.denominator < EXACT) & (np.abs(exact_product) < EXACT / 2) & (error < 0.5)
            bound = np.maximum((np.abs(exact_product) + error) * _SLACK, EXACT)
        return _rounded(value, radius, np.where(is_exact, np.abs(numerator), bound))

    def overlaps(self, other: "RealPlace") -> npt.NDArray[np.bool_]:
        """Return where two balls have a point in common."""
        with np.errstate(invalid="ignore"):
            near = np.abs(self.value - other.value) <= (self.radius + other.radius) * _SLACK
        is_finite = np.isfinite(self.value) & np.isfinite(other.value)
        is_unknown = np.isnan(self.value) | np.isnan(other.value)
        return np.asarray(np.where(is_finite, near, (self.value == other.value) | is_unknown), dtype=np.bool_)


def _rounded(value: Floats, radius: Floats, denominator: Floats) -> RealPlace:
    """Return a computed place: radii rounded up, integers kept exact, anything beyond float64 known by nothing."""
    is_exact_integer = (radius < 0.5) & (denominator == 1) & (np.abs(value) < EXACT)
    value = np.where(is_exact_integer, np.rint(value), value)
    radius = np.where(is_exact_integer, 0.0, radius * _SLACK)
    unknown = ~np.isfinite(value) | np.isnan(radius)
    denominator = np.where(np.isnan(denominator), np.inf, denominator)
    denominator = np.where(denominator >= EXACT, denominator * _SLACK, denominator)
    return RealPlace(value, np.where(unknown, np.inf, radius), denominator, np.full(value.shape, np.nan))


def _common_denominator(a: Floats, b: Floats) -> Floats:
    """Return a common multiple of two denominators: the least one where both are exact and it is below 2^53."""
    with np.errstate(over="ignore"):
        product = np.asarray(a * b)
    fits = (a < EXACT) & (b < EXACT) & (a > 1) & (b > 1)
    if np.any(fits):
        divisor = np.ones(fits.shape, dtype=np.int64)
        divisor[fits] = np.gcd(
            np.broadcast_to(a, fits.shape)[fits].astype(np.int64), np.broadcast_to(b, fits.shape)[fits].astype(np.int64)
        )
        return np.asarray(a / divisor * b, dtype=np.float64)
    return product


def encode(rationals: Rationals, bound: int) -> RealPlace:
    """Return the real coordinates of rationals, each the nearest float64.

    Args:
        rationals: the numbers.
        bound: the space's decoding bound; numbers with 2·|n|·m below it keep their magnitude even beyond float64.
    """
    n, m = rationals.numerators, rationals.denominators
    magnitude: Floats = np.broadcast_to(np.float64(np.nan), n.shape)
    if rationals.is_small:
        value = n.astype(np.float64) / m.astype(np.float64)
        denominator = m.astype(np.float64)
        # Two roundings are one too many: divide such numbers as Python does, correctly rounded.
        for i in np.flatnonzero((np.abs(n.astype(np.float64)) >= EXACT) & (m > 1) | (denominator >= EXACT)):
            value[i] = int(n[i]) / int(m[i])
    else:
        value = np.array([_nearest_float(a, b) for a, b in zip(n, m, strict=True)], dtype=np.float64)
        denominator = np.array([_nearest_float(b, 1) for b in m], dtype=np.float64)
        magnitude = np.array(
            [_magnitude(a, b, x, bound) for a, b, x in zip(n, m, value, strict=True)], dtype=np.float64
        )
    denominator = np.where(denominator >= EXACT, denominator * _SLACK, denominator)
    radius = np.where((m == 1) & (np.abs(value) < EXACT), 0.0, np.abs(value) * _HALF_ULP * _SLACK + _TINY)
    return RealPlace(value, np.where(np.isfinite(value), radius, np.inf), denominator, magnitude)


def _nearest_float(n: int, m: int) -> float:
    """Return n/m correctly rounded, ±inf beyond float64."""
    try:
        return n / m
    except OverflowError:
        return float("inf") if n > 0 else float("-inf")


def _magnitude(n: int, m: int, value: float, bound: int) -> float:
    """Return log2 |n/m| for a number beyond float64 inside the decoding bound, else NaN."""
    beyond = not np.isfinite(value) or (n != 0 and abs(value) < 2.0**-1000)
    if not beyond or 2 * abs(n) * m >= bound:
        return float("nan")
    return log2_fraction(Fraction(n, m))


def log2_fraction(q: Fraction) -> float:
    """Return log2 |q| of a fraction of any size, to about 15 digits.

    >>> log2_fraction(Fraction(2**5000, 3**10)) == 5000 - log2(3**10)
    True
    """
    return log2(abs(q.numerator)) - log2(q.denominator)


def from_values(value: Floats, radius: Floats | None = None) -> RealPlace:
    """Return the real place of measured values, of which nothing else is known.

    Args:
        value: float64 (*).
        radius: error bounds, float64 (*); half an ulp when left out.
    """
    if radius is None:
        radius = np.abs(value) * _HALF_ULP * _SLACK + _TINY
    unknown = np.full(value.shape, np.nan)
    return RealPlace(value, np.broadcast_to(radius, value.shape), unknown, unknown)
