import pytest
import torch
from torch.nn import functional

from adelic.nn import LearnedEmbedding, SequenceClassifier, Vocabulary
from adelic_lab.train.steps import SWITCH, Compiled, is_wanted

# Torch's compiler warns of its own parts when it is first loaded.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*")


def model_and_batch():
    torch.manual_seed(0)
    embedding = LearnedEmbedding(Vocabulary(range(5)), d_model=16)
    model = SequenceClassifier(
        embedding, n_classes=3, max_length=4, n_layers=1, n_heads=2, d_feedforward=16, dropout=0.0
    )
    return model, torch.randint(5, (6, 4)), torch.randint(3, (6,))


def test_a_compiled_step_has_the_same_loss_and_gradients():
    model, ids, labels = model_and_batch()
    step = Compiled(lambda ids, labels: functional.cross_entropy(model(ids), labels), backend="aot_eager")
    wanted = functional.cross_entropy(model(ids), labels)
    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(wanted, parameters)
    for _ in range(2):
        loss = step(ids, labels)
        torch.testing.assert_close(loss, wanted)
        for found, gradient in zip(torch.autograd.grad(loss, parameters), gradients, strict=True):
            torch.testing.assert_close(found, gradient, atol=1e-6, rtol=1e-4)
    assert step.is_compiled


def test_a_compiler_that_fails_costs_speed_alone(capsys):
    def broken(graph, inputs):
        raise RuntimeError("no C compiler here\nand a long story")

    step = Compiled(lambda x: x * x, backend=broken)
    assert [step(torch.tensor(3.0)).item(), step(torch.tensor(4.0)).item()] == [9.0, 16.0]
    assert not step.is_compiled
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "steps run uncompiled, which is slower" in said[0]
    assert "no C compiler here" in said[0]


def test_an_error_of_the_step_itself_is_raised():
    step = Compiled(lambda x: x @ torch.ones(3), backend="eager")
    with pytest.raises(RuntimeError, match=r"inconsistent tensor size|size mismatch"):
        step(torch.ones(2))


def test_only_cuda_is_compiled_and_a_variable_turns_it_off(monkeypatch):
    assert not is_wanted(torch.device("cpu"))
    assert is_wanted(torch.device("cuda:1"))
    monkeypatch.setenv(SWITCH, "off")
    assert not is_wanted(torch.device("cuda"))
