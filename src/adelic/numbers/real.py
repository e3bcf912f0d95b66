"""The real place: float64 values with rigorous error radii, and bounds of the denominators.

A real coordinate is a ball (centre ± radius) · 2^exponent, as in ball arithmetic, so equality of computed adeles
does not depend on float64's last bit, and decoding can tell an honest rounding error from a contradiction. The
exponent is 0 wherever float64 holds the ball, and numbers beyond are as exact as those are. An infinite radius means
that nothing is known.

A bound of the reduced denominator comes with the ball. Below 2^53 it is exact in this sense: it is a multiple of
the denominator. From 2^53 on it is only an upper bound. Without it a sum such as 1 + M/m (M the modulus of all p-adic
digits, m huge) would have the digits of 1 and the float64 value of 1, and would decode to a wrong number.

Everything is computed in float64 first. If that overflows or nearly underflows, or an exponent is not 0, the same
formulas are evaluated again with the numbers of `Wide`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from math import inf, isfinite, isinf, isnan, log2
from typing import Any, NamedTuple, Self, Union

import numpy as np
import numpy.typing as npt

from adelic.numbers.rationals import EXACT, Rationals, blocks, nearest_float
from adelic.numbers.threshold import GCD, are_for_numpy, are_many

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Operand = Union["Wide", Floats, float]

_GREATEST_EXPONENT = 2**40
"""Numbers beyond 2^_GREATEST_EXPONENT count as infinite, those as small as its inverse as not known (NaN)."""
_ZERO = -(2**50)  # the exponent of 0: below all others
_ALIGNED = -1200  # further down nothing is left of a float64


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
    __array_ufunc__ = None  # so NumPy leaves `ndarray * Wide` to this class

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

    def __le__(self, other: Operand) -> npt.NDArray[np.bool_]:
        return np.asarray((self - other).mantissa <= 0)


def _wide(x: Operand) -> Wide:
    return x if isinstance(x, Wide) else Wide(x)


def _where(condition: npt.NDArray[np.bool_], x: Any, y: Any) -> Any:
    """Return x if a condition holds, else y, element by element, floats or wide numbers."""
    if not isinstance(y, Wide):
        return np.where(condition, x, y)
    a = Wide(x)
    return Wide(np.where(condition, a.mantissa, y.mantissa), np.where(condition, a.exponent, y.exponent))


def nearest(n: int, m: int) -> tuple[float, int]:
    """Return n/m, m > 0, as a float64 and a power of two, (mantissa, exponent), rounded once.

    >>> nearest(3, 1), nearest(10**400, 1)[1], nearest(-1, 3 * 2**5000)
    ((0.75, 2), 1329, (-0.6666666666666666, -5001))
    """
    # The parts become as long as each other, so their quotient, which Python rounds once, is between 1/2 and 2.
    exponent = abs(n).bit_length() - m.bit_length()
    quotient = n / (m << exponent) if exponent > 0 else (n << -exponent) / m
    mantissa, shift = np.frexp(quotient)
    return float(mantissa), exponent + int(shift)


HALF_ULP = 2.0**-53
TINY = 2.0**-1070  # 16 times the smallest float64: more than a few products lose by underflow
LEAST, GREATEST = 2.0**-960, 2.0**1000  # between them float64 is safe from underflow and overflow
_GREATEST_RADIUS = GREATEST * 2.0**-54
SLACK = 1 + 2.0**-50  # radii are computed in float64 too: round them up


BEYOND = np.dtype([("exponent", np.int64), ("denominator_exponent", np.int64), ("is_inside", np.bool_)])
"""The data of a `RealPlace` about a number that float64 does not hold."""


class Shaped(ABC):
    """A group of arrays of one shape, reshaped together."""

    @abstractmethod
    def map(self, function: Callable[[Any], Any]) -> Self:
        """Apply a change of shape to every array."""

    def __getitem__(self, key: Any) -> Self:
        return self.map(lambda array: array[key])

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """Return the same under another shape."""
        return self.map(lambda array: array.reshape(shape))

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """Return the same broadcast to a shape."""
        return self.map(lambda array: np.broadcast_to(array, shape))


@dataclass(frozen=True)
class RealPlace(Shaped):
    """The real coordinates of an array of numbers; every field has the array's shape.

    Attributes:
        centre: float64, the nearest one, or the result of float64 operations; in units of 2^exponent.
        radius: float64, |true number − centre| is at most this, in units of 2^exponent.
        denominator: float64, bound of the reduced denominator (see the module's docstring), in units of
            2^denominator_exponent; inf when unknown; NaN for measured values, which are taken to lie inside the space's
            decoding bound.
        beyond: the numbers that float64 does not hold, of the dtype `BEYOND`; all zeros if it holds everything.
    """

    centre: Floats
    radius: Floats
    denominator: Floats
    beyond: npt.NDArray[np.void]

    @property
    def exponent(self) -> Integers:
        """Return the exponents of the units of centre and radius, 0 if float64 holds the ball."""
        return self.beyond["exponent"]

    @property
    def denominator_exponent(self) -> Integers:
        """Return the exponents of the denominators' units, 0 if float64 holds the bound."""
        return self.beyond["denominator_exponent"]

    @property
    def is_inside(self) -> Bools:
        """Return whether encoded numbers are known to lie inside the space's decoding bound.

        True only if the bound of the denominator is not exact, so it would not do.
        """
        return self.beyond["is_inside"]

    @property
    def value(self) -> Floats:
        """Return the nearest float64 of each centre: infinite or 0 beyond float64."""
        return self.centre if self.is_ordinary() else Wide(self.centre, self.exponent).floats(0)

    @property
    def parts(self) -> tuple["RealPlace", ...]:
        """Return the coordinates of which each is a row of the layout; a complex place has two."""
        return (self,)

    def is_unmeasured(self) -> bool:
        """Return whether of one number, for shape (), no real value is known (`unknown`)."""
        return isnan(self.centre) and isinf(self.radius) and isnan(self.denominator)

    def ball(self, limit: int) -> tuple[Fraction, Fraction] | None:
        """Return the ball of one number, for shape (), as (centre, radius); None if nothing is known of it.

        Numbers from 2^limit on do not matter: nothing is known of them. Numbers below 2^−limit do not matter either:
        their ball is as large as that.
        """
        centre, radius, exponent = float(self.centre), float(self.radius), int(self.exponent)
        if not (isfinite(centre) and isfinite(radius)) or exponent > limit:
            return None
        if exponent < -limit:
            return Fraction(0), (Fraction(abs(centre)) + Fraction(radius)) / 2**limit
        if not exponent:
            return Fraction(centre), Fraction(radius)
        unit = Fraction(2) ** exponent
        return Fraction(centre) * unit, Fraction(radius) * unit

    def denominator_bound(self, limit: int) -> Fraction | None:
        """Return the bound of one number's denominator, for shape (); None if there is none below 2^limit."""
        bound, exponent = float(self.denominator), int(self.denominator_exponent)
        if not isfinite(bound) or exponent > limit:
            return None
        return Fraction(bound) * (1 << exponent) if exponent else Fraction(bound)

    def log2_range(self, shift: float) -> tuple[float, float]:
        """Return bounds of log2 |q| + shift of the numbers q in one ball, for shape (), a little too wide."""
        size, radius, shift = abs(float(self.centre)), float(self.radius), shift + int(self.exponent)
        low, high = size - radius, size + radius
        return (log2(low) + shift - 1 if low > 0 else -inf), (log2(high) + shift + 1 if 0 < high < inf else inf)

    def text(self, digits: int = 6) -> str:
        """Return one number's centre, for shape (), with this many decimal digits, beyond float64 too.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace().encode(10**400)._real.text(), AdeleSpace().encode("7/19")._real.text()
        ('1e+400', '0.368421')
        """
        if not self.exponent:
            return f"{float(self.centre):.{digits}g}"
        with localcontext(prec=digits + 25, Emax=MAX_EMAX, Emin=MIN_EMIN) as context:
            exact = Decimal(float(self.centre)) * Decimal(2) ** int(self.exponent)
            context.prec = digits
            return f"{(+exact).normalize(context):e}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers."""
        return self.centre.shape

    def map(self, function: Callable[[Any], Any]) -> "RealPlace":
        """Apply a change of shape to every array."""
        return RealPlace(*(np.asarray(function(field)) for field in self._fields()))

    def _fields(self) -> tuple[Any, ...]:
        return self.centre, self.radius, self.denominator, self.beyond

    def is_ordinary(self) -> bool:
        """Return whether float64 holds every ball and every bound of a denominator."""
        if not any(self.beyond.strides) and self.beyond.shape:
            return not self.beyond.size or self[(0,) * self.beyond.ndim].is_ordinary()
        return not (self.exponent.any() or self.denominator_exponent.any())

    def _wide(self) -> tuple[Wide, Wide, Wide]:
        """Return centres, radii and bounds of denominators without their units."""
        return (
            Wide(self.centre, self.exponent),
            Wide(self.radius, self.exponent),
            Wide(self.denominator, self.denominator_exponent),
        )

    def __neg__(self) -> "RealPlace":
        return RealPlace(-self.centre, self.radius, self.denominator, self.beyond)

    def __add__(self, other: "RealPlace") -> "RealPlace":
        return _in_blocks(_add, self, other)

    def __mul__(self, other: "RealPlace") -> "RealPlace":
        return _in_blocks(_multiply, self, other)

    def _is_exact(self) -> Bools:
        """Return whether the ball is a point."""
        return np.asarray(self.radius == 0, dtype=np.bool_)

    def _is_zero(self) -> Bools:
        """Return whether the ball is the point 0."""
        return np.asarray((self.centre == 0) & (self.radius == 0), dtype=np.bool_)

    def reciprocal(self) -> "RealPlace":
        """Return 1 / self; the radius is infinite if the ball holds 0."""
        return _in_blocks(_invert, self, self)

    def cut(self) -> "RealPlace":
        """Return the coordinates of the same numbers in fewer digits, whose decoding bound may not hold them."""
        beyond = self.beyond.copy()
        beyond["is_inside"] = False
        return replace(self, beyond=beyond)

    def may_be_zero(self) -> Bools:
        """Return whether the ball holds 0."""
        return np.asarray(np.abs(self.centre) <= self.radius, dtype=np.bool_)

    def overlaps(self, other: "RealPlace") -> Bools:
        """Return whether two balls have a point in common, as far as they are known."""
        is_unknown = ~np.isfinite(self.radius) | ~np.isfinite(other.radius)
        if self.is_ordinary() and other.is_ordinary():
            with np.errstate(invalid="ignore", over="ignore"):
                near = np.abs(self.centre - other.centre) <= (self.radius + other.radius) * SLACK
        else:
            (a, r, _), (b, s, _) = self._wide(), other._wide()
            near = abs(a - b) <= (r + s) * SLACK
        return np.asarray(is_unknown | near, dtype=np.bool_)


def ordinary(centre: Floats, radius: Floats, denominator: Floats) -> RealPlace:
    """Return a place whose exponents are 0, without storing one per number."""
    return RealPlace(centre, radius, denominator, np.broadcast_to(np.zeros((), dtype=BEYOND), centre.shape))


class _Arithmetic(NamedTuple):
    """The arithmetic for the formulas of balls: float64, or `Wide`.

    Attributes:
        parts: centres, radii and bounds of denominators of a place, without their units.
        tiny: the rounding of products so small that float64 holds fewer bits of them.
        finish: makes a place of centres, radii, bounds and whether both operands were points.
    """

    parts: Callable[[RealPlace], tuple[Any, Any, Any]]
    tiny: float
    finish: Callable[[Any, Any, Any, Bools], RealPlace]


Operation = Callable[[RealPlace, RealPlace, _Arithmetic], RealPlace]


def _in_blocks(operation: Operation, x: RealPlace, y: RealPlace) -> RealPlace:
    """Apply an operation to two places of one shape: in float64, and in `Wide` if float64 does not hold the results.

    In blocks, so intermediate results stay in cache.
    """
    shape, size = x.centre.shape, x.centre.size
    x, y = x.reshape((-1,)), y.reshape((-1,))
    out = ordinary(np.empty(size), np.empty(size), np.empty(size))
    for block in blocks(size):
        a, b = x[block], y[block]
        part = operation(a, b, _FLOATS)
        out.centre[block], out.radius[block], out.denominator[block] = part.centre, part.radius, part.denominator
        unsafe = _unsafe(a, b, part)
        if len(unsafe):
            if not out.beyond.flags.writeable:
                out = replace(out, beyond=np.zeros(size, dtype=BEYOND))
            part = operation(a[unsafe], b[unsafe], _WIDE)
            for field, value in zip(out._fields(), part._fields(), strict=True):
                field[unsafe + block.start] = value
    return out.reshape(shape)


def _unsafe(x: RealPlace, y: RealPlace, out: RealPlace) -> npt.NDArray[np.intp]:
    """Return the indices of the results that float64 may not hold, of operands that are known."""
    unsafe = np.zeros(out.centre.shape, dtype=np.bool_)
    # A radius is 0, of an integer below 2^53, or holds the rounding of the centre, so it tells the centre's size.
    greatest = out.radius.max()
    if not (greatest == 0 or (out.radius.min() >= LEAST and greatest <= _GREATEST_RADIUS)):  # NaN is neither
        unsafe |= ~((out.radius >= LEAST) & (out.radius <= _GREATEST_RADIUS)) & (out.radius != 0)
        unsafe &= np.isfinite(x.radius) & np.isfinite(y.radius)
    if np.isinf(out.denominator.max()):
        unsafe |= np.isinf(out.denominator) & np.isfinite(x.denominator) & np.isfinite(y.denominator)
    for place in (x, y):
        if not place.is_ordinary():
            unsafe |= (place.exponent != 0) | (place.denominator_exponent != 0)
    return np.flatnonzero(unsafe)


def _add(x: RealPlace, y: RealPlace, of: _Arithmetic) -> RealPlace:
    (a, r, d), (b, s, e) = of.parts(x), of.parts(y)
    divisor = _common_divisor(x.denominator, y.denominator)
    with np.errstate(invalid="ignore", over="ignore"):
        centre = a + b
        radius = r + s + abs(centre) / 2**53
        denominator = d / divisor * e
    return of.finish(centre, radius, denominator, x._is_exact() & y._is_exact())


def _multiply(x: RealPlace, y: RealPlace, of: _Arithmetic) -> RealPlace:
    (a, r, d), (b, s, e) = of.parts(x), of.parts(y)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        centre = a * b
        radius = abs(a) * s + abs(b) * r + r * s + abs(centre) / 2**53 + of.tiny
        denominator = d * e
    is_zero = x._is_zero() | y._is_zero()  # 0 times an unknown number is 0, too
    centre, radius, denominator = (_where(is_zero, z, f) for z, f in ((0, centre), (0, radius), (1, denominator)))
    return of.finish(centre, radius, denominator, x._is_exact() & y._is_exact())


def _invert(x: RealPlace, _: RealPlace, of: _Arithmetic) -> RealPlace:
    a, r, d = of.parts(x)
    with np.errstate(all="ignore"):
        centre = 1 / a
        radius = r / abs(a) / (abs(a) - r) + abs(centre) / 2**53 + of.tiny
        # The new denominator is the old numerator, n = value · denominator, an integer: exact if the ball is.
        bound = (abs(a) + r) * d * SLACK
        product = x.centre * x.denominator
        error = x.radius * x.denominator + np.abs(product) * HALF_ULP
        is_exact = (x.exponent == 0) & (x.denominator < EXACT) & (np.abs(product) < EXACT / 2) & (error < 0.25)
    bound = _where(bound <= EXACT, EXACT, bound)
    is_inverse = (np.abs(x.centre) > x.radius) & np.isfinite(x.centre)
    return of.finish(
        centre,
        _where(~is_inverse, np.inf, radius),
        _where(is_exact, np.abs(np.rint(product)), bound),
        np.zeros_like(is_exact),
    )


def _rounded(centre: Floats, radius: Floats, denominator: Floats, from_exact: Bools) -> RealPlace:
    """Return a computed place: radii rounded up, integers kept exact, anything beyond float64 known by nothing.

    `radius` has the rounding of `centre` in it, and is right up to a few more roundings. `from_exact` tells where
    both operands were points: float64 adds and multiplies integers exactly below 2^53.
    """
    # A ball of a radius below 1/4 holds one integer at most, and a denominator 1 means that the number is one.
    is_exact_integer = ((radius < 0.25) | from_exact) & (denominator == 1) & (np.abs(centre) < EXACT)
    centre = np.where(is_exact_integer, np.rint(centre), centre)
    with np.errstate(over="ignore"):
        radius = np.where(is_exact_integer, 0.0, radius * SLACK)
    unknown = ~np.isfinite(centre) | np.isnan(radius)
    denominator = upper_bound(np.where(np.isnan(denominator), np.inf, denominator))
    return ordinary(centre, np.where(unknown, np.inf, radius), denominator)


def _narrowed(centre: Wide, radius: Wide, denominator: Wide, from_exact: Bools) -> RealPlace:
    """Return a computed place as `_rounded` does, with exponents if float64 does not hold a number."""
    size = abs(centre) + radius
    is_safe = (~(size <= LEAST) & (size <= GREATEST)) | (size.mantissa == 0) | ~np.isfinite(size.mantissa)
    exponent = np.where(is_safe, 0, size.exponent)
    centres, radii = centre.floats(exponent), radius.floats(exponent) + np.where(radius.mantissa == 0, 0.0, TINY)
    is_held = (denominator <= GREATEST) | ~np.isfinite(denominator.mantissa)
    # A bound stays above 2^53 without its unit, too, so nothing takes it for exact.
    denominator_exponent = np.where(is_held, 0, denominator.exponent - 60)
    plain = _rounded(centres, radii, denominator.floats(denominator_exponent), from_exact)
    beyond = np.zeros(exponent.shape, dtype=BEYOND)
    beyond["exponent"], beyond["denominator_exponent"] = exponent, denominator_exponent
    return RealPlace(
        np.where(is_safe, plain.centre, centres),
        np.where(is_safe, plain.radius, radii * SLACK),
        plain.denominator,
        beyond,
    )


_FLOATS = _Arithmetic(lambda x: (x.centre, x.radius, x.denominator), TINY, _rounded)
_WIDE = _Arithmetic(RealPlace._wide, 0.0, _narrowed)


def upper_bound(denominator: Floats) -> Floats:
    """Return a bound of denominators from their nearest float64: unchanged if that is exact, else rounded up."""
    with np.errstate(over="ignore"):
        return np.where(denominator >= EXACT, denominator * SLACK, denominator)


def _common_divisor(a: Floats, b: Floats) -> Floats:
    """Return the greatest common divisor of two denominators if both are exact, and else 1."""
    if np.all(a == 1) and np.all(b == 1):
        return a
    is_exact = (a < EXACT) & (b < EXACT)
    a_exact, b_exact = np.where(is_exact, a, 1), np.where(is_exact, b, 1)
    if not are_many(a.size) or are_for_numpy(a.size, GCD):
        return np.gcd(a_exact.astype(np.int64), b_exact.astype(np.int64)).astype(np.float64)
    from adelic.numbers.kernels import digitwise

    divisor = np.empty(a.shape)
    digitwise.gcd(a_exact, b_exact, divisor)
    return divisor


def encode(rationals: Rationals, is_inside: Callable[[int, int], bool]) -> RealPlace:
    """Return the real coordinates of rationals, each rounded once.

    `is_inside` tells for n, m whether n/m lies inside the space's decoding bound.
    """
    n, m = rationals.numerators, rationals.denominators
    centre = nearest_floats(rationals)
    if rationals.is_small:
        denominator = np.broadcast_to(1.0, n.shape) if rationals.is_integral else m.astype(np.float64)
    else:
        denominator = np.array([nearest_float(b, 1) for b in m], dtype=np.float64)
    radius = np.empty(n.shape)
    for block in blocks(len(n)):
        size = np.abs(centre[block])
        is_exact = size < EXACT
        if not rationals.is_integral:
            is_exact &= m[block] == 1
        # Float64 is right to half an ulp, and below its normal numbers to less than TINY.
        radius[block] = np.where(is_exact, 0.0, size * (HALF_ULP * SLACK) + TINY)
    place = ordinary(centre, radius, denominator if rationals.is_integral else upper_bound(denominator))
    return place if rationals.is_small and rationals.is_integral else _with_units(place, rationals, is_inside)


def _with_units(place: RealPlace, rationals: Rationals, is_inside: Callable[[int, int], bool]) -> RealPlace:
    """Return the place of encoded numbers with the data that float64 does not hold."""
    n, m = rationals.numerators, rationals.denominators
    inexact = np.flatnonzero(place.denominator >= EXACT)
    size = np.abs(place.centre)
    far = np.flatnonzero(np.isinf(size) | ((size < LEAST) & (n != 0))) if not rationals.is_small else ()
    if not len(inexact) and not len(far):
        return place
    beyond, denominator = np.zeros(n.shape, dtype=BEYOND), place.denominator.copy()
    for i in far:
        place.centre[i], beyond["exponent"][i] = nearest(int(n[i]), int(m[i]))
        place.radius[i] = np.abs(place.centre[i]) * (HALF_ULP * SLACK)
    for i in inexact:
        beyond["is_inside"][i] = is_inside(int(n[i]), int(m[i]))
        if np.isinf(denominator[i]):
            mantissa, exponent = nearest(int(m[i]), 1)
            # In units that leave it above 2^53: below, it would be taken for exact.
            denominator[i], beyond["denominator_exponent"][i] = mantissa * 2.0**60 * SLACK, exponent - 60
    return replace(place, denominator=denominator, beyond=beyond)


def nearest_floats(rationals: Rationals) -> Floats:
    """Return the nearest float64 of each number, ±inf beyond float64."""
    n, m = rationals.numerators, rationals.denominators
    if not rationals.is_small:
        return np.array([nearest_float(int(a), int(b)) for a, b in zip(n, m, strict=True)], dtype=np.float64)
    value = n.astype(np.float64)
    if rationals.is_integral:
        return value
    for block in blocks(len(n)):
        numerator, denominator = value[block], m[block].astype(np.float64)
        # Two roundings are one too many: such numbers are divided as Python does, correctly rounded.
        inexact = (np.abs(numerator) >= EXACT) & (m[block] != 1) | (denominator >= EXACT)
        numerator /= denominator
        for i in np.flatnonzero(inexact) + block.start:
            value[i] = nearest_float(int(n[i]), int(m[i]))
    return value


def from_values(value: Floats, radius: Floats | None = None) -> RealPlace:
    """Return the real place of measured values, of which nothing else is known.

    Both are float64 (*); error bounds that are left out are half an ulp.
    """
    if radius is None:
        with np.errstate(invalid="ignore"):  # signalling NaN
            radius = np.abs(value) * HALF_ULP * SLACK + TINY
    return ordinary(value, np.broadcast_to(radius, value.shape), np.full(value.shape, np.nan))


def from_numbers(numbers: Sequence[Fraction], radii: Sequence[Fraction | None]) -> RealPlace:
    """Return the real place of measured values, exact and of any size, of which nothing else is known."""
    centre, radius, beyond = np.zeros(len(numbers)), np.full(len(numbers), np.inf), np.zeros(len(numbers), BEYOND)
    for i, (q, r) in enumerate(zip(numbers, radii, strict=True)):
        size = abs(q) + (r or 0)
        is_held = not size or LEAST <= size <= GREATEST
        unit = 0 if is_held else nearest(size.numerator, size.denominator)[1]
        mantissa, exponent = nearest(q.numerator, q.denominator)
        centre[i], beyond["exponent"][i] = Wide(mantissa, exponent).floats(unit), unit
        if r is not None:
            error = (r + abs(q - Fraction(centre[i]) * Fraction(2) ** unit)) / Fraction(2) ** unit
            # The nearest float64 of the error may be below it.
            radius[i] = np.nextafter(float(error), np.inf) if error else 0.0
    place = from_values(centre, radius)
    return replace(place, beyond=beyond) if beyond["exponent"].any() else place


def unknown(shape: tuple[int, ...]) -> RealPlace:
    """Return the real place of numbers of which nothing is known but that they lie inside the decoding bound."""
    return from_values(np.full(shape, np.nan), np.full(shape, np.inf))
