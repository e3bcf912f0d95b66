"""Polynomials over Q_p: values, Newton polygons, factors, resultants; what is claimed is true of all with these digits.

A polynomial is a `PadicArray` of coefficients (*, d + 1), the constant one first, or exact: text such as "x^2 - 2",
rational coefficients, a polynomial of sympy or python-flint. Inside, one polynomial is integers `c` with the exponents
`k` of the powers of p to which they are known, divided by its leading coefficient, with roots that are integral.

Source: N. Koblitz, p-adic Numbers, p-adic Analysis, and Zeta-Functions (1984), IV.3 for Newton polygons; X. Caruso,
D. Roe, T. Vaccon, "Division and slope factorization of p-adic polynomials", ISSAC 2016; PARI's `factorpadic`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, gcd, inf, lcm, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, PrecisionError, SpaceError
from adelic.numbers import integers, rationals
from adelic.numbers.algebraic import polynomials as algebraic
from adelic.numbers.local import matrices
from adelic.numbers.local.array import LocalField, PadicArray, padic
from adelic.numbers.local.matrices import powers, solve_rational
from adelic.numbers.pari import PARI_LOCK, load_pari
from adelic.numbers.primes import split, valuation
from adelic.numbers.window import DEFAULT_PRECISION, checked_prime


def read(polynomial: Any, p: int | None = None) -> Any:
    """Return polynomials as they are, or the coefficients of one that is exact, without leading zeros.

    A `PadicArray` at another prime than p, or without coefficients, is a `SpaceError`.

    >>> read("x^2 - 2")
    [Fraction(-2, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    if isinstance(polynomial, PadicArray) and p not in (None, polynomial.p):
        raise SpaceError(f"the coefficients are numbers of Q_{polynomial.p}, not of Q_{p}; leave p out")
    if isinstance(polynomial, PadicArray) or np.ndim(polynomial) > 1:
        if np.shape(polynomial)[-1:] in ((), (0,)):
            raise SpaceError(f"an array of shape {np.shape(polynomial)} has no coefficients; shape (*, d + 1) is right")
        return polynomial
    return list(algebraic.read(polynomial.tolist() if isinstance(polynomial, np.ndarray) else polynomial)) or [
        Fraction(0)
    ]


def _field(name: str, *operands: Any) -> LocalField:
    """Return the field whose window holds the digits of all arrays among the operands."""
    arrays = [a for a in operands if isinstance(a, PadicArray)]
    if not arrays:
        raise EncodingError(
            f"{name} takes a PadicArray, which padic makes; of rational numbers alone there are no digits"
        )
    window = arrays[0].space.window
    for other in arrays[1:]:
        window = window.union(arrays[0]._coerce(other).space.window)
    return LocalField(window)


def evaluate(polynomial: Any, x: Any) -> PadicArray:
    """Return f(x) with the digits that f and x determine; f or x, or both, are `PadicArray`.

    Let a_i be known modulo p^(k_i), and x modulo p^A. f(x) is then known modulo p^(k_i + i·v(x)) for all i, and
    modulo p^(v(f^(j)(x)/j!) + jA) for all j >= 1, the terms of Taylor's series.

    Args:
        polynomial: f, of shape (*, d + 1): coefficients, the constant one first; exact if it is not a `PadicArray`.
        x: of a shape that is broadcast with (*); exact if it is not a `PadicArray`.

    Raises:
        EncodingError: neither is a `PadicArray`, or one is not made of numbers.
        SpaceError: the shapes do not fit, or the primes.

    Source: Sage's and PARI's values, whose Horner's scheme claims fewer digits at times.

    >>> from adelic.numbers import padic
    >>> x = padic([2, 3], 5, precision=4)
    >>> evaluate("x^5 - x", x).series().tolist()
    ['5 + 5^2 + O(5^4)', '3*5 + 4*5^2 + 5^3 + O(5^4)']
    """
    f = read(polynomial)
    field, d = _field("evaluate", f, x), np.shape(f)[-1] - 1
    (p,), (n,), depth = field.window
    enough = n + (d + 1) * (depth + 1)  # digits of exact operands: more than are asked for below
    (c, s, k), (x, t, known) = field.lifts(f, enough), field.lifts(x, enough)
    shape = np.broadcast_shapes(c.shape[:-1], x.shape)
    x, known = (np.broadcast_to(part, shape).reshape(-1) for part in (x, known))
    scales = t * (d - np.arange(d + 1))  # of p^(s + dt) · f as a polynomial in p^t·x
    c, k = (np.broadcast_to(part, (*shape, d + 1)).reshape(-1, d + 1) for part in (c * powers(p, scales), k + scales))
    below = s + d * t
    top = n - depth + below
    lowest = np.where(x == 0, known, split(x, p)[0])
    modulo = np.minimum((k + lowest[:, None] * np.arange(d + 1)).min(axis=1, initial=top), top)
    taylor = list(c.T)
    for j in range(d + 1):
        if j and (j * known >= top).all():
            break
        for i in reversed(range(j, d)):
            taylor[i] = (taylor[i] + x * taylor[i + 1]) % p**top
        if j:
            modulo = np.minimum(modulo, np.where(taylor[j] == 0, top, split(taylor[j], p)[0]) + j * known)
    return field.approximations(taylor[0].reshape(shape), below, (modulo - below).reshape(shape))


def newton_polygon(polynomial: Any, p: int | None = None) -> npt.NDArray[np.object_]:
    """Return the valuations of the d roots in an algebraic closure, greatest first: the falling slopes of the polygon.

    The Newton polygon is the lower convex hull of the points (i, v(a_i)).

    Args:
        polynomial: f, of shape (*, d + 1): coefficients, the constant one first.
        p: prime, if f is exact.

    Returns:
        `Fraction` in an array of objects (*, d); inf for the root 0, −inf for each leading coefficient 0.

    Raises:
        PrecisionError: the polygon depends on unknown digits.
        EncodingError: f is 0, or not made of numbers.
        SpaceError: p is not a prime.

    Source: Koblitz, IV.3; PARI's `newtonpoly`.

    >>> newton_polygon("x^3 + 2x + 4", 2).tolist()
    [Fraction(1, 1), Fraction(1, 2), Fraction(1, 2)]
    """
    f = read(polynomial, p)
    if isinstance(f, PadicArray):
        low, is_zero = f.valuation(), f.integers()[0] == 0  # or an error: undefined numbers have no digits
    else:
        numbers, p = rationals.read(f), checked_prime(p)
        n, m = (part.reshape(numbers.shape) for part in (numbers.numerators, np.array(numbers.denominators)))
        low, is_zero = split(n, p)[0] - split(m, p)[0], n == 0
        if is_zero.all(axis=-1).any():
            raise EncodingError("the polynomial 0 has no Newton polygon; give another one")
    found = _slopes(np.where(is_zero, inf, low))
    if isinstance(f, PadicArray) and (differs := found != _slopes(low.astype(float))).any():
        i = int(np.flatnonzero(is_zero[tuple(np.argwhere(differs)[0][:-1])])[0])
        raise PrecisionError(
            f"the Newton polygon depends on the coefficient of x^{i}, which is 0 as far as its digits are known; more "
            "digits may tell, exact coefficients do"
        )
    distinct, where = np.unique(found, return_inverse=True)
    exact = [Fraction(q).limit_denominator(found.shape[-1]) if abs(q) < inf else q for q in distinct.tolist()]
    return np.array(exact, dtype=object)[where.reshape(found.shape)]


def _slopes(v: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return minus the slopes of the lower convex hulls of points (i, v_i), float64 (*, d)."""
    i = np.arange(v.shape[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (v[..., None, :] - v[..., None]) / (i - i[:, None])
    slopes[np.isnan(slopes)] = -inf
    # Between i and i + 1, the hull is the highest of the lines from the left below all points on the right.
    found = [slopes[..., : j + 1, j + 1 :].min(axis=-1).max(axis=-1) for j in i[:-1]]
    return -np.stack(found, axis=-1) if found else np.empty((*v.shape[:-1], 0))


def resultant(f: Any, g: Any) -> PadicArray:
    """Return the resultants of polynomials, by Sylvester's determinant, with the digits that rows of it determine.

    Args:
        f: of shape (*, d + 1): coefficients, the constant one first.
        g: of shape (*, e + 1); one of the two may be exact, and the shapes (*) are broadcast.

    Raises:
        EncodingError: neither is a `PadicArray`, or one is not made of numbers.
        SpaceError: the shapes do not fit, or the primes.

    Source: PARI's `polresultant`; `PadicArray.det` for the digits.

    >>> from adelic.numbers import padic
    >>> resultant(padic([-2, 0, 1], 7, precision=4), "x - 3").series()
    '7 + O(7^4)'
    """
    f, g = read(f), read(g)
    field = _field("resultant", f, g)
    p, enough = field.window.primes[0], 4 * field.window.precision
    (a, s, k), (b, t, known) = field.lifts(f, enough), field.lifts(g, enough)
    values, ends = sylvester(a, b), sylvester(k, known)
    ends[ends == 0] = max(k.max(initial=1), known.max(initial=1))  # entries that are 0 anyway
    n = values.shape[-1]
    shape = values.shape[:-2]
    flat, ends = (part.reshape(prod(shape), n, n) for part in (values, ends))
    found, below, modulo = (part.reshape(shape) for part in matrices.determinant(flat, ends.astype(np.int64), p))
    below = below + s * (b.shape[-1] - 1) + t * (a.shape[-1] - 1)
    return field.approximations(found, below, modulo - below)


def sylvester(f: npt.NDArray[Any], g: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    """Return Sylvester's matrices, objects (*, d + e, d + e): e rows of f's coefficients, highest first, d of g's.

    >>> sylvester(np.array([1, 2, 3]), np.array([4, 5])).tolist()
    [[3, 2, 1], [5, 4, 0], [0, 5, 4]]
    """
    d, e = f.shape[-1] - 1, g.shape[-1] - 1
    out = np.zeros((*np.broadcast_shapes(f.shape[:-1], g.shape[:-1]), d + e, d + e), dtype=object)
    for i in range(d + e):
        row, j = (f, i) if i < e else (g, i - e)
        out[..., i, j : j + row.shape[-1]] = row[..., ::-1]
    return out


def lifted(f: PadicArray) -> tuple[list[int], list[int]]:
    """Return integers, multiples of one polynomial's coefficients, and to which power of p each is known.

    >>> from adelic.numbers import padic
    >>> lifted(padic([1, "3/2"], 2, precision=4))
    ([2, 3], [4, 4])
    """
    if f.ndim != 1:
        raise SpaceError(f"coefficients of shape {f.shape} are not one polynomial; shape (d + 1,) is")
    c, _, k = f.space.lifts(f)
    if not c[-1]:
        raise PrecisionError(
            f"the coefficient of x^{f.size - 1} is 0 as far as its digits are known, so the degree is not known; leave "
            "it out, or give more digits"
        )
    return c.tolist(), k.tolist()


def least(c: Sequence[int], k: Sequence[Any], p: int) -> list[Any]:
    """Return the least valuations that numbers have of which c_i is known modulo p^(k_i).

    >>> least([12, 0], [4, 4], 2)
    [2, 4]
    """
    return [valuation(x, p) if x else e for x, e in zip(c, k, strict=True)]


def integral(c: Sequence[int], k: Sequence[Any], p: int) -> tuple[list[int], list[Any], int]:
    """Return the polynomial p^(td) · f(x/p^t), divided by the power of p in its leading coefficient, and the least t.

    All its roots are integral. The coefficients of f are integers known modulo p^(k_i); k_i may be infinite.

    >>> integral([1, 3, 2], [4, 4, 4], 2)
    ([2, 3, 1], [5, 4, 3], 1)
    """
    d, v = len(c) - 1, least(c, k, p)
    t = max([0, *(-((v[i] - v[d]) // (d - i)) for i in range(d) if v[i] < inf)])
    scales = [t * (d - i) for i in range(d + 1)]
    return (
        [x * p**s // p ** v[d] for x, s in zip(c, scales, strict=True)],
        [e - v[d] + s for e, s in zip(k, scales, strict=True)],
        t,
    )


def _monic(f: PadicArray) -> tuple[list[int], list[int], int]:
    """Return c, k and t as `integral` has them, divided by the leading coefficient."""
    p = f.p
    c, k, t = integral(*lifted(f), p)
    # x/u is known as far as x is, and as far as u is and p divides x.
    ends = [min(e, k[-1] + v) for e, v in zip(k, least(c, k, p), strict=True)][:-1]
    most = max([1, *ends])
    return [*(integers.divide_modulo(x, c[-1], p, most) for x in c[:-1]), 1], [*ends, most], t


def original(field: LocalField, c: Sequence[int], k: Sequence[int], t: int) -> PadicArray:
    """Return the monic polynomial g(x) for which p^(td) · g(x/p^t) has these coefficients, see `integral`."""
    below = t * (len(c) - 1 - np.arange(len(c)))
    return field.approximations(np.array(c, dtype=object), below, np.array(k) - below)


def settled(function: Callable[[PadicArray], list[PadicArray]], f: Sequence[Any], p: int, precision: int) -> Any:
    """Return what a function makes of an exact polynomial seen with enough digits: arrays known modulo p^precision."""
    digits = precision
    while True:
        try:
            found = function(padic(list(f), p, digits + max(valuation(Fraction(q).denominator, p) for q in f)))
            if all((x.known - x.fractional_digits >= precision).all() for x in found):
                return [x.with_window(precision=precision + x.fractional_digits) for x in found]
        except PrecisionError:
            pass
        digits *= 2


def slope_factors(polynomial: Any, p: int | None = None, precision: int = DEFAULT_PRECISION) -> list[PadicArray]:
    """Return the monic factors of f over Q_p whose roots have one valuation each, greatest valuation first.

    f is their product times its leading coefficient. Hensel's lemma gives each factor, by Newton's steps on f − g·h;
    it holds in the norm that is the least v(a_i) + iλ for each λ between the slopes, and so tells the digits.

    Args:
        polynomial: f, one polynomial: coefficients (d + 1,), the constant one first.
        p: prime, if f is exact.
        precision: to which power of p the factors of an exact f are computed.

    Raises:
        PrecisionError: the Newton polygon depends on unknown digits.
        EncodingError: f is 0, or not made of numbers.
        SpaceError: p is not a prime, or the shape is not that of one polynomial.
        MissingExtraError: python-flint is not installed.

    Source: Caruso, Roe, Vaccon (2016); Koblitz, IV.4, for the lemma.

    >>> for g in slope_factors("2x^3 + 3x^2 + 6x + 8", 2, precision=3):
    ...     print(g.series().tolist())
    ['2^2 + O(2^3)', '1 + O(2^3)']
    ['2 + 2^2 + O(2^3)', '1 + O(2^3)']
    ['2^-1 + 1 + 2 + 2^2 + O(2^3)', '1 + O(2^3)']
    """
    f = read(polynomial)
    valuations = newton_polygon(f, p).tolist()
    if not isinstance(f, PadicArray):
        zeros = valuations.count(inf)
        found = settled(slope_factors, f[zeros:], checked_prime(p), precision)
        return [padic([0] * zeros + [1], checked_prime(p), precision), *found] if zeros else list(found)
    if not valuations:
        return []
    c, k, t = _monic(f)
    out = []
    while len(valuations) > (m := valuations.index(valuations[-1])) > 0:
        c, k, h, ends = _split(c, k, m, valuations[m] + t, valuations[m - 1] + t, f.p)
        out.append(original(f.space, h, ends, t))
        valuations = valuations[:m]
    return [original(f.space, c, k, t), *out[::-1]]


def _split(
    c: list[int], k: list[int], m: int, low: Fraction, high: Fraction, p: int
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return g and h with c = g·h, both with their k: m roots of g have valuations from `high` on, h's have `low`."""
    d, most = len(c) - 1, max(k)
    v = valuation(c[m], p)
    g = [integers.divide_modulo(x // p**v, c[m] // p**v, p, most) for x in c[:m]] + [1]
    h = c[m:]
    while any(
        rest := [
            (x - int(y)) % p**most
            for x, y in zip(c, np.convolve(np.array(g, dtype=object), np.array(h, dtype=object)), strict=True)
        ]
    ):
        # g + γ and h + η with γ·h + η·g = c − g·h.
        steps = solve_rational(
            sylvester(np.array(h, dtype=object), np.array(g, dtype=object)).T, rest[:d][::-1]
        ).tolist()
        steps = [integers.divide_modulo(q.numerator, q.denominator, p, most) for q in steps]
        g, h = (
            [(x + y) % p**most for x, y in zip(part[:-1], step[::-1], strict=True)] + [1]
            for part, step in ((g, steps[:m]), (h, steps[m:]))
        )
    claims = []
    for slope in (low, (low + high) / 2, high):
        lowest = min(k[j] + j * slope for j in range(d))
        claims.append(
            [ceil(lowest - v - i * slope) for i in range(m)] + [ceil(lowest - (m + i) * slope) for i in range(d - m)]
        )
    best = [min(max(0, *column), most) for column in zip(*claims, strict=True)]
    return g, [*best[:m], most], h, [*best[m:], most]


def factor(polynomial: Any, p: int | None = None, precision: int = DEFAULT_PRECISION) -> list[tuple[PadicArray, int]]:
    """Return the monic irreducible factors of f over Q_p with their multiplicities, as PARI finds them.

    f is the product of their powers times its leading coefficient. Of a `PadicArray`, PARI factors the least lift.
    Let p^e be the greatest power in the inverse of Sylvester's matrix of a factor and the rest, both integral. If f is
    known modulo p^k and k > 2e, every f with these digits has such factors, and they agree as far as that inverse
    tells. All of them are irreducible if that of degree n is known to more than 2·v(D)/n digits, with D its
    discriminant, by Krasner's lemma, or if its Newton polygon is one line without points of the lattice.

    Args:
        polynomial: f, one polynomial: coefficients (d + 1,), the constant one first.
        p: prime, if f is exact.
        precision: to which power of p the factors of an exact f are computed.

    Raises:
        PrecisionError: the digits do not tell the factors: the discriminant is 0, or too small.
        EncodingError: f is 0, or not made of numbers.
        SpaceError: p is not a prime, or the shape is not that of one polynomial.
        MissingExtraError: cypari is not installed, or this is its first use and not in the main thread.

    Source: PARI's `factorpadic`; J. Neukirch, Algebraic Number Theory (1999), II.4 and II.6, for both lemmas.

    >>> for g, multiplicity in factor("3x^3 - 6x^2 + 3x - 6", 7, precision=2):
    ...     print(g.series().tolist(), multiplicity)
    ['5 + 6*7 + O(7^2)', '1 + O(7^2)'] 1
    ['1 + O(7^2)', 'O(7^2)', '1 + O(7^2)'] 1
    """
    f = read(polynomial, p)
    if isinstance(f, PadicArray):
        return [(g, 1) for g in _factors(f)]
    p = checked_prime(p)
    return [(g, k) for part, k in squarefree_parts(f, "factor") for g in settled(_factors, part, p, precision)]


def squarefree_parts(f: Sequence[Fraction], what: str) -> list[tuple[list[int], int]]:
    """Return squarefree polynomials without common roots, and the multiplicities of these in f; `what` needs FLINT.

    >>> squarefree_parts([Fraction(1, 2), Fraction(1), Fraction(1, 2)], "this")
    [([1, 1], 2)]
    """
    if not any(f):
        raise EncodingError("every number is a root of the polynomial 0; give another one")
    scale = lcm(*(c.denominator for c in f))
    _, parts = algebraic.load_flint(what).fmpz_poly([int(c * scale) for c in f]).factor_squarefree()
    return [([int(c) for c in part.coeffs()], int(k)) for part, k in parts]


def _factors(f: PadicArray) -> list[PadicArray]:
    """Return the monic irreducible factors of one polynomial with different ones, as far as its digits tell them."""
    (c, k, t), p = _monic(f), f.p
    d, known = len(c) - 1, min(k)
    pari, polynomial = load_pari("factor"), algebraic.load_flint("factor").fmpz_poly
    with PARI_LOCK:
        found = pari.factorpadic(pari(c[::-1]).Pol(), p, max(k))[0] if d else []
        factors = [np.array([int(pari.lift(a)) for a in g.Vecrev()], dtype=object) for g in found]
    error = PrecisionError(
        "the digits of the coefficients do not tell the factors: the discriminant is 0 as far as they are known, or "
        "too small; more digits may tell, exact coefficients do"
    )
    if sum(len(g) - 1 for g in factors) < d:  # of a factor that is repeated
        raise error
    out = []
    for i, g in enumerate(factors):
        n, ends = len(g) - 1, k
        if n < d:
            rest = reduce(np.convolve, factors[:i] + factors[i + 1 :])
            inverse = solve_rational(sylvester(rest, g).T, np.eye(d, dtype=np.int64))
            rows = [min(valuation(q.numerator, p) - valuation(q.denominator, p) for q in row if q) for row in inverse]
            ends = [known + v for v in rows[:n][::-1]] + [max(k)] if known > -2 * min(rows) else [0] * (n + 1)
        different = int(polynomial(g.tolist()).discriminant()) if n > 1 else 1
        is_told = different and min(ends) * n > 2 * valuation(different, p)
        v = least(g.tolist(), ends, p)[0]
        is_pure = v < ends[0] and gcd(v, n) == 1 and all(e * n >= v * (n - j) for j, e in enumerate(ends))
        if not (is_told or is_pure):
            raise error
        out.append(original(f.space, g.tolist(), ends, t))
    return out
