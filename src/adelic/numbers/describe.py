"""Numbers as text: short ones for messages and displays; p-adic expansions as the paper writes them, …(12)(3)0.(16)."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, SupportsInt

from adelic.errors import DecodingError
from adelic.numbers import integers

_SHOWN_DIGITS = 40
_LONGEST_WORD = 300  # paths of files are shown as they are
_LONGEST_LINE = 1000


def describe(value: Any, longest: int = _SHOWN_DIGITS) -> str:
    """Return a value as text that fits an error message: long integers and texts are shortened.

    >>> describe(7), describe(10**10000), describe("x" * 100)
    ('7', '1000000…000 (10001 digits)', "'xxxxxxxxxxxxxxxxxxxx…'")
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return _describe_integer(value)
    if isinstance(value, Fraction):
        n = _describe_integer(value.numerator)
        return n if value.denominator == 1 else f"{n}/{_describe_integer(value.denominator)}"
    text = " ".join(repr(value).split())  # errors are one line
    quote = text[0] if text[0] in ("'", '"') else ""
    return text if len(text) <= longest else f"{text[: longest // 2 + 1]}…{quote}"


def shortened(text: str) -> str:
    """Return a text without quotes, cut as by `describe`.

    >>> shortened("x" * 100)
    'xxxxxxxxxxxxxxxxxxxxx…'
    """
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_DIGITS else f"{line[: _SHOWN_DIGITS // 2 + 1]}…"


def one_line(text: str) -> str:
    """Return a message in one line, without long words or an endless whole, whatever its author quoted in it.

    >>> one_line("no such file: " + "x" * 1000)
    'no such file: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (1000 characters)'
    """
    words = [
        word if len(word) <= _LONGEST_WORD else f"{word[:_SHOWN_DIGITS]}… ({len(word)} characters)"
        for word in text.split()
    ]
    line = " ".join(words)
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 2 :]}"


def number_text(q: int | Fraction) -> str:
    """Return all decimal digits of a number, and of its denominator.

    >>> number_text(Fraction(-1, 2)), number_text(3), len(number_text(Fraction(10**5000)))
    ('-1/2', '3', 5001)
    """
    n = integers.text(q.numerator)
    return n if q.denominator == 1 else f"{n}/{integers.text(q.denominator)}"


def _describe_integer(n: int) -> str:
    # str() refuses integers of more than 4,300 digits, and errors are about such ones, too.
    text = integers.text(abs(n))
    sign = "-" if n < 0 else ""
    return f"{sign}{text}" if len(text) <= _SHOWN_DIGITS else f"{sign}{text[:7]}…{text[-3:]} ({len(text)} digits)"


def at_position(position: Sequence[SupportsInt]) -> str:
    """Return " at position [1, 2]", or nothing for a scalar.

    >>> at_position((1, 2)), at_position(())
    (' at position [1, 2]', '')
    """
    return f" at position {[int(i) for i in position]}" if position else ""


def _digit_text(digit: int, p: int) -> str:
    """Return a digit as one character, or in brackets if digits of two figures occur (p > 10)."""
    return str(digit) if p <= 10 else f"({digit})"


def expansion_text(digits: Sequence[int], p: int, fractional_digits: int = 0, *, terminates: bool = False) -> str:
    """Return known digits, most significant first, as a p-adic expansion.

    The last `fractional_digits` come after the point. With `terminates` all digits further left are zero, so
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
    """A p-adic expansion: digits, most significant first, how many come after the point, and whether it ends there."""

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
