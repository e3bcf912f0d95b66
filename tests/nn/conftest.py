import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.nn.backend import Backend

BATCH_SHAPES = [(), (3,), (2, 1, 4)]


@pytest.fixture(params=BATCH_SHAPES, ids=["0 axes", "1 axis", "3 axes"])
def batch(request) -> tuple[int, ...]:
    """The batch axes of an input."""
    return request.param


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def vocabulary() -> nn.Vocabulary:
    return nn.Vocabulary(range(8))


@pytest.fixture
def space() -> AdeleSpace:
    """(3 + 1) · 4 = 16 coordinates."""
    return AdeleSpace(primes=(2, 3, 5), precision=4)


@pytest.fixture
def classifier(vocabulary, space):
    """Return small classifiers, ready for evaluation unless `train` is asked for."""

    def make(embedding=None, *, train=False, **options):
        options = {"n_classes": 3, "max_length": 6, "n_layers": 2, "n_heads": 2, "d_feedforward": 32} | options
        chosen = (
            nn.AdelicEmbedding(vocabulary, space=space, d_model=16, features="digits")
            if embedding is None
            else embedding
        )
        return nn.SequenceClassifier(chosen, **options).train(train)

    return make


@pytest.fixture
def under():
    """Call a module where a backend holds: under(module, input, noise=…, compute=…, further arguments)."""

    def call(module, x, *, noise=None, compute="float32", **options):
        with Backend(noise=noise, compute=compute).on("cpu"):
            return module(x, **options)

    return call


@pytest.fixture(params=["on the CPU", "on other devices"])
def path(request, monkeypatch):
    """Both ways to compute the layers."""
    if request.param == "on other devices":
        monkeypatch.setattr("adelic.nn.kernels.fused.takes", lambda x: False)
