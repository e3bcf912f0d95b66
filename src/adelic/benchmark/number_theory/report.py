"""The report: a table of all tasks, one for each; of greatest common divisors pictures, and which are learned."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from adelic.benchmark.drawn.plans import Series, experiments
from adelic.benchmark.drawn.scores import accuracy, constant, learned, learned_in, least_class
from adelic.benchmark.files import finished, write_files
from adelic.benchmark.number_theory.divisors import draw_divisors, to_table
from adelic.benchmark.number_theory.figures import draw_gcd
from adelic.benchmark.number_theory.summary import to_summary
from adelic.benchmark.results import BUSY_NOTE, costs, shown_seconds
from adelic.benchmark.table import Table, shown
from adelic.training import Result


def to_markdown(plan: Iterable[Series], results: Path) -> str:
    """Return a table for each task, and each choice of its options, with notes; of what was not run, the names.

    >>> to_markdown([], Path("results"))
    ''
    """
    return _joined(_parts(list(plan), results))


def _parts(plan: list[Series], results: Path) -> dict[str, str]:
    """Return what `to_markdown` joins, by the names of places in a page: the tables of each task, and the notes."""
    there = finished(experiments(plan), results)
    parts: dict[str, list[str]] = {series.task: [] for series in plan}
    without: dict[str, list[str]] = {series.task: [] for series in plan}
    for heading in dict.fromkeys(series.heading for series in plan):
        mine = [series for series in plan if series.heading == heading]
        found = [[there[one] for one in series.experiments if one in there] for series in mine]
        if any(found):
            parts[mine[0].task] += [f"**{heading}**", _table(mine, found).to_markdown().rstrip()]
        else:
            without[mine[0].task].append(heading)
    for task, headings in without.items():
        parts[task] += [f"Not run: {'; '.join(headings)}."] if headings else []
    notes = _notes(list(there.values())) if there else []
    places = {f"task {task}": texts for task, texts in parts.items()} | {"notes on tables": notes}
    return {name: "\n\n".join(texts) for name, texts in places.items()}


def _joined(parts: dict[str, str]) -> str:
    return "\n\n".join(filter(None, parts.values()))


def _table(series: list[Series], found: list[list[Result]]) -> Table:
    """Return the table of one task: a row a series."""
    asked = series[0].asked
    splits = ("test", *asked.never_seen)
    is_counted = learned_in(asked)
    columns = ["model", "examples", "seeds", *splits]
    if is_counted:
        columns.append("learned, of 100")
    elif asked.class_names:
        columns.append("least class")
    columns += ["trained numbers", "seconds"]
    rows = []
    for one, results in zip(series, found, strict=True):
        figures = [shown([accuracy(result, split) for result in results], 100) for split in splits]
        if is_counted:
            figures.append(shown([learned(result, is_counted) for result in results], 1))
        elif asked.class_names:
            figures.append(shown([least_class(result) for result in results], 100))
        seeds = f"{len(results)}" + (f" of {len(one.experiments)}" if len(results) < len(one.experiments) else "")
        costs = ["", ""]
        if results:
            costs = [f"{results[0].parameters:,}", shown_seconds(results)]
        rows.append((one.label, f"{one.examples:,}", seeds, *figures, *costs))
    everything = [result for results in found for result in results]
    if everything:
        guesses = [[rate for result in everything if (rate := constant(result, split)) is not None] for split in splits]
        named = [f"{100 * np.mean(rates):.2f}" if rates else "" for rates in guesses]
        blank = [""] * (len(columns) - 3 - len(splits))
        rows.append(("best constant answer", "", "", *named, *blank))
        rules = [result.rule for result in everything if result.rule is not None]
        if rules:
            rows.append(("best trivial rule", "", "", f"{100 * np.mean(rules):.2f}", *[""] * len(named[1:]), *blank))
    return Table(tuple(columns), tuple(rows))


def _notes(results: list[Result]) -> list[str]:
    """Return what stands under the tables."""
    return [
        "Exact answers in percent: mean over seeds ± half the width of the 95 % confidence interval (Student's t); of "
        "two seeds the range, of one the figure alone. test: questions drawn as in training, none of them trained on. "
        "learned: classes with at least 95 % of their questions right on the split that has all equally often. least "
        "class: the class with the fewest right answers, over all splits. seconds: of training. "
        f"{BUSY_NOTE} best constant answer: one answer to all questions of a split, its best. "
        "best trivial rule: chosen, and learnt, from training questions; older results lack it.",
        costs(results),
    ]


def write_report(plan: list[Series], results: Path, folder: Path) -> list[Path]:
    """Write table.md, gcd.svg and divisors.svg; fill the places for tables in the page beside the folder.

    The page of the folder docs/number-theory is docs/number-theory.md. It has places for a table of all tasks ("all
    tasks"), for the tables of each task ("task gcd"), for that of greatest common divisors that are learned ("divisors
    learned"), and for the notes on all of them ("notes on tables").

    Args:
        plan: all that the report is about; what was not run is said to be so.
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The paths of the files; the pictures are drawn where there are results on greatest common divisors.

    Raises:
        ConfigurationError: the page lacks the marks.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     [path.name for path in write_report([], Path(name, "results"), Path(name, "report"))]
    ['table.md']
    """
    tables = _parts(plan, results)
    files: dict[Path, str | bytes] = {folder / "table.md": _joined(tables) + "\n"}
    there = finished(experiments(plan), results)
    divisors = {
        series: found
        for series in plan
        if series.is_usual_gcd and (found := [there[one] for one in series.experiments if one in there])
    }
    curves = {series: found for series, found in divisors.items() if found[0].history}
    for name, figure in (("gcd.svg", draw_gcd(curves)), ("divisors.svg", draw_divisors(divisors))):
        if figure is not None:
            files[folder / name] = figure
    learned = to_table(divisors).to_markdown().rstrip()
    summary = to_summary(plan, results).to_markdown().rstrip()
    return write_files(files, folder, {"all tasks": summary, "divisors learned": learned, **tables})
