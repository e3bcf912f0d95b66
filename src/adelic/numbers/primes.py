"""Primes and valuations."""

from collections.abc import Iterable
from math import isqrt


def smallest_factor(n: int) -> int:
    """Return the smallest prime that divides n >= 2, by trial division.

    >>> smallest_factor(91), smallest_factor(97)
    (7, 97)
    """
    if n < 2:
        raise ValueError(f"{n} has no prime factor; n >= 2 has one")
    return next((d for d in _candidates(isqrt(n)) if n % d == 0), n)


def _candidates(limit: int) -> Iterable[int]:
    """Yield 2, 3 and the odd numbers up to the limit."""
    if limit >= 2:
        yield 2
    yield from range(3, limit + 1, 2)


def is_prime(n: int) -> bool:
    """Return whether n is a prime number.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return n >= 2 and smallest_factor(n) == n


def first_primes(count: int) -> tuple[int, ...]:
    """Return the first primes in ascending order (OEIS A000040).

    >>> first_primes(7)
    (2, 3, 5, 7, 11, 13, 17)
    """
    primes: list[int] = []
    n = 2
    while len(primes) < count:
        if all(n % p for p in primes if p * p <= n):
            primes.append(n)
        n += 1
    return tuple(primes)


def valuation(n: int, p: int) -> int:
    """Return the largest k with p**k dividing n, for n other than 0.

    >>> valuation(48, 2), valuation(-75, 5), valuation(7, 3)
    (4, 2, 0)
    """
    if n == 0:
        raise ValueError("0 is divisible by every power of p: its valuation is infinite")
    if n % p:
        return 0
    k = 2 * valuation(n, p * p)  # by squares, so that numbers of thousands of digits take few divisions
    return k if n // p**k % p else k + 1
