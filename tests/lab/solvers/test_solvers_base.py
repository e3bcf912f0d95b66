import itertools

import numpy as np
import pytest
import torch

from adelic.number_theory import task
from adelic_lab.config.recipes import cosine, rate_at
from adelic_lab.config.solver_names import SOLVER_MODULES
from adelic_lab.models.solvers.base import BothOrders, Schedule, Solver, descend, solver_class


def rate_of(step, steps, *, peak, warm_up):
    """The rate of a solver's step."""
    return rate_at(step, peak=peak, warm_up=warm_up, left=cosine(step, steps), multiplied=False)


def test_the_learning_rate_rises_and_falls():
    found = [rate_of(step, 100, peak=1e-3, warm_up=5) for step in range(100)]
    assert found[:5] == pytest.approx([0.2e-3, 0.4e-3, 0.6e-3, 0.8e-3, 1e-3], rel=0.01)
    assert all(b < a for a, b in itertools.pairwise(found[5:]))
    assert 0 < found[-1] < 1e-6
    assert rate_of(0, 1, peak=1e-3, warm_up=1) == 1e-3


def test_gradients_are_cut_to_norm_1_and_rates_are_the_schedules():
    """Plain descent of a line with slope 3 and one with slope 4: together of norm 5, cut to 0.6 and 0.8."""
    weights = torch.nn.Parameter(torch.zeros(2))
    told = []
    optimizer = torch.optim.SGD([weights], lr=100.0)
    course = Schedule(seed=0, steps=4, learning_rate=0.1, progress=lambda *what: told.append(what))
    descend(lambda step: weights @ torch.tensor([3.0, 4.0]), optimizer, course, warm_up=2)
    total = sum(rate_of(step, 4, peak=0.1, warm_up=2) for step in range(4))
    assert weights.tolist() == pytest.approx([-0.6 * total, -0.8 * total])
    assert [(done, of) for done, of, _ in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[0][2] == "loss 0"


def test_other_parameters_keep_their_own_rate_and_all_of_their_gradient():
    ours, theirs = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))
    others = [torch.optim.SGD([theirs], lr=0.5)]
    optimizer = torch.optim.SGD([ours], lr=1.0)
    descend(
        lambda _: 4 * (ours + theirs).sum(),
        optimizer,
        Schedule(seed=0, steps=3, learning_rate=0.1),
        warm_up=1,
        others=others,
    )
    assert theirs.item() == pytest.approx(-3 * 0.5 * 4)
    assert ours.item() == pytest.approx(-sum(rate_of(step, 3, peak=0.1, warm_up=1) for step in range(3)))


def test_both_orders_double_the_examples():
    """The solver behind is given each example, then each with its operands exchanged; the rest is as it was."""

    class Recording(Solver):
        n_parameters = 0

        def fit(self, problem, operands, answers, **given):
            self.given = operands, answers, given

        def answer(self, operands):
            raise NotImplementedError

    solver, addition = type("Both", (BothOrders, Recording), {})(), task("addition")
    operands, answers = np.array([[1, 2], [30, 4]]), np.array([3, 34], dtype=object)
    solver.fit(addition, operands, answers, seed=3, steps=5, progress=print)
    assert solver.given[0].tolist() == [[1, 2], [30, 4], [2, 1], [4, 30]]
    assert solver.given[1].tolist() == [3, 34, 3, 34]
    assert solver.given[2] == {"seed": 3, "steps": 5, "progress": print}
    names = [name for name in SOLVER_MODULES if name.endswith("-both-orders")]
    assert len(names) == 3
    for name in names:
        found = solver_class(name)
        assert found.__mro__[1] is BothOrders
        assert found.obstacle(addition) is None
        assert found.obstacle(task("subtraction")) is not None
