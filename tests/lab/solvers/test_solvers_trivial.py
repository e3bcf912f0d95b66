from fractions import Fraction

import numpy as np
import pytest

from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.trivial import LeastSquares, ResidueTable


def fitted(name, task, examples):
    solver, problem = build_solver(name), ARITHMETIC[task]
    operands, answers = problem.sample(examples, np.random.default_rng(0))
    solver.fit(problem, operands, answers, seed=0, steps=1)
    return solver


def right(solver, task, n=300):
    operands, answers = ARITHMETIC[task].sample(n, np.random.default_rng(1))
    said = solver.answer(operands)
    assert said.shape == answers.shape
    return [None if a is None else a == b for a, b in zip(said, answers, strict=True)]


@pytest.mark.parametrize("task", ["addition", "fraction-addition", "polynomial"])
def test_the_table_is_right_or_silent(task):
    """What it decodes from the places that were seen is right; from few examples it says nothing more often."""
    few, more = (right(fitted("residue-table", task, n), task) for n in (100, 3000))
    assert False not in few + more
    assert more.count(True) > 280
    assert task == "polynomial" or few.count(True) < 150


def test_where_too_few_places_are_known_answers_are_as_large_as_those_of_examples():
    """Of sums below 100 the digits at 2 and 3, 5 and 7 are enough; those of the task have ten digits and more."""
    problem = ARITHMETIC["addition"]
    operands = np.stack([x.ravel() for x in np.meshgrid(np.arange(50), np.arange(7))], axis=-1)
    table = ResidueTable()
    table.fit(problem, operands, operands.sum(axis=1).astype(object), seed=0, steps=1)
    assert table.answer(np.array([[30, 25]])).tolist() == [55]
    blind = ResidueTable()  # of answers that may be as large as those of the task
    blind.fit(problem, operands, operands.sum(axis=1).astype(object) + 2 * 3 * 5 * 7 * 10**9, seed=0, steps=1)
    assert blind.answer(np.array([[30, 25]])).tolist() == [None]


def test_each_example_in_both_orders():
    """Who knows that operands may be exchanged has seen twice as many pairs of digits."""
    told, untold = (fitted(name, "addition", 100) for name in ("residue-table:orders=both", "residue-table"))
    for one, two in zip(untold._tables, told._tables, strict=True):
        p = round(len(one) ** 0.5)
        either = np.where(one == UNKNOWN_DIGIT, one.reshape(p, p).T.ravel(), one)
        assert (two == either).all()
    assert right(told, "addition").count(True) > 2 * right(untold, "addition").count(True)
    assert False not in right(told, "addition")


def test_where_residues_do_not_determine_the_answer_the_table_can_be_wrong():
    """At a place that divides the divisor, 0/0 is anything."""
    few, more = (right(fitted("residue-table", "exact-division", n), "exact-division") for n in (1000, 3000))
    assert few.count(True) < more.count(True)
    assert more.count(True) > 280


def test_the_table_of_one_place_by_hand():
    """At 2: 0 + 1 = 1 was seen, 1 + 1 was not; at larger primes hardly anything was."""
    problem = ARITHMETIC["addition"]
    table = ResidueTable()
    table.fit(problem, np.array([[2, 3], [4, 5]]), np.array([5, 9], dtype=object), seed=0, steps=1)
    rows = table._tables[0]  # of residues (a, b) at row a + 3·b
    assert rows.tolist() == [-100, -100, -100, 1, -100, -100, -100, -100, -100]
    assert table.answer(np.array([[2, 3], [1, 1]])).tolist() == [5, None]


def test_examples_that_contradict_each_other_leave_the_most_frequent_digit():
    table = ResidueTable()
    operands = np.array([[2, 3]] * 3)
    table.fit(ARITHMETIC["addition"], operands, np.array([5, 4, 5], dtype=object), seed=0, steps=1)
    assert table.answer(operands[:1]).tolist() == [5]


def test_an_inverse_that_its_places_determine():
    solver = fitted("residue-table", "modular-inverse", 5)
    said = right(solver, "modular-inverse")
    assert None in said
    assert False not in said


def test_fractions_whose_denominator_a_place_divides():
    """A place of the operands' denominators is not in the space; the table takes all the others."""
    solver = fitted("residue-table", "fraction-multiplication", 3000)
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert solver.answer(np.array([[half, third]], dtype=object)).tolist() == [Fraction(1, 6)]


@pytest.mark.parametrize("task", ["addition", "subtraction", "multiplication"])
def test_least_squares_have_sums_and_products_of_two_numbers(task):
    """A critic's line: a polynomial of degree 2 in the operands needs a few examples, and no network."""
    assert all(right(fitted("least-squares", task, 20), task))


def test_least_squares_have_no_division_and_no_cubes():
    for task in ("exact-division", "polynomial"):
        assert np.mean(right(fitted("least-squares", task, 1000), task)) < 0.01


def test_obstacles():
    both = ResidueTable(orders="both")
    assert ResidueTable().obstacle(ARITHMETIC["sum"]) == "the table is of 2 operands at most"
    for task in ("subtraction", "modular-inverse"):
        assert "or they are not two" in both.obstacle(ARITHMETIC[task])
    assert both.obstacle(ARITHMETIC["fraction-addition"]) is None
    assert LeastSquares().obstacle(ARITHMETIC["fraction-addition"]) == "answers are rounded to integers"
    assert LeastSquares().obstacle(ARITHMETIC["sum"]) is None
