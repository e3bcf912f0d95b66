import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic.errors import EncodingError
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.rivals.places import FoNEPlaces, OneHotPlaces

NAMES = ["fone-placewise", "base-10-placewise"]
SMALL = {name: replace(ARITHMETIC[name], max_operand=99, max_numerator=9801) for name in ("addition", "multiplication")}


def fitted(name, problem="addition", *, steps, examples=1000):
    operands = np.random.default_rng(0).integers(0, 100, (examples, 2))
    solver = build_solver(name)
    solver.fit(SMALL[problem], operands, SMALL[problem].solve(operands), seed=0, steps=steps)
    return solver


def asked(solver, problem="addition"):
    """Return which digits of 500 answers are right, lowest first, (500, 4)."""
    operands = np.random.default_rng(1).integers(0, 100, (500, 2))
    said, answers = solver.answer(operands), SMALL[problem].solve(operands)
    return np.stack([said // 10**k % 10 == answers // 10**k % 10 for k in range(4)], axis=-1)


def of_angles(reader):
    """Set the weights to cos(α + β) and sin(α + β), turned back to the middle of the angles of a digit."""
    half = math.pi / 10 * (1 - 10.0 ** -torch.arange(reader.n_places)[:, None])
    units = [(1, 4), (2, 5), (1, 5), (2, 4)]  # cos·cos, sin·sin, cos·sin, sin·cos of (1, cos, sin) twice
    hidden, output = reader.perceptron.hidden[0].weight, reader.perceptron.output.weight
    with torch.no_grad():
        hidden.zero_(), output.zero_()
        for k, (one, other) in enumerate(units):
            hidden[:, one, k] = hidden[:, other, k + hidden.shape[-1] // 2] = 1
        of_cos, of_sin = torch.tensor([1.0, -1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0, 1.0])
        output[:, :4, 0] = half.cos() * of_cos + half.sin() * of_sin
        output[:, :4, 1] = half.cos() * of_sin - half.sin() * of_cos
    return reader


def test_sums_are_products_of_waves_at_every_period():
    """The network that is right exists: with its weights all sums are exact, of any length."""
    reader, rng = of_angles(FoNEPlaces(8, 2)), np.random.default_rng(0)
    operands = rng.integers(0, 10 ** rng.integers(1, 8, (300, 1)), (300, 2))
    ((rows, inputs),) = reader.groups(operands)
    assert rows.tolist() == list(range(300))
    assert inputs[0].shape == (300, 2, 8, 3)
    assert reader.decode(inputs).tolist() == operands.sum(axis=1).tolist()


def test_no_place_sees_another():
    """What a base-10 place says depends on its digit alone, and FoNE's on those below."""
    torch.manual_seed(0)
    for reader, others in ((OneHotPlaces(4, 2), [0, 2, 3]), (FoNEPlaces(4, 2), [0])):
        ((_, inputs),) = reader.groups(np.array([[1234, 7], [1284, 7]]))
        one, other = reader(*inputs).digits
        same = [k for k in range(4) if torch.allclose(one[k], other[k])]
        assert same == others


@pytest.mark.parametrize("name", NAMES)
def test_what_is_learned_without_primes(name):
    """Of sums FoNE's periods have all digits, base-10 digits the lowest alone: a carry comes from other places."""
    right = asked(fitted(name, steps=200)).mean(axis=0)
    assert right[0] > 0.95
    assert right[1] > 0.8 if name == "fone-placewise" else right[1] < 0.7


def test_products_are_not_learned():
    right = asked(fitted("fone-placewise", "multiplication", steps=200), "multiplication")
    assert right[:, 0].mean() < 0.8
    assert right.all(axis=1).mean() < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_obstacles_and_errors(name):
    solver = build_solver(name)
    assert solver.obstacle(ARITHMETIC["multiplication"]) is None
    assert solver.obstacle(ARITHMETIC["subtraction"]) == "it has no place for a sign"
    assert solver.obstacle(ARITHMETIC["sum"]) == "it reads 2 operands at most"
    fractions = replace(ARITHMETIC["fraction-addition"], signed=False)
    assert solver.obstacle(fractions) == "it has no fractions"
    with pytest.raises(EncodingError, match=r"100000 at position \[0, 1\]"):
        fitted(name, steps=1, examples=4).answer(np.array([[1, 10**5]]))
