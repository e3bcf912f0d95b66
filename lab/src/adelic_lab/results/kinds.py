"""Kinds of values in a result, and the checks of values that are read from a file, which anybody may have written."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adelic.errors import ConfigurationError
from adelic.storage.checks import shown
from adelic.storage.records import DamagedTextError


@dataclass(frozen=True)
class Kind:
    """A kind of value in a result, such as a rate or a count.

    Attributes:
        words: its name in an error message.
        holds: whether a value of JSON is of this kind.
        all_hold: whether all values of a list are, where that is quicker to say than one by one: curves are long.
    """

    words: str
    holds: Callable[[Any], bool]
    all_hold: Callable[[list[Any]], bool] | None = None

    def or_null(self) -> "Kind":
        """Return the kind that may also be null."""
        return Kind(f"{self.words}, or null", lambda value: value is None or self.holds(value))

    def listed(self) -> "Kind":
        """Return the kind of lists of such values."""
        each = self.all_hold or (lambda values: all(map(self.holds, values)))
        return Kind(f"a list, each entry {self.words}", lambda value: type(value) is list and each(value))


def _between(words: str, types: set[type], least: float, greatest: float) -> Kind:
    """Return the kind of the numbers of some types between two bounds: no NaN, and no infinity."""

    def all_hold(values: list[Any]) -> bool:
        if not values:
            return True
        # min and max pass over a NaN that is not the first, and a sum does not.
        bounded = types.issuperset(map(type, values)) and least <= min(values) and max(values) <= greatest
        return bounded and math.isfinite(sum(values))

    return Kind(words, lambda value: type(value) in types and least <= value <= greatest, all_hold)


def _is_option(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_option, value))
    if type(value) is dict:
        return all(map(_is_option, value.values()))
    return NUMBER.holds(value) or type(value) is bool or TEXT.holds(value)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # and what stands for bytes that are not UTF-8
TEXT = Kind("a text without control characters", lambda v: type(v) is str and not _CONTROL.search(v))
FLAG = Kind("true or false", lambda v: type(v) is bool)
COUNT = _between("a whole number from 0 to 2**63 - 1", {int}, 0, (1 << 63) - 1)
_DIGITS_BY_PRIME = re.compile(r"[0-9]{1,20}:[0-9]{1,8}(,[0-9]{1,20}:[0-9]{1,8})*")
BY_PRIME = Kind(
    "a whole number from 0 to 2**63 - 1, or such numbers by prime, as 2:7,3:5",
    lambda v: COUNT.holds(v) or (type(v) is str and bool(_DIGITS_BY_PRIME.fullmatch(v))),
)
# Sums of 10^8 such numbers are finite, so that a sum that is not has a NaN; see `_between`.
_GREATEST = math.nextafter(1e300, 0)
NUMBER = _between("a finite number", {int, float}, -_GREATEST, _GREATEST)
AMOUNT = _between("a finite number from 0 on", {int, float}, 0, _GREATEST)
RATE = _between("a rate from 0 to 1", {int, float}, 0, 1)
TABLE = Kind("a table", lambda v: type(v) is dict)
OPTION = Kind("a number, a text, true or false, or a list or table of such", _is_option)
OPTIONS = Kind("a table of options", lambda v: type(v) is dict and _is_option(v))
TEXTS = Kind("a table of texts", lambda v: type(v) is dict and all(map(TEXT.holds, v.values())))
MATRIX = Kind(
    "a square matrix of whole numbers from 0 on",
    lambda v: COUNT.listed().listed().holds(v) and all(len(row) == len(v) > 0 for row in v),
)
METRICS = {"accuracy": RATE, "loss": NUMBER}
COUNTED = {"accuracy": RATE, "cases": COUNT, "correct": COUNT, "unanswered": COUNT}
CLASS_METRICS = {"balanced_accuracy": RATE, "macro_f1": RATE}
NUMBER_METRICS = {"exact_match": RATE, "mean_absolute_error": AMOUNT, "mean_squared_error": AMOUNT}
FIGURES = {**METRICS, **CLASS_METRICS, **NUMBER_METRICS}
CURVES = {"train_loss": NUMBER.listed(), "validation_loss": NUMBER.listed(), "validation_accuracy": RATE.listed()}
FURTHER_CURVES = {"learned_classes": COUNT.listed()}
RANGE = Kind(
    "two whole numbers, the lesser first",
    lambda v: type(v) is list and len(v) == 2 and all(type(x) is int and abs(x) < 1 << 62 for x in v) and v[0] <= v[1],
)


def check_all(part: Any, schema: dict[str, Any], prefix: str = "") -> None:
    """Raise `DamagedTextError` where a part of a result lacks a key or has a value of another kind."""
    if not isinstance(part, dict):
        raise DamagedTextError(f"{prefix.rstrip('.')} is not a table")
    for key, kind in schema.items():
        if key not in part:
            raise DamagedTextError(f"it has no {prefix}{key}")
        if isinstance(kind, dict):
            check_all(part[key], kind, f"{prefix}{key}.")
        else:
            check_kind(part[key], kind, f"{prefix}{key}")


def check_known(part: dict[str, Any], schema: dict[str, Any], prefix: str = "") -> None:
    """Raise `DamagedTextError` where a part of a result has a value of another kind; it may lack any key."""
    check_all(part, {key: kind for key, kind in schema.items() if key in part}, prefix)


def check_kind(value: Any, kind: Kind, name: str) -> None:
    """Raise `DamagedTextError` where a value is of another kind."""
    if not kind.holds(value):
        raise DamagedTextError(f"{name} is {shown(value)} instead of {kind.words}")


def check_text(name: str, value: str) -> None:
    r"""Raise `ConfigurationError` for a text that files of runs do not hold: it could not be read again.

    >>> check_text("the class", "a\tb")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: the class 'a\tb' has a control character, or is not UTF-8; rename it
    """
    if not TEXT.holds(value):
        raise ConfigurationError(f"{name} {shown(value)} has a control character, or is not UTF-8; rename it")
