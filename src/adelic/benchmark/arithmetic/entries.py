"""Entries: the results of a plan over the seeds, for each problem, solver and number of examples."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adelic.benchmark.drawn.plans import Series, experiments
from adelic.benchmark.files import finished
from adelic.benchmark.results import confidence_interval
from adelic.benchmark.table import IMPOSSIBLE, NOT_RUN
from adelic.data import drawn_task
from adelic.training import Result
from adelic.training.solvers import SOLVER_MODULES, solver_class


@dataclass(frozen=True)
class Entry:
    """The runs that differ in the seed alone.

    Attributes:
        problem, solver, examples: what they have in common.
        n_planned: how many the plan has.
        results: of those that were run.
        obstacle: why the solver cannot express the problem; None where it can.

    >>> entry = Entry("addition", "fone", 300, 5)
    >>> entry.accuracies(), entry.text()
    ([], 'not run')
    """

    problem: str
    solver: str
    examples: int
    n_planned: int
    results: tuple[Result, ...] = ()
    obstacle: str | None = None

    def accuracies(self, split: str = "test") -> list[float]:
        """Return the share of exact answers, one a seed."""
        return [result.figures(split)["accuracy"] for result in self.results]

    def text(self, split: str = "test") -> str:
        """Return the accuracy in percent as a table shows it: mean ± half width of the 95 % interval, or the range."""
        if self.obstacle:
            return IMPOSSIBLE
        if not self.results:
            return NOT_RUN
        values = self.accuracies(split)
        interval = confidence_interval(values)
        text = percent(float(np.mean(values))) + (f" ± {100 * interval:.1f}" if interval else "")
        if interval is None and min(values) < max(values):  # two seeds
            text += f" [{percent(min(values))}, {percent(max(values))}]"
        text = f"**{text}**" if min(values) == 1 else text
        return text if len(values) == self.n_planned else f"{text} ({len(values)} of {self.n_planned} seeds)"

    def as_dict(self) -> dict[str, Any]:
        """Return the entry for summary.json."""

        def figures(split: str) -> dict[str, Any]:
            values = self.accuracies(split)
            return {"accuracy": float(np.mean(values)), "interval": confidence_interval(values), "least": min(values)}

        about = {"problem": self.problem, "solver": self.solver, "examples": self.examples, "seeds": len(self.results)}
        if self.obstacle:
            return about | {"obstacle": self.obstacle}
        if not self.results:
            return about
        return about | {
            "test": figures("test") | {"cases": [result.test["cases"] for result in self.results]},
            "never_seen": {split: figures(split) for split in self.results[0].never_seen or {}},
            "parameters": self.results[0].parameters,
            "training_seconds": float(np.mean([result.seconds for result in self.results])),
        }


def percent(share: float) -> str:
    """Return a share in percent with one decimal; "100" is exactly all, and "0" nothing at all.

    >>> [percent(share) for share in (1, 0.99996, 0.5, 0.0001, 0)]
    ['100', '99.9', '50.0', '0.0', '0']
    """
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(100 * share, 99.9):.1f}"


def gather(plan: Iterable[Series], results: Path) -> list[Entry]:
    """Return the entries of a plan with the results that a folder has; in the plan's order.

    Raises:
        RunFolderError: a file is damaged.
        ConfigurationError: a solver cannot be imported.

    >>> gather([], Path("results"))
    []
    """
    listed = list(plan)
    there = finished(experiments(listed), results)
    entries = []
    for one in listed:
        found = tuple(there[run] for run in one.experiments if run in there)
        # A solver is imported only where its results are missing from a table that has others.
        reason = None if found or not there else solver_class(one.model).obstacle(drawn_task(one.task))
        entries.append(Entry(one.task, one.model, one.examples, len(one.experiments), found, reason))
    return entries


def in_order(entries: Iterable[Entry]) -> list[str]:
    """Return the names of the entries' solvers, in the order of `SOLVER_MODULES`, others last.

    >>> in_order([Entry("addition", name, 100, 1) for name in ("fone", "my_solvers:Mine", "adelic-flat")])
    ['adelic-flat', 'fone', 'my_solvers:Mine']
    """
    known = list(SOLVER_MODULES)
    names = dict.fromkeys(entry.solver for entry in entries)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


def in_groups(entries: Iterable[Entry]) -> tuple[list[str], list[str]]:
    """Return the names of the solvers that are asked half of the problems or more, and of the others, in order.

    >>> many = [Entry(problem, "fone", 100, 1) for problem in ("addition", "sum", "product")]
    >>> in_groups([*many, Entry("addition", "adelic-flat", 100, 1)])
    (['fone'], ['adelic-flat'])
    """
    listed = list(entries)
    asked: dict[str, set[str]] = {}
    for entry in listed:
        asked.setdefault(entry.solver, set()).add(entry.problem)
    half = len({entry.problem for entry in listed}) / 2
    solvers = in_order(listed)
    return [s for s in solvers if len(asked[s]) >= half], [s for s in solvers if len(asked[s]) < half]


def with_most_examples(entries: Iterable[Entry]) -> list[Entry]:
    """Return, for each problem and solver, the entry with the most examples.

    >>> [e.examples for e in with_most_examples(Entry("sum", "fone", size, 1) for size in (100, 3000, 1000))]
    [3000]
    """
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        key = (entry.problem, entry.solver)
        if key not in found or entry.examples > found[key].examples:
            found[key] = entry
    return list(found.values())
