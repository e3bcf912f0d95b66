"""The rows of official files against the mathematics: labels, duplicates, what is missing, counts.

The rows of a task are known completely, or those of all classes but one are. So the true label of a row is found by
looking it up among the rows that `adelic.acd` generates. The first rows whose labels turn out wrong are computed once
more, by the task's own function for a single object.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adelic.acd import characters, grassmannian, kl, mheight, quiver, rsk, schubert, weaving
from adelic.acd.published.files import SourceFile
from adelic.data import catalogue
from adelic.data.protocol import Integers, Progress, Request, Rows, Task

OUTSIDE = -1
"""The true label of what is no row of the task."""
LISTED = 1000
"""So many problems of a kind are listed; all are counted."""
CONFIRMED = 20

Tokens = list[int]


class Problem(NamedTuple):
    """Something in the files that is not as it should be: its kind, where it stands, and what it is.

    >>> print(Problem("duplicate", "test.jsonl:7", "the same row as train.jsonl:1"))
    duplicate at test.jsonl:7: the same row as train.jsonl:1
    """

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}: {self.what}"


class Count(NamedTuple):
    """What was counted in the files, beside the published count; `why` tells what is known of a difference.

    >>> Count("rows", 1816, 1816).equal
    True
    """

    what: str
    found: int
    published: int
    why: str = ""

    @property
    def equal(self) -> bool:
        """Whether the two agree."""
        return self.found == self.published


class Problems:
    """Problems, the first ones of each kind, and how many there are of it."""

    def __init__(self) -> None:
        self.listed: list[Problem] = []
        self.totals: dict[str, int] = {}

    def add(self, kind: str, where: str, what: str) -> None:
        """Add one."""
        self.totals[kind] = self.totals.get(kind, 0) + 1
        if self.totals[kind] <= LISTED:
            self.listed.append(Problem(kind, where, what))

    def add_all(self, kind: str, rows: NDArray[np.intp], tell: Callable[[int], tuple[str, str]]) -> None:
        """Add one of a kind for each row; `tell` says of a row where it stands and what it is."""
        for row in rows[:LISTED].tolist():
            self.add(kind, *tell(row))
        if len(rows) > LISTED:
            self.totals[kind] += len(rows) - LISTED


@dataclass
class Table:
    """The rows of both splits, train before test, and where each stands."""

    X: Integers
    y: Integers
    test: NDArray[np.bool_]
    file: NDArray[np.int64]
    line: NDArray[np.int64]
    files: list[SourceFile]

    def where(self, row: int) -> str:
        """Return the file and the line of a row."""
        return f"{self.files[self.file[row]].name}:{self.line[row]}"

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Drop all rows but the chosen ones."""
        self.X, self.y, self.test = self.X[chosen], self.y[chosen], self.test[chosen]
        self.file, self.line = self.file[chosen], self.line[chosen]


class Known:
    """What is known of all rows of a task, and so of the rows of its files.

    Attributes:
        task: the task.
        n: its size.
        classes: the names of its classes; None for a regression.
        rule: for each row of the files its label by the rule that the published data follow: the mathematics, except
            for lattice.
        truth: its label by the mathematics.
        contents: its content, as one value; quivers count as equal if a relabelling takes one into the other.
    """

    def __init__(self, task: Task, n: int, X: Integers, progress: Progress | None) -> None:
        self.task, self.n = task, n
        self.classes = task.class_names(n, "published")
        form = FORMS[task.name]
        options = task.check_options(form.options)
        rows = task.generate(Request(n=n, edition="published", options=options, progress=progress))
        if form.absent is not None:  # the other class is drawn at random
            known = rows.y != form.absent
            rows = Rows(rows.X[known], rows.y[known])
        order = np.argsort(keys(rows.X))
        self._rows = rows.X[order]
        self._keys, self._y = keys(rows.X)[order], rows.y[order]
        self.contents = keys(form.canonical(X).astype(rows.X.dtype))
        self._found = self._find(self.contents)
        absent = OUTSIDE if form.absent is None else form.absent
        there = self._found >= 0
        if self.classes is None:
            there = there[:, None] if self._y.ndim > 1 else there
        self.rule = np.where(there, self._y[self._found], absent).astype(
            np.int64 if self._y.ndim == 1 else self._y.dtype
        )
        self.truth = _true_covers(X, n) if task.name == "lattice" else self.rule

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Drop the labels of all rows but the chosen ones."""
        self.rule, self.truth = self.rule[chosen], self.truth[chosen]
        self.contents, self._found = self.contents[chosen], self._found[chosen]

    def _find(self, wanted: NDArray[np.void]) -> NDArray[np.intp]:
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, place, -1)

    def confirm(self, tokens: Tokens, label: Any) -> None:
        """Compute the label of a row once more, in another way, where there is one."""
        compute = FORMS[self.task.name].compute
        assert compute is None or compute(tokens) == label, f"two computations of {tokens} disagree"

    def missing(self) -> Integers:
        """Return the known rows that were not found."""
        absent = np.ones(len(self._keys), np.bool_)
        absent[self._found[self._found >= 0]] = False
        return self._rows[absent]


def keys(X: Integers) -> NDArray[np.void]:
    """Return each row as one value that can be compared.

    >>> len(np.unique(keys(np.array([[1, 2], [1, 2], [2, 1]], np.int8))))
    2
    """
    rows = np.ascontiguousarray(X)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the rows of a task are looked up.

    Attributes:
        absent: the label of what is not among the known rows, where these are all rows but those of this label; None
            where they are all rows.
        compute: tokens -> label, for a single row.
        options: of the generator.
        canonical: rows -> rows as the generator writes them.
    """

    absent: int | None = None
    compute: Callable[[Tokens], Any] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    canonical: Callable[[Integers], Integers] = lambda X: X


def _halves(tokens: Tokens) -> tuple[Tokens, Tokens]:
    return tokens[: len(tokens) // 2], tokens[len(tokens) // 2 :]


def _schubert_constant(tokens: Tokens) -> int:
    n = (len(tokens) + 1) // 4
    return schubert.schubert_structure_constant(tokens[:n], tokens[n : 2 * n], tokens[2 * n :])


def _kl_coefficients(tokens: Tokens) -> list[int]:
    length = max(len(tokens) // 2 - 1, 1)
    return [*kl.kazhdan_lusztig(*_halves(tokens)), *[0] * length][:length]


def _canonical_quivers(X: Integers) -> Integers:
    """Return exchange matrices in canonical form; what is no exchange matrix stays as it is."""
    n = isqrt(X.shape[1])
    matrices = X.reshape(-1, n, n).copy()
    exchange = np.atleast_1d(quiver.is_skew_symmetrizable(matrices))
    matrices[exchange] = quiver.canonical_form(matrices[exchange])
    return matrices.reshape(X.shape)


FORMS = {
    "characters": Form(compute=lambda tokens: characters.character(*_halves(tokens))),
    "grassmannian": Form(absent=0, compute=lambda t: int(grassmannian.is_cluster_variable([t[:4], t[4:8], t[8:]]))),
    "kl": Form(compute=_kl_coefficients),
    "lattice": Form(),
    "mheight": Form(compute=mheight.mheight),
    "quiver": Form(canonical=_canonical_quivers),
    "rsk": Form(compute=lambda tokens: list(rsk.inversion_vector(rsk.inverse_rsk(*rsk.tableaux(tokens))))),
    "schubert": Form(absent=0, compute=_schubert_constant),
    "weaving": Form(absent=0, compute=lambda tokens: int(weaving.is_weaving_pattern(tokens))),
}


def _true_covers(X: Integers, n: int) -> Integers:
    """Return 0 for a cover of the matching order alone, 1 for one of the Lagrange order alone, else OUTSIDE."""
    from adelic.acd.lattice import tables

    paths = tables.all_paths(n)
    matching, trace, least = tables.numbers(paths)
    orders = (tables.matching_ranks(matching), tables.lagrange_ranks(trace, least))
    of_path = keys(paths)
    lower, upper = (np.searchsorted(of_path, keys(half.astype(np.int8))) for half in np.split(X, 2, axis=1))
    in_matching, in_lagrange = (ranks[upper] == ranks[lower] + 1 for ranks in orders)
    return np.where(in_matching == in_lagrange, OUTSIDE, np.where(in_lagrange, 1, 0))


def read_labels(table: Table, known: Known, problems: Problems) -> str:
    """Put our class indices in the place of the files' labels where those name the classes otherwise; say so.

    Rows whose label is no class are reported as malformed and dropped.
    """
    if known.classes is None:
        return "as documented here"
    said = _renamed(table, known, known.classes)
    strange = (table.y < 0) | (table.y >= len(known.classes))
    greatest = len(known.classes) - 1
    problems.add_all(
        "malformed",
        np.flatnonzero(strange),
        lambda row: (table.where(row), f"the label {table.y[row]} is none of 0..{greatest}"),
    )
    table.keep(~strange)
    known.keep(~strange)
    return said


def _renamed(table: Table, known: Known, classes: tuple[str, ...]) -> str:
    """Rename the labels if a renaming makes most of all rows right, where as they are most are wrong; say so."""
    inside = known.rule != OUTSIDE
    renaming: dict[int, int] = {}
    explained = 0
    for label in np.unique(table.y).tolist():
        counts = np.bincount(known.rule[inside & (table.y == label)], minlength=1)
        renaming[label] = int(counts.argmax()) if counts.any() else label
        explained += int(counts.max())
    agree = int(np.count_nonzero(inside & (table.y == known.rule)))
    if not agree < len(table.y) / 2 < explained or len(set(renaming.values())) < len(renaming):
        return "as documented here"
    table.y = np.array(list(renaming.values()))[np.searchsorted(np.array(list(renaming)), table.y)]
    return "; ".join(f"{label} in the files is {classes[meant]!r}" for label, meant in renaming.items())


def check(table: Table, known: Known, problems: Problems) -> None:
    """Report duplicates, labels that differ, and what is missing."""
    _, first, content = np.unique(known.contents, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[content] != np.arange(len(content)))
    problems.add_all(
        "duplicate", again, lambda row: (table.where(row), f"the same row as {table.where(int(first[content[row]]))}")
    )
    differs = table.y != known.rule
    if differs.ndim > 1:
        differs = differs.any(axis=1)
    if known.classes is not None:
        outside = known.rule == OUTSIDE
        differs &= ~outside
        problems.add_all(
            "outside",
            np.flatnonzero(outside),
            lambda row: (table.where(row), f"no row of {known.task.name}: {table.X[row].tolist()}"),
        )
    wrong = np.flatnonzero(differs)
    for row in wrong[:CONFIRMED].tolist():
        known.confirm(table.X[row].tolist(), known.rule[row].tolist())
    problems.add_all(
        "wrong label",
        wrong,
        lambda row: (
            table.where(row),
            f"{table.y[row].tolist()}, not {known.rule[row].tolist()}: {table.X[row].tolist()}",
        ),
    )
    if known.task.name == "lattice":
        _check_covers(table, known, problems)
    if known.task.name == "weaving":
        _check_order(table, known.n, problems)
    missing = known.missing()
    problems.add_all("missing", np.arange(len(missing)), lambda row: ("no file", f"{missing[row].tolist()}"))


def _check_covers(table: Table, known: Known, problems: Problems) -> None:
    classes = known.classes
    assert classes is not None
    problems.add_all(
        "no true cover",
        np.flatnonzero((table.y == known.rule) & (table.y != known.truth)),
        lambda row: (table.where(row), f"no cover of the {classes[table.y[row]]} order alone: {table.X[row].tolist()}"),
    )


def _check_order(table: Table, n: int, problems: Problems) -> None:
    """Report matrices with the rows of pseudolines 1, ..., n from the top, the opposite of the documented order."""
    blocks = table.X.reshape(len(table.X), n, n - 1)
    opposite = np.flatnonzero(~(blocks == np.arange(1, n + 1)[:, None]).any(axis=(1, 2)))
    if len(opposite):
        counts = np.bincount(table.y[opposite], minlength=2).tolist()
        problems.add(
            "leak",
            table.where(int(opposite[0])),
            f"here and in {len(opposite) - 1:,} other matrices the rows are those of the pseudolines 1..{n}, the "
            f"opposite of the documented order; {counts[0]:,} of these have label 0 and {counts[1]:,} label 1, so that "
            "the first row alone gives the label away",
        )


def counted(table: Table, known: Known) -> Iterable[Count]:
    """Yield the counts of the files beside the published ones."""
    rows = Rows(table.X, table.y, test=table.test)
    for fact in catalogue.facts(known.task):
        if (fact["n"], fact["edition"]) != (known.n, "published"):
            continue
        counts, why = fact["counts"], fact.get("why", {})
        ours = catalogue.tally(known.task, known.n, "published", rows)
        yield Count("rows", len(table.y), fact.get("rows", sum(counts.values())), why.get("rows", ""))
        for what in dict.fromkeys([*ours, *counts]):
            yield Count(what, ours.get(what, 0), counts.get(what, 0), why.get(what, ""))
