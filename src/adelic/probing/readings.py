"""What arithmetic reads of a number column: residues, digits, valuations, check sums, parts of dates, and size.

A reading makes small whole numbers, codes, of numbers. `adelic.probe` asks which codes tell a target.
"""

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, pairwise, takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, EncodingError
from adelic.numbers.columns.reading import is_date_text, is_missing, read_column
from adelic.numbers.describe import describe
from adelic.numbers.rationals import objects

Integers = npt.NDArray[np.int64]

GREATEST_MODULUS = 1000
_CODE = re.compile(r"(\d[\d -]*)?[\dxX]")
"""A code with hyphens, blanks or a check character X."""
_LETTERS = re.compile(r"[^\W\d_eExX]|[eExX].*[^\W\d_]|^[eExX]|[eE]$")
"""A letter that neither an exponent nor a check character has."""
_TRUTHS = {"true": 1, "false": 0}
_VALUATIONS = (2, 3, 5, 7, 11, 13)
_GREATEST_VALUATION = 12
_PADIC = (2, 3, 5, 7)
_MOST_DECIMALS = 6
_FITTING = 0.99
"""The share of numbers that have so few decimals."""
_LEAVES = 8
"""Parts of a size, at most."""
_DAYS = (-25_567, 47_847)
"""1 January of 1900 and of 2101, in days since 1 January 1970: whole numbers between may count days."""
_YEARS = (1583, 2500)
"""Whole numbers between may be years of the Gregorian calendar."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DOUBLED = np.array([0, 2, 4, 6, 8, 1, 3, 5, 7, 9, 1])
"""Sums of the digits of 2·d; of the check character X, 10, it is not asked."""


@dataclass(frozen=True)
class Numbers:
    """Numbers as arithmetic reads them.

    Attributes:
        whole: int64, or objects where one is beyond, (examples,): of decimals the multiples of 10^-decimals; of
            measurements, which have more than six digits after the point, 0.
        real: float64, (examples,).
        decimals: how many digits there are after the point; None of measurements.
        is_date: whether they are dates, `whole` being days since 1 January 1970.
        digits: decimal digits from the right, int64 (examples, digits); the check character X is 10.
        seconds: of the day, int64 (examples,), of dates and times; None without a time of day.
    """

    whole: npt.NDArray[Any]
    real: npt.NDArray[np.float64]
    decimals: int | None
    is_date: bool
    digits: Integers
    seconds: Integers | None = None

    def __getitem__(self, indices: npt.NDArray[Any]) -> "Numbers":
        """Return some of them."""
        fields = (self.whole[indices], self.real[indices], self.decimals, self.is_date, self.digits[indices])
        return Numbers(*fields, None if self.seconds is None else self.seconds[indices])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.whole)


def read_numbers(
    values: npt.NDArray[Any], decimals: int | None = -1, letters: str | None = None
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Return the numbers of a column, without its gaps, and which entries are there, bool (examples,).

    Codes such as "0-306-40615-2" and "080442957X" are read without their hyphens and blanks, a date and time as its
    date. Numbers that are no multiples of 10^-decimals are left out.

    Args:
        values: of a column.
        decimals: as for `Numbers`; by default the fewest, at most six, that 99 % of the numbers have, or none.
        letters: "base-36" reads A, B … Z in text as 10, 11 … 35, one after the other, as IBAN does.

    Raises:
        EncodingError: an entry is no number.

    >>> read_numbers(np.array(["7732-18-5", None], dtype=object))[0].digits
    array([[5, 8, 1, 2, 3, 7, 7]])
    >>> read_numbers(np.array([0.25, 19.99]))[0].whole
    array([  25, 1999])
    >>> read_numbers(np.array(["GB82 WEST"]), letters="base-36")[0].whole  # G is 16
    array([16118232142829])
    """
    if letters not in (None, "base-36"):
        raise ConfigurationError(f"letters={describe(letters)} is unknown; it is 'base-36' or None")
    if letters and values.dtype.kind in "OU":
        values = objects([_spelled(value) for value in values.tolist()])
    values, is_date, seconds = split_times(values)
    entries = values.tolist() if values.dtype.kind == "O" else []
    texts = [value for value in entries if isinstance(value, str)]
    last: list[int] = []
    truths = [None if is_missing(value) else _TRUTHS.get(str(value).lower(), -1) for value in entries]
    if texts and -1 not in truths:
        values, entries, texts = objects(truths), truths, []
    if named := next((text for text in texts if _LETTERS.search(text)), None):
        raise EncodingError(
            f"it has letters, as {describe(named)}; letters='base-36' would read A … Z as 10 … 35, as IBAN does; "
            "or take its digits alone"
        )
    if any(_CODE.fullmatch(text) and not text.isdecimal() for text in texts):
        others = (value for value in entries if value is not None and not _CODE.fullmatch(str(value)))
        if (wrong := next(others, None)) is not None:
            raise EncodingError(f"{describe(wrong)} is neither a number nor a code as the others; write all alike")
        plain = [re.sub("[ -]", "", str(value)) for value in entries if value is not None]
        last = [10 if code[-1] in "xX" else int(code[-1]) for code in plain]
        codes = (int("0" + code[:-1]) * 10 + digit for code, digit in zip(plain, last, strict=True))
        values = objects([None if value is None else next(codes) for value in entries])
    column = read_column(values, floats="shortest")
    is_there = ~column.is_missing
    numerators, denominators = column.numbers.numerators, column.numbers.denominators
    if decimals == -1:
        enough = _FITTING * is_there.sum()
        fitting = (k for k in range(_MOST_DECIMALS + 1) if np.sum(10**k % denominators[is_there] == 0) >= enough)
        decimals = next(fitting, None)
    unit = 10 ** (decimals or 0)
    if decimals is not None:
        is_there &= np.asarray(unit % denominators == 0, dtype=np.bool_)
    numerators, denominators = numerators[is_there], denominators[is_there]
    greatest = max(map(abs, (int(numerators.min(initial=0)), int(numerators.max(initial=0)))))
    numerators = numerators.astype(object) if greatest >= 2**62 // unit else numerators
    whole = numerators * 0 if decimals is None else numerators * (unit // denominators)
    digits = decimal_digits(np.abs(whole))
    if last:
        digits[:, 0], before = last, decimal_digits((whole - last) // 10)
        digits[:, 1 : 1 + before.shape[1]] = before
    seconds = None if seconds is None else seconds[is_there]
    return Numbers(whole, _real(numerators, denominators), decimals, is_date, digits, seconds), is_there


def _spelled(value: Any) -> Any:
    """Return a text with numbers for its letters, and without blanks and hyphens; all else as it is."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z\d -]*[A-Za-z][A-Za-z\d -]*", value):
        return value
    return "".join(str(int(one, 36)) for one in value if one not in " -")


def split_times(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], bool, Integers | None]:
    """Return a column with the dates alone of dates and times, whether it has dates, and the seconds of the day.

    Text is a date as "2026-11-23", and one with a time as "2026-11-23 18:30". Empty text becomes None. Seconds are None
    if no entry has a time of day; parts of a second are left out.

    >>> split_times(np.array(["2026-11-23T18:30", "2026-11-24"], dtype="datetime64[m]"))
    (array(['2026-11-23', '2026-11-24'], dtype='datetime64[D]'), True, array([66600,     0]))
    """
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        seconds = np.where(np.isnat(values), 0, (values.astype("M8[s]") - days.astype("M8[s]")).astype(np.int64))
        return days, True, seconds if seconds.any() else None
    if values.dtype.kind not in "OU":
        return values, False, None
    entries = [_date_of(value) for value in values.tolist()]
    seconds = np.array(
        [at.hour * 3600 + at.minute * 60 + at.second if isinstance(at, datetime.datetime) else 0 for at in entries]
    )
    entries = [at.date() if isinstance(at, datetime.datetime) else at for at in entries]
    is_date = any(isinstance(value, datetime.date) for value in entries)
    return objects(entries), is_date, seconds if seconds.any() else None


def _date_of(value: Any) -> Any:
    """Return the date or the date and time that a text is, None for an empty text and NaT, and all else as it is."""
    if isinstance(value, datetime.datetime):
        return None if value != value else value
    if isinstance(value, str):
        value = value.strip()
        if is_date_text(value[:10]) and (len(value) == 10 or value[10] in " T"):
            kind = datetime.date if len(value) == 10 else datetime.datetime
            try:
                return kind.fromisoformat(value)
            except ValueError as error:
                raise EncodingError(f"{describe(value)} is not a date: {error}") from None
    return None if value == "" else value


def _real(numerators: npt.NDArray[Any], denominators: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the nearest float64, the greatest one of what is beyond."""
    if numerators.dtype != object:
        return np.asarray(numerators / denominators)
    most = int(np.finfo(np.float64).max)
    return np.array(
        [
            max(-most, min(most, n // d)) if abs(n) > most else n / d
            for n, d in zip(numerators, denominators, strict=True)
        ],
        dtype=np.float64,
    )


def decimal_digits(left: npt.NDArray[Any]) -> Integers:
    """Return the decimal digits of whole numbers from 0 on, from the right, (examples, digits)."""
    places = len(str(max(left.tolist(), default=0)))
    found = np.empty((len(left), places), dtype=np.int64)
    for i in range(places):
        left, found[:, i] = left // 10, left % 10
    return found


@dataclass(frozen=True)
class Reading:
    """One way to read a column.

    Attributes:
        kind: "modulus", "digit", "valuation", "checksum", "calendar" or "size".
        name: in words, with {} for the column, as "{} mod 7".
        use: how to compute it, as "{} % 7"; "" where words are enough.
        modulus: m, where codes are residues modulo m.
        codes: of `Numbers`, int64 (examples,), from 0 on.
        labels: the codes in words; () where they are their own.
    """

    kind: str
    name: str
    use: str
    modulus: int | None
    codes: Callable[[Numbers], Integers]
    labels: tuple[str, ...] = ()

    def label(self, code: int) -> str:
        """Return a code in words."""
        return self.labels[code] if self.labels else str(code)

    @property
    def key(self) -> str:
        """Return a short name, as of a feature.

        >>> [one.key for one in readings(read_numbers(np.arange(400))[0], 2)][:3]
        ['mod2', 'digit_of_10_1', 'digit_of_2_1']
        """
        if self.kind in ("modulus", "checksum"):
            return f"{'mod' if self.kind == 'modulus' else 'checksum_mod'}{self.modulus}"
        return re.sub(r"\W+", "_", self.name.format("").removesuffix(" of ")).strip("_")


def readings(numbers: Numbers, greatest: int) -> Iterator[Reading]:
    """Yield the ways to read numbers, the simplest first: of two that say the same the first is found.

    Moduli and digits are those that repeat at least three times over the range of the numbers, since else they would
    only tell size.

    Args:
        numbers: a sample.
        greatest: modulus that is tried.

    >>> kinds = [reading.name for reading in readings(read_numbers(np.arange(40))[0], 5)]
    >>> kinds[:6]
    ['{} mod 2', '{} mod 3', '{} mod 4', '{} mod 5', 'digit of 2^1 of {}', 'digit of 2^2 of {}']
    """
    if numbers.decimals is None:
        return
    least, most = min(numbers.whole.tolist()), max(numbers.whole.tolist())
    yield from _calendar(numbers, least, most)
    spread, column = most - least + 1, f"{{}}·10^{numbers.decimals}" if numbers.decimals else "{}"
    use = f"round({{}} * {10**numbers.decimals})" if numbers.decimals else "{}"
    for m in range(2, min(greatest, spread // 3) + 1):
        if not (numbers.is_date and m == 7):  # the weekday
            yield Reading("modulus", f"{column} mod {m}", f"{use} % {m}", m, partial(residue, m=m))
    for p in (10, *_PADIC):
        for k in takewhile(lambda k, p=p: 3 * p ** (k + 1) <= spread, range(1, 18)):  # type: ignore[misc]
            name = f"digit of 10^{k - numbers.decimals} of {{}}" if p == 10 else f"digit of {p}^{k} of {column}"
            how = f"{use} // {p**k} % {p}" if least >= 0 or p != 10 else ""
            of_10 = partial(digits_from, k=k, count=1)
            yield Reading("digit", name, how, p, of_10 if p == 10 else partial(residue, m=p, unit=p**k))
            if p == 10 and 3 * 100 * 10**k <= spread and not numbers.is_date:
                name = f"pair of digits of 10^{k + 1 - numbers.decimals} and 10^{k - numbers.decimals} of {{}}"
                how = how.replace("% 10", "% 100")
                yield Reading("digit", name, how, 100, partial(digits_from, k=k, count=2))
    for k in range(1, numbers.digits.shape[1]):
        if least >= 0 and 1 < most // 10**k < GREATEST_MODULUS:
            name = f"{column} without its last {'digit' if k == 1 else f'{k} digits'}"
            yield Reading("digit", name, f"{use} // {10**k}", None, partial(_upper_digits, k=k, most=most // 10**k))
    for p in _VALUATIONS:
        yield Reading("valuation", f"exponent of {p} in {column}", "", p, partial(_valuation, p=p))
    if numbers.digits.shape[1] > 2 and not numbers.decimals:
        for name, m, weights in _CHECK_SUMS:
            yield Reading("checksum", name, "", m, partial(_check_sum, weights=weights, m=m))


def size_reading(numbers: Numbers, left: npt.NDArray[np.float64]) -> Reading:
    """Return the size in parts between which what is to be told differs most: a tree of up to eight leaves.

    Args:
        numbers: a sample.
        left: what is to be told, (examples, any number).

    >>> numbers = read_numbers(np.arange(100))[0]
    >>> size_reading(numbers, (numbers.real > 30)[:, None] * 1.0).codes(read_numbers(np.array([30, 31]))[0])
    array([0, 1])
    """
    order = np.argsort(numbers.real, kind="stable")
    real, sums = numbers.real[order], np.cumsum(left[order], axis=0)
    sums = np.concatenate([np.zeros((1, sums.shape[1])), sums])
    can_split = np.flatnonzero(real[1:] > real[:-1]) + 1
    cuts = [0, len(real)]

    def best_cut(low: int, high: int) -> tuple[float, int]:
        at = can_split[(can_split > low) & (can_split < high)]
        if not len(at):
            return 0.0, low
        before, after = sums[at] - sums[low], sums[high] - sums[at]
        gain = (before**2).sum(1) / (at - low) + (after**2).sum(1) / (high - at)
        gain -= ((sums[high] - sums[low]) ** 2).sum() / (high - low)
        return float(gain.max()), int(at[gain.argmax()])

    while len(cuts) <= _LEAVES:
        gain, at = max(best_cut(low, high) for low, high in pairwise(cuts))
        if gain <= 1e-9:
            break
        cuts = sorted([*cuts, at])
    edges = np.array([(real[cut - 1] + real[cut]) / 2 for cut in cuts[1:-1]])
    return Reading("size", f"size of {{}} in {len(cuts) - 1} parts", "", None, partial(_size, edges=edges))


def _size(numbers: Numbers, *, edges: npt.NDArray[np.float64]) -> Integers:
    return np.searchsorted(edges, numbers.real)


def residue(numbers: Numbers, *, m: int, shift: int = 0, unit: int = 1, is_absolute: bool = False) -> Integers:
    """Return (n + shift) // unit modulo m, of |n| or n."""
    whole = np.abs(numbers.whole) if is_absolute else numbers.whole
    return np.asarray((whole + shift) // unit % m, dtype=np.int64)


def digits_from(numbers: Numbers, *, k: int, count: int) -> Integers:
    """Return the decimal digits of |n| from 10^k up, so many, as one number."""
    digits = numbers.digits[:, k : k + count]
    return np.asarray(digits @ 10 ** np.arange(digits.shape[1]), dtype=np.int64)


def _upper_digits(numbers: Numbers, *, k: int, most: int) -> Integers:
    """Return |n| // 10^k, and most + 1 where it is more."""
    return np.asarray(np.minimum(np.abs(numbers.whole) // 10**k, most + 1), dtype=np.int64)


def _valuation(numbers: Numbers, *, p: int) -> Integers:
    found = np.zeros(len(numbers), dtype=np.int64)
    for k in range(1, _GREATEST_VALUATION + 1):
        found += np.asarray(numbers.whole % p**k == 0)
    return found


def _check_sum(numbers: Numbers, *, weights: Sequence[int | str], m: int) -> Integers:
    """Return the sum of the digits from the right, times weights, modulo m; "2×" is the sum of the digits of 2·d."""
    columns = zip(numbers.digits.T, cycle(weights))
    total = sum(_DOUBLED[d] if weight == "2×" else d * int(weight) for d, weight in columns)
    return np.asarray(total, dtype=np.int64) % m


_CHECK_SUMS: tuple[tuple[str, int, Sequence[int | str]], ...] = (
    ("sum of the digits of {} modulo 10", 10, (1,)),
    ("sum of the digits of {} modulo 11", 11, (1,)),
    ("sum of the digits of {} with weights 1, 3, 1, 3 … modulo 10 (EAN, with its check digit)", 10, (1, 3)),
    ("sum of the digits of {} with weights 3, 1, 3, 1 … modulo 10 (EAN, without its check digit)", 10, (3, 1)),
    ("Luhn sum of {} modulo 10 (with its check digit)", 10, (1, "2×")),
    ("Luhn sum of {} modulo 10 (without its check digit)", 10, ("2×", 1)),
    ("sum of the digits of {} with weights 1, 2, 3 … modulo 11 (ISBN-10, with its check digit)", 11, range(1, 40)),
    ("sum of the digits of {} with weights 2, 3, 4 … modulo 11 (ISBN-10, without its check digit)", 11, range(2, 40)),
    ("sum of the digits of {} with weights −1, 1, 2 … modulo 10 (CAS, with its check digit)", 10, (-1, *range(1, 40))),
    ("sum of the digits of {} with weights 1, 2, 3 … modulo 10 (CAS, without its check digit)", 10, range(1, 40)),
)
"""Well-known sums: name, modulus, and the weights of digits, from the right."""


def _calendar(numbers: Numbers, least: int, most: int) -> Iterator[Reading]:
    """Yield parts of dates: of dates, of whole numbers that may be days, and of those that may be years."""
    may_be_days = numbers.decimals == 0 and _DAYS[0] <= least and most <= _DAYS[1] and most - least > 730
    if numbers.is_date or may_be_days:
        of = "{}" if numbers.is_date else "{}, read as days since 1970-01-01,"
        if numbers.is_date:
            yield Reading("calendar", "weekday of {}", "", 7, partial(residue, m=7, shift=3), _WEEKDAYS)
        parts = {"month": "month", "day of the month": "day", "leap year": "leap-year"}
        for words, part in (parts | ({} if numbers.seconds is None else {"hour": "hour"})).items():
            yield Reading("calendar", f"{words} of {of}", "", None, partial(calendar_part, part=part))
    if not numbers.is_date and numbers.decimals == 0 and _YEARS[0] <= least and most <= _YEARS[1]:
        yield Reading("calendar", "leap year of {}", "", None, partial(_is_leap, of_years=True))


CALENDAR = {
    "weekday": (0, 7),
    "month": (1, 12),
    "day": (1, 31),
    "leap-year": (0, 2),
    "hour": (0, 24),
    "minute": (0, 60),
    "second": (0, 60),
}
"""Parts of dates and times: the least value, Monday for weekdays, and how many there are."""


def calendar_part(numbers: Numbers, *, part: str) -> Integers:
    """Return a part of dates and times, as `CALENDAR` has them."""
    if part in ("hour", "minute", "second"):
        seconds = np.zeros(len(numbers), dtype=np.int64) if numbers.seconds is None else numbers.seconds
        return {"hour": seconds // 3600, "minute": seconds // 60 % 60, "second": seconds % 60}[part]
    if part == "leap-year":
        return _is_leap(numbers, of_years=False)
    days = numbers.whole.astype(np.int64).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    found = months.astype(np.int64) % 12 + 1 if part == "month" else (days - months).astype(np.int64) + 1
    return np.asarray(found, dtype=np.int64)


def _is_leap(numbers: Numbers, *, of_years: bool) -> Integers:
    whole = numbers.whole.astype(np.int64)
    years = whole if of_years else whole.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    return np.asarray((years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0)), dtype=np.int64)
