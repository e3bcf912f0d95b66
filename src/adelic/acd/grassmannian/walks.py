"""Cluster variables of the Grassmannian Gr(3, n), met on random walks from seed to seed.

A seed is a quiver with a tableau at each vertex. The tableaux of three rows form a commutative monoid, in which the sum
of two has row i of the one and row i of the other, sorted, for its row i; so a tableau is represented by the contents
of its rows, a 3 × n matrix of multiplicities, and sums are sums. Mutation at vertex k replaces its tableau by

    T_k' = max(sum of T_i over arrows i -> k, sum of T_j over arrows k -> j) - T_k

(Chang, Duan, Fraser and Li, "Quantum affine algebras and Grassmannians", 2020), and the quiver as usual. The two sums
have the same content, and one of them is greater in the dominance order: for every i, its letters up to i are at least
as many in row 1 and at most as many in row 3. Summed over i, this says that (sum of row 3) - (sum of row 1) is greater;
so that number decides the maximum.

The initial seed is the rectangles seed: vertex (i, j), a rectangle of i rows and j columns in a 3 × (n-3) grid, holds
the column {1, ..., 3-i} ∪ {3-i+j+1, ..., 3+j}; a further vertex, the empty rectangle, holds {1, 2, 3}. Vertices with
i = 3 or j = n - 3 and the empty rectangle are frozen: their n columns are the cyclic intervals (Scott, "Grassmannians
and cluster algebras", 2006).

Arrows lead from each rectangle to those with one row or one column more, from it to the one with a row and a column
less, and from the empty rectangle to (1, 1).

The walks reject mutations that lead to a rank above the cap. Many walk side by side, as NumPy arrays.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adelic.acd.grassmannian.tableaux import ROWS, evacuated, from_keys, from_shapes, keys, promoted
from adelic.acd.permutations import Int8, Int64

Int16 = NDArray[np.int16]

CAP = 4
WALKERS = 256
ROUND = 64
"""Steps of each walker in a round; a round tries 16,384 mutations."""
PATIENCE = 16
"""Walks end after PATIENCE times as many rounds as it took to find the last new variable, and `least_rounds` at least.

For m = 12 the last family of variables comes after 90,000 mutations on average, for m = 11, 10, 9 after 33,000, 23,000,
14,000. So the least rounds leave a margin of an order of magnitude.
"""


class Seed(NamedTuple):
    """A seed: tableaux (vertices, 3, n) as contents of their rows, exchange matrix (vertices, mutable vertices).

    The mutable vertices come first; b[i, k] counts the arrows from i to k, as negative those from k to i.

    >>> initial_seed(5).b.tolist()
    [[0, 1], [-1, 0], [-1, 0], [1, -1], [0, -1], [0, 1], [1, 0]]
    """

    tableaux: Int16
    b: Int16


def initial_seed(n: int) -> Seed:
    """Return the rectangles seed of Gr(3, n), n >= 5.

    >>> [np.nonzero(T)[1] + 1 for T in initial_seed(5).tableaux[:2]]
    [array([1, 2, 4]), array([1, 3, 4])]
    """
    columns = n - ROWS
    grid = [(i, j) for i in range(1, ROWS + 1) for j in range(1, columns + 1)]
    mutable = [(i, j) for i, j in grid if i < ROWS and j < columns]
    vertices = [*mutable, *(v for v in grid if v not in mutable), (0, 0)]
    tableaux = np.zeros((len(vertices), ROWS, n), np.int16)
    b = np.zeros((len(vertices), len(vertices)), np.int16)
    for index, (i, j) in enumerate(vertices):
        letters = [*range(1, ROWS - i + 1), *range(ROWS - i + j + 1, ROWS + j + 1)]
        tableaux[index, np.arange(ROWS), np.array(letters) - 1] = 1
        ahead = [(i, j + 1), (i + 1, j), (i - 1, j - 1)] if i else [(1, 1)]
        for other in ahead:
            if other in vertices and other != (0, 0):
                b[index, vertices.index(other)] += 1
                b[vertices.index(other), index] -= 1
    return Seed(tableaux, b[:, : len(mutable)])


def walk(n: int, cap: int, rng: np.random.Generator, walkers: int = WALKERS) -> Iterator[Int16]:
    """Yield, step by step and without end, the tableaux that the walkers have just mutated to, ranks up to `cap`.

    Each walker begins with the rectangles seed and mutates at a random vertex in each step, unless the new tableau has
    a rank above the cap: then it stays where it is. Contents of rows are int16, (walkers that moved, 3, n).

    >>> steps = walk(6, 4, np.random.default_rng(0))
    >>> sorted({int(T[:, 0].sum(axis=1).max()) for T, _ in zip(steps, range(50), strict=False)})[-1]
    2
    """
    start = initial_seed(n)
    vertices, mutable = start.b.shape
    tableaux = np.repeat(start.tableaux.reshape(1, vertices, ROWS * n), walkers, axis=0).astype(np.float32)
    b = np.repeat(start.b[None], walkers, axis=0)
    every = np.arange(walkers)
    letters = np.arange(1, n + 1, dtype=np.float32)
    weight = np.concatenate([-letters, 0 * letters, letters])  # (sum of row 3) - (sum of row 1)
    while True:
        k = rng.integers(0, mutable, walkers)
        column = b[every, :, k]
        # float32 holds these small numbers exactly, and has a fast product of matrices.
        ahead, behind = (
            (np.maximum(sign * column, 0).astype(np.float32)[:, None] @ tableaux)[:, 0] for sign in (1, -1)
        )
        new = np.where(((ahead - behind) @ weight > 0)[:, None], ahead, behind) - tableaux[every, k]
        moved = np.flatnonzero(new[:, :n].sum(axis=1) <= cap)
        b[moved] = mutated(b[moved], k[moved])
        tableaux[moved, k[moved]] = new[moved]
        yield new[moved].astype(np.int16).reshape(-1, ROWS, n)


def mutated(b: Int16, k: NDArray[np.integer]) -> Int16:
    """Return the exchange matrices (count, vertices, mutable vertices), each mutated at its vertex k.

    b'_ij = -b_ij if i = k or j = k, else b_ij + max(b_ik, 0) max(b_kj, 0) - min(b_ik, 0) min(b_kj, 0).

    >>> mutated(np.array([[[0, 1, 0], [-1, 0, 1], [0, -1, 0]]], np.int16), np.array([1])).tolist()
    [[[0, -1, 1], [1, 0, -1], [-1, 1, 0]]]
    """
    every = np.arange(len(b))
    column, row = b[every, :, k], b[every, k]
    new: Int16 = b + np.maximum(column, 0)[:, :, None] * np.maximum(row, 0)[:, None]
    new -= np.minimum(column, 0)[:, :, None] * np.minimum(row, 0)[:, None]
    new[every, :, k] = -column
    new[every, k] = -row
    assert np.abs(new).max(initial=0) < 128, "products of entries must fit into int16"
    return new


def closed(T: Int8, m: int) -> Int64:
    """Return the keys of all tableaux that promotion and evacuation with m letters make of a batch (count, 3, r).

    >>> len(closed(np.array([[[1, 2], [3, 4], [5, 6]]], np.int8), 6))
    2
    """
    n = np.full(len(T), m)
    found = []
    for _ in range(m):
        T = promoted(T, n)
        found += [keys(T), keys(evacuated(T, n))]
    return np.unique(np.concatenate(found))


def least_rounds(m: int) -> int:
    """Return how many rounds walks on Gr(3, m) take at least: about a million mutations for m = 12, halved with each m.

    >>> least_rounds(12), least_rounds(9)
    (64, 8)
    """
    return 1 << (m - 6)


def saturated(m: int, *, cap: int = CAP, seed: int = 0) -> dict[int, Int64]:
    """Return the keys of all cluster variables of ranks 2 to 4 found that use each of the letters 1..m.

    m is 6 to 12: no cluster variable of rank 2 has fewer letters, and no tableau of rank 4 has more. Walkers pass
    through ranks up to `cap`, 4 or more; once they are saturated the seed makes no difference. Keys ascend, by rank,
    and are closed under promotion and evacuation; nothing proves that they are all, see `adelic.acd.grassmannian`.

    >>> {rank: len(found) for rank, found in saturated(8).items()}
    {2: 0, 3: 24, 4: 0}
    """
    steps = walk(m, cap, np.random.default_rng(seed))
    known = {rank: np.empty(0, np.int64) for rank in (2, 3, 4)}
    rounds = last_new = 0
    while rounds < max(least_rounds(m), PATIENCE * last_new):
        rounds += 1
        contents = np.concatenate([next(steps) for _ in range(ROUND)])
        contents = contents[np.all(contents.any(axis=1), axis=1)]  # all letters occur
        ranks = contents[:, 0].sum(axis=1)
        for rank, found in known.items():
            new = np.setdiff1d(keys(_from_contents(contents[ranks == rank], rank)), found)
            if len(new):
                known[rank] = np.union1d(found, closed(from_keys(new, rank), m))
                last_new = rounds
    return known


def _from_contents(contents: Int16, rank: int) -> Int8:
    shapes = np.zeros((len(contents), contents.shape[2] + 1, ROWS), np.int16)
    shapes[:, 1:] = contents.cumsum(axis=2).transpose(0, 2, 1)
    return from_shapes(shapes, rank)


@cache
def standardised_variables(m: int) -> dict[int, Int64]:
    """Return `saturated(m)`, found once in a process.

    >>> {rank: len(found) for rank, found in standardised_variables(6).items()}
    {2: 2, 3: 0, 4: 0}
    """
    return saturated(m)
