import copy
import itertools
import pickle

import pytest
import torch

from adelic import nn
from adelic.errors import AdelicError, ConfigurationError
from adelic.nn.bodies.classifier import Classifier
from adelic.nn.positional import LearnedPositionalEncoding, PositionalEncoding
from adelic.numbers.features import FEATURE_KINDS


def ids_of(*shape, high=8):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(1))


def test_shapes(batch, classifier):
    model = classifier()
    ids = ids_of(*batch, 6)
    with torch.no_grad():
        logits = model(ids)
        assert logits.shape == (*batch, 3)
        assert logits.dtype == torch.float32
        alone = torch.stack([model(row) for row in ids.reshape(-1, 6)])  # rows do not see each other
        assert torch.allclose(logits.reshape(-1, 3), alone, atol=1e-5)
        for shape in ((0, 6), (2, 1), (2, 0)):  # shorter sequences, and one that [CLS] alone is left of
            assert model(ids_of(*shape)).shape == classifier(train=True)(ids_of(*shape)).shape == (shape[0], 3)
    with pytest.raises(ConfigurationError, match=r"length 7 exceeds max_length=6"):
        model(ids_of(2, 7))


def test_the_defaults_are_the_papers(vocabulary):
    model = nn.SequenceClassifier(nn.AdelicEmbedding(vocabulary, features="digits"), n_classes=5, max_length=8)
    assert len(model.layers) == 6
    assert model.dropout.p == 0.1
    assert model.embedding.d_model == 128
    for layer in model.layers:
        assert layer.self_attn.num_heads == 8
        assert layer.self_attn.embed_dim == 128
        assert layer.self_attn.dropout == 0.1
        assert (layer.linear1.in_features, layer.linear1.out_features) == (128, 512)
        assert (layer.linear2.in_features, layer.linear2.out_features) == (512, 128)
        assert [layer.dropout.p, layer.dropout1.p, layer.dropout2.p] == [0.1, 0.1, 0.1]
        assert not layer.norm_first
    assert (model.head.in_features, model.head.out_features) == (128, 5)
    for one, other in itertools.combinations(model.layers, 2):
        assert not torch.equal(one.linear1.weight, other.linear1.weight)
        assert not torch.equal(one.self_attn.in_proj_weight, other.self_attn.in_proj_weight)
    layer_size = 4 * (128 * 128 + 128) + 2 * 128 * 512 + 512 + 128 + 4 * 128
    assert model.n_parameters == 6 * layer_size + 128 + 5 * 128 + 5
    baseline = nn.SequenceClassifier(nn.LearnedEmbedding(vocabulary), n_classes=5, max_length=8)
    assert baseline.n_parameters > model.n_parameters


def test_the_two_models_differ_in_the_embedding_alone(vocabulary, classifier):
    aoe = classifier()
    baseline = classifier(nn.LearnedEmbedding(vocabulary, d_model=16))
    ours, theirs = ({name: p.shape for name, p in model.named_parameters()} for model in (aoe, baseline))
    assert theirs == ours | {"embedding.table.weight": (8, 16)}
    assert str(aoe.layers) == str(baseline.layers)


def test_positions_matter_unless_there_are_none(classifier):
    ids, order = torch.tensor([[0, 1, 2, 3, 4, 5]]), [3, 1, 5, 0, 2, 4]
    for positional, kind in (
        ("embedding", nn.AdelicPositionalEncoding),
        ("sinusoidal", nn.SinusoidalPositionalEncoding),
        ("learned", LearnedPositionalEncoding),
        (None, PositionalEncoding),
    ):
        model = classifier(positional=positional)
        assert type(model.positional) is kind
        assert model.positional.table.shape == (7, 16)  # [CLS] stands first
        atol = 1e-4 if positional else 1e-5
        assert torch.allclose(model(ids), model(ids[:, order]), atol=atol) == (positional is None)


@pytest.mark.parametrize("positional", ["embedding", "sinusoidal", None])
def test_folded_positions_are_added_positions(classifier, positional):
    model, ids = classifier(positional=positional), ids_of(3, 5)
    folded = model.place(ids)
    assert torch.equal(folded, Classifier.place(model, ids))
    assert model.folded.shape == (len(model.embedding.table) * 6, 16)
    assert "folded" not in model.state_dict()
    for wrong in (-1, len(model.embedding.table)):
        with pytest.raises(IndexError):
            model.place(torch.full((1, 5), wrong))


def test_learned_positions_are_trained(classifier):
    model, ids = classifier(positional="learned"), ids_of(3, 6)
    assert model.folded is None
    assert isinstance(model.positional.table, torch.nn.Parameter)
    assert "positional.table" in model.state_dict()
    fixed = classifier()
    assert model.n_parameters - fixed.n_parameters == 7 * 16
    model(ids).sum().backward()
    assert (model.positional.table.grad.abs().sum(dim=1) > 0).all()
    other = classifier(positional="learned")
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.positional.table, model.positional.table)


def test_positions_are_folded_into_what_stays_as_it_is_alone(classifier, monkeypatch):
    vocabulary = nn.Vocabulary(range(8))
    for embedding in (
        nn.LearnedEmbedding(vocabulary, d_model=16),
        nn.RandomEmbedding(vocabulary, d_model=16),  # a state dict brings other vectors
        nn.AdelicEmbedding(vocabulary, d_model=16, projection="linear", features="digits"),
    ):
        assert nn.SequenceClassifier(embedding, n_classes=2, max_length=4).folded is None
    monkeypatch.setattr("adelic.nn.bodies.sequence_classifier._MOST_FOLDED", 0)
    model, ids = classifier(), ids_of(3, 6)
    assert model.folded is None
    monkeypatch.undo()
    other = classifier()
    other.load_state_dict(model.state_dict())
    assert torch.equal(model(ids), other(ids))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("pooling", ["cls", "tokens"])
def test_forward_by_hand(classifier, norm, pooling):
    """The [CLS] state of torch's own encoder with these layers, or all its states one after the other."""
    model, ids = classifier(norm=norm, pooling=pooling), ids_of(3, 6)
    with torch.no_grad():
        x = torch.cat([model.cls.expand(3, 1, 16), model.embedding.table[ids]], dim=1) + model.positional.table
        for layer in model.layers:
            x = layer(x)
        if norm == "pre":
            x = torch.nn.functional.layer_norm(x, (16,))
        states = x[:, 0] if pooling == "cls" else x.reshape(3, 7 * 16)
        assert torch.allclose(model(ids), states @ model.head.weight.T + model.head.bias, atol=1e-5)


def test_where_all_tokens_are_read_all_sequences_have_one_length(classifier):
    model = classifier(pooling="tokens")
    for length in (5, 7):
        with pytest.raises(ConfigurationError, match=rf"length {length}: with pooling='tokens' .* max_length=6"):
            model(ids_of(2, length))
    with pytest.raises(ConfigurationError, match="pooling='mean' is unknown; use cls or tokens"):
        classifier(pooling="mean")


def test_several_targets(classifier, batch):
    """Each target has a linear classifier of its own on the [CLS] state; classes that it lacks are impossible."""
    counts = (2, 4, 1)
    model = classifier(n_classes=counts)
    ids = torch.arange(6).expand(*batch, 6)
    logits = model(ids)
    assert logits.shape == (*batch, 3, 4)
    states = []
    model.final_norm.register_forward_hook(lambda module, inputs, output: states.append(output.flatten(1)))
    model(ids)
    weights, biases = (part.split(counts) for part in (model.head.linear.weight, model.head.linear.bias))
    for target, count in enumerate(counts):
        found = logits[..., target, :].reshape(-1, 4)
        assert torch.allclose(found[:, :count], states[0] @ weights[target].T + biases[target], atol=1e-6)
        assert torch.isneginf(found[:, count:]).all()
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 4), torch.zeros(logits[..., 0].numel()).long())
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"n_heads": 3}, "d_model=16.*n_heads=3"),
        ({"dropout": 1.0}, "dropout=1.0 must lie in"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"n_classes": 2.5}, "n_classes=2.5 must be a whole number"),
        ({"max_length": "x"}, "max_length='x' must be a whole number"),
        *(({"d_feedforward": bad}, f"d_feedforward={bad} must be at least 1") for bad in (0, -1)),
        *((bad, "n_classes or head") for bad in ({"n_classes": None}, {"head": torch.nn.Identity})),
        ({"n_classes": ()}, "one target or more"),
        ({"n_classes": (2, 0)}, "n_classes=.2, 0."),
        *(({name: 0}, f"{name}=0") for name in ("max_length", "n_layers", "n_heads")),
        ({"norm": "middle"}, "pre"),
        ({"positional": "rotary"}, "sinusoidal"),
    ],
)
def test_bad_options(classifier, options, word):
    with pytest.raises(AdelicError, match=word):
        classifier(**options)


@pytest.mark.parametrize("features", [*FEATURE_KINDS, None])
@pytest.mark.parametrize("projection", [None, "linear"])
def test_the_state_dict_holds_the_parameters_and_fingerprints_alone(vocabulary, classifier, features, projection):
    options = {} if features is None else {"features": features, "projection": projection}
    embedding = (nn.AdelicEmbedding if features else nn.LearnedEmbedding)(vocabulary, d_model=128, **options)
    model = classifier(embedding, n_layers=1)
    fingerprints = {"embedding._extra_state", "positional._extra_state"}
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()} | fingerprints


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("projection", [None, "linear"])
def test_gradients_reach_every_parameter(vocabulary, space, classifier, norm, projection):
    embedding = nn.AdelicEmbedding(vocabulary, space=space, d_model=16, projection=projection, features="digits")
    model = classifier(embedding, norm=norm, train=True, dropout=0.0)
    torch.nn.functional.cross_entropy(model(ids_of(8, 6)), torch.arange(8) % 3).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


def test_a_model_moves_as_a_whole(classifier):
    model = classifier().to("meta")
    assert {t.device.type for t in itertools.chain(model.parameters(), model.buffers())} == {"meta"}
    assert model(torch.zeros(2, 6, dtype=torch.int64, device="meta")).device.type == "meta"


@pytest.mark.parametrize("projection", [None, "linear"])
def test_open_ended_numbers_go_to_the_models_device(space, classifier, projection):
    model = classifier(nn.AdelicEmbedding(None, space=space, d_model=16, projection=projection, features="digits"))
    assert model([[1, "1/7", -3]]).shape == (1, 3)
    logits = model.to("meta")([[1, "1/7", -3]])
    assert (logits.device.type, logits.shape) == ("meta", (1, 3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("vocabulary_given", [True, False])
def test_on_a_gpu(vocabulary, space, classifier, vocabulary_given):
    embedding = nn.AdelicEmbedding(vocabulary if vocabulary_given else None, space=space, d_model=16, features="digits")
    model, ids = classifier(embedding), ids_of(4, 6)
    with torch.no_grad():
        expected = model(ids)
        assert torch.allclose(model.to("cuda")(ids.to("cuda")).cpu(), expected, atol=1e-4)


def test_copies(classifier):
    model, ids = classifier(), ids_of(3, 6)
    loaded = classifier()
    assert not torch.equal(loaded(ids), model(ids))
    loaded.load_state_dict(model.state_dict())
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded):
        assert torch.equal(twin(ids), model(ids))
        assert twin.cls.data_ptr() != model.cls.data_ptr()


def test_autocasting_that_would_overflow_is_told():
    embedding = nn.AdelicEmbedding([10**6, 3], features="digits")
    model = nn.SequenceClassifier(embedding, n_classes=2, max_length=2, n_layers=1)
    assert model.folded is not None
    with torch.autocast("cpu", torch.float16), pytest.raises(AdelicError, match="is beyond float16"):
        model(torch.zeros(1, 2, dtype=torch.int64))
    with pytest.raises(AdelicError, match="is beyond float16"):
        model.half()
