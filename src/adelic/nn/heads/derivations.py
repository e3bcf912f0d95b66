"""Derivations: from an operation and its numbers to the exact value, and to the text that says them."""

from collections.abc import Sequence
from typing import Any

from adelic.nn.heads.exact import BINARY, COPY, UNARY, Operation
from adelic.numbers.describe import describe, number_text

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
    texts = [_shown(q) for q in numbers]
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
