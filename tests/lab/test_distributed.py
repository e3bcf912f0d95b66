"""Two processes on the CPU train as one does: the same rows, the same losses, one set of files."""

import json
import math
import multiprocessing
import os
import signal
import socket
import sys
import time
from contextlib import suppress

import psutil
import pytest
import torch
from safetensors.torch import load_file

from adelic.errors import ConfigurationError, MissingExtraError, RunFolderError
from adelic_lab import run, run_distributed
from adelic_lab.train.world import ALONE, World

# Two processes add the rows of a batch in another order, at 2^-24 = 6e-8 a rounding; and Adam, which divides by the
# root of the second moment, makes of a rounding error in a tiny gradient a step of the learning rate's size. Three
# epochs of these runs stay within 1e-6; 1e-4 is still far below what one lost row makes (a test below).
TOLERANCE = 1e-4


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def forking(forked):
    """Fork the processes that this one starts from one that has imported PyTorch; commands start theirs anew."""
    found = multiprocessing.get_context
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            multiprocessing, "get_context", lambda method=None: found("forkserver" if method == "spawn" else method)
        )
        yield


class Part(World):
    """One of several processes, for what needs no communication."""

    def __init__(self, rank, size):
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


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def figures(folder):
    """Return all losses of a run, in order."""
    return [loss for line in metrics(folder) for loss in (line["train_loss"], line["validation"]["loss"])]


def environment():
    """Return what processes find each other by."""
    names = ("LOCAL_RANK", "NODE_RANK", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    return {name: os.environ.get(name) for name in names}


@pytest.fixture(scope="module")
def pair(tiny_config, tmp_path_factory):
    """A run by one process and the same one by two, of 62 rows: batches of 61 = 30 + 31, and of 1 = 0 + 1."""
    folder = tmp_path_factory.mktemp("pair")
    config = tiny_config("adelic", dropout=0.1, batch_size=61)
    ticks = []
    one = run(config, folder / "one", device="cpu")
    before = environment()
    two = run_distributed(
        config, folder / "two", device="cpu", devices=2, progress=lambda *progress: ticks.append(progress)
    )
    assert environment() == before
    assert not torch.distributed.is_initialized()
    return config, folder, one, two, ticks


def test_two_processes_have_the_losses_of_one(pair):
    _, folder, one, two, _ = pair
    assert figures(folder / "two") == pytest.approx(figures(folder / "one"), rel=TOLERANCE)
    assert two.test["loss"] == pytest.approx(one.test["loss"], rel=TOLERANCE)
    assert sum(map(sum, two.confusion)) == two.rows["test"]
    tensors, expected = (load_file(folder / name / "checkpoint.safetensors") for name in ("two", "one"))
    assert tensors.keys() == expected.keys()
    # Not all weights: the keys' biases have no influence, so their gradients are rounding errors, which Adam amplifies.
    torch.testing.assert_close(tensors["model.head.weight"], expected["model.head.weight"], rtol=TOLERANCE, atol=1e-5)


def test_the_tolerance_tells_a_lost_row(pair, tmp_path, monkeypatch):
    config, folder, *_ = pair
    monkeypatch.setattr(World, "share", lambda self, rows: (rows[: max(1, len(rows) - 1)], 1.0))
    run(config, tmp_path, device="cpu")
    assert figures(tmp_path) != pytest.approx(figures(folder / "one"), rel=TOLERANCE)


def test_one_set_of_files(pair):
    _, folder, one, two, ticks = pair
    assert sorted(p.name for p in (folder / "two").iterdir()) == sorted(p.name for p in (folder / "one").iterdir())
    assert json.loads((folder / "two" / "result.json").read_text(encoding="utf-8")) == two.as_dict()
    assert (one.devices, one.nodes) == (1, 1)
    assert (two.devices, two.nodes) == (2, 1)
    assert [done for done, _, _ in ticks] == list(range(1, 7))


@pytest.mark.usefixtures("saved_after_each_epoch")
def test_a_run_goes_on_with_two_processes(pair, tmp_path):
    """The checkpoint reaches both: the rest of the run is that of one process."""
    config, folder, *_ = pair

    class CrashError(Exception):
        pass

    def crash(done, total, text):
        if text.startswith("epoch 3/3"):
            raise CrashError

    with pytest.raises(CrashError):
        run(config, tmp_path, device="cpu", progress=crash)
    assert len(metrics(tmp_path)) == 2
    run_distributed(config, tmp_path, device="cpu", devices=2)
    assert figures(tmp_path)[:4] == figures(folder / "one")[:4]
    assert figures(tmp_path) == pytest.approx(figures(folder / "one"), rel=TOLERANCE)


def test_an_error_is_that_of_one_process(pair, tiny_config):
    with pytest.raises(RunFolderError, match="seed is 0 there and 1 here"):
        run_distributed(tiny_config("adelic", seed=1), pair[1] / "one", device="cpu", devices=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"devices": 0}, "devices=0"),
        ({"devices": 2, "nodes": -1}, "nodes=-1"),
        ({"devices": 2, "nodes": 2, "node_rank": 2}, "node-rank=2"),
        ({"devices": 1, "nodes": 2}, "MASTER_ADDR"),
        ({"devices": 2, "device": "cpu:0"}, "'cpu:0' is one of several"),
    ],
)
def test_what_cannot_be_started(tiny_config, tmp_path, monkeypatch, options, words):
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ConfigurationError, match=words):
        run_distributed(tiny_config(), tmp_path / "run", **{"device": "cpu"} | options)
    assert not (tmp_path / "run").exists()


def test_without_fabric(tiny_config, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    with pytest.raises(MissingExtraError, match=r"pip install './lab\[fabric\]'"):
        run_distributed(tiny_config(), tmp_path, device="cpu", devices=2)


COMMAND = ["train", "schubert", "--n", "3", "--embedding", "learned", "--recipe", "quick", "--device", "cpu"]


@pytest.fixture
def start(started):
    return lambda folder, *arguments, **environment: started(
        folder, *COMMAND, "--run-dir", "mine", *arguments, **environment
    )


def wait_for(path, process, seconds=math.inf):
    end = time.monotonic() + seconds
    while process.poll() is None and not path.exists() and time.monotonic() < end:
        time.sleep(0.01)


def offspring(process):
    return psutil.Process(process.pid).children(recursive=True)


def second_process(process):
    """Return the process that a command has started, as soon as it is there."""
    while process.poll() is None:
        for other in offspring(process):
            if "spawn_main" in " ".join(other.cmdline()):
                return other
        time.sleep(0.01)
    raise AssertionError(process.communicate(60)[1])


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    "way", ["Ctrl-C", "SIGTERM to the second process", "a killed first process", "a killed second process"]
)
def test_all_processes_end_together(start, tmp_path, way):
    process = start(tmp_path, "--devices", "2", "--epochs", "5000", "--batch-size", "8")
    wait_for(tmp_path / "mine" / "checkpoint.safetensors", process)
    # Beside the second process there is Python's own, which tracks what processes share.
    others = offspring(process)
    listening = [
        place.laddr.ip
        for each in (psutil.Process(process.pid), *others)
        for place in each.net_connections()
        if place.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {"127.0.0.1"}
    if way == "Ctrl-C":
        os.killpg(process.pid, signal.SIGINT)
    elif way == "SIGTERM to the second process":
        second_process(process).terminate()
    elif way == "a killed first process":
        process.kill()
    else:
        second_process(process).kill()
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    said = [line for line in err.splitlines() if line.startswith("adelic: ")]
    if way == "Ctrl-C":
        assert process.returncode == 130
        assert "interrupted" in said[0]
    elif way == "SIGTERM to the second process":
        assert process.returncode == 143
        assert "stopped by SIGTERM after" in said[0]
    elif way == "a killed second process":
        assert process.returncode == 2
        assert "process 1 ended with -9" in said[0]
    _, alive = psutil.wait_procs(others, timeout=20)
    assert not alive
    assert 0 < len(metrics(tmp_path / "mine")) < 5000


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_is_heard_before_all_processes_have_joined(start, tmp_path, number, status):
    """One of them is held on its way."""
    process = start(tmp_path, "--devices", "2", "--epochs", "5000")
    try:
        second_process(process).suspend()
        wait_for(tmp_path / "mine", process, seconds=2)  # it waits now
        others = offspring(process)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == status
    assert [line for line in err.splitlines() if line.startswith("adelic: ")]
    assert "Traceback" not in err
    assert not psutil.wait_procs(others, timeout=20)[1]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_a_process_that_ends_before_all_have_joined_is_noticed(start, tmp_path):
    process = start(tmp_path, "--devices", "2", "--epochs", "5000")
    second_process(process).kill()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "process 1 ended with -9" in err.splitlines()[-1]


def test_more_processes_than_a_machine_takes_are_refused(tiny_config, tmp_path):
    with pytest.raises(
        ConfigurationError, match=r"^devices=4000 need about 2,000.0 GiB of .* cores: devices=\d+ at most"
    ):
        run_distributed(tiny_config(), tmp_path / "run", device="cpu", devices=4000)
    assert not (tmp_path / "run").exists()


def test_two_machines(start, tmp_path):
    """The command on two machines, which here are one, with folders of their own: the first one has the files."""
    folders = [tmp_path / "first", tmp_path / "second"]
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    processes = []
    for rank, folder in enumerate(folders):
        folder.mkdir()
        arguments = ("--epochs", "1", "--nodes", "2", "--node-rank", str(rank))
        processes.append(start(folder, *arguments, MASTER_ADDR="127.0.0.1", MASTER_PORT=port))
    outputs = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert "schubert-3 learned: test accuracy" in outputs[0][0]
    assert outputs[1][0] == ""
    result = json.loads((folders[0] / "mine" / "result.json").read_text(encoding="utf-8"))
    assert (result["devices"], result["nodes"]) == (1, 2)
    assert list(folders[1].iterdir()) == []
