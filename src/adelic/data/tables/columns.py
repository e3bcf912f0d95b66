"""Columns: the values of any kind of table, as Python values, and as exact numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import AdelicError, ConfigurationError
from adelic.numbers import rationals
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import is_frame
from adelic.numbers.describe import describe

NO_VALUES = {"nan", "NaN", "NAN", "-nan", "-NaN", "na", "NA", "n/a", "N/A", "<NA>", "#NA", "#N/A"}
NO_VALUES |= {"null", "Null", "NULL", "NaT"}
"""How tables spell that there is no value. Not among them are none and Na, which can be classes."""


def in_row(row: int) -> str:
    """Return where a row stands in a table that is not a file.

    >>> in_row(3)
    'row 3 (counted from 0)'
    """
    return f"row {row} (counted from 0)"


def columns_of(frame: Any) -> dict[str, Sequence[Any]]:
    """Return the columns of a table as lists of Python values, by name."""
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
    found: dict[str, Sequence[Any]] = {str(name): _listed(str(name), frame[name]) for name in names}
    lengths = {len(values) for values in found.values()}
    if len(found) < len(list(names)) or len(lengths) > 1:
        raise ConfigurationError("the columns of a table have different names, and are equally long")
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


@dataclass(frozen=True)
class Coded:
    """A column: its different values, and which of them each row has.

    Attributes:
        name: of the column.
        values: the different ones, in the order in which they come first.
        codes: the place in `values` of each row's value, (rows,).
        where: the words for a row in messages, as "row 3 (line 4)".

    >>> column = Coded.of("kind", ["b", "a", "b"])
    >>> column.values, column.codes.tolist(), column.first("a")
    (['b', 'a'], [0, 1, 0], 'row 1 (counted from 0)')
    """

    name: str
    values: list[Any]
    codes: NDArray[np.int64]
    where: Callable[[int], str] = field(repr=False)

    @classmethod
    def of(cls, name: str, values: Iterable[Any], where: Callable[[int], str] = in_row) -> "Coded":
        """Return the column of some values; ConfigurationError, with the column's name, if one is missing."""
        index: dict[Any, int] = {}
        codes = []
        for row, value in enumerate(values):
            if is_missing(value):
                raise ConfigurationError(
                    f"column {name!r} has no value in {where(row)}; fill it in, or leave the row out"
                )
            try:
                # With its type: messages and names of classes tell 1, 1.0 and True apart, which are equal.
                codes.append(index.setdefault((type(value), value), len(index)))
            except TypeError:
                raise ConfigurationError(
                    f"column {name!r} has {describe(value)} in {where(row)}, which is not a single value"
                ) from None
        return cls(name, [value for _, value in index], np.array(codes, np.int64), where)

    def first(self, value: Any) -> str:
        """Return where a value stands first."""
        code = next(i for i, other in enumerate(self.values) if type(other) is type(value) and other == value)
        return self.where(int(np.argmax(self.codes == code)))

    @cached_property
    def numbers(self) -> list[Fraction] | None:
        """Return the values as numbers; None unless all are numbers."""
        return _numbers(self.values)

    def first_that_is_no_number(self) -> Any:
        """Return the first value that is not a number."""
        return next(value for value in self.values if _numbers([value]) is None)

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
        """Raise ConfigurationError where a text says that there is no value: it would be a class of its own."""
        for value in self.values:
            if isinstance(value, str) and value.strip() in NO_VALUES:
                raise ConfigurationError(
                    f"the target {self.name!r} has {value!r} in {self.first(value)}, which says that there is no "
                    "value; leave the row out, or, if it is a class, give it another name"
                )


def _numbers(values: Sequence[Any]) -> list[Fraction] | None:
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
