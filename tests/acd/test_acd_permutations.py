from itertools import permutations

import numpy as np
import pytest

from adelic.acd import permutations as many
from adelic.acd.permutations import length, padded, read_permutation, symmetric_group, trimmed


def test_numpy_arrays_are_read_as_ints():
    entries = read_permutation(np.array([2, 1, 3], np.int8))
    assert entries == (2, 1, 3)
    assert all(type(entry) is int for entry in entries)


def test_length_is_the_least_number_of_adjacent_transpositions():
    identity = (1, 2, 3, 4)
    distance, reached = {identity: 0}, [identity]
    for w in reached:  # grows while it is walked: breadth-first search
        for i in range(3):
            swapped = (*w[:i], w[i + 1], w[i], *w[i + 2 :])
            if swapped not in distance:
                distance[swapped] = distance[w] + 1
                reached.append(swapped)
    assert distance == {w: length(w) for w in permutations(identity)}


def test_padding_and_trimming_are_inverse():
    for w in permutations(range(1, 5)):
        assert padded(trimmed(w), 4) == w
    assert trimmed(()) == ()


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_the_symmetric_group_is_in_lexicographic_order(n):
    assert list(map(tuple, symmetric_group(n).tolist())) == list(permutations(range(n)))


def bruhat_relations(n):
    """All pairs u <= w, as the definition has it: w is reached from u by transpositions that raise the length."""
    above = {}
    for u in sorted(permutations(range(1, n + 1)), key=length, reverse=True):
        above[u] = {u}
        for i in range(n):
            for j in range(i + 1, n):
                if u[i] < u[j]:
                    above[u] |= above[(*u[:i], u[j], *u[i + 1 : j], u[i], *u[j + 1 :])]
    return above


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_bruhat_order(n, first):
    group = symmetric_group(n) + first
    below = many.bruhat_below(group[:, None], group[None])
    above = bruhat_relations(n)
    listed = list(permutations(range(1, n + 1)))
    assert below.tolist() == [[w in above[u] for w in listed] for u in listed]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_codes_lengths_and_descents(n):
    group = symmetric_group(n)
    for w, code, inversions, descents in zip(
        group.tolist(),
        many.lehmer_codes(group).tolist(),
        many.lengths(group).tolist(),
        many.descent_sets(group).tolist(),
        strict=True,
    ):
        assert code == [sum(later < entry for later in w[i:]) for i, entry in enumerate(w)]
        assert inversions == length(tuple(w)) == sum(code)
        assert descents == sum(2**i for i in range(n - 1) if w[i] > w[i + 1])


@pytest.mark.parametrize("first", [0, 1])
def test_inverses(first):
    group = symmetric_group(4) + first
    composed = np.take_along_axis(group, many.inverses(group), axis=1)
    assert (composed == np.arange(first, first + 4)).all()


def test_batch_axes():
    w = symmetric_group(4)[:6].reshape(2, 3, 4)
    assert many.lehmer_codes(w).shape == many.top_exponents(w).shape == (2, 3, 4)
    assert many.lengths(w).shape == many.descent_sets(w).shape == (2, 3)
    assert many.lengths(w[0, 0]).shape == ()
    assert many.bruhat_below(w[0, 0], w).shape == (2, 3)
