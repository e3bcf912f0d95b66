"""Tensors that are not plain are told so, by every layer and function, in one line."""

import copy

import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError, EncodingError
from adelic.nn import functional
from adelic.nn.bodies.graph_classifier import GraphClassifier
from adelic.nn.bodies.mlp_classifier import MLPClassifier
from adelic.nn.positional import LearnedPositionalEncoding

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's, where such tensors are made

SPACE, VOCABULARY = AdeleSpace(primes=(2, 3, 5), precision=4), nn.Vocabulary(range(8))
MESSAGES = {
    "sparse": r"a sparse tensor \(torch.sparse_coo\) was given",
    "csr": r"a sparse tensor \(torch.sparse_csr\) was given",
    "nested": "a nested tensor was given",
    "jagged": "a nested tensor was given",
    "quantized": r"a quantized tensor \(torch.quint8\) was given",
    "meta": "a tensor on the device meta has no values",
}


def made(kind, shape, dtype):
    """Return a tensor of ones of a kind."""
    x = torch.ones(shape, dtype=dtype)
    return {
        "sparse": x.to_sparse,
        "csr": x.to_sparse_csr,
        "nested": lambda: torch.nested.nested_tensor(list(x)),
        "jagged": lambda: torch.nested.nested_tensor(list(x), layout=torch.jagged),
        "quantized": lambda: torch.quantize_per_tensor(x.float(), 1.0, 0, torch.quint8),
        "meta": lambda: x.to("meta"),
    }[kind]()


IDS = {
    **{name: lambda x, name=name: nn.EMBEDDINGS[name](VOCABULARY, d_model=16)(x) for name in nn.EMBEDDINGS},
    "projected": nn.AdelicEmbedding(VOCABULARY, projection="linear"),
    "open-ended": nn.AdelicEmbedding(None),
    "classifier": nn.SequenceClassifier(nn.AdelicEmbedding(VOCABULARY), n_classes=2, max_length=4, n_layers=1),
    "place-wise classifier": nn.PlacewiseClassifier(VOCABULARY, n_classes=2, max_length=4, n_layers=1),
    "vocabulary": VOCABULARY.ids,
    "vocabulary of": nn.Vocabulary,
}
SMALL = {"n_classes": 2, "max_length": 4, "n_layers": 1}
LEARNED = nn.LearnedEmbedding(200, 16)
OF_IDS = {
    **{name: nn.EMBEDDINGS[name](200, d_model=16) for name in nn.EMBEDDINGS},
    "projected": nn.AdelicEmbedding(200, projection="linear"),
    "folded": nn.SequenceClassifier(nn.AdelicEmbedding(200, 32, features="digits", space=AdeleSpace((2, 3))), **SMALL),
    "sequence": nn.SequenceClassifier(LEARNED, **SMALL),
    "placewise": nn.PlacewiseClassifier(200, **SMALL),
    "graph": GraphClassifier(LEARNED, **SMALL),
    "mlp": MLPClassifier(LEARNED, **SMALL),
    "local-global": nn.LocalGlobalClassifier(SPACE, n_classes=2, length=4, width=8, vocabulary=200),
}
PREDICTION = nn.AdelicHead(SPACE, 6)(torch.zeros(2, 4, 6))
VECTORS = {
    "linear": (nn.PlacewiseLinear(4, 6, 2), (2, 4, 6)),
    "perceptron": (nn.PlacewiseMLP(4, 6, 8, 2), (2, 4, 6)),
    "transformer": (nn.PlacewiseTransformer(4, 8, n_layers=1, n_heads=2, d_feedforward=8), (2, 3, 4, 8)),
    "positions": (nn.SinusoidalPositionalEncoding(6, max_length=4), (2, 4, 6)),
    "learned positions": (LearnedPositionalEncoding(6, max_length=4), (2, 4, 6)),
    "head": (nn.AdelicHead(SPACE, 6), (2, 4, 6)),
    "flat head": (nn.AdelicHead(SPACE, 6, placewise=False), (2, 6)),
    "digits": (lambda x: nn.PlaceEmbedding(SPACE)((torch.ones(2), x)), (2, 3, 4)),
    "real values": (lambda x: nn.PlaceEmbedding(SPACE)((x, torch.ones(2, 5, 3, 4).long())), (2, 5)),
    "targets": (lambda x: nn.AdelicLoss(SPACE)(PREDICTION, (torch.ones(2), x)), (2, 3, 4)),
}
FUNCTIONS = {
    "add": lambda x: functional.add(x, x, SPACE),
    "mul": lambda x: functional.mul(x, x, SPACE),
    "decode_int": lambda x: functional.decode_int(x, SPACE),
}


def refused(call, kind, shape, dtype):
    with pytest.raises(EncodingError, match=MESSAGES[kind]):
        call(made(kind, shape, dtype))


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize("name", IDS)
def test_ids(name, kind):
    refused(IDS[name], kind, (2, 3), torch.int64)


@pytest.mark.parametrize("name", OF_IDS)
def test_ids_are_of_any_type_of_integers_and_of_no_other(name):
    layer, ids = OF_IDS[name].eval(), torch.tensor([[100, 150, 199, 3]])
    for high, dtypes in ((256, (torch.uint8, torch.int16, torch.int32)), (128, (torch.int8,))):
        for dtype in dtypes:
            assert torch.equal(layer((ids % high).to(dtype)), layer(ids % high))
    for wrong, of in ((ids.tolist(), "type list"), (ids.numpy(), "type ndarray"), (ids.float(), "torch.float32")):
        with pytest.raises(EncodingError, match=f"ids are a tensor of integers, not of {of}; use .* for ids x"):
            layer(wrong)
    with pytest.raises(EncodingError, match=r"not of torch\.bool"):
        layer(ids > 0)


@pytest.mark.parametrize(
    "name", ["folded", "sequence", "placewise", "graph", "mlp", "local-global", "base-digits", "residues"]
)
def test_a_number_alone_is_no_sequence_and_an_empty_batch_is_one(name):
    with pytest.raises(ConfigurationError, match="one number alone is no sequence"):
        OF_IDS[name](torch.tensor(3))
    assert OF_IDS[name](torch.zeros(2, 0, 4, dtype=torch.int64)).shape[:2] == (2, 0)


def test_open_ended_numbers_alone_are_no_sequence():
    for layer in (nn.ResiduesEmbedding(None, 16), nn.SequenceClassifier(nn.AdelicEmbedding(None), **SMALL)):
        with pytest.raises(ConfigurationError, match="one number alone is no sequence"):
            layer(3)


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name, kind):
    layer, shape = VECTORS[name]
    refused(layer, kind, shape, torch.float32)


@pytest.mark.parametrize("kind", [kind for kind in MESSAGES if kind not in ("quantized", "meta")])
def test_numbers_of_functions(kind):
    refused(lambda x: functional.encode(x, space=SPACE), kind, (2, 3), torch.int64)
    refused(lambda x: functional.encode(torch.ones(2, 3).long(), x, space=SPACE), kind, (2, 3), torch.int64)
    for function in FUNCTIONS.values():
        with pytest.raises(EncodingError):  # for a few kinds the shape or the dtype is what is wrong first
            function(made(kind, (2, 4, 4), torch.float32))


def test_layers_without_values_take_tensors_without_values():
    for layer, shape in (VECTORS["linear"], VECTORS["transformer"], VECTORS["positions"]):
        assert copy.deepcopy(layer).to("meta")(torch.ones(shape, device="meta")).device.type == "meta"
