"""Statistics of many permutations at once: Lehmer codes, descents, exponents of pipe dreams, the Bruhat order.

Every function takes one-line notation along the last axis, (*, n) -> (*, ...), of 0..n-1 or of 1..n.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]


def lehmer_codes(permutations: Integers) -> Int8:
    """Return for each entry the number of later entries that are less, (*, n) -> (*, n); n < 128.

    >>> lehmer_codes(np.array([[3, 1, 2], [3, 2, 1]])).tolist()
    [[2, 0, 0], [2, 1, 0]]
    """
    codes = np.zeros(permutations.shape, np.int8)
    n = permutations.shape[-1]
    for i in range(n):
        for j in range(i + 1, n):
            codes[..., i] += permutations[..., i] > permutations[..., j]
    return codes


def lengths(permutations: Integers) -> Int64:
    """Return the number of inversions, (*, n) -> (*).

    >>> lengths(np.array([[3, 1, 2], [3, 2, 1]])).tolist()
    [2, 3]
    """
    return np.asarray(lehmer_codes(permutations).sum(axis=-1, dtype=np.int64))


def descent_sets(permutations: Integers) -> Int64:
    """Return Σ 2^(i-1) over the descents i, where w(i) > w(i+1), (*, n) -> (*); n < 64.

    >>> descent_sets(np.array([[3, 1, 2], [3, 2, 1]])).tolist()
    [1, 3]
    """
    sets = np.zeros(permutations.shape[:-1], np.int64)
    for i in range(permutations.shape[-1] - 1):
        sets |= (permutations[..., i] > permutations[..., i + 1]).astype(np.int64) << i
    return sets


def inverses(permutations: Integers) -> Int64:
    """Return the inverse permutations of 0..n-1, (*, n) -> (*, n).

    >>> inverses(np.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return np.argsort(permutations, axis=-1)


def top_exponents(permutations: Integers) -> Int8:
    """Return how many crosses each row of the top pipe dream has, (*, n) -> (*, n): row i has #{j: c_j(w^-1) >= i}.

    The bottom pipe dream has the Lehmer code in its rows. Both are exponents of monomials of the Schubert polynomial.

    >>> top_exponents(np.array([1, 3, 2])).tolist()  # S_132 = x_1 + x_2
    [1, 0, 0]
    """
    codes = lehmer_codes(inverses(permutations))
    rows = [np.count_nonzero(codes > i, axis=-1) for i in range(permutations.shape[-1])]
    return np.stack(rows, axis=-1).astype(np.int8)


def bruhat_below(lower: Integers, upper: Integers) -> NDArray[np.bool_]:
    """Return whether lower <= upper in the Bruhat order, broadcasting (*, n) with (*, n); both of the same integers.

    The criterion of ranks: no beginning of `lower` has more entries above a threshold than that of `upper` has.
    (Björner and Brenti, "Combinatorics of Coxeter groups", Theorem 2.1.5.)

    >>> bruhat_below(np.array([2, 1, 3]), np.array([[3, 1, 2], [1, 3, 2]])).tolist()
    [True, False]
    """
    n = upper.shape[-1]
    shape = np.broadcast_shapes(lower.shape[:-1], upper.shape[:-1])
    below = np.ones(shape, np.bool_)
    for threshold in range(1, n + 1):
        surplus = np.zeros(shape, np.int8)  # how many more entries >= threshold `upper` has so far
        for i in range(n - 1):
            surplus += (upper[..., i] >= threshold).astype(np.int8) - (lower[..., i] >= threshold).astype(np.int8)
            below &= surplus >= 0
    return below
