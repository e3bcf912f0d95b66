"""All roots of a polynomial in Q_p, by Hensel's lemma."""

from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from adelic.errors import EncodingError, PrecisionError
from adelic.numbers import finite, hensel, integers
from adelic.numbers.algebraic import polynomials
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local.array import LocalField, PadicArray
from adelic.numbers.primes import valuation
from adelic.numbers.window import DEFAULT_PRECISION, checked_integer, checked_prime, checked_window

Polynomial = tuple[int, ...]


class _Branch(NamedTuple):
    """A root start + p^depth · t; t is the one root of a polynomial that is `residue` modulo p."""

    start: int
    depth: int
    polynomial: Polynomial
    residue: int

    def modulo(self, p: int, precision: int) -> int:
        """Return the root modulo p^precision."""
        if precision <= self.depth:
            return int(self.start % p**precision)
        t = polynomials.hensel_root(self.polynomial, self.residue, p, precision - self.depth)
        return int(self.start + p**self.depth * t)


def hensel_roots(
    polynomial: Any, p: int, precision: int = DEFAULT_PRECISION, *, fractional_digits: int | None = None
) -> PadicArray:
    """Return the different roots of a polynomial in Q_p, each modulo p^precision.

    A root modulo p at which the derivative is not 0 lifts in one way, by Newton's steps. At another one, r, the roots
    of f(r + p^s·x), without the powers of p that divide it, are searched in the same way, s being the least slope of
    the Newton polygon; this ends, since the repeated factors of f are left out first. Roots that are not p-adic
    integers are the inverses of the roots of the reversed polynomial.

    Args:
        polynomial: f, with rational coefficients, known exactly: text such as "x^2 - 2"; coefficients, the constant
            one first; a polynomial of sympy or python-flint in one variable.
        p: prime.
        precision: to which power of p the roots are computed.
        fractional_digits: how many digits the window has after the point, so that roots can be squared, for example;
            None for as many as a root needs.

    Returns:
        `PadicArray` (n_roots,), each root once, the p-adic integers first; ordered by their digits from the lowest up,
        the others by the digits of their inverses. The window has `fractional_digits` after the point and `precision`
        before it.

    Raises:
        EncodingError: it is not a polynomial, or it is 0.
        SpaceError: p is not a prime, or the precision does not suit.
        PrecisionError: a root has more digits after the point than `fractional_digits`.
        MissingExtraError: python-flint is not installed.

    Source: P. N. Panayi, Computation of Leopoldt's p-adic regulator (thesis, 1995), for the search; the paper,
    appendix "Hensel's Lemma".

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
    """
    window = checked_window((checked_prime(p),), precision, 0)
    (p,), (precision,) = window.primes, window.precisions  # Python's integers: powers of NumPy's overflow
    coefficients = polynomials.read(polynomial)
    if not coefficients:
        raise EncodingError("every number is a root of the polynomial 0; give another one")
    scale = lcm(*(c.denominator for c in coefficients))
    f = polynomials.squarefree([int(c * scale) for c in coefficients])
    found = [Fraction(branch.modulo(p, precision)) for branch in _branches(f, p)]
    found += [_inverse(branch, p, precision) for branch in _branches(f[::-1], p) if branch.modulo(p, 1) == 0]
    depth = max((valuation(q.denominator, p) for q in found), default=0)
    after = depth if fractional_digits is None else checked_integer("fractional_digits", fractional_digits)
    window = checked_window((p,), precision + max(after, 0), after)
    if after < depth:
        raise PrecisionError(
            f"a root has {p}-adic valuation −{depth}, below the window of fractional_digits={after}; "
            f"fractional_digits={depth} would hold it"
        )
    digits = np.empty((len(found), 1, window.precision), dtype=finite.digit_dtype(window.primes))
    for i, q in enumerate(found):
        digits[i, 0] = hensel.to_digits(int(q * p**after), p, window.precision)[::-1]
    return LocalField(window).array(FinitePlaces(digits, finite.all_known(window, len(found))))


def _branches(f: Polynomial, p: int) -> list[_Branch]:
    """Return the roots of a squarefree polynomial in Z_p, ordered by their digits from the lowest up."""
    found: list[_Branch] = []
    waiting = [(0, 0, f)]
    while waiting:
        start, depth, g = waiting.pop()
        g = _primitive(g, p)
        below = []
        for r, multiplicity in polynomials.roots_modulo(g, p).items():
            if multiplicity == 1:
                found.append(_Branch(start, depth, g, r))
            else:
                h = _shifted(g, r)
                # The least slope of the Newton polygon: how many digits the roots that are r modulo p share at least.
                shared = min(-(-valuation(c, p) // (multiplicity - i)) for i, c in enumerate(h[:multiplicity]) if c)
                scaled = tuple(c * p ** (shared * i) for i, c in enumerate(h))
                below.append((start + r * p**depth, depth + shared, scaled))
        waiting += below
    deepest = max((branch.depth for branch in found), default=0) + 1
    return sorted(found, key=lambda b: hensel.to_digits(b.modulo(p, deepest), p, deepest))


def _inverse(branch: _Branch, p: int, precision: int) -> Fraction:
    """Return 1/w modulo p^precision for a root w other than 0 that p divides."""
    known = branch.depth + 1
    while branch.modulo(p, known) == 0:
        known *= 2
    v = valuation(branch.modulo(p, known), p)
    # p^v · (1/w) is needed modulo p^(N + v), so w/p^v is.
    unit = branch.modulo(p, precision + 2 * v) // p**v
    return Fraction(integers.divide_modulo(1, unit, p, precision + v), p**v)


def _primitive(f: Polynomial, p: int) -> Polynomial:
    """Return f without the powers of p that divide all coefficients."""
    content = p ** min(valuation(c, p) for c in f if c)
    return tuple(c // content for c in f)


def _shifted(f: Polynomial, r: int) -> Polynomial:
    """Return f(r + x), by Horner's rule."""
    out = list(f)
    for i in range(len(out) if r else 0):
        for j in reversed(range(i, len(out) - 1)):
            out[j] += r * out[j + 1]
    return tuple(out)
