from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver

PAIRS = np.array([(a, b) for a in range(10) for b in range(10)])
SUMS = PAIRS.sum(axis=1).astype(object)
ADDITION = replace(ARITHMETIC["addition"], max_operand=9, max_numerator=18)


@pytest.fixture
def fitted() -> Callable:
    """Return a solver after training: on all sums of one digit, or on other examples of a problem."""

    def make(name, *, steps, problem=ADDITION, operands=PAIRS, answers=SUMS):
        solver = build_solver(name)
        solver.fit(problem, operands, answers, seed=0, steps=steps)
        return solver

    return make


@pytest.fixture
def share() -> Callable:
    """Return the share of the sums of one digit that a solver has right."""

    def of(solver):
        said = solver.answer(PAIRS)
        assert {type(n) for n in said} == {int}
        return np.mean(said == SUMS)

    return of
