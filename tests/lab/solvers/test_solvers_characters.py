"""Characters of rows: groups, decoding, sums of many numbers, inverses modulo a prime, refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import ConfigurationError
from adelic.number_theory import task
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.characters import integers_modulo, units_modulo


def fitted(asked, *, examples, steps=200, seed=0):
    operands, answers = asked.sample(examples, np.random.default_rng(0))
    solver = build_solver("adelic-characters")
    solver.fit(asked, operands, answers, seed=seed, steps=steps)
    return solver, operands


def accuracy(solver, asked, split, trained, n=1000):
    questions, answers = asked.sample(n, np.random.default_rng(1), split, exclude=trained)
    return np.mean(solver.answer(questions) == answers)


@pytest.mark.parametrize(
    ("terms", "modulus", "examples"),
    [(256, 257, 50), (256, 3329, 50), (256, 974_269, 50), (8, 256, 50), (3, 2, 3), (2, 10**9, 50)],
)
def test_sums_of_many_numbers_are_exact(terms, modulus, examples):
    asked = task("modular-sum", terms=terms, modulus=modulus)
    solver, operands = fitted(asked, examples=examples)
    assert solver._group.name == "sums"
    assert 0 < solver.n_parameters < 2000
    if modulus > 2:
        assert accuracy(solver, asked, "test", operands) == 1
        assert accuracy(solver, asked, "zeros", operands) == 1
    assert all(0 <= said < modulus for said in solver.answer(operands).tolist())


def test_the_inverse_modulo_a_prime_is_one_of_products():
    inverse = task("modular-inverse-prime")
    solver, operands = fitted(inverse, examples=300)
    assert solver._group.name == "products"
    assert accuracy(solver, inverse, "test", operands) == 1
    assert solver.answer(np.array([[inverse.modulus], [1]])).tolist() == [None, 1]  # 0 is not a unit


def test_squares_of_products_modulo_a_prime():
    asked = replace(
        task("modular-sum", terms=20, modulus=101),
        solve=lambda X: np.array([pow(int(np.prod(row.astype(object)) % 101), 2, 101) for row in X], dtype=object),
        draws={"train": lambda n, rng: rng.integers(1, 101, (n, 20))},
        never_seen_titles={},
    )
    solver, operands = fitted(asked, examples=200)
    assert solver._group.name == "products"
    assert accuracy(solver, asked, "test", operands) == 1


@pytest.mark.parametrize("p", [3, 7, 101, 257])
def test_exponents_are_logarithms(p):
    units, x = units_modulo(p), np.arange(1, p)
    assert (units.elements(units.exponents(x)) == x).all()
    product = units.elements(units.of_rows(np.stack([x, x[::-1]], axis=1)))
    assert (product == x * x[::-1] % p).all()
    assert units.of_rows(np.array([[0, 1]])).tolist() == [-1]


@given(q=st.integers(2, 10**9), e=st.integers(0, 10**9))
def test_points_tell_every_exponent(q, e):
    group = integers_modulo(q)
    exponents = np.array([e % q, 0, q - 1])
    rng = torch.Generator().manual_seed(e)
    noise = 0.2 * (torch.rand(3, len(group.frequencies), 2, generator=rng) - 0.5)
    assert (group.told(group.characters(exponents) + noise) == exponents).all()


def test_refusals():
    solver = build_solver("adelic-characters")
    assert "not residues of one modulus" in solver.obstacle(task("addition"))
    assert "up to 8,589,934,591" in solver.obstacle(replace(task("modular-inverse"), modulus=10**10))
    assert solver.obstacle(task("modular-sum")) is None
    with pytest.raises(ConfigurationError, match="addition cannot be learned: its characters are of residues"):
        solver.fit(task("addition"), np.array([[1, 2]]), np.array([3]), seed=0, steps=1)
