"""The picture of greatest common divisors: accuracy against pairs, and how many divisors are learned."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from adelic.benchmark.drawn import Series
from adelic.benchmark.drawn.scores import learned
from adelic.benchmark.plots import COLOURS, DASHES, GREY, render, style

_OURS = "adelic"
_WARM = (*(COLOURS[i] for i in (1, 3, 4)), "#8C564B")


def draw_gcd(curves: Sequence[Series]) -> bytes | None:
    """Return an SVG: on the left validation accuracy against pairs, on the right the divisors that are learned.

    AOE's forms have cold colours, rivals warm ones. Lines and bars are means over seeds; bands and whiskers go from the
    least to the greatest.

    Args:
        curves: series with results that have learning curves.

    >>> draw_gcd([]) is None
    True
    """
    if not curves:
        return None
    colours = _colours(curves)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, 0.8 + max(3.2, 0.32 * len(curves))), layout="constrained")
        left: Axes
        right: Axes
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for i, series in enumerate(curves):
            colour, dash = colours[series.label]
            lines = 100 * np.array([result.history["validation_accuracy"] for result in series.results])
            pairs = series.examples * np.arange(1, lines.shape[1] + 1) / lines.shape[1]
            left.plot(pairs, lines.mean(axis=0), color=colour, linestyle=dash, linewidth=1.8)
            left.fill_between(pairs, lines.min(axis=0), lines.max(axis=0), color=colour, alpha=0.18, linewidth=0)
            counts = np.array([learned(result, "stratified") for result in series.results])
            right.barh(i, counts.mean(), color=colour, alpha=0.55 if dash != "-" else 0.9, height=0.7)
            said = f"{counts.mean():.1f}".removesuffix(".0")
            right.text(counts.max() + 1.5, i, said, va="center", fontsize=8)
            if len(counts) > 1:
                right.plot([counts.min(), counts.max()], [i, i], color=GREY, linewidth=1.2)
        left.set_xscale("log")
        left.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
        left.xaxis.set_minor_locator(NullLocator())
        left.set_xlabel("pairs trained on")
        left.set_ylabel("right, of pairs drawn as in training (%)")
        left.grid(visible=True, color=GREY, alpha=0.25)
        right.set_yticks(
            range(len(curves)), [f"{series.label} ({_short(series.examples)})" for series in curves], fontsize=8
        )
        right.set_ylim(len(curves) - 0.5, -0.5)
        right.set_xlim(0, 113)
        right.set_xlabel("GCDs learned, of 1 to 100")
        return render(figure, "svg", transparent=True)


def _short(count: float) -> str:
    """Return a count in few letters.

    >>> _short(3_000_000), _short(300_000)
    ('3M', '300k')
    """
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
