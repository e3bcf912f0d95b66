"""Searching a recipe: equal budgets for every embedding, judged by the validation split alone.

A trial is one training with proposed values. All trials of a study have the same data, the same seed (so the same
initial weights and the same stream of sampled examples) and the same budget: at most `epochs` times the examples of the
training split; on a drawn task, its questions as often as there are passes; of a solver, its steps. Studies of two
embeddings with equal `trials` and `epochs` have equal budgets, though one embedding may have more dimensions of its own
to search.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w
import torch

from adelic.data import training_rows
from adelic.data.protocol import Progress
from adelic.data.sources import DrawnData, TableData
from adelic.errors import ConfigurationError, needs_extra
from adelic.storage.files import is_stream, read_bytes
from adelic.storage.options import options
from adelic.storage.provenance import source_commit, versions
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import RandomSearch
from adelic_lab.config.options import Setting
from adelic_lab.config.recipes import read_recipe_file
from adelic_lab.models import RunContext, choose_device, device_name, fit
from adelic_lab.models.network import begin
from adelic_lab.models.solvers.fitting import solver_for
from adelic_lab.runs.judging import development
from adelic_lab.search.dimensions import Between, Report, Search, apply
from adelic_lab.train.cost import check_memory
from adelic_lab.train.data import TrainValidation

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One finished trial.

    Attributes:
        number: in the study, from 0.
        state: "complete" or "pruned".
        accuracy, loss: on the validation split, of the epoch with the best accuracy; None if no epoch was finished. A
            solver's accuracy is the share of answers that are exactly right, and it has no loss.
        epochs, samples: how many were trained on; 0 for a solver.
        seconds: of training and validation.
        reason: why the values could not be trained with; None if they could.
        values: of the dimensions.
    """

    number: int
    state: str
    accuracy: float | None
    loss: float | None = None
    epochs: int = 0
    samples: int = 0
    seconds: float = 0.0
    reason: str | None = None
    values: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not empty, for TOML."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class StudyResult:
    """A study whose trials are done.

    Attributes:
        search: what was searched.
        trials: the finished trials.
        n_failed: how many trials were killed or interrupted; they were repeated.
        device: where the last ones ran, in words.
        data_sha256: of the data; None of a drawn task, whose questions follow from the rest.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-4")
    >>> config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("learned"), recipe=recipe)
    >>> plain = {"state": "complete", "loss": 0.5, "epochs": 1, "samples": 62, "seconds": 1.0, "reason": None}
    >>> post = TrialResult(number=0, accuracy=0.5, values={"norm": "post"}, **plain)
    >>> pre = TrialResult(number=1, accuracy=0.7, values={"norm": "pre"}, **plain)
    >>> search = Search(config=config, dimensions=("norm",))
    >>> study = StudyResult(search=search, trials=(post, pre), n_failed=0, device="cpu")
    >>> study.best.number, study.config.recipe.norm, study.to_toml().splitlines()[0]
    (1, 'pre', '# Chosen by `adelic tune` after 2 trials, by validation accuracy, with one seed.')
    """

    search: Search
    trials: tuple[TrialResult, ...]
    n_failed: int
    device: str
    data_sha256: str | None = None

    @property
    def best(self) -> TrialResult:
        """Return the complete trial with the best validation accuracy; of equal ones, that with the lower loss."""
        complete = [trial for trial in self.trials if trial.state == "complete"]
        return max(complete, key=lambda t: (t.accuracy or 0.0, -(t.loss or 0.0), -t.number))

    @property
    def config(self) -> Experiment:
        """Return the run with the best values."""
        return apply(self.search.config, self.best.values)

    def plot(self, path: Path) -> None:
        """Draw the trials into a PNG, SVG or PDF file, see `plot_trials`."""
        plot_trials(self.search.space, self.trials, path)

    def to_toml(self) -> str:
        """Return the recipe's file: the chosen recipe and embedding, and where they come from."""
        base, config, best = self.search.config, self.config, self.best
        recipe = {key: value for key, value in config.recipe.as_dict().items() if key != "name"}
        study = {
            "name": self.search.name,
            "command": self.search.command(len(self.trials)),
            **base.data.as_dict(),
            **({} if self.data_sha256 is None else {"data_sha256": self.data_sha256}),
            "seed": base.seed,
            "searched": {name: str(dimension) for name, dimension in self.search.space.items()},
            "pruning": self.search.pruning_word,
            **({"epochs_per_trial": base.network_recipe.epochs} if base.is_network else {}),
            "complete": sum(t.state == "complete" for t in self.trials),
            "pruned": sum(t.state == "pruned" for t in self.trials),
            "failed": self.n_failed,
            "samples": sum(t.samples for t in self.trials),
            "seconds": round(sum(t.seconds for t in self.trials), 1),
            "device": self.device,
            "commit": source_commit() or "",
            "versions": versions("torch", "numpy", "optuna"),
            "best": {"trial": best.number, "validation_accuracy": best.accuracy}
            | ({} if best.loss is None else {"validation_loss": best.loss}),
            "trials": [trial.as_dict() for trial in self.trials],
        }
        note = f"Chosen by `adelic tune` after {len(self.trials)} trials, by validation accuracy, with one seed."
        return f"# {note}\n" + tomli_w.dumps(
            {"recipe": recipe, config.model.flag.removeprefix("--"): config.model.as_dict(), "study": study}
        )


def plot_trials(dimensions: Mapping[str, Setting], trials: Iterable[TrialResult], path: Path) -> None:
    """Draw the validation accuracy of every trial by the values of each dimension: Optuna's slice plot.

    The later a trial, the darker its point; pruned trials are grey.

    Args:
        dimensions: what was searched, by name.
        trials: those that have finished an epoch are shown.
        path: of the figure, see `adelic_lab.report.plots.kind_of_figure`.
    """
    import optuna
    from matplotlib import pyplot, rc_context
    from optuna.visualization.matplotlib import plot_slice

    from adelic_lab.report.plots import write_figure
    from adelic_lab.search.studies import distribution, quiet

    distributions = {name: distribution(dimension) for name, dimension in dimensions.items()}
    # What breaks a constraint is grey; a trial that is pruned in Optuna's own sense would not be shown.
    shown_trials = [
        optuna.trial.create_trial(
            value=100 * trial.accuracy,
            params=trial.values,
            distributions=distributions,
            system_attrs={"constraints": [float(trial.state == "pruned")]},
        )
        for trial in trials
        if trial.accuracy is not None
    ]
    # The plot sets a style for all figures to come. In its usual layout the names of choices lie on each other.
    with quiet(), rc_context({"figure.constrained_layout.use": True}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attempting to set identical", category=UserWarning)
        whole = optuna.create_study(direction="maximize")
        whole.add_trials(shown_trials)
        plot_slice(whole, target_name="validation accuracy (%)")
        figure = pyplot.gcf()
        try:
            figure.set_size_inches(1.5 + 2.2 * len(distributions), 4)
            for axes in figure.axes[: len(distributions)]:
                axes.tick_params(axis="x", rotation=60)
            write_figure(figure, path)
        finally:
            pyplot.close(figure)


def tune(
    search: Search, *, trials: int, storage: str | Path, device: str = "auto", progress: Progress | None = None
) -> StudyResult:
    """Search a recipe, or continue a search, until a number of trials is done.

    The study lives in the storage: the same call goes on with it after a kill, and several processes with the same
    storage share its trials. A killed trial is marked as failed and repeated with the same values.

    Args:
        search: what is searched.
        trials: how many are wanted, those that are done already included.
        storage: path of an SQLite file, or any URL that Optuna (SQLAlchemy) knows.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        progress: called with (epochs done, epochs in all, text) for a progress bar.

    Raises:
        LeakError: an example of validation or test is among the examples to train on; there is no study then.
        ConfigurationError: there are no trials to make, or no trial could be trained to its end.
        MissingExtraError: Optuna is not installed.
        StorageError: the storage cannot be reached or used.
        Interrupted: a signal asked to stop; finished trials are saved.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("learned"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = tune(Search(config=config, dimensions=("norm",)), trials=2, storage=f"{folder}/study.db")
    >>> [(trial.state, trial.samples) for trial in study.trials], study.config.recipe.norm in ("post", "pre")
    ([('complete', 62), ('complete', 62)], True)
    """
    options(RandomSearch)["trials"].check(trials)
    with needs_extra("searching", "tune", "./lab"):
        from adelic_lab.search.studies import run_study
    if progress is not None and isinstance(search.config.data, TableData):
        progress(0, 1, f"reading {search.config.row}, and encoding its numbers")
    config, torch_device = search.config, choose_device(device if search.config.is_network else "cpu")
    train, sha256 = (_network_trials if config.is_network else _solver_trials)(search, torch_device)
    epochs, _ = config.recipe.parts

    def report_epoch(finished: list["FrozenTrial"], epoch: int) -> None:
        if progress:
            best = max((t.value for t in finished if t.value is not None), default=None)
            text = f"trial {min(len(finished) + 1, trials)}/{trials}"
            progress(
                min(len(finished) * epochs + epoch, trials * epochs),
                trials * epochs,
                text if best is None else f"{text}, best {100 * best:.2f} %",
            )

    found = run_study(
        search.name,
        lambda values, *how: train(apply(config, values), *how),
        search.space,
        storage=storage,
        trials=trials,
        epochs=epochs,
        seed=config.seed,
        pruning=search.pruning,
        progress=report_epoch,
    )
    # Of a pruned trial Optuna gives the value that was reported last: the best up to then, as of a complete one.
    results = [
        TrialResult(
            number=t.number, state=t.state.name.lower(), accuracy=t.value, values=t.params, **t.user_attrs["figures"]
        )
        for t in found
        if t.state.name in ("COMPLETE", "PRUNED")
    ]
    if not any(result.state == "complete" for result in results):
        reason = next((r.reason for r in results if r.reason), "all were pruned")
        raise ConfigurationError(f"no trial of {search.name} came to its end ({reason})")
    return StudyResult(
        search=search,
        trials=tuple(results),
        n_failed=sum(trial.state.name == "FAIL" for trial in found),
        device=device_name(torch_device),
        data_sha256=sha256,
    )


_Trial = Callable[[Experiment, Report, Between], float]


def _network_trials(search: Search, device: torch.device) -> tuple[_Trial, str | None]:
    """Return what trains one trial of a network, and the SHA-256 of its data."""
    check_memory(search.config, device)
    data = development(search.config)
    training_rows(data, symmetries=search.tries_images)  # the guard, before there is a study
    return lambda config, report, between: train_trial(config, data, device, report, between), data.sha256


def _solver_trials(search: Search, device: torch.device) -> tuple[_Trial, None]:
    """Return what trains one trial of a solver, and no SHA-256: the questions follow from task and seed."""
    solver_for(search.config, changes_rate="learning-rate" in search.space)
    data = development(search.config)

    def train(config: Experiment, report: Report, between: Between) -> float:
        fitted = fit(config, data, RunContext(folder=None, device=torch.device("cpu"), progress=lambda *_: between()))
        accuracy: float = fitted.evaluate(data.X_validation, data.y_validation)[0]["accuracy"]
        report(1, accuracy, {"seconds": fitted.facts["seconds"]})
        return accuracy

    return train, None


def train_trial(
    config: Experiment, data: TrainValidation, device: torch.device, report: Report, between: Between
) -> float:
    """Train one trial; return the best validation accuracy of its epochs.

    Args:
        config: the run.
        data: its splits but the test split.
        device: where.
        report: called after each epoch with (epoch, best accuracy so far, figures); may end the trial by raising.
        between: called between any two steps; may raise to stop.

    Raises:
        AdelicError: the values do not go together, training diverged, or the device's memory is too small.
    """
    with torch.random.fork_rng():
        try:
            trainer = begin(config, data, device)
            counters = trainer.progress
            while counters.epoch < config.network_recipe.epochs:
                if counters.epoch:  # not only inside an epoch, which may be a single step
                    between()
                trainer.run_epoch(between_steps=between)
                accuracy, negative_loss = counters.best_score
                figures = {
                    "loss": -negative_loss,
                    "epochs": counters.epoch,
                    "samples": _rows_of(config, len(data.y_train), counters.epoch),
                    "seconds": round(counters.seconds, 3),
                }
                report(counters.epoch, accuracy, figures)
        except torch.OutOfMemoryError:
            batch = config.network_recipe.batch_size
            raise ConfigurationError(f"the memory of {device} cannot hold batch-size={batch}") from None
    return accuracy


def _rows_of(config: Experiment, n: int, epochs: int) -> int:
    """Return how many of n examples some epochs draw; those of a drawn task share its questions."""
    if isinstance(config.data, DrawnData):
        return round(n * config.network_recipe.passes * epochs / config.network_recipe.epochs)
    return n * epochs


def check_output(path: Path, search: Search) -> None:
    """Raise unless a recipe's file is missing, or a pipe or device, or holds an earlier stage of this very study.

    Raises:
        ConfigurationError: the file holds something else.
    """
    if is_stream(path) or read_bytes(path) is None:
        return
    study = read_recipe_file(path).get("study")
    name = study.get("name") if isinstance(study, dict) else None
    if name != search.name:
        raise ConfigurationError(f"{path} holds the recipe of another study; choose another --output, or delete it")
