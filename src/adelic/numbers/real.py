"""The real place: float64 values with rigorous error radii, and what is known of the denominators.

A real coordinate is a ball (value ± radius), as in ball arithmetic, so that equality of computed adeles does not hang
on float64's last bit, and so that decoding can tell an honest rounding error from a contradiction. An infinite radius
says that nothing is known; the value ±inf with radius 0 that the number is beyond float64, on that side.

Beside the ball stands a bound of the reduced denominator. Below 2^53 it is exact in this sense: it is a multiple of the
denominator. From 2^53 on it is only an upper bound. Without it a sum such as 1 + M/m (M the modulus of all p-adic
digits, m huge) would have the digits of 1 and the float64 value of 1, and would decode to a wrong number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.rationals import EXACT, FEW, Rationals, blocks

_HALF_ULP = 2.0**-53
_TINY = 2.0**-1070  # 16 times the smallest float64: more than a few products lose by underflow
_LARGEST = float(np.finfo(np.float64).max)
_SLACK = 1 + 2.0**-50  # radii are computed in float64 too: round them up

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RealPlace:
    """The real coordinates of an array of numbers; every field is float64 and has the array's shape.

    Attributes:
        value: the nearest float64, or the result of float64 operations.
        radius: |true number − value| is at most this.
        denominator: bound of the reduced denominator (see the module's docstring); inf when unknown; NaN for measured
            values, which are taken to lie inside the space's decoding bound.
        magnitude: log2 |q| of an encoded number inside the space's decoding bound, where `denominator` or `value` is
            beyond what float64 holds; NaN otherwise.
    """

    value: Floats
    radius: Floats
    denominator: Floats
    magnitude: Floats

    def __getitem__(self, key: Any) -> "RealPlace":
        return RealPlace(*(np.asarray(field[key]) for field in self._fields()))

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
        return _in_blocks(_add, self, other)

    def __mul__(self, other: "RealPlace") -> "RealPlace":
        return _in_blocks(_multiply, self, other)

    def _is_exact(self) -> npt.NDArray[np.bool_]:
        """Return where the ball is a point."""
        return np.asarray(self.radius == 0, dtype=np.bool_)

    def _is_zero(self) -> npt.NDArray[np.bool_]:
        """Return where the ball is the point 0."""
        return np.asarray((self.value == 0) & (self.radius == 0), dtype=np.bool_)

    def reciprocal(self) -> "RealPlace":
        """Return 1 / self; the radius is infinite where the ball holds 0."""
        with np.errstate(all="ignore"):
            value = 1 / self.value
            gap = np.abs(self.value) - self.radius
            radius = self.radius / np.abs(self.value) / gap + np.abs(value) * _HALF_ULP + _TINY
            radius = np.where((gap > 0) & np.isfinite(gap), radius, np.inf)
            # The new denominator is the old numerator, n = value · denominator, an integer: exact if the ball says so.
            exact_product = self.value * self.denominator
            numerator = np.rint(exact_product)
            error = self.radius * self.denominator + np.abs(exact_product) * _HALF_ULP
            is_exact = (self.denominator < EXACT) & (np.abs(exact_product) < EXACT / 2) & (error < 0.25)
            bound = np.maximum((np.abs(exact_product) + error) * _SLACK, EXACT)
        return _rounded(value, radius, np.where(is_exact, np.abs(numerator), bound), np.zeros_like(is_exact))

    def may_be_zero(self) -> npt.NDArray[np.bool_]:
        """Return where the ball holds 0."""
        return np.asarray(np.abs(self.value) <= self.radius, dtype=np.bool_)

    def overlaps(self, other: "RealPlace") -> npt.NDArray[np.bool_]:
        """Return where two balls have a point in common, as far as they are known."""
        with np.errstate(invalid="ignore", over="ignore"):
            a, b = (
                np.clip(x.value, -_LARGEST, _LARGEST) for x in (self, other)
            )  # a number beyond float64 is at least so large
            near = np.abs(a - b) <= (self.radius + other.radius) * _SLACK
        is_unknown = ~np.isfinite(self.radius) | ~np.isfinite(other.radius)
        differ = np.abs(self.magnitude - other.magnitude) > 0  # False where one of them is NaN
        return np.asarray(is_unknown | (near & ~differ), dtype=np.bool_)


def _in_blocks(operation: Callable[[RealPlace, RealPlace], RealPlace], x: RealPlace, y: RealPlace) -> RealPlace:
    """Apply an operation to two places of one shape, in blocks, so that what it computes on the way stays in cache."""
    shape, size = x.value.shape, x.value.size
    x, y = x.reshape((-1,)), y.reshape((-1,))
    out = RealPlace(np.empty(size), np.empty(size), np.empty(size), _no_magnitude((size,)))
    for block in blocks(size):
        part = operation(x[block], y[block])
        out.value[block], out.radius[block], out.denominator[block] = part.value, part.radius, part.denominator
    return out.reshape(shape)


def _no_magnitude(shape: tuple[int, ...]) -> Floats:
    """Return what is known of the magnitude of computed numbers, without storing it a number: NaN."""
    return np.broadcast_to(np.nan, shape)


def _add(x: RealPlace, y: RealPlace) -> RealPlace:
    with np.errstate(invalid="ignore", over="ignore"):
        value = x.value + y.value
        radius = x.radius + y.radius + np.abs(value) * _HALF_ULP
    denominator = _common_denominator(x.denominator, y.denominator)
    return _rounded(value, radius, denominator, x._is_exact() & y._is_exact())


def _multiply(x: RealPlace, y: RealPlace) -> RealPlace:
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        value = x.value * y.value
        radius = (
            np.abs(x.value) * y.radius
            + np.abs(y.value) * x.radius
            + x.radius * y.radius
            + np.abs(value) * _HALF_ULP
            + _TINY
        )
        denominator = x.denominator * y.denominator
    is_zero = x._is_zero() | y._is_zero()
    value, radius, denominator = (np.where(is_zero, z, f) for z, f in ((0, value), (0, radius), (1, denominator)))
    return _rounded(value, radius, denominator, x._is_exact() & y._is_exact())


def _rounded(value: Floats, radius: Floats, denominator: Floats, from_exact: npt.NDArray[np.bool_]) -> RealPlace:
    """Return a computed place: radii rounded up, integers kept exact, anything beyond float64 known by nothing.

    Args:
        value: results of a float64 operation.
        radius: their radii, rounding of `value` included, up to a few roundings of the radii themselves.
        denominator: bounds of denominators, to the nearest float64.
        from_exact: where both operands were points: float64 adds and multiplies integers exactly below 2^53.
    """
    is_exact_integer = ((radius < 0.25) | from_exact) & (denominator == 1) & (np.abs(value) < EXACT)
    value = np.where(is_exact_integer, np.rint(value), value)
    with np.errstate(over="ignore"):
        radius = np.where(is_exact_integer, 0.0, radius * _SLACK)
    unknown = ~np.isfinite(value) | np.isnan(radius)
    denominator = _upper_bound(np.where(np.isnan(denominator), np.inf, denominator))
    return RealPlace(value, np.where(unknown, np.inf, radius), denominator, _no_magnitude(value.shape))


def _upper_bound(denominator: Floats) -> Floats:
    """Return a bound of denominators from their nearest float64: unchanged where that is exact, else rounded up."""
    with np.errstate(over="ignore"):
        return np.where(denominator >= EXACT, denominator * _SLACK, denominator)


def _common_denominator(a: Floats, b: Floats) -> Floats:
    """Return a common multiple of two denominators: the least one where both are exact and it is below 2^53."""
    if np.all(a == 1) and np.all(b == 1):
        return a
    is_exact = (a < EXACT) & (b < EXACT)
    a_exact, b_exact = np.where(is_exact, a, 1), np.where(is_exact, b, 1)
    if a.size > FEW:
        from adelic.numbers import kernels

        divisor = np.empty(a.shape)
        kernels.gcd(a_exact, b_exact, divisor)
    else:
        divisor = np.gcd(a_exact.astype(np.int64), b_exact.astype(np.int64)).astype(np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(a / divisor * b, dtype=np.float64)


def encode(rationals: Rationals, scale: int, modulus: int) -> RealPlace:
    """Return the real coordinates of rationals, each the nearest float64.

    Args:
        rationals: the numbers.
        scale: ∏ p^F over the primes of the space.
        modulus: ∏ p^N; numbers whose product with `scale` is n/m with 2·|n|·m below it keep their magnitude where
            float64 does not hold them or their denominator.
    """
    n, m = rationals.numerators, rationals.denominators
    value = nearest_floats(rationals)
    if rationals.is_small:
        denominator = np.broadcast_to(1.0, n.shape) if rationals.is_integral else m.astype(np.float64)
    else:
        denominator = np.array([_nearest_float(b, 1) for b in m], dtype=np.float64)
    radius = np.empty(n.shape)
    for block in blocks(len(n)):
        size = np.abs(value[block])
        is_exact = size < EXACT
        if not rationals.is_integral:
            is_exact &= m[block] == 1
        if not rationals.is_small:
            is_exact |= np.isinf(size)
        radius[block] = np.where(is_exact, 0.0, size * (_HALF_ULP * _SLACK) + _TINY)
    magnitude = _no_magnitude(n.shape)
    beyond = np.flatnonzero((denominator >= EXACT) | np.isinf(value))
    if len(beyond):
        magnitude = magnitude.copy()
        magnitude[beyond] = [_magnitude(int(n[i]), int(m[i]), scale, modulus) for i in beyond]
    return RealPlace(value, radius, denominator if rationals.is_integral else _upper_bound(denominator), magnitude)


def nearest_floats(rationals: Rationals) -> Floats:
    """Return the nearest float64 of each number, ±inf beyond float64."""
    n, m = rationals.numerators, rationals.denominators
    if not rationals.is_small:
        return np.array([_nearest_float(int(a), int(b)) for a, b in zip(n, m, strict=True)], dtype=np.float64)
    value = n.astype(np.float64)
    if rationals.is_integral:
        return value
    for block in blocks(len(n)):
        numerator, denominator = value[block], m[block].astype(np.float64)
        # Two roundings are one too many: such numbers are divided as Python does, correctly rounded.
        inexact = (np.abs(numerator) >= EXACT) & (m[block] != 1) | (denominator >= EXACT)
        numerator /= denominator
        for i in np.flatnonzero(inexact) + block.start:
            value[i] = _nearest_float(int(n[i]), int(m[i]))
    return value


def _nearest_float(n: int, m: int) -> float:
    """Return n/m correctly rounded, ±inf beyond float64."""
    try:
        return n / m
    except OverflowError:
        return float("inf") if n > 0 else float("-inf")


def _magnitude(n: int, m: int, scale: int, modulus: int) -> float:
    """Return log2 |n/m| of a number inside the decoding bound, NaN for others and for 0."""
    scaled = Fraction(n * scale, m)
    if n == 0 or 2 * abs(scaled.numerator) * scaled.denominator >= modulus:
        return float("nan")
    return log2(abs(n)) - log2(m)


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
        with np.errstate(invalid="ignore"):  # signalling NaN
            radius = np.abs(value) * _HALF_ULP * _SLACK + _TINY
    unknown = np.full(value.shape, np.nan)
    return RealPlace(value, np.broadcast_to(radius, value.shape), unknown, unknown)
