"""Kazhdan-Lusztig polynomials P_(x,w)(q) of pairs of permutations.

Let H be the Hecke algebra of S_n over Z[q^(1/2), q^(-1/2)], with basis T_w, T_s T_w = T_(sw) where sw is longer than
w, and (T_s + 1)(T_s - q) = 0. The bar involution sends q to 1/q and T_w to the inverse of T_(w^-1). For each w there is
one element C'_w = q^(-ℓ(w)/2) Σ P_(x,w)(q) T_x over x <= w in the Bruhat order that the involution fixes, with P_(w,w)
= 1 and P_(x,w) of degree at most (ℓ(w) - ℓ(x) - 1)/2 for x < w. These are the Kazhdan-Lusztig polynomials; their
coefficients are not negative. Where x is not below w we write 0. Sources: Kazhdan and Lusztig, "Representations of
Coxeter groups and Hecke algebras" (1979); Humphreys, "Reflection Groups and Coxeter Groups" (1990), chapter 7.

The recursion of the 1979 paper, for a descent s of w (w_s > w_(s+1)), v = ws, and the longer x of x and xs:

    P_(xs,w) = P_(x,w) = P_(xs,v) + q P_(x,v) - Σ μ(z,v) q^((ℓ(w)-ℓ(z))/2) P_(x,z)   over x <= z < v with zs < z,

where μ(z,v) is the coefficient of q^((ℓ(v)-ℓ(z)-1)/2) in P_(z,v), 0 where that is not a whole power.

The dataset: all ordered pairs of permutations of 0..n-1, x and then w in one-line notation, so 2n tokens, in
lexicographic order: (n!)² examples. The targets of an example are the coefficients of q^0, ..., q^(n-2), all 0 unless x
<= w. For n = 5 and 6 the last one is 0 throughout; n = 7 has ten polynomials of degree 5.

Symmetries: P_(x,w) = P_(x^-1,w^-1) = P_(w0 x w0, w0 w w0), w0 the longest permutation n-1, ..., 0.

All polynomials at once. A polynomial P is kept as the number P(256): its coefficients are the bytes, that of q^0 the
least significant. Sums, differences and multiplication by q are then those of uint64, for all x at a time. Numbers that
are too large on the way do no harm, because arithmetic modulo 2^64 is exact wherever the result fits.

That the result fits is checked for every w. The recursion subtracts from A = P_(xs,v) + q P_(x,v) polynomials without
negative coefficients, and what remains, P_(x,w), has none either (Kazhdan and Lusztig, "Schubert varieties and
Poincaré duality", 1980). So no coefficient of P_(x,w) exceeds that of A. While all packed polynomials have coefficients
below 128 and degrees below 7, those of A, and thus of P_(x,w), are at most 254 and 7, and can be read off: so by
induction all are exact.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from adelic.acd import permutations as many
from adelic.acd.facts import described
from adelic.acd.permutations import Int8, Int64, in_chunks, length, lengths, read_permutation, symmetric_group
from adelic.data import store
from adelic.data.protocol import Estimate, Integers, Progress, Request, Rows, Task, silent
from adelic.errors import EncodingError
from adelic.storage.checks import shown

Packed = NDArray[np.uint64]

PACKED = np.dtype("<u8")  # the first byte in memory is the constant term
BITS = np.uint64(8)
COEFFICIENT = np.uint64(255)
GREATEST_DEGREE = 6
ROOM = np.uint64(0xFF80_8080_8080_8080)  # what must be zero: degree 7, and the highest bit of the others


# All polynomials of a group at once


def packed_polynomials(n: int, progress: Progress = silent) -> Packed:
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
    return np.asarray(np.searchsorted(group @ place_values, swapped @ place_values))


Permutation = tuple[int, ...]
Coefficients = tuple[int, ...]


# Measured: examples and targets, their copies in the splits, the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 48
PEAK_BYTES_PER_VALUE = 3


# One polynomial at a time, and the Bruhat order


def kazhdan_lusztig(x: Iterable[int], w: Iterable[int]) -> Coefficients:
    """Return the coefficients of the Kazhdan-Lusztig polynomial P_(x,w): of q^0, q^1, ..., up to the degree.

    The work grows with the number of permutations between x and w in the Bruhat order: for n = 8 it may take seconds.

    Args:
        x: a permutation of 0..n-1 in one-line notation.
        w: a permutation, likewise.

    Returns:
        (0,) unless x <= w.

    Raises:
        EncodingError: an argument is not a permutation of 0..n-1, or they are not of the same size.

    >>> kazhdan_lusztig([0, 2, 1, 3], [2, 3, 0, 1]), kazhdan_lusztig([1, 0, 2], [2, 1, 0])
    ((1, 1), (1,))
    >>> kazhdan_lusztig([0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2]), kazhdan_lusztig([1, 0], [0, 1])
    ((1, 4, 4, 1), (0,))
    """
    lower, upper = read_permutation(x, first=0), read_permutation(w, first=0)
    if len(lower) != len(upper):
        raise EncodingError(
            f"{shown(lower)} has {len(lower)} entries and {shown(upper)} has {len(upper)}; "
            "a Kazhdan-Lusztig polynomial needs two permutations of the same size"
        )
    return _polynomial(lower, upper)


def kl_polynomials(n: int, progress: Progress = silent) -> Int8:
    """Return the coefficients of all Kazhdan-Lusztig polynomials of S_n, shape (n!, n!, max(n - 1, 1)).

    Args:
        n: a whole number from 1 to 7.
        progress: called with (done, total, what).

    Returns:
        The coefficient of q^d in P_(x,w) at [x, w, d], permutations by their ranks in lexicographic order.

    Raises:
        TaskSizeError: n is not such a number.

    >>> kl_polynomials(2)[:, :, 0]  # 01 is below itself and 10, 10 below itself
    array([[1, 1],
           [0, 1]], dtype=int8)
    """
    packed = packed_polynomials(TASK.check_size(n, "published"), progress)
    count = len(packed)
    coefficients = packed.view(np.int8).reshape(count, count, PACKED.itemsize)
    columns = max(n - 1, 1)
    assert not coefficients[:, :, columns:].any()
    return np.ascontiguousarray(coefficients[:, :, :columns].transpose(1, 0, 2))


@lru_cache(maxsize=1 << 18)
def _polynomial(x: Permutation, w: Permutation) -> Coefficients:
    """Return P_(x,w) by the recursion, for the x with all descents of w that has the same polynomial."""
    if not _is_below(x, w):
        return (0,)
    x = _raised(x, w)
    if length(w) - length(x) <= 2:  # the degree is 0, and constant terms are 1
        return (1,)
    s = next(s for s in range(len(w) - 1) if w[s] > w[s + 1])
    v = _swapped(w, s)
    total = [0] * (length(w) - length(x))
    _add(total, 1, 0, _polynomial(_swapped(x, s), v))
    _add(total, 1, 1, _polynomial(x, v))
    for z in _interval(x, v):
        if z[s] > z[s + 1] and (mu := _mu(z, v)):
            _add(total, -mu, (length(w) - length(z)) // 2, _polynomial(x, z))
    while not total[-1]:  # ends at the constant term, which is 1 for x <= w
        total.pop()
    return tuple(total)


def _add(total: list[int], factor: int, shift: int, coefficients: Coefficients) -> None:
    """Add factor · q^shift · P to `total`."""
    for degree, coefficient in enumerate(coefficients):
        total[degree + shift] += factor * coefficient


def _mu(z: Permutation, v: Permutation) -> int:
    """Return μ(z,v), the coefficient of q^((ℓ(v)-ℓ(z)-1)/2) in P_(z,v), for z <= v."""
    gap = length(v) - length(z)
    if gap % 2 == 0 or (gap > 1 and _raised(z, v) != z):  # P_(z,v) is that of a longer z, and its degree less
        return 0
    coefficients = _polynomial(z, v)
    return coefficients[gap // 2] if gap // 2 < len(coefficients) else 0


def _raised(x: Permutation, w: Permutation) -> Permutation:
    """Return the longest permutation that comes from x by P_(x,w) = P_(xs,w) = P_(sx,w), s descents of w."""
    while True:
        before = x
        x = _with_descents(x, w)
        x = _inverse(_with_descents(_inverse(x), _inverse(w)))
        if x == before:
            return x


def _with_descents(x: Permutation, w: Permutation) -> Permutation:
    """Return x with entries exchanged until it falls wherever w does."""
    rising = True
    while rising:
        rising = False
        for s in range(len(w) - 1):
            if w[s] > w[s + 1] and x[s] < x[s + 1]:
                x, rising = _swapped(x, s), True
    return x


def _inverse(x: Permutation) -> Permutation:
    return tuple(sorted(range(len(x)), key=x.__getitem__))


def _swapped(x: Permutation, s: int) -> Permutation:
    return (*x[:s], x[s + 1], x[s], *x[s + 2 :])


def _is_below(x: Permutation, w: Permutation) -> bool:
    """Return whether x <= w: the sorted beginnings of x are nowhere greater than those of w (the tableau criterion)."""
    return all(a <= b for size in range(1, len(x)) for a, b in zip(sorted(x[:size]), sorted(w[:size]), strict=True))


def _interval(x: Permutation, v: Permutation) -> Iterator[Permutation]:
    """Yield all z with x <= z < v: from v down, one cover after the other."""
    seen = {v}
    stack = [v]
    while stack:
        z = stack.pop()
        for i, upper in enumerate(z):
            greatest = -1  # the greatest entry below `upper` that has been passed
            for j in range(i + 1, len(z)):
                if greatest < z[j] < upper:
                    greatest = z[j]
                    lower = (*z[:i], z[j], *z[i + 1 : j], upper, *z[j + 1 :])
                    if lower not in seen and _is_below(x, lower):
                        seen.add(lower)
                        stack.append(lower)
                        yield lower


# The dataset


def _generate(request: Request) -> Rows:
    n = request.n
    table = kl_polynomials(n, request.report)
    group = many.symmetric_group(n)
    X = np.empty((len(group), len(group), 2 * n), np.int8)
    X[:, :, :n] = group[:, None]
    X[:, :, n:] = group[None]
    return Rows(X.reshape(-1, 2 * n), table.reshape(-1, table.shape[-1]))


def _tally(rows: Rows) -> Mapping[str, int]:
    """Count the examples by each of their coefficients; files may have negative ones, which do not count."""
    return {
        f"q^{degree} = {value}": count
        for degree, coefficients in enumerate(rows.y.T)
        for value, count in enumerate(np.bincount(coefficients[coefficients >= 0]).tolist())
        if count
    }


def _by_chunks(function: Callable[[Integers, Integers], Integers], X: Integers) -> Integers:
    """Return function(x, w) for all examples, a few of them at a time."""
    return in_chunks(lambda part: function(*np.hsplit(part, 2)), X)


def _inverted(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples (x^-1, w^-1)."""

    def inverted(x: Integers, w: Integers) -> Integers:
        both = [many.inverses(each).astype(X.dtype) for each in (x, w)]
        return np.concatenate(both, axis=1)

    return _by_chunks(inverted, X), y


def _conjugated(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples (w0 x w0, w0 w w0): positions and values are read from the other end."""
    n = X.shape[1] // 2
    reversed_rows = X.reshape(-1, 2, n)[:, :, ::-1]
    return (n - 1 - reversed_rows).astype(X.dtype).reshape(X.shape), y


def ranks(X: Integers) -> Integers:
    """Return the rank matrix of w, and that of x less w's, row by row.

    From examples (examples, 2n) to int8 (examples, 2n²). x <= w in the Bruhat order if and only if no difference is
    below 0.

    >>> ranks(np.array([[0, 1, 1, 0]])).tolist()
    [[0, 1, 1, 2, 1, 0, 0, 0]]
    """
    of_x, of_w = (many.rank_matrices(w).reshape(len(X), -1) for w in np.hsplit(X, 2))
    return np.hstack([of_w, of_x - of_w])


def _length_difference(X: Integers) -> Integers:
    """Return ℓ(w) - ℓ(x) + C(n, 2), which is not negative; the polynomial is 0 where ℓ(w) < ℓ(x)."""
    most = comb(X.shape[1] // 2, 2)
    return _by_chunks(lambda x, w: many.lengths(w) - many.lengths(x) + most, X)


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; for n > 50 the number for 50, as a lower bound."""
    size = min(n, 50)
    rows = factorial(size) ** 2
    values = 2 * size + max(size - 1, 1)  # tokens and targets
    peak = rows * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_VALUE * values) + store.decoding_bytes(rows, values)
    return Estimate(rows, peak, exact=n == size)


TASK = Task(
    **described("kl", ranks=(ranks, lambda n: tuple(range(-n, n + 1)))),
    version=1,
    minimum=1,
    maximum=7,  # the coefficients of S_8 have not been shown to fit into 64 bits, and its examples are 1.6 billion
    class_names=lambda n, edition: None,
    vocabulary=lambda n, edition: tuple(range(n)),
    length=lambda n, edition: 2 * n,
    estimate=_estimate,
    generate=_generate,
    symmetries={"inverses": _inverted, "conjugates by w0": _conjugated},
    cues={
        "length difference": _length_difference,
        "Bruhat order": lambda X: _by_chunks(lambda x, w: many.bruhat_below(x, w).astype(np.int8), X),  # constant term
        "equal": lambda X: _by_chunks(lambda x, w: (x == w).all(axis=1).astype(np.int8), X),
    },
    tally=_tally,
)
