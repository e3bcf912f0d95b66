"""Data sets made of columns: tokens, targets, and three parts."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.protocol import Rows
from adelic.data.splits import SPLITS, TEST, TRAIN, VALIDATION, part_sizes, split_orbits
from adelic.data.symmetries import Integers, orbits
from adelic.data.tables.columns import Coded, columns_of
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers.describe import describe
from adelic.storage.checks import check_seed
from adelic.storage.provenance import versions

ANSWERS = ("classes", "number")
"""What a target can be."""
MOST_CLASSES = 100
"""Whole numbers with at most this many different values are classes, unless the user says that they are numbers."""
MOST_NUMBERS = 1 << 20
"""How many different numbers the columns may have: each gets a row of the embedding's table."""
PART_NAMES = {"train": TRAIN, "validation": VALIDATION, "valid": VALIDATION, "val": VALIDATION, "dev": VALIDATION}
PART_NAMES |= {"test": TEST}
"""What a column of parts may say."""
_BOUND = 1 << 62


def from_table(
    frame: Any,
    *,
    target: str,
    columns: Sequence[str] | str | None = None,
    split: str = "random",
    groups: str | None = None,
    answer: str | None = None,
    seed: int = 0,
    name: str = "table",
) -> Dataset:
    """Return a table as a data set.

    Args:
        frame: a pandas or polars DataFrame, a pyarrow Table, or a mapping from column names to values.
        target: the column that is predicted.
        columns: the number columns, in the order of tokens, or one of them; by default all others.
        split: "random" (80 % train, of which a tenth validates; of classes each in proportion), or the column that says
            train, validation or test. If no row says validation, a twelfth of train validates.
        groups: a column; rows of equal value stay in one part, as the visits of one customer.
        answer: "classes" or "number". By default text, true and false and whole numbers of at most 100 different values
            are classes, and other whole numbers are numbers.
        seed: of what is drawn.
        name: of the table, for labels.

    Raises:
        UnknownNameError: there is no such column.
        ConfigurationError: a value is missing or not a number, the target has one value only or is not a whole number,
            or a part is empty.

    >>> frame = {"x": range(100), "half": [x // 2 for x in range(100)], "odd": [bool(x % 2) for x in range(100)]}
    >>> d = from_table(frame, target="odd", groups="half", columns=["x"])
    >>> d.X_train.shape, d.X_validation.shape, d.X_test.shape
    ((72, 1), (8, 1), (20, 1))
    """
    found = columns_of(frame)
    columns = [columns] if isinstance(columns, str) else columns
    for wanted in (target, *(columns or ()), *([] if split == "random" else [split]), *([groups] if groups else [])):
        if wanted not in found:
            raise UnknownNameError.of("column", wanted, found)
    used = [c for c in found if c not in (target, split, groups)] if columns is None else list(dict.fromkeys(columns))
    if not used or target in used:
        raise ConfigurationError(f"there is no column to predict {target!r} from; columns: {', '.join(found)}")
    return _dataset(
        {column: found[column] for column in used},
        found[target],
        target=target,
        parts=None if split == "random" else Coded.of(split, found[split]),
        groups=None if groups is None else Coded.of(groups, found[groups]),
        answer=answer,
        seed=seed,
        about={"task": name, "split": split, "title": f"{target} from {', '.join(used)}"},
    )


def from_arrays(
    X: Any,
    y: Any,
    *,
    split: str | Sequence[str] = "random",
    groups: Sequence[Hashable] | None = None,
    answer: str | None = None,
    seed: int = 0,
    name: str = "arrays",
) -> Dataset:
    """Return rows of numbers and their targets as a data set.

    Args:
        X: rows of numbers, (rows, length): an array, or a list of lists.
        y: a target for each row, (rows,).
        split: "random", or train, validation or test for each row, (rows,).
        groups: rows of equal value stay in one part, (rows,).
        answer: as for `from_table`, as are the errors.
        seed: of what is drawn.
        name: of the data, for labels.

    >>> from_arrays([[x, x * x] for x in range(50)], [x % 3 for x in range(50)]).X_test.shape
    (9, 2)
    """
    if isinstance(split, str) and split != "random":
        raise ConfigurationError(f"split={split!r} must be 'random', or say train, validation or test for each row")
    try:
        rows = [list(row) for row in X]
    except TypeError:
        raise ConfigurationError(f"X must be rows of numbers, (rows, length), not {describe(X)}") from None
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not max(lengths):
        raise ConfigurationError(f"X must be rows of one length, at least 1, not of {sorted(lengths) or 'none'}")
    return _dataset(
        {f"x{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))},
        list(y),
        target="y",
        parts=None if isinstance(split, str) else Coded.of("split", split),
        groups=None if groups is None else Coded.of("groups", groups),
        answer=answer,
        seed=seed,
        about={"task": name, "split": "random" if isinstance(split, str) else "given", "title": "y from X"},
    )


def _dataset(
    columns: Mapping[str, Sequence[Any]],
    answers: Sequence[Any],
    *,
    target: str,
    parts: Coded | None,
    groups: Coded | None,
    answer: str | None,
    seed: int,
    about: dict[str, Any],
) -> Dataset:
    """Return the data set of some columns."""
    seed = check_seed(seed)
    if answer is not None and answer not in ANSWERS:
        raise UnknownNameError.of("answer", answer, ANSWERS)
    n_rows = len(next(iter(columns.values())))
    if not n_rows:
        raise ConfigurationError("the table has no rows")
    asked = Coded.of(target, answers)
    for what, column in (("y", asked), ("split", parts), ("groups", groups)):
        if column is not None and len(column.codes) != n_rows:
            raise ConfigurationError(f"{what} has {len(column.codes)} values for {n_rows} rows")
    X, vocabulary, is_coded = _tokens(columns)
    y, class_names = _targets(asked, target, answer)
    rng = np.random.default_rng(seed)
    rows = Rows(X, y, groups=None if groups is None else groups.codes)
    if parts is None:
        of_row = _drawn(rows, rng, stratify=class_names is not None)
    else:
        of_row = _given(parts, rows, rng, stratify=class_names is not None)
    counts = part_sizes(of_row)
    if not all(counts.values()):
        empty = next(part for part, count in counts.items() if not count)
        different = len(np.unique(X, axis=0))
        raise ConfigurationError(
            f"{different:,} different rows of {len(y):,} are too few: the part {empty} is empty; add rows, or a column "
            "that says train, validation or test"
        )
    content = [
        X.tobytes(),
        y.tobytes(),
        of_row.tobytes(),
        repr((vocabulary, class_names, X.shape, X.dtype.str)).encode(),
    ]
    provenance = {
        **about,
        "n": None,
        "edition": None,
        "seed": seed,
        "columns": list(columns),
        "target": target,
        "rows": counts,
        "sha256": hashlib.sha256(b"".join(content)).hexdigest(),
        "versions": versions("numpy"),
    }
    return Dataset.of(
        rows,
        of_row,
        class_names=class_names,
        vocabulary=vocabulary,
        provenance=provenance,
        symmetries={},
        is_coded=is_coded,
    )


def _tokens(columns: Mapping[str, Sequence[Any]]) -> tuple[Integers, tuple[int | Fraction, ...], bool]:
    """Return tokens (rows, columns), the numbers that occur, and whether tokens are their positions."""
    coded = {name: Coded.of(name, values) for name, values in columns.items()}
    numbers: dict[str, list[Fraction]] = {}
    for name, column in coded.items():
        found = column.numbers()
        if found is None:
            row, value = column.first_that_is_no_number()
            raise ConfigurationError(
                f"column {name!r} has {describe(value)} in row {row} (counted from 0), which is not a number; leave "
                "the column out, or write numbers for its values"
            )
        numbers[name] = found
    vocabulary = sorted(set().union(*numbers.values()))
    if len(vocabulary) > MOST_NUMBERS:
        raise ConfigurationError(
            f"the columns have {len(vocabulary):,} different numbers; at most {MOST_NUMBERS:,} are possible: round "
            "them, or leave columns out"
        )
    is_coded = any(q.denominator != 1 or abs(q) >= _BOUND for q in vocabulary)
    position = {number: i for i, number in enumerate(vocabulary)}
    X = np.stack(
        [
            np.array([position[q] if is_coded else int(q) for q in numbers[name]], np.int64)[column.codes]
            for name, column in coded.items()
        ],
        axis=1,
    )
    least, greatest = X.min(), X.max()
    kinds = (np.int8, np.int16, np.int32, np.int64)
    dtype = next(k for k in kinds if np.iinfo(k).min <= least and greatest <= np.iinfo(k).max)
    return X.astype(dtype), tuple(q if q.denominator != 1 else int(q) for q in vocabulary), is_coded


def _targets(column: Coded, name: str, answer: str | None) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Return the targets, (rows,), and the names of the classes if they are classes."""
    numbers = None if all(isinstance(value, bool | np.bool_) for value in column.values) else column.numbers()
    whole = numbers is not None and all(q.denominator == 1 and abs(q) < _BOUND for q in numbers)
    if answer is None:
        distinct = len(set(numbers)) if numbers is not None else 0
        answer = "classes" if numbers is None or (whole and distinct <= MOST_CLASSES) else "number"
    if answer == "number":
        if numbers is None or not whole:
            bad = column.first_that_is_no_number()[1] if numbers is None else _first_broken(column, numbers)
            raise ConfigurationError(
                f"the target {name!r} has {describe(bad)}; a number that is predicted is whole and below 2**62: "
                "multiply the column by a power of ten, or predict classes"
            )
        return np.array([int(q) for q in numbers], np.int64)[column.codes], None
    values = column.values if numbers is None else numbers
    named = sorted({(value if numbers is not None else 0, str(value)) for value in values})
    position = {text: i for i, (_, text) in enumerate(named)}
    if len(position) < 2:
        raise ConfigurationError(f"the target {name!r} is {named[0][1]!r} in every row; there is nothing to learn")
    codes = np.array([position[str(value)] for value in values], np.int64)
    return codes[column.codes], tuple(position)


def _first_broken(column: Coded, numbers: list[Fraction]) -> Any:
    return next(v for v, q in zip(column.values, numbers, strict=True) if q.denominator != 1 or abs(q) >= _BOUND)


def _drawn(rows: Rows, rng: np.random.Generator, *, stratify: bool) -> NDArray[np.int8]:
    """Return a part for each row, the same for equal rows; of each class in proportion, if classes are large enough."""
    of_content = orbits(rows.X, rows.y, {})
    of_row = split_orbits(rows, of_content, rng, stratify=stratify)
    is_whole = set(of_row.tolist()) == {TRAIN, VALIDATION, TEST}
    return of_row if is_whole else split_orbits(rows, of_content, rng, stratify=False)


def _given(column: Coded, rows: Rows, rng: np.random.Generator, *, stratify: bool) -> NDArray[np.int8]:
    """Return the part of each row as a column says; if no row says validation, a twelfth of train validates."""
    for value in column.values:
        if value not in PART_NAMES:
            raise UnknownNameError.of("part", str(value), SPLITS, listed="a split's column says")
    of_row = np.array([PART_NAMES[value] for value in column.values], np.int8)[column.codes]
    if not np.any(of_row == VALIDATION):
        inside = np.flatnonzero(of_row == TRAIN)
        part = Rows(rows.X[inside], rows.y[inside], groups=None if rows.groups is None else rows.groups[inside])
        of_row[inside[_drawn(part, rng, stratify=stratify) == VALIDATION]] = VALIDATION
    return of_row
