"""Where size decides: which of two numbers is greater, their ratio, the order of magnitude."""

import numpy as np

from adelic.data.drawn import Operands, SampledTask

_LIMIT = 10**6
_DIGITS = 12


def _pairs(n: int, rng: np.random.Generator) -> Operands:
    return rng.integers(1, _LIMIT + 1, (n, 2))


def _of_any_size(n: int, rng: np.random.Generator) -> Operands:
    """Return numbers from 1 to below 10^12, each number of decimal digits as often."""
    powers = 10 ** rng.integers(0, _DIGITS, (n, 1))
    return rng.integers(powers, 10 * powers)


GREATER = SampledTask(
    name="greater",
    title="is a > b? both up to 1,000,000",
    arity=2,
    draws={"train": _pairs},
    solve=lambda X: (X[:, 0] > X[:, 1]).astype(np.int64),
    max_operand=_LIMIT,
    max_numerator=1,
    class_names=("no", "yes"),
)
RATIO = SampledTask(
    name="ratio",
    title="is a/b less than 2/3, from there on at most 3/2, or greater? both up to 1,000,000",
    arity=2,
    draws={"train": _pairs},
    solve=lambda X: (3 * X[:, 0] >= 2 * X[:, 1]).astype(np.int64) + (2 * X[:, 0] > 3 * X[:, 1]),
    max_operand=_LIMIT,
    max_numerator=2,
    class_names=("less", "between", "greater"),
)
MAGNITUDE = SampledTask(
    name="magnitude",
    title="how many decimal digits has n, below 10^12?",
    arity=1,
    draws={"train": _of_any_size},
    solve=lambda X: np.searchsorted(10 ** np.arange(1, _DIGITS), X[:, 0], "right"),
    max_operand=10**_DIGITS - 1,
    max_numerator=_DIGITS - 1,
    class_names=tuple(map(str, range(1, _DIGITS + 1))),
)
