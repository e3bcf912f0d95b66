"""Figures of results on a drawn task: what needs no model, classes that are learned, the worst class."""

from collections.abc import Iterable

import numpy as np

from adelic_lab.results.metrics import is_learned
from adelic_lab.results.result import Result


def constant(result: Result, split: str) -> float | None:
    """Return the share of right answers that the best constant answer has on a split; None where classes are not kept.

    Which answer is best is read off the split itself, so no model that reads nothing has more.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> gcd = read_results(Path("experiments/results/number-theory-quick"))[-1]
    >>> constant(gcd, "stratified")
    0.016
    """
    if result.by_class:
        cases = result.by_class[split]["cases"]
        return max(cases) / sum(cases)
    return result.majority if split == "test" else None


def constants(results: Iterable[Result], split: str) -> float | None:
    """Return the mean of `constant` over results; None where none keeps it."""
    return _mean(constant(result, split) for result in results)


def rules(results: Iterable[Result]) -> float | None:
    """Return the mean share of right test answers that the best trivial rule has; None in older results."""
    return _mean(result.rule for result in results)


def _mean(rates: Iterable[float | None]) -> float | None:
    kept = [rate for rate in rates if rate is not None]
    return float(np.mean(kept)) if kept else None


def learned(result: Result, split: str) -> int:
    """Return how many classes have at least 95 % of their questions right; those without a question do not count.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> gcd = read_results(Path("experiments/results/number-theory-quick"))[-1]
    >>> 0 <= learned(gcd, "stratified") <= 100
    True
    """
    return int(is_learned(**(result.by_class or {})[split]).sum())


def least_class(result: Result) -> float:
    """Return the least share of right answers that a class has, over all splits."""
    return min(
        float(correct / cases)
        for counts in (result.by_class or {}).values()
        for cases, correct in zip(counts["cases"], counts["correct"], strict=True)
        if cases
    )
