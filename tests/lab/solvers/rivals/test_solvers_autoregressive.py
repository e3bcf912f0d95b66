from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers.rivals.digits import CausalEncoder

TWINS = ["base-digits", "base-digits:base=24", "base-digits:base=1000", "abacus"]
SOLVERS = [f"{twin}:autoregressive=true" for twin in TWINS]


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
def test_digits_are_said_one_after_the_other(fitted, name):
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


@pytest.mark.parametrize("name", SOLVERS)
def test_longer_and_negative_operands_are_answered(fitted, name):
    problem = replace(ARITHMETIC["subtraction"], max_operand=10**12, max_numerator=10**12)
    solver = fitted(
        name, steps=2, problem=problem, operands=np.array([[3, 5], [-9, 4]]), answers=np.array([-2, -13], object)
    )
    said = solver.answer(np.array([[3, 5], [10**11, -5], [1, -(10**12)]], dtype=object))
    assert [type(n) for n in said] == [int] * 3


@pytest.mark.parametrize(("name", "twin"), list(zip(SOLVERS, TWINS, strict=True)))
def test_it_has_the_weights_of_its_twin(fitted, name, twin):
    """The network has the same size as the one that says all digits at once."""
    assert fitted(name, steps=1).n_parameters == fitted(twin, steps=1).n_parameters
