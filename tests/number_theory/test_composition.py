"""Composed tasks have the right answers, by other ways to compute them; bounds hold; what is never seen is unlike."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpz_mat, fmpz_poly

from adelic.number_theory.composition import COMPOSITION, MOST_TERMS, postfix

CASES = [(name, split) for name, asked in COMPOSITION.items() for split in asked.splits]


def rng(seed=0):
    return np.random.default_rng(seed)


def determinant(*entries):
    order = math.isqrt(len(entries))
    return int(fmpz_mat(order, order, list(entries)).det())


def power(matrix, n):
    """Return a power of a 2 × 2 matrix by squaring."""
    return (np.linalg.matrix_power(np.array(matrix, dtype=object), n)).tolist()


def term(n, c1, c2, before, last):
    (top, _) = power([[c1, c2], [1, 0]], n)
    return top[0] * last + top[1] * before


def unknown(a, b, e, c, d, f):
    x = sympy.Matrix([[a, b], [c, d]]).LUsolve(sympy.Matrix([e, f]))[0]
    return Fraction(int(x.p), int(x.q))


def infix(*tokens):
    """Return the value of an expression that is written in infix first, from its end on."""
    rest = [token for token in tokens if token]

    def written():
        token = rest.pop()
        if token > 0:
            return str(token)
        right = written()
        return f"({written()} {'+-*'[-token - 1]} {right})"

    text = written()
    assert not rest
    return eval(text)  # of digits, brackets and operators


REFERENCES = {
    "determinant-2": determinant,
    "determinant-3": determinant,
    "polynomial-value": lambda a, b, c, d, x: int(fmpz_poly([d, c, b, a])(x)),
    "recurrence": term,
    "linear-system": unknown,
    "expression": infix,
}


@pytest.mark.parametrize(("name", "split"), CASES)
def test_answers_are_right(name, split):
    asked = COMPOSITION[name]
    operands, answers = asked.sample(100, rng(), split)
    assert operands.shape == (100, asked.arity)
    assert operands.dtype == np.int64
    assert answers.dtype == object
    assert answers.tolist() == [REFERENCES[name](*row) for row in operands.tolist()]


@pytest.mark.parametrize(("name", "split"), CASES)
def test_bounds_hold(name, split):
    asked = COMPOSITION[name]
    operands, answers = asked.sample(1000, rng(1), split)
    assert np.abs(operands).max() <= asked.max_operand
    results = [Fraction(answer) for answer in answers]
    assert max(abs(f.numerator) for f in results) <= asked.max_numerator
    assert max(f.denominator for f in results) <= asked.max_denominator


def test_bounds_are_those_of_extreme_cases():
    assert COMPOSITION["recurrence"].max_numerator == term(MOST_TERMS, 3, 3, 99, 99)
    n = 10**6 - 1
    assert COMPOSITION["polynomial-value"].max_numerator == sum(n**k for k in range(1, 5))
    operations, numbers = (-1, -2, -3), (1, 99)
    for tokens in itertools.product(numbers, numbers, operations, numbers, operations):
        assert abs(postfix(*tokens)) <= 99**3


@pytest.mark.parametrize("name", COMPOSITION)
def test_no_test_question_was_trained_on(name):
    asked = COMPOSITION[name]
    operands, _ = asked.sample(2000, rng())
    trained = set(map(tuple, operands.tolist()))
    assert len(trained) == 2000
    for split in asked.splits[1:]:
        others, _ = asked.sample(500, rng(), split, exclude=operands)
        assert not trained & set(map(tuple, others.tolist()))


@pytest.mark.parametrize("name", ["determinant-2", "determinant-3", "polynomial-value", "linear-system"])
def test_larger_questions_have_larger_numbers(name):
    small, large = (COMPOSITION[name].sample(500, rng(), split)[0] for split in ("train", "larger"))
    assert np.abs(small).max() == 99
    assert np.abs(large).max() > 9_000


def test_recurrences_are_short_in_training_and_long_outside():
    asked = COMPOSITION["recurrence"]
    assert set(asked.sample(500, rng())[0][:, 0].tolist()) == set(range(1, 8))
    assert set(asked.sample(500, rng(), "50th")[0][:, 0].tolist()) == {49}


def shapes(split):
    operands, _ = COMPOSITION["expression"].sample(2000, rng(), split)
    return {tuple(row[row != 0].tolist()) for row in np.sign(operands)}


def test_shapes_of_expressions():
    crossed = (1, 1, -1, 1, 1, -1, -1)
    trained = shapes("train")
    assert len(trained) == 1 + 2 + 4  # of the 5 shapes of three operations, all but one
    assert crossed not in trained
    assert shapes("crossed") == {crossed}
    assert {shape.count(-1) for shape in shapes("longer")} == {6, 7, 8}
    (cubic,), (of_order_3,) = shapes("cubic"), shapes("determinant")
    assert (cubic.count(-1), of_order_3.count(-1)) == (6, 14)


def test_what_is_written_out_is_what_it_is_called():
    operands, answers = COMPOSITION["expression"].sample(50, rng(), "determinant")
    for row, answer in zip(operands.tolist(), answers.tolist(), strict=True):
        a, e, i, f, h = (row[k] for k in (0, 1, 2, 4, 5))
        b, d, g = (row[k] for k in (9, 10, 14))
        assert answer == determinant(a, b, row[19], d, e, f, g, h, i)
    operands, answers = COMPOSITION["expression"].sample(50, rng(), "cubic")
    columns = operands[:, [0, 3, 7, 11, 1]].tolist()
    assert answers.tolist() == [REFERENCES["polynomial-value"](*row) for row in columns]


@pytest.mark.parametrize("name", COMPOSITION)
def test_a_seed_gives_the_same_questions(name):
    first, again, other = (COMPOSITION[name].sample(50, rng(seed))[0] for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()
