"""How much of the Möbius function the places of a space show: what the best rule gets that knows no more."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adelic.data.drawn import Operands
from adelic.number_theory.multiplicative import moebius
from adelic.storage.checks import check_count

_BIN = 0.1
"""Cofactors are distinguished by their size up to so much, in units of the logarithm of the greatest prime."""
_AT_ONCE = 100_000


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """What the best rule gets that reads valuations at some primes, and the size of a number, of uniform numbers.

    Attributes:
        accuracy: share of right answers.
        without_size: share of right answers of the best rule that reads valuations alone.
        zeros: share of the numbers that a square of these primes divides.
        standard_error: of the accuracy, from drawing the numbers.
    """

    accuracy: float
    without_size: float
    zeros: float
    standard_error: float


def moebius_ceiling(
    primes: Sequence[int], *, low: int = 2, high: int = 10**13, n: int = 1_000_000, rng: np.random.Generator
) -> Ceiling:
    """Return how many values of the Möbius function valuations at some primes, and the size of a number, determine.

    A number is s·m, where s has no other primes than these and m has none of them. If a square divides s, the answer is
    0. Else it is (−1)^k·μ(m), where k counts the primes of s, and of m nothing is known but the size: a number below
    the square of the next prime is 1 or a prime, a greater one may be anything. So the best answer takes for μ(m) its
    most frequent value among cofactors of the same size (up to a factor of the greatest prime to the power 0.1). It is
    read off n/2 numbers; the figures are of the other n/2.

    A number's residues say no more that is known to be of use: to go from them to μ(m) is to factor m.

    n numbers, 2 or more, are drawn uniformly from `low` to `high`, below 2^63, and factored. A ConfigurationError says
    that such numbers make no sense, a MissingExtraError that python-flint, which factors, is not installed.

    >>> found = moebius_ceiling((2, 3, 5, 7), high=10**6, n=20_000, rng=np.random.default_rng(0))
    >>> round(found.zeros, 2), round(found.accuracy, 2)
    (0.37, 0.68)
    >>> moebius_ceiling((2, 3, 5, 7), high=120, n=2000, rng=np.random.default_rng(0)).accuracy  # 121 is 11²
    1.0
    """
    check_count("n", n, least=2, greatest=10**9)
    check_count("low", low, least=1, greatest=2**63 - 2)
    check_count("high", high, least=low, greatest=2**63 - 2)
    numbers = rng.integers(low, high + 1, n)
    signs, sizes = _parts(numbers, primes)
    half = n // 2
    # The sign of the sum says which value of μ(m) is more frequent at a size; if there is none yet, in all.
    overall = 1 if signs[:half].sum() > 0 else -1
    totals = np.bincount(sizes[:half], signs[:half], minlength=int(sizes.max()) + 1)
    chosen = np.where(totals == 0, overall, np.sign(totals))
    is_zero = sizes[half:] == 0
    is_right = is_zero | (signs[half:] == chosen[sizes[half:]])
    accuracy = float(is_right.mean())
    return Ceiling(
        accuracy=accuracy,
        without_size=float((is_zero | (signs[half:] == overall)).mean()),
        zeros=float(is_zero.mean()),
        standard_error=math.sqrt(accuracy * (1 - accuracy) / len(is_right)),
    )


def _parts(numbers: Operands, primes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return μ(m) of the cofactors m of numbers, and their sizes in bins from 1; 0 and 0 if a square is seen."""
    signs, sizes = [], []
    for part in np.array_split(numbers, -(-len(numbers) // _AT_ONCE)):
        cofactors, sign = part.copy(), np.ones(len(part), dtype=np.int64)
        for p in primes:
            divides = cofactors % p == 0
            cofactors[divides] //= p
            sign[divides] *= -1
            sign[divides & (cofactors % p == 0)] = 0
        bins = 1 + np.floor(np.log(cofactors) / (_BIN * math.log(max(primes)))).astype(np.int64)
        # μ(n) = μ(s)·μ(m), since s and m have no prime in common.
        signs.append(sign * moebius(part))
        sizes.append(np.where(sign == 0, 0, bins))
    return np.concatenate(signs), np.concatenate(sizes)
