"""Composed tasks have the right answers, by other ways to compute them; bounds hold; what is never seen is unlike."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpz_mat, fmpz_poly

from adelic.data.drawn import REFERENCE
from adelic.number_theory.composition import COMPOSITION, MOST_TERMS, compiled, postfix, steps

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


def solution(matrix, right, which):
    """Return an unknown of a linear system, by sympy."""
    x = sympy.Matrix(matrix).LUsolve(sympy.Matrix(right))[which]
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


def run(*tokens):
    """Return the value of a program, each column's computed from those of the columns that it reads, recursively."""
    tokens = [token for token in tokens if token]

    def start(column):  # of the part of the program whose value stands in this column
        if not -REFERENCE < tokens[column] < 0:
            return column
        return start(start(column - 1) - 1)

    def value(column):
        token = tokens[column]
        if token > 0:
            return Fraction(token)
        if token < -REFERENCE:
            return value(column + REFERENCE + token)
        first, second = value(start(column - 1) - 1), value(column - 1)
        return first / second if token == -4 else [first + second, first - second, first * second][-token - 1]

    value = functools.cache(value)
    return value(len(tokens) - 1)


def in_brackets(*tokens):
    """Return the value of an expression in infix, as Python reads it."""
    words = {-1: "+", -2: "-", -3: "*", -4: "(", -5: ")", 0: ""}
    return eval("".join(words.get(token, str(token)) for token in tokens))


REFERENCES = {
    "determinant-2": determinant,
    "determinant-3": determinant,
    "polynomial-value": lambda a, b, c, d, x: int(fmpz_poly([d, c, b, a])(x)),
    "recurrence": term,
    "linear-system": lambda a, b, e, c, d, f: solution([[a, b], [c, d]], [e, f], 0),
    "expression": infix,
    "infix-expression": in_brackets,
    "matrix-program": run,
    "recurrence-program": run,
    "system-program": run,
}


@pytest.mark.parametrize(("name", "split"), CASES)
def test_answers_are_right(name, split):
    asked = COMPOSITION[name]
    operands, answers = asked.sample(100, rng(), split)
    assert operands.shape == (100, asked.arity)
    assert operands.dtype == np.int64
    assert answers.dtype == object
    assert answers.tolist() == [REFERENCES[name](*row) for row in operands.tolist()]


def test_bounds_are_those_of_extreme_cases():
    assert COMPOSITION["recurrence"].max_numerator == term(MOST_TERMS, 3, 3, 99, 99)
    n = 10**6 - 1
    assert COMPOSITION["polynomial-value"].max_numerator == sum(n**k for k in range(1, 5))
    operations, numbers = (-1, -2, -3), (1, 99)
    for tokens in itertools.product(numbers, numbers, operations, numbers, operations):
        assert abs(postfix(*tokens)) <= 99**3


def test_recurrences_are_short_in_training_and_long_outside():
    asked = COMPOSITION["recurrence"]
    assert set(asked.sample(500, rng())[0][:, 0].tolist()) == set(range(1, 8))
    assert set(asked.sample(500, rng(), "50th")[0][:, 0].tolist()) == {49}


def test_shapes_of_expressions():
    def shapes(split):
        operands, _ = COMPOSITION["expression"].sample(2000, rng(), split)
        return {tuple(row[row != 0].tolist()) for row in np.sign(operands)}

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


def drawn(name, split, n=50):
    operands, answers = COMPOSITION[name].sample(n, rng(), split)
    return operands.tolist(), answers.tolist()


def test_matrix_programs_are_entries_of_products():
    for split in ("entry", "larger"):
        for row, answer in zip(*drawn("matrix-program", split), strict=True):
            a, b, c, d, e, f = (row[k] for k in (0, 1, 3, 4, 7, 8))
            assert answer == int((fmpz_mat(1, 3, [a, c, e]) * fmpz_mat(3, 1, [b, d, f]))[0, 0])
    for row, answer in zip(*drawn("matrix-program", "chain"), strict=True):
        a, e, b, g = (row[k] for k in (0, 1, 3, 4))
        f, h, i, k, j, l, m, n = (row[k] for k in (8, 11, 15, 18, 22, 25, 29, 32))  # noqa: E741
        factors = [[[a, b], [0, 0]], [[e, f], [g, h]], [[i, j], [k, l]], [[m, 0], [n, 0]]]
        product = functools.reduce(np.matmul, (np.array(factor, dtype=object) for factor in factors))
        assert answer == product[0, 0]
    assert np.array(drawn("matrix-program", "larger")[0]).max() > 900_000


def test_recurrence_programs_are_recurrences():
    for split, counts in (("tenth", set(range(1, 9))), ("50th", {MOST_TERMS})):
        rows, answers = drawn("recurrence-program", split, 200)
        found = set()
        for row, answer in zip(rows, answers, strict=True):
            before, last, c, d, sign = (row[k] for k in (0, 1, 2, 5, 8))
            count = (len([token for token in row if token]) - 2) // 7
            found.add(count)
            assert answer == term(count, c, d if sign == -1 else -d, before, last)
        assert found == counts


@pytest.mark.parametrize("n", range(1, 12))
def test_steps_are_those_of_fibonacci_numbers(n):
    assert postfix(*steps(n, 1, 1, 1, 1)) == sympy.fibonacci(n + 2)
    assert postfix(*steps(n, 3, 2, 5, 7, -2)) == term(n, 3, -2, 5, 7)


def test_system_programs_solve_systems():
    for split in ("two", "larger"):
        for row, answer in zip(*drawn("system-program", split), strict=True):
            e, d, b, f, a, c = (row[k] for k in (0, 1, 3, 4, 7, 11))
            assert answer == solution([[a, b], [c, d]], [e, f], 0)
    for row, answer in zip(*drawn("system-program", "three", 20), strict=True):
        r, e, i, f, h = row[:2] + row[2:3] + row[4:6]
        b, s, t, c = row[9], row[10], row[14], row[19]
        a, d, g = row[29], row[39], row[43]
        assert row[29:34] == [a, e, i, -3, f]
        assert answer == solution([[a, b, c], [d, e, f], [g, h, i]], [r, s, t], 0)
    for row, answer in zip(*drawn("system-program", "elimination", 20), strict=True):
        d, a, g, e, b, f, c, s, r, h, i, t = (row[k] for k in (0, 1, 3, 6, 8, 11, 13, 16, 18, 21, 26, 31))
        assert answer == solution([[a, b, c], [d, e, f], [g, h, i]], [r, s, t], 2)


def test_programs_are_trained_on_short_ones_and_no_long_one():
    for name in ("matrix-program", "recurrence-program", "system-program"):
        operands, _ = COMPOSITION[name].sample(3000, rng())
        is_operator = (operands < 0) & (operands > -REFERENCE)
        assert set(is_operator.sum(axis=1).tolist()) == {1, 2, 3}
        assert set(np.unique(operands[is_operator]).tolist()) == set(range(-COMPOSITION[name].operators, 0))
        numbers, references = operands[operands > 0], operands[operands < -REFERENCE]
        assert numbers.max() == 999
        assert 1 / 8 < len(references) / (len(references) + len(numbers)) < 3 / 16


@pytest.mark.parametrize(
    "name", ["expression", "infix-expression", "matrix-program", "recurrence-program", "system-program"]
)
def test_all_operators_occur_and_no_others(name):
    task = COMPOSITION[name]
    for split in ("train", "test"):
        operands, _ = task.sample(500, rng(), split)
        found = set(operands[(operands < 0) & (operands > -REFERENCE)].tolist())
        assert found == set(range(-task.operators, 0))


def test_what_a_reference_refers_to():
    assert postfix(7, 8, -1, -101, -3) == 15 * 15
    assert postfix(7, -101, -102, -3, -3) == 7**3  # to a reference
    assert compiled("a b / :Q c Q * Q -") == ["a", "b", -4, "c", -102, -3, -104, -2]
    with pytest.raises(ZeroDivisionError):
        postfix(7, 5, 5, -2, -4)
