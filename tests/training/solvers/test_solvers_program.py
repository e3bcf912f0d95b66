"""Expressions: operators call networks in their order, what these learn is exact, and shapes need not be trained on."""

import numpy as np
import pytest
import torch

from adelic.data import drawn_task
from adelic.number_theory.composition import postfix, shape_of
from adelic.training.solvers import solver_class
from adelic.training.solvers.program import ExpressionNetwork, calls


def rng(seed=0):
    return np.random.default_rng(seed)


def test_calls_follow_postfix():
    shapes = [shape_of(int(rng(seed).integers(1, 9)), rng(seed)) for seed in range(30)]
    tokens = np.zeros((30, 17), dtype=np.int64)
    for row, shape in zip(tokens, shapes, strict=True):
        row[: len(shape)] = np.where(np.array(shape) > 0, rng().integers(1, 9, len(shape)), -2)
    values, last = tokens.copy(), np.zeros(30, dtype=np.int64)
    for column, left, right in calls(torch.from_numpy(tokens)):
        for i in np.flatnonzero(tokens[:, column] < 0):
            values[i, column] = last[i] = values[i, left[i]] - values[i, right[i]]
    assert last.tolist() == [postfix(*row) for row in tokens.tolist()]


def test_a_network_is_called_where_its_operator_stands():
    expression, solver = drawn_task("expression"), solver_class("adelic-program")()
    solver.fit(expression, *expression.sample(20, rng()), seed=0, steps=1)
    network, space = solver._network, solver._space
    assert isinstance(network, ExpressionNetwork)

    def logits(*tokens):
        row = np.array([tokens])
        digits = torch.tensor(space.encode(row).digits)
        return network(torch.tensor(row).double(), digits, torch.tensor([len(tokens)])).logits

    whole = logits(7, 8, -1, 9, -3)
    assert torch.equal(whole, logits(7, 8, -1, 9, -3, 0, 0))  # what is behind the last operator is not read
    with torch.no_grad():
        network.perceptrons[1].output.bias += 1.0
    assert torch.equal(whole, logits(7, 8, -1, 9, -3))
    with torch.no_grad():
        network.perceptrons[2].output.bias += 1.0
    assert not torch.equal(whole, logits(7, 8, -1, 9, -3))


@pytest.mark.long
def test_shapes_need_not_be_trained_on():
    expression, solver = drawn_task("expression"), solver_class("adelic-program")()
    operands, answers = expression.sample(3000, rng())
    solver.fit(expression, operands, answers, seed=0, steps=250)
    for split, least in (("test", 0.5), ("crossed", 0.3)):
        asked, wanted = expression.sample(200, rng(1), split, exclude=operands)
        assert np.mean(solver.answer(asked) == wanted) > least


@pytest.mark.parametrize("name", ["adelic-program", "operation-tables"])
def test_other_questions_are_no_expressions(name):
    assert solver_class(name).obstacle(drawn_task("expression")) is None
    assert solver_class(name).obstacle(drawn_task("addition")) == "its questions are not expressions"


def test_tables_of_all_pairs_are_exact():
    expression, tables = drawn_task("expression"), solver_class("operation-tables")()
    pairs = [(a, b, -k) for a in range(1, 100) for b in range(1, 100) for k in (1, 2, 3)]
    operands = np.zeros((len(pairs), expression.arity), dtype=np.int64)
    operands[:, :3] = pairs
    tables.fit(expression, operands, expression.solve(operands), seed=0, steps=0)
    for split in expression.never_seen:
        asked, wanted = expression.sample(100, rng(1), split)
        assert np.mean(tables.answer(asked) == wanted) == 1


def test_tables_have_no_opinion_where_nothing_was_seen():
    expression, tables = drawn_task("expression"), solver_class("operation-tables")()
    operands = np.zeros((3, expression.arity), dtype=np.int64)
    operands[:, :3] = [(1, 2, -1), (1, 2, -2), (1, 2, -3)]
    tables.fit(expression, operands, expression.solve(operands), seed=0, steps=0)
    asked = np.zeros((1, expression.arity), dtype=np.int64)
    asked[0, :3] = (50, 60, -1)
    assert tables.answer(asked).tolist() == [None]
