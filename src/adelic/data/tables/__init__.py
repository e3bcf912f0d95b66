"""Tables of your own as data sets: number columns, a target, and three parts.

>>> price, count = ["1/2", "0.25", 7, -1] * 15, list(range(60))
>>> d = from_table({"price": price, "count": count, "odd": ["no", "yes"] * 30}, target="odd")
>>> d.class_names, [str(q) for q in d.vocabulary[:5]], d.X_train.shape
(('no', 'yes'), ['-1', '0', '1/4', '1/2', '1'], (44, 2))

A column holds numbers of any kind that `AdeleSpace.encode` reads, fractions and decimals of any length included; a
float is the shortest decimal that names it (0.1 is 1/10); true and false are 1 and 0. The target is a class or a whole
number. Equal rows are always in one part.

May import `storage`, `numbers` and the rest of `data`. One more kind of file is an entry of `files.READERS`.
"""

import difflib
import hashlib
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.protocol import Rows
from adelic.data.splits import SPLITS, TEST, TRAIN, VALIDATION, part_sizes, split_orbits
from adelic.data.symmetries import Integers, orbits
from adelic.errors import AdelicError, ConfigurationError, UnknownNameError
from adelic.numbers import rationals
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import is_frame
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import nearest_float
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
LEAST_GROUPS = 6
"""With this number of groups of equal size each part has one."""
_BOUND = 1 << 62
_INDEX = re.compile(r"\s*|__index_level_\d+__|Unnamed: \d+")
"""Names of columns that hold the index of a pandas frame: in CSV, in Parquet, and in CSV that pandas has read again."""
NO_VALUES = {"nan", "NaN", "NAN", "-nan", "-NaN", "na", "NA", "n/a", "N/A", "<NA>", "#NA", "#N/A"}
NO_VALUES |= {"null", "Null", "NULL", "NaT"}
"""How tables spell that there is no value. Not among them are none and Na, which can be classes."""


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
    used = _chosen(found, target, columns, split, groups)
    about = {"task": name, "split": split, "title": f"{target} from {', '.join(used)}"}
    parts = None if split == "random" else split
    return _dataset(found, used, target, parts, groups, about, answer=answer, lossy=lossy, seed=seed)


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
    frame: Any, columns: Sequence[str], vocabulary: Sequence[int | Fraction], *, lossy: str = "warn"
) -> tuple[NDArray[np.int64], tuple[Fraction, ...]]:
    """Return the rows of a table for a network: the places of numbers in a vocabulary, and after it in new numbers.

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

    def coded(self, name: str) -> "Coded":
        """Return a column; ConfigurationError if one of its values is missing, or is several."""
        index: dict[Any, int] = {}
        codes = []
        for row, value in enumerate(self[name]):
            if is_missing(value):
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
    empty = [column for column in used if len(found[column]) and all(map(is_missing, found[column]))]
    if empty and (others := ",".join(column for column in used if column not in empty)):
        raise ConfigurationError(f"column {empty[0]!r} has no value in any row; leave it out: columns={others}")
    return used


@dataclass(frozen=True)
class Coded:
    """A column: its different values, and which of them each row has.

    Attributes:
        name: of the column.
        values: the different ones, in the order in which they come first.
        codes: the place in `values` of each row's value, (rows,).
        where: the words for a row in messages, as "row 3 (line 4)".
    """

    name: str
    values: list[Any]
    codes: NDArray[np.int64]
    where: Callable[[int], str] = field(repr=False)

    def first(self, value: Any) -> str:
        """Return where a value first occurs."""
        code = next(i for i, other in enumerate(self.values) if type(other) is type(value) and other == value)
        return self.where(int(np.argmax(self.codes == code)))

    @cached_property
    def numbers(self) -> list[Fraction] | None:
        """Return the values as numbers; None unless all are numbers."""
        return _as_numbers(self.values)

    def first_that_is_no_number(self) -> Any:
        """Return the first value that is not a number."""
        return next(value for value in self.values if _as_numbers([value]) is None)

    def check_lossy(self, lossy: str) -> None:
        """Warn of the first number that was lost before the table was made, see `adelic.numbers.columns.lossy`."""
        check_lossy(
            self.values,
            floats="shortest",
            lossy=lossy,
            column=f"column {self.name!r}",
            where=lambda code: self.where(int(np.argmax(self.codes == code))),
        )

    def refuse_spellings_of_no_value(self) -> None:
        """Raise ConfigurationError if a text says that there is no value: it would be a class of its own."""
        for value in self.values:
            if isinstance(value, str) and value.strip() in NO_VALUES:
                raise ConfigurationError(
                    f"the target {self.name!r} has {value!r} in {self.first(value)}, which says that there is no "
                    "value; leave the row out, or, if it is a class, give it another name"
                )


def _as_numbers(values: Sequence[Any]) -> list[Fraction] | None:
    """Return values as numbers; None unless all are numbers."""
    try:
        plain = [int(value) if isinstance(value, bool | np.bool_) else value for value in values]
        parsed = rationals.read(plain, floats="shortest")
    except AdelicError:
        return None
    return [parsed.fraction(i) for i in range(len(plain))] if parsed.shape == (len(plain),) else None


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
    return [found.coded(column) for column in columns]


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
) -> Dataset:
    """Return the data set of some columns of a table; `split` and `groups_name` are columns, too."""
    seed = check_seed(seed)
    if answer is not None and answer not in ANSWERS:
        raise UnknownNameError.of("answer", answer, ANSWERS)
    if not len(found[target_name]):
        raise ConfigurationError("the table has no rows")
    columns, target = [found.coded(name) for name in used], found.coded(target_name)
    parts = None if split is None else found.coded(split)
    groups = None if groups_name is None else found.coded(groups_name)
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


def targets_of(
    column: Coded, answer: str | None, *, lossy: str = "warn"
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Return the targets, (rows,), and the names of the classes if they are classes.

    `answer` is "classes" or "number"; None leaves it to the values. The name of a class is its text in the table; for
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
        remedy = f"multiply, divide or round the column, or {classes}"
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
