"""Primes and valuations against their definitions."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import MissingExtraError
from adelic.numbers.primes import (
    first_primes,
    is_prime,
    largest_valuation,
    legendre,
    primitive_root,
    smallest_factor,
    valuation,
)


@pytest.mark.parametrize("dtype", [np.int64, object])
def test_largest_valuation(dtype):
    for k in range(5):
        for p in (2, 7, 2**64 - 59):
            numbers = np.array([0, p**k if p < 9 else 1, -5], dtype=dtype)
            assert largest_valuation(numbers, p) == (k if p < 9 else 0)
    assert largest_valuation(np.array([], dtype=dtype), 3) == 0
    assert largest_valuation(np.broadcast_to(np.array(9, dtype=dtype), 5), 3) == 2


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


@pytest.mark.parametrize("p", [p for p in range(2, 200) if is_prime(p)])
def test_a_primitive_root_generates(p):
    assert {pow(primitive_root(p), k, p) for k in range(p - 1)} == set(range(1, p))


def test_strong_pseudoprimes_are_none():
    """The least composite numbers that the first bases take for primes (OEIS A014233), and Carmichael numbers."""
    from adelic.numbers.primes import _PROVEN

    for n in (*_PROVEN[:-1], 561, 1105, 825265, 3825123056546413051):
        assert not is_prime(n)
    assert not is_prime(_PROVEN[-1])


def test_long_primes(monkeypatch):
    assert [is_prime(2**k - 1) for k in (89, 91, 107, 521)] == [True, False, True, True]  # OEIS A000043
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(MissingExtraError, match=r"flint.*pip install 'adelic\[flint\]'"):
        is_prime(2**127 - 1)


@given(st.integers(0, 2**64))
def test_primes_against_another_system(n):
    sympy = pytest.importorskip("sympy")
    assert is_prime(n) == sympy.isprime(n)
    p = sympy.prevprime(n + 3)
    assert is_prime(p)
    assert not is_prime(p * sympy.prevprime(10**5 + n % 10**5))


def test_many_first_primes():
    primes = first_primes(100_000)
    assert len(primes) == 100_000
    assert primes[-1] == 1299709
    assert first_primes(0) == ()


def test_integers_of_numpy():
    assert [is_prime(n) for n in np.array([2047, 2053, 1373653, 1373677])] == [False, True, False, True]


@pytest.mark.parametrize("p", [3, 5, 7, 17, 101, 257])
def test_legendre_symbols_by_trying_all(p):
    squares = {x * x % p for x in range(1, p)}
    numbers = np.arange(-p, 2 * p).reshape(3, p)
    expected = [[0 if a % p == 0 else 1 if a % p in squares else -1 for a in row] for row in numbers.tolist()]
    assert legendre(numbers, p).tolist() == expected
    assert legendre(numbers.astype(object), p).tolist() == expected


@pytest.mark.parametrize("p", [10**7 + 19, 2**31 - 1, 2**61 - 1, 2**64 - 59])
def test_legendre_symbols_at_large_primes_by_eulers_criterion(p):
    numbers = np.random.default_rng(0).integers(1, p, 200, dtype=np.uint64)
    assert [s % p for s in legendre(numbers, p).tolist()] == [pow(a, (p - 1) // 2, p) for a in numbers.tolist()]
