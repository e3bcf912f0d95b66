"""The picture of all tasks with a target: right answers against the questions trained on, and against seconds."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from adelic_lab.report.drawn import Series
from adelic_lab.report.number_theory.figures import log_scale
from adelic_lab.report.plots import COLOURS, GREY, render, style
from adelic_lab.results.result import Result

_COLUMNS = 4
"""Tasks side by side, at most."""
_SHORT = {"modular-sum": "sum of {terms} modulo {modulus}"}
_POINT = 4.0


def draw_learning(kinds: Mapping[str, Sequence[Series]]) -> bytes | None:
    """Return an SVG: two panels a task and choice of its options, a colour a kind of model, a line a series.

    The upper panel has the questions that were trained on, those of each pass counted; the lower one has seconds of one
    core. A network's line is its right answers to validation questions after each epoch, the mean over seeds; all its
    epochs take the same time. What has no epochs has a point for each number of examples: right test answers.

    Args:
        kinds: by the name of the kind, series with results.

    >>> draw_learning({}) is None
    True
    """
    headings = list(dict.fromkeys(one.heading for series in kinds.values() for one in series))
    if not headings:
        return None
    colours = dict(zip(kinds, COLOURS, strict=False))
    columns = min(_COLUMNS, len(headings))
    blocks = -(-len(headings) // columns)
    with mpl.rc_context(style(GREY) | {"font.size": 8}):
        figure = Figure(figsize=(1.7 + 2.7 * columns, 0.4 + 4.0 * blocks), layout="constrained")
        panels = figure.subplots(2 * blocks, columns, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for i, heading in enumerate(headings):
            row, column = 2 * (i // columns), i % columns
            upper, lower = panels[row, column], panels[row + 1, column]
            for kind, series in kinds.items():
                mine = [one for one in series if one.heading == heading]
                _draw(upper, lower, mine, colours[kind])
            upper.set_title(_title(next(one for series in kinds.values() for one in series if one.heading == heading)))
            for panel, label in ((upper, "questions trained on"), (lower, "seconds of one core")):
                panel.set_axis_on()
                _scale(panel)
                panel.set_xlabel(label)
                panel.set_ylabel("right (%)" if column == 0 else "")
        lines = [Line2D([], [], color=colour, linewidth=1.8) for colour in colours.values()]
        figure.legend(lines, list(colours), loc="outside upper center", ncols=len(colours), frameon=False)
        return render(figure, "svg", transparent=True)


def _draw(upper: Axes, lower: Axes, series: Iterable[Series], colour: str) -> None:
    """Draw the series of one kind and task: lines where there are epochs, else points; one label's are joined."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    for one in series:
        lines = 100 * np.array([result.history["validation_accuracy"] for result in one.results])
        seconds = _seconds(one.results)
        if lines.size:
            questions = one.examples * one.experiments[0].network_recipe.passes
            share = np.arange(1, lines.shape[1] + 1) / lines.shape[1]
            for panel, end in ((upper, questions), (lower, seconds)):
                panel.plot(end * share, lines.mean(axis=0), color=colour, linewidth=1.4)
        else:
            right = 100 * float(np.mean(one.accuracies()))
            points.setdefault(one.label, []).append((one.examples, seconds, right))
    for of_label in points.values():
        examples, times, shares = zip(*sorted(of_label), strict=True)
        for panel, x in ((upper, examples), (lower, times)):
            panel.plot(x, shares, "o-", color=colour, markersize=_POINT, linewidth=1.0, clip_on=False)


def _scale(axes: Axes) -> None:
    """Give panels a logarithmic axis of at least a power of ten, and percents from the ten below the least line on."""
    log_scale(axes)
    low, high = axes.get_xlim()
    # (high · wider) / (low / wider) is 10 then, if it was less.
    wider = max(1.0, np.sqrt(10 * low / high))
    axes.set_xlim(low / wider, high * wider)
    axes.set_ylim(10 * (axes.dataLim.y0 // 10) - 1, 101)


def _seconds(results: Sequence[Result]) -> float:
    """Return the mean seconds of one core that trainings took; where none is known, of those that went by."""
    known = [result.processor_seconds for result in results if result.processor_seconds is not None]
    return float(np.mean(known or [result.seconds for result in results]))


def _title(series: Series) -> str:
    """Return what a task is called above its panels."""
    options = dict(option.split("=") for option in series.options)
    return _SHORT[series.task].format(**options) if series.task in _SHORT else series.task
