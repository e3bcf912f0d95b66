"""The searches of learning rates: what is searched, what is chosen, and that the committed plan says it."""

import subprocess
from pathlib import Path

import pytest

from adelic_lab.models.solvers import build_solver
from adelic_lab.plans import read_plan

ROOT = Path(__file__).parents[2]
SCRIPT = "arithmetic_searches"


@pytest.fixture
def small(script, tmp_path, monkeypatch):
    """The script with one small search, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "SEARCHES": tmp_path / "searches",
        "PLAN": tmp_path / "plan.toml",
        "TASKS": ("addition",),
        "EXAMPLES": 20,
        "RATES": ("5e-4", "1e-3", "2e-3"),
        "STEPS": {"xval": 2},
    }.items():
        monkeypatch.setattr(script, name, value)
    return script


def check_agreement(script):
    """The plan says what the searches chose, and these are what the script would search."""
    assert script.PLAN.read_text(encoding="utf-8") == script.plan()
    found = script.searches()
    assert len(list(script.SEARCHES.glob("*.toml"))) == len(found)
    for (task, solver), search in found.items():
        asked = script.arguments(task, solver)
        asked[5] = search["study"]["command"].split()[6]  # the solver: of older searches with the name of that time
        about, command = " ".join(asked[:8]), " ".join(asked[8:10])
        words = f"adelic {about} --seed 0 {command} --pruning median --trials {len(script.RATES)}"
        assert search["study"]["command"] == words


def test_the_committed_plan_has_the_rates_that_the_searches_chose(script):
    check_agreement(script)


def test_solvers_have_their_own_rate_among_those_tried_and_the_steps_of_other_plans(script):
    rates = {float(rate) for rate in script.RATES}
    assert len(rates) == len(script.RATES) == 8
    assert {build_solver(name).learning_rate for name in script.STEPS} <= rates
    plans = [read_plan("full", "arithmetic"), read_plan(ROOT / "experiments" / "arithmetic_long.toml")]
    steps = {
        (one.task, one.model): one.experiments[0].steps.steps
        for one in (*plans[1], *plans[0])
        if one.examples == script.EXAMPLES
    }
    for task in script.TASKS:
        assert {name: steps[task, name] for name in script.STEPS} == script.STEPS


def test_the_best_rate_is_chosen_and_of_equals_the_solvers_own(script):
    def chosen(accuracies, best):
        trials = [
            {"values": {"learning-rate": rate}, **({} if share is None else {"accuracy": share})}
            for rate, share in accuracies.items()
        ]
        return script.rate({"solver": {"name": "fone"}, "recipe": {"learning_rate": best}, "study": {"trials": trials}})

    assert chosen({1e-4: 0.0, 1e-3: 0.5, 5e-3: 0.7}, 5e-3) == 5e-3
    assert chosen({1e-4: 0.7, 1e-3: 0.7, 5e-3: 0.7}, 1e-4) == 1e-3
    assert chosen({1e-4: 0.7, 1e-3: 0.5, 5e-3: 0.7}, 1e-4) == 1e-4
    assert chosen({1e-4: 0.0, 1e-3: None}, 1e-4) == 1e-4


@pytest.mark.long
def test_a_search_is_made_once_and_its_plan_is_written(small, monkeypatch):
    assert small.table().endswith("| addition | xval | not run |  |  |")
    small.main(tasks=small.TASKS, solvers=tuple(small.STEPS), budget=300.0)
    [series] = read_plan(small.PLAN)
    assert (series.task, series.model, series.examples, len(series.experiments)) == ("addition", "xval", 20, 3)
    assert (series.experiments[0].steps.steps, series.experiments[0].steps.learning_rate) == (2, 1e-3)
    assert "xval" not in small.table()  # none of its answers is exact
    check_agreement(small)
    monkeypatch.setattr(subprocess, "Popen", None)  # nothing more is run
    small.main(tasks=small.TASKS, solvers=tuple(small.STEPS))


@pytest.mark.long
def test_a_budget_ends_a_search(small, monkeypatch):
    monkeypatch.setattr(small, "STEPS", {"fone": 10**6})
    with pytest.raises(SystemExit, match="the budget is spent; the same command goes on from there"):
        small.main(tasks=small.TASKS, solvers=tuple(small.STEPS), budget=1.0)
    assert not small.SEARCHES.exists()
