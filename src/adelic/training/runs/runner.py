"""One run: read if it is finished, else begun or resumed in its folder, judged once by the test split, and written."""

import itertools
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data import Dataset
from adelic.data.rules import best_rule
from adelic.errors import ConfigurationError
from adelic.storage.provenance import source_commit
from adelic.training.classical.fitting import fit_classical
from adelic.training.experiment import Experiment
from adelic.training.network.fitting import fit_network
from adelic.training.network.loop import Tick
from adelic.training.network.world import ALONE, World
from adelic.training.predictions import pack_answers
from adelic.training.result import Result
from adelic.training.runs.development import DevelopmentData, training_subset
from adelic.training.runs.fitted import Fitted, Surroundings
from adelic.training.runs.folder import choose_device, describe, finish, prepare
from adelic.training.runs.objectives import Objective
from adelic.training.solvers.fitting import fit_solver


def run(
    experiment: Experiment,
    folder: Path,
    *,
    device: str = "auto",
    restart: bool = False,
    tick: Tick | None = None,
    tensorboard: bool = False,
    stop: Callable[[], bool] | None = None,
    world: World = ALONE,
) -> Result:
    """Train, or resume, or read the result of one run.

    A finished run costs a read. One that was killed goes on after its last checkpoint, and ends in the metrics that it
    would have had (bit for bit on the same machine and number of threads). In the main thread of a process, SIGTERM and
    SIGINT (Ctrl-C) during training save a checkpoint after the current step and raise `Interrupted`. Models outside the
    Transformer begin with a search, which all their seeds share: its trials have a folder beside the run folder.

    Args:
        experiment: what to run.
        folder: the run folder; made if missing.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        restart: delete what a former run left in the folder.
        tick: called with (steps done, steps in all, text) for a progress bar.
        tensorboard: also write logs for TensorBoard, in the run folder's subfolder `tensorboard`.
        stop: asked between steps whether to save a checkpoint and stop.
        world: the processes that train this model together; `run_distributed` makes one.

    Returns:
        The result, which is result.json too.

    Raises:
        ConfigurationError: the data have no validation or no test rows, or the memory cannot hold the model.
        RunFolderError: the folder holds a run of another configuration, or its checkpoint is damaged.
        RunBusyError: another process trains in the folder.
        StorageError: the folder cannot be written.
        DivergenceError: the loss left the finite numbers.
        Interrupted: a signal asked to stop.
        Stopped: `stop` asked to stop.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic.training import EmbeddingConfig, load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder))
    ...     again = run(config, Path(folder))
    >>> result.rows, again == result
    ({'train': 62, 'validation': 6, 'test': 17}, True)
    """
    torch_device = choose_device(device)
    with ExitStack() as held:
        finished = world.lead(lambda: prepare(experiment, folder, held, restart=restart, tensorboard=tensorboard))
        return finished or _run(
            experiment,
            Surroundings(
                folder=folder,
                device=torch_device,
                tick=tick,
                stop=stop,
                tensorboard=tensorboard,
                world=world,
                begin=lambda: describe(experiment, folder),
            ),
        )


def _run(experiment: Experiment, around: Surroundings) -> Result:
    """Fit, or go on with that, in a folder that is held; judge, write and return the result."""
    world = around.world
    if experiment.is_solver:
        return finish(around.folder, _asked(experiment, around), None)
    with world.one_first():
        data = experiment.data.load(experiment.seed)
    if not len(data.y_validation) or not len(data.y_test):
        raise ConfigurationError(f"{experiment.data.label} is too small: it has no validation or no test rows")
    with torch.random.fork_rng():
        development = DevelopmentData.of(data, max_rows=experiment.recipe.max_rows)
        fit = fit_network if experiment.is_network else fit_classical
        fitted = fit(experiment, development, around)
        # Here, once, for the model that was chosen, and nowhere else in this package, test rows are read.
        figures, predictions = fitted.evaluate(data.X_test, data.y_test)
        data = training_subset(data, experiment.recipe.max_rows, experiment.seed)
        counts = {"train": len(data.y_train), "validation": len(data.y_validation), "test": len(data.y_test)}
        judgement = judged(development.objective, data, predictions, fitted.remembered)
        result = _result(experiment, fitted, figures, counts, judgement | {"data_sha256": data.provenance["sha256"]})
    return world.lead(lambda: finish(around.folder, result, fitted.metrics))


def _asked(experiment: Experiment, around: Surroundings) -> Result:
    """Fit a solver to the questions of a drawn task, ask it others, and return the result."""
    source, seed = experiment.questions, experiment.seed
    operands, answers = source.questions(seed)
    tests, never_seen_in = source.tests(seed, operands), list(source.never_seen(seed, operands))
    first = next(tests)
    for asked in (first[0], *(asked for _, asked, _ in never_seen_in)):
        source.drawn.check_unseen(operands, asked)  # before anything is trained
    around.begin()
    fitted = fit_solver(experiment, operands, answers, tick=around.tick, stop=around.stop)
    start = time.perf_counter()
    right, kept = [], []
    for asked, wanted in itertools.chain([first], tests):
        source.drawn.check_unseen(operands, asked)
        # Here, once, and nowhere else in this package, test questions are asked.
        figures, given = fitted.evaluate(asked, wanted)
        right.append(figures)
        kept.append((wanted, given, fitted.remembered(asked)))
        if figures["correct"] < figures["cases"]:
            break
    wanted, given, remembered = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    never_seen = {split: fitted.evaluate(asked, truth)[0] for split, asked, truth in never_seen_in}
    trivial = float(np.mean(remembered == wanted))
    return _result(
        experiment,
        fitted,
        _in_all(right),
        {"train": len(answers), "validation": 0, "test": len(wanted)},
        {
            "majority": trivial,
            "lookup": trivial,  # no test question is among those that were trained on
            "predicts_one_class": len(set(given.tolist())) == 1,
            "never_seen": never_seen,
            "evaluation_seconds": round(time.perf_counter() - start, 3),
        },
    )


def _in_all(parts: list[dict[str, float]]) -> dict[str, float]:
    """Return the figures of all test questions."""
    counts = {name: sum(part[name] for part in parts) for name in ("cases", "correct", "unanswered")}
    return {"accuracy": counts["correct"] / counts["cases"], **counts}


def _result(
    experiment: Experiment,
    fitted: Fitted,
    figures: dict[str, float],
    rows: dict[str, int],
    judgement: dict[str, Any],
) -> Result:
    """Return the result.

    Args:
        experiment: what was run.
        fitted: the model.
        figures: on the test split.
        rows: the number of rows of each split.
        judgement: further fields of the result about the test split, as `judged` returns them.
    """
    further = fitted.further
    together = {name: further[name] for name in ("devices", "nodes") if name in further}
    source = experiment.data
    return Result(
        task=source.task,
        n=source.n,
        edition=source.edition,
        split=source.split,
        contaminated=source.contaminated,
        embedding=experiment.model.name,
        features=fitted.features,
        recipe=experiment.recipe.name,
        seed=experiment.seed,
        test=figures,
        validation=fitted.validation,
        **judgement,
        rows=rows,
        parameters=fitted.parameters,
        flops=fitted.flops,
        seconds=round(fitted.seconds, 3),
        device=fitted.device,
        versions=fitted.versions,
        **further,
        commit=source_commit(),
        command=experiment.command(**together),
        configuration=experiment.as_dict(),
        history=fitted.history,
    )


def judged(
    objective: Objective, data: Dataset, predictions: np.ndarray, remembered: Callable[[np.ndarray], np.ndarray]
) -> dict[str, Any]:
    """Return a result's fields on its test predictions: the figures of trivial rules, and the packed predictions.

    The guard against leaks has made sure that no test row is among the training rows, so that look-up answers with the
    most frequent class of its table; where rows have several targets, or a number, that is the trivial rule.

    Args:
        objective: the task's.
        data: all splits; the test split is only judged.
        predictions: as the objective has them.
        remembered: from rows to the classes that look-up answers with.
    """
    rule = best_rule(data)
    found = objective.result(data.y_train, data.y_test, predictions)
    found |= {"rule": rule.accuracy, "rule_name": rule.name}
    kept = pack_answers(data.y_test, objective.answers(predictions), *objective.answer_range)
    if data.class_names is None:
        return found | {"lookup": found["majority"]} | kept
    return found | {
        "lookup": float(np.mean(remembered(data.X_test) == data.y_test)),
        "class_names": list(data.class_names),
        "labels": kept["labels"],
        "predictions": kept["predictions"],
    }
