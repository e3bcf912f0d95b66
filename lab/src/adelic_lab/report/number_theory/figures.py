"""Pictures of greatest common divisors: how many are learned, from how many pairs, and in how many seconds."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from adelic_lab.report.drawn import Series
from adelic_lab.report.drawn.scores import learned
from adelic_lab.report.plots import COLOURS, DASHES, GREY, render, style

_OURS = "adelic"
_WARM = (*(COLOURS[i] for i in (1, 3, 4)), "#8C564B")


def draw_gcd(curves: Sequence[Series]) -> bytes | None:
    """Return an SVG of three panels: divisors learned against pairs, right answers against seconds, and both's legend.

    The legend is bars: the divisors that are learned at the end. AOE's forms have cold colours, rivals warm ones. Lines
    and bars are means over the seeds that have such curves; bands and whiskers go from the least to the greatest.
    Seconds are of one core. All epochs have as many pairs, so an epoch of n has a share of 1/n of them.

    Args:
        curves: series with results that have learning curves.

    >>> draw_gcd([]) is None
    True
    """
    if not curves:
        return None
    colours = _colours(curves)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(12.5, 0.8 + max(3.2, 0.32 * len(curves))), layout="constrained")
        of_pairs: Axes
        of_seconds: Axes
        bars: Axes
        of_pairs, of_seconds, bars = figure.subplots(1, 3, width_ratios=(3, 3, 2))
        for i, series in enumerate(curves):
            look = colours[series.label]
            counted = [result for result in series.results if "learned_classes" in result.history]
            timed = [result for result in series.results if result.processor_seconds is not None]
            _draw_curve(of_pairs, [result.history["learned_classes"] for result in counted], series.examples, look)
            accuracies = [[100 * rate for rate in result.history["validation_accuracy"]] for result in timed]
            seconds = np.mean([result.processor_seconds or 0.0 for result in timed]) if timed else 0.0
            _draw_curve(of_seconds, accuracies, float(seconds), look)
            _draw_bar(bars, i, series, look)
        for axes in (of_pairs, of_seconds):
            log_scale(axes)
            axes.set_ylim(0, 103)
        of_pairs.set_xlabel("pairs trained on")
        of_pairs.set_ylabel("GCDs learned, of 1 to 100")
        of_seconds.set_xlabel("seconds of training, of one core")
        of_seconds.set_ylabel("right, of pairs drawn as in training (%)")
        names = [f"{series.label} ({_short(series.examples)})" for series in curves]
        bars.set_yticks(range(len(curves)), names, fontsize=8)
        bars.set_ylim(len(curves) - 0.5, -0.5)
        bars.set_xlim(0, 120)
        bars.set_xlabel("GCDs learned at the end")
        return render(figure, "svg", transparent=True)


def draw_learned(curves: Sequence[Series]) -> bytes | None:
    """Return an SVG of bars: how many of the divisors 1 to 100 one network learns, by the embedding of its numbers.

    Args:
        curves: series with results; those with more examples than the others are left out.

    >>> draw_learned([]) is None
    True
    """
    if not curves:
        return None
    examples = min(series.examples for series in curves)
    alike = [series for series in curves if series.examples == examples]
    alike.sort(
        key=lambda series: -sum(learned(result, "stratified") for result in series.results) / len(series.results)
    )
    colours = _colours(alike)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(8, 0.7 + 0.36 * len(alike)), layout="constrained")
        axes: Axes = figure.subplots()
        for i, series in enumerate(alike):
            _draw_bar(axes, i, series, colours[series.label])
        axes.set_yticks(range(len(alike)), [series.label for series in alike])
        axes.set_ylim(len(alike) - 0.5, -0.5)
        axes.set_xlim(0, 105)
        axes.set_xlabel(f"greatest common divisors learned, of 1 to 100, from {examples:,} pairs")
        return render(figure, "svg", transparent=True)


def _draw_curve(axes: Axes, lines: Sequence[Sequence[float]], end: float, look: tuple[str, str]) -> None:
    """Draw the mean of lines, one value an epoch, over equal parts of what training had in the end; nothing of none."""
    if not lines:
        return
    colour, dash = look
    values = np.array(lines)
    x = end * np.arange(1, values.shape[1] + 1) / values.shape[1]
    axes.plot(x, values.mean(axis=0), color=colour, linestyle=dash, linewidth=1.8)
    axes.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)


def _draw_bar(axes: Axes, i: int, series: Series, look: tuple[str, str]) -> None:
    """Draw how many divisors are learned at the end."""
    colour, dash = look
    counts = np.array([learned(result, "stratified") for result in series.results])
    axes.barh(i, counts.mean(), color=colour, alpha=0.55 if dash != "-" else 0.9, height=0.7)
    said = f"{counts.mean():.1f}".removesuffix(".0")
    axes.text(counts.max() + 1.5, i, said, va="center", fontsize=8)
    if len(counts) > 1:
        axes.plot([counts.min(), counts.max()], [i, i], color=GREY, linewidth=1.2)


def log_scale(axes: Axes) -> None:
    """Give the horizontal axis a logarithmic scale with few ticks in few letters, and a grid."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color=GREY, alpha=0.25)


def _short(count: float) -> str:
    """Return a count in few letters.

    >>> _short(3_000_000), _short(300_000), _short(30)
    ('3M', '300k', '30')
    """
    if count < 1_000:
        return f"{count:g}"
    return f"{count / 1e6:g}M" if count >= 1_000_000 else f"{count / 1e3:g}k"


def _colours(curves: Sequence[Series]) -> dict[str, tuple[str, str]]:
    """Return the colour and the dash of each label: AOE's are cold."""
    names = list(dict.fromkeys((series.label, series.model) for series in curves))
    ours = [label for label, name in names if name.startswith(_OURS)]
    rivals = [label for label, name in names if not name.startswith(_OURS)]
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.75, max(len(ours), 1)))
    looks = {label: (to_hex(shade), DASHES[0]) for label, shade in zip(ours, shades, strict=False)}
    for i, label in enumerate(rivals):
        looks[label] = (_WARM[i % len(_WARM)], DASHES[i // len(_WARM) % len(DASHES)])
    return looks
