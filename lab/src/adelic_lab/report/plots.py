"""How figures look and are saved; learning curves, confusion matrices, accuracy against training examples and time.

In the report they are SVG text that follows the page's colours.
"""

import html
import io
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from adelic.data.registry import task as find_task
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.files import atomic_write
from adelic_lab.report.frame import Comparison
from adelic_lab.report.statistics import confidence_interval
from adelic_lab.report.table import of_one_device
from adelic_lab.results.result import Result

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
MOST_CLASSES_DRAWN = 30
"""A confusion matrix of more classes has too many cells to be read, or to be drawn in seconds."""
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# From no colour to a blue through which the page's text stays readable, on light and on dark ground.
_SHADES = LinearSegmentedColormap.from_list("shades", [(COLOURS[0], 0.0), (COLOURS[0], 0.55)])
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
Look = dict[str, Any]
"""How a model is drawn: Matplotlib's `color`, and a `linestyle` and a `marker` where several have the colour."""


def looks(models: pd.DataFrame) -> dict[str, Look]:
    """Return how each model is drawn in every figure, by name: AOE's forms blue, rivals in others, the rest as ink.

    >>> looks(pd.DataFrame({"embedding": ["learned"]}, index=["learned"]))
    {'learned': {'color': '#D55E00', 'linestyle': '-', 'marker': 'o'}}
    """
    found: dict[str, Look] = {}
    used: set[tuple[str, int]] = set()
    for name, embedding in models.embedding.sort_index().items():  # a form looks alike where models are the same
        colour, i = (COLOURS[0], 0) if embedding == "adelic" else _RIVALS.get(embedding, (INK, 0))
        while (colour, i) in used:
            i += 1
        used.add((colour, i))
        found[name] = {
            "color": colour, "linestyle": DASHES[i % len(DASHES)], "marker": MARKERS[i % len(MARKERS)]
        }  # fmt: skip
    return found


def solver_colour(name: str) -> str | None:
    """Return the colour of a rival's solvers, which is that of its embedding in other figures; None for others.

    >>> solver_colour("fone-placewise") == solver_colour("fone"), solver_colour("mine")
    (True, None)
    """
    return next((colour for rival, (colour, _) in _RIVALS.items() if name.startswith(rival)), None)


def style(ink: str) -> dict[Any, Any]:
    """Return matplotlib's settings for figures whose lines and texts have one colour.

    >>> style("black")["text.color"]
    'black'
    """
    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return dict.fromkeys(inked, ink) | {
        "svg.fonttype": "none",
        "svg.hashsalt": "adelic",  # else identifiers are drawn at random, and no two files are equal
        "text.parse_math": False,  # a $ in a name begins no formula
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }


@contextmanager
def canvas(width: float, height: float, ink: str, **settings: Any) -> Iterator[Figure]:
    """Give a figure of a size in inches, in whose context all that is drawn has one `ink`, see `style`."""
    with mpl.rc_context(style(ink) | settings):
        yield Figure(figsize=(width, height), layout="constrained")


def render(figure: Figure, kind: str, *, transparent: bool) -> bytes:
    """Return a figure as the content of a file ("svg", "png" or "pdf") that is the same each time.

    >>> render(Figure(), "png", transparent=False)[1:4]
    b'PNG'
    """
    out = io.BytesIO()
    dates: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}
    figure.savefig(out, format=kind, dpi=150, transparent=transparent, metadata=dates[kind])
    return out.getvalue()


def kind_of_figure(path: Path) -> str:
    """Return the format of a figure's file, by the end of its name; PNG of a device, which has none.

    Raises:
        ConfigurationError: no figure has such a name.

    >>> kind_of_figure(Path("study.xyz"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: the plot 'study.xyz' is a figure: give it a name that ends in .png, .svg or .pdf
    """
    kind = path.suffix.removeprefix(".").lower() or "png"
    if kind not in ("png", "svg", "pdf"):
        raise ConfigurationError(f"the plot {str(path)!r} is a figure: give it a name that ends in .png, .svg or .pdf")
    return kind


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure of its own, see `kind_of_figure`."""
    atomic_write(path, render(figure, kind_of_figure(path), transparent=False))


def svg_element(figure: Figure, title: str) -> str:
    """Return a figure as an element of a page: no prologue, the page's text colour, unique identifiers.

    It is drawn with `INK` where the page's text colour belongs. The title is unique on the page, and read out in place
    of the figure.
    """
    text = render(figure, "svg", transparent=True).decode()
    element = text[text.index("<svg") :].replace(INK, "currentColor")
    prefix = f"f{zlib.crc32(title.encode()):08x}"
    element = re.sub(r'(id="|xlink:href="#|url\(#)', rf"\g<1>{prefix}-", element)
    for size in ("width", "height"):
        element = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", element, count=1)
    return element.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)


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
    """Widen axes of accuracies in percent until they show this many points: a few examples must not look like much.

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


def _mark_majority(axes: Axes, majority: float, text: str) -> None:
    """Draw the accuracy of the most frequent class into axes of accuracies in percent."""
    axes.axhline(100 * majority, color=mpl.rcParams["text.color"], linewidth=1, linestyle=":", alpha=0.7)
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axes.annotate(text, (1, 100 * majority), xytext=(0, 3), ha="right", fontsize=8, **place)


History = Mapping[str, list[float]]


def learning_curves(models: pd.DataFrame, title: str) -> str | None:
    """Return the learning curves of models as an SVG element: mean over seeds, band from least to most.

    A model outside the Transformer is drawn only where no network is: its epochs are of other batches, so that curves
    against epochs would not compare the two. None is returned if no model has learned in epochs.
    """
    learned = models[[all(run.history["train_loss"] for run in runs.run) for runs in models.runs]]
    if learned.empty:
        return None
    networks = learned[learned.kind != "outside"]
    drawn = networks if len(networks) else learned
    curves = {name: [run.history for run in runs.run] for name, runs in drawn.runs.items()}
    with canvas(10.5, 2.8, INK) as figure:
        _draw_curves(figure, curves, looks(models), models.majority.iloc[0])
        return svg_element(figure, title)


def plot_learning_curves(curves: Mapping[str, Sequence[History]], path: Path, *, majority: float | None = None) -> None:
    """Write learning curves as a figure of their own.

    Args:
        curves: by what the legend says, the history of each run, with one value an epoch; several are drawn as mean and
            band.
        path: of the figure, see `kind_of_figure`.
        majority: the accuracy of the most frequent class, where one holds for all.
    """
    drawn = {
        name: {"color": COLOURS[i % len(COLOURS)], "linestyle": "-", "marker": "o"} for i, name in enumerate(curves)
    }
    with canvas(10.5, 2.8, "black") as figure:
        _draw_curves(figure, curves, drawn, majority)
        write_figure(figure, path)


def _draw_curves(
    figure: Figure, curves: Mapping[str, Sequence[History]], drawn: Mapping[str, Look], majority: float | None
) -> None:
    """Draw learning curves into a figure."""
    axes: Axes
    for axes, (key, title, scale) in zip(figure.subplots(1, 3), _PANELS, strict=True):
        for name, histories in curves.items():
            values = scale * pd.DataFrame([pd.Series(history[key]) for history in histories])  # runs may stop early
            epochs = np.arange(1, values.shape[1] + 1)
            # A line alone would not show a run of a single epoch.
            look = drawn[name] | {"linewidth": 1.8} | ({"marker": ""} if len(epochs) > 1 else {})
            axes.plot(epochs, values.mean(), label=name, **look)
            if len(histories) > 1:
                axes.fill_between(epochs, values.min(), values.max(), color=look["color"], alpha=0.15, linewidth=0)
        if key == "validation_accuracy":
            if majority is not None:
                _mark_majority(axes, majority, "majority class (test)")
            at_least(axes, LEAST_POINTS)
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel("epoch")
        axes.locator_params(axis="x", integer=True)
        if max(len(histories[0]["train_loss"]) for histories in curves.values()) == 1:
            axes.set_xticks([1])
        axes.grid(visible=True, color=mpl.rcParams["text.color"], alpha=0.12)
    legend_below(figure, axes, 3)


def confusion_matrix(model: Any, title: str) -> str | None:
    """Return a model's confusion matrix as an SVG element: shade and percentage by true class, mean count over seeds.

    It is None if a result lacks the matrix, or has more than `MOST_CLASSES_DRAWN` classes.
    """
    kept = [run.confusion for run in model.runs.run]
    if None in kept or len(kept[0]) > MOST_CLASSES_DRAWN:
        return None
    counts = np.mean(kept, axis=0)
    totals = counts.sum(axis=1, keepdims=True)
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    size = len(counts)
    side = max(2.2, 0.62 * size)
    with canvas(side + 1.0, side + 0.6, INK) as figure:
        axes = figure.subplots()
        edges = np.arange(size + 1) - 0.5
        axes.pcolormesh(edges, edges, rates, cmap=_SHADES, vmin=0, vmax=1)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        for i, j in np.ndindex(size, size):
            share = "–" if totals[i, 0] == 0 else f"{100 * rates[i, j]:.1f} %"
            axes.text(j, i - 0.1, share, ha="center", va="center", fontsize=8.5)
            axes.text(j, i + 0.2, f"{counts[i, j]:,.{int(len(kept) > 1)}f}", ha="center", va="center", fontsize=7)
        names = [fill(name, 12) for name in _class_names(model.run, size)]
        axes.set_xticks(range(size), names)
        axes.set_yticks(range(size), names)
        axes.set_xlabel("predicted class")
        axes.set_ylabel("true class")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(True)
        return svg_element(figure, title)


def _class_names(run: Result, count: int) -> list[str]:
    """Return the names of the classes; numbers from 0 on where neither a result nor its task says them."""
    found: Sequence[str] | None = run.class_names
    if not found and run.n is not None and run.edition is not None:
        with suppress(AdelicError):  # the task is not one of the registry
            found = find_task(run.task).class_names(run.n, run.edition)
    return list(found) if found and len(found) == count else [str(i) for i in range(count)]


def far_below(accuracies: "pd.Series[float]") -> list[str]:
    """Return the names of the models that are so far below the others that a figure would show these as a dot.

    Far below is what lies more than three times as far from the best model as the median one, and 5 points.

    >>> far_below(pd.Series({"trees": 0.99, "mlp": 0.98, "fone": 0.97, "learned": 0.96, "xval": 0.5}))
    ['xval']
    """
    best = accuracies.max()
    return list(accuracies.index[accuracies < best - max(3 * (best - accuracies.median()), 0.05)])


def accuracy_against_rows(found: Sequence[Comparison], title: str) -> str | None:
    """Return mean test accuracy against training examples as an SVG element; None if no model ran on several numbers.

    A curve is a model, `found` the comparisons of a dataset under one recipe.
    """
    models = pd.concat([one.models for one in found]).rename_axis(None).sort_values(["name", "train_rows"])
    models = models[models.groupby("name").train_rows.transform("nunique") > 1]
    return (
        None if models.empty else _accuracy_against("training examples", models, models.train_rows, title, joined=True)
    )


def accuracy_against_time(models: pd.DataFrame, title: str) -> str:
    """Return mean test accuracy against mean training time as an SVG element: a point is a model."""
    seconds = [np.mean([run.seconds for run in of_one_device(list(runs.run))]) for runs in models.runs]
    # A logarithm needs more than 0, and clocks show no less than a millisecond.
    return _accuracy_against("training time (s)", models, np.maximum(seconds, 1e-3), title, joined=False)


def _accuracy_against(quantity: str, models: pd.DataFrame, x: Any, title: str, *, joined: bool) -> str:
    """Return mean test accuracy against a quantity as an SVG element: 95 % intervals as bars, of two seeds their range.

    Where points are `joined`, there is a line for each name.
    """
    drawn = looks(models.drop_duplicates("name"))
    points = pd.DataFrame({"x": np.asarray(x), "y": 100 * models.accuracy, "runs": models.runs}, index=models.index)
    points["below"], points["above"] = zip(*map(_bars, models.runs), strict=True)
    with canvas(4.8, 3.0, INK) as figure:
        axes = figure.subplots()
        for name, of in points.groupby(level=0, sort=False):
            line = {"linewidth": 1.6, "markersize": 5} if joined else {"linestyle": "none", "markersize": 6}
            yerr = of[["below", "above"]].to_numpy().T
            axes.errorbar(of.x, of.y, yerr=yerr, label=name, capsize=2.5, **(drawn[name] | line))
        majority = models.majority.iloc[0]
        if joined or 100 * majority >= axes.get_ylim()[0]:
            _mark_majority(axes, majority, "majority class")
        logarithmic(axes)
        if joined:
            ticks = sorted(set(points.x))
            axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axes.set_xlabel(quantity)
        axes.set_ylabel("test accuracy (%)")
        axes.set_ylim(top=min(axes.get_ylim()[1], 101))  # bars of uncertainty may reach above 100
        at_least(axes, LEAST_POINTS)
        legend_below(figure, axes, 2)
        return svg_element(figure, title)


def _bars(runs: pd.DataFrame) -> tuple[float, float]:
    """Return how far a bar reaches below and above a mean accuracy, in points: the interval, of two seeds the range."""
    values = 100 * runs.accuracy
    interval = confidence_interval(values)
    return (values.mean() - values.min(), values.max() - values.mean()) if interval is None else (interval, interval)


def logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, of at least a power of ten, with few ticks in few letters, and a grid."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    wider = max(1.0, math.sqrt(10 * low / high))  # (high · wider) / (low / wider) is 10 then, if it was less
    axes.set_xlim(low / wider, high * wider)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color=GREY, alpha=0.25)


def short(count: float) -> str:
    """Return a count in few letters.

    >>> short(3_000_000), short(300_000), short(30)
    ('3M', '300k', '30')
    """
    scale, unit = next(((10**k, unit) for k, unit in ((6, "M"), (3, "k")) if count >= 10**k), (1, ""))
    return f"{count / scale:g}{unit}"
