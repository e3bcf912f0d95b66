"""Runs that are killed by SIGKILL end as those that are not, to the last bit."""

import json
import os

import pytest
from safetensors.torch import load_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="fork and SIGKILL are POSIX")

# A process that has imported everything and lets its forks run, which is quicker than a process a run.
DRIVER = """
import importlib
import os
import random
import signal
import sys
import traceback

import torch

from adelic.data.sources import TaskData
from adelic_lab import EmbeddingConfig, TrainConfig, Experiment, run
from adelic_lab.train.counters import read_progress

assert "tensorboard" not in sys.modules  # an extra: loaded for those who ask for it
torch.set_num_threads(1)  # there is no thread pool to lose in a fork


def prepare(n_epochs, save_seconds):
    global config
    network = importlib.import_module("adelic_lab.train.loop")
    network.SAVE_SECONDS, network.EPOCH_SECONDS = save_seconds, 0
    small = {"batch_size": 8, "n_layers": 1, "n_heads": 2, "d_model": 16, "d_feedforward": 32}
    recipe = TrainConfig(name="quick", learning_rate=5e-3, epochs=n_epochs, **small)
    config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("learned"), recipe=recipe)
    # Here, not in a fork: what a first run loads (the compiled kernels), and what a second one does, which reads the
    # data that the first has stored, the forks find loaded.
    for folder in ("whole", "again"):
        run(config, base / folder, device="cpu")


def start(folder, *, before_fsync=lambda: None, progress=None):
    pid = os.fork()
    if pid:
        return pid
    try:
        # A kill loses nothing that the system holds, so nobody need wait for the disk; a power cut would.
        os.fsync = lambda descriptor: before_fsync()
        if progress:
            progress()
        run(config, folder, device="cpu", progress=progress)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def end(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# The system ends the process as by SIGKILL, wherever it is, after some time of its own processor: none that it waits.
def at_random_moments(n_epochs):
    rng, folder, kills, inside = random.Random(0), base / "killed", 0, 0
    for target in [0, 0, *sorted(rng.sample(range(1, n_epochs - 5), 18))]:

        def arm(done=0, total=0, text="", step=8 * target, seconds=rng.uniform(0.001, 0.03 if target else 0.2)):
            if done >= step and signal.getitimer(signal.ITIMER_PROF) == (0, 0):
                signal.setitimer(signal.ITIMER_PROF, seconds)

        kills += end(start(folder, progress=arm)) == -signal.SIGPROF
        checkpoint = folder / "checkpoint.safetensors"
        inside += checkpoint.exists() and read_progress(checkpoint).batch > 0
    assert end(start(folder)) == 0
    return kills, inside


# There are two calls of fsync a file: one before the file takes its name, one after.
def at_every_fsync():
    def fatal(k):
        calls = 0

        def before_fsync():
            nonlocal calls
            calls += 1
            if calls == k:
                os.kill(os.getpid(), signal.SIGKILL)

        return before_fsync

    k = 1
    while end(start(base / str(k), before_fsync=fatal(k))) == -signal.SIGKILL:
        assert end(start(base / str(k))) == 0
        k += 1
    return (k - 1,)


prepare(n_epochs, save_seconds)
print(*(at_random_moments(n_epochs) if name == "random" else at_every_fsync()))
"""
WHAT = {"random": (40, 0), "epochs": (2, 10**6), "steps": (1, 0)}
"""What is run: a folder, a number of epochs, after how many seconds a checkpoint is written within an epoch."""


@pytest.fixture
def driven(forked, tmp_path):
    """Run the driver; return its folder, and the numbers that it prints."""

    def drive(name):
        n_epochs, save_seconds = WHAT[name]
        names = {"name": name, "base": tmp_path / name, "n_epochs": n_epochs, "save_seconds": save_seconds}
        process = forked(DRIVER, tmp_path, **names)
        out, err = process.communicate()
        assert process.returncode == 0, out + err
        return tmp_path / name, [int(number) for number in out.splitlines()[-1].split()]

    return drive


TIMES = {"seconds": 0, "processor_seconds": 0}


def assert_same(folder, whole, n_epochs):
    metrics = (folder / "metrics.jsonl").read_bytes()
    assert metrics.count(b"\n") == n_epochs
    assert metrics == (whole / "metrics.jsonl").read_bytes()
    found, expected = (json.loads((f / "result.json").read_text()) for f in (folder, whole))
    assert found["test"] == expected["test"]
    assert {**found, **TIMES} == {**expected, **TIMES}
    tensors, expected_tensors = (load_file(f / "checkpoint.safetensors") for f in (folder, whole))
    assert tensors.keys() == expected_tensors.keys()
    assert all(tensors[key].equal(expected_tensors[key]) for key in tensors)
    assert (folder / "DONE").exists()


@pytest.mark.slow  # test_killed_at_every_write has every moment that matters
def test_killed_at_random_moments(driven):
    """Twenty times in one run: twice while it starts, then around some epoch, at any point of it."""
    folder, (kills, inside) = driven("random")
    assert kills == 20
    assert inside >= 4  # so many resumes, and more, began in the middle of an epoch
    assert_same(folder / "killed", folder / "whole", 40)


@pytest.mark.parametrize(
    ("name", "n_epochs", "checkpoints"),
    [
        ("epochs", 2, 2),  # after each epoch
        pytest.param("steps", 1, 8, marks=pytest.mark.long),  # after each step
    ],
)
def test_killed_at_every_write(driven, name, n_epochs, checkpoints):
    folder, (deaths,) = driven(name)
    # The folder; config.toml, the metrics of each epoch and the checkpoints, result.json and DONE.
    assert deaths == 1 + 2 * (1 + n_epochs + checkpoints + 2)
    for k in range(1, deaths + 1):
        assert_same(folder / str(k), folder / "whole", n_epochs)
