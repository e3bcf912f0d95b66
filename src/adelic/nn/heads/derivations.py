"""Derivations: from an operation and its numbers to the exact value, and to the text that says them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.nn.heads.exact import BINARY, COMMUTATIVE, COPY, UNARY, Operation
from adelic.numbers.describe import describe, number_text

Choice = tuple[Any, ...]
"""An operation's name and what it takes: the index of a number, or, in a second step, the choice of the first one."""


class WrittenNumbers(NamedTuple):
    """The most probable numbers, and how they came about; arrays (k,).

    Attributes:
        values: `Fraction`, or None where nothing can be written.
        derivations: texts such as "12.5 × 8"; a number alone that is copied; "free" where another head says it.
        probabilities: float64, of all derivations of the value together, among those that were looked at.
        choices: (operation, i, j), the most probable derivation: i and j say which of the numbers that were given, the
            constants after these; ("copy", i, None) and ("abs", i, None) have one; None where nothing can be written.
            In a second step i or j is the first one's choice: ("*", ("+", 0, 1), 2).

    >>> from adelic.nn import OperationHead, exact_numbers
    >>> import torch
    >>> head = OperationHead(4, operations=(), constants=())
    >>> written = head.decode(head(torch.zeros(1, 4), torch.zeros(1, 1, 4), exact_numbers([[7]])))
    >>> written.values, written.derivations, written.probabilities, written.choices
    (array([Fraction(7, 1)], dtype=object), array(['7'], dtype=object), array([1.]), [('copy', 0, None)])
    """

    values: npt.NDArray[np.object_]
    derivations: npt.NDArray[np.object_]
    probabilities: npt.NDArray[np.float64]
    choices: list[Choice | None]


_DECIMALS = 13
"""A number with fewer decimals is written as a decimal."""


def operation(name: str) -> Operation:
    """Return an operation by its name, "copy" among them.

    >>> operation("gcd").text
    'gcd({a}, {b})'
    """
    return COPY if name == "copy" else UNARY.get(name) or BINARY[name]


def exact_value(name: str, numbers: Sequence[Any]) -> Any:
    """Return the exact value of a derivation, a `Fraction`.

    >>> from fractions import Fraction
    >>> exact_value("*", [Fraction(25, 2), Fraction(8)])
    Fraction(100, 1)
    """
    return type(numbers[0])(operation(name).exact(*numbers))


def derivation_text(name: str, numbers: Sequence[Any]) -> str:
    """Return how a derivation is written; "free" for what another head says.

    >>> from fractions import Fraction
    >>> derivation_text("-", [Fraction(1, 3), Fraction(-5, 4)]), derivation_text("gcd", [Fraction(6), Fraction(4)])
    ('1/3 − (−1.25)', 'gcd(6, 4)')
    """
    if name == "free":
        return name
    return _text(name, [_shown(q) for q in numbers])


def choice_value(choice: Choice, numbers: Sequence[Any]) -> Any:
    """Return the exact value of an operation and the indices of its numbers, or, instead of one, a choice again.

    >>> from fractions import Fraction
    >>> numbers = [Fraction(3), Fraction(5), Fraction(2)]
    >>> choice_value(("copy", 2, None), numbers), choice_value(("*", ("+", 0, 1), 2), numbers)
    (Fraction(2, 1), Fraction(16, 1))
    """
    name, *operands = choice
    return exact_value(
        name, [choice_value(i, numbers) if isinstance(i, tuple) else numbers[i] for i in operands if i is not None]
    )


def choice_text(choice: Choice, numbers: Sequence[Any]) -> str:
    """Return how such a choice is written.

    >>> from fractions import Fraction
    >>> choice_text(("*", ("+", 0, 1), 2), [Fraction(3), Fraction(5), Fraction(-2)])
    '(3 + 5) × (−2)'
    """
    name, *operands = choice
    if name == "free":
        return str(name)
    texts = [
        f"({choice_text(i, numbers)})" if isinstance(i, tuple) else _shown(numbers[i])
        for i in operands
        if i is not None
    ]
    return _text(name, texts)


def ordered(choice: Choice) -> Choice:
    """Return a choice whose operations, where they commute, take their numbers in the order of the text.

    >>> ordered(("*", 2, ("+", 1, 0))), ordered(("-", 2, 1)), ordered(("copy", 2, None))
    (('*', ('+', 0, 1), 2), ('-', 2, 1), ('copy', 2, None))
    """
    name, *operands = choice
    operands = [ordered(i) if isinstance(i, tuple) else i for i in operands]
    return (name, *(sorted(operands, key=_first) if name in COMMUTATIVE else operands))


def _first(operand: int | Choice) -> int:
    return min(map(_first, operand[1:])) if isinstance(operand, tuple) else operand


def placed(choice: Choice, positions: Sequence[int]) -> Choice:
    """Return a choice with other indices, the positions of its own.

    >>> placed(("*", ("+", 0, 1), 2), [7, 8, 9])
    ('*', ('+', 7, 8), 9)
    """
    name, *operands = choice
    return (
        name,
        *(placed(i, positions) if isinstance(i, tuple) else i if i is None else positions[i] for i in operands),
    )


def _text(name: str, texts: Sequence[str]) -> str:
    if name in ("+", "-", "*", "/", "**"):  # other operations write brackets or bars around
        texts = [f"({text})" if text.startswith("−") else text for text in texts]
    return operation(name).text.format(**dict(zip("ab", texts, strict=False)))


def _shown(q: Any) -> str:
    """Return a number, as a decimal where that is short."""
    power = next((k for k in range(_DECIMALS) if 10**k % q.denominator == 0), None)
    if not power:
        return describe(q, 60).replace("-", "−")
    digits = number_text(abs(q.numerator) * (10**power // q.denominator)).zfill(power + 1)
    return ("−" if q < 0 else "") + f"{digits[:-power]}.{digits[-power:]}"
