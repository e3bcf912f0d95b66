"""Searches and runs of the models outside the Transformer."""

import json
import os
import shlex
import signal
import sys

import numpy as np
import pytest

from adelic import acd
from adelic.data import training_rows
from adelic.errors import (
    ConfigurationError,
    Interrupted,
    MissingExtraError,
    RunBusyError,
    RunFolderError,
    UnknownNameError,
)
from adelic.storage.files import sole_user
from adelic_lab import CLASSICAL_MODELS, run
from adelic_lab.models import classical as classical_runs
from adelic_lab.models.classical import EPOCHS
from adelic_lab.results.metrics import majority_rate
from adelic_lab.runs.folders import read_result
from adelic_lab.train.signals import Stopped


@pytest.fixture
def config_of(classical):
    """Return runs of three trials."""
    return lambda name="logistic", **changes: classical(name, **{"trials": 3} | changes)


def run_classical(config, runs, **options):
    """Run a configuration in its folder among others."""
    return run(config, runs / config.label, device="cpu", **options)


def fits_done(config, runs):
    return config.parts_done(runs)[0]


@pytest.fixture
def fits(monkeypatch):
    """The arguments of every fit that is made, but for the data."""
    made = []
    plain = classical_runs.estimate

    def counting(name, options, data, seed, between):
        made.append((options, seed))
        return plain(name, options, data, seed, between)

    monkeypatch.setattr(classical_runs, "estimate", counting)
    return made


def test_a_search_of_another_process_is_left_alone(config_of, tmp_path, fits):
    config = config_of()
    with sole_user(config.search_path(tmp_path).parent), pytest.raises(RunBusyError):
        run_classical(config, tmp_path)
    assert not fits
    assert run_classical(config, tmp_path).seed == 0


@pytest.mark.parametrize("name", CLASSICAL_MODELS)
def test_a_result_has_what_the_table_reads(config_of, tmp_path, name):
    config = config_of(name, trials=2, seed=1)
    result = run_classical(config, tmp_path)
    assert read_result(tmp_path / config.label) == result
    assert (result.embedding, result.recipe, result.seed) == (name, "search", 1)
    names = {"accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error"}
    assert set(result.test) == names
    data = acd.load("schubert", n=3, seed=1)
    confusion = np.array(result.confusion)
    assert confusion.sum() == len(data.y_test) == result.rows["test"]
    assert confusion.trace() / confusion.sum() == pytest.approx(result.test["accuracy"])
    assert result.majority == majority_rate(data.y_train, data.y_test)
    assert (result.split, result.contaminated, result.class_names) == ("published", False, ["0", "1"])
    assert result.lookup == result.majority  # no test row is in its table
    assert result.data_sha256 == data.provenance["sha256"]
    labels, predictions = result.answers()
    np.testing.assert_array_equal(labels, data.y_test)
    assert np.mean(predictions == labels) == result.test["accuracy"]
    np.testing.assert_array_equal(np.bincount(2 * labels + predictions, minlength=4).reshape(2, 2), confusion)
    chosen = result.search["chosen"]
    assert chosen.keys() == CLASSICAL_MODELS[name].space.keys()
    assert result.features == chosen.get("inputs")
    assert len(result.history["train_loss"]) == (EPOCHS if name == "mlp" else 0)


def test_the_best_trial_on_validation_is_chosen(config_of, tmp_path, fits):
    result = run_classical(config_of("trees", n=4, seed=5), tmp_path)
    trials = result.search["trials"]
    assert len(trials) == 3
    best = max(trials, key=lambda trial: (trial["accuracy"], -trial["loss"]))
    assert result.search["chosen"] == best["options"]
    assert fits == [*((trial["options"], 0) for trial in trials), (best["options"], 5)]


@pytest.mark.long
def test_the_test_split_decides_nothing(config_of, tmp_path, monkeypatch):
    """With other test rows, everything but the figures on them is the same."""
    plain = acd.load

    def upside_down(*arguments, **options):
        data = plain(*arguments, **options)
        object.__setattr__(data, "y_test", 1 - data.y_test)
        object.__setattr__(data, "X_test", data.X_test[:, ::-1].copy())
        return data

    config = config_of("mlp", trials=2)
    before = run_classical(config, tmp_path / "before")
    monkeypatch.setattr("adelic.data.sources.load", upside_down)
    after = run_classical(config, tmp_path / "after")
    assert after.test != before.test
    for key in ("validation", "history", "parameters", "rows"):
        assert getattr(after, key) == getattr(before, key)
    assert [{**trial, "seconds": 0} for trial in after.search["trials"]] == [
        {**trial, "seconds": 0} for trial in before.search["trials"]
    ]


def test_seeds_share_one_search_and_results_are_read(config_of, tmp_path, fits):
    first = run_classical(config_of("trees", seed=0), tmp_path)
    assert len(fits) == 4
    second = run_classical(config_of("trees", seed=1), tmp_path)
    assert len(fits) == 5
    assert second.search == first.search
    assert run_classical(config_of("trees", seed=0), tmp_path) == first
    assert len(fits) == 5
    assert fits_done(config_of("trees", seed=1), tmp_path) == 4
    assert fits_done(config_of("trees", seed=2), tmp_path) == 3
    assert len(list(tmp_path.iterdir())) == 3  # the search and two runs


def test_a_search_goes_on_after_its_last_trial(stop_at, config_of, tmp_path, fits):
    config = config_of("trees", trials=4)
    with pytest.raises(Stopped):
        run_classical(config, tmp_path / "parts", stop=stop_at(3))
    assert len(fits) == fits_done(config, tmp_path / "parts") == 2
    parts = run_classical(config, tmp_path / "parts")
    assert len(fits) == 5
    whole = run_classical(config, tmp_path / "whole")
    for key in ("test", "validation", "parameters", "confusion", "configuration", "features"):
        assert getattr(parts, key) == getattr(whole, key)


def test_a_search_that_drew_otherwise_is_another_one(config_of):
    """Options of trials once came from a generator of NumPy's. Where a model has no options, nothing has changed."""
    assert config_of().search_label != "schubert-3-logistic-search-44116c09"
    assert config_of("majority").search_label == "schubert-3-majority-search-9260fc44"


@pytest.mark.parametrize("name", ["logistic", "mlp", "trees"])
def test_a_trial_draws_the_same_whatever_was_drawn_before(name):
    draws = [classical_runs._draw(name, number) for number in (0, 1, 2, 7)]
    assert len({json.dumps(options) for options in draws}) == 4
    assert [classical_runs._draw(name, number) for number in (7, 2, 1, 0)] == draws[::-1]


def test_without_optuna(config_of, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "adelic_lab.search.studies", raising=False)
    with pytest.raises(MissingExtraError, match=r"the search of logistic needs .*pip install './lab\[tune\]'"):
        run_classical(config_of(), tmp_path)
    result = run_classical(config_of("majority"), tmp_path)
    assert result.search["chosen"] == {}
    assert "optuna" not in result.versions


def test_labels_tell_all_configurations_apart(config_of):
    configs = [
        config_of(), config_of("mlp"), config_of(seed=1), config_of(max_rows=9), config_of(split="orbits"),
        config_of(symmetries=True, split="orbits"), config_of(trials=9),
        config_of(n=4), config_of(task="weaving", n=6), config_of(task="weaving", n=6, edition="leaky"),
    ]  # fmt: skip
    assert len({config.label for config in configs}) == len(configs)
    assert len({config.search_label for config in configs}) == len(configs) - 1
    assert config_of("majority", trials=3) == config_of("majority", trials=9)  # there is nothing to search
    assert config_of("majority", symmetries=True) == config_of("majority")
    remembering = [config_of("lookup", symmetries=symmetries, split="orbits") for symmetries in (False, True)]
    assert remembering[0] != remembering[1]  # it knows the images, too
    assert config_of(split="orbits").label.startswith("schubert-3-orbits-logistic-search-")


def test_fewer_rows(config_of, tmp_path):
    config = config_of(n=4, max_rows=100)
    assert run_classical(config, tmp_path).rows == {"train": 100, "validation": 12, "test": 421}
    assert "--max-rows 100" in config.command()


def test_images_of_rows_are_trained_on_and_judged_by_no_more_rows(config_of, tmp_path, monkeypatch):
    seen = []
    plain = classical_runs.estimate
    monkeypatch.setattr(classical_runs, "estimate", lambda *given: seen.append(given[2]) or plain(*given))
    config = config_of("trees", n=4, trials=1, max_rows=100, symmetries=True, split="orbits")
    result = run_classical(config, tmp_path)
    (data,) = {id(data): data for data in seen}.values()
    whole = acd.load("schubert", n=4, split="orbits")
    given = {tuple(row) for row in whole.X_train}
    assert (data.X_train.shape, len(data.y_train), data.X_validation.shape) == ((400, 15), 400, (12, 15))
    rows, images = data.X_train[::4], data.X_train.reshape(100, 4, 15)
    assert all(tuple(row) in given for row in rows)
    expected, labels = acd.images(rows, data.y_train[::4], acd.task("schubert").symmetries)
    np.testing.assert_array_equal(images, expected)
    np.testing.assert_array_equal(data.y_train.reshape(100, 4), labels)
    assert result.rows == {"train": 100, "validation": 12, "test": len(whole.y_test)}
    assert "--split orbits --max-rows 100 --symmetries" in config.command()
    assert result.configuration["recipe"]["symmetries"] is True
    assert result.split == result.configuration["data"]["split"] == "orbits"


def test_a_search_is_on_the_split_of_seed_0_and_a_fit_on_its_own(config_of, tmp_path, monkeypatch):
    seen = []
    plain = classical_runs.estimate
    monkeypatch.setattr(classical_runs, "estimate", lambda *given: seen.append(given[2].X_train) or plain(*given))
    result = run_classical(config_of("trees", seed=2), tmp_path)
    first, own = (acd.load("schubert", n=3, seed=seed) for seed in (0, 2))
    assert len(seen) == 4
    for rows in seen[:3]:
        np.testing.assert_array_equal(rows, first.X_train)
    np.testing.assert_array_equal(seen[3], own.X_train)
    assert result.data_sha256 == own.provenance["sha256"] != first.provenance["sha256"]


@pytest.mark.parametrize("split", ["published", "orbits"])
@pytest.mark.parametrize("symmetries", [False, True])
def test_look_up_scores_the_look_up_of_every_result(config_of, tmp_path, split, symmetries):
    """No test row is in its table, so that it answers with the majority class; see the guard."""
    if symmetries and split == "published":
        with pytest.raises(ConfigurationError, match="use --split orbits"):
            config_of("lookup", n=4, split=split, symmetries=True)
        return
    found = [
        run_classical(config_of(name, n=4, split=split, symmetries=symmetries, seed=1), tmp_path)
        for name in ("lookup", "majority")
    ]
    memory, majority = found
    assert memory.test["accuracy"] == memory.lookup == memory.majority == majority.test["accuracy"]
    assert memory.predicts_one_class
    assert memory.search["trials"][0]["options"] == {}
    data = acd.load("schubert", n=4, split=split, seed=1)
    X, _ = training_rows(data, symmetries=symmetries)
    assert memory.parameters == len(np.unique(np.concatenate(X), axis=0))


@pytest.mark.parametrize(
    "content",
    ["{", "[]\n", "{}\n", '{"options": {}, "accuracy": 1.0, "loss": 0.0, "seconds": 0.0}\n', "\xff"],
)
def test_a_damaged_search_is_named(config_of, tmp_path, content):
    config = config_of("trees")
    folder = tmp_path / config.search_label
    folder.mkdir()
    (folder / "trials.jsonl").write_bytes(content.encode("latin-1"))
    with pytest.raises(RunFolderError, match=r"trials\.jsonl is damaged.*delete it"):
        run_classical(config, tmp_path)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"name": "tree"}, UnknownNameError, "did you mean 'trees'"),
        ({"task": "schubart"}, UnknownNameError, "did you mean 'schubert'"),
        ({"trials": 0}, ConfigurationError, "trials=0 must be a whole number from 1 to 1,000,000"),
        ({"trials": 2.0}, ConfigurationError, "trials=2.0"),
        ({"max_rows": -1}, ConfigurationError, "max-rows=-1"),
        ({"seed": -1}, ConfigurationError, "seed"),
        ({"task": "kl", "n": 5}, ConfigurationError, "kl-5 has several targets or a number per example"),
        ({"task": "characters", "n": 18}, ConfigurationError, "characters-18 has several targets or a number"),
    ],
    ids=str,
)
def test_what_makes_no_sense(config_of, changes, error, words):
    with pytest.raises(error, match=words):
        config_of(**{"n": 4, "name": "trees"} | changes)


@pytest.mark.parametrize(("task", "n"), [("weaving", 3), ("schubert", 2), ("mheight", 4)])
def test_data_too_small_to_learn_from(config_of, tmp_path, task, n):
    with pytest.raises(ConfigurationError, match=r"too small|one class only"):
        run_classical(config_of(task=task, n=n), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(config_of, tmp_path):
    told = []
    run_classical(config_of("trees"), tmp_path, progress=lambda *step: told.append(step))
    assert [step[:2] for step in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[0][2].startswith("trial 1/3, best ")


def test_a_signal_stops_between_two_fits(config_of, tmp_path):
    config = config_of("trees")

    def progress(done, total, text):
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="stopped by SIGTERM after 1 of 3 trials; saved in") as caught:
        run_classical(config, tmp_path, progress=progress)
    assert caught.value.exit_code == 143
    assert fits_done(config, tmp_path) == 1


def test_a_signal_during_the_last_fit_is_not_lost(config_of, tmp_path, monkeypatch):
    """Else a benchmark that is interrupted there goes on with its next run."""
    config, plain = config_of("trees"), classical_runs.estimate

    def fit(name, options, data, seed, between):
        if fits_done(config, tmp_path) == 3:
            signal.raise_signal(signal.SIGTERM)
        return plain(name, options, data, seed, between)

    monkeypatch.setattr(classical_runs, "estimate", fit)
    with pytest.raises(Interrupted, match="stopped by SIGTERM after 3 of 3 trials; saved in"):
        run_classical(config, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_ctrl_c_reaches_a_perceptron_that_is_being_trained(config_of, started, wait_until, tmp_path):
    """scikit-learn would turn it into a warning, and go on."""
    config = config_of("mlp", n=4, trials=100_000)
    process = started(tmp_path, *shlex.split(config.command())[1:], "--runs-dir", tmp_path)
    trials = tmp_path / config.search_label / "trials.jsonl"
    wait_until(trials.exists, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    (line,) = [line for line in err.splitlines() if line.startswith("adelic: ")]
    assert "the same command goes on from there" in line
    assert all(json.loads(line) for line in trials.read_text(encoding="utf-8").splitlines())
