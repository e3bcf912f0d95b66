from itertools import combinations, permutations

import numpy as np
import pytest

from adelic.acd import mheight
from adelic.data import Request


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


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_many_permutations_at_once(first, dtype):
    for n in range(1, 7):
        every = np.array(list(permutations(range(first, first + n))), dtype)
        expected = [-1 if (label := naive_label(w)) is None else label for w in every.tolist()]
        assert mheight.mheight(every).tolist() == expected
        assert mheight.mheight(every[None, :, None]).shape == (1, len(every), 1)


def test_long_permutations():
    """The compiled code and the readable one agree where a height does not fit into eight bits."""
    n = 400
    w = [*range(200, n), *range(200)]
    assert mheight.mheight(w) == mheight.mheight(np.array([w, w]))[1] == 0
    w = [399, *range(1, 399), 0]  # 4231
    assert mheight.mheight(w) is None
    assert mheight.mheight(np.array([w]))[0] == -1
    tall = [300, 399, *[value for value in range(398, -1, -1) if value not in (300, 5)], 5]
    assert mheight.mheight(tall) == mheight.mheight(np.array([tall]))[0] == 294


def test_batches_of_no_permutations():
    assert mheight.mheight(np.zeros((0, 5), int)).shape == (0,)
    assert mheight.mheight(np.zeros((2, 0), int)).tolist() == [-1, -1]
    assert mheight.mheight(np.zeros((2, 0, 3), int)).shape == (2, 0)


def test_cues(generated):
    cues = {name: cue(generated("mheight", 8).X[:2]) for name, cue in mheight.TASK.cues.items()}
    assert generated("mheight", 8).X[:2].tolist() == [[0, 1, 2, 3, 6, 7, 4, 5], [0, 1, 2, 4, 6, 7, 3, 5]]
    assert {name: cue.tolist() for name, cue in cues.items()} == {
        "first entry": [0, 0],
        "place of the greatest entry": [5, 5],
        "inversions": [4, 5],
        "greatest drop": [3, 4],
    }


@pytest.mark.parametrize("n", [7, 9])
def test_no_cue_does_much_better_than_the_majority(n, generated):
    rows = generated("mheight", n)
    majority = np.mean(rows.y == 0)
    for cue in mheight.TASK.cues.values():
        values = cue(rows.X)
        right = sum(np.bincount(rows.y[values == value]).max() for value in np.unique(values))
        assert majority <= right / len(rows.y) < majority + 0.015


# OEIS A061552 (they avoid 4231) and A032351 (they avoid 3412 too) for n = 1, 2, ...
AVOID_4231 = (1, 2, 6, 23, 103, 513, 2762, 15793, 94776, 591950, 3824112, 25431452)
SMOOTH = (1, 2, 6, 22, 88, 366, 1552, 6652, 28696, 124310, 540040, 2350820)


@pytest.mark.parametrize(
    "n", [*range(4, 10), pytest.param(11, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.slow)]
)
def test_counts_of_permutations(n, generated):
    """Of 8 to 10 the counts by label are those that were published, see test_acd_tasks.py."""
    assert mheight.ROW_COUNTS[n - 4] == AVOID_4231[n - 1] - SMOOTH[n - 1]
    rows = generated("mheight", n) if n < 11 else mheight.TASK.generate(Request(n=n, edition="published"))
    assert len(rows.y) == mheight.ROW_COUNTS[n - 4]
