"""The report: tables in Markdown, a summary in JSON, figures, and the table of a page of documentation."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adelic.acd.files import atomic_write, storage_errors
from adelic.benchmark.arithmetic.figures import draw_accuracy, draw_never_seen
from adelic.benchmark.arithmetic.plans import Plan
from adelic.benchmark.arithmetic.problems import problem
from adelic.benchmark.arithmetic.runner import Result, read_cell
from adelic.benchmark.arithmetic.solvers import solver_class
from adelic.benchmark.results import confidence_interval
from adelic.errors import ConfigurationError

NOT_RUN, IMPOSSIBLE = "not run", "—"
PLANNED_NOT = ""
MARK, END = "<!-- table: arithmetic -->\n", "<!-- end of table -->"


@dataclass(frozen=True)
class Entry:
    """The cells that differ in the seed alone.

    Attributes:
        problem, solver, examples: what they have in common.
        n_planned: how many the plan has.
        results: of those that were run.
        obstacle: why the solver cannot express the problem; None where it can.

    >>> results = [{"test": {"cases": 200, "correct": c}, "never_seen": {}} for c in (180, 190)]
    >>> entry = Entry("addition", "fone", 300, 2, tuple(results))
    >>> entry.accuracies(), entry.text()
    ([0.9, 0.95], '92.5 ± 31.8')
    """

    problem: str
    solver: str
    examples: int
    n_planned: int
    results: tuple[Result, ...]
    obstacle: str | None = None

    def accuracies(self, split: str = "test") -> list[float]:
        """Return the share of exact answers, one a seed."""
        scores = (result["test"] if split == "test" else result["never_seen"][split] for result in self.results)
        return [score["correct"] / score["cases"] for score in scores]

    def text(self, split: str = "test") -> str:
        """Return the accuracy in percent as a table shows it: mean ± half width of the 95 % confidence interval."""
        if self.obstacle:
            return IMPOSSIBLE
        if not self.results:
            return NOT_RUN
        values = self.accuracies(split)
        interval = confidence_interval(values)
        text = percent(float(np.mean(values))) + (f" ± {100 * interval:.1f}" if interval else "")
        text = f"**{text}**" if min(values) == 1 else text
        return text if len(values) == self.n_planned else f"{text} ({len(values)} of {self.n_planned} seeds)"

    def as_dict(self) -> dict[str, Any]:
        """Return what the summary's file says."""

        def figures(split: str) -> dict[str, Any]:
            values = self.accuracies(split)
            return {"accuracy": float(np.mean(values)), "interval": confidence_interval(values), "least": min(values)}

        about = {"problem": self.problem, "solver": self.solver, "examples": self.examples, "seeds": len(self.results)}
        if self.obstacle:
            return about | {"obstacle": self.obstacle}
        if not self.results:
            return about
        return about | {
            "test": figures("test") | {"cases": [result["test"]["cases"] for result in self.results]},
            "never_seen": {split: figures(split) for split in self.results[0]["never_seen"]},
            "parameters": self.results[0]["parameters"],
            "training_seconds": float(np.mean([result["training_seconds"] for result in self.results])),
        }


def percent(share: float) -> str:
    """Return a share in percent with one decimal; "100" is exactly all, and "0" nothing at all.

    >>> [percent(share) for share in (1, 0.99996, 0.5, 0.0001, 0)]
    ['100', '99.9', '50.0', '0.0', '0']
    """
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(100 * share, 99.9):.1f}"


def gather(plan: Plan, results: Path) -> list[Entry]:
    """Return the entries of a plan with the results that a folder has; in the plan's order.

    Raises:
        RunFolderError: a file is damaged.
        ConfigurationError: a solver cannot be imported.

    >>> gather(Plan(cells=()), Path("results"))
    []
    """
    groups: dict[tuple[str, str, int], list[Result | None]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.problem, cell.solver, cell.examples), []).append(read_cell(cell, results))
    is_empty = not any(any(found) for found in groups.values())
    entries = []
    for (name, solver, examples), found in groups.items():
        there = tuple(result for result in found if result is not None)
        # A solver is imported only for what it has no results of, in a table that has some.
        reason = None if there or is_empty else solver_class(solver).obstacle(problem(name))
        entries.append(Entry(name, solver, examples, len(found), there, reason))
    return entries


def to_markdown(entries: Iterable[Entry]) -> str:
    """Return the two tables with their notes: questions as in training, and questions unlike those.

    >>> to_markdown([])
    'not run'
    """
    listed = list(entries)
    if not any(entry.results for entry in listed):
        return NOT_RUN
    solvers = list(dict.fromkeys(entry.solver for entry in listed))
    by_key = {(entry.problem, entry.examples, entry.solver): entry for entry in listed}
    sizes: dict[str, list[int]] = {}
    for entry in listed:
        sizes.setdefault(entry.problem, []).append(entry.examples)

    def line(name: str, size: int, split: str) -> list[str]:
        chosen = (by_key.get((name, size, solver)) for solver in solvers)
        title = problem(name).title if split == "test" else problem(name).never_seen_titles[split]
        return [title, f"{size:,}", *(PLANNED_NOT if entry is None else entry.text(split) for entry in chosen)]

    head = ["problem", "examples", *solvers]
    seen = [line(name, size, "test") for name, found in sizes.items() for size in sorted(set(found))]
    unlike = [
        line(name, max(found), split) for name, found in sizes.items() for split in problem(name).never_seen
    ]
    tables = [_table(head, seen)]
    if unlike:
        tables += ["The same runs (the largest number of examples) on questions unlike all in training:"]
        tables += [_table(head, unlike)]
    return "\n\n".join([*tables, *_notes(listed)])


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(head) - 1), *lines[1:]])


def _notes(entries: list[Entry]) -> list[str]:
    """Return what stands under the tables."""
    results = [result for entry in entries for result in entry.results]
    cases = sorted({result["configuration"]["test_cases"] for result in results})
    more = sorted({result["configuration"]["confirmation_cases"] for result in results})
    notes = [
        "Answers that are exactly right, in percent: the mean over the seeds ± half the width of its 95 % confidence "
        f"interval (Student's t), on {_list(cases)} questions that were not trained on, {_list(more)} where the first "
        "of them are all answered right. **Bold**: no mistake, whatever the seed."
    ]
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        if entry.obstacle:
            reasons.setdefault(f"{entry.solver}: {entry.obstacle}", []).append(problem(entry.problem).name)
    if reasons:
        words = "; ".join(f"{reason} ({', '.join(dict.fromkeys(names))})" for reason, names in reasons.items())
        notes.append(f"{IMPOSSIBLE} cannot be expressed. {words}.")
    parameters: dict[str, tuple[int, int]] = {}
    for entry in entries:
        counts = [result["parameters"] for result in entry.results]
        if counts:
            low, high = parameters.get(entry.solver, (counts[0], counts[0]))
            parameters[entry.solver] = (min(low, *counts), max(high, *counts))
    sizes = ", ".join(f"{s} {low:,}" + (f"–{high:,}" if high > low else "") for s, (low, high) in parameters.items())
    notes.append(f"Trained numbers: {sizes}.")
    hours = sum(result["seconds"] for result in results) / 3600
    versions = _list(sorted({", ".join(f"{k} {v}" for k, v in result["versions"].items()) for result in results}))
    commits = _list(sorted({(result["commit"] or "unknown")[:7] for result in results}))
    devices = _list(sorted({result["device"] for result in results}))
    notes.append(
        f"{len(results):,} runs of one thread each, {hours:.1f} core-hours, on {devices}, at commit {commits}; {versions}."
    )
    return notes


def _list(values: Iterable[Any]) -> str:
    return " and ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)


def write_report(plan: Plan, results: Path, folder: Path) -> list[Path]:
    """Write table.md, summary.json, accuracy.svg and never-seen.svg; fill the table of the page beside the folder.

    The page of the folder docs/arithmetic is docs/arithmetic.md. If it is there, what stands in it between
    `<!-- table: arithmetic -->` and `<!-- end of table -->` is replaced.

    Args:
        plan: all that the report is about; what was not run is said to be so.
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The paths of the files; figures are drawn where there is something to show.

    Raises:
        ConfigurationError: the page has no such marks.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     [path.name for path in write_report(Plan(cells=()), Path(name, "results"), Path(name, "report"))]
    ['table.md', 'summary.json']
    """
    entries = gather(plan, results)
    table = to_markdown(entries)
    files: dict[Path, str | bytes] = {
        folder / "table.md": table + "\n",
        folder / "summary.json": json.dumps([entry.as_dict() for entry in entries], indent=2) + "\n",
    }
    run = [entry for entry in entries if entry.results]
    for name, figure in (("accuracy.svg", draw_accuracy(run)), ("never-seen.svg", draw_never_seen(run))):
        if figure is not None:
            files[folder / name] = figure
    page = folder.with_suffix(".md")
    if page.exists():
        with storage_errors(f"cannot read {page}", "choose another folder for the report"):
            text = page.read_text(encoding="utf-8")
        files[page] = fill(text, table, page)
    for path, content in files.items():
        atomic_write(path, content)
    return list(files)


def fill(text: str, table: str, page: Path) -> str:
    """Return a page with the table between its marks.

    >>> fill(f"Before\\n{MARK}old\\n{END}\\nafter", "new", Path("page.md")) == f"Before\\n{MARK}new\\n{END}\\nafter"
    True
    """
    new, count = re.subn(f"{MARK}.*?{END}", lambda _: f"{MARK}{table}\n{END}", text, flags=re.DOTALL)
    if count != 1:
        raise ConfigurationError(f"{page} needs one place for the table: a line {MARK.strip()} and, below, {END}")
    return new
