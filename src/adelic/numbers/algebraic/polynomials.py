"""Polynomials in x: read from text, checked, and their roots lifted to the p-adic integers (python-flint).

A polynomial is a tuple of coefficients, the constant one first: (-2, 0, 1) is x^2 - 2.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache, partial
from math import lcm
from threading import RLock
from typing import Any

from adelic.errors import DivisionByZeroError, EncodingError, SpaceError, needs_extra
from adelic.numbers import integers, rationals
from adelic.numbers.describe import describe
from adelic.numbers.primes import is_prime

Element = tuple[tuple[int, ...], int]
"""A number of Q(θ) in lowest terms: numerators of the coefficients of 1, θ, θ^2, …; their positive denominator."""

Ball = Any
"""A real or complex ball of python-flint, which has no types for annotations."""

_MAX_EXPONENT = 1000
_MOST_TERMS = 20
_PRECISION_LOCK = RLock()
_COEFFICIENT = r"\d+(?:\.\d+|\s*/\s*\d+)?"
_TERM = re.compile(
    rf"\s*(?P<sign>[+-]?)\s*(?:(?P<factor>{_COEFFICIENT})\s*(?P<times>\*)?\s*)?"
    r"(?P<x>x(?:\s*(?:\^|\*\*)\s*(?P<exponent>\d+))?(?:\s*/\s*(?P<divisor>\d+))?)?\s*"
)


def load_flint(what: str = "AlgebraicSpace") -> Any:
    """Import python-flint on first use; `what` needs it, as an error tells.

    >>> load_flint().fmpz_poly([-2, 0, 1])
    x^2 + (-2)
    """
    with needs_extra(what, "flint"):
        import flint
    return flint


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Have python-flint's real and complex numbers keep this many bits; one thread at a time.

    The precision belongs to the whole process: two threads that changed it in turn would leave it changed.

    >>> with working_precision(100):
    ...     load_flint().ctx.prec
    100
    """
    with _PRECISION_LOCK, load_flint().ctx.workprec(bits):
        yield


def parse(text: str) -> tuple[Fraction, ...]:
    """Return the coefficients of a polynomial in x, the constant one first, without leading zeros.

    The text is a sum of terms such as "x^2 - 2", "1/2 + 3*x", "x**3", "0.5x", "-x/2", without brackets. Anything else,
    or an exponent beyond 1000, is an EncodingError, a denominator 0 a DivisionByZeroError.

    >>> parse("x^2 - 2"), parse("-x/2")
    ((Fraction(-2, 1), Fraction(0, 1), Fraction(1, 1)), (Fraction(0, 1), Fraction(-1, 2)))
    """
    terms: dict[int, Fraction] = {}
    given, text = text, " ".join(text.split())  # many spaces in a row would be tried one by one
    end = 0
    while end < len(text) or not terms:
        match = _TERM.match(text, end)
        if match is None or not _is_term(match, is_first=end == 0):
            raise EncodingError(f"{describe(given)} is not a polynomial in x; write 'x^2 - 2', '1 + 3*x' or '-x/2'")
        # Nine digits tell that it is too great; int() refuses thousands.
        exponent = 0 if match["x"] is None else int((match["exponent"] or "1").lstrip("0")[:9] or "0")
        if exponent > _MAX_EXPONENT:
            raise EncodingError(f"{describe(text)} has an exponent beyond {_MAX_EXPONENT}")
        factor = rationals.read("".join((match["factor"] or "1").split())).fraction(0)
        divisor = rationals.read(match["divisor"] or "1").fraction(0)
        if divisor == 0:
            raise DivisionByZeroError(f"{describe(text)} has denominator zero")
        term = factor / divisor
        terms[exponent] = terms.get(exponent, Fraction(0)) + (-term if match["sign"] == "-" else term)
        end = match.end()
    return read_coefficients([terms.get(i, 0) for i in range(max(terms) + 1)])


def _is_term(match: re.Match[str], *, is_first: bool) -> bool:
    """Return whether a match is a whole term: a number, x, or both, and a sign between it and the one before."""
    has_body = match["factor"] is not None or match["x"] is not None
    return has_body and not (match["times"] and match["x"] is None) and (is_first or bool(match["sign"]))


def to_text(coefficients: Sequence[Any]) -> str:
    """Return a polynomial as text, which `parse` reads if no coefficient, and no sum, is too long to be shown.

    >>> to_text([-2, 0, 1]), to_text([Fraction(1, 2), -1]), to_text([0])
    ('x^2 - 2', '-x + 1/2', '0')
    """
    terms = []
    for i in reversed(range(len(coefficients))):
        c = Fraction(coefficients[i])
        if c:
            power = "" if i == 0 else "x" if i == 1 else f"x^{i}"
            size = "" if abs(c) == 1 and power else describe(abs(c)) + ("*" if power else "")
            terms.append(f"{'-' if c < 0 else '+'} {size}{power}")
    if len(terms) > _MOST_TERMS:
        terms[_MOST_TERMS // 2 : -_MOST_TERMS // 4] = ["+ …"]
    text = " ".join(terms) or "+ 0"
    return text[2:] if text[0] == "+" else "-" + text[2:]


def defining_polynomial(given: Any) -> tuple[int, ...]:
    """Return a polynomial that defines a number field: monic, with integer coefficients, irreducible, degree >= 2.

    From text, a sequence of coefficients, the constant one first, or a polynomial of sympy, python-flint or cypari. A
    SpaceError tells why it defines none, an EncodingError that it is not a polynomial.

    >>> defining_polynomial("x^2 - 4")
    Traceback (most recent call last):
    adelic.errors.SpaceError: x^2 - 4 is reducible: (x - 2)·(x + 2); an irreducible factor defines a field
    """
    coefficients = read(given)
    text = to_text(coefficients)
    degree = len(coefficients) - 1
    if degree < 2:
        raise SpaceError(
            f"{text} has degree {max(degree, 0)}; degree >= 2 defines more than the rationals, AdeleSpace()"
        )
    if coefficients[-1] != 1 or any(c.denominator != 1 for c in coefficients):
        raise SpaceError(f"{text} is not monic with integer coefficients; substitute a multiple of x to make it so")
    integers = tuple(c.numerator for c in coefficients)
    flint = load_flint()
    _, factors = flint.fmpz_poly(list(integers)).factor()
    if len(factors) == 1 and factors[0][1] == 1:
        return integers
    # Sorted, so the message does not depend on python-flint's order.
    product = "·".join(
        f"({to_text([int(c) for c in g.coeffs()])}){f'^{k}' if k > 1 else ''}"
        for g, k in sorted(factors, key=lambda factor: [int(c) for c in factor[0].coeffs()])
    )
    why = "has repeated roots" if any(k > 1 for _, k in factors) else "is reducible"
    raise SpaceError(f"{text} {why}: {product}; an irreducible factor defines a field")


def read(given: Any, *, floats: str = "error") -> tuple[Fraction, ...]:
    """Return the coefficients of a polynomial, the constant one first, without leading zeros.

    From text, a sequence of coefficients, the constant one first, or a polynomial of sympy (an expression too),
    python-flint or cypari in one variable, whatever its name; `floats` is as for `AdeleSpace.encode`. Anything else is
    an EncodingError, a denominator 0 a DivisionByZeroError.

    >>> read("x^2 - 2") == read((-2, 0, 1)) == read(load_flint().fmpz_poly([-2, 0, 1]))
    True
    """
    if isinstance(given, str):
        return parse(given)
    foreign = foreign_coefficients(given)
    return read_coefficients(given if foreign is None else foreign, floats=floats)


def foreign_coefficients(given: Any) -> list[Any] | None:
    """Return the coefficients of a polynomial of sympy, python-flint or cypari, the constant one first; else None."""
    library = type(given).__module__.partition(".")[0]
    if library == "flint" and hasattr(given, "coeffs"):
        return list(given.coeffs())
    kind = str(given.type()) if library.startswith("cypari") else ""
    if kind in ("t_INT", "t_FRAC"):
        return [str(given)]
    if kind in ("t_POL", "t_POLMOD"):
        polynomial = given.lift()
        return [str(polynomial.polcoef(i)) for i in range(int(polynomial.poldegree()) + 1)]
    if library == "sympy" and hasattr(given, "as_poly"):
        poly = given.as_poly()
        if poly is not None and len(poly.gens) == 1 and poly.gens[0].is_Symbol:  # √3 would be another generator
            return list(reversed(poly.all_coeffs()))
    return None


def read_coefficients(given: Any, *, floats: str = "error") -> tuple[Fraction, ...]:
    """Return a sequence of rational coefficients as fractions, without leading zeros.

    Anything but a flat sequence of rational numbers is an EncodingError.

    >>> read_coefficients((1, "1/2", 0))
    (Fraction(1, 1), Fraction(1, 2))
    """
    if not isinstance(given, (list, tuple)) or any(isinstance(c, (list, tuple)) for c in given):
        raise EncodingError(f"{describe(given)} is not a polynomial; write 'x^2 - 2' or its coefficients (-2, 0, 1)")
    read = rationals.read(list(given), floats=floats)
    coefficients = [read.fraction(i) for i in range(len(given))]
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    return tuple(coefficients)


def reduce(coefficients: Sequence[Fraction], f: tuple[int, ...]) -> Element:
    """Return a polynomial modulo a monic f as (numerators, denominator) in lowest terms, deg f numerators.

    >>> reduce([Fraction(0), Fraction(0), Fraction(1, 3)], (-2, 0, 1))   # x^2/3 = 2/3
    ((2, 0), 3)
    """
    degree = len(f) - 1
    remainder = list(coefficients) + [Fraction(0)] * (degree - len(coefficients))
    while len(remainder) > degree:
        # f is monic: its leading term cancels without a division.
        leading = remainder.pop()
        for i in range(degree):
            remainder[len(remainder) - degree + i] -= leading * f[i]
    denominator = lcm(*(c.denominator for c in remainder))
    return tuple(int(c * denominator) for c in remainder), denominator


def evaluate(f: Sequence[int], x: int, modulus: int) -> int:
    """Return f(x) modulo a number, by Horner's rule.

    >>> evaluate((-2, 0, 1), 3, 7)
    0
    """
    value = 0
    for c in reversed(f):
        value = (value * x + c) % modulus
    return value


def roots_modulo(f: tuple[int, ...], p: int) -> dict[int, int]:
    """Return the roots of f modulo a prime p with their multiplicities, ascending; f is not 0 modulo p.

    >>> roots_modulo((-2, 0, 1), 7), roots_modulo((-2, 0, 1), 5), roots_modulo((-2, 0, 1), 2)
    ({3: 1, 4: 1}, {}, {0: 2})
    """
    flint = load_flint(f"a root modulo {p}")
    ring = partial(flint.nmod_poly, mod=p) if p < 2**64 else flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(p))
    return dict(sorted((int(r), int(k)) for r, k in ring([c % p for c in f]).roots()))


def simple_root(f: tuple[int, ...], p: int, precision: int) -> int | None:
    """Return the root of f modulo p^precision that is the smallest simple root modulo p; None if there is none.

    >>> simple_root((-2, 0, 1), 7, 4), simple_root((-2, 0, 1), 5, 4), simple_root((-2, 0, 0, 1), 5, 4)
    (2166, None, 303)
    """
    r = next((r for r, multiplicity in roots_modulo(f, p).items() if multiplicity == 1), None)
    return None if r is None else hensel_root(f, r, p, precision)


def splits(f: tuple[int, ...], p: int) -> bool:
    """Return whether f is a product of different linear factors modulo a prime p.

    >>> splits((-2, 0, 1), 7), splits((-2, 0, 1), 2)
    (True, False)
    """
    # As many different roots as the degree are all simple, and Hensel's lemma lifts each to Z_p.
    return len(roots_modulo(f, p)) == len(f) - 1


def splitting_primes(f: tuple[int, ...], bound: int) -> Iterator[int]:
    """Yield the primes below a bound at which f splits, ascending.

    >>> list(splitting_primes((-2, 0, 1), 50))   # ±1 modulo 8
    [7, 17, 23, 31, 41, 47]
    """
    return (p for p in range(2, bound) if is_prime(p) and splits(f, p))


# Cached, since every number of an array asks for the roots of the same f at the same precision.
@lru_cache(maxsize=64)
def complex_roots(f: tuple[int, ...], bits: int) -> tuple[Ball, ...]:
    """Return the complex roots of a squarefree f as balls of python-flint, the imaginary part of real ones exactly 0.

    >>> [round(float(z.real.mid()), 6) for z in complex_roots((-2, 0, 1), 64)]
    [-1.414214, 1.414214]
    """
    flint = load_flint()
    with working_precision(bits):
        return tuple(z for z, _ in flint.fmpz_poly(list(f)).complex_roots())


def fraction(x: Any) -> Fraction:
    """Return the exact real number of python-flint as a fraction."""
    q = x.fmpq()
    return Fraction(int(q.p), int(q.q))


def house(conjugates: Sequence[Ball]) -> Fraction:
    """Return a bound of the absolute values of complex balls.

    >>> float(house(complex_roots((-2, 0, 1), 64)))
    1.414213562373095...
    """
    return max(fraction(z.abs_upper()) for z in conjugates)


def hensel_root(f: tuple[int, ...], r: int, p: int, precision: int) -> int:
    """Return the root of f modulo p^precision that is r modulo p, by Hensel's lemma.

    Newton's step r − f(r)/f'(r) doubles the right digits. The paper's step, one digit c = −f(r)/p^k · f'(r)^(-1) mod p
    at a time, gives the same root, since it is unique (paper, appendix "Hensel's Lemma"). r is a simple root modulo p.

    >>> hensel_root((-2, 0, 1), 3, 7, 4), 2166**2 % 7**4
    (2166, 2)
    """
    derivative = [i * c for i, c in enumerate(f)][1:]
    inverse = pow(evaluate(derivative, r, p), -1, p)
    for known in integers.doublings(precision):
        # Of 1/f'(r) half as many digits are needed, which a step of the same kind gives: z to z·(2 − f'(r)·z).
        half = integers.as_long(p, precision * p.bit_length()) ** ((known + 1) // 2)
        inverse = inverse * (2 - evaluate(derivative, r, half) * inverse) % half
        modulus = half * half
        r = (r - evaluate(f, r, modulus) * inverse) % modulus
    return int(r % p**precision)
