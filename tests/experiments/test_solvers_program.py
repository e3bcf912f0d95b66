"""Expressions: operators call networks in their order, what these learn is exact, and shapes need not be trained on."""

import numpy as np
import pytest
import torch
from experiments.solvers.program import ExpressionNetwork, calls

from adelic.data import drawn_task
from adelic.errors import EncodingError
from adelic.number_theory.composition import postfix, shape_of, steps
from adelic_lab.models.solvers import build_solver


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
    expression, solver = drawn_task("expression"), build_solver("experiments.solvers.program:Program")
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
def test_shapes_need_not_be_trained_on(monkeypatch):
    expression, solver = drawn_task("expression"), build_solver("experiments.solvers.program:Program")
    monkeypatch.setattr(type(solver), "is_cautious", False)  # also what so short a training leaves in doubt
    operands, answers = expression.sample(3000, rng())
    solver.fit(expression, operands, answers, seed=0, steps=250)
    for split, least in (("test", 0.5), ("crossed", 0.3)):
        asked, wanted = expression.sample(200, rng(1), split, exclude=operands)
        assert np.mean(solver.answer(asked) == wanted) > least


@pytest.mark.parametrize("name", ["experiments.solvers.program:Program", "experiments.solvers.program:OperationTables"])
def test_other_questions_are_no_expressions(name):
    assert build_solver(name).obstacle(drawn_task("expression")) is None
    assert build_solver(name).obstacle(drawn_task("addition")) == "its questions are not expressions in postfix"


def in_columns(task, *rows):
    found = np.zeros((len(rows), task.arity), dtype=np.int64)
    for padded, row in zip(found, rows, strict=True):
        padded[: len(row)] = row
    return found


def all_pairs(task, most=200):
    """Return an example of each operator with each pair of numbers."""
    operators = range(1, task.operators + 1)
    return in_columns(task, *((a, b, -k) for a in range(1, most) for b in range(1, most) for k in operators))


def tables_of(task, operands):
    """Return tables that have these examples."""
    tables = build_solver("experiments.solvers.program:OperationTables")
    tables.fit(task, operands, task.solve(operands), seed=0, steps=0)
    return tables


@pytest.fixture(scope="module")
def full_tables():
    """Tables of all pairs of residues, for programs with division."""
    task = drawn_task("system-program")
    return task, tables_of(task, all_pairs(task))


def test_tables_have_no_opinion_where_nothing_was_seen():
    task = drawn_task("expression")
    tables = tables_of(task, in_columns(task, (1, 2, -1), (1, 2, -2), (1, 2, -3)))
    assert tables.answer(in_columns(task, (50, 60, -1))).tolist() == [None]


def test_calls_follow_references():
    for name in ("matrix-program", "recurrence-program"):
        task = drawn_task(name)
        tokens = np.concatenate([task.sample(20, rng(), split)[0] for split in ("train", *task.never_seen)])
        values, last = tokens.astype(object), {}
        for column, left, right in calls(torch.from_numpy(tokens), 3):
            for i in np.flatnonzero((tokens[:, column] < 0) & (tokens[:, column] >= -3)):
                a, b = values[i, left[i]], values[i, right[i]]
                values[i, column] = last[i] = [a + b, a - b, a * b][-tokens[i, column] - 1]
        assert [last[i] for i in range(len(tokens))] == [postfix(*row) for row in tokens.tolist()]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((7, -1, 8), "-1 in column 1 of question 0 takes two values, and there are not two before it"),
        ((7, 8, -5), "-5 in column 2 of question 0 is not an operation; there are 4, from -1 down"),
        ((7, -100, -1), "-100 in column 1 of question 0 is not an operation"),
        ((7, -102, -1), "-102 in column 1 of question 0 refers to what is before the first column"),
    ],
)
def test_what_is_no_program(row, words, full_tables):
    task, tables = full_tables
    with pytest.raises(EncodingError, match=words):
        list(calls(torch.tensor([row]), 4))
    with pytest.raises(EncodingError, match=words):
        tables.answer(in_columns(task, row))


def test_tables_of_all_pairs_are_exact(full_tables):
    expression = drawn_task("expression")
    for task, tables in (full_tables, (expression, tables_of(expression, all_pairs(expression, 100)))):
        for split in task.never_seen:
            asked, wanted = task.sample(100, rng(1), split)
            assert np.mean(tables.answer(asked) == wanted) == 1


@pytest.mark.long
def test_tables_of_all_pairs_have_the_50th_term():
    task = drawn_task("recurrence-program")
    tables = tables_of(task, all_pairs(task))
    assert tables.answer(in_columns(task, steps(48, 1, 1, 1, 1))).tolist() == [12586269025]
    asked, wanted = task.sample(50, rng(1), "50th")
    assert tables.answer(asked).tolist() == wanted.tolist()
    too_large = [steps(49, c, d, 98, 99) for c, d in ((5, 9), (9, 9), (30, 31))]
    assert tables.answer(in_columns(task, *too_large)).tolist() == [None] * 3


def test_a_reference_is_an_operand_of_the_tables_examples():
    task = drawn_task("system-program")
    tables = tables_of(task, in_columns(task, *((a, -101, -k) for a in range(1, 200) for k in range(1, 5))))
    assert tables.answer(in_columns(task, (901, 901, -1), (7, -101, -3), (7, 8, -1))).tolist() == [1802, 49, None]


@pytest.mark.long
def test_division_is_learned_and_nothing_is_made_up():
    task, solver = drawn_task("system-program"), build_solver("experiments.solvers.program:Program")
    operands, answers = task.sample(6000, rng())
    solver.fit(task, operands, answers, seed=0, steps=500)
    asked, wanted = task.sample(200, rng(1), "test", exclude=operands)
    found = solver.answer(asked)
    assert np.mean(found == wanted) > 0.5
    assert sum(value not in (None, right) for value, right in zip(found, wanted, strict=True)) <= 2
    divided_by_0 = in_columns(task, *((a, b, b, -2, -4) for a, b in rng().integers(1, 1000, (50, 2)).tolist()))
    assert sum(value is not None for value in solver.answer(divided_by_0)) <= 2
    too_large = in_columns(task, *((a, *[998, -3] * 12) for a in range(800, 850)))
    assert solver.answer(too_large).tolist() == [None] * 50
