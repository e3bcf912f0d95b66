"""Short texts of numbers and positions for error messages and displays."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, SupportsInt

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
    text = integers.text(abs(n))
    sign = "-" if n < 0 else ""
    return f"{sign}{text}" if len(text) <= _SHOWN_DIGITS else f"{sign}{text[:7]}…{text[-3:]} ({len(text)} digits)"


def at_position(position: Sequence[SupportsInt]) -> str:
    """Return " at position [1, 2]", or nothing for a scalar.

    >>> at_position((1, 2)), at_position(())
    (' at position [1, 2]', '')
    """
    return f" at position {[int(i) for i in position]}" if position else ""
