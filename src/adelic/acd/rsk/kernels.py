"""Compiled Schensted insertion for many permutations. Importing this module loads numba."""

import numpy as np
from numpy.typing import NDArray

from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels import njit

Int8 = NDArray[np.int8]


@njit(cache=True)
def encode(word: Int8, x: Int8, y: Int8, insertion: Int8, recording: Int8, row_lengths: Int8) -> None:
    """Write the tokens of the two tableaux of a permutation of 1..n to x, and its inversion vector to y.

    Shapes are (n,) of the word, (6n+6,) of x and (n(n-1)/2,) of y; of the work space (n, n), (n, n) and (n,).
    """
    n = len(word)
    rows = 0
    for i in range(n):
        value = word[i]
        row = 0
        while row < rows:
            size = row_lengths[row]
            column = 0
            while column < size and insertion[row, column] < value:
                column += 1
            if column == size:
                break
            bumped = insertion[row, column]
            insertion[row, column] = value
            value = bumped
            row += 1
        if row == rows:
            row_lengths[row] = 0
            rows += 1
        insertion[row, row_lengths[row]] = value
        recording[row, row_lengths[row]] = i + 1
        row_lengths[row] += 1

    opening, closing, padding = 0, n + 1, n + 2
    x[0] = opening
    place = 1
    for tableau in (insertion, recording):
        x[place] = opening
        place += 1
        for row in range(rows):
            x[place] = opening
            place += 1
            for column in range(row_lengths[row]):
                x[place] = tableau[row, column]
                place += 1
            x[place] = closing
            place += 1
        x[place] = closing
        place += 1
    x[place] = closing
    x[place + 1 :] = padding

    place = 0
    for i in range(n):
        for j in range(i + 1, n):
            y[place] = word[i] > word[j]
            place += 1


@njit(cache=True)
def encode_all(words: Int8, X: Int8, Y: Int8) -> None:
    """Write the tokens of the tableaux of each permutation to X, and its inversion vector to Y, row by row."""
    n = words.shape[1]
    insertion, recording, row_lengths = np.empty((n, n), np.int8), np.empty((n, n), np.int8), np.empty(n, np.int8)
    for row in range(len(words)):
        encode(words[row], X[row], Y[row], insertion, recording, row_lengths)
