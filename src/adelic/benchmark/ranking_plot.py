"""The critical-difference diagram: mean ranks of models, and which of them the rows do not tell apart."""

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from adelic.benchmark.plots import COLOURS, INK, render, style, svg_element
from adelic.benchmark.significance import Ranking


def ranking_diagram(ranking: Ranking, title: str) -> str:
    """Return Demšar's critical-difference diagram as an SVG element, one line a model, so that a phone can show it.

    The axis stands above, the best rank to the left. Bars under it join models whose mean ranks differ by less than the
    critical difference, which is drawn as a bar of its own. AOE's forms are blue.
    """
    count, bars = len(ranking.models), len(ranking.alike)
    height = 1.0 + 0.22 * (count + 0.8 * bars)
    with mpl.rc_context(style(INK)):
        figure = Figure(figsize=(5.2, height), layout="constrained")
        axes = figure.subplots()
        top = 0.8 * bars + 1.6  # above the first model: the bars, and the critical difference
        for i, (name, rank) in enumerate(zip(ranking.models, ranking.mean_ranks, strict=True)):
            colour = COLOURS[0] if name.startswith("AOE") else INK
            axes.plot([rank, rank], [-i, top], color=INK, linewidth=0.8, alpha=0.25)
            axes.plot([rank], [-i], "o", color=colour, markersize=6)
        for i, (first, last) in enumerate(ranking.alike):
            ends = [ranking.mean_ranks[first] - 0.04, ranking.mean_ranks[last] + 0.04]
            axes.plot(ends, [0.8 * (i + 1)] * 2, color=INK, linewidth=3.5, solid_capstyle="round")
        width = ranking.critical_difference
        shown = min(width, count - 1)
        axes.errorbar([1 + shown / 2], [top], xerr=[shown / 2], color=INK, linewidth=1.2, capsize=3)
        note = "" if width <= count - 1 else ", more than the axis is long"
        axes.annotate(
            f"critical difference {width:.2f}{note}", (1, top), (0, -11), textcoords="offset points", fontsize=8
        )
        labels = [f"{name}  {rank:.2f}" for name, rank in zip(ranking.models, ranking.mean_ranks, strict=True)]
        axes.set_yticks(range(0, -count, -1), labels)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(-count + 0.5, top + 0.5)
        axes.set_xlim(1 - 0.03 * count, count + 0.03 * count)  # no mark is cut
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("mean rank (1 is the best)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.spines["top"].set_visible(True)
        return svg_element(render(figure, "svg", transparent=True), title)
