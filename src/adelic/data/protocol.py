"""The task of a data set: one frozen object that says how to generate its examples and what they mean.

A further task is one module with a `TASK`, which `adelic.data.registry` finds by the entry points of its package.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from adelic.data.symmetries import Integers as Integers  # the tasks import both from here
from adelic.data.symmetries import Symmetry as Symmetry
from adelic.errors import ConfigurationError, TaskSizeError, UnknownNameError
from adelic.storage.checks import GIBIBYTE, shown, whole_number

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is being done); None is silence."""


def silent(done: int, total: int, what: str) -> None:
    """Tell nobody: the progress of what nobody follows."""


Cue = Callable[[Integers], Integers]
"""Reads a simple feature of each example, (examples, length) -> (examples,); the audit scores labels from it."""

SPLIT_KINDS: Mapping[str, str] = {
    "published": "as published, without regard to symmetries",
    "orbits": "whole orbits under the task's symmetries in one part, so images of examples may be trained on",
}
"""How examples are divided into train, validation and test; see `adelic.data.splits`."""


def assigned(task_options: tuple[str, ...]) -> dict[str, str]:
    """Return the options of a task, name and value, that texts assign.

    >>> assigned(("limit=100000", "outcomes=uniform"))
    {'limit': '100000', 'outcomes': 'uniform'}
    """
    given: dict[str, str] = {}
    for text in task_options:
        name, equals, value = text.partition("=")
        if not equals or name in given:
            raise ConfigurationError(f"task-options={shown(text)} must be NAME=VALUE, each name once")
        given[name] = value
    return given


@dataclass(frozen=True, eq=False)
class Rows:
    """The examples of a task as its generator made them, before they are split.

    Attributes:
        X: tokens, shape (examples, length), a small integer dtype.
        y: class indices, shape (examples,); or, for regression, targets of shape (examples,) or (examples, targets).
        test: which examples are test examples, shape (examples,), where the task's own publication fixes that;
            None has `adelic.data.splits` draw them at random.
        groups: integers, shape (examples,): examples of equal group share their split; None leaves every example on its
            own.

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
        exact: whether `rows` is a proven count; else the data set has about this number of examples, or more.

    >>> from adelic.acd import weaving
    >>> weaving.TASK.estimate(6, "published")
    Estimate(rows=1816, bytes=552064, exact=True)
    """

    rows: int
    bytes: int
    exact: bool


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request for examples: which to make, and how.

    Attributes:
        n: the size, checked.
        edition: the edition, checked.
        options: name -> choice, checked and complete.
        rng: draws what is random (negatives, labellings) and nothing else; its state decides the rows.
        progress: called as the work goes on.
        workers: how many processes may work; the examples do not depend on it.

    >>> Request(n=8, edition="published").workers
    1
    """

    n: int
    edition: str
    options: Mapping[str, str] = field(default_factory=dict)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress | None = None
    workers: int = 1

    @property
    def report(self) -> Progress:
        """Return `progress`, or what is silent."""
        return self.progress or silent


@dataclass(frozen=True)
class View:
    """Another way to write a task's examples for a network: the same examples, told by other numbers.

    Attributes:
        summary: one line that says what the numbers are.
        rows: (examples, length) -> (examples, another length), a small integer dtype; different examples stay
            different.
        vocabulary: n -> the integers that can occur, in token order.
        editions: those whose examples it can write; None for all.

    >>> from adelic.acd import mheight
    >>> mheight.TASK.views["matrix"].rows(np.array([[1, 0, 2]]))
    array([[0, 1, 0, 1, 0, 0, 0, 0, 1]], dtype=int8)
    """

    summary: str
    rows: Callable[[Integers], Integers]
    vocabulary: Callable[[int], tuple[int, ...]]
    editions: tuple[str, ...] | None = None


Generator = Callable[[Request], Rows]
"""Makes all examples of a task; equal requests give the same examples in the same order."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task: its names, its sizes, its generator.

    Attributes:
        name: the word that finds it in the registry.
        title: one line that says what is predicted from what.
        version: of the generator; raised whenever the same arguments would give other rows.
        sizes: the values of n that were published.
        minimum: the least n that has an example.
        maximum: the greatest n that the generator can represent, whatever the memory.
        editions: name -> one line; the first is the default.
        notes: edition -> what is published and what we settled; kept with the data as provenance.
        class_names: (n, edition) -> the name of each class index; None makes the task a regression.
        vocabulary: (n, edition) -> the integers that can occur, in token order.
        length: (n, edition) -> the number of tokens in a row.
        estimate: (n, edition) -> how large the data set is; must answer at once for every n, however large.
        generate: the generator.
        options: further choices, name -> what may be chosen; the first is the default.
        symmetries: name -> a map of examples to equivalent examples, for augmentation and for the audit of leaks across
            splits.
        contaminated: editions that show a leak: their results are in no ranking.
        cues: name -> what is trivially read off an example, for the audit.
        views: name -> another way to write examples for a network.
        tally: examples -> what is counted and compared with the published counts; None counts the examples of each
            class.
        formats: name -> a function from a data set to its `adelic.data.exporting.Layout` in a format of text files.
        facts: the JSON file of its published counts, see `adelic.data.catalogue.facts`; None if there are none.

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
    views: Mapping[str, View] = field(default_factory=dict)
    tally: Callable[[Rows], Mapping[str, int]] | None = None
    formats: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    facts: Traversable | None = None

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

    def view(self, name: str, edition: str) -> View:
        """Return a view of an edition's examples, or raise UnknownNameError; ConfigurationError if there is none.

        >>> from adelic.acd import quiver
        >>> quiver.TASK.view("heights", "published")
        Traceback (most recent call last):
        adelic.errors.ConfigurationError: examples of quiver have no other view; leave out --view
        """
        known = [key for key, view in self.views.items() if view.editions is None or edition in view.editions]
        if not known:
            raise ConfigurationError(f"examples of {self.name} have no other view; leave out --view")
        if name not in known:
            raise UnknownNameError.of("view", name, known, listed=f"views of {self.name}")
        return self.views[name]

    def read_length(self, n: int, edition: str, view: str | None = None) -> int:
        """Return how many numbers a network reads of an example: those of the view.

        >>> from adelic.acd import mheight
        >>> mheight.TASK.read_length(8, "published"), mheight.TASK.read_length(8, "published", view="matrix")
        (8, 64)
        """
        length = self.length(n, edition)
        return length if view is None else self.view(view, edition).rows(np.zeros((1, length), np.int8)).shape[1]

    def check_options(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return all options with their choices, or raise UnknownNameError."""
        for name, choice in given.items():
            if name not in self.options:
                raise UnknownNameError.of("option", name, self.options, listed=f"options of {self.name}")
            if choice not in self.options[name]:
                raise UnknownNameError.of(name, choice, self.options[name], listed="choices")
        return {name: given.get(name, choices[0]) for name, choices in self.options.items()}

    def check_size(self, n: object, edition: str) -> int:
        """Return n as an int; TaskSizeError if it is not a whole number, or no data set of this size can be made."""
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
            f"{estimate.rows:,} examples and {estimate.bytes / GIBIBYTE:,.1f} GiB of memory; this machine has "
            f"{memory.total / GIBIBYTE:,.1f} GiB, {memory.available / GIBIBYTE:,.1f} GiB of them free "
            f"(published sizes: {self._sizes}{reach})"
        )

    @property
    def _sizes(self) -> str:
        return ", ".join(map(str, self.sizes))
