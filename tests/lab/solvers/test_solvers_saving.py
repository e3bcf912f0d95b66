"""Solvers that were stopped go on where they were, and end as if they had not been."""

import numpy as np
import pytest
import torch

from adelic.data import DrawnData, drawn_task
from adelic.errors import RunFolderError
from adelic_lab import Experiment, SolverConfig, Steps, run
from adelic_lab.models.solvers import build_solver, saving
from adelic_lab.train.counters import read_progress
from adelic_lab.train.signals import Stopped

KINDS = {
    "adelic-placewise": "addition",
    "adelic-one-hot": "multiplication",
    "experiments.solvers.program:Program": "matrix-program",
    "experiments.solvers.controlled:Controlled": "expression",
    "adelic-characters": "modular-sum",
    "experiments.solvers.context:Context": "collatz",
    "experiments.solvers.context:Hybrid": "maximum",
    "adelic-flat": "addition",
    "crt-composite": "addition",
    "fone": "addition",
    "fone:orders=both": "addition",
    "abacus": "subtraction",
    "base-digits:autoregressive=true": "addition",
    "base-10-placewise": "addition",
}
STEPS = 6


class StopError(Exception):
    """The training was stopped."""


@pytest.fixture
def saved_after_each_step(monkeypatch):
    monkeypatch.setattr(saving, "_SECONDS", 0.0)
    monkeypatch.setattr(saving, "_SHARE", 1e9)


def fitted(name, path, *, last=None):
    """Return a solver's networks after training, which stops after so many ticks."""
    solver, task = build_solver(name), drawn_task(KINDS[name])
    operands, answers = task.sample(60, np.random.default_rng(0))
    ticks = []

    def progress(*told):
        ticks.append(told)
        if len(ticks) == last:
            raise StopError

    with saving.saved(path):
        solver.fit(task, operands, answers, seed=3, steps=STEPS, progress=progress)
    modules = [value for value in vars(solver).values() if isinstance(value, torch.nn.Module)]
    weights = [p.detach().clone() for module in modules for p in (*module.parameters(), *module.buffers())]
    return weights, solver.answer(operands).tolist(), len(ticks)


@pytest.mark.usefixtures("saved_after_each_step")
@pytest.mark.parametrize("name", KINDS)
def test_a_solver_that_was_stopped_ends_as_if_it_had_not_been(name, tmp_path):
    whole, answers, ticks = fitted(name, None)
    assert whole
    path = tmp_path / "checkpoint.safetensors"
    for last in {1, ticks // 2} if ticks > STEPS else {STEPS // 2}:  # of several trainings also in the first one
        path.unlink(missing_ok=True)
        with pytest.raises(StopError):
            fitted(name, path, last=last)
        assert read_progress(path).step > 0
        weights, again, left = fitted(name, path)
        assert left == ticks - last
        assert again == answers
        assert all(torch.equal(a, b) for a, b in zip(weights, whole, strict=True))


def small(**changes):
    data = DrawnData("addition", 50, test_cases=20, confirmation_cases=20, never_seen_cases=10)
    given = {"data": data, "model": SolverConfig(name="fone"), "recipe": Steps(steps=STEPS)}
    return Experiment(**given | changes)


@pytest.mark.usefixtures("saved_after_each_step")
def test_a_run_goes_on_and_counts_all_of_its_seconds(stop_at, tmp_path):
    whole = run(small(), tmp_path / "whole")
    folder = tmp_path / "stopped"
    with pytest.raises(Stopped, match="stopped after 3 of 6 steps"):
        run(small(), folder, stop=stop_at(3))
    before = read_progress(folder / "checkpoint.safetensors")
    assert (before.step, before.seconds > 0, before.processor_seconds > 0) == (3, True, True)
    told = []
    result = run(small(), folder, progress=lambda *what: told.append(what[:2]))
    assert told == [(4, 6), (5, 6), (6, 6)]
    assert result.test == whole.test
    assert result.seconds > before.seconds
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["DONE", "config.toml", "result.json"]
    assert run(small(), folder) == result


@pytest.mark.usefixtures("saved_after_each_step")
def test_a_checkpoint_of_another_network_is_named(tmp_path):
    """As after a change of the code: the folder's configuration is the same."""
    with pytest.raises(Stopped):
        run(small(model=SolverConfig(name="xval")), tmp_path / "other", stop=lambda: True)
    with pytest.raises(Stopped):
        run(small(), tmp_path / "run", stop=lambda: True)
    (tmp_path / "other" / "checkpoint.safetensors").replace(tmp_path / "run" / "checkpoint.safetensors")
    with pytest.raises(RunFolderError, match=r"--restart begins this run anew"):
        run(small(), tmp_path / "run")


def test_nothing_is_written_before_it_is_time(tmp_path):
    run(small(), tmp_path)
    assert not (tmp_path / "checkpoint.safetensors").exists()
