"""The second table: tasks with several targets a row, or with a number to predict, beside the published errors."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from adelic.benchmark.further_rows import further_rows
from adelic.benchmark.results import Summary, confidence_interval, mean_with_interval, recipe_text

MOST_TARGETS = 8
"""Rows with so many targets at most get a line for each target as well."""

_TARGET_NAMES = {"kl": "q^{}"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the table, as texts; rates in percent. The order of the fields is the order of the columns."""

    task: str
    target: str = "all"
    model: str
    recipe: str
    seeds: str
    trivial_exact_match: str = "–"
    exact_match: str = "–"
    majority: str = "–"
    accuracy: str = "–"
    balanced_accuracy: str = "–"
    macro_f1: str = "–"
    mean_absolute_error: str = "–"
    trivial_squared_error: str = "–"
    mean_squared_error: str = "–"
    loss: str = "–"
    acd_authors: str = "–"


HEADERS = {field.name: field.name.replace("_", " ").replace("macro f1", "macro-F1") for field in fields(Line)}
HEADERS |= {
    "trivial_exact_match": "exact match, trivial rule and look-up",
    "trivial_squared_error": "mean squared error, trivial rule and look-up",
    "majority": "majority class and look-up",
    "acd_authors": "ACD authors",
}
NOTES = (
    "Tasks with several targets a row (kl: the polynomial's coefficients, rsk: the bits of the inversion vector) or "
    "with a number (characters). Rates in percent on the test split, for the weights with the best validation "
    "accuracy. exact match: rows with all targets right; of numbers, those decoded to the right one. accuracy, "
    "balanced accuracy, macro-F1, majority class: means over the targets, or one target's. "
    "trivial rule: always saying each target's most frequent value of the training rows, which is 0 for characters. "
    "look-up, memory of the training rows, answers as the trivial rule does: no test row is trained on.",
    "ACD authors: errors of their linear model / MLP / Transformer as published, on a split of their own: "
    "the mean squared error for characters; for rsk their README does not name the measure; for kl no figure is "
    "published.",
)


def lines(summaries: Iterable[Summary]) -> list[Line]:
    """Return the table's lines, in the order of `further_rows`; other sizes of these tasks come last."""
    found = [summary for summary in summaries if not summary.has_one_class_a_row]
    names = dict.fromkeys([*further_rows(), *(summary.row for summary in found)])
    return [line for name in names for summary in found if summary.row == name for line in _lines(summary)]


def _lines(summary: Summary) -> list[Line]:
    """Return the line of a model, and one for each of its targets where they are few."""
    first, guess = summary.first, summary.first["guess"]
    common = {"model": summary.label, "recipe": recipe_text(first), "seeds": str(len(summary.seeds))}
    row = further_rows().get(summary.row)
    figures = {
        "trivial_exact_match": f"{100 * guess['exact_match']:.2f}",
        "exact_match": _rate(summary, "exact_match"),
        "loss": mean_with_interval((r["test"]["loss"] for r in summary.results), decimals=4),
        "acd_authors": "–" if row is None else row.published,
    }
    if "mean_squared_error" in first["test"]:
        figures |= {
            "mean_absolute_error": _error(summary, "mean_absolute_error"),
            "trivial_squared_error": f"{guess['mean_squared_error']:.4g}",
            "mean_squared_error": _error(summary, "mean_squared_error"),
        }
        return [Line(task=summary.title, **common, **figures)]
    figures |= {name: _rate(summary, name) for name in ("accuracy", "balanced_accuracy", "macro_f1")}
    figures["majority"] = f"{100 * first['majority']:.2f}"
    result = [Line(task=summary.title, **common, **figures)]
    if len(first["targets"]) <= MOST_TARGETS:
        name = _TARGET_NAMES.get(first["task"], "target {}")
        for i, target in enumerate(first["targets"]):
            each = [r["targets"][i] for r in summary.results]
            rates = {key: _rates(each, key) for key in ("accuracy", "balanced_accuracy", "macro_f1")}
            majority = f"{100 * target['majority']:.2f}"
            line = Line(task=summary.title, target=name.format(i), **common, **rates, majority=majority)
            result.append(line)
    return result


def _rate(summary: Summary, metric: str) -> str:
    return _rates([result["test"] for result in summary.results], metric)


def _rates(figures: list[dict[str, Any]], metric: str) -> str:
    return mean_with_interval((each[metric] for each in figures), scale=100, decimals=2)


def _error(summary: Summary, metric: str) -> str:
    values = summary.values(metric)
    interval, text = confidence_interval(values), f"{summary.mean(metric):.4g}"
    if interval is not None:
        return f"{text} ± {interval:.2g}"
    return text if len(values) == 1 else f"{text} [{min(values):.4g}, {max(values):.4g}]"
