"""Searches of very small networks on Schubert 3."""

import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import fields, replace

import pytest

from adelic import acd
from adelic.errors import ConfigurationError, MissingExtraError, StorageError, UnknownNameError
from adelic.training import EmbeddingConfig, RunConfig, Search, load_recipe, studies, tune, tuning
from adelic.training.search import DIMENSIONS, apply, check_search, default_search, parse_dimension
from adelic.training.tuning import DevelopmentData


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
        plan = search(embedding, dimensions=default_search(EmbeddingConfig.of(embedding)), pruning="none", d_model=60)
        study = tune(plan, trials=3, storage=tmp_path / "both.db", device="cpu")
        assert [(t.state, t.epochs, t.samples) for t in study.trials] == [("complete", 3, 3 * rows)] * 3
        assert study.best.accuracy == max(t.accuracy for t in study.trials)
        assert study.config == apply(plan.config, study.best.values)


def test_no_search_can_touch_the_test_split(search, tmp_path, monkeypatch):
    """The very same search, on data whose test split has been torn out."""
    names = {f.name for f in fields(DevelopmentData)}
    assert names == {"X_train", "y_train", "X_validation", "y_validation", "objective", "vocabulary", "sha256"}
    whole = tune(search(), trials=2, storage=tmp_path / "whole.db", device="cpu")
    load = acd.load
    monkeypatch.setattr(acd, "load", lambda *a, **k: replace(load(*a, **k), X_test=None, y_test=None))
    torn = tune(search(), trials=2, storage=tmp_path / "torn.db", device="cpu")
    assert figures(torn) == figures(whole)
    assert "test" not in tomllib.loads(torn.to_toml())["study"]


def test_what_is_chosen(search, tmp_path):
    study = tune(search(), trials=2, storage=tmp_path / "study.db", device="cpu")
    one, two = study.trials
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
import os, pathlib, signal, sys
from adelic.training import EmbeddingConfig, Recipe, RunConfig, Search, tune
{definition}
def tick(done, total, text):
    if done == {kill_at}:
        os.kill(os.getpid(), signal.SIGKILL)
tune(search, trials=4, storage=sys.argv[1], device="cpu", tick=tick)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_a_killed_search_and_a_second_worker(search, tmp_path, monkeypatch):
    """The first is killed within its second trial; another one and this process then share what is left."""
    plan, storage = search(epochs=4), tmp_path / "study.db"

    def program(kill_at):
        return [sys.executable, "-c", CHILD.format(definition=f"search = {plan!r}", kill_at=kill_at), str(storage)]

    assert subprocess.run(program(6), check=False).returncode == -signal.SIGKILL
    monkeypatch.setattr(studies, "GRACE", 1)
    monkeypatch.setattr(studies, "POLL", 0.1)
    with subprocess.Popen(program(-1)) as worker:
        study = tune(plan, trials=4, storage=storage, device="cpu")
        assert worker.wait(60) == 0
    assert study.n_failed >= 1  # two workers that begin the last trial at once: one drops it
    assert len(study.trials) == 4
    assert 1 not in [t.number for t in study.trials]
    assert [t.epochs for t in study.trials] == [4] * 4
    again = tune(plan, trials=4, storage=storage, device="cpu")
    assert figures(again) == figures(study)
    values = [t.values for t in tune(plan, trials=2, storage=tmp_path / "undisturbed.db", device="cpu").trials]
    assert [t.values for t in study.trials if t.values in values] == values


def test_a_finished_study_costs_a_read(search, tmp_path, monkeypatch):
    study = tune(search(), trials=2, storage=tmp_path / "study.db", device="cpu")

    def refuse(*args):
        raise AssertionError("a finished study trains again")

    monkeypatch.setattr(tuning, "train_trial", refuse)
    assert tune(search(), trials=2, storage=tmp_path / "study.db", device="cpu").trials == study.trials


def test_values_that_cannot_be_trained_with(search, tmp_path):
    """One-hot digits are too wide for 10 dimensions without a projection."""
    plan = search("adelic", dimensions=("features",), epochs=1, d_model=10, seed=3)
    study = tune(plan, trials=4, storage=tmp_path / "study.db", device="cpu")
    refused = [t for t in study.trials if t.values["features"] == "one-hot-digits"]
    assert 0 < len(refused) < len(study.trials) == 4
    assert all(t.state == "pruned" and "coordinates" in t.reason and t.samples == 0 for t in refused)
    assert study.config.embedding.features != "one-hot-digits"
    assert len(tomllib.loads(study.to_toml())["study"]["trials"]) == 4


def test_no_trial_comes_to_its_end(search, tmp_path):
    plan = search(dimensions=("norm",), learning_rate=1e30)
    with pytest.raises(ConfigurationError, match=r"no trial of .* came to its end \(the training loss left the finite"):
        tune(plan, trials=2, storage=tmp_path / "study.db", device="cpu")


def test_searches_have_names_of_their_own(search):
    plans = [
        search(),
        search("adelic"),
        search(seed=1),
        search(epochs=5),
        search(edition="levels"),
        search(pruning="none"),
        search(dimensions=("norm",)),
    ]
    assert len({plan.name for plan in plans}) == len(plans)
    assert search().name == search(dimensions=("norm", "learning-rate")).name


def test_the_command_repeats_the_search(tmp_path):
    config = RunConfig(
        task="schubert",
        n=4,
        embedding=EmbeddingConfig.of("adelic", features="characters", precision=8),
        recipe=load_recipe("quick", "schubert", 4, epochs=5),
    )
    plan = Search(config=config, dimensions=("norm", "precision"))
    assert plan.command(7) == (
        "adelic tune schubert --n 4 --embedding adelic --features characters --recipe quick --epochs 5 --seed 0 "
        "--search norm,precision --pruning median --trials 7"
    )


@pytest.mark.parametrize("trials", [0, -1, 1.5, True, "3"])
def test_bad_numbers_of_trials(search, tmp_path, trials):
    with pytest.raises(ConfigurationError, match="trials="):
        tune(search(), trials=trials, storage=tmp_path / "study.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"dimensions": ("learning-rat",)}, UnknownNameError, "did you mean 'learning-rate'"),
        ({"dimensions": ()}, ConfigurationError, "nothing to search"),
        ({"dimensions": ("batch-siz=32",)}, UnknownNameError, "did you mean 'batch-size'"),
        ({"dimensions": ("batch-size=33",)}, ConfigurationError, "'batch-size=33' is no part of batch-size"),
        ({"dimensions": ("learning-rate=1e-3",)}, ConfigurationError, "write learning-rate=1e-05:0.01"),
        ({"dimensions": ("learning-rate=1e-3:x",)}, ConfigurationError, "is no part of learning-rate"),
        ({"dimensions": ("learning-rate=1e-3:1",)}, ConfigurationError, "is no part of learning-rate"),
        ({"dimensions": ("norm", "norm=pre")}, ConfigurationError, "'norm' is searched twice"),
        ({"dimensions": ("primes",)}, ConfigurationError, "belongs to the embedding 'adelic'"),
        ({"pruning": "some"}, ConfigurationError, "median, hyperband, none"),
    ],
)
def test_bad_searches(search, changes, error, words):
    with pytest.raises(error, match=words):
        search(**changes)


def test_data_that_cannot_be_searched_on(search, tmp_path):
    with pytest.raises(ConfigurationError, match="no validation row"):
        tune(search(task="weaving", n=3), trials=1, storage=tmp_path / "study.db")


def test_several_targets_can_be_searched_on(search, tmp_path):
    study = tune(search(task="rsk", n=5), trials=1, storage=tmp_path / "study.db")
    assert 0 < study.best.accuracy < 1


def test_a_value_is_given_or_searched():
    assert "norm" not in default_search(EmbeddingConfig.of("learned"), fixed=("norm",))
    with pytest.raises(ConfigurationError, match="'norm' is both given and searched"):
        check_search(["norm"], "learned", fixed=("norm",))


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
    config = RunConfig(
        task="schubert",
        n=4,
        embedding=EmbeddingConfig.of("adelic"),
        recipe=load_recipe("quick", "schubert", 4, epochs=2),
    )
    for name, dimension in DIMENSIONS.items():
        values = dimension.bounds or dimension.choices
        runs = {apply(config, {name: value}) for value in values}
        assert len(runs) == (2 if name == "epochs" else len(values))
        assert default_search(config.embedding).count(name) == dimension.default
    assert apply(config, {"learning-rate": 0.00123456}).recipe.learning_rate == 0.00123


def test_the_place_wise_model_is_searched_where_it_exists():
    """A value that makes no run would cost this embedding a trial that others have."""
    recipe = load_recipe("quick", "schubert", 4)
    config = RunConfig(task="schubert", n=4, embedding=EmbeddingConfig.of("adelic", places="late"), recipe=recipe)
    chosen = default_search(config.embedding)
    assert "projection" not in chosen
    for text in check_search(chosen, "adelic"):
        name, dimension = parse_dimension(text)
        for value in dimension.bounds or dimension.choices:
            assert apply(config, {name: value}).embedding.places == "late"


def test_optuna_is_an_extra(search, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "adelic.training.studies")
    with pytest.raises(MissingExtraError, match=r"needs optuna, .*pip install 'adelic\[tune\]'"):
        tune(search(), trials=1, storage=tmp_path / "study.db")


def test_an_output_is_not_overwritten_by_another_study(search, tmp_path):
    path = tmp_path / "recipe.toml"
    tuning.check_output(path, search())
    path.write_text(tune(search(), trials=1, storage=tmp_path / "study.db", device="cpu").to_toml())
    tuning.check_output(path, search())
    with pytest.raises(ConfigurationError, match="another study"):
        tuning.check_output(path, search(seed=1))
    path.write_text("[recipe]\n")
    with pytest.raises(ConfigurationError, match="another study"):
        tuning.check_output(path, search())
    with pytest.raises(StorageError):
        tuning.check_output(tmp_path, search())
