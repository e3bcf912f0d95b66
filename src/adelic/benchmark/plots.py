"""Figures of the report, as SVG text that follows the page's colours."""

import html
import io
import re
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from adelic.benchmark.results import Summary

_PANELS = (
    ("validation_accuracy", "validation accuracy (%)", 100.0),
    ("validation_loss", "validation loss", 1.0),
    ("train_loss", "training loss", 1.0),
)
# Okabe and Ito's colours, told apart by readers with any colour vision, on light and on dark ground.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INK = "#123456"  # stands for the page's text colour, and is replaced by it


def learning_curves(summaries: list[Summary]) -> str:
    """Return the learning curves of the models of one row as an SVG element: mean over seeds, band from least to most.

    Args:
        summaries: the models; each run's history has one value an epoch.
    """
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "adelic",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": _INK,
        "axes.edgecolor": _INK,
        "axes.labelcolor": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(10.5, 3.0), layout="constrained")
        for axes, (key, title, scale) in zip(figure.subplots(1, 3), _PANELS, strict=True):
            for colour, summary in zip(_COLOURS * len(summaries), summaries, strict=False):
                histories = [scale * np.array(result["history"][key]) for result in summary.results]
                epochs = np.arange(1, len(histories[0]) + 1)
                axes.plot(epochs, np.mean(histories, axis=0), color=colour, label=_label(summary), linewidth=1.8)
                if len(histories) > 1:
                    axes.fill_between(
                        epochs,
                        np.min(histories, axis=0),
                        np.max(histories, axis=0),
                        color=colour,
                        alpha=0.2,
                        linewidth=0,
                    )
            if key == "validation_accuracy":
                axes.axhline(100 * summaries[0].first["majority"], color=_INK, linewidth=1, linestyle=":", alpha=0.7)
                axes.annotate(
                    "majority class (test)",
                    (1, 100 * summaries[0].first["majority"]),
                    xycoords=("axes fraction", "data"),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="right",
                    fontsize=8,
                )
            axes.set_title(title, fontsize=10, loc="left")
            axes.set_xlabel("epoch")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(visible=True, color=_INK, alpha=0.12)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=max(len(labels), 1), frameon=False)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embeddable(out.getvalue(), f"Learning curves of {summaries[0].row}")


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
