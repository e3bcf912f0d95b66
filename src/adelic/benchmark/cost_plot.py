"""Cost against accuracy: what a model's accuracy takes to train."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from adelic.benchmark.plots import (
    INK,
    legend_below,
    logarithmic,
    looks,
    mark_majority,
    percent,
    render,
    style,
    svg_element,
)
from adelic.benchmark.results import Result, Summary
from adelic.data.registry import task as find_task
from adelic.data.registry import tasks


def mean_seconds(summary: Summary) -> float:
    """Return the mean time of a run's training in seconds.

    >>> mean_seconds(Summary(({"seconds": 10.0}, {"seconds": 20.0})))
    15.0
    """
    return float(np.mean([result["seconds"] for result in summary.results]))


def tokens(result: Result) -> int | None:
    """Return how many tokens of training rows, [CLS] counted, a network learned from, without images of rows.

    None where that is not known: the model learns in no epochs, an older result does not say how many rows there were,
    or the task is not ours.

    >>> configuration = {"recipe": {"epochs": 3}}
    >>> about = {"task": "schubert", "n": 4, "edition": "published", "configuration": configuration}
    >>> tokens(about | {"rows": {"train": 100}})
    4800
    """
    recipe = result["configuration"]["recipe"]
    if "rows" not in result or "epochs" not in recipe or result["task"] not in tasks():
        return None
    length = find_task(result["task"]).length(result["n"], result["edition"]) + 1
    return int(result["rows"]["train"] * recipe["epochs"] * length)


def crowd(models: Mapping[str, Summary]) -> tuple[dict[str, Summary], list[str]]:
    """Return the models that a figure shows together, and the names of those so far below that the rest would be a dot.

    Far below is what lies more than three times as far from the best model as the median one, and 5 points.

    >>> runs = {f"model {a}": Summary(({"test": {"accuracy": a / 100}},)) for a in (99, 98, 97, 96, 50)}
    >>> crowd(runs)[1]
    ['model 50']
    """
    accuracies = [model.mean("accuracy") for model in models.values()]
    best = max(accuracies)
    least = best - max(3 * (best - float(np.median(accuracies))), 0.05)
    shown = {name: model for name, model in models.items() if model.mean("accuracy") >= least}
    return shown, [name for name in models if name not in shown]


def cost_scatter(models: Mapping[str, Summary], title: str) -> str:
    """Return mean test accuracy against mean training time as an SVG element, with 95 % intervals as bars.

    Of two seeds the bar is their range.

    Args:
        models: name -> runs, of one row.
        title: what the figure is.
    """
    drawn = looks(models)
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(4.8, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, model in models.items():
            look = drawn[name]
            point: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 6, "linestyle": "none"}
            seconds = max(mean_seconds(model), 1e-3)  # a logarithm needs more than 0, and clocks show no less
            bars = [[100 * length] for length in model.bars("accuracy")]
            axes.errorbar([seconds], [100 * model.mean("accuracy")], yerr=bars, label=name, capsize=2.5, **point)
        majority = next(iter(models.values())).trivial("majority")
        if 100 * majority >= axes.get_ylim()[0]:
            mark_majority(axes, majority, "majority class")
        logarithmic(axes)
        axes.set_xlabel("training time (s)")
        percent(axes)
        axes.grid(visible=True, color=INK, alpha=0.12)
        legend_below(figure, axes, 2)
        return svg_element(render(figure, "svg", transparent=True), title)
