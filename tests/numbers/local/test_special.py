"""Γ_p, ζ_p, Mahler series, random and algebraic numbers: definitions, laws, and PARI (tests/oracles)."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.errors import AdelicError, DecodingError, DomainError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import (
    hensel_roots,
    mahler_coefficients,
    mahler_sum,
    minimal_polynomial,
    padic,
    random_padic,
    valuation,
)

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "padic_special.json").read_text())
METHODS = {"gamma": "gamma", "lngamma": "log_gamma", "zeta": "zeta"}
SMALL = [(2, 5), (3, 3), (5, 2), (7, 2)]


def places(x):
    """Return p^F times one number, F, and its absolute precision."""
    (value,), (known,) = (part.reshape(1).tolist() for part in x.integers())
    return value, x.fractional_digits, known - x.fractional_digits


def agree(x, y, p):
    """Whether two of these are equal as far as both are known."""
    f = max(x[1], y[1])
    return (x[0] * p ** (f - x[1]) - y[0] * p ** (f - y[1])) % p ** max(min(x[2], y[2]) + f, 0) == 0


@pytest.mark.parametrize("name", METHODS)
def test_values_are_those_of_pari(name):
    compared = 0
    for case in ORACLE["values"]:
        p, expected = case["p"], case[name]
        # PARI claims a digit too many of Γ_2 modulo 4: Γ_2(2) = 1, and Γ_2(6) = 15.
        if expected is None or (p == 2 and case["precision"] <= 3 and name != "zeta"):
            continue
        found = places(getattr(padic(case["q"], p, case["precision"]), METHODS[name])())
        unit, v, precision = int(expected[0]), *expected[1:]
        assert agree((unit * p ** max(v, 0), max(-v, 0), precision), found, p), case
        # Of Γ_p PARI knows a digit more at Wilson's prime 5, and sometimes one less at 2 and 3.
        assert found[2] == precision or (name != "zeta" and abs(found[2] - precision) == 1 and p <= 5), case
        compared += 1
    assert compared > 120


@pytest.mark.parametrize(("p", "n"), SMALL)
@pytest.mark.parametrize("function", ["gamma", "log_gamma", "zeta", "branch"])
def test_known_digits_are_those_of_every_number_with_the_arguments_digits(p, n, function):
    """All arguments, cut to fewer digits."""
    if function == "branch" and p < 5:
        return

    def tried(low, precision):
        try:
            x = padic(low, p, precision)
            return places(x.zeta(2) if function == "branch" else getattr(x, function)())
        except PrecisionError:
            assert function == "zeta"
            assert (low - 1) % p**precision == 0
            return None

    exact = {x: tried(x, n + 2) for x in range(p ** (n + 1))}
    checked = 0
    for k in range(1, n + 1):
        for low in range(p**k):
            found = tried(low, k)
            values = [value for x, value in exact.items() if x % p**k == low and value]
            assert found is None or all(agree(found, value, p) for value in values), (low, k)
            checked += 0 if found is None else len(values)
    assert checked > p**n


@pytest.mark.parametrize("p", [2, 3, 5, 11, 101])
def test_gamma_by_its_definition(p):
    values = [1]
    for n in range(1, 60):
        values.append(-values[-1] * (n - 1 if (n - 1) % p else 1))
    x = padic(np.arange(60).reshape(6, 10), p, precision=9)
    assert (x.gamma() == np.array(values, dtype=object).reshape(6, 10)).all()
    assert padic([], p).gamma().shape == padic([], p).zeta().shape == (0,)


@settings(max_examples=40)
@given(n=st.integers(), m=st.integers(1, 99), p=st.sampled_from([3, 5, 7, 13]))
def test_functional_equations_of_gamma(n, m, p):
    m //= p ** valuation(m, p)
    x = padic(Fraction(n, m), p, precision=8)
    factor = -1 if x.valuation() > 0 else -Fraction(n, m)
    assert (x + 1).gamma() == x.gamma() * factor
    residue = Fraction(n, m).numerator * pow(Fraction(n, m).denominator, -1, p) % p or p
    assert x.gamma() * (1 - x).gamma() == (-1) ** residue


@pytest.mark.parametrize(("p", "branches"), [(2, [0]), (3, [0]), (5, [0, 2]), (7, [0, 2, 4])])
def test_zeta_by_bernoulli_numbers(p, branches):
    """L_p(1 − n, ω^branch) = −(1 − p^(n − 1))·B_n/n for all n of the branch."""
    flint = pytest.importorskip("flint")
    for n in range(2, 60, 2):
        for branch in branches:
            if (n - branch) % max(p - 1, 2) == 0:
                b = flint.fmpq.bernoulli(n)
                expected = -Fraction(1 - p ** (n - 1), n) * Fraction(int(b.p), int(b.q))
                found = padic(1 - n, p, precision=12).zeta(branch)
                assert found.with_window(fractional_digits=8) == expected, (n, branch)
    for branch in branches[1:]:  # where there is no pole
        assert padic(1, p, precision=5).zeta(branch) == padic(1 + p**5, p, precision=9).zeta(branch)


@settings(max_examples=40)
@given(values=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12), p=st.sampled_from([2, 3, 5]))
def test_mahler_series_take_the_values(values, p):
    coefficients = mahler_coefficients(padic(values, p, precision=20))
    x = padic(np.arange(len(values)), p, precision=30)
    assert (mahler_sum(coefficients, x) == values).all()
    by_definition = [
        sum((-1) ** (n - k) * math.comb(n, k) * values[k] for k in range(n + 1)) for n in range(len(values))
    ]
    assert (coefficients == by_definition).all()


@pytest.mark.parametrize(("p", "n"), SMALL)
def test_mahler_sums_know_what_all_numbers_with_the_digits_have(p, n):
    rng = np.random.default_rng(p)
    exact = [Fraction(int(c), p) for c in rng.integers(-99, 99, 11)]
    for known in (2, 6):
        coefficients = padic(exact, p, known, fractional_digits=1)
        for low in range(p**n):
            value, f, precision = places(mahler_sum(coefficients, padic(low, p, n)))
            for x in (low, low + p**n, low - p**n, Fraction(low) + Fraction(p**n, p + 1)):
                binomial, true = Fraction(1), Fraction(0)
                for k, c in enumerate(exact):
                    true += (c + p ** (known - 1) * int(rng.integers(9))) * binomial
                    binomial = binomial * (x - k) / (k + 1)
                assert valuation(true - Fraction(value, p**f), p) >= precision


@pytest.mark.parametrize("function", ["gamma", "log_gamma", "zeta"])
def test_undefined_values_are_masked(function):
    x = padic([["1/7", 2], [1, 3]], 7, precision=6)
    found = getattr(x, function)(errors="mask", where=[[True, True], [True, False]])
    assert found.mask.tolist() == [[True, False], [function == "zeta", True]]
    assert found[0, 1] == getattr(x[0, 1], function)()
    assert getattr(x, function)(where=False).mask.all()
    with pytest.raises(DomainError, match="undefined"):
        mahler_coefficients(found)


def test_mahler_series_of_a_function_that_is_continuous():
    """(1 + p)^x = Σ p^n · binom(x, n)."""
    coefficients = padic([5**n for n in range(20)], 5, precision=20)
    x = padic(["1/2", -3, "7/3"], 5, precision=16)
    assert (mahler_sum(coefficients, x) == (x * padic(6, 5, precision=16).log()).exp()).all()
    table = padic(np.arange(12).reshape(2, 6), 3, precision=4)
    assert (mahler_coefficients(table)[1] == mahler_coefficients(table[1])).all()


@pytest.mark.parametrize("p", [2, 3, 257, 2**61 - 1])
def test_random_numbers_are_uniform(p):
    x = random_padic((40, 100), p, precision=3, fractional_digits=1, rng=1)
    assert (x == random_padic((40, 100), p, precision=3, fractional_digits=1, rng=np.random.default_rng(1))).all()
    assert (x != random_padic((40, 100), p, precision=3, fractional_digits=1, rng=2)).any()
    counts = np.bincount((x.digits.reshape(-1, 3).astype(np.uint64) * 4 // p).sum(axis=1).astype(int), minlength=4)
    assert counts.sum() == 4000
    if p < 5:
        triples = np.unique(x.digits.reshape(-1, 3), axis=0, return_counts=True)[1]
        assert len(triples) == p**3
        assert abs(triples - 4000 / p**3).max() < 5 * (4000 / p**3) ** 0.5
    else:
        assert abs(x.digits.astype(float).mean(axis=(0, 1)) / p - 0.5).max() < 5 / (12 * 4000) ** 0.5
    assert (x.known == 3).all()
    assert random_padic(3, p, rng=0).shape == (3,)


def test_minimal_polynomials_are_those_of_pari():
    for case in ORACLE["polynomials"]:
        p, (unit, v, precision) = case["p"], case["x"]
        f = max(-v, 0)
        x = padic(int(unit) * Fraction(p) ** v, p, precision + f, fractional_digits=f)
        found = minimal_polynomial(x, case["degree"], height=50)
        content = math.gcd(*case["found"]) * (1 if case["found"][-1] > 0 else -1)
        assert found == tuple(c // content for c in case["found"]), case
        assert found[-1] > 0


def test_minimal_polynomials_are_certain():
    roots = hensel_roots("3x^3 - 5x + 11", 7, 24)
    assert roots.shape
    for root in roots:
        assert minimal_polynomial(root, 3) == minimal_polynomial(root, 4, 20) == (11, -5, 0, 3)
        with pytest.raises(DecodingError, match="degree up to 2"):
            minimal_polynomial(root, 2, 20)
        with pytest.raises(PrecisionError, match="height=106"):
            minimal_polynomial(root, 4, 10000)
    numbers = padic([["22/7", 0], [-5, "1/3"]], 5, precision=20)
    assert minimal_polynomial(numbers, 2).tolist() == [[(-22, 7), (0, 1)], [(5, 1), (-1, 3)]]
    for x in random_padic(20, 5, 40, rng=1):
        with pytest.raises(DecodingError, match="as far as it is known"):
            minimal_polynomial(x, 3, 100)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: padic([1, "1/5"], 5).gamma(),
            DomainError,
            r"at position \[1\] has no value of Γ_5: its valuation is -1",
        ),
        (lambda: padic(1, 5).zeta(), PrecisionError, "pole at 1"),
        (lambda: padic(3, 5).zeta(1), DomainError, "branch=1 is odd"),
        (lambda: padic(3, 5).zeta(2.0), SpaceError, "branch must be an integer, not 2.0"),
        (lambda: padic(3, 65537).gamma(), DomainError, "primes up to 65536"),
        (lambda: mahler_coefficients(padic(3, 5)), SpaceError, "shape"),
        (lambda: mahler_sum(padic([3], 5), padic("1/5", 5)), DomainError, "5-adic integers"),
        (lambda: mahler_sum(padic([3], 5), padic(1, 7)), SpaceError, "Q_7"),
        (
            lambda: mahler_sum(padic([3], 5), 1),
            EncodingError,
            "mahler_sum takes a PadicArray, which padic makes, not 1",
        ),
        (lambda: mahler_coefficients([1, 2]), EncodingError, r"not \[1, 2\]"),
        (lambda: minimal_polynomial(3, 2), EncodingError, "not 3"),
        (lambda: random_padic(3, 4, rng=0), SpaceError, "4 is not a prime"),
        (lambda: random_padic((3, -1), 5, rng=0), SpaceError, "=-1 must be a whole number from 0 on"),
        (lambda: minimal_polynomial(padic(3, 5), 0), SpaceError, "degree=0"),
    ],
)
def test_errors_name_the_value(call, error, text):
    assert issubclass(error, AdelicError)
    with pytest.raises(error, match=text):
        call()
