"""The place-wise Transformer: separate encoders computed together, places that meet only where asked."""

import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError, PrecisionError, RangeError, UnknownNameError
from adelic.nn import PlacewiseClassifier, PlacewiseTransformer
from adelic.nn.backend import Noise
from adelic.nn.bodies.placewise_classifier import place_sizes
from adelic.nn.placewise import PLACES
from adelic.nn.positional import LearnedPositionalEncoding
from adelic.numbers.features import PLACE_FEATURES

P, D, HEADS = 3, 8, 2


def encoder(across=None, *, dropout=0.0, norm="pre", n_layers=2, train=False):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        made = PlacewiseTransformer(
            P, D, n_layers=n_layers, n_heads=HEADS, d_feedforward=16, dropout=dropout, norm=norm, across=across
        )
        with torch.no_grad():  # what starts at 0 and 1 would hide mistakes
            for parameter in made.parameters():
                parameter += 0.1 * torch.randn(parameter.shape)
    return made.train(train)


def tokens(*batch, length=5):
    return torch.randn(*batch, length, P, D, generator=torch.Generator().manual_seed(2))


def separate(made, place, norm):
    """Torch's own encoder with the weights of a place."""
    layer = torch.nn.TransformerEncoderLayer(D, HEADS, 16, 0.0, batch_first=True, norm_first=norm == "pre")
    final = torch.nn.LayerNorm(D) if norm == "pre" else None
    theirs = torch.nn.TransformerEncoder(layer, len(made.layers), norm=final, enable_nested_tensor=False)
    pairs = [] if final is None else [(final, made.final_norm)]
    for their, our in zip(theirs.layers, made.layers, strict=True):
        their.self_attn.in_proj_weight.data = our.in_proj.weight[place].t().detach().clone()
        their.self_attn.in_proj_bias.data = our.in_proj.bias[place].detach().clone()
        pairs += [(their.self_attn.out_proj, our.out_proj), (their.linear1, our.linear1), (their.linear2, our.linear2)]
        pairs += [(their.norm1, our.norm1), (their.norm2, our.norm2)]
    for their, our in pairs:
        their.weight.data = our.weight[place].t().detach().clone().contiguous()
        their.bias.data = our.bias[place].detach().clone()
    return theirs


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.usefixtures("path")
def test_without_mixing_it_is_torchs_encoders_side_by_side(norm):
    ours, weight, x = encoder(norm=norm), torch.linspace(-1, 2, D), tokens(4).requires_grad_()
    found = ours(x)
    (gradient,) = torch.autograd.grad((found * weight).sin().sum(), x)
    for place in range(P):
        theirs = separate(ours, place, norm)
        other = x[:, :, place].detach().requires_grad_()
        expected = theirs(other)
        assert torch.allclose(found[:, :, place], expected, atol=1e-5)
        (expected_gradient,) = torch.autograd.grad((expected * weight).sin().sum(), other)
        assert torch.allclose(gradient[:, :, place], expected_gradient, atol=1e-5)


@pytest.mark.parametrize("across", [None, "late"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_both_ways_give_the_same_states_and_gradients(across, norm, monkeypatch):
    made, weight, results = encoder(across, norm=norm), torch.linspace(-1, 2, D), []
    for takes in (None, lambda x: False):
        if takes:
            monkeypatch.setattr("adelic.nn.kernels.fused.takes", takes)
        x = tokens(4).requires_grad_()
        whole, first = made(x), made(x, first_only=True)
        assert torch.allclose(first, whole[:, :1], atol=1e-5)
        gradients = torch.autograd.grad((first * weight).sin().sum(), [x, *made.parameters()])
        results.append([whole, *gradients])
    assert all(torch.allclose(a, b, atol=2e-5, rtol=1e-4) for a, b in zip(*results, strict=True))


def dependence(across):
    """Whether the states of place i depend on the input of place j: bool (P, P)."""
    made, x = encoder(across), tokens(2).requires_grad_()
    y = made(x)
    rows = [torch.autograd.grad(y[:, :, i].sin().sum(), x, retain_graph=True)[0] for i in range(P)]
    return torch.stack([row.abs().sum(dim=(0, 1, 3)) for row in rows]) > 0


@pytest.mark.usefixtures("path")
def test_a_place_depends_on_itself_alone_unless_places_are_mixed():
    assert torch.equal(dependence(None), torch.eye(P, dtype=torch.bool))
    assert dependence("late").all()


@pytest.mark.usefixtures("path")
def test_shapes(batch):
    for across in (None, "late"):
        for shape in (batch, (0,)):
            x = tokens(*shape)
            assert encoder(across)(x).shape == x.shape
            assert encoder(across)(x, first_only=True).shape == (*shape, 1, P, D)


@pytest.mark.parametrize("across", [None, "late"])
def test_dropout_belongs_to_the_rows_and_the_seed(across, under):
    made, x, noise = encoder(across, dropout=0.4, train=True), tokens(6), Noise(9)
    whole = under(made, x, noise=noise)
    assert torch.equal(under(made, x, noise=noise), whole)
    parts = [under(made, x[i : i + 2], noise=noise.from_row(i)) for i in (0, 2, 4)]
    assert torch.allclose(torch.cat(parts), whole, atol=1e-6)
    for other in ({"noise": Noise(10)}, {"noise": noise, "first_site": 1}, {"noise": noise.from_row(1)}):
        assert not torch.allclose(under(made, x, **other), whole, atol=1e-2)
    assert not torch.allclose(encoder(across)(x), whole, atol=1e-2)


def test_places_have_dropout_masks_of_their_own(under):
    """With equal weights and inputs, only the masks can tell places apart."""
    made = encoder(dropout=0.4, train=True)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter[1:] = parameter[:1]
    y = under(made, tokens(4)[:, :, :1].expand(-1, -1, P, -1), noise=Noise(1))
    assert not torch.allclose(y[:, :, 0], y[:, :, 1], atol=1e-2)


def test_bfloat16_products(under):
    made = encoder("late")
    exact, rounded = (under(made, tokens(4), compute=compute) for compute in ("float32", "bfloat16"))
    assert not torch.equal(exact, rounded)
    assert torch.allclose(exact, rounded, atol=0.15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_places": 0}, "n_places=0"),
        ({"n_layers": 0}, "n_layers=0"),
        ({"n_heads": 3}, "d_place=8 is not divisible by n_heads=3"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"norm": "rms"}, "norm='rms'"),
        ({"across": "axis"}, "across='axis' is unknown; use 'late' or None"),
    ],
)
def test_bad_options(change, words):
    options = {"n_places": P, "d_place": D, "n_layers": 1, "n_heads": 2, "d_feedforward": 16} | change
    with pytest.raises(ConfigurationError, match=words):
        PlacewiseTransformer(options.pop("n_places"), options.pop("d_place"), **options)


def test_bad_tokens():
    with pytest.raises(ConfigurationError, match="3 places"):
        encoder()(torch.zeros(2, 5, P + 1, D))


def classifier(**options):
    vocabulary = nn.Vocabulary(range(8))
    sizes = {"n_classes": 3, "max_length": 6, "n_layers": 2, "n_heads": 2, "d_place": 8, "d_feedforward": 16}
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return PlacewiseClassifier(
            vocabulary, **({"space": AdeleSpace(primes=(2, 3, 5), precision=4)} | sizes | options)
        ).eval()


IDS = torch.tensor([[0, 7, 3, 1], [5, 5, 2, 6]])


@pytest.mark.parametrize("features", PLACE_FEATURES)
@pytest.mark.parametrize("places", PLACES)
def test_a_classifier_of_every_form(features, places, batch):
    ids = torch.arange(4).expand(*batch, 4)
    logits = classifier(features=features, places=places)(ids)
    assert logits.shape == (*batch, 3)
    assert logits.isfinite().all()


def test_the_classifiers_table_is_centred_and_frozen():
    model = classifier(features="characters")
    assert model.table.shape[:2] == (8, 4)
    assert torch.allclose(model.table.mean(dim=0), torch.zeros(()), atol=1e-6)
    assert torch.allclose(model.table.square().mean(dim=(0, 2)), torch.ones(4), atol=1e-5)
    assert not any("table" in key for key in model.state_dict())
    assert model.n_parameters == sum(p.numel() for p in model.parameters())


def test_logits_of_places_apart_are_sums_over_places():
    """What a place adds to a logit does not depend on what the others see."""
    model = classifier(places="apart")
    assert not torch.allclose(model(IDS)[0], model(IDS)[1], atol=1e-3)
    vectors = model.embed(IDS).view(2, 4, 4, 8)

    def logits(*rows):
        """The logits where place i sees row rows[i]."""
        mixed = torch.stack([vectors[row, :, place] for place, row in enumerate(rows)], dim=1).flatten(1)[None]
        x = model.positional(torch.cat([model.cls.expand(1, 1, -1), mixed], dim=1))
        return model.head(model.encode(x))

    assert torch.allclose(logits(0, 0, 0, 0)[0], model(IDS)[0], atol=1e-5)
    swapped = logits(1, 0, 1, 0) + logits(0, 1, 0, 1)
    assert torch.allclose(swapped, logits(0, 0, 0, 0) + logits(1, 1, 1, 1), atol=1e-5)
    model = classifier(places="late")
    vectors = model.embed(IDS).view(2, 4, 4, 8)
    swapped = logits(1, 0, 1, 0) + logits(0, 1, 0, 1)
    assert not torch.allclose(swapped, logits(0, 0, 0, 0) + logits(1, 1, 1, 1), atol=1e-4)


@pytest.mark.parametrize("places", PLACES)
def test_a_classifier_that_reads_all_tokens_and_learns_positions(places):
    """It reads the states of the encoder, token by token and in it place by place."""
    model = classifier(places=places, pooling="tokens", max_length=4)
    assert model.head.in_features == 5 * 4 * 8
    states = model.encoder(model.place(IDS).view(2, 5, 4, 8))
    assert torch.allclose(model(IDS), model.head(states.flatten(1)), atol=1e-5)
    model = classifier(places=places, positional="learned")
    assert isinstance(model.positional, LearnedPositionalEncoding)
    assert model.positional.table.shape == (7, 4 * 8)
    with pytest.raises(ConfigurationError, match="length 7 exceeds max_length=6"):
        model(torch.zeros(1, 7, dtype=torch.int64))
    with pytest.raises(ConfigurationError, match=r"length 3: with pooling='tokens' .* max_length=4"):
        classifier(pooling="tokens", max_length=4)(IDS[:, :3])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"features": "standardized"}, UnknownNameError, "standardized"),
        ({"places": "none"}, ConfigurationError, "places='none' is unknown; use apart, late"),
        ({"n_classes": 1}, ConfigurationError, "n_classes=1"),
        ({"vocabulary": 9, "positional": "none"}, ConfigurationError, "positional='none' is unknown; use 'sinusoidal'"),
        ({"space": AdeleSpace(primes=(3,), precision=1), "features": "digits"}, PrecisionError, "1/3"),
        ({"vocabulary": [1, 10**400]}, RangeError, "is beyond float64; scale the numbers"),
        (
            {"vocabulary": [5]},
            ConfigurationError,
            "has one number, and the part that all have in common is left out",
        ),
        (
            {"vocabulary": nn.Vocabulary(range(8), missing=True)},
            ConfigurationError,
            "PlacewiseClassifier has no vector for a missing or unknown number",
        ),
    ],
)
def test_bad_classifiers(change, error, words):
    with pytest.raises(error, match=words):
        PlacewiseClassifier(**{"vocabulary": [0, "1/3"], "n_classes": 3, "max_length": 6} | change)


@pytest.mark.parametrize("n_places", [2, 3, 8, 18])
@pytest.mark.parametrize("places", PLACES)
def test_about_the_parameters_of_the_flat_model(n_places, places):
    """At the paper's sizes; a layer has no more, but the embedding of features and what mixes places are added."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)[: n_places - 1]
    vocabulary = nn.Vocabulary(range(8))
    flat = nn.SequenceClassifier(nn.LearnedEmbedding(vocabulary), n_classes=5, max_length=8)
    sizes = place_sizes(n_places, d_model=128, n_heads=8, d_feedforward=512)
    assert sizes["d_place"] % sizes["n_heads"] == 0
    space = AdeleSpace(primes=primes, precision=4)
    model = PlacewiseClassifier(vocabulary, n_classes=5, max_length=8, space=space, places=places, **sizes)
    assert 0.4 * flat.n_parameters < model.n_parameters < 1.15 * flat.n_parameters
