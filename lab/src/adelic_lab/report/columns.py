"""The report of the columns benchmark: one table, with a line per model and a column per task that was run."""

from collections.abc import Collection

import numpy as np

from adelic_lab.plans import Report, Series, constants, rules
from adelic_lab.report.table import IMPOSSIBLE, Line, Table, costs, mean_with_interval, percent, wording


def show(series: list[Series]) -> Report:
    """Return the report: the table of all models and tasks, with notes; nothing without series.

    Args:
        series: as `adelic_lab.plans.gather` has them.

    >>> show([]).text
    ''
    """
    return Report({"columns": _text(series) if series else ""})


def _text(series: list[Series]) -> str:
    results = [result for one in series for result in one.results]
    planned = {one.task: one.title for one in series}
    begun = {result.task for result in results}
    tasks = {task: title for task, title in planned.items() if task in begun} or planned
    is_whole = tasks.keys() == planned.keys()
    found = {(one.label, one.task): one for one in series}
    lines: list[Line] = []
    for label in dict.fromkeys(one.label for one in series):
        cells = {task: found.get((label, task)) for task in tasks}
        shown = {task: mean_with_interval(one.accuracies(), decimals=1) for task, one in cells.items() if one}
        lines.append({"model": label, "least": _least(cells.values())} | dict.fromkeys(tasks, IMPOSSIBLE) | shown)
    of_tasks = {task: [result for result in results if result.task == task] for task in tasks}
    trivial = {
        "best baseline": {task: rules(some) for task, some in of_tasks.items()},
        "best constant answer": {task: constants(some, "test") for task, some in of_tasks.items()},
    }
    for label, rates in trivial.items() if results else ():
        lines.append({"model": label} | {task: percent(rate, decimals=1, none="") for task, rate in rates.items()})
    table = Table.of(("model", *tasks, *(["least"] if is_whole else [])), lines).to_markdown().rstrip()
    questions = _listed(tasks)
    if not is_whole:
        later = _listed({task: title for task, title in planned.items() if task not in tasks})
        questions += f"\n\nNo model has been run yet on these:\n\n{later}"
    notes = [_note(series, is_whole), costs(results)] if results else []
    return "\n\n".join([table, questions, *notes])


def _listed(tasks: dict[str, str]) -> str:
    return "\n".join(f"- `{task}`: {title}" for task, title in tasks.items())


def _least(cells: Collection[Series | None]) -> str:
    """Return the least mean accuracy over the tasks; nothing if one was not run, or cannot be."""
    means = [float(np.mean(one.accuracies())) for one in cells if one is not None and one.results]
    return percent(min(means), decimals=1) if len(means) == len(cells) else ""


def _note(series: list[Series], is_whole: bool) -> str:
    """Return the note under the table."""
    said = wording()["columns"]
    counts = sorted({len(one.results) for one in series if one.results})
    seeds = " or ".join(map(str, counts))
    return str(said["note"]).format(
        many=said["one_seed"] if counts == [1] else said["several"].format(seeds=seeds),
        sizes=" or ".join(f"{size:,}" for size in sorted({one.examples for one in series if one.results})),
        impossible=IMPOSSIBLE,
        least="Least: over the tasks. " if is_whole else "",
    )
