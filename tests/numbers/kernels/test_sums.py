"""Sums, differences and products of many numbers at once, against the same digit by digit and against integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.numbers import finite
from adelic.numbers.finite import FinitePlaces, all_known

PRIMES = [p for p in range(2, 252) if all(p % a for a in range(2, p))]


def lists_of(length):
    return st.lists(st.integers(1, 64), min_size=length, max_size=length)


@st.composite
def places(draw):
    """Draw a space and two arrays of arbitrary digits, many of them 0 or p − 1, which carries run through."""
    primes = tuple(draw(st.lists(st.sampled_from(PRIMES), min_size=1, max_size=30, unique=True)))
    counts = draw(st.one_of(st.integers(1, 64).map(lambda n: [n] * len(primes)), lists_of(len(primes))))
    f = draw(st.just(0) | st.integers(0, min(8, min(counts) - 1)))
    space = AdeleSpace(primes, dict(zip(primes, counts, strict=True)), f)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    greatest = np.array(primes)[:, None]
    arrays = []
    for _ in range(2):
        digits = rng.integers(0, greatest, (draw(st.integers(33, 40)), len(primes), max(counts)))
        extreme = rng.random(digits.shape)
        digits = np.where(extreme < 0.3, 0, np.where(extreme < 0.6, greatest - 1, digits)).astype(np.uint8)
        arrays.append(digits * space.window.exists)
    size = min(len(a) for a in arrays)
    return space, *(FinitePlaces(a[:size], all_known(space.window, size)) for a in arrays)


def integers(x, space):
    """Return the coordinates as integers modulo p^N, object (size, n_primes)."""
    weights = np.array([[p**k for k in reversed(range(space.max_precision))] for p in space.primes], dtype=object)
    return (x.digits.astype(object) * weights).sum(axis=2)


@settings(max_examples=150)
@given(places())
def test_sums_and_products_are_those_of_integers_modulo_powers(case):
    space, x, y = case
    moduli = np.array([p**n for p, n in zip(space.primes, space.precisions, strict=True)], dtype=object)
    a, b = integers(x, space), integers(y, space)
    window = space.window
    results = [
        (finite.add(x, y, window), a + b),
        (finite.subtract(x, y, window), a - b),
        (finite.negate(x, window), -a),
    ]
    if not window.fractional_digits:  # the others' products know fewer digits
        results.append((finite.multiply(x, y, window), a * b))
    for got, want in results:
        np.testing.assert_array_equal(integers(got, space), want % moduli)
        assert (got.digits < np.array(space.primes)[:, None]).all()
        assert (got.known == np.array(space.precisions)).all()


@pytest.mark.parametrize("size", [33, 47, 48, 513, 1100])
def test_blocks_and_what_they_leave(size, monkeypatch):
    rng = np.random.default_rng(size)
    x, y = (AdeleSpace().encode(rng.integers(-(2**62), 2**62, size)) for _ in range(2))
    fast = [(x + y).digits, (x - y).digits, (x * y).digits, (-x).digits]
    monkeypatch.setattr(finite, "_suits_vectors", lambda *_: False)
    np.testing.assert_array_equal(fast, [(x + y).digits, (x - y).digits, (x * y).digits, (-x).digits])


def test_digits_that_are_not_known_stay_zero():
    space = AdeleSpace(primes=(2, 3), precision=16)
    x = space.encode(np.arange(4, 404, 4)) / 4  # two 2-adic digits fewer
    total = x + x
    assert (total.known[:, 0] == 14).all()
    assert not total.digits[:, 0, :2].any()
    assert (total == space.encode(np.arange(1, 101)) * 2).all()
