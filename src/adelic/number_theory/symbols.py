"""Quadratic symbols of arrays of numbers, and whether a quadratic form in three variables has a zero.

Source: Serre, "A Course in Arithmetic", chapters III and IV: theorem 1 of chapter III for the formulas, theorem 8 of
chapter IV (Hasse–Minkowski) for the zeros.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import DomainError
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.number_array import common_shape
from adelic.numbers.primes import legendre, split
from adelic.numbers.window import checked_prime

Integers = NDArray[np.int64]
REAL = 0
"""Stands for the real place, if a prime stands for another one."""


def hilbert_symbol(a: Any, b: Any, p: Any) -> Any:
    """Return the Hilbert symbol (a, b) at a place: 1 where a·x² + b·y² = z² has a solution there but 0, else −1.

    Args:
        a: rational numbers as for `AdeleSpace.encode`, of any size.
        b: as a; their shapes broadcast to (*).
        p: a prime of any size; for the real place 0 (PARI's), −1 (Sage's) or `math.inf`.

    Returns:
        int64 (*), int for shape (); 0 where a or b is 0, as in PARI and Sage. Exact.

    Raises:
        SpaceError: p is not a prime, or the shapes do not fit.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    Source: Serre, III, theorem 1; PARI's `hilbert`.

    >>> hilbert_symbol([-1, 2, 5, 3], [-1, 7, 5, 5], 2).tolist()
    [-1, 1, 1, 1]
    >>> hilbert_symbol("2/3", -5, 7), hilbert_symbol(-1, [[-1], [3]], math.inf).tolist()
    (1, [[-1], [1]])
    """
    p = REAL if np.ndim(p) == 0 and p in (REAL, math.inf, -1) else checked_prime(p)
    shape, a, b = _flattened(a, b)
    if p == REAL:
        symbols = np.where((a < 0) & (b < 0), -1, 1)
    else:
        alpha, u = split(a, p)
        beta, v = split(b, p)
        if p == 2:
            # ε(u) = (u − 1)/2 and ω(u) = (u² − 1)/8 modulo 2, which depend on u modulo 8 alone
            u, v = (np.asarray(unit % 8).astype(np.int64) for unit in (u, v))
            exponent = (u // 2) * (v // 2) + alpha * ((v * v - 1) // 8) + beta * ((u * u - 1) // 8)
            symbols = 1 - 2 * (exponent % 2)
        else:
            sign = 1 - 2 * ((alpha * beta * (p // 2 % 2)) % 2)
            symbols = sign * np.where(beta % 2, legendre(u, p), 1) * np.where(alpha % 2, legendre(v, p), 1)
    symbols = np.where((a == 0) | (b == 0), 0, symbols)
    return symbols.reshape(shape) if shape else int(symbols[0])


def is_locally_solvable(a: Any, b: Any, c: Any, p: Any) -> Any:
    """Return whether a·x² + b·y² + c·z² = 0 has a solution at a place besides 0: in Q_p, or in real numbers.

    At a prime that does not divide 2abc it always has. The conic a·x² + b·y² = c·z² is asked about with −c.

    Args:
        a: rational numbers as for `hilbert_symbol`.
        b: as a.
        c: as a; their shapes broadcast to (*).
        p: the place, as for `hilbert_symbol`.

    Returns:
        bool (*). Exact.

    Raises:
        SpaceError, EncodingError, DivisionByZeroError: as for `hilbert_symbol`.

    Source: Serre, IV, theorem 6.

    >>> is_locally_solvable([1, 2, -1, 5], [1, 3, -1, 5], -1, 3).tolist()   # of x² + y² = z², 2x² + 3y² = z², …
    [True, False, True, True]
    >>> is_locally_solvable(1, 1, 1, math.inf)
    False
    """
    forms = [_square_classes(number, 2**31) for number in (a, b, c)]  # products of two fit int64
    if any(form.dtype == object for form in forms):  # products of NumPy's scalars and objects do not
        forms = [form.astype(object) for form in forms]
    a, b, c = forms
    # Times −c the form is −ac·x² − bc·y² = (c·z)²; if a number is 0 there is a solution, and the symbol is 0.
    return hilbert_symbol(-a * c, -b * c, p) != -1


def kronecker_symbol(a: Any, n: Any) -> Any:
    """Return the Kronecker symbols (a/n): Jacobi's, and so Legendre's at odd primes, continued to all integers n.

    (a/n) is multiplicative in n; (a/2) is 0 for even a, 1 for a = ±1 modulo 8, else −1; (a/−1) is the sign of a, 1 for
    0; (a/0) is 1 for a = ±1, else 0.

    Args:
        a: integers of any size.
        n: as a; their shapes broadcast to (*).

    Returns:
        int64 (*), int for shape (): −1, 0 or 1. Exact.

    Raises:
        DomainError: a number is not an integer.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    Source: H. Cohen, A Course in Computational Algebraic Number Theory (1993), 1.4.2; PARI's `kronecker`.

    >>> kronecker_symbol(5, [-3, 0, 1, 2, 4, 21]).tolist(), kronecker_symbol(2, 10**30 + 57)
    ([-1, 0, 1, -1, 1, 1], 1)
    """
    shape, a, n = _flattened(a, n, integral=True)
    twos, odd = split(n, 2)
    is_three = np.isin(np.asarray(a % 8).astype(np.int64), (3, 5))
    symbols = legendre(a, np.where(n == 0, 1, abs(odd))) * np.where(is_three & (twos % 2 == 1), -1, 1)
    symbols = np.where((twos > 0) & (a % 2 == 0), 0, symbols) * np.where((n < 0) & (a < 0), -1, 1)
    symbols = np.where(n == 0, abs(a) == 1, symbols).astype(np.int64)
    return symbols.reshape(shape) if shape else int(symbols[0])


def legendre_symbol(a: Any, p: Any) -> Any:
    """Return the Legendre symbols (a/p): 1 for squares modulo p, 0 for multiples of p, else −1.

    Args:
        a: integers of any size, of shape (*).
        p: an odd prime of any size.

    Returns:
        int64 (*), int for shape (). Exact.

    Raises:
        DomainError: p is 2, where `kronecker_symbol` has a value, or a number is not an integer.
        SpaceError: p is not a prime.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    >>> legendre_symbol([1, 2, 3, 14], 7).tolist(), legendre_symbol(-1, 2**61 - 1)
    ([1, 1, -1, 0], -1)
    """
    if checked_prime(p) == 2:
        raise DomainError("p=2 has no Legendre symbol; kronecker_symbol(a, 2) is the usual continuation")
    return kronecker_symbol(a, p)


def has_zero(a: Integers, b: Integers, c: Integers, primes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return whether a·x² + b·y² + c·z² = 0 has a solution in rationals that are not all 0.

    It has one if and only if it has one at every place.

    Numbers are as for `is_locally_solvable`, (n,). `primes` are all that divide one of them; 2 and the real place are
    looked at anyway.

    >>> one = np.array([1])
    >>> [bool(has_zero(a * one, b * one, -one, (2, 3, 5))[0]) for a, b in ((1, 1), (2, 3), (-1, -1), (5, 5), (2, -1))]
    [True, False, False, True, True]
    """
    at_all = np.ones(np.shape(a), dtype=bool)
    for place in (REAL, 2, *(p for p in primes if p != 2)):
        at_all &= is_locally_solvable(a, b, c, place)
    return at_all


def _flattened(a: Any, b: Any, *, integral: bool = False) -> tuple[tuple[int, ...], NDArray[Any], NDArray[Any]]:
    """Return the shape of two arrays, broadcast, and their square classes (n,): of shape () NumPy makes scalars."""
    a, b = (_square_classes(number, integral=integral) for number in (a, b))
    shape = common_shape(a, b)
    a, b = (np.broadcast_to(number, shape) for number in (a, b))
    return a.shape, a.reshape(-1), b.reshape(-1)


def _square_classes(values: Any, bound: int = 2**63, *, integral: bool = False) -> NDArray[Any]:
    """Return integers that are rationals times squares: int64, or objects unless all are below a bound."""
    numbers = rationals.read(values, transient=True)
    n = numbers.numerators
    if not numbers.is_integral:
        if integral:
            i = int((numbers.denominators != 1).argmax())
            position = np.unravel_index(i, numbers.shape)
            raise DomainError(f"{describe(numbers.fraction(i))}{at_position(position)} is not an integer")
        n = n.astype(object) * numbers.denominators.astype(object)
    elif n.dtype != object and n.size and not -bound < n.min() <= n.max() < bound:
        n = n.astype(object)
    return n.reshape(numbers.shape)
