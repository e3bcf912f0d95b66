from fractions import Fraction

import numpy as np
import pytest

from adelic.number_theory import task
from adelic_lab.models.solvers import build_solver

WIDTHS = {"adelic-flat": 64, "adelic-flat:d_model=256": 256, "adelic-flat:d_model=608": 608}


def fitted(name, problem, *, examples, steps):
    operands, answers = task(problem).sample(examples, np.random.default_rng(0))
    solver = build_solver(name)
    solver.fit(task(problem), operands, answers, seed=0, steps=steps)
    return solver, operands, answers


@pytest.mark.long
def test_fractions_are_learned_by_heart():
    solver, operands, answers = fitted("adelic-flat", "fraction-addition", examples=40, steps=120)
    assert solver.obstacle(task("fraction-addition")) is None
    assert np.mean(solver.answer(operands) == answers) > 0.5
    assert all(value is None or isinstance(value, Fraction) for value in solver.answer(-operands))


@pytest.mark.parametrize("name", WIDTHS)
def test_positions_and_the_token_of_the_answer_start_as_the_rivals_do(name):
    """At a standard deviation of 0.02; with 1 the layers' results beside them are small."""
    solver, operands, _ = fitted(name, "addition", examples=10, steps=1)
    reader, width = solver._network, WIDTHS[name]
    assert reader.positions.shape == (2, width)
    assert reader.answer.shape == (1, width)
    for vectors in (reader.positions, reader.answer):
        assert 0.015 < vectors.std() < 0.025  # but for one step of at most 0.001
    encoder = sum(p.numel() for p in reader.encoder.parameters())
    assert encoder == 2 * (12 * width**2 + 13 * width) + 2 * width  # 100,096 at 64, the rivals'
    assert solver.answer(operands).shape == (10,)
