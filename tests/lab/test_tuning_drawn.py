"""Searches on drawn tasks: networks that learn classes, and solvers."""

from dataclasses import replace

import numpy as np
import pytest

from adelic.data import drawn_task
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError
from adelic_lab import EmbeddingConfig, Experiment, Search, SolverConfig, Steps, load_recipe, tune
from adelic_lab.models.solvers.placewise import PlainPlacewise as PlacewiseSolver
from adelic_lab.runs.judging import development

SMALL = {"epochs": 4, "batch_size": 50, "n_layers": 1, "n_heads": 2, "d_model": 16, "d_feedforward": 32}
DATA = DrawnData("gcd", 200, test_cases=100)


def of_network(**recipe):
    return Experiment(
        data=DATA,
        model=EmbeddingConfig.of("base-digits"),
        recipe=load_recipe("fresh", DATA.row, **SMALL | recipe),
    )


def of_solver(name="adelic-placewise", **how):
    data = DrawnData("addition", 200, test_cases=100)
    return Experiment(data=data, model=SolverConfig(name=name), recipe=Steps(**{"steps": 40} | how))


@pytest.mark.parametrize("passes", [1, 3])
def test_the_budget_is_each_question_as_often_as_there_are_passes(tmp_path, passes):
    plan = Search(config=of_network(passes=passes), dimensions=("batch-size=32:64", "norm"), pruning=None)
    study = tune(plan, trials=2, storage=tmp_path / "study.db", device="cpu")
    assert [(t.state, t.epochs, t.samples) for t in study.trials] == [("complete", 4, 200 * passes)] * 2
    assert "data_sha256" not in study.to_toml()
    again = tune(plan, trials=2, storage=tmp_path / "study.db", device="cpu")
    assert again.trials == study.trials


def test_a_search_sees_no_answer_to_a_test_question(tmp_path, monkeypatch):
    """It asks for the test's questions, which must not be trained on, and never for what is right there."""
    plan = Search(config=of_network(), dimensions=("norm",))
    study = tune(plan, trials=1, storage=tmp_path / "whole.db", device="cpu")
    tests = DrawnData.tests
    monkeypatch.setattr(DrawnData, "tests", lambda *given: ((asked, None) for asked, _ in tests(*given)))
    torn = tune(plan, trials=1, storage=tmp_path / "torn.db", device="cpu")
    assert [replace(t, seconds=0) for t in torn.trials] == [replace(t, seconds=0) for t in study.trials]
    data = development(plan.config)
    assert not {*map(tuple, data.X_train), *map(tuple, data.X_validation)} & {*map(tuple, data.holdout.test)}


@pytest.mark.parametrize("dimension", ["epochs", "sampling-power", "symmetries"])
def test_dimensions_that_drawn_tasks_lack(dimension):
    with pytest.raises(ConfigurationError, match=r"is not searched on a drawn task|has no symmetries"):
        Search(config=of_network(), dimensions=("norm", dimension))


def test_a_trial_of_a_solver_is_the_solver_with_its_values(tmp_path):
    """Fitted by hand with the same questions, it answers as many of the validation's right."""
    config = of_solver()
    plan = Search(config=config, dimensions=("steps=0.5:1.0", "learning-rate=0.01:0.05"), pruning=None)
    study = tune(plan, trials=1, storage=tmp_path / "study.db")
    trial, chosen = study.best, study.config.recipe
    assert (chosen.steps, chosen.learning_rate) == (
        round(40 * trial.values["steps"]),
        float(f"{trial.values['learning-rate']:.3g}"),
    )
    operands, answers = config.data.questions(0)
    asked, _ = next(config.data.tests(0, operands))
    questions, wanted = config.data.validation(0, np.concatenate([operands, asked]))
    solver = PlacewiseSolver()
    solver.learning_rate = chosen.learning_rate
    solver.fit(drawn_task("addition"), operands, answers, seed=0, steps=chosen.steps)
    assert trial.accuracy == np.mean(solver.answer(questions) == wanted)
    assert (trial.loss, trial.epochs, trial.samples) == (None, 0, 0)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (of_solver("residue-table"), "residue-table trains nothing with a learning rate"),
        (replace(of_solver(), data=DATA, model=SolverConfig(name="adelic-characters")), "cannot express gcd"),
    ],
)
def test_what_no_trial_could_do_is_said_before_the_study(tmp_path, config, words):
    with pytest.raises(ConfigurationError, match=words):
        tune(Search(config=config, dimensions=("learning-rate",)), trials=1, storage=tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()
