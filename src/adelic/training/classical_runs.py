"""Runs of models outside the Transformer: a search judged by the validation split, one last fit, one look at the test.

The search is random: trial i draws its options from a stream of random numbers of its own, and a search that was killed
goes on after its last trial. All models have equally many trials. All seeds of a model share one search, on the split
of seed 0; each is fitted, and judged, on its own split.
"""

import hashlib
import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data import Dataset, LookUp, training_rows
from adelic.data.sources import Source, TaskData
from adelic.errors import ConfigurationError, Interrupted, RunFolderError, UnknownNameError
from adelic.storage.checks import check_count, check_seed
from adelic.storage.files import atomic_write, read_bytes, sole_user
from adelic.storage.provenance import source_commit, versions
from adelic.training.classical import CLASSICAL_MODELS, Array, Fitted, cross_entropy
from adelic.training.configuration import RunConfig
from adelic.training.loop import Tick
from adelic.training.objectives import Objective
from adelic.training.result import read_result_file
from adelic.training.runner import described, device_name, judged
from adelic.training.sampler import stream_seed
from adelic.training.signals import Stopped, cause, deferred_signals
from adelic.training.tuning import MOST_TRIALS, DevelopmentData

TRIALS = 20
"""Trials of a search, unless others are asked for."""
SEARCH_SEED = 0
"""Of the options that are drawn, and of the fits of all trials; as `adelic tune` uses one seed."""


@dataclass(frozen=True, kw_only=True)
class ClassicalConfig:
    """One run of a model outside the Transformer.

    Attributes:
        data: a task of some size, or a table of one's own; each row has one class.
        name: a name of `CLASSICAL_MODELS`.
        trials: of the search; 1 for a model without options.
        max_rows: train on so many rows at most; 0 for all. See `training_subset`.
        symmetries: whether all images of a training row under the task's symmetries are trained on.
        seed: of the last fit's initial weights, order of rows and choice of features; logistic regression and the
            majority class know no chance, and give every seed the same.

    Raises:
        UnknownNameError: there is no such task, or no such model.
        ConfigurationError: a value makes no sense, or rows have several targets or a number.

    >>> from adelic.data import TaskData
    >>> config = ClassicalConfig(data=TaskData("schubert", 4), name="logistic")
    >>> config.command()
    'adelic reproduce schubert-4 --models logistic --trials 20 --seeds 0'
    >>> ClassicalConfig(data=TaskData("rsk", 8), name="mlp")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: rsk-8 has several targets or a number a row; mlp is for rows with one class
    """

    data: Source
    name: str
    trials: int = TRIALS
    max_rows: int = 0
    symmetries: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.name not in CLASSICAL_MODELS:
            raise UnknownNameError.of("model", self.name, CLASSICAL_MODELS)
        for name, least, greatest in (("trials", 1, MOST_TRIALS), ("max_rows", 0, 10**9)):
            value = check_count(name, getattr(self, name), least=least, greatest=greatest)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "seed", check_seed(self.seed))
        if self.data.has_one_class_a_row is False:
            raise self._not_one_class()
        if not CLASSICAL_MODELS[self.name].space:
            object.__setattr__(self, "trials", 1)
        if not CLASSICAL_MODELS[self.name].uses_images:
            object.__setattr__(self, "symmetries", False)
        if self.symmetries:
            self.data.check_images()

    def _not_one_class(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self.data.row} has several targets or a number a row; {self.name} is for rows with one class"
        )

    @property
    def row(self) -> str:
        """Return the row of the table: schubert-4."""
        return self.data.row

    @property
    def model_label(self) -> str:
        """Return the model's name."""
        return self.name

    @property
    def search_label(self) -> str:
        """Return a readable name that no other search has: it ends in a digest of all that defines it."""
        everything = {key: value for key, value in self.as_dict().items() if key != "seed"}
        digest = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.data.label}-{self.name}-search-{digest}"

    @property
    def label(self) -> str:
        """Return a readable name that no other configuration has.

        >>> from adelic.data import TaskData
        >>> ClassicalConfig(data=TaskData("schubert", 4), name="trees", seed=3).label
        'schubert-4-trees-search-...-seed3'
        """
        return f"{self.search_label}-seed{self.seed}"

    def as_dict(self) -> dict[str, Any]:
        """Return the tables of a result's configuration; `searched` says from which values options are drawn."""
        recipe: dict[str, Any] = {"name": "search", "trials": self.trials}
        if self.max_rows:
            recipe["max_rows"] = self.max_rows
        if self.symmetries:
            recipe["symmetries"] = True
        recipe["searched"] = {name: str(values) for name, values in CLASSICAL_MODELS[self.name].space.items()}
        return {
            "seed": self.seed,
            "data": self.data.as_dict(),
            "embedding": {"name": self.name},
            "recipe": recipe,
        }

    def command(self) -> str:
        """Return the command line that repeats this run; for a table, which no command line takes here, say so."""
        if not isinstance(self.data, TaskData):
            return "adelic.training.run_classical, with the configuration that stands in this result"
        options = self.data.arguments()[3:]  # without the task and its size, which the row names
        parts = ["adelic", "reproduce", self.row, "--models", self.name, "--trials", str(self.trials), *options]
        parts += ["--max-rows", str(self.max_rows)] if self.max_rows else []
        parts += ["--symmetries"] if self.symmetries else []
        return shlex.join([*parts, "--seeds", str(self.seed)])


AnyConfig = RunConfig | ClassicalConfig
"""What a matrix of runs is made of."""


def run_classical(
    config: ClassicalConfig, runs: Path, *, tick: Tick | None = None, stop: Callable[[], bool] | None = None
) -> dict[str, Any]:
    """Search, fit and judge a model, or go on with that, or read the result.

    The search has a folder in `runs`, with its trials, one a line, and the results of all seeds. Signals, and `stop`,
    are obeyed between two fits, and between two epochs.

    Args:
        config: what to run.
        runs: folder of the run folders.
        tick: called with (fits done, fits in all, text) for a progress bar.
        stop: asked whether to stop.

    Returns:
        The result, with the keys of a Transformer's, and `search`: what was tried, and what was chosen.

    Raises:
        ConfigurationError: the data have no validation row, no test row, or one class only to train on; or
            symmetries are wanted where the task has none.
        RunFolderError: the folder's files are damaged.
        RunBusyError: another process is at work in it, perhaps with another seed: seeds share a search.
        StorageError: it cannot be written.
        Interrupted: a signal asked to stop.
        Stopped: `stop` asked to stop.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> config = ClassicalConfig(data=TaskData("schubert", 3), name="trees", trials=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run_classical(config, Path(folder))
    ...     again = run_classical(config, Path(folder))
    >>> len(result["search"]["trials"]), again == result
    (2, True)
    """
    path = result_path(config, runs)
    finished = read_result_file(path)
    if finished is not None:
        return finished
    with sole_user(path.parent):
        return read_result_file(path) or _run(config, runs, path, tick, stop)


def _run(
    config: ClassicalConfig, runs: Path, path: Path, tick: Tick | None, stop: Callable[[], bool] | None
) -> dict[str, Any]:
    """Search, fit and judge a model, or go on with that, in a folder that is held."""
    data = config.data.load(config.seed)
    if data.class_names is None:
        raise config._not_one_class()
    n_train, development = _development(config, data)
    searched = development if config.seed == SEARCH_SEED else _development(config, config.data.load(SEARCH_SEED))[1]
    if not len(data.y_test):
        raise ConfigurationError(f"{config.data.label} is too small: it has no test row")
    if len(np.unique(development.y_train)) < 2:
        raise ConfigurationError(f"{config.data.label} has training rows of one class only")
    with deferred_signals() as request:

        def between() -> None:
            if request.signum is not None:
                raise Interrupted(request.signum, _farewell(request.signum, config, runs))
            if stop is not None and stop():
                raise Stopped(f"stopped in the search {config.search_label}")

        trials = _search(config, searched, runs, between, tick)
        chosen = max(trials, key=_score)["options"]
        start = time.perf_counter()
        model = _fit(config.name, chosen, development, config.seed, between)
        seconds = time.perf_counter() - start
    if tick is not None:
        tick(config.trials + 1, config.trials + 1, "chosen and fitted")
    # Here, once, for the model that was chosen, and nowhere else in this package, its test rows are read.
    test, predictions = judge(model, data.X_test, data.y_test, development.objective)
    validation, _ = judge(model, development.X_validation, development.y_validation, development.objective)
    result = {
        **described(config.data),
        "embedding": config.name,
        "features": chosen.get("inputs", "none"),
        "recipe": "search",
        "seed": config.seed,
        "test": test,
        "validation": {"accuracy": validation["accuracy"], "loss": validation["loss"]},
        **judged(
            development.objective,
            data,
            predictions,
            lambda: LookUp(development.X_train, development.y_train).predict(data.X_test),
        ),
        "rows": {
            "train": n_train,
            "validation": len(development.y_validation),
            "test": len(data.y_test),
        },
        "parameters": model.parameters,
        "flops": model.flops,
        "converged": model.converged,
        "seconds": round(seconds, 3),
        "device": device_name(torch.device("cpu")),
        "versions": versions("scikit-learn", "numpy"),
        "commit": source_commit(),
        "command": config.command(),
        "configuration": config.as_dict(),
        "data_sha256": development.sha256,
        "search": {
            "seed": SEARCH_SEED,
            "chosen": chosen,
            "seconds": round(sum(trial["seconds"] for trial in trials), 3),
            "trials": trials,
        },
        "history": model.history,
    }
    atomic_write(path, json.dumps(result, indent=2) + "\n")
    return result


def _development(config: ClassicalConfig, data: Dataset) -> tuple[int, DevelopmentData]:
    """Return how many training rows there are, and the data with all images of these where they are wanted.

    Raises:
        LeakError: a row of validation or test is among them.
    """
    part = DevelopmentData.of(data, max_rows=config.max_rows)
    X, y = training_rows(part, symmetries=config.symmetries)
    return len(part.y_train), replace(part, X_train=np.concatenate(X), y_train=np.concatenate(y))


def judge(model: Fitted, X: Array, y: Array, objective: Objective) -> tuple[dict[str, float], Array]:
    """Return a model's figures on a split, and its predictions as `OneClass` has them, float64 (rows, 2).

    Those are a class, of equally probable ones the first, and its probability.

    Args:
        model: a fitted model.
        X: rows, (rows, length).
        y: their classes, (rows,).
        objective: the task's.
    """
    probabilities = model.probabilities(X)
    predictions = np.stack([probabilities.argmax(axis=1), probabilities.max(axis=1)], axis=1, dtype=np.float64)
    return objective.figures(y, predictions, cross_entropy(probabilities, y)), predictions


def result_path(config: ClassicalConfig, runs: Path) -> Path:
    """Return where a run's result is, once it is finished."""
    return runs / config.search_label / f"seed{config.seed}.json"


def fits_done(config: ClassicalConfig, runs: Path) -> int:
    """Return how many of a run's fits, its trials and the last one, are done.

    >>> from adelic.data import TaskData
    >>> fits_done(ClassicalConfig(data=TaskData("schubert", 4), name="mlp"), Path("no runs"))
    0
    """
    if result_path(config, runs).exists():
        return config.trials + 1
    return min(config.trials, (read_bytes(_trials_path(config, runs)) or b"").count(b"\n"))


def _search(
    config: ClassicalConfig, data: DevelopmentData, runs: Path, between: Callable[[], None], tick: Tick | None
) -> list[dict[str, Any]]:
    """Return all trials: those that are stored, and those that were left to make, each stored as soon as it is made."""
    path = _trials_path(config, runs)
    trials = _stored(config, path)
    for number in range(len(trials), config.trials):
        between()
        options = _draw(config.name, number)
        start = time.perf_counter()
        fitted = _fit(config.name, options, data, SEARCH_SEED, between)
        figures, _ = judge(fitted, data.X_validation, data.y_validation, data.objective)
        trial = {"options": options, "accuracy": figures["accuracy"], "loss": figures["loss"]}
        trial |= {"converged": fitted.converged, "seconds": round(time.perf_counter() - start, 3)}
        trials.append(trial)
        atomic_write(path, "".join(json.dumps(trial) + "\n" for trial in trials))
        if tick is not None:
            best = max(trial["accuracy"] for trial in trials)
            tick(len(trials), config.trials + 1, f"trial {len(trials)}/{config.trials}, best {100 * best:.2f} %")
    return trials


def _draw(name: str, number: int) -> dict[str, Any]:
    """Return the options of a trial, from 0."""
    return CLASSICAL_MODELS[name].draw(np.random.default_rng(stream_seed(SEARCH_SEED, "trial", number)))


def _fit(name: str, options: dict[str, Any], data: DevelopmentData, seed: int, between: Callable[[], None]) -> Fitted:
    """Fit a model; its seed is one that NumPy's older generators take."""
    return CLASSICAL_MODELS[name].fit(options, data, stream_seed(seed, "initialisation") % 2**32, between)


def _score(trial: dict[str, Any]) -> tuple[float, float]:
    """Return what trials are compared by: validation accuracy, then validation loss; of equal ones the first counts."""
    return trial["accuracy"], -trial["loss"]


def _trials_path(config: ClassicalConfig, runs: Path) -> Path:
    return runs / config.search_label / "trials.jsonl"


def _stored(config: ClassicalConfig, path: Path) -> list[dict[str, Any]]:
    """Return the trials that are stored.

    Raises:
        RunFolderError: they are damaged, or another program's.
    """
    try:
        lines = [json.loads(line) for line in (read_bytes(path) or b"").decode().splitlines()]
        for number, line in enumerate(lines):
            is_ours = line["options"] == _draw(config.name, number)
            if not (is_ours and all(type(line[key]) is float for key in ("accuracy", "loss", "seconds"))):
                raise ValueError(f"line {number + 1}")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}); delete it to begin the search anew") from None
    return lines[: config.trials]


def _farewell(signum: int, config: ClassicalConfig, runs: Path) -> str:
    """Return the line that says what is saved and how to go on."""
    where = f"{fits_done(config, runs)} of {config.trials} trials"
    return f"{cause(signum)} after {where}; saved in {runs / config.search_label}; the same command goes on from there"
