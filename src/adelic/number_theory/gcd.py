"""The greatest common divisor of two integers, as a class.

Source: Charton, "Learning the greatest common divisor: explaining transformer predictions", ICLR 2024
(arXiv:2308.15594), whose three distributions of training pairs are the choices of `outcomes`.
"""

import numpy as np

from adelic.data.drawn import Operands, SampledTask, Variants, integers
from adelic.number_theory.drawing import answers_with, from_numbers
from adelic.number_theory.spaces import for_divisors
from adelic.storage.options import option

CLASSES = 100
"""GCDs from 1 to 100 are classes of their own; a greater one is "greater"."""
_GREATEST_OUTCOME = 1000
# How far log-uniform outcomes go in the source is not checked here; with 1,000, a third of the training
# pairs have a GCD above 100, and the class "greater" can be learned.
_DRAWN = {"uniform": " (uniform operands)", "log-uniform-operands": " (log-uniform operands)", "log-uniform": ""}


class GCD(Variants):
    """Options of the task `gcd`.

    What the fields are is next to them.

    Raises:
        ConfigurationError: a value makes no sense.
        UnknownNameError: there is no such distribution.

    >>> task = GCD(limit=10_000).task()
    >>> X, y = task.sample(3, np.random.default_rng(0))
    >>> [task.class_names[k] for k in y], np.gcd(X[:, 0], X[:, 1]).tolist()
    (['1', '1', 'greater'], [1, 1, 247])
    """

    limit: int = option(10**6, help="Greatest operand.", least=2 * _GREATEST_OUTCOME, greatest=10**12)
    outcomes: str = option(
        "log-uniform",
        help="Training pairs: uniform operands, log-uniform operands, or log-uniform GCDs (a GCD k with weight 1/k).",
        choices=("uniform", "log-uniform-operands", "log-uniform"),
    )

    def task(self) -> SampledTask:
        """Return the task."""
        limit = self.limit
        uniform = integers(1, limit, 2)

        def log_uniform(n: int, rng: np.random.Generator) -> Operands:
            return np.minimum(np.exp(rng.uniform(0, np.log(limit + 1), (n, 2))).astype(np.int64), limit)

        weights = 1 / np.arange(1, _GREATEST_OUTCOME + 1)

        def by_outcome(n: int, rng: np.random.Generator) -> Operands:
            return _with_gcd(rng.choice(_GREATEST_OUTCOME, n, p=weights / weights.sum()) + 1, limit, rng)

        def stratified(n: int, rng: np.random.Generator) -> Operands:
            return _with_gcd(rng.integers(1, CLASSES + 1, n), limit, rng)

        train = {"uniform": uniform, "log-uniform-operands": log_uniform, "log-uniform": by_outcome}[self.outcomes]
        drawn = _DRAWN[self.outcomes]
        return SampledTask(
            name="gcd",
            title=f"the greatest common divisor of a and b up to {limit:,}: 1 to {CLASSES}, or greater{drawn}",
            arity=2,
            draws={
                "train": from_numbers(train, held=False),
                "uniform": uniform,
                "stratified": stratified,
                "new numbers": from_numbers(train, held=True),
            },
            never_seen_titles={
                "uniform": "pairs of uniform operands",
                "stratified": f"every GCD from 1 to {CLASSES} equally often",
                "new numbers": "as in training, of numbers that no training pair has",
            },
            solve=answers_with(lambda X: np.minimum(np.gcd(X[:, 0], X[:, 1]), CLASSES + 1) - 1),
            max_operand=limit,
            commutative=True,
            class_names=(*map(str, range(1, CLASSES + 1)), "greater"),
            variants=GCD,
            space=for_divisors(CLASSES),
        )


def _with_gcd(outcomes: Operands, limit: int, rng: np.random.Generator) -> Operands:
    """Return pairs up to `limit` with these greatest common divisors: uniform coprime pairs, multiplied."""
    pairs = np.zeros((len(outcomes), 2), dtype=np.int64)
    left = np.arange(len(outcomes))
    while len(left):
        found = rng.integers(1, limit // outcomes[left, None] + 1, (len(left), 2))
        is_coprime = np.gcd(found[:, 0], found[:, 1]) == 1
        pairs[left[is_coprime]] = found[is_coprime] * outcomes[left[is_coprime], None]
        left = left[~is_coprime]
    return pairs
