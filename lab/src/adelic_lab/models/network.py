"""Networks: the Transformer and its place-wise kin, built from an experiment, trained, resumed."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from adelic.data.guard import Guarded, training_rows
from adelic.data.protocol import Progress
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, Interrupted, RunFolderError
from adelic.nn import EMBEDDINGS, LocalGlobalClassifier, NumberEmbedding, PlacewiseClassifier, Vocabulary
from adelic.nn.bodies.classifier import Classifier
from adelic.nn.bodies.graph_classifier import GraphClassifier
from adelic.nn.bodies.placewise_classifier import place_sizes
from adelic.nn.embeddings.features import ScaledEmbedding
from adelic.nn.registry import BODIES
from adelic.numbers.describe import describe
from adelic.storage.files import atomic_write
from adelic.storage.provenance import versions
from adelic.storage.records import sha256
from adelic_lab.config.embedding import FUSIONS
from adelic_lab.config.experiment import Experiment
from adelic_lab.models import Answered, Fitted, RunContext, device_name
from adelic_lab.results.metrics import history
from adelic_lab.results.result import Result
from adelic_lab.train.checkpoint import load_checkpoint, save_checkpoint
from adelic_lab.train.cost import check_features, check_memory, forward_flops
from adelic_lab.train.counters import CHECKPOINT, kept_lines, metrics_text
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.loop import Split, Trainer, ask
from adelic_lab.train.objectives import Objective, OneClass
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.signals import Stopped, cause, deferred_signals
from adelic_lab.train.tensorboard import TensorBoardLog
from adelic_lab.train.world import ALONE, World

SAVE_SECONDS, EPOCH_SECONDS = 60.0, 5.0
"""After this time inside an epoch, or after one, another checkpoint is written; a kill costs no more work than that."""
Network = Classifier | GraphClassifier | LocalGlobalClassifier
_BLOCK = 1 << 16
"""Rows whose ids are found at once, in eight bytes each."""


def fit(experiment: Experiment, data: TrainValidation, context: RunContext) -> Fitted:
    """Train a network, or continue after its last checkpoint.

    Raises:
        ConfigurationError: the memory cannot hold the model.
        LeakError: a row of validation or test is among the rows to train on.
        RunFolderError: the checkpoint is damaged.
        DivergenceError: the loss left the finite numbers.
        Interrupted, Stopped: a signal, or `stop`, asked to stop.
    """
    assert context.folder is not None
    check_memory(experiment, context.device)
    world, folder = context.world, context.folder
    with world.copy_of(folder, ("metrics.jsonl", CHECKPOINT)) as source:
        trainer = begin(experiment, data, context.device, world)
        lines = _resume(trainer, source)
    world.lead(context.begin)
    logs = context.tensorboard and world.rank == 0
    with TensorBoardLog(folder, map(json.loads, lines), experiment.to_toml()) if logs else nullcontext() as log:
        _train(trainer, folder, lines, context.progress, log, context.stop)
    model = trainer.model
    model.load_state_dict(trainer.best)
    accuracy, negative_loss = trainer.progress.best_score

    def evaluate(X: np.ndarray, y: np.ndarray) -> tuple[dict[str, float], np.ndarray]:
        figures, predictions = trainer.evaluate(Split(narrow_ids(data, X), y, context.device))
        return figures, data.objective.answers(predictions)

    return Fitted(
        evaluate=evaluate,
        predict=lambda X: _answered(data.objective, trainer.predictions(torch.from_numpy(narrow_ids(data, X)))),
        facts={
            "features": experiment.embedding.features,
            "parameters": sum(parameter.numel() for parameter in trainer.parameters),
            "flops": None
            if isinstance(model, LocalGlobalClassifier) or data.vocabulary is None
            else forward_flops(model, data.length),
            "seconds": round(trainer.progress.seconds, 3),
            "processor_seconds": round(trainer.progress.processor_seconds, 3),
            "device": device_name(context.device),
            "versions": versions("torch", "numpy"),
            "validation": {"accuracy": accuracy, "loss": -negative_loss, "epoch": trainer.progress.best_epoch},
            "history": history([json.loads(line) for line in lines]),
            "places": experiment.embedding.places,
            "compute": trainer.compute,
            "devices": world.devices,
            "nodes": world.nodes,
        },
        metrics=metrics_text(lines),
    )


def read(
    experiment: Experiment, data: TrainValidation, folder: Path, result: Result, new: Sequence[Fraction] = ()
) -> Callable[[np.ndarray], Answered]:
    """Return the predictions of a finished run's network, which reads new numbers by its embedding's features.

    An embedding, or a body, that knows no new numbers is a ConfigurationError.
    """
    trainer = read_trainer(experiment, data, folder)
    network: Any = trainer.model
    if new:
        if not hasattr(network, "embedding"):  # place-wise ones have frozen vectors of each place instead
            raise ConfigurationError(
                f"{describe(new[0])} does not occur in the table of the run, and its network knows no others; "
                "one with --places flat reads any number"
            )
        network.extend(new)
    # In float32, whatever the run has computed in.
    return lambda X: _answered(data.objective, ask(network, torch.from_numpy(X), objective=data.objective)[0])


def _answered(objective: Objective, predictions: np.ndarray) -> Answered:
    """Return the answers in predictions, and of classes their probabilities."""
    return objective.answers(predictions), predictions[:, 1] if isinstance(objective, OneClass) else None


def read_trainer(experiment: Experiment, data: TrainValidation, folder: Path) -> Trainer:
    """Return a trainer whose network has the best weights of a run's checkpoint, on the CPU, ready to be asked.

    Raises:
        RunFolderError: the checkpoint is gone or damaged.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        raise RunFolderError(f"{path} is gone; --restart trains this run anew")
    # A trainer also for its optimizer: the checkpoint is checked as a whole, the optimizer's state included.
    trainer = begin(experiment, data, torch.device("cpu"))
    trainer.best, trainer.progress = load_checkpoint(path, trainer.model, trainer.optimizer)
    trainer.model.load_state_dict(trainer.best)
    trainer.model.eval()
    return trainer


@torch.random.fork_rng(devices=[])  # modules are made on the CPU
def build_model(experiment: Experiment, data: "ModelData", objective: Objective) -> Network:
    """Return the untrained network of an experiment, its initial weights drawn with the experiment's seed.

    The embedding's weights have a stream of random numbers of their own, so that two runs that differ in the
    embedding start from equal weights everywhere else. The place-wise model's sizes follow from the recipe's, which
    are the flat one's: it has about as many parameters, see `place_sizes`.
    """
    if data.vocabulary is not None:
        experiment.check_numbers(data.vocabulary)
    elif data.X_train.dtype != np.int64:
        raise ConfigurationError(
            f"a network with --embedding learns classes of whole numbers, and {experiment.row} has fractions; use "
            "--solver"
        )
    recipe, embedding = experiment.network_recipe, experiment.embedding
    check_features(
        embedding, recipe, recipe.batch_size * data.length if data.vocabulary is None else len(data.vocabulary)
    )
    vocabulary = None if data.vocabulary is None else Vocabulary(data.vocabulary)
    if embedding.places in FUSIONS:
        if not isinstance(objective, OneClass):
            raise ConfigurationError(
                f"--places {embedding.places} is for rows with one class, and {experiment.row} has several targets or "
                "a number a row; use --places flat"
            )
        torch.manual_seed(stream_seed(experiment.seed, "initialisation"))
        return LocalGlobalClassifier(
            embedding.space(),
            n_classes=objective.n_classes,
            length=data.length,
            features=str(embedding.features),
            fusion=str(embedding.places),
            width=recipe.d_model,
            n_layers=recipe.n_layers,
            tied=bool(embedding.tied),
            dropout=recipe.dropout,
            vocabulary=vocabulary,
        )
    options: dict[str, Any] = {
        **objective.model_options(),
        "max_length": data.length,
        "n_layers": recipe.n_layers,
        "n_heads": recipe.n_heads,
        "d_feedforward": recipe.d_feedforward,
        "dropout": recipe.dropout,
        "norm": recipe.norm,
        "pooling": recipe.pooling,
    }
    if recipe.positional == "learned":
        options["positional"] = "learned"
    if embedding.places is None:
        torch.manual_seed(stream_seed(experiment.seed, "embedding"))
        reach = None if vocabulary is not None else int(experiment.questions.drawn.max_operand)
        made = EMBEDDINGS[embedding.name].from_options(vocabulary, recipe.d_model, embedding.options(), reach=reach)
        if vocabulary is None and isinstance(made, ScaledEmbedding):
            made.fit(data.X_train)
        torch.manual_seed(stream_seed(experiment.seed, "initialisation"))
        body = BODIES[recipe.body]
        model: Classifier | GraphClassifier = body(made, **{k: v for k, v in options.items() if k not in body.unused})
        if isinstance(model, Classifier):
            _scale_first_vectors(model, made, recipe.initial_std)
        return model
    space = embedding.space()
    options |= {"space": space, "features": embedding.features, "places": embedding.places}
    options |= place_sizes(
        space.n_primes + 1, d_model=recipe.d_model, n_heads=recipe.n_heads, d_feedforward=recipe.d_feedforward
    )
    torch.manual_seed(stream_seed(experiment.seed, "initialisation"))
    assert vocabulary is not None  # an experiment makes sure of that
    return PlacewiseClassifier(vocabulary, **options)


@torch.no_grad()
def _scale_first_vectors(model: Classifier, embedding: NumberEmbedding, std: float) -> None:
    """Multiply the vectors that begin with a standard deviation of 1: [CLS], learned positions, tokens."""
    tables = [module.weight for module in embedding.modules() if isinstance(module, torch.nn.Embedding)]
    if model.positional.table.requires_grad:
        tables.append(model.positional.table)
    for vectors in (model.cls, *tables):
        vectors *= std


class ModelData(Protocol):
    """Data from which a network is built: by their vocabulary and the length of rows."""

    @property
    def X_train(self) -> np.ndarray: ...  # noqa: D102, N802
    @property
    def vocabulary(self) -> tuple[int | Fraction, ...] | None: ...  # noqa: D102
    @property
    def length(self) -> int: ...  # noqa: D102


class TrainingData(ModelData, Guarded, Protocol):
    """The splits that training sees, and the rows that must not be among them."""

    @property
    def X_validation(self) -> np.ndarray: ...  # noqa: D102, N802
    @property
    def y_validation(self) -> np.ndarray: ...  # noqa: D102
    @property
    def objective(self) -> Objective: ...  # noqa: D102
    def ids(self, X: np.ndarray) -> np.ndarray: ...  # noqa: D102


def begin(experiment: Experiment, data: TrainingData, device: torch.device, world: World = ALONE) -> Trainer:
    """Return the trainer of a run with its untrained network, before its first epoch."""
    model = build_model(experiment, data, data.objective).to(device)
    return make_trainer(experiment, model, data, data.objective, device, world)


def make_trainer(
    experiment: Experiment,
    model: Network,
    data: TrainingData,
    objective: Objective,
    device: torch.device,
    world: World = ALONE,
) -> Trainer:
    """Return the trainer of a run, before its first epoch; it is given no test split.

    Raises:
        LeakError: a row of validation or test is among the rows to train on.
    """
    X, y = training_rows(data, symmetries=experiment.recipe.symmetries)
    train, validation = (
        Split(narrow_ids(data, X), y, device)
        for X, y in (
            # The images of a row one after the other, as the sampler counts them.
            (X.reshape(-1, X.shape[-1]), y.reshape(-1, *y.shape[2:])),
            (data.X_validation, data.y_validation),
        )
    )
    followed = data.every_class if isinstance(data, TrainValidation) else None
    return Trainer(
        model,
        experiment.network_recipe,
        train,
        validation,
        every_class=followed and Split(narrow_ids(data, followed[0]), followed[1], device),
        objective=objective,
        seed=experiment.seed,
        n_images=X.shape[1],
        world=world,
        fresh=isinstance(experiment.data, DrawnData),
    )


def narrow_ids(data: TrainingData, X: np.ndarray) -> np.ndarray:
    """Return the ids of rows, (rows, length), in one byte each where the vocabulary has no more than 256 numbers.

    All rows of Schubert 6 with their images would take 5.6 GB in eight bytes each.

    >>> from adelic import acd
    >>> data = acd.load("schubert", n=3)
    >>> found = narrow_ids(data, data.X_train)
    >>> found.dtype.name, bool((found == data.ids(data.X_train)).all())
    ('uint8', True)
    """
    if data.vocabulary is None or len(data.vocabulary) > 256:
        return data.ids(X)
    found = np.empty((len(X), data.length), np.uint8)
    for start in range(0, len(X), _BLOCK):
        found[start : start + _BLOCK] = data.ids(X[start : start + _BLOCK])
    return found


def _train(
    trainer: Trainer,
    folder: Path,
    lines: list[str],
    progress: Progress | None,
    log: TensorBoardLog | None,
    stop: Callable[[], bool] | None,
) -> None:
    """Train the epochs that are left, append their lines of metrics.jsonl to `lines`, save; stop where that is asked.

    A checkpoint is written after the last epoch and before stopping; and where the last one is older than
    `EPOCH_SECONDS` after an epoch, than `SAVE_SECONDS` inside one. Of several processes the first decides, and writes;
    a signal to any of them is one to all.
    """
    saved, written = time.monotonic(), len(lines)
    world = trainer.world

    def save() -> None:
        nonlocal saved, written
        if len(lines) > written:  # before the checkpoint: a kill between the two leaves lines that resuming cuts off
            text, written = metrics_text(lines), len(lines)
            atomic_write(folder / "metrics.jsonl", text)
            trainer.progress.metrics = sha256(text)
        save_checkpoint(folder / CHECKPOINT, trainer.model, trainer.optimizer, trainer.best, trainer.progress)
        saved = time.monotonic()

    with deferred_signals() as request:

        def wish(seconds: float) -> int | str | None:
            """Return a signal's number, which any process may have had, "stop", "save" or None: the same in all.

            "save" is the wish where the last checkpoint is older than some seconds.
            """
            # A message that all processes take part in, also those that have had no signal.
            signum = int(world.gather(np.array([request.signum or 0])).max())

            def decide() -> int | str | None:
                if signum or (stop and stop()):
                    return signum or "stop"
                return "save" if time.monotonic() - saved >= seconds else None

            return world.lead(decide)

        def obey(wanted: int | str | None) -> None:
            if isinstance(wanted, int):
                raise Interrupted(wanted, _farewell(wanted, trainer, folder))
            if wanted == "stop" and trainer.progress.epoch < trainer.recipe.epochs:
                raise Stopped(f"stopped in epoch {trainer.progress.epoch + 1}; saved in {folder}")

        def between_steps() -> None:
            wanted = wish(SAVE_SECONDS) if trainer.progress.batch % world.pace == 0 else None
            if wanted is not None:
                # In all processes, as it sums their losses; the first one alone writes.
                trainer.snapshot()
                world.lead(save)
                obey(wanted)

        while trainer.progress.epoch < trainer.recipe.epochs:
            line = trainer.run_epoch(progress, between_steps)
            lines.append(json.dumps(line))
            wanted = wish(EPOCH_SECONDS)
            if wanted is not None or trainer.progress.epoch == trainer.recipe.epochs:
                world.lead(save)
            if log:
                log.add(line)
            obey(wanted)


def _farewell(signum: int, trainer: Trainer, folder: Path) -> str:
    """Return the line that says what is saved and how to go on."""
    progress, epochs = trainer.progress, trainer.recipe.epochs
    where = f"epoch {progress.epoch} of {epochs}"
    if progress.batch:
        where = f"step {progress.batch:,} of {len(trainer.sampler):,} in epoch {progress.epoch + 1} of {epochs}"
    return f"{cause(signum)} after {where}; saved in {folder}; the same command goes on from there"


def _resume(trainer: Trainer, folder: Path) -> list[str]:
    """Load the checkpoint, if there is one, and return the lines of metrics.jsonl that belong to it."""
    path = folder / CHECKPOINT
    if not path.exists():
        return []
    trainer.best, trainer.progress = load_checkpoint(path, trainer.model, trainer.optimizer)
    return kept_lines(folder, trainer.progress)
