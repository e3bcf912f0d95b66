"""Semistandard tableaux of three rows: standard forms, promotion, evacuation, counting and ranking.

A 3 × r tableau is semistandard if its rows weakly increase from left to right and its columns strictly increase from
top to bottom; r is its rank. All functions take one tableau, shape (3, r), or any batch of them, (*, 3, r); the rows of
the dataset are tableaux of rank 4 written row by row, (*, 12), and are taken as well. (So a last axis of length 12
always means rank 4.)

The symmetries. Promotion moves every letter on by one, cyclically: on a single column it is i -> i + 1, n -> 1. It is
composed of Bender-Knuth involutions t_(n-1), ..., t_1, in this order, where t_i exchanges how often i and i + 1 occur.
In terms of the shapes λ^(i) that the letters 1..i fill, t_i changes only λ^(i), by

    λ^(i)_j  ->  min(λ^(i+1)_j, λ^(i-1)_(j-1)) + max(λ^(i+1)_(j+1), λ^(i-1)_j) - λ^(i)_j .

This is the inverse of Schützenberger's promotion by jeu de taquin, and what Sage calls `promotion`. Evacuation turns a
rectangular tableau upside down and replaces i by n + 1 - i. The two generate the dihedral group of order 2n.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.acd.permutations import Int8, Int64, read_array
from adelic.data.protocol import Integers
from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number

ROWS = 3
FLAT_LENGTH = 12  # 3 × 4, written row by row
GREATEST_LETTER = 127  # int8


def read_tableaux(tableaux: ArrayLike, n: int = GREATEST_LETTER) -> tuple[Int8, tuple[int, ...], tuple[int, ...]]:
    """Return tableaux as one batch (count, 3, r), with the shape of that which was given and its batch axes.

    They are whole numbers (*, 3, r) or (*, 12), semistandard, of letters 1 to n; an EncodingError says where they are
    not.

    >>> read_tableaux([1, 2, 6, 9, 7, 8, 8, 11, 9, 10, 10, 12])
    (array([[[ 1,  2,  6,  9],
            [ 7,  8,  8, 11],
            [ 9, 10, 10, 12]]], dtype=int8), (12,), ())
    """
    greatest = check_letters(n)
    array = read_array(tableaux, "a tableau")
    if array.ndim >= 1 and array.shape[-1] == FLAT_LENGTH:
        batch = array.shape[:-1]
    elif array.ndim >= 2 and array.shape[-2] == ROWS and array.shape[-1] > 0:
        batch = array.shape[:-2]
    else:
        raise EncodingError(f"tableaux have shape (*, 3, rank), or (*, 12) for rank 4, not {array.shape}")
    rank = FLAT_LENGTH // ROWS if array.shape[-1] == FLAT_LENGTH else array.shape[-1]
    wide = array.reshape(prod(batch), ROWS, rank)  # -1 would not do for an empty batch
    if wide.size and not 1 <= wide.min() <= wide.max() <= greatest:
        wrong = wide[(wide < 1) | (wide > greatest)][0]
        raise EncodingError(f"{wrong} is not a letter of a tableau with letters 1..{greatest}")
    T = wide.astype(np.int8)
    good = (np.diff(T, axis=2) >= 0).all(axis=(1, 2)) & (np.diff(T, axis=1) > 0).all(axis=(1, 2))
    if not good.all():
        raise EncodingError(
            f"{T[~good][0].tolist()} is not semistandard: rows must weakly and columns strictly increase"
        )
    return T, array.shape, batch


def check_letters(n: object) -> int:
    """Return the number of letters as an int; EncodingError unless it is a whole number from 3 to 127.

    >>> check_letters(2)
    Traceback (most recent call last):
    adelic.errors.EncodingError: n=2 letters: a tableau of three rows needs a whole number from 3 to 127
    """
    number = whole_number(n)
    if number is None or not ROWS <= number <= GREATEST_LETTER:
        raise EncodingError(
            f"n={shown(n)} letters: a tableau of three rows needs a whole number from 3 to {GREATEST_LETTER}"
        )
    return number


def standardise(tableaux: ArrayLike) -> Int8:
    """Return the tableaux with the m letters that occur in each renamed 1, ..., m in ascending order.

    Whether a tableau of rank 2 or more is a cluster variable depends on this alone. (It is not the standardisation that
    makes the letters different from each other.)

    Args:
        tableaux: shape (*, 3, r) or (*, 12).

    Returns:
        int8, of the same shape.

    Raises:
        EncodingError: no semistandard tableaux.

    >>> standardise([[1, 2, 6, 9], [7, 8, 8, 11], [9, 10, 10, 12]]).tolist()
    [[1, 2, 3, 6], [4, 5, 5, 8], [6, 7, 7, 9]]
    """
    T, shape, _ = read_tableaux(tableaux)
    return standard_forms(T)[0].reshape(shape)


def promotion(tableaux: ArrayLike, n: int) -> Int8:
    """Return the promoted tableaux: i becomes i + 1 and n becomes 1, and a slide makes them semistandard again.

    Args:
        tableaux: shape (*, 3, r) or (*, 12), letters 1..n.
        n: the number of letters, at most 127; the n-th power of promotion is the identity.

    Returns:
        int8, of the same shape.

    Raises:
        EncodingError: no semistandard tableaux with letters 1..n.

    >>> promotion([[1], [4], [6]], 6).tolist(), promotion([[1, 3], [2, 5], [4, 6]], 6).tolist()
    ([[1], [2], [5]], [[1, 2], [3, 4], [5, 6]])
    """
    T, shape, _ = read_tableaux(tableaux, n)
    return promoted(T, np.full(len(T), n)).reshape(shape)


def evacuation(tableaux: ArrayLike, n: int) -> Int8:
    """Return the tableaux turned upside down with n + 1 - i for i; an involution.

    Arguments, result and errors are those of `promotion`.

    >>> evacuation([[1, 3], [2, 5], [4, 6]], 6).tolist()
    [[1, 3], [2, 5], [4, 6]]
    """
    T, shape, _ = read_tableaux(tableaux, n)
    return evacuated(T, np.full(len(T), n)).reshape(shape)


def standard_forms(T: Int8) -> tuple[Int8, Int64]:
    """Return the batch (count, 3, r) with its letters renamed 1..m, and how many there were in each tableau.

    >>> standard_forms(np.array([[[2, 2], [4, 5], [7, 7]]], np.int8))
    (array([[[1, 1],
            [2, 3],
            [4, 4]]], dtype=int8), array([4]))
    """
    smaller = _present(T).cumsum(axis=1, dtype=np.int8)  # how many of the letters 0..l occur
    renamed = np.take_along_axis(smaller, flat(T).astype(np.intp), axis=1)
    return renamed.reshape(T.shape), smaller[:, -1].astype(np.int64)


def occurring_letters(T: Int8) -> Int8:
    """Return the letters that occur in each tableau of a batch, ascending, (count, 3r); the rest means nothing.

    >>> occurring_letters(np.array([[[2, 2], [4, 5], [7, 7]]], np.int8))[:, :4].tolist()
    [[2, 4, 5, 7]]
    """
    present = _present(T)
    order = np.argsort(~present, axis=1, kind="stable")[:, : flat(T).shape[1]]
    return order.astype(np.int8)


def flat(T: Int8) -> Int8:
    """Return the batch (count, 3, r) row by row, (count, 3r).

    >>> flat(np.empty((0, 3, 4), np.int8)).shape
    (0, 12)
    """
    return T.reshape(len(T), T.shape[1] * T.shape[2])


def _present(T: Int8) -> NDArray[np.bool_]:
    # Room for every letter, and 3r columns at least, from which `occurring_letters` takes as many.
    present = np.zeros((len(T), int(T.max(initial=0)) + T.shape[1] * T.shape[2] + 1), np.bool_)
    present[np.arange(len(T))[:, None], flat(T)] = True
    return present


def promoted(T: Int8, n: Integers) -> Int8:
    """Return the promotion of a batch (count, 3, r), where tableau i has the letters 1..n[i].

    >>> promoted(np.array([[[1], [2], [3]], [[1], [2], [3]]], np.int8), np.array([3, 4])).tolist()
    [[[1], [2], [3]], [[2], [3], [4]]]
    """
    count, _, rank = T.shape
    most = int(n.max(initial=0))
    # shapes[:, i, j + 1] = λ^(i)_j; column 0 is as good as infinite, the last one is the row below the tableau.
    shapes = np.zeros((count, most + 1, ROWS + 2), np.int16)
    shapes[:, :, 0] = rank
    for i in range(1, most + 1):
        shapes[:, i, 1:-1] = (i >= T).sum(axis=2)
    for i in range(most - 1, 0, -1):
        below, here, above = shapes[:, i - 1], shapes[:, i], shapes[:, i + 1]
        toggled = np.minimum(above[:, 1:-1], below[:, :-2]) + np.maximum(above[:, 2:], below[:, 1:-1]) - here[:, 1:-1]
        # The involutions of a tableau with fewer letters begin further down, with t_(n[i] - 1).
        here[:, 1:-1] = np.where((i < n)[:, None], toggled, here[:, 1:-1])
    return from_shapes(shapes[:, :, 1:-1], rank)


def from_shapes(shapes: Integers, rank: int) -> Int8:
    """Return the tableaux (count, 3, rank) in which the letters 1..i fill the shape shapes[:, i], i = 0, 1, ...

    >>> from_shapes(np.array([[[0, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 1], [2, 2, 2]]]), 2).tolist()
    [[[1, 1], [2, 3], [3, 4]]]
    """
    # In column j of a row stands the first letter with which the row is longer than j.
    columns = [np.count_nonzero(shapes <= j, axis=1) for j in range(rank)]
    return np.stack(columns, axis=2).astype(np.int8)


def evacuated(T: Int8, n: Integers) -> Int8:
    """Return the evacuation of a batch (count, 3, r), where tableau i has the letters 1..n[i].

    >>> evacuated(np.array([[[1], [2], [4]]], np.int8), np.array([5])).tolist()
    [[[2], [4], [5]]]
    """
    return (n[:, None, None] + 1 - T[:, ::-1, ::-1]).astype(np.int8)


def keys(T: Int8) -> Int64:
    """Return for each tableau with letters 1..16 its entries, four bits each; of equal rank, keys sort as rows do.

    >>> hex(keys(np.array([[[1, 1], [2, 3], [3, 4]]], np.int8))[0])
    '0x1223'
    """
    packed = np.zeros(len(T), np.int64)
    for entry in flat(T).T:
        packed = packed << 4 | (entry.astype(np.int64) - 1)
    return packed


def from_keys(packed: Int64, rank: int) -> Int8:
    """Return the tableaux (count, 3, rank) of these keys.

    >>> from_keys(np.array([0x1223]), 2).tolist()
    [[[1, 1], [2, 3], [3, 4]]]
    """
    shifts = np.arange(4 * (ROWS * rank - 1), -1, -4)
    return ((packed[:, None] >> shifts & 15) + 1).astype(np.int8).reshape(-1, ROWS, rank)


@cache
def standard_tableaux(rank: int) -> Int8:
    """Return all 3 × rank tableaux in which each of the letters 1..3·rank occurs once, in lexicographic order.

    >>> standard_tableaux(2).reshape(-1, 6).tolist()
    [[1, 2, 3, 4, 5, 6], [1, 2, 3, 5, 4, 6], [1, 3, 2, 4, 5, 6], [1, 3, 2, 5, 4, 6], [1, 4, 2, 5, 3, 6]]
    """
    grown: list[tuple[tuple[int, ...], ...]] = [((), (), ())]
    for letter in range(1, ROWS * rank + 1):
        grown = [
            (*T[:i], (*T[i], letter), *T[i + 1 :])
            for T in grown
            for i in range(ROWS)
            if len(T[i]) < (rank if i == 0 else len(T[i - 1]))
        ]
    return np.array(sorted(grown), np.int8)


def tableaux_of_content(content: Sequence[int]) -> Int8:
    """Return all semistandard tableaux in which letter i + 1 occurs content[i] times, in lexicographic order.

    They come from the standard tableaux whose descents (i such that i + 1 stands in a lower row) are all between two
    different letters, when the letters are written down in ascending order. The content has the sum 3·rank.

    >>> tableaux_of_content((2, 1, 2, 1)).reshape(-1, 6).tolist()
    [[1, 1, 2, 3, 3, 4]]
    """
    letters = np.repeat(np.arange(1, len(content) + 1, dtype=np.int8), content)
    standard = standard_tableaux(len(letters) // ROWS)
    row_of = np.argsort(standard.reshape(len(standard), -1), axis=1) // standard.shape[2]  # of letter 1, 2, ...
    descends = np.diff(row_of, axis=1) > 0
    good = ~(descends & (letters[1:] == letters[:-1])).any(axis=1)
    return np.asarray(letters[standard[good].astype(np.intp) - 1])


class TableauOrder:
    """All 3 × rank tableaux with letters 1..n in lexicographic order of their columns, found by their place in it.

    A tableau is a chain of `rank` columns, each entry by entry at most as great as the next one. The numbers of chains
    that begin with a given column, and so all places, follow by dynamic programming over the C(n, 3) columns.

    >>> order = TableauOrder(4, 12)
    >>> order.total, order[np.array([0, 13026012])].reshape(2, 12).tolist()
    (13026013, [[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], [10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12]])
    """

    def __init__(self, rank: int, n: int) -> None:
        self.rank = rank
        self.columns = np.array(list(combinations(range(1, n + 1), ROWS)), np.int8)
        self._place = np.zeros((n + 1,) * ROWS, np.int64)
        self._place[tuple(self.columns.T)] = np.arange(len(self.columns))
        follows = (self.columns[:, None] <= self.columns[None]).all(axis=2)
        chains = np.ones(len(self.columns), np.int64)
        self._upto: list[Int64] = []  # [s][p, q]: chains of s + 1 columns after p whose first is at most q
        for _ in range(rank):
            self._upto.append(np.cumsum(follows * chains, axis=1))
            chains = self._upto[-1][:, -1]
        self.total = int(chains[0])  # every column may follow the first, 1 2 3

    def places(self, T: Int8) -> Int64:
        """Return the places, from 0, of a batch of tableaux (count, 3, rank).

        >>> TableauOrder(1, 4).places(np.array([[[1], [3], [4]]], np.int8))
        array([2])
        """
        places = np.zeros(len(T), np.int64)
        previous = np.zeros(len(T), np.int64)
        for j in range(self.rank):
            column = self._place[tuple(T[:, :, j].T)]
            upto = self._upto[self.rank - 1 - j]
            places += np.where(column > 0, upto[previous, column - 1], 0)
            previous = column
        return places

    def __getitem__(self, places: Int64) -> Int8:
        """Return the tableaux (count, 3, rank) at these places."""
        left = places.astype(np.int64)
        T = np.empty((len(left), ROWS, self.rank), np.int8)
        previous = np.zeros(len(left), np.int64)
        count = len(self.columns)
        for j in range(self.rank):
            upto = self._upto[self.rank - 1 - j]
            # One ascending table for all previous columns, so one binary search serves all.
            table = (upto + np.arange(count)[:, None] * self.total).reshape(-1)
            column = np.searchsorted(table, left + previous * self.total, side="right") - previous * count
            left -= np.where(column > 0, upto[previous, column - 1], 0)
            T[:, :, j] = self.columns[column]
            previous = column
        return T


def relabellings(m: int, n: int) -> Int8:
    """Return the C(n, m) ascending choices of m among the letters 1..n, shape (C(n, m), m).

    >>> relabellings(2, 3).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    chosen: Any = (letter for letters in combinations(range(1, n + 1), m) for letter in letters)
    return np.fromiter(chosen, np.int8, comb(n, m) * m).reshape(-1, m)
