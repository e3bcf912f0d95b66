"""Passes through a network: of a batch, forward and backward, and of a split, forward alone.

On the CPU the rows are cut into parts that stay in cache, and the workers' threads share them; sums over parts have a
fixed order, so that a run has the same bits each time. On other devices a batch is one part.
"""

import functools
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from adelic.nn.backend import PLAIN, Backend, Noise
from adelic_lab.train.objectives import Objective
from adelic_lab.train.workers import Workers
from adelic_lab.train.world import ALONE, World

EVALUATION_BATCH = 4096
"""Rows at once on a GPU, and at most on the CPU."""
_Gradients = list[torch.Tensor | None]


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


def set_gradients(
    model: nn.Module,
    parameters: list[nn.Parameter],
    split: Split,
    batch: torch.Tensor,
    weight: float,
    *,
    objective: Objective,
    backend: Backend,
    noise: Noise,
    workers: Workers,
) -> torch.Tensor:
    """Set the gradients of a batch's mean loss, times a weight, on the CPU; return this loss.

    Args:
        model: the network.
        parameters: those that are trained.
        split: whose rows they are.
        batch: the numbers of the rows, int64.
        weight: of this process's share of a batch.
        objective: has the loss.
        backend: how products are computed.
        noise: of dropout, by row.
        workers: the threads.
    """
    size = workers.rows_of_a_part(len(batch), tokens_of(model, split.ids))

    def gradients(parts: list[tuple[int, torch.Tensor]]) -> _Gradients:
        """Return the loss of parts of the batch, summed and divided by the batch's size, and its gradients."""
        total: _Gradients = []
        for index, rows in parts:
            with replace(backend, noise=noise.from_row(noise.first_row + index * size)).on(split.labels.device):
                output = model(split.read(rows))
            loss = objective.loss(output, split.labels[rows], reduction="sum") / len(batch) * weight
            # Not backward(): the threads would add to one .grad, in an order that differs from time to time.
            found: _Gradients = [loss.detach(), *torch.autograd.grad(loss, parameters, allow_unused=True)]
            total = _add(total, found) if total else found
        return total

    shares = workers.shares(list(enumerate(torch.split(batch, size))))
    total, *found = functools.reduce(_add, workers.map(gradients, shares))
    for parameter, gradient in zip(parameters, found, strict=True):
        # torch's fused Adam reads a gradient in the order of its memory: a transposed one would be read wrongly.
        if gradient is not None and gradient.stride() != parameter.stride():
            gradient = torch.empty_like(parameter).copy_(gradient)
        parameter.grad = gradient
    assert total is not None  # the loss
    return total


def _add(total: _Gradients, other: _Gradients) -> _Gradients:
    """Add tensors to tensors in place; None, for a parameter that was not used, stays None."""
    # None in one part is None in all: in the networks of runs a parameter is used for every row, or for none.
    used = [(t, o) for t, o in zip(total, other, strict=True) if t is not None and o is not None]
    torch._foreach_add_([t for t, _ in used], [o for _, o in used])
    return total


def tokens_of(model: nn.Module, ids: torch.Tensor) -> int:
    """Return how many tokens a row has in a model: [CLS], and one or several for each number; or it is one itself."""
    if getattr(model, "token", None) == "row":
        return 1
    embedding = getattr(model, "embedding", None)
    return int(ids.shape[1]) * getattr(embedding, "tokens_per_number", 1) + 1


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
        rows = min(rows, workers.rows_of_a_part(n_rows, tokens_of(model, ids)))
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
