from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.acd import weaving


def patterns_from_reduced_words(n):
    """Commutation classes of the reduced words of n ... 2 1, as matrices: all words are written out."""
    found = set()

    def extend(order, sequences):
        if all(a > b for a, b in pairwise(order)):
            found.add(tuple(entry for line in range(n, 0, -1) for entry in sequences[line]))
        for i in range(n - 1):
            a, b = order[i], order[i + 1]
            if a < b:
                swapped = (*order[:i], b, a, *order[i + 2 :])
                extend(swapped, {**sequences, a: (*sequences[a], b), b: (*sequences[b], a)})

    extend(tuple(range(1, n + 1)), dict.fromkeys(range(1, n + 1), ()))
    return found


def positives(rows):
    return set(map(tuple, rows.X[rows.y == 1].tolist()))


def levels_of(patterns, n):
    smaller = patterns.reshape(-1, n, n - 1) < np.arange(n, 0, -1)[:, None]
    return smaller[:, 1:-1, :-1].astype(np.int8).reshape(len(patterns), (n - 2) ** 2)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_patterns_are_the_commutation_classes_of_reduced_words(n, generated):
    assert positives(generated("weaving", n)) == patterns_from_reduced_words(n)


def test_oracle(oracle, generated):
    assert {tuple(row) for row in oracle("weaving_5")} == positives(generated("weaving", 5))
    assert {tuple(row) for row in oracle("weaving_6")} <= positives(generated("weaving", 6))
    assert all(weaving.is_weaving_pattern(row) for row in oracle("weaving_6"))


def test_all_matrices_of_size_3():
    """The sweep accepts exactly the two patterns among all 3^6 matrices."""
    accepted = [matrix for matrix in product((1, 2, 3), repeat=6) if weaving.is_weaving_pattern(matrix)]
    assert accepted == [(1, 2, 1, 3, 2, 3), (2, 1, 3, 1, 3, 2)]


@pytest.mark.parametrize("n", [6, 7])
def test_negatives_keep_the_content_of_their_rows(n, generated):
    for edition, lacking in (("published", range(n, 0, -1)), ("leaky", range(1, n + 1))):
        rows = generated("weaving", n, edition)
        for r, line in enumerate(lacking):
            row = np.sort(rows.X[rows.y == 0].reshape(-1, n, n - 1)[:, r], axis=1)
            assert (row == np.delete(np.arange(1, n + 1), line - 1)).all()


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_levels_are_those_of_the_patterns(n, generated):
    rows = generated("weaving", n)
    expected = set(map(tuple, levels_of(rows.X[rows.y == 1], n).tolist()))
    assert positives(generated("weaving", n, "levels")) == expected
    assert len(expected) == len(positives(rows))  # the levels determine the pattern
    legal = generated("weaving", n, "levels").X.reshape(-1, n - 2, n - 2).sum(axis=2)
    for row, line in enumerate(range(n - 1, 1, -1)):
        assert set(legal[:, row].tolist()) <= {line - 1, line - 2}  # the last entry is left out


@given(seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None)
def test_sweep_agrees_with_membership_on_small_changes(seed, data):
    """A pattern with two entries of a row exchanged is a pattern exactly if it is in the list."""
    n = 5
    known = PATTERNS_5
    row = np.array(sorted(known)[seed % len(known)])
    line = data.draw(st.integers(0, n - 1))
    i, j = data.draw(st.sampled_from(list(combinations(range(n - 1), 2))))
    at = [line * (n - 1) + i, line * (n - 1) + j]
    row[at] = row[at[::-1]]
    assert weaving.is_weaving_pattern(row) == (tuple(row.tolist()) in known)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_dihedral_symmetries(n, generated):
    rows = generated("weaving", n)
    patterns = rows.X[rows.y == 1]
    assert (weaving.reflected(weaving.reflected(patterns)) == patterns).all()
    turned = patterns
    for _ in range(2 * n):
        turned = weaving.rotated(turned)
    assert (turned == patterns).all()
    back_and_forth = weaving.reflected(weaving.rotated(weaving.reflected(weaving.rotated(patterns))))
    assert (back_and_forth == patterns).all()  # a reflection turns the rotation round


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1], [1, 3], [2, 3]],
        [[1, 2], [1, 2], [2, 3]],
        [[1, 2], [1, 4], [2, 3]],
        [[-1, 2], [1, 3], [2, 3]],
        [[1, 1], [1, 3], [2, 3]],
        [[2, 3], [1, 3], [1, 2]],
    ],
)
def test_entries_that_break_the_row_rule_are_no_pattern(matrix):
    assert weaving.is_weaving_pattern(matrix) is False


def test_levels_of_the_least_arrangement_come_last():
    """Patterns are ordered by their level matrix; where all rows ascend it is 1...10...0 in every row."""
    for n in (3, 4, 5, 6):
        sequences = weaving.all_patterns(n)
        assert (np.diff(sequences[-1], axis=1) > 0).all()
        assert len(sequences) == weaving.PATTERN_COUNTS[n - 2]
        assert comb(n, 2) * 2 == sequences[0].size


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_symmetries_of_levels_are_those_of_the_patterns(n, generated):
    rows = generated("weaving", n)
    patterns = rows.X[rows.y == 1]
    levels = levels_of(patterns, n)
    assert (weaving.levels_reflected(levels) == levels_of(weaving.reflected(patterns), n)).all()
    turned = patterns
    for _ in range(n):
        turned = weaving.rotated(turned)
    assert (weaving.levels_half_turned(levels) == levels_of(turned, n)).all()
    assert weaving.levels_half_turned(levels[0]).shape == levels[0].shape


@pytest.mark.parametrize(("n", "edition"), [(n, edition) for n in (3, 5, 7) for edition in ("published", "leaky")])
def test_many_matrices_at_once(n, edition, generated):
    rows = generated("weaving", n, edition)
    answers = weaving.is_weaving_pattern(rows.X.reshape(-1, n, n - 1))
    assert answers.dtype == np.bool_
    assert (answers == (rows.y == 1)).all()
    assert weaving.is_weaving_pattern(rows.X.reshape(2, -1, 1, n, n - 1)).shape == (2, len(rows.X) // 2, 1)


def test_cues(generated):
    """Read off by eye: the least arrangement of four, and a leaky non-pattern."""
    cues = weaving.TASK.cues
    least = np.array([[1, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4]])
    assert {name: cue(least).tolist() for name, cue in cues.items()} == {
        "first row lacks": [4],
        "row sums": [6 + 7 * 16 + 8 * 16**2 + 9 * 16**3],
        "ascending rows": [4],
        "first crossings": [1],
    }
    levels = np.array([[1, 1, 0, 1]])
    assert {name: cue(levels).tolist() for name, cue in cues.items()} == {
        "first row lacks": [0],
        "row sums": [2 + 1 * 7],
        "ascending rows": [2],
        "first crossings": [1],
    }
    for cue in cues.values():
        assert cue(generated("weaving", 5, "leaky").X).shape == (124,)


@pytest.mark.parametrize("edition", ["published", "leaky"])
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_a_pattern_has_a_first_crossing(n, edition, generated):
    """And few non-patterns do, which makes it a good rule."""
    rows = generated("weaving", n, edition)
    has_one = weaving.TASK.cues["first crossings"](rows.X) > 0
    assert has_one[rows.y == 1].all()
    if n >= 6:
        assert np.mean(has_one == (rows.y == 1)) > 0.89


def test_the_leak(generated):
    for edition, accuracy in (("leaky", 1.0), ("published", 0.5)):
        rows = generated("weaving", 6, edition)
        lacks = weaving.TASK.cues["first row lacks"](rows.X)
        assert np.mean((lacks == 6) == (rows.y == 1)) == accuracy


PATTERNS_5 = patterns_from_reduced_words(5)
