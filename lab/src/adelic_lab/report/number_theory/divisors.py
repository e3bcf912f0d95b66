"""Which greatest common divisors a model learns: a table and a picture.

In base B the last digits of a number say whether a divisor of a power of B divides it, and nothing else does so simply.
"""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from adelic_lab.report.drawn import Series
from adelic_lab.report.plots import GREY, render, style
from adelic_lab.report.table import Table
from adelic_lab.results.metrics import is_learned
from adelic_lab.results.result import Result

_GROUPS = {"GCD divides a power of 10": (10,), "a power of 30, not of 10": (30,), "neither": ()}
_MOST_LISTED = 20
_MAP = "cividis"


def counted(results: Sequence[Result]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many stratified pairs of each GCD, 1, 2, …, all results together have, and how many of them are right.

    The last class is "greater", and not counted.
    """
    counts = [result.by_class["stratified"] for result in results if result.by_class is not None]
    cases, correct = (np.sum([one[key] for one in counts], axis=0)[:-1] for key in ("cases", "correct"))
    return cases, correct


def divides_power(k: int, base: int) -> bool:
    """Return whether a number divides a power of a base: whether each of its primes does.

    >>> [k for k in range(1, 33) if divides_power(k, 10)]
    [1, 2, 4, 5, 8, 10, 16, 20, 25, 32]
    """
    return pow(base, k, k) == 0  # no exponent of a prime in k is as great as k


def group(k: int) -> str:
    """Return the column of a GCD.

    >>> group(25), group(12), group(14)
    ('GCD divides a power of 10', 'a power of 30, not of 10', 'neither')
    """
    return next(name for name, bases in _GROUPS.items() if all(divides_power(k, base) for base in bases))


def to_table(series: Sequence[Series]) -> Table:
    """Return which GCDs each series has learned, and its right answers by what the GCD divides, in percent."""
    rows = []
    for one in series:
        cases, correct = counted(one.results)
        of_groups = []
        for name in _GROUPS:
            members = [k for k in range(len(cases)) if group(k + 1) == name]
            asked = cases[members].sum()
            of_groups.append(f"{100 * correct[members].sum() / asked:.1f}" if asked else "")
        learned = listed(is_learned(cases, correct))
        rows.append((one.label, f"{one.examples:,}", f"{len(one.results)}", learned, *of_groups))
    return Table(("model", "examples", "seeds", "learned", *_GROUPS), tuple(rows))


def listed(learned: NDArray[np.bool_]) -> str:
    """Return the GCDs that are learned in few words.

    >>> listed(np.array([True] * 99 + [False])), listed(np.array([True, False] * 2)), listed(np.zeros(3, bool))
    ('all but 100', '1, 3', 'none')
    """
    of, without = (", ".join(str(k + 1) for k in np.flatnonzero(chosen)) for chosen in (learned, ~learned))
    if not without:
        return "all"
    if (~learned).sum() < min(learned.sum(), _MOST_LISTED):
        return f"all but {without}"
    return of or "none"


def draw_divisors(series: Sequence[Series]) -> bytes | None:
    """Return an SVG: a row a series, a column a GCD, the darker the fewer are right; a dot says that it is learned.

    >>> draw_divisors([]) is None
    True
    """
    if not series:
        return None
    cases, correct = (np.stack(counts) for counts in zip(*(counted(one.results) for one in series), strict=True))
    n_series, n_divisors = cases.shape
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, 1.6 + 0.3 * n_series), layout="constrained")
        axes = figure.subplots()
        image = axes.pcolormesh(100 * correct / np.maximum(cases, 1), vmin=0, vmax=100, cmap=_MAP)
        rows, columns = np.nonzero(is_learned(cases, correct))
        axes.plot(columns + 0.5, rows + 0.5, ".", color="black", markersize=4)
        names = [f"{one.label} ({one.examples:,} pairs)" for one in series]
        axes.set_yticks(np.arange(n_series) + 0.5, names, fontsize=8)
        ticks = [k for k in range(1, n_divisors + 1) if k == 1 or k % 10 == 0]
        axes.set_xticks(np.array(ticks) - 0.5, [str(k) for k in ticks])
        axes.invert_yaxis()
        axes.tick_params(length=0)
        axes.set_xlabel("greatest common divisor (a dot: learned)")
        figure.colorbar(image, ax=axes, label="right (%)", aspect=8)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return render(figure, "svg", transparent=True)
