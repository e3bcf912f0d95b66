import time

import numpy as np
import pytest

from adelic import acd, data
from adelic.data import Request
from adelic.errors import AdelicError, ConfigurationError, TaskSizeError, UnknownNameError

SMALL = [("mheight", 6, "published")] + [
    (name, 4, edition) for name in ("schubert", "weaving") for edition in acd.task(name).editions
]


@pytest.mark.parametrize(("name", "n", "edition"), SMALL)
def test_shapes_dtypes_and_vocabulary(name, n, edition):
    d = acd.load(name, n=n, edition=edition)
    task = acd.task(name)
    parts = [(d.X_train, d.y_train), (d.X_validation, d.y_validation), (d.X_test, d.y_test)]
    for X, y in parts:
        assert X.shape == (len(y), task.length(n, edition))
        assert X.dtype == np.int8
        assert y.dtype == np.int64
        assert X.flags.writeable
        assert np.isin(X, d.vocabulary).all()
        assert d.class_names is not None
        assert np.isin(y, range(len(d.class_names))).all()
    rows = d.provenance["rows"]
    assert [len(y) for _, y in parts] == [rows["train"], rows["validation"], rows["test"]]
    assert rows["all"] == task.estimate(n, edition).rows
    every = acd.TASKS[name].generate(Request(n=n, edition=edition))
    assert set(np.unique(every.X)) == set(d.vocabulary)


SMALLEST = {
    "characters": 6,
    "grassmannian": 9,
    "kl": 3,
    "mheight": 6,
    "quiver": 6,
    "rsk": 4,
    "schubert": 3,
    "weaving": 4,
}
"""A size at which a data set has several orbits and is built at once."""


@pytest.mark.parametrize(("name", "edition"), [(name, e) for name in SMALLEST for e in acd.task(name).editions])
def test_orbits_lie_in_one_part(name, edition):
    d = acd.load(name, n=SMALLEST[name], edition=edition, split="orbits")
    assert data.overlap(d, symmetries=True) == {"validation": 0, "test": 0}
    X, _ = data.training_rows(d, symmetries=True)
    assert len(X) == len(d.X_train) > 0 < len(d.X_test)
    p = d.provenance
    assert p["split"] == "orbits"
    assert 1 < p["orbits"] < p["rows"]["all"]
    assert [len(part) for part in (d.X_train, d.X_validation, d.X_test)] == [
        p["rows"][part] for part in ("train", "validation", "test")
    ]
    assert p["rows"]["train"] + p["rows"]["validation"] + p["rows"]["test"] == p["rows"]["all"]
    published = acd.load(name, n=SMALLEST[name], edition=edition)
    assert published.provenance["rows"]["all"] == p["rows"]["all"]
    assert (published.provenance["split"], published.provenance["orbits"]) == ("published", None)


def test_every_task_with_symmetries_has_orbits():
    assert SMALLEST.keys() == {task.name for task in acd.TASKS.values() if task.symmetries}


def test_lattice_has_no_orbits(cache):
    with pytest.raises(ConfigurationError) as caught:
        acd.load("lattice", n=6, split="orbits")
    assert str(caught.value) == "lattice has no symmetries that keep labels; use --split published"
    assert not cache.exists()
    for odd in ("orbit", None, 1):
        with pytest.raises(UnknownNameError, match="unknown split"):
            acd.load("weaving", n=4, split=odd)


def test_provenance():
    d = acd.load("weaving", n=5, edition="leaky", seed=3)
    p = d.provenance
    assert (p["task"], p["n"], p["edition"], p["seed"], p["generator_version"]) == ("weaving", 5, "leaky", 3, 1)
    assert len(p["sha256"]) == 64
    assert sum(sum(classes.values()) for classes in p["counts"].values()) == p["rows"]["all"] == 124
    assert p["counts"]["test"]["weaving pattern"] == np.count_nonzero(d.y_test)
    assert any("Reconstructed" in note for note in p["notes"])
    assert set(p["versions"]) == {"adelic", "numpy", "pyarrow", "python"}


@pytest.mark.parametrize("name", list(acd.TASKS))
@pytest.mark.parametrize(
    "n", [-1, 0, True, False, np.True_, 3.5, 8.0, "8", [8], float("nan"), pytest.param(-(10**5000), id="huge")]
)
def test_sizes_without_a_data_set(name, n):
    with pytest.raises(TaskSizeError) as caught:
        acd.load(name, n=n)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_least_sizes():
    for name, least in (("mheight", 4), ("weaving", 3), ("schubert", 2)):
        assert acd.load(name, n=least).provenance["rows"]["all"] > 0
        with pytest.raises(TaskSizeError, match=f"at least {least}"):
            acd.load(name, n=least - 1)


@pytest.mark.parametrize(("name", "edition"), [(t.name, edition) for t in acd.TASKS.values() for edition in t.editions])
@pytest.mark.parametrize("n", [40, 10**9, pytest.param(10**5000, id="huge")])
def test_sizes_beyond_any_machine_are_refused_at_once(name, edition, n, cache):
    start = time.process_time()
    with pytest.raises(TaskSizeError, match=r"needs (at least about )?[\d,]+ examples and [\d,.]+ GiB") as caught:
        acd.load(name, n=n, edition=edition)
    assert time.process_time() - start < 1
    assert "this machine has" in str(caught.value)
    assert not cache.exists()


def test_sizes_beyond_this_machine_are_refused_before_any_work(monkeypatch, cache):
    class Memory:
        total, available = 2 << 30, 1 << 20

    monkeypatch.setattr("psutil.virtual_memory", Memory)
    with pytest.raises(TaskSizeError, match=r"weaving n=7 \(published\) needs 49,396 examples .* has 2\.0 GiB"):
        acd.load("weaving", n=7)
    assert not cache.exists()
    acd.load("weaving", n=4)


def test_extrapolated_estimates_grow():
    for task in acd.TASKS.values():
        for edition in task.editions:
            rows = [task.estimate(n, edition).rows for n in range(task.minimum, 30)]
            assert rows == sorted(rows)
    assert not acd.TASKS["schubert"].estimate(7, "published").exact
    assert acd.TASKS["weaving"].estimate(9, "levels").exact


@pytest.mark.parametrize("seed", [-1, True, 1.5, "0", None, 2**63])
def test_seeds(seed):
    with pytest.raises(ConfigurationError, match="seed"):
        acd.load("weaving", n=4, seed=seed)


def test_unknown_names():
    with pytest.raises(UnknownNameError) as caught:
        acd.task("wevaing")
    names = ", ".join(acd.TASKS)
    assert str(caught.value) == f"unknown task 'wevaing'; did you mean 'weaving'? tasks: {names}"
    with pytest.raises(UnknownNameError, match="unknown task 'xyz'; tasks: characters"):
        acd.load("xyz")
    with pytest.raises(UnknownNameError, match="did you mean 'mheight'"):
        acd.load("mHeight")
    with pytest.raises(UnknownNameError, match=r"did you mean 'leaky'\? editions of weaving: published, leaky, levels"):
        acd.load("weaving", edition="leeky")
    for odd in (None, 8, ["weaving"]):
        with pytest.raises(UnknownNameError):
            acd.load(odd)
        with pytest.raises(AdelicError):
            acd.load("weaving", edition=odd)
