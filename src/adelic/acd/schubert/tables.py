"""All Schubert structure constants of S_n at once: the transition recursion on sparse tables of packed permutations.

For each u the products S_u S_v with all v in S_n are one sparse table: sorted keys that pack v and w, and constants.
The recursion runs over u; Monk's rule acts on all entries of a table at once. A key holds the rank of v in the
lexicographic order of S_n above the 2n - 1 entries of w, 0-based, four bits each, the first most significant; so keys
sort as (v, w) do.
"""

from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from adelic.acd.permutations import Int64, symmetric_group
from adelic.acd.schubert.constants import transition_order
from adelic.data.protocol import Progress, Rows, silent

Table = tuple[Int64, NDArray[np.int32]]

BITS = 4
ENTRY = (1 << BITS) - 1


def data_rows(n: int, rng: np.random.Generator, progress: Progress = silent) -> Rows:
    """Return the dataset of size n, 2 <= n <= 6: the nonzero constants in the order of (u, v, w), then the zeros.

    >>> rows = data_rows(2, np.random.default_rng(0))
    >>> rows.X[:4].tolist()
    [[1, 2, 1, 2, 1, 2, 3], [1, 2, 2, 1, 2, 1, 3], [2, 1, 1, 2, 2, 1, 3], [2, 1, 2, 1, 3, 1, 2]]
    >>> rows.y.tolist()
    [1, 1, 1, 1, 0, 0, 0]
    """
    tables = nonzero_tables(n, progress)
    group = symmetric_group(n) + np.int8(1)
    nonzeros = sum(len(keys) for keys, _ in tables)
    X = np.empty((2 * nonzeros - 1, 4 * n - 1), np.int8)
    y = np.zeros(len(X), np.int8)
    start, zero_start = 0, nonzeros
    for rank, (keys, constants) in enumerate(tables):
        _fill(X[start : start + len(keys)], rank, keys, group)
        y[start : start + len(keys)] = constants
        start += len(keys)
        # The identity comes first in S_n, and its table starts with id · id = id, for which no zero is drawn.
        zeros = random_zeros(keys, keys[1:] if rank == 0 else keys, n, rng)
        _fill(X[zero_start : zero_start + len(zeros)], rank, zeros, group)
        zero_start += len(zeros)
        progress(rank + 1, len(tables), "zeros")
    return Rows(X, y)


def nonzero_tables(n: int, progress: Progress = silent) -> list[Table]:
    """Return for each u in S_n, in lexicographic order, the keys (v, w) with c(u, v, w) > 0 and these constants.

    >>> [(list(map(hex, keys)), constants.tolist()) for keys, constants in nonzero_tables(2)]
    [(['0x12', '0x1102'], [1, 1]), (['0x102', '0x1201'], [1, 1])]
    """
    size = 2 * n - 1
    group = list(permutations(range(1, n + 1)))
    padding = tuple(range(n + 1, size + 1))
    units = np.array([_key(rank, v + padding, size) for rank, v in enumerate(group)])
    tables = {group[0]: (units, np.ones(len(units), np.int32))}
    for u, r, previous, terms in transition_order(group):
        tables[u] = _collected([*_times_variable(tables[previous], r, size), *(tables[term] for term in terms)])
        progress(len(tables), len(group), "products")
    return [tables[u] for u in group]


def random_zeros(nonzero_keys: Int64, starts: Int64, n: int, rng: np.random.Generator) -> Int64:
    """Return for each start key (v, w) a key (v, w') with constant zero, all different.

    w' is w with min(Geometric(0.2), C(2n-1, 2)) different transpositions of positions applied; what is a nonzero key or
    was drawn before is drawn again.

    >>> (keys, constants), *others = nonzero_tables(2)
    >>> zeros = random_zeros(keys, keys, 2, np.random.default_rng(0))
    >>> len(set(zeros.tolist()) - set(keys.tolist()))
    2
    """
    zeros = starts.copy()
    taken = nonzero_keys
    again = np.arange(len(starts))
    while len(again):
        drawn = _transposed(starts[again], 2 * n - 1, rng)
        repeated = np.ones(len(drawn), np.bool_)
        repeated[np.unique(drawn, return_index=True)[1]] = False
        repeated |= np.isin(drawn, taken)
        zeros[again] = drawn
        taken = np.concatenate([taken, drawn[~repeated]])
        again = again[repeated]
    return zeros


def _transposed(keys: Int64, size: int, rng: np.random.Generator) -> Int64:
    """Return the keys with random transpositions of positions applied to w, all different, geometrically many."""
    pairs = comb(size, 2)
    left, right = np.triu_indices(size, 1)
    left_shift, right_shift = BITS * (size - 1 - left), BITS * (size - 1 - right)
    counts = np.minimum(rng.geometric(0.2, len(keys)), pairs)
    deck = np.tile(np.arange(pairs, dtype=np.int16), (len(keys), 1))  # shuffled as far as it is drawn from
    result = keys.copy()
    for step in range(int(counts.max(initial=0))):
        active = np.flatnonzero(counts > step)
        pick = rng.integers(step, pairs, len(active))
        chosen = deck[active, pick]
        deck[active, pick] = deck[active, step]  # what stood there is drawn, and needs no place
        current = result[active]
        difference = ((current >> left_shift[chosen]) ^ (current >> right_shift[chosen])) & ENTRY
        result[active] = current ^ (difference << left_shift[chosen]) ^ (difference << right_shift[chosen])
    return result


def _times_variable(table: Table, r: int, size: int) -> list[Table]:
    """Return x_r times a table by Monk's rule, as tables that are still to be added up."""
    keys, constants = table
    at_r = _entry(keys, r, size)
    parts = []
    least = np.full(len(keys), size)  # the least entry above w_r that has been passed
    for j in range(r + 1, size):
        at_j = _entry(keys, j, size)
        cover = (at_r < at_j) & (at_j < least)
        least[cover] = at_j[cover]
        parts.append((_swapped(keys[cover], at_r[cover] ^ at_j[cover], r, j, size), constants[cover]))
    greatest = np.full(len(keys), -1)  # the greatest entry below w_r that has been passed
    for i in range(r - 1, -1, -1):
        at_i = _entry(keys, i, size)
        cover = (greatest < at_i) & (at_i < at_r)
        greatest[cover] = at_i[cover]
        parts.append((_swapped(keys[cover], at_r[cover] ^ at_i[cover], r, i, size), -constants[cover]))
    return parts


def _collected(parts: list[Table]) -> Table:
    """Return the sum of tables: keys sorted, each once, none with constant zero."""
    keys = np.concatenate([part for part, _ in parts])
    constants = np.concatenate([part for _, part in parts])
    order = np.argsort(keys)
    keys, constants = keys[order], constants[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(constants, starts)
    nonzero = sums != 0
    return keys[starts][nonzero], sums[nonzero]


def _entry(keys: Int64, position: int, size: int) -> Int64:
    return (keys >> (BITS * (size - 1 - position))) & ENTRY


def _swapped(keys: Int64, difference: Int64, i: int, j: int, size: int) -> Int64:
    """Return the keys with the entries at i and j, whose bitwise difference is given, exchanged."""
    return keys ^ (difference << (BITS * (size - 1 - i))) ^ (difference << (BITS * (size - 1 - j)))


def _key(rank: int, w: tuple[int, ...], size: int) -> int:
    key = rank
    for entry in w:
        key = key << BITS | (entry - 1)
    return key


def _fill(X: NDArray[np.int8], rank: int, keys: Int64, group: NDArray[np.int8]) -> None:
    """Write the tokens of u (by its rank), v and w into the rows of X."""
    n = group.shape[1]
    size = 2 * n - 1
    X[:, :n] = group[rank]
    X[:, n : 2 * n] = group[keys >> (BITS * size)]
    for position in range(size):
        X[:, 2 * n + position] = _entry(keys, position, size) + 1
