"""Fuzz the reader of text: `rationals.read` makes of a string what `fractions.Fraction` makes of it, or refuses too.

    python fuzz/parse.py -max_total_time=600

See fuzz/README.md. `check` needs no fuzzer; the tests run it over the seeds.
"""

import re
from fractions import Fraction

from harness import fuzz

from adelic import AdelicError
from adelic.numbers import rationals

_LONGEST = 300
_DIGITS_IN_EXPONENT = 3
_CHARACTERS = "0123456789./+-eE_ "


def check(data: bytes) -> bool:
    """Read bytes as text, assert that the result is right, and return whether it was a number.

    After a byte 0 each byte picks a character of those that numbers are written with: most texts are numbers then.
    """
    text = data[:_LONGEST].decode("utf-8", errors="replace")
    if data[:1] == b"\0":
        text = "".join(_CHARACTERS[byte % len(_CHARACTERS)] for byte in data[1:_LONGEST])
    try:
        numbers = rationals.read(text)
        found = int(numbers.numerators[0]), int(numbers.denominators[0])
    except AdelicError:
        found = None
    if _has_long_exponent(text):  # Fraction would fill the memory; reading has to refuse, or return soon
        return found is not None
    try:
        expected = Fraction(re.sub(r"\s*/\s*", "/", text)).as_integer_ratio()  # spaces as from Python 3.12 on
    except (ValueError, ZeroDivisionError):
        expected = None
    is_refused_exponent = found is None and "_" in text.lower().rpartition("e")[2]
    assert found == expected or is_refused_exponent, f"{text!r} is read as {found}, Fraction says {expected}"
    return found is not None


def _has_long_exponent(text: str) -> bool:
    _, _, exponent = text.lower().rpartition("e")
    return exponent != text.lower() and len(exponent.strip().strip("+-")) > _DIGITS_IN_EXPONENT


if __name__ == "__main__":
    fuzz(check, "parse")
