"""The report: one table, a row a model and a column a task that was run."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from adelic.benchmark.drawn.plans import Series, experiments
from adelic.benchmark.drawn.scores import accuracy, constant
from adelic.benchmark.files import finished, write_files
from adelic.benchmark.results import costs
from adelic.benchmark.table import IMPOSSIBLE, Table, shown
from adelic.training import Result


def to_markdown(plan: Iterable[Series], results: Path) -> str:
    """Return the table of all models and tasks, with notes; nothing for an empty plan.

    >>> to_markdown([], Path("results"))
    ''
    """
    listed = list(plan)
    if not listed:
        return ""
    there = finished(experiments(listed), results)
    planned = {series.task: series.asked.title for series in listed}
    begun = {result.task for result in there.values()}
    tasks = {task: title for task, title in planned.items() if task in begun} or planned
    is_whole = tasks.keys() == planned.keys()
    found = {(one.label, one.task): [there[e] for e in one.experiments if e in there] for one in listed}
    rows = []
    for label in dict.fromkeys(series.label for series in listed):
        cells = [found.get((label, task)) for task in tasks]
        figures = [IMPOSSIBLE if some is None else shown(_accuracies(some), 100, digits=1) for some in cells]
        rows.append((label, *figures, *([_least(cells)] if is_whole else [])))
    if there:
        of_rules = _rules([[result for result in there.values() if result.task == task] for task in tasks])
        rows += [(*row, "") if is_whole else row for row in of_rules]
    table = Table(("model", *tasks, *(["least"] if is_whole else [])), tuple(rows)).to_markdown().rstrip()
    questions = _listed(tasks)
    if not is_whole:
        later = _listed({task: title for task, title in planned.items() if task not in tasks})
        questions += f"\n\nNo model has been run yet on these:\n\n{later}"
    return "\n\n".join([table, questions, *(_notes(list(filter(None, found.values())), is_whole) if there else [])])


def _listed(tasks: dict[str, str]) -> str:
    return "\n".join(f"- `{task}`: {title}" for task, title in tasks.items())


def _accuracies(results: list[Result]) -> list[float]:
    return [accuracy(result, "test") for result in results]


def _least(cells: list[list[Result] | None]) -> str:
    """Return the least mean accuracy over the tasks; nothing where one was not run, or cannot be."""
    if not all(cells):
        return ""
    return f"{min(100 * float(np.mean(_accuracies(some))) for some in cells if some):.1f}"


def _rules(by_task: list[list[Result]]) -> list[tuple[str, ...]]:
    """Return the rows of what a trivial rule, and a constant answer, have on each task."""
    rules = [[result.rule for result in some if result.rule is not None] for some in by_task]
    guesses = [[rate for result in some if (rate := constant(result, "test")) is not None] for some in by_task]
    named = {"best trivial rule": rules, "best constant answer": guesses}
    return [
        (label, *(f"{100 * float(np.mean(rates)):.1f}" if rates else "" for rates in all_rates))
        for label, all_rates in named.items()
    ]


def _notes(found: list[list[Result]], is_whole: bool) -> list[str]:
    """Return what stands under the table, from the results of each of its figures, and whether all tasks were run."""
    everything = [result for some in found for result in some]
    counts = sorted({len(some) for some in found if some})
    if counts == [1]:
        many = "Each figure is of one seed, so that a difference of a few points says nothing."
    else:
        listed = " or ".join(map(str, counts))
        many = f"Each figure is the mean of {listed} seeds ± half the width of its 95 % interval (of two, their range)."
    sizes = sorted({result.configuration["data"]["examples"] for result in everything})
    least = "least: over the tasks. " if is_whole else ""
    return [
        f"Exact answers in percent on questions that were not trained on. {many} "
        f"{' or '.join(f'{size:,}' for size in sizes)} questions to train on. {IMPOSSIBLE}: it needs a vector a "
        f"number, and the task has too many numbers. {least}best trivial rule: chosen, and learnt, from training "
        "questions. best constant answer: the best one on the test split itself.",
        costs(everything),
    ]


def write_report(plan: list[Series], results: Path, folder: Path) -> list[Path]:
    """Write table.md, and fill the place for it ("columns") in the page beside the folder.

    Args:
        plan: all that the report is about; what was not run is said to be so.
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The paths of the files.

    Raises:
        ConfigurationError: the page lacks the mark.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     [path.name for path in write_report([], Path(name, "results"), Path(name, "report"))]
    ['table.md']
    """
    table = to_markdown(plan, results)
    return write_files({folder / "table.md": table + "\n"}, folder, {"columns": table})
