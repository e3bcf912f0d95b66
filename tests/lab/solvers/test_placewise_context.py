"""Place-wise layers with a context: operations set by hand, and what each place may depend on."""

import itertools
import math

import pytest
import torch

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic_lab.models.solvers.placewise_context import BallContext, ContextPlacewise, SizeContext

SPACE = AdeleSpace(primes=(3, 5, 7), precision=1)


def network(**sizes):
    torch.manual_seed(0)
    return ContextPlacewise(SPACE, **({"n_operations": 4, "hidden": 8, "width": 6} | sizes))


def inputs(*batch, n_operands=1, n_layers=2, n_operations=4):
    generator = torch.Generator().manual_seed(1)
    digits = [torch.randint(p, (*batch, n_operands), generator=generator) for p in SPACE.primes]
    context = torch.rand(*batch, n_layers, n_operations, generator=generator)
    return torch.stack(digits, dim=-1), context


@torch.no_grad()
def test_operations_set_by_hand_are_exact_maps_and_the_context_chooses():
    """Units (operation, digit): the first layer multiplies by a factor, the second adds a constant."""
    p, factors, constants = 7, (1, 3, 5), (0, 2, 6)
    units = list(itertools.product(range(3), range(p)))
    made = ContextPlacewise(AdeleSpace(primes=(p,), precision=1), n_operations=3, hidden=len(units), width=p)
    for parameter in made.parameters():
        parameter.zero_()
    for unit, (operation, x) in enumerate(units):
        made.digits[0, 0, x, unit] = 1
        made.inner[0][0, x, unit] = 1
        made.contexts[:, 0, operation, unit] = 1
        made.outer[0][0, unit, factors[operation] * x % p] = 1
        made.outer[1][0, unit, (x + constants[operation]) % p] = 1
    digits = torch.arange(p)[:, None, None]
    for (i, a), (j, b) in itertools.product(enumerate(factors), enumerate(constants)):
        context = torch.zeros(p, 2, 3)
        context[:, 0, i] = context[:, 1, j] = 1
        expected = torch.nn.functional.one_hot((a * torch.arange(p) + b) % p)
        assert torch.equal(made(digits, context)[:, 0], expected.float())


@pytest.mark.parametrize("n_operands", [1, 2])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_it_is_what_its_weights_say(n_operands, n_layers):
    made = network(n_operands=n_operands, n_layers=n_layers)
    for bias in (*made.inner_bias, *made.outer_bias):
        torch.nn.init.normal_(bias)
    digits, context = inputs(5, n_operands=n_operands, n_layers=n_layers)
    logits = made(digits, context)
    for row, (j, p) in itertools.product(range(5), enumerate(SPACE.primes)):
        units = torch.ones(8)
        for operand in range(n_operands):
            units = units * made.digits[operand, j, digits[row, operand, j]]
        values = (units * (context[row, 0] @ made.contexts[0, j])) @ made.outer[0][j] + made.outer_bias[0][j]
        for i in range(1, n_layers):
            units = values.relu() @ made.inner[i - 1][j] + made.inner_bias[i - 1][j]
            values = (units * (context[row, i] @ made.contexts[i, j])) @ made.outer[i][j] + made.outer_bias[i][j]
        torch.testing.assert_close(logits[row, j, :p], values[:p])
        assert logits[row, j, p:].isneginf().all()


@pytest.mark.parametrize("batch", [(), (4,), (2, 1, 3)])
def test_any_batch_and_any_choice_of_places(batch):
    made = network()
    digits, context = inputs(*batch)
    logits = made(digits, context)
    assert logits.shape == (*batch, 3, 7)
    torch.testing.assert_close(made(digits, context, places=[2, 0]), logits[..., [2, 0], :])
    residues = torch.zeros(*batch, 1, dtype=torch.int64)
    assert BallContext(3, n_operations=4)(residues).shape == (*batch, 2, 4)


def test_a_place_depends_on_itself_and_the_context_alone():
    made = network()
    digits, context = inputs(4)
    before = made(digits, context)
    digits[..., 1] = (digits[..., 1] + 1) % 5
    after = made(digits, context)
    assert torch.equal(before[:, [0, 2]], after[:, [0, 2]])
    assert not torch.allclose(before[:, 1, :5], after[:, 1, :5])
    assert not torch.allclose(made(digits, context.flip(-1))[:, 0, :3], after[:, 0, :3])


@pytest.mark.parametrize(("prime", "depth"), [(2, 5), (3, 3)])
def test_a_context_adds_up_the_vectors_of_the_balls(prime, depth):
    context = BallContext(depth, prime=prime, n_operands=2, n_layers=3, n_operations=4)
    assert torch.equal(context(torch.zeros(1, 2, dtype=torch.int64)), torch.full((1, 3, 4), 0.25))
    torch.nn.init.normal_(context.balls.weight)
    vectors = iter(context.balls.weight.detach())
    balls = {
        (operand, prime**k, r): next(vectors)
        for operand in (0, 1)
        for k in range(1, depth + 1)
        for r in range(prime**k)
    }
    assert next(vectors, None) is None
    pairs = torch.cartesian_prod(torch.arange(prime**depth), torch.tensor([0, 1, prime**depth - 1]))
    found = context(pairs)
    for pair, shares in zip(pairs.tolist(), found, strict=True):
        expected = sum(vector for (operand, modulus, r), vector in balls.items() if pair[operand] % modulus == r)
        torch.testing.assert_close(shares, expected.view(3, 4).softmax(dim=-1))


@pytest.mark.parametrize("primes", [(2, 5), ()])
def test_a_context_of_sizes_sees_forms_at_all_scales_and_the_digits(primes):
    context = SizeContext(primes, n_operands=2, n_forms=3, n_levels=4, hidden=5, n_layers=3, n_operations=4)
    real, digits = torch.randn(6, 2), torch.stack([torch.randint(p, (6, 2)) for p in primes], -1) if primes else None
    digits = torch.empty(6, 2, 0, dtype=torch.int64) if digits is None else digits
    assert torch.equal(context(real, digits), torch.full((6, 3, 4), 0.25))
    torch.nn.init.normal_(context.outer.weight)
    for row, shares in enumerate(context(real, digits)):
        forms = context.forms(real[row]).tolist()
        seen = [math.tanh(10**j * form) for form in forms for j in range(4)]
        for i, p in enumerate(primes):
            seen += [float(digit == c) for digit in digits[row, :, i].tolist() for c in range(p)]
        expected = context.outer(context.inner(torch.tensor(seen)).relu())
        torch.testing.assert_close(shares, expected.view(3, 4).softmax(dim=-1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_context_of_sizes_in_other_types(dtype):
    """Forms that are 0 stay 0 at each scale; in float16 the greatest scales are beyond the numbers."""
    context = SizeContext((2,), n_operands=1).to(dtype)
    found = context(torch.zeros(3, 1, dtype=dtype), torch.ones(3, 1, 1, dtype=torch.int64))
    assert found.dtype == dtype
    assert found.isfinite().all()


def test_errors():
    with pytest.raises(ConfigurationError, match="prime=6 is not a prime"):
        BallContext(3, prime=6)
    with pytest.raises(ConfigurationError, match=r"2\^25 balls are more than 16,777,216; choose a smaller depth"):
        BallContext(25)
    for context in (lambda q: BallContext(3, prime=q), lambda q: SizeContext((q,))):
        with pytest.raises(ConfigurationError, match="prime=618970019642690137449562111 is beyond 16,777,216"):
            context(2**89 - 1)
    with pytest.raises(ConfigurationError, match="depth=0 must be at least 1"):
        BallContext(0)
    with pytest.raises(ConfigurationError, match=r"built for \(\*, 1\), not for shape \(4, 2\)"):
        BallContext(3)(torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(ConfigurationError, match="prime=4 is not a prime"):
        SizeContext((2, 4))
    with pytest.raises(ConfigurationError, match="n_forms=0 must be at least 1"):
        SizeContext((2,), n_forms=0)
    with pytest.raises(ConfigurationError, match=r"digits \(\*, 1, 1\), not for shapes \(4, 1\) and \(4, 1, 2\)"):
        SizeContext((2,))(torch.zeros(4, 1), torch.zeros(4, 1, 2, dtype=torch.int64))
    with pytest.raises(ConfigurationError, match="primes"):
        SizeContext((2,)).load_state_dict(SizeContext((3,)).state_dict())
    with pytest.raises(ConfigurationError, match="hidden=0 must be at least 1"):
        network(hidden=0)
    with pytest.raises(ConfigurationError, match="the first digits are read; give 0"):
        ContextPlacewise(AdeleSpace(primes=(3,), precision=2, fractional_digits=1))
    digits, context = inputs(4)
    with pytest.raises(ConfigurationError, match=r"not for shapes \(4, 1, 2\) and \(4, 2, 4\)"):
        network()(digits[..., :2], context)
    with pytest.raises(ConfigurationError, match=r"not for shapes \(4, 1, 3\) and \(3, 2, 4\)"):
        network()(digits, context[:3])
    with pytest.raises(ConfigurationError, match="prime 3 with them, 2 here"):
        BallContext(3).load_state_dict(BallContext(2, prime=3).state_dict())
