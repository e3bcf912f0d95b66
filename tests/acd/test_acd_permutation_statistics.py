from itertools import permutations

import numpy as np
import pytest

from adelic.acd import permutations as one_at_a_time
from adelic.acd.kl import statistics


def symmetric_group(n, first=1):
    return np.array(list(permutations(range(first, first + n))), np.int8)


def bruhat_relations(n):
    """All pairs u <= w, as the definition has it: w is reached from u by transpositions that raise the length."""
    above = {}
    for u in sorted(permutations(range(1, n + 1)), key=one_at_a_time.length, reverse=True):
        above[u] = {u}
        for i in range(n):
            for j in range(i + 1, n):
                if u[i] < u[j]:
                    above[u] |= above[(*u[:i], u[j], *u[i + 1 : j], u[i], *u[j + 1 :])]
    return above


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_bruhat_order(n, first):
    group = symmetric_group(n, first)
    below = statistics.bruhat_below(group[:, None], group[None])
    above = bruhat_relations(n)
    listed = list(permutations(range(1, n + 1)))
    assert below.tolist() == [[w in above[u] for w in listed] for u in listed]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_codes_lengths_and_descents(n):
    group = symmetric_group(n)
    for w, code, length, descents in zip(
        group.tolist(),
        statistics.lehmer_codes(group).tolist(),
        statistics.lengths(group).tolist(),
        statistics.descent_sets(group).tolist(),
        strict=True,
    ):
        assert code == [sum(later < entry for later in w[i:]) for i, entry in enumerate(w)]
        assert length == one_at_a_time.length(tuple(w)) == sum(code)
        assert descents == sum(2**i for i in range(n - 1) if w[i] > w[i + 1])


@pytest.mark.parametrize("first", [0, 1])
def test_inverses(first):
    group = symmetric_group(4, first)
    composed = np.take_along_axis(group, statistics.inverses(group), axis=1)
    assert (composed == np.arange(first, first + 4)).all()


def test_batch_axes():
    w = symmetric_group(4)[:6].reshape(2, 3, 4)
    assert statistics.lehmer_codes(w).shape == statistics.top_exponents(w).shape == (2, 3, 4)
    assert statistics.lengths(w).shape == statistics.descent_sets(w).shape == (2, 3)
    assert statistics.lengths(w[0, 0]).shape == ()
    assert statistics.bruhat_below(w[0, 0], w).shape == (2, 3)
