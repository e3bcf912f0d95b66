"""Real coordinates of numbers: of rationals, of measured values, of nothing at all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from adelic.numbers.places import wide
from adelic.numbers.places.balls import (
    BEYOND,
    GREATEST,
    HALF_ULP,
    LEAST,
    SLACK,
    TINY,
    Floats,
    RealPlace,
    ordinary,
    upper_bound,
)
from adelic.numbers.places.wide import Wide
from adelic.numbers.rationals import EXACT, Rationals, blocks


def encode(rationals: Rationals, is_inside: Callable[[int, int], bool]) -> RealPlace:
    """Return the real coordinates of rationals, each rounded once.

    `is_inside` says of n, m whether n/m lies inside the space's decoding bound.
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
    """Return the place of encoded numbers with what float64 does not hold of them."""
    n, m = rationals.numerators, rationals.denominators
    inexact = np.flatnonzero(place.denominator >= EXACT)
    size = np.abs(place.centre)
    far = np.flatnonzero(np.isinf(size) | ((size < LEAST) & (n != 0))) if not rationals.is_small else ()
    if not len(inexact) and not len(far):
        return place
    beyond, denominator = np.zeros(n.shape, dtype=BEYOND), place.denominator.copy()
    for i in far:
        place.centre[i], beyond["exponent"][i] = wide.nearest(int(n[i]), int(m[i]))
        place.radius[i] = np.abs(place.centre[i]) * (HALF_ULP * SLACK)
    for i in inexact:
        beyond["is_inside"][i] = is_inside(int(n[i]), int(m[i]))
        if np.isinf(denominator[i]):
            mantissa, exponent = wide.nearest(int(m[i]), 1)
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


def nearest_float(n: int, m: int) -> float:
    """Return n/m correctly rounded, ±inf beyond float64.

    >>> nearest_float(1, 4), nearest_float(-(10**400), 3)
    (0.25, -inf)
    """
    try:
        return n / m
    except OverflowError:
        return float("inf") if n > 0 else float("-inf")


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
        unit = 0 if is_held else wide.nearest(size.numerator, size.denominator)[1]
        mantissa, exponent = wide.nearest(q.numerator, q.denominator)
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
