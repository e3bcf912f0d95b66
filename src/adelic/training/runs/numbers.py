"""Numbers of tables that a model cannot read: told with the column and the line where they stand."""

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from adelic.data.sources import TableData
from adelic.data.tables import read_table
from adelic.data.tables.making import place_of
from adelic.errors import PrecisionError, RangeError
from adelic.numbers.primes import valuation
from adelic.training.experiment import Experiment
from adelic.training.models import Classical

_FLOAT64 = Fraction(sys.float_info.max)
_FLOAT32 = Fraction(float(np.finfo(np.float32).max))
_RAW = ("digits", "standardized")
"""The forms of AOE whose real value is a float32 as it is; others take its logarithm."""


def check_numbers(
    experiment: Experiment, numbers: Sequence[int | Fraction], columns: Sequence[str], frame: Any = None
) -> None:
    r"""Raise where the model of an experiment on a table reads numbers as floats that do not hold one of them.

    Args:
        experiment: the run; on other data than a table nothing is checked.
        numbers: those that are to be read.
        columns: where they stand.
        frame: the table where they stand, as for `from_table`; that of the run if left out.

    Raises:
        RangeError: a number is too large.
        PrecisionError: a number of another table has more digits after the point, at a prime, than the run has.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from adelic.training import RandomSearch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("a,y\n1e400,p", encoding="utf-8")
    ...     data = TableData(str(path), target="y")
    ...     trees = Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch())
    ...     check_numbers(trees, [10**400], ["a"])
    Traceback (most recent call last):
    adelic.errors.RangeError: column 'a' has 1000000…000 (401 digits) in row 1 (line 2), beyond the largest float
    (1.8e308) that trees reads; scale the numbers, or train a network with --embedding adelic --coordinates p-adic
    """
    if not isinstance(experiment.data, TableData):
        return
    table = experiment.data.path

    def place(q: int | Fraction) -> str:
        return place_of(read_table(table) if frame is None else frame, columns, q)

    largest = _largest_float(experiment)
    for q in numbers:
        if largest is not None and abs(Fraction(q)) > largest:
            raise RangeError(
                f"{place(q)}, beyond the largest float ({float(largest):.2g}) that {experiment.model.name} reads; "
                "scale the numbers, or train a network with --embedding adelic --coordinates p-adic"
            )
    if frame is None or not experiment.is_network:
        return
    embedding = experiment.embedding
    for q in numbers:
        needed = max((valuation(q.denominator, p) for p in embedding.primes or ()), default=0)
        if needed > (embedding.fractional_digits or 0):
            raise PrecisionError(
                f"{place(q)}, which needs {needed} digit{'s' * (needed != 1)} after the point, and the run has "
                f"{embedding.fractional_digits}; train another one with --fractional-digits {needed}"
            )


def _largest_float(experiment: Experiment) -> Fraction | None:
    """Return the largest number that a model can read as a float; None where it reads none as a float."""
    if isinstance(experiment.model, Classical):
        return None if experiment.model.name == "lookup" else _FLOAT64
    embedding = experiment.embedding
    if embedding.name == "adelic" and embedding.coordinates != "p-adic":
        return _FLOAT32 if embedding.places is None and embedding.features in _RAW else _FLOAT64
    return _FLOAT64 if embedding.name in ("xval", "periodic") else None
