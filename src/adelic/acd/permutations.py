"""Whole numbers as callers give them, and permutations: as tuples, and many at once, as arrays.

The functions of arrays of permutations take one-line notation along the last axis, (*, n) -> (*, ...), of 0..n-1 or of
1..n.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.protocol import Integers
from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number

Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]


def read_sequence(values: object, what: str) -> tuple[int, ...]:
    """Return a sequence of whole numbers as a tuple of ints.

    An EncodingError says what is wrong, with `what` for what they are; text is not a sequence.

    >>> read_sequence(np.array([3, 1]), "a partition"), read_sequence([], "a partition")
    ((3, 1), ())
    >>> read_sequence([3, 0.5], "a partition")
    Traceback (most recent call last):
    adelic.errors.EncodingError: entry 1 of a partition is 0.5, not a whole number
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise EncodingError(f"{what} is a sequence of whole numbers, not {shown(values)}")
    numbers = []
    for position, value in enumerate(values):
        number = whole_number(value)
        if number is None:
            raise EncodingError(f"entry {position} of {what} is {shown(value)}, not a whole number")
        numbers.append(number)
    return tuple(numbers)


def read_array(values: Any, what: str) -> Integers:
    """Return an array of whole numbers.

    An EncodingError says what is wrong, with `what` for what they are.

    >>> read_array([[1, 2], [3]], "a tableau")
    Traceback (most recent call last):
    adelic.errors.EncodingError: a tableau has rows of one length, not as in [[1, 2], [3]]
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise EncodingError(f"{what} has rows of one length, not as in {shown(values)}") from None
    if not np.issubdtype(array.dtype, np.integer):
        raise EncodingError(f"{what} has whole numbers for entries, not {array.dtype}: {shown(values)}")
    return array


def differences(X: Integers) -> Integers:
    """Return how far each entry is above each one before it: x(j) - x(i), i < j.

    From rows (rows, k) to int8 (rows, k(k-1)/2), in the order (1, 2), (1, 3), …; entries are from 0 to 127. The signs
    of a permutation's differences say which patterns it has.

    >>> differences(np.array([[2, 3, 0, 1]])).tolist()
    [[1, -2, -1, -3, -2, 1]]
    """
    first, second = np.triu_indices(X.shape[1], 1)
    signed = X.astype(np.int8)
    return signed[:, second] - signed[:, first]


def in_chunks(function: Callable[[Any], NDArray[Any]], X: NDArray[Any], rows: int = 1 << 16) -> NDArray[Any]:
    """Return function(X), computed from a few rows of X at a time, so millions of them take little memory.

    >>> in_chunks(lambda part: part * len(part), np.arange(5), 3).tolist()
    [0, 3, 6, 6, 8]
    """
    starts = range(0, max(len(X), 1), rows)
    return np.concatenate([function(X[start : start + rows]) for start in starts])


def read_permutation(values: Iterable[object], *, first: int | None = 1) -> tuple[int, ...]:
    """Return a permutation of first, ..., first + n - 1 in one-line notation as a tuple of ints.

    With first=None the least entry is 0 if that occurs, else 1. Whatever is not a permutation is an EncodingError.

    >>> read_permutation([3, 1, 2])
    (3, 1, 2)
    >>> read_permutation([3, 1, 1])
    Traceback (most recent call last):
    adelic.errors.EncodingError: (3, 1, 1) is not a permutation of 1..3
    """
    entries = read_sequence(values, "a permutation")
    if first is None:
        first = 0 if 0 in entries else 1
    if sorted(entries) != list(range(first, first + len(entries))):
        raise EncodingError(f"{shown(entries)} is not a permutation of {first}..{first + len(entries) - 1}")
    return entries


def read_permutations(values: Any, *firsts: int) -> Integers:
    """Return an array of permutations in one-line notation, (*, n), each of f, ..., f + n - 1 for one of the firsts f.

    Whatever is not such an array is an EncodingError.

    >>> read_permutations([[1, 0], [1, 2]], 0, 1).shape
    (2, 2)
    >>> read_permutations([[0, 1], [2, 0]], 0)
    Traceback (most recent call last):
    adelic.errors.EncodingError: (2, 0) is not a permutation of 0..1
    """
    array = read_array(values, "an array of permutations")
    if array.ndim == 0:
        raise EncodingError(f"permutations have shape (*, n), not {shown(values)}")
    n = array.shape[-1]
    ordered = np.sort(array, axis=-1)
    right = np.any([(ordered == np.arange(first, first + n)).all(axis=-1) for first in firsts], axis=0)
    if not right.all():
        wrong = tuple(array[~right].reshape(-1, n)[0].tolist())
        of = " or of ".join(f"{first}..{first + n - 1}" for first in firsts)
        raise EncodingError(f"{shown(wrong)} is not a permutation of {of}")
    return array


def length(permutation: tuple[int, ...]) -> int:
    """Return the number of inversions: pairs i < j with w(i) > w(j), the Coxeter length.

    >>> length((3, 1, 2)), length((4, 3, 2, 1))
    (2, 6)
    """
    return sum(a > b for i, a in enumerate(permutation) for b in permutation[i + 1 :])


def trimmed(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """Return a 1-based permutation without its trailing fixed points.

    >>> trimmed((2, 1, 3, 4)), trimmed((1, 2))
    ((2, 1), ())
    """
    size = len(permutation)
    while size and permutation[size - 1] == size:
        size -= 1
    return permutation[:size]


def padded(permutation: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return a 1-based permutation with fixed points appended up to `size` entries.

    >>> padded((2, 1), 4)
    (2, 1, 3, 4)
    """
    return permutation + tuple(range(len(permutation) + 1, size + 1))


def matrices(w: Integers) -> Int8:
    """Return permutation matrices, (*, n) of 0..n-1 -> (*, n, n): row i has its one at w(i).

    >>> matrices(np.array([1, 0, 2])).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    """
    return np.asarray(w[..., None] == np.arange(w.shape[-1]), np.int8)


def rank_matrices(w: Integers) -> Int8:
    """Return rank matrices, (*, n) of 0..n-1 -> (*, n, n): how many of w(0), ..., w(i) are at most j.

    Of these, u <= w in the Bruhat order if and only if no entry of u's is less than w's.

    Source: Fulton, "Flags, Schubert polynomials, degeneracy loci, and determinantal formulas" (1992).

    >>> rank_matrices(np.array([1, 0, 2])).tolist()
    [[0, 1, 1], [1, 2, 2], [1, 2, 3]]
    """
    return matrices(w).cumsum(axis=-1, dtype=np.int8).cumsum(axis=-2, dtype=np.int8)


def symmetric_group(n: int) -> Int8:
    """Return the permutations of 0..n-1 in lexicographic order, shape (n!, n).

    >>> symmetric_group(3).tolist()
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    """
    group = np.zeros((1, 0), np.int8)
    for size in range(1, n + 1):
        first = np.arange(size, dtype=np.int8)[:, None, None]
        rest = group + (group >= first)  # the entries from the first one on are raised
        group = np.concatenate([np.broadcast_to(first, (size, len(group), 1)), rest], axis=2).reshape(-1, size)
    return group


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
        # How many more entries >= threshold `upper` has so far: n/2 at most, which one byte holds for most n.
        surplus = np.zeros(shape, np.min_scalar_type(-n))
        for i in range(n - 1):
            surplus += (upper[..., i] >= threshold).astype(np.int8) - (lower[..., i] >= threshold).astype(np.int8)
            below &= surplus >= 0
    return below
