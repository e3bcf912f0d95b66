from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.rivals.digits import CausalEncoder

TWINS = ["base-digits", "base-digits:base=24", "base-digits:base=1000", "abacus"]
SOLVERS = [f"{twin}:autoregressive=true" for twin in TWINS]
ADDITION = replace(ARITHMETIC["addition"], max_operand=9, max_numerator=18)
PAIRS = np.array([(a, b) for a in range(10) for b in range(10)])
SUMS = PAIRS.sum(axis=1).astype(object)


def fitted(name, *, steps, seed=0, problem=ADDITION, operands=PAIRS, answers=SUMS):
    solver = build_solver(name)
    solver.fit(problem, operands, answers, seed=seed, steps=steps)
    return solver


def test_a_token_sees_those_before_it_alone():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder, tokens = CausalEncoder().eval(), torch.randn(2, 7, 64)
    changed = tokens.clone()
    changed[:, 4] *= -1
    before, after = (encoder(x, 7) for x in (tokens, changed))
    assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
    assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)
    assert torch.allclose(encoder(tokens, 3), before[:, -3:], atol=1e-6)


@pytest.mark.parametrize("name", SOLVERS)
def test_digits_are_said_one_after_the_other(name):
    """What is said greedily is what teacher forcing would say behind the same digits."""
    problem = ARITHMETIC["subtraction"]
    solver = fitted(
        name, steps=2, problem=problem, operands=np.array([[999, 1], [0, 999]]), answers=np.array([998, -999], object)
    )
    reader = solver._network
    ((_, inputs),) = reader.groups(np.array([[123, 7], [5, 800]]))
    with torch.no_grad():
        said = reader.decode(inputs)
        digits, negative = reader.targets(said)
        forced = reader.said(inputs[0], digits)
    assert torch.equal(forced.digits.argmax(dim=-1), digits)
    is_zero = torch.from_numpy((said == 0).astype(bool))
    assert torch.equal((forced.sign > 0) | is_zero, (negative > 0) | is_zero)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "base-digits:autoregressive=true",
        "abacus:autoregressive=true",
        *(pytest.param(name, marks=pytest.mark.slow) for name in SOLVERS[1:3]),
    ],
)
def test_one_digit_addition_is_learned(name):
    said = fitted(name, steps=250).answer(PAIRS)
    assert np.mean(said == SUMS) > 0.6  # 9 is the most frequent sum: a tenth


@pytest.mark.parametrize("name", SOLVERS)
def test_longer_and_negative_operands_are_answered(name):
    problem = replace(ARITHMETIC["subtraction"], max_operand=10**12, max_numerator=10**12)
    solver = fitted(
        name, steps=2, problem=problem, operands=np.array([[3, 5], [-9, 4]]), answers=np.array([-2, -13], object)
    )
    said = solver.answer(np.array([[3, 5], [10**11, -5], [1, -(10**12)]], dtype=object))
    assert [type(n) for n in said] == [int] * 3


@pytest.mark.parametrize(("name", "twin"), list(zip(SOLVERS, TWINS, strict=True)))
def test_it_has_the_weights_of_its_twin(name, twin):
    """The network has the same size as the one that says all digits at once."""
    other = build_solver(twin)
    other.fit(ADDITION, PAIRS, SUMS, seed=0, steps=1)
    assert fitted(name, steps=1).n_parameters == other.n_parameters
