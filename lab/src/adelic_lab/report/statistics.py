"""Means with their intervals, and differences between models: the one declared contrast of a dataset, and all others.

Intervals and tests are SciPy's, corrections statsmodels'. Both are imported where they are first
used, since each takes as long to import as torch.
"""

import gc
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from adelic_lab.report.frame import TRIVIAL, Comparison
from adelic_lab.results.result import Result

ALPHA = 0.05
LEAST_SEEDS = 3
"""Least number of seeds for an interval of a mean: with one degree of freedom, Student's t gives ± 12.7 deviations."""
RESAMPLES = 20_000
PAIRED = ["seed", "split_seed", "data", "data_sha256", "labels", "accuracy", "split", "test_rows", "train_rows", "run"]
"""Columns of `run_frame` that two models are compared by: to join all of them takes most of a report's time."""
COLUMNS = ("mean", "low", "high", "seeds", "p", "adjusted", "is_the_same")


def confidence_interval(values: Iterable[float]) -> float | None:
    """Return the half width of the 95 % confidence interval of a mean, by Student's t; None for two values and one.

    >>> round(confidence_interval([0.90, 0.92, 0.94]), 4), confidence_interval([0.90, 0.94])
    (0.0497, None)
    """
    sample = np.array(list(values))
    if len(sample) < LEAST_SEEDS:
        return None
    from scipy import stats

    return float(stats.t.ppf(1 - ALPHA / 2, len(sample) - 1) * stats.sem(sample))


def paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of two models by common seed, ascending, the columns of the second ending in _other.

    Runs of one seed that were judged by other examples are left out. Of the same data and seed, files may differ:
    another pyarrow writes the same examples in other bytes. Then the labels of all test examples decide, in their
    order. Older results lack labels, or the SHA-256 of the file.
    """
    on = ["seed", "split_seed", "data"]
    both = first[PAIRED].merge(second[PAIRED], on=on, suffixes=("", "_other")).sort_values("seed")
    is_same = both.data_sha256.isna() | both.data_sha256_other.isna() | (both.data_sha256 == both.data_sha256_other)
    return both[is_same | (both.labels.notna() & (both.labels == both.labels_other))]


def difference(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Any] | None:
    """Return how much more accurate one model is than another, over the seeds that both have; None without such seeds.

    Runs of one seed belong together: they share the split, the order of the batches, and the weights outside the
    embedding. The paired t-test takes the differences over seeds to be normally distributed. Where each seed splits the
    same examples anew, training and test sets of different seeds overlap, so that the differences are not independent:
    their variance over k seeds is multiplied by 1/k + (test examples)/(training examples) instead of 1/k (Nadeau and
    Bengio, Inference for the Generalization Error, 2003). Drawn data, of which no example comes twice but by chance,
    and a split that all seeds share need no such correction; then the test is SciPy's.

    Args:
        first: its runs, see `run_frame`.
        second: those of the other model.

    Returns:
        `mean` of the differences; `low` and `high`, its 95 % interval, of two seeds their range; the number of `seeds`;
        `p` of the two-sided test, NaN below three seeds; `is_the_same`, whether several seeds have the same difference:
        then the spread is 0, and Student's t, which compares with it, gives neither an interval nor a test.
    """
    both = paired(first, second)
    if both.empty:
        return None
    differences = both.accuracy - both.accuracy_other
    found = dict.fromkeys(COLUMNS, np.nan) | {"mean": differences.mean(), "seeds": len(both), "is_the_same": False}
    if len(both) == 1:
        return found
    if np.ptp(differences) < 1e-10:  # but for rounding the same
        return found | {"is_the_same": True}
    if len(both) < LEAST_SEEDS:
        return found | {"low": differences.min(), "high": differences.max()}
    from scipy import stats

    overlaps = both.split_seed.nunique() > 1 and both.labels.nunique() != 1 and (both.split != "drawn").all()
    share = (both.test_rows / both.train_rows).mean() if overlaps else 0.0
    error = differences.std() * np.sqrt(1 / len(both) + share)
    low, high = stats.t.interval(1 - ALPHA, len(both) - 1, differences.mean(), error)
    p = 2 * stats.t.sf(abs(differences.mean()) / error, len(both) - 1)
    return found | {"low": low, "high": high, "p": p}


def corrected(found: Mapping[Any, dict[str, Any] | None]) -> pd.DataFrame:
    """Return differences as a frame, with p after Holm's correction over all that could be tested, as `adjusted`."""
    frame = pd.DataFrame([one for one in found.values() if one is not None], columns=COLUMNS, dtype=object)
    frame.index = pd.Index([key for key, one in found.items() if one is not None], tupleize_cols=False)
    tested = frame.p.notna()
    if tested.any():
        from statsmodels.stats.multitest import multipletests

        gc.freeze()  # multipletests collects garbage, which takes longer than all else where much is loaded
        try:
            frame.loc[tested, "adjusted"] = multipletests(frame.p[tested].astype(float), method="holm")[1]
        finally:
            gc.unfreeze()
    return frame


def declared_pair(comparison: Comparison) -> tuple[str, str] | None:
    """Return the names of AOE's form that validation chooses, and of the learned vectors that trained on as much.

    It is None if one of them is missing, or the data is contaminated.
    """
    aoe = comparison.best(kinds=["AOE"])
    if aoe is None or comparison.first.contaminated:
        return None
    models = comparison.models
    alike = models[(models.embedding == "learned") & (models.symmetries == models.symmetries[aoe])]
    learned = max(alike.index, key=comparison.score, default=None)
    return None if learned is None else (aoe, learned)


def declared_contrast(comparison: Comparison) -> dict[str, Any] | None:
    """Return the declared contrast, AOE minus learned vectors; None where a model or a common seed is missing.

    It is a `difference`, with the names of the models as `aoe` and `learned`.
    """
    pair = declared_pair(comparison)
    found = None if pair is None else difference(*(comparison.models.runs[name] for name in pair))
    return None if pair is None or found is None else found | {"aoe": pair[0], "learned": pair[1]}


def declared_family(chosen: Mapping[str, Comparison | None]) -> pd.DataFrame:
    """Return the declared contrasts of a benchmark as a frame, by title, with p after Holm's correction as `adjusted`.

    The family has one line for each dataset and split: the recipe that validation chose, see
    `adelic_lab.report.tables.chosen_by_validation`. "Significantly" means adjusted p ≤ 0.05 here, and nothing else.
    """
    return corrected({title: declared_contrast(one) for title, one in chosen.items() if one is not None})


def exploratory_differences(comparison: Comparison) -> pd.DataFrame:
    """Return the difference of each pair of models but the declared one, by their names, the more accurate one first.

    Holm's correction is over all pairs that could be tested. Baselines and contaminated data are left out.
    """
    declared = set(declared_pair(comparison) or ())
    models = comparison.models[~(comparison.models.embedding.isin(TRIVIAL) | comparison.models.contaminated)]
    pairs = [(a, b) for a, b in combinations(models.index, 2) if {a, b} != declared]
    return corrected({(a, b): difference(models.runs[a], models.runs[b]) for a, b in pairs})


def right_rows(run: Result) -> npt.NDArray[np.bool_] | None:
    """Return which examples of the test split were answered rightly, (rows,), in the split's order.

    Of several targets an example, all have to be right: their rate is `exact_match`, where `accuracy` is the targets'
    mean. None is returned where an older result keeps no predictions.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> all(right_rows(run).mean() == run.test["accuracy"] for run in read_results(Path("experiments/results/demo")))
    True
    """
    kept = run.answers()
    if kept is None:
        return None
    labels, predictions = kept
    right: npt.NDArray[np.bool_] = (labels == predictions).reshape(len(labels), -1).all(axis=1)
    return right


def discordance(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Any] | None:
    """Return on how many test examples one model alone is right; None where predictions of the same ones are missing.

    Returns:
        `first` and `second`, the rows on which that model alone is right, added up over seeds; `low` and `high`, see
        `row_interval`.
    """
    both = paired(first, second)
    both = both[both.labels == both.labels_other]
    rights = [(right_rows(a), right_rows(b)) for a, b in zip(both.run, both.run_other, strict=True)]
    differences = [a.astype(float) - b for a, b in rights if a is not None and b is not None]
    if not differences:
        return None
    low, high = row_interval(differences)
    alone = [sum(int((sign * d > 0).sum()) for d in differences) for sign in (1, -1)]
    return {"first": alone[0], "second": alone[1], "low": low, "high": high}


def row_interval(differences: list[npt.NDArray[np.float64]]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a difference of accuracies: the test examples of each seed are drawn again.

    The interval contains the choice of test examples, but not the training: the models are kept. Examples that several
    seeds test are drawn for each seed, so that the interval is rather too narrow. Differences are (rows,) for each
    seed: 1 where the first model alone is right, -1 where the second, else 0.

    >>> low, high = row_interval([np.array([1.0, 0.0, 0.0, -1.0] * 25), np.array([1.0, 0.0] * 50)])
    >>> low < 0.25 < high, row_interval([np.zeros(5)])
    (True, (0.0, 0.0))
    """
    rng = np.random.default_rng(0)
    means = np.zeros(RESAMPLES)
    for rows in differences:
        # Examples drawn again are counts of the values that they have, so no example need be touched.
        values, counts = np.unique(rows, return_counts=True)
        means += rng.multinomial(len(rows), counts / len(rows), size=RESAMPLES) @ values / len(rows) / len(differences)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)
