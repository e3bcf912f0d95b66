"""The figures of a row: confusion matrices, accuracy against training rows, accuracy against training time."""

import math
from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from adelic_lab.report.comparison import Comparison
from adelic_lab.report.plots import (
    COLOURS,
    INK,
    LEAST_POINTS,
    at_least,
    legend_below,
    looks,
    mark_majority,
    render,
    style,
    svg_element,
)
from adelic_lab.report.results import Summary

# From no colour to a blue through which the page's text stays readable, on light and on dark ground.
_SHADES = LinearSegmentedColormap.from_list("shades", [(COLOURS[0], 0.0), (COLOURS[0], 0.55)])


MOST_CLASSES_DRAWN = 30
"""A confusion matrix of more classes has too many cells to be read, or to be drawn in seconds."""


def confusion_matrix(summary: Summary, title: str) -> str | None:
    """Return a model's confusion matrix as an SVG element: shade and percentage by true class, mean count over seeds.

    It is None if a result lacks the matrix, or has more than `MOST_CLASSES_DRAWN` classes.
    """
    counts = summary.confusion
    if counts is None or len(counts) > MOST_CLASSES_DRAWN:
        return None
    totals = counts.sum(axis=1, keepdims=True)
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    size = len(counts)
    names = [fill(name, 12) for name in summary.class_names(size)]
    side = max(2.2, 0.62 * size)
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(side + 1.0, side + 0.6), layout="constrained")
        axes = figure.subplots()
        edges = np.arange(size + 1) - 0.5
        axes.pcolormesh(edges, edges, rates, cmap=_SHADES, vmin=0, vmax=1)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        for i, j in np.ndindex(size, size):
            count = f"{counts[i, j]:,.0f}" if len(summary.results) == 1 else f"{counts[i, j]:,.1f}"
            share = "–" if totals[i, 0] == 0 else f"{100 * rates[i, j]:.1f} %"
            axes.text(j, i - 0.1, share, ha="center", va="center", fontsize=8.5)
            axes.text(j, i + 0.2, count, ha="center", va="center", fontsize=7)
        axes.set_xticks(range(size), names)
        axes.set_yticks(range(size), names)
        axes.set_xlabel("the model says")
        axes.set_ylabel("true class")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(True)
        return svg_element(render(figure, "svg", transparent=True), title)


def efficiency(found: Iterable[Comparison]) -> dict[str, dict[int, Summary]]:
    """Return of a row's comparisons under one recipe the models that ran on several numbers of training rows.

    Their runs stand under the name and then the number of training rows, ascending.
    """
    sizes: dict[str, dict[int, Summary]] = {}
    for comparison in found:
        for name, model in comparison.models.items():
            sizes.setdefault(name, {})[model.train_rows] = model
    return {name: dict(sorted(sizes[name].items())) for name in sorted(sizes) if len(sizes[name]) > 1}


def efficiency_curves(found: Mapping[str, Mapping[int, Summary]], title: str) -> str:
    """Return mean test accuracy against training rows as an SVG element: a curve a model, see `efficiency`."""
    ticks = sorted({size for sizes in found.values() for size in sizes})
    return _accuracy_against("training rows", found, title, ticks=ticks)


def far_below(accuracies: Mapping[str, float]) -> list[str]:
    """Return the names of the models that are so far below the others that a figure would show these as a dot.

    Far below is what lies more than three times as far from the best model as the median one, and 5 points.

    >>> far_below({"trees": 0.99, "mlp": 0.98, "fone": 0.97, "learned": 0.96, "xval": 0.5})
    ['xval']
    """
    rates = list(accuracies.values())
    least = max(rates) - max(3 * (max(rates) - float(np.median(rates))), 0.05)
    return [name for name, rate in accuracies.items() if rate < least]


def cost_scatter(models: Mapping[str, Summary], title: str) -> str:
    """Return mean test accuracy against mean training time as an SVG element: a point a model."""
    # A logarithm needs more than 0, and clocks show no less than a millisecond.
    points = {name: {max(model.seconds, 1e-3): model} for name, model in models.items()}
    return _accuracy_against("training time (s)", points, title)


def _accuracy_against(
    quantity: str,
    found: Mapping[str, Mapping[Any, Summary]],
    title: str,
    *,
    ticks: list[int] | None = None,
) -> str:
    """Return mean test accuracy against a quantity as an SVG element: 95 % intervals as bars, of two seeds their range.

    `found` has name -> quantity -> runs. Where models are curves, `ticks` are those of the horizontal axis; else models
    are points.
    """
    drawn = looks({name: next(iter(runs.values())) for name, runs in found.items()})
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(4.8, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, runs in found.items():
            look = drawn[name]
            line: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 6, "linestyle": "none"}
            line |= {} if ticks is None else {"linestyle": look.dash, "linewidth": 1.6, "markersize": 5}
            means = [100 * model.mean("accuracy") for model in runs.values()]
            bars = 100 * np.transpose([model.bars("accuracy") for model in runs.values()])
            axes.errorbar(list(runs), means, yerr=bars, label=name, capsize=2.5, **line)
        majority = next(iter(next(iter(found.values())).values())).trivial("majority")
        if ticks or 100 * majority >= axes.get_ylim()[0]:
            mark_majority(axes, majority, "majority class")
        _logarithmic(axes)
        if ticks is not None:
            axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axes.set_xlabel(quantity)
        axes.set_ylabel("test accuracy (%)")
        axes.set_ylim(top=min(axes.get_ylim()[1], 101))  # bars of uncertainty may reach above 100
        at_least(axes, LEAST_POINTS)
        axes.grid(visible=True, color=INK, alpha=0.12)
        legend_below(figure, axes, 2)
        return svg_element(render(figure, "svg", transparent=True), title)


def _logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at powers of ten; 2 and 5 times them if it is short."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high / low < 4:  # too short an axis for several ticks
        middle = math.sqrt(low * high)
        axes.set_xlim(middle / 2, middle * 2)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,), numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())
