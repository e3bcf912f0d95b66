"""Controllers: the order of operations is learned from answers, in either notation, and followed anywhere."""

import numpy as np
import pytest
import torch
from experiments.solvers.controlled import ACTIONS, Controller, SoftMachine, kinds_of, learned_controller

from adelic.data import drawn_task
from adelic.errors import EncodingError
from adelic.number_theory.composition import infix, postfix
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.base import Schedule

POSTFIX = ["push", "call", "call", "call"], [0, 2, 0, 1]
INFIX = ["push", "keep", "keep", "keep", "nothing", "call what was kept"], [0, 2, 0, 1, 3, 3]
LONG = (2, 3, -1, 4, 5, 6, -3, -2, -3, 7, -1, 0)  # (2 + 3) · (4 − 5 · 6) + 7


def rng(seed=0):
    return np.random.default_rng(seed)


def controller(actions, networks):
    """Return a controller that is sure of these."""
    made = Controller(len(actions) - 1)
    with torch.no_grad():
        for scores, chosen in ((made.actions, map(ACTIONS.index, actions)), (made.networks, networks)):
            scores.zero_()
            scores[range(len(actions)), list(chosen)] = 100.0
    return made


EXACT = (lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a + b)
"""What the networks 0, 1 and 2 of these controllers are to do."""
WRITTEN = {"expression": (POSTFIX, list(LONG)), "infix-expression": (INFIX, infix(*LONG))}


@pytest.mark.parametrize("task", WRITTEN)
def test_likeliest_choices_are_followed(task):
    (how, values), expression = WRITTEN[task], drawn_task(task)
    solver, tokens = build_solver("experiments.solvers.controlled:Controlled"), torch.tensor([values])
    solver.fit(expression, *expression.sample(20, rng()), seed=0, steps=1)
    solver._network.controller = controller(*how)
    values, last = list(values), None
    for column, called, left, right in solver._network.calls(tokens):
        if called[0]:
            values[column] = last = EXACT[called[0] - 1](values[left[0]], values[right[0]])
    assert last == postfix(*LONG)


@pytest.mark.parametrize("task", WRITTEN)
def test_soft_choices_that_are_sure_are_hard_ones(task, monkeypatch):
    how, tokens = WRITTEN[task]
    machine = SoftMachine(controller(*how))

    def results(left, right):
        pairs = [(left[0, j].argmax(), right[0, j].argmax(), p) for j, p in enumerate((3, 5, 7))]
        digits = [[int(exact(a, b)) % p for a, b, p in pairs] for exact in EXACT]
        digits += [[0, 0, 0]] * (machine.networks - len(EXACT))
        return torch.nn.functional.one_hot(torch.tensor([digits]), 7).float()

    monkeypatch.setattr(machine, "_results", results)
    kinds, row = kinds_of(torch.tensor([tokens]), machine.networks), torch.tensor([tokens])
    said = machine.controller(kinds.clamp(min=0), 0.1, torch.Generator().manual_seed(0))
    found = machine(kinds, row[..., None] % torch.tensor([3, 5, 7]), said, depth=5)
    assert found[0].argmax(dim=-1).tolist() == [postfix(*LONG) % p for p in (3, 5, 7)]
    assert found[0].amax(dim=-1).min() > 0.99


def test_what_cannot_be_read_is_said():
    with pytest.raises(EncodingError, match="-102 is none of the 3 signs, from -1 down; program:Program"):
        kinds_of(torch.tensor([[7, 8, -102]]), 3)
    solver = build_solver("experiments.solvers.controlled:Controlled")
    assert solver.obstacle(drawn_task("system-program")) == "its controller is learned from integers"
    assert solver.obstacle(drawn_task("addition")) == "its questions are not expressions"
    for name in ("experiments.solvers.program:Program", "experiments.solvers.program:OperationTables"):
        assert "not expressions in postfix" in build_solver(name).obstacle(drawn_task("infix-expression"))


@pytest.mark.long
def test_the_order_is_learned_from_answers():
    expression = drawn_task("expression")
    learned = learned_controller(
        expression, *expression.sample(3000, rng()), Schedule(seed=0, steps=800, learning_rate=1e-2)
    )
    actions, networks = learned.choices(torch.arange(4))
    assert [ACTIONS[action] for action in actions] == POSTFIX[0]
    assert len(set(networks[1:].tolist())) == 3
