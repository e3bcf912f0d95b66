from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from adelic_lab.report.frame import comparisons, run_frame
from adelic_lab.report.statistics import (
    confidence_interval,
    declared_contrast,
    difference,
    discordance,
    exploratory_differences,
    paired,
    row_interval,
)
from adelic_lab.results.predictions import pack


@pytest.fixture
def model(result):
    """Return the runs of a model by seed and accuracy."""

    def make(embedding, accuracies, **options):
        return run_frame(result(embedding=embedding, seed=s, accuracy=a, **options) for s, a in accuracies.items())

    return make


@pytest.fixture
def compare(model):
    """Return the comparison of some models' accuracies by seed."""

    def make(**accuracies):
        runs = [run for name, values in accuracies.items() for run in model(name.replace("_", "-"), values).run]
        (comparison,) = comparisons(run_frame(runs))
        return comparison

    return make


@pytest.fixture
def answers(result):
    """Return the runs of a model by seed: a test split of as many rows as there are answers, 1 for right ones."""

    def make(embedding, right, **options):
        runs = []
        for seed, row in right.items():
            kept = {"labels": pack(np.ones(len(row), int), 2), "predictions": pack(np.array(row), 2)}
            given = {"rows": {"train": 62, "validation": 6, "test": len(row)}, "class_names": ["0", "1"]} | kept
            runs.append(result(embedding=embedding, seed=seed, accuracy=sum(row) / len(row), **given, **options))
        return run_frame(runs)

    return make


def test_an_interval_by_hand():
    """Student's t of n − 1 degrees of freedom at 97.5 %: 4.30265 for 2."""
    assert confidence_interval([0.90, 0.92, 0.94]) == pytest.approx(4.30265 * 0.02 / 3**0.5, rel=1e-5)
    assert confidence_interval([1.0, 1.0, 1.0]) == 0
    assert confidence_interval([1.0, 2.0]) is confidence_interval([0.5]) is None


FIRST, SECOND = {0: 0.91, 1: 0.93, 2: 0.92, 3: 0.97}, {0: 0.90, 1: 0.91, 2: 0.925, 3: 0.93}


def test_the_paired_test_of_one_split_is_scipys(model):
    found = difference(model("adelic", FIRST), model("learned", SECOND))  # of equal labels: the splits are the same
    expected = stats.ttest_rel(list(FIRST.values()), list(SECOND.values()))
    assert found["p"] == pytest.approx(expected.pvalue)
    assert found["mean"] == pytest.approx(0.01625)
    assert (found["low"], found["high"]) == pytest.approx(tuple(expected.confidence_interval()))
    drawn = {"split": "drawn", "labels": None, "predictions": None}
    assert difference(model("adelic", FIRST, **drawn), model("learned", SECOND, **drawn))["p"] == found["p"]


def test_splits_that_overlap_have_the_variance_of_nadeau_and_bengio(model):
    """Their corrected resampled t statistic, of 1/k + n_test/n_train in place of 1/k."""
    unknown = {"labels": None, "predictions": None}
    aoe, learned = model("adelic", FIRST, **unknown), model("learned", SECOND, **unknown)
    found = difference(aoe, learned)
    share = 1 / 4 + aoe.test_rows[0] / aoe.train_rows[0]
    d = np.array(list(FIRST.values())) - np.array(list(SECOND.values()))
    t = d.mean() / np.sqrt(share * d.var(ddof=1))
    assert found["p"] == pytest.approx(2 * stats.t.sf(t, 3))
    assert found["p"] > stats.ttest_rel(list(FIRST.values()), list(SECOND.values())).pvalue
    half = stats.t.ppf(0.975, 3) * np.sqrt(share * d.var(ddof=1))
    assert (found["low"], found["high"]) == pytest.approx((d.mean() - half, d.mean() + half))


def test_only_common_seeds_count(model):
    found = difference(model("adelic", {0: 0.9, 1: 0.8, 5: 0.1}), model("learned", {1: 0.7, 0: 0.7, 9: 0.9}))
    assert found["seeds"] == 2
    assert found["mean"] == pytest.approx(0.15)
    assert difference(model("adelic", {0: 0.9}), model("learned", {1: 0.9})) is None


def test_seeds_with_other_test_rows_are_no_pair(model):
    """The seed of an older run drew no split: its test rows are those of seed 0."""
    new, old = model("adelic", {0: 0.9, 1: 0.8, 2: 0.7}), model("learned", {0: 0.6, 1: 0.6, 2: 0.6})
    for run in old.run:
        run.configuration["data"]["seed"] = 0
    assert paired(new, run_frame(old.run)).seed.tolist() == [0]


def test_the_exploratory_pairs_of_a_row_are_corrected_together(compare):
    """By statsmodels, over all but the declared pair, and without the trivial rules."""
    rng = np.random.default_rng(0)
    names = ("adelic", "learned", "fone", "xval", "majority", "lookup")
    noise = {n: {s: 0.9 + k / 100 + rng.normal(0, 0.01) for s in range(5)} for k, n in enumerate(names)}
    comparison = compare(**noise, one_hot={7: 0.5})
    found = exploratory_differences(comparison)
    expected = [{"AOE (digits)", "fone"}, {"AOE (digits)", "xval"}, *({"learned", n} for n in ("fone", "xval"))]
    expected.append({"fone", "xval"})
    assert len(found) == len(expected)
    assert all(set(pair) in expected for pair in found.index)
    assert found.adjusted.tolist() == pytest.approx(multipletests(found.p.tolist(), method="holm")[1].tolist())
    assert (found["mean"] >= 0).all()


def test_pairs_that_cannot_be_tested_have_no_p(compare):
    found = exploratory_differences(compare(fone={0: 0.9, 1: 0.8}, xval={0: 0.8, 1: 0.75}))
    assert found[["p", "adjusted"]].isna().to_numpy().tolist() == [[True, True]]


def test_the_declared_contrast_is_of_the_form_that_validation_chooses(result):
    """The other form is better on the test split."""
    runs = []
    for seed in range(3):
        for embedding, features, accuracy, validation in (
            ("adelic", "digits", 0.91, 0.99),
            ("adelic", "characters", 0.98, 0.90),
            ("learned", None, 0.90, 0.80),
            ("fone", None, 0.99, 0.99),
        ):
            accuracy += seed * len(features or "none") / 1000
            kept = {"accuracy": validation, "loss": 0.5}
            runs.append(result(embedding=embedding, features=features, seed=seed, accuracy=accuracy, validation=kept))
    (comparison,) = comparisons(run_frame(runs))
    found = declared_contrast(comparison)
    assert (found["aoe"], found["learned"]) == ("AOE (digits)", "learned")
    assert found["mean"] == pytest.approx(0.012)


def test_both_models_of_the_contrast_trained_on_as_much(result):
    runs = [
        result(embedding=e, seed=s, accuracy=0.9 + s * s / 100, recipe={"symmetries": images})
        for s in range(3)
        for e, images in (("adelic", True), ("learned", False))
    ]
    (comparison,) = comparisons(run_frame(runs))
    assert declared_contrast(comparison) is None
    runs.append(result(embedding="learned", recipe={"symmetries": True}))
    (comparison,) = comparisons(run_frame(runs))
    assert declared_contrast(comparison)["learned"] == "learned, with images"


def test_rows_that_one_model_alone_has_right_are_added_up(answers):
    aoe = answers("adelic", {0: [1] * 9 + [0] * 3, 1: [1] * 6 + [0] * 6, 2: [1] * 12})
    learned = answers("learned", {0: [0] * 8 + [1] * 4, 1: [1] * 6 + [0] * 6, 2: [1] * 11 + [0]})
    found = discordance(aoe, learned)
    assert (found["first"], found["second"]) == (8 + 0 + 1, 3)
    assert found["low"] <= (5 + 0 + 1) / 36 <= found["high"]


def test_rows_of_other_splits_are_not_compared(answers):
    aoe, learned = (answers(name, {0: [1, 0, 1], 1: [1, 1, 1]}) for name in ("adelic", "learned"))
    first, second = learned.run
    others = replace(second, labels=pack(np.zeros(3, int), 2))
    assert discordance(aoe, run_frame([first, others]))["first"] == 0
    assert discordance(aoe, run_frame([replace(first, labels=None, predictions=None), others])) is None


@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=9), min_size=1, max_size=3))
def test_the_bootstrap_interval_lies_within_what_rows_can_say(differences):
    arrays = [np.array(values) for values in differences]
    low, high = row_interval(arrays)
    least, most = (np.mean([end(a) for a in arrays]) for end in (np.min, np.max))
    assert least - 1e-12 <= low <= high <= most + 1e-12
    assert row_interval(arrays) == (low, high)  # the same each time


def test_the_bootstrap_interval_of_one_seed_is_nearly_the_binomial_one():
    """1,000 rows, 100 of which one model alone has right: standard deviation 0.0095."""
    low, high = row_interval([np.array([1.0] * 100 + [0.0] * 900)])
    assert (low, high) == pytest.approx((0.1 - 1.96 * 0.0095, 0.1 + 1.96 * 0.0095), abs=0.002)
