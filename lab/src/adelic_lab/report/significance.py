"""Differences between models, with intervals and tests: the one declared contrast of a row, and all others."""

import gc
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from adelic.errors import needs_extra
from adelic_lab.report.comparison import Comparison
from adelic_lab.report.results import LEAST_SEEDS, Summary, paired, right_rows_of_both

_Pair = TypeVar("_Pair")
ALPHA = 0.05
RESAMPLES = 20_000
TRIVIAL = ("majority", "lookup")
"""The trivial rules, which learn nothing: comparisons of models leave them out."""


@dataclass(frozen=True)
class Difference:
    """How much more accurate one model is than another, over the seeds that both have.

    Attributes:
        mean: of the differences, first minus second.
        bounds: 95 % confidence interval of it (Student's t); of two seeds the two differences; None for one seed, and
            where all seeds have the same difference.
        seeds: the common seeds.
        p: of the two-sided paired t-test; None where a test is impossible: fewer than three common seeds, or the
            same difference for all of them.
        adjusted: the p-value after Holm's correction over the exploratory pairs of the comparison.
        is_the_same: whether several seeds have the same difference: their spread is 0, so that Student's t, which
            compares with the spread, gives neither an interval nor a test.
    """

    mean: float
    bounds: tuple[float, float] | None
    seeds: tuple[int, ...]
    p: float | None = None
    adjusted: float | None = None
    is_the_same: bool = False

    def __neg__(self) -> "Difference":
        """Return how much more accurate the second model is than the first."""
        bounds = None if self.bounds is None else (-self.bounds[1], -self.bounds[0])
        return replace(self, mean=-self.mean, bounds=bounds)

    @property
    def is_beyond_the_interval(self) -> bool:
        """Return whether the interval of three seeds or more leaves 0 out."""
        return self.bounds is not None and self.p is not None and not self.bounds[0] <= 0 <= self.bounds[1]

    @property
    def is_significant(self) -> bool:
        """Return whether the difference is significant after the correction."""
        return self.adjusted is not None and self.adjusted < ALPHA


def paired_difference(first: Summary, second: Summary, metric: str = "accuracy") -> Difference | None:
    """Return the difference of two models' test figures over their common seeds; None if they have none in common.

    Runs of one seed belong together: they share the split, the order of the batches, and the weights outside the
    embedding. The test is SciPy's, and takes the differences over seeds to be normally distributed.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> runs = read_results(Path("experiments/results/demo"))[:2]
    >>> aoe, learned = ([replace(run, seed=s, test={"accuracy": a + s / 100}) for s in range(3)] for run, a in
    ...     zip(runs, (0.93, 0.90)))
    >>> found = paired_difference(Summary(tuple(aoe)), Summary(tuple(learned)))
    >>> round(found.mean, 4), found.is_the_same
    (0.03, True)
    """
    pair = paired(first, second)
    if pair is None:
        return None
    mine, theirs = (np.array(model.values(metric)) for model in pair)
    differences, seeds = mine - theirs, pair[0].seeds
    found = Difference(float(differences.mean()), None, seeds)
    if len(seeds) == 1:
        return found
    if np.ptp(differences) < 1e-10:  # but for rounding the same, so that there is no spread to compare it with
        return replace(found, is_the_same=True)
    if len(seeds) < LEAST_SEEDS:
        return replace(found, bounds=(float(differences.min()), float(differences.max())))
    from scipy import stats  # here and below, since these libraries take as long to import as torch

    test = stats.ttest_rel(mine, theirs)
    low, high = test.confidence_interval(1 - ALPHA)
    return replace(found, bounds=(float(low), float(high)), p=float(test.pvalue))


@dataclass(frozen=True)
class Discordance:
    """On how many test rows one model alone is right, seed by seed.

    Attributes:
        seeds: those with predictions of both models.
        first, second: rows on which that model alone is right, one number a seed.
        p: of McNemar's exact test, one a seed. They are not combined: splits of several seeds share rows.
        bounds: 95 % bootstrap interval of the difference of the rates of such rows, see `row_interval`.
    """

    seeds: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    p: tuple[float, ...]
    bounds: tuple[float, float]

    @property
    def median_p(self) -> float:
        """Return the p-value of the median seed, of two the greater one."""
        return float(np.quantile(self.p, 0.5, method="higher"))


def discordance(first: Summary, second: Summary) -> Discordance | None:
    """Return on how many test rows one model alone is right; None where predictions of the same rows are missing."""
    pair = paired(first, second)
    if pair is None:
        return None
    found = zip(pair[0].seeds, map(right_rows_of_both, pair[0].results, pair[1].results), strict=True)
    rights = {seed: both for seed, both in found if both is not None}
    if not rights:
        return None
    with needs_extra("adelic_lab", "torch"):
        from statsmodels.stats.contingency_tables import mcnemar
    # McNemar's test reads the rows alone on which the two differ.
    alone = [(int((a & ~b).sum()), int((b & ~a).sum())) for a, b in rights.values()]
    return Discordance(
        tuple(rights),
        tuple(count for count, _ in alone),
        tuple(count for _, count in alone),
        tuple(float(mcnemar([[0, b], [c, 0]], exact=True).pvalue) for b, c in alone),
        row_interval([a.astype(float) - b for a, b in rights.values()]),
    )


def row_interval(differences: list[npt.NDArray[np.float64]]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a difference of accuracies: the test rows of each seed are drawn again.

    The interval contains the choice of test rows, but not the training: the models are kept. Rows that several seeds
    test are drawn for each seed, so that the interval is rather too narrow. Differences are (rows,) for each seed: 1
    where the first model alone is right, -1 where the second, else 0.

    >>> low, high = row_interval([np.array([1.0, 0.0, 0.0, -1.0] * 25), np.array([1.0, 0.0] * 50)])
    >>> low < 0.25 < high, row_interval([np.zeros(5)])
    (True, (0.0, 0.0))
    """
    rng = np.random.default_rng(0)
    means = np.zeros(RESAMPLES)
    for rows in differences:
        # Rows drawn again are counts of the values that they have, so that no row need be touched.
        values, counts = np.unique(rows, return_counts=True)
        means += rng.multinomial(len(rows), counts / len(rows), size=RESAMPLES) @ values / len(rows) / len(differences)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Contrast:
    """The declared contrast of a comparison: AOE minus learned vectors.

    Attributes:
        aoe, learned: names of the two models.
        difference: paired over seeds, without a correction: there is one, and it was declared beforehand.
        rows: of the test rows of each seed; None where results keep no predictions.
    """

    aoe: str
    learned: str
    difference: Difference
    rows: Discordance | None


def declared_pair(comparison: Comparison) -> tuple[str, str] | None:
    """Return the names of AOE's form that validation chooses, and of the learned vectors that trained on as much.

    It is None if one of them is missing, or the data is contaminated.
    """
    aoe = comparison.best("AOE")
    if aoe is None or comparison.first.is_contaminated:
        return None
    images = comparison.models[aoe].has_images
    learned = {
        name: model
        for name, model in comparison.models.items()
        if model.embedding == "learned" and model.has_images == images
    }
    best = replace(comparison, models=learned).best()
    return None if best is None else (aoe, best)


def declared_contrast(comparison: Comparison) -> Contrast | None:
    """Return the declared contrast of a comparison; None where one of the two models or a common seed is missing."""
    pair = declared_pair(comparison)
    if pair is None:
        return None
    aoe, learned = (comparison.models[name] for name in pair)
    difference = paired_difference(aoe, learned)
    return None if difference is None else Contrast(*pair, difference, discordance(aoe, learned))


def exploratory_differences(comparison: Comparison) -> dict[tuple[str, str], Difference]:
    """Return the difference of each pair of models but the declared one, the more accurate model of a pair first.

    Holm's correction is statsmodels', over all pairs that are returned and could be tested. Trivial rules and
    contaminated data are left out.
    """
    if comparison.first.is_contaminated:
        return {}
    models = {name: m for name, m in comparison.models.items() if m.embedding not in TRIVIAL}
    declared = set(declared_pair(comparison) or ())
    found = {}
    for a, b in combinations(models, 2):
        difference = paired_difference(models[a], models[b])
        if difference is not None and {a, b} != declared:
            found[a, b] = difference
    return corrected(found)


def differences_from(base: Summary, models: dict[str, Summary]) -> dict[str, Difference]:
    """Return each model minus a base, with Holm's correction over these; models without a common seed are left out."""
    found = {name: paired_difference(model, base) for name, model in models.items()}
    return corrected({name: difference for name, difference in found.items() if difference is not None})


def corrected(found: dict[_Pair, Difference]) -> dict[_Pair, Difference]:
    """Return differences with statsmodels' p-values after Holm's correction over all of them that could be tested."""
    tested = [pair for pair, difference in found.items() if difference.p is not None]
    if not tested:
        return found
    with needs_extra("adelic_lab", "torch"):
        from statsmodels.stats.multitest import multipletests
    gc.freeze()  # multipletests collects garbage, which takes longer than all else where much is loaded
    try:
        adjusted = multipletests([found[pair].p for pair in tested], method="holm")[1]
    finally:
        gc.unfreeze()
    return found | {pair: replace(found[pair], adjusted=float(p)) for pair, p in zip(tested, adjusted, strict=True)}
