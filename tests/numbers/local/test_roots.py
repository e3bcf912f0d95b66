"""Roots of polynomials in Q_p: all of them, once each, by trying all residues."""

import random
import sys
from fractions import Fraction
from itertools import product

import flint
import pytest
import sympy

from adelic.errors import EncodingError, MissingExtraError, PrecisionError, SpaceError
from adelic.numbers import hensel_roots, padic


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


def test_without_flint_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(MissingExtraError, match=r"hensel_roots needs flint, .*: pip install 'adelic\[flint\]'"):
        hensel_roots("x^2 - 2", 7)


@pytest.mark.parametrize("p", [2, 7])
def test_roots_with_digits_to_spare_after_the_point(p):
    f = [-17, 0, 4] if p == 2 else [-2, 0, p**4]
    depth = 1 if p == 2 else 2
    roots = hensel_roots(f, p, 10, fractional_digits=2 * depth)
    assert roots.fractional_digits == 2 * depth
    assert roots.precision == 10 + 2 * depth
    assert (f[2] * roots**2 == -f[0]).all()
    assert roots.lift().tolist() == hensel_roots(f, p, 10).lift().tolist()
    with pytest.raises(PrecisionError, match=rf"a root has .* −{depth}, .* fractional_digits={depth} would hold it"):
        hensel_roots(f, p, 10, fractional_digits=depth - 1)
    with pytest.raises(SpaceError, match="fractional_digits=-1 does not fit"):
        hensel_roots(f, p, 10, fractional_digits=-1)


def test_roots_of_degree_40_with_coefficients_of_50_digits():
    rng = random.Random(0)
    f = [rng.randrange(-(10**50), 10**50) for _ in range(41)]
    short = f[:12]  # times (x − 3)²
    repeated = [9 * a - 6 * b + c for a, b, c in zip([*short, 0, 0], [0, *short, 0], [0, 0, *short], strict=True)]
    found = [hensel_roots(g, 7, 30).lift().tolist() for g in (f, short, repeated)]
    assert sorted([*found[1], 3]) == sorted(found[2])
    assert all(value(f, x) % 7**30 == 0 for x in found[0])


@pytest.mark.parametrize("p", [2, 7])
def test_roots_that_agree_in_a_thousand_digits(p):
    roots = [0, p**1000, 5 * p**1000 + p**1001]
    f = [0, roots[1] * roots[2], -roots[1] - roots[2], 1]
    assert sorted(hensel_roots(f, p, 1010).lift().tolist()) == sorted(roots)


@pytest.mark.parametrize(
    ("polynomial", "words"), [("0", "every number is a root"), (sympy.sqrt(3), "is not a polynomial")]
)
def test_errors(polynomial, words):
    with pytest.raises(EncodingError, match=words):
        hensel_roots(polynomial, 5)
