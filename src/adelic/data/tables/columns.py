"""Columns: the values of any kind of table, as Python values, and as exact numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import AdelicError, ConfigurationError
from adelic.numbers import rationals
from adelic.numbers.describe import describe


def columns_of(frame: Any) -> dict[str, Sequence[Any]]:
    """Return the columns of a table as lists of Python values, by name."""
    names = getattr(frame, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(frame, "columns", None)  # pandas, polars
    if names is None and isinstance(frame, Mapping):
        names = frame.keys()
    if names is None:
        raise ConfigurationError(
            f"{describe(frame)} is not a table; pass a DataFrame, or a mapping from names to values"
        )
    found: dict[str, Sequence[Any]] = {str(name): _listed(frame[name]) for name in names}
    lengths = {len(values) for values in found.values()}
    if len(found) < len(list(names)) or len(lengths) > 1:
        raise ConfigurationError("the columns of a table have different names, and are equally long")
    return found


def _listed(values: Any) -> list[Any]:
    for method in ("to_pylist", "tolist", "to_list"):  # pyarrow, NumPy and pandas, polars
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


@dataclass(frozen=True)
class Coded:
    """A column: its different values, and which of them each row has."""

    values: list[Any]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, values: Iterable[Any]) -> "Coded":
        """Return the column of some values; ConfigurationError, with the column's name, if one is missing."""
        index: dict[Any, int] = {}
        codes = []
        for row, value in enumerate(values):
            if _is_missing(value):
                raise ConfigurationError(
                    f"column {name!r} has no value in row {row} (counted from 0); fill it in, or leave the row out"
                )
            try:
                codes.append(index.setdefault((type(value), value), len(index)))
            except TypeError:
                raise ConfigurationError(
                    f"column {name!r} has {describe(value)} in row {row} (counted from 0), which is not a single value"
                ) from None
        return cls([value for _, value in index], np.array(codes, np.int64))

    def numbers(self) -> list[Fraction] | None:
        """Return the values as numbers; None unless all are numbers."""
        try:
            plain = [int(value) if isinstance(value, bool | np.bool_) else value for value in self.values]
            parsed = rationals.read(plain, floats="shortest")
        except AdelicError:
            return None
        return [parsed.fraction(i) for i in range(len(plain))] if parsed.shape == (len(plain),) else None

    def first_that_is_no_number(self) -> tuple[int, Any]:
        """Return the row and value of the first entry that is not a number."""
        bad = next(i for i, value in enumerate(self.values) if Coded([value], self.codes[:0]).numbers() is None)
        return int(np.argmax(self.codes == bad)), self.values[bad]


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, NA or an empty text."""
    try:
        return value is None or value == "" or bool(value != value)
    except (TypeError, ArithmeticError):  # NA is neither true nor false, and a signalling NaN cannot be compared
        return True
    except ValueError:  # several values
        return False
