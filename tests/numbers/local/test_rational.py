"""Valuations, absolute values and periods of rational numbers against their definitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import DomainError, EncodingError, SpaceError
from adelic.numbers import hensel_roots, norm, padic, period, valuation
from adelic.numbers.hensel import hensel_digits

FUNCTIONS = (valuation, norm, period, lambda x, p: hensel_roots("x - 1", p), padic)
PRIMES = st.sampled_from([2, 3, 5, 7, 11])


@given(st.fractions(max_denominator=10**4).filter(bool), st.integers(-5, 5), PRIMES)
def test_valuations_and_norms(q, k, p):
    v = valuation(q, p)
    rest = q / Fraction(p) ** v
    assert rest.numerator % p
    assert rest.denominator % p
    assert valuation(q * Fraction(p) ** k, p) == v + k
    assert norm(q, p) == Fraction(p) ** -v


@given(st.fractions(max_denominator=60), PRIMES)
def test_periods_are_seen_in_the_digits(q, p):
    before, length = period(q, p)
    lowest = min(valuation(q, p), 0) if q else 0
    scaled = q / Fraction(p) ** lowest
    digits = hensel_digits(scaled.numerator, scaled.denominator, p, before + 3 * length + 20)
    repeats = [digits[i] == digits[i + length] for i in range(len(digits) - length)]
    assert all(repeats[before:])
    assert before == 0 or not repeats[before - 1]
    shorter = [d for d in range(1, length) if length % d == 0]
    assert all(digits[before : before + d] * (length // d) != digits[before : before + length] for d in shorter)


def test_shapes_and_types():
    assert type(valuation(12, 2)) is int
    assert valuation([[12, 1], [2, "1/8"]], 2).tolist() == [[2, 0], [1, -3]]
    assert valuation(np.array([4, 8]), 2).dtype == np.int64
    assert norm([], 2).shape == (0,)
    found = period([["1/7", 3], ["1/3", "1/49"]], 10007)
    assert found.length.shape == found.before.shape == (2, 2)
    assert period("1/3", 2) == (1, 2)


def test_many_digits_before_the_period():
    assert period(2**100_000, 2) == (100_001, 1)
    assert period(-(2**100_000), 2) == (100_000, 1)


def test_long_periods():
    m = (2**61 - 1) * (10**18 + 9)  # two primes
    length = period(Fraction(1, m), 2).length
    assert pow(2, length, m) == 1
    assert length % 61 == 0


def test_long_periods_without_flint(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "flint", None)
    from adelic.numbers import integers

    integers.long_integer.cache_clear()
    try:
        assert period("1/1000000007", 2).length == 500000003
        with pytest.raises(DomainError, match=r"needs the factors of .*python-flint finds them"):
            period(Fraction(1, (2**61 - 1) * (10**18 + 9)), 2)
    finally:
        integers.long_integer.cache_clear()


@pytest.mark.parametrize(
    ("function", "value", "p", "error", "words"),
    [
        (
            valuation,
            [1, 0],
            2,
            DomainError,
            r"^0 at position \[1\] .* every power of 2: its valuation is inf",
        ),
        (valuation, 0.5, 2, EncodingError, r"0\.5 is a float"),
        *((f, 8, 4, SpaceError, r"^p=4 is not a prime \(4 = 2 · 2\)$") for f in FUNCTIONS),
        *((f, 8, 2.5, SpaceError, "^p must be an integer") for f in FUNCTIONS),
    ],
)
def test_errors(function, value, p, error, words):
    """Wrong primes have no advice on lists of primes."""
    with pytest.raises(error, match=words):
        function(value, p)


def test_primes_and_precisions_of_numpy():
    five, n = np.int64(5), np.int64(30)
    assert (valuation(Fraction(5**40, 7), five), norm(5**40, five)) == (40, Fraction(1, 5**40))
    assert period("1/97", five) == period("1/97", 5)
    assert str(hensel_roots("x^2 + 1", five, n)) == str(hensel_roots("x^2 + 1", 5, 30))
    assert str(hensel_roots("x^2 + 1", 5, {5: 30})) == str(hensel_roots("x^2 + 1", 5, 30))
