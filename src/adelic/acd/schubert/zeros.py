"""The `corrected` edition of the Schubert data: zeros that meet the conditions which every nonzero constant meets.

Conditions on (u, v, w) that c(u, v, w) > 0 implies, all read off the permutations at once:

1. length: ℓ(w) = ℓ(u) + ℓ(v), since S_w is homogeneous of degree ℓ(w);
2. descents: every descent of w is one of u or of v, because if i is none of u or v, S_u S_v is symmetric in x_i
   and x_(i+1), and so is each S_w in it;
3. Bruhat order: u <= w and v <= w;
4. size: w lies in S_(a+b-1) if u is in S_a and v in S_b;
5. prefixes: for every k, with b_k and t_k the number of crosses in the first k rows of the bottom and of the top pipe
   dream, b_k(w) >= b_k(u) + b_k(v) and t_k(w) <= t_k(u) + t_k(v). For k = 1 the first says w(1) >= u(1) + v(1) - 1.

Why 5: the monomials of S_w are the rows of its reduced pipe dreams, all of which are reached from the bottom one by
ladder moves, which carry a cross to an earlier row, and from the top one by chute moves, which carry one to a later row
(Bergeron and Billey, "RC-graphs and Schubert polynomials", 1993). So the degree in x_1, ..., x_k of any monomial of S_w
is from b_k(w) to t_k(w), and both occur. Since no constant is negative, S_u S_v has all monomials of S_w; and its own
have degrees from b_k(u) + b_k(v) to t_k(u) + t_k(v). b_k is the sum of the first k entries of the Lehmer code.

By 2 no descent of w comes after n - 1, so all w under consideration are (2n-1)!/n! permutations, 55,440 for n = 6:
those of S_(2n-1) whose entries from the n-th on ascend. The zeros among them meet 1 and 2, all of them; tier 0 meets
3, 4, 5 too, tier 1 meets 3 and 4, tier 2 not both of these. For each unordered pair {u, v} as many zeros are drawn as
it has nonzero constants, from tier 0 as long as it has any, then from tier 1, then from tier 2. Where a pair has fewer
zeros in all, it gives all, and pairs drawn at random from those that have zeros left give one more, so the totals
agree: 1,053 zeros for n = 4, of which 42 stand in for others in this way, 53,513 for n = 5, 5,254,103 for n = 6. (There
are 42 for the 43 nonzeros of n = 3, as no pair u = v has one left, and none for n = 2.) Both (u, v, w) and (v, u, w)
are examples, so the dataset is symmetric, and a model that reads only u and v gains nothing but by the few exceptions.

Groups: a pair {u, v} shares its split with its translates, (1 × u, 1 × v) and so on, and with their reversals (see
`schubert.reversed_points`), since these have the same constants.

The search is compiled: importing this module loads numba. Candidates w are given by their index, and permutations u, v
by their rank. Those for one pair (u, v) are scanned in two passes, which must see them alike: the first counts them
tier by tier, the second draws.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adelic.acd import permutations
from adelic.acd.permutations import Int8, Int64
from adelic.acd.schubert import tables
from adelic.data.protocol import Progress, Rows, silent
from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels import njit

TIERS = 3


class Statistics(NamedTuple):
    """What the tiers are decided by, for the candidates w and for the permutations of S_n.

    Attributes:
        members: the indices of the candidates, those of one length together and ascending.
        starts: where in `members` each length starts, and where the last one ends.
        below: (n!, candidates), whether u <= w.
        descents_w: (candidates,), descent sets; sizes_w: (candidates,), the greatest points moved, at least 1.
        bottom_w: (candidates, n-1), how many crosses the first k rows of the bottom pipe dream have; top_w: of the top.
        lengths_u, descents_u, sizes_u, bottom_u, top_u: the same for S_n, lengths_u the Coxeter lengths.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]
    below: NDArray[np.bool_]
    descents_w: NDArray[np.int64]
    sizes_w: NDArray[np.int64]
    bottom_w: NDArray[np.int64]
    top_w: NDArray[np.int64]
    lengths_u: NDArray[np.int64]
    descents_u: NDArray[np.int64]
    sizes_u: NDArray[np.int64]
    bottom_u: NDArray[np.int64]
    top_u: NDArray[np.int64]


@njit(cache=True)
def tier(s: Any, u: int, v: int, w: int) -> int:
    """Return the tier of w for (u, v), 0 the hardest; TIERS if it fails a condition that every zero must meet."""
    if s.descents_w[w] & ~(s.descents_u[u] | s.descents_u[v]):
        return TIERS
    if not (s.below[u, w] and s.below[v, w]) or s.sizes_w[w] > s.sizes_u[u] + s.sizes_u[v] - 1:
        return 2
    for k in range(s.bottom_w.shape[1]):
        if s.bottom_w[w, k] < s.bottom_u[u, k] + s.bottom_u[v, k] or s.top_w[w, k] > s.top_u[u, k] + s.top_u[v, k]:
            return 1
    return 0


@njit(cache=True)
def count_candidates(s: Any, u: int) -> NDArray[np.int64]:
    """Return how many w of length ℓ(u) + ℓ(v) are in each tier, for every v from u on: (n!, TIERS), 0 for v < u."""
    counts = np.zeros((len(s.lengths_u), TIERS), np.int64)
    for v in range(u, len(s.lengths_u)):
        total = s.lengths_u[u] + s.lengths_u[v]
        for w in s.members[s.starts[total] : s.starts[total + 1]]:
            found = tier(s, u, v, w)
            if found < TIERS:
                counts[v, found] += 1
    return counts


@njit(cache=True)
def draw_zeros(
    s: Any,
    u: int,
    nonzero_w: NDArray[np.int64],
    nonzero_starts: NDArray[np.int64],
    wanted: NDArray[np.int64],
    uniforms: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the drawn candidates for every v from u on, one v after the other, ascending for each.

    u is a rank. `nonzero_w` has the w with c(u, v, w) > 0, ascending for each v, which starts at `nonzero_starts`, (n!
    + 1,). Of each v as many zeros are drawn as are `wanted`, (n!,), at most as many as there are, by as many
    independent uniform numbers from [0, 1).
    """
    drawn = np.empty(len(uniforms), np.int64)
    filled = 0
    pools = np.empty((TIERS, len(s.members)), np.int64)
    for v in range(u, len(s.lengths_u)):
        if wanted[v] == 0:
            continue
        sizes = np.zeros(TIERS, np.int64)
        nonzero = nonzero_starts[v]
        total = s.lengths_u[u] + s.lengths_u[v]
        for w in s.members[s.starts[total] : s.starts[total + 1]]:
            if nonzero < nonzero_starts[v + 1] and nonzero_w[nonzero] == w:
                nonzero += 1
                continue
            found = tier(s, u, v, w)
            if found < TIERS:
                pools[found, sizes[found]] = w
                sizes[found] += 1
        first = filled
        for pool, size in zip(pools, sizes):  # noqa: B905 - numba has no strict zip
            # Fisher and Yates' shuffle as far as is drawn; a float below 1 times a whole number never rounds up to it.
            for step in range(min(wanted[v] - (filled - first), size)):
                pick = step + int(uniforms[filled] * (size - step))
                pool[step], pool[pick] = pool[pick], pool[step]
                drawn[filled] = pool[step]
                filled += 1
        drawn[first:filled].sort()
    return drawn


Triples = tuple[Int64, Int64, Int64]
"""The ranks of u and of v, and the indices of w among the candidates."""


def data_rows(n: int, rng: np.random.Generator, progress: Progress = silent) -> Rows:
    """Return the corrected dataset of size n, 2 <= n <= 6: nonzeros, then zeros, both in the order of (u, v, w).

    >>> rows = data_rows(3, np.random.default_rng(0))
    >>> np.bincount(rows.y).tolist(), rows.X.shape
    ([42, 43], (85, 11))
    """
    group = permutations.symmetric_group(n)
    candidates = candidate_permutations(n)
    nonzero_tables = tables.nonzero_tables(n, progress)
    v, w = _indices(nonzero_tables, candidates)
    u = np.repeat(np.arange(len(group)), [len(keys) for keys, _ in nonzero_tables])
    constants = np.concatenate([constants for _, constants in nonzero_tables])
    del nonzero_tables
    zeros = _zeros(group, candidates, (u, v, w), rng, progress)
    X = np.empty((len(u) + len(zeros[0]), 4 * n - 1), np.int8)
    for start, triple in ((0, (u, v, w)), (len(u), zeros)):
        for column, rows, index in zip((0, n, 2 * n), (group, group, candidates), triple, strict=True):
            X[start : start + len(index), column : column + rows.shape[1]] = rows[index]
    X += 1
    y = np.zeros(len(X), np.int8)
    y[: len(u)] = constants
    pair_groups = groups_of_pairs(group)
    return Rows(X, y, groups=np.concatenate([pair_groups[u, v], pair_groups[zeros[0], zeros[1]]]))


def candidate_permutations(n: int) -> Int8:
    """Return the permutations of 0..2n-2 without a descent after position n - 1, in lexicographic order.

    >>> candidate_permutations(2).tolist()
    [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
    """
    size = 2 * n - 1
    heads = np.array(list(itertools.permutations(range(size), n - 1)), np.int8)
    free = np.ones((len(heads), size), np.bool_)
    np.put_along_axis(free, heads.astype(np.intp), values=False, axis=1)
    tails = np.nonzero(free)[1].astype(np.int8).reshape(len(heads), n)
    return np.concatenate([heads, tails], axis=1)


def groups_of_pairs(group: Int8) -> NDArray[np.int32]:
    """Return a number for each pair of permutations, (n!, n!): equal for pairs of the same group.

    `group` has all permutations of 0..n-1 in lexicographic order.

    >>> groups_of_pairs(np.array([[0, 1], [1, 0]], np.int8)).tolist()
    [[0, 1], [1, 3]]
    """
    count, n = group.shape
    moved = group != np.arange(n)
    first = np.where(moved.any(axis=1), moved.argmax(axis=1), n)  # the identity moves nothing
    last = np.where(moved.any(axis=1), n - 1 - moved[:, ::-1].argmax(axis=1), -1)
    weights = np.array([n ** (n - 1 - place) for place in range(n)])
    codes = group @ weights
    lowest = np.minimum(first[:, None], first)  # the pair moves points from lowest to highest
    highest = np.maximum(last[:, None], last)
    least = np.full((count, count), count * count, np.int32)
    for low in range(n):
        for high in range(low, n):
            pairs = (lowest == low) & (highest == high)
            # Both permutations carried down by `low`; then also reversed, which swaps 0 and high - low.
            inside = np.flatnonzero((first >= low) & (last <= high))
            down = np.tile(np.arange(n), (len(inside), 1))
            down[:, : high - low + 1] = group[inside][:, low : high + 1] - low
            reverse = down.copy()
            reverse[:, : high - low + 1] = high - low - down[:, high - low :: -1]
            for image in (down, reverse):
                rank = np.zeros(count, np.int64)
                rank[inside] = np.searchsorted(codes, image @ weights)
                one, other = np.minimum(rank[:, None], rank), np.maximum(rank[:, None], rank)
                least[pairs] = np.minimum(least[pairs], (one * count + other)[pairs])
    least[0, 0] = 0  # two identities move no points, so no interval is theirs
    return least


def quotas(nonzeros: Int64, zeros: Int64, rng: np.random.Generator) -> Int64:
    """Return how many zeros each pair u <= v is to have: as many as nonzeros, or all where there are fewer.

    Both counts are (n!, n!), read from the diagonal up. `rng` decides which pairs give more for those that have too
    few.

    >>> quotas(np.array([[1, 2], [2, 1]]), np.array([[0, 9], [0, 3]]), np.random.default_rng(0)).tolist()
    [[0, 2], [0, 2]]
    """
    quota = np.triu(np.minimum(nonzeros, zeros))
    rows = 2 * np.triu(np.ones_like(quota)) - np.eye(len(quota), dtype=np.int64)  # (u, v, w) and (v, u, w)
    missing = int((rows * (nonzeros - quota)).sum())
    while True:
        able = rng.permutation(np.flatnonzero((zeros > quota) & (rows > 0) & (rows <= missing)))
        chosen = able[rows.flat[able].cumsum() <= missing]
        if not len(chosen):
            break
        quota.flat[chosen] += 1
        missing -= int(rows.flat[chosen].sum())
    return quota


def _zeros(
    group: Int8,
    candidates: Int8,
    nonzero: tuple[Int64, Int64, Int64],
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Int64, Int64, Int64]:
    """Return the zeros, in the order of (u, v, w)."""
    count = len(group)
    known = _statistics(group, candidates)
    u, v, w = nonzero
    nonzeros = np.bincount(u * count + v, minlength=count * count).reshape(count, count)
    pools = np.zeros((count, count), np.int64)
    for rank in range(count):
        pools[rank] = count_candidates(known, rank).sum(axis=1)
        progress(rank + 1, 2 * count, "zeros")
    # All nonzeros are among the candidates, since they meet 1 and 2.
    quota = quotas(nonzeros, pools - np.triu(nonzeros), rng)
    parts = []
    u_starts = np.searchsorted(u, np.arange(count + 1))
    for rank in range(count):
        of_u = slice(u_starts[rank], u_starts[rank + 1])
        v_starts = np.searchsorted(v[of_u], np.arange(count + 1))
        uniforms = rng.random(int(quota[rank].sum()))
        drawn = draw_zeros(known, rank, w[of_u], v_starts, quota[rank], uniforms)
        parts.append((rank * count + np.repeat(np.arange(count), quota[rank])) * len(candidates) + drawn)
        progress(count + rank + 1, 2 * count, "zeros")
    keys = np.concatenate(parts)
    pair, w = np.divmod(keys, len(candidates))
    u, v = np.divmod(pair, count)
    mirrored = ((v * count + u) * len(candidates) + w)[u != v]
    pair, w = np.divmod(np.sort(np.concatenate([keys, mirrored])), len(candidates))
    return *np.divmod(pair, count), w


def _statistics(group: Int8, candidates: Int8) -> Statistics:
    n, size = group.shape[1], candidates.shape[1]
    fixed = np.tile(np.arange(n, size, dtype=np.int8), (len(group), 1))
    small = np.concatenate([group, fixed], axis=1)
    lengths = permutations.lengths(candidates)
    members = np.argsort(lengths, kind="stable")
    longest = n * (n - 1)  # of u and v together
    starts = np.searchsorted(lengths[members], np.arange(longest + 2))
    below = np.stack([permutations.bruhat_below(u, candidates) for u in small])
    of_w, of_u = (
        {
            "lengths": permutations.lengths(each),
            "descents": permutations.descent_sets(each),
            "sizes": np.where(each != np.arange(size), np.arange(1, size + 1), 1).max(axis=1),
            "bottom": permutations.lehmer_codes(each)[:, : n - 1].cumsum(axis=1, dtype=np.int64),
            "top": permutations.top_exponents(each)[:, : n - 1].cumsum(axis=1, dtype=np.int64),
        }
        for each in (candidates, small)
    )
    of_w.pop("lengths")
    return Statistics(
        members=members,
        starts=starts,
        below=below,
        **{f"{name}_w": values for name, values in of_w.items()},
        **{f"{name}_u": values for name, values in of_u.items()},
    )


def _indices(nonzero_tables: list[tables.Table], candidates: Int8) -> tuple[Int64, Int64]:
    """Return the rank of v and the index of w for all entries of all tables."""
    shift = tables.BITS * candidates.shape[1]
    known = np.zeros(len(candidates), np.int64)
    for entries in candidates.T:
        known = known << tables.BITS | entries
    keys = np.concatenate([keys for keys, _ in nonzero_tables])
    return keys >> shift, np.searchsorted(known, keys & ((1 << shift) - 1))
