"""Forward passes through a network: predictions, figures on a split, and the threads of the CPU.

On the CPU the examples are cut into parts that stay in cache, and the workers' threads share them: each works on its
parts on one core, without waiting. On other devices a batch is one part.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from adelic.nn.backend import PLAIN, Backend
from adelic_lab.train.objectives import Objective
from adelic_lab.train.world import ALONE, World

EVALUATION_BATCH = 4096
"""Examples at once on a GPU, and at most on the CPU."""


class Split:
    """Ids and labels of a split on a device.

    Attributes:
        ids: (rows, length), int64 or narrower; what a model reads is `read`.
        labels: int64 (rows,) or (rows, n_targets); float64 where they are real numbers.
    """

    def __init__(self, ids: np.ndarray | torch.Tensor, labels: np.ndarray, device: torch.device) -> None:
        self.ids = torch.as_tensor(ids).to(device)
        dtype = np.float64 if labels.dtype == np.float64 else np.int64
        self.labels = torch.from_numpy(np.ascontiguousarray(labels, dtype=dtype)).to(device)

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, rows: torch.Tensor | slice) -> torch.Tensor:
        """Return the ids of examples, int64."""
        return self.ids[rows].long()


def tokens_of(model: nn.Module, ids: torch.Tensor) -> int:
    """Return the number of tokens of an example in a model: [CLS], and one or several per number; or just one."""
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
    """Return the objective's predictions of a model for examples, and its summed loss; without labels that is 0."""
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


TOKENS = 2048
"""Tokens of a part: its activations stay in the second-level cache, and its products are still large enough."""
_T = TypeVar("_T")
_S = TypeVar("_S")


class Workers:
    """A pool with the number of threads that torch uses, each running torch on one core; a context manager.

    Torch's own threads share every single operation and wait for each other after it, which costs more than it gives
    where operations take microseconds, and much more where other processes want the cores too. Which worker does what
    is fixed: sums are added in the same order every time.

    >>> with Workers(2) as workers:
    ...     workers.map(lambda part: part.sum().item(), torch.arange(6).split(2))
    [1, 5, 9]
    """

    def __init__(self, count: int | None = None) -> None:
        self._threads = torch.get_num_threads()
        self.count = self._threads if count is None else count
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        if self.count > 1:
            self._pool = ThreadPoolExecutor(self.count, "adelic", initializer=torch.set_num_threads, initargs=(1,))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
            torch.set_num_threads(self._threads)  # a part of torch's setting is the whole process's

    def map(self, function: Callable[[_S], _T], items: Iterable[_S]) -> list[_T]:
        """Return function(item) for every item; the calls run at the same time."""
        return list(map(function, items) if self._pool is None else self._pool.map(function, items))

    def shares(self, parts: Sequence[_S]) -> list[list[_S]]:
        """Return what each worker is to do, one list a worker that has something to do."""
        return [list(parts[i :: self.count]) for i in range(min(self.count, len(parts)))]

    def rows_of_a_part(self, rows: int, tokens_per_row: int) -> int:
        """Return the number of examples of a part: parts are small and all workers get equally many.

        >>> Workers(2).rows_of_a_part(2048, 11)
        171
        """
        # As many parts a worker as keep each near `TOKENS`; that number, times the workers, then divides the examples.
        rounds = -(-rows * tokens_per_row // (self.count * TOKENS))
        return max(1, -(-rows // (self.count * max(1, rounds))))
