"""Layer 3, number theory: tasks that are drawn from their definitions, with exact answers.

- `gcd`, `multiplicative` (squarefree, Möbius), `conics` (Hasse–Minkowski; `symbols` has Hilbert's), `collatz`,
  `modular` (sums modulo q; valuation, unit part and order at a prime): what a number is decides.
- `curves` (root numbers of elliptic curves; `root_numbers` has them by place, from PARI).
- `controls` (maximum, sorting, quotient, decimal digit, residue, noisy sum): size or base 10 decide; and mixed tasks
  (distance, clipped sum, rounding, integer part), where size and residues do.
- `arithmetic`: sums, products, quotients and what belongs to them; `composition`: what takes several of these.

Beside the tasks, the functions that a number theorist asks for: `hilbert_symbol`, `is_locally_solvable`,
`kronecker_symbol` and `legendre_symbol` of arrays, and `solve_conic` (by PARI).

To add a task, write a dataclass with its options and a method `task` that returns a `SampledTask`, and name it below;
`drawing` has what tasks share, and `spaces` the primes and digits that they ask for. Of adelic, `storage`, `numbers`
and `data` may be imported.

>>> import numpy as np
>>> task("gcd", limit=10_000, outcomes="uniform").sample(2, np.random.default_rng(0))[0].tolist()
[[5112, 2698], [3079, 410]]
"""

from collections.abc import Mapping
from typing import Any

from adelic.data.drawn import SampledTask
from adelic.errors import UnknownNameError
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic.number_theory.collatz import Collatz
from adelic.number_theory.composition import COMPOSITION
from adelic.number_theory.conics import Conic, TernaryForm, solve_conic
from adelic.number_theory.controls import CONTROLS, MIXED
from adelic.number_theory.curves import RootNumber
from adelic.number_theory.gcd import GCD
from adelic.number_theory.modular import ModularSum, Order, Unit, Valuation
from adelic.number_theory.multiplicative import Moebius, Squarefree
from adelic.number_theory.symbols import hilbert_symbol, is_locally_solvable, kronecker_symbol, legendre_symbol

__all__ = [
    "TASKS",
    "hilbert_symbol",
    "is_locally_solvable",
    "kronecker_symbol",
    "legendre_symbol",
    "solve_conic",
    "task",
]

_THEORY = (GCD, Squarefree, Moebius, Conic, TernaryForm, RootNumber, Collatz, ModularSum, Valuation, Unit, Order)
TASKS: Mapping[str, SampledTask] = {
    **{built.name: built for built in (variants().task() for variants in (*_THEORY, *CONTROLS, *MIXED))},
    **ARITHMETIC,
    **COMPOSITION,
}
"""All tasks of this package by name, each with its default options."""


def task(name: str, **options: Any) -> SampledTask:
    """Return the task of this name.

    Args:
        name: one of `TASKS`.
        options: of the task; those that are not given are as they are by default.

    Raises:
        UnknownNameError: no task has this name; the nearest one is suggested.
        ConfigurationError: the task has no such option, or the option no such value.

    >>> task("modular-sum", terms=3, modulus=7).title
    'the sum of 3 numbers modulo 7'
    """
    if name not in TASKS:
        raise UnknownNameError.of("task", name, TASKS)
    return TASKS[name].configured(**options)
