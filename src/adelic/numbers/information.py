"""What a prime's digits say about a label: mutual information, tested against chance by permutations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError
from adelic.numbers import rationals
from adelic.numbers.describe import describe
from adelic.numbers.rationals import Rationals

SIGNIFICANT = 0.01
"""The level of the test: with labels that mean nothing, some prime is called telling at most so often."""

_PERMUTATIONS = 999
_MOST_ROWS = 20_000  # that the test looks at; more are sampled, so that a million rows take seconds
_MOST_CLASSES = 256
_RESIDUES = 64  # digits are taken while p^k is at most this, and always one
_VALUATIONS = 4  # p^-1 … p^-4 are classes of their own, deeper poles belong to the last

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PrimeInformation:
    """What the low digits at one prime say about a label.

    Attributes:
        prime: p.
        digits: k, how many low digits are looked at: the residue mod p^k.
        bits: mutual information of residue and label, in bits.
        excess_bits: the same less the mean over permuted labels, which is what chance gives.
        p_value: the probability that by chance some prime tells as much, which corrects for the number of primes.
    """

    prime: int
    digits: int
    bits: float
    excess_bits: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Return whether the prime tells of the label beyond chance."""
        return self.p_value <= SIGNIFICANT


def prime_information(
    numbers: Rationals, labels: Any, primes: tuple[int, ...], *, seed: int = 0
) -> tuple[PrimeInformation, ...]:
    """Return what the low digits at each prime say about the labels, the most telling prime first.

    The residue mod p^k, p^k <= 64 or k = 1, against the label; where p divides the denominator, the power of p is the
    class. p-values are of the largest standardised information of all primes under 999 permutations of the labels.
    Of more than 20,000 values a random 20,000 are looked at.

    `labels` are a class for each number, (size,) or the shape of the numbers, at most 256 classes; else it is an
    EncodingError. The numbers are in lowest terms; `seed` is that of the sample and the permutations.

    Source: P. H. Westfall and S. S. Young, Resampling-based multiple testing (1993), single-step maxT.

    >>> rows = prime_information(rationals.read(range(500)), [n % 3 for n in range(500)], (2, 3, 5))
    >>> rows[0].prime, round(rows[0].bits, 2), rows[0].is_significant, rows[1].is_significant
    (3, 1.58, True, False)
    """
    classes = _classes(labels, len(numbers.numerators))
    rng = np.random.default_rng(seed)
    n, m = numbers.numerators, numbers.denominators
    if len(n) > _MOST_ROWS:
        sample = np.sort(rng.choice(len(n), _MOST_ROWS, replace=False))
        n, m, classes = n[sample], m[sample], classes[sample]
    n_classes = int(classes.max()) + 1
    residues = [_low_digits(n, m, p) * n_classes for p in primes]
    entropy = [_entropy(np.bincount(classes)) + _entropy(np.bincount(r // n_classes)) for r in residues]
    found = np.empty((_PERMUTATIONS + 1, len(primes)))
    for i in range(_PERMUTATIONS + 1):  # the first one is the labels as they are
        for j, r in enumerate(residues):
            found[i, j] = entropy[j] - _entropy(np.bincount(r + classes))
        classes = rng.permutation(classes)
    # Where permutations change nothing, as with one residue alone, rounding would be divided by rounding.
    mean, spread = found.mean(axis=0), found.std(axis=0)
    standard = np.where(spread > 1e-12, (found - mean) / np.maximum(spread, 1e-12), 0.0)
    most = standard.max(axis=1)
    chance = found[1:].mean(axis=0)
    rows = [
        PrimeInformation(
            prime=p,
            digits=_n_digits(p),
            bits=max(0.0, float(found[0, j])),
            excess_bits=float(found[0, j] - chance[j]),
            # The labels as they are count as a permutation, so that no p-value is 0; 1e-9 is for rounding.
            p_value=float(np.mean(most >= standard[0, j] - 1e-9)),
        )
        for j, p in enumerate(primes)
    ]
    return tuple(sorted(rows, key=lambda row: (not row.is_significant, -row.excess_bits, row.prime)))


def _classes(labels: Any, size: int) -> Integers:
    """Return labels numbered from 0."""
    array = rationals.as_array(labels)
    try:
        given = np.asarray(list(labels) if array is None else array).reshape(-1)
        names, classes = np.unique(given, return_inverse=True)
    except (TypeError, ValueError):
        raise EncodingError(
            f"labels={describe(labels)} are not classes; give a number or a text for each value"
        ) from None
    if len(given) != size:
        raise EncodingError(f"there are {len(given)} labels for {size} values; give one label for each value")
    if len(names) > _MOST_CLASSES:
        raise EncodingError(
            f"the labels have {len(names)} classes; information is estimated for at most {_MOST_CLASSES}: group them"
        )
    return np.asarray(classes, dtype=np.int64)


def _n_digits(p: int) -> int:
    """Return the largest k with p^k <= _RESIDUES, at least 1."""
    k = 1
    while p ** (k + 1) <= _RESIDUES:
        k += 1
    return k


def _low_digits(n: npt.NDArray[Any], m: npt.NDArray[Any], p: int) -> Integers:
    """Return n/m mod p^k as classes 0, 1, …; poles at p are classes of their own, by their order."""
    q = p ** _n_digits(p)
    dtype: type = np.int64
    if p**_VALUATIONS >= 2**63:  # then products and powers are beyond int64, and Python's integers have to do
        n, m, dtype = n.astype(object), m.astype(object), object
    names, index = np.unique(m % q, return_inverse=True)
    inverses: npt.NDArray[Any] = np.array([pow(int(r), -1, q) if r % p else 0 for r in names], dtype=dtype)
    residue = (n % q).astype(dtype) * inverses[index] % q
    for v in range(1, _VALUATIONS + 1):
        residue = np.where((m % p**v == 0).astype(bool), q + v - 1, residue)
    return np.asarray(np.unique(residue, return_inverse=True)[1], dtype=np.int64)


def _entropy(counts: Integers) -> float:
    """Return the entropy of the empirical distribution, in bits."""
    positive = counts[counts > 0].astype(np.float64)
    total = positive.sum()
    return float(np.log2(total) - positive @ np.log2(positive) / total)
