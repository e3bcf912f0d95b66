import itertools
import json
import shutil
import signal
from pathlib import Path

import pytest

from adelic.data import TaskData
from adelic_lab import Classical, Experiment, RandomSearch, run


@pytest.fixture
def read_folder():
    """Return what two equal runs have in common: the metrics to the byte, the result but for times."""

    def read(folder: Path):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return (folder / "metrics.jsonl").read_bytes(), {k: v for k, v in result.items() if "seconds" not in k}

    return read


@pytest.fixture(scope="session")
def classical():
    """Return small runs of models outside the Transformer; keywords change the data, the seed or the search."""

    def make(name="logistic", *, task="schubert", n=3, seed=0, **changes):
        own = {key: changes.pop(key) for key in ("edition", "split") if key in changes}
        search = RandomSearch(**{"trials": 2} | changes)
        return Experiment(data=TaskData(task, n, **own), model=Classical(name=name), recipe=search, seed=seed)

    return make


@pytest.fixture(scope="session")
def stop_at():
    """Return what stops a run when it is asked so often."""

    def make(n):
        calls = itertools.count(1)
        return lambda: next(calls) == n

    return make


@pytest.fixture(scope="session")
def raising():
    """Return a progress that sends this process a signal during a step."""

    def make(step, signum=signal.SIGTERM):
        return lambda done, total, text: signal.raise_signal(signum) if done == step else None

    return make


@pytest.fixture(scope="session")
def trained(tiny_config, tmp_path_factory):
    config, folder = tiny_config(), tmp_path_factory.mktemp("trained") / "run"
    return config, folder, run(config, folder, device="cpu")


@pytest.fixture
def finished(trained, tmp_path):
    """A finished run: its configuration, a folder that is this test's alone, and its result."""
    config, folder, result = trained
    return config, shutil.copytree(folder, tmp_path / "finished", copy_function=shutil.copyfile), result
