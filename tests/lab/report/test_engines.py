"""The same runs on the embedded engine and on Ray, with a worker that is killed, and with a budget."""

import os
import signal
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import psutil
import pytest
import torch

from adelic.errors import ConfigurationError, MissingExtraError, RunFolderError, WorkerError
from adelic.storage.files import sole_user
from adelic_lab import Budget, RayEngine, run
from adelic_lab.runs import engines
from adelic_lab.train.signals import Stopped

EPOCHS = 60


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As many as a task with one CPU has."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def without_seconds(result):
    return replace(result, seconds=0, processor_seconds=0)


def test_the_least_work_left_comes_first(run_in, stop_at, tiny_config, tmp_path):
    long, short, begun = configs = [tiny_config(seed=seed, epochs=epochs) for seed, epochs in enumerate((8, 3, 9))]
    with pytest.raises(Stopped):  # four steps an epoch
        run(begun, tmp_path / "runs" / begun.label, device="cpu", stop=stop_at(32))
    assert [config.parts_done(tmp_path / "runs")[0] for config in configs] == [0, 0, 8]
    shown = []

    @contextmanager
    def show(index, count, config):
        shown.append(config)
        yield None

    found = run_in(tmp_path, configs, on_run=show, budget=Budget(600))
    assert shown == [begun, short, long]
    assert [result.seed for result in found] == [0, 1, 2]
    assert {config.parts_done(tmp_path / "runs")[0] for config in configs} == {8, 3, 9}


def test_a_budget_stops_within_a_run_which_goes_on(run_in, tiny_config, steps, tmp_path):
    """Again and again, as long as it takes, and the result is that of a run that was never stopped."""
    configs = [tiny_config("adelic", seed=seed, epochs=4) for seed in (0, 1)]
    whole = run_in(tmp_path / "whole", configs)

    lengths = []
    while len(lengths) < 20 and (not lengths or lengths[-1] < 2):
        lengths.append(len(run_in(tmp_path / "parts", configs, budget=steps(7))))
    assert lengths[0] == 0
    assert lengths == sorted(lengths)
    assert 1 in lengths
    found = run_in(tmp_path / "parts", configs)
    assert list(map(without_seconds, found)) == list(map(without_seconds, whole))


def test_a_run_at_its_last_step_is_finished(stop_at, tiny_config, tmp_path):
    """Though it is told to stop there: it has 2 epochs of 4 steps."""
    with pytest.raises(Stopped):
        run(tiny_config(epochs=2), tmp_path / "before", device="cpu", stop=stop_at(7))
    assert run(tiny_config(epochs=2), tmp_path / "last", device="cpu", stop=stop_at(8)).seed == 0


def test_runs_of_another_process_come_last(run_in, tiny_config, tmp_path, monkeypatch):
    """The same command, given twice, shares the work."""
    theirs, mine = (tiny_config(seed=seed) for seed in (0, 1))
    monkeypatch.setattr(engines, "_POLL", 0.01)
    shown = []

    with ExitStack() as other:
        other.enter_context(sole_user(tmp_path / "runs" / theirs.label))

        @contextmanager
        def show(index, count, config):
            def progress(done, total, text):
                if text == "another process has this run; waiting":
                    assert shown == [theirs, mine, theirs]
                    other.close()

            shown.append(config)
            yield progress

        found = run_in(tmp_path, [theirs, mine], on_run=show)
    assert [result.seed for result in found] == [0, 1]
    assert shown == [theirs, mine, theirs]


def test_a_budget_ends_waiting(run_in, tiny_config, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_POLL", 0.01)
    config = tiny_config()
    with sole_user(tmp_path / "runs" / config.label):
        assert run_in(tmp_path, [config], budget=Budget(0.3)) == []


def test_without_ray(run_in, tiny_config, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install './lab\[ray\]'"):
        run_in(tmp_path, [tiny_config()], engine=RayEngine())


@pytest.fixture(scope="module")
def cluster(session_cache):
    """A cluster of two workers on this machine, for all tests of this module."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")  # as the engine does
    import ray

    before = signal.getsignal(signal.SIGTERM)
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="warning")
    yield ray
    ray.shutdown()
    signal.signal(signal.SIGTERM, before)  # Ray leaves its own, and other tests of this process would meet it


def processes_of(task):
    """Return the worker processes that execute a task now; Ray puts its name into their titles."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it may end meanwhile
            if f"ray::{task}" in " ".join(process.cmdline()):
                found.append(process)
    return found


@pytest.mark.slow  # by day, the other engine's processes are killed: test_arithmetic.py has that
def test_a_killed_worker_is_replaced_and_its_run_goes_on(run_in, cluster, tiny_config, tmp_path):
    """Two runs at a time; the process of one is killed when both have a checkpoint."""
    configs = [tiny_config("adelic", seed=seed, epochs=EPOCHS) for seed in (0, 1)]
    whole = run_in(tmp_path / "embedded", configs)
    runs = tmp_path / "ray" / "runs"
    killed, seen, over = [], [], threading.Event()

    def watch():
        while not over.wait(0.01):
            seen.append([config.parts_done(runs)[0] for config in configs])
            if not killed and min(seen[-1]) >= 2:
                for process in processes_of("_run_in_task")[:1]:
                    process.send_signal(signal.SIGKILL)
                    killed.append(process)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found = run_in(tmp_path / "ray", configs, engine=RayEngine(max_retries=2))
    finally:
        over.set()
        watcher.join()
    assert killed
    # Nobody began anew: the epochs that were done stayed done.
    for counts in zip(*seen, strict=True):
        assert list(counts) == sorted(counts)
    assert list(map(without_seconds, found)) == list(map(without_seconds, whole))
    for config in configs:
        metrics = [tmp_path / name / "runs" / config.label / "metrics.jsonl" for name in ("embedded", "ray")]
        assert metrics[0].read_bytes() == metrics[1].read_bytes()
    gathered = (tmp_path / "ray" / "results" / "schubert-3.jsonl").read_bytes()
    assert gathered.splitlines() == [result.sealed() for result in found]
    assert cluster.is_initialized()  # it was here before


@pytest.mark.long
def test_a_run_that_is_always_lost(run_in, cluster, tiny_config, tmp_path):
    config = tiny_config(epochs=100_000)
    stop = threading.Event()

    def kill():
        while not stop.wait(0.05):
            for process in processes_of("_run_in_task"):
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        with pytest.raises(WorkerError, match=rf"{config.label} was lost 1 times"):
            run_in(tmp_path, [config], engine=RayEngine(max_retries=0))
    finally:
        stop.set()
        killer.join()


@pytest.mark.long
def test_errors_and_budgets_on_ray(run_in, cluster, tiny_config, tmp_path):
    long, short = tiny_config(epochs=100_000), tiny_config(seed=1)
    found, seconds = [], 2
    while not (found and long.parts_done(tmp_path / "runs")[0]):  # a budget may end while a process still starts
        found = run_in(tmp_path, [long, short], engine=RayEngine(), budget=Budget(seconds))
        seconds *= 2
    assert [result.seed for result in found] == [1]
    assert long.parts_done(tmp_path / "runs")[0] < 100_000

    damaged = tiny_config(seed=2)  # one with no committed result, which would be read in place of the folder
    (tmp_path / "runs" / damaged.label).mkdir()
    (tmp_path / "runs" / damaged.label / "result.json").write_text("{")
    with pytest.raises(RunFolderError, match=damaged.label):
        run_in(tmp_path, [damaged], engine=RayEngine())

    with pytest.raises(ConfigurationError, match="no machine of this cluster has 64 CPUs"):
        run_in(tmp_path, [long], engine=RayEngine(cpus=64))
