"""Searches of very small networks on Schubert 3."""

import os
import signal
import sqlite3
import sys
import tomllib
from contextlib import closing
from dataclasses import fields, replace

import numpy as np
import pytest

from adelic import acd
from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError, Interrupted, MissingExtraError, UnknownNameError
from adelic.nn import EMBEDDINGS, Vocabulary
from adelic.numbers.features import WITHOUT_COMBINED
from adelic.numbers.window import DEFAULT_PRIMES
from adelic_lab import EmbeddingConfig, Experiment, Search, load_recipe, tune
from adelic_lab.search import studies
from adelic_lab.search.dimensions import DIMENSIONS, apply, check_search, default_search, parse_dimension
from adelic_lab.search.tuning import TrainValidation


@pytest.fixture
def search(tiny_config):
    """Return searches; keywords change the search, or else the run."""

    def make(embedding="learned", **changes):
        own = {key: changes.pop(key) for key in ("dimensions", "pruning") if key in changes}
        return Search(**{"config": tiny_config(embedding, **changes), "dimensions": ("learning-rate", "norm")} | own)

    return make


def figures(study):
    return [replace(trial, seconds=0.0) for trial in study.trials]


def test_equal_budgets(search, tmp_path):
    rows = len(acd.load("schubert", n=3).y_train)
    for embedding in ("learned", "adelic"):
        of_all = {"dimensions": default_search(EmbeddingConfig.of(embedding)), "pruning": None}
        plan = search(embedding, **of_all, d_model=60, epochs=2)
        study = tune(plan, trials=2, storage=tmp_path / "both.db", device="cpu")
        assert [(t.state, t.epochs, t.samples) for t in study.trials] == [("complete", 2, 2 * rows)] * 2
        assert study.best.accuracy == max(t.accuracy for t in study.trials)
        assert study.config == apply(plan.config, study.best.values)


def test_no_search_can_touch_the_test_split(search, tmp_path, monkeypatch):
    """The very same search, on data without test labels, and with one test row that is another.

    The guard alone has the test rows, without labels, to compare them with those of training.
    """
    names = {f.name for f in fields(TrainValidation)}
    assert names == {
        "X_train", "y_train", "X_validation", "y_validation", "objective", "vocabulary", "sha256", "symmetries",
        "holdout", "is_coded",
        "n_words", "view", "every_class",
    }  # fmt: skip
    data = acd.load("schubert", n=3)
    held = TrainValidation.of(data).holdout
    assert {name for name in dir(held) if name[0] != "_"} == {"test", "overlap", "check"}
    np.testing.assert_array_equal(held.test, data.X_test)
    assert sum(isinstance(part, np.ndarray) for part in vars(held).values()) == 1  # the rows, and no labels
    whole = tune(search(), trials=1, storage=tmp_path / "whole.db", device="cpu")
    load = acd.load
    torn_out = {"X_test": np.zeros_like(data.X_test[:1]), "y_test": None}
    monkeypatch.setattr("adelic.data.sources.load", lambda *a, **k: replace(load(*a, **k), **torn_out))
    torn = tune(search(), trials=1, storage=tmp_path / "torn.db", device="cpu")
    assert figures(torn) == figures(whole)
    assert "test" not in tomllib.loads(torn.to_toml())["study"]


def test_what_is_chosen(search, tmp_path):
    study = tune(search(epochs=1), trials=1, storage=tmp_path / "study.db", device="cpu")
    (one,) = study.trials
    two = replace(one, number=1)
    better = {"accuracy": 0.9, "loss": 0.5}
    for trials, best in [
        ((replace(one, **better), replace(two, accuracy=0.8)), 0),
        ((replace(one, accuracy=0.8), replace(two, **better)), 1),
        ((replace(one, **better), replace(two, accuracy=0.9, loss=0.4)), 1),
        ((replace(one, **better), replace(two, **better)), 0),
        ((replace(one, accuracy=0.1), replace(two, **better, state="pruned")), 0),
    ]:
        assert replace(study, trials=trials).best.number == best


CHILD = """
import os, signal
from adelic_lab import tune
def progress(done, total, text):
    if done == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
tune(plan, trials=4, storage=storage, device="cpu", progress=progress)
"""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_a_killed_search_and_a_second_worker(search, tmp_path, monkeypatch, forked):
    """The first is killed within its second trial; another one and this process then share what is left."""
    plan, storage = search(epochs=4), tmp_path / "study.db"
    first = forked(CHILD, tmp_path, plan=plan, storage=storage, kill_at=6)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(storage)) as database, database:  # its last sign of life is as long ago as can be
        database.execute("DELETE FROM trial_heartbeats")
        died = "SELECT trial_id, '2000-01-01' FROM trials WHERE state = 'RUNNING'"
        database.execute(f"INSERT INTO trial_heartbeats (trial_id, heartbeat) {died}")
    monkeypatch.setattr(studies, "POLL", 0.1)
    worker = forked(CHILD, tmp_path, plan=plan, storage=storage, kill_at=-1)
    study = tune(plan, trials=4, storage=storage, device="cpu")
    assert worker.communicate() == ("", "")
    assert worker.returncode == 0
    assert study.n_failed >= 1  # two workers that begin the last trial at once: one drops it
    assert len(study.trials) == 4
    assert 1 not in [t.number for t in study.trials]
    assert [t.epochs for t in study.trials] == [4] * 4
    again = tune(plan, trials=4, storage=storage, device="cpu")
    assert figures(again) == figures(study)
    values = [t.values for t in tune(plan, trials=2, storage=tmp_path / "undisturbed.db", device="cpu").trials]
    assert [t.values for t in study.trials if t.values in values] == values


def test_a_signal_ends_a_trial_whose_epochs_are_one_step(search, tmp_path):
    epochs = []

    def progress(done, total, text):
        epochs.append(done)
        if done == 2:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="stopped by SIGTERM after 0 of 1 trials"):
        tune(
            search(batch_size=10**4, epochs=50), trials=1, storage=tmp_path / "one.db", device="cpu", progress=progress
        )
    assert epochs == [0, 1, 2]


def test_no_trial_comes_to_its_end(search, tmp_path):
    plan = search(dimensions=("norm",), learning_rate=1e30)
    with pytest.raises(ConfigurationError, match=r"no trial of .* came to its end \(the training loss left the finite"):
        tune(plan, trials=2, storage=tmp_path / "study.db", device="cpu")


def test_searches_have_names_of_their_own(search):
    changes = [{}, {"seed": 1}, {"epochs": 5}, {"edition": "corrected"}, {"split": "orbits"}, {"pruning": None}]
    plans = [search("adelic"), search(dimensions=("norm",)), *(search(**change) for change in changes)]
    assert len({plan.name for plan in plans}) == len(plans)
    assert search().name == search(dimensions=("norm", "learning-rate")).name


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"dimensions": ("learning-rat",)}, UnknownNameError, "did you mean 'learning-rate'"),
        ({"dimensions": ()}, ConfigurationError, "nothing to search"),
        ({"dimensions": ("batch-siz=32",)}, UnknownNameError, "did you mean 'batch-size'"),
        ({"dimensions": ("batch-size=33",)}, ConfigurationError, "--search batch-size=33 is not a part of batch-size"),
        ({"dimensions": ("learning-rate=1e-3",)}, ConfigurationError, "write --search learning-rate=1e-05:0.01"),
        ({"dimensions": ("learning-rate=1e-3:x",)}, ConfigurationError, "is not a part of learning-rate"),
        ({"dimensions": ("learning-rate=1e-3:1",)}, ConfigurationError, "is not a part of learning-rate"),
        ({"dimensions": ("norm", "norm=pre")}, ConfigurationError, "'norm' is searched twice"),
        ({"dimensions": ("primes",)}, ConfigurationError, "belongs to the embedding 'adelic'"),
        ({"dimensions": ("sigma",)}, ConfigurationError, "'sigma' belongs to the embeddings 'periodic' and"),
        ({"dimensions": ("standardize",)}, ConfigurationError, "belongs to the embeddings 'fone' and 'xval', not to"),
        ({"pruning": "some"}, UnknownNameError, "none, median, hyperband"),
        ({"dimensions": ("symmetries",)}, ConfigurationError, "use --split orbits"),
        ({"dimensions": ("norm", "symmetries=true")}, ConfigurationError, "use --split orbits"),
    ],
)
def test_bad_searches(search, changes, error, words):
    with pytest.raises(error, match=words):
        search(**changes)


def test_images_are_searched_where_the_split_allows_them(search, tmp_path):
    plan = search(dimensions=("symmetries",), split="orbits", epochs=1)
    study = tune(plan, trials=2, storage=tmp_path / "study.db", device="cpu")
    assert sorted(trial.values["symmetries"] for trial in study.trials) == [False, True]
    assert [trial.state for trial in study.trials] == ["complete"] * 2
    assert "--split orbits" in (Search(config=quick(split="orbits"), dimensions=("symmetries",)).command(2))
    assert tomllib.loads(study.to_toml())["study"]["split"] == "orbits"
    assert search(dimensions=("symmetries=false", "norm")).config.data.split == "published"  # no trial has images


def quick(**changes):
    """Return a run that a command line can name."""
    recipe = load_recipe("quick", "schubert-4", epochs=2)
    data = TaskData("schubert", 4, **changes)
    return Experiment(data=data, model=EmbeddingConfig.of("learned"), recipe=recipe)


def test_data_that_cannot_be_searched_on(search, tmp_path):
    with pytest.raises(ConfigurationError, match="no validation examples"):
        tune(search(task="weaving", n=3), trials=1, storage=tmp_path / "study.db")


def test_several_targets_can_be_searched_on(search, tmp_path):
    study = tune(search(task="rsk", n=5), trials=1, storage=tmp_path / "study.db")
    assert 0 < study.best.accuracy < 1


def test_a_part_of_a_dimension_is_searched(search, tmp_path):
    plan = search(dimensions=("batch-size=64:32", "learning-rate=1e-3:2e-3", "norm=PRE"), epochs=1)
    assert plan.dimensions == ("learning-rate=1e-3:2e-3", "batch-size=64:32", "norm=PRE")
    assert plan.name != search(dimensions=("learning-rate", "batch-size", "norm"), epochs=1).name
    study = tune(plan, trials=4, storage=tmp_path / "study.db", device="cpu")
    for trial in study.trials:
        assert 1e-3 <= trial.values["learning-rate"] <= 2e-3
        assert trial.values["batch-size"] in (32, 64)
        assert trial.values["norm"] == "pre"
    found = tomllib.loads(study.to_toml())["study"]
    assert found["searched"] == {"learning-rate": "0.001 to 0.002", "batch-size": "64, 32", "norm": "pre"}


def test_every_value_of_every_dimension_makes_a_run():
    recipe = load_recipe("quick", "schubert-4", epochs=2)
    for name, dimension in DIMENSIONS.items():
        owner = EmbeddingConfig.of((*dimension.of, "adelic")[0])
        split = "orbits" if name == "symmetries" else "published"
        config = Experiment(data=TaskData("schubert", 4, split=split), model=owner, recipe=recipe)
        values = dimension.bounds or dimension.tried
        runs = {apply(config, {name: value}) for value in values}
        assert len(runs) == (2 if name == "epochs" else len(values))
        assert default_search(config.embedding).count(name) == (not dimension.starred)
    assert apply(config, {"learning-rate": 0.00123456}).recipe.learning_rate == 0.00123


@pytest.mark.parametrize("features", WITHOUT_COMBINED)
@pytest.mark.parametrize(("task", "n"), [("schubert", 6), ("quiver", 11), ("lattice", 10), ("characters", 18)])
def test_every_form_fits_the_flat_model(features, task, n):
    """In no task's search does a form of AOE cost a trial because its vectors do not fit."""
    vocabulary = Vocabulary(acd.task(task).vocabulary(n, "published"))
    for primes in (2, 7):
        config = EmbeddingConfig.of("adelic", features=features, primes=DEFAULT_PRIMES[:primes], precision=4)
        table = EMBEDDINGS["adelic"].from_options(vocabulary, 128, config.options()).table
        assert table.shape == (len(vocabulary), 128)


def test_the_place_wise_model_is_searched_where_it_exists():
    """A value that makes no run would cost this embedding a trial that others have."""
    recipe = load_recipe("quick", "schubert-4")
    config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("adelic", places="late"), recipe=recipe)
    chosen = default_search(config.embedding)
    assert "projection" not in chosen
    for text in check_search(chosen, config.embedding):
        name, dimension = parse_dimension(text)
        for value in dimension.bounds or dimension.tried:
            assert apply(config, {name: value}).embedding.places == "late"


def test_optuna_is_an_extra(search, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "adelic_lab.search.studies")
    with pytest.raises(MissingExtraError, match=r"needs optuna, .*pip install './lab\[tune\]'"):
        tune(search(), trials=1, storage=tmp_path / "study.db")
