"""Primes and valuations."""

from functools import lru_cache
from itertools import chain, islice
from math import gcd, isqrt, log
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.errors import needs_extra
from adelic.numbers import integers

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PROVEN = (
    2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321, 341550071728321,
    3825123056546413051, 3825123056546413051, 3825123056546413051, 318665857834031151167461,
    3317044064679887385961981,
)  # fmt: skip
"""The least composite numbers that pass for primes with the first 1, 2, 3, … bases."""

GREATEST_PROVEN = _PROVEN[-1]
"""Below it `is_prime` has a proof."""


def smallest_factor(n: int, limit: int | None = None) -> int:
    """Return the smallest prime that divides n >= 2, by trial division; n itself if none is up to a limit.

    >>> smallest_factor(91), smallest_factor(97), smallest_factor(10403, limit=100)
    (7, 97, 10403)
    """
    if n < 2:
        raise ValueError(f"{n} has no prime factor; n >= 2 has one")
    bound = isqrt(n) if limit is None else min(isqrt(n), limit)
    candidates = chain(range(2, min(bound, 2) + 1), range(3, bound + 1, 2))
    return next((d for d in candidates if n % d == 0), n)


def is_prime(n: int) -> bool:
    """Return whether n is a prime number, with proof: the Miller–Rabin test below 3.3 · 10^24, beyond it python-flint.

    Raises:
        MissingExtraError: n is larger, and python-flint is not installed.

    Source: J. Sorenson, J. Webster, "Strong pseudoprimes to twelve prime bases", Math. Comp. 86 (2017); OEIS A014233;
    beyond, the test of Adleman, Pomerance, Rumely, Cohen and Lenstra in FLINT's `fmpz_is_prime`.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    >>> is_prime(2**61 - 1), is_prime(2**61 + 1), is_prime(2**89 - 1)
    (True, False, True)
    """
    n = index(n)  # NumPy's integers have no powers modulo others
    if n < 2 or any(n % p == 0 for p in _BASES):
        return n in _BASES
    if n >= GREATEST_PROVEN:
        return _is_long_prime(n)
    # A number and its negative share the lowest bit that is set, and none above.
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    odd = (n - 1) >> twos
    count = next(i for i, bound in enumerate(_PROVEN, start=1) if n < bound)
    return all(_passes(n, base, odd, twos) for base in _BASES[:count])


@lru_cache(maxsize=256)
def _is_long_prime(n: int) -> bool:
    with needs_extra(f"a proof that a number beyond {float(GREATEST_PROVEN):.1e} is a prime", "flint"):
        from flint import fmpz
    return bool(fmpz(n).is_prime())


def _passes(n: int, base: int, odd: int, twos: int) -> bool:
    """Return whether n is prime or a strong pseudoprime to a base; n − 1 = odd · 2^twos."""
    x = pow(base, odd, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def first_primes(count: int) -> tuple[int, ...]:
    """Return the first primes in ascending order (OEIS A000040), by the sieve of Eratosthenes.

    Source of the bound: J. B. Rosser, L. Schoenfeld (1962), p_n < n · (log n + log log n) for n >= 6.

    >>> first_primes(7)
    (2, 3, 5, 7, 11, 13, 17)
    """
    bound = 15 if count < 6 else int(count * (log(count) + log(log(count)))) + 1
    is_candidate = bytearray([1]) * (bound + 1)
    for d in range(2, isqrt(bound) + 1):
        if is_candidate[d]:
            is_candidate[d * d :: d] = bytes(len(range(d * d, bound + 1, d)))
    return tuple(islice((n for n in range(2, bound + 1) if is_candidate[n]), max(count, 0)))


def primitive_root(p: int) -> int:
    """Return the least generator of the multiplicative group of Z/p, p prime (OEIS A001918).

    >>> [primitive_root(p) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23)]
    [1, 2, 2, 3, 2, 2, 3, 2, 5]
    """
    factors, rest = set(), p - 1
    while rest > 1:
        factors.add(q := smallest_factor(rest))
        rest //= q
    return next(g for g in range(1, p) if all(pow(g, (p - 1) // q, p) != 1 for q in factors))


def valuation(n: int, p: int) -> int:
    """Return the largest k with p**k dividing n, for n other than 0.

    >>> valuation(48, 2), valuation(-75, 5), valuation(7, 3)
    (4, 2, 0)
    """
    if n == 0:
        raise ValueError("0 is divisible by every power of p: its valuation is infinite")
    if isinstance(n, int) and n.bit_length() > 4 * integers.SHORT:
        integer = integers.long_integer()
        n, p = integer(n), integer(p)
    if n % p:
        return 0
    k = 2 * valuation(n, p * p)  # by squares, so numbers of thousands of digits take few divisions
    return k if n // p**k % p else k + 1


def largest_valuation(numbers: NDArray[Any], p: int) -> int:
    """Return the largest k with p**k dividing one of the integers other than 0, int64 or objects (size,), or 0.

    >>> largest_valuation(np.array([0, 12, 7]), 2), largest_valuation(np.array([0]), 2)
    (2, 0)
    """
    rest = numbers[:1] if numbers.strides == (0,) else numbers  # one number that is seen everywhere
    rest = rest[rest != 0]
    if rest.dtype == object:
        return max((valuation(n, p) for n in rest.tolist()), default=0)
    k = 0
    while p < 2**63 and len(rest := rest[rest % p == 0] // p):  # NumPy refuses other p, which divide none of them
        k += 1
    return k


def decimal(numerator: int, power: int) -> tuple[int, int]:
    """Return numerator · 10^power in lowest terms; of long numbers, by their valuations at 2 and 5.

    >>> decimal(1250, -4), decimal(-7, 2)
    ((1, 8), (-700, 1))
    """
    if power >= 0 or not numerator:
        return numerator * 10 ** max(power, 0), 1
    if numerator.bit_length() <= 4 * integers.SHORT:
        denominator = 10**-power
        divisor = gcd(numerator, denominator)
        return numerator // divisor, denominator // divisor
    twos, fives = (min(valuation(numerator, p), -power) for p in (2, 5))
    return numerator // (2**twos * 5**fives), 2 ** (-power - twos) * 5 ** (-power - fives)


def split(numbers: ArrayLike, p: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the valuations of integers at a prime, and their unit parts; of 0 both are 0.

    From int64, or objects of int of any size, to int64, and units of the numbers' type, both of their shape.

    >>> valuations, units = split([12, -8, 5, 0], 2)
    >>> valuations.tolist(), units.tolist()
    ([2, 3, 0, 0], [3, -1, 5, 0])
    """
    units = np.array(numbers)
    if units.dtype != object:
        units = units.astype(np.int64 if p < 2**63 else object)  # NumPy refuses other p
    valuations = np.zeros(units.shape, dtype=np.int64)
    divides = np.asarray((units % p == 0) & (units != 0))
    while divides.any():
        units[divides] //= p
        valuations[divides] += 1
        divides[divides] = units[divides] % p == 0
    return valuations, units


def legendre(numbers: ArrayLike, p: ArrayLike) -> NDArray[np.int64]:
    """Return the Legendre symbols of integers at an odd prime: 1 for squares modulo p, 0 for multiples, else −1.

    For odd p > 0 that are not prime, or differ from number to number, they are Jacobi's. By the law of quadratic
    reciprocity, all numbers at once: no table, and as many steps as Euclid's algorithm takes (H. Cohen, A Course in
    Computational Algebraic Number Theory, 1993, 1.4.2). Integers may have any size.

    >>> legendre([1, 2, 3, 4, -1, 14], 7).tolist(), legendre([2], 2**61 - 1).tolist(), legendre(2, [15, 10**30 + 57])
    ([1, 1, -1, 1, -1, 0], [1], array([1, 1]))
    """
    a, n = np.broadcast_arrays(np.asarray(numbers), np.asarray(p))
    if np.result_type(a, n).kind not in "iu":  # uint64 and int64 would meet as floats
        a, n = a.astype(object), n.astype(object)
    upper, lower = a.reshape(-1) % n.reshape(-1), n.flatten()
    if not lower.size or int(lower.max()) < 2**64:
        upper, lower = upper.astype(np.uint64), lower.astype(np.uint64)
    symbols = np.ones(upper.shape, dtype=np.int64)
    left = np.flatnonzero(upper)
    while len(left):
        top, bottom = upper[left], lower[left]
        power_of_two = top & -top
        top //= power_of_two
        changes = (power_of_two % 3 == 2) & (bottom & 7 != 1) & (bottom & 7 != 7)  # 2, 8, 32, … are 2 modulo 3
        changes ^= top & bottom & 2 != 0  # both are 3 modulo 4
        symbols[left] *= 1 - 2 * changes.astype(np.int64)
        upper[left], lower[left] = bottom % top, top
        left = left[upper[left] != 0]
    return np.where(lower == 1, symbols, 0).reshape(a.shape)
