"""The encoder layer is torch's: same parameters, same function, same gradients."""

import pytest
import torch
from scipy import stats

from adelic.nn.backend import Backend, Noise
from adelic.nn.bodies.encoder import EncoderLayer
from adelic.nn.kernels import fused
from adelic.nn.kernels.fused import Site

SHAPES = [(1, 1), (5, 7), (3, 66)]


def pair(norm, *, d_model=32, n_heads=4, dropout=0.0):
    """Our layer and torch's, made from the same seed."""
    layers = []
    for make in (
        lambda: EncoderLayer(d_model, n_heads, 64, dropout, norm=norm),
        lambda: torch.nn.TransformerEncoderLayer(
            d_model, n_heads, 64, dropout, batch_first=True, norm_first=norm == "pre"
        ),
    ):
        with torch.random.fork_rng():
            torch.manual_seed(7)
            layers.append(make())
    with torch.no_grad():  # what starts at 0 and 1 would hide mistakes
        generator = torch.Generator().manual_seed(1)
        for ours, theirs in zip(layers[0].parameters(), layers[1].parameters(), strict=True):
            ours += 0.1 * torch.randn(ours.shape, generator=generator)
            theirs.copy_(ours)
    return layers


def tokens(*shape):
    return torch.randn(*shape, 32, generator=torch.Generator().manual_seed(2))


def results(layer, x, *, compute="float32", **options):
    """Return the state of each row's first token, and all gradients of a function of it."""
    x = x.clone().requires_grad_()
    with Backend(compute=compute).on("cpu"):
        y = layer(x, **options)[:, 0]
    gradients = torch.autograd.grad((y * torch.linspace(-1, 2, 32)).sin().sum(), [x, *layer.parameters()])
    return [y, *gradients]


def test_the_same_parameters():
    with torch.random.fork_rng():
        states = []
        for layer in (EncoderLayer, torch.nn.TransformerEncoderLayer):
            torch.manual_seed(3)
            options = {"norm": "post"} if layer is EncoderLayer else {}
            states.append(layer(32, 4, 64, 0.1, **options).state_dict())
    assert list(states[0]) == list(states[1])
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.usefixtures("path")
def test_torchs_function_and_gradients(norm, shape, training):
    ours, theirs = (layer.train(training) for layer in pair(norm))
    with torch.no_grad():
        states = theirs(tokens(*shape))
        for n_read in (None, 1, 2):
            assert torch.allclose(ours(tokens(*shape), n_read=n_read), states[:, :n_read], atol=1e-5)
    expected = results(theirs, tokens(*shape))
    for n_read in (None, 1, 2):
        found = results(ours, tokens(*shape), n_read=n_read)
        assert all(torch.allclose(a, b, atol=2e-5, rtol=1e-4) for a, b in zip(found, expected, strict=True))


def test_autocast_and_other_types_are_torchs_affair():
    layer, _ = pair("post")
    exact = layer(tokens(4, 9))
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.allclose(layer(tokens(4, 9)).float(), exact, atol=0.1)
    assert layer.double()(tokens(4, 9).double()).dtype == torch.float64


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_second_derivatives_are_refused():
    layer, _ = pair("post")
    x = tokens(2, 3).requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_bfloat16_products(norm, under):
    layer, _ = pair(norm)
    exact, rounded = (under(layer, tokens(4, 9), compute=c) for c in ("float32", "bfloat16"))
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    assert torch.allclose(exact, rounded, atol=0.1)
    for found, expected in zip(
        results(layer, tokens(4, 9), compute="bfloat16"), results(layer, tokens(4, 9)), strict=True
    ):
        assert found.dtype == torch.float32
        assert (found - expected).norm() <= 0.05 * expected.norm() + 1e-3


def low_feed_forward(p):
    """Return the feed-forward layer in bfloat16 and in float32, and arguments that rounding leaves alone."""
    generator = torch.Generator().manual_seed(5)
    shapes = [(12, 32), (64, 32), (64,), (32, 64), (32,)]
    arguments = [torch.randint(-2, 3, shape, generator=generator).float().requires_grad_() for shape in shapes]
    site = Site(Noise(3).key(0), 0, p)

    def plain(x, weight1, bias1, weight2, bias2):
        inner = fused.apply(fused.ReluDropout, torch.nn.functional.linear(x, weight1, bias1), site, 64)
        return torch.nn.functional.linear(inner, weight2, bias2)

    return lambda *arrays: fused.apply(fused.LowFeedForward, *arrays, site, 64), plain, arguments


@pytest.mark.parametrize("p", [0.0, 0.3])
def test_the_inner_layer_in_bfloat16(p):
    """The same masks, so the same values and gradients but for the rounding of results, and of dropout's scale."""
    low, plain, arguments = low_feed_forward(p)
    outputs = [function(*arguments) for function in (low, plain)]
    direction = torch.linspace(-1, 1, 32)
    gradients = [torch.autograd.grad((y * direction).sum(), arguments) for y in outputs]
    for found, expected in zip((outputs[0], *gradients[0]), (outputs[1], *gradients[1]), strict=True):
        assert found.dtype == torch.float32
        assert (found - expected).norm() < 2**-7 * expected.norm()


def test_what_is_no_number_goes_through_the_inner_layer():
    low, _, arguments = low_feed_forward(0.0)
    for nan in (float("nan"), -float("nan")):
        with torch.no_grad():
            x = arguments[0].clone()
            x[3, 0] = nan
            found = low(x, *arguments[1:])
        assert found[3].isnan().all()
        assert found[[*range(3), *range(4, 12)]].isfinite().all()


def test_attention_in_bfloat16_is_attention():
    q, k, v = (torch.randn(3, 2, 9, 4, generator=torch.Generator().manual_seed(i)).requires_grad_() for i in range(3))
    site = Site(Noise(3).key(0), 0, 0.3)
    exact = fused.apply(fused.Attention, q, k, v, site)
    low = fused.apply(fused.Attention, *(t.bfloat16() for t in (q, k, v)), site)
    assert low.dtype == torch.bfloat16
    assert (low - exact).norm() < 0.02 * exact.norm()
    gradients = [torch.autograd.grad(y.float().sin().sum(), (q, k, v)) for y in (low, exact)]
    for found, expected in zip(*gradients, strict=True):
        assert (found - expected).norm() < 0.03 * expected.norm()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_gradients_with_dropout_are_those_of_the_masked_function(norm, under):
    """With fixed noise the layer is a fixed function; its derivative along a direction, by differences."""
    layer, _ = pair(norm, dropout=0.3)
    layer.train()
    x, direction = tokens(6, 5), torch.randn(6, 5, 32, generator=torch.Generator().manual_seed(3))
    weight = torch.linspace(-1, 2, 32)

    def value(at):
        return (under(layer, at, noise=Noise(11)) * weight).sum()

    x.requires_grad_()
    (gradient,) = torch.autograd.grad(value(x), x)
    step = 1e-3
    with torch.no_grad():
        slope = (value(x + step * direction) - value(x - step * direction)).double() / (2 * step)
    assert slope.item() == pytest.approx((gradient * direction).sum().item(), rel=0.02, abs=0.3)


def test_sites_have_noise_of_their_own(under):
    layer, _ = pair("post", dropout=0.4)
    first, other = (under(layer.train(), tokens(6, 5), noise=Noise(9), first_site=site) for site in (0, 4))
    assert not torch.allclose(first, other, atol=1e-2)


def test_evaluation_draws_nothing():
    layer, _ = pair("post", dropout=0.4)
    with torch.random.fork_rng():
        before = torch.random.get_rng_state()
        layer.eval()(tokens(2, 5))
        assert torch.equal(torch.random.get_rng_state(), before)


def masks(p, rows=400, width=64, site=0, seed=1):
    x = torch.ones(rows, width)
    return fused.apply(fused.Dropout, x, Site(Noise(seed).key(site), 0, p), width)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_masks_are_independent_draws(p):
    kept = masks(p) != 0
    assert stats.binomtest(int(kept.sum()), kept.numel(), 1 - p).pvalue > 1e-3
    assert masks(p).max() == pytest.approx(1 / (1 - p))
    # Sums over rows and columns scatter as those of independent draws do.
    for axis in (0, 1):
        sums, size = kept.sum(axis).double(), kept.shape[axis]
        statistic = ((sums - size * (1 - p)) ** 2 / (size * p * (1 - p))).sum().item()
        assert 1e-4 < stats.chi2(len(sums)).cdf(statistic) < 1 - 1e-4
    for other in (masks(p, site=1), masks(p, seed=2), masks(p).roll(1, 0), masks(p).roll(1, 1)):
        table = torch.stack([torch.stack([(a & b).sum() for b in (other != 0, other == 0)]) for a in (kept, ~kept)])
        assert stats.chi2_contingency(table.numpy()).pvalue > 1e-4


def test_every_fused_step_drops_at_its_rate():
    """Attention weights, inner layer and residual branches keep their mean."""
    p, site = 0.25, Site(Noise(3).key(0), 0, 0.25)
    ones = torch.ones(200, 64)
    inner = fused.apply(fused.ReluDropout, ones.clone(), site, 64)
    assert (inner == 0).float().mean().item() == pytest.approx(p, abs=0.02)
    assert inner.mean().item() == pytest.approx(1, abs=0.03)
    q = torch.zeros(20, 2, 8, 4)
    states = fused.apply(fused.Attention, q, q, torch.ones(20, 2, 8, 4), site)  # sums of the weights that are left
    assert states.mean().item() == pytest.approx(1, abs=0.05)
    assert states.std().item() > 0.05


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_hidden(value, under):
    layer, _ = pair("post", dropout=0.1)
    x = tokens(2, 5)
    x[0, 3] = value
    y = under(layer.train(), x, noise=Noise(0))
    assert not y[0].isfinite().any()
    assert y[1].isfinite().all()
