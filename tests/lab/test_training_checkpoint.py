import io
import json
import pickle
import signal
import struct
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from adelic import nn
from adelic.errors import RunFolderError
from adelic_lab.train.checkpoint import load_checkpoint, save_checkpoint, write_tensors
from adelic_lab.train.counters import Counters, read_progress


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


PROGRESS = Counters(epoch=2, step=17, seconds=0.1 + 0.2, best_epoch=1, best_score=(1 / 3, -0.3), batch=3, loss=0.8)


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


def test_before_the_first_step(tmp_path):
    model, optimizer = network()
    save_checkpoint(tmp_path / "c", model, optimizer, {}, Counters())
    best, progress = load_checkpoint(tmp_path / "c", *network(seed=1))
    assert best == {}
    assert progress == Counters()


def refused(path, model=None, optimizer=None):
    if model is None:
        model, optimizer = network()
    with pytest.raises(RunFolderError) as caught:
        load_checkpoint(path, model, optimizer)
    message = str(caught.value)
    assert str(path) in message
    assert "--restart" in message


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.99])
def test_truncated(saved, share):
    path = saved[0]
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path)


def test_a_signal_is_no_damage(saved, monkeypatch):
    """torch's C takes what the handler of a signal raises for an error of the storage that it reads."""

    def interrupted(*arguments, **more):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise TypeError("could not determine the shape of object type 'torch.storage.UntypedStorage'") from None
        return safe_open(*arguments, **more)

    path, model, optimizer, _ = saved
    monkeypatch.setattr("adelic_lab.train.checkpoint.safe_open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_checkpoint(path, model, optimizer)


def test_of_a_wider_or_a_deeper_model(saved):
    refused(saved[0], *network(width=5))
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


class Evil:
    """What creates a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (Path.touch, (self.marker,))


@pytest.mark.parametrize("form", ["pickle", "torch.save", "legacy torch.save"])
def test_nothing_of_a_pickle_is_executed(tmp_path, form):
    path, marker = tmp_path / "checkpoint.safetensors", tmp_path / "executed"
    content = {"model.weight": torch.zeros(3), "evil": Evil(marker)}
    if form == "pickle":
        path.write_bytes(pickle.dumps(content))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=form == "torch.save")
    refused(path)
    with pytest.raises(RunFolderError):
        read_progress(path)
    assert not marker.exists()
    if form == "pickle":
        pickle.loads(path.read_bytes())
    else:
        torch.load(io.BytesIO(path.read_bytes()), weights_only=False)
    assert marker.exists()  # by who unpickles it


def safetensors(header, data=b""):
    """Return a file by the format's definition: the header's length, the header, the data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(**changes):
    return {"model.0.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes}


@pytest.mark.parametrize(
    "content",
    [
        *(b"garbage", b"\x00" * 4096, b"\xff" * 4096, b"PK\x03\x04 a pickle in a zip"),
        safetensors(tensor(shape=[-1]), bytes(8)),
        safetensors(tensor(shape=[float("nan")]), bytes(8)),
        safetensors(tensor(shape=[2**62, 2**62]), bytes(8)),
        safetensors(tensor(shape=[1e30]), bytes(8)),
        safetensors(tensor(dtype="pickle"), bytes(8)),
        safetensors(tensor(data_offsets=[0, 2**60]), bytes(8)),
        safetensors(tensor(data_offsets=[8, 0]), bytes(8)),
        safetensors(b"[" * 100_000),
        struct.pack("<Q", 2**63) + b"{}",
        safetensors({"__metadata__": {"progress": "[" * 100_000}}),
        safetensors({"__metadata__": {"progress": '{"epoch": NaN}'}}),
        safetensors({"__metadata__": {"progress": '{"epoch": -1}'}}),
        safetensors({"__metadata__": {"progress": '{"step": "3"}'}}),
        safetensors({"__metadata__": {"progress": '{"best_score": [1]}'}}),
    ],
    ids=lambda content: repr(content[8:60]),
)
def test_garbage_and_headers_that_lie(tmp_path, content):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(content)
    refused(path)


def changed(path, change):
    """Write a checkpoint again after a change of its tensors."""
    tensors = load_file(path)
    change(tensors)
    write_tensors(path, tensors, PROGRESS)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.update({"optimizer.0.exp_avg": torch.zeros(7)}),
        lambda tensors: tensors.update({"optimizer.99.exp_avg": torch.zeros(4, 3)}),
        lambda tensors: tensors.update({"optimizer.x.exp_avg": torch.zeros(4, 3)}),
        lambda tensors: tensors.update({"best.0.weight": torch.zeros(2, 3)}),
        lambda tensors: tensors.update({"model.0.weight": torch.zeros(2, 3)}),
        lambda tensors: tensors.pop("best.0.weight"),
        lambda tensors: tensors.pop("model.0.weight"),
        lambda tensors: [tensors.pop(key) for key in list(tensors) if key.startswith("best.")],
    ],
)
def test_tensors_that_do_not_fit(saved, change):
    path = saved[0]
    changed(path, lambda tensors: None)
    load_checkpoint(path, *network())
    changed(path, change)
    refused(path)


def test_progress_is_read_without_the_tensors(saved, tmp_path):
    assert read_progress(saved[0]) == PROGRESS
    with pytest.raises(RunFolderError, match="nothing"):
        read_progress(tmp_path / "nothing")


def test_one_flipped_bit_is_found(saved):
    """One in each seventh byte of the file, and in each of the last."""
    path, model, optimizer, _ = saved
    whole = path.read_bytes()
    for place in [*range(0, len(whole), 7), *range(len(whole) - 4, len(whole))]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(RunFolderError, match=r"checkpoint\.safetensors is truncated or damaged"):
            load_checkpoint(path, model, optimizer)


def test_another_number_format_is_damage(saved):
    path, *_ = saved
    save_checkpoint(path, *network(), {}, Counters(compute="float16"))
    with pytest.raises(RunFolderError, match="compute='float16'"):
        read_progress(path)


def test_flipped_counters_are_found_without_the_tensors(saved):
    path = saved[0]
    path.write_bytes(path.read_bytes().replace(b'\\"step\\": 17', b'\\"step\\": 16'))
    with pytest.raises(RunFolderError, match="SHA-256"):
        read_progress(path)


def test_fingerprints_are_saved(tmp_path):
    def made(order):
        embedding = nn.AdelicEmbedding(nn.Vocabulary(order), d_model=16)
        model = nn.SequenceClassifier(embedding, n_classes=2, max_length=3, n_layers=1, n_heads=2)
        return model, torch.optim.Adam(model.parameters())

    model, optimizer = made(range(4))
    path = tmp_path / "checkpoint.safetensors"
    best = {key: value.clone() for key, value in model.state_dict().items()}
    save_checkpoint(path, model, optimizer, best, PROGRESS)
    found, _ = load_checkpoint(path, *made(range(4)))
    model.load_state_dict(found)
    refused(path, *made(range(3, -1, -1)))
