from itertools import combinations, permutations

import numpy as np
import pytest

from adelic.acd import mheight
from adelic.errors import EncodingError


def naive_label(w):
    """The definition, quadruple by quadruple."""
    heights = []
    for a, b, c, d in combinations(w, 4):
        if d < b < c < a:
            return None
        if c < d < a < b:
            heights.append(a - d)
    return min(heights) - 1 if heights else None


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_rows_are_those_of_the_definition(n, generated):
    rows = generated("mheight", n)
    expected = {w: label for w in permutations(range(n)) if (label := naive_label(w)) is not None}
    assert dict(zip(map(tuple, rows.X.tolist()), rows.y.tolist(), strict=True)) == expected
    assert [tuple(row) for row in rows.X.tolist()] == sorted(expected)  # lexicographic order, each once


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_one_permutation_at_a_time(n):
    for w in permutations(range(n)):
        assert mheight.mheight(w) == naive_label(w)
        assert mheight.mheight([value + 1 for value in w]) == naive_label(w)


def test_oracle(oracle):
    for w, label in oracle("mheight_8"):
        assert mheight.mheight(w) == label


def test_oracle_rows_are_in_the_data_set(oracle, generated):
    rows = generated("mheight", 8)
    labels = dict(zip(map(tuple, rows.X.tolist()), rows.y.tolist(), strict=True))
    for w, label in oracle("mheight_8"):
        assert labels.get(tuple(w)) == label


@pytest.mark.parametrize("n", [8, 9, 10])
def test_published_counts(n, generated, published_facts):
    rows = generated("mheight", n)
    assert np.bincount(rows.y).tolist() == published_facts["mheight"]["counts_by_label"][str(n)]
    assert rows.X.shape[1] == n


@pytest.mark.parametrize("n", range(4, 11))
def test_estimate_is_exact(n, generated):
    estimate = mheight.TASK.estimate(n, "published")
    assert estimate.exact
    assert estimate.rows == len(generated("mheight", n).y)
    assert len(mheight.TASK.class_names(n, "published")) == generated("mheight", n).y.max() + 1


@pytest.mark.parametrize("permutation", [[0, 0, 1], [1, 2, 4], [0, 1, 3], [True, False], [0.0, 1.0], "0123", 5, None])
def test_no_permutation(permutation):
    with pytest.raises(EncodingError):
        mheight.mheight(permutation)
