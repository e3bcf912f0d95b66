"""Robinson-Schensted-Knuth: the permutation that two standard Young tableaux of the same shape belong to.

Schensted's row insertion takes the entries of a permutation w of 1..n one by one: an entry goes into the first row, to
the position of the least greater one, which goes into the second row likewise, and so on; if there is no greater one
it is appended. P holds the result, and Q the step at which each cell was filled. w -> (P, Q) is a bijection onto the
pairs of standard Young tableaux of the same shape. Sources: Schensted, "Longest increasing and decreasing
subsequences" (1961); Stanley, "Enumerative Combinatorics 2", section 7.11.

The input is (P, Q), the output is w as its inversion vector: for the pairs i < j in lexicographic order 1 where w(i) >
w(j), else 0. All n! permutations in lexicographic order are the examples. The task is a regression with n(n-1)/2
targets of 0 and 1.

Tokens: what Sage prints for the pair, [P, Q] with a list for each tableau and in it one for each row, read from left to
right: 0 is "[", 1..n are the entries, n+1 is "]", and n+2 pads at the end. The pair [[1, 3], [2]], [[1, 2], [3]] is

    [ [ [ 1 3 ] [ 2 ] ] [ [ 1 2 ] [ 3 ] ] ]        0 0 0 1 3 4 0 2 4 4 0 0 1 2 4 0 3 4 4 4 5 5 5 5

With r rows there are 2n + 4r + 6 tokens before the padding, so the length is 6n + 6: 54, 60 and 66 for n = 8, 9, 10.
This is what the published loader does, brackets, padding and order of the pairs i < j included. The split is the
published one too: of the permutations in lexicographic order the first ⌈0.8 n!⌉ that NumPy's seed 32 draws are for
training. Settled here: a tenth of these, drawn at random, are for validation.

Two symmetries of permutations generate the dihedral group of eight, and act on tableaux and targets. Neither leaves the
targets as they are; both compute them anew:

- `inverse`: the inverse permutation exchanges P and Q (Schützenberger). About four of five test examples so have a
  partner outside test, the same two tableaux in the other order.
- `reversal`: w(n), ..., w(1) transposes P (Schensted), and Q becomes the transpose of its evacuation.

One part of the answer can be read off without any insertion: w(i) > w(i+1) exactly if i + 1 is in a lower row of Q
than i (i is a descent of Q). That is n - 1 of the targets.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise
from math import comb, factorial, isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.acd import permutations as many
from adelic.acd.facts import described
from adelic.data.protocol import Estimate, Integers, Request, Rows, Task
from adelic.data.splits import published_test
from adelic.errors import EncodingError
from adelic.storage.checks import shown

Tableau = list[list[int]]

OPENING = 0

# Measured at the peak of a build, with the Parquet file, written by groups of rows, and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 40
PEAK_BYTES_PER_TOKEN = 3
PEAK_BYTES_PER_WRITTEN_ROW = 400


def rsk(permutation: Iterable[int]) -> tuple[Tableau, Tableau]:
    """Return the insertion tableau P and the recording tableau Q of a permutation of 1..n, as lists of rows.

    Raises:
        EncodingError: `permutation` is not a permutation of 1..n.

    >>> rsk([3, 1, 2])
    ([[1, 2], [3]], [[1, 3], [2]])
    """
    P: Tableau = []
    Q: Tableau = []
    for step, value in enumerate(many.read_permutation(permutation), start=1):
        for row, recorded in zip(P, Q, strict=True):
            place = next((column for column, entry in enumerate(row) if entry > value), None)
            if place is None:
                row.append(value)
                recorded.append(step)
                break
            row[place], value = value, row[place]
        else:
            P.append([value])
            Q.append([step])
    return P, Q


def inverse_rsk(P: Iterable[Iterable[int]], Q: Iterable[Iterable[int]]) -> tuple[int, ...]:
    """Return the permutation of which P is the insertion tableau and Q the recording tableau.

    Args:
        P: a standard Young tableau, row by row.
        Q: one of the same shape.

    Raises:
        EncodingError: P or Q is not a standard Young tableau, or they have different shapes.

    >>> inverse_rsk([[1, 2], [3]], [[1, 3], [2]])
    (3, 1, 2)
    """
    rows, steps = _read_tableau(P), _read_tableau(Q)
    if [len(row) for row in rows] != [len(row) for row in steps]:
        raise EncodingError(
            f"the tableaux must have the same shape, not {shown([len(row) for row in rows])} and "
            f"{shown([len(row) for row in steps])}"
        )
    word = []
    for step in range(sum(map(len, steps)), 0, -1):
        last = next(index for index, row in enumerate(steps) if row and row[-1] == step)
        steps[last].pop()
        value = rows[last].pop()
        for row in reversed(rows[:last]):  # the greatest smaller entry bumped this one
            place = max(column for column, entry in enumerate(row) if entry < value)
            row[place], value = value, row[place]
        word.append(value)
    return tuple(reversed(word))


def inversion_vector(permutation: Iterable[int]) -> tuple[int, ...]:
    """Return for the pairs i < j, in lexicographic order, 1 where w(i) > w(j), else 0.

    Raises:
        EncodingError: `permutation` is not a permutation of 1..n.

    >>> inversion_vector([3, 1, 2])
    (1, 1, 0)
    """
    return tuple(int(one > other) for one, other in combinations(many.read_permutation(permutation), 2))


def permutations_of(inversions: ArrayLike) -> NDArray[np.int8]:
    """Return the permutations of 1..n that have these inversion vectors.

    Args:
        inversions: zeros and ones, shape (*, n(n-1)/2).

    Returns:
        int8, shape (*, n).

    Raises:
        EncodingError: the shape is another, or there is an example that is the inversion vector of no permutation.

    >>> permutations_of([[1, 1, 0], [0, 0, 0]])
    array([[3, 1, 2],
           [1, 2, 3]], dtype=int8)
    """
    bits, n = _read_inversions(inversions)
    rows = bits.reshape(-1, bits.shape[-1])
    words = _words(rows, n)
    wrong = np.flatnonzero((_inversion_bits(words) != rows).any(axis=1))
    if len(wrong):
        bad = rows[wrong[0]].tolist()
        raise EncodingError(f"example {wrong[0]} is the inversion vector of no permutation: {shown(bad)}")
    return words.reshape(*bits.shape[:-1], n)


def bracketed(P: Tableau, Q: Tableau) -> tuple[int, ...]:
    """Return the 6n + 6 tokens of two tableaux, without a check of what they are.

    >>> bracketed([[1, 2]], [[1, 2]])
    (0, 0, 0, 1, 2, 3, 3, 0, 0, 1, 2, 3, 3, 3, 4, 4, 4, 4)
    """
    n = sum(map(len, P))
    row: list[int] = [OPENING]
    for tableau in (P, Q):
        row.append(OPENING)
        for entries in tableau:
            row += [OPENING, *entries, n + 1]
        row.append(n + 1)
    row.append(n + 1)
    return (*row, *[n + 2] * (6 * n + 6 - len(row)))


def encoded(permutations: ArrayLike) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return tokens and inversion vectors of many permutations of 1..n at once.

    From whole numbers (examples, n), 1 <= n <= 100, to int8 (examples, 6n+6) and int8 (examples, n(n-1)/2). An
    EncodingError says that the shape is another, or that one is not a permutation.

    >>> X, y = encoded([[3, 1, 2], [1, 2, 3]])
    >>> X[0].tolist(), y.tolist()
    ([0, 0, 0, 1, 2, 4, 0, 3, 4, 4, 0, 0, 1, 3, 4, 0, 2, 4, 4, 4, 5, 5, 5, 5], [[1, 1, 0], [0, 0, 0]])
    """
    words = many.read_permutations(permutations, 1)
    if words.ndim != 2 or not 1 <= words.shape[1] <= 100:
        raise EncodingError(f"permutations must have shape (examples, n) with 1 <= n <= 100, not {words.shape}")
    words = words.astype(np.int8)
    return many.in_chunks(_tokens, words), _inversion_bits(words)


def _tokens(words: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the tokens of P and Q of permutations, (examples, n), by Schensted insertion into all P at once."""
    count, n = words.shape
    absent, opening, closing = np.int8(-1), np.full(count, OPENING, np.int8), np.full(count, n + 1, np.int8)
    # cells[0, i, j] is the entry of P in row i and column j, for every permutation, and cells[1] is Q.
    cells = np.full((2, n, n, count), absent, np.int8)
    for step, value in enumerate(words.T, start=1):
        for row in range(step):
            bumped, is_open = np.full(count, absent, np.int8), value != absent
            for column in range(step // (row + 1)):  # no row is longer than one above it
                P, Q = cells[:, row, column]
                goes_here = is_open & ((value < P) | (absent == P))
                Q[goes_here & (absent == P)] = step
                bumped = np.where(goes_here, P, bumped)
                P[goes_here] = value[goes_here]
                is_open &= ~goes_here
            value = bumped
    # The pair with all its brackets, those of rows that are missing included, which then are left out.
    columns = [opening]
    for tableau in cells:
        columns.append(opening)
        for row in range(n):
            is_row = tableau[row, 0] != absent
            columns.append(np.where(is_row, opening, absent))
            columns += [*tableau[row, : n // (row + 1)], np.where(is_row, closing, absent)]
        columns.append(closing)
    every = np.stack([*columns, closing], axis=1)
    is_there = every != absent
    X = np.full((count, 6 * n + 6), n + 2, np.int8)
    X[np.arange(6 * n + 6) < is_there.sum(axis=1)[:, None]] = every[is_there]
    return X


def inverse(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples of the inverse permutations: P and Q exchanged.

    Shapes are (examples, 6n+6) and (examples, n(n-1)/2); others, or a y that belongs to no permutation, are an
    EncodingError.

    >>> permutations_of(inverse(*encoded([[3, 1, 2]]))[1]).tolist()
    [[2, 3, 1]]
    """
    return _rows_of(many.inverses(_permutations(X, y)) + 1, X, y)


def reversal(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples of the reversed permutations w(n), ..., w(1): P is transposed.

    Arguments and errors are those of `inverse`.

    >>> permutations_of(reversal(*encoded([[3, 1, 2]]))[1]).tolist()
    [[2, 1, 3]]
    """
    return _rows_of(_permutations(X, y)[:, ::-1], X, y)


def _rows_of(words: Integers, X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples of permutations in the types of X and y."""
    tokens, bits = encoded(words)
    return tokens.astype(X.dtype), bits.astype(y.dtype)


def number_of_rows(X: Integers) -> Integers:
    """Return for each example how many rows its tableaux have: the longest decreasing subsequence (Schensted).

    >>> number_of_rows(encoded([[3, 1, 2], [3, 2, 1]])[0]).tolist()
    [2, 3]
    """
    return np.asarray((np.count_nonzero(X == OPENING, axis=1) - 3) // 2)


def descents_of_recording_tableau(X: Integers) -> Integers:
    """Return for each example the descents of Q as a binary number: bit i - 1 says whether w(i) > w(i+1).

    >>> descents_of_recording_tableau(encoded([[3, 1, 2], [1, 3, 2]])[0]).tolist()
    [1, 2]
    """
    n = X.shape[1] // 6 - 1
    every = np.arange(len(X))
    opened = np.zeros(len(X), np.int16)
    row_of = np.zeros((len(X), n + 3), np.int16)  # of each token: where it stands in P at first, and then in Q
    for column in X.T:
        opened += column == OPENING
        row_of[every, column] = opened
    found = np.zeros(len(X), np.int64)
    for i in range(1, n):
        found |= (row_of[:, i] < row_of[:, i + 1]).astype(np.int64) << (i - 1)
    return found


def _words(inversions: Integers, n: int) -> NDArray[np.int8]:
    """Return the permutations with these inversion vectors: w(i) is 1 and the number of j with w(j) < w(i)."""
    words = np.ones((len(inversions), n), np.int8)
    for (i, j), bit in zip(combinations(range(n), 2), inversions.T, strict=True):
        words[:, i] += bit == 1
        words[:, j] += bit == 0
    return words


def _inversion_bits(words: Integers) -> NDArray[np.int8]:
    n = words.shape[1]
    bits = np.empty((len(words), comb(n, 2)), np.int8)
    for place, (i, j) in enumerate(combinations(range(n), 2)):
        bits[:, place] = words[:, i] > words[:, j]
    return bits


def _read_inversions(inversions: ArrayLike) -> tuple[Integers, int]:
    """Return inversion vectors and the n of their permutations."""
    bits = many.read_array(inversions, "an array of inversion vectors")
    length = bits.shape[-1] if bits.ndim else -1
    n = (1 + isqrt(1 + 8 * length)) // 2 if length > 0 else 0
    if not 2 <= n <= 100 or comb(n, 2) != length:
        raise EncodingError(f"the last axis must have length n(n-1)/2 with 2 <= n <= 100, not shape {bits.shape}")
    return bits, n


def _permutations(X: Integers, y: Integers) -> NDArray[np.int8]:
    """Return the permutations of examples; EncodingError if y are no inversion vectors, or shapes are wrong."""
    words = permutations_of(y)
    if words.ndim != 2 or many.read_array(X, "an array of tokens").shape != (len(words), 6 * words.shape[1] + 6):
        raise EncodingError(
            f"tokens and targets must have shapes (count, 6n+6) and (count, n(n-1)/2), not {X.shape} and {y.shape}"
        )
    return words


def _read_tableau(tableau: Iterable[Iterable[object]]) -> Tableau:
    """Return a standard Young tableau as a new list of rows; EncodingError if it is not one."""
    if isinstance(tableau, str | bytes) or not isinstance(tableau, Iterable):
        raise EncodingError(f"a tableau is a sequence of rows, not {shown(tableau)}")
    rows = [list(many.read_sequence(row, "a row of a tableau")) for row in tableau]
    entries = sorted(entry for row in rows for entry in row)
    standard = (
        all(rows)
        and entries == list(range(1, len(entries) + 1))
        and all(left < right for row in rows for left, right in pairwise(row))
        and all(
            len(upper) >= len(lower) and all(above < below for above, below in zip(upper, lower, strict=False))
            for upper, lower in pairwise(rows)
        )
    )
    if not standard:
        raise EncodingError(
            f"{shown(rows)} is not a standard Young tableau: rows no longer than the one above, entries 1..n, once "
            "each, ascending along rows and down columns"
        )
    return rows


def _generate(request: Request) -> Rows:
    n, parts = request.n, []
    words = many.symmetric_group(n) + np.int8(1)
    for first in range(1, n + 1):
        parts.append(encoded(words[words[:, 0] == first]))
        request.report(first, n, "permutations")
    X, y = map(np.concatenate, zip(*parts, strict=True))
    return Rows(X, y, test=published_test(len(X)))


def cells(X: Integers) -> Integers:
    """Return the row and the column in P, and in Q, of each of 1..n, from 0 on.

    From examples (examples, 6n + 6) to int8 (examples, 4n): the rows of 1, ..., n in P, their columns there, the rows
    in Q, the columns in Q.

    >>> cells(encoded([[3, 1, 2]])[0]).tolist()  # P has the rows 1, 2 and 3, Q has 1, 3 and 2
    [[0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1]]
    """
    length = X.shape[1]
    n = length // 6 - 1
    closing = n + 1
    depth = np.cumsum((X == OPENING).astype(np.int8) - np.equal(X, closing), axis=1, dtype=np.int8)
    opens_row = (X == OPENING) & (depth == 3)  # in a tableau, in the pair of both
    row = np.cumsum(opens_row, axis=1, dtype=np.int8)
    n_rows = row[:, -1] // 2  # P and Q have one shape
    at = np.arange(length, dtype=np.int16)
    column = at - np.maximum.accumulate(np.where(opens_row, at, np.int16(0)), axis=1)
    every = np.arange(len(X))
    found = np.empty((len(X), 4, n), np.int8)
    for entry in range(1, n + 1):
        is_here = np.equal(X, entry)
        in_P, in_Q = is_here.argmax(axis=1), length - 1 - is_here[:, ::-1].argmax(axis=1)
        found[:, 0, entry - 1] = row[every, in_P] - 1
        found[:, 1, entry - 1] = column[every, in_P] - 1
        found[:, 2, entry - 1] = row[every, in_Q] - n_rows - 1
        found[:, 3, entry - 1] = column[every, in_Q] - 1
    return found.reshape(len(X), 4 * n)


def _tally(rows: Rows) -> dict[str, int]:
    assert rows.test is not None
    test = int(np.count_nonzero(rows.test))
    n = rows.X.shape[1] // 6 - 1
    return {
        "train": len(rows.test) - test,
        "test": test,
        "tokens in the longest row": int(np.count_nonzero(np.less(rows.X, n + 2), axis=1).max()),
        "target bits": rows.y.shape[1],
    }


def _estimate(n: int, edition: str) -> Estimate:
    """Return n! examples; from n = 25 on the number for 25, as a lower bound."""
    size = min(n, 25)
    rows = factorial(size)
    row_bytes = PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * (6 * size + 6 + comb(size, 2))
    return Estimate(rows, rows * row_bytes + min(rows, 1 << 20) * PEAK_BYTES_PER_WRITTEN_ROW, exact=size == n)


TASK = Task(
    **described("rsk", cells=(cells, lambda n: tuple(range(n)))),
    version=1,
    minimum=2,
    maximum=20,  # 20! < 2^63, the most that an array could count
    class_names=lambda n, edition: None,
    vocabulary=lambda n, edition: tuple(range(n + 3)),
    length=lambda n, edition: 6 * n + 6,
    estimate=_estimate,
    generate=_generate,
    symmetries={"inverse": inverse, "reversal": reversal},
    cues={"number of rows": number_of_rows, "descents of Q": descents_of_recording_tableau},
    tally=_tally,
)
