"""How a column of a table is read: as numbers, truth values, dates or categories, each perhaps with gaps.

A `Reading` is made once, of the training table, and reads new rows the same way. It says which *entries* an example has
of a value: a number, or a *word*, which has a learned vector: a category, a gap, or a category that training lacked.

>>> from adelic.data.tables import Columns
>>> column = Columns({"when": ["2024-02-29 12:00", "", "2024-03-01"]}).coded("when", gaps=True)
>>> reading = Reading.of(column)
>>> reading.tokens, reading.has_gaps
(('when', 'when (month)', 'when (day of the month)', 'when (second)'), True)
>>> reading.entries(column)[0]
[19782, 19783, ('when', '')]
"""

import datetime
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import AdelicError, ConfigurationError
from adelic.numbers import rationals
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import seconds_of
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import nearest_float

Word = tuple[str, str | None]
"""A column and the text of a category; "" of a gap, None of all categories that have no vector of their own."""
ISO = "ISO 8601"
FORMATS = (ISO, "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
"""How dates may be written, as `strptime` has it; a time of day follows in ISO 8601."""
_SAMPLE = 1000  # values that tell what most of a column are
_EPOCH = datetime.date(1970, 1, 1).toordinal()
NO_VALUES = {"nan", "NaN", "NAN", "-nan", "-NaN", "na", "NA", "n/a", "N/A", "<NA>", "#NA", "#N/A"}
NO_VALUES |= {"null", "Null", "NULL", "NaT"}
"""How tables spell that there is no value. Not among them are none and Na, which can be classes."""


@dataclass(frozen=True)
class Coded:
    """A column: its different values, and which of them each row has.

    Attributes:
        name: of the column.
        values: the different ones, in the order in which they come first.
        codes: the place in `values` of each row's value, (rows,); -1 of a gap.
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


@dataclass(frozen=True)
class Reading:
    """How a column is read.

    Attributes:
        name: of the column.
        kind: "number", "boolean", "date", "time" (of the day) or "category".
        has_gaps: whether values may be missing.
        form: of dates, one of `FORMATS`.
        is_timed: whether a time of day comes with the dates.
        categories: those with a vector of their own: they are in two rows or more. All others share one, which new
            categories get too.
        digits: how many significant digits of a number are read; None for all.
    """

    name: str
    kind: str = "number"
    has_gaps: bool = False
    form: str = ""
    is_timed: bool = False
    categories: tuple[str, ...] = ()
    digits: int | None = None

    @classmethod
    def of(cls, column: Coded, *, is_category: bool = False) -> "Reading":
        """Return how a column's values ask to be read.

        A column that has mostly numbers, or mostly dates, and others is a ConfigurationError, and so are dates that
        can be read in two ways.
        """
        values, has_gaps = column.values, bool((column.codes < 0).any())
        if not is_category:
            if all(isinstance(value, bool | np.bool_ | str) and _truth(value, ()) for value in values):
                return cls(column.name, "boolean", has_gaps)
            if column.numbers is not None:
                return cls(column.name, "number", has_gaps)
            if all(_clock(value) for value in values):
                return cls(column.name, "time", has_gaps)
            form = _form_of(column)
            if form is not None:
                clocks = (moment.time() for value in values if (moment := _moment(value, form)))
                return cls(column.name, "date", has_gaps, form, is_timed=any(c != datetime.time() for c in clocks))
            _refuse_a_mixture(column)
        counts: dict[str, int] = {}
        for value, count in zip(values, np.bincount(column.codes[column.codes >= 0]).tolist(), strict=True):
            counts[text_of(value)] = counts.get(text_of(value), 0) + count
        rare = sum(count == 1 for count in counts.values())
        if 2 * rare > len(column.codes):
            warnings.warn(
                f"column {column.name!r} has {len(counts):,} different texts, of which {rare:,} are in one row: "
                "nothing can be learned of these; leave the column out, or keep the part of the text that occurs again",
                stacklevel=6,  # the caller of `from_table`
            )
        kept = tuple(sorted(text for text, count in counts.items() if count > 1))
        return cls(column.name, "category", has_gaps, categories=kept)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the names of the numbers, or words, that an example has of a value."""
        parts = ("month", "day of the month", "second")[: 2 + self.is_timed] if self.kind == "date" else ()
        return (self.name, *(f"{self.name} ({part})" for part in parts))

    @property
    def words(self) -> tuple[Word, ...]:
        """Return the words that may come."""
        others = (None, *self.categories) if self.kind == "category" else ()
        return tuple((self.name, text) for text in (*others, *([""] if self.has_gaps else [])))

    def about(self) -> dict[str, Any]:
        """Return the reading as a result has it, without its categories."""
        return {key: value for key, value in vars(self).items() if value and key != "categories"}

    def entries(self, column: Coded, *, remedy: str = "", lossy: str = "ignore") -> list[list[Any]]:
        """Return for each token what each different value of a column is, and at the end what a gap is.

        A value that is not of the kind, and a gap where training had none, are a ConfigurationError; `remedy` says what
        would do, and `lossy` is as for `from_table`.
        """
        gap: Word = (self.name, "" if self.has_gaps else None)
        if (column.codes < 0).any() and not (self.has_gaps or self.kind == "category"):
            place = column.where(int(np.argmax(column.codes < 0)))
            raise ConfigurationError(
                f"column {self.name!r} has no value in {place}, and had one in each row of training; fill it in, or "
                "leave the row out"
            )
        if self.kind == "category":
            known = set(self.categories)
            return [[*((self.name, text if text in known else None) for text in map(text_of, column.values)), gap]]
        if self.kind == "number":
            numbers = column.numbers
            if numbers is None:
                raise _stranger(column, column.first_that_is_no_number(), "a number", remedy)
            column.check_lossy(lossy)
            return [[*map(self._rounded, numbers), gap]]
        readers: dict[str, Callable[[Any], tuple[int | Fraction, ...] | None]] = {"boolean": _truth, "time": _clock}
        read = readers.get(self.kind, self._parts)
        found = [read(value) for value in column.values]
        if None in found:
            date = f"a date{'' if self.is_timed else ' without a time'}"
            kind = {"boolean": "true or false", "time": "a time of day"}.get(self.kind, date)
            raise _stranger(column, column.values[found.index(None)], f"{kind}, as in training", remedy)
        return [[*each, gap] for each in zip(*found, strict=True)] or [[gap] for _ in self.tokens]

    def _rounded(self, number: Fraction) -> Fraction:
        if self.digits is None:
            return number
        return Fraction(f"{nearest_float(number.numerator, number.denominator):.{self.digits - 1}e}")

    def _parts(self, value: Any) -> tuple[int | Fraction, ...] | None:
        """Return the number of the day since 1 January 1970, month, day of the month, and second of the day."""
        moment = _moment(value, self.form)
        if moment is None or (not self.is_timed and moment.time() != datetime.time()):
            return None
        second = 3600 * moment.hour + 60 * moment.minute + moment.second
        clock = Fraction(1000 * moment.microsecond + getattr(moment, "nanosecond", 0), 10**9) + second
        return (moment.toordinal() - _EPOCH, moment.month, moment.day, clock)[: 3 + self.is_timed]


def text_of(value: Any) -> str:
    """Return a value as the table writes it; of numbers all digits, where str() stops at 4,300."""
    is_number = isinstance(value, int | np.integer | Fraction) and not isinstance(value, bool)
    return number_text(value if isinstance(value, Fraction) else int(value)) if is_number else str(value)


def _truth(value: Any, digits: Sequence[str] = ("0", "1")) -> tuple[int] | None:
    """Return 1 for true, 0 for false, as a part; None for all else. With `digits` 1 and 0 are these, too."""
    text = text_of(value).strip().lower()
    return (int(text in ("true", "1")),) if text in ("true", "false", *digits) else None


def _clock(value: Any) -> tuple[Fraction] | None:
    """Return the second of the day, as a part, that a time of day is; None for all else."""
    seconds = seconds_of(value)
    return None if seconds is None else (seconds,)


def _moment(value: Any, form: str) -> datetime.datetime | None:
    """Return a date, and a time by its own clock, that a value is; None if it is none.

    >>> _moment("29.02.2024 13:30", "%d.%m.%Y"), _moment("2023-02-29", ISO)
    (datetime.datetime(2024, 2, 29, 13, 30), None)
    """
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    if not isinstance(value, str):
        return None
    text, _, clock = value.strip().replace("T", " ", 1).partition(" ")
    try:
        day = datetime.date.fromisoformat(text) if form == ISO else datetime.datetime.strptime(text, form).date()
        time = datetime.time.fromisoformat(clock).replace(tzinfo=None) if clock else datetime.time()
    except ValueError:
        return None
    return datetime.datetime.combine(day, time)


def _form_of(column: Coded) -> str | None:
    """Return the first form that all values have; None if there is none."""
    fitting = [form for form in FORMATS if all(_moment(value, form) for value in column.values)]
    for value in column.values if fitting[:2] == list(FORMATS[-2:]) else ():
        first, second = (_moment(value, form) for form in fitting)
        if first != second and first and second:
            raise ConfigurationError(
                f"column {column.name!r} has dates such as {describe(value)} in {column.first(value)}, which may be "
                f"{first:%Y-%m-%d} or {second:%Y-%m-%d}; write them so"
            )
    return fitting[0] if fitting else None


def _refuse_a_mixture(column: Coded) -> None:
    """Raise ConfigurationError if at least half of the values are numbers, or dates, and others are not."""
    sample = column.values[:_SAMPLE]
    remedy = f"write one there, leave it empty for a gap, or take texts for categories (categories={column.name})"
    if 2 * sum(_as_numbers([value]) is not None for value in sample) >= len(sample):
        raise _stranger(column, column.first_that_is_no_number(), "a number, as most values are", remedy)
    counts = {form: sum(_moment(value, form) is not None for value in sample) for form in FORMATS}
    if 2 * max(counts.values()) >= len(sample):
        form = max(counts, key=lambda form: counts[form])
        example = next(value for value in sample if _moment(value, form))
        stranger = next(value for value in column.values if not _moment(value, form))
        raise _stranger(column, stranger, f"a date as {describe(example)} is", remedy)


def _stranger(column: Coded, value: Any, kind: str, remedy: str) -> ConfigurationError:
    place = column.first(value)
    return ConfigurationError(f"column {column.name!r} has {describe(value)} in {place}, which is not {kind}; {remedy}")
