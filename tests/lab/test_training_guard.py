"""Every path of training refuses a leaked row, before its first step, and writes nothing.

The row is planted in the store of the data, where any process finds it: what stands between it and the training is the
guard of `adelic.data` alone.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic import acd
from adelic.data import images, overlap, store
from adelic.data.dataset import generate
from adelic.data.drawn import SampledTask
from adelic.data.sources import DrawnData, TaskData
from adelic.data.splits import TRAIN
from adelic.errors import ConfigurationError, Interrupted, LeakError
from adelic_lab import (
    CLASSICAL_MODELS,
    EmbeddingConfig,
    Experiment,
    Search,
    SolverConfig,
    Steps,
    load_recipe,
    run,
    tune,
)
from adelic_lab.models import classical as classical_runs
from adelic_lab.search.tuning import train_trial
from adelic_lab.train.data import TrainValidation, training_subset
from adelic_lab.train.loop import Trainer

CPU = torch.device("cpu")
IMAGES = {"split": "orbits", "symmetries": True}
LEAKS = {  # what is planted -> options of a run that would train on it, and what the error says
    "test row": (
        {},
        r"^1 test example would be trained on: test example \d+ \(.*\) is training example \d+; keep equal examples",
    ),
    "validation row": ({}, r"^1 validation example would be trained on: validation example \d+ "),
    "test row, whose images are trained on": (IMAGES, r"test examples? would be trained on: .*--split orbits"),
    "image of a test row": (
        IMAGES,
        r"test examples? would be trained on: .* is image 1 of training example .*--split orbits",
    ),
    "torn orbits": (IMAGES, r"validation examples? and \d+ test examples would be trained on: .*--split orbits"),
}


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Return a function that stores data of Schubert 3 with a leak, and returns the options of a run that it is for."""
    cache = tmp_path / "cache"

    def make(leak, *, seed=0, max_rows=None):
        options, _ = LEAKS[leak]
        key = store.Key(acd.task("schubert"), 3, "published", seed, {}, options.get("split", "published"))
        rows, parts, n_orbits = generate(key)
        if leak == "torn orbits":
            parts = generate(replace(key, split="published"))[1]
        else:
            # A row that a run of so many rows trains on; which ones these are depends on their number alone.
            part = training_subset(acd.load("schubert", n=3, split=key.split, seed=seed), max_rows, seed)
            (victim,) = np.flatnonzero((part.X_train[0] == rows.X).all(axis=1))
            assert parts[victim] == TRAIN
            held = part.X_validation if leak.startswith("validation") else part.X_test
            X = rows.X.copy()
            X[victim] = an_image(held) if leak.startswith("image") else held[0]
            rows = replace(rows, X=X)
        store.write(key.folder(cache), key, rows, parts, None, n_orbits=n_orbits)
        monkeypatch.setenv("ADELIC_CACHE", str(cache))
        assert any(overlap(load(key), symmetries="symmetries" in options).values())
        return options

    return make


def load(key):
    return acd.load(key.task.name, n=key.n, split=key.split, seed=key.seed)


def an_image(held):
    """Return an image of a held-out row that is none itself."""
    known = set(map(tuple, held.tolist()))
    found = images(held, np.zeros(len(held)), acd.task("schubert").symmetries)[0]
    return next(row for row in found.reshape(-1, held.shape[1]) if tuple(row.tolist()) not in known)


@pytest.fixture
def no_step(monkeypatch):
    """Return a function after whose call a step, or a fit, fails the test."""

    def refuse(*arguments):
        raise AssertionError("a step was made")

    def forbid():
        monkeypatch.setattr(Trainer, "run_epoch", refuse)
        monkeypatch.setattr(classical_runs, "estimate", refuse)

    return forbid


def names(folder):
    return {path.name for path in folder.iterdir()}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_run(tiny_config, tmp_path, plant, no_step, leak):
    no_step()
    config = tiny_config(**plant(leak))
    with pytest.raises(LeakError, match=LEAKS[leak][1]):
        run(config, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


def test_only_images_leak_where_only_images_are_planted(tiny_config, tmp_path, plant):
    """An image of a test row is a row like others for a run that trains on no images."""
    plant("image of a test row")
    assert run(tiny_config(split="orbits", epochs=1), tmp_path / "run", device="cpu").split == "orbits"


def test_a_run_that_goes_on(raising, tiny_config, tmp_path, plant, no_step):
    """What a stopped run has written stays as it is."""
    config, folder = tiny_config(), tmp_path / "run"
    with pytest.raises(Interrupted):
        run(config, folder, device="cpu", progress=raising(1))
    before = contents(folder)
    assert len(before) >= 2
    plant("test row")
    no_step()
    with pytest.raises(LeakError):
        run(config, folder, device="cpu")
    assert contents(folder) == before


@pytest.mark.parametrize("leak", ["test row", "validation row", "image of a test row"])
@pytest.mark.parametrize("max_rows", [1, 20])
def test_a_part_of_the_rows(classical, tiny_config, tmp_path, plant, no_step, leak, max_rows):
    no_step()
    options = plant(leak, max_rows=max_rows)
    with pytest.raises(LeakError):
        tune(
            Search(config=tiny_config(**options, max_rows=max_rows), dimensions=("norm",)),
            trials=1,
            storage=tmp_path / "study.db",
        )
    with pytest.raises(LeakError):
        run_classical(classical("trees", **options, max_rows=max_rows), tmp_path / "runs")
    with pytest.raises(LeakError):
        run(tiny_config(**options, max_rows=max_rows), tmp_path / "run", device="cpu")
    assert names(tmp_path) == {"cache", "runs"}
    assert names(tmp_path / "runs") == set()


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("dimensions", [("norm",), ("learning-rate",)])
def test_a_search(tiny_config, tmp_path, plant, no_step, leak, dimensions):
    """No trial is pruned for it, as for values that do not go together: there is no study."""
    no_step()
    search = Search(config=tiny_config(**plant(leak)), dimensions=dimensions)
    with pytest.raises(LeakError, match=LEAKS[leak][1]):
        tune(search, trials=2, storage=tmp_path / "study.db", device="cpu")
    assert not (tmp_path / "study.db").exists()


def test_a_search_one_value_of_which_would_leak(tiny_config, tmp_path, plant, no_step):
    """Whether images are trained on is searched, too."""
    plant("image of a test row")
    no_step()
    search = Search(config=tiny_config(split="orbits"), dimensions=("symmetries",))
    with pytest.raises(LeakError):
        tune(search, trials=1, storage=tmp_path / "study.db", device="cpu")
    assert not (tmp_path / "study.db").exists()


def test_development_data_of_ones_own(tiny_config, no_step):
    """Rows that stand on both sides are refused, whoever has put the splits together."""
    no_step()
    data = TrainValidation.of(acd.load("schubert", n=3))
    for X in (data.X_validation, data.holdout.test):
        torn = replace(data, X_train=np.concatenate([X[:1], data.X_train[1:]]))
        with pytest.raises(LeakError):
            train_trial(tiny_config(), torn, CPU, lambda *report: None, lambda: None)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("name", CLASSICAL_MODELS)
def test_a_model_outside_the_transformer(classical, tmp_path, plant, no_step, name, leak):
    options, runs = plant(leak), tmp_path / "runs"
    if options.get("symmetries") and not CLASSICAL_MODELS[name].uses_images:
        if leak.startswith("test row"):
            no_step()
            with pytest.raises(LeakError):
                run_classical(classical(name, **options), runs)
        else:  # it trains on no image, and no row itself has leaked
            assert run_classical(classical(name, **options), runs).split == "orbits"
        return
    no_step()
    with pytest.raises(LeakError, match=LEAKS[leak][1]):
        run_classical(classical(name, **options), runs)
    assert names(runs) == set()


def test_the_split_of_another_seed_that_a_search_is_on(classical, tmp_path, plant, no_step):
    """Seed 1 is clean, and its search, which is on the split of seed 0, is not."""
    plant("test row", seed=0)
    no_step()
    with pytest.raises(LeakError):
        run_classical(classical("trees", seed=1), tmp_path / "runs")
    assert names(tmp_path / "runs") == set()


@pytest.mark.parametrize("name", [name for name, model in CLASSICAL_MODELS.items() if model.uses_images])
def test_images_need_orbits(classical, tiny_config, name):
    """There is no configuration with images of a split that tears orbits, see also `test_bad_splits`."""
    words = "has test examples among them; use --split orbits, or --no-symmetries"
    with pytest.raises(ConfigurationError, match=words):
        classical(name, symmetries=True)
    with pytest.raises(ConfigurationError, match=words):
        replace(tiny_config(**IMAGES), data=TaskData("schubert", 3))


def run_classical(config, runs, **options):
    """Run a configuration in its folder among others."""
    return run(config, runs / config.label, device="cpu", **options)


NETWORK = {"model": EmbeddingConfig.of("fone"), "recipe": load_recipe("fresh", "addition", epochs=2, n_layers=1)}
SOLVER = {"model": SolverConfig(name="xval"), "recipe": Steps(steps=5)}


@pytest.mark.parametrize(
    ("task", "part", "nth", "how"),
    [("addition", "test", 1, SOLVER), ("addition", "longer", 1, SOLVER)]
    + [("gcd", part, nth, NETWORK) for part, nth in (("test", 1), ("test", 2), ("uniform", 1))],  # 2: validation
)
def test_a_question_that_is_trained_on_is_not_asked(tmp_path, monkeypatch, task, part, nth, how):
    """One question of training among others, its operands exchanged: nothing is trained, and there is no run."""
    data, sample, calls = DrawnData(task, 400, test_cases=50, never_seen_cases=50), SampledTask.sample, Counter()
    leaked = data.questions(0)[0][1, ::-1]

    def leaking(task, n, rng, kind="train", *, exclude=None):
        operands, answers = sample(task, n, rng, kind, exclude=exclude)
        calls[kind] += 1
        if (kind, calls[kind]) == (part, nth):
            operands[3] = leaked
        return operands, answers

    monkeypatch.setattr(SampledTask, "sample", leaking)
    words = rf"1 \w+ question of {task} would be trained on: question 3 \(\d+ \d+\) is "
    with pytest.raises(LeakError, match=words):
        run(Experiment(data=data, **how), tmp_path / "run")
    assert not (tmp_path / "run" / "config.toml").exists()
