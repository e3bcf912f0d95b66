"""The infinite place of algebraic numbers: real or complex balls, and bounds of heights."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from adelic.numbers.rationals import EXACT
from adelic.numbers.real import SLACK, Bools, Floats, RealPlace, Shaped


@dataclass(frozen=True)
class Height(Shaped):
    """Bounds of numbers α of a field Q(θ), float64 arrays of one shape; inf if nothing is known.

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
        """Apply a change of shape to every array."""
        return Height(*(np.asarray(function(part)) for part in (self.denominator, self.house, self.is_multiple)))

    def __add__(self, other: "Height") -> "Height":
        is_multiple = self.is_multiple & other.is_multiple
        a, b = self.denominator, other.denominator
        # Bounds that are not multiples have the divisor 1: their product bounds a common denominator.
        divisor = np.gcd(*(np.where(is_multiple, m, 1).astype(np.int64) for m in (a, b)))
        with np.errstate(over="ignore"):
            return _rounded_up(a / divisor * b, self.house + other.house, is_multiple)

    def __mul__(self, other: "Height") -> "Height":
        # 0 times anything is 0/1, also if nothing is known of the other factor: inf · 0 would be NaN.
        is_zero = (self.house == 0) | (other.house == 0)
        with np.errstate(over="ignore", invalid="ignore"):
            denominator = np.where(is_zero, 1, self.denominator * other.denominator)
            house = np.where(is_zero, 0, self.house * other.house)
        return _rounded_up(denominator, house, self.is_multiple & other.is_multiple)

    def reciprocal(self, degree: int) -> "Height":
        """Return the bounds of 1/α.

        With n = m·α the norm N = N(n) is an integer other than 0, and N/n, the product of n's other conjugates, lies in
        Z[θ]. Therefore N is a denominator of 1/α = m·(N/n)/N, and 1/|α| <= |m·(N/n)|.
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
class InfinitePlace(Shaped):
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

    def map(self, function: Callable[[Any], Any]) -> "InfinitePlace":
        """Apply a change of shape to every array."""
        return self._with((part.map(function) for part in self.parts), self.height.map(function))

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
        """Return 1 / self; radii are infinite if the ball holds 0."""
        height = self.height.reciprocal(self.degree)
        if len(self.parts) == 1:
            return self._with([self.parts[0].reciprocal()], height)
        a, b = self.parts
        inverse_square = (a * a + b * b).reciprocal()
        return self._with([a * inverse_square, -b * inverse_square], height)

    def cut(self) -> "InfinitePlace":
        """Return the same: the bounds of heights do not depend on a window."""
        return self

    def overlaps(self, other: "InfinitePlace") -> Bools:
        """Return whether two balls have a point in common, as far as they are known."""
        return _all(a.overlaps(b) for a, b in zip(self.parts, other.parts, strict=True))

    def may_be_zero(self) -> Bools:
        """Return whether the balls hold 0."""
        return _all(part.may_be_zero() for part in self.parts)


def _all(conditions: Iterable[Bools]) -> Bools:
    return np.asarray(reduce(np.logical_and, conditions), dtype=np.bool_)
