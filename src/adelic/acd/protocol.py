"""What a data set task is: one frozen object that says how to generate its rows and what they mean.

A further task is one module that ends in `TASK = Task(...)`, and one line in `adelic.acd.registry`.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import psutil
from numpy.typing import NDArray

from adelic.data import Integers as Integers  # the tasks import both from here
from adelic.data import Symmetry as Symmetry
from adelic.errors import ConfigurationError, TaskSizeError, UnknownNameError

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is being done); None is silence."""
Cue = Callable[[Integers], Integers]
"""Reads something trivial off every row, (rows, length) -> (rows,); the audit says how far it gives the label away."""

GIBIBYTE = 1 << 30
SPLIT_KINDS: Mapping[str, str] = {
    "published": "as published, without regard to symmetries",
    "orbits": "whole orbits under the task's symmetries in one part, so that images of rows may be trained on",
}
"""How rows are divided into train, validation and test; see `adelic.acd.splits`."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a task as its generator made them, before they are split.

    Attributes:
        X: tokens, shape (rows, length), a small integer dtype.
        y: class indices, shape (rows,); or, for regression, targets of shape (rows,) or (rows, targets).
        test: which rows are test rows, shape (rows,), where the task's own publication fixes that;
            None has `adelic.acd.splits` draw them at random.
        groups: integers, shape (rows,): rows of equal group share their split; None leaves every row on its own.

    >>> rows = Rows(np.array([[2, 3, 0, 1]], np.int8), np.array([0], np.int8))
    >>> rows.X.shape, rows.test is None
    ((1, 4), True)
    """

    X: Integers
    y: Integers
    test: NDArray[np.bool_] | None = None
    groups: Integers | None = None


@dataclass(frozen=True)
class Estimate:
    """How large a data set will be, known before it is generated.

    Attributes:
        rows: the number of rows.
        bytes: the memory that generating and storing them takes at its peak.
        exact: whether `rows` is a proven count; else the data set has about so many rows, or more.

    >>> from adelic.acd import weaving
    >>> weaving.TASK.estimate(6, "published")
    Estimate(rows=1816, bytes=552064, exact=True)
    """

    rows: int
    bytes: int
    exact: bool


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which rows to make, and how.

    Attributes:
        n: the size, checked.
        edition: the edition, checked.
        options: name -> choice, checked and complete.
        rng: draws what is random (negatives, labellings) and nothing else; its state decides the rows.
        progress: called as the work goes on.
        workers: how many processes may work; the rows do not depend on it.

    >>> Request(n=8, edition="published").workers
    1
    """

    n: int
    edition: str
    options: Mapping[str, str] = field(default_factory=dict)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress | None = None
    workers: int = 1

    def report(self, done: int, total: int, what: str) -> None:
        """Tell `progress`, if there is somebody to tell."""
        if self.progress is not None:
            self.progress(done, total, what)


class Generator(Protocol):
    """Make all rows of a task; equal requests give the same rows in the same order."""

    def __call__(self, request: Request, /) -> Rows:
        """Return the rows."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task of the Algebraic Combinatorics Dataset (ACD, arXiv:2503.06366): its names, its sizes, its generator.

    Attributes:
        name: the word that finds it in the registry.
        title: one line that says what is predicted from what.
        version: of the generator; raised whenever the same arguments would give other rows.
        sizes: the values of n that were published.
        minimum: the least n that has a row.
        maximum: the greatest n that the generator can represent, whatever the memory.
        editions: name -> one line; the first is the default.
        notes: edition -> what is published and what we settled; kept with the data as provenance.
        class_names: (n, edition) -> the name of each class index; None makes the task a regression.
        vocabulary: (n, edition) -> the integers that can occur, in token order.
        length: (n, edition) -> the number of tokens in a row.
        estimate: (n, edition) -> how large the data set is; must answer at once for every n, however large.
        generate: the generator.
        options: further choices, name -> what may be chosen; the first is the default.
        symmetries: name -> a map of rows to equivalent rows, for augmentation and for the audit of leaks across splits.
        contaminated: editions that show a leak: their results stand in no ranking.
        cues: name -> what is trivially read off a row, for the audit.
        tally: rows -> what is counted and compared with the published counts; None counts the rows of each class.

    >>> from adelic.acd import mheight
    >>> mheight.TASK.name, mheight.TASK.sizes, mheight.TASK.length(8, "published")
    ('mheight', (8, 9, 10), 8)
    >>> mheight.TASK.class_names(8, "published")
    ('0', '1', '2', '3', '4')
    """

    name: str
    title: str
    version: int
    sizes: tuple[int, ...]
    minimum: int
    maximum: int
    editions: Mapping[str, str]
    notes: Mapping[str, tuple[str, ...]]
    class_names: Callable[[int, str], tuple[str, ...] | None]
    vocabulary: Callable[[int, str], tuple[int, ...]]
    length: Callable[[int, str], int]
    estimate: Callable[[int, str], Estimate]
    generate: Generator
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    symmetries: Mapping[str, Symmetry] = field(default_factory=dict)
    contaminated: tuple[str, ...] = ()
    cues: Mapping[str, Cue] = field(default_factory=dict)
    tally: Callable[[Rows], Mapping[str, int]] | None = None

    def check_edition(self, edition: str) -> str:
        """Return `edition`, or raise UnknownNameError with the nearest one that exists."""
        if not isinstance(edition, str) or edition not in self.editions:
            raise UnknownNameError.of("edition", edition, self.editions, listed=f"editions of {self.name}")
        return edition

    def check_split(self, split: str) -> str:
        """Return `split`, or raise UnknownNameError; ConfigurationError for orbits of a task without symmetries."""
        if not isinstance(split, str) or split not in SPLIT_KINDS:
            raise UnknownNameError.of("split", split, SPLIT_KINDS)
        if split == "orbits" and not self.symmetries:
            raise ConfigurationError(f"{self.name} has no symmetries that keep labels; use --split published")
        return split

    def check_options(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return all options with their choices, or raise UnknownNameError for an option or choice that is none."""
        for name, choice in given.items():
            if name not in self.options:
                raise UnknownNameError.of("option", name, self.options, listed=f"options of {self.name}")
            if choice not in self.options[name]:
                raise UnknownNameError.of(name, choice, self.options[name], listed="choices")
        return {name: given.get(name, choices[0]) for name, choices in self.options.items()}

    def check_size(self, n: object, edition: str) -> int:
        """Return n as an int, or raise TaskSizeError: no whole number, or no data set of this size can be made."""
        size = whole_number(n)
        if size is None:
            raise TaskSizeError(
                f"n must be a whole number, not {shown(n)} (published sizes of {self.name}: {self._sizes})"
            )
        if size < self.minimum:
            raise TaskSizeError(
                f"{self.name} has no data set of size n={shown(size)}: n must be at least {self.minimum} "
                f"(published sizes: {self._sizes})"
            )
        if size > self.maximum:
            raise self._too_large(size, edition, self.estimate(size, edition))
        return size

    def check_memory(self, n: int, edition: str) -> Estimate:
        """Return the estimate for size n, or raise TaskSizeError where this machine's free memory cannot hold it."""
        estimate = self.estimate(n, edition)
        if estimate.bytes > psutil.virtual_memory().available:
            raise self._too_large(n, edition, estimate)
        return estimate

    def _too_large(self, n: int, edition: str, estimate: Estimate) -> TaskSizeError:
        memory = psutil.virtual_memory()
        reach = f"; the generator goes up to n={self.maximum}" if n > self.maximum else ""
        return TaskSizeError(
            f"{self.name} n={shown(n)} ({edition}) needs {'' if estimate.exact else 'at least about '}"
            f"{estimate.rows:,} rows and {estimate.bytes / GIBIBYTE:,.1f} GiB of memory; this machine has "
            f"{memory.total / GIBIBYTE:,.1f} GiB, {memory.available / GIBIBYTE:,.1f} GiB of them free "
            f"(published sizes: {self._sizes}{reach})"
        )

    @property
    def _sizes(self) -> str:
        return ", ".join(map(str, self.sizes))


def whole_number(value: object) -> int | None:
    """Return value as an int if it is of an integer type (NumPy's included) and no bool, else None.

    >>> whole_number(8), whole_number(True), whole_number(8.0), whole_number("8")
    (8, None, None, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def check_count(name: str, value: object, *, least: int = 1, greatest: int) -> int:
    """Return a value as an int; ConfigurationError unless it is a whole number between two bounds, both included.

    >>> check_count("n_layers", 10**6, greatest=10_000)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: n-layers=1000000 must be a whole number from 1 to 10,000
    """
    number = whole_number(value)
    if number is None or not least <= number <= greatest:
        name = name.replace("_", "-")
        raise ConfigurationError(f"{name}={shown(value)} must be a whole number from {least} to {greatest:,}")
    return number


def check_seed(seed: object) -> int:
    """Return the seed as an int; ConfigurationError unless 0 <= seed < 2**63."""
    number = whole_number(seed)
    if number is None or not 0 <= number < 1 << 63:
        raise ConfigurationError(f"seed must be a whole number from 0 to 2**63 - 1, not {shown(seed)}")
    return number


def shown(value: object) -> str:
    """Return a short text for an error message: repr, with huge integers by their size and long texts cut.

    >>> shown(-3), shown(10**5000), shown("8")
    ('-3', 'about 10**5000', "'8'")
    """
    if isinstance(value, int) and value.bit_length() > 64:
        digits = round(value.bit_length() * 0.30103)  # log10(2); str() of a huge int would fail or hang
        return f"about {'-' if value < 0 else ''}10**{digits}"
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())  # an array's repr has many lines
    except ValueError:  # a container that holds a huge int
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
