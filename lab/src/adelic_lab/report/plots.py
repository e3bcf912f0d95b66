"""How figures look and are saved, and learning curves: in the report as SVG text that follows the page's colours."""

import html
import io
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adelic.errors import ConfigurationError
from adelic.storage.files import atomic_write
from adelic_lab.report.results import Summary

_PANELS = (
    ("validation_accuracy", "validation accuracy (%)", 100.0),
    ("validation_loss", "validation loss", 1.0),
    ("train_loss", "training loss", 1.0),
)
# Okabe and Ito's colours, told apart by readers with any colour vision, on light and on dark ground.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK = "#123456"
"""Stands for the page's text colour in figures that go through `svg_element`, which puts that in its place."""

GREY = "#767676"
"""Ink of figures that stand alone: 4.5 : 1 on white and 4.1 : 1 on dark ground."""
LEAST_POINTS = 5.0
"""Axes of accuracies show at least this many percentage points."""
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_RIVALS = {
    "learned": ("#D55E00", 0),
    "base-digits:base=1000": ("#56B4E9", 0),
    "base": ("#D55E00", 0),
    "random": ("#E69F00", 0),
    "one-hot": ("#009E73", 0),
    "fone": ("#CC79A7", 0),
    "xval": ("#E69F00", 1),
    "abacus": ("#009E73", 1),
    "periodic": ("#CC79A7", 1),
}


@dataclass(frozen=True)
class Look:
    """How a model is drawn: colour, and a dash and a marker where several have the colour."""

    colour: str
    dash: str = "-"
    marker: str = "o"


def looks(models: Mapping[str, Summary]) -> dict[str, Look]:
    """Return how each model is drawn in every figure: AOE's forms blue, its rivals in other colours, the rest as ink.

    >>> from adelic_lab.report.files import read_results
    >>> ours, learned = read_results(Path("experiments/results/demo"))[:2]
    >>> looks({"learned": Summary((learned,)), "ours": Summary((ours,))})
    {'learned': Look(colour='#D55E00', dash='-', marker='o'), 'ours': Look(colour='#0072B2', dash='-', marker='o')}
    """
    found: dict[str, Look] = {}
    used: set[tuple[str, int]] = set()
    for name in sorted(models):  # by name, so that a form looks alike on every row that has the same models
        embedding = models[name].embedding
        colour, i = (COLOURS[0], 0) if embedding == "adelic" else _RIVALS.get(embedding, (INK, 0))
        while (colour, i) in used:
            i += 1
        used.add((colour, i))
        found[name] = Look(colour, DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)])
    return found


def solver_colour(name: str) -> str | None:
    """Return the colour of a rival's solvers, which is that of its embedding in other figures; None for others.

    >>> solver_colour("fone-placewise") == solver_colour("fone"), solver_colour("mine")
    (True, None)
    """
    return next((colour for rival, (colour, _) in _RIVALS.items() if name.startswith(rival)), None)


@dataclass(frozen=True)
class Curves:
    """The learning curves of a line in a figure.

    Attributes:
        label: what the legend says.
        histories: one table of curves a run, each with one value an epoch; several are drawn as mean and band.
        look: how the line is drawn; None to choose it by the line's place in the figure.
    """

    label: str
    histories: tuple[Mapping[str, list[float]], ...]
    look: Look | None = None


def learning_curves(models: Mapping[str, Summary], title: str) -> str | None:
    """Return the learning curves of models as an SVG element: mean over seeds, band from least to most.

    A model outside the Transformer is drawn only where no network is: its epochs are of other batches, so that curves
    against epochs would not compare the two. Each run's history has one value an epoch; None is returned if no model
    has learned in epochs.
    """
    drawn = looks(models)
    learned = {
        name: model for name, model in models.items() if all(history["train_loss"] for history in model.histories)
    }
    if not learned:
        return None
    networks = {name: model for name, model in learned.items() if model.is_network}
    curves = [Curves(name, model.histories, drawn[name]) for name, model in (networks or learned).items()]
    majority = next(iter(models.values())).trivial("majority")
    return svg_element(_render(curves, majority, "svg", ink=INK, transparent=True), title)


def plot_learning_curves(curves: list[Curves], path: Path, *, majority: float | None = None) -> None:
    """Write learning curves as a figure of their own.

    The name's end says whether it is a PNG, an SVG or a PDF, and another one is a ConfigurationError. `majority` is the
    accuracy of the most frequent class, where one holds for all.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise ConfigurationError(f"the plot {str(path)!r} is a figure: give it a name that ends in .png, .svg or .pdf")
    atomic_write(path, _render(curves, majority, kind, ink="black", transparent=False))


def style(ink: str) -> dict[Any, Any]:
    """Return matplotlib's settings for figures whose lines and texts have one colour.

    >>> style("black")["text.color"]
    'black'
    """
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "adelic",  # else identifiers are drawn at random, and no two files are equal
        "text.parse_math": False,  # a $ in a name begins no formula
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": ink,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }


def render(figure: Figure, kind: str, *, transparent: bool) -> bytes:
    """Return a figure as the content of a file ("svg", "png" or "pdf") that is the same each time.

    >>> render(Figure(), "png", transparent=False)[1:4]
    b'PNG'
    """
    out = io.BytesIO()
    dates: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}
    figure.savefig(out, format=kind, dpi=150, transparent=transparent, metadata=dates[kind])
    return out.getvalue()


def _render(curves: list[Curves], majority: float | None, kind: str, *, ink: str, transparent: bool) -> bytes:
    """Return a figure of learning curves as a file's content."""
    plain = [Look(colour, dash) for dash in DASHES for colour in COLOURS]
    with mpl.rc_context(style(ink)):
        figure = Figure(figsize=(10.5, 2.8), layout="constrained")
        for axes, (key, title, scale) in zip(figure.subplots(1, 3), _PANELS, strict=True):
            for i, drawn in enumerate(curves):
                histories = [scale * np.array(history[key]) for history in drawn.histories]
                _draw_curve(axes, drawn.label, histories, drawn.look or plain[i % len(plain)])
            if key == "validation_accuracy" and majority is not None:
                mark_majority(axes, majority, "majority class (test)")
            if key == "validation_accuracy":
                at_least(axes, LEAST_POINTS)
            axes.set_title(title, fontsize=10, loc="left")
            axes.set_xlabel("epoch")
            axes.xaxis.get_major_locator().set_params(integer=True)
            if max(len(drawn.histories[0]["train_loss"]) for drawn in curves) == 1:
                axes.set_xticks([1])
            axes.grid(visible=True, color=ink, alpha=0.12)
        legend_below(figure, axes, 3)
        return render(figure, kind, transparent=transparent)


def _draw_curve(axes: Axes, label: str, histories: list[npt.NDArray[np.float64]], look: Look) -> None:
    """Draw the mean of some curves and, of several, a band from the least to the most."""
    epochs = np.arange(1, max(map(len, histories)) + 1)
    values = np.full((len(histories), len(epochs)), np.nan)  # runs may stop early
    for row, history in zip(values, histories, strict=True):
        row[: len(history)] = history
    marker = look.marker if len(epochs) == 1 else ""  # a line alone would not show a run of a single epoch
    line: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "linewidth": 1.8, "marker": marker}
    axes.plot(epochs, np.nanmean(values, axis=0), label=label, **line)
    if len(histories) > 1:
        least, most = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        axes.fill_between(epochs, least, most, color=look.colour, alpha=0.15, linewidth=0)


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """Put the legend of axes under their figure, which grows by it, in as many of the given columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    for count in range(min(max(len(labels), 1), columns), 0, -1):
        legend = figure.legend(handles, labels, loc="outside lower center", ncols=count, frameon=False)
        if count == 1 or legend.get_window_extent().width <= figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(labels) // count))
            return
        legend.remove()


def at_least(axes: Axes, points: float) -> None:
    """Widen axes of accuracies in percent until they show this many points: a few test rows must not look like much.

    >>> axes = Figure().subplots()
    >>> _ = axes.set_ylim(99.8, 100)
    >>> at_least(axes, 5)
    >>> [round(float(end), 1) for end in axes.get_ylim()]
    [95.9, 100.9]
    """
    low, high = axes.get_ylim()
    missing = max(points - (high - low), 0)
    top = min(high + missing / 2, max(high, 100.9))
    axes.set_ylim(min(low, top - points), top)


def mark_majority(axes: Axes, majority: float, text: str) -> None:
    """Draw the accuracy of the most frequent class into axes of accuracies in percent."""
    axes.axhline(100 * majority, color=mpl.rcParams["text.color"], linewidth=1, linestyle=":", alpha=0.7)
    place: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "ha": "right",
        "fontsize": 8,
    }
    axes.annotate(text, (1, 100 * majority), xytext=(0, 3), **place)


def svg_element(svg: bytes, title: str) -> str:
    """Return an SVG document as an element of a page: no prologue, the page's text colour, unique identifiers.

    It is drawn with `INK` where the page's text colour belongs. The title is unique on the page, and read out in place
    of the figure.
    """
    text = svg.decode()
    element = text[text.index("<svg") :].replace(INK, "currentColor")
    prefix = f"f{zlib.crc32(title.encode()):08x}"
    element = re.sub(r'(id="|xlink:href="#|url\(#)', rf"\g<1>{prefix}-", element)
    element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", element, count=1)
    return element.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)
