"""The summary: a row a task, with its published figure, the best of AOE and of others, and the best trivial rule."""

from collections.abc import Sequence

import numpy as np

from adelic.benchmark.drawn import Series
from adelic.benchmark.drawn.scores import learned, learned_in, rules
from adelic.benchmark.table import NONE, NOT_RUN, Table, mean_with_interval, percent
from adelic.training import Experiment

KINDS = ("AOE, places apart", "AOE, in a Transformer", "others")
"""The kinds of models that are compared, in the order of columns."""
_FLAT = "adelic-flat"


def kind_of(one: Experiment) -> str:
    """Return which of `KINDS` the model of a run is.

    >>> from adelic.benchmark.drawn import read_plan
    >>> {kind_of(series.experiments[0]) for series in read_plan("full", "number-theory")} == set(KINDS)
    True
    """
    name = one.model.name
    if not name.startswith("adelic"):
        return KINDS[2]
    is_flat = one.embedding.places == "flat" if one.is_network else name.startswith(_FLAT)
    return KINDS[1 if is_flat else 0]


def to_summary(series: Sequence[Series]) -> Table:
    """Return a row for each task, and each choice of its options.

    The figure is the share of exact answers on the test questions, in percent, or where classes are counted how many
    of 100 are learned. Of each kind the series with the greatest mean stands there.

    >>> to_summary([]).rows
    ()
    """
    rows = []
    for heading in dict.fromkeys(one.heading for one in series):
        mine = [one for one in series if one.heading == heading]
        published = next((one.published for one in mine if one.published), NONE)
        rule = None if learned_in(mine[0].asked) else rules(result for one in mine for result in one.results)
        rows.append((heading, published, *(_best(mine, kind) for kind in KINDS), percent(rule)))
    return Table(("task", "published", *KINDS, "trivial rule"), tuple(rows))


def _best(series: Sequence[Series], kind: str) -> str:
    """Return the greatest figure of a kind, with the label of its series; "–" where the plan has none."""
    mine = [one for one in series if kind_of(one.experiments[0]) == kind]
    if not mine:
        return NONE
    with_figures = [one for one in mine if one.results]
    if not with_figures:
        return NOT_RUN
    best = max(with_figures, key=lambda one: float(np.mean(_figures(one))))
    scale, decimals = (1, int(len(best.results) > 1)) if learned_in(best.asked) else (100, 2)
    return f"{mean_with_interval(_figures(best), scale=scale, decimals=decimals)} ({best.label})"


def _figures(series: Series) -> list[float]:
    counted = learned_in(series.asked)
    return [float(learned(result, counted)) for result in series.results] if counted else series.accuracies()
