"""Data sets made of columns: tokens, targets, and three parts."""

import difflib
import hashlib
import re
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.protocol import Rows
from adelic.data.splits import SPLITS, TEST, TRAIN, VALIDATION, part_sizes, split_orbits
from adelic.data.symmetries import Integers, orbits
from adelic.data.tables.columns import Coded, columns_of, in_row, is_missing
from adelic.data.tables.files import FileColumns
from adelic.data.tables.targets import ANSWERS, targets_of
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers.describe import describe, number_text
from adelic.numbers.real import nearest_float
from adelic.storage.checks import check_seed
from adelic.storage.provenance import versions

MOST_NUMBERS = 1 << 20
"""How many different numbers the columns may have: each gets a row of the embedding's table."""
PART_NAMES = {"train": TRAIN, "validation": VALIDATION, "valid": VALIDATION, "val": VALIDATION, "dev": VALIDATION}
PART_NAMES |= {"test": TEST}
"""What a column of parts may say."""
LEAST_GROUPS = 6
"""With this number of groups of equal size each part has one."""
_BOUND = 1 << 62
_INDEX = re.compile(r"\s*|__index_level_\d+__|Unnamed: \d+")
"""Names of columns that hold the index of a pandas frame: in CSV, in Parquet, and in CSV that pandas has read again."""


def from_table(
    frame: Any,
    *,
    target: str,
    columns: Sequence[str] | str | None = None,
    split: str = "random",
    groups: str | None = None,
    answer: str | None = None,
    lossy: str = "warn",
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
        lossy: what becomes of a column of numbers with a float that is probably not the number that was meant (integers
            from 2^53 on, decimals of more than 15 digits), or with text such as "00501", whose zeros a number lacks:
            "warn" of the first one (LossyFloatWarning, LeadingZerosWarning), "error" (EncodingError) or "ignore".
        seed: of what is drawn.
        name: of the table, for labels.

    Raises:
        UnknownNameError: there is no such column, or a column of parts says something else.
        ConfigurationError: a value is missing or not a number, the target has one value only, another one in each row,
            or is not a whole number, or a part is empty; or without `columns` there is an index that pandas wrote.

    >>> frame = {"x": range(100), "half": [x // 2 for x in range(100)], "odd": [bool(x % 2) for x in range(100)]}
    >>> d = from_table(frame, target="odd", groups="half", columns=["x"])
    >>> d.X_train.shape, d.X_validation.shape, d.X_test.shape
    ((72, 1), (8, 1), (20, 1))
    """
    found = columns_of(frame)
    where = frame.where if isinstance(frame, FileColumns) else in_row
    used = _chosen(found, target, columns, split, groups)
    return _dataset(
        [Coded.of(column, found[column], where) for column in used],
        Coded.of(target, found[target], where),
        parts=None if split == "random" else Coded.of(split, found[split], where),
        groups=None if groups is None else Coded.of(groups, found[groups], where),
        answer=answer,
        lossy=lossy,
        seed=seed,
        about={"task": name, "split": split, "title": f"{target} from {', '.join(used)}"},
    )


def _chosen(found: Mapping[str, Sequence[Any]], target: Any, columns: Any, split: Any, groups: Any) -> list[str]:
    """Return the names of the number columns, after a check of all names that a caller gives."""
    listed = [columns] if isinstance(columns, str) else columns
    for option, wanted in (
        ("target", target),
        *(("columns", column) for column in listed or ()),
        *([] if split == "random" else [("split", split)]),
        *([] if groups is None else [("groups", groups)]),
    ):
        if not isinstance(wanted, str):
            only = "; a data set has one target" if option == "target" else ""
            raise ConfigurationError(f"{option}={describe(wanted)} must be the name of one column{only}")
        if wanted not in found:
            hint = f"; {option}={wanted} names a column: leave it out for none" if wanted.lower() == "none" else ""
            raise UnknownNameError(f"{UnknownNameError.of('column', wanted, found)}{hint}")
    used = [c for c in found if c not in (target, split, groups)] if listed is None else list(listed)
    if listed is None:
        _refuse_index(used)
    if target in used:
        raise ConfigurationError(f"columns={','.join(used)} has the target {target!r} among them; leave it out there")
    if len(set(used)) < len(used):
        twice = next(column for column in used if used.count(column) > 1)
        raise ConfigurationError(f"columns={','.join(used)} names {twice!r} twice; name each column once")
    if not used:
        raise ConfigurationError(f"there is no column to predict {target!r} from; columns: {', '.join(found)}")
    empty = [column for column in used if len(found[column]) and all(map(is_missing, found[column]))]
    if empty and (others := ",".join(column for column in used if column not in empty)):
        raise ConfigurationError(f"column {empty[0]!r} has no value in any row; leave it out: columns={others}")
    return used


def _refuse_index(columns: Sequence[str]) -> None:
    """Raise ConfigurationError for the number of the row, which pandas writes beside the columns."""
    others = ",".join(column for column in columns if not _INDEX.fullmatch(column))
    for column in columns:
        if _INDEX.fullmatch(column):
            raise ConfigurationError(
                f"the table has a column {column!r}, as pandas writes the number of the row; write it with "
                f"index=False, or name the number columns: columns={others or 'a,b'}"
            )


def from_arrays(
    X: Any,
    y: Any,
    *,
    split: str | Sequence[str] = "random",
    groups: Sequence[Hashable] | None = None,
    answer: str | None = None,
    lossy: str = "warn",
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
        lossy: as for `from_table`.
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
    targets = list(y)
    if getattr(y, "ndim", 1) != 1 or any(isinstance(value, list | tuple | np.ndarray) for value in targets):
        raise ConfigurationError(
            f"y must have one target for each row, (rows,), not {describe(targets[0])} for the first one; make a data "
            "set for each target"
        )
    return _dataset(
        [Coded.of(f"x{i}", column) for i, column in enumerate(zip(*rows, strict=True))],
        Coded.of("y", targets),
        parts=None if isinstance(split, str) else Coded.of("split", split),
        groups=None if groups is None else Coded.of("groups", groups),
        answer=answer,
        lossy=lossy,
        seed=seed,
        about={"task": name, "split": "random" if isinstance(split, str) else "given", "title": "y from X"},
    )


def _dataset(
    columns: Sequence[Coded],
    target: Coded,
    *,
    parts: Coded | None,
    groups: Coded | None,
    answer: str | None,
    lossy: str,
    seed: int,
    about: dict[str, Any],
) -> Dataset:
    """Return the data set of some columns."""
    seed = check_seed(seed)
    if answer is not None and answer not in ANSWERS:
        raise UnknownNameError.of("answer", answer, ANSWERS)
    n_rows = len(columns[0].codes)
    if not n_rows:
        raise ConfigurationError("the table has no rows")
    for what, column in (("y", target), ("split", parts), ("groups", groups)):
        if column is not None and len(column.codes) != n_rows:
            raise ConfigurationError(f"{what} has {len(column.codes)} values for {n_rows} rows")
    X, vocabulary, is_coded = _tokens(columns, lossy)
    y, class_names = targets_of(target, answer, lossy=lossy)
    rng = np.random.default_rng(seed)
    rows = Rows(X, y, groups=None if groups is None else groups.codes)
    if parts is None:
        of_row = _drawn(rows, rng, stratify=class_names is not None)
    else:
        of_row = _given(parts, rows, rng, stratify=class_names is not None)
    counts = part_sizes(of_row)
    if not all(counts.values()):
        raise _too_few(rows, groups, next(part for part, count in counts.items() if not count))
    content = [
        X.tobytes(),
        y.tobytes(),
        of_row.tobytes(),
        f"({_notation(vocabulary)}, {class_names!r}, {X.shape!r}, {X.dtype.str!r})".encode(),
    ]
    provenance = {
        **about,
        "n": None,
        "edition": None,
        "seed": seed,
        "columns": [column.name for column in columns],
        "target": target.name,
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


def _notation(vocabulary: Sequence[int | Fraction]) -> str:
    """Return repr() of a tuple of numbers, of any length: that of Python stops at 4,300 digits."""
    texts = [
        number_text(q) if isinstance(q, int) else f"Fraction({number_text(q.numerator)}, {number_text(q.denominator)})"
        for q in vocabulary
    ]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _too_few(rows: Rows, groups: Coded | None, empty: str) -> ConfigurationError:
    """Return the error of a table too small to be divided: one of its parts is empty."""
    remedy = "or a column that says train, validation or test"
    if groups is not None:
        count = len(groups.values)
        trouble = f"{count:,} groups, and at least {LEAST_GROUPS} are needed; add groups"
        if count >= LEAST_GROUPS:
            trouble = f"{count:,} groups of too unequal sizes; divide the largest ones"
        return ConfigurationError(f"column {groups.name!r} has {trouble}, {remedy} (the part {empty} is empty)")
    different = len(np.unique(rows.X, axis=0))
    return ConfigurationError(
        f"{different:,} different rows of {len(rows.y):,} are too few: the part {empty} is empty; add rows, {remedy}"
    )


def ids_of(
    frame: Any, columns: Sequence[str], vocabulary: Sequence[int | Fraction], *, lossy: str = "warn"
) -> tuple[NDArray[np.int64], tuple[Fraction, ...]]:
    """Return the rows of a table for a network: the places of numbers in a vocabulary, and behind it in new numbers.

    `frame` and `lossy` are as for `from_table`, but no target is needed. Places are (rows, columns); new numbers stand
    in the order in which they come. An UnknownNameError says that a column is missing, a ConfigurationError that a
    value is not a number, or that there are no rows.

    >>> ids_of({"a": [7, "1/2", 8]}, ["a"], vocabulary=(5, 7))
    (array([[1],
           [2],
           [3]]), (Fraction(1, 2), Fraction(8, 1)))
    """
    coded = _coded(frame, columns)
    if not len(coded[0].codes):
        raise ConfigurationError("the table has no rows")
    numbers = _numbers(coded, remedy="write a number there, or leave the row out", lossy=lossy)
    position = {Fraction(number): i for i, number in enumerate(vocabulary)}
    new = tuple(dict.fromkeys(q for listed in numbers for q in listed if q not in position))
    position |= {number: len(vocabulary) + i for i, number in enumerate(new)}
    ids = [
        np.array([position[q] for q in listed], np.int64)[column.codes]
        for column, listed in zip(coded, numbers, strict=True)
    ]
    return np.stack(ids, axis=1), new


def _coded(frame: Any, columns: Sequence[str]) -> list[Coded]:
    """Return some columns of a table."""
    found = columns_of(frame)
    where = frame.where if isinstance(frame, FileColumns) else in_row
    for column in columns:
        if column not in found:
            raise _lacking(column, found)
    return [Coded.of(column, found[column], where) for column in columns]


def _lacking(column: str, found: Mapping[str, Any]) -> UnknownNameError:
    """Return the error of new rows that lack a column of the run."""
    like = [name for name in found if name.strip().lower() == column.strip().lower()]
    near = like or difflib.get_close_matches(column, list(found), n=1)
    hint = f"; rename {near[0]!r}, if that is it" if near else ""
    return UnknownNameError(
        f"the new rows have no column {column!r}, which the run was trained on{hint}; their columns: {', '.join(found)}"
    )


def place_of(frame: Any, columns: Sequence[str], number: int | Fraction) -> str:
    """Return in words where a number stands first in some columns of a table.

    >>> place_of({"a": [1, 2], "b": ["3", "1/2"]}, ["a", "b"], Fraction(1, 2))
    "column 'b' has 1/2 in row 1 (counted from 0)"
    """
    for column in _coded(frame, columns):
        found = column.numbers or []
        if number in found:
            place = column.first(column.values[found.index(Fraction(number))])
            return f"column {column.name!r} has {describe(number)} in {place}"
    return f"the table has {describe(number)}"


def _numbers(columns: Sequence[Coded], *, remedy: str, lossy: str) -> list[list[Fraction]]:
    """Return the different numbers of each column; a value that is none is an error with a remedy."""
    numbers: list[list[Fraction]] = []
    for column in columns:
        found = column.numbers
        if found is None:
            value = column.first_that_is_no_number()
            raise ConfigurationError(
                f"column {column.name!r} has {describe(value)} in {column.first(value)}, which is not a "
                f"number; {remedy}"
            )
        column.check_lossy(lossy)
        numbers.append(found)
    return numbers


def _tokens(columns: Sequence[Coded], lossy: str) -> tuple[Integers, tuple[int | Fraction, ...], bool]:
    """Return tokens (rows, columns), the numbers that occur, and whether tokens are their positions."""
    others = ",".join(column.name for column in columns if column.numbers is not None)
    leave = f"leave the column out (columns={others}), or " if others else ""
    numbers = _numbers(columns, remedy=f"{leave}write numbers for its values", lossy=lossy)
    # By floats first: to compare two long fractions takes two long products.
    vocabulary = sorted(set().union(*numbers), key=lambda q: (nearest_float(q.numerator, q.denominator), q))
    if len(vocabulary) > MOST_NUMBERS:
        raise ConfigurationError(
            f"the columns have {len(vocabulary):,} different numbers; at most {MOST_NUMBERS:,} are possible: round "
            "them, or leave columns out"
        )
    is_coded = any(q.denominator != 1 or abs(q) >= _BOUND for q in vocabulary)
    position = {number: i for i, number in enumerate(vocabulary)}
    X = np.stack(
        [
            np.array([position[q] if is_coded else int(q) for q in found], np.int64)[column.codes]
            for column, found in zip(columns, numbers, strict=True)
        ],
        axis=1,
    )
    least, greatest = X.min(), X.max()
    kinds = (np.int8, np.int16, np.int32, np.int64)
    dtype = next(k for k in kinds if np.iinfo(k).min <= least and greatest <= np.iinfo(k).max)
    return X.astype(dtype), tuple(q if q.denominator != 1 else int(q) for q in vocabulary), is_coded


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
            unknown = UnknownNameError.of(
                "part", value if isinstance(value, str) else describe(value), SPLITS, listed="a column of parts says"
            )
            raise UnknownNameError(f"column {column.name!r}, {column.first(value)}: {unknown}")
    of_row = np.array([PART_NAMES[value] for value in column.values], np.int8)[column.codes]
    if not np.any(of_row == VALIDATION):
        inside = np.flatnonzero(of_row == TRAIN)
        part = Rows(rows.X[inside], rows.y[inside], groups=None if rows.groups is None else rows.groups[inside])
        # What is drawn for testing trains, too: with a fifth for that, a tenth of the rest is 8 %.
        of_row[inside[_drawn(part, rng, stratify=stratify) == VALIDATION]] = VALIDATION
    return of_row
