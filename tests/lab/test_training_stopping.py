"""Signals, full disks and divergence: what was written stays, and the same command goes on bit by bit."""

import errno
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
import torch
from safetensors.torch import load_file

from adelic.errors import DivergenceError, Interrupted, StorageError
from adelic_lab import run
from adelic_lab.train import loop as network
from adelic_lab.train import signals
from adelic_lab.train.checkpoint import save_checkpoint
from adelic_lab.train.counters import read_progress
from adelic_lab.train.signals import deferred_signals

posix = pytest.mark.skipif(os.name == "nt", reason="limits and signals are POSIX")


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def config(tiny_config):
    """Two epochs of eight steps, with dropout, so that what each step draws matters."""
    return tiny_config(epochs=2, batch_size=8, dropout=0.3)


@pytest.fixture
def same(config, tmp_path, read_folder):
    """Assert that a folder's run ended as one that nothing disturbed."""

    def check(folder):
        whole = tmp_path / "whole"
        run(config, whole, device="cpu")
        assert read_folder(folder) == read_folder(whole)
        tensors, expected = (load_file(f / "checkpoint.safetensors") for f in (folder, whole))
        assert tensors.keys() == expected.keys()
        assert all(torch.equal(tensors[key], expected[key]) for key in tensors)
        assert names(folder) == names(whole)

    return check


@pytest.mark.parametrize(
    ("signum", "step", "words"),
    [
        (signal.SIGINT, 3, "interrupted after step 3 of 8 in epoch 1 of 2"),
        (signal.SIGTERM, 1, "stopped by SIGTERM after step 1 of 8 in epoch 1 of 2"),
        (signal.SIGTERM, 8, "stopped by SIGTERM after epoch 1 of 2"),
        (signal.SIGINT, 13, "interrupted after step 5 of 8 in epoch 2 of 2"),
        (signal.SIGTERM, 16, "stopped by SIGTERM after epoch 2 of 2"),
    ],
)
def test_a_signal_saves_after_the_step(raising, config, tmp_path, same, signum, step, words):
    folder = tmp_path / "stopped"
    before = [signal.getsignal(s) for s in signals.STOP_SIGNALS]
    with pytest.raises(Interrupted) as caught:
        run(config, folder, device="cpu", progress=raising(step, signum))
    assert [signal.getsignal(s) for s in signals.STOP_SIGNALS] == before
    message = str(caught.value)
    assert message.startswith(words)
    assert str(folder) in message
    assert "the same command goes on" in message
    assert caught.value.exit_code == {signal.SIGINT: 130, signal.SIGTERM: 143}[signum]
    assert read_progress(folder / "checkpoint.safetensors").step == step
    steps = []
    torch.manual_seed(99)  # another process has other generators
    run(config, folder, device="cpu", progress=lambda done, total, text: steps.append(done))
    assert steps == list(range(step + 1, 17))
    same(folder)


def test_stopped_after_every_step(raising, config, tmp_path, same):
    folder = tmp_path / "stopped"
    for step in range(1, 17):
        with pytest.raises(Interrupted):
            run(config, folder, device="cpu", progress=raising(step))
    run(config, folder, device="cpu")
    same(folder)


def test_periodic_checkpoints_change_nothing(config, tmp_path, same, monkeypatch):
    saved = []

    def counting(*args):
        saved.append(args[-1].step)
        save_checkpoint(*args)

    monkeypatch.setattr(network, "save_checkpoint", counting)
    monkeypatch.setattr(network, "EPOCH_SECONDS", 10**6)
    run(config, tmp_path / "once", device="cpu")
    assert saved == [16]
    saved.clear()
    monkeypatch.setattr(network, "EPOCH_SECONDS", 0)
    run(config, tmp_path / "epochs", device="cpu")
    assert saved == [8, 16]
    saved.clear()
    monkeypatch.setattr(network, "SAVE_SECONDS", 0)
    run(config, tmp_path / "often", device="cpu")
    assert saved == list(range(1, 17))
    monkeypatch.undo()
    for name in ("once", "epochs", "often"):
        same(tmp_path / name)


def test_training_time_counts_all_parts(raising, config, tmp_path):
    folder = tmp_path / "stopped"
    seconds = []
    for step in (3, 6, 12):
        with pytest.raises(Interrupted):
            run(config, folder, device="cpu", progress=raising(step))
        seconds.append(read_progress(folder / "checkpoint.safetensors").seconds)
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert run(config, folder, device="cpu").seconds >= round(seconds[2], 3)


SECOND = """
import runpy, signal, sys
deferred_signals = runpy.run_path(sys.argv[1])["deferred_signals"]
with deferred_signals() as request:
    signal.raise_signal(int(sys.argv[2]))
    print("noted", int(request.signum), flush=True)
    signal.raise_signal(int(sys.argv[2]))
    print("still alive", flush=True)
"""


@posix
@pytest.mark.parametrize("signum", signals.STOP_SIGNALS)
def test_a_second_signal_kills_at_once(signum):
    command = [sys.executable, "-c", SECOND, signals.__file__, str(int(signum))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["noted", str(int(signum))]
    assert done.returncode == -signum


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_signals() as request:
            signal.raise_signal(signal.SIGINT)
        assert request.signum is None
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_in_another_thread(config, tmp_path, same):
    thread = threading.Thread(target=lambda: run(config, tmp_path / "run", device="cpu"))
    thread.start()
    thread.join()
    same(tmp_path / "run")


@contextmanager
def full_disk(n_bytes):
    """No file of this process can grow beyond a size; writing more fails as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def refused_by_a_full_disk(n_bytes, call, file):
    with pytest.raises(StorageError) as caught, full_disk(n_bytes):
        call()
    message = str(caught.value)
    assert message.startswith(f"cannot write {file}: {os.strerror(errno.EFBIG)}; choose a folder")


@posix
@pytest.mark.parametrize(
    ("prepare", "n_bytes", "file"),
    [
        (None, 100, "config.toml"),
        pytest.param(3, 100, "checkpoint.safetensors", marks=pytest.mark.long),  # in the middle of an epoch
        pytest.param(8, 1000, "checkpoint.safetensors", marks=pytest.mark.long),
        (7, 100, "metrics.jsonl"),
        (16, 1000, "result.json"),
    ],
)
def test_a_full_disk(raising, config, tmp_path, same, monkeypatch, prepare, n_bytes, file):
    """Stop after so many steps, go on with a full disk, make room, go on."""
    folder = tmp_path / "run"
    if prepare is not None:
        with pytest.raises(Interrupted):
            run(config, folder, device="cpu", progress=raising(prepare))
    before = contents(folder)
    if prepare == 3:
        monkeypatch.setattr(network, "SAVE_SECONDS", 0)
    refused_by_a_full_disk(n_bytes, lambda: run(config, folder, device="cpu"), folder / file)
    after = contents(folder)
    if prepare == 8:  # the second epoch's metrics went through; resuming cuts them off
        assert after.pop("metrics.jsonl").startswith(before.pop("metrics.jsonl"))
    assert after == before
    run(config, folder, device="cpu")
    same(folder)


def test_divergence_says_where_and_why(tiny_config, tmp_path, monkeypatch):
    """A learning rate of 10^30 breaks the weights in the first step, and the second step's loss shows it."""
    config = tiny_config(learning_rate=1e30, batch_size=8)
    folder = tmp_path / "run"
    with pytest.raises(DivergenceError) as caught:
        run(config, folder, device="cpu")
    message = str(caught.value)
    assert (
        "training loss left the finite numbers in epoch 1 of 3, between steps 1 and 8 (learning rate 1e+30" in message
    )
    assert "gradient norm nan" in message
    assert "weight tensors not finite" in message
    assert "try --learning-rate 1e+29" in message
    assert "the same command would end here again" in message
    assert not (folder / "checkpoint.safetensors").exists()
    monkeypatch.setattr(network, "SAVE_SECONDS", 0)
    for _ in range(2):  # the same command ends there again, and the last good checkpoint stands
        with pytest.raises(DivergenceError, match=r"between steps 2 and 2 .* a checkpoint from before is kept, if"):
            run(config, folder, device="cpu")
        assert read_progress(folder / "checkpoint.safetensors").step == 1


def test_a_signal_to_a_run_that_diverges_keeps_the_checkpoint(raising, tiny_config, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(DivergenceError, match="between steps 1 and 4"):
        run(tiny_config(learning_rate=1e30, batch_size=8), folder, device="cpu", progress=raising(4))
    assert names(folder) == {"config.toml"}
