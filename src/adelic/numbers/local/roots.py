"""All roots of a polynomial in Q_p, by Hensel's lemma."""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from adelic.errors import PrecisionError
from adelic.numbers.algebraic.polynomials import hensel_root, roots_modulo
from adelic.numbers.local.array import LocalField, PadicArray
from adelic.numbers.local.polynomials import integral, least, lifted, read, squarefree_parts
from adelic.numbers.primes import valuation
from adelic.numbers.window import DEFAULT_PRECISION, checked_integer, checked_prime, checked_window


def hensel_roots(
    polynomial: Any,
    p: int | None = None,
    precision: int = DEFAULT_PRECISION,
    *,
    fractional_digits: int | None = None,
    return_multiplicities: bool = False,
) -> Any:
    """Return the different roots of a polynomial in Q_p, each modulo p^precision.

    A root modulo p at which the derivative is not 0 lifts in one way, by Newton's steps. At another one, r, the roots
    of f(r + p·x), without the powers of p that divide it, are searched in the same way. This ends, since a factor that
    is repeated is taken once. Roots that are not p-adic integers are integral after p^t·x is put for x.

    With coefficients that are known modulo powers of p, it ends at the latest where f(r + p^c·x) is not known modulo p.
    If digits do not tell m roots in an algebraic closure apart, they differ from the one root shown by multiples of p
    to the power to which it is known. If m is 1 it is a root in Q_p; otherwise these may be m roots, or one of
    multiplicity m, or there may be none in Q_p.

    Args:
        polynomial: f, text such as "x^2 - 2"; rational coefficients, the constant one first; a polynomial of sympy or
            python-flint in one variable: these are known exactly. Or a `PadicArray` of coefficients (d + 1,).
        p: prime, if f is exact.
        precision: to which power of p the roots of an exact f are computed.
        fractional_digits: how many digits the window has after the point, so that roots can be squared, for example;
            None for as many as a root needs.
        return_multiplicities: whether to return multiplicities, too; m roots that a `PadicArray` does not tell apart
            are then one of multiplicity m, and no error.

    Returns:
        `PadicArray` (n_roots,), each root once, ordered by their digits from the lowest power of p up. The window has
        `fractional_digits` after the point; if f is exact `precision` before it, else as many as the coefficients'.
        With `return_multiplicities` a pair of it and the multiplicities, int64 (n_roots,).

    Raises:
        EncodingError: it is not a polynomial, or it is 0.
        SpaceError: p is not a prime, or the precision does not suit, or the shape is not that of one polynomial.
        PrecisionError: a root has more digits after the point than `fractional_digits`; the coefficients' digits do not
            tell roots apart, or the degree.
        MissingExtraError: python-flint is not installed.

    Source: P. N. Panayi, Computation of Leopoldt's p-adic regulator (thesis, 1995), for the search; the paper,
    appendix "Hensel's Lemma"; PARI's `polrootspadic`.

    >>> print(hensel_roots("x^2 - 2", 7, 5))
    …16213_7
    …50454_7
    >>> hensel_roots("25x^2 - 1", 5, 3).series().tolist()
    ['5^-1 + O(5^3)', '4*5^-1 + 4 + 4*5 + 4*5^2 + O(5^3)']
    >>> roots = hensel_roots("4x^2 - 17", 2, 10, fractional_digits=2)
    >>> 4 * roots**2 == 17
    array([ True,  True])
    >>> hensel_roots("x^2 - 2", 5).shape
    (0,)
    >>> from adelic.numbers import padic
    >>> roots, multiplicities = hensel_roots(padic([9, -6, 1], 7, precision=4), return_multiplicities=True)
    >>> roots.series().tolist(), multiplicities.tolist()
    (['3 + O(7^2)'], [2])
    """
    parts: list[tuple[list[int], list[Any], int]]
    f = read(polynomial, p)
    if isinstance(f, PadicArray):
        field, parts = f.space, [(*lifted(f), 0)]
    else:
        field = LocalField(checked_window((checked_prime(p),), precision, 0))
        parts = [(c, [inf] * len(c), k) for c, k in squarefree_parts(f, "hensel_roots")]
    (p,), (n,), depth = field.window
    found: list[tuple[int, int, int, int]] = []
    for c, known, multiplicity in parts:
        c, known, t = integral(c, known, p)
        for value, modulo, count in _search(c, known, p, n - depth + t):
            if count > 1 and not return_multiplicities:
                raise PrecisionError(
                    f"{count} roots of the polynomial agree in all digits that its coefficients tell, so they may be "
                    "one, or none in Q_p: its discriminant is 0 as far as they are known; more digits may tell, exact "
                    "coefficients do, and return_multiplicities=True takes them as one"
                )
            found.append((value, t, modulo - t, multiplicity or count))
    columns = np.array(found, dtype=object).reshape(-1, 4)
    below, modulo, multiplicities = columns[:, 1:].astype(np.int64).T
    array = field.approximations(columns[:, 0], below, modulo)
    if fractional_digits is not None:
        after, needed = checked_integer("fractional_digits", fractional_digits), -min([0, *array.valuation()])
        if 0 <= after < needed:
            raise PrecisionError(
                f"a root has {p}-adic valuation −{needed}, below the window of fractional_digits={after}; "
                f"fractional_digits={needed} would hold it"
            )
        array = array.with_window(fractional_digits=after)
    order = sorted(range(array.size), key=lambda i: array.digits[i, ::-1].tolist())
    return (array[order], multiplicities[order]) if return_multiplicities else array[order]


def _search(c: list[int], k: list[Any], p: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield the roots of an integral polynomial, to which power of p each is known, and how many are so near.

    The coefficients are known modulo p^k, or exactly if k is infinite; the roots are computed up to p^most.
    """
    waiting = [(0, 0, c, k, len(c) - 1)]
    while waiting:
        start, depth, c, k, count = waiting.pop()
        lowest = least(c, k, p)
        content = min(lowest)
        if not count:
            continue
        if min(k) <= content:
            # These roots may lie in a ramified extension: the Newton polygon bounds how far they are from the start.
            yield start, depth + min((lowest[i] - lowest[count]) // (count - i) for i in range(count)), count
            continue
        c, k = [x // p**content for x in c], [e - content for e in k]
        for r, m in roots_modulo(tuple(c), p).items():
            if m == 1:
                root = hensel_root(tuple(c), r, p, max(min(k[0], most - depth), 1))
                v = valuation(root, p) if root else min(k[0], most)
                known = depth + min(e + i * v for i, e in enumerate(k))
                yield start + p**depth * root, min(known, most), 1
                continue
            shifted, ends = list(c), list(k)
            for i in range(len(c) if r else 0):  # f(r + x), by Horner's rule
                ends[i] = min(k[i:])
                for j in reversed(range(i, len(c) - 1)):
                    shifted[j] += r * shifted[j + 1]
            # The least slope of the Newton polygon: how many digits the roots that are r modulo p share at least.
            shared = min(-(-v // (m - i)) for i, v in enumerate(least(shifted, ends, p)[:m]) if v < inf)
            scaled = [x * p ** (shared * i) for i, x in enumerate(shifted)]
            ends = [e + shared * i for i, e in enumerate(ends)]
            scaled = [x if e == inf else x % p**e for x, e in zip(scaled, ends, strict=True)]
            waiting.append((start + r * p**depth, depth + shared, scaled, ends, m))
