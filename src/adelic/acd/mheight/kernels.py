"""Compiled enumeration of the mHeight data set. Importing this module loads numba."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels import njit

MISSING = 1 << 30  # the height of a permutation without a 3412 pattern


@njit(cache=True)
def least_height(w: NDArray[Any]) -> int:
    """Return the least a_i - a_l over the 3412 patterns of w, or MISSING.

    A pair (i, l) with a_i > a_l lies in a 3412 pattern exactly if the first entry after i that is greater than a_i
    stands before the last entry before l that is less than a_l.
    """
    n = len(w)
    next_greater = np.full(n, n, np.int64)
    last_smaller = np.full(n, -1, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            if w[j] > w[i]:
                next_greater[i] = j
                break
        for j in range(i - 1, -1, -1):
            if w[j] < w[i]:
                last_smaller[i] = j
                break
    least = MISSING
    for i in range(n):
        for last in range(i + 3, n):  # a 4 and a 1 stand between the 3 and the 2
            if w[last] < w[i] and w[i] - w[last] < least and next_greater[i] < last_smaller[last]:
                least = w[i] - w[last]
    return least


@njit(cache=True)
def raised_threshold(w: NDArray[Any], size: int, threshold: int) -> int:
    """Return the greatest 2 of all 423 patterns among the first `size` entries, given that of the first size - 1.

    A later entry below the threshold would complete a 4231 pattern.
    """
    three = w[size - 1]
    four_seen = False
    for b in range(size - 1):
        if w[b] > three:
            four_seen = True
        elif four_seen and w[b] > threshold:
            threshold = w[b]
    return threshold


@njit(cache=True)
def labels_of(permutations: NDArray[Any]) -> NDArray[np.int64]:
    """Return the mHeight of each permutation of 0..n-1 or of 1..n, (rows, n) -> (rows,); -1 where there is none."""
    labels = np.full(len(permutations), -1, np.int64)
    for row, w in enumerate(permutations):
        threshold = -1
        avoids = True
        for size in range(1, len(w) + 1):
            if w[size - 1] < threshold:
                avoids = False
                break
            threshold = raised_threshold(w, size, threshold)
        if avoids:
            least = least_height(w)
            if least != MISSING:
                labels[row] = least - 1
    return labels


@njit(cache=True)
def rows_from(first: int, n: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the permutations of 0..n-1 that begin with `first`, avoid 4231 and contain 3412, and their labels.

    Backtracking over prefixes, in lexicographic order. A prefix is kept while every unused value is above its
    threshold; such a prefix always has a completion (the unused values in ascending order), so there are no dead ends.
    """
    rows = np.empty((1024, n), np.int8)
    labels = np.empty(1024, np.int8)
    filled = 0
    w = np.full(n, -1, np.int8)
    used = np.zeros(n, np.bool_)
    thresholds = np.full(n + 1, -1, np.int64)
    w[0] = first
    used[first] = True
    depth = 1
    while depth > 0:
        if depth == n:
            least = least_height(w)
            if least != MISSING:
                if filled == len(rows):
                    rows = np.concatenate((rows, np.empty_like(rows)))
                    labels = np.concatenate((labels, np.empty_like(labels)))
                for place in range(n):  # a slice has numba compile the texts of its errors, which takes seconds
                    rows[filled, place] = w[place]
                labels[filled] = least - 1
                filled += 1
            depth -= 1
            used[w[depth]] = False  # it stays in w, for the next candidate is the one above it
            continue
        value = w[depth] + 1  # the next candidate for this place; w[depth] is -1 on the first visit
        while value < n and used[value]:
            value += 1
        if value == n:
            w[depth] = -1
            depth -= 1
            if depth > 0:
                used[w[depth]] = False
            continue
        w[depth] = value
        used[value] = True
        thresholds[depth + 1] = raised_threshold(w, depth + 1, thresholds[depth])
        least_unused = 0
        while least_unused < n and used[least_unused]:
            least_unused += 1
        if least_unused > thresholds[depth + 1]:
            depth += 1
        else:
            used[value] = False
    return rows[:filled].copy(), labels[:filled].copy()
