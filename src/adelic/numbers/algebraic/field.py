"""A number field with its embeddings: an infinite place, and the primes at which its elements have digits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from adelic.numbers.algebraic import polynomials
from adelic.numbers.algebraic.polynomials import Element
from adelic.numbers.hensel import BelowWindowError
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import SLACK, Bools, Floats, RealPlace
from adelic.numbers.window import Window

BITS = 64
"""To which images in the complex numbers are computed before they are rounded to float64."""


@dataclass(frozen=True)
class EmbeddedField:
    """A number field with one embedding into the real or complex numbers, and one into each Q_p.

    Attributes:
        polynomial: f, monic and irreducible over the integers, the constant coefficient first; θ is a root.
        root: the root that the infinite place takes for θ, to float64; its imaginary part is 0 only if it is real.
        primes: at which f splits into different linear factors.
        precision: N, how many digits a window holds.
        fractional_digits: F, how many of them stand below p^0.
    """

    polynomial: tuple[int, ...]
    root: complex
    primes: tuple[int, ...]
    precision: int
    fractional_digits: int

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return what two spaces whose arrays mix have in common."""
        return self.polynomial, self.root, self.primes

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return len(self.primes)

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return Window(self.primes, (self.precision,) * self.n_primes, self.fractional_digits)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Return θ modulo p^precision for each prime, the lift of the smallest root modulo p."""
        f = self.polynomial
        return tuple(
            polynomials.hensel_root(f, min(polynomials.roots_modulo(f, p)), p, self.precision) for p in self.primes
        )

    @property
    def degree(self) -> int:
        """Return the degree of the field."""
        return len(self.polynomial) - 1

    @property
    def n_rows(self) -> int:
        """Return how many rows of the layout the infinite place takes: 1 if it is real, 2 if it is complex."""
        return 1 if self.root.imag == 0 else 2

    def residue(self, element: Element, j: int, window: Window | None = None) -> int:
        """Return p^F · α mod p^N for a number α of the field at the j-th prime, in the space's window or another.

        A denominator that p divides need not lead below the window: with √2 ≡ 3 modulo 7, (√2 − 3)/7 is a 7-adic
        integer. More digits of θ tell. A BelowWindowError says that α has digits below the window.
        """
        numerators, denominator = element
        p, f = self.primes[j], (window or self.window).fractional_digits
        n = (window or self.window).precisions[j]
        e = valuation(denominator, p)
        theta = self.roots[j]
        if n + e > self.precision:
            theta = polynomials.hensel_root(self.polynomial, theta % p, p, n + e)
        value = polynomials.evaluate(numerators, theta, p ** (n + e)) * p**f
        if value % p**e:
            raise BelowWindowError(e - valuation(value, p) + f)
        return int(value // p**e * pow(denominator // p**e, -1, p**n) % p**n)

    def conjugates(self, element: Element) -> list[Any]:
        """Return the images of a number under all embeddings into the complex numbers, as balls of python-flint.

        The image at the infinite place comes first; its radius is below 2^(−64) of its size.
        """
        numerators, denominator = element
        flint = polynomials.load_flint()
        # Enough at once, unless the terms of the image nearly cancel.
        bits = 2 * BITS + max(abs(n) for n in numerators).bit_length()
        while True:
            roots = polynomials.complex_roots(self.polynomial, bits)
            with polynomials.working_precision(bits):
                ordered = sorted(roots, key=lambda z: abs(to_complex(z) - self.root))
                images = [flint.fmpz_poly(list(numerators))(z) / denominator for z in ordered]
                # The images of a number other than 0 are not 0, so that some precision suffices.
                if not any(numerators) or images[0].rad() * 2**BITS <= images[0].abs_lower():
                    return images
            bits *= 2


def to_complex(z: polynomials.Ball) -> complex:
    """Return the nearest complex128 of a ball's centre."""
    return complex(float(z.real.mid()), float(z.imag.mid()))


def coefficients(element: Element) -> tuple[Fraction, ...]:
    """Return a number's coefficients of 1, θ, θ^2, …."""
    numerators, denominator = element
    return tuple(Fraction(n, denominator) for n in numerators)


@dataclass(frozen=True)
class Height:
    """Bounds of numbers α of a field Q(θ), float64 arrays of one shape; inf where nothing is known.

    Without them a number of huge height could have the digits and the float64 image of a small one, as for the
    rationals (`adelic.numbers.real`), and would decode to it.

    Attributes:
        denominator: some integer m from 1 to this has m·α in Z[θ].
        house: every conjugate of α, real or complex, is at most this in absolute value.
        is_multiple: whether the denominator itself is such an m.
    """

    denominator: Floats
    house: Floats
    is_multiple: Bools

    def map(self, function: Callable[[Any], Any]) -> "Height":
        """Apply a change of shape to each field."""
        return Height(*(np.asarray(function(part)) for part in (self.denominator, self.house, self.is_multiple)))

    def __add__(self, other: "Height") -> "Height":
        is_multiple = self.is_multiple & other.is_multiple
        a, b = self.denominator, other.denominator
        # Bounds that are not multiples have the divisor 1: their product bounds a common denominator.
        divisor = np.gcd(*(np.where(is_multiple, m, 1).astype(np.int64) for m in (a, b)))
        with np.errstate(over="ignore"):
            return _rounded_up(a / divisor * b, self.house + other.house, is_multiple)

    def __mul__(self, other: "Height") -> "Height":
        is_zero = (self.house == 0) | (other.house == 0)
        with np.errstate(over="ignore", invalid="ignore"):
            denominator = np.where(is_zero, 1, self.denominator * other.denominator)
            house = np.where(is_zero, 0, self.house * other.house)
        return _rounded_up(denominator, house, self.is_multiple & other.is_multiple)

    def reciprocal(self, degree: int) -> "Height":
        """Return the bounds of 1/α.

        With n = m·α the norm N = N(n) is an integer other than 0, and N/n, the product of n's other conjugates, lies in
        Z[θ]. So N is a denominator of 1/α = m·(N/n)/N, and 1/|α| <= |m·(N/n)|.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            size = self.denominator * self.house * SLACK
            denominator = np.maximum(size**degree, 1) * SLACK
            house = self.denominator * size ** (degree - 1) * SLACK
        return _rounded_up(denominator, house, np.zeros(size.shape, dtype=np.bool_))


def _rounded_up(denominator: Floats, house: Floats, is_multiple: Bools) -> Height:
    """Return bounds from their nearest float64: exact denominators unchanged, all else rounded up."""
    is_multiple = is_multiple & (denominator < EXACT)
    with np.errstate(over="ignore"):
        bounds = np.where(is_multiple, denominator, denominator * SLACK), house * SLACK
    unknown = [np.where(np.isnan(bound), np.inf, bound) for bound in bounds]
    return Height(unknown[0], unknown[1], is_multiple)


@dataclass(frozen=True)
class InfinitePlace:
    """The coordinates of an array of algebraic numbers at one real or complex place; the arithmetic of `RealPlace`.

    Attributes:
        parts: the real coordinate; or the real and the imaginary one.
        height: bounds of the numbers' heights.
        degree: of the field.
    """

    parts: tuple[RealPlace, ...]
    height: Height
    degree: int

    @property
    def value(self) -> Floats:
        """Return the real part."""
        return self.parts[0].value

    @property
    def centre(self) -> Floats:
        """Return the centres of the first coordinate's balls."""
        return self.parts[0].centre

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers."""
        return self.parts[0].shape

    def text(self) -> str:
        """Return one number's image, for shape (), with six digits."""
        if len(self.parts) == 1:
            return self.parts[0].text()
        return f"{complex(*(float(part.value) for part in self.parts)):.6g}"

    def _with(self, parts: Iterable[RealPlace], height: Height) -> "InfinitePlace":
        return InfinitePlace(tuple(parts), height, self.degree)

    def _map(self, function: Callable[[Any], Any]) -> "InfinitePlace":
        return self._with(map(function, self.parts), self.height.map(function))

    def __getitem__(self, key: Any) -> "InfinitePlace":
        return self._map(lambda part: part[key])

    def reshape(self, shape: tuple[int, ...]) -> "InfinitePlace":
        """Return the same coordinates under another array shape."""
        return self._map(lambda part: part.reshape(shape))

    def broadcast_to(self, shape: tuple[int, ...]) -> "InfinitePlace":
        """Return the same coordinates broadcast to an array shape."""
        height = self.height.map(lambda field: np.broadcast_to(field, shape))
        return self._with((part.broadcast_to(shape) for part in self.parts), height)

    def __neg__(self) -> "InfinitePlace":
        return self._with((-part for part in self.parts), self.height)

    def __add__(self, other: "InfinitePlace") -> "InfinitePlace":
        return self._with(map(add, self.parts, other.parts), self.height + other.height)

    def __mul__(self, other: "InfinitePlace") -> "InfinitePlace":
        height = self.height * other.height
        if len(self.parts) == 1:
            return self._with([self.parts[0] * other.parts[0]], height)
        (a, b), (c, d) = self.parts, other.parts
        return self._with([a * c + -(b * d), a * d + b * c], height)

    def reciprocal(self) -> "InfinitePlace":
        """Return 1 / self; radii are infinite where the ball holds 0."""
        height = self.height.reciprocal(self.degree)
        if len(self.parts) == 1:
            return self._with([self.parts[0].reciprocal()], height)
        a, b = self.parts
        inverse_square = (a * a + b * b).reciprocal()
        return self._with([a * inverse_square, -b * inverse_square], height)

    def cut(self) -> "InfinitePlace":
        """Return the same: what is known of heights does not hang on a window."""
        return self

    def overlaps(self, other: "InfinitePlace") -> Bools:
        """Return where two balls have a point in common, as far as they are known."""
        return _all(a.overlaps(b) for a, b in zip(self.parts, other.parts, strict=True))

    def may_be_zero(self) -> Bools:
        """Return where the balls hold 0."""
        return _all(part.may_be_zero() for part in self.parts)


def _all(conditions: Iterable[Bools]) -> Bools:
    return np.asarray(reduce(np.logical_and, conditions), dtype=np.bool_)
