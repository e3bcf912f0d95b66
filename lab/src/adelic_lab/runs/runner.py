"""One run: read if it is finished, else begun or resumed in its folder, judged once by the test split, and written."""

import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data import Dataset
from adelic.data.protocol import Progress
from adelic.data.rules import best_question_rule, best_rule
from adelic.data.sources import DrawnData, TableData
from adelic.errors import ConfigurationError, PrecisionError, RangeError, RunFolderError
from adelic.numbers.primes import valuation
from adelic.storage.checks import check_text
from adelic.storage.files import read_bytes
from adelic.storage.provenance import source_commit
from adelic_lab.config.experiment import Experiment, check_same
from adelic_lab.config.models import Classical
from adelic_lab.models.classical.fitting import fit_classical
from adelic_lab.models.solvers.base import build_solver
from adelic_lab.models.solvers.fitting import fit_solver
from adelic_lab.results.metrics import counted, counted_by_class, most_frequent
from adelic_lab.results.predictions import digest, pack_answers, pack_wrong
from adelic_lab.results.result import Result
from adelic_lab.runs.development import TrainValidation, training_subset
from adelic_lab.runs.fitted import Fitted, RunContext, choose_device
from adelic_lab.runs.folder import CHECKPOINT, describe, finish, prepare, read_result
from adelic_lab.runs.objectives import Objective
from adelic_lab.train.fitting import Network, fit_network, read_network
from adelic_lab.train.tensorboard import TensorBoardLog, has_log, require_tensorboard
from adelic_lab.train.world import ALONE, World

_FLOAT64 = int(sys.float_info.max)
_FLOAT32 = int(np.finfo(np.float32).max)
_RAW = ("digits", "standardized")
"""The forms of AOE whose real value is a float32 as it is; others take its logarithm."""


def run(
    experiment: Experiment,
    folder: Path,
    *,
    device: str = "auto",
    restart: bool = False,
    progress: Progress | None = None,
    tensorboard: bool = False,
    stop: Callable[[], bool] | None = None,
    world: World = ALONE,
) -> Result:
    """Train, or resume, or read the result of one run.

    A finished run costs a read. Where the folder holds the same run with fewer epochs, it goes on from there, if its
    epochs do not depend on their number (schedule "constant"). One that was killed goes on after its last checkpoint,
    and ends in the metrics that it would have had (bit for bit on the same machine and number of threads). In the main
    thread of a process, SIGTERM and SIGINT (Ctrl-C) during training save a checkpoint after the current step and raise
    `Interrupted`. Models outside the Transformer begin with a search, which all their seeds share: its trials have a
    folder beside the run folder.

    Args:
        experiment: what to run.
        folder: the run folder; made if missing.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        restart: delete what a former run left in the folder.
        progress: called with (steps done, steps in all, text) for a progress bar.
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
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder))
    ...     again = run(config, Path(folder))
    >>> result.rows, again == result
    ({'train': 62, 'validation': 6, 'test': 17}, True)
    """
    torch_device = choose_device(device)
    if experiment.is_solver and not folder.is_dir():
        build_solver(experiment.model.name)  # raises before there is a folder
    with ExitStack() as held:
        if tensorboard:
            require_tensorboard()
        finished = world.lead(lambda: prepare(experiment, folder, held, restart=restart))
        if finished and tensorboard and not has_log(folder):
            lines = map(json.loads, (read_bytes(folder / "metrics.jsonl") or b"").splitlines())
            with TensorBoardLog(folder, lines, experiment.to_toml()):
                pass  # it is complete
        return finished or _run(
            experiment,
            RunContext(
                folder=folder,
                device=torch_device,
                progress=progress,
                stop=stop,
                tensorboard=tensorboard,
                world=world,
                begin=lambda: describe(experiment, folder),
            ),
        )


def development(experiment: Experiment) -> TrainValidation:
    """Return what a search, or a network's training, may see of an experiment's data: all but the test's answers.

    A ConfigurationError says that there are no validation rows, or that a network does not learn such answers; a
    RangeError that a number is beyond the floats that it reads.

    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> data = DrawnData("gcd", 100, test_cases=10)
    >>> config = Experiment(data=data, model=EmbeddingConfig.of("adelic"), recipe=load_recipe("fresh", data.row))
    >>> found = development(config)
    >>> found.X_train.shape, found.X_validation.shape, found.holdout.test.shape
    ((100, 2), (10, 2), (10, 2))
    """
    source, seed = experiment.data, experiment.seed
    if isinstance(source, DrawnData):
        trained_on = source.questions(seed)
        asked, _ = next(source.tests(seed, trained_on[0]))
        return TrainValidation.of_questions(source, seed, trained_on, asked, experiment.vocabulary)
    data = source.load(seed)
    check_numbers(experiment, data.vocabulary)
    return TrainValidation.of(data, max_rows=experiment.recipe.max_rows, view=experiment.view)


def trained_network(experiment: Experiment, folder: Path) -> Network:
    """Return the network of a finished run, with the weights that its result was measured with, on the CPU.

    Args:
        experiment: what was run.
        folder: the run folder.

    Raises:
        RunFolderError: the run is not finished, or of another configuration, or its checkpoint is gone or damaged.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder), device="cpu")
    ...     network = trained_network(config, Path(folder))
    >>> network.n_parameters == result.parameters
    True
    """
    if not experiment.is_network:
        raise ConfigurationError(f"{experiment.model.name} is not a network; networks have an --embedding")
    finished_result(experiment, folder)
    with torch.random.fork_rng():
        return read_network(experiment, development(experiment), folder)


def command_in(experiment: Experiment, folder: Path) -> str:
    """Return the command that makes a run in its folder, or goes on with it."""
    return f"{experiment.command()} --run-dir {shlex.quote(str(folder))}"


def finished_result(experiment: Experiment, folder: Path) -> Result:
    """Return the result of an experiment's finished run.

    If it is not finished, or of another configuration, it is a RunFolderError.
    """
    result = read_result(folder)
    if result is None:
        raise RunFolderError(f"{folder} holds no finished run; this makes it one: {command_in(experiment, folder)}")
    check_same(experiment, folder / "config.toml")
    return result


def _run(experiment: Experiment, around: RunContext) -> Result:
    """Fit, or go on with that, in a folder that is held; judge, write and return the result."""
    world = around.world
    if isinstance(experiment.data, DrawnData):
        result, metrics = _asked(experiment, around)
        finished = world.lead(lambda: finish(experiment, around.folder, result, metrics))
        if experiment.is_solver:  # nothing predicts with it
            (around.folder / CHECKPOINT).unlink(missing_ok=True)
        return finished
    progress = around.progress if isinstance(experiment.data, TableData) else None  # which may have millions of numbers
    if progress is not None:
        progress(0, 1, f"reading {experiment.data.row}")
    with world.one_first():
        data = experiment.data.load(experiment.seed)
    check_numbers(experiment, data.vocabulary)
    if not len(data.y_validation) or not len(data.y_test):
        raise ConfigurationError(f"{experiment.data.label} is too small: it has no validation or no test rows")
    if progress is not None:
        progress(0, 1, f"encoding {len(data.vocabulary):,} numbers, and building the model")
    for name in data.class_names or ():
        check_text("the class", name)
    with torch.random.fork_rng():
        seen = TrainValidation.of(data, max_rows=experiment.recipe.max_rows, view=experiment.view)
        fit = fit_network if experiment.is_network else fit_classical
        fitted = fit(experiment, seen, around)
        # Here, once, for the model that was chosen, and nowhere else in this package, test rows are read.
        figures, predictions = fitted.evaluate(data.X_test, data.y_test)
        data = training_subset(data, experiment.recipe.max_rows, experiment.seed)
        counts = {"train": len(data.y_train), "validation": len(data.y_validation), "test": len(data.y_test)}
        assert fitted.remembered is not None  # of stored rows
        judgement = judged(seen.objective, data, predictions, fitted.remembered)
        result = _result(experiment, fitted, figures, counts, judgement | {"data_sha256": data.provenance["sha256"]})
    return world.lead(lambda: finish(experiment, around.folder, result, fitted.metrics))


def _asked(experiment: Experiment, around: RunContext) -> tuple[Result, bytes | None]:
    """Fit a model to the questions of a drawn task, ask it others; return the result and metrics.jsonl, if it has one.

    Here, and nowhere else in this package, test questions are asked: once, and further ones to confirm a model that has
    all of them right.
    """
    source, seed, task = experiment.questions, experiment.seed, experiment.questions.drawn
    operands, answers = source.questions(seed)
    tests, never_seen_in = source.tests(seed, operands), list(source.never_seen(seed, operands))
    first = next(tests)
    for asked in (first[0], *(asked for _, asked, _ in never_seen_in)):
        task.check_unseen(operands, asked)  # before anything is trained
    if experiment.is_solver:
        around.begin()
        checkpoint = around.folder / CHECKPOINT
        fitted = fit_solver(
            experiment, operands, answers, progress=around.progress, stop=around.stop, checkpoint=checkpoint
        )
        n_validation = 0
    else:
        with torch.random.fork_rng():
            questions = TrainValidation.of_questions(source, seed, (operands, answers), first[0], experiment.vocabulary)
            task.check_unseen(operands, questions.X_validation)
            fitted, n_validation = fit_network(experiment, questions, around), len(questions.y_validation)
    start = time.perf_counter()
    tested, wanted, given = *first, fitted.evaluate(*first)[1]
    if (given == wanted).all():
        for asked, truth in tests:
            task.check_unseen(operands, asked)
            tested = np.concatenate([tested, asked])
            wanted, given = np.append(wanted, truth), np.append(given, fitted.evaluate(asked, truth)[1])
    never_seen = {split: (truth, fitted.evaluate(asked, truth)[1]) for split, asked, truth in never_seen_in}
    answered = {"test": (wanted, given), **never_seen}
    questions_asked = [(tested, wanted), *((asked, truth) for _, asked, truth in never_seen_in)]
    trivial = float(np.mean(wanted == most_frequent(answers)))  # no test question is among those that were trained on
    judgement: dict[str, Any] = {
        "majority": trivial,
        "lookup": trivial,
        "predicts_one_class": len(set(given.tolist())) == 1,
        "never_seen": {split: counted(*pair) for split, pair in never_seen.items()},
        "wrong": {split: pack_wrong(*pair) for split, pair in answered.items()},
        "asked_sha256": digest(questions_asked),
        "evaluation_seconds": round(time.perf_counter() - start, 3),
    }
    if task.class_names is not None:
        rule = best_question_rule(task, operands, answers)
        judgement |= {
            "rule": rule.accuracy(tested, wanted),
            "rule_name": rule.name,
            "class_names": list(task.class_names),
            "by_class": {split: counted_by_class(*pair, len(task.class_names)) for split, pair in answered.items()},
        }
    counts = {"train": len(answers), "validation": n_validation, "test": len(wanted)}
    return _result(experiment, fitted, counted(wanted, given), counts, judgement), fitted.metrics


def _result(
    experiment: Experiment,
    fitted: Fitted,
    figures: dict[str, float],
    rows: dict[str, int],
    judgement: dict[str, Any],
) -> Result:
    """Return the result.

    Figures are on the test split, `rows` counts those of each split, and `judgement` is as `judged` returns it.
    """
    further = fitted.further
    together = {name: further[name] for name in ("devices", "nodes") if name in further}
    of_data = ("task", "n", "edition", "split", "contaminated")
    of_fit = ("features", "validation", "parameters", "flops", "device", "versions", "history")
    return Result(
        **{name: getattr(experiment.data, name) for name in of_data},
        **{name: getattr(fitted, name) for name in of_fit},
        **judgement,
        **further,
        embedding=experiment.model.name,
        recipe=experiment.recipe.name,
        seed=experiment.seed,
        test=figures,
        rows=rows,
        seconds=round(fitted.seconds, 3),
        commit=source_commit(),
        command=experiment.command(**together),
        configuration=experiment.as_dict(),
    )


def judged(
    objective: Objective, data: Dataset, predictions: np.ndarray, remembered: Callable[[np.ndarray], np.ndarray]
) -> dict[str, Any]:
    """Return a result's fields on its test predictions: the figures of trivial rules, and the packed predictions.

    The guard against leaks has made sure that no test row is among the training rows, so that look-up answers with the
    most frequent class of its table; where rows have several targets, or a number, that is the trivial rule.
    `remembered` goes from rows to the classes that look-up answers with.
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
        "labels": kept.get("labels"),
        "predictions": kept.get("predictions"),
    }


def check_numbers(
    experiment: Experiment, numbers: Sequence[int | Fraction], place: Callable[[Fraction], str] | None = None
) -> None:
    r"""Raise where the model of an experiment on a table reads numbers as floats that do not hold one of them.

    Args:
        experiment: the run; on other data than a table nothing is checked.
        numbers: those that are to be read.
        place: of numbers of another table, the words for where one stands.

    Raises:
        RangeError: a number is too large.
        PrecisionError: a number of another table has more digits after the point, at a prime, than the run has.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from adelic_lab.config.models import RandomSearch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("a,y\n1e400,p", encoding="utf-8")
    ...     data = TableData(str(path), target="y")
    ...     trees = Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch())
    ...     check_numbers(trees, [10**400])
    Traceback (most recent call last):
    adelic.errors.RangeError: column 'a' has 1000000…000 (401 digits) in row 1 (line 2), beyond the largest float
    (1.8e+308) that trees reads; scale the numbers, or train a network with --embedding adelic --coordinates p-adic
    """
    if not isinstance(experiment.data, TableData):
        return
    where = place or experiment.data.place_of
    largest = _largest_float(experiment)
    for q in numbers:
        # Of integers: a fraction for each of 10^6 numbers takes seconds.
        if largest is not None and abs(q.numerator) > largest * q.denominator:
            raise RangeError(
                f"{where(Fraction(q))}, beyond the largest float ({float(largest):.2g}) that "
                f"{experiment.model.name} reads; scale the numbers, or train a network with --embedding adelic "
                "--coordinates p-adic"
            )
    if place is None or not experiment.is_network:
        return
    embedding = experiment.embedding
    for q in numbers:
        needed = max((valuation(q.denominator, p) for p in embedding.primes or ()), default=0)
        if needed > (embedding.fractional_digits or 0):
            raise PrecisionError(
                f"{place(Fraction(q))}, which needs {needed} digit{'s' * (needed != 1)} after the point, and the run "
                f"has {embedding.fractional_digits}; train another one with --fractional-digits {needed}"
            )


def _largest_float(experiment: Experiment) -> int | None:
    """Return the largest number that a model can read as a float; None where it reads none as a float."""
    if isinstance(experiment.model, Classical):
        return None if experiment.model.name == "lookup" else _FLOAT64
    embedding = experiment.embedding
    if embedding.name == "adelic" and embedding.coordinates != "p-adic":
        return _FLOAT32 if embedding.places is None and embedding.features in _RAW else _FLOAT64
    return _FLOAT64 if embedding.name in ("xval", "periodic") else None
