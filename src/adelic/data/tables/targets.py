"""Targets of tables: classes, or whole numbers."""

import math
import warnings
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.tables.columns import Coded
from adelic.errors import ConfigurationError
from adelic.numbers.describe import describe, number_text

ANSWERS = ("classes", "number")
"""What a target can be."""
MOST_CLASSES = 100
"""Whole numbers with at most this many different values are classes, unless the user says that they are numbers."""
_BOUND = 1 << 62


def targets_of(
    column: Coded, answer: str | None, *, lossy: str = "warn"
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Return the targets, (rows,), and the names of the classes if they are classes.

    `answer` is "classes" or "number"; None leaves it to the values. The name of a class is its text in the table; for
    numbers `lossy` is as for `from_table`. A ConfigurationError says that a value is missing, or as a number not whole
    or too large, that there is one class, or no class has two rows, or that without `answer` the numbers of classes are
    the same and their texts are not.

    >>> y, names = targets_of(Coded.of("kind", ["b", "a", "b"]), None)
    >>> y.tolist(), names
    ([1, 0, 1], ('a', 'b'))
    """
    column.refuse_spellings_of_no_value()
    numbers = None if all(isinstance(value, bool | np.bool_) for value in column.values) else column.numbers
    whole = numbers is not None and all(map(_is_whole, numbers))
    is_chosen = answer is not None
    if answer is None:
        distinct = len(set(numbers)) if numbers is not None else 0
        answer = "classes" if numbers is None or (whole and distinct <= MOST_CLASSES) else "number"
    if answer == "number":
        if numbers is None or not whole:
            raise _not_whole(column, numbers)
        column.check_lossy(lossy)
        return np.array([int(q) for q in numbers], np.int64)[column.codes], None
    texts = [_text(value) for value in column.values]
    if numbers is not None and not is_chosen:
        _refuse_two_spellings(column, numbers, texts)
    keys = numbers or [Fraction(0)] * len(texts)
    position = {text: i for i, (_, text) in enumerate(sorted(set(zip(keys, texts, strict=True))))}
    if len(position) < 2:
        raise ConfigurationError(f"the target {column.name!r} is {texts[0]!r} in every row; there is nothing to learn")
    codes = np.array([position[text] for text in texts], np.int64)[column.codes]
    _check_classes(column.name, np.bincount(codes), may_be_number=whole)
    return codes, tuple(position)


def _text(value: Any) -> str:
    """Return a value as the table writes it; of numbers all digits, where str() stops at 4,300."""
    is_number = isinstance(value, int | np.integer | Fraction) and not isinstance(value, bool)
    return number_text(value if isinstance(value, Fraction) else int(value)) if is_number else str(value)


def _refuse_two_spellings(column: Coded, numbers: list[Fraction], texts: list[str]) -> None:
    """Raise ConfigurationError where a number is written in two ways, as one class or two."""
    first: dict[Fraction, int] = {}
    for i, (number, text) in enumerate(zip(numbers, texts, strict=True)):
        other = first.setdefault(number, i)
        if texts[other] != text:
            raise ConfigurationError(
                f"the target {column.name!r} has {describe(texts[other])} in {column.first(column.values[other])} and "
                f"{describe(text)} in {column.first(column.values[i])}, which are one number; write it in one way, or, "
                "if these are two classes, take each text for a class (answer=classes)"
            )


def _is_whole(number: Fraction) -> bool:
    return number.denominator == 1 and abs(number) < _BOUND


def _not_whole(column: Coded, numbers: list[Fraction] | None) -> ConfigurationError:
    """Return the error of a target that is to be a number, and has another value, with what would do."""
    classes = "predict its values as classes (answer=classes)"
    if numbers is None:
        bad, remedy = column.first_that_is_no_number(), classes
    else:
        bad = next(value for value, q in zip(column.values, numbers, strict=True) if not _is_whole(q))
        common = reduce(lambda lcm, q: min(math.lcm(lcm, q.denominator), _BOUND), numbers, 1)
        remedy = f"divide or round the column, or {classes}"
        if common < _BOUND and max(abs(q) for q in numbers) * common < _BOUND:
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
