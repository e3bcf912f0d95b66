"""The training loop: whole epochs, each a function of the weights, the optimizer's state and (seed, epoch)."""

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from adelic.errors import DivergenceError
from adelic.nn import SequenceClassifier
from adelic.nn.fused import Noise
from adelic.training.checkpoint import Progress, Weights
from adelic.training.metrics import classification_metrics
from adelic.training.recipes import Recipe
from adelic.training.sampler import ClassBalancedSampler, stream_seed
from adelic.training.workers import Workers

EVALUATION_BATCH = 4096
"""Rows at once on a GPU, and at most on the CPU."""
Tick = Callable[[int, int, str], None]
Gradients = list[torch.Tensor | None]


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
    after any epoch goes on as if it had never stopped.

    # NOTE[paper]: of epochs with equal validation accuracy, the one with the lower validation loss is kept.
    """

    def __init__(
        self, model: SequenceClassifier, recipe: Recipe, train: Split, validation: Split, *, seed: int
    ) -> None:
        self.model = model
        self.recipe = recipe
        self.train = train
        self.validation = validation
        self.seed = seed
        self.device = train.labels.device
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        is_fused = self.device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.999), fused=is_fused
        )
        self.sampler = ClassBalancedSampler(
            train.labels.cpu().numpy(), batch_size=recipe.batch_size, power=recipe.sampling_power, seed=seed
        )
        self.progress = Progress()
        self.best: Weights = {}

    def run_epoch(self, tick: Tick | None = None) -> dict[str, Any]:
        """Train one epoch and validate; return its line of metrics.jsonl.

        Nothing in an epoch waits for the device: the rows go there at once, and the loss is summed there.

        Raises:
            DivergenceError: the loss is not finite any more.
        """
        started = time.perf_counter()
        epoch = self.progress.epoch
        train_loss = self._train(epoch, tick)
        figures, _ = evaluate(self.model, self.validation, compute=self.recipe.compute)
        if not math.isfinite(train_loss + figures["loss"]):
            raise DivergenceError(
                f"the loss left the finite numbers in epoch {epoch + 1} at learning rate "
                f"{self.recipe.learning_rate_at(epoch, self.progress.step):g}; a lower --learning-rate may help"
            )
        score = (figures["accuracy"], -figures["loss"])
        if score > self.progress.best_score:
            self.progress.best_score, self.progress.best_epoch = score, epoch + 1
            self.best = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
        rate = self.recipe.learning_rate_at(epoch, self.progress.step - 1)
        self.progress.epoch += 1
        self.progress.seconds += time.perf_counter() - started
        return {"epoch": epoch + 1, "learning_rate": rate, "train_loss": train_loss, "validation": figures}

    def _train(self, epoch: int, tick: Tick | None) -> float:
        """Take the steps of an epoch; return the mean loss."""
        dropout_seed = stream_seed(self.seed, "dropout", epoch)
        torch.manual_seed(dropout_seed)
        self.model.train()
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        rows = self.sampler.rows(epoch).to(self.device)
        with Workers() as workers:
            for i, batch in enumerate(torch.split(rows, self.recipe.batch_size)):
                for group in self.optimizer.param_groups:
                    group["lr"] = self.recipe.learning_rate_at(epoch, self.progress.step)
                total += self._backward(batch, Noise(dropout_seed + i), workers) * len(batch)
                self.optimizer.step()
                self.progress.step += 1
                if tick:
                    done = epoch * len(self.sampler) + i + 1
                    tick(done, self.recipe.epochs * len(self.sampler), f"epoch {epoch + 1}/{self.recipe.epochs}")
        return float(total) / len(self.train)

    def _backward(self, batch: torch.Tensor, noise: Noise, workers: Workers) -> torch.Tensor:
        """Set the parameters' gradients for a batch; return its mean loss."""
        if self.device.type != "cpu":
            self.optimizer.zero_grad(set_to_none=True)
            logits = _logits(self.model, self.train.ids[batch], self.recipe.compute)
            loss = functional.cross_entropy(logits, self.train.labels[batch])
            loss.backward()  # type: ignore[no-untyped-call]
            return loss.detach()
        size = workers.rows_of_a_part(len(batch), self.train.ids.shape[1] + 1)

        def gradients(parts: list[tuple[int, torch.Tensor]]) -> Gradients:
            """Return the loss of parts of the batch, summed and divided by the batch's size, and its gradients."""
            total: Gradients = []
            for index, rows in parts:
                logits = _logits(self.model, self.train.ids[rows], self.recipe.compute, noise.from_row(index * size))
                loss = functional.cross_entropy(logits, self.train.labels[rows], reduction="sum") / len(batch)
                found: Gradients = [loss.detach(), *torch.autograd.grad(loss, self.parameters, allow_unused=True)]
                total = _add(total, found) if total else found
            return total

        shares = workers.shares(list(enumerate(torch.split(batch, size))))
        total, *found = functools.reduce(_add, workers.map(gradients, shares))
        for parameter, gradient in zip(self.parameters, found, strict=True):
            parameter.grad = gradient
        assert total is not None  # the loss
        return total


def _add(total: Gradients, other: Gradients) -> Gradients:
    """Add tensors to tensors in place; None, for a parameter that was not used, stays None."""
    used = [(t, o) for t, o in zip(total, other, strict=True) if t is not None and o is not None]
    torch._foreach_add_([t for t, _ in used], [o for _, o in used])
    return total


def _logits(model: SequenceClassifier, ids: torch.Tensor, compute: str, noise: Noise | None = None) -> torch.Tensor:
    """Return the logits, float32; products have the recipe's precision."""
    is_low = compute == "bfloat16" and ids.device.type != "cpu"
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=is_low):
        logits: torch.Tensor = model(ids, noise=noise, compute=compute)
    return logits.float()


@torch.no_grad()
def evaluate(
    model: SequenceClassifier, split: Split, *, compute: str = "float32"
) -> tuple[dict[str, float], np.ndarray]:
    """Return the figures of a model on a split, and its predictions, int64 (rows,)."""
    model.eval()
    rows = EVALUATION_BATCH
    workers = Workers(None if split.ids.device.type == "cpu" else 1)
    if split.ids.device.type == "cpu":
        rows = min(rows, workers.rows_of_a_part(len(split), split.ids.shape[1] + 1))

    @torch.no_grad()  # which holds in one thread alone
    def figures(part: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        logits = _logits(model, part[0], compute)
        loss = functional.cross_entropy(logits, part[1], reduction="sum")
        return loss.double(), logits.argmax(dim=-1)

    with workers:
        found = workers.map(figures, zip(torch.split(split.ids, rows), torch.split(split.labels, rows), strict=True))
    loss = torch.stack([loss for loss, _ in found]).sum()
    predicted = torch.cat([predictions for _, predictions in found]).cpu().numpy()
    return classification_metrics(split.labels.cpu().numpy(), predicted, float(loss) / len(split)), predicted
