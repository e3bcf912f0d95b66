"""Models outside the Transformer: a search judged by the validation split, and one last fit.

The search is random: Optuna's `RandomSampler` draws the options of trial i, with a seed of its own, and a search that
was killed goes on after its last trial. All models have equally many trials. All seeds of a model share one search, on
the split of seed 0; each is fitted, and judged, on its own split.
"""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data import LookUp, training_rows
from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError, Interrupted, RunFolderError, needs_extra
from adelic.storage.files import atomic_write, read_bytes, sole_user
from adelic.storage.provenance import versions
from adelic_lab.config.experiment import Experiment
from adelic_lab.models.classical.models import CLASSICAL_MODELS, Array, cross_entropy
from adelic_lab.models.classical.models import Fitted as FittedModel
from adelic_lab.runs.development import TrainValidation
from adelic_lab.runs.fitted import Fitted, RunContext, device_name
from adelic_lab.runs.listing import TRIALS
from adelic_lab.runs.objectives import Objective, OneClass
from adelic_lab.runs.signals import Stopped, cause, deferred_signals
from adelic_lab.train.sampler import stream_seed

SEARCH_SEED = 0
"""Seed of the options that are drawn, and of the fits of all trials: one for all, as for `adelic tune`."""


def fit_classical(experiment: Experiment, data: TrainValidation, around: RunContext) -> Fitted:
    """Search the options of a model, or continue the search, and fit the model once more with the best.

    The search has a folder beside the run folder, with its trials, one a line. Signals, and `stop`, are obeyed between
    two fits, and between two epochs. A ConfigurationError says that rows have several targets or a number, or are of
    one class only to train on, a LeakError that a row of validation or test is among those to train on, a
    RunFolderError that the search's file is damaged, and a RunBusyError that another process is at work in it, perhaps
    with another seed: seeds share a search.
    """
    if not isinstance(data.objective, OneClass):
        raise experiment.not_one_class()
    rows = _with_images(experiment, data)
    if len(np.unique(rows.y_train)) < 2:
        raise ConfigurationError(f"{experiment.data.label} has training rows of one class only")
    searched = rows
    if experiment.seed != SEARCH_SEED:
        found = experiment.data.load(SEARCH_SEED)
        searched = _with_images(experiment, TrainValidation.of(found, max_rows=experiment.recipe.max_rows))
    path = search_path(experiment, around.folder.parent)
    with ExitStack() as held, deferred_signals() as request:
        held.enter_context(sole_user(path.parent))
        around.begin()

        def between() -> None:
            if request.signum is not None:
                raise Interrupted(request.signum, _farewell(request.signum, experiment, path))
            if around.stop is not None and around.stop():
                raise Stopped(f"stopped in the search {experiment.search_label}")

        trials = _search(experiment, searched, path, between, around.progress)
        chosen = max(trials, key=_score)["options"]
        start = time.perf_counter()
        model = _fit(experiment.model.name, chosen, rows, experiment.seed, between)
        seconds = time.perf_counter() - start
        between()  # a signal during this fit, which most models do not hear, would be lost with `request`
    if around.progress is not None:
        around.progress(experiment.search.trials + 1, experiment.search.trials + 1, "chosen and fitted")
    validation, _ = judge(model, data.X_validation, data.y_validation, data.objective)
    return Fitted(
        evaluate=lambda X, y: judge(model, X, y, data.objective),
        remembered=lambda X: LookUp(rows.X_train, rows.y_train).predict(X),
        features=chosen.get("inputs"),
        parameters=model.parameters,
        flops=model.flops,
        seconds=seconds,
        device=device_name(torch.device("cpu")),
        versions=versions("scikit-learn", "numpy", *(["optuna"] if chosen else [])),
        validation={"accuracy": validation["accuracy"], "loss": validation["loss"]},
        history=model.history,
        further={
            "converged": model.converged,
            "search": {
                "seed": SEARCH_SEED,
                "chosen": chosen,
                "seconds": round(sum(trial["seconds"] for trial in trials), 3),
                "trials": trials,
            },
        },
    )


def refitted(experiment: Experiment, data: TrainValidation, options: dict[str, Any]) -> FittedModel:
    """Return the model of a finished run once more, fitted to the same rows with the options that its search chose.

    The run is on a table, whose rows have no images; the options are those in its result.
    """
    return _fit(experiment.model.name, options, data, experiment.seed, lambda: None)


def _with_images(experiment: Experiment, data: TrainValidation) -> TrainValidation:
    """Return the data with all images of the training rows where they are wanted.

    If a row of validation or test is among them, it is a LeakError.
    """
    X, y = training_rows(data, symmetries=experiment.recipe.symmetries)
    return replace(data, X_train=np.concatenate(X), y_train=np.concatenate(y))


def judge(model: FittedModel, X: Array, y: Array, objective: Objective) -> tuple[dict[str, float], Array]:
    """Return a model's figures on a split, and its predictions as `OneClass` has them, float64 (rows, 2).

    Those are a class, of equally probable ones the first, and its probability. Rows are (rows, length), classes
    (rows,).
    """
    probabilities = model.probabilities(X)
    predictions = np.stack([probabilities.argmax(axis=1), probabilities.max(axis=1)], axis=1, dtype=np.float64)
    return objective.figures(y, predictions, cross_entropy(probabilities, y)), predictions


def search_path(experiment: Experiment, runs: Path) -> Path:
    """Return where the trials of a search are, in a folder of run folders."""
    return runs / experiment.search_label / TRIALS


def trials_done(experiment: Experiment, runs: Path) -> int:
    """Return how many trials of a search are done.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.models import Classical, RandomSearch
    >>> data = TaskData("schubert", 4)
    >>> trials_done(Experiment(data=data, model=Classical(name="mlp"), recipe=RandomSearch()), Path("no runs"))
    0
    """
    return min(experiment.search.trials, (read_bytes(search_path(experiment, runs)) or b"").count(b"\n"))


def _search(
    experiment: Experiment, data: TrainValidation, path: Path, between: Callable[[], None], progress: Progress | None
) -> list[dict[str, Any]]:
    """Return all trials: those that are stored, and those that were left to make, each stored as soon as it is made."""
    name, wanted = experiment.model.name, experiment.search.trials
    trials = _stored(experiment, path)
    for number in range(len(trials), wanted):
        between()
        options = _draw(name, number)
        start = time.perf_counter()
        fitted = _fit(name, options, data, SEARCH_SEED, between)
        figures, _ = judge(fitted, data.X_validation, data.y_validation, data.objective)
        trial = {"options": options, "accuracy": figures["accuracy"], "loss": figures["loss"]}
        trial |= {"converged": fitted.converged, "seconds": round(time.perf_counter() - start, 3)}
        trials.append(trial)
        atomic_write(path, "".join(json.dumps(trial) + "\n" for trial in trials))
        if progress is not None:
            best = max(trial["accuracy"] for trial in trials)
            progress(len(trials), wanted + 1, f"trial {len(trials)}/{wanted}, best {100 * best:.2f} %")
    return trials


def _draw(name: str, number: int) -> dict[str, Any]:
    """Return the options of a trial, from 0."""
    space = CLASSICAL_MODELS[name].space
    if not space:
        return {}
    with needs_extra(f"the search of {name}", "tune", "./lab"):
        from adelic_lab.search.studies import draw
    return draw(space, stream_seed(SEARCH_SEED, "trial", number) % 2**32)


def _fit(
    name: str, options: dict[str, Any], data: TrainValidation, seed: int, between: Callable[[], None]
) -> FittedModel:
    """Fit a model; its seed is one that NumPy's older generators take."""
    return CLASSICAL_MODELS[name].fit(options, data, stream_seed(seed, "initialisation") % 2**32, between)


def _score(trial: dict[str, Any]) -> tuple[float, float]:
    """Return what trials are compared by: validation accuracy, then validation loss; of equal ones the first counts."""
    return trial["accuracy"], -trial["loss"]


def _stored(experiment: Experiment, path: Path) -> list[dict[str, Any]]:
    """Return the trials that are stored.

    If they are damaged, or another program's, it is a RunFolderError.
    """
    try:
        lines = [json.loads(line) for line in (read_bytes(path) or b"").decode().splitlines()]
        for number, line in enumerate(lines):
            # A trial's options follow from its number: those of another program, or of other bounds, are others.
            is_ours = line["options"] == _draw(experiment.model.name, number)
            if not (is_ours and all(type(line[key]) is float for key in ("accuracy", "loss", "seconds"))):
                raise ValueError(f"line {number + 1}")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}); delete it to begin the search anew") from None
    return lines[: experiment.search.trials]


def _farewell(signum: int, experiment: Experiment, path: Path) -> str:
    """Return the line that says what is saved and how to go on."""
    where = f"{trials_done(experiment, path.parent.parent)} of {experiment.search.trials} trials"
    return f"{cause(signum)} after {where}; saved in {path.parent}; the same command goes on from there"
