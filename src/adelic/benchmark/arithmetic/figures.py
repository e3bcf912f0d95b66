"""The figures of the arithmetic benchmark, in colours that are readable on light and on dark ground."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adelic.benchmark.arithmetic.entries import Entry, in_order, with_most_examples
from adelic.benchmark.plots import COLOURS, GREY, render, style
from adelic.benchmark.results import confidence_interval
from adelic.data import drawn_task
from adelic.training.solver_names import TITLES, WITHOUT_NETWORK

_MARKERS = "osD^vP*X<>"
_DASHES = ("--", ":", "-.")
_PANELS = 3
_PANEL_HEIGHT = 2.9  # inches, without the legend
_LEGEND_WIDTH, _LEGEND_LINE = 130, 0.22  # characters, with the lines before the names; inches
_CURVE = 2  # sizes that make a curve


def draw_accuracy(entries: Sequence[Entry]) -> bytes | None:
    """Return an SVG of accuracy against the number of examples, a panel a problem; None if no problem has two sizes.

    Lines are means over seeds, and each seed is a dot.

    Args:
        entries: with results.

    >>> draw_accuracy([]) is None
    True
    """
    sizes: dict[str, set[int]] = {}
    for entry in entries:
        sizes.setdefault(entry.problem, set()).add(entry.examples)
    most = max(map(len, sizes.values()), default=0)
    panels = [name for name, found in sizes.items() if len(found) >= max(_CURVE, most - 1)][:_PANELS]
    if not panels:
        return None
    looks = _looks(entries)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, _PANEL_HEIGHT), layout="constrained")
        axes: Axes
        for axes, name in zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
            for solver, look in looks.items():
                mine = sorted((e for e in entries if (e.problem, e.solver) == (name, solver)), key=lambda e: e.examples)
                if not mine:
                    continue
                values = [100 * np.array(e.accuracies()) for e in mine]
                x = [e.examples for e in mine]
                axes.plot(x, [v.mean() for v in values], label=solver, markersize=5, **look)
                dots = [(size, one) for size, found in zip(x, values, strict=True) for one in found]
                axes.plot(*zip(*dots, strict=True), ".", color=look["color"], markersize=4, alpha=0.5)
            axes.set_xscale("log")
            ticks = sorted(sizes[name])
            axes.set_xticks(ticks, [f"{size:,}" for size in ticks], fontsize=8)
            axes.set_xticks([], minor=True)
            axes.set_title(drawn_task(name).title, fontsize=10, loc="left")
            axes.set_xlabel("training examples")
            axes.set_ylim(-3, 103)
            axes.grid(visible=True, color=GREY, alpha=0.25)
        figure.axes[0].set_ylabel("exact answers (%)")
        _add_legend(figure)
        return render(figure, "svg", transparent=True)


def draw_never_seen(entries: Sequence[Entry]) -> bytes | None:
    """Return an SVG of the accuracy on questions unlike all in training, a row a split; None without such questions.

    Of each problem and solver the entry with the most examples counts. Bars are 95 % confidence intervals of the mean
    over seeds.

    Args:
        entries: with results.

    >>> draw_never_seen([]) is None
    True
    """
    largest = {(e.problem, e.solver): e for e in with_most_examples(entries)}
    rows = [
        (name, split) for name in dict.fromkeys(e.problem for e in entries) for split in drawn_task(name).never_seen
    ]
    if not rows:
        return None
    looks = _looks(entries)
    offsets = np.linspace(-0.3, 0.3, len(looks)) if len(looks) > 1 else np.zeros(1)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, 0.7 + 0.5 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for offset, (solver, look) in zip(offsets, looks.items(), strict=True):
            points = []
            for y, (name, split) in enumerate(rows):
                if (name, solver) in largest:
                    values = largest[name, solver].accuracies(split)
                    width = 100 * (confidence_interval(values) or 0.0)
                    points.append((100 * float(np.mean(values)), y + offset, width))
            if points:
                x, y_values, widths = zip(*points, strict=True)
                point_look = look | {"linestyle": "none", "markersize": 5}
                axes.errorbar(x, y_values, xerr=widths, label=solver, elinewidth=1.2, **point_look)
        axes.set_yticks(
            range(len(rows)), [drawn_task(name).never_seen_titles[split] for name, split in rows], fontsize=8
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("exact answers (%) on questions unlike all in training")
        axes.grid(visible=True, color=GREY, alpha=0.25)
        _add_legend(figure)
        return render(figure, "svg", transparent=True)


def draw_seconds(entries: Sequence[Entry]) -> bytes | None:
    """Return an SVG of accuracy against seconds of training, a panel a problem; None without results.

    Every entry is a point, its mean over seeds, and each of its seeds a dot. Where one answer in a hundred or more is
    right the number of its examples stands beside it, in thousands (10k).

    Args:
        entries: with results, also those of several plans.

    >>> draw_seconds([]) is None
    True
    """
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    if not problems:
        return None
    looks = _looks(entries)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, _PANEL_HEIGHT), layout="constrained")
        panels = figure.subplots(1, len(problems), sharex=True, sharey=True, squeeze=False)[0]
        axes: Axes
        for axes, name in zip(panels, problems, strict=True):
            for entry in (e for e in entries if e.problem == name):
                look = looks[entry.solver] | {"linestyle": "none"}
                seconds = [result.seconds for result in entry.results]
                values = [100 * value for value in entry.accuracies()]
                centre = float(np.mean(seconds)), float(np.mean(values))
                axes.plot(*centre, label=entry.solver, markersize=7, **look)
                axes.plot(seconds, values, ".", color=look["color"], markersize=4, alpha=0.5)
                if centre[1] >= 1:
                    text = f"{entry.examples // 1000}k"
                    axes.annotate(text, centre, (5, 4), textcoords="offset points", fontsize=7, color=GREY)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda second, _: f"{second:g}")
            axes.set_title(drawn_task(name).title, fontsize=10, loc="left")
            axes.set_xlabel("seconds of training")
            axes.set_ylim(-3, 108)
            axes.grid(visible=True, color=GREY, alpha=0.25)
        figure.axes[0].set_ylabel("exact answers (%)")
        _add_legend(figure)
        return render(figure, "svg", transparent=True)


def _looks(entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """Return how each solver is drawn: AOE's variants in one colour with different dashes, each rival in another.

    What trains no network is grey and dashed.
    """
    solvers = in_order(entries)
    rivals = iter(COLOURS[1:] * len(solvers))
    dashes = iter(_DASHES * len(solvers))
    looks: dict[str, dict[str, Any]] = {}
    for i, solver in enumerate(solvers):
        is_ours = solver.startswith("adelic-")
        is_first = solver == "adelic-placewise"
        is_trivial = solver in WITHOUT_NETWORK
        looks[solver] = {
            "color": GREY if is_trivial else COLOURS[0] if is_ours else next(rivals),
            "linestyle": next(dashes) if is_trivial or (is_ours and not is_first) else "-",
            "linewidth": 2.4 if is_first else 1.6,
            "marker": _MARKERS[i % len(_MARKERS)],
            "markerfacecolor": "none" if is_ours and not is_first else None,
        }
    return looks


def _add_legend(figure: Figure) -> None:
    """Name every solver once, under the panels, and make the figure higher by as much as that takes."""
    named = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels())}  # noqa: B905
    titles = [TITLES.get(name, name) for name in named]
    columns = max(1, min(len(named), _LEGEND_WIDTH // (6 + max(map(len, titles)))))
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * -(-len(named) // columns))
    figure.legend(list(named.values()), titles, loc="outside lower center", ncols=columns, frameon=False)
