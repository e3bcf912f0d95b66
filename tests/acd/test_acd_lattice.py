from functools import cmp_to_key
from itertools import pairwise, product
from math import comb, sqrt

import numpy as np
import pytest

from adelic.acd import lattice
from adelic.data.splits import TRAIN, VALIDATION, split_rows


def is_path(word):
    """The definition: one 1 more than zeros, and more 1 than zeros in each prefix."""
    return 2 * sum(word) == len(word) + 1 and all(2 * sum(word[:k]) > k for k in range(1, len(word) + 1))


def naive_paths(n):
    """All paths, word by word, in ascending lexicographic order."""
    return list(filter(is_path, product((0, 1), repeat=2 * n - 1)))


def continued_fraction(path):
    """1, 1 for every pair of equal neighbours, 2 for every pair of different ones."""
    return [term for one, other in pairwise(path) for term in ([1, 1] if one == other else [2])]


def convergents(terms):
    """The last and the last but one convergent of a continued fraction, as (numerator, denominator)."""
    p, q, r, s = 1, 0, 0, 1
    for term in terms:
        p, q, r, s = term * p + r, term * q + s, p, q
    return (p, q), (r, s)


def matching_number(path):
    return convergents(continued_fraction(path))[0][0]


def lagrange_number(path):
    """(D, q) such that √D/q is the greatest value over the rotations of [2, c_1, ..., c_k]."""
    terms, found = [2, *continued_fraction(path)], []
    for start in range(len(terms)):
        (p, q), (r, s) = convergents(terms[start:] + terms[:start])
        found.append(((p - s) ** 2 + 4 * q * r, q))
    return max(found, key=cmp_to_key(compare_lagrange))


def classes(paths, number, compare=None):
    """Lists of paths of equal number, ascending."""
    by_number = {}
    for path in paths:
        by_number.setdefault(number(path), []).append(path)
    key = None if compare is None else cmp_to_key(compare)
    return [by_number[value] for value in sorted(by_number, key=key)]


def compare_lagrange(one, other):
    left, right = one[0] * other[1] ** 2, other[0] * one[1] ** 2
    return (left > right) - (left < right)


def naive_rows(n, edition):
    """Lower and upper paths by label, from the rule as ACD describes it."""
    paths = naive_paths(n)
    matching = classes(paths, matching_number)
    lagrange = classes(paths, lagrange_number, compare_lagrange)
    if edition == "published":
        lagrange.sort(key=min)
    above = []
    for ordered in (matching, lagrange):
        upper = {p: higher for lower, higher in pairwise(ordered) for p in lower}
        above.append({p: set(upper.get(p, [])) for p in paths})
    top = (1,) * n + (0,) * (n - 1)
    kept = [p for p in paths if p != top and not above[0][p] & above[1][p]]
    return {(p, q, label) for label in (0, 1) for p in kept for q in above[label][p]}


def reversed_cycle(path):
    """The lattice path among the rotations of the reversed word."""
    word = tuple(path)[::-1]
    (found,) = {r for k in range(len(word)) if is_path(r := word[k:] + word[:k])}
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_paths_are_those_of_the_definition(n):
    paths = lattice.all_paths(n)
    assert [tuple(path) for path in paths.tolist()] == naive_paths(n)
    assert len(paths) == comb(2 * n - 2, n - 1) // n


def test_oracle(oracle):
    for path, matching, D, q in oracle("lattice"):
        assert matching_number(path) == matching
        assert lagrange_number(path) == (D, q)
        m, t, least = lattice.numbers(np.array([path], np.int8))
        assert (m[0], int(t[0]) ** 2 - 4, least[0]) == (matching, D, q)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8])
def test_numbers_of_all_paths(n):
    """All at once, one at a time, and the Lagrange number as the greatest [a_i; ...] + [0; a_(i-1), ...] in floats."""
    paths = lattice.all_paths(n)
    for path, m, t, q in zip(paths, *lattice.numbers(paths), strict=True):
        assert matching_number(path) == m
        D, least = lagrange_number(path)
        assert (int(t) ** 2 - 4, q) == (D, least)
        terms = [2, *continued_fraction(path)] * 40
        period = len(terms) // 40
        values = [
            evaluated(terms[start : start + 40]) + 1 / evaluated(terms[start - 1 : start - 41 : -1])
            for start in range(20 * period, 21 * period)
        ]
        assert max(values) == pytest.approx(sqrt(D) / q, rel=1e-12)


def evaluated(terms):
    value = float(terms[-1])
    for term in terms[-2::-1]:
        value = term + 1 / value
    return value


def test_lagrange_ranks_of_numbers_that_floats_do_not_tell_apart():
    """Both quotients are below 3 by about 1e-17, and a float rounds both to 3."""
    t, q = np.array([3 * 10**17 - 1, 3 * 10**17 - 4, 6 * 10**17 - 2]), np.array([10**17, 10**17 - 1, 2 * 10**17])
    squares = [(a * a - 4, b * b) for a, b in zip(t.tolist(), q.tolist(), strict=True)]
    assert len({sqrt(D / q) for D, q in squares}) == 1
    expected = sorted(range(3), key=cmp_to_key(lambda i, j: compare_squares(squares[i], squares[j])))
    assert lattice.lagrange_ranks(t, q)[expected].tolist() == [0, 1, 2]


def compare_squares(one, other):
    left, right = one[0] * other[1], other[0] * one[1]
    return (left > right) - (left < right)


def test_equal_lagrange_numbers_of_different_discriminant_are_one_class():
    """√5/1 = √45/3 = √320/8; the released generator compares the pairs and so keeps them apart."""
    t, q = np.array([3, 7, 18]), np.array([1, 3, 8])
    assert [(a * a - 4, b) for a, b in zip(t.tolist(), q.tolist(), strict=True)] == [(5, 1), (45, 3), (320, 8)]
    assert lattice.lagrange_ranks(t, q).tolist() == [0, 0, 0]
    assert lattice.lagrange_ranks_by_path(t, q).tolist() == [0, 1, 2]


@pytest.mark.parametrize("edition", ["published", "corrected"])
@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_rows_are_those_of_the_definition(n, edition, generated):
    rows = generated("lattice", n, edition)
    steps = 2 * n - 1
    found = [(tuple(x[:steps]), tuple(x[steps:]), y) for x, y in zip(rows.X.tolist(), rows.y.tolist(), strict=True)]
    assert set(found) == naive_rows(n, edition)
    assert found == sorted(found, key=lambda row: (row[2], row[0], row[1]))


@pytest.mark.parametrize("edition", ["published", "corrected"])
def test_estimate_is_exact(edition, generated):
    for n in range(4, 14):
        estimate = lattice.TASK.estimate(n, edition)
        assert estimate.exact
        assert estimate.rows == len(generated("lattice", n, edition).y)
    beyond = [lattice.TASK.estimate(n, edition) for n in (16, 19, 40, 10**9)]
    assert not any(estimate.exact for estimate in beyond)
    assert [estimate.rows for estimate in beyond] == sorted(estimate.rows for estimate in beyond)
    for n in (14, 15):  # what stands for the rows beyond the table is right where it can be compared
        paths = comb(2 * n - 2, n - 1) // n
        assert lattice.LEAST_ROWS_PER_PATH * paths < lattice.TASK.estimate(n, edition).rows < 3 * paths


@pytest.mark.parametrize("edition", ["published", "corrected"])
def test_pairs_follow_their_lower_path(edition, generated):
    n = 10
    rows = generated("lattice", n, edition)
    split = split_rows(rows, np.random.default_rng(0))
    by_lower = {}
    for x, part in zip(rows.X[:, : 2 * n - 1].tolist(), split.tolist(), strict=True):
        by_lower.setdefault(tuple(x), set()).add(part)
    assert all(len(parts) == 1 for parts in by_lower.values())
    lower = [sum(part in parts for parts in by_lower.values()) for part in (TRAIN, VALIDATION)]
    assert lower[1] == (sum(lower) + 5) // 10


def test_published_split_is_that_of_numpy_s_seed_32(generated):
    """Word by word as the released notebook draws it."""
    n = 7
    paths = naive_paths(n)
    indices = list(range(len(paths)))
    np.random.RandomState(32).shuffle(indices)
    train = {paths[i] for i in indices[: int(np.ceil(len(paths) * 0.8))]}
    rows = generated("lattice", n)
    assert [tuple(x[: 2 * n - 1]) not in train for x in rows.X.tolist()] == rows.test.tolist()


@pytest.mark.parametrize("n", [4, 7, 10])
def test_reversed_cycles_have_equal_lagrange_numbers_and_nothing_else_has(n):
    paths = lattice.all_paths(n)
    _, t, q = lattice.numbers(paths)
    ranks = lattice.lagrange_ranks(t, q)
    members = {}
    for path, rank in zip(paths.tolist(), ranks.tolist(), strict=True):
        members.setdefault(rank, set()).add(tuple(path))
    for path, rank in zip(paths.tolist(), ranks.tolist(), strict=True):
        assert members[rank] == {tuple(path), reversed_cycle(path)}


def test_common_prefix_cue(generated):
    """Long in the published Lagrange covers, no longer than in the matching covers in the corrected ones."""
    n = 10
    steps = 2 * n - 1
    means = {}
    for edition in ("published", "corrected"):
        rows = generated("lattice", n, edition)
        for cue in lattice.TASK.cues.values():
            lengths = cue(rows.X)
            for x, length in zip(rows.X[::97].tolist(), lengths[::97].tolist(), strict=True):
                assert x[:length] == x[steps : steps + length]
                assert x[length] != x[steps + length]
        means[edition] = [lengths[rows.y == label].mean() for label in (0, 1)]
    assert means["published"][1] > 1.5 * means["published"][0]
    assert abs(means["corrected"][1] - means["corrected"][0]) < 0.5


def test_published_lagrange_covers_are_rarely_covers_of_the_lagrange_order(generated):
    n = 10
    paths = lattice.all_paths(n)
    _, t, q = lattice.numbers(paths)
    lower, upper = lattice.cover_pairs(lattice.lagrange_ranks(t, q))
    true_covers = set(zip(map(bytes, paths[lower]), map(bytes, paths[upper]), strict=True))
    rows = generated("lattice", n)
    pairs = rows.X[rows.y == 1].reshape(-1, 2, 2 * n - 1)
    share = np.mean([(bytes(p), bytes(q)) in true_covers for p, q in pairs])
    assert 0 < share < 0.01
