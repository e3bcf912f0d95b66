"""The report: tables in Markdown, a summary in JSON, figures, and the table of a page of documentation."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adelic.benchmark.arithmetic.entries import Entry, gather, in_groups, with_most_examples
from adelic.benchmark.arithmetic.figures import draw_accuracy, draw_never_seen
from adelic.benchmark.drawn import Series
from adelic.benchmark.files import write_files
from adelic.benchmark.results import costs
from adelic.benchmark.table import IMPOSSIBLE, NOT_RUN, Table
from adelic.data import drawn_task

PLANNED_NOT = ""


def to_markdown(entries: Iterable[Entry]) -> str:
    """Return the tables with their notes: questions as in training, and questions unlike those.

    Solvers that are asked less than half of the problems have tables of their own.

    >>> to_markdown([])
    'not run'
    """
    listed = list(entries)
    if not any(entry.results for entry in listed):
        return NOT_RUN
    parts = []
    for solvers, heading in zip(in_groups(listed), ("", "Solvers that are asked some of the problems:"), strict=True):
        tables = _tables([entry for entry in listed if entry.solver in solvers], solvers)
        parts += [heading, *tables] if heading and tables else tables
    return "\n\n".join([*parts, *_notes(listed)])


def _tables(listed: list[Entry], solvers: list[str]) -> list[str]:
    """Return the tables of some solvers' entries, with what stands between them; nothing without entries."""
    if not listed:
        return []
    by_key = {(entry.problem, entry.examples, entry.solver): entry for entry in listed}
    largest = {(entry.problem, entry.solver): entry for entry in with_most_examples(listed)}
    sizes: dict[str, set[int]] = {}
    for entry in listed:
        sizes.setdefault(entry.problem, set()).add(entry.examples)

    def cells(found: Iterable[Entry | None], split: str) -> list[str]:
        return [PLANNED_NOT if entry is None else entry.text(split) for entry in found]

    seen = [
        (drawn_task(name).title, f"{size:,}", *cells((by_key.get((name, size, solver)) for solver in solvers), "test"))
        for name, found in sizes.items()
        for size in sorted(found)
    ]
    unlike = [
        (drawn_task(name).never_seen_titles[split], *cells((largest.get((name, solver)) for solver in solvers), split))
        for name in sizes
        for split in drawn_task(name).never_seen
    ]
    parts = [Table(("problem", "examples", *solvers), tuple(seen)).to_markdown().rstrip()]
    if unlike:
        parts += ["The same runs, of each solver those with the most examples, on questions unlike all in training:"]
        parts += [Table(("problem", *solvers), tuple(unlike)).to_markdown().rstrip()]
    return parts


def _notes(entries: list[Entry]) -> list[str]:
    """Return what stands under the tables."""
    results = [result for entry in entries for result in entry.results]
    data = [result.configuration["data"] for result in results]
    cases, more = (sorted({table[name] for table in data}) for name in ("test_cases", "confirmation_cases"))
    notes = [
        "Answers that are exactly right, in percent: the mean over the seeds ± half the width of its 95 % confidence "
        f"interval (Student's t), on {_list(cases)} questions that were not trained on, {_list(more)} where the first "
        "of them are all answered right. **Bold**: no mistake, whatever the seed. Blank: not planned."
    ]
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        if entry.obstacle:
            reasons.setdefault(f"{entry.solver}: {entry.obstacle}", []).append(drawn_task(entry.problem).name)
    if reasons:
        words = "; ".join(f"{reason} ({', '.join(dict.fromkeys(names))})" for reason, names in reasons.items())
        notes.append(f"{IMPOSSIBLE} cannot be expressed. {words}.")
    parameters: dict[str, tuple[int, int]] = {}
    for entry in entries:
        counts = [result.parameters for result in entry.results]
        if counts:
            low, high = parameters.get(entry.solver, (counts[0], counts[0]))
            parameters[entry.solver] = (min(low, *counts), max(high, *counts))
    sizes = ", ".join(f"{s} {low:,}" + (f"–{high:,}" if high > low else "") for s, (low, high) in parameters.items())
    notes.append(f"Trained numbers: {sizes}.")
    return [*notes, costs(results)]


def _list(values: Iterable[Any]) -> str:
    return " and ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)


def write_report(plan: list[Series], results: Path, folder: Path) -> list[Path]:
    """Write tables, a summary in JSON and figures; fill the table of the page beside the folder.

    They are table.md, summary.json, accuracy.svg, never-seen.svg and, of solvers that are asked some of the problems
    only, variants.svg. The page of the folder docs/arithmetic is docs/arithmetic.md. If it is there, what stands in it
    between `<!-- table: arithmetic -->` and `<!-- end of table -->` is replaced.

    Args:
        plan: all that the report is about; what was not run is said to be so.
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The paths of the files; figures are drawn where there is something to show.

    Raises:
        ConfigurationError: the page lacks these marks.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     [path.name for path in write_report([], Path(name, "results"), Path(name, "report"))]
    ['table.md', 'summary.json']
    """
    entries = gather(plan, results)
    table = to_markdown(entries)
    files: dict[Path, str | bytes] = {
        folder / "table.md": table + "\n",
        folder / "summary.json": json.dumps([entry.as_dict() for entry in entries], indent=2) + "\n",
    }
    run = [entry for entry in entries if entry.results]
    many, few = in_groups(entries)
    asked_much = [entry for entry in run if entry.solver in many]
    of_few = {entry.problem for entry in entries if entry.solver in few}
    variants = [entry for entry in run if entry.problem in of_few and entry.solver in ("adelic-placewise", *few)]
    for name, figure in (
        ("accuracy.svg", draw_accuracy(asked_much)),
        ("never-seen.svg", draw_never_seen(asked_much)),
        ("variants.svg", draw_accuracy(variants) if few else None),
    ):
        if figure is not None:
            files[folder / name] = figure
    return write_files(files, folder, {"arithmetic": table})
