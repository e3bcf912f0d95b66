"""How digits become wrong: what the decoding of `adelic.numbers.decoding.redundancy` knows of its words."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import inf, log, log1p
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from adelic.numbers.space import AdeleSpace

Array = npt.NDArray[Any]

DOUBTFUL, SUBSTITUTIONS = 6, 3
"""Up to three of the six most doubtful digits are replaced: 41 words."""


class Channel(Protocol):
    """How digits become wrong: the probabilities of words, which are flattened to one axis."""

    @property
    def known(self) -> Array:
        """Return how many digits are not erased, (size, n_primes)."""

    @property
    def hits(self) -> npt.NDArray[np.float64]:
        """Return the log-probability of the digits given, (size, n_primes)."""

    def log_probability(self, i: int, j: int, residue: int | None) -> float:
        """Return that of other digits in the i-th word at the j-th prime; None stands for arbitrary ones."""

    def erasures(self, i: int) -> Iterable[tuple[int, int]]:
        """Yield (j, k), the least trusted first: that the j-th prime keeps only its k lowest digits."""

    def substitutions(self, i: int, residues: list[int]) -> Iterable[list[int]]:
        """Yield other residues that are likely, too."""


@dataclass(frozen=True, eq=False)
class HardChannel:
    """Each place is wrong with the same probability, and then all other digits are equally likely."""

    space: AdeleSpace
    known: Array
    error_rate: float

    @property
    def hits(self) -> npt.NDArray[np.float64]:
        """Return the log-probability of the digits given, (size, n_primes)."""
        logs = np.log(np.array(self.space.primes, dtype=np.float64))
        right = np.where(self.known > 0, log1p(-self.error_rate), 0.0)
        erased = np.array(self.space.precisions) - self.known
        return np.asarray(right - erased * logs)  # an erased digit has probability 1/p

    def log_probability(self, i: int, j: int, residue: int | None) -> float:
        """Return that of other digits in the i-th word at the j-th prime; None stands for arbitrary ones."""
        p, precision, known = self.space.primes[j], self.space.precisions[j], int(self.known[i, j])
        if residue is None or not known:
            return -precision * log(p)
        return log(self.error_rate) - log(p**known - 1) - (precision - known) * log(p)

    def erasures(self, i: int) -> Iterable[tuple[int, int]]:
        """Return none: no place is less trusted than another."""
        return ()

    def substitutions(self, i: int, residues: list[int]) -> Iterable[list[int]]:
        """Return none: no wrong digit is likelier than another."""
        return ()


@dataclass(frozen=True, eq=False)
class SoftChannel:
    """Each digit has its own probability; best (size, n_primes, max_precision) are those of the likeliest digits.

    `best` is 0 where a prime has no digit: nothing is in doubt there.
    """

    space: AdeleSpace
    log_probabilities: Array
    best: npt.NDArray[np.float64]

    @cached_property
    def known(self) -> Array:
        """Return how many digits are not erased: all."""
        return np.broadcast_to(np.array(self.space.precisions, dtype=np.int32), self.best.shape[:-1])

    @cached_property
    def hits(self) -> npt.NDArray[np.float64]:
        """Return the log-probability of the digits given, (size, n_primes)."""
        return np.asarray(self.best.sum(axis=-1))

    def log_probability(self, i: int, j: int, residue: int | None) -> float:
        """Return that of other digits in the i-th word at the j-th prime; None stands for arbitrary ones."""
        p, precision, columns = self.space.primes[j], self.space.precisions[j], self.space.max_precision
        if residue is None:
            return -precision * log(p)
        total = 0.0
        for k in range(columns - 1, columns - 1 - precision, -1):
            residue, digit = divmod(residue, p)
            total += float(self.log_probabilities[i, j, k, digit])
        return total

    def erasures(self, i: int) -> Iterable[tuple[int, int]]:
        """Yield (j, k), the least trusted first: that the j-th prime keeps only its k lowest digits."""
        # A digit is as good as all that are below it, too: so higher ones come before lower ones.
        columns, precisions = self.space.max_precision, self.space.precisions
        trust = self.best[i, :, ::-1].cumsum(axis=-1)[:, ::-1]
        for unit in np.argsort(trust, axis=None, kind="stable").tolist():
            j, k = divmod(unit, columns)
            if columns - 1 - k < precisions[j]:
                yield j, columns - 1 - k

    def substitutions(self, i: int, residues: list[int]) -> Iterable[list[int]]:
        """Yield residues in which some of the digits that hardly beat the next likely ones give way to these."""
        primes, columns = self.space.primes, self.space.max_precision
        others = np.where(self.space.window.exists[..., None], self.log_probabilities[i], -inf)
        first = others.argmax(axis=-1, keepdims=True)
        np.put_along_axis(others, first, -inf, axis=-1)
        second, likelihood = others.argmax(axis=-1, keepdims=True), others.max(axis=-1)
        difference = (second - first)[..., 0].tolist()
        changes = []
        for unit in np.argsort(self.best[i] - likelihood, axis=None, kind="stable")[:DOUBTFUL].tolist():
            j, k = divmod(unit, columns)
            if likelihood[j, k] > -inf:
                changes.append((j, difference[j][k] * primes[j] ** (columns - 1 - k)))
        for count in range(1, SUBSTITUTIONS + 1):
            for chosen in combinations(changes, count):
                other = list(residues)
                for j, change in chosen:
                    other[j] += change
                yield other
