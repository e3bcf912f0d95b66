from itertools import combinations, permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.acd import rsk
from adelic.data.splits import TEST, split_rows
from adelic.errors import EncodingError

words = st.integers(1, 9).flatmap(lambda n: st.permutations(range(1, n + 1)))


def transpose(tableau):
    return [[row[column] for row in tableau if column < len(row)] for column in range(len(tableau[0]))]


def is_standard(tableau):
    flat = [entry for row in tableau for entry in row]
    return (
        sorted(flat) == list(range(1, len(flat) + 1))
        and all(row == sorted(row) for row in tableau)
        and all(column == sorted(column) for column in transpose(tableau))
    )


def longest_monotone(word, sign):
    return max(
        size
        for size in range(1, len(word) + 1)
        for chosen in combinations(word, size)
        if list(chosen) == sorted(chosen, reverse=sign < 0)
    )


def published_tokens(P, Q, length):
    """As the published loader does it: the printed pair, with "[" and "]" replaced."""
    n = sum(map(len, P))
    text = str([P, Q]).replace("[", "0,").replace("]", f",{n + 1}")
    row = [int(word) for word in text.split(",") if word.strip()]
    return row + [n + 2] * (length - len(row))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_bijection_onto_pairs_of_standard_tableaux(n):
    pairs = set()
    for word in permutations(range(1, n + 1)):
        P, Q = rsk.rsk(word)
        assert list(map(len, P)) == list(map(len, Q))
        assert is_standard(P)
        assert is_standard(Q)
        assert rsk.inverse_rsk(P, Q) == word
        pairs.add(str((P, Q)))
    assert len(pairs) == factorial(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_schensted_s_theorem(n):
    """The first row is as long as the longest increasing subsequence, the first column as the decreasing one."""
    for word in permutations(range(1, n + 1)):
        P, _ = rsk.rsk(word)
        assert len(P[0]) == longest_monotone(word, 1)
        assert len(P) == longest_monotone(word, -1)


def test_oracle(oracle):
    for word, P, Q, inversions in oracle("rsk"):
        assert rsk.rsk(word) == (P, Q)
        assert rsk.inverse_rsk(P, Q) == tuple(word)
        assert rsk.inversion_vector(word) == tuple(inversions)
        X, y = rsk.encoded([word])
        assert list(rsk.bracketed(P, Q)) == X[0].tolist() == published_tokens(P, Q, 6 * len(word) + 6)
        assert y.tolist() == [inversions]
        assert rsk.permutations_of(inversions).tolist() == word


@given(word=words)
def test_symmetries_of_tableaux(word):
    P, Q = rsk.rsk(word)
    inverse = [word.index(value) + 1 for value in range(1, len(word) + 1)]
    assert rsk.rsk(inverse) == (Q, P)
    assert rsk.rsk(word[::-1])[0] == transpose(P)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_rows_are_all_permutations_in_lexicographic_order(n, generated):
    rows = generated("rsk", n)
    every = list(permutations(range(1, n + 1)))
    assert rows.X.shape == (len(every), 6 * n + 6)
    assert rsk.permutations_of(rows.y).tolist() == list(map(list, every))
    for word, x, y in list(zip(every, rows.X, rows.y, strict=True))[:: 1 if n < 7 else 17]:
        assert x.tolist() == published_tokens(*rsk.rsk(word), 6 * n + 6)
        assert y.tolist() == list(rsk.inversion_vector(word))
    assert len(np.unique(rows.X, axis=0)) == len(every)


def test_split_is_that_of_numpy_s_seed_32(generated):
    """As the released notebook draws it: a list of indices is shuffled."""
    indices = list(range(factorial(6)))
    np.random.RandomState(32).shuffle(indices)
    rows = generated("rsk", 6)
    assert sorted(indices[576:]) == np.flatnonzero(rows.test).tolist()
    split = split_rows(rows, np.random.default_rng(5), stratify=False)
    assert ((split == TEST) == rows.test).all()
    assert np.bincount(split).tolist() == [518, 58, 144]


def test_symmetries_act_on_permutations(generated):
    n = 5
    rows = generated("rsk", n)
    every = rsk.permutations_of(rows.y)
    assert (rsk.permutations_of(rsk.inverse(rows.X, rows.y)[1]) == np.argsort(every, axis=1) + 1).all()
    assert (rsk.permutations_of(rsk.reversal(rows.X, rows.y)[1]) == every[:, ::-1]).all()
    X, y = rows.X, rows.y
    for _ in range(4):  # inverse and reversal generate the dihedral group of eight
        X, y = rsk.inverse(*rsk.reversal(X, y))
    assert (X == rows.X).all()
    assert (y == rows.y).all()


def test_cues(generated):
    n = 6
    rows = generated("rsk", n)
    number, descents = rsk.number_of_rows(rows.X), rsk.descents_of_recording_tableau(rows.X)
    pairs = list(combinations(range(1, n + 1), 2))
    words = rsk.permutations_of(rows.y)
    for word, y, count, mask in zip(words[::7], rows.y[::7], number[::7], descents[::7], strict=True):
        assert len(rsk.rsk(word)[0]) == count
        for i in range(1, n):
            assert mask >> (i - 1) & 1 == y[pairs.index((i, i + 1))]
    assert set(rsk.TASK.cues) == {"number of rows", "descents of Q"}


def test_symmetries_of_shapes_that_do_not_belong_together():
    X, y = rsk.encoded([[3, 1, 2], [1, 2, 3]])
    for symmetry in (rsk.inverse, rsk.reversal):
        for pair in ((X, y[:1]), (X[:, :-1], y), (X, y[:, :1]), (X, y[0]), (X[0], y), (X.astype(float), y)):
            with pytest.raises(EncodingError):
                symmetry(*pair)


def test_the_view_of_cells_by_the_insertion():
    words = list(permutations(range(1, 6)))
    seen = rsk.TASK.views["cells"].rows(rsk.encoded(words)[0])
    for word, numbers in zip(words, seen.reshape(-1, 2, 2, 5).tolist(), strict=True):
        for tableau, (rows, columns) in zip(rsk.rsk(word), numbers, strict=True):
            for i, row in enumerate(tableau):
                for j, entry in enumerate(row):
                    assert (rows[entry - 1], columns[entry - 1]) == (i, j)
