"""The long Collatz step.

Source: Charton and Narayanan, "Transformers know more than they can tell: learning the Collatz sequence"
(arXiv:2511.10811). From an odd n: all steps (3x + 1)/2 as long as x is odd, then all halvings, to the next odd number.
"""

from adelic.data.drawn import Draw, SampledTask, Variants
from adelic.numbers.rationals import objects
from adelic.storage.options import option

_FURTHER = 1000


def long_step(n: int) -> int:
    """Return the odd number after all steps (3x + 1)/2 from an odd n, and all halvings after them.

    With k = v₂(n + 1), the number of the former, they lead to 3^k·(n + 1)/2^k − 1.

    >>> [long_step(n) for n in (1, 3, 5, 7, 27, 10**12 - 1)]
    [1, 1, 1, 13, 31, 2027286529541]
    """
    k = _valuation_of_2(n + 1)
    even = 3**k * ((n + 1) >> k) - 1
    return int(even >> _valuation_of_2(even))


def _valuation_of_2(n: int) -> int:
    return (n & -n).bit_length() - 1


class Collatz(Variants):
    """Options of the task `collatz`: the long Collatz step of an odd n.

    >>> import numpy as np
    >>> X, y = Collatz(limit=100).task().sample(4, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([85, 63, 51, 27], [1, 91, 29, 31])
    """

    limit: int = option(10**12, help="Greatest n.", least=100, greatest=10**15)

    def task(self) -> SampledTask:
        """Return the task."""
        further = _FURTHER * self.limit
        return SampledTask(
            name="collatz",
            title=f"the next odd number of a long Collatz step from an odd n up to {self.limit:,}",
            arity=1,
            draws={"train": _odd(1, self.limit), "larger": _odd(self.limit + 1, further)},
            never_seen_titles={"larger": f"n from {self.limit:,} to {further:,}"},
            solve=lambda X: objects([long_step(n) for n in X[:, 0].tolist()]),
            max_operand=further,
            max_numerator=_greatest_step(further),
            variants=Collatz,
        )


def _odd(low: int, high: int) -> Draw:
    """Return draws of one odd number."""
    return lambda n, rng: 2 * rng.integers(low // 2, (high + 1) // 2, (n, 1)) + 1


def _greatest_step(limit: int) -> int:
    """Return a bound of the long steps from n up to a limit: (3/2)^k·(n + 1) with the greatest k, at least one halving.

    >>> _greatest_step(10**6) >= max(long_step(n) for n in range(1, 10**4, 2))
    True
    """
    k = (limit + 1).bit_length() - 1
    return int(3**k * ((limit + 1) // 2**k + 1))
