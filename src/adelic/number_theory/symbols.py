"""Hilbert symbols, and whether a quadratic form in three variables has a rational zero.

Source: Serre, "A Course in Arithmetic", chapters III and IV: theorem 1 of chapter III for the formulas, theorem 8 of
chapter IV (Hasse–Minkowski) for the zeros.
"""

import numpy as np
from numpy.typing import NDArray

from adelic.numbers.primes import legendre, split

Integers = NDArray[np.int64]
REAL = 0
"""Stands for the real place, if a prime stands for another one."""


def hilbert_symbol(a: Integers, b: Integers, p: int) -> Integers:
    """Return the Hilbert symbol (a, b) at a place: 1 where a·x² + b·y² = z² has a solution there but 0, else −1.

    a and b are int64, not 0, of shapes that broadcast; p is a prime, or `REAL`. Results are int64, 1 or −1.

    >>> hilbert_symbol(np.array([-1, 2, 5, 3]), np.array([-1, 7, 5, 5]), 2).tolist()
    [-1, 1, 1, 1]
    >>> hilbert_symbol(np.array([-1]), np.array([-1]), REAL).tolist()
    [-1]
    """
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    if p == REAL:
        return np.where((a < 0) & (b < 0), -1, 1)
    alpha, u = split(a, p)
    beta, v = split(b, p)
    if p == 2:
        # ε(u) = (u − 1)/2 and ω(u) = (u² − 1)/8 modulo 2, which depend on u modulo 8 alone
        u, v = u % 8, v % 8
        exponent = (u // 2) * (v // 2) + alpha * ((v * v - 1) // 8) + beta * ((u * u - 1) // 8)
        return np.asarray(1 - 2 * (exponent % 2))
    sign = 1 - 2 * ((alpha * beta * ((p - 1) // 2)) % 2)
    return sign * np.where(beta % 2, legendre(u, p), 1) * np.where(alpha % 2, legendre(v, p), 1)


def has_zero(a: Integers, b: Integers, c: Integers, primes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return whether a·x² + b·y² + c·z² = 0 has a solution in rationals that are not all 0.

    It has one if and only if it has one at every place; at a prime that does not divide 2abc it always has.

    Numbers are int64 (n,), not 0, products of two of them below 2^63. `primes` are all that divide one of them; 2 and
    the real place are looked at anyway.

    >>> one = np.array([1])
    >>> [bool(has_zero(a * one, b * one, -one, (2, 3, 5))[0]) for a, b in ((1, 1), (2, 3), (-1, -1), (5, 5), (2, -1))]
    [True, False, False, True, True]
    """
    at_all = np.ones(np.shape(a), dtype=bool)
    for place in (REAL, 2, *(p for p in primes if p != 2)):
        # Times −c the form is −ac·x² − bc·y² = (c·z)².
        at_all &= hilbert_symbol(-a * c, -b * c, place) == 1
    return at_all
