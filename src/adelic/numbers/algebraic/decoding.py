"""From coordinates back to algebraic numbers: Chinese remainders, lattice reduction, and a proof that no other fits.

Let L be the product of p^known over the primes where f has a root, t the root θ modulo L and r the number α modulo L.
Let K be the product over the other primes, of as many digits as are known of every coefficient, and c those of α modulo
K. The vectors (n, m), n in Z[θ] and m an integer, with n(t) ≡ m·r (mod L) and n ≡ m·c (mod K) are a lattice of
determinant M = L·K^d. If α = n/m, then (n, m) is one of them, and a short one, which LLL finds. (With F fractional
digits the digits belong to S·α, S = ∏ p^F.)

That no other number fits is then proven. If α and α' have the same digits and D, m are denominators of theirs, then
β = lcm(D, m)·(α − α') lies in the ideal {β: β(t) ≡ 0 mod L, β ≡ 0 mod K} of Z[θ], which has index M. So |N(β)| >= M
unless β = 0.
But the norm is the product of the d conjugates of β, each of which is bounded by the conjugates of α and α' (`Height`).

How far it reaches. Let c bound the conjugates of α, and measure vectors by ‖(n, m)‖² = Σ |σ(n)|² + (c·m)², σ over the
d embeddings. Then ‖(n, m)‖ <= √(d + 1)·m·c for the vector of α = n/m, and LLL's first vector (n', m') is at most γ
times as long, γ = (0.99 − 0.51²)^(−d/2). By the inequality of means and Cauchy's, |N(n·m' − n'·m)| is at most
(m · √(1 + 1/d) · ‖(n', m')‖)^d <= (m² · c · γ · (d + 1)/√d)^d, and γ · (d + 1)/√d < 2^d for d >= 2. So
(2^d · m² · c)^d < M makes both vectors the same number, and lets the proof above succeed.

Source: A. K. Lenstra, H. W. Lenstra, L. Lovász, Factoring polynomials with rational coefficients (1982), Proposition
1.11 on the length of the first vector; H. Cohen, A Course in Computational Algebraic Number Theory (1993), 2.6-2.7.
"""

from fractions import Fraction
from math import ceil, gcd, isfinite, lcm, prod
from typing import Any

from adelic.numbers.algebraic import polynomials
from adelic.numbers.algebraic.place import InfinitePlace
from adelic.numbers.algebraic.polynomials import Element
from adelic.numbers.decoding.reconstruction import chinese_remainder
from adelic.numbers.hensel import BelowWindowError, Residue

Field = Any
"""An `adelic.numbers.algebraic.space.AlgebraicSpace`, whose module imports this one."""

_BITS = 64  # to which conjugates are rounded in the lattice
_LIMIT = 2000  # heights are below 2^1024


def decode(field: Field, residues: list[Residue], place: InfinitePlace) -> Element | None:
    """Return the one number with these coordinates, or None if none is proven to be it.

    Residues are of p^F · α, one for each coordinate at a prime, and the place holds one number.
    """
    denominator, house = float(place.height.denominator), float(place.height.house)
    if not (isfinite(denominator) and isfinite(house)):
        return None
    scale = prod(field.primes) ** field.fractional_digits
    basis = _basis(field, residues, scale)
    modulus = prod(row[i] for i, row in enumerate(basis))
    for numerators, m in _short_vectors(field, basis, scale * Fraction(house)):
        element = polynomials.reduce([Fraction(n, m * scale) for n in numerators], field.polynomial)
        conjugates = field.conjugates(element)
        # Is β, with its bound D of a denominator of S·α, below M in norm?
        if place.height.is_multiple:
            d = int(denominator)
            common = Fraction(lcm(d // gcd(d, scale), m))
        else:
            common = Fraction(denominator) * m
        size = common * scale * (Fraction(house) + polynomials.house(conjugates))
        if size**field.degree < modulus and _has_digits(field, element, residues) and _is_near(conjugates[0], place):
            return element
    return None


def _basis(field: Field, residues: list[Residue], scale: int) -> list[list[int]]:
    """Return the basis of the lattice of the (n, m) that S·α may be: triangular, with the determinant M."""
    d, rest = field.degree, iter(residues)
    degree_one, others = [], []  # (p^known, S·α, t), and (p^known, coefficients of S·α)
    for p, t in zip(field.primes, field.roots, strict=True):
        here = [next(rest) for _ in range(d if t is None else 1)]
        power, unit = p ** min(r.known for r in here), scale // p**field.fractional_digits
        values = [r.value * unit % power for r in here]
        if t is None:
            others.append((power, values))
        else:
            degree_one.append((power, values[0], t % power))
    k, moduli = prod(power for power, _ in others), tuple(power for power, *_ in (*others, *degree_one))

    def constant(n: list[int], m: int) -> int:
        """Return the least constant coefficient >= 0 that n has next to others and m."""
        at_others = [m * values[0] for _, values in others]
        at_roots = [m * r - t * polynomials.evaluate(n, t, power) for power, r, t in degree_one]
        return chinese_remainder(at_others + at_roots, moduli)

    powers = [[k * int(i == j) for j in range(d - 1)] for i in range(d - 1)]
    coefficients = [chinese_remainder([values[i] for _, values in others], moduli[: len(others)]) for i in range(1, d)]
    return [
        [prod(moduli)] + [0] * d,
        *([constant(n, 0), *n, 0] for n in powers),
        [constant(coefficients, 1), *coefficients, 1],
    ]


def _short_vectors(field: Field, basis: list[list[int]], house: Fraction) -> list[tuple[tuple[int, ...], int]]:
    """Return short (n, m) of a lattice, m > 0, by LLL.

    The length is as in the module's docstring: Re z + Im z is a coordinate for every conjugate z, since for a pair of
    them (Re + Im)² + (Re − Im)² = |z|² + |z̄|².
    """
    degree = field.degree
    matrix = polynomials.load_flint().fmpz_mat
    lengths = []
    for i in range(degree):
        power = field.conjugates((tuple(int(k == i) for k in range(degree)), 1))
        parts = [polynomials.fraction(z.real.mid()) + polynomials.fraction(z.imag.mid()) for z in power]
        lengths.append([*(round(x * 2**_BITS) for x in parts), 0])
    lengths.append([0] * degree + [max(1, ceil(house * 2**_BITS))])
    _, transform = (matrix(basis) * matrix(lengths)).lll(transform=True, delta=0.99, eta=0.51)
    vectors = [[int(x) for x in row] for row in (transform * matrix(basis)).tolist()]
    return [(tuple(n if m > 0 else -n for n in numbers), abs(m)) for *numbers, m in vectors if m]


def _has_digits(field: Field, element: Element, residues: list[Residue]) -> bool:
    """Return whether a number has given digits, as far as these are known."""
    try:
        found = [x for k in range(field.n_primes) for x in field.residues(element, k)]
    except BelowWindowError:
        return False
    return all((x - r.value) % p**r.known == 0 for x, r, p in zip(found, residues, field.window.primes, strict=True))


def _is_near(image: polynomials.Ball, place: InfinitePlace) -> bool:
    """Return whether a ball of python-flint meets the balls of the infinite place, as far as these are known."""
    for x, part in zip((image.real, image.imag), place.parts, strict=False):
        ball = part.ball(_LIMIT)
        if ball is not None and abs(polynomials.fraction(x.mid()) - ball[0]) > polynomials.fraction(x.rad()) + ball[1]:
            return False
    return True
