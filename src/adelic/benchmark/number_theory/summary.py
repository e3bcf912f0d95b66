"""The summary: a row a task, with its published figure, the best of AOE and of others, and the best trivial rule."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from adelic.benchmark.files import finished
from adelic.benchmark.number_theory.plans import Series, experiments
from adelic.benchmark.number_theory.scores import accuracy, learned, learned_in
from adelic.benchmark.table import NONE, NOT_RUN, Table, shown
from adelic.training import Experiment, Result

KINDS = ("AOE, places apart", "AOE, in a Transformer", "others")
"""The kinds of models that are compared, in the order of columns."""
_FLAT = "adelic-flat"


def kind_of(one: Experiment) -> str:
    """Return which of `KINDS` the model of a run is.

    >>> from adelic.benchmark.number_theory import read_plan
    >>> {kind_of(series.experiments[0]) for series in read_plan("full")} == set(KINDS)
    True
    """
    name = one.model.name
    if not name.startswith("adelic"):
        return KINDS[2]
    is_flat = one.embedding.places is None if one.is_network else name.startswith(_FLAT)
    return KINDS[1 if is_flat else 0]


def to_summary(plan: Iterable[Series], results: Path) -> Table:
    """Return a row for each task, and each choice of its options.

    The figure is the share of exact answers on the test questions, in percent, or where classes are counted how many
    of 100 are learned. Of each kind the series with the greatest mean stands there.

    >>> to_summary([], Path("results")).rows
    ()
    """
    listed = list(plan)
    there = finished(experiments(listed), results)
    rows = []
    for heading in dict.fromkeys(series.heading for series in listed):
        mine = {
            series: [there[one] for one in series.experiments if one in there]
            for series in listed
            if series.heading == heading
        }
        first = next(iter(mine))
        published = next((series.published for series in mine if series.published), NONE)
        cells = [_best(mine, kind) for kind in KINDS]
        rules = [result.rule for found in mine.values() for result in found if result.rule is not None]
        counted = learned_in(first.asked)
        rule = f"{100 * np.mean(rules):.2f}" if rules and not counted else NONE
        rows.append((heading, published, *cells, rule))
    return Table(("task", "published", *KINDS, "trivial rule"), tuple(rows))


def _best(series: dict[Series, list[Result]], kind: str) -> str:
    """Return the greatest figure of a kind, with the label of its series; "–" where the plan has none."""
    mine = {one: found for one, found in series.items() if kind_of(one.experiments[0]) == kind}
    if not mine:
        return NONE
    with_figures = {one: _figures(one, found) for one, found in mine.items() if found}
    if not with_figures:
        return NOT_RUN
    best = max(with_figures, key=lambda one: float(np.mean(with_figures[one])))
    return f"{shown(with_figures[best], 1 if learned_in(best.asked) else 100)} ({best.label})"


def _figures(series: Series, found: Sequence[Result]) -> list[float]:
    counted = learned_in(series.asked)
    return [float(learned(result, counted)) if counted else accuracy(result, "test") for result in found]
