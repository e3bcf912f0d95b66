"""The figures of the arithmetic benchmark, in colours that are readable on light and on dark ground."""

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adelic_lab.config.solver_names import TITLES
from adelic_lab.report.arithmetic.groups import in_order, with_most_examples
from adelic_lab.report.drawn import Series
from adelic_lab.report.plots import COLOURS, DASHES, GREY, render, solver_colour, style
from adelic_lab.report.results import confidence_interval

_MARKERS = "osD^vP*X<>"
_PANELS = 3
_PANEL_HEIGHT = 2.9  # inches, without the legend
_LEGEND_WIDTH, _LEGEND_LINE = 130, 0.22  # characters, with the lines before the names; inches
_CURVE = 2  # sizes that make a curve
_BESIDE, _LEVEL = 0.12, 8.0  # decades of seconds, and percentage points, within which two numbers would overlap
_HEIGHTS = 4, -11, 12, -19  # of a number above or below its mark, in points, for marks side by side
Looks = dict[str, dict[str, Any]]


def draw_accuracy(series: Sequence[Series]) -> bytes | None:
    """Return an SVG of accuracy against the number of examples, a panel a task; None if no task has two sizes.

    Lines are means over seeds, and each seed is a dot.

    >>> draw_accuracy([]) is None
    True
    """
    sizes: dict[str, set[int]] = {}
    for one in series:
        sizes.setdefault(one.title, set()).add(one.examples)
    most = max(map(len, sizes.values()), default=0)
    panels = [title for title, found in sizes.items() if len(found) >= max(_CURVE, most - 1)][:_PANELS]

    def draw(axes: Axes, title: str, looks: Looks) -> None:
        for solver, look in looks.items():
            mine = sorted((e for e in series if (e.title, e.model) == (title, solver)), key=lambda e: e.examples)
            if not mine:
                continue
            values = [100 * np.array(e.accuracies()) for e in mine]
            x = [e.examples for e in mine]
            axes.plot(x, [v.mean() for v in values], label=solver, markersize=5, **look)
            dots = [(size, one) for size, found in zip(x, values, strict=True) for one in found]
            axes.plot(*zip(*dots, strict=True), ".", color=look["color"], markersize=4, alpha=0.5)
        axes.set_xscale("log")
        ticks = sorted(sizes[title])
        axes.set_xticks(ticks, [f"{size:,}" for size in ticks], fontsize=8)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("training examples")
        axes.set_ylim(-3, 103)

    return _panels(panels, _looks(series), draw)


def draw_seconds(series: Sequence[Series]) -> bytes | None:
    """Return an SVG of accuracy against seconds of one core in training, a panel a task; None without results.

    Every series is a point, its mean over seeds, and each of its seeds a dot. Where one answer in a hundred or more is
    right the number of its examples stands beside it, in thousands (10k).

    >>> draw_seconds([]) is None
    True
    """

    def draw(axes: Axes, title: str, looks: Looks) -> None:
        named: list[tuple[float, float]] = []
        for one in (e for e in series if e.title == title):
            look = looks[one.model] | {"linestyle": "none"}
            # What else the machine did is no cost of a solver; older results do not tell the two apart.
            seconds = [result.processor_seconds or result.seconds for result in one.results]
            values = [100 * value for value in one.accuracies()]
            centre = float(np.mean(seconds)), float(np.mean(values))
            axes.plot(*centre, label=one.model, markersize=7, **look)
            axes.plot(seconds, values, ".", color=look["color"], markersize=4, alpha=0.5)
            if centre[1] >= 1:
                # Each at another height than the numbers of the marks beside it.
                beside = [x for x, y in named if abs(np.log10(x / centre[0])) < _BESIDE and abs(y - centre[1]) < _LEVEL]
                named.append(centre)
                text, place = f"{one.examples // 1000}k", (5, _HEIGHTS[len(beside) % len(_HEIGHTS)])
                axes.annotate(text, centre, place, textcoords="offset points", fontsize=7, color=GREY)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda second, _: f"{second:g}")
        axes.set_xlabel("seconds of one core")
        axes.set_ylim(-3, 108)

    return _panels(list(dict.fromkeys(one.title for one in series)), _looks(series), draw, sharex=True)


def _panels(
    titles: Sequence[str], looks: Looks, draw: Callable[[Axes, str, Looks], None], *, sharex: bool = False
) -> bytes | None:
    """Return an SVG of exact answers with a panel a title, which a function draws; None without titles."""
    if not titles:
        return None
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, _PANEL_HEIGHT), layout="constrained")
        panels = figure.subplots(1, len(titles), sharex=sharex, sharey=True, squeeze=False)[0]
        axes: Axes
        for axes, title in zip(panels, titles, strict=True):
            draw(axes, title, looks)
            axes.set_title(title, fontsize=10, loc="left")
        figure.axes[0].set_ylabel("exact answers (%)")
        return _finished(figure)


def draw_never_seen(series: Sequence[Series]) -> bytes | None:
    """Return an SVG of the accuracy on questions unlike all in training, a row a split; None without such questions.

    Of each task and solver the series with the most examples counts. Bars are 95 % confidence intervals of the mean
    over seeds.

    >>> draw_never_seen([]) is None
    True
    """
    largest = with_most_examples(series)
    asked = {one.title: one.asked for one in series}
    rows = [(title, split) for title, task in asked.items() for split in task.never_seen]
    if not rows:
        return None
    looks = _looks(series)
    offsets = np.linspace(-0.3, 0.3, len(looks)) if len(looks) > 1 else np.zeros(1)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, 0.7 + 0.5 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for offset, (solver, look) in zip(offsets, looks.items(), strict=True):
            points = []
            for y, (title, split) in enumerate(rows):
                if (title, solver) in largest:
                    values = largest[title, solver].accuracies(split)
                    width = 100 * (confidence_interval(values) or 0.0)
                    points.append((100 * float(np.mean(values)), y + offset, width))
            if points:
                x, y_values, widths = zip(*points, strict=True)
                point_look = look | {"linestyle": "none", "markersize": 5}
                axes.errorbar(x, y_values, xerr=widths, label=solver, elinewidth=1.2, **point_look)
        axes.set_yticks(range(len(rows)), [asked[title].never_seen_titles[split] for title, split in rows], fontsize=8)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("exact answers (%) on questions unlike all in training")
        return _finished(figure)


def _looks(series: Sequence[Series]) -> Looks:
    """Return how each solver is drawn: AOE's variants in one colour with different dashes, each rival's in another.

    What trains no network is grey and dashed.
    """
    solvers = in_order(series)
    taken = {solver_colour(solver) for solver in solvers}
    others = iter(([colour for colour in COLOURS[1:] if colour not in taken] or COLOURS[1:]) * len(solvers))
    dashes = iter(DASHES[1:] * len(solvers))
    looks: Looks = {}
    for i, solver in enumerate(solvers):
        title = TITLES.get(solver, solver)
        is_ours, is_trivial = title.startswith("AOE"), title.endswith("no network")
        is_first = solver == "adelic-placewise"
        looks[solver] = {
            "color": GREY if is_trivial else COLOURS[0] if is_ours else solver_colour(solver) or next(others),
            "linestyle": next(dashes) if is_trivial or (is_ours and not is_first) else "-",
            "linewidth": 2.4 if is_first else 1.6,
            "marker": _MARKERS[i % len(_MARKERS)],
            "markerfacecolor": "none" if is_ours and not is_first else None,
        }
    return looks


def _finished(figure: Figure) -> bytes:
    """Return a figure as SVG, with a grid, and every solver's name under the panels; it is higher by their lines."""
    for axes in figure.axes:
        axes.grid(visible=True, color=GREY, alpha=0.25)
    named = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels())}  # noqa: B905
    titles = [TITLES.get(name, name) for name in named]
    columns = max(1, min(len(named), _LEGEND_WIDTH // (6 + max(map(len, titles)))))
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * -(-len(named) // columns))
    figure.legend(list(named.values()), titles, loc="outside lower center", ncols=columns, frameon=False)
    return render(figure, "svg", transparent=True)
