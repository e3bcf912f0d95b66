"""The backend: what holds around a model's call, and where it ends."""

import inspect
import platform
import threading

import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError
from adelic.nn.backend import PLAIN, Backend, Noise, current, is_quick
from adelic.nn.bodies.classifier import Classifier

IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


def small(**options):
    embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=16)
    return nn.SequenceClassifier(embedding, n_classes=3, max_length=3, n_layers=2, n_heads=2, **options)


@pytest.mark.parametrize("model", [Classifier, nn.SequenceClassifier, nn.PlacewiseClassifier, *nn.EMBEDDINGS.values()])
def test_a_user_gives_a_model_ids_alone(model):
    forward = inspect.signature(model.forward)
    needed = [name for name, parameter in forward.parameters.items() if parameter.default is parameter.empty]
    assert len(needed) == 2  # self and the ids
    assert not {"noise", "compute"} & set(forward.parameters)


def test_without_a_backend_torchs_seed_decides():
    model = small(dropout=0.3)
    drawn = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        drawn.append(model(IDS))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_a_backend_ends_with_its_context_also_by_an_error():
    with Backend(noise=Noise(1)).on("cpu"):
        with pytest.raises(ConfigurationError), Backend(compute="bfloat16").on("cpu"):
            small(dropout=0.0)(torch.zeros(1, 4, dtype=torch.int64))
        assert current().noise == Noise(1)
    assert current() is PLAIN


def test_threads_have_backends_of_their_own():
    """What one thread trains on another does not see, though both use one model."""
    found, both = {}, threading.Barrier(2)

    def work(seed):
        with Backend(noise=Noise(seed)).on("cpu"):
            both.wait(600)
            found[seed] = current().noise
            both.wait(600)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: Noise(1), 2: Noise(2)}
    assert current() is PLAIN


@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
def test_a_compiler_reads_a_step_in_one_piece():
    """Entering a backend breaks no graph of a step on another device."""
    model = small().eval()
    backend = Backend(compute="bfloat16")

    def step(ids):
        with backend.on("cuda"):
            return model(ids)

    compiled = torch.compile(step, backend="eager", fullgraph=True)
    assert torch.allclose(compiled(IDS), model(IDS), atol=1e-5)


def test_an_unknown_precision_is_named():
    with pytest.raises(ConfigurationError, match="compute='float16' is unknown; use float32 or bfloat16"):
        Backend(compute="float16")


@pytest.mark.parametrize(
    ("machine", "onednn", "capability", "instructions", "quick"),
    [
        ("x86_64", True, "AVX512", True, True),
        ("x86_64", True, "AVX512", False, False),  # oneDNN converts it
        ("x86_64", True, "AVX2", True, False),  # ATEN_CPU_CAPABILITY=avx2
        ("AMD64", False, "AVX512", True, False),  # ONEDNN_MAX_CPU_ISA=AVX2
        ("aarch64", True, "DEFAULT", False, True),
        ("aarch64", False, "DEFAULT", False, False),
    ],
)
def test_bfloat16_is_quick_where_there_are_instructions(monkeypatch, machine, onednn, capability, instructions, quick):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: onednn)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: instructions, raising=False)
    assert is_quick("bfloat16", "cpu") == (quick and torch.backends.mkldnn.is_available())
    assert is_quick("float32", "cpu")
