"""Matrices over Q_p, many at once, and rational linear systems.

A matrix over Z_p is triangular after unimodular steps on rows and columns if each pivot is an entry of least valuation:
it divides all entries that are left, so no step loses a digit. The valuations of the pivots are those of the Smith
form. All else follows from them: rank, determinant, inverse. Matrices are integers, objects (size, n, m), of which
`known`, int64 (size, n, m), counts the digits that are known. Lifts are computed with as exact numbers, to more digits
than are known; what is claimed of the results holds for every matrix with the known digits.

Source: X. Caruso, D. Roe, T. Vaccon, "p-adic stability in linear algebra", ISSAC 2015; J. D. Dixon, "Exact solution of
linear equations using p-adic expansions", Numer. Math. 40 (1982), for rational systems, as FLINT has it.
"""

from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.errors import DomainError, PrecisionError, SpaceError
from adelic.numbers import rationals
from adelic.numbers.algebraic.polynomials import load_flint
from adelic.numbers.describe import at_position
from adelic.numbers.primes import split

Integers = npt.NDArray[np.object_]
Counts = npt.NDArray[np.int64]


def powers(p: int, exponents: Any) -> Integers:
    """Return p to powers from 0 on.

    >>> powers(7, [0, 2]).tolist()
    [1, 49]
    """
    return np.asarray(np.frompyfunc(lambda k: p ** int(k), 1, 1)(exponents), dtype=object)


def _eliminated(a: Integers, right: Integers, p: int, digits: int) -> tuple[Counts, Integers, Integers, Integers, Any]:
    """Bring matrices A (size, n, m) to P·A·Q = L·D·U modulo p^digits, other columns C (size, n, k) to L^(−1)·P·C.

    Returns:
        The exponents of p in D, ascending, (size, min(n, m)), `digits` if only 0 is left; the determinants of P·L·D·Q;
        U, with the diagonal 1; the other columns, divided by the unit parts of D; the order of A's columns, (size, m).
    """
    size, n, m = a.shape
    modulus = p**digits
    dtype = np.int64 if modulus < 2**31 else object  # products then fit int64
    a, right = ((part % modulus).astype(dtype) for part in (a, right))
    each, order = np.arange(size), np.tile(np.arange(m), (size, 1))
    signs, units = np.ones(size, dtype=np.int64), np.ones((size, min(n, m)), dtype=object)
    exponents = np.full(units.shape, digits)
    for k in range(min(n, m)):
        rest = a[:, k:, k:]
        valuations, parts = split(rest, p)
        valuations[rest == 0] = digits
        least = valuations.reshape(size, (n - k) * (m - k)).argmin(axis=1)
        i, j = np.divmod(least, m - k)
        exponents[:, k], unit = valuations[each, i, j], parts[each, i, j]
        units[:, k] = np.where(unit == 0, 1, unit)
        signs = np.where((i == 0) == (j == 0), signs, -signs)
        for rows in (a, right):
            rows[each, k], rows[each, k + i] = rows[each, k + i], rows[each, k]
        for columns in (a, order[:, None]):
            columns[each, :, k], columns[each, :, k + j] = columns[each, :, k + j], columns[each, :, k]
        inverse = np.frompyfunc(lambda u: pow(int(u), -1, modulus), 1, 1)(units[:, k]).astype(dtype)
        power = powers(p, exponents[:, k]).astype(dtype)
        a[:, k, k:] = a[:, k, k:] // power[:, None] * inverse[:, None] % modulus
        right[:, k] = right[:, k] * inverse[:, None] % modulus
        below = a[:, k + 1 :, k, None].copy()
        a[:, k + 1 :, k:] = (a[:, k + 1 :, k:] - below * a[:, k, None, k:]) % modulus
        steps = below // power[:, None, None]
        right[:, k + 1 :] = (right[:, k + 1 :] - steps * right[:, k, None]) % modulus
    determinants = signs.astype(object) * units.prod(axis=1) * powers(p, exponents.sum(axis=1))
    return exponents, determinants, a, right, order


def _level(a: Integers, known: Counts, p: int, axis: Any) -> tuple[Integers, int, Counts]:
    """Multiply rows (axis −1), or whole matrices (axes −2, −1), by powers of p so that all are known equally far.

    Returns:
        The matrices (size, n, m), to which power of p they are known, and the exponents of the factors.
    """
    least = known.min(axis=axis, initial=int(known.max(initial=1)), keepdims=True)
    level = int(least.max(initial=1))
    return a * powers(p, level - least), level, level - least


def exponents(a: Integers, known: Counts, p: int) -> tuple[Counts, int, Counts]:
    """Return the exponents of Smith forms (size, min(n, m)), the first that tells nothing, and what to take off them.

    Exponents that are not determined are that first one.

    >>> exponents(np.array([[[2, 0], [0, 12]]], dtype=object), np.full((1, 2, 2), 4), 2)[:2]
    (array([[1, 2]]), 4)
    """
    a, level, factors = _level(a, known, p, (-2, -1))
    return _eliminated(a, a[..., :0], p, level)[0], level, factors[..., 0]


def rank(a: Integers, known: Counts, p: int) -> Counts:
    """Return the greatest ranks (size,) that matrices (size, n, m) are seen to have.

    >>> rank(np.array([[[2, 0], [0, 16]]], dtype=object), np.full((1, 2, 2), 4), 2)
    array([1])
    """
    leveled, level, _ = _level(a, known, p, -1)
    ranks = np.asarray((_eliminated(leveled, a[..., :0], p, level)[0] < level).sum(axis=1))
    n = a.shape[-1]
    is_square_and_uneven = a.shape[-2] == n and _is_uneven(known)
    return np.where(_inverted(a, known, p, level).is_regular, n, ranks) if is_square_and_uneven else ranks


def _is_uneven(known: Counts) -> bool:
    """Return whether entries of one row are known differently far."""
    return bool((known != known[..., :1]).any())


def determinant(a: Integers, known: Counts, p: int) -> tuple[Integers, Counts, Counts]:
    """Return d, b and c: the determinants d · p^(−b), (size,), known modulo p^(c − b).

    If E is what is not known, det(A + p^N·E) is the sum of p^(kN) times minors of A with n − k rows, times minors of
    E. p^(e_1 + … + e_(n−k)) divides such a minor, so d is known modulo p^(N + e_1 + … + e_(n−1)), and no further. Where
    entries of a row are known differently far, det(A + δ) = det(A) · det(1 + A^(−1)·δ) may tell more: p to the least
    cycle of `_Inverted` divides the last factor minus 1.

    >>> d, b, c = determinant(np.array([[[2, 0], [0, 6]]], dtype=object), np.full((1, 2, 2), 4), 2)
    >>> d.tolist(), b.tolist(), c.tolist()
    ([12], [0], [5])
    """
    leveled, level, factors = _level(a, known, p, -1)
    found, values, *_ = _eliminated(leveled, a[..., :0], p, level)
    below, modulo = factors.sum(axis=(1, 2)), level + found[:, :-1].sum(axis=1)
    if a.shape[-1] > 1 and _is_uneven(known):
        inverted = _inverted(a, known, p, a.shape[-1] * level)
        cycles = np.diagonal(inverted.errors, axis1=-2, axis2=-1).min(axis=-1)
        further = np.where(inverted.is_regular, below + inverted.exponents.sum(axis=-1) + cycles, modulo)
        values = np.where(further > modulo, inverted.determinants * powers(p, below), values)
        modulo = np.maximum(further, modulo)
    return values, below, modulo


class _Inverted(NamedTuple):
    """The inverses A^(−1) of matrices (size, n, n), and how they change with digits that are not known.

    With A + δ for A, (A + δ)^(−1) is the sum of (−A^(−1)·δ)^k · A^(−1). p^T divides the entries of A^(−1)·δ if T is the
    least of v(A^(−1)_ik) + known_kj over k; those of the sum of all its powers from the first on, if T is the least
    weight of a path from i to j with steps of these weights. If all cycles have positive weights, the sum exists.

    Attributes:
        values: p^level times the inverses, modulo p^(digits + level).
        level: the greatest count of known digits.
        exponents: of the Smith forms, (size, n).
        determinants: objects (size,).
        valuations: of the inverses' entries, (size, n, n).
        errors: the least weights of paths, (size, n, n).
        is_regular: whether every matrix with the known digits is, (size,).
    """

    values: Integers
    level: int
    exponents: Counts
    determinants: Integers
    valuations: Counts
    errors: Counts
    is_regular: npt.NDArray[np.bool_]


def _inverted(a: Integers, known: Counts, p: int, digits: int) -> _Inverted:
    """Return the inverses of matrices (size, n, n); of one that is not regular they mean nothing."""
    size, n, _ = a.shape
    level = int(known.max(initial=1))
    exact = digits + 2 * level
    unit = np.broadcast_to(np.eye(n, dtype=np.int64).astype(object), a.shape)
    found, determinants, upper, rows, order = _eliminated(a, unit, p, exact)
    rows = rows * powers(p, level - np.minimum(found, level))[..., None]
    for k in reversed(range(1, n)):
        rows[:, :k] = (rows[:, :k] - upper[:, :k, k, None] * rows[:, k, None]) % p**exact
    inverse = np.empty(a.shape, dtype=object)
    inverse[np.arange(size)[:, None], order] = rows % p ** (digits + level)
    valuations = _valuations(inverse, p, digits + level) - level
    errors = _least_sums(valuations, known)
    for k in range(n):
        errors = np.minimum(errors, errors[:, :, k, None] + errors[:, None, k])
    cycles = np.diagonal(errors, axis1=-2, axis2=-1)
    is_regular = np.asarray(((found < level) & (cycles > 0)).all(axis=-1))
    return _Inverted(inverse, level, found, determinants, valuations, errors, is_regular)


def _least_sums(x: Counts, y: Counts) -> Counts:
    """Return the least of x_ik + y_kj over k, (*, n, m): the product of matrices of which minima are the sums."""
    return np.asarray(reduce(np.minimum, (x[..., :, k, None] + y[..., None, k, :] for k in range(x.shape[-1]))))


def _valuations(values: Integers, p: int, top: int) -> Counts:
    """Return valuations; that of 0 is `top`."""
    return np.asarray(np.where(values == 0, top, split(values, p)[0]), dtype=np.int64)


def solve(
    a: Integers, known: Counts, b: Integers, known_b: Counts, p: int, digits: int, batch: tuple[int, ...]
) -> tuple[Integers, int, Counts]:
    """Return x, s and c: the solutions x · p^(−s) of a·x = b, (*, n, k), known modulo p^c, at most p^digits.

    If (a + δ)·x' = b + h, then x' − x is the sum of (−a^(−1)·δ)^k · x from k = 1 on, and of (−a^(−1)·δ)^k · a^(−1)·h
    from k = 0 on. `_Inverted` tells how often p divides these. Some a + δ may be singular: a `PrecisionError`.

    Args:
        a: integers (size, n, n).
        known: how many digits of them are known, (size, n, n).
        b: integers (*, n, k), where (*) is broadcast with `batch`.
        known_b: how many digits of them are known, (*, n, k).
        p: prime.
        digits: c is at most that; b has to be known to p^digits and twice the greatest of `known` to count as exact.
        batch: the axes (*) of the matrices, `size` in all.

    >>> a, b = np.array([[[2, 1], [1, 1]]], dtype=object), np.array([[1], [0]], dtype=object)
    >>> x, s, c = solve(a, np.full(a.shape, 4), b, np.full(b.shape, 12), 7, 4, ())
    >>> (x // 7**s).tolist(), c.tolist()
    ([[1], [2400]], [[4], [4]])
    """
    n = a.shape[-1]
    found = _inverted(a, known, p, digits)
    ranks = np.minimum((found.exponents < found.level).sum(axis=1), n - 1 + found.is_regular)
    _check_ranks(
        ranks,
        n,
        batch,
        "singular as far as its digits are known: they show rank {} of {}; more digits may "
        "show more, and solve_rational takes exact entries",
    )
    shape = (*batch, n, n)
    inverse = found.values.reshape(shape)
    valuations, errors = found.valuations.reshape(shape), found.errors.reshape(shape)
    x = np.matmul(inverse, b) % p ** (digits + found.level)
    of_a = _least_sums(errors, _valuations(x, p, digits + found.level) - found.level)
    of_b = _least_sums(np.minimum(valuations, _least_sums(errors, valuations)), known_b)
    return x, found.level, np.minimum(np.minimum(of_a, of_b), digits)


def _check_ranks(ranks: Counts, full: int, batch: tuple[int, ...], text: str) -> None:
    """Raise `PrecisionError` if a rank is below the full one, with the matrix's position and both ranks in the text."""
    for i in np.flatnonzero(ranks < full)[:1]:
        where = at_position(np.unravel_index(i, batch))
        raise PrecisionError(f"the matrix{where} is {text.format(ranks[i], full)}")


def hermite(a: Integers, known: Counts, p: int, batch: tuple[int, ...]) -> Integers:
    """Return the Hermite forms (size, m, m) of matrices (size, n, m); a rank below m is a `PrecisionError`.

    If the lattice of the rows contains p^(N−1)·Z_p^m, no digit from p^N on matters to it. FLINT's form over Z of the
    rows and p^N times the unit matrix is then the one over Z_p.

    >>> hermite(np.array([[[2, 1], [0, 4]]], dtype=object), np.full((1, 2, 2), 5), 2, ()).tolist()
    [[[2, 1], [0, 4]]]
    """
    matrix = load_flint("hermite").fmpz_mat
    size, n, m = a.shape
    found, level, factors = exponents(a, known, p)
    _check_ranks(
        (found < level).sum(axis=1),
        m,
        batch,
        "of rank {} as far as its digits are known, and only rank {} has a Hermite form that they tell",
    )
    out = np.empty((size, m, m), dtype=object)
    for i in range(size):
        top = p ** (level - int(factors[i, 0]))
        rows = np.concatenate([a[i], top * np.eye(m, dtype=np.int64).astype(object)])
        out[i].flat = [int(c) for c in matrix(n + m, m, rows.flatten().tolist()).hnf().entries()[: m * m]]
    return out


def solve_rational(a: Any, b: Any, *, floats: str = "error") -> npt.NDArray[np.object_]:
    """Return the exact solution of a rational linear system A·x = b.

    FLINT solves it modulo powers of a prime and reconstructs the fractions, with proof (Dixon's method): for n unknowns
    about n³ operations, with numbers that never grow. Python's fractions grow at each step.

    Args:
        a: A, rational numbers as `AdeleSpace.encode` takes them, of shape (*, n, n).
        b: of shape (n,), or (*, n, k) for k columns.
        floats: as for `AdeleSpace.encode`.

    Returns:
        x, `Fraction` in an array of objects: (*, n) for b of shape (n,), else (*, n, k).

    Raises:
        DomainError: A is singular.
        SpaceError: the shapes do not fit.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.
        MissingExtraError: python-flint is not installed.

    Source: J. D. Dixon, Numer. Math. 40 (1982); FLINT's `fmpz_mat_solve_dixon`.

    >>> solve_rational([[2, "1/3"], [1, 1]], [1, 0]).tolist()
    [Fraction(3, 5), Fraction(-3, 5)]
    """
    matrix = load_flint("solve_rational").fmpz_mat
    left, right = (rationals.read(values, floats=floats) for values in (a, b))
    batch, n, k = checked_shapes("solve_rational", left.shape, right.shape)
    shapes = left.shape, right.shape if len(right.shape) > 1 else (n, 1)
    top, bottom, sums, divisors = (
        np.broadcast_to(part.astype(object).reshape(shape), (*batch, *shape[-2:])).reshape(prod(batch), *shape[-2:])
        for numbers, shape in zip((left, right), shapes, strict=True)
        for part in (numbers.numerators, numbers.denominators)
    )
    # Each equation is multiplied by its denominators.
    scales = np.lcm.reduce(np.concatenate([bottom, divisors], axis=-1), axis=-1, keepdims=True, initial=1)
    top, sums = top * (scales // bottom), sums * (scales // divisors)
    out = np.empty(sums.shape, dtype=object)
    for i in range(len(out)):
        integral, values = (matrix(n, part.shape[-1], [int(c) for c in part[i].flat]) for part in (top, sums))
        try:
            solution = integral.solve(values)
        except ZeroDivisionError:
            raise DomainError(
                f"the matrix{at_position(np.unravel_index(i, batch))} is singular: its rank is {integral.rank()} of "
                f"{n}, so the system has no solution, or many"
            ) from None
        out[i].flat = [Fraction(int(q.p), int(q.q)) for q in solution.entries()]
    return out.reshape((*batch, n) if len(right.shape) == 1 else (*batch, n, k))


def checked_shapes(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[tuple[int, ...], int, int]:
    """Return the axes of a batch of systems, n and k: A (*, n, n), b (n,) or (*, n, k); or raise `SpaceError`.

    >>> checked_shapes("solve", (5, 2, 2), (2,))
    ((5,), 2, 1)
    """
    if len(a) < 2 or a[-1] != a[-2]:
        raise SpaceError(f"{name} takes square matrices, of shape (*, n, n), not shape {a}")
    n, columns = a[-1], b if len(b) > 1 else (*b, 1)
    if len(b) == 0 or columns[-2] != n:
        raise SpaceError(f"{name} takes b of shape ({n},) or (*, {n}, k) with A of shape {a}, not shape {b}")
    try:
        return np.broadcast_shapes(a[:-2], columns[:-2]), n, columns[-1]
    except ValueError:
        raise SpaceError(f"{name}: A of shape {a} and b of shape {b} do not fit together") from None
