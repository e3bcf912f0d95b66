import copy
import dataclasses
from contextlib import nullcontext
from dataclasses import replace

import pytest
from joblib.externals.loky.backend import context
from matplotlib.figure import Figure

from adelic_lab import Budget, Result, run, run_matrix


class Steps(Budget):
    """A budget that is spent after a number of questions whether it is, which is the same on every machine."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    @property
    def spent(self):
        self.left -= 1
        return self.left < 0


@pytest.fixture
def steps():
    return Steps


@pytest.fixture
def run_in():
    """Run a matrix of runs in a folder; keywords change how."""

    def call(folder, configs, **changes):
        where = {"runs": folder / "runs", "results": folder / "results", "device": "cpu"}
        return run_matrix(configs, **where | {"on_run": lambda *_: nullcontext()} | changes)

    return call


@pytest.fixture
def undrawn(monkeypatch):
    """Compose figures without drawing them, which takes most of the time of a test that does not look at them."""
    monkeypatch.setattr(Figure, "savefig", lambda figure, out, **options: out.write(b"<svg></svg>"))


@pytest.fixture(scope="module")
def forked_workers(forked):
    """Let the processes of `WorkersEngine` be forked as `forked` does: new ones take seconds to import PyTorch."""
    context.set_start_method("forkserver", force=True)
    yield
    context.set_start_method(None, force=True)


@pytest.fixture(scope="session")
def real_results(tiny_config, tmp_path_factory) -> dict[str, Result]:
    """Results of two very small runs, by embedding."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: run(tiny_config(name), folder / name, device="cpu") for name in ("learned", "adelic")}


@pytest.fixture(scope="session")
def like():
    """Return a result like another one: what is not a field of a result is a test figure.

    model and recipe are what the configuration's embedding and recipe have besides.
    """
    fields = {field.name for field in dataclasses.fields(Result)}

    def make(real, row, embedding=None, seed=0, *, model=None, recipe=None, **changes):
        real = copy.deepcopy(real)
        task, _, n = row.rpartition("-")
        given = {"task": task, "n": int(n), "embedding": embedding or real.embedding, "seed": seed}
        given |= {name: changes.pop(name) for name in fields & changes.keys()}
        about = real.configuration
        told = {name: given[name] for name in ("task", "n", "edition", "split") if given.get(name) is not None}
        configuration = {
            "seed": seed,
            "data": about["data"] | told,
            "embedding": about["embedding"] | {"name": given["embedding"]} | (model or {}),
            "recipe": about["recipe"] | (recipe or {}),
        }
        if given.get("features"):
            configuration["embedding"]["features"] = given["features"]
        made = {"test": real.test | changes, "recipe": configuration["recipe"]["name"], "configuration": configuration}
        return replace(real, **made | given)

    return make


@pytest.fixture(scope="session")
def result(real_results, like):
    """Return results like real ones, see `like`, with as many epochs as any recipe has: tables tell fewer."""

    def make(row="schubert-4", embedding="adelic", seed=0, *, recipe=None, **changes):
        real = real_results[embedding if embedding in real_results else "learned"]
        changes = {"majority": 0.5, "predicts_one_class": False} | changes
        return like(real, row, embedding, seed, recipe={"epochs": 200} | (recipe or {}), **changes)

    return make
