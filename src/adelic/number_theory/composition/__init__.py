"""Composition: answers that take several operations; never seen are larger numbers, longer questions, other shapes.

Determinants, a polynomial whose coefficients are operands, a linear system, a recurrence, and expressions in postfix.
Programs are expressions that may use a value more than once: matrix products, recurrences and linear systems.
`notation` has how expressions are written. May import `data` and `numbers`; one more task is a `SampledTask` in
`COMPOSITION`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from adelic.data.drawn import REFERENCE, Answers, Draw, Operands, SampledTask
from adelic.number_theory.composition.notation import OPERATORS, compiled, infix, infix_value, postfix, shape_of, steps
from adelic.numbers.rationals import objects

_INTEGRAL = 3
"""The first operators, of which an integer comes out."""
MOST_TERMS = 49
"""The last term of a recurrence that is asked for is the 50th after the first, so the 49th after the second."""
_SMALL, _BELOW_1000, _MEDIUM, _LARGE = 99, 999, 9_999, 10**6 - 1
_COLUMNS, _MOST_OPERANDS = 29, 9
"""Of an expression: a determinant of order 3 written out has 15 operands and 14 operators; others have 9 operands."""
_INFIX_COLUMNS = 2 * _COLUMNS - 1
_CROSSED = (1, 1, -1, 1, 1, -1, -1)
"""The shape of (a ∘ b) ∘ (c ∘ d) in postfix, which training never has: 1 for an operand, −1 for an operator."""


def _within(most: int, columns: int) -> Draw:
    """Return draws of examples of integers from −most to most."""
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
    """Return the n-th term after two given ones, if each is c1 times the one before it plus c2 times that before."""
    for _ in range(n):
        before, last = last, c1 * last + c2 * before
    return last


def _of_rows(function: Callable[..., Any]) -> Callable[[Operands], Answers]:
    """Return the function of the operands of each example, computed with Python's integers."""
    return lambda operands: objects([function(*row) for row in operands.tolist()])


def _kept(draw: Draw, is_kept: Callable[[Operands], Any]) -> Draw:
    """Return those examples of another draw that are kept."""

    def chosen(n: int, rng: np.random.Generator) -> Operands:
        # Always n at once, though few may be missing: the examples of a seed follow from how many are drawn.
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


def _bracketed(draw: Draw) -> Draw:
    """Return draws of the same expressions in infix."""

    def drawn(n: int, rng: np.random.Generator) -> Operands:
        found = np.zeros((n, _INFIX_COLUMNS), dtype=np.int64)
        for row, tokens in zip(found, draw(n, rng).tolist(), strict=True):
            written = infix(*tokens)
            row[: len(written)] = written
        return found

    return drawn


def _expressions(
    shape: Callable[[np.random.Generator], Sequence[int]],
    *,
    operators: int = _INTEGRAL,
    columns: int = _COLUMNS,
    most: int = _SMALL,
) -> Draw:
    """Return draws of expressions of shapes, with operands from 1 to `most` and each of the operators alike."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        numbers, signs = rng.integers(1, most + 1, (n, columns)), rng.integers(-operators, 0, (n, columns))
        shapes = np.zeros((n, columns), dtype=np.int64)
        for row in shapes:
            found = shape(rng)
            row[: len(found)] = found
        return np.where(shapes > 0, numbers, np.where(shapes < 0, signs, 0))

    return draw


def _trained_on(rng: np.random.Generator) -> Sequence[int]:
    while (found := shape_of(int(rng.integers(1, 4)), rng)) == _CROSSED:
        pass
    return found


def _short_programs(operators: int, columns: int) -> Draw:
    """Return draws of expressions as `_trained_on` has them; of operands but the first, one in four is a reference.

    Operands are below 1,000: of those below 100, none would have the residue 0 at a prime above 100. Left out are
    those that divide by 0, and those whose value has a numerator or a denominator above 999⁴.
    """
    plain = _expressions(_trained_on, operators=operators, columns=columns, most=_BELOW_1000)
    most_back = np.maximum(1, np.arange(columns))

    def draw(n: int, rng: np.random.Generator) -> Operands:
        rows = plain(n, rng)
        is_reference = (rows > 0) & (rng.random(rows.shape) < 1 / 4) & (np.arange(columns) > 0)
        return np.where(is_reference, -REFERENCE - rng.integers(1, most_back + 1, rows.shape), rows)

    return _kept(draw, lambda rows: [_is_small(row) for row in rows.tolist()])


def _is_small(row: Sequence[int]) -> bool:
    """Say whether a program has a value, with numerator and denominator of at most 999⁴."""
    value = _value_of(row)
    return value is not None and max(abs(value.numerator), value.denominator) <= _BELOW_1000**4


def _value_of(row: Sequence[int]) -> int | Fraction | None:
    """Return the value of a program, None if it divides by 0."""
    try:
        return postfix(*row)
    except ZeroDivisionError:
        return None


def _written(program: Sequence[int | str], names: str, *, columns: int = _COLUMNS, most: int = _SMALL) -> Draw:
    """Return draws of one program: each letter of `names` is a number from 1 to `most`, wherever the program has it."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        values = dict(zip(names, rng.integers(1, most + 1, (len(names), n)), strict=True))
        found = [values[token] if isinstance(token, str) else np.full(n, token) for token in program]
        found += [np.zeros(n, np.int64)] * (columns - len(found))
        return np.stack(found, axis=1)

    return draw


def _solvable(program: Sequence[int | str], *, most: int = _SMALL) -> Draw:
    """Return draws of a program for a linear system that do not divide by 0; its letters are in alphabetical order."""
    names = "".join(sorted({token for token in program if isinstance(token, str)}))
    draw = _written(program, names, columns=_SYSTEM_COLUMNS, most=most)
    return _kept(draw, lambda rows: [_value_of(row) is not None for row in rows.tolist()])


def _recurrences(least: int, most: int) -> Draw:
    """Return draws of recurrences of `least` to `most` steps, with factors from 1 to 3, sums or differences."""
    program = steps(MOST_TERMS, *"cdabs")

    def draw(n: int, rng: np.random.Generator) -> Operands:
        low, high = np.array([1, 1, 1, 1, -2, least]), np.array([_SMALL, _SMALL, 3, 3, -1, most])
        *drawn, count = rng.integers(low, high + 1, (n, 6)).T
        values = dict(zip("abcds", drawn, strict=True))
        rows = np.stack([values[token] if isinstance(token, str) else np.full(n, token) for token in program], axis=1)
        # Two terms, and seven tokens a step: see `steps`.
        return np.where(np.arange(len(program)) < (2 + 7 * count)[:, None], rows, 0)

    return draw


def _minor(a: str, p: str, q: str, r: str, s: str) -> list[int | str]:
    """Return a(pq − rs) in postfix."""
    return [a, p, q, -3, r, s, -3, -2, -3]


def _order_3(a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str, i: str) -> list[int | str]:
    """Return the determinant of three rows in postfix."""
    return [*_minor(a, e, i, f, h), *_minor(b, d, i, f, g), -2, *_minor(c, d, h, e, g), -1]


_CUBIC: list[int | str] = ["a", "x", -3, "b", -1, "x", -3, "c", -1, "x", -3, "d", -1]


_ENTRY = compiled("a b * c d * + e f * +")
"""An entry of a product of two 3 × 3 matrices, a row times a column."""
_CHAIN = compiled("a e * b g * + :P a f * b h * + :Q P i * Q k * + :R P j * Q l * + :S R m * S n * +")
"""The first entry of (a b; ..)(e f; g h)(i j; k l)(m ..; n ..)."""
_CRAMER_2 = compiled("e d * b f * - a d * b c * - /")
"""x of ax + by = e, cx + dy = f."""
_CRAMER_3: list[int | str] = [*_order_3(*"rbcsefthi"), *_order_3(*"abcdefghi"), -4]
"""x of ax + by + cz = r, dx + ey + fz = s, gx + hy + iz = t."""
_ELIMINATION = compiled(
    "d a / :L g a / :M e L b * - :E f L c * - :F s L r * - :S h M b * - :H i M c * - :I t M r * - :T "
    "H E / :K T K S * - I K F * - /"
)
"""z of the same, by Gauss's elimination."""
_CHAIN_COLUMNS, _STEPS_COLUMNS, _SYSTEM_COLUMNS = len(_CHAIN), 2 + 7 * MOST_TERMS, len(_CRAMER_3)


def _greatest_term() -> int:
    return _term(MOST_TERMS, 3, 3, _SMALL, _SMALL)


_EXPRESSION = SampledTask(
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
        "determinant": _written(_order_3(*"abcdefghi"), "abcdefghi"),
    },
    solve=_of_rows(postfix),
    max_operand=_SMALL,
    max_numerator=_SMALL**_MOST_OPERANDS,
    signed=True,
    neutral=0,
    operators=_INTEGRAL,
)


def _larger(name: str, what: str, arity: int, function: Callable[..., Any], max_numerator: int) -> SampledTask:
    """Return the task of a function of numbers below 100, and of larger ones that are never seen in training."""
    return SampledTask(
        name=name,
        title=f"{what} below 100",
        never_seen_titles={"larger": f"{what} below 1,000,000"},
        arity=arity,
        draws={"train": _within(_SMALL, arity), "larger": _within(_LARGE, arity)},
        solve=_of_rows(function),
        max_operand=_LARGE,
        max_numerator=max_numerator,
        signed=True,
    )


COMPOSITION: Mapping[str, SampledTask] = {
    p.name: p
    for p in (
        _larger("determinant-2", "2 × 2 determinants, entries", 4, _determinants, 2 * _LARGE**2),
        _larger("determinant-3", "3 × 3 determinants, entries", 9, _of_order_3, 6 * _LARGE**3),
        _larger("polynomial-value", "ax³ + bx² + cx + d, all", 5, _cubic, _cubic(*[_LARGE] * 5)),
        SampledTask(
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
        SampledTask(
            name="linear-system",
            title="x of ax + by = e, cx + dy = f, all below 100",
            never_seen_titles={"larger": "x of ax + by = e, cx + dy = f, all below 10,000"},
            arity=6,
            draws={"train": _systems(_SMALL), "larger": _systems(_MEDIUM)},
            solve=_of_rows(_first_unknown),
            max_operand=_MEDIUM,
            max_numerator=2 * _MEDIUM**2,
            max_denominator=2 * _MEDIUM**2,
            signed=True,
        ),
        _EXPRESSION,
        replace(
            _EXPRESSION,
            name="infix-expression",
            title="1 to 3 of + − × in infix, with brackets, numbers below 100",
            never_seen_titles={
                s: t.replace(" in postfix", "") + ", in infix" for s, t in _EXPRESSION.never_seen_titles.items()
            },
            arity=_INFIX_COLUMNS,
            draws={split: _bracketed(draw) for split, draw in _EXPRESSION.draws.items()},
            solve=_of_rows(infix_value),
            operators=_INTEGRAL + 2,
            is_infix=True,
        ),
        replace(
            _EXPRESSION,
            name="matrix-program",
            title="matrices: 1 to 3 of + − ×, numbers below 1,000",
            never_seen_titles={
                "entry": "an entry of a product of two 3 × 3 matrices, 5 operations",
                "larger": "the same, entries below 1,000,000",
                "chain": "an entry of a product of four 2 × 2 matrices, 15 operations",
            },
            arity=_CHAIN_COLUMNS,
            draws={
                "train": _short_programs(_INTEGRAL, _CHAIN_COLUMNS),
                "entry": _written(_ENTRY, "abcdef", columns=_CHAIN_COLUMNS),
                "larger": _written(_ENTRY, "abcdef", columns=_CHAIN_COLUMNS, most=_LARGE),
                "chain": _written(_CHAIN, "abefghijklmn", columns=_CHAIN_COLUMNS),
            },
            max_operand=_LARGE,
            max_numerator=3 * _LARGE**2,
        ),
        replace(
            _EXPRESSION,
            name="recurrence-program",
            title="recurrences: 1 to 3 of + − ×, numbers below 1,000",
            never_seen_titles={
                "tenth": "aₙ₊₁ = c·aₙ ± d·aₙ₋₁, up to 10 terms, 3 to 24 operations",
                "50th": "the 50th term after the first, 147 operations",
            },
            arity=_STEPS_COLUMNS,
            draws={
                "train": _short_programs(_INTEGRAL, _STEPS_COLUMNS),
                "tenth": _recurrences(1, 8),
                "50th": _recurrences(MOST_TERMS, MOST_TERMS),
            },
            max_operand=_BELOW_1000,
            max_numerator=_greatest_term(),
        ),
        replace(
            _EXPRESSION,
            name="system-program",
            title="systems: 1 to 3 of + − × ÷, numbers below 1,000",
            never_seen_titles={
                "two": "x of two equations by Cramer's rule, 7 operations",
                "larger": "the same, all below 10,000",
                "three": "x of three equations by Cramer's rule, 29 operations",
                "elimination": "z of three equations by elimination, 20 operations",
            },
            arity=_SYSTEM_COLUMNS,
            draws={
                "train": _short_programs(len(OPERATORS), _SYSTEM_COLUMNS),
                "two": _solvable(_CRAMER_2),
                "larger": _solvable(_CRAMER_2, most=_MEDIUM),
                "three": _solvable(_CRAMER_3),
                "elimination": _solvable(_ELIMINATION),
            },
            max_operand=_MEDIUM,
            max_numerator=_BELOW_1000**4,
            max_denominator=_BELOW_1000**4,
            operators=len(OPERATORS),
        ),
    )
}
"""The tasks by name. An expression's value is at most 99^k with k operands, and of the longer ones k is 9 at most.

Of positive numbers up to m, a determinant of order 2 is below m², and one of order 3 below 3m³.
"""
