from itertools import permutations

import numpy as np
import pytest

from adelic.acd.permutations import length, padded, read_permutation, trimmed
from adelic.errors import EncodingError


@pytest.mark.parametrize("values", [[1, 1], [0, 1], [2], [1.0, 2.0], [True, 2], "12", 12, None, [1, None], [[1], [2]]])
def test_what_is_no_permutation_raises(values):
    with pytest.raises(EncodingError):
        read_permutation(values)


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
