from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from adelic_lab import Summary, summarise
from adelic_lab.report.comparison import comparisons
from adelic_lab.report.significance import (
    declared_contrast,
    discordance,
    exploratory_differences,
    paired_difference,
    row_interval,
)
from adelic_lab.results.predictions import pack


@pytest.fixture
def model(result):
    """Return the runs of a model by seed and accuracy."""

    def make(embedding, accuracies, **options):
        runs = [result(embedding=embedding, seed=s, accuracy=a, **options) for s, a in accuracies.items()]
        (summary,) = summarise(runs)
        return summary

    return make


@pytest.fixture
def compare(model):
    """Return the comparison of some models' accuracies by seed."""

    def make(**accuracies):
        runs = [run for name, values in accuracies.items() for run in model(name.replace("_", "-"), values).results]
        (comparison,) = comparisons(summarise(runs))
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
        (summary,) = summarise(runs)
        return summary

    return make


def test_the_paired_test_is_scipys(model):
    first, second = {0: 0.91, 1: 0.93, 2: 0.92, 3: 0.97}, {0: 0.90, 1: 0.91, 2: 0.925, 3: 0.93}
    found = paired_difference(model("adelic", first), model("learned", second))
    expected = stats.ttest_rel(list(first.values()), list(second.values()))
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean == pytest.approx(0.01625)
    assert found.bounds == pytest.approx(tuple(expected.confidence_interval()))


def test_only_common_seeds_count(model):
    found = paired_difference(model("adelic", {0: 0.9, 1: 0.8, 5: 0.1}), model("learned", {1: 0.7, 0: 0.7, 9: 0.9}))
    assert found.seeds == (0, 1)
    assert found.mean == pytest.approx(0.15)
    assert paired_difference(model("adelic", {0: 0.9}), model("learned", {1: 0.9})) is None


def test_seeds_with_other_test_rows_are_no_pair(model):
    """The seed of an older run drew no split: its test rows are those of seed 0."""
    new, old = model("adelic", {0: 0.9, 1: 0.8, 2: 0.7}), model("learned", {0: 0.6, 1: 0.6, 2: 0.6})
    for run in old.results:
        run.configuration["data"]["seed"] = 0
    assert paired_difference(new, old).seeds == (0,)


def test_two_seeds_have_a_range_and_no_test(model):
    found = paired_difference(model("adelic", {0: 0.9, 1: 0.8}), model("learned", {0: 0.8, 1: 0.75}))
    assert found.bounds == pytest.approx((0.05, 0.1))
    assert found.p is None
    assert paired_difference(model("adelic", {0: 0.9}), model("learned", {0: 0.8})).bounds is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({0: 1.0, 1: 1.0, 2: 1.0}, {0: 1.0, 1: 1.0, 2: 1.0}),
        ({0: 0.9, 1: 0.8, 2: 0.7}, {0: 0.8, 1: 0.7, 2: 0.6}),
    ],
)
def test_a_constant_difference_is_no_certainty(model, first, second):
    """The same difference for each seed has no spread to compare it with: no p-value, rather than one of 0."""
    found = paired_difference(model("adelic", first), model("learned", second))
    assert found.p is None
    assert not found.is_significant
    assert (found.bounds, found.is_the_same) == (None, True)


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
    assert all(set(pair) in expected for pair in found)
    p = [difference.p for difference in found.values()]
    adjusted = [difference.adjusted for difference in found.values()]
    assert adjusted == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert all(difference.mean >= 0 for difference in found.values())


def test_pairs_that_cannot_be_tested_have_no_p(compare):
    found = exploratory_differences(compare(fone={0: 0.9, 1: 0.8}, xval={0: 0.8, 1: 0.75}))
    assert [(d.p, d.adjusted) for d in found.values()] == [(None, None)]


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
    (comparison,) = comparisons(summarise(runs))
    found = declared_contrast(comparison)
    assert (found.aoe, found.learned) == ("AOE (digits)", "learned")
    assert found.difference.mean == pytest.approx(0.012)
    assert found.difference.adjusted is None  # there is one, so that nothing is to be corrected


def test_both_models_of_the_contrast_trained_on_as_much(result):
    runs = [
        result(embedding=e, seed=s, accuracy=0.9 + s * s / 100, recipe={"symmetries": images})
        for s in range(3)
        for e, images in (("adelic", True), ("learned", False))
    ]
    (comparison,) = comparisons(summarise(runs))
    assert declared_contrast(comparison) is None
    runs.append(result(embedding="learned", recipe={"symmetries": True}))
    (comparison,) = comparisons(summarise(runs))
    assert declared_contrast(comparison).learned == "learned, with images"


def test_contaminated_data_has_no_tests(result):
    runs = [result(embedding=e, seed=s, accuracy=0.9 + s * len(e) / 100) for e in ("adelic", "learned", "fone")
            for s in range(3)]  # fmt: skip
    (clean,) = comparisons(summarise(runs))
    assert declared_contrast(clean) is not None
    (contaminated,) = comparisons(summarise([replace(run, contaminated=True) for run in runs]))
    assert declared_contrast(contaminated) is None
    assert exploratory_differences(contaminated) == {}


def test_mcnemar_is_the_binomial_test_of_each_seed(answers):
    """SciPy's binomial test of the rows on which one model alone is right; seeds are not pooled."""
    aoe = answers("adelic", {0: [1] * 9 + [0] * 3, 1: [1] * 6 + [0] * 6, 2: [1] * 12})
    learned = answers("learned", {0: [0] * 8 + [1] * 4, 1: [1] * 6 + [0] * 6, 2: [1] * 11 + [0]})
    found = discordance(aoe, learned)
    assert (found.seeds, found.first, found.second) == ((0, 1, 2), (8, 0, 1), (3, 0, 0))
    assert found.p == pytest.approx((stats.binomtest(8, 11).pvalue, 1, 1))
    assert found.median_p == 1
    assert found.bounds[0] <= (5 + 0 + 1) / 36 <= found.bounds[1]


def test_rows_of_other_splits_are_not_compared(answers):
    aoe, learned = (answers(name, {0: [1, 0, 1], 1: [1, 1, 1]}) for name in ("adelic", "learned"))
    first, second = learned.results
    others = replace(second, labels=pack(np.zeros(3, int), 2))
    assert discordance(aoe, Summary((first, others))).seeds == (0,)
    assert discordance(aoe, Summary((replace(first, predictions=None), others))) is None


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
