"""Symmetries of the rows of the quiver task, and what is trivially read off them; rows are flat (rows, n²) matrices."""

from math import isqrt

import numpy as np

from adelic.acd.quiver.exchange_matrices import canonical_form
from adelic.data.protocol import Integers

CHUNK = 4096  # rows that are worked on at once, where the work takes several bytes for each entry


def _squares(X: Integers) -> Integers:
    """Return rows (rows, n²) as matrices (rows, n, n)."""
    n = isqrt(X.shape[1])
    return X.reshape(-1, n, n)


def vertices_rotated(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the rows with vertex i renamed i + 1, and the last one 0.

    >>> vertices_rotated(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]]), np.array([0]))[0].tolist()
    [[0, 0, 1, 0, 0, 1, -1, -1, 0]]
    """
    return np.roll(_squares(X), (1, 1), axis=(1, 2)).reshape(X.shape), y


def first_vertices_exchanged(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the rows with vertices 0 and 1 exchanged; with `vertices_rotated`, this generates all relabellings.

    >>> first_vertices_exchanged(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]]), np.array([0]))[0].tolist()
    [[0, -1, -1, 1, 0, 0, 1, 0, 0]]
    """
    order = np.arange(isqrt(X.shape[1]))
    order[:2] = 1, 0
    return _squares(X)[:, order[:, None], order].reshape(X.shape), y


def opposite(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the canonical forms of -B, of all arrows reversed.

    Mutations commute with the sign, and the seed S has -S in its class: mutate it at each of its sources. So the class
    is the same one; the distance from the seed may be another, and then -B may lie beyond the depth of the data set.
    (For BB, BD and BE the transpose is of another class, in which the d_i are exchanged.)

    >>> opposite(np.array([[0, 0, 1, 0, 0, 1, -1, -1, 0]]), np.array([0]))[0].tolist()
    [[0, 0, -1, 0, 0, -1, 1, 1, 0]]
    """
    reversed_rows = np.empty_like(X)
    for start in range(0, len(X), CHUNK):  # canonical_form takes eight bytes for each entry
        chunk = X[start : start + CHUNK]
        reversed_rows[start : start + CHUNK] = canonical_form(-_squares(chunk)).reshape(chunk.shape)
    return reversed_rows, y


def number_of_arrows(X: Integers) -> Integers:
    """Return the number of pairs of vertices that are joined.

    >>> number_of_arrows(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]])).tolist()
    [2]
    """
    counts: Integers = np.count_nonzero(X > 0, axis=1)
    return counts


def number_of_twos(X: Integers) -> Integers:
    """Return how often 2 occurs, times n², plus how often -2 occurs.

    >>> number_of_twos(np.array([[0, 1, -2, 0], [0, 2, -1, 0], [0, 1, -1, 0]])).tolist()
    [1, 4, 0]
    """
    counts: Integers = np.count_nonzero(X == 2, axis=1) * X.shape[1] + np.count_nonzero(X == -2, axis=1)
    return counts


def place_of_first_two(X: Integers) -> Integers:
    """Return the place of the first 2 or -2 in the row; -1 where there is none.

    >>> place_of_first_two(np.array([[0, 1, -2, 0], [0, 2, -1, 0], [0, 1, -1, 0]])).tolist()
    [2, 1, -1]
    """
    twos = np.abs(X) == 2
    return np.where(twos.any(axis=1), twos.argmax(axis=1), -1)


def vertices_with_least_d(X: Integers) -> Integers:
    """Return how many vertices have the least d_i: 2 for BB, 1 for BD, n - 1 for BE, n for the others.

    >>> vertices_with_least_d(np.array([[0, 1, 0, -2, 0, -2, 0, 1, 0], [0, 1, 0, -1, 0, -1, 0, 1, 0]])).tolist()
    [1, 3]
    """
    from adelic.acd.quiver import kernels

    d = kernels.symmetrizers(_squares(X).astype(np.int64))
    counts: Integers = np.count_nonzero(d == d.min(axis=1, keepdims=True), axis=1)
    return counts


def oriented_triangles(X: Integers) -> Integers:
    """Return the number of triples of vertices with arrows i -> j -> k -> i.

    >>> oriented_triangles(np.array([[0, 1, -1, -1, 0, 1, 1, -1, 0], [0, 1, 1, -1, 0, 1, -1, -1, 0]])).tolist()
    [1, 0]
    """
    counts = np.empty(len(X), np.int64)
    for start in range(0, len(X), CHUNK):
        arrows = (_squares(X[start : start + CHUNK]) > 0).astype(np.float32)  # NumPy multiplies floats faster
        counts[start : start + CHUNK] = np.einsum("rij,rji->r", arrows @ arrows, arrows) / 3
    return counts
