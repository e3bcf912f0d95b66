"""The real place: float64 values with rigorous error radii, and what is known of the denominators.

A real coordinate is a ball (centre ± radius) · 2^exponent, as in ball arithmetic, so that equality of computed adeles
does not hang on float64's last bit, and so that decoding can tell an honest rounding error from a contradiction. The
exponent is 0 wherever float64 holds the ball, and numbers beyond are as exact as those are. An infinite radius says
that nothing is known.

Beside the ball stands a bound of the reduced denominator. Below 2^53 it is exact in this sense: it is a multiple of the
denominator. From 2^53 on it is only an upper bound. Without it a sum such as 1 + M/m (M the modulus of all p-adic
digits, m huge) would have the digits of 1 and the float64 value of 1, and would decode to a wrong number.

Everything is computed in float64 first. Where that overflows or nearly underflows, or an exponent is not 0, the same
formulas are evaluated again with the numbers of `adelic.numbers.wide`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from math import log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.numbers import wide
from adelic.numbers.rationals import EXACT, FEW, Rationals, blocks
from adelic.numbers.wide import Wide

_HALF_ULP = 2.0**-53
_TINY = 2.0**-1070  # 16 times the smallest float64: more than a few products lose by underflow
_LEAST, _GREATEST = 2.0**-960, 2.0**1000  # between them float64 is safe from underflow and overflow
_SLACK = 1 + 2.0**-50  # radii are computed in float64 too: round them up

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RealPlace:
    """The real coordinates of an array of numbers; every field has the array's shape.

    Attributes:
        centre: float64, the nearest one, or the result of float64 operations; in units of 2^exponent.
        radius: float64, |true number − centre| is at most this, in units of 2^exponent.
        exponent: int64, 0 where float64 holds the ball.
        denominator: float64, bound of the reduced denominator (see the module's docstring), in units of
            2^denominator_exponent; inf when unknown; NaN for measured values, which are taken to lie inside the space's
            decoding bound.
        denominator_exponent: int64, 0 where float64 holds the bound.
        is_inside: bool, whether an encoded number is known to lie inside the space's decoding bound; set only where
            the bound of the denominator is not exact, so that it would not do.
    """

    centre: Floats
    radius: Floats
    exponent: Integers
    denominator: Floats
    denominator_exponent: Integers
    is_inside: Bools

    @property
    def value(self) -> Floats:
        """Return the nearest float64 of each centre: infinite or 0 beyond float64."""
        return self.centre if _is_zero_throughout(self.exponent) else Wide(self.centre, self.exponent).floats(0)

    def is_unmeasured(self) -> bool:
        """Return whether of one number, for shape (), no real value is known (`unknown`)."""
        return bool(np.isnan(self.centre) & np.isinf(self.radius) & np.isnan(self.denominator))

    def ball(self, limit: int) -> tuple[Fraction, Fraction] | None:
        """Return the ball of one number, for shape (), as (centre, radius); None where nothing is known of it.

        Args:
            limit: numbers from 2^limit on do not matter: nothing is known of them. Nor does it where those below
                2^−limit are: their ball is as large as that.
        """
        centre, radius, exponent = float(self.centre), float(self.radius), int(self.exponent)
        if not (np.isfinite(centre) and np.isfinite(radius)) or exponent > limit:
            return None
        if exponent < -limit:
            return Fraction(0), (Fraction(abs(centre)) + Fraction(radius)) / 2**limit
        unit = Fraction(2) ** exponent if exponent else 1
        return Fraction(centre) * unit, Fraction(radius) * unit

    def denominator_bound(self, limit: int) -> Fraction | None:
        """Return the bound of one number's denominator, for shape (); None where there is none below 2^limit."""
        bound, exponent = float(self.denominator), int(self.denominator_exponent)
        if not np.isfinite(bound) or exponent > limit:
            return None
        return Fraction(bound) * (1 << exponent)

    def text(self, digits: int = 6) -> str:
        """Return one number's centre, for shape (), with so many decimal digits, beyond float64 too.

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

    def __getitem__(self, key: Any) -> "RealPlace":
        return RealPlace(*(np.asarray(field[key]) for field in self._fields()))

    def reshape(self, shape: tuple[int, ...]) -> "RealPlace":
        """Return the same coordinates under another array shape."""
        return RealPlace(*(field.reshape(shape) for field in self._fields()))

    def broadcast_to(self, shape: tuple[int, ...]) -> "RealPlace":
        """Return the same coordinates broadcast to an array shape."""
        return RealPlace(*(np.broadcast_to(field, shape) for field in self._fields()))

    def _fields(self) -> tuple[Any, ...]:
        return self.centre, self.radius, self.exponent, self.denominator, self.denominator_exponent, self.is_inside

    def is_ordinary(self) -> bool:
        """Return whether float64 holds every ball and every bound of a denominator."""
        return _is_zero_throughout(self.exponent) and _is_zero_throughout(self.denominator_exponent)

    def _wide(self) -> tuple[Wide, Wide, Wide]:
        """Return centres, radii and bounds of denominators without their units."""
        return (
            Wide(self.centre, self.exponent),
            Wide(self.radius, self.exponent),
            Wide(self.denominator, self.denominator_exponent),
        )

    def __neg__(self) -> "RealPlace":
        return RealPlace(-self.centre, *self._fields()[1:])

    def __add__(self, other: "RealPlace") -> "RealPlace":
        return _in_blocks(_SUM, self, other)

    def __mul__(self, other: "RealPlace") -> "RealPlace":
        return _in_blocks(_PRODUCT, self, other)

    def _is_exact(self) -> Bools:
        """Return where the ball is a point."""
        return np.asarray(self.radius == 0, dtype=np.bool_)

    def _is_zero(self) -> Bools:
        """Return where the ball is the point 0."""
        return np.asarray((self.centre == 0) & (self.radius == 0), dtype=np.bool_)

    def reciprocal(self) -> "RealPlace":
        """Return 1 / self; the radius is infinite where the ball holds 0."""
        return _in_blocks(_QUOTIENT, self, self)

    def may_be_zero(self) -> Bools:
        """Return where the ball holds 0."""
        return np.asarray(np.abs(self.centre) <= self.radius, dtype=np.bool_)

    def overlaps(self, other: "RealPlace") -> Bools:
        """Return where two balls have a point in common, as far as they are known."""
        is_unknown = ~np.isfinite(self.radius) | ~np.isfinite(other.radius)
        if _is_zero_throughout(self.exponent) and _is_zero_throughout(other.exponent):
            with np.errstate(invalid="ignore", over="ignore"):
                near = np.abs(self.centre - other.centre) <= (self.radius + other.radius) * _SLACK
        else:
            (a, r, _), (b, s, _) = self._wide(), other._wide()
            near = abs(a - b) <= (r + s) * _SLACK
        return np.asarray(is_unknown | near, dtype=np.bool_)


def _is_zero_throughout(field: npt.NDArray[Any]) -> bool:
    """Return whether every entry is 0; at once for what `_nothing` made."""
    if field.strides and not any(field.strides):
        field = field.reshape(-1)[:1]
    return not np.any(field)


def _nothing(shape: tuple[int, ...], dtype: type) -> npt.NDArray[Any]:
    """Return zeros without storing one a number."""
    return np.broadcast_to(dtype(0), shape)


def _ordinary(centre: Floats, radius: Floats, denominator: Floats) -> RealPlace:
    """Return a place whose exponents are 0."""
    zeros = _nothing(centre.shape, np.int64)
    return RealPlace(centre, radius, zeros, denominator, zeros, _nothing(centre.shape, np.bool_))


class _Operation(NamedTuple):
    """An operation in float64, and the same with the numbers of `adelic.numbers.wide`."""

    plain: Callable[[RealPlace, RealPlace], RealPlace]
    wide: Callable[[RealPlace, RealPlace], RealPlace]


def _in_blocks(operation: _Operation, x: RealPlace, y: RealPlace) -> RealPlace:
    """Apply an operation to two places of one shape, in blocks, so that what it computes on the way stays in cache."""
    shape, size = x.centre.shape, x.centre.size
    x, y = x.reshape((-1,)), y.reshape((-1,))
    out = _ordinary(np.empty(size), np.empty(size), np.empty(size))
    for block in blocks(size):
        a, b = x[block], y[block]
        part = operation.plain(a, b)
        out.centre[block], out.radius[block], out.denominator[block] = part.centre, part.radius, part.denominator
        unsafe = _unsafe(a, b, part)
        if len(unsafe):
            if not out.exponent.flags.writeable:
                exponents = np.zeros((2, size), dtype=np.int64)
                out = replace(out, exponent=exponents[0], denominator_exponent=exponents[1])
            part = operation.wide(a[unsafe], b[unsafe])
            for field, value in zip(out._fields()[:5], part._fields()[:5], strict=True):
                field[unsafe + block.start] = value
    return out.reshape(shape)


def _unsafe(x: RealPlace, y: RealPlace, out: RealPlace) -> npt.NDArray[np.intp]:
    """Return the indices of the results that float64 may not hold, of operands that are known."""
    size = np.abs(out.centre)
    size += out.radius
    unsafe = np.zeros(size.shape, dtype=np.bool_)
    if not (size.min() >= _LEAST and size.max() <= _GREATEST):  # NaN is neither
        unsafe |= ~((size >= _LEAST) & (size <= _GREATEST)) & (out.radius != 0)
        unsafe &= np.isfinite(x.radius) & np.isfinite(y.radius)
    if np.isinf(out.denominator.max()):
        unsafe |= np.isinf(out.denominator) & np.isfinite(x.denominator) & np.isfinite(y.denominator)
    for place in (x, y):
        if not place.is_ordinary():
            unsafe |= (place.exponent != 0) | (place.denominator_exponent != 0)
    return np.flatnonzero(unsafe)


def _sum(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    """Return the ball of a sum, of floats or of wide numbers."""
    centre = a + b
    return centre, r + s + abs(centre) * _HALF_ULP


def _add(x: RealPlace, y: RealPlace) -> RealPlace:
    with np.errstate(invalid="ignore", over="ignore"):
        centre, radius = _sum(x.centre, x.radius, y.centre, y.radius)
    denominator = _common_denominator(x.denominator, y.denominator)
    return _rounded(centre, radius, denominator, x._is_exact() & y._is_exact())


def _add_wide(x: RealPlace, y: RealPlace) -> RealPlace:
    (a, r, d), (b, s, e) = x._wide(), y._wide()
    is_exact = (x.denominator < EXACT) & (y.denominator < EXACT)
    common = wide.choose(is_exact, _common_denominator(x.denominator, y.denominator), d * e)
    return _narrowed(*_sum(a, r, b, s), common, x._is_exact() & y._is_exact())


def _product(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    """Return the ball of a product, of floats or of wide numbers, but for underflow."""
    centre = a * b
    return centre, abs(a) * s + abs(b) * r + r * s + abs(centre) * _HALF_ULP


def _multiply(x: RealPlace, y: RealPlace) -> RealPlace:
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        centre, radius = _product(x.centre, x.radius, y.centre, y.radius)
        radius += _TINY
        denominator = x.denominator * y.denominator
    is_zero = x._is_zero() | y._is_zero()
    centre, radius, denominator = (np.where(is_zero, z, f) for z, f in ((0, centre), (0, radius), (1, denominator)))
    return _rounded(centre, radius, denominator, x._is_exact() & y._is_exact())


def _multiply_wide(x: RealPlace, y: RealPlace) -> RealPlace:
    (a, r, d), (b, s, e) = x._wide(), y._wide()
    is_zero = x._is_zero() | y._is_zero()
    centre, radius, denominator = (
        wide.choose(is_zero, z, part) for z, part in zip((0.0, 0.0, 1.0), (*_product(a, r, b, s), d * e), strict=True)
    )
    return _narrowed(centre, radius, denominator, x._is_exact() & y._is_exact())


def _inverse(a: Any, r: Any) -> tuple[Any, Any]:
    """Return the ball of an inverse, of floats or of wide numbers, but for underflow; |a| > r."""
    centre = 1.0 / a
    return centre, r / abs(a) / (abs(a) - r) + abs(centre) * _HALF_ULP


def _invert(x: RealPlace, _: RealPlace) -> RealPlace:
    with np.errstate(all="ignore"):
        centre, radius = _inverse(x.centre, x.radius)
        gap = np.abs(x.centre) - x.radius
        radius = np.where((gap > 0) & np.isfinite(gap), radius + _TINY, np.inf)
        # The new denominator is the old numerator, n = value · denominator, an integer: exact if the ball says so.
        exact_product = x.centre * x.denominator
        numerator = np.rint(exact_product)
        error = x.radius * x.denominator + np.abs(exact_product) * _HALF_ULP
        is_exact = (x.denominator < EXACT) & (np.abs(exact_product) < EXACT / 2) & (error < 0.25)
        bound = np.maximum((np.abs(exact_product) + error) * _SLACK, EXACT)
    return _rounded(centre, radius, np.where(is_exact, np.abs(numerator), bound), np.zeros_like(is_exact))


def _invert_wide(x: RealPlace, _: RealPlace) -> RealPlace:
    a, r, d = x._wide()
    centre, radius = _inverse(a, r)
    bound = (abs(a) + r) * d * _SLACK
    is_zero = x.may_be_zero()
    return _narrowed(
        centre,
        wide.choose(is_zero, np.inf, radius),
        wide.choose(bound <= EXACT, EXACT, bound),
        np.zeros_like(is_zero),
    )


_SUM = _Operation(_add, _add_wide)
_PRODUCT = _Operation(_multiply, _multiply_wide)
_QUOTIENT = _Operation(_invert, _invert_wide)


def _rounded(centre: Floats, radius: Floats, denominator: Floats, from_exact: Bools) -> RealPlace:
    """Return a computed place: radii rounded up, integers kept exact, anything beyond float64 known by nothing.

    Args:
        centre: results of a float64 operation.
        radius: their radii, rounding of `centre` included, up to a few roundings of the radii themselves.
        denominator: bounds of denominators, to the nearest float64.
        from_exact: where both operands were points: float64 adds and multiplies integers exactly below 2^53.
    """
    is_exact_integer = ((radius < 0.25) | from_exact) & (denominator == 1) & (np.abs(centre) < EXACT)
    centre = np.where(is_exact_integer, np.rint(centre), centre)
    with np.errstate(over="ignore"):
        radius = np.where(is_exact_integer, 0.0, radius * _SLACK)
    unknown = ~np.isfinite(centre) | np.isnan(radius)
    denominator = _upper_bound(np.where(np.isnan(denominator), np.inf, denominator))
    return _ordinary(centre, np.where(unknown, np.inf, radius), denominator)


def _narrowed(centre: Wide, radius: Wide, denominator: Wide, from_exact: Bools) -> RealPlace:
    """Return a computed place as `_rounded` does, with exponents where float64 does not hold a number."""
    size = abs(centre) + radius
    is_safe = ((size >= _LEAST) & (size <= _GREATEST)) | (size.mantissa == 0) | ~np.isfinite(size.mantissa)
    exponent = np.where(is_safe, 0, size.exponent)
    centres, radii = centre.floats(exponent), radius.floats(exponent) + np.where(radius.mantissa == 0, 0.0, _TINY)
    is_held = (denominator <= _GREATEST) | ~np.isfinite(denominator.mantissa)
    # A bound stays above 2^53 without its unit, too, so that nothing takes it for exact.
    denominator_exponent = np.where(is_held, 0, denominator.exponent - 60)
    plain = _rounded(centres, radii, denominator.floats(denominator_exponent), from_exact)
    return RealPlace(
        np.where(is_safe, plain.centre, centres),
        np.where(is_safe, plain.radius, radii * _SLACK),
        exponent,
        plain.denominator,
        denominator_exponent,
        plain.is_inside,
    )


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


def encode(rationals: Rationals, is_inside: Callable[[int, int], bool]) -> RealPlace:
    """Return the real coordinates of rationals, each rounded once.

    Args:
        rationals: the numbers.
        is_inside: says of n, m whether n/m lies inside the space's decoding bound.
    """
    n, m = rationals.numerators, rationals.denominators
    centre = nearest_floats(rationals)
    if rationals.is_small:
        denominator = np.broadcast_to(1.0, n.shape) if rationals.is_integral else m.astype(np.float64)
    else:
        denominator = np.array([_nearest_float(b, 1) for b in m], dtype=np.float64)
    radius = np.empty(n.shape)
    for block in blocks(len(n)):
        size = np.abs(centre[block])
        is_exact = size < EXACT
        if not rationals.is_integral:
            is_exact &= m[block] == 1
        radius[block] = np.where(is_exact, 0.0, size * (_HALF_ULP * _SLACK) + _TINY)
    place = _ordinary(centre, radius, denominator if rationals.is_integral else _upper_bound(denominator))
    return place if rationals.is_small and rationals.is_integral else _with_units(place, rationals, is_inside)


def _with_units(place: RealPlace, rationals: Rationals, is_inside: Callable[[int, int], bool]) -> RealPlace:
    """Return the place of encoded numbers with units and `is_inside` where float64 does not do."""
    n, m = rationals.numerators, rationals.denominators
    inexact = np.flatnonzero(place.denominator >= EXACT)
    if len(inexact):
        inside = np.zeros(n.shape, dtype=np.bool_)
        inside[inexact] = [is_inside(int(n[i]), int(m[i])) for i in inexact]
        place = replace(place, is_inside=inside)
    if rationals.is_small:
        return place
    size = np.abs(place.centre)
    beyond = np.flatnonzero(np.isinf(size) | ((size < _LEAST) & (n != 0)))
    if len(beyond):
        exponent = np.zeros(n.shape, dtype=np.int64)
        for i in beyond:
            place.centre[i], exponent[i] = wide.nearest(int(n[i]), int(m[i]))
        place.radius[beyond] = np.abs(place.centre[beyond]) * (_HALF_ULP * _SLACK)
        place = replace(place, exponent=exponent)
    large = np.flatnonzero(np.isinf(place.denominator))
    if len(large):
        exponent, denominator = np.zeros(n.shape, dtype=np.int64), place.denominator.copy()
        for i in large:
            mantissa, exponent[i] = wide.nearest(int(m[i]), 1)
            denominator[i], exponent[i] = mantissa * 2.0**60 * _SLACK, exponent[i] - 60  # as in `_narrowed`
        place = replace(place, denominator=denominator, denominator_exponent=exponent)
    return place


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


def log2_fraction(q: Fraction) -> float:
    """Return log2 |q| of a fraction of any size other than 0, to about 15 digits.

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
    return _ordinary(value, np.broadcast_to(radius, value.shape), np.full(value.shape, np.nan))


def from_numbers(numbers: Sequence[Fraction], radii: Sequence[Fraction | None]) -> RealPlace:
    """Return the real place of measured values, exact and of any size, of which nothing else is known.

    Args:
        numbers: the values.
        radii: error bounds; None where there is none.
    """
    centre, radius, exponent = np.zeros(len(numbers)), np.full(len(numbers), np.inf), np.zeros(len(numbers), np.int64)
    for i, (q, r) in enumerate(zip(numbers, radii, strict=True)):
        size = abs(q) + (r or 0)
        centre[i], unit = wide.nearest(q.numerator, q.denominator)
        if not size or Fraction(_LEAST) <= size <= Fraction(_GREATEST):
            centre[i] = np.ldexp(centre[i], unit)
        else:
            exponent[i] = unit if abs(q) >= size / 2 else 1 + wide.nearest(size.numerator, size.denominator)[1]
            centre[i] = Wide(centre[i], unit).floats(exponent[i])
        if r is not None:
            error = r + abs(q - Fraction(centre[i]) * Fraction(2) ** int(exponent[i]))
            radius[i] = np.nextafter(float(error / Fraction(2) ** int(exponent[i])), np.inf) if error else 0.0
    place = from_values(centre, radius)
    return replace(place, exponent=exponent) if exponent.any() else place


def unknown(shape: tuple[int, ...]) -> RealPlace:
    """Return the real place of numbers of which nothing is known but that they lie inside the decoding bound."""
    return from_values(np.full(shape, np.nan), np.full(shape, np.inf))
