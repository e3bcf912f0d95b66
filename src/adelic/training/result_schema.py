"""What a result holds: its keys, and of which kind their values are."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What a value of a result can be.

    Attributes:
        words: what it is, for an error message.
        holds: whether a value of JSON is of this kind.
    """

    words: str
    holds: Callable[[Any], bool]

    def or_null(self) -> "Kind":
        """Return the kind that may also be null."""
        return Kind(f"{self.words}, or null", lambda value: value is None or self.holds(value))

    def listed(self) -> "Kind":
        """Return the kind of lists of such values."""
        return Kind(
            f"a list, each entry {self.words}", lambda value: type(value) is list and all(map(self.holds, value))
        )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300  # no NaN, and no infinity


def _is_option(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_option, value))
    if type(value) is dict:
        return all(map(_is_option, value.values()))
    return _is_number(value) or type(value) is bool or TEXT.holds(value)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
TEXT = Kind("a text without control characters", lambda v: type(v) is str and not _CONTROL.search(v))
FLAG = Kind("true or false", lambda v: type(v) is bool)
COUNT = Kind("a whole number from 0 to 2**63 - 1", lambda v: type(v) is int and 0 <= v < 1 << 63)
NUMBER = Kind("a finite number", _is_number)
AMOUNT = Kind("a finite number from 0 on", lambda v: _is_number(v) and v >= 0)
RATE = Kind("a rate from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1)
TABLE = Kind("a table", lambda v: type(v) is dict)
OPTION = Kind("a number, a text, true or false, or a list or table of such", _is_option)
_TEXTS = Kind("a table of texts", lambda v: type(v) is dict and all(map(TEXT.holds, v.values())))
_MATRIX = Kind(
    "a square matrix of whole numbers from 0 on",
    lambda v: COUNT.listed().listed().holds(v) and all(len(row) == len(v) > 0 for row in v),
)
METRICS = {"accuracy": RATE, "loss": NUMBER}
CLASS_METRICS = {"balanced_accuracy": RATE, "macro_f1": RATE}
NUMBER_METRICS = {"exact_match": RATE, "mean_absolute_error": AMOUNT, "mean_squared_error": AMOUNT}
CURVES = {"train_loss": NUMBER.listed(), "validation_loss": NUMBER.listed(), "validation_accuracy": RATE.listed()}
SCHEMA: dict[str, Any] = {
    "task": TEXT,
    "n": COUNT.or_null(),
    "edition": TEXT.or_null(),
    "split": TEXT,
    "embedding": TEXT,
    "features": TEXT,
    "recipe": TEXT,
    "seed": COUNT,
    "test": METRICS,
    "majority": RATE,
    "lookup": RATE,
    "predicts_one_class": FLAG,
    "rows": {"train": COUNT, "validation": COUNT, "test": COUNT},
    "parameters": COUNT,
    "seconds": AMOUNT,
    "device": TEXT,
    "versions": _TEXTS,
    "commit": TEXT.or_null(),
    "command": TEXT,
    "configuration": {"recipe": TABLE},
    "history": CURVES,
}
"""What every result has at least: kinds of values, or tables of further keys."""
ALSO: dict[str, Any] = {
    "rule": RATE,
    "rule_name": TEXT,
    "contaminated": FLAG,
    "places": TEXT,
    "validation": {"accuracy": RATE, "loss": NUMBER},
    "confusion": _MATRIX,
    "class_names": TEXT.listed(),
    "labels": TEXT,
    "predictions": TEXT,
    "shape": COUNT.listed(),
    "range": Kind(
        "two whole numbers, the lesser first",
        lambda v: (
            type(v) is list and len(v) == 2 and all(type(x) is int and abs(x) < 1 << 62 for x in v) and v[0] <= v[1]
        ),
    ),
    "flops": COUNT.or_null(),
    "converged": FLAG.or_null(),
    "devices": COUNT,
    "nodes": COUNT,
    "search": {"seed": COUNT, "chosen": OPTION, "seconds": AMOUNT, "trials": TABLE.listed()},
    "data_sha256": TEXT,
}
"""What a result may have, too; older ones lack some."""
CONFIGURATION: dict[str, Any] = {
    "seed": COUNT,
    "data": {"task": TEXT},
    "embedding": {"name": TEXT},
}
EMBEDDING: dict[str, Any] = {
    **dict.fromkeys(("name", "features", "projection", "places", "coordinates", "bases"), TEXT),
    **dict.fromkeys(("precision", "fractional_digits"), COUNT),
    "primes": COUNT.listed(),
    **dict.fromkeys(("standardize", "published"), FLAG),
    "sigma": NUMBER,
}
RECIPE: dict[str, Any] = {
    **dict.fromkeys(("name", "schedule", "norm", "checkpoint", "positional", "pooling", "compute"), TEXT),
    **dict.fromkeys(("epochs", "trials", "batch_size", "max_rows", "warmup_steps"), COUNT),
    **dict.fromkeys(("d_model", "n_layers", "n_heads", "d_feedforward"), COUNT),
    **dict.fromkeys(("learning_rate", "sampling_power", "dropout"), NUMBER),
    "symmetries": FLAG,
    "searched": _TEXTS,
}
