"""Roots of polynomials in Q_p: all of them, once each, by trying all residues."""

from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest
import sympy

from adelic.errors import EncodingError, MissingExtraError, SpaceError
from adelic.numbers import hensel_roots, padic
from adelic.numbers.algebraic import polynomials


def value(coefficients, x):
    return sum(c * x**i for i, c in enumerate(coefficients))


@pytest.mark.parametrize("p", [2, 3, 5])
def test_roots_of_products_of_linear_factors(p):
    """Also where roots agree in many digits, repeat, or are not p-adic integers."""
    candidates = [0, 1, 1 + p**3, -p, Fraction(1, p), Fraction(2, p**2 * 7), Fraction(3, 11)]
    for roots in product(candidates, repeat=3):
        f = [Fraction(1)]
        for r in roots:  # times x − r
            f = [a - r * b for a, b in zip([0, *f], [*f, 0], strict=True)]
        found = hensel_roots(f, p, 8)
        expected = padic(sorted(set(roots)), p, 8 + found.fractional_digits, fractional_digits=found.fractional_digits)
        assert sorted(map(Fraction, found.lift().tolist())) == sorted(map(Fraction, expected.lift().tolist()))


@pytest.mark.parametrize("p", [2, 3, 5])
def test_integral_roots_by_trying_all_residues(p):
    """Where p does not divide the discriminant, roots modulo p^4 are those of Hensel's lemma."""
    for f in product(range(-2, 3), repeat=3):
        monic = [*f, 1]
        discriminant = sympy.discriminant(sum(c * sympy.Symbol("x") ** i for i, c in enumerate(monic)))
        if discriminant % p:
            found = hensel_roots(monic, p, 4)
            assert sorted(found.lift().tolist()) == [x for x in range(p**4) if value(monic, x) % p**4 == 0]
            assert (found.known == 4).all()


def test_order():
    roots = hensel_roots("x^6 - 1", 7, 4)
    assert [int(x) % 7 for x in roots.lift()] == [1, 2, 3, 4, 5, 6]
    assert (roots**6 == 1).all()
    assert hensel_roots("x^2 - 1/25", 5, 2).valuation().tolist() == [-1, -1]


@pytest.mark.parametrize(
    "polynomial",
    [
        "x^2 - 2", (-2, 0, 1), ["-2", 0, Fraction(1)], sympy.Symbol("t") ** 2 - 2,
        sympy.Poly(sympy.Symbol("x") ** 2 - 2), sympy.Symbol("x") ** 2 / 3 - sympy.Rational(2, 3),
        flint.fmpz_poly([-2, 0, 1]), flint.fmpq_poly([-2, 0, 1]) / 5,
    ],
)  # fmt: skip
def test_polynomials_of_other_systems(polynomial):
    assert hensel_roots(polynomial, 7, 4).lift().tolist() == [2166, 235]


def test_no_roots_and_constants():
    assert hensel_roots("x^2 - 2", 5, 4).digits.shape == (0, 4)
    assert hensel_roots("3", 5).shape == (0,)
    assert hensel_roots("x", 5).lift().tolist() == [0]


def test_small_primes_need_no_flint(monkeypatch):
    expected = [polynomials.roots_modulo(f, p) for f in ((1, 2, 1), (0, 0, 1, 1), (-2, 0, 1)) for p in (2, 3, 7)]
    monkeypatch.setitem(__import__("sys").modules, "flint", None)
    again = [polynomials.roots_modulo(f, p) for f in ((1, 2, 1), (0, 0, 1, 1), (-2, 0, 1)) for p in (2, 3, 7)]
    assert again == expected
    assert hensel_roots("x^2 - 2", 7, 4).lift().tolist() == [2166, 235]
    with pytest.raises(MissingExtraError, match="a root modulo 1000003 needs flint"):
        hensel_roots("x^2 - 2", 1000003)


def test_errors():
    with pytest.raises(EncodingError, match="every number is a root"):
        hensel_roots("0", 5)
    with pytest.raises(EncodingError, match="is not a polynomial"):
        hensel_roots(sympy.sqrt(3), 5)
    with pytest.raises(SpaceError, match="6 is not a prime"):
        hensel_roots("x", 6)
    assert np.shape(hensel_roots("x^2 + 1", 5).digits) == (2, 16)
