"""Weaving patterns: the local sequences of simple arrangements of n pseudolines.

n pseudolines, numbered 1..n from the top at the left end, cross pairwise exactly once, no three in a point. Row of
pseudoline i: the others in the order in which i crosses them, from left to right. Such n × (n-1) matrices are the
weaving patterns; they correspond to the commutation classes of reduced words of the longest permutation of S_n and to
the elements of the second higher Bruhat order B(n, 2), and there are A006245(n) of them: 2, 8, 62, 908, 24698 for n =
3..7. Sources: Felsner, "On the number of arrangements of pseudolines" (1996); Manin and Schechtman, "Arrangements of
hyperplanes, higher braid groups and higher Bruhat orders" (1989); OEIS A006245.

Encoding: the rows are those of pseudolines n, n-1, ..., 1, tokens 1..n, row-major, length n(n-1). So the row number r
(from 1) lacks n + 1 - r. Label 1 is a weaving pattern, as in the published data (whose README says 0).

Editions:

- `published`: every pattern and as many non-patterns, made as the published README says: the numbers within each row
  of a true pattern are shuffled, and the result is checked not to be a pattern. Ours are also different from each
  other, so no example is in two splits. 1,816 examples for n = 6 and 49,396 for n = 7.
- `leaky`: the same, but the rows of the non-patterns are in the order 1, ..., n (row r lacks r), so the first
  row alone gives the label away. Older published negatives that can still be seen have this order.
- `levels`: the 0/1 matrices. Write 1 if pseudoline i crosses a smaller one, 0 if it crosses a greater one: row
  i has i - 1 ones among n - 1 entries, it tells on which level i runs, and the matrix determines the pattern
  (Felsner). Rows 1 and n are constant, and the last entry of a row follows from the others, so (n-2) × (n-2) entries
  remain: rows n-1, ..., 2, tokens 0 and 1. The dataset is all ∏_{i=2}^{n-1} C(n-1, i-1) matrices with legal row
  sums: 2,500 with 908 patterns for n = 6, 162,000 with 24,698 for n = 7. These are the totals in the dataset's
  README, which prints 909 patterns, and a split of 70/30; here all editions are split 80/20.

n = 8 can be built too: 2,465,888 examples, and 26,471,025 of `levels`.

Symmetries: `rotated` and `reflected` generate a dihedral group of order 4n that takes patterns to patterns and the
others to others. Of a level matrix only the reflection and the half turn, n rotations, can be told: one rotation takes
pseudoline 1 from above all others to below them, and where it crosses them is not in the matrix.

All patterns by triangle flips. Three pseudolines i < j < k that bound a triangle can be flipped: in each of their rows
the other two are neighbours and are exchanged. The arrangement in which every row ascends is the least element of
the second higher Bruhat order B(n, 2); flips from "ascending" to "descending" raise the rank by one, and each element
is reached from the least one by such flips alone (Manin and Schechtman). So a breadth-first search goes up rank by
rank, and needs to compare new arrangements only with those of the same rank. All arrangements of one rank are flipped
at once, as NumPy arrays.

Pseudolines are 0-based in here. `positions[a, i, j]` is the place of j in the row of i, in arrangement a.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb, prod
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.acd.facts import described
from adelic.acd.permutations import Int8, Int64, read_array
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Estimate, Integers, Progress, Request, Rows, Symmetry, Task, silent
from adelic.errors import EncodingError

# All patterns, and their rows


def all_patterns(n: int, progress: Progress = silent) -> Int8:
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
    (patterns, n(n-1)), n >= 3, become as many examples that differ from each other and from every pattern.

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


# A006245(n) for n = 2, 3, ...: simple arrangements of n pseudolines with a marked cell.
PATTERN_COUNTS = (1, 2, 8, 62, 908, 24698, 1232944, 112018190, 18410581880, 5449192389984)

# Measured at the peak of a build, with the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 64
PEAK_BYTES_PER_TOKEN = {"published": 8, "leaky": 8, "levels": 2}


@overload
def is_weaving_pattern(matrix: NDArray[Any]) -> Any: ...
@overload
def is_weaving_pattern(matrix: ArrayLike) -> bool: ...
def is_weaving_pattern(matrix: ArrayLike) -> Any:
    """Return whether an n × (n-1) matrix lists the crossings of a simple arrangement of n pseudolines.

    It does if every three pseudolines agree on which way round they cross, see `triples`: this gives each triple a
    sign, the signs along one pseudoline are those of a linear order, which is what the Grassmann-Plücker relations of
    rank 3 ask for, and every oriented matroid of rank 3 is an arrangement of pseudolines (Folkman and Lawrence 1978).

    Args:
        matrix: whole numbers, shape (n, n-1) or (n(n-1),); the rows of pseudolines n, n-1, ..., 1. Or an array of many
            matrices, shape (*, n, n-1) with at least three axes.

    Returns:
        False too where a row has a number twice, its own number, or a number outside 1..n. For an array of many
        matrices a boolean array of shape (*).

    Raises:
        EncodingError: the shape is not n × (n-1) with n >= 2, or the entries are not whole numbers.

    >>> is_weaving_pattern([[1, 2], [1, 3], [2, 3]]), is_weaving_pattern([2, 1, 3, 1, 3, 2])
    (True, True)
    >>> is_weaving_pattern([[1, 2], [3, 1], [2, 3]]), is_weaving_pattern([[2, 2], [1, 3], [2, 3]])
    (False, False)
    >>> is_weaving_pattern(np.array([[[1, 2], [1, 3], [2, 3]], [[1, 2], [3, 1], [2, 3]]]))
    array([ True, False])
    """
    matrices = matrix if isinstance(matrix, np.ndarray) and matrix.ndim > 2 else _read_matrix(matrix)
    array = read_array(matrices, "a weaving pattern")
    *batch, n, width = array.shape
    if n < 2 or width != n - 1:
        raise EncodingError(f"weaving patterns have shape (*, n, n-1) with n >= 2, not {array.shape}")
    stacked = array.reshape(-1, n, width)
    lines = np.arange(1, n + 1)
    others = np.array([np.delete(lines, line - 1) for line in lines[::-1]])
    answers = (np.sort(stacked, axis=2) == others).all(axis=(1, 2))
    found = triples(stacked[answers].astype(np.int64).reshape(-1, n * width))
    answers[answers] = ((found == 0) | (found == 7)).all(axis=1)
    return answers.reshape(batch) if batch else bool(answers[0])


# Symmetries, and what is read off examples


def rotated(matrices: ArrayLike) -> Integers:
    """Return the patterns with the marked cell moved past pseudoline 1, which so becomes pseudoline n.

    Patterns are (*, n(n-1)), as `is_weaving_pattern` takes them, and their dtype is kept; 2n rotations are the
    identity. A last axis of another length is an EncodingError.

    >>> rotated([1, 2, 1, 3, 2, 3])
    array([2, 1, 3, 1, 3, 2])
    """
    blocks, n = _blocks(matrices)
    moved = np.roll(blocks, 1, axis=-2)  # the row of pseudoline 1 is now the first, like the one of pseudoline n
    moved[..., 0, :] = moved[..., 0, ::-1]
    return np.where(moved == 1, n, moved - 1).astype(moved.dtype).reshape(np.shape(matrices))


def reflected(matrices: ArrayLike) -> Integers:
    """Return the patterns mirrored top to bottom: pseudoline i becomes n + 1 - i.

    Patterns are (*, n(n-1)), as `is_weaving_pattern` takes them. A last axis of another length is an EncodingError.

    >>> reflected([2, 1, 3, 1, 3, 2])
    array([1, 2, 1, 3, 2, 3])
    """
    blocks, n = _blocks(matrices)
    return (n + 1 - blocks[..., ::-1, :]).astype(blocks.dtype).reshape(np.shape(matrices))


def triples(X: Integers) -> Integers:
    """Return for each three pseudolines in which order each of them meets the other two.

    From examples of the published edition, (examples, n(n-1)), to int8 (examples, C(n, 3)): for a < b < c, in
    lexicographic order, 4 [a meets b first] + 2 [b meets a first] + [c meets a first]. Of a weaving pattern, 0 and 7
    alone.

    >>> triples(np.array([[1, 2, 1, 3, 2, 3], [2, 1, 3, 1, 3, 2], [1, 2, 3, 1, 2, 3]])).tolist()
    [[7], [0], [5]]
    """
    blocks, n = _blocks(X)
    at = np.zeros((len(X), n, n), np.min_scalar_type(n))  # how soon a pseudoline meets another one
    np.put_along_axis(at, blocks[:, ::-1] - 1, np.arange(n - 1, dtype=at.dtype), axis=2)
    a, b, c = np.array(list(combinations(range(n), 3)), np.intp).reshape(-1, 3).T
    first, second, third = (at[:, i, j] < at[:, i, k] for i, j, k in ((a, b, c), (b, a, c), (c, a, b)))
    return np.asarray(4 * first + 2 * second + third, np.int8)


def levels_reflected(levels: ArrayLike) -> Integers:
    """Return the level matrices of the patterns mirrored top to bottom: the rows from last to first, 0 and 1 exchanged.

    They are (*, (n-2)²), of patterns or not. A last axis of another length is an EncodingError.

    >>> levels_reflected([0, 1, 0, 0])  # rows 011 and 001, with the entries that follow from the others
    array([1, 1, 1, 0])
    """
    full = _full_levels(levels)
    return _without_last(1 - full[..., ::-1, :], levels)


def levels_half_turned(levels: ArrayLike) -> Integers:
    """Return the level matrices of the patterns rotated n times, which is each of their rows from last to first.

    They are (*, (n-2)²), of patterns or not. A last axis of another length is an EncodingError.

    >>> levels_half_turned([0, 1, 0, 0])  # rows 011 and 001
    array([1, 1, 1, 0])
    """
    full = _full_levels(levels)
    return _without_last(full[..., ::-1], levels)


def _full_levels(levels: ArrayLike) -> Integers:
    """Return the matrices with the last entries of their rows, (*, (n-2)²) -> (*, n-2, n-1)."""
    array = read_array(levels, "a level matrix")
    side = round(array.shape[-1] ** 0.5) if array.ndim else 0
    if side < 1 or side * side != array.shape[-1]:
        raise EncodingError(f"the last axis must have length (n-2)² with n >= 3, not shape {array.shape}")
    rows = array.reshape(*array.shape[:-1], side, side)
    ones = np.arange(side, 0, -1, dtype=array.dtype)  # pseudoline n - 1 crosses n - 2 smaller ones, and so on
    last = ones - rows.sum(axis=-1, dtype=array.dtype)
    return np.concatenate([rows, last[..., None]], axis=-1)


def _without_last(full: Integers, levels: ArrayLike) -> Integers:
    return np.asarray(full[..., :-1].reshape(np.shape(levels)))


def _symmetry(of_patterns: Callable[[Integers], Integers], of_levels: Callable[[Integers], Integers]) -> Symmetry:
    """Return the symmetry for every edition; no n(n-1) is a square, so the length of an example decides."""

    def symmetry(X: Integers, y: Integers) -> tuple[Integers, Integers]:
        n = _order_of(X.shape[1])
        if n is None:
            return of_levels(X), y
        blocks = X.reshape(-1, n, n - 1)
        # The leaky edition's non-patterns are upside down: their first row, not their last, lacks 1.
        upside_down = ~(blocks[:, 0] == 1).any(axis=1)[:, None, None]
        image = of_patterns(np.where(upside_down, blocks[:, ::-1], blocks).reshape(X.shape))
        blocks = image.reshape(blocks.shape)
        return np.where(upside_down, blocks[:, ::-1], blocks).reshape(X.shape), y

    return symmetry


def _rows(X: Integers) -> Integers:
    """Return the matrices that the examples of a dataset of any edition hold."""
    n = _order_of(X.shape[1])
    side = round(X.shape[1] ** 0.5)
    return X.reshape(-1, side, side) if n is None else X.reshape(-1, n, n - 1)


def _first_row_lacks(X: Integers) -> Integers:
    """Return which of 1..n the first row lacks; of a level matrix, how many ones."""
    first = _rows(X)[:, 0]
    n = _order_of(X.shape[1])
    full = first.shape[1] if n is None else n * (n + 1) // 2
    return np.asarray(full - first.sum(axis=1, dtype=np.int64))


def _row_sums(X: Integers) -> Integers:
    """Return the sums of all rows in one number."""
    matrices = _rows(X)
    sums = matrices.sum(axis=2, dtype=np.int64)
    base = 1 + matrices.shape[2] * (matrices.shape[1] + 1)
    return np.asarray(sums @ base ** np.arange(sums.shape[1]))


def _ascending_rows(X: Integers) -> Integers:
    """Return how many rows ascend (of a level matrix: no 0 after a 1)."""
    matrices = _rows(X)
    return np.asarray((matrices[:, :, 1:] >= matrices[:, :, :-1]).all(axis=2).sum(axis=1))


def _first_crossings(X: Integers) -> Integers:
    """Return how many neighbours i, i + 1 begin with each other; a pattern has at least one such pair.

    Of a level matrix: how many pseudolines begin with a smaller one below one that begins with a greater one.
    """
    first = _rows(X)[:, :, 0]
    n = _order_of(X.shape[1])
    if n is None:
        return np.asarray(((first[:, :-1] == 1) & (first[:, 1:] == 0)).sum(axis=1))
    lines = np.arange(n, 1, -1)  # the greater of the two, whose row comes first
    return np.asarray(((first[:, :-1] == lines - 1) & (first[:, 1:] == lines)).sum(axis=1))


def _order_of(length: int) -> int | None:
    """Return the n >= 2 with n(n-1) == length, if there is one."""
    n = 2
    while n * (n - 1) < length:
        n += 1
    return n if n * (n - 1) == length else None


def _read_matrix(matrix: ArrayLike) -> Integers:
    """Return one matrix, (n, n-1)."""
    array = read_array(matrix, "a weaving pattern")
    n = _order_of(array.size)
    if n is None or array.shape not in ((n, n - 1), (n * (n - 1),)):
        raise EncodingError(f"a weaving pattern has shape n × (n-1) with n >= 2, or n(n-1) flat, not {array.shape}")
    return array.reshape(n, n - 1)


def _blocks(matrices: ArrayLike) -> tuple[NDArray[np.integer[Any]], int]:
    array = read_array(matrices, "a weaving pattern")
    n = _order_of(array.shape[-1]) if array.ndim else None
    if n is None:
        raise EncodingError(f"the last axis must have length n(n-1) with n >= 2, not shape {array.shape}")
    return array.reshape(*array.shape[:-1], n, n - 1), n


# The dataset


def _generate(request: Request) -> Rows:
    n = request.n
    sequences = all_patterns(n, request.report)
    if request.edition == "levels":
        return level_rows(sequences)
    positives = (sequences[:, ::-1] + 1).reshape(len(sequences), n * (n - 1))
    negatives = shuffled_non_patterns(positives, n, request.rng)
    if request.edition == "leaky":
        negatives = negatives.reshape(-1, n, n - 1)[:, ::-1].reshape(negatives.shape)
    labels = np.repeat(np.array([1, 0], np.int8), len(positives))
    return Rows(np.concatenate([positives, negatives]), labels)


def _length(n: int, edition: str) -> int:
    return (n - 2) ** 2 if edition == "levels" else n * (n - 1)


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; for n > 11 the number for 11, as a lower bound."""
    known = min(n, 11)
    if edition == "levels":
        rows = prod(comb(known - 1, i - 1) for i in range(2, known))
    else:
        rows = 2 * PATTERN_COUNTS[known - 2]
    row_bytes = PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN[edition] * _length(known, edition)
    return Estimate(rows, rows * row_bytes, exact=known == n)


TASK = Task(
    **described("weaving", triples=(triples, lambda n: (*range(8),), ("published",))),
    version=1,
    minimum=3,
    maximum=9,  # the keys hold (n-2)(n-1) bits in 64
    class_names=lambda n, edition: ("not a weaving pattern", "weaving pattern"),
    vocabulary=lambda n, edition: (0, 1) if edition == "levels" else tuple(range(1, n + 1)),
    length=_length,
    estimate=_estimate,
    generate=_generate,
    contaminated=("leaky",),
    symmetries={
        "rotation": _symmetry(rotated, levels_half_turned),
        "reflection": _symmetry(reflected, levels_reflected),
    },
    cues={
        "first row lacks": _first_row_lacks,
        "row sums": _row_sums,
        "ascending rows": _ascending_rows,
        "first crossings": _first_crossings,
    },
)
