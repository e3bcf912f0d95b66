"""`probe`: which moduli, digits, valuations, check sums, parts of dates and sizes of a column tell a target.

Readings of a column (`adelic.probing.readings`) are screened on one half of the examples, and the best is confirmed on
the other half, so that noise finds nothing however many are tried. What a finding does not explain is asked again.
"""

import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, EncodingError, needs_extra
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import columns_of, is_frame, is_missing, matrix_of, series_of
from adelic.numbers.describe import describe
from adelic.probing.laws import law_readings
from adelic.probing.readings import GREATEST_MODULUS, Numbers, Reading, read_numbers, readings, size_reading

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LEAST = 20
"""Examples with a number and a target, at least."""
_SCREENED, _CELLS = 20_000, 200_000
"""More examples of the first half are not screened, nor more examples times classes."""
_TRIED = 3
"""The best readings of a screening that are confirmed."""
_ROUNDS = 3
"""Findings of a column, at most, and laws."""
_LEAST_VALUES = 4
"""Different numbers that can be halved."""
_FEW = 24
"""So few different numbers, as hours, are asked for size even if half of them do not tell the other half."""
_PERMUTED = 5_000
"""With more examples the normal distribution is near enough."""
_PERMUTATIONS = 1_999
_CLASSES = 100
"""Numbers with more different values are no classes."""
_FAR = 5
"""Standard deviations above chance that hardly any of a thousand random codes has."""
_GAIN = 0.01
"""The least share of the variance that a further finding adds, on the examples kept aside."""
_NEARLY = 0.005
"""A divisor of a modulus does instead of it if it scores at most this much less."""
_LINE, _LABELS, _LONGEST, _WIDTH, _WRAPPED = 22, 100, 480, 840, 90
"""Of a picture, in pixels: the height of a line, where labels end, the longest bar, the width; characters of a line."""
_BARS = 12
"""Codes of a picture."""
_EXACT = 0.999
_SIMPLE, _LAWFUL, _BETTER = 0.95, 0.5, 0.05
"""No law of digits is asked for with the first score; a law has the second one, and the third more than a reading."""


class ProbeWarning(UserWarning):
    """A column cannot be probed; the message says why.

    >>> issubclass(ProbeWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Finding:
    """Something arithmetic in a column that tells the target.

    Attributes:
        column: its name.
        kind: "modulus", "digit", "valuation", "checksum", "calendar" or "size".
        modulus: m of residues modulo m, p of digits and valuations at p; None where there is none.
        score: the share of the target's variance that it explains on examples that it was not learned from, at most 1;
            of classes the variance of their indicators (one less the Brier score by that of constant shares).
        sentence: in words, with the share of right answers or of the variance, and how to compute it.
        table: code -> mean of the target in the half that chose, of classes the share of each, and how many examples.
        classes: those of the target, () of a number.
        reading: how the codes are computed.
        decimals: digits after the point that are read; numbers with more have the code −1.
        letters: how letters are read.
    """

    column: str
    kind: str
    modulus: int | None
    score: float
    sentence: str
    table: dict[int, tuple[list[float], int]] = field(repr=False, compare=False)
    classes: tuple[Any, ...] = field(repr=False, compare=False)
    reading: Reading = field(repr=False, compare=False)
    decimals: int | None = field(repr=False, compare=False)
    letters: str | None = field(default=None, repr=False, compare=False)

    def codes(self, values: Any) -> Integers:
        """Return the codes of a column's values, (examples,) -> int64 (examples,); −1 where there is none.

        >>> n = np.arange(1000)
        >>> probe(n, n % 7 < 5)[0].codes([7, 15, None])
        array([ 0,  1, -1])
        """
        numbers, is_there = read_numbers(series_of(values), self.decimals, self.letters)
        found = np.full(len(is_there), -1)
        found[is_there] = self.reading.codes(numbers)
        return found

    def picture(self, width: int = 40) -> str:
        """Return bars of the target for the most frequent codes: means, of two classes the share of the first.

        >>> n = np.arange(1000)
        >>> print(probe(n, n % 3 == 1)[0].picture(width=4))
        code  share of False
           0  ████ 100 %
           1         0 %
           2  ████ 100 %
        """
        title, labels, lengths, texts = self._bars()
        side = max(4, *map(len, labels))
        rows = zip(labels, ["█" * round(width * length) for length in lengths], texts, strict=True)
        lines = [f"{'code':>{side}}  {title}", *(f"{label:>{side}}  {bar:{width}} {text}" for label, bar, text in rows)]
        more = len(self.table) - len(lengths)
        return "\n".join(lines + ([f"{'…':>{side}}  {more} more"] if more else []))

    def _bars(self) -> tuple[str, list[str], list[float], list[str]]:
        """Return the title of the bars, and of each its code, its length from 0 to 1, and its value."""
        most = sorted(sorted(self.table, key=lambda code: -self.table[code][1])[:_BARS])
        means = [self.table[code][0] for code in most]
        shown = [max(of) if len(of) > 2 else of[0] for of in means]
        texts = [f"{100 * one:3.0f} %" if self.classes else f"{one:.6g}" for one in shown]
        title = f"share of {self.classes[0]}" if self.classes else "mean"
        if len(self.classes) > 2:
            title, names = "most frequent class", [self.classes[int(np.argmax(of))] for of in means]
            texts = [f"{text} {name}" for text, name in zip(texts, names, strict=True)]
        low, high = (0.0, 1.0) if self.classes else (min(0.0, *shown), max(0.0, *shown))
        labels = [self.reading.label(code) for code in most]
        return title, labels, [(one - low) / (high - low or 1) for one in shown], texts


class Findings(list[Finding]):
    """Findings, the strongest first; columns of codes for any model.

    >>> print(probe(np.arange(1000), np.arange(1000) % 7 < 5))
    1. x0 mod 7 tells the target: 100.0 % of the examples kept aside are right (72.4 % without it): use x0 % 7
    """

    def __str__(self) -> str:
        """Return a line for each."""
        return "\n".join(f"{i}. {found.sentence}" for i, found in enumerate(self, 1)) or "nothing found"

    def __getitem__(self, index: Any) -> Any:
        """Return a finding, or some, which are `Findings`, too."""
        found = super().__getitem__(index)
        return Findings(found) if isinstance(index, slice) else found

    def plot(self) -> str:
        """Return a picture of all findings as the text of an SVG file, with the bars of `Finding.picture`.

        Notebooks show findings so; `adelic probe --plot FILE.svg` writes it.

        >>> n = np.arange(1000)
        >>> probe(n, n % 3 == 1).plot().count("<rect")  # a background, and a bar for each code
        4
        """
        drawn: list[str] = []
        y = _LINE

        def write(x: int, text: str, anchor: str = "start", weight: str = "normal") -> None:
            drawn.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>')

        for i, one in enumerate(self, 1):
            for line in textwrap.wrap(f"{i}. {one.sentence}", _WRAPPED):
                write(_LINE, line, weight="bold")
                y += _LINE
            title, labels, lengths, texts = one._bars()
            write(_LABELS + _LINE, title)
            y += _LINE
            for label, length, text in zip(labels, lengths, texts, strict=True):
                write(_LABELS, label, "end")
                size = round(_LONGEST * length)
                drawn.append(f'<rect x="{_LABELS + _LINE}" y="{y - 13}" width="{size}" height="16" fill="#3b7dd8"/>')
                write(_LABELS + _LINE + size + 6, text)
                y += _LINE
            if more := len(one.table) - len(lengths):
                write(_LABELS + _LINE, f"… {more} more")
                y += _LINE
            y += _LINE
        if not self:
            write(_LINE, str(self))
        whole = f'width="{_WIDTH}" height="{y}" viewBox="0 0 {_WIDTH} {y}"'
        font = 'font-family="sans-serif" font-size="14"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" {whole} {font}>'
        return "\n".join([start, '<rect width="100%" height="100%" fill="white"/>', *drawn, "</svg>\n"])

    def _repr_html_(self) -> str:
        return self.plot()

    def features(self, X: Any) -> Integers:
        """Return the codes of all findings, (examples, findings): classes, not sizes, so that models encode them so.

        Args:
            X: a table with the columns that were probed.

        >>> n = np.arange(1000)
        >>> probe(n, n % 7 < 5).features([[8], [9]])
        array([[1],
               [2]])
        """
        names, columns = _columns(X)
        missing = [one.column for one in self if one.column not in names]
        if missing:
            raise ConfigurationError(f"X has no column {missing[0]!r}; it has {', '.join(names)}")
        codes = [one.codes(columns[names.index(one.column)]) for one in self]
        return np.stack(codes, axis=1) if codes else np.empty((len(columns[0]), 0), dtype=np.int64)

    def transformer(self) -> Any:
        """Return a scikit-learn transformer of tables into these codes, for a pipeline or a `FeatureUnion`.

        Nothing of it is fitted later. Codes are names of classes: models other than trees need an encoder after it,
        such as `OneHotEncoder`.

        Raises:
            MissingExtraError: there is no scikit-learn.

        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> n = np.arange(1000)
        >>> model = make_pipeline(probe(n, n % 7 < 5).transformer(), OneHotEncoder(), LogisticRegression())
        >>> model.fit(n, n % 7 < 5).predict([700, 705, 706])
        array([ True, False, False])
        >>> model[0].get_feature_names_out()
        array(['x0 % 7'], dtype=object)
        """
        with needs_extra("Findings.transformer", "sklearn"):
            from sklearn.preprocessing import FunctionTransformer
        names = [(one.reading.use or one.reading.name).format(one.column) for one in self]
        return FunctionTransformer(self.features, feature_names_out=partial(_names, names))


def _names(names: list[str], transformer: Any, columns: Any) -> npt.NDArray[np.object_]:
    return np.array(names, dtype=object)


def probe(X: Any, y: Any, *, alpha: float = 0.01, seed: int = 0, letters: str | None = None) -> Findings:
    """Return what arithmetic of number columns tells a target, the strongest first.

    Tried are n mod m for m up to 1,000, decimal digits and those at the primes 2, 3, 5 and 7, valuations, weighted sums
    of digits (check digits), parts of dates, and size. One half of the examples, drawn by the seed, chooses, the other
    half confirms: in columns of noise a call finds something with a probability of about alpha at most. Of moduli that
    tell as much the least is reported. Codes with a check character, as the text "0-8044-2957-X", are numbers, too.

    Laws that digits obey are found by linear algebra modulo m, without learning (`adelic.probing.laws`): where the
    target may be a check digit, and where it may say whether a number is valid.

    Args:
        X: a data frame, a mapping of columns, a matrix or a column: (examples, columns) or (examples,).
        y: labels of any type, or numbers, (examples,); numbers of more than 100 values, or with fractions, are
            explained in the mean. Missing ones are left out.
        alpha: error rate.
        seed: of the halves.
        letters: "base-36" reads letters in text as 10 (A) … 35 (Z), one after the other, as IBAN does; by default a
            column with letters is left out.

    Raises:
        ConfigurationError: the target has one value, or another length; there are fewer than 20 examples.

    Warns:
        ProbeWarning: a column is constant, has no numbers, or letters.
        LossyFloatWarning: a column of floats has probably lost digits, as integers from 2^53 on, of float32 from 2^24.

    >>> rng = np.random.default_rng(0)
    >>> n = rng.integers(10**7, 10**8, 500)
    >>> letters = np.array(list("TRWAGMYFPDXBNJZSQVHLCKE"))[n % 23]  # of Spanish identity numbers
    >>> found = probe(n, letters)
    >>> found[0].kind, found[0].modulus, round(found[0].score, 2)
    ('modulus', 23, 1.0)
    >>> probe(rng.integers(0, 10**9, 500), letters)
    []
    """
    if not 0 < alpha < 1 or seed < 0:
        raise ConfigurationError(f"alpha={alpha} and seed={seed}: alpha is between 0 and 1, and seed 0 or more")
    names, columns = _columns(X)
    if len({len(column) for column in columns}) > 1:
        raise ConfigurationError("the columns of X differ in length; give a value, or None, for each example")
    target = _Target.read(y, len(columns[0]) if columns else 0)
    rng = np.random.default_rng(seed)
    found: list[Finding] = []
    for name, values in zip(names, columns, strict=True):
        try:
            numbers, is_there = read_numbers(values[target.is_there], letters=letters)
            if values.dtype.kind == "f" and numbers.decimals is not None:  # of measurements no digit is read
                check_lossy(values, floats="shortest", lossy="warn", column=f"column {name}")
            some = _probe_column(name, numbers, target[is_there], alpha / len(columns), rng)
            found += [replace(one, letters=letters) for one in some]
        except EncodingError as error:
            warnings.warn(f"column {name}: {error}; it was left out", ProbeWarning, stacklevel=2)
    return Findings(sorted(found, key=lambda one: -one.score))


_DIGITS = re.compile(r"\d{1,3}(\.0)?|[xX]")
"""What may be a check digit."""


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True)
class _Target:
    """What is to be told.

    Attributes:
        name: in words.
        shares: indicators of classes, or the number with mean 0 and variance 1, (examples, classes or 1).
        classes: () of a number.
        whole: whole numbers, where all are, for laws.
        unit: deviation and mean of a number; (1, 0) of classes.
        is_there: which examples of the table have a target.
    """

    name: str
    shares: Floats
    classes: tuple[Any, ...]
    whole: Integers | None
    unit: tuple[float, float]
    is_there: npt.NDArray[np.bool_]

    @classmethod
    def read(cls, y: Any, examples: int) -> "_Target":
        values = series_of(y)
        if values.shape != (examples,):
            raise ConfigurationError(
                f"the target has the shape {values.shape}, X has {examples} examples; give one value for each"
            )
        name = str(getattr(y, "name", None) or "the target")
        is_there = np.array([not is_missing(value) for value in values.tolist()], dtype=np.bool_)
        values = values[is_there]
        if len(values) < _LEAST:
            raise ConfigurationError(f"{len(values)} examples have a target; {_LEAST} are the least that can be probed")
        (classes, codes), unit = _classes(values), (1.0, 0.0)
        if len(classes) < 2:
            raise ConfigurationError(f"{name} is {describe(classes[0])} in all examples; there is nothing to tell")
        is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in classes)
        if is_number and not all(map(_is_finite, classes)):
            raise ConfigurationError(f"{name} has a value that is infinite, or beyond float64; leave such examples out")
        is_whole = is_number and all(value == int(value) for value in classes)
        if is_number and (not is_whole or len(classes) > min(_CLASSES, len(values) // 2)):
            real = values.astype(np.float64)
            real, greatest = real / np.abs(real).max(), float(np.abs(real).max())
            shares = ((real - real.mean()) / real.std())[:, None]
            unit, classes = (float(real.std()) * greatest, float(real.mean()) * greatest), []
        elif len(classes) > len(values) // 2:
            counted = f"{len(classes):,} different values in {len(values):,} examples"
            raise ConfigurationError(f"{name} has {counted}; these are names, no classes")
        else:
            shares = np.eye(len(classes))[codes]
        whole = None
        if classes and all(_DIGITS.fullmatch(str(value)) for value in classes):
            whole = np.array([10 if str(value) in "xX" else int(float(value)) for value in values.tolist()])
        return cls(name, shares, tuple(classes), whole, unit, is_there)

    def __getitem__(self, indices: npt.NDArray[Any]) -> "_Target":
        whole = None if self.whole is None else self.whole[indices]
        return replace(self, shares=self.shares[indices], whole=whole)


def _classes(values: npt.NDArray[Any]) -> tuple[list[Any], Integers]:
    """Return different values, sorted where they can be, and which each entry is."""
    if values.dtype.kind != "O":
        classes, codes = np.unique(values, return_inverse=True)
        return classes.tolist(), codes
    known = {value: i for i, value in enumerate(dict.fromkeys(values.tolist()))}
    return list(known), np.array([known[value] for value in values.tolist()], dtype=np.int64)


def _columns(X: Any) -> tuple[list[str], list[npt.NDArray[Any]]]:
    """Return names and values of the columns of a frame, a mapping, matrix, series or list."""
    if isinstance(X, Mapping):
        return [str(name) for name in X], [series_of(values) for values in X.values()]
    table = matrix_of(X)
    if not is_frame(table) and (not hasattr(table, "shape") or len(table.shape) == 1 or hasattr(X, "null_count")):
        return [str(getattr(X, "name", None) or "x0")], [series_of(X)]
    columns = columns_of(table)
    names = getattr(table, "column_names", getattr(table, "columns", [f"x{j}" for j in range(len(columns))]))
    return [str(name) for name in names], columns


def _probe_column(
    name: str, numbers: Numbers, target: _Target, alpha: float, rng: np.random.Generator
) -> list[Finding]:
    """Return the findings of one column."""
    if len(numbers) < _LEAST:
        raise EncodingError(
            f"{len(numbers)} entries are numbers with a target, {_LEAST} are the least that can be probed"
        )
    if np.all(numbers.whole == numbers.whole[0]) and np.ptp(numbers.real) == 0:
        raise EncodingError("it is constant")
    if numbers.seconds is None:
        return _halved(name, numbers, target, alpha, rng)
    # Times of one day are one example of what is read of days: a day's own target is told by every modulus.
    days = _halved(name, replace(numbers, seconds=None), target, alpha / 2, rng)
    return days + _halved(name, numbers, target, alpha / 2, rng, only="hour")


def _halved(
    name: str, numbers: Numbers, target: _Target, alpha: float, rng: np.random.Generator, only: str = ""
) -> list[Finding]:
    """Return the findings of a column, of which all readings are asked, or those whose names begin with a word."""
    of_value = _values(numbers)
    has_few = only == "" and of_value.max() < min(_FEW, len(numbers) - 1)
    alpha /= 1 + has_few
    place = np.argsort(rng.permutation(1 + of_value.max()))[of_value]
    order, half = np.argsort(place, kind="stable"), int(np.sum(place < (1 + place.max()) // 2))
    found: list[Finding] = []
    if place.max() >= _LEAST_VALUES - 1:
        found += _search(name, numbers, target, (order[:half], order[half:]), of_value, only, alpha, rng)
    if has_few and not found:
        order, half = rng.permutation(len(numbers)), len(numbers) // 2
        halves = order[:half], order[half:]
        found += _search(name, numbers, target, halves, np.arange(len(numbers)), "size", alpha, rng)
    return found


def _values(numbers: Numbers) -> Integers:
    """Return which of the different numbers each one is, (examples,); from 0 in order of first places."""
    parts = [numbers.whole, numbers.real] + ([] if numbers.seconds is None else [numbers.seconds])
    known: dict[tuple[Any, ...], int] = {}
    return np.array([known.setdefault(one, len(known)) for one in zip(*(part.tolist() for part in parts), strict=True)])


def _search(
    name: str,
    numbers: Numbers,
    target: _Target,
    halves: tuple[Integers, Integers],
    of_value: Integers,
    only: str,
    alpha: float,
    rng: np.random.Generator,
) -> Iterator[Finding]:
    """Yield the findings of one column: what one half chooses and the other one confirms.

    Equal numbers are one example, whose target is their mean, and are in one half. Else rows that are there twice would
    confirm what a number's own target is, which every modulus tells.
    """
    chooser = halves[0]
    a, b = (_Half(numbers[half], target[half].shares) for half in halves)
    same_a, same_b = (_again(of_value[half]) for half in halves)
    first_a, first_b = (np.unique(same, return_index=True)[1] for same in (same_a, same_b))
    values_a, values_b = a.numbers[first_a], b.numbers[first_b]
    n_screened = min(_SCREENED, max(2_000, _CELLS // target.shares.shape[1]))
    screened, sample = chooser[:n_screened], values_a[np.arange(min(n_screened, len(values_a)))]
    every = readings(sample, min(GREATEST_MODULUS, len(sample)))
    tried = [one for one in every if one.name.startswith(only)]
    left_a, left_b = a.scaled(a), b.scaled(a)
    had_size = only == "hour"
    for turn in range(_ROUNDS):
        means_a, means_b = (_means(same, left, 1 + same.max()) for same, left in ((same_a, left_a), (same_b, left_b)))
        is_confirmed = partial(_is_confirmed, a=values_a, b=values_b, left_a=means_a, left_b=means_b, rng=rng)
        size = [] if had_size else [size_reading(sample, means_a[: len(sample)])]
        ranked = _screen(size + tried, sample, means_a[: len(sample)])
        confirmed = [one for one in ranked[:_TRIED] if is_confirmed(one, alpha=alpha / _TRIED)]
        scores = [_score(one, a, b) for one in confirmed]
        best = next((one for one, its in zip(confirmed, scores, strict=True) if its >= max(scores) - _NEARLY), None)
        best = best and _least(best, tried, a, b, partial(is_confirmed, alpha=alpha))
        score = _score(best, a, b) if best else 0.0
        if turn == 0 and score < _SIMPLE and not only:
            for law in law_readings(numbers[screened], target[screened].whole, _two(target[screened].shares), rng):
                if is_confirmed(law, alpha=alpha / _TRIED) and _score(law, a, b) > max(score + _BETTER, _LAWFUL):
                    best, score = law, _score(law, a, b)
        if best is None or score <= 0:
            return
        codes_a, codes_b = best.codes(a.numbers), best.codes(b.numbers)
        means = _means(codes_a, left_a, 1 + max(codes_a.max(), codes_b.max()))
        further = left_b - means[codes_b]
        if turn and np.sum(further**2) > np.sum(left_b**2) - _GAIN * np.sum(b.scaled(a) ** 2):
            return  # significant, and next to nothing
        yield _finding(name, best, score, a, b, target)
        if score >= _EXACT:
            return
        left_a, left_b = left_a - means[codes_a], further
        had_size = had_size or best.kind == "size"
        tried = [one for one in tried if not _is_akin(one, best)]


def _again(of_value: Integers) -> Integers:
    """Return which of the different entries each one is, in the order of their first places."""
    _, first, which = np.unique(of_value, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which])


def _is_akin(one: Reading, other: Reading) -> bool:
    """Return whether of two readings one says what the other does, or a part of it."""
    m, n = one.modulus, other.modulus
    return one is other or bool(other.kind in ("modulus", "calendar") and m and n and max(m, n) % min(m, n) == 0)


@dataclass(frozen=True)
class _Half:
    numbers: Numbers
    shares: Floats

    def scaled(self, first: "_Half") -> Floats:
        """Return the target less its mean in the first half; classes are divided by the root of their share."""
        mean = first.shares.mean(axis=0)
        return np.asarray(
            (self.shares - mean) / (np.sqrt(np.maximum(mean, 1 / len(first.shares))) if self.shares.shape[1] > 1 else 1)
        )


def _two(shares: Floats) -> list[npt.NDArray[np.bool_]]:
    """Return which examples each of two classes has."""
    return [column == 1 for column in shares.T] if shares.shape[1] == 2 else []


def _sums(codes: Integers, values: Floats, size: int) -> Floats:
    return np.stack([np.bincount(codes, column, size) for column in values.T], axis=1)


def _means(codes: Integers, values: Floats, size: int) -> Floats:
    """Return the mean of values for each code; for a code that does not occur the mean of the others' means."""
    counts = np.bincount(codes, minlength=size)
    found: Floats = _sums(codes, values, size) / np.maximum(counts, 1)[:, None]
    found[counts == 0] = found[counts > 0].mean(axis=0)
    return np.asarray(found)


def _screen(tried: Sequence[Reading], numbers: Numbers, left: Floats) -> list[Reading]:
    """Return the readings that may tell most, the best first, of equal ones the simplest.

    The variance between codes is compared with its mean under permutations, (K − 1)·tr C, in standard deviations of
    about √(2 (K − 1) (n − K)/(n + 1) tr C²), C being the covariance of what is to be told. Of those that are at
    least half as far above it as the farthest, the one that explains most beyond the mean is best: many codes are not
    held against a reading that is certainly more than chance. A reading has at most half as many codes as there are
    different numbers: more would be names for them.
    """
    n, most = len(left), len(set(numbers.whole.tolist())) / 2
    covariance = left.T @ left / (n - 1)
    mean, variance = np.trace(covariance), np.sum(covariance**2)
    heights, shares = np.full(len(tried), -math.inf), np.zeros(len(tried))
    for i, one in enumerate(tried):
        codes = one.codes(numbers)
        counts = np.bincount(codes)
        is_there = counts > 0
        groups = int(is_there.sum())
        if 1 < groups < n and variance > 0 and (one.kind == "size" or groups <= most):
            between = np.sum(_sums(codes, left, len(counts))[is_there] ** 2 / counts[is_there, None])
            spread = math.sqrt(2 * (groups - 1) * (n - groups) / (n + 1) * variance)
            heights[i] = (between - (groups - 1) * mean) / spread
            shares[i] = round((between - (groups - 1) * mean) / ((n - groups) * mean), 2)
    farthest = heights.max(initial=0)
    high = np.flatnonzero((heights > 0) & (heights >= max(farthest / 2, min(farthest, _FAR))))
    return [tried[i] for i in high[np.argsort(-shares[high], kind="stable")]]


def _is_confirmed(
    one: Reading, *, a: Numbers, b: Numbers, left_a: Floats, left_b: Floats, alpha: float, rng: np.random.Generator
) -> bool:
    """Return whether what the first half says of the codes tells the second half more than chance does.

    The sum of products of what is foretold and what is left is compared with permutations of the second half: its mean
    and variance under them are known; where examples are few, and the tail may be heavy, it is also permuted.
    """
    codes_a, codes_b = one.codes(a), one.codes(b)
    foretold = _means(codes_a, left_a, 1 + max(codes_a.max(), codes_b.max()))[codes_b]
    foretold, rest = foretold - foretold.mean(axis=0), left_b - left_b.mean(axis=0)
    total = np.sum(foretold * rest)
    deviation = math.sqrt(np.sum((foretold.T @ foretold) * (rest.T @ rest)) / (len(rest) - 1))
    threshold = NormalDist().inv_cdf(1 - alpha)
    if deviation == 0 or total < threshold * deviation:
        return False
    # A rare class that falls once into a narrow part makes all of the sum: this is for permutations to judge.
    is_broad = np.abs(np.sum(foretold * rest, axis=1)).max() < total / 4
    if len(rest) > _PERMUTED or (is_broad and total > 4 * threshold * deviation):
        return True
    sums = np.array([np.sum(foretold * rest[rng.permutation(len(rest))]) for _ in range(_PERMUTATIONS)])
    return bool((1 + np.sum(sums >= total)) / (1 + _PERMUTATIONS) <= max(alpha, 1 / _PERMUTATIONS))


def _least(
    best: Reading, tried: Sequence[Reading], a: _Half, b: _Half, is_confirmed: Callable[[Reading], bool]
) -> Reading:
    """Return the reading modulo the least divisor of a modulus that tells as much."""
    if best.kind != "modulus" or best.modulus is None:
        return best
    enough = _score(best, a, b) - _NEARLY
    divisors = [
        one for one in tried if one.modulus and one.kind in ("modulus", "calendar") and best.modulus % one.modulus == 0
    ]
    return next(
        one
        for one in sorted(divisors, key=lambda one: one.modulus or 0)
        if one is best or (_score(one, a, b) >= enough and is_confirmed(one))
    )


def _score(one: Reading, a: _Half, b: _Half) -> float:
    """Return the share of the second half's variance that the first half's means of the codes explain."""
    foretold = _foretold(one, a, b)
    whole = np.sum((b.shares - a.shares.mean(axis=0)) ** 2)
    return float(1 - np.sum((b.shares - foretold) ** 2) / whole) if whole else 0.0


def _foretold(one: Reading, a: _Half, b: _Half) -> Floats:
    codes_a, codes_b = one.codes(a.numbers), one.codes(b.numbers)
    return _means(codes_a, a.shares, 1 + max(codes_a.max(), codes_b.max()))[codes_b]


def _finding(name: str, one: Reading, score: float, a: _Half, b: _Half, target: _Target) -> Finding:
    """Return a finding with its sentence."""
    codes = one.codes(a.numbers)
    means = _means(codes, a.shares, 1 + codes.max())
    counts = np.bincount(codes)
    table = {
        code: ((means[code] * target.unit[0] + target.unit[1]).tolist(), int(counts[code]))
        for code in np.flatnonzero(counts).tolist()
    }
    subject, advice = one.name.format(name), f": use {one.use.format(name)}" if one.use else ""
    aside = "the examples kept aside"
    if not target.classes:
        told = f"explains {score:.1%} of the variance of {target.name} on {aside}"
    else:
        right = np.mean(b.shares[np.arange(len(b.shares)), _foretold(one, a, b).argmax(axis=1)])
        usual = np.mean(b.shares[:, a.shares.mean(axis=0).argmax()])
        told = f"tells {target.name}: {right:.1%} of {aside} are right ({usual:.1%} without it)"
        if right <= usual:  # it shifts shares, and the most frequent class stays the same
            told = f"explains {score:.1%} of the variance of {target.name} on {aside}, and foretells no class better"
        for j, value in reversed([*enumerate(target.classes)] if right == 1 and len(target.classes) == 2 else []):
            if "exactly" not in told and one.kind != "size" and len(alone := np.flatnonzero(means[:, j] > 1 / 2)) == 1:
                told = f"= {one.label(int(alone[0]))} exactly where {target.name} is {value}"
    sentence = f"{subject} {told.replace('%', ' %')}{advice}"
    return Finding(name, one.kind, one.modulus, score, sentence, table, target.classes, one, a.numbers.decimals)
