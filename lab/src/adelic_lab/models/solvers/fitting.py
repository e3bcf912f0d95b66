"""Solvers in an experiment: fitted to the questions of a drawn task, and asked others."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Operands
from adelic.data.protocol import Progress
from adelic.errors import AdelicError, ConfigurationError, WorkerError
from adelic.storage.provenance import machine, versions
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.solver_names import SOLVERS, parse_solver
from adelic_lab.models.solvers.base import Solver, build_solver
from adelic_lab.models.solvers.saving import saved
from adelic_lab.results.metrics import counted, history
from adelic_lab.runs.fitted import Fitted
from adelic_lab.runs.signals import Stopped

_BATCH = 10_000


def fit_solver(
    experiment: Experiment,
    operands: Operands,
    answers: Answers,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    checkpoint: Path | None = None,
) -> Fitted:
    """Train a solver on questions; with a `checkpoint`, a file, one that was stopped goes on from there.

    Operands are (n, arity), integers or Fractions, answers (n,), exact. `progress` is called with (steps done, steps,
    text), `stop` asked as often. Errors are those of `solver_for`; a ConfigurationError, too, says that answers have
    another shape, and a WorkerError that a solver of your own has raised another error. `evaluate` of what is returned
    takes operands and their answers, and gives the figures and the solver's answers.
    """
    asked, how = experiment.questions.drawn, experiment.steps
    solver = solver_for(experiment, changes_rate=how.learning_rate is not None)

    def between(done: int, steps: int, text: str) -> None:
        if progress is not None:
            progress(done, steps, text)
        if stop is not None and stop():
            raise Stopped(f"stopped after {done} of {steps} steps")

    if how.learning_rate is not None:
        solver.learning_rate = how.learning_rate
    with saved(checkpoint) as trainings:
        _own(experiment, solver.fit, asked, operands, answers, seed=experiment.seed, steps=how.steps, progress=between)
        seconds, processor_seconds = trainings.seconds, trainings.processor_seconds
    return Fitted(
        evaluate=lambda X, y: _judge(experiment, solver, X, y),
        remembered=None,
        features=None,
        parameters=int(_own(experiment, lambda: solver.n_parameters)),
        flops=None,
        seconds=seconds,
        device=machine(),
        versions=versions("torch", "numpy"),
        validation=None,
        history=history(()),
        further={"processor_seconds": round(processor_seconds, 3)},
    )


def solver_for(experiment: Experiment, *, changes_rate: bool) -> Solver:
    """Return an experiment's solver, which has learned nothing yet.

    A ConfigurationError says that it cannot be imported, cannot express the task, or has no learning rate to change.
    """
    name, asked = experiment.model.name, experiment.questions.drawn
    solver: Solver = _own(experiment, build_solver, name)
    if obstacle := solver.obstacle(asked):
        raise ConfigurationError(f"{name} cannot express {asked.name}: {obstacle}")
    if changes_rate and solver.learning_rate is None:
        raise ConfigurationError(f"{name} trains nothing with a learning rate; leave learning-rate out")
    return solver


def _judge(
    experiment: Experiment, solver: Solver, operands: Operands, answers: Answers
) -> tuple[dict[str, float], Answers]:
    """Return how many answers are exactly right, and the answer to each question (None where it has none)."""
    found = [np.empty(0, dtype=object)]
    for start in range(0, len(answers), _BATCH):
        part = slice(start, start + _BATCH)
        given = _own(experiment, solver.answer, operands[part])
        if given.shape != answers[part].shape:
            raise ConfigurationError(
                f"{experiment.model.name} gave answers of shape {given.shape}, not {answers[part].shape}"
            )
        found.append(given)
    given = np.concatenate(found)
    return counted(answers, given), given


def _own(experiment: Experiment, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a part of a solver; report an error in a solver of your own in one line, with its place."""
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
