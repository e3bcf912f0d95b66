"""Tables of your own as data sets: columns to predict from, a target, and three parts.

>>> price, count = ["1/2", "0.25", 7, -1] * 15, list(range(60))
>>> d = from_table({"price": price, "count": count, "odd": ["no", "yes"] * 30}, target="odd")
>>> d.class_names, [str(q) for q in d.vocabulary[:5]], d.X_train.shape
(('no', 'yes'), ['-1', '0', '1/4', '1/2', '1'], (44, 2))

A column holds numbers of any kind that `AdeleSpace.encode` reads, fractions and decimals of any length included; a
float is the shortest decimal that names it (0.1 is 1/10); true and false are 1 and 0. Or it holds dates, or categories;
values may be missing (`adelic.data.kinds`). The target is a class, a whole number or a decimal. Equal rows are
always in one part.

May import `storage`, `numbers` and the rest of `data`. One more kind of file is an entry of `files.READERS`.
"""

import difflib
import hashlib
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.kinds import NO_VALUES, Coded, Reading, Word, text_of
from adelic.data.protocol import Rows
from adelic.data.splits import SPLITS, TEST, TRAIN, VALIDATION, part_sizes, split_orbits
from adelic.data.symmetries import joined, orbits
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers.columns.reading import is_frame
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import nearest_float
from adelic.storage.checks import check_seed
from adelic.storage.provenance import versions

ANSWERS = ("classes", "number", "real")
"""What a target can be: classes, an exact whole number, or a real number, of which only the size counts."""
MOST_CLASSES = 100
"""Whole numbers with at most this many different values are classes, unless the user says that they are numbers."""
MOST_NUMBERS = 1 << 20
"""How many different numbers the columns may have: each gets a row of the embedding's table."""
DIGITS = 4
"""Significant digits of decimals where there are more."""
PART_NAMES = {"train": TRAIN, "validation": VALIDATION, "valid": VALIDATION, "val": VALIDATION, "dev": VALIDATION}
PART_NAMES |= {"test": TEST}
"""What a column of parts may say."""
LEAST_GROUPS = 6
"""With this number of groups of equal size each part has one."""
_MANY = 10_000
_BOUND = 1 << 62
_INDEX = re.compile(r"\s*|__index_level_\d+__|Unnamed: \d+")
"""Names of columns that hold the index of a pandas frame: in CSV, in Parquet, and in CSV that pandas has read again."""


def from_table(
    frame: Any,
    *,
    target: str,
    columns: Sequence[str] | str | None = None,
    categories: Sequence[str] | str = (),
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
        columns: those to predict from, in the order of tokens, or one of them; by default all others.
        categories: those of them, or the one, whose values are names, not quantities: each value has a vector.
        split: "random" (80 % train, of which a tenth validates; of classes each in proportion); or "time:COLUMN" (the
            latest fifth tests, the tenth before it validates; equal rows, and groups, are where the latest one is); or
            the column that says train, validation or test. If no row says validation, a twelfth of train validates.
        groups: a column; rows of equal value stay in one part, as the visits of one customer.
        answer: "classes", "number" or "real". By default text, true and false and whole numbers of at most 100
            different values are classes, other whole numbers are numbers, and decimals are real.
        lossy: what becomes of a column of numbers with a float that is probably not the number that was meant (integers
            from 2^53 on, decimals of more than 15 digits), or with text such as "00501", whose zeros a number lacks:
            "warn" of the first one (LossyFloatWarning, LeadingZerosWarning), "error" (EncodingError) or "ignore".
        seed: of what is drawn.
        name: of the table, for labels.

    Raises:
        UnknownNameError: there is no such column, or a column of parts says something else.
        ConfigurationError: most values of a column are numbers, or dates, and one is not; the target is missing, has
            one value only, another one in each row, or is not what `answer` says; or a part is empty; or without
            `columns` there is an index that pandas wrote.

    >>> frame = {"x": range(100), "half": [x // 2 for x in range(100)], "odd": [bool(x % 2) for x in range(100)]}
    >>> d = from_table(frame, target="odd", groups="half", columns=["x"])
    >>> d.X_train.shape, d.X_validation.shape, d.X_test.shape
    ((72, 1), (8, 1), (20, 1))
    """
    found = columns_of(frame)
    named = (categories,) if isinstance(categories, str) else tuple(categories)
    used = _chosen(found, target, columns, split, groups, named)
    about = {"task": name, "split": split, "title": f"{target} from {', '.join(used)}"}
    parts = None if split == "random" else split
    return _dataset(found, used, target, parts, groups, about, answer=answer, lossy=lossy, seed=seed, categories=named)


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
    frame: dict[str, Any] = {f"x{i}": column for i, column in enumerate(zip(*rows, strict=True))}
    used, given = list(frame), not isinstance(split, str)
    frame |= {"y": targets} | ({"split": split} if given else {}) | ({} if groups is None else {"groups": groups})
    about = {"task": name, "split": "given" if given else "random", "title": "y from X"}
    parts, of = "split" if given else None, None if groups is None else "groups"
    return _dataset(columns_of(frame), used, "y", parts, of, about, answer=answer, lossy=lossy, seed=seed)


def ids_of(
    frame: Any,
    columns: Sequence[str | Reading],
    vocabulary: Sequence[int | Fraction],
    *,
    words: Sequence[Word] = (),
    lossy: str = "warn",
) -> tuple[NDArray[np.int64], tuple[Fraction, ...]]:
    """Return the rows of a table for a network: the places of words, of numbers in a vocabulary, and of new numbers.

    `frame` and `lossy` are as for `from_table`, but no target is needed. Columns are read as in training; a name is a
    column of numbers. Places are (rows, tokens); new numbers stand in the order in which they come. An UnknownNameError
    says that a column is missing, a ConfigurationError that a value is not of its column's kind, or that there are no
    rows.

    >>> ids_of({"a": [7, "1/2", 8]}, ["a"], vocabulary=(5, 7))
    (array([[1],
           [2],
           [3]]), (Fraction(1, 2), Fraction(8, 1)))
    """
    readings = [Reading(each) if isinstance(each, str) else each for each in columns]
    coded = _coded(frame, [reading.name for reading in readings])
    if not len(coded[0].codes):
        raise ConfigurationError("the table has no rows")
    entries = _entries(coded, readings, remedy="write a number there, or leave the row out", lossy=lossy)
    known = {*words, *map(Fraction, vocabulary)}
    new = tuple(dict.fromkeys(e for listed, _ in entries for e in listed if e not in known and type(e) is not tuple))
    return _places(entries, [*words, *vocabulary, *new]), new


def place_of(frame: Any, columns: Sequence[str], number: int | Fraction) -> str:
    """Return in words where a number first occurs in some columns of a table.

    >>> place_of({"a": [1, 2], "b": ["3", "1/2"]}, ["a", "b"], Fraction(1, 2))
    "column 'b' has 1/2 in row 1 (counted from 0)"
    """
    for column in _coded(frame, columns):
        found = column.numbers or []
        if number in found:
            place = column.first(column.values[found.index(Fraction(number))])
            return f"column {column.name!r} has {describe(number)} in {place}"
    return f"the table has {describe(number)}"


class Columns(dict[str, Sequence[Any]]):
    """The columns of a table by name, and where their rows are in it.

    Attributes:
        lines: the line of each row of a file, from 1; None if there are no lines.
        counted_from: the number of the first row: files count from 1, other tables from 0.

    >>> Columns({"a": [7]}).where(0), Columns({"a": [7]}, lines=[2], counted_from=1).where(0)
    ('row 0 (counted from 0)', 'row 1 (line 2)')
    >>> column = Columns({"kind": ["b", "a", "b"]}).coded("kind")
    >>> column.values, column.codes.tolist(), column.first("a")
    (['b', 'a'], [0, 1, 0], 'row 1 (counted from 0)')
    """

    def __init__(
        self, columns: Mapping[str, Sequence[Any]], lines: Sequence[int] | None = None, counted_from: int = 0
    ) -> None:
        super().__init__(columns)
        self.lines = lines
        self.counted_from = counted_from

    def where(self, row: int) -> str:
        """Return where a row is, for messages."""
        place = f"counted from {self.counted_from}" if self.lines is None else f"line {self.lines[row]}"
        return f"row {row + self.counted_from} ({place})"

    def coded(self, name: str, *, gaps: bool = False) -> Coded:
        """Return a column; ConfigurationError if one of its values is several, or is missing and there may be no gaps.

        The code of a gap is -1.
        """
        index: dict[Any, int] = {}
        codes = []
        for row, value in enumerate(self[name]):
            if is_missing(value) or (gaps and isinstance(value, str) and value.strip() in NO_VALUES):
                if gaps:
                    codes.append(-1)
                    continue
                raise ConfigurationError(
                    f"column {name!r} has no value in {self.where(row)}; fill it in, or leave the row out"
                )
            try:
                # With its type: messages and names of classes tell 1, 1.0 and True apart, which are equal.
                codes.append(index.setdefault((type(value), value), len(index)))
            except TypeError:
                raise ConfigurationError(
                    f"column {name!r} has {describe(value)} in {self.where(row)}, which is not a single value"
                ) from None
        return Coded(name, [value for _, value in index], np.array(codes, np.int64), self.where)


def columns_of(frame: Any) -> Columns:
    """Return the columns of a table as lists of Python values, by name."""
    if isinstance(frame, Columns):
        return frame
    is_frame(frame)  # or an error
    names = getattr(frame, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(frame, "columns", None)  # pandas, polars
    if names is None and isinstance(frame, Mapping):
        names = frame.keys()
    if names is None:
        raise ConfigurationError(
            f"{describe(frame)} is not a table; pass a DataFrame, or a mapping from names to values"
        )
    found = Columns({str(name): _listed(str(name), frame[name]) for name in names})
    if len(found) < len(list(names)):
        raise ConfigurationError("two columns of a table have one name; rename one of them")
    for name, values in found.items():
        if len(values) != (rows := len(next(iter(found.values())))):
            raise ConfigurationError(f"{name} has {len(values)} values for {rows} rows; columns are equally long")
    return found


def _listed(name: str, values: Any) -> list[Any]:
    """Return a column as Python values; short floats as NumPy's, which know that 0.1f is 0.1."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0:
        raise ConfigurationError(
            f"column {name!r} is {describe(values)}, not a list of values; one value is a list, too: "
            f"{{{name!r}: [{describe(values)}]}}"
        )
    kind = _short_floats(values)
    found = _python_values(name, values)
    return found if kind is None else [kind(v) if isinstance(v, float) else v for v in found]


def _short_floats(values: Any) -> Callable[[float], Any] | None:
    """Return NumPy's type for the floats of a column, of whatever library, that are shorter than Python's."""
    kind = getattr(values, "dtype", getattr(values, "type", None))
    for inner in ("subtype", "value_type"):  # of pandas' sparse columns, of pyarrow's dictionaries
        kind = getattr(kind, inner, kind)
    kind = getattr(getattr(kind, "categories", None), "dtype", kind)  # of pandas
    return _SHORT_FLOATS.get(str(kind).lower().removeprefix("torch.").removesuffix("[pyarrow]"))


_SHORT_FLOATS = {"float16": np.float16, "halffloat": np.float16, "float32": np.float32, "float": np.float32}
"""How libraries call these types; "float" is pyarrow's name of float32, and no library's of a longer one."""


def _python_values(name: str, values: Any) -> list[Any]:
    if getattr(getattr(values, "dtype", None), "kind", "") == "M" and isinstance(values, np.ndarray):
        values = values.astype("datetime64[us]")  # of nanoseconds, tolist() makes integers
    for method in ("to_pylist", "tolist", "to_list"):  # pyarrow, NumPy and pandas, polars
        if hasattr(values, method):
            try:
                return list(getattr(values, method)())
            except (ValueError, OverflowError) as error:  # of pyarrow: Python's dates end with the year 9999
                reason = str(error).splitlines()[0]
                raise ConfigurationError(
                    f"column {name!r} has a value that Python cannot hold ({reason}); drop the column from the table"
                ) from None
    return list(values)


def _chosen(
    found: Mapping[str, Sequence[Any]], target: Any, columns: Any, split: Any, groups: Any, categories: Sequence[Any]
) -> list[str]:
    """Return the names of the columns to predict from, after a check of all names that a caller gives."""
    listed = [columns] if isinstance(columns, str) else columns
    for option, wanted in (
        ("target", target),
        *(("columns", column) for column in listed or ()),
        *(("categories", column) for column in categories),
        *([] if split == "random" else [("split", _time_column(split, found) or split)]),
        *([] if groups is None else [("groups", groups)]),
    ):
        if not isinstance(wanted, str):
            only = "; a data set has one target" if option == "target" else ""
            raise ConfigurationError(f"{option}={describe(wanted)} must be the name of one column{only}")
        if wanted not in found:
            hint = f"; {option}={wanted} names a column: leave it out for none" if wanted.lower() == "none" else ""
            raise UnknownNameError(f"{UnknownNameError.of('column', wanted, found)}{hint}")
    used = [c for c in found if c not in (target, split, groups)] if listed is None else list(listed)
    index = [column for column in used if listed is None and _INDEX.fullmatch(column)]
    if index:
        others = ",".join(column for column in used if column not in index)
        raise ConfigurationError(
            f"the table has a column {index[0]!r}, as pandas writes the number of the row; write it with index=False, "
            f"or name the number columns: columns={others or 'a,b'}"
        )
    if target in used:
        raise ConfigurationError(f"columns={','.join(used)} has the target {target!r} among them; leave it out there")
    if len(set(used)) < len(used):
        twice = next(column for column in used if used.count(column) > 1)
        raise ConfigurationError(f"columns={','.join(used)} names {twice!r} twice; name each column once")
    if not used:
        raise ConfigurationError(f"there is no column to predict {target!r} from; columns: {', '.join(found)}")
    if stray := [column for column in categories if column not in used]:
        raise ConfigurationError(f"categories={stray[0]} is no column to predict from; these are {', '.join(used)}")
    return used


def _time_column(split: Any, found: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the column of a split by time, "time:COLUMN"; None for another split, or a column that is called so."""
    return split.removeprefix("time:") if str(split).startswith("time:") and split not in found else None


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, NA or a text of blanks alone."""
    if isinstance(value, str):
        return not value.strip()
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # NA is neither true nor false, and a signalling NaN cannot be compared
        return True
    except ValueError:  # several values
        return False


def _coded(frame: Any, columns: Sequence[str]) -> list[Coded]:
    """Return some columns of a table of new rows."""
    found = columns_of(frame)
    for column in columns:
        if column not in found:
            near = [name for name in found if name.strip().lower() == column.strip().lower()]
            near = near or difflib.get_close_matches(column, list(found), n=1)
            hint = f"; rename {near[0]!r}, if that is it" if near else ""
            raise UnknownNameError(
                f"the new rows have no column {column!r}, which the run was trained on{hint}; their columns: "
                f"{', '.join(found)}"
            )
    return [found.coded(column, gaps=True) for column in columns]


def _dataset(
    found: Columns,
    used: Sequence[str],
    target_name: str,
    split: str | None,
    groups_name: str | None,
    about: dict[str, Any],
    *,
    answer: str | None,
    lossy: str,
    seed: int,
    categories: Sequence[str] = (),
) -> Dataset:
    """Return the data set of some columns of a table; `split` and `groups_name` are columns, too."""
    seed = check_seed(seed)
    if answer is not None and answer not in ANSWERS:
        raise UnknownNameError.of("answer", answer, ANSWERS)
    if not len(found[target_name]):
        raise ConfigurationError("the table has no rows")
    columns, target = [found.coded(name, gaps=True) for name in used], found.coded(target_name)
    if empty := [column.name for column in columns if not column.values]:
        others = ",".join(name for name in used if name not in empty)
        remedy = f"leave it out: columns={others}" if others else "there is nothing to predict from"
        raise ConfigurationError(f"column {empty[0]!r} has no value in any row; {remedy}")
    times = _time_column(split, found)
    parts = None if split is None else found.coded(times or split)
    groups = None if groups_name is None else found.coded(groups_name)
    readings = [Reading.of(column, is_category=column.name in categories) for column in columns]
    X, vocabulary, words, readings = _tokens(columns, readings, lossy)
    is_coded = bool(words) or any(q.denominator != 1 or not -_BOUND < q < _BOUND for q in vocabulary)
    if not is_coded:
        X = np.array(vocabulary, np.int64)[X]
    least, greatest = int(X.min()), int(X.max())
    kinds = (np.int8, np.int16, np.int32, np.int64)
    X = X.astype(next(k for k in kinds if np.iinfo(k).min <= least and greatest <= np.iinfo(k).max))
    y, class_names = targets_of(target, answer, lossy=lossy)
    rng = np.random.default_rng(seed)
    rows = Rows(X, y, groups=None if groups is None else groups.codes)
    if times is not None and parts is not None:
        of_row = _by_time(parts, rows)
    elif parts is None:
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
        *([repr(words).encode()] if words else []),
    ]
    provenance = {
        **about,
        "n": None,
        "edition": None,
        "seed": seed,
        "columns": [token for reading in readings for token in reading.tokens],
        "readings": [reading.about() for reading in readings],
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
        readings=tuple(readings),
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


def _entries(
    columns: Sequence[Coded], readings: Sequence[Reading], *, remedy: str, lossy: str
) -> list[tuple[list[Any], NDArray[np.int64]]]:
    """Return for each token its entries, that of a gap last, and which of them each row has."""
    return [
        (listed, column.codes)
        for column, reading in zip(columns, readings, strict=True)
        for listed in reading.entries(column, remedy=remedy, lossy=lossy)
    ]


def _tokens(
    columns: Sequence[Coded], readings: list[Reading], lossy: str
) -> tuple[NDArray[np.int64], tuple[int | Fraction, ...], tuple[Word, ...], list[Reading]]:
    """Return the places of words and numbers (rows, tokens), the numbers, the words, and how columns were read.

    Words come first. Of more numbers than `MOST_NUMBERS` decimals are rounded, with a warning.
    """
    entries = _entries(columns, readings, remedy="", lossy=lossy)
    numbers = {e for listed, _ in entries for e in listed if type(e) is not tuple}
    if len(numbers) > MOST_NUMBERS:
        many = f"the columns have {len(numbers):,} different numbers, and at most {MOST_NUMBERS:,} are possible"
        decimals = {
            c.name for c in columns if len(c.values) > _MANY and any(q.denominator != 1 for q in c.numbers or ())
        }
        rounded = [r.name for r in readings if r.kind == "number" and not r.digits and r.name in decimals]
        if not rounded:
            raise ConfigurationError(f"{many}: round them, or leave columns out")
        warnings.warn(
            f"{many}: the decimals of {', '.join(rounded)} are read with {DIGITS} significant digits; round them "
            "yourself to choose",
            stacklevel=5,
        )
        return _tokens(columns, [replace(r, digits=DIGITS) if r.name in rounded else r for r in readings], lossy)
    # By floats first: to compare two long fractions takes two long products.
    vocabulary = sorted(numbers or {0}, key=lambda q: (nearest_float(q.numerator, q.denominator), q))
    words = tuple(word for reading in readings for word in reading.words)
    X = _places(entries, [*words, *vocabulary])
    return X, tuple(q if q.denominator != 1 else int(q) for q in vocabulary), words, readings


def _places(entries: Sequence[tuple[list[Any], NDArray[np.int64]]], tokens: Sequence[Any]) -> NDArray[np.int64]:
    """Return where in a list of tokens the entries of each row are, (rows, tokens of a row)."""
    position = {token: i for i, token in enumerate(tokens)}
    # The gap of a column without gaps is no token: its −1 is taken by no row.
    return np.stack([np.array([position.get(e, -1) for e in listed])[codes] for listed, codes in entries], axis=1)


def _drawn(rows: Rows, rng: np.random.Generator, *, stratify: bool) -> NDArray[np.int8]:
    """Return a part for each row, the same for equal rows; of each class in proportion, if classes are large enough."""
    of_content = orbits(rows.X, rows.y, {})
    of_row = split_orbits(rows, of_content, rng, stratify=stratify)
    is_whole = set(of_row.tolist()) == {TRAIN, VALIDATION, TEST}
    return of_row if is_whole else split_orbits(rows, of_content, rng, stratify=False)


def _by_time(times: Coded, rows: Rows) -> NDArray[np.int8]:
    """Return a part for each row: the latest fifth tests, the tenth before it validates.

    Equal rows, and those of a group, are where the latest of them is: so no row is trained on that is later than one
    that was moved. Times that are no numbers and no dates are a ConfigurationError, and so are too few of them.
    """
    reading = Reading.of(times)
    if reading.kind not in ("number", "date", "time"):
        raise ConfigurationError(f"column {times.name!r} has no dates or numbers, so its rows have no order in time")
    entries = [listed[:-1] for listed in reading.entries(times)]
    order = list(zip(entries[0], entries[-1], strict=True)) if reading.kind == "date" else entries[0]
    rank = {moment: i for i, moment in enumerate(sorted(set(order)))}
    units = orbits(rows.X, rows.y, {})
    if rows.groups is not None:
        units = joined(units, rows.groups).astype(np.int64)
    latest = np.zeros(units.max() + 1, np.int64)
    np.maximum.at(latest, units, np.array([rank[moment] for moment in order])[times.codes])
    time = latest[units]
    validation, test = np.sort(time)[[-(-72 * len(time) // 100), -(-80 * len(time) // 100)]]
    of_row = np.where(time >= test, TEST, np.where(time >= validation, VALIDATION, TRAIN)).astype(np.int8)
    if len(set(of_row.tolist())) < len(SPLITS):
        raise ConfigurationError(
            f"column {times.name!r} has too few different times ({len(rank):,}; equal rows count at the latest one) to "
            "be divided; name a column that says train, validation or test"
        )
    return of_row


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


def targets_of(
    column: Coded, answer: str | None, *, lossy: str = "warn"
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return the targets, (rows,), and the names of the classes if they are classes; real ones are float64.

    `answer` is one of `ANSWERS`; None leaves it to the values. The name of a class is its text in the table; for
    numbers `lossy` is as for `from_table`. A ConfigurationError says that a value is missing, or as a number not whole
    or too large, that there is one class, or no class has two rows, or that without `answer` the numbers of classes are
    the same and their texts are not.

    >>> y, names = targets_of(Columns({"kind": ["b", "a", "b"]}).coded("kind"), None)
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
        answer = "real" if numbers is not None and not whole else answer
    if answer == "real" and numbers is not None:
        reals = [nearest_float(q.numerator, q.denominator) for q in numbers]
        if not 0 < max(reals) - min(reals) < np.inf:
            raise ConfigurationError(
                f"the target {column.name!r} has no two different floats, or one beyond the largest; there is nothing "
                "to learn: scale it, or name another target"
            )
        column.check_lossy(lossy)
        return np.array(reals)[column.codes], None
    if answer in ("number", "real"):
        if numbers is None or not whole:
            raise _not_whole(column, numbers)
        column.check_lossy(lossy)
        return np.array([int(q) for q in numbers], np.int64)[column.codes], None
    texts = [text_of(value) for value in column.values]
    if numbers is not None and not is_chosen:
        _refuse_two_spellings(column, numbers, texts)
    keys = numbers or [Fraction(0)] * len(texts)
    position = {text: i for i, (_, text) in enumerate(sorted(set(zip(keys, texts, strict=True))))}
    if len(position) < 2:
        raise ConfigurationError(f"the target {column.name!r} is {texts[0]!r} in every row; there is nothing to learn")
    codes = np.array([position[text] for text in texts], np.int64)[column.codes]
    _check_classes(column.name, np.bincount(codes), may_be_number=whole)
    return codes, tuple(position)


def _refuse_two_spellings(column: Coded, numbers: list[Fraction], texts: list[str]) -> None:
    """Raise ConfigurationError if a number is written in two ways, as one class or two."""
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
        remedy = f"predict it as a real number (answer=real), or {classes}"
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
            f"the target {name!r} has another value in each of the {len(counts):,} rows, so no class can be "
            f"learned and tested; {instead}"
        )
    if 2 * single > len(counts):
        warnings.warn(
            f"the target {name!r} has {len(counts):,} classes, of which {single:,} have one row: these cannot be both "
            f"learned and tested; {instead}, or leave these rows out",
            stacklevel=5,  # the caller of `from_table` or `from_arrays`
        )
