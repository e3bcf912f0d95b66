"""Numbers of tables that a model cannot read: told with the column and the line where they stand."""

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from adelic.data.sources import TableData
from adelic.errors import PrecisionError, RangeError
from adelic.numbers.primes import valuation
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import Classical

_FLOAT64 = int(sys.float_info.max)
_FLOAT32 = int(np.finfo(np.float32).max)
_RAW = ("digits", "standardized")
"""The forms of AOE whose real value is a float32 as it is; others take its logarithm."""


def check_numbers(
    experiment: Experiment, numbers: Sequence[int | Fraction], place: Callable[[Fraction], str] | None = None
) -> None:
    r"""Raise where the model of an experiment on a table reads numbers as floats that do not hold one of them.

    Args:
        experiment: the run; on other data than a table nothing is checked.
        numbers: those that are to be read.
        place: of numbers of another table, the words for where one stands.

    Raises:
        RangeError: a number is too large.
        PrecisionError: a number of another table has more digits after the point, at a prime, than the run has.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from adelic_lab.config.models import RandomSearch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("a,y\n1e400,p", encoding="utf-8")
    ...     data = TableData(str(path), target="y")
    ...     trees = Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch())
    ...     check_numbers(trees, [10**400])
    Traceback (most recent call last):
    adelic.errors.RangeError: column 'a' has 1000000…000 (401 digits) in row 1 (line 2), beyond the largest float
    (1.8e+308) that trees reads; scale the numbers, or train a network with --embedding adelic --coordinates p-adic
    """
    if not isinstance(experiment.data, TableData):
        return
    where = place or experiment.data.place_of
    largest = _largest_float(experiment)
    for q in numbers:
        # Of integers: a fraction for each of 10^6 numbers takes seconds.
        if largest is not None and abs(q.numerator) > largest * q.denominator:
            raise RangeError(
                f"{where(Fraction(q))}, beyond the largest float ({float(largest):.2g}) that "
                f"{experiment.model.name} reads; scale the numbers, or train a network with --embedding adelic "
                "--coordinates p-adic"
            )
    if place is None or not experiment.is_network:
        return
    embedding = experiment.embedding
    for q in numbers:
        needed = max((valuation(q.denominator, p) for p in embedding.primes or ()), default=0)
        if needed > (embedding.fractional_digits or 0):
            raise PrecisionError(
                f"{place(Fraction(q))}, which needs {needed} digit{'s' * (needed != 1)} after the point, and the run "
                f"has {embedding.fractional_digits}; train another one with --fractional-digits {needed}"
            )


def _largest_float(experiment: Experiment) -> int | None:
    """Return the largest number that a model can read as a float; None where it reads none as a float."""
    if isinstance(experiment.model, Classical):
        return None if experiment.model.name == "lookup" else _FLOAT64
    embedding = experiment.embedding
    if embedding.name == "adelic" and embedding.coordinates != "p-adic":
        return _FLOAT32 if embedding.places is None and embedding.features in _RAW else _FLOAT64
    return _FLOAT64 if embedding.name in ("xval", "periodic") else None
