"""The training loop: whole epochs, each a function of the weights, the optimizer's state and (seed, epoch)."""

import math
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.training.checkpoint import Progress, Weights
from adelic.training.divergence import divergence
from adelic.training.generators import generator_states
from adelic.training.metrics import classification_metrics
from adelic.training.recipes import Recipe
from adelic.training.sampler import ClassBalancedSampler, stream_seed
from adelic.training.world import ALONE, World

EVALUATION_BATCH = 4096
Tick = Callable[[int, int, str], None]


class Split:
    """Ids and labels of a split on a device.

    Attributes:
        ids: int64 (rows, length).
        labels: int64 (rows,).
    """

    def __init__(self, ids: torch.Tensor, labels: np.ndarray, device: torch.device) -> None:
        self.ids = ids.to(device)
        self.labels = torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64)).to(device)

    def __len__(self) -> int:
        return len(self.labels)


class Trainer:
    """Trains a model epoch by epoch, and keeps the weights with the best validation accuracy.

    Every random draw of an epoch (rows, dropout) comes from generators seeded by (seed, epoch), so that a run resumed
    after any epoch goes on as if it had never stopped. Inside an epoch, `snapshot` notes what it takes to go on after
    the last step.

    # NOTE[paper]: of epochs with equal validation accuracy, the one with the lower validation loss is kept.
    """

    def __init__(
        self, model: nn.Module, recipe: Recipe, train: Split, validation: Split, *, seed: int, world: World = ALONE
    ) -> None:
        self.model = model
        self.world = world
        self.recipe = recipe
        self.train = train
        self.validation = validation
        self.seed = seed
        self.optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.999))
        self.sampler = ClassBalancedSampler(
            train.labels.cpu().numpy(), batch_size=recipe.batch_size, power=recipe.sampling_power, seed=seed
        )
        self.progress = Progress()
        self.best: Weights = {}
        self._loss = torch.zeros((), dtype=torch.float64, device=train.labels.device)  # summed over the epoch's rows
        self._finite_step = 0  # the last step after which the loss was seen to be finite
        self._clock = 0.0

    def run_epoch(self, tick: Tick | None = None, between_steps: Callable[[], None] | None = None) -> dict[str, Any]:
        """Train one epoch, or the rest of one, and validate; return its line of metrics.jsonl.

        Args:
            tick: called with (steps done, steps in all, text).
            between_steps: called between any two steps; may call `snapshot`, and may raise to stop.

        Raises:
            DivergenceError: the loss is not finite any more.
        """
        self._clock = time.perf_counter()
        epoch, device = self.progress.epoch, self.train.labels.device
        # Inside an epoch the generators go on from where the snapshot found them; it knows the first process's alone.
        if not self.progress.batch or self.world.rank:
            torch.manual_seed(stream_seed(self.seed, self.world.stream("dropout"), epoch) + self.progress.batch)
        self._loss.fill_(self.progress.loss)
        self._finite_step = self.progress.step
        self.model.train()
        for rows in islice(self.sampler.epoch(epoch), self.progress.batch, None):
            self._loss += self._step(rows.to(device), epoch)
            self.progress.batch += 1
            if tick:
                done = epoch * len(self.sampler) + self.progress.batch
                tick(done, self.recipe.epochs * len(self.sampler), f"epoch {epoch + 1}/{self.recipe.epochs}")
            if between_steps and self.progress.batch < len(self.sampler):
                between_steps()
        train_loss = self._finite_loss() / len(self.train)
        figures, _ = evaluate(self.model, self.validation, self.world)
        if not math.isfinite(figures["loss"]):
            raise divergence(self.model, self.recipe, self.progress, self._finite_step, "validation")
        score = (figures["accuracy"], -figures["loss"])
        if score > self.progress.best_score:
            self.progress.best_score, self.progress.best_epoch = score, epoch + 1
            self.best = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
        rate = self.recipe.learning_rate_at(epoch, self.progress.step - 1)
        self.progress.epoch += 1
        self.progress.batch, self.progress.loss, self.progress.generators = 0, 0.0, {}
        self._count_time()
        return {"epoch": epoch + 1, "learning_rate": rate, "train_loss": train_loss, "validation": figures}

    def snapshot(self) -> None:
        """Complete `progress` between two steps of an epoch, so that a checkpoint can be written there.

        Raises:
            DivergenceError: the loss is not finite any more, so that the former checkpoint is the better one.
        """
        self.progress.loss = self._finite_loss()
        self.progress.generators = generator_states(self.train.labels.device)
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
        now = time.perf_counter()
        self.progress.seconds += now - self._clock
        self._clock = now

    def _step(self, rows: torch.Tensor, epoch: int) -> torch.Tensor:
        """Take one optimizer step; return the summed loss of the batch (of which other processes know other parts)."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.learning_rate_at(epoch, self.progress.step)
        self.optimizer.zero_grad(set_to_none=True)
        own, weight = self.world.share(rows)
        loss = functional.cross_entropy(self.model(self.train.ids[own]), self.train.labels[own]) * weight
        loss.backward()  # type: ignore[no-untyped-call]
        self.world.average(self.model.parameters())
        self.optimizer.step()
        self.progress.step += 1
        return loss.detach() * len(rows)


@torch.no_grad()
def evaluate(model: nn.Module, split: Split, world: World = ALONE) -> tuple[dict[str, float], np.ndarray]:
    """Return the figures of a model on a split, and its predictions, int64 (rows,)."""
    model.eval()
    loss = torch.zeros((), dtype=torch.float64, device=split.labels.device)
    predictions = [split.labels[:0]]  # a process may have no row
    first, last = world.bounds(len(split))
    for start in range(first, last, EVALUATION_BATCH):
        rows = slice(start, min(start + EVALUATION_BATCH, last))
        logits = model(split.ids[rows])
        loss += functional.cross_entropy(logits, split.labels[rows], reduction="sum")
        predictions.append(logits.argmax(dim=-1))
    predicted = world.gather(torch.cat(predictions).cpu().numpy())
    mean_loss = float(world.sum(loss)) / len(split)
    return classification_metrics(split.labels.cpu().numpy(), predicted, mean_loss), predicted
