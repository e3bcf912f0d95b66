"""Models leave Python: `torch.export` and ONNX give what the model gives, at other batch sizes and lengths too."""

import numpy as np
import pytest
import torch

from adelic import AdeleSpace, nn

VOCABULARY = nn.Vocabulary([*range(-3, 9), "1/11"])
BATCH, LENGTH = torch.export.Dim("batch"), torch.export.Dim("length", min=2, max=8)


def build(features="digits", projection=None, **options):
    torch.manual_seed(0)
    space = AdeleSpace(primes=(2, 3, 5, 7), precision=6)
    embedding = nn.AdelicEmbedding(VOCABULARY, space=space, d_model=64, features=features, projection=projection)
    model = nn.SequenceClassifier(
        embedding, **{"n_classes": 5, "max_length": 8, "n_layers": 2, "d_feedforward": 96} | options
    )
    return model.eval()


def ids(*shape):
    return torch.randint(len(VOCABULARY), shape, generator=torch.Generator().manual_seed(1))


MODELS = [
    {},
    {"norm": "pre"},
    {"features": "standardized", "positional": "sinusoidal"},
    {"features": "characters", "projection": "linear"},
    {"n_classes": (2, 3, 1), "positional": None},
]


def assert_equal_outputs(given, expected):
    """Up to the order of summation: in Python the products are oneDNN's."""
    np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "strict"),
    [
        *(pytest.param(options, True, id=f"{options}-strict") for options in MODELS),
        pytest.param(MODELS[0], False, id=f"{MODELS[0]}-non-strict"),
        # What differs between the models is traced in the same way; strictly, more is asked.
        *(pytest.param(options, False, id=f"{options}-non-strict", marks=pytest.mark.slow) for options in MODELS[1:]),
    ],
)
@torch.no_grad()
def test_exported_programs(options, strict, tmp_path):
    model = build(**options)
    shapes = {"ids": {0: BATCH, 1: LENGTH}}
    program = torch.export.export(model, (ids(2, 8),), dynamic_shapes=shapes, strict=strict)
    torch.export.save(program, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    for x in (ids(2, 8), ids(7, 5), ids(3, 2)):
        assert_equal_outputs(loaded(x), model(x))


@pytest.mark.parametrize(
    "options",
    [pytest.param(options, id=str(options), marks=pytest.mark.long if options else ()) for options in MODELS[:4]],
)
@pytest.mark.filterwarnings("ignore::FutureWarning:copyreg")
@torch.no_grad()
def test_onnx(options, tmp_path):
    import onnxruntime

    model = build(**options)
    shapes = {"ids": {0: BATCH, 1: LENGTH}}
    exported = torch.onnx.export(model, (ids(2, 8),), dynamo=True, dynamic_shapes=shapes, verbose=False)
    exported.save(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    for x in (ids(2, 8), ids(7, 5), ids(3, 2)):
        [logits] = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        assert_equal_outputs(logits, model(x))


@torch.no_grad()
def test_the_table_of_an_embedding_is_exported_exactly():
    embedding = build().embedding
    program = torch.export.export(embedding, (ids(2, 4),), dynamic_shapes={"ids_or_numbers": {0: BATCH}})
    assert torch.equal(program.module()(ids(9, 4)), embedding(ids(9, 4)))
