"""Targets of tables: classes, or whole numbers."""

import math
import warnings
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from adelic.data.tables.columns import Coded
from adelic.errors import ConfigurationError
from adelic.numbers.describe import describe

ANSWERS = ("classes", "number")
"""What a target can be."""
MOST_CLASSES = 100
"""Whole numbers with at most this many different values are classes, unless the user says that they are numbers."""
_BOUND = 1 << 62


def targets_of(column: Coded, answer: str | None) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Return the targets, (rows,), and the names of the classes if they are classes.

    `answer` is "classes" or "number"; None leaves it to the values. A ConfigurationError says that a value is missing,
    or as a number not whole or too large, or that there is one class, or no class has two rows.

    >>> y, names = targets_of(Coded.of("kind", ["b", "a", "b"]), None)
    >>> y.tolist(), names
    ([1, 0, 1], ('a', 'b'))
    """
    column.refuse_spellings_of_no_value()
    numbers = None if all(isinstance(value, bool | np.bool_) for value in column.values) else column.numbers()
    whole = numbers is not None and all(map(_is_whole, numbers))
    if answer is None:
        distinct = len(set(numbers)) if numbers is not None else 0
        answer = "classes" if numbers is None or (whole and distinct <= MOST_CLASSES) else "number"
    if answer == "number":
        if numbers is None or not whole:
            raise _not_whole(column, numbers)
        return np.array([int(q) for q in numbers], np.int64)[column.codes], None
    values = column.values if numbers is None else numbers
    named = sorted({(value if numbers is not None else 0, str(value)) for value in values})
    position = {text: i for i, (_, text) in enumerate(named)}
    if len(position) < 2:
        raise ConfigurationError(
            f"the target {column.name!r} is {named[0][1]!r} in every row; there is nothing to learn"
        )
    codes = np.array([position[str(value)] for value in values], np.int64)[column.codes]
    _check_classes(column.name, np.bincount(codes), may_be_number=whole)
    return codes, tuple(position)


def _is_whole(number: Fraction) -> bool:
    return number.denominator == 1 and abs(number) < _BOUND


def _not_whole(column: Coded, numbers: list[Fraction] | None) -> ConfigurationError:
    """Return the error of a target that is to be a number, and has another value, with what would do."""
    classes = "predict its values as classes (answer=classes)"
    if numbers is None:
        bad, remedy = column.first_that_is_no_number(), classes
    else:
        bad = next(value for value, q in zip(column.values, numbers, strict=True) if not _is_whole(q))
        common = math.lcm(*(q.denominator for q in numbers))
        remedy = f"divide or round the column, or {classes}"
        if max(abs(q) for q in numbers) * common < _BOUND:
            power = next((10**k for k in range(1, 19) if 10**k % common == 0), None)
            fits = power is not None and max(abs(q) for q in numbers) * power < _BOUND
            remedy = f"multiply the column by {power if fits else common:,}, or {classes}"
    return ConfigurationError(
        f"the target {column.name!r} has {describe(bad)} in {column.first(bad)}; a number that is predicted is whole "
        f"and below 2**62: {remedy}"
    )


def _check_classes(name: str, counts: NDArray[np.int64], *, may_be_number: bool) -> None:
    """Refuse classes of which none has two rows, and warn where most have one: what is tested cannot be learned."""
    single = int(np.count_nonzero(counts == 1))
    instead = "name another target" + (", or predict it as a number (answer=number)" if may_be_number else "")
    if single == len(counts):
        raise ConfigurationError(
            f"the target {name!r} has another value in each of the {len(counts):,} rows, so that no class can be "
            f"learned and tested; {instead}"
        )
    if 2 * single > len(counts):
        warnings.warn(
            f"the target {name!r} has {len(counts):,} classes, of which {single:,} have one row: these cannot be both "
            f"learned and tested; {instead}, or leave these rows out",
            stacklevel=5,  # the caller of `from_table` or `from_arrays`
        )
