"""Exchange matrices: mutation, relabelling, canonical forms, skew-symmetrizers; one matrix or a batch at a time.

An exchange matrix is an n × n integer matrix that is skew-symmetrizable: there are d_i > 0 with d_i b_ij = -d_j b_ji.
Entries are less than 2**31 in absolute value, so that products of two fit into 64 bits. Functions that return matrices
give int8 where they are given int8, and int64 else.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.acd.integers import read_array
from adelic.acd.permutations import read_permutation
from adelic.data.protocol import Integers
from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number

ENTRY_LIMIT = (1 << 31) - 1


def mutate(b: ArrayLike, k: int) -> Integers:
    """Return the mutation at vertex k: -b_ij if i = k or j = k, else b_ij + sgn(b_ik) max(b_ik b_kj, 0).

    Args:
        b: skew-symmetrizable integer matrices, shape (*, n, n).
        k: a vertex, 0 <= k < n.

    Returns:
        Of the same shape; int8 if b is, else int64.

    Raises:
        EncodingError: b is not such a matrix, k is not a vertex, or an entry of the result does not fit its type.

    >>> mutate([[0, 1, 0], [-1, 0, 1], [0, -1, 0]], 1)
    array([[ 0, -1,  1], [ 1,  0, -1], [-1,  1,  0]])
    """
    matrices, small = _read(b)
    n = matrices.shape[-1]
    vertex = whole_number(k)
    if vertex is None or not 0 <= vertex < n:
        raise EncodingError(f"k={shown(k)} is not a vertex of a quiver with vertices 0..{n - 1}")
    into, out = matrices[..., :, vertex, None], matrices[..., None, vertex, :]
    mutated = matrices + np.sign(into) * np.maximum(into * out, 0)
    # b_kk is 0, and may change its sign twice.
    mutated[..., :, vertex] *= -1
    mutated[..., vertex, :] *= -1
    return _narrowed(mutated, small)


def canonical_form(b: ArrayLike) -> Integers:
    """Return the representative of b under simultaneous relabelling of rows and columns.

    Two matrices have equal canonical forms exactly if a relabelling takes one into the other. The vertices stand in
    ascending order of their number of neighbours; how ties are settled, adelic.acd.quiver.kernels tells.

    Args:
        b: skew-symmetrizable integer matrices, shape (*, n, n).

    Returns:
        Of the same shape; int8 if b is, else int64.

    Raises:
        EncodingError: b is not such a matrix, or has an entry of 2**31 or more in absolute value.

    >>> canonical_form([[0, 1, 0], [-1, 0, 1], [0, -1, 0]]).tolist()
    [[0, 0, 1], [0, 0, -1], [-1, 1, 0]]
    >>> canonical_form([[0, 0, -1], [0, 0, 1], [1, -1, 0]]).tolist()
    [[0, 0, 1], [0, 0, -1], [-1, 1, 0]]
    """
    from adelic.acd.quiver import kernels

    matrices, small = _read(b)
    forms = kernels.canonical_forms(np.ascontiguousarray(_stacked(matrices)))
    return _narrowed(forms.reshape(matrices.shape), small)


def relabel(b: ArrayLike, permutation: Iterable[int]) -> Integers:
    """Return b with vertex i renamed permutation[i]: b'_(p(i), p(j)) = b_ij.

    Args:
        b: skew-symmetrizable integer matrices, shape (*, n, n).
        permutation: a permutation of 0..n-1, the same one for all of them.

    Returns:
        Of the same shape; int8 if b is, else int64.

    Raises:
        EncodingError: b is not such a matrix, or permutation is not a permutation of 0..n-1.

    >>> relabel([[0, 1, 0], [-1, 0, 1], [0, -1, 0]], [1, 2, 0]).tolist()
    [[0, 0, -1], [0, 0, 1], [1, -1, 0]]
    """
    matrices, small = _read(b)
    n = matrices.shape[-1]
    places = np.argsort(read_permutation(permutation, first=0))
    if len(places) != n:
        raise EncodingError(f"a permutation of 0..{n - 1} is needed, not of {len(places)} numbers")
    return _narrowed(matrices[..., places[:, None], places], small)


def is_skew_symmetrizable(b: ArrayLike) -> bool | NDArray[np.bool_]:
    """Return whether there are d_i > 0 with d_i b_ij = -d_j b_ji for all i and j.

    Args:
        b: integer matrices, shape (*, n, n).

    Returns:
        A bool for one matrix, else an array of shape (*).

    Raises:
        EncodingError: b is not a square integer matrix, or has an entry of 2**31 or more in absolute value.

    >>> is_skew_symmetrizable([[0, 1], [-2, 0]]), is_skew_symmetrizable([[0, 1], [2, 0]])
    (True, False)
    """
    matrices, _ = _read_integers(b)
    answer = _symmetrizable(_stacked(matrices)).reshape(matrices.shape[:-2])
    return bool(answer) if answer.ndim == 0 else answer


def skew_symmetrizer(b: ArrayLike) -> tuple[int, ...] | None:
    """Return the least whole d_i > 0 with d_i b_ij = -d_j b_ji on each connected component; None if there are none.

    Args:
        b: an integer matrix, shape (n, n).

    Raises:
        EncodingError: b is not a square integer matrix, or has an entry of 2**31 or more in absolute value.

    >>> skew_symmetrizer([[0, 1, 0], [-2, 0, 1], [0, -1, 0]])
    (2, 1, 1)
    """
    matrices, _ = _read_integers(b)
    if matrices.ndim != 2:
        raise EncodingError(f"one matrix of shape (n, n) is needed, not an array of shape {matrices.shape}")
    entries: list[list[int]] = matrices.tolist()
    d: dict[int, Fraction] = {}
    least: dict[int, int] = {}
    for first in range(len(entries)):
        if first in d:
            continue
        d[first] = Fraction(1)
        component = [first]
        for i in component:  # grows as vertices are reached
            for j, (there, back) in enumerate(zip(entries[i], (row[i] for row in entries), strict=True)):
                if there == back == 0:
                    continue
                if there * back >= 0:
                    return None
                if j not in d:
                    component.append(j)
                if d.setdefault(j, d[i] * Fraction(there, -back)) != d[i] * Fraction(there, -back):
                    return None
        multiple = lcm(*(d[i].denominator for i in component))
        divisor = gcd(*(int(d[i] * multiple) for i in component))
        least |= {i: int(d[i] * multiple) // divisor for i in component}
    return tuple(least[i] for i in range(len(entries)))


def _read_integers(b: ArrayLike) -> tuple[NDArray[np.int64], bool]:
    """Return matrices as int64, and whether they were int8; EncodingError unless they are square and of integers."""
    array = read_array(b, "an exchange matrix")
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] == 0:
        raise EncodingError(f"an exchange matrix has shape (n, n) with n >= 1, not {array.shape}")
    if array.size and (int(array.max()) > ENTRY_LIMIT or int(array.min()) < -ENTRY_LIMIT):
        raise EncodingError(f"entries of an exchange matrix must be less than 2**31 in absolute value: {shown(b)}")
    return array.astype(np.int64), array.dtype == np.int8


def _read(b: ArrayLike) -> tuple[NDArray[np.int64], bool]:
    """Do as `_read_integers` does; EncodingError also where a matrix is not skew-symmetrizable."""
    matrices, small = _read_integers(b)
    stacked = _stacked(matrices)
    wrong = np.flatnonzero(~_symmetrizable(stacked))
    if len(wrong):
        matrix = shown(stacked[wrong[0]].tolist())
        raise EncodingError(f"{matrix} is not skew-symmetrizable: no d_i > 0 give d_i b_ij = -d_j b_ji")
    return matrices, small


def _stacked(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    return matrices.reshape(-1, *matrices.shape[-2:])


def _symmetrizable(stacked: NDArray[np.int64]) -> NDArray[np.bool_]:
    from adelic.acd.quiver import kernels

    d = kernels.symmetrizers(np.ascontiguousarray(stacked))[:, 0]
    answer: NDArray[np.bool_] = d > 0
    for index in np.flatnonzero(d == kernels.OVERFLOW):
        answer[index] = skew_symmetrizer(stacked[index]) is not None
    return answer


def _narrowed(matrices: NDArray[np.int64], small: bool) -> Integers:
    """Return int64 matrices in the type of what the caller gave; EncodingError where they do not fit."""
    greatest = int(np.abs(matrices).max(initial=0))
    if greatest > ENTRY_LIMIT:
        raise EncodingError(f"an entry of the mutated matrix is ±{greatest}, beyond 2**31")
    if not small:
        return matrices
    narrow = matrices.astype(np.int8)
    if (narrow != matrices).any():
        raise EncodingError(f"an entry of the mutated matrix is ±{greatest}; int8, as given, cannot hold it, int64 can")
    return narrow
