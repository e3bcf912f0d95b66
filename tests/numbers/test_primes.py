"""Primes and valuations against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.numbers.primes import first_primes, is_prime, smallest_factor, valuation


@given(st.integers(-(10**12), 10**12).filter(bool), st.sampled_from([2, 3, 5, 7]), st.integers(0, 200))
def test_valuation(unit, p, k):
    while unit % p == 0:
        unit //= p
    assert valuation(unit * p**k, p) == k


def test_valuation_of_zero():
    with pytest.raises(ValueError, match="infinite"):
        valuation(0, 2)


def test_primes_are_the_numbers_without_divisors():
    by_definition = [n for n in range(2, 2000) if all(n % d for d in range(2, n))]
    assert [n for n in range(-5, 2000) if is_prime(n)] == by_definition
    assert first_primes(len(by_definition)) == tuple(by_definition)
    assert all(smallest_factor(n) == next(d for d in range(2, n + 1) if n % d == 0) for n in range(2, 500))
    with pytest.raises(ValueError, match="1 has no prime factor"):
        smallest_factor(1)
