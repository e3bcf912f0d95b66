"""Confusion matrices: what a model says of the rows of each class."""

from textwrap import fill

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from adelic.benchmark.plots import COLOURS, INK, render, style, svg_element
from adelic.benchmark.results import Summary
from adelic.data.registry import task as find_task
from adelic.errors import AdelicError

# From nothing to a blue through which the page's text stays readable, on light and on dark ground.
_SHADES = LinearSegmentedColormap.from_list("shades", [(COLOURS[0], 0.0), (COLOURS[0], 0.55)])


def confusion_matrix(summary: Summary, title: str) -> str | None:
    """Return a model's confusion matrix as an SVG element: shade and percentage by true class, mean count over seeds.

    Returns:
        None if the results have none.
    """
    if any("confusion" not in result for result in summary.results):
        return None
    counts = np.mean([result["confusion"] for result in summary.results], axis=0)
    totals = counts.sum(axis=1, keepdims=True)
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    names = class_names(summary, len(counts))
    wrapped = [fill(name, 12) for name in names]
    size = len(names)
    side = max(2.2, 0.62 * size)
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(side + 1.0, side + 0.6), layout="constrained")
        axes = figure.subplots()
        edges = np.arange(size + 1) - 0.5
        axes.pcolormesh(edges, edges, rates, cmap=_SHADES, vmin=0, vmax=1)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        for i in range(size):
            for j in range(size):
                count = f"{counts[i, j]:,.0f}" if len(summary.results) == 1 else f"{counts[i, j]:,.1f}"
                share = "–" if totals[i, 0] == 0 else f"{100 * rates[i, j]:.1f} %"
                axes.text(j, i - 0.1, share, ha="center", va="center", fontsize=8.5)
                axes.text(j, i + 0.2, count, ha="center", va="center", fontsize=7)
        axes.set_xticks(range(size), wrapped)
        axes.set_yticks(range(size), wrapped)
        axes.set_xlabel("the model says")
        axes.set_ylabel("true class")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(True)
        return svg_element(render(figure, "svg", transparent=True), title)


def class_names(summary: Summary, count: int) -> list[str]:
    """Return the names of a row's classes; numbers from 0 on where no result and no task says them.

    >>> run = {"task": "quiver", "n": 11, "edition": "published"}
    >>> class_names(Summary((run,)), 7), class_names(Summary((run | {"task": "mine"},)), 2)
    (['A', 'BD', 'D', 'BE', 'BB', 'E', 'DE'], ['0', '1'])
    """
    names = summary.first.get("class_names")
    if names and len(names) == count:
        return list(names)
    try:
        names = find_task(summary.first["task"]).class_names(summary.first["n"], summary.first["edition"])
    except AdelicError:
        names = None
    return list(names) if names and len(names) == count else [str(i) for i in range(count)]
