"""Algebraic numbers from their digits at one prime, by lattice reduction (python-flint)."""

from math import isqrt
from typing import Any

import numpy as np

from adelic.errors import DecodingError, PrecisionError
from adelic.numbers.algebraic.polynomials import load_flint
from adelic.numbers.describe import at_position, describe
from adelic.numbers.local.array import PadicArray, check_padic
from adelic.numbers.window import checked_count


def minimal_polynomial(x: PadicArray, degree: int, height: int | None = None) -> Any:
    """Return the minimal polynomials over the integers of algebraic numbers, from their digits.

    It is certain: there is at most one irreducible polynomial of this degree and height of which a number with these
    digits is a root, and if none is found there is none. Let M = p^k be the power of p modulo which an integral x is
    known. If f and g have the degrees d at most, and the heights H, M divides their resultant if x is a root of both
    modulo M. But the resultant is at most ((d + 1)·H²)^d in absolute value. LLL finds a g that is at most 1.2^d as
    long as the shortest one; so (1.2^d·(d + 1)·H²)^d < M is asked for, and f is a factor of g.

    Args:
        x: numbers (*).
        degree: d, the greatest degree.
        height: H, the greatest absolute value of a coefficient; when left out, the greatest that the digits allow.

    Returns:
        Coefficients, the constant one first, integers without a common divisor, the last one positive: a tuple for
        shape (), else objects (*).

    Raises:
        EncodingError: x is no `PadicArray`.
        DecodingError: a number is a root of no such polynomial.
        PrecisionError: too few digits are known for this degree and height.
        MissingExtraError: python-flint is not installed.

    Source: R. Kannan, A. K. Lenstra, L. Lovász, Polynomial factorization and nonrandomness of bits of algebraic and
    some transcendental numbers, Math. Comp. 50 (1988); PARI's `algdep`.

    >>> from adelic.numbers import padic
    >>> x = padic(2, 7, precision=30, fractional_digits=1).sqrt()
    >>> minimal_polynomial(x + 1, degree=2), minimal_polynomial(x / 7, degree=3, height=100)
    ((-1, -2, 1), (-2, 0, 49))
    """
    check_padic("minimal_polynomial", x)
    degree = checked_count("degree", degree)
    limit = None if height is None else checked_count("height", height)
    out = np.empty(x.size, dtype=object)
    flat = x.reshape(-1)
    for i in range(x.size):
        out[i] = _of_one(flat[i], degree, limit, at_position(np.unravel_index(i, x.shape)))
    return out.reshape(x.shape) if x.shape else out[0]


def _of_one(x: PadicArray, degree: int, height: int | None, where: str) -> tuple[int, ...]:
    """Return the minimal polynomial of one number, of which errors tell where it is."""
    flint = load_flint("minimal_polynomial")
    is_integral = x.valuation() >= 0
    integral = x if is_integral else 1 / x  # whose polynomial is the reversed one
    (value,), (known,) = (part.reshape(1).tolist() for part in integral.integers())
    root = value // x.p**integral.fractional_digits
    modulus = x.p ** max(known - integral.fractional_digits, 0)
    # (1.2^d·(d + 1)·H²)^d < M, in integers
    greatest = int(flint.fmpz(modulus * 5 ** (degree * degree) - 1).root(degree))
    greatest = isqrt(greatest // (6**degree * (degree + 1)))
    if greatest < (height or 1):
        raise PrecisionError(
            f"the number{where} is known modulo {x.p}^{known - integral.fractional_digits}, which tells polynomials of "
            f"degree={degree} up to height={describe(greatest)}; more digits or a smaller degree reach further"
        )
    # The lattice of polynomials g with g(x) = 0 modulo M.
    basis = [[modulus] + [0] * degree]
    basis += [[-pow(root, i, modulus)] + [int(i == j) for j in range(1, degree + 1)] for i in range(1, degree + 1)]
    shortest = flint.fmpz_mat(basis).lll(delta=0.99, eta=0.51).tolist()[0]
    for factor, _ in flint.fmpz_poly(shortest).factor()[1]:
        coefficients = [int(c) for c in factor.coeffs()]
        if int(factor(root)) % modulus == 0 and max(map(abs, coefficients)) <= (height or greatest):
            coefficients = coefficients if is_integral else coefficients[::-1]
            sign = 1 if coefficients[-1] > 0 else -1
            return tuple(sign * c for c in coefficients)
    raise DecodingError(
        f"the number{where} is the root of no integer polynomial of degree up to {degree} with coefficients up to "
        f"{describe(height or greatest)}, as far as it is known"
    )
