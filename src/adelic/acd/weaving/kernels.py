"""The sweep that recognises weaving patterns, compiled, for many at once. Importing this module loads numba."""

import numpy as np
from numpy.typing import NDArray

from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels import njit


@njit(cache=True)
def are_patterns(matrices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each n × (n-1) matrix whether it is a weaving pattern; see `weaving.is_weaving_pattern`.

    They are (matrices, n, n-1), the rows of pseudolines n, ..., 1. Entries outside 1..n must be 0.
    """
    count, n, width = matrices.shape
    answers = np.zeros(count, np.bool_)
    order = np.empty(n, np.int64)  # 0-based pseudolines from top to bottom where the sweep stands
    done = np.empty(n, np.int64)  # how many crossings each has behind it
    for index in range(count):
        matrix = matrices[index]
        if not _has_right_letters(matrix):
            continue
        for line in range(n):
            order[line] = line
            done[line] = 0
        crossings = 0
        place = 0
        while place < n - 1:
            upper, lower = order[place], order[place + 1]
            # Line i (from 0) has row n - 1 - i. What has not crossed yet has not all its crossings behind it.
            if (
                upper > lower
                or matrix[n - 1 - upper, done[upper]] != lower + 1
                or matrix[n - 1 - lower, done[lower]] != upper + 1
            ):
                place += 1
                continue
            order[place], order[place + 1] = lower, upper
            done[upper] += 1
            done[lower] += 1
            crossings += 1
            # The pair above has another lower pseudoline now, and may cross.
            place = max(place - 1, 0)
        answers[index] = crossings == n * width // 2
    return answers


@njit(cache=True)
def _has_right_letters(matrix: NDArray[np.int64]) -> bool:
    """Return whether every row has all of 1..n but its own pseudoline's number."""
    n, width = matrix.shape
    seen = np.full(n + 1, -1, np.int64)  # the last row in which each number was met
    for row in range(n):
        for place in range(width):
            entry = matrix[row, place]
            if entry == 0 or entry == n - row or seen[entry] == row:
                return False
            seen[entry] = row
    return True
