"""The tables of runs: a line a model, of both kinds of tasks, a line a run, and how to repeat each."""

import json
from collections.abc import Iterable

import numpy as np

from adelic_lab.config.nn_names import unused_options
from adelic_lab.report.comparison import named
from adelic_lab.report.results import Summary, right_rows, shown_seconds
from adelic_lab.report.rows import Row, as_published, chosen_data, further_rows, published_row, published_rows
from adelic_lab.report.table import (
    LOOK_UP_NOTE,
    NONE,
    NOT_RUN,
    RULE_NOTE,
    Table,
    figure,
    marks,
    mean_with_interval,
    percent,
)
from adelic_lab.results.result import Figures, Result

COLUMNS = (
    *("task", "model", "training", "majority class", "look-up", "best trivial rule"),
    *("test accuracy", "macro-F1", "test loss", "published"),
)
_RATES = {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy", "macro-F1": "macro_f1"}
FURTHER_COLUMNS = (
    *("task", "target", "model", "recipe", "seeds", "exact match, trivial rule and look-up", "exact match"),
    *("majority class and look-up", *_RATES, "mean absolute error"),
    *("mean squared error, trivial rule and look-up", "mean squared error", "loss", "ACD authors"),
)
MOST_TARGETS = 8
"""Greatest number of targets of a row for which each target has a line of its own."""
METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error")
NOTE = (
    "Accuracies in percent on the test split, for the weights with the best validation accuracy; mean over seeds ± "
    "half width of the 95 % interval, of two seeds the range. majority class: the accuracy of always saying the most "
    f"frequent class. {LOOK_UP_NOTE} {RULE_NOTE} In brackets what is read. published: the accuracy that the AOE paper "
    "gives for the model, and the ACD authors for their small model of the same kind (for every embedding their "
    "Transformer), on this edition and split."
)
FURTHER_NOTES = (
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


def run_tables(summaries: Iterable[Summary], *, all_rows: bool = False) -> list[Table]:
    """Return the table of the tasks with one class a row, and that of the others if there are results of them.

    The first is left out where all results belong to the second. With `all_rows` it says "not run" of the paper's rows
    and models that were not.
    """
    found = list(summaries)
    first, second = _lines(found, all_rows=all_rows), _further_lines(found)
    tables = [Table(COLUMNS, tuple(first), (NOTE,), names=3)] if first or not second else []
    return tables + ([Table(FURTHER_COLUMNS, tuple(second), FURTHER_NOTES, names=3)] if second else [])


def _lines(summaries: list[Summary], *, all_rows: bool) -> list[tuple[str, ...]]:
    """Return the lines of the tasks with one class a row, in the paper's order of rows."""
    found = [summary for summary in summaries if summary.has_one_class_a_row]
    lines = []
    for name in dict.fromkeys([*published_rows(), *(summary.row for summary in found)]):
        mine = sorted((s for s in found if s.row == name), key=lambda summary: summary.place)
        lines += [_line(summary, called) for summary, called in zip(mine, _told_apart(mine), strict=True)]
        ran = {summary.embedding for summary in mine if summary.title == as_published(name)}
        if all_rows and name in published_rows():
            missing = [pair for pair in (("adelic", "AOE"), ("learned", "learned")) if pair[0] not in ran]
            lines += [_not_run(name, embedding, label) for embedding, label in missing]
    return lines


def _told_apart(summaries: list[Summary]) -> list[str]:
    """Return the names of a row's models: of those with the same label and training, with what else differs."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        groups.setdefault((summary.data, recipe_text(summary)), []).append(summary)
    # By id: a summary holds tables, and so has no hash.
    names = {id(summary): name for group in groups.values() for name, summary in named(group).items()}
    return [names[id(summary)] for summary in summaries]


def _line(summary: Summary, name: str) -> tuple[str, ...]:
    count = len(summary.seeds)
    return (
        summary.title,
        name + marks(summary),
        f"{recipe_text(summary)}, {count} seed{'s' if count > 1 else ''}",
        percent(summary.trivial("majority")),
        percent(summary.trivial("lookup")),
        summary.rule,
        *(figure(summary, metric) for metric in ("accuracy", "macro_f1", "loss")),
        _published(
            published_row(summary.first), summary.embedding, summary.edition, is_flat=summary.first.places is None
        ),
    )


def _not_run(row: str, embedding: str, label: str) -> tuple[str, ...]:
    return as_published(row), label, *[NONE] * 4, NOT_RUN, *[NONE] * 2, _published(published_rows().get(row), embedding)


def _published(row: Row | None, embedding: str, edition: str | None = "published", *, is_flat: bool = True) -> str:
    """Return the figures that are published for a model on an edition of a row: paper 87.89, ACD 94.6 ± 1.0."""
    if row is None:
        return NONE
    paper, acd = row.paper(embedding, edition) if is_flat else None, row.acd_authors(embedding, edition)
    said = [f"paper {paper.accuracy:.2f}"] if paper else []
    return ", ".join([*said, *([f"ACD {acd}"] if acd else [])]) or NONE


def recipe_text(summary: Summary) -> str:
    """Return a model's recipe as a table shows it.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> recipe_text(Summary(tuple(read_results(Path("experiments/results/demo")))[:1]))
    'quick, 30 epochs'
    """
    settings = summary.recipe_settings
    unit = next(unit for unit in ("trial", "step", "epoch") if unit + "s" in settings)
    count, unused = settings[unit + "s"], unused_options(summary.reading.get("body", ""))
    said = {
        f"{summary.recipe}, {count} {unit}{'s' if count > 1 else ''}": True,
        f"{summary.max_rows or 0:,} rows": summary.max_rows is not None,
        "symmetries": summary.has_images,
        ", ".join(f"{name} {value}" for name, value in summary.reading.items()): bool(summary.reading),
        "learned positions": settings.get("positional") == "learned" and "positional" not in unused,
        "all tokens read": settings.get("pooling") == "tokens" and "pooling" not in unused,
    }
    return ", ".join(words for words, holds in said.items() if holds)


def _further_lines(summaries: list[Summary]) -> list[tuple[str, ...]]:
    """Return the lines of the other tasks, in the order of `further_rows`; other sizes of these tasks come last."""
    found = [summary for summary in summaries if not summary.has_one_class_a_row]
    names = dict.fromkeys([*further_rows(), *(summary.row for summary in found)])
    lines = []
    for name in names:
        mine = [summary for summary in found if summary.row == name]
        for summary, called in zip(mine, _told_apart(mine), strict=True):
            lines += _lines_of(summary, called)
    return lines


def _lines_of(summary: Summary, model: str) -> list[tuple[str, ...]]:
    """Return the line of a model, by its name, and one for each of its targets where they are few."""
    cells = {
        "exact match, trivial rule and look-up": percent(summary.guess("exact_match")),
        "exact match": figure(summary, "exact_match"),
        "loss": figure(summary, "loss"),
        "ACD authors": further_rows().get(summary.row, NONE),
    }
    if summary.has("mean_squared_error"):
        guess = f"{summary.guess('mean_squared_error'):.4g}"
        cells |= {
            "mean absolute error": _error(summary, "mean_absolute_error"),
            "mean squared error, trivial rule and look-up": guess,
            "mean squared error": _error(summary, "mean_squared_error"),
        }
        return [_further_line(summary, model, "all", cells)]
    cells |= {name: figure(summary, metric) for name, metric in _RATES.items()}
    cells["majority class and look-up"] = percent(summary.trivial("majority"))
    lines = [_further_line(summary, model, "all", cells)]
    if len(summary.targets) <= MOST_TARGETS:
        name = "q^{}" if summary.first.task == "kl" else "target {}"
        targets = [(name.format(i), _target_cells(runs)) for i, runs in enumerate(summary.targets)]
        lines += [_further_line(summary, model, target, found) for target, found in targets]
    return lines


def _target_cells(runs: list[Figures]) -> dict[str, str]:
    """Return the cells of one target, whose metrics are a table a run."""
    values = {metric: [run[metric] for run in runs] for metric in ("majority", *_RATES.values())}
    cells = {name: mean_with_interval(values[metric]) for name, metric in _RATES.items()}
    return cells | {"majority class and look-up": percent(float(np.mean(values["majority"])))}


def _further_line(summary: Summary, model: str, target: str, cells: dict[str, str]) -> tuple[str, ...]:
    about = {"task": summary.title, "target": target, "model": model, "recipe": recipe_text(summary)}
    about["seeds"] = str(len(summary.seeds))
    return tuple((about | cells).get(column, NONE) for column in FURTHER_COLUMNS)


def _error(summary: Summary, metric: str) -> str:
    """Return the mean of an error with its interval, four digits of it; of two seeds with the range."""
    values = summary.values(metric)
    interval, text = summary.interval(metric), f"{summary.mean(metric):.4g}"
    if interval is not None:
        return f"{text} ± {interval:.2g}"
    return text if len(values) == 1 else f"{text} [{min(values):.4g}, {max(values):.4g}]"


def single_runs(results: Iterable[Result]) -> Table:
    """Return a line a run, in the given order: what was run, on what, its test figures, its cost, its predictions.

    `row` is followed by what else defines the data, as "gcd-200 (limit=5000)" and "mine (target sold)".

    `model` is the name in the other tables, and `options` what defines the embedding or was found in a search, as JSON.
    `right` has a bit for each row of the test split, in the split's order, whether the model answers it rightly:
    hexadecimal, the most significant bit first, the last byte filled with zeros, so that the number of ones is that of
    right answers; of several targets a row, all have to be right. It is empty for older runs.

    >>> single_runs([]).columns[:6]
    ('row', 'edition', 'split', 'contaminated', 'model', 'options')
    """
    return Table(_SINGLE_RUN_COLUMNS, tuple(map(_single_run, results)))


_SINGLE_RUN_COLUMNS = (
    *("row", "edition", "split", "contaminated", "model", "options", "recipe", "symmetries", "seed", "split_seed"),
    *("train_rows", "test_rows", *METRICS, "majority", "lookup", "rule"),
    *("parameters", "flops", "tokens", "seconds", "device", "commit", "command", "right"),
)


def _row(run: Summary) -> str:
    chosen = chosen_data(run.first)
    return f"{run.row} ({', '.join(chosen)})" if chosen else run.row


def _single_run(result: Result) -> tuple[str, ...]:
    run, right = Summary((result,)), right_rows(result)
    cells = (
        *(_row(run), run.edition, run.split, run.is_contaminated, run.label, json.dumps(run.options, sort_keys=True)),
        *(run.recipe, run.has_images, result.seed, result.split_seed, run.train_rows, result.rows["test"]),
        *(result.test.get(metric) for metric in METRICS),
        *(result.majority, result.lookup, result.rule, result.parameters, result.flops, run.tokens),
        *(result.seconds, result.device, result.commit, result.command),
        None if right is None else f"0x{np.packbits(right).tobytes().hex()}",
    )
    return tuple("" if cell is None else str(cell) for cell in cells)


def provenance(summaries: Iterable[Summary]) -> Table:
    """Return what it takes to repeat each run.

    >>> provenance([]).columns
    ('command', 'seconds', 'parameters', 'device', 'versions', 'commit')
    """
    rows = tuple(
        (
            result.command,
            shown_seconds([result]),
            f"{result.parameters:,}",
            result.device,
            ", ".join(f"{name} {version}" for name, version in result.versions.items()),
            (result.commit or "unknown")[:12],
        )
        for summary in summaries
        for result in summary.results
    )
    columns = ("command", "seconds", "parameters", "device", "versions", "commit")
    return Table(columns, rows, names=len(columns))
