"""Lattice paths: pairs of which the second covers the first in the matching order or in the Lagrange order.

A lattice path is a word of n ones (a step east) and n-1 zeros (a step north) in which every prefix but the empty one
has more ones than zeros; there are Catalan(n-1) of them. A pair of equal neighbours contributes 1, 1 to its continued
fraction, a pair of different ones 2. Schiffler ("Perfect matching problems in cluster algebras and number theory",
arXiv:2302.02185) orders the paths by two numbers:

- the matching number, the numerator of the continued fraction: it counts the perfect matchings of a snake graph;
- the Lagrange number of the purely periodic continued fraction [2, c_1, ..., c_k], the greatest √D/q over its
  rotations; here p/q and r/s are the last and the last but one convergent of a rotation, and D = (p - s)² + 4qr.

Paths of equal number form a class; a path covers those of the class just below its own. An example is a lower path and
a path that covers it, tokens 0 and 1, length 2(2n-1). Label 0 ("matching") is a cover of the matching order, label 1
("lagrange") one of the Lagrange order; so the published README, while the published loader has them the other way
round. Lower paths that some path covers in both orders are left out, and so is 1^n 0^(n-1), the top of the matching
order. Examples are sorted by label, lower path and upper path. The least n with an example is 4.

The split is the published one: ⌈0.8 N⌉ of the N paths, drawn with NumPy's seed 32, and pairs follow their lower path.
The paths chosen for validation are drawn from the others, again with all their pairs.

Editions:

- `published`: the released generator sorts the classes of equal Lagrange number by their least path, not by Lagrange
  number (the sort key takes the path where it wants the number). Its "Lagrange covers" are neighbours in a
  lexicographic order, few of them covers of the Lagrange order, and they share longer prefixes than the matching covers
  do: for n = 10, ..., 13 8.0 to 10.1 steps on the average, against 4.6 to 4.7. This rule gives the published counts.
- `corrected`: the classes are sorted by Lagrange number.

No symmetry of the examples keeps all labels. One keeps those of the corrected Lagrange covers: the 2 closes the word w
to a cycle (its last letter is 0, its first 1), so the Lagrange number belongs to the cyclic word, and it is the same
for the reversed cycle. By the cycle lemma one rotation of a cyclic word is a lattice path. So each path has a partner
of equal Lagrange number. (For n <= 14 no further path has the same; for n = 15 there is one class of four.) But the
partner has another matching number in general, so its matching covers are other paths.

Both orders at once. Write e = 1 for a pair of equal neighbours in a path and e = 0 for a pair of different ones. The
continued fraction's share of the pair, 1, 1 or 2, has the matrix [[2, 1], [1, e]], for [[1, 1], [1, 0]]² = [[2, 1], [1,
1]]. A product of such matrices is [[p, r], [q, s]] with p/q and r/s the last two convergents, and its entries are at
most 3^k for k factors, as no row or column of a factor sums to more than 3: for n <= 19 all that is computed here fits
in int64.
"""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.acd.facts import described
from adelic.acd.permutations import Int8, Int64
from adelic.data.protocol import Estimate, Integers, Request, Rows, Task
from adelic.data.splits import published_test

Indices = NDArray[np.intp]


# All paths of a size at once


def all_paths(n: int) -> Int8:
    """Return all lattice paths with n ones and n-1 zeros, in ascending lexicographic order.

    They are int8, (Catalan(n-1), 2n-1).

    >>> all_paths(3).tolist()
    [[1, 1, 0, 1, 0], [1, 1, 1, 0, 0]]
    """
    paths = np.ones((1, 1), np.int8)
    excess = np.ones(1, np.int64)  # ones less zeros
    for size in range(1, 2 * n - 1):
        may_go_north = excess >= 2
        may_go_east = (size + excess) // 2 < n  # the number of ones
        # Every prefix can be completed, and the child that goes north comes first.
        children = may_go_north.astype(np.int64) + may_go_east
        step = np.ones(int(children.sum()), np.int8)
        step[(np.cumsum(children) - children)[may_go_north]] = 0
        paths = np.concatenate([np.repeat(paths, children, axis=0), step[:, None]], axis=1)
        excess = np.repeat(excess, children) + 2 * step - 1
    return paths


def numbers(paths: Int8) -> tuple[Int64, Int64, Int64]:
    """Return matching numbers m, and t and q such that the Lagrange numbers are √(t² - 4)/q.

    The discriminant (p - s)² + 4qr is (p + s)² - 4(ps - qr): the trace p + s is the same for all rotations, and so is
    the determinant ps - qr, which is 1, as the number of 2s is even. So the greatest √D/q has the least q.

    A rotation that starts at the second 1 of a pair need not be looked at: its √D/q is the sum of [1; c, ...] and
    [0; 1, ...], less than 1.75 + 0.75, while a start at a 2 gives more than 2 + 1/3 + 1/3.

    Args:
        paths: all of the same n >= 2, shape (paths, 2n-1).

    >>> m, t, q = numbers(all_paths(3))
    >>> m.tolist(), [(t * t - 4, q) for t, q in zip(t.tolist(), q.tolist())]
    ([29, 31], [(7565, 29), (9797, 31)])
    """
    equal = (paths[:, 1:] == paths[:, :-1]).T.astype(np.int64)
    p, r, q, s = (np.full(len(paths), entry, np.int64) for entry in (1, 0, 0, 1))
    for e in equal:
        p, r, q, s = 2 * p + r, p + e * r, 2 * q + s, q + e * s
    matching = p
    p, r, q, s = 2 * p + q, 2 * r + s, p, r  # the 2 before the continued fraction
    trace, least = p + s, q
    for e in (np.zeros_like(q), *equal):
        # From one rotation to the next: B^-1 M B with B = [[2, 1], [1, e]], det B = 2e - 1.
        p, r, q, s = 2 * p + r, p + e * r, 2 * q + s, q + e * s
        sign = 2 * e - 1
        p, r, q, s = sign * (e * p - q), sign * (e * r - s), sign * (2 * q - p), sign * (2 * s - r)
        least = np.minimum(least, q)
    return matching, trace, least


def matching_ranks(matching: Int64) -> Indices:
    """Return for each path the index of its class in the matching order, from 0.

    >>> matching_ranks(np.array([31, 29, 31])).tolist()
    [1, 0, 1]
    """
    return np.unique(matching, return_inverse=True)[1]


def lagrange_ranks(trace: Int64, least: Int64) -> Indices:
    """Return for each path the index of its class in the Lagrange order, from 0.

    Two different numbers (t² - 4)/q² differ by at least 1/(q² q'²). Multiplied by a power of 2 beyond every q² q'² they
    differ by more than 1, so rounded down they still are different and in order; equal ones stay equal.

    >>> lagrange_ranks(np.array([99, 87, 99]), np.array([31, 29, 31])).tolist()
    [1, 0, 1]
    """
    _, inverse, pairs = _classes(trace, least)
    bits = 4 * int(least.max()).bit_length()
    squares = [((t * t - 4) << bits) // (q * q) for t, q in pairs]
    return np.unique(np.array(squares, dtype=object), return_inverse=True)[1][inverse]


def lagrange_ranks_by_path(trace: Int64, least: Int64) -> Indices:
    """Return for each path the index of its class among the Lagrange classes sorted by their first path, from 0.

    This is the released generator's slip.

    >>> lagrange_ranks_by_path(np.array([99, 87, 99]), np.array([31, 29, 31])).tolist()
    [0, 1, 0]
    """
    first, inverse, _ = _classes(trace, least)
    return np.unique(first, return_inverse=True)[1][inverse]


def _classes(trace: Int64, least: Int64) -> tuple[Indices, Indices, list[list[int]]]:
    """Return the distinct (t, q) as Python ints, the first path of each, and for each path the index of its own."""
    pairs, first, inverse = np.unique(np.stack([trace, least], axis=1), axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1), pairs.tolist()


def cover_pairs(ranks: Indices) -> tuple[Indices, Indices]:
    """Return all pairs of paths of which the second is one class above the first.

    Args:
        ranks: the index of each path's class, shape (paths,).

    Returns:
        Indices of the lower and of the upper paths, ascending by lower, then by upper path.

    >>> [indices.tolist() for indices in cover_pairs(np.array([1, 0, 2, 1]))]
    [[0, 1, 1, 3], [2, 0, 3, 2]]
    """
    members = np.argsort(ranks, kind="stable")
    sizes = np.append(np.bincount(ranks), 0)  # above the last class there is none
    starts = np.cumsum(sizes) - sizes
    counts = sizes[ranks + 1]
    lower = np.repeat(np.arange(len(ranks)), counts)
    place = np.arange(len(lower)) - np.repeat(np.cumsum(counts) - counts, counts)
    return lower, members[starts[ranks[lower] + 1] + place]


def covers_in_one_order(
    matching: Indices, lagrange: Indices
) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
    """Return the covers of the matching order and of the Lagrange order, without the dropped lower paths.

    Dropped are the last path, 1^n 0^(n-1), and whatever path has a cover that it shares in both orders. Arguments are
    the places of all paths, in ascending lexicographic order, in the two orders.

    >>> covers_in_one_order(np.array([0, 1, 2]), np.array([1, 0, 2]))
    ((array([0, 1]), array([1, 2])), (array([0, 1]), array([2, 0])))
    """
    paths = len(matching)
    in_matching, in_lagrange = cover_pairs(matching), cover_pairs(lagrange)
    shared = np.intersect1d(_codes(in_matching, paths), _codes(in_lagrange, paths), assume_unique=True)
    kept = np.ones(paths, np.bool_)
    kept[shared // paths] = False
    kept[-1] = False
    (m_lower, m_upper), (l_lower, l_upper) = in_matching, in_lagrange
    m_kept, l_kept = kept[m_lower], kept[l_lower]
    return (m_lower[m_kept], m_upper[m_kept]), (l_lower[l_kept], l_upper[l_kept])


def _codes(pairs: tuple[Indices, Indices], paths: int) -> NDArray[np.integer[Any]]:
    lower, upper = pairs
    return lower * paths + upper


LABELS = ("matching", "lagrange")

# By enumeration, n = 4, 5, ...
ROW_COUNTS = {
    "published": (2, 27, 101, 351, 1214, 4127, 14296, 49807, 175267, 621738, 2224308, 8013974),
    "corrected": (2, 26, 91, 319, 1139, 4011, 13982, 49231, 174062, 619240, 2218271, 8000366),
}
# Beyond the table there are somewhat fewer than 3 examples per path: at least 2.87 for n = 10 and 2.99 for n = 15.
LEAST_ROWS_PER_PATH = 2.98

# Measured at the peak of a build, with the Parquet file, written by groups of rows, and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 50
PEAK_BYTES_PER_TOKEN = 3
PEAK_BYTES_PER_WRITTEN_ROW = 400


def heights(X: Integers) -> Integers:
    """Return for each example the heights of its two paths after each step, and their differences.

    From (examples, 2(2n - 1)) to (examples, 3(2n - 1)): heights of the first path, of the second, and second less
    first.

    >>> heights(np.array([[1, 1, 0, 1, 0, 1, 1, 1, 0, 0]])).tolist()
    [[1, 2, 1, 2, 1, 1, 2, 3, 2, 1, 0, 0, 2, 0, 0]]
    """
    paths = (2 * X.reshape(len(X), 2, -1) - 1).astype(np.int8).cumsum(axis=2, dtype=np.int8)
    return np.concatenate([paths[:, 0], paths[:, 1], paths[:, 1] - paths[:, 0]], axis=1)


def common_prefix(X: Integers) -> Integers:
    """Return for each example how many first steps its two paths share.

    Args:
        X: the lower path, then the upper one, shape (examples, 2(2n-1)).

    >>> common_prefix(np.array([[1, 1, 0, 1, 0, 1, 1, 1, 0, 0]])).tolist()
    [2]
    """
    steps = X.shape[1] // 2
    return np.asarray(np.logical_and.accumulate(X[:, :steps] == X[:, steps:], axis=1).sum(axis=1))


# The dataset


def _ranks(paths: NDArray[np.int8], edition: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for each path the index of its class in the matching order and in the Lagrange order of the edition."""
    matching, trace, least = numbers(paths)
    in_order = lagrange_ranks_by_path if edition == "published" else lagrange_ranks
    return matching_ranks(matching), in_order(trace, least)


def _generate(request: Request) -> Rows:
    request.report(0, 3, "paths")
    paths = all_paths(request.n)
    request.report(1, 3, "orders")
    ranks = _ranks(paths, request.edition)
    request.report(2, 3, "covers")
    kept = covers_in_one_order(*ranks)
    lower, upper = (np.concatenate(indices) for indices in zip(*kept, strict=True))
    labels = np.repeat(np.array([0, 1], np.int8), [len(indices) for indices, _ in kept])
    X = np.concatenate([paths[lower], paths[upper]], axis=1)
    request.report(3, 3, "covers")
    return Rows(X, labels, test=published_test(len(paths))[lower], groups=lower)


def _tally(rows: Rows) -> dict[str, int]:
    assert rows.test is not None
    return {
        f"{name} {split}": int(np.count_nonzero((rows.y == label) & (rows.test == is_test)))
        for label, name in enumerate(LABELS)
        for split, is_test in (("train", False), ("test", True))
    }


def _estimate(n: int, edition: str) -> Estimate:
    """Return the number of examples, exact in the table; from n = 40 on the number for 40."""
    counts = ROW_COUNTS[edition]
    size = min(n, 40)
    exact = size - 4 < len(counts)
    paths = comb(2 * size - 2, size - 1) // size
    rows = counts[size - 4] if exact else int(LEAST_ROWS_PER_PATH * paths)
    row_bytes = PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * 2 * (2 * size - 1)
    return Estimate(rows, rows * row_bytes + min(rows, 1 << 20) * PEAK_BYTES_PER_WRITTEN_ROW, exact=exact)


TASK = Task(
    **described("lattice", heights=(heights, lambda n: (*range(-n, n + 1),))),
    version=1,
    minimum=4,
    maximum=19,  # int64 holds all that is computed
    class_names=lambda n, edition: LABELS,
    vocabulary=lambda n, edition: (0, 1),
    length=lambda n, edition: 2 * (2 * n - 1),
    estimate=_estimate,
    generate=_generate,
    cues={"length of the common prefix": common_prefix},
    tally=_tally,
)
