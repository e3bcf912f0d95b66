"""Matrices over Q_p: what is claimed holds for every matrix with the known digits, and no more could be claimed."""

import json
import random
import sys
from fractions import Fraction
from itertools import permutations, product
from math import prod
from pathlib import Path

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.errors import DomainError, MissingExtraError, PrecisionError, SpaceError
from adelic.numbers import padic, solve_rational, valuation
from adelic.numbers.local.array import LocalField
from adelic.numbers.window import Window

ORACLES = Path(__file__).parents[2] / "oracles"
SIZES = [(p, n) for p in (2, 3, 7) for n in (1, 2, 3, 4)]


def approximate(values, p, ends, precision=8, f=0):
    """Return rationals with p alone in their denominators, known modulo p^end each."""
    scaled = np.array([int(Fraction(q) * p**f) for q in np.ravel(values)], dtype=object).reshape(np.shape(values))
    return LocalField(Window((p,), (precision,), f)).approximations(scaled, f, np.array(ends))


def drawn(rng, p, shape, precision, f):
    """Return rationals of various valuations, and to which power of p each is known."""
    size = prod(shape)
    values = [
        Fraction(rng.randrange(p ** rng.randint(1, precision)) * p ** rng.choice((0, 0, 1, 2)), p**f)
        for _ in range(size)
    ]
    ends = [rng.randint(precision // 2, precision) - f for _ in range(size)]
    return np.array(values, dtype=object).reshape(shape), np.array(ends).reshape(shape)


def moved(rng, values, ends, p):
    """Return other numbers with the same known digits."""
    steps = [Fraction(p) ** int(k) * rng.choice((0, 0, 1, -1, p, rng.randrange(p**4))) for k in np.ravel(ends)]
    return values + np.array(steps, dtype=object).reshape(values.shape)


def exact_determinant(a):
    n = len(a)
    entries = [[flint.fmpq(Fraction(q).numerator, Fraction(q).denominator) for q in row] for row in a]
    d = flint.fmpq_mat(entries).det() if n else flint.fmpq(1)
    return Fraction(int(d.p), int(d.q))


def agrees(x, exact, p):
    """Return whether exact numbers have the known digits of x."""
    ends = x.known - x.fractional_digits
    lifts = np.ravel(x.lift()).tolist()
    return all(
        (d := Fraction(q) - Fraction(y)) == 0 or valuation(d, p) >= k
        for q, y, k in zip(np.ravel(exact), lifts, np.ravel(ends), strict=True)
    )


@pytest.mark.parametrize(("p", "n"), SIZES)
def test_claimed_digits_do_not_change_with_unknown_ones(p, n):
    """Determinant, solution, inverse, rank and Smith form, with entries that are known differently far."""
    rng = random.Random(100 * p + n)
    solved = 0
    for _ in range(8):
        f = rng.randint(0, 2)
        values, ends = drawn(rng, p, (n, n), 8, f)
        sums, ends_b = drawn(rng, p, (n, 2), 8, f)
        a, b = approximate(values, p, ends, 8, f), approximate(sums, p, ends_b, 8, f)
        det, rank, smith = a.det(), a.rank(), a.smith()
        try:
            inverse, x, y = a.inverse(), a.solve(b), a.solve(sums)
        except PrecisionError:
            inverse = None
        others = [moved(rng, values, ends, p) for _ in range(4)]
        for other in others:
            assert agrees(det, exact_determinant(other), p)
            far = padic(other, p, 40)  # nearly exact
            assert far.rank() >= rank
            assert all(e == g or e == (ends.min()) <= g for e, g in zip(smith, far.smith(), strict=True))
            if inverse is not None:
                assert agrees(inverse, solve_rational(other, np.eye(n, dtype=int)), p)
                assert agrees(x, solve_rational(other, moved(rng, sums, ends_b, p)), p)
                assert agrees(y, solve_rational(other, sums), p)
                solved += 1
    assert solved > 4


@pytest.mark.parametrize(("p", "n"), [(2, 2), (3, 2), (2, 3)])
def test_no_further_digit_is_known(p, n):
    """If all entries are known equally far, the next digit of each result depends on unknown ones."""
    rng = random.Random(p * n)
    tried = 0
    while tried < 6:
        values, _ = drawn(rng, p, (n, n), 4, 0)
        sums, _ = drawn(rng, p, (n, 1), 3, 0)
        a = padic(values, p, 4).with_window(precision=40)
        try:
            x = a.solve(sums)
        except PrecisionError:
            continue
        det, tried = a.det(), tried + 1
        others = [values + p**4 * np.array(e, dtype=object).reshape(n, n) for e in product(range(p), repeat=n * n)][
            :600
        ]
        determinants = [exact_determinant(other) for other in others]
        first = determinants[0]
        end = int(det.known) - det.fractional_digits
        assert min(valuation(d - first, p) for d in determinants if d != first) == end
        solutions = [solve_rational(other, sums) for other in others]
        for i in range(n):
            known = int(x.known[i, 0]) - x.fractional_digits
            changes = {s[i, 0] - solutions[0][i, 0] for s in solutions} - {0}
            assert min((valuation(d, p) for d in changes), default=known) == known


def test_entries_that_are_known_differently_far():
    """PARI's answers; seen to be regular are exactly the matrices of which each completion is."""
    a = padic([["252 + O(2^3)", "120 + O(2^5)"], ["385/2 + O(2^5)", "98 + O(2^5)"]], 2)
    assert (a.det().series(), a.rank()) == ("2^2 + 2^3 + O(2^4)", 2)
    assert a.inverse().series().tolist() == [
        ["2^-1 + 1 + O(2)", "2 + 2^2 + O(2^3)"],
        ["2^-3 + O(2^-1)", "1 + O(2)"],
    ]
    rng = random.Random(0)
    for ends in product((1, 2, 3), repeat=4):
        v = np.array([[rng.randrange(2**k) for k in ends] for _ in range(8)])
        steps = np.array(list(product(*(range(0, 32, 2**k) for k in ends))))
        w = (v[:, None] + steps).transpose(2, 0, 1)
        dets = w[0] * w[3] - w[1] * w[2]
        a = padic([[f"{x} + O(2^{k})" for x, k in zip(row, ends, strict=True)] for row in v], 2, 6).reshape(8, 2, 2)
        assert ((a.rank() < 2) == (dets % 32 == 0).any(axis=1)).all()
        known = 2.0 ** (a.det().known - a.det().fractional_digits)
        assert ((dets - a.det().lift().astype(float)[:, None]) % np.minimum(known, 32)[:, None] == 0).all()


def test_singular_as_far_as_digits_are_known():
    """A matrix is refused exactly if another one with the same digits is singular."""
    values = np.array(list(product(range(4), repeat=4)))
    steps = np.array(list(product((0, 4, 8, 12), repeat=4)))
    v = (values[:, None] + steps).transpose(2, 0, 1)
    is_singular = ((v[0] * v[3] - v[1] * v[2]) % 16 == 0).any(axis=1)
    a = padic(values.reshape(-1, 2, 2), 2, 2)
    assert ((a.rank() < 2) == is_singular).all()
    assert a[~is_singular].inverse().shape == ((~is_singular).sum(), 2, 2)
    for i in np.flatnonzero(is_singular)[::8]:
        with pytest.raises(PrecisionError, match=r"the matrix is singular as far as its digits are known"):
            a[i].inverse()


@settings(max_examples=25)
@given(st.data())
def test_solutions_satisfy_the_system(data):
    p, n = data.draw(st.sampled_from([2, 5, 101, 2**61 - 1])), data.draw(st.integers(1, 4))
    entry = st.fractions(-50, 50, max_denominator=12)
    matrix = st.lists(st.lists(entry, min_size=n, max_size=n), min_size=n, max_size=n)
    values = data.draw(matrix)
    b = data.draw(st.lists(entry, min_size=n, max_size=n))
    if exact_determinant(values) == 0:
        with pytest.raises(DomainError, match="the matrix is singular: its rank is"):
            solve_rational(values, b)
        return
    exact = solve_rational(values, b)
    assert [sum(c * q for c, q in zip(row, exact, strict=True)) for row in values] == b
    assert agrees(padic(values, p, 40).solve(b), exact, p)
    assert (padic(values, p, 40).det() == exact_determinant(values)) is True


def test_smith_and_hermite_forms_are_flints():
    """Over Z with p^N times the unit matrix below, by `fmpz_mat.snf`; Hermite forms by all lattices that rows span."""
    rng = random.Random(7)
    for p, n, m in product((2, 3, 5), (1, 2, 3), (1, 2, 3)):
        batch = np.array([drawn(rng, p, (n, m), 5, 0)[0] for _ in range(4)])
        a = padic(batch, p, 5)
        for k, matrix in enumerate(batch):
            rows = flint.fmpz_mat(
                [[int(q) for q in row] for row in matrix] + [[p**5 * (i == j) for j in range(m)] for i in range(m)]
            )
            diagonal = [rows.snf()[i, i] for i in range(m)]
            assert [p**e for e in a.smith()[k].tolist()] == diagonal[: min(n, m)]
            if a[k].rank() == m:
                h = a[k].hermite()
                assert (h.known == 5).all()
                upper = h.lift()
                pivots = upper.diagonal().tolist()
                assert prod(pivots) == p ** int(a[k].smith().sum())
                assert all(
                    upper[i, j] == 0 if i > j else i == j or upper[i, j] < pivots[j] for i in range(m) for j in range(m)
                )
                transform = solve_rational(upper.T, matrix.T)  # of the rows of A by those of H
                assert all(q.denominator % p for q in transform.flat)
            else:
                with pytest.raises(PrecisionError, match=r"of rank \d as far as its digits are known"):
                    a[k].hermite()


def test_a_hermite_form_has_all_its_digits():
    rng = random.Random(3)
    values, ends = drawn(rng, 3, (3, 3), 6, 1)
    form = approximate(values, 3, ends, 6, 1).hermite()
    for _ in range(10):
        other = padic(moved(rng, values, ends, 3), 3, 30, fractional_digits=1).hermite()
        assert (form.lift() == other.lift()).all()


def test_determinants_of_batches_by_permutations():
    rng = np.random.default_rng(0)
    values = rng.integers(-9, 9, (50, 3, 3))
    signs = {s: (-1) ** sum(s[i] > s[j] for i in range(3) for j in range(i, 3)) for s in permutations(range(3))}
    expected = [sum(sign * prod(int(a[i, s[i]]) for i in range(3)) for s, sign in signs.items()) for a in values]
    for p, precision in ((2, 4), (7, 16), (2**89 - 1, 2)):
        assert (padic(values, p, precision).det() == expected).all()
    regular = values[np.array(expected) % 7 != 0]
    x = padic(regular, 7, 5).solve([1, 2, 3])
    assert x.shape == (len(regular), 3)
    assert all(agrees(row, solve_rational(a, [1, 2, 3]), 7) for row, a in zip(x, regular, strict=True))


@pytest.mark.parametrize(
    ("axes", "axes_b"), [((), (4,)), ((2, 3), ()), ((3,), (2, 1)), ((2, 1), (3,)), ((2, 3), (2, 3))]
)
def test_axes_are_broadcast(axes, axes_b):
    rng = np.random.default_rng(0)
    values, b = rng.integers(0, 3, (*axes, 2, 2)) + np.array([[5, 1], [1, 7]]), rng.integers(0, 9, (*axes_b, 2, 3))
    x = padic(values, 3, 5).solve(b)
    exact = solve_rational(values, b)
    assert x.shape == exact.shape == np.matmul(values, b).shape
    assert agrees(x, exact, 3)
    assert agrees(padic(values, 3, 5).solve(padic(b, 3, 4)), exact, 3)


@pytest.mark.parametrize("example", json.loads((ORACLES / "padic_algebra.json").read_text())["matrices"], ids=str)
def test_against_pari(example):
    p, precision, entries = (example[key] for key in ("p", "precision", "matrix"))
    a = padic(entries, p, precision)
    assert str(a.det().lift()) == example["det"]
    assert a.smith().tolist() == example["smith"]
    if example["solution"] is None:
        with pytest.raises(PrecisionError):
            a.solve(example["b"])
    else:
        assert (a.solve(example["b"]) == example["solution"]).all()


def test_shapes_and_errors():
    a = padic([[1, 2], [3, 4]], 7)
    assert padic(np.empty((0, 3, 3), int), 7).det().shape == (0,)
    assert padic(np.empty((0, 3, 3), int), 7).inverse().shape == (0, 3, 3)
    assert padic(np.empty((0, 3, 3), int), 7).rank().shape == (0,)
    assert padic(np.empty((0, 3, 2), int), 7).smith().shape == (0, 2)
    assert padic(np.empty((0, 3, 2), int), 7).hermite().shape == (0, 2, 2)
    assert (padic(np.empty((0, 0), int), 7).det() == 1) is True
    assert padic([[1, 2, 3]], 7).rank() == 1
    for call in (
        lambda: a.solve([1, 2, 3]),
        lambda: a[0].rank(),
        lambda: padic([[1, 2, 3]], 7).det(),
        lambda: a[0].det(),
    ):
        with pytest.raises(SpaceError, match=r"shape"):
            call()
    with pytest.raises(SpaceError, match="different spaces"):
        a.solve(padic([1, 2], 5))
    with pytest.raises(DomainError, match=r"the number at position \[0, 1\] is undefined"):
        padic([[1, 3], [1, 1]], 7).sqrt(errors="mask").det()
    with pytest.raises(PrecisionError, match=r"the matrix at position \[1\] is singular .* rank 1 of 2"):
        padic([[[1, 2], [3, 4]], [[1, 2], [2, 4]]], 7).inverse()
    with pytest.raises(DomainError, match=r"the matrix at position \[1\] is singular: its rank is 1 of 2"):
        solve_rational([[[1, 2], [3, 4]], [[1, 2], [2, 4]]], [1, 1])
    with pytest.raises(SpaceError, match="do not fit together"):
        solve_rational(np.ones((2, 1, 1), int), np.ones((3, 1, 1), int))


def test_without_flint_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(MissingExtraError, match=r"solve_rational needs flint, .*: pip install 'adelic\[flint\]'"):
        solve_rational([[1]], [1])
    assert (padic([[2]], 7).inverse() * 2 == 1).all()
