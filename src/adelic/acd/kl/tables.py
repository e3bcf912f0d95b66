"""All Kazhdan-Lusztig polynomials of S_n at once, each packed into one integer.

A polynomial P is kept as the number P(256): its coefficients are the bytes, that of q^0 the least significant. Sums,
differences and multiplication by q are then those of uint64, for all x at a time. Numbers that are too large on the way
do no harm, because arithmetic modulo 2^64 is exact wherever the result fits.

That the result fits is checked for every w. The recursion subtracts from A = P_(xs,v) + q P_(x,v) polynomials without
negative coefficients, and what remains, P_(x,w), has none either (Kazhdan and Lusztig, "Schubert varieties and
Poincaré duality", 1980). So no coefficient of P_(x,w) exceeds that of A. While all packed polynomials have coefficients
below 128 and degrees below 7, those of A, and thus of P_(x,w), are at most 254 and 7, and can be read off: so by
induction all are exact.
"""

import numpy as np
from numpy.typing import NDArray

from adelic.acd.permutations import lengths, symmetric_group
from adelic.data.protocol import Progress

Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]
Packed = NDArray[np.uint64]

PACKED = np.dtype("<u8")  # the first byte in memory is the constant term
BITS = np.uint64(8)
COEFFICIENT = np.uint64(255)
GREATEST_DEGREE = 6
ROOM = np.uint64(0xFF80_8080_8080_8080)  # what must be zero: degree 7, and the highest bit of the others


def coefficient_table(n: int, progress: Progress | None = None) -> Int8:
    """Return the coefficients of P_(x,w), shape (n!, n!, max(n - 1, 1)), for 1 <= n <= 7.

    The first index is the rank of x in lexicographic order, the second that of w, the third the degree.

    >>> table = coefficient_table(3)
    >>> table.shape, table[..., 0].tolist()[4], int(table[..., 1].sum())  # x = 201 is below itself and 210
    ((6, 6, 2), [0, 0, 0, 0, 1, 1], 0)
    """
    packed = packed_polynomials(n, progress)
    count = len(packed)
    coefficients = packed.view(np.int8).reshape(count, count, PACKED.itemsize)
    columns = max(n - 1, 1)
    assert not coefficients[:, :, columns:].any()
    return np.ascontiguousarray(coefficients[:, :, :columns].transpose(1, 0, 2))


def packed_polynomials(n: int, progress: Progress | None = None) -> Packed:
    """Return P_(x,w)(256) in row w and column x, both in lexicographic order; 0 unless x <= w.

    The recursion goes up by length. For w not the identity, a descent s of w and v = ws < w,

        P_(x,w) = P_(xs,v) + q P_(x,v) - Σ μ(z,v) q^((ℓ(w)-ℓ(z))/2) P_(x,z)   over z < v with zs < z,

    for the x with xs < x, and P_(xs,w) = P_(x,w).

    >>> packed_polynomials(2).tolist()
    [[1, 0], [1, 1]]
    """
    group = symmetric_group(n)
    length = lengths(group)
    neighbours = [_times_simple(group, s) for s in range(n - 1)]
    upper = [np.maximum(np.arange(len(group)), neighbour) for neighbour in neighbours]  # the longer one of x and xs
    polynomials = np.zeros((len(group), len(group)), PACKED)
    polynomials[0, 0] = 1
    longest = int(length.max())
    for level in range(1, longest + 1):
        for w in np.flatnonzero(length == level):
            s = next(s for s in range(n - 1) if neighbours[s][w] < w)
            v = neighbours[s][w]
            total = polynomials[v][neighbours[s]] + (polynomials[v] << BITS)
            for z, mu in _edges_below(v, polynomials[v], length):
                if neighbours[s][z] < z:
                    # A whole power of q: ℓ(v) - ℓ(z) is odd, and ℓ(w) is ℓ(v) + 1.
                    shift = BITS * np.uint64((level - length[z]) // 2)
                    total -= polynomials[z] * (mu << shift)
            polynomials[w] = total[upper[s]]
            assert not np.any(polynomials[w] & ROOM)
        if progress:
            progress(level, longest, "polynomials by length")
    return polynomials


def _edges_below(v: np.intp, row: Packed, length: Int64) -> list[tuple[np.intp, np.uint64]]:
    """Return all (z, μ(z,v)) with μ(z,v) ≠ 0: the coefficient of q^((ℓ(v)-ℓ(z)-1)/2) in P_(z,v)."""
    gap = length[v] - length
    odd = np.flatnonzero((row != 0) & (gap % 2 == 1) & (gap <= 2 * GREATEST_DEGREE + 1))
    mu = (row[odd] >> (BITS * (gap[odd] // 2).astype(np.uint64))) & COEFFICIENT
    return [(z, value) for z, value in zip(odd, mu, strict=True) if value]


def _times_simple(group: Int8, s: int) -> NDArray[np.intp]:
    """Return the rank of xs for every x, where s exchanges the entries at positions s and s + 1.

    In lexicographic order xs comes before x exactly if it is the shorter one.
    """
    n = group.shape[1]
    swapped = group.copy()
    swapped[:, [s, s + 1]] = group[:, [s + 1, s]]
    place_values = n ** np.arange(n - 1, -1, -1, dtype=np.int64)
    ranks: NDArray[np.intp] = np.searchsorted(group @ place_values, swapped @ place_values)
    return ranks
