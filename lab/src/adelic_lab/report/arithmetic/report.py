"""What the arithmetic benchmark shows: tables in Markdown, a summary in JSON, figures."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from adelic_lab.report.arithmetic.figures import draw_accuracy, draw_never_seen
from adelic_lab.report.arithmetic.groups import in_groups, with_most_examples
from adelic_lab.report.drawn import Report, Series
from adelic_lab.report.results import confidence_interval, costs
from adelic_lab.report.table import IMPOSSIBLE, NOT_RUN, Table, mean_with_interval


def show(series: list[Series]) -> Report:
    """Return the report: a table of questions as in training, one of questions unlike those, and figures.

    Solvers that are asked less than half of the tasks have tables of their own, and with AOE's places apart the figure
    variants.svg.

    Args:
        series: as `adelic_lab.report.drawn.gather` has them.

    >>> show([]).text
    'not run'
    """
    run = [one for one in series if one.results]
    many, few = in_groups(series)
    asked_much = [one for one in run if one.model in many]
    of_few = {one.task for one in series if one.model in few}
    variants = [one for one in run if one.task in of_few and one.model in ("adelic-placewise", *few)] if few else []
    return Report(
        {"arithmetic": _text(series, many, few) if run else NOT_RUN},
        files={
            "summary.json": lambda: json.dumps([_summary(one) for one in series], indent=2) + "\n",
            "accuracy.svg": lambda: draw_accuracy(asked_much),
            "never-seen.svg": lambda: draw_never_seen(asked_much),
            "variants.svg": lambda: draw_accuracy(variants),
        },
    )


def _text(series: list[Series], many: list[str], few: list[str]) -> str:
    """Return the tables of the solvers that are asked much, of the others, and notes."""
    parts = _tables([one for one in series if one.model in many], many)
    if few:
        of_few = _tables([one for one in series if one.model in few], few)
        parts += ["Solvers that are asked some of the problems:", *of_few]
    return "\n\n".join([*parts, *_notes(series)])


def _tables(series: list[Series], solvers: list[str]) -> list[str]:
    """Return the tables of some solvers' series, with what stands between them."""
    by_key = {(one.title, one.examples, one.model): one for one in series}
    largest = with_most_examples(series)
    asked = {one.title: one.asked for one in series}

    def cells(found: Iterable[Series | None], split: str) -> list[str]:
        return ["" if one is None else cell(one, split) for one in found]

    seen = [
        (title, f"{size:,}", *cells((by_key.get((title, size, solver)) for solver in solvers), "test"))
        for title in asked
        for size in sorted({one.examples for one in series if one.title == title})
    ]
    unlike = [
        (task.never_seen_titles[split], *cells((largest.get((title, solver)) for solver in solvers), split))
        for title, task in asked.items()
        for split in task.never_seen
    ]
    parts = [Table(("problem", "examples", *solvers), tuple(seen)).to_markdown().rstrip()]
    if unlike:
        parts += ["The same runs, of each solver those with the most examples, on questions unlike all in training:"]
        parts += [Table(("problem", *solvers), tuple(unlike)).to_markdown().rstrip()]
    return parts


def cell(series: Series, split: str = "test") -> str:
    """Return the accuracy in percent as a table shows it: mean ± half width of the 95 % interval, or the range.

    >>> from adelic_lab.report.drawn import read_plan
    >>> cell(read_plan("quick", "arithmetic")[0])
    'not run'
    """
    if series.obstacle:
        return IMPOSSIBLE
    values = series.accuracies(split)
    if not values:
        return NOT_RUN
    is_one_figure = min(values) == max(values)
    text = mean_with_interval(values[:1] if is_one_figure else values, decimals=1, write=percent)
    text = f"**{text}**" if min(values) == 1 else text
    n_planned = len(series.experiments)
    return text if len(values) == n_planned else f"{text} ({len(values)} of {n_planned} seeds)"


def percent(share: float) -> str:
    """Return a share in percent with one decimal; "100" is exactly all, and "0" nothing at all.

    >>> [percent(share) for share in (1, 0.99996, 0.5, 0.0001, 0)]
    ['100', '99.9', '50.0', '0.0', '0']
    """
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(100 * share, 99.9):.1f}"


def _notes(series: list[Series]) -> list[str]:
    """Return what stands under the tables."""
    results = [result for one in series for result in one.results]
    data = [result.configuration["data"] for result in results]
    cases, more = (
        " and ".join(f"{count:,}" for count in sorted({table[name] for table in data}))
        for name in ("test_cases", "confirmation_cases")
    )
    notes = [
        "Answers that are exactly right, in percent: the mean over the seeds ± half the width of its 95 % confidence "
        f"interval (Student's t), on {cases} questions that were not trained on, {more} where the first "
        "of them are all answered right. **Bold**: no mistake, whatever the seed. Blank: not planned."
    ]
    reasons: dict[str, list[str]] = {}
    parameters: dict[str, list[int]] = {}
    for one in series:
        if one.obstacle:
            reasons.setdefault(f"{one.model}: {one.obstacle}", []).append(one.task)
        parameters.setdefault(one.model, []).extend(result.parameters for result in one.results)
    if reasons:
        words = "; ".join(f"{reason} ({', '.join(dict.fromkeys(names))})" for reason, names in reasons.items())
        notes.append(f"{IMPOSSIBLE} cannot be expressed. {words}.")
    ranges = {solver: (min(counts), max(counts)) for solver, counts in parameters.items() if counts}
    sizes = ", ".join(f"{s} {low:,}" + (f"–{high:,}" if high > low else "") for s, (low, high) in ranges.items())
    return [*notes, f"Trained numbers: {sizes}.", costs(results)]


def _summary(series: Series) -> dict[str, Any]:
    """Return a series for summary.json."""

    def figures(split: str) -> dict[str, Any]:
        values = series.accuracies(split)
        return {"accuracy": float(np.mean(values)), "interval": confidence_interval(values), "least": min(values)}

    results = series.results
    about = {"problem": series.task, "solver": series.model, "examples": series.examples, "seeds": len(results)}
    if series.obstacle:
        return about | {"obstacle": series.obstacle}
    if not results:
        return about
    return about | {
        "test": figures("test") | {"cases": [result.test["cases"] for result in results]},
        "never_seen": {split: figures(split) for split in results[0].never_seen or {}},
        "parameters": results[0].parameters,
        "training_seconds": float(np.mean([result.seconds for result in results])),
    }
