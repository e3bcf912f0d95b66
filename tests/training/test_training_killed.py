"""Runs that are killed by SIGKILL end as those that are not, to the last bit."""

import json
import os
import subprocess
import sys

import pytest
from safetensors.torch import load_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="fork and SIGKILL are POSIX")

# A process that imports everything once and lets its forks run, which is quicker than a process a run.
DRIVER = """
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import pyarrow.dataset
import importlib

import torch
import torch._dynamo

import adelic.nn.kernels.compiled
import adelic.training.runs.runner  # with all that it imports, before there is a fork

from adelic.data.sources import TaskData
from adelic.training import EmbeddingConfig, Recipe, Experiment, run
from adelic.training.network.checkpoint import read_progress

assert "tensorboard" not in sys.modules  # an extra: loaded for those who ask for it
torch.set_num_threads(1)  # there is no thread pool to lose in a fork
base, n_epochs = Path(sys.argv[1]), int(sys.argv[2])
importlib.import_module("adelic.training.network.fitting").SAVE_SECONDS = float(sys.argv[3])
recipe = Recipe(
    name="quick",
    learning_rate=5e-3,
    epochs=n_epochs,
    batch_size=8,
    n_layers=1,
    n_heads=2,
    d_model=16,
    d_feedforward=32,
)
config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("learned"), recipe=recipe)


def start(folder, *, before_fsync=lambda: None):
    pid = os.fork()
    if pid:
        return pid
    try:
        # A kill loses nothing that the system holds, so nobody need wait for the disk; a power cut would.
        os.fsync = lambda descriptor: before_fsync()
        run(config, folder, device="cpu")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def end(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# Here, not in a fork: what a first run imports and loads (the compiled kernels), the forks find loaded.
run(config, base / "whole", device="cpu")
"""

AT_RANDOM_MOMENTS = """
def n_lines(folder):
    path = folder / "metrics.jsonl"
    return path.read_bytes().count(b"\\n") if path.exists() else 0


rng, folder, kills, inside = random.Random(0), base / "killed", 0, 0
for target in [0, 0, *sorted(rng.sample(range(1, n_epochs - 5), 18))]:
    pid = start(folder)
    while n_lines(folder) < target:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.03 if target else 0.2))
    os.kill(pid, signal.SIGKILL)
    kills += end(pid) == -signal.SIGKILL
    checkpoint = folder / "checkpoint.safetensors"
    inside += checkpoint.exists() and read_progress(checkpoint).batch > 0
assert end(start(folder)) == 0
print(kills, inside)
"""

# There are two calls of fsync a file: one before the file takes its name, one after.
AT_EVERY_FSYNC = """
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
print(k - 1)
"""


def drive(folder, source, n_epochs, save_seconds):
    """Run a driver; return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER + source, str(folder), str(n_epochs), str(save_seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    return [int(number) for number in done.stdout.splitlines()[-1].split()]


def assert_same(folder, whole, n_epochs):
    metrics = (folder / "metrics.jsonl").read_bytes()
    assert metrics.count(b"\n") == n_epochs
    assert metrics == (whole / "metrics.jsonl").read_bytes()
    found, expected = (json.loads((f / "result.json").read_text()) for f in (folder, whole))
    assert found["test"] == expected["test"]
    assert {**found, "seconds": 0} == {**expected, "seconds": 0}
    tensors, expected_tensors = (load_file(f / "checkpoint.safetensors") for f in (folder, whole))
    assert tensors.keys() == expected_tensors.keys()
    assert all(tensors[key].equal(expected_tensors[key]) for key in tensors)
    assert (folder / "DONE").exists()


def test_killed_at_random_moments(tmp_path):
    """Twenty times in one run: twice while it starts, then around some epoch, at any point of it."""
    n_epochs = 40
    kills, inside = drive(tmp_path, AT_RANDOM_MOMENTS, n_epochs, save_seconds=0)
    assert kills >= 18  # all, but on a machine so busy that a run ends before its death
    assert inside >= 4  # so many resumes, and more, began in the middle of an epoch
    assert_same(tmp_path / "killed", tmp_path / "whole", n_epochs)


@pytest.mark.parametrize(
    ("n_epochs", "save_seconds", "checkpoints"),
    [
        (2, 60, 2),  # after each epoch
        (1, 0, 8),  # after each step
    ],
)
def test_killed_at_every_write(tmp_path, n_epochs, save_seconds, checkpoints):
    (deaths,) = drive(tmp_path, AT_EVERY_FSYNC, n_epochs, save_seconds)
    # The folder; config.toml, the metrics of each epoch and the checkpoints, result.json and DONE.
    assert deaths == 1 + 2 * (1 + n_epochs + checkpoints + 2)
    for k in range(1, deaths + 1):
        assert_same(tmp_path / str(k), tmp_path / "whole", n_epochs)
