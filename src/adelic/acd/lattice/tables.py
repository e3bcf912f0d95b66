"""Both orders on all lattice paths at once, and their cover relations. Everything is exact.

Write e = 1 for a pair of equal neighbours in a path and e = 0 for a pair of different ones. The continued fraction's
share of the pair, 1, 1 or 2, has the matrix [[2, 1], [1, e]], for [[1, 1], [1, 0]]² = [[2, 1], [1, 1]]. A product of
such matrices is [[p, r], [q, s]] with p/q and r/s the last two convergents, and its entries are at most 3^k for k
factors, as no row or column of a factor sums to more than 3: for n <= 19 all that is computed here fits in int64.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]
Indices = NDArray[np.intp]


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
    """Return for each path the place of its class in the matching order, from 0.

    >>> matching_ranks(np.array([31, 29, 31])).tolist()
    [1, 0, 1]
    """
    return np.unique(matching, return_inverse=True)[1]


def lagrange_ranks(trace: Int64, least: Int64) -> Indices:
    """Return for each path the place of its class in the Lagrange order, from 0.

    Two different numbers (t² - 4)/q² differ by at least 1/(q² q'²). Multiplied by a power of 2 beyond every q² q'² they
    differ by more than 1, so that rounded down they still are different and in order; equal ones stay equal.

    >>> lagrange_ranks(np.array([99, 87, 99]), np.array([31, 29, 31])).tolist()
    [1, 0, 1]
    """
    _, inverse, pairs = _classes(trace, least)
    bits = 4 * int(least.max()).bit_length()
    squares = [((t * t - 4) << bits) // (q * q) for t, q in pairs]
    return np.unique(np.array(squares, dtype=object), return_inverse=True)[1][inverse]


def lagrange_ranks_by_path(trace: Int64, least: Int64) -> Indices:
    """Return for each path the place of its class among the Lagrange classes sorted by their first path, from 0.

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


def covers(ranks: Indices) -> tuple[Indices, Indices]:
    """Return all pairs of paths of which the second is one class above the first.

    Args:
        ranks: the place of each path's class, shape (paths,).

    Returns:
        Indices of the lower and of the upper paths, ascending by lower, then by upper path.

    >>> [indices.tolist() for indices in covers(np.array([1, 0, 2, 1]))]
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
    in_matching, in_lagrange = covers(matching), covers(lagrange)
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
