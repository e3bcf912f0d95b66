"""Which differences are more than chance: paired tests over the seeds of a row, mean ranks over the rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy import stats

from adelic.benchmark.comparison import Comparison
from adelic.benchmark.results import Summary, confidence_interval
from adelic.errors import ConfigurationError

ALPHA = 0.05
LEAST_ROWS = 3
"""Mean ranks over fewer rows say nothing: Friedman's test cannot tell two models apart on two rows."""
_DECIMALS = 10  # means that differ by less are equal, and share a rank


@dataclass(frozen=True)
class Difference:
    """How much more accurate one model is than another, over the seeds that both have.

    Attributes:
        mean: of the differences, first minus second.
        interval: half width of its 95 % confidence interval (Student's t); None for a single seed.
        seeds: the common seeds.
        p: of the two-sided paired t-test; None where there is nothing to test: fewer than two common seeds, or the same
            difference for all of them.
        adjusted: the p-value after Holm's correction over all pairs of the comparison.
    """

    mean: float
    interval: float | None
    seeds: tuple[int, ...]
    p: float | None
    adjusted: float | None = None

    @property
    def is_significant(self) -> bool:
        """Return whether the difference stands after the correction."""
        return self.adjusted is not None and self.adjusted < ALPHA


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the given order: the k-th smallest of m times m - k + 1, made monotone.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statistics 6 (1979).

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return [float(value) for value in adjusted]


def paired_difference(first: Summary, second: Summary, metric: str = "accuracy") -> Difference | None:
    """Return the difference of two models' test figures over their common seeds; None if they have none in common.

    Runs of one seed belong together: data and splits are the same for all, and a seed draws the same batches and the
    same weights outside the embedding. The t-test assumes that the differences over seeds are normally distributed. It
    says what another seed would have shown on this test split, not what other data would.

    >>> runs = [[{"seed": s, "test": {"accuracy": a}} for s, a in enumerate(column)] for column in
    ...     ([0.93, 0.95, 0.97], [0.90, 0.91, 0.92])]
    >>> found = paired_difference(*(Summary(tuple(column)) for column in runs))
    >>> round(found.mean, 4), round(found.p, 4)
    (0.04, 0.0202)
    """
    figures = [{r["seed"]: r["test"][metric] for r in summary.results} for summary in (first, second)]
    seeds = tuple(sorted(figures[0].keys() & figures[1].keys()))
    if not seeds:
        return None
    differences = np.array([figures[0][seed] - figures[1][seed] for seed in seeds])
    p = None
    if len(seeds) > 1 and np.ptp(differences) > 10**-_DECIMALS:
        t = differences.mean() / (differences.std(ddof=1) / np.sqrt(len(seeds)))
        p = float(2 * stats.t.sf(abs(t), len(seeds) - 1))
    return Difference(float(differences.mean()), confidence_interval(differences), seeds, p)


def paired_differences(models: Mapping[str, Summary], metric: str = "accuracy") -> dict[tuple[str, str], Difference]:
    """Return the difference of each pair of models, both ways round, with Holm's correction over all pairs."""
    found = {}
    for a, b in combinations(models, 2):
        difference = paired_difference(models[a], models[b], metric)
        if difference is not None:
            found[a, b] = difference
    tested = [pair for pair, difference in found.items() if difference.p is not None]
    adjusted = dict(zip(tested, holm([found[pair].p or 0.0 for pair in tested]), strict=True))
    both = {}
    for (a, b), d in found.items():
        p = adjusted.get((a, b))
        both[a, b] = Difference(d.mean, d.interval, d.seeds, d.p, p)
        both[b, a] = Difference(-d.mean, d.interval, d.seeds, d.p, p)
    return both


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of models over rows; rank 1 is the best.

    Attributes:
        models: names, the best mean rank first.
        mean_ranks: one a model; models that are equal on a row share the mean of their ranks there.
        rows: the rows that all these models ran on.
        chi_square: Friedman's statistic.
        f: Iman and Davenport's correction of it, with k - 1 and (k - 1)(N - 1) degrees of freedom.
        p: of the hypothesis that all models are equal, by f.
        critical_difference: of Nemenyi's test; models whose mean ranks differ by as much are told apart.
        alike: pairs of positions (first, last) of the largest groups of models that are not told apart.
    """

    models: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    rows: tuple[str, ...]
    chi_square: float
    f: float
    p: float
    critical_difference: float
    alike: tuple[tuple[int, int], ...]


def rank_models(figures: Mapping[str, Mapping[str, float]]) -> Ranking:
    """Return the mean ranks of models over rows, with Friedman's and Nemenyi's tests.

    Rows are the independent observations, so that each counts once, with the mean over seeds as its measurement: seeds
    of one row share data and split, and counting each would make chance look small.

    Source: Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006), sections 3.2.2 and
    3.2.4. The statistics are the paper's, without a correction for ties, which errs on the side of "no difference".

    Args:
        figures: model -> row -> figure, of which more is better; all models have the same rows.

    Raises:
        ConfigurationError: there are fewer than three rows or two models.

    >>> found = rank_models({"a": {"x": 0.9, "y": 0.8, "z": 0.9}, "b": {"x": 0.7, "y": 0.8, "z": 0.6}})
    >>> found.models, found.mean_ranks, round(found.critical_difference, 3), found.alike
    (('a', 'b'), (1.1666666666666667, 1.8333333333333333), 1.132, ((0, 1),))
    """
    names = list(figures)
    rows = list(next(iter(figures.values()), {}))
    if len(rows) < LEAST_ROWS or len(names) < 2:
        raise ConfigurationError(f"mean ranks of {len(names)} models over {len(rows)} rows; needs 2 models and 3 rows")
    table = np.array([[figures[name][row] for name in names] for row in rows])
    n, k = table.shape
    means = stats.rankdata(-np.round(table, _DECIMALS), axis=1).mean(axis=0)
    chi_square = 12 * n / (k * (k + 1)) * (np.sum(means**2) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 10**-_DECIMALS else np.inf  # all rows agree
    p = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    critical = critical_difference(k, n)
    order = np.argsort(means, kind="stable")
    ranks = [float(means[i]) for i in order]
    return Ranking(
        models=tuple(names[i] for i in order),
        mean_ranks=tuple(ranks),
        rows=tuple(rows),
        chi_square=float(chi_square),
        f=float(f),
        p=float(p),
        critical_difference=critical,
        alike=_alike(ranks, critical),
    )


@cache
def critical_difference(n_models: int, n_rows: int) -> float:
    """Return the difference of mean ranks from which Nemenyi's test tells two models apart, at 5 %.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - ALPHA, n_models, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_models * (n_models + 1) / (6 * n_rows)))


def _alike(ranks: Sequence[float], critical: float) -> tuple[tuple[int, int], ...]:
    """Return the largest ranges of ascending ranks, of two and more, that span less than the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - ranks[first] < critical or i == first)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(groups)


def rank_over_rows(found: Iterable[Comparison], metric: str = "accuracy") -> Ranking | None:
    """Return the mean ranks over the rows of the published edition; None for fewer than three rows or two models.

    Not every model runs on every row, and ranks need all: of all choices of rows and the models that ran on each of
    them, the one with the most (row, model) pairs is taken, of equally many the one with more rows.

    Args:
        found: comparisons under one recipe, one a row.
        metric: the test figure, of which more is better.
    """
    rows = {c.row: c.models for c in found if c.first.first["edition"] == "published"}
    best: tuple[tuple[str, ...], list[str]] = ((), [])
    for size in range(len(rows), LEAST_ROWS - 1, -1):
        for chosen in combinations(rows, size):
            models = [name for name in rows[chosen[0]] if all(name in rows[row] for row in chosen)]
            if len(models) > 1 and size * len(models) > len(best[0]) * len(best[1]):
                best = chosen, models
    chosen, models = best
    if not chosen:
        return None
    return rank_models({name: {row: rows[row][name].mean(metric) for row in chosen} for name in models})
