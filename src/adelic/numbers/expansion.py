"""p-adic expansions as text, in the paper's notation: …11011, 1.2, …(12)(3)0.(16)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from adelic.errors import DecodingError
from adelic.numbers.describe import describe


def _digit_text(digit: int, p: int) -> str:
    """Return a digit as one character, or in brackets where digits of two figures occur (p > 10)."""
    return str(digit) if p <= 10 else f"({digit})"


def expansion_text(digits: Sequence[int], p: int, fractional_digits: int = 0, *, terminates: bool = False) -> str:
    """Return known digits, most significant first, as a p-adic expansion.

    The last `fractional_digits` stand after the point. With `terminates` all digits further left are zero, so that
    leading zeros and "…" are left out.

    >>> expansion_text([1, 1, 0, 1, 1], 2), expansion_text([0, 0, 1, 2], 5, 1, terminates=True)
    ('…11011', '1.2')
    >>> expansion_text([16, 0, 3], 17, 1)
    '…(16)(0).(3)'
    """
    cut = len(digits) - fractional_digits
    whole, fraction = list(digits[: max(cut, 0)]), list(digits[max(cut, 0) :])
    if terminates:
        whole = whole[next((i for i, d in enumerate(whole[:-1]) if d), len(whole) - 1) :] if whole else whole
    while whole and fraction and fraction[-1] == 0:
        del fraction[-1]
    text = ("" if terminates else "…") + "".join(_digit_text(d, p) for d in whole)
    if fraction:
        text += "." + "?" * max(-cut, 0) + "".join(_digit_text(d, p) for d in fraction)
    return text


class Expansion(NamedTuple):
    """A p-adic expansion: digits, most significant first, how many stand after the point, and whether it ends there."""

    digits: list[int]
    fractional_digits: int
    terminates: bool


def parse_expansion(text: str, p: int) -> Expansion:
    """Return an expansion that is written as by `expansion_text`; one that does not start with "…" ends: zeros follow.

    >>> parse_expansion("…00001.2", 5)
    Expansion(digits=[0, 0, 0, 0, 1, 2], fractional_digits=1, terminates=False)
    >>> parse_expansion("(16)(0).(3)", 17)
    Expansion(digits=[16, 0, 3], fractional_digits=1, terminates=True)
    """
    stripped = text.strip()
    body = stripped.removeprefix("…").removeprefix("...")
    whole, _, fraction = body.partition(".")
    try:
        parts = [_parse_digits(part, p) for part in (whole, fraction)]
        if not any(parts):
            raise ValueError(text)
    except ValueError:
        raise DecodingError(
            f"{describe(text)} is not a {describe(p)}-adic expansion; write digits below {p}"
            + (" in brackets, as …(12)(0)(3)" if p > 10 else ", as …11011 or …0001.2")
        ) from None
    return Expansion(parts[0] + parts[1], len(parts[1]), terminates=body == stripped)


def _parse_digits(text: str, p: int) -> list[int]:
    """Return digits written as by `_digit_text`; ValueError if they are not."""
    if not re.fullmatch(r"(\([0-9]+\))*" if p > 10 else "[0-9]*", text):
        raise ValueError(text)
    digits = [int(digit) for digit in re.findall("[0-9]+" if p > 10 else "[0-9]", text)]
    if any(digit >= p for digit in digits):
        raise ValueError(text)
    return digits
