"""Networks: the Transformer and its place-wise kin, built from an experiment, trained, resumed."""

import copy
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data import training_rows
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, RunFolderError
from adelic.nn import (
    EMBEDDINGS,
    LocalGlobalClassifier,
    NumberEmbedding,
    PlacewiseClassifier,
    UnionEmbedding,
    Vocabulary,
)
from adelic.nn.bodies.classifier import Classifier
from adelic.nn.bodies.graph_classifier import GraphClassifier
from adelic.nn.bodies.placewise_classifier import place_sizes
from adelic.nn.embeddings.features import ScaledEmbedding
from adelic.nn.registry import BODIES
from adelic.numbers.describe import describe
from adelic.storage.provenance import versions
from adelic_lab.config.embedding import FUSIONS
from adelic_lab.config.experiment import Experiment
from adelic_lab.models import Answered, Fitted, RunContext, device_name
from adelic_lab.results.metrics import history
from adelic_lab.results.result import Result
from adelic_lab.train.checkpoint import load_checkpoint
from adelic_lab.train.cost import check_features, check_memory, forward_flops
from adelic_lab.train.counters import CHECKPOINT, kept_lines, metrics_text
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.loop import Trainer, train
from adelic_lab.train.objectives import Objective, OneClass
from adelic_lab.train.passes import Split, ask
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.tensorboard import TensorBoardLog
from adelic_lab.train.world import ALONE, World

Network = Classifier | GraphClassifier | LocalGlobalClassifier
_BLOCK = 1 << 16
"""Examples whose ids are found at once, in eight bytes each."""


def fit(experiment: Experiment, data: TrainValidation, context: RunContext) -> Fitted:
    """Train a network, or continue after its last checkpoint.

    Raises:
        ConfigurationError: the memory cannot hold the model.
        LeakError: an example of validation or test is among the examples to train on.
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
        train(trainer, folder, lines, progress=context.progress, log=log, stop=context.stop)
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
    experiment: Experiment, data: TrainValidation, folder: Path, result: Result
) -> Callable[[np.ndarray, Sequence[Fraction]], Answered]:
    """Return the predictions of a finished run's network, which reads new numbers by its embedding's features.

    An embedding, or a body, that knows no new numbers is a ConfigurationError.
    """
    model = read_trainer(experiment, data, folder).model

    def answer(X: np.ndarray, new: Sequence[Fraction]) -> Answered:
        network: Any = model
        if new:
            if not hasattr(network, "embedding"):  # place-wise ones have frozen vectors of each place instead
                raise ConfigurationError(
                    f"{describe(new[0])} does not occur in the table of the run, and its network knows no others; "
                    "one with --places flat reads any number"
                )
            network = copy.deepcopy(model)  # numbers of many batches would fill the memory
            network.extend(new)
        # In float32, whatever the run has computed in.
        return _answered(data.objective, ask(network, torch.from_numpy(X), objective=data.objective)[0])

    return answer


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


class WordEmbedding(NumberEmbedding):
    """A learned vector for each word of a table, and before them an embedding of its numbers.

    Ids of words come first. Vectors begin as 0, so a category that training lacks says nothing.

    >>> from adelic import nn
    >>> WordEmbedding(nn.XValEmbedding([5, 7], d_model=4), n_words=3)(torch.tensor([[0, 3]]))[0, 0].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, numbers: NumberEmbedding, n_words: int) -> None:
        super().__init__(numbers.vocabulary, numbers.d_model)
        if numbers.tokens_per_number > 1:
            raise ConfigurationError(
                f"--embedding {numbers.name} has several tokens for a number, and a table with categories or gaps one "
                "for each value; --embedding adelic reads it"
            )
        self.numbers, self.n_words = numbers, n_words
        self.words = torch.nn.Embedding(n_words, numbers.d_model, _weight=torch.zeros(n_words, numbers.d_model))

    @property
    def n_ids(self) -> int | None:
        """Return the number of ids."""
        return self.n_words + (self.numbers.n_ids or 0)

    def extend(self, numbers: Sequence[Any]) -> None:
        """Add numbers after those of the vocabulary, see `NumberEmbedding.extend`."""
        self.numbers.extend(numbers)
        self.vocabulary = self.numbers.vocabulary

    def positional_encoding(self, max_length: int) -> Any:
        """Return the positional encoding that goes with the numbers."""
        return self.numbers.positional_encoding(max_length)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        ids, last = ids_or_numbers, self.n_words - 1
        words, numbers = self.words(ids.clamp(max=last)), self.numbers((ids - self.n_words).clamp(min=0))
        return torch.where((ids > last)[..., None], numbers, words)


@torch.random.fork_rng(devices=[])  # modules are made on the CPU
def build_model(experiment: Experiment, data: TrainValidation) -> Network:
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
    recipe, embedding, objective = experiment.network_recipe, experiment.embedding, data.objective
    check_features(
        embedding, recipe, recipe.batch_size * data.length if data.vocabulary is None else len(data.vocabulary)
    )
    vocabulary = None if data.vocabulary is None else Vocabulary(data.vocabulary)
    made: NumberEmbedding | None = None
    if embedding.places is None:
        torch.manual_seed(stream_seed(experiment.seed, "embedding"))
        reach = None if vocabulary is not None else int(experiment.questions.drawn.max_operand)
        made = EMBEDDINGS[embedding.name].from_options(vocabulary, recipe.d_model, embedding.options(), reach=reach)
        if vocabulary is None and isinstance(made, ScaledEmbedding | UnionEmbedding):
            made.fit(data.X_train)
        made = WordEmbedding(made, data.n_words) if data.n_words else made
    elif data.n_words:
        raise ConfigurationError(
            f"--places {embedding.places} reads numbers alone, and {experiment.row} has categories or gaps; use "
            "--places flat, or leave these columns out (--columns)"
        )
    torch.manual_seed(stream_seed(experiment.seed, "initialisation"))
    if embedding.places in FUSIONS:
        if not isinstance(objective, OneClass):
            raise ConfigurationError(
                f"--places {embedding.places} is for one class per example, and {experiment.row} has several targets "
                "or a number; use --places flat"
            )
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
    of_recipe = ("n_layers", "dropout", "norm", "pooling")
    options = objective.model_options() | {name: getattr(recipe, name) for name in of_recipe}
    options["max_length"] = data.length
    if recipe.positional == "learned":
        options["positional"] = "learned"
    sizes = {"n_heads": recipe.n_heads, "d_feedforward": recipe.d_feedforward}
    if made is None:
        assert vocabulary is not None  # an experiment makes sure of that
        space = embedding.space()
        options |= {"space": space, "features": embedding.features, "places": embedding.places}
        options |= place_sizes(space.n_primes + 1, d_model=recipe.d_model, **sizes)
        return PlacewiseClassifier(vocabulary, **options)
    body = BODIES[recipe.body]
    model: Classifier | GraphClassifier = body(
        made, **{name: value for name, value in (options | sizes).items() if name not in body.unused}
    )
    if isinstance(model, Classifier):
        _scale_first_vectors(model, made, recipe.initial_std)
    return model


@torch.no_grad()
def _scale_first_vectors(model: Classifier, embedding: NumberEmbedding, std: float) -> None:
    """Multiply the vectors that begin with a standard deviation of 1: [CLS], learned positions, tokens."""
    tables = [module.weight for module in embedding.modules() if isinstance(module, torch.nn.Embedding)]
    if model.positional.table.requires_grad:
        tables.append(model.positional.table)
    for vectors in (model.cls, *tables):
        vectors *= std


def begin(experiment: Experiment, data: TrainValidation, device: torch.device, world: World = ALONE) -> Trainer:
    """Return the trainer of a run with its untrained network, before its first epoch.

    Raises:
        LeakError: an example of validation or test is among the examples to train on.
    """
    model = build_model(experiment, data).to(device)
    X, y = training_rows(data, symmetries=experiment.recipe.symmetries)

    def split(X: np.ndarray, y: np.ndarray) -> Split:
        return Split(narrow_ids(data, X), y, device)

    return Trainer(
        model,
        experiment.network_recipe,
        # The images of an example one after the other, as the sampler counts them.
        split(X.reshape(-1, X.shape[-1]), y.reshape(-1, *y.shape[2:])),
        split(data.X_validation, data.y_validation),
        every_class=None if data.every_class is None else split(*data.every_class),
        objective=data.objective,
        seed=experiment.seed,
        n_images=X.shape[1],
        world=world,
        fresh=isinstance(experiment.data, DrawnData),
    )


def narrow_ids(data: TrainValidation, X: np.ndarray) -> np.ndarray:
    """Return the ids of examples, (rows, length), in one byte each where there are no more than 256, or in four.

    All examples of Schubert 6 with their images would take 5.6 GB in eight bytes each.

    >>> from adelic import acd
    >>> data = TrainValidation.of(acd.load("schubert", n=3))
    >>> found = narrow_ids(data, data.X_train)
    >>> found.dtype.name, bool((found == data.ids(data.X_train)).all())
    ('uint8', True)
    """
    if data.vocabulary is None:
        return data.ids(X)
    found = np.empty((len(X), data.length), np.uint8 if len(data.vocabulary) + data.n_words <= 256 else np.int32)
    for start in range(0, len(X), _BLOCK):
        found[start : start + _BLOCK] = data.ids(X[start : start + _BLOCK])
    return found


def _resume(trainer: Trainer, folder: Path) -> list[str]:
    """Load the checkpoint, if there is one, and return the lines of metrics.jsonl that belong to it."""
    path = folder / CHECKPOINT
    if not path.exists():
        return []
    trainer.best, trainer.progress = load_checkpoint(path, trainer.model, trainer.optimizer)
    return kept_lines(folder, trainer.progress)
