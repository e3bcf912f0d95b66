"""The processes that train one model together, as the training loop sees them; usually there is one."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from adelic.errors import AdelicError

T = TypeVar("T")


class World:
    """One process, which does everything itself, or one of several that are joined by Fabric.

    The contract with the training loop: every process draws the same batch, computes gradients on its `share` of it,
    and weighs its mean loss: the `average` of the gradients over the processes is the gradient of the batch. Files are
    written by the first process alone (`lead`).

    Args:
        fabric: launched, of strategy "ddp"; None for one process.
        devices: processes per machine.

    Attributes:
        rank: which process this is, from 0.
        size: how many there are.
        pace: after how many steps they agree on saving and stopping, which costs a message.

    >>> ALONE.share(torch.arange(5))
    (tensor([0, 1, 2, 3, 4]), 1.0)
    """

    def __init__(self, fabric: Any = None, devices: int = 1) -> None:
        self._fabric, self.devices = fabric, devices
        self.rank: int = fabric.global_rank if fabric else 0
        self.size: int = fabric.world_size if fabric else 1
        self.pace = 16 if fabric else 1

    @property
    def nodes(self) -> int:
        """Return the number of machines."""
        return self.size // self.devices

    def bounds(self, n: int) -> tuple[int, int]:
        """Return this process's part of n examples in a fixed order: the first example, and the one after the last."""
        return n * self.rank // self.size, n * (self.rank + 1) // self.size

    def share(self, rows: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Return this process's examples of a batch, and the weight of their mean loss.

        Gradients are averaged over the processes, so the weight is the process's examples as a multiple of an even
        share: every example of an uneven batch counts alike. A batch with fewer examples than there are processes
            leaves some without
        one; they take part in the averaging with an example of weight 0. Examples are int64, and at least one.
        """
        start, stop = self.bounds(len(rows))
        return (rows[start:stop], self.size * (stop - start) / len(rows)) if stop > start else (rows[:1], 0.0)

    def stream(self, name: str) -> str:
        """Return the name of this process's own stream of random numbers; the first process has the plain one."""
        return name if self.rank == 0 else f"{name} of process {self.rank}"

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace the gradients of all parameters by their averages over the processes.

        This is what DistributedDataParallel does, in one message after the backward pass instead of several during it.
        It does not depend on how gradients are computed; and these models are small, so there is little to overlap.
        """
        if self._fabric is None:
            return
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = self._fabric.all_reduce(torch.cat([g.flatten() for g in gradients]), reduce_op="mean")
        for gradient, average in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(average.view_as(gradient))

    def sum(self, value: torch.Tensor) -> torch.Tensor:
        """Return the sum of a tensor over all processes."""
        total: torch.Tensor = self._fabric.all_reduce(value.clone(), reduce_op="sum") if self._fabric else value
        return total

    def gather(self, part: np.ndarray) -> np.ndarray:
        """Return the parts of all processes, one after the other, in every process."""
        parts: list[Any] = [part] * self.size
        if self._fabric:
            torch.distributed.all_gather_object(parts, part)
        return np.concatenate(parts)

    def lead(self, function: Callable[[], T]) -> T:
        """Return in every process what the first one alone computes; raise everywhere the `AdelicError` it raises."""
        if self._fabric is None:
            return function()
        outcome: Any = None
        if self.rank == 0:
            try:
                outcome = function()
            except AdelicError as error:
                outcome = error
        outcome = self._fabric.broadcast(outcome)
        if isinstance(outcome, AdelicError):
            raise outcome
        found: T = outcome
        return found

    @contextmanager
    def one_first(self) -> Iterator[None]:
        """Let one process of each machine go through the block before the others, who find its files."""
        if self._fabric is None:
            yield
            return
        with self._fabric.rank_zero_first(local=True):
            yield

    @contextmanager
    def copy_of(self, folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
        """Yield a folder with the first process's files of these names, for which the machines need no common disk."""
        if self._fabric is None:
            yield folder
            return
        contents = self.lead(lambda: {name: (folder / name).read_bytes() for name in names if (folder / name).exists()})
        with tempfile.TemporaryDirectory() as copy:
            for name, content in contents.items():
                Path(copy, name).write_bytes(content)
            yield Path(copy)


ALONE = World()
"""The world of one process."""
