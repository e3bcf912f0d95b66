"""Training by epochs, each a function of the weights, the optimizer's state and (seed, epoch)."""

import functools
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from adelic.data.protocol import Progress
from adelic.nn.backend import PLAIN, Backend, Noise, is_quick
from adelic.nn.bodies.classifier import Classifier
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.results.metrics import counted_by_class, is_learned
from adelic_lab.train.checkpoint import Weights
from adelic_lab.train.counters import Counters
from adelic_lab.train.objectives import Objective
from adelic_lab.train.sampler import ClassBalancedSampler, PassSampler, stream_seed
from adelic_lab.train.steps import Compiled, divergence, is_wanted, take_steps
from adelic_lab.train.workers import Workers
from adelic_lab.train.world import ALONE, World

EVALUATION_BATCH = 4096
"""Rows at once on a GPU, and at most on the CPU."""
Gradients = list[torch.Tensor | None]


class Split:
    """Ids and labels of a split on a device.

    Attributes:
        ids: (rows, length), int64 or narrower; what a model reads is `read`.
        labels: int64 (rows,) or (rows, n_targets).
    """

    def __init__(self, ids: np.ndarray | torch.Tensor, labels: np.ndarray, device: torch.device) -> None:
        self.ids = torch.as_tensor(ids).to(device)
        self.labels = torch.from_numpy(np.ascontiguousarray(labels, dtype=np.int64)).to(device)

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return the ids of rows, int64."""
        return self.ids[rows].long()


class Trainer:
    """Trains a model epoch by epoch, and keeps the weights with the best validation accuracy, or the last.

    Every random draw is a function of the seed and the step, so that a run resumed after any step goes on as if it had
    never stopped.

    With `fresh`, every row is trained on once, or as often as the recipe has passes, and the epochs share all rows;
    else an epoch draws as many as there are.

    With `every_class`, questions that have every class equally often, each epoch also counts the classes that are
    learned; nothing is chosen by that.

    `train` may have several images of each row, one after the other (`n_images`); an epoch is as long as with one.

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
        self.model = model
        self.objective = objective
        self.world = world
        self.recipe = recipe
        self.train = train
        self.validation = validation
        self.every_class = every_class
        self.seed = seed
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
                # The images of a row stand one after the other, with one label.
                objective.strata(train.labels[::n_images].cpu().numpy()),
                batch_size=recipe.batch_size,
                power=recipe.sampling_power,
                seed=seed,
                n_images=n_images,
            )
        )
        self._batch_loss = Compiled(self._plain_loss) if is_wanted(self.device) else self._plain_loss
        # The first process chooses for all; what it chose stands in the checkpoint, for a run that goes on elsewhere.
        self.progress = Counters(compute=world.lead(self._choose_compute))
        self.best: Weights = {}
        self._loss = torch.zeros((), dtype=torch.float64, device=self.device)  # summed over the epoch's rows
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

        Nothing in an epoch waits for the device: the rows go there at once, and the loss is summed there.

        Raises:
            DivergenceError: the loss is not finite any more.
        """
        if not self._clock and self._rounds and not is_quick(self.compute, self.device):  # once
            warnings.warn(
                f"products in {self.compute} are slow here, as the processor has no instructions for them "
                "(AVX-512 BF16, AMX): --compute float32 is faster",
                stacklevel=2,
            )
        self._clock, self._processor = time.perf_counter(), time.process_time()
        epoch = self.progress.epoch
        train_loss = self._train(epoch, progress, between_steps)
        figures, _ = self.evaluate(self.validation)
        if not math.isfinite(figures["loss"]):
            raise divergence(self.model, self.recipe, self.progress, self._finite_step, "validation")
        score = (figures["accuracy"], -figures["loss"])
        if self.recipe.checkpoint == "last" or score > self.progress.best_score:
            self.progress.best_score, self.progress.best_epoch = score, epoch + 1
            self.best = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
        learned = {} if self.every_class is None else {"learned_classes": self._learned_classes(self.every_class)}
        rate = self.recipe.learning_rate_at(epoch, self.progress.step - 1)
        self.progress.epoch += 1
        self.progress.batch, self.progress.loss = 0, 0.0
        self._count_time()
        came_to = f"validation {100 * figures['accuracy']:.2f} %"
        self._before = f", last {came_to}"
        if progress:
            steps = len(self.sampler)
            progress(
                (epoch + 1) * steps, self.recipe.epochs * steps, f"epoch {epoch + 1}/{self.recipe.epochs}, {came_to}"
            )
        return {"epoch": epoch + 1, "learning_rate": rate, "train_loss": train_loss, "validation": figures} | learned

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
        """Complete `progress` between two steps of an epoch, so that a checkpoint can be written there.

        Raises:
            DivergenceError: the loss is not finite any more, so that the former checkpoint is the better one.
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
        """Return the objective's predictions for rows, (rows, length)."""
        ids = ids.to(self.device)
        return ask(self.model, ids, objective=self.objective, backend=self.backend, world=self.world)[0]

    def _learned_classes(self, split: Split) -> int:
        """Return how many classes are learned, see `is_learned`."""
        labels, (_, predicted) = split.labels.cpu().numpy(), self.evaluate(split)
        counts = counted_by_class(labels, self.objective.answers(predicted), int(labels.max()) + 1)
        return int(is_learned(**counts).sum())

    def _train(self, epoch: int, progress: Progress | None, between_steps: Callable[[], None] | None) -> float:
        """Take the steps of an epoch that are left; return the mean loss over the whole epoch."""
        dropout_seed = stream_seed(self.seed, "dropout", epoch)
        own_seed = stream_seed(self.seed, self.world.stream("dropout"), epoch)
        # `_finite_loss` takes the mean over the processes, so each of them goes on from the mean.
        self._loss.fill_(self.progress.loss)
        self._finite_step = self.progress.step
        text = f"epoch {epoch + 1}/{self.recipe.epochs}{self._before}"
        self.model.train()
        drawn = self.sampler.rows(epoch).to(self.device)
        batches = torch.split(drawn, self.recipe.batch_size)

        def backward(i: int) -> torch.Tensor:
            torch.manual_seed(own_seed + i)  # of GPUs' masks; on the CPU each row has its own, those of `Noise`
            return self._backward(batches[i], Noise(dropout_seed + i), workers)

        def after(i: int, loss: torch.Tensor) -> None:
            self._loss += loss * len(batches[i])
            self.progress.step += 1
            self.progress.batch += 1
            if progress and self.progress.batch < len(batches):
                done = epoch * len(self.sampler) + self.progress.batch
                progress(done, self.recipe.epochs * len(self.sampler), text)
            if between_steps and self.progress.batch < len(batches):
                between_steps()

        with Workers() as workers:
            take_steps(
                range(self.progress.batch, len(batches)),
                backward,
                self.optimizer,
                # Warm-up counts the steps of the whole run, `take_steps` those of the epoch.
                lambda _: self.recipe.learning_rate_at(epoch, self.progress.step),
                after,
            )
        return self._finite_loss() / len(drawn)

    def _backward(self, batch: torch.Tensor, noise: Noise, workers: Workers) -> torch.Tensor:
        """Set the parameters' gradients for a batch; return its mean loss, of several processes this one's share."""
        noise = noise.from_row(self.world.bounds(len(batch))[0])
        batch, weight = self.world.share(batch)
        loss = self._own_gradients(batch, weight, noise, workers)
        self.world.average(self.parameters)
        return loss

    def _plain_loss(self, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of a batch, on devices other than the CPU."""
        with self.backend.on(ids.device):
            output = self.model(ids)
        loss: torch.Tensor = self.objective.loss(output, labels, reduction="mean")
        return loss

    def _own_gradients(self, batch: torch.Tensor, weight: float, noise: Noise, workers: Workers) -> torch.Tensor:
        """Set the gradients of the weighted mean loss of rows; return this loss."""
        if self.device.type != "cpu":
            # The last batch of an epoch may be smaller: one step, for which nothing is compiled.
            first, last = self.world.bounds(min(self.recipe.batch_size, self.sampler.n_rows))
            batch_loss = self._batch_loss if len(batch) == last - first else self._plain_loss
            loss = batch_loss(self.train.read(batch), self.train.labels[batch]) * weight
            loss.backward()  # type: ignore[no-untyped-call]
            return loss.detach()
        size = workers.rows_of_a_part(len(batch), _tokens(self.model, self.train.ids))

        def gradients(parts: list[tuple[int, torch.Tensor]]) -> Gradients:
            """Return the loss of parts of the batch, summed and divided by the batch's size, and its gradients."""
            total: Gradients = []
            for index, rows in parts:
                part = replace(self.backend, noise=noise.from_row(noise.first_row + index * size))
                with part.on(self.device):
                    output = self.model(self.train.read(rows))
                loss = self.objective.loss(output, self.train.labels[rows], reduction="sum") / len(batch) * weight
                # Not backward(): the threads would add to one .grad, in an order that differs from time to time.
                found: Gradients = [loss.detach(), *torch.autograd.grad(loss, self.parameters, allow_unused=True)]
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


def _tokens(model: nn.Module, ids: torch.Tensor) -> int:
    """Return how many tokens a row has in a model: [CLS], and one or several for each number; or it is one itself."""
    if getattr(model, "token", None) == "row":
        return 1
    embedding = getattr(model, "embedding", None)
    return int(ids.shape[1]) * getattr(embedding, "tokens_per_number", 1) + 1


def _add(total: Gradients, other: Gradients) -> Gradients:
    """Add tensors to tensors in place; None, for a parameter that was not used, stays None."""
    # None in one part is None in all: in the networks of runs a parameter is used for every row, or for none.
    used = [(t, o) for t, o in zip(total, other, strict=True) if t is not None and o is not None]
    torch._foreach_add_([t for t, _ in used], [o for _, o in used])
    return total


@torch.no_grad()
def ask(
    model: nn.Module,
    ids: torch.Tensor,
    labels: torch.Tensor | None = None,
    *,
    objective: Objective,
    backend: Backend = PLAIN,
    world: World = ALONE,
) -> tuple[np.ndarray, float]:
    """Return the objective's predictions of a model for rows, and its summed loss; without labels that is 0."""
    model.eval()
    n_rows = len(ids)
    first, last = world.bounds(n_rows)
    ids, labels = ids[first:last], None if labels is None else labels[first:last]
    rows = EVALUATION_BATCH
    workers = Workers(None if ids.device.type == "cpu" else 1)
    if ids.device.type == "cpu":
        rows = min(rows, workers.rows_of_a_part(n_rows, _tokens(model, ids)))
    nothing = ids.new_zeros((), dtype=torch.float64)

    @torch.no_grad()  # which holds in one thread alone
    def answer(part: slice) -> tuple[torch.Tensor, torch.Tensor]:
        with backend.on(ids.device):
            output = model(ids[part].long())
        loss = nothing if labels is None else objective.loss(output, labels[part], reduction="sum").double()
        return objective.predictions(output), loss

    with workers:
        found = workers.map(answer, [slice(start, start + rows) for start in range(0, max(1, len(ids)), rows)])
    predicted = world.gather(torch.cat([predictions for predictions, _ in found]).cpu().numpy())
    loss = torch.stack([nothing, *(loss for _, loss in found)]).sum()
    return predicted, float(world.sum(loss))


def evaluate(
    model: nn.Module, split: Split, *, objective: Objective, backend: Backend = PLAIN, world: World = ALONE
) -> tuple[dict[str, float], np.ndarray]:
    """Return the figures of a model on a split, and its objective's predictions."""
    predicted, loss = ask(model, split.ids, split.labels, objective=objective, backend=backend, world=world)
    return objective.figures(split.labels.cpu().numpy(), predicted, loss / len(split)), predicted
