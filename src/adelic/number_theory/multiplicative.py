"""Squarefree numbers and the Möbius function.

Source: Lowry-Duda, "Studying number theory with deep learning: a case study with the Möbius and squarefree indicator
functions" (arXiv:2502.10335), whose numbers are uniform from 2 to 10^13. OEIS A008966 and A008683.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Operands, SampledTask, Variants, integers
from adelic.errors import needs_extra
from adelic.number_theory.drawing import answers_with
from adelic.numbers import AdeleSpace
from adelic.numbers.primes import first_primes
from adelic.storage.options import option

_FURTHER = 100
_PRIMES, _DIGITS = 100, 2
"""The primes are those of the source, where there would be need of all; two digits say whether p² divides n."""


def moebius(numbers: Operands) -> Answers:
    """Return the Möbius function: 0 if a square of a prime divides n, else (−1) to the number of its primes.

    From int64, 1 or more, of any shape to int64. Without python-flint, which factors, it is a MissingExtraError.

    >>> moebius(np.array([1, 2, 4, 6, 30, 10**13])).tolist()
    [1, -1, 0, 1, -1, 0]
    """
    with needs_extra("the Möbius function", "flint"):
        from flint import fmpz
    return np.array([int(fmpz(n).moebius_mu()) for n in numbers.ravel().tolist()], np.int64).reshape(numbers.shape)


class _OneNumber(Variants):
    """Options of both tasks: which numbers there are."""

    limit: int = option(10**13, help="Greatest number.", least=10, greatest=10**16)

    def _task(
        self, name: str, title: str, function: Callable[[Operands], Any], class_names: tuple[str, ...]
    ) -> SampledTask:
        """Return a task about one number from 2 to the limit; `title` has a place for "n, up to …"."""
        further = _FURTHER * self.limit
        return SampledTask(
            name=name,
            title=title.format(f"n, up to {self.limit:,}"),
            arity=1,
            draws={"train": integers(2, self.limit, 1), "larger": integers(self.limit + 1, further, 1)},
            never_seen_titles={"larger": f"n from {self.limit:,} to {further:,}"},
            solve=answers_with(lambda X: function(X[:, 0])),
            max_operand=further,
            class_names=class_names,
            space=AdeleSpace(first_primes(_PRIMES), _DIGITS),
            variants=type(self),
        )


class Squarefree(_OneNumber):
    """Options of the task `squarefree`: whether no square of a prime divides n.

    >>> X, y = Squarefree(limit=100).task().sample(4, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([86, 65, 52, 28], [1, 1, 0, 0])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        names = ("divisible by a square", "squarefree")
        return self._task("squarefree", "is {}, squarefree?", lambda n: moebius(n) != 0, names)


class Moebius(_OneNumber):
    """Options of the task `moebius`: the Möbius function of n.

    >>> task = Moebius(limit=100).task()
    >>> X, y = task.sample(4, np.random.default_rng(0))
    >>> X[:, 0].tolist(), [task.class_names[k] for k in y]
    ([86, 65, 52, 28], ['1', '1', '0', '0'])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task("moebius", "the Möbius function of {}", lambda n: moebius(n) + 1, ("-1", "0", "1"))
