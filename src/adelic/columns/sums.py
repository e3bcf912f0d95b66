"""Two columns together: a sum and a difference modulo a number, and the greatest common divisor."""

import numpy as np

from adelic.data.drawn import Operands, SampledTask

_LIMIT = 1000
"""Operands are from 0, or 1, up to below this, so that a vector for each can be trained."""
_CLOCK = 12
_GREATEST_DIVISOR = 10


def _pairs(n: int, rng: np.random.Generator) -> Operands:
    return rng.integers(0, _LIMIT, (n, 2))


def _with_divisor(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs that are multiples of 1 … 11, each as often, so that no class is rare."""
    divisor = rng.integers(1, _GREATEST_DIVISOR + 2, (n, 1))
    return divisor * rng.integers(1, (_LIMIT - 1) // divisor + 1, (n, 2))


SUM_RESIDUE = SampledTask(
    name="sum-residue",
    title="is (a + b) mod 7 less than 3? a and b below 1,000",
    arity=2,
    draws={"train": _pairs},
    solve=lambda X: (X.sum(axis=1) % 7 < 3).astype(np.int64),
    max_operand=_LIMIT - 1,
    max_numerator=1,
    commutative=True,
    class_names=("no", "yes"),
    vocabulary=tuple(range(_LIMIT)),
)
DIFFERENCE_RESIDUE = SampledTask(
    name="difference-residue",
    title="(a − b) mod 12, the hours on a clock between a and b below 1,000",
    arity=2,
    draws={"train": _pairs},
    solve=lambda X: (X[:, 0] - X[:, 1]) % _CLOCK,
    max_operand=_LIMIT - 1,
    max_numerator=_CLOCK - 1,
    vocabulary=tuple(range(_LIMIT)),
)
GCD_CLASS = SampledTask(
    name="gcd-class",
    title="the greatest common divisor of a and b below 1,000: 1 to 10, or greater",
    arity=2,
    draws={"train": _with_divisor},
    solve=lambda X: np.minimum(np.gcd(X[:, 0], X[:, 1]), _GREATEST_DIVISOR + 1) - 1,
    max_operand=_LIMIT - 1,
    max_numerator=_GREATEST_DIVISOR,
    commutative=True,
    class_names=(*map(str, range(1, _GREATEST_DIVISOR + 1)), "greater"),
    vocabulary=tuple(range(1, _LIMIT)),
)
