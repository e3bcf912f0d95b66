"""Two processes of torchrun on the CPU train as one does: the same rows, the same losses, one set of files."""

import json
import logging
import os
import signal
import subprocess
import sys

import psutil
import pytest
import torch
from torch.distributed import run as torchrun

from adelic.errors import ConfigurationError, MissingExtraError
from adelic_lab import run_distributed
from adelic_lab.runs.devices import become_torchrun
from adelic_lab.train.world import ALONE, World

# Two processes add the rows of a batch in another order, at 2^-24 = 6e-8 a rounding; and Adam, which divides by the
# root of the second moment, makes of a rounding error in a tiny gradient a step of the learning rate's size. Three
# epochs of these runs stay within 1e-6; 1e-4 is still far below what one lost row makes.
TOLERANCE = 1e-4
# Of 62 rows: batches of 61 = 30 + 31, and of 1 = 0 + 1.
COMMAND = ["train", "schubert", "--n", "3", "--recipe", "quick", "--device", "cpu", "--dropout", "0.1"]
SMALL = ["--batch-size", "61", "--epochs", "3"]
TINY = ["--batch-size", "8", "--n-layers", "1", "--d-feedforward", "32"]
CONSTANT = [*TINY, "--schedule", "constant"]


class Part(World):
    """One of several processes, for what needs no communication."""

    def __init__(self, rank, size):
        super().__init__()
        self.rank, self.size = rank, size


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_shares_are_the_batch_and_weigh_every_row_alike(n, size):
    rows, losses = torch.arange(100, 100 + n), torch.arange(n, dtype=torch.float64) ** 2
    shares = [Part(rank, size).share(rows) for rank in range(size)]
    assert torch.cat([own for own, weight in shares if weight]).equal(rows)
    average = sum(weight * losses[own - 100].mean() for own, weight in shares) / size
    assert average == pytest.approx(losses.mean())


def test_the_first_process_has_the_plain_stream():
    assert ALONE.stream("dropout") == Part(0, 2).stream("dropout") == "dropout"
    assert len({Part(rank, 3).stream("dropout") for rank in range(3)}) == 3


def start(folder, *arguments):
    command = [sys.executable, "-m", "adelic", *COMMAND, "--run-dir", str(folder), *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finished(folder, *arguments):
    """Return what a command printed, which ends well."""
    out, err = (process := start(folder, *arguments)).communicate(timeout=600)
    assert process.returncode == 0, err
    return out


def figures(folder):
    """Return all losses of a run, in order."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [loss for line in lines for loss in (line["train_loss"], line["validation"]["loss"])]


@pytest.mark.long
def test_two_processes_have_the_losses_of_one(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    finished(one, *SMALL)
    said = finished(two, *SMALL, "--devices", "2")
    assert figures(two) == pytest.approx(figures(one), rel=TOLERANCE)
    assert sorted(path.name for path in two.iterdir()) == sorted(path.name for path in one.iterdir())
    result = json.loads((two / "result.json").read_text(encoding="utf-8"))
    assert (result["devices"], result["nodes"]) == (2, 1)
    assert result["command"].endswith("--devices 2")
    assert said.count("test accuracy") == 1  # the first process alone speaks
    refused = start(one, *SMALL, "--seed", "1", "--devices", "2")
    _, err = refused.communicate(timeout=600)
    assert refused.returncode == 2
    assert all("seed is 0 there and 1 here" in line for line in err.splitlines())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the folder of a run of three epochs that nothing ended."""
    finished(folder := tmp_path_factory.mktemp("distributed") / "whole", *CONSTANT, "--epochs", "3")
    return folder


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (signal.SIGTERM, 143, "adelic: stopped by SIGTERM after"),
        (signal.SIGINT, 130, "adelic: interrupted after"),
        (signal.SIGKILL, 2, "adelic: process 1 ended with -9; the same command goes on"),
    ],
)
def test_a_signal_ends_all_processes_and_the_run_goes_on_elsewhere(tmp_path, whole, wait_until, number, status, words):
    """What two processes have saved, one goes on with."""
    folder = tmp_path / "run"
    process = start(folder, *CONSTANT, "--epochs", "100", "--devices", "2")
    wait_until((folder / "metrics.jsonl").exists, process)
    workers = [each for each in psutil.Process(process.pid).children(recursive=True) if "train" in each.cmdline()]
    (workers[-1] if number == signal.SIGKILL else process).send_signal(number)
    _, err = process.communicate(timeout=600)
    assert process.returncode == status
    assert words in err
    assert not psutil.wait_procs(workers, timeout=600)[1]
    assert number == signal.SIGKILL or (folder / "checkpoint.safetensors").exists()
    assert not (folder / "DONE").exists()
    finished(folder, *CONSTANT, "--epochs", "100")
    assert figures(folder)[:6] == pytest.approx(figures(whole), rel=TOLERANCE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"devices": 0}, "devices=0"),
        ({"nodes": -1}, "nodes=-1"),
        ({"device": "cpu:0"}, "'cpu:0' is one of several"),
        ({"nodes": 2, "node_rank": 2}, "node-rank=2"),
        ({"nodes": 2}, "MASTER_ADDR"),
        ({"devices": 4000}, r"devices=4000 need about 2,000.0 GiB of .* cores: devices=\d+ at most"),
    ],
)
def test_what_cannot_be_started(tiny_config, monkeypatch, options, words):
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    monkeypatch.setattr(torchrun, "run", lambda _: pytest.fail("torchrun was started"))
    with pytest.raises(ConfigurationError, match=words):
        become_torchrun(tiny_config(), **{"device": "cpu", "devices": 2, "nodes": 1, "node_rank": 0} | options)


def test_torchrun_gets_the_same_command(tiny_config, monkeypatch):
    found = []
    monkeypatch.setattr(torchrun, "run", lambda words: found.append(torchrun.config_from_args(words)))
    monkeypatch.setattr(logging, "disable", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["adelic", *COMMAND])
    monkeypatch.setenv("MASTER_ADDR", "10.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "29500")
    with pytest.raises(SystemExit):
        become_torchrun(tiny_config(), "cpu", 1, 2, 1)
    ((config, program, words),) = found
    assert (program, words[-len(COMMAND) - 2 :]) == (sys.executable, ["-m", "adelic", *COMMAND])
    assert (config.min_nodes, config.max_nodes, config.nproc_per_node) == (2, 2, 1)
    assert (config.rdzv_endpoint, config.rdzv_configs["rank"]) == ("10.0.0.1:29500", 1)


def test_outside_torchrun(tiny_config, tmp_path, monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pytest.raises(ConfigurationError, match=r"torchrun --nproc-per-node 2 your_script\.py"):
        run_distributed(tiny_config(), tmp_path, device="cpu", devices=2)
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    with pytest.raises(MissingExtraError, match=r"pip install './lab\[fabric\]'"):
        run_distributed(tiny_config(), tmp_path, device="cpu", devices=2)
