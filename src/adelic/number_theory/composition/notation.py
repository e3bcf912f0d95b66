"""How expressions and programs are written, in postfix and in infix, and what their values are."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from adelic.data.drawn import REFERENCE

OPERATORS: tuple[Callable[[Any, Any], Any], ...] = (operator.add, operator.sub, operator.mul, Fraction)
"""What −1, −2, … stand for in an expression; no solver is told."""
_SYMBOLS = "+-*/"
_OPENS, _CLOSES = -4, -5


def postfix(*tokens: int) -> int | Fraction:
    """Return the value of an expression or a program, that of its last token.

    Tokens are operands from 1 on, −1, −2, … for `OPERATORS`, −100 − k for the value k columns before, then zeros.

    >>> postfix(2, 3, 4, -3, -2, 0, 0)  # 2 − 3 · 4
    -10
    >>> postfix(2, 3, -4, -101, -1)  # 2/3 + 2/3
    Fraction(4, 3)
    """
    stack: list[int | Fraction] = []
    values: list[int | Fraction] = []
    # Zeros are at the end alone, so values and columns count alike.
    for token in filter(None, tokens):
        if token > 0:
            stack.append(token)
        elif token < -REFERENCE:
            stack.append(values[token + REFERENCE])
        else:
            second, first = stack.pop(), stack.pop()
            stack.append(OPERATORS[-token - 1](first, second))
        values.append(stack[-1])
    return values[-1]


def infix(*tokens: int) -> list[int]:
    """Return an expression in infix: each operation in brackets, which stand as −4 and −5, without zeros.

    >>> infix(2, 3, 4, -3, -2, 0, 0)  # (2 − (3 · 4))
    [-4, 2, -2, -4, 3, -3, 4, -5, -5]
    """
    stack: list[list[int]] = []
    for token in filter(None, tokens):
        if token > 0:
            stack.append([token])
        else:
            second, first = stack.pop(), stack.pop()
            stack.append([_OPENS, *first, token, *second, _CLOSES])
    return stack[-1]


def infix_value(*tokens: int) -> int | Fraction:
    """Return the value of an expression in infix, each operation in brackets (Dijkstra's two stacks).

    Zeros are passed over.

    >>> infix_value(-4, 2, -2, -4, 3, -3, 4, -5, -5, 0)  # (2 − (3 · 4))
    -10
    """
    values: list[int | Fraction] = []
    signs: list[int] = []
    for token in tokens:
        if token > 0:
            values.append(token)
        elif token == _CLOSES:
            second, first = values.pop(), values.pop()
            values.append(OPERATORS[-signs.pop() - 1](first, second))
        elif token not in (0, _OPENS):
            signs.append(token)
    return values[-1]


def shape_of(operations: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a shape in postfix, 1 for an operand and −1 for an operator; how many stand on the left is uniform.

    >>> [shape_of(2, np.random.default_rng(seed)) for seed in (0, 1)]
    [(1, 1, -1, 1, -1), (1, 1, 1, -1, -1)]
    """
    if not operations:
        return (1,)
    left = int(rng.integers(operations))
    return (*shape_of(left, rng), *shape_of(operations - 1 - left, rng), -1)


def compiled(text: str) -> list[int | str]:
    """Return the tokens of a program, in which letters are operands.

    Words are a small letter, one of + - * /, :P to name the value before it, and then P to refer to that.

    >>> compiled("a b + :P P *")
    ['a', 'b', -1, -101, -3]
    """
    tokens: list[int | str] = []
    named: dict[str, int] = {}
    for word in text.split():
        if word[0] == ":":
            named[word[1:]] = len(tokens) - 1
        elif word in named:
            tokens.append(-REFERENCE - (len(tokens) - named[word]))
        else:
            tokens.append(-1 - _SYMBOLS.index(word) if word in _SYMBOLS else word)
    return tokens


def steps(
    n: int, c: int | str, d: int | str, before: int | str, last: int | str, sign: int | str = -1
) -> list[int | str]:
    """Return the program of n steps from two terms to the next, c·(the last one) + d·(the one before it).

    The first two terms are `before` and `last`; the sign is −1 to add, −2 to subtract.

    >>> postfix(*steps(48, 1, 1, 1, 1))  # Fibonacci's 50th number, OEIS A000045
    12586269025
    """
    program = [before, last]
    for step in range(n):
        # A term is the last of the seven tokens of its step, so the one before stands 12 columns back. The first
        # two terms stand side by side: hence 6.
        program += [c, -REFERENCE - 2, -3, d, -REFERENCE - (12 if step else 6), -3, sign]
    return program
