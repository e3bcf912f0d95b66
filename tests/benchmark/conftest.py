import copy
from typing import Any

import pytest

from adelic.benchmark import Budget
from adelic.training import run


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


@pytest.fixture(scope="session")
def real_results(tiny_config, tmp_path_factory) -> dict[str, dict[str, Any]]:
    """Results of two very small runs, by embedding."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: run(tiny_config(name), folder / name, device="cpu").as_dict() for name in ("learned", "adelic")}


@pytest.fixture(scope="session")
def result(real_results):
    """Return results like real ones with other names and figures."""

    def make(row="schubert-4", embedding="adelic", seed=0, *, one_class=False, majority=0.5, recipe=None, **test):
        made = copy.deepcopy(real_results[embedding if embedding in real_results else "learned"])
        task, _, n = row.rpartition("-")
        made |= {"task": task, "n": int(n), "embedding": embedding, "seed": seed, "majority": majority}
        made["test"] |= test
        made["predicts_one_class"] = one_class
        made["configuration"]["seed"] = seed
        made["configuration"]["data"] |= {"task": task, "n": int(n)}
        made["configuration"]["embedding"]["name"] = embedding
        made["configuration"]["recipe"] |= recipe or {}
        return made

    return make
