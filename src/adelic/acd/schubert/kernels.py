"""Compiled search for the zeros of the `corrected` Schubert data. Importing this module loads numba.

Candidates w are given by their index, and permutations u, v by their rank. Those for one pair (u, v) are scanned in two
passes, which must see them alike: the first counts them tier by tier, the second draws.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels.compiling import njit

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
