"""All weaving patterns of n pseudolines by triangle flips, and the non-patterns beside them.

Three pseudolines i < j < k that bound a triangle can be flipped: in each of their rows the other two stand side by side
and change places. The arrangement in which every row ascends is the least element of the second higher Bruhat order
B(n, 2); flips from "ascending" to "descending" raise the rank by one, and each element is reached from the least one by
such flips alone (Manin and Schechtman). So a breadth-first search goes up rank by rank, and needs to compare new
arrangements only with those of the same rank. All arrangements of one rank are flipped at once, as NumPy arrays.

Pseudolines are 0-based in here. `positions[a, i, j]` is the place of j in the row of i, in arrangement a.
"""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from adelic.data.lookup import RowIndex
from adelic.data.protocol import Integers, Progress, Rows

Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]


def all_patterns(n: int, progress: Progress | None = None) -> Int8:
    """Return the rows of every simple arrangement of n pseudolines, 3 <= n <= 9.

    They are int8, (A006245(n), n, n-1): row i lists the pseudolines (0-based) that i crosses. Their order is that of
    the level matrix, read row by row as a binary number.

    >>> all_patterns(3).tolist()
    [[[2, 1], [2, 0], [1, 0]], [[1, 2], [0, 2], [0, 1]]]
    """
    lines = np.arange(n)
    ascending = np.where(lines[None, :] < lines[:, None], lines[None, :], lines[None, :] - 1).astype(np.int8)
    positions = ascending[None]
    keys = _level_keys(_sequences(positions))
    rank_sequences, rank_keys = [], []
    ranks = comb(n, 3)
    for rank in range(ranks + 1):
        rank_sequences.append(_sequences(positions))
        rank_keys.append(keys)
        if progress:
            progress(rank, ranks, "arrangements")
        positions, keys = _flipped_up(positions, keys)
    every = np.concatenate(rank_sequences)
    return every[np.argsort(np.concatenate(rank_keys))]


def _flipped_up(positions: Int8, keys: Int64) -> tuple[Int8, Int64]:
    """Return the arrangements one rank higher, each once, with their keys."""
    n = positions.shape[1]
    triples = list(combinations(range(n), 3))
    parents, flips, new_keys = [], [], []
    for flip, (i, j, k) in enumerate(triples):
        adjacent = (
            (positions[:, i, k] - positions[:, i, j] == 1)
            & (positions[:, j, k] - positions[:, j, i] == 1)
            & (positions[:, k, j] - positions[:, k, i] == 1)
        )
        parent = np.flatnonzero(adjacent)
        # Only row j has the three on both sides: its "smaller, greater" = 10 becomes 01.
        bit = _bit(n, j, positions[parent, j, i].astype(np.int64))
        new_keys.append(keys[parent] - (np.int64(1) << bit) + (np.int64(1) << (bit - 1)))
        parents.append(parent)
        flips.append(np.full(len(parent), flip))
    unique_keys, first = np.unique(np.concatenate(new_keys), return_index=True)
    raised = positions[np.concatenate(parents)[first]]
    index = np.arange(len(raised))
    i, j, k = np.array(triples)[np.concatenate(flips)[first]].T
    for row, left, right in ((i, j, k), (j, i, k), (k, i, j)):
        raised[index, row, left] += 1
        raised[index, row, right] -= 1
    return raised, unique_keys


def _sequences(positions: Int8) -> Int8:
    """Return the rows (arrangements, n, n-1) that the positions (arrangements, n, n) describe."""
    count, n, _ = positions.shape
    rows = np.empty((count, n, n - 1), np.int8)
    index = np.arange(count)
    for i in range(n):
        for j in range(n):
            if i != j:
                rows[index, i, positions[:, i, j]] = j
    return rows


def _bit(n: int, line: int | Int64, place: int | Int64) -> int | Int64:
    """Return the bit of the key that says whether `line` crosses a smaller one at `place`."""
    return (n - 1) * line - place - 1  # lines 1..n-2; the greater the line, the more significant


def _level_keys(rows: Int8) -> Int64:
    """Return the level matrices of (arrangements, n, n-1) rows as numbers of (n-2)(n-1) bits."""
    n = rows.shape[1]
    keys = np.zeros(len(rows), np.int64)
    for line in range(1, n - 1):
        for place in range(n - 1):
            bit = _bit(n, line, place)
            keys |= (rows[:, line, place] < line).astype(np.int64) << bit
    return keys


def level_rows(sequences: Int8) -> Rows:
    """Return the `levels` edition: every legal 0/1 matrix (rows n-1, ..., 2), label 1 for those of the patterns.

    `sequences` are all patterns, as `all_patterns` returns them.

    >>> rows = level_rows(all_patterns(3))
    >>> rows.X.tolist(), rows.y.tolist()
    ([[0], [1]], [1, 1])
    """
    n = sequences.shape[1]
    choices = [_legal_rows(n - 1, line) for line in range(n - 2, 0, -1)]  # 0-based line i has i ones
    total = int(np.prod([len(legal) for legal in choices], dtype=np.int64))
    X = np.empty((total, n - 2, n - 2), np.int8)
    every = np.arange(total)
    pattern = np.zeros(len(sequences), np.int64)
    step = total
    weights = np.int64(1) << np.arange(n - 2, -1, -1)
    for row, (line, legal) in enumerate(zip(range(n - 2, 0, -1), choices, strict=True)):
        step //= len(legal)
        # A matrix is a number in mixed radix: its digits are the places of its rows among the legal ones.
        X[:, row] = legal[every // step % len(legal), : n - 2]
        pattern += step * np.searchsorted(legal @ weights, (sequences[:, line] < line) @ weights)
    y = np.zeros(total, np.int8)
    y[pattern] = 1
    return Rows(X.reshape(total, (n - 2) ** 2), y)


def _legal_rows(width: int, ones: int) -> Int8:
    """Return all 0/1 rows with this many ones, in ascending order as binary numbers."""
    places = sorted(combinations(range(width), ones), reverse=True)
    rows = np.zeros((len(places), width), np.int8)
    for row, chosen in zip(rows, places, strict=True):
        row[list(chosen)] = 1
    return rows


def shuffled_non_patterns(positives: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Return one non-pattern for each pattern: its entries shuffled within every row.

    A shuffle that gives a pattern, or a matrix that was drawn before, is drawn again. All patterns, tokens 1..n,
    (patterns, n(n-1)), n >= 3, become as many rows that differ from each other and from every pattern.

    >>> positives = np.array([[1, 2, 1, 3, 2, 3], [2, 1, 3, 1, 3, 2]], np.int8)
    >>> negatives = shuffled_non_patterns(positives, 3, np.random.default_rng(0))
    >>> np.sort(negatives.reshape(2, 3, 2), axis=2).tolist() == [[[1, 2], [1, 3], [2, 3]]] * 2
    True
    """
    known = RowIndex(positives)
    negatives = positives.copy()
    again = np.arange(len(positives))
    while len(again):
        negatives[again] = rng.permuted(positives[again].reshape(-1, n - 1), axis=1).reshape(len(again), -1)
        repeated = RowIndex(negatives).find(negatives) != np.arange(len(negatives))
        again = np.flatnonzero(repeated | (known.find(negatives) >= 0))
    return negatives
