import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adelic.benchmark import summarise
from adelic.benchmark.comparison import comparisons
from adelic.benchmark.significance import (
    critical_difference,
    holm,
    paired_difference,
    paired_differences,
    rank_models,
    rank_over_rows,
)
from adelic.errors import ConfigurationError


def test_holm_as_r_has_it():
    """R 4.2: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm"), and of c(0.04, 0.001, 0.03)."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.04, 0.001, 0.03]) == pytest.approx([0.06, 0.003, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values, alpha):
    """Holm's own words: compare the k-th smallest with alpha / (m - k + 1), and stop at the first that is larger."""
    rejected = set()
    for k, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[i] * (len(p_values) - k) > alpha:
            break
        rejected.add(i)
    assert {i for i, p in enumerate(holm(p_values)) if p <= alpha} == rejected


@pytest.fixture
def model(result):
    """Return the runs of a model by seed and accuracy."""

    def make(embedding, accuracies, **options):
        runs = [result(embedding=embedding, seed=s, accuracy=a, **options) for s, a in accuracies.items()]
        (summary,) = summarise(runs)
        return summary

    return make


def test_the_paired_test_is_scipys(model):
    first, second = {0: 0.91, 1: 0.93, 2: 0.92, 3: 0.97}, {0: 0.90, 1: 0.91, 2: 0.925, 3: 0.93}
    found = paired_difference(model("adelic", first), model("learned", second))
    expected = stats.ttest_rel(list(first.values()), list(second.values()))
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean == pytest.approx(0.01625)
    low, high = expected.confidence_interval()
    assert (found.mean - found.interval, found.mean + found.interval) == pytest.approx((low, high))


def test_only_common_seeds_count(model):
    found = paired_difference(model("adelic", {0: 0.9, 1: 0.8, 5: 0.1}), model("learned", {1: 0.7, 0: 0.7, 9: 0.9}))
    assert found.seeds == (0, 1)
    assert found.mean == pytest.approx(0.15)
    assert paired_difference(model("adelic", {0: 0.9}), model("learned", {1: 0.9})) is None


@pytest.mark.parametrize(("first", "second"), [({0: 0.9}, {0: 0.8}), ({0: 1, 1: 1}, {0: 1, 1: 1})])
def test_nothing_is_tested_without_variation(model, first, second):
    found = paired_difference(model("adelic", first), model("learned", second))
    assert found.p is None
    assert not found.is_significant


def test_a_constant_difference_is_no_certainty(model):
    """The same difference for each seed has no spread to compare it with: no p-value, rather than one of 0."""
    found = paired_difference(model("adelic", {0: 0.9, 1: 0.8, 2: 0.7}), model("learned", {0: 0.8, 1: 0.7, 2: 0.6}))
    assert found.p is None


def test_all_pairs_of_a_row_are_corrected_together(model):
    rng = np.random.default_rng(0)
    names = ("adelic", "learned", "fone", "xval")
    models = {n: model(n, {s: 0.9 + k / 100 + rng.normal(0, 0.01) for s in range(5)}) for k, n in enumerate(names)}
    models["single"] = model("one-hot", {7: 0.5})
    found = paired_differences(models)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    assert set(found) == {*pairs, *((b, a) for a, b in pairs)}
    assert [found[pair].adjusted for pair in pairs] == holm([found[pair].p for pair in pairs])
    for a, b in pairs:
        assert found[a, b].mean == -found[b, a].mean
        assert found[a, b].adjusted == found[b, a].adjusted


# Demšar 2006, table 6: areas under the ROC curve of four versions of C4.5 on 14 data sets. For "voting" the paper ranks
# the last two 2 and 3, though they are equal in the digits printed; a fourth digit makes them so.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
    "m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
    "cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
    "m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
}


def figures(table):
    return {name: {f"row {i}": value for i, value in enumerate(values)} for name, values in table.items()}


def test_the_example_of_demsar():
    """Sections 3.2.2 and 3.2.4 of the paper: ranks, statistics, critical difference, and that it finds nothing."""
    found = rank_models(figures(DEMSAR))
    assert found.models == ("m+cf", "m", "cf", "C4.5")
    assert found.mean_ranks == pytest.approx((1.964, 2.000, 2.893, 3.143), abs=5e-4)
    assert found.chi_square == pytest.approx(9.28, abs=0.005)
    assert found.f == pytest.approx(3.69, abs=0.005)
    assert found.p == pytest.approx(stats.f.sf(3.69, 3, 39), abs=1e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.alike == ((0, 3),)


def test_the_critical_values_of_demsar():
    """Table 5 (a) of the paper, row 0.05: from 2 to 10 models."""
    table = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
    for k, q in enumerate(table, start=2):
        assert critical_difference(k, 12) * math.sqrt(6 * 12 / (k * (k + 1))) == pytest.approx(q, abs=1e-3)


def test_ties_share_a_rank():
    found = rank_models({"a": {1: 0.5, 2: 0.1 + 0.2, 3: 1}, "b": {1: 0.5, 2: 0.3, 3: 0}, "c": {1: 0.1, 2: 0.3, 3: 1}})
    ranks = {"a": (1.5 + 2 + 1.5) / 3, "b": (1.5 + 2 + 3) / 3, "c": (3 + 2 + 1.5) / 3}
    assert dict(zip(found.models, found.mean_ranks, strict=True)) == pytest.approx(ranks)


def test_equal_models_and_perfect_agreement():
    equal = rank_models({name: dict.fromkeys("xyz", 1.0) for name in "abc"})
    assert (equal.chi_square, equal.p) == (pytest.approx(0), 1)
    assert equal.alike == ((0, 2),)
    clear = rank_models({name: dict.fromkeys(range(30), 1.0 - i) for i, name in enumerate("abc")})
    assert (clear.f, clear.p) == (math.inf, 0)
    assert clear.alike == ()


def test_the_order_of_models_changes_nothing():
    expected = rank_models(figures(DEMSAR))
    for order in permutations(DEMSAR):
        found = rank_models(figures({name: DEMSAR[name] for name in order}))
        assert (found.models, found.alike) == (expected.models, expected.alike)
        assert found.mean_ranks == pytest.approx(expected.mean_ranks)
        assert found.p == pytest.approx(expected.p)


def test_groups_are_the_largest_ones():
    """Ten models a rank apart, over so many rows that the critical difference lies between 2 and 3: groups of three."""
    rows = {f"model {i}": dict.fromkeys(range(32), -i) for i in range(10)}
    found = rank_models(rows)
    assert 2 < found.critical_difference < 3
    assert found.alike == tuple((i, i + 2) for i in range(8))


@pytest.mark.parametrize("table", [{}, {"a": {1: 1, 2: 2, 3: 3}}, {"a": {1: 1, 2: 1}, "b": {1: 0, 2: 0}}])
def test_too_little_to_rank(table):
    with pytest.raises(ConfigurationError, match="needs 2 models and 3 rows"):
        rank_models(table)


def test_ranks_are_over_the_largest_complete_block(result):
    ran = {
        "schubert-4": ("adelic", "learned", "fone", "xval"),
        "weaving-6": ("adelic", "learned", "fone"),
        "mheight-8": ("adelic", "learned", "fone"),
        "mheight-9": ("adelic", "learned"),
    }
    accuracy = {"adelic": 0.9, "learned": 0.8, "fone": 0.7, "xval": 0.99}
    runs = [result(row, e, accuracy=accuracy[e], recipe={}) for row, names in ran.items() for e in names]
    found = rank_over_rows(comparisons(summarise(runs)))
    assert found.rows == ("weaving-6", "schubert-4", "mheight-8")  # 3 rows × 3 models are more than 4 × 2
    assert found.models == ("AOE (digits)", "learned", "fone")
    assert found.mean_ranks == (1, 2, 3)


def test_two_rows_give_no_ranks_and_other_editions_are_no_rows(result):
    runs = [result(row, e) for row in ("schubert-4", "weaving-6") for e in ("adelic", "learned")]
    runs += [result("weaving-7", e) | {"edition": "leaky"} for e in ("adelic", "learned")]
    assert rank_over_rows(comparisons(summarise(runs))) is None
