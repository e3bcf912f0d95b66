import pytest
import torch
from safetensors.torch import save_file

from adelic.errors import RunFolderError
from adelic.training.checkpoint import Progress, load_checkpoint, save_checkpoint


def network(width=4, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.ReLU(), torch.nn.Linear(width, 2))
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def train(model, optimizer, steps=3):
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.linspace(-1, 1 + step, 15).reshape(5, 3)).square().sum().backward()
        optimizer.step()


def state_of(optimizer):
    return {(i, name): value for i, state in optimizer.state_dict()["state"].items() for name, value in state.items()}


PROGRESS = Progress(epoch=2, step=17, seconds=0.1 + 0.2, best_epoch=1, best_score=(1 / 3, -0.1 - 0.2))


@pytest.fixture
def saved(tmp_path):
    """A checkpoint after three steps, and what was saved."""
    model, optimizer = network()
    best = {key: value + 1 for key, value in model.state_dict().items()}
    train(model, optimizer)
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, model, optimizer, best, PROGRESS)
    return path, model, optimizer, best


def test_round_trip_to_the_last_bit(saved):
    path, model, optimizer, best = saved
    twin, twin_optimizer = network(seed=1)
    found, progress = load_checkpoint(path, twin, twin_optimizer)
    assert progress == PROGRESS
    assert isinstance(progress.best_score, tuple)
    assert found.keys() == best.keys()
    assert all(torch.equal(found[key], best[key]) for key in best)
    for key, value in model.state_dict().items():
        assert torch.equal(value, twin.state_dict()[key])
    ours, theirs = state_of(optimizer), state_of(twin_optimizer)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 4 * 3  # step, exp_avg and exp_avg_sq of four parameters
    assert all(torch.equal(ours[key], theirs[key]) and ours[key].dtype == theirs[key].dtype for key in ours)


def test_training_goes_on_as_if_it_had_not_stopped(saved):
    path, model, optimizer, _ = saved
    twin, twin_optimizer = network(seed=1)
    load_checkpoint(path, twin, twin_optimizer)
    train(model, optimizer)
    train(twin, twin_optimizer)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_before_the_first_step(tmp_path):
    model, optimizer = network()
    save_checkpoint(tmp_path / "c", model, optimizer, {}, Progress())
    best, progress = load_checkpoint(tmp_path / "c", *network(seed=1))
    assert best == {}
    assert progress == Progress()


def refused(path, model=None, optimizer=None):
    if model is None:
        model, optimizer = network()
    with pytest.raises(RunFolderError) as caught:
        load_checkpoint(path, model, optimizer)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert "--restart" in message


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.99])
def test_truncated(saved, share):
    path = saved[0]
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path)


@pytest.mark.parametrize("content", [b"garbage", b"\x00" * 4096, b"\xff" * 4096, b"PK\x03\x04 a pickle in a zip"])
def test_garbage(tmp_path, content):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(content)
    refused(path)


def test_of_a_wider_model(saved):
    refused(saved[0], *network(width=5))


def test_of_a_deeper_model(saved):
    model = torch.nn.Sequential(*network()[0], torch.nn.Linear(2, 2))
    refused(saved[0], model, torch.optim.Adam(model.parameters()))


@pytest.mark.parametrize(
    "metadata", [None, {}, {"progress": "no JSON"}, {"progress": "[1]"}, {"progress": '{"epochs": 3}'}]
)
def test_without_counters(tmp_path, metadata):
    model, optimizer = network()
    path = tmp_path / "checkpoint.safetensors"
    save_file({f"model.{k}": v for k, v in model.state_dict().items()}, path, metadata)
    refused(path, model, optimizer)


def test_with_foreign_tensors(saved):
    path = saved[0]
    save_file({"weights": torch.zeros(3)}, path, {"progress": "{}"})
    refused(path)


def test_a_folder_in_its_place(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    path.mkdir()
    refused(path)


def test_nothing_of_a_pickle_is_executed(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    torch.save({"weight": torch.zeros(3)}, path)
    refused(path)
