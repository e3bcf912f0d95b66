"""Numbers that a user gives: checked, and shown in messages."""

import operator
import re

import numpy as np

from adelic.errors import ConfigurationError

GIBIBYTE = 1 << 30
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and the substitutes of bytes that are not UTF-8."""


def whole_number(value: object) -> int | None:
    """Return value as an int if it is of an integer type (NumPy's included) and not a bool, else None.

    >>> whole_number(8), whole_number(True), whole_number(8.0), whole_number("8")
    (8, None, None, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def check_count(name: str, value: object, *, least: int = 1, greatest: int) -> int:
    """Return a value as an int; ConfigurationError unless it is a whole number between two bounds, both included.

    >>> check_count("n-layers", 10**6, greatest=10_000)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: n-layers=1000000 must be a whole number from 1 to 10,000
    """
    number = whole_number(value)
    if number is None or not least <= number <= greatest:
        bounds = f" from {least} to {greatest:,}" if number is not None or least > -(1 << 63) else ""
        raise ConfigurationError(f"{name}={shown(value)} must be a whole number{bounds}")
    return number


def check_seed(seed: object) -> int:
    """Return the seed as an int; ConfigurationError unless 0 <= seed < 2**63."""
    number = whole_number(seed)
    if number is None or not 0 <= number < 1 << 63:
        raise ConfigurationError(f"seed must be a whole number from 0 to 2**63 - 1, not {shown(seed)}")
    return number


def check_text(name: str, value: str) -> None:
    r"""Raise `ConfigurationError` for a text that files of runs do not hold: it could not be read again.

    >>> check_text("the class", "a\tb")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: the class 'a\tb' has a control character, or is not UTF-8; rename it
    """
    if CONTROL.search(value):
        raise ConfigurationError(f"{name} {shown(value)} has a control character, or is not UTF-8; rename it")


def shown(value: object) -> str:
    """Return a short text for an error message: repr, with huge integers by their size and long texts cut.

    >>> shown(-3), shown(10**5000), shown("8")
    ('-3', 'about 10**5000', "'8'")
    """
    if isinstance(value, int) and value.bit_length() > 64:
        digits = round(value.bit_length() * 0.30103)  # log10(2); str() of a huge int would fail or hang
        return f"about {'-' if value < 0 else ''}10**{digits}"
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())  # an array's repr has many lines
    except ValueError:  # a container that holds a huge int
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
