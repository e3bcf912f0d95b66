"""Learning curves: in the report as SVG text that follows the page's colours, and as files of their own."""

import html
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from adelic.acd.files import atomic_write
from adelic.benchmark.results import Summary
from adelic.errors import ConfigurationError

_PANELS = (
    ("validation_accuracy", "validation accuracy (%)", 100.0),
    ("validation_loss", "validation loss", 1.0),
    ("train_loss", "training loss", 1.0),
)
# Okabe and Ito's colours, told apart by readers with any colour vision, on light and on dark ground.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INK = "#123456"  # stands for the page's text colour, and is replaced by it


@dataclass(frozen=True)
class Curves:
    """The learning curves of a line in a figure.

    Attributes:
        label: what the legend says.
        histories: one table of curves a run, each with one value an epoch; several are drawn as mean and band.
    """

    label: str
    histories: tuple[dict[str, list[float]], ...]


def learning_curves(summaries: list[Summary]) -> str:
    """Return the learning curves of the models of one row as an SVG element: mean over seeds, band from least to most.

    Args:
        summaries: the models; each run's history has one value an epoch. Those without epochs are passed over.

    Returns:
        The element; empty where no model has epochs.
    """
    summaries = [summary for summary in summaries if summary.first["history"]["train_loss"]]
    if not summaries:
        return ""
    curves = [Curves(_label(summary), tuple(result["history"] for result in summary.results)) for summary in summaries]
    svg = _render(curves, summaries[0].first["majority"], "svg", ink=_INK, transparent=True).decode()
    return _embeddable(svg, f"Learning curves of {summaries[0].row}")


def plot_learning_curves(curves: list[Curves], path: Path, *, majority: float | None = None) -> None:
    """Write learning curves as a figure of their own.

    Args:
        curves: at least one.
        path: of the figure; the name's end says whether it is a PNG, an SVG or a PDF.
        majority: accuracy of the most frequent class, where one holds for all.

    Raises:
        ConfigurationError: the name ends in something else.
        StorageError: the file cannot be written.
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
        "svg.hashsalt": "adelic",
        "text.parse_math": False,
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
    with mpl.rc_context(style(ink)):
        figure = Figure(figsize=(10.5, 3.0), layout="constrained")
        for axes, (key, title, scale) in zip(figure.subplots(1, 3), _PANELS, strict=True):
            for colour, drawn in zip(COLOURS * len(curves), curves, strict=False):
                histories = [scale * np.array(history[key]) for history in drawn.histories]
                epochs = np.arange(1, len(histories[0]) + 1)
                # A run of a single epoch is a point, which a line alone would not show.
                marker = "o" if len(epochs) == 1 else ""
                axes.plot(
                    epochs, np.mean(histories, axis=0), color=colour, label=drawn.label, linewidth=1.8, marker=marker
                )
                if len(histories) > 1:
                    axes.fill_between(
                        epochs,
                        np.min(histories, axis=0),
                        np.max(histories, axis=0),
                        color=colour,
                        alpha=0.2,
                        linewidth=0,
                    )
            if key == "validation_accuracy" and majority is not None:
                axes.axhline(100 * majority, color=ink, linewidth=1, linestyle=":", alpha=0.7)
                axes.annotate(
                    "majority class (test)",
                    (1, 100 * majority),
                    xycoords=("axes fraction", "data"),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="right",
                    fontsize=8,
                )
            axes.set_title(title, fontsize=10, loc="left")
            axes.set_xlabel("epoch")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(visible=True, color=ink, alpha=0.12)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(max(len(labels), 1), 3), frameon=False)
        return render(figure, kind, transparent=transparent)


def _label(summary: Summary) -> str:
    seeds = len(summary.seeds)
    return f"{summary.label}, {summary.first['recipe']}" + (f", {seeds} seeds" if seeds > 1 else "")


def _embeddable(svg: str, title: str) -> str:
    """Return an SVG document as an element of a page: no prologue, the page's text colour, unique identifiers."""
    element = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    prefix = re.sub(r"\W+", "-", title.lower())
    element = re.sub(r'(id="|xlink:href="#|url\(#)', rf"\g<1>{prefix}-", element)
    element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", element, count=1)
    return element.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title)}" ', 1)
