"""Against Frobenius' formula with polynomials, the orthogonality relations, the hook length formula, and Sage."""

from collections import Counter
from itertools import permutations as orders
from math import factorial, isqrt, prod

import numpy as np
import pytest

from adelic import acd
from adelic.acd import characters
from adelic.acd.characters import MAXIMUM
from adelic.acd.permutations import length


def frobenius(lam, mu):
    """χ^λ_μ is the coefficient of x^(λ + δ) in Π_(i<j) (x_i - x_j) Π_k (x_1^μ_k + ... + x_m^μ_k)."""
    m = len(lam)
    delta = tuple(range(m - 1, -1, -1))
    polynomial = Counter({tuple(delta[i] for i in order): (-1) ** length(order) for order in orders(range(m))})
    for k in mu:
        product = Counter()
        for exponents, coefficient in polynomial.items():
            for i in range(m):
                product[(*exponents[:i], exponents[i] + k, *exponents[i + 1 :])] += coefficient
        polynomial = product
    return polynomial[tuple(np.add(lam, delta).tolist())]


def centraliser_order(mu):
    """z_μ, so that n!/z_μ permutations have cycle type μ."""
    return prod(k**times * factorial(times) for k, times in Counter(mu).items())


def dimension(lam):
    """The hook length formula."""
    columns = characters.conjugate(lam)
    hooks = [lam[i] - j + columns[j] - i - 1 for i in range(len(lam)) for j in range(lam[i])]
    return factorial(sum(lam)) // prod(hooks)


def sign(mu):
    return (-1) ** (sum(mu) - len(mu))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_formula_of_frobenius(n):
    table = characters.character_table(n)
    for lam, row in zip(characters.partitions(n), table.tolist(), strict=True):
        for mu, value in zip(characters.partitions(n), row, strict=True):
            assert value == frobenius(lam, mu) == characters.character(lam, mu)


@pytest.mark.parametrize("n", range(1, 11))
def test_orthogonality(n):
    table = characters.character_table(n)
    z = np.array([centraliser_order(mu) for mu in characters.partitions(n)])
    class_sizes = factorial(n) // z
    assert class_sizes.sum() == factorial(n)
    assert ((table * class_sizes) @ table.T == factorial(n) * np.eye(len(z), dtype=np.int64)).all()
    assert (table.T @ table == np.diag(z)).all()


@pytest.mark.parametrize("prime", [33554393, 67108859])
def test_orthogonality_of_columns_modulo_a_prime(prime):
    n = 20
    table = characters.character_table(n) % prime
    z = np.array([centraliser_order(mu) % prime for mu in characters.partitions(n)])
    assert ((table.T @ table) % prime == np.diag(z)).all()  # sums of 627 products below 2**52 fit into int64


@pytest.mark.parametrize("n", [1, 9, 18, 22, pytest.param(MAXIMUM, marks=pytest.mark.slow)])
def test_known_rows_and_columns(n):
    table, shapes = characters.character_table(n), characters.partitions(n)
    assert table[:, -1].tolist() == [dimension(lam) for lam in shapes]
    assert (table[0] == 1).all()
    assert table[-1].tolist() == [sign(mu) for mu in shapes]
    if n > 1:
        assert table[1].tolist() == [mu.count(1) - 1 for mu in shapes]  # λ = (n-1, 1): fixed points less 1
    hooks = [n - lam[0] if all(part == 1 for part in lam[1:]) else None for lam in shapes]
    assert table[:, 0].tolist() == [0 if legs is None else (-1) ** legs for legs in hooks]  # μ = (n)


@pytest.mark.parametrize("n", [6, 7, 8, 12])
def test_one_character_at_a_time(n):
    table, shapes = characters.character_table(n), characters.partitions(n)
    rng = np.random.default_rng(n)
    for i, j in rng.integers(0, len(shapes), (300, 2)).tolist():
        assert characters.character(shapes[i], list(shapes[j]) + [0] * 3) == table[i, j]


def test_characters_of_large_groups_are_exact():
    assert characters.character((20, 20), (1,) * 40) == dimension((20, 20))
    staircase = tuple(range(9, 0, -1))
    assert characters.character(staircase, (17, 13, 9, 5, 1)) == (-1) ** (8 + 6 + 4 + 2)  # the diagonal hooks
    assert characters.character([], []) == 1


def test_oracle(oracle):
    for lam, mu, value in oracle("characters"):
        assert characters.character(lam, mu) == value


@pytest.mark.long
def test_oracle_rows_are_in_the_data_set(oracle, generated):
    rows_of = {}
    for n in (12, 18, 20, 22):
        rows = generated("characters", n)
        rows_of[n] = dict(zip(map(bytes, rows.X), rows.y.tolist(), strict=True))
    for lam, mu, value in oracle("characters"):
        n = sum(lam)
        row = np.array(lam + [0] * (n - len(lam)) + mu + [0] * (n - len(mu)), np.int8)
        assert rows_of[n][bytes(row)] == value


@pytest.mark.parametrize(("n", "bound"), [(18, 294), (20, 573), (22, 1144)])
def test_bounds_of_the_central_edition_are_those_of_the_published_loader(n, bound, generated):
    everything, central = generated("characters", n), generated("characters", n, "central")
    kept = np.abs(everything.y) <= bound
    assert np.array_equal(central.X, everything.X[kept])
    assert np.array_equal(central.y, everything.y[kept])
    assert 100 * np.count_nonzero(np.abs(everything.y) < bound) < 95 * len(kept) <= 100 * np.count_nonzero(kept)


def test_rows_are_in_the_documented_order(generated):
    n = 6
    rows = generated("characters", n)
    halves = [tuple(part for part in half if part) for half in rows.X.reshape(-1, n).tolist()]
    pairs = list(zip(halves[::2], halves[1::2], strict=True))
    assert pairs == sorted(pairs, reverse=True)
    assert len(pairs) == 11**2
    assert [characters.character(*pair) for pair in pairs] == rows.y.tolist()


def test_conjugation_of_partitions_and_rows_agree(generated):
    n = 7
    X, _ = characters.TASK.symmetries["conjugate"](generated("characters", n).X, generated("characters", n).y)
    for row, image in zip(generated("characters", n).X.tolist(), X.tolist(), strict=True):
        assert characters.conjugate(row[:n]) == tuple(part for part in image[:n] if part)
        assert row[n:] == image[n:]


def test_cues(generated):
    n = 9
    rows = generated("characters", n)
    cues = {name: cue(rows.X).tolist() for name, cue in characters.TASK.cues.items()}
    for i, row in enumerate(rows.X.tolist()):
        lam, mu = (tuple(part for part in half if part) for half in (row[:n], row[n:]))
        margin = lam[0] + len(lam) - 1 - mu[0]
        vanishes = lam == characters.conjugate(lam) and sign(mu) == -1
        assert cues["ones in the cycle type"][i] == mu.count(1)
        assert cues["longest hook less longest cycle"][i] == margin
        if margin < 0 or vanishes:
            assert rows.y[i] == 0


def test_partitions():
    assert [len(characters.partitions(n)) for n in range(13)] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42, 56, 77]
    for shape in characters.partitions(9):
        assert sum(shape) == 9
        assert characters.conjugate(characters.conjugate(shape)) == shape


def test_int64_holds_all_characters_up_to_the_maximum():
    assert isqrt(factorial(MAXIMUM)) < 2**63 <= isqrt(factorial(MAXIMUM + 1))


def test_the_view_of_hooks_by_brute_force():
    d = acd.load("characters", n=7)
    X = np.concatenate([d.X_train, d.X_validation, d.X_test])
    view = characters.TASK.views["hooks"].rows(X)
    assert view.shape == (225, 27)
    for row, seen in zip(X.tolist(), view.tolist(), strict=True):
        lam, mu = ([part for part in half if part] for half in (row[:7], row[7:]))
        columns = characters.conjugate(lam)
        cells = [(i, j) for i, part in enumerate(lam) for j in range(part)]
        hook_lengths = Counter(lam[i] - j + columns[j] - i - 1 for i, j in cells)
        contents = Counter(j - i for i, j in cells)
        wanted = [hook_lengths[k] for k in range(1, 8)] + [contents[c] for c in range(-6, 7)]
        assert seen == wanted + [mu.count(k) for k in range(1, 8)]


def test_no_hook_of_a_cycle_is_a_zero():
    """And the hooks give the dimension; both are what the view's docstring says."""
    d = acd.load("characters", n=9)
    y = np.concatenate([d.y_train, d.y_validation, d.y_test])
    seen = characters.TASK.views["hooks"].rows(np.concatenate([d.X_train, d.X_validation, d.X_test])).astype(int)
    lengths, cycles = seen[:, :9], seen[:, -9:]
    assert not y[((cycles > 0) & (lengths == 0)).any(axis=1)].any()
    is_identity = cycles[:, 0] == 9
    products = (np.arange(1, 10) ** lengths[is_identity]).prod(axis=1)
    assert (y[is_identity] * products == factorial(9)).all()
