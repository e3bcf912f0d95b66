"""Where residues and digits of one number decide: a long identifier modulo 7, divisibility, a decimal digit."""

import numpy as np

from adelic.data.drawn import Operands, SampledTask

_LIMIT = 10**6
_LONG = 10**12


def _any(n: int, rng: np.random.Generator) -> Operands:
    return rng.integers(1, _LIMIT + 1, (n, 1))


LONG_RESIDUE = SampledTask(
    name="long-residue",
    title="n mod 7, of an integer of 12 digits",
    arity=1,
    draws={"train": lambda n, rng: rng.integers(_LONG // 10, _LONG, (n, 1))},
    solve=lambda X: X[:, 0] % 7,
    max_operand=_LONG - 1,
    max_numerator=6,
)
DIVISIBILITY = SampledTask(
    name="divisibility",
    title="which of 2 and 3 divide n, up to 1,000,000?",
    arity=1,
    draws={"train": _any},
    solve=lambda X: (X[:, 0] % 2 == 0) + 2 * (X[:, 0] % 3 == 0).astype(np.int64),
    max_operand=_LIMIT,
    max_numerator=3,
    class_names=("neither", "2", "3", "both"),
)
HUNDREDS = SampledTask(
    name="hundreds",
    title="the hundreds digit of n, up to 1,000,000",
    arity=1,
    draws={"train": _any},
    solve=lambda X: X[:, 0] // 100 % 10,
    max_operand=_LIMIT,
    max_numerator=9,
)
