"""Solvers in an experiment: fitted to the questions of a drawn task, and asked others."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Operands
from adelic.errors import AdelicError, ConfigurationError, WorkerError
from adelic.storage.provenance import machine, versions
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.names import SOLVERS, parse_solver
from adelic_lab.models import Fitted, RunContext
from adelic_lab.models.solvers.base import Solver, build_solver
from adelic_lab.models.solvers.saving import saved
from adelic_lab.results.metrics import counted, history
from adelic_lab.train.counters import CHECKPOINT
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.signals import Stopped

_BATCH = 10_000


def fit(experiment: Experiment, data: TrainValidation, context: RunContext) -> Fitted:
    """Train a solver on questions; with a run folder, one that was stopped goes on from its checkpoint there.

    Of the data, the examples to train on are operands, (n, arity), integers or Fractions, and exact answers, (n,).
    Errors are those of `solver_for`; a ConfigurationError, too, says that answers have another shape, and a WorkerError
    that your own solver has raised another error.
    """
    asked, how = experiment.questions.drawn, experiment.steps
    solver = solver_for(experiment, changes_rate=how.learning_rate is not None)
    context.begin()

    def between(done: int, steps: int, text: str) -> None:
        if context.progress is not None:
            context.progress(done, steps, text)
        if context.stop is not None and context.stop():
            raise Stopped(f"stopped after {done} of {steps} steps")

    if how.learning_rate is not None:
        solver.learning_rate = how.learning_rate
    with saved(context.folder and context.folder / CHECKPOINT) as trainings:
        questions = (asked, data.X_train, data.y_train)
        _own(experiment, solver.fit, *questions, seed=experiment.seed, steps=how.steps, progress=between)
        seconds, processor_seconds = trainings.seconds, trainings.processor_seconds

    def evaluate(X: Operands, y: Answers) -> tuple[dict[str, float], Answers]:
        given = _answers(experiment, solver, X)
        return counted(y, given), given

    return Fitted(
        evaluate=evaluate,
        predict=lambda X: (_answers(experiment, solver, X), None),
        facts={
            "features": None,
            "parameters": int(_own(experiment, lambda: solver.n_parameters)),
            "seconds": round(seconds, 3),
            "processor_seconds": round(processor_seconds, 3),
            "device": machine(),
            "versions": versions("torch", "numpy"),
            "history": history(()),
        },
        keeps_checkpoint=False,
    )


def obstacle(experiment: Experiment) -> str | None:
    """Return why a solver cannot express the task of an experiment; None if it can."""
    return build_solver(experiment.model.name).obstacle(experiment.questions.drawn)


def solver_for(experiment: Experiment, *, changes_rate: bool) -> Solver:
    """Return an experiment's solver, which has learned nothing yet.

    A ConfigurationError means that it cannot be imported, cannot express the task, or has no learning rate to change.
    """
    name, asked = experiment.model.name, experiment.questions.drawn
    solver: Solver = _own(experiment, build_solver, name)
    if obstacle := solver.obstacle(asked):
        raise ConfigurationError(f"{name} cannot express {asked.name}: {obstacle}")
    if changes_rate and solver.learning_rate is None:
        raise ConfigurationError(f"{name} trains nothing with a learning rate; leave learning-rate out")
    return solver


def _answers(experiment: Experiment, solver: Solver, operands: Operands) -> Answers:
    """Return the answer to each question, None if there is none."""
    found = [np.empty(0, dtype=object)]
    for start in range(0, len(operands), _BATCH):
        part = operands[start : start + _BATCH]
        given = _own(experiment, solver.answer, part)
        if given.shape != (len(part),):
            raise ConfigurationError(f"{experiment.model.name} gave answers of shape {given.shape}, not {(len(part),)}")
        found.append(given)
    return np.concatenate(found)


def _own(experiment: Experiment, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a part of a solver; report an error in your own solver in one line, with its position."""
    try:
        return function(*arguments, **named)
    except (AdelicError, Stopped):
        raise
    except Exception as error:
        if parse_solver(experiment.model.name)[0] in SOLVERS:
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        words = " ".join(str(error).split()) or "no message"
        where = f"{Path(place.filename).name}:{place.lineno}"
        raise WorkerError(f"{experiment.model.name}: {type(error).__name__}: {words} ({where})") from error
