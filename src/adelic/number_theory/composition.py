"""Composition: answers that take several operations; never seen are larger numbers, longer questions, other shapes.

Determinants, a polynomial whose coefficients are operands, a linear system, a recurrence, and expressions in postfix.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Draw, DrawnTask, Operands
from adelic.number_theory.drawing import objects

OPERATORS: tuple[Callable[[int, int], int], ...] = (operator.add, operator.sub, operator.mul)
"""What −1, −2, … stand for in an expression; no solver is told."""
MOST_TERMS = 49
"""The last term of a recurrence that is asked for is the 50th after the first, so the 49th after the second."""
_SMALL, _LARGE = 99, 10**6 - 1
_COLUMNS, _MOST_OPERANDS = 29, 9
"""Of an expression: a determinant of order 3 written out has 15 operands and 14 operators; others have 9 operands."""
_CROSSED = (1, 1, -1, 1, 1, -1, -1)
"""The shape of (a ∘ b) ∘ (c ∘ d) in postfix, which training never has: 1 for an operand, −1 for an operator."""


def _within(most: int, columns: int) -> Draw:
    """Return draws of rows of integers from −most to most."""
    return lambda n, rng: rng.integers(-most, most + 1, (n, columns))


def _determinants(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * d - b * c


def _of_order_3(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any) -> Any:
    return a * _determinants(e, f, h, i) - b * _determinants(d, f, g, i) + c * _determinants(d, e, g, h)


def _cubic(a: Any, b: Any, c: Any, d: Any, x: Any) -> Any:
    return ((a * x + b) * x + c) * x + d


def _first_unknown(a: int, b: int, e: int, c: int, d: int, f: int) -> Fraction:
    """Return x of ax + by = e, cx + dy = f, by Cramer's rule."""
    return Fraction(_determinants(e, b, f, d), _determinants(a, b, c, d))


def _term(n: int, c1: int, c2: int, before: int, last: int) -> int:
    """Return the n-th term after two given ones, where each is c1 times the one before it plus c2 times that before."""
    for _ in range(n):
        before, last = last, c1 * last + c2 * before
    return last


def _of_rows(function: Callable[..., Any]) -> Callable[[Operands], Answers]:
    """Return the function of each row of operands, computed with Python's integers."""
    return lambda operands: objects([function(*row) for row in operands.tolist()])


def _kept(draw: Draw, is_kept: Callable[[Operands], Any]) -> Draw:
    """Return draws of rows of another that are kept."""

    def chosen(n: int, rng: np.random.Generator) -> Operands:
        found = draw(0, rng)
        while len(found) < n:
            rows = draw(n, rng)
            found = np.concatenate([found, rows[is_kept(rows)]])
        return found[:n]

    return chosen


def _systems(most: int) -> Draw:
    """Return draws of (a, b, e, c, d, f) from −most to most, with ad − bc not 0."""
    return _kept(_within(most, 6), lambda x: _determinants(x[:, 0], x[:, 1], x[:, 3], x[:, 4]) != 0)


def _starts(least: int, most: int) -> Draw:
    """Return draws of (n, c1, c2, a0, a1): n from least to most, c from −3 to 3, a from −99 to 99."""
    low, high = np.array([least, -3, -3, -_SMALL, -_SMALL]), np.array([most, 3, 3, _SMALL, _SMALL])
    return lambda n, rng: rng.integers(low, high + 1, (n, 5))


def postfix(*tokens: int) -> int:
    """Return the value of an expression: operands from 1 on, −1, −2, … for `OPERATORS`, then zeros.

    >>> postfix(2, 3, 4, -3, -2, 0, 0)  # 2 − 3 · 4
    -10
    """
    stack: list[int] = []
    for token in tokens:
        if token < 0:
            second, first = stack.pop(), stack.pop()
            stack.append(OPERATORS[-token - 1](first, second))
        elif token:
            stack.append(token)
    (value,) = stack
    return value


def shape_of(operations: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a shape in postfix, 1 for an operand and −1 for an operator; how many stand on the left is uniform.

    >>> [shape_of(2, np.random.default_rng(seed)) for seed in (0, 1)]
    [(1, 1, -1, 1, -1), (1, 1, 1, -1, -1)]
    """
    if not operations:
        return (1,)
    left = int(rng.integers(operations))
    return (*shape_of(left, rng), *shape_of(operations - 1 - left, rng), -1)


def _expressions(shape: Callable[[np.random.Generator], Sequence[int]]) -> Draw:
    """Return draws of expressions of shapes, with operands below 100 and each of the three operators alike."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        numbers, operators = rng.integers(1, _SMALL + 1, (n, _COLUMNS)), rng.integers(-len(OPERATORS), 0, (n, _COLUMNS))
        shapes = np.zeros((n, _COLUMNS), dtype=np.int64)
        for row in shapes:
            found = shape(rng)
            row[: len(found)] = found
        return np.where(shapes > 0, numbers, np.where(shapes < 0, operators, 0))

    return draw


def _trained_on(rng: np.random.Generator) -> Sequence[int]:
    while (found := shape_of(int(rng.integers(1, 4)), rng)) == _CROSSED:
        pass
    return found


def _written(program: Sequence[int | str], names: str) -> Draw:
    """Return draws of one expression: each letter of `names` is a number below 100, wherever the program has it."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        values = dict(zip(names, rng.integers(1, _SMALL + 1, (len(names), n)), strict=True))
        columns = [values[token] if isinstance(token, str) else np.full(n, token) for token in program]
        columns += [np.zeros(n, np.int64)] * (_COLUMNS - len(columns))
        return np.stack(columns, axis=1)

    return draw


def _minor(a: str, p: str, q: str, r: str, s: str) -> list[int | str]:
    """Return a(pq − rs) in postfix."""
    return [a, p, q, -3, r, s, -3, -2, -3]


_ORDER_3: list[int | str] = [*_minor(*"aeifh"), *_minor(*"bdifg"), -2, *_minor(*"cdheg"), -1]
_CUBIC: list[int | str] = ["a", "x", -3, "b", -1, "x", -3, "c", -1, "x", -3, "d", -1]


def _greatest_term() -> int:
    return _term(MOST_TERMS, 3, 3, _SMALL, _SMALL)


COMPOSITION: Mapping[str, DrawnTask] = {
    p.name: p
    for p in (
        DrawnTask(
            name="determinant-2",
            title="2 × 2 determinants, entries below 100",
            never_seen_titles={"larger": "2 × 2 determinants, entries below 1,000,000"},
            arity=4,
            draws={"train": _within(_SMALL, 4), "larger": _within(_LARGE, 4)},
            solve=_of_rows(_determinants),
            max_operand=_LARGE,
            max_numerator=2 * _LARGE**2,
            signed=True,
        ),
        DrawnTask(
            name="determinant-3",
            title="3 × 3 determinants, entries below 100",
            never_seen_titles={"larger": "3 × 3 determinants, entries below 1,000,000"},
            arity=9,
            draws={"train": _within(_SMALL, 9), "larger": _within(_LARGE, 9)},
            solve=_of_rows(_of_order_3),
            max_operand=_LARGE,
            max_numerator=6 * _LARGE**3,
            signed=True,
        ),
        DrawnTask(
            name="polynomial-value",
            title="ax³ + bx² + cx + d, all below 100",
            never_seen_titles={"larger": "ax³ + bx² + cx + d, all below 1,000,000"},
            arity=5,
            draws={"train": _within(_SMALL, 5), "larger": _within(_LARGE, 5)},
            solve=_of_rows(_cubic),
            max_operand=_LARGE,
            max_numerator=_cubic(*[_LARGE] * 5),
            signed=True,
        ),
        DrawnTask(
            name="recurrence",
            title="aₙ₊₁ = c·aₙ + d·aₙ₋₁, up to 8 terms",
            never_seen_titles={"50th": "aₙ₊₁ = c·aₙ + d·aₙ₋₁, the 50th term after the first"},
            arity=5,
            draws={"train": _starts(1, 7), "50th": _starts(MOST_TERMS, MOST_TERMS)},
            solve=_of_rows(_term),
            max_operand=_SMALL,
            max_numerator=_greatest_term(),
            signed=True,
        ),
        DrawnTask(
            name="linear-system",
            title="x of ax + by = e, cx + dy = f, all below 100",
            never_seen_titles={"larger": "x of ax + by = e, cx + dy = f, all below 10,000"},
            arity=6,
            draws={"train": _systems(_SMALL), "larger": _systems(9_999)},
            solve=_of_rows(_first_unknown),
            max_operand=9_999,
            max_numerator=2 * 9_999**2,
            max_denominator=2 * 9_999**2,
            signed=True,
        ),
        DrawnTask(
            name="expression",
            title="1 to 3 of + − × in postfix, numbers below 100",
            never_seen_titles={
                "crossed": "(a ∘ b) ∘ (c ∘ d), a shape that training lacks",
                "longer": "6 to 8 of + − × in postfix",
                "cubic": "ax³ + bx² + cx + d, written out as 6 operations",
                "determinant": "3 × 3 determinants, written out as 14 operations",
            },
            arity=_COLUMNS,
            draws={
                "train": _expressions(_trained_on),
                "crossed": _expressions(lambda rng: _CROSSED),
                "longer": _expressions(lambda rng: shape_of(int(rng.integers(6, 9)), rng)),
                "cubic": _written(_CUBIC, "abcdx"),
                "determinant": _written(_ORDER_3, "abcdefghi"),
            },
            solve=_of_rows(postfix),
            max_operand=_SMALL,
            max_numerator=_SMALL**_MOST_OPERANDS,
            signed=True,
            neutral=0,
            operators=len(OPERATORS),
        ),
    )
}
"""The tasks by name. An expression's value is at most 99^k with k operands, and of the longer ones k is 9 at most."""
