"""Polynomials over Q_p: what is claimed holds for every polynomial with the known digits."""

import json
import random
import sys
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path

import flint
import numpy as np
import pytest

from adelic.errors import DomainError, EncodingError, MissingExtraError, PrecisionError, SpaceError
from adelic.numbers import evaluate, factor, hensel_roots, newton_polygon, padic, resultant, slope_factors, valuation

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "padic_algebra.json").read_text())
PRIMES = (2, 3, 7)


def drawn(rng, p, d, precision):
    """Return coefficients of various valuations, the last not 0, and to which power of p each is known."""
    values = [rng.randrange(p**precision) * p ** rng.choice((0, 0, 1, 2, 4)) for _ in range(d)]
    values.append(rng.randrange(1, p**2) * p ** rng.choice((0, 0, 1)))
    ends = [rng.randint(precision // 2, precision) for _ in values]
    return [Fraction(v, p) if i % 3 == 2 else Fraction(v) for i, v in enumerate(values)], ends


def approximate(values, p, ends):
    return padic([f"{q} + O({p}^{k})" for q, k in zip(values, ends, strict=True)], p)


def moved(rng, values, ends, p):
    return [q + p**k * rng.choice((0, 1, -1, p, rng.randrange(p**3))) for q, k in zip(values, ends, strict=True)]


def known(x):
    return np.ravel(x.known - x.fractional_digits).tolist()


def agrees(x, exact, p):
    """Return whether exact numbers, or p-adic ones that are known further, have the known digits of x."""
    pairs = zip(np.ravel(exact), np.ravel(x.lift()).tolist(), known(x), strict=True)
    return all((d := Fraction(q) - Fraction(y)) == 0 or valuation(d, p) >= k for q, y, k in pairs)


def value(f, x):
    return sum(Fraction(c) * Fraction(x) ** i for i, c in enumerate(f))


def times(*factors):
    out = np.array([Fraction(1)], dtype=object)
    for g in factors:
        out = np.convolve(out, np.array(g, dtype=object))
    return out.tolist()


@pytest.mark.parametrize("p", PRIMES)
def test_values(p):
    rng = random.Random(p)
    for d in (0, 1, 3, 6):
        f, ends = drawn(rng, p, d, 8)
        x = [Fraction(rng.randrange(p**6) * p ** rng.randint(0, 2), p**v) for v in (0, 0, 1)]
        ends_x = [rng.randint(3, 6) for _ in x]
        a, y = approximate(f, p, ends), approximate(x, p, ends_x)
        for found, is_f_exact, is_x_exact in (
            (evaluate(a, y), False, False), (evaluate(f, y), True, False), (evaluate(a, x), False, True),
        ):  # fmt: skip
            for _ in range(5):
                g = f if is_f_exact else moved(rng, f, ends, p)
                z = x if is_x_exact else moved(rng, x, ends_x, p)
                assert agrees(found, [value(g, q) for q in z], p)


def test_every_digit_that_a_value_has():
    """x^p has one digit more than x, and so has any value whose derivative p divides."""
    assert known(evaluate([0, 0, 0, 1], padic(["1 + O(3^2)", "3 + O(3^2)"], 3, 9))) == [3, 5]
    for coefficients in product(range(3), repeat=3):
        for x in range(9):
            found = evaluate(list(coefficients), padic(f"{x} + O(3^2)", 3, 5))
            differences = {value(coefficients, x + 9 * h) - value(coefficients, x) for h in range(27)} - {0}
            assert known(found) == [min([5, *(valuation(q, 3) for q in differences)])]


def test_values_of_batches():
    f, x = padic([[1, 2, 3], [0, 1, 0]], 7, 5), padic([[1], [2], [3]], 7, 5)
    assert (evaluate(f, x) == [[6, 1], [17, 2], [34, 3]]).all()
    assert (evaluate(np.array([[1, 2, 3], [0, 1, 0]]), x) == evaluate(f, x)).all()
    assert (evaluate("x^2 - 1/3", x[:, 0]) == [Fraction(2, 3), Fraction(11, 3), Fraction(26, 3)]).all()
    assert evaluate("x^2 + 1", padic("1/7 + O(7^3)", 7)).series() == "7^-2 + 1 + O(7^2)"
    assert (evaluate([], x) == 0).all()
    for call in (lambda: evaluate("x", 3), lambda: resultant("x", "x + 1")):
        with pytest.raises(EncodingError, match="takes a PadicArray"):
            call()
    with pytest.raises(SpaceError, match="different spaces"):
        evaluate(f, padic(1, 5))


@pytest.mark.parametrize("p", PRIMES)
def test_newton_polygons_of_products_of_linear_factors(p):
    rng = random.Random(p)
    batch = []
    for _ in range(20):
        roots = [Fraction(p) ** rng.randint(-2, 3) * rng.choice([1, -1, p + 1]) for _ in range(4)]
        f = times([2], *([-r, 1] for r in roots))
        expected = sorted((valuation(r, p) for r in roots), reverse=True)
        batch.append(f)
        assert newton_polygon(f, p).tolist() == expected
        assert newton_polygon(padic(f, p, 30)).tolist() == expected
    assert newton_polygon(batch, p).tolist() == [newton_polygon(f, p).tolist() for f in batch]
    assert newton_polygon("x^3 - 4x^2", 2).tolist() == [inf, inf, 2]
    assert newton_polygon([[1, 2, 0], [0, 1, 2]], 2).tolist() == [[-1, -inf], [inf, -1]]
    assert newton_polygon("5", 2).shape == (0,)
    with pytest.raises(EncodingError, match="the polynomial 0 has no Newton polygon"):
        newton_polygon([[1, 1], [0, 0]], 3)


@pytest.mark.parametrize("f", [["O(2^1)", "2", "1"], ["4", "O(2^0)", "1"], ["1", "2", "O(2^9)"], ["O(2^9)", "1"]])
def test_polygons_that_unknown_digits_decide(f):
    a = padic([c if "O" in c else f"{c} + O(2^12)" for c in f], 2)
    with pytest.raises(PrecisionError, match=r"depends on the coefficient of x\^\d"):
        newton_polygon(a)
    with pytest.raises(PrecisionError):
        slope_factors(a)
    assert newton_polygon(padic(["4 + O(2^9)", "O(2^1)", "1 + O(2^9)"], 2)).tolist() == [1, 1]


@pytest.mark.parametrize("p", PRIMES)
def test_slope_factors(p):
    """Their product is f, they have one slope each, and no claimed digit changes with unknown ones."""
    rng = random.Random(p)
    tried = 0
    while tried < 12:
        f, ends = drawn(rng, p, rng.randint(1, 5), 9)
        a = approximate(f, p, ends)
        try:
            factors, polygon = slope_factors(a), newton_polygon(a).tolist()
        except PrecisionError:
            continue
        tried += 1
        assert [newton_polygon(slope_factors(f, p, 30)[i]).tolist() for i in range(len(factors))] == [
            [v] * polygon.count(v) for v in sorted(set(polygon), reverse=True)
        ]
        for _ in range(3):
            g = moved(rng, f, ends, p)
            further = slope_factors(g, p, 40)
            again = times([g[-1]], *(h.lift().tolist() for h in further))
            assert all(q == c or valuation(q - c, p) > 20 for q, c in zip(g, again, strict=True))
            assert all(agrees(h, e.lift(), p) for h, e in zip(factors, further, strict=True))


@pytest.mark.parametrize("p", PRIMES)
def test_factors_from_approximate_coefficients(p):
    rng = random.Random(p + 1)
    tried = told = 0
    while tried < 12:
        tried += 1
        f, ends = drawn(rng, p, rng.randint(1, 4), 9)
        try:
            factors = factor(approximate(f, p, ends))
        except PrecisionError:
            continue
        told += 1
        for _ in range(3):
            further = factor(moved(rng, f, ends, p), p, 30)
            assert sorted(g.size for g, _ in further) == sorted(g.size for g, _ in factors)
            for g, k in factors:
                assert k == 1
                assert sum(h.size == g.size and agrees(g, h.lift(), p) for h, _ in further) == 1
    assert told > 2
    with pytest.raises(PrecisionError, match=r"do not tell the factors: the discriminant is 0"):
        factor(padic([1, 2, 1], p))


def test_exact_factors_and_roots_have_multiplicities():
    f = times([2, 1], [-1, 1], [-1, 1], [1, 0, 1], [1, 0, 1], [Fraction(-1, 7), 1])
    factors = factor(f, 7, 6)
    assert [(g.size, k) for g, k in factors] == [(2, 1), (2, 1), (2, 2), (3, 2)]
    roots, multiplicities = hensel_roots(f, 7, 6, return_multiplicities=True)
    assert (roots == [1, -2, Fraction(1, 7)]).all()
    assert multiplicities.tolist() == [2, 1, 1]
    assert factor([5], 7) == []
    with pytest.raises(EncodingError, match="polynomial 0"):
        factor([0], 7)


@pytest.mark.parametrize("p", PRIMES)
def test_roots_from_approximate_coefficients(p):
    """Each claimed root is one of every polynomial with the known digits, with m roots in the closure."""
    rng = random.Random(p)
    tried = 0
    while tried < 12:
        roots = [Fraction(rng.choice((0, 1, 1 + p**2, p, p**3 - 1))) / p ** rng.randint(0, 1) for _ in range(3)]
        f = times([-1, p], *([-r, 1] for r in roots))
        ends = [rng.randint(5, 10) for _ in f]
        a = approximate(f, p, ends)
        found, multiplicities = hensel_roots(a, return_multiplicities=True)
        if multiplicities.max(initial=1) > 1:
            with pytest.raises(PrecisionError, match=r"roots of the polynomial agree in all digits"):
                hensel_roots(a)
        else:
            assert (hensel_roots(a) == found).all()
        tried += 1
        for _ in range(3):
            g = moved(rng, f, ends, p)
            single = found[multiplicities == 1]
            assert agrees(evaluate(g, single), [0] * len(single), p)
            further, _ = hensel_roots(g, p, 30, return_multiplicities=True)
            for r, k, m in zip(found.lift().tolist(), known(found), multiplicities, strict=True):
                shifted = flint.fmpq_poly([flint.fmpq(q.numerator, q.denominator) for q in map(Fraction, g)])
                shift = flint.fmpq(Fraction(r).numerator, Fraction(r).denominator)
                shifted = shifted(flint.fmpq_poly([shift, 1]))
                near = [v for v in newton_polygon(shifted, p) if v >= k]
                assert len(near) >= m
                if m == 1:
                    assert sum(agrees(padic(f"{r} + O({p}^{k})", p), [q], p) for q in further.lift()) == 1


def test_roots_that_digits_do_not_tell_apart():
    roots, multiplicities = hensel_roots(padic(times([-1, 1], [-1, 1], [-2, 1]), 7), return_multiplicities=True)
    assert roots.series().tolist() == ["1 + O(7^8)", "2 + O(7^16)"]
    assert multiplicities.tolist() == [2, 1]
    for f in (["O(7^4)", "O(7^9)", "1 + O(7^9)"], ["3 + O(7^2)", "O(7^1)", "O(7^5)"]):
        with pytest.raises(PrecisionError, match=r"agree in all digits|the degree is not known"):
            hensel_roots(padic(f, 7))
    with pytest.raises(SpaceError, match="are not one polynomial"):
        hensel_roots(padic([[1, 2]], 7))


@pytest.mark.parametrize("p", PRIMES)
def test_resultants(p):
    """The product of the values of one at the roots of the other; no claimed digit changes with unknown ones."""
    rng = random.Random(p)
    for d, e in product((0, 1, 2, 3), (0, 1, 2)):
        (f, ends), (g, ends_g) = drawn(rng, p, d, 9), drawn(rng, p, e, 9)
        found = resultant(approximate(f, p, ends), approximate(g, p, ends_g))
        half = resultant(approximate(f, p, ends), g)
        for _ in range(3):
            others, g_others = moved(rng, f, ends, p), moved(rng, g, ends_g, p)
            assert agrees(found, [exact_resultant(others, g_others)], p)
            assert agrees(half, [exact_resultant(others, g)], p)
    batch = padic([[-2, 0, 1], [-3, 0, 1]], p)
    assert resultant(batch[:0], "x - 1").shape == (0,)
    assert (resultant(batch, padic([[[-1, 1]], [[0, 1]]], p)) == [[-1, -2], [-2, -3]]).all()


def exact_resultant(f, g):
    f, g = (flint.fmpq_poly([flint.fmpq(q.numerator, q.denominator) for q in map(Fraction, h)]) for h in (f, g))
    r = f.resultant(g)
    return Fraction(int(r.p), int(r.q))


@pytest.mark.parametrize("example", ORACLES["polynomials"], ids=lambda e: f"{e['p']}-{e['f']}")
def test_against_pari(example):
    p, f, g = (example[key] for key in ("p", "f", "g"))
    assert [str(v) for v in newton_polygon(f, p)] == example["polygon"]
    assert (resultant(padic(f, p), g) == example["resultant"]) is True
    assert sorted(map(str, hensel_roots(f, p, 12).lift().tolist())) == example["roots"]
    factors = [(g.lift().tolist(), k) for g, k in factor(f, p, 12)]
    assert sorted([[str(c) for c in g], k] for g, k in factors) == example["factors"]
    assert sum(k * (len(g) - 1) for g, k in factors) == len(f) - 1


@pytest.mark.parametrize("function", [newton_polygon, slope_factors, factor, hensel_roots])
def test_refused_polynomials(function):
    with pytest.raises(SpaceError, match=r"numbers of Q_5, not of Q_7; leave p out"):
        function(padic([1, 1], 5), 7)
    with pytest.raises(SpaceError, match=r"p=8 is not a prime|p must be an integer"):
        function("x + 1", 8)
    with pytest.raises(EncodingError, match=r"float|not a polynomial"):
        function([0.5, 1], 7)
    with pytest.raises(EncodingError, match=r"polynomial 0"):
        function([0, 0], 7)
    with pytest.raises(DomainError, match=r"position \[1\] is undefined"):
        function(padic([1, 3], 7).sqrt(errors="mask"))
    for f in (padic([], 5), padic(1, 5), np.empty((2, 0))):
        with pytest.raises(SpaceError, match=r"has no coefficients; shape"):
            function(f, 5)
    assert len(function("7", 5)) == len(function(padic([7], 5))) == 0
    if function is not newton_polygon:
        with pytest.raises(SpaceError, match=r"are not one polynomial"):
            function(padic([[1, 1]], 5))


def test_primes_beyond_64_bits():
    p = 2**89 - 1
    assert hensel_roots("x^2 - 4", p, 3).lift().tolist() == [2, p**3 - 2]
    assert newton_polygon(padic([p, 1, p], p)).tolist() == [1, -1]
    assert [g.valuation().tolist() for g in slope_factors([p, 1, p], p, 3)] == [[1, 0], [-1, 0]]
    assert evaluate("x^2 - 1/3", padic([2, p], p, 2)).decode().tolist() == [Fraction(11, 3), Fraction(-1, 3)]
    assert (resultant(padic([1, 2, 3], p), "x + 1") == 2) is True
    assert [len(g) for g, _ in factor("x^3 - 3x^2 + 2x", p)] == [2, 2, 2]


def test_without_flint_or_cypari_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adelic\[flint\]'"):
        slope_factors("x^2 + x + 7", 7)
    assert newton_polygon("x^2 + x + 7", 7).tolist() == [1, 0]
