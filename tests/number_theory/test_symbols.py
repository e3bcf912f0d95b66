"""Quadratic symbols and conics against PARI (tests/oracles/symbols.py), and by their laws."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import AdelicError, DomainError
from adelic.number_theory import (
    hilbert_symbol,
    is_locally_solvable,
    kronecker_symbol,
    legendre_symbol,
    solve_conic,
)

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "symbols.json").read_text())
REAL_PLACES = (0, -1, math.inf)
PLACES = sorted({p for _, _, p, _ in ORACLE["hilbert"]})
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6), st.integers(-(10**40), 10**40), st.fractions(max_denominator=10**6)
).filter(bool)


@pytest.mark.parametrize("p", PLACES)
def test_hilbert_symbols_are_those_of_pari(p):
    a, b, expected = zip(*[(a, b, found) for a, b, place, found in ORACLE["hilbert"] if place == p], strict=True)
    for place in REAL_PLACES if p == 0 else (p,):
        assert hilbert_symbol(list(a), list(b), place).tolist() == list(expected)
    assert hilbert_symbol(a[0], Fraction(b[0]), p) == expected[0]


def test_kronecker_symbols_are_those_of_pari():
    a, n, expected = zip(*ORACLE["kronecker"], strict=True)
    assert kronecker_symbol(list(a), list(n)).tolist() == list(expected)
    small = [i for i in range(len(a)) if abs(int(a[i])) < 2**63 and abs(int(n[i])) < 2**63]
    a, n, expected = (np.array([int(part[i]) for i in small]) for part in (a, n, expected))
    assert a.dtype == np.int64
    assert (kronecker_symbol(a, n) == expected).all()


def test_conics_are_solved_where_pari_solves_them():
    a, b, c, places = zip(*ORACLE["forms"], strict=True)
    solutions = solve_conic(list(a), list(b), list(c), errors="zero")
    assert solutions.shape == (len(a), 3)
    for form, place, solution in zip(zip(a, b, c, strict=True), places, solutions.tolist(), strict=True):
        a, b, c = form = [Fraction(q) for q in form]
        assert sum(q * x * x for q, x in zip(form, solution, strict=True)) == 0
        assert any(solution) == (place is None)
        if place is None:
            assert math.gcd(*solution) == 1
            assert all(is_locally_solvable(a, b, c, p) for p in (2, 3, 5, 7, 11, math.inf))
        else:
            assert not is_locally_solvable(a, b, c, place)
            with pytest.raises(DomainError, match="real numbers" if place == -1 else f"Q_{place}$"):
                solve_conic(a, b, c)


@given(a=NUMBERS, b=NUMBERS, c=NUMBERS, p=st.sampled_from(PLACES))
def test_laws(a, b, c, p):
    symbol = hilbert_symbol(a, b, p)
    assert symbol == hilbert_symbol(b, a, p) == hilbert_symbol(a * c * c, b, p) in (1, -1)
    assert hilbert_symbol([a * b, a], [c, -a], p).tolist() == [
        hilbert_symbol(a, c, p) * hilbert_symbol(b, c, p),
        1,
    ]
    assert is_locally_solvable(a, b, -1, p) == (symbol == 1)
    assert is_locally_solvable(a, b, c, p) == is_locally_solvable(c * 2, a * 2, b * 2, p)


@given(numbers=st.tuples(*[st.integers().filter(bool)] * 4))
def test_kronecker_symbols_are_multiplicative(numbers):
    a, b, m, n = numbers  # other than 0, for which the law has exceptions
    assert kronecker_symbol(a * b, n) == kronecker_symbol(a, n) * kronecker_symbol(b, n)
    assert kronecker_symbol(a, m * n) == kronecker_symbol(a, m) * kronecker_symbol(a, n)


def test_shapes_and_zeros():
    a = np.arange(-3, 3).reshape(2, 1, 3)
    b = np.array([[[1], [-1]]])
    found = hilbert_symbol(a, b, 2)
    assert found.shape == (2, 2, 3)
    assert (found == 0).tolist() == np.broadcast_to(a == 0, found.shape).tolist()
    assert is_locally_solvable(a, b, 0, 3).all()
    assert solve_conic(3, 0, 5) == (0, 1, 0)
    assert solve_conic(np.ones((0, 2), np.int64), 1, 1).shape == (0, 2, 3)
    limit = np.array([-(2**63), 2**63 - 1])
    assert hilbert_symbol(limit, limit, 7).tolist() == [hilbert_symbol(int(n), int(n), 7) for n in limit]
    assert legendre_symbol(limit, 10007).tolist() == [legendre_symbol(int(n), 10007) for n in limit]
    assert is_locally_solvable(limit, limit, 3, 3).tolist() == [
        is_locally_solvable(int(n), int(n), 3, 3) for n in limit
    ]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: hilbert_symbol(1, 1, 4), "p=4 is not a prime"),
        (lambda: hilbert_symbol(1, 1, [2, 3]), "p must be an integer"),
        (lambda: hilbert_symbol(1.5, 1, 3), "1.5 is a float"),
        (lambda: legendre_symbol(1, 2), "kronecker_symbol"),
        (lambda: legendre_symbol(1, 9), "p=9 is not a prime"),
        (lambda: kronecker_symbol([1, "1/2"], 3), r"1/2 at position \[1\] is not an integer"),
        (lambda: hilbert_symbol([1, 2], [1, 2, 3], 7), r"shapes \(2,\) and \(3,\) do not fit"),
        (lambda: solve_conic([1, 2], [1, 2, 3], 7), r"shapes \(2,\) and \(3,\) and \(\) do not fit"),
        (lambda: solve_conic(1, 1, 1, errors="mask"), "errors='mask'"),
        (lambda: solve_conic([1, 1], 1, [-1, 3]), r"position \[1\] has no solution .* real numbers"),
    ],
)
def test_errors_name_the_value_and_the_remedy(call, text):
    with pytest.raises(AdelicError, match=text):
        call()
