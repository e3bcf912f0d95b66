"""Data efficiency: accuracy against the number of training rows."""

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from adelic.benchmark.comparison import Comparison
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
from adelic.benchmark.results import Summary


def efficiency(found: Iterable[Comparison]) -> dict[str, dict[int, Summary]]:
    """Return of a row's comparisons under one recipe the models that ran on several numbers of training rows.

    Returns:
        Name -> number of training rows -> runs, ascending.
    """
    sizes: dict[str, dict[int, Summary]] = {}
    for comparison in found:
        for name, model in comparison.models.items():
            if "rows" in model.first:
                sizes.setdefault(name, {})[int(model.first["rows"]["train"])] = model
    return {name: dict(sorted(sizes[name].items())) for name in sorted(sizes) if len(sizes[name]) > 1}


def efficiency_curves(found: dict[str, dict[int, Summary]], title: str) -> str:
    """Return mean test accuracy against training rows as an SVG element: a curve a model, 95 % intervals as bars.

    Of two seeds the bar is their range.

    Args:
        found: from `efficiency`, at least one model.
        title: what the figure is.
    """
    drawn = looks({name: next(iter(sizes.values())) for name, sizes in found.items()})
    ticks = sorted({size for sizes in found.values() for size in sizes})
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(4.8, 3.0), layout="constrained")
        axes = figure.subplots()
        for name, sizes in found.items():
            look = drawn[name]
            means = [100 * model.mean("accuracy") for model in sizes.values()]
            bars = [
                [100 * length for length in lengths]
                for lengths in zip(*(m.bars("accuracy") for m in sizes.values()), strict=True)
            ]
            line: dict[str, Any] = {
                "color": look.colour,
                "linestyle": look.dash,
                "marker": look.marker,
                "markersize": 5,
            }
            axes.errorbar(list(sizes), means, yerr=bars, label=name, linewidth=1.6, capsize=2.5, **line)
        mark_majority(axes, next(iter(next(iter(found.values())).values())).trivial("majority"), "majority class")
        logarithmic(axes)
        axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axes.set_xlabel("training rows")
        percent(axes)
        axes.grid(visible=True, color=INK, alpha=0.12)
        legend_below(figure, axes, 2)
        return svg_element(render(figure, "svg", transparent=True), title)
