"""The table of single runs, a line a run, from which every figure can be counted again."""

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from adelic.benchmark.comparison import is_network
from adelic.benchmark.cost_plot import tokens
from adelic.benchmark.results import Result, Summary, right_rows, split_seed

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error")


def runs_csv(results: Iterable[Result]) -> str:
    """Return the runs as CSV, in the given order: what was run, on what, its test figures, its cost, its predictions.

    `model` is the name in the other tables, and `options` what defines the embedding or was found in a search, as JSON.
    `right` has a bit for each row of the test split, in the split's order, whether the model answers it rightly:
    hexadecimal, the most significant bit first, the last byte filled with zeros, so that the number of ones is that of
    right answers; of several targets a row, all have to be right. It is empty for older runs.

    >>> runs_csv([]).split(",")[:6]
    ['row', 'edition', 'split', 'contaminated', 'model', 'options']
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_line, results))
    return out.getvalue()


_COLUMNS = (
    *("row", "edition", "split", "contaminated", "model", "options", "recipe", "symmetries", "seed", "split_seed"),
    *("train_rows", "test_rows", *METRICS, "majority", "lookup", "rule"),
    *("parameters", "flops", "tokens", "seconds", "device", "commit", "command", "right"),
)


def _line(result: Result) -> dict[str, Any]:
    run = Summary((result,))
    recipe = result["configuration"]["recipe"]
    options = (
        result["configuration"].get("embedding", {}) if is_network(run) else result.get("search", {}).get("chosen", {})
    )
    right = right_rows(result)
    return {
        "row": run.row,
        "edition": run.edition,
        "split": run.split,
        "contaminated": run.is_contaminated,
        "model": run.label,
        "options": json.dumps({key: value for key, value in options.items() if key != "name"}, sort_keys=True),
        "recipe": result["recipe"],
        "symmetries": bool(recipe.get("symmetries", False)),
        "seed": result["seed"],
        "split_seed": split_seed(result),
        "train_rows": result["rows"]["train"],
        "test_rows": result["rows"]["test"],
        **{metric: result["test"].get(metric, "") for metric in METRICS},
        "majority": result["majority"],
        "lookup": result["lookup"],
        "rule": result.get("rule", ""),
        "parameters": result["parameters"],
        "flops": _known(result.get("flops")),
        "tokens": _known(tokens(result)),
        "seconds": result["seconds"],
        "device": result["device"],
        "commit": result["commit"] or "",
        "command": result["command"],
        "right": "" if right is None else f"0x{np.packbits(right).tobytes().hex()}",
    }


def _known(value: int | None) -> int | str:
    return "" if value is None else value
