"""The training loop: epochs of steps, each a function of the weights, the optimizer's state and (seed, step).

`Trainer.run_epoch` has the steps; `train` runs the epochs that are left, saves, and stops when somebody asks for it.
Passes of a split, which learn nothing, are in `adelic_lab.train.passes`.
"""

import functools
import json
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from adelic.data.protocol import Progress
from adelic.errors import Interrupted
from adelic.nn.backend import Backend, Noise, is_quick
from adelic.nn.bodies.classifier import Classifier
from adelic.storage.files import atomic_write
from adelic.storage.records import sha256
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.results.metrics import counted_by_class, is_learned
from adelic_lab.train.checkpoint import Weights, save_checkpoint
from adelic_lab.train.counters import CHECKPOINT, Counters, metrics_text
from adelic_lab.train.objectives import Objective, RealNumber
from adelic_lab.train.passes import Split, Workers, ask, evaluate, tokens_of
from adelic_lab.train.sampler import ClassBalancedSampler, PassSampler, stream_seed
from adelic_lab.train.signals import Stopped, cause, deferred_signals
from adelic_lab.train.steps import Compiled, divergence, is_wanted, take_step
from adelic_lab.train.tensorboard import TensorBoardLog
from adelic_lab.train.world import ALONE, World

SAVE_SECONDS, EPOCH_SECONDS = 60.0, 5.0
"""After this time inside an epoch, or after one, another checkpoint is written; a kill costs no more work than that."""
_GAIN = 0.001
_Gradients = list[torch.Tensor | None]


class Trainer:
    """Trains a model epoch by epoch, and keeps the weights with the best validation accuracy, or the last.

    Every random draw is a function of the seed and the step: a run resumed after any step continues as if it had
    never stopped.

    With `fresh`, every example is trained on once, or as often as the recipe has passes, and the epochs share all
    examples; else an epoch draws as many as there are.

    With `every_class`, questions that have every class equally often, each epoch also counts the classes that are
    learned; nothing is chosen by that.

    `train` may have several images of each example, one after the other (`n_images`); an epoch is as long as with one.

    # NOTE[paper]: of epochs with equal validation accuracy, the one with the lower validation loss is kept, unless the
    # recipe keeps the last.
    """

    def __init__(
        self,
        model: nn.Module,
        recipe: TrainConfig,
        train: Split,
        validation: Split,
        *,
        every_class: Split | None = None,
        objective: Objective,
        seed: int,
        n_images: int = 1,
        world: World = ALONE,
        fresh: bool = False,
    ) -> None:
        self.model, self.recipe, self.objective, self.world, self.seed = model, recipe, objective, world, seed
        self.train, self.validation, self.every_class = train, validation, every_class
        self.device = train.labels.device
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        is_fused = self.device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.999), fused=is_fused
        )
        self.sampler = (
            PassSampler(len(train), passes=recipe.passes, epochs=recipe.epochs, batch_size=recipe.batch_size, seed=seed)
            if fresh
            else ClassBalancedSampler(
                # The images of an example follow one another, with one label.
                objective.strata(train.labels[::n_images].cpu().numpy()),
                batch_size=recipe.batch_size,
                power=recipe.sampling_power,
                seed=seed,
                n_images=n_images,
            )
        )
        self._batch_loss = Compiled(self._plain_loss) if is_wanted(self.device) else self._plain_loss
        # The first process chooses for all; the checkpoint keeps the choice, for a run that continues elsewhere.
        self.progress = Counters(compute=world.lead(self._choose_compute))
        self.best: Weights = {}
        self._loss = torch.zeros((), dtype=torch.float64, device=self.device)  # summed over the epoch's examples
        self._finite_step = 0  # the last step after which the loss was seen to be finite
        self._clock = self._processor = 0.0
        self._before = ""  # what the last epoch came to, for the ticks of the next one

    def run_epoch(
        self, progress: Progress | None = None, between_steps: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Train one epoch, or the rest of one, and validate; return its line of metrics.jsonl.

        Args:
            progress: called with (steps done, steps in all, text): after each step, of the last one when the epoch is
                validated, with "epoch 3/20, validation 99.47 %".
            between_steps: called between any two steps; may call `snapshot`, and may raise to stop.

        Nothing in an epoch waits for the device: the examples go there at once, and the loss is summed there.

        Raises:
            DivergenceError: the loss is not finite any more.
        """
        self._begin()
        counters, recipe, epoch = self.progress, self.recipe, self.progress.epoch
        steps, name = len(self.sampler), f"epoch {epoch + 1}/{recipe.epochs}"
        drawn = self.sampler.rows(epoch).to(self.device)
        batches = torch.split(drawn, recipe.batch_size)
        self.model.train()
        with Workers() as workers:
            for i in range(counters.batch, len(batches)):
                self.optimizer.zero_grad(set_to_none=True)
                loss = self._backward(batches[i], i, workers)
                take_step(self.optimizer, recipe.learning_rate_at(epoch, counters.step))
                self._loss += loss * len(batches[i])
                counters.step += 1
                counters.batch += 1
                if counters.batch < len(batches):
                    if progress:
                        progress(epoch * steps + counters.batch, recipe.epochs * steps, name + self._before)
                    if between_steps:
                        between_steps()
        line: dict[str, Any] = {
            "epoch": epoch + 1,
            "learning_rate": recipe.learning_rate_at(epoch, counters.step - 1),
            "train_loss": self._finite_loss() / len(drawn),
            "validation": self._validate(),
        }
        if self.every_class is not None:
            line["learned_classes"] = self._learned_classes(self.every_class)
        counters.epoch, counters.batch, counters.loss = epoch + 1, 0, 0.0
        self._count_time()
        came_to = f"validation {100 * line['validation']['accuracy']:.2f} %"
        if isinstance(self.objective, RealNumber):
            came_to = f"validation R² {line['validation']['r2']:.4f}"
        self._before = f", last {came_to}"
        if progress:
            progress((epoch + 1) * steps, recipe.epochs * steps, f"{name}, {came_to}")
        return line

    def _begin(self) -> None:
        """Begin an epoch, or go on inside one: with its loss so far, and the clock."""
        if not self._clock and self._rounds and not is_quick(self.compute, self.device):  # once
            warnings.warn(
                f"products in {self.compute} are slow here, as the processor has no instructions for them "
                "(AVX-512 BF16, AMX): --compute float32 is faster",
                stacklevel=3,
            )
        self._clock, self._processor = time.perf_counter(), time.process_time()
        # `_finite_loss` takes the mean over the processes, so each of them goes on from the mean.
        self._loss.fill_(self.progress.loss)
        self._finite_step = self.progress.step

    def _backward(self, batch: torch.Tensor, step: int, workers: Workers) -> torch.Tensor:
        """Set the parameters' gradients for a batch; return its mean loss, of several processes this one's share.

        Args:
            batch: numbers of examples.
            step: of the epoch, which with the seed decides what dropout leaves out.
            workers: the threads that share the batch on the CPU.
        """
        epoch, world = self.progress.epoch, self.world
        # Of GPUs' masks; on the CPU each example has its own, those of `Noise`.
        torch.manual_seed(stream_seed(self.seed, world.stream("dropout"), epoch) + step)
        noise = Noise(stream_seed(self.seed, "dropout", epoch) + step, first_row=world.bounds(len(batch))[0])
        own, weight = world.share(batch)
        if self.device.type == "cpu":
            loss = self._set_gradients(own, weight, noise, workers)
        else:
            # The last batch of an epoch may be smaller: one step, for which nothing is compiled.
            first, last = world.bounds(min(self.recipe.batch_size, self.sampler.n_rows))
            batch_loss = self._batch_loss if len(own) == last - first else self._plain_loss
            loss = batch_loss(self.train.read(own), self.train.labels[own]) * weight
            loss.backward()  # type: ignore[no-untyped-call]
        world.average(self.parameters)
        return loss.detach()

    def _set_gradients(self, batch: torch.Tensor, weight: float, noise: Noise, workers: Workers) -> torch.Tensor:
        """Set the gradients of a batch's mean loss, times a weight, on the CPU; return this loss.

        The examples are cut into parts that stay in cache, and the workers' threads share them; sums over parts have a
        fixed order: a run has the same bits each time.
        """
        size = workers.rows_of_a_part(len(batch), tokens_of(self.model, self.train.ids))

        def gradients(parts: list[tuple[int, torch.Tensor]]) -> _Gradients:
            """Return the loss of parts of the batch, summed and divided by the batch's size, and its gradients."""
            total: _Gradients = []
            for index, rows in parts:
                with replace(self.backend, noise=noise.from_row(noise.first_row + index * size)).on(self.device):
                    output = self.model(self.train.read(rows))
                loss = self.objective.loss(output, self.train.labels[rows], reduction="sum") / len(batch) * weight
                # Not backward(): the threads would add to one .grad, in an order that differs from time to time.
                found: _Gradients = [loss.detach(), *torch.autograd.grad(loss, self.parameters, allow_unused=True)]
                total = _add(total, found) if total else found
            return total

        shares = workers.shares(list(enumerate(torch.split(batch, size))))
        total, *found = functools.reduce(_add, workers.map(gradients, shares))
        for parameter, gradient in zip(self.parameters, found, strict=True):
            # torch's fused Adam reads a gradient in the order of its memory: a transposed one would be read wrongly.
            if gradient is not None and gradient.stride() != parameter.stride():
                gradient = torch.empty_like(parameter).copy_(gradient)
            parameter.grad = gradient
        assert total is not None  # the loss
        return total

    def _plain_loss(self, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of a batch, on devices other than the CPU."""
        with self.backend.on(ids.device):
            output = self.model(ids)
        loss: torch.Tensor = self.objective.loss(output, labels, reduction="mean")
        return loss

    def _validate(self) -> dict[str, float]:
        """Return the figures on the validation split; keep the weights if they are the best, or the last."""
        figures, _ = self.evaluate(self.validation)
        if not math.isfinite(figures["loss"]):
            raise divergence(self.model, self.recipe, self.progress, self._finite_step, "validation")
        score = (figures["accuracy"], -figures["loss"])
        if self.recipe.checkpoint == "last" or score > self.progress.best_score:
            self.progress.best_score, self.progress.best_epoch = score, self.progress.epoch + 1
            self.best = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
        return figures

    @property
    def compute(self) -> str:
        """Return the number format of products: the recipe's, or float32 where that one is slow and may fall back."""
        return self.progress.compute or self.recipe.compute

    @property
    def backend(self) -> Backend:
        """Return how the model's forward passes compute."""
        return Backend(compute=self.compute)

    def _choose_compute(self) -> str:
        is_slow = self._rounds and not is_quick(self.recipe.compute, self.device)
        return "float32" if is_slow and self.recipe.may_fall_back else self.recipe.compute

    @property
    def _rounds(self) -> bool:
        """Return whether the model's products have the recipe's number format; on the CPU some bodies have float32."""
        return self.device.type != "cpu" or isinstance(self.model, Classifier)

    def snapshot(self) -> None:
        """Complete `progress` between two steps of an epoch, for a checkpoint there.

        Raises:
            DivergenceError: the loss is no longer finite; the former checkpoint is kept.
        """
        self.progress.loss = self._finite_loss()
        self._count_time()

    def _finite_loss(self) -> float:
        """Return the epoch's summed loss; raise `DivergenceError` if it is not finite. This waits for the device."""
        loss = float(self.world.sum(self._loss)) / self.world.size
        if not math.isfinite(loss):
            raise divergence(self.model, self.recipe, self.progress, self._finite_step, "training")
        self._finite_step = self.progress.step
        return loss

    def _count_time(self) -> None:
        """Add the time since the last call, or the epoch's start, to the run's."""
        now, processor = time.perf_counter(), time.process_time()
        self.progress.seconds += now - self._clock
        self.progress.processor_seconds += processor - self._processor
        self._clock, self._processor = now, processor

    def evaluate(self, split: Split) -> tuple[dict[str, float], np.ndarray]:
        """Return the model's figures on a split, and its objective's predictions."""
        return evaluate(self.model, split, objective=self.objective, backend=self.backend, world=self.world)

    def predictions(self, ids: torch.Tensor) -> np.ndarray:
        """Return the objective's predictions for examples, (rows, length)."""
        ids = ids.to(self.device)
        return ask(self.model, ids, objective=self.objective, backend=self.backend, world=self.world)[0]

    def _learned_classes(self, split: Split) -> int:
        """Return how many classes are learned, see `is_learned`."""
        labels, (_, predicted) = split.labels.cpu().numpy(), self.evaluate(split)
        counts = counted_by_class(labels, self.objective.answers(predicted), int(labels.max()) + 1)
        return int(is_learned(**counts).sum())


def _add(total: _Gradients, other: _Gradients) -> _Gradients:
    """Add tensors to tensors in place; None, for a parameter that was not used, stays None."""
    # None in one part is None in all: in the networks of runs a parameter is used for every example, or for none.
    used = [(t, o) for t, o in zip(total, other, strict=True) if t is not None and o is not None]
    torch._foreach_add_([t for t, _ in used], [o for _, o in used])
    return total


def train(
    trainer: Trainer,
    folder: Path,
    lines: list[str],
    *,
    progress: Progress | None = None,
    log: TensorBoardLog | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Train the epochs that are left, append their lines of metrics.jsonl to `lines`, save; stop where that is asked.

    A checkpoint is written after the last epoch and before stopping; and where the last one is older than
    `EPOCH_SECONDS` after an epoch, than `SAVE_SECONDS` inside one. Of several processes the first decides, and writes;
    a signal to any of them is one to all.
    """
    world, counters = trainer.world, trainer.progress
    saved, written = time.monotonic(), len(lines)

    def save() -> None:
        nonlocal saved, written
        if len(lines) > written:  # before the checkpoint: a kill between the two leaves lines that resuming cuts off
            text, written = metrics_text(lines), len(lines)
            atomic_write(folder / "metrics.jsonl", text)
            counters.metrics = sha256(text)
        save_checkpoint(folder / CHECKPOINT, trainer.model, trainer.optimizer, trainer.best, counters)
        saved = time.monotonic()

    def is_done() -> bool:
        """Return whether all epochs are done, or the last ones brought nothing."""
        return counters.epoch >= trainer.recipe.epochs or epochs_waited(lines) >= (trainer.recipe.patience or math.inf)

    with deferred_signals() as request:

        def save_and_stop(seconds: float) -> None:
            """Save if that is due, by some seconds since the last time, or if somebody asks to stop; then stop."""
            # A message that all processes take part in, also those that have had no signal.
            signum = int(world.gather(np.array([request.signum or 0])).max())
            is_asked = world.lead(lambda: bool(signum or (stop and stop())))
            if is_asked or is_done() or world.lead(lambda: time.monotonic() - saved >= seconds):
                if counters.batch:
                    trainer.snapshot()  # in all processes, as it sums their losses
                world.lead(save)
            if signum:
                raise Interrupted(signum, _farewell(signum, trainer, folder))
            if is_asked and not is_done():
                raise Stopped(f"stopped in epoch {counters.epoch + 1}; saved in {folder}")

        def between_steps() -> None:
            if counters.batch % world.pace == 0:
                save_and_stop(SAVE_SECONDS)

        while not is_done():
            line = trainer.run_epoch(progress, between_steps)
            lines.append(json.dumps(line))
            if log:
                log.add(line)
            save_and_stop(EPOCH_SECONDS)


def epochs_waited(lines: list[str]) -> int:
    """Return for how many epochs validation was better by less than a thousandth, in accuracy and in loss.

    >>> [epochs_waited(['{"validation": {"accuracy": 1.0, "loss": 0.25}}'] * epochs) for epochs in (1, 3)]
    [0, 2]
    """
    waited, accuracy, loss = 0, -1.0, math.inf
    for figures in (json.loads(line)["validation"] for line in lines):
        is_better = figures["accuracy"] >= accuracy + _GAIN or figures["loss"] <= loss - _GAIN
        waited = 0 if is_better else waited + 1
        if is_better:
            accuracy, loss = max(accuracy, figures["accuracy"]), min(loss, figures["loss"])
    return waited


def _farewell(signum: int, trainer: Trainer, folder: Path) -> str:
    """Return the line that says what is saved and how to go on."""
    progress, epochs = trainer.progress, trainer.recipe.epochs
    where = f"epoch {progress.epoch} of {epochs}"
    if progress.batch:
        where = f"step {progress.batch:,} of {len(trainer.sampler):,} in epoch {progress.epoch + 1} of {epochs}"
    return f"{cause(signum)} after {where}; saved in {folder}; the same command goes on from there"
