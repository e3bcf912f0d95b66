"""The processes that train one model together, as the training loop sees them; usually there is one."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import nn

T = TypeVar("T")


class World:
    """One process, which does everything itself: the default. `distributed.FabricWorld` has several.

    The contract with the training loop: every process draws the same batch, computes gradients on its `share` of it,
    and weighs its mean loss so that the `average` of the gradients over the processes is that of the batch. Files are
    written by the first process alone (`lead`).

    Attributes:
        rank: which process this is, from 0.
        size: how many there are.
        devices: how many of them a node has.
        pace: after how many steps they agree on saving and stopping, which costs a message.

    >>> ALONE.share(torch.arange(5))
    (tensor([0, 1, 2, 3, 4]), 1.0)
    """

    rank = 0
    size = 1
    devices = 1
    pace = 1

    @property
    def nodes(self) -> int:
        """Return the number of machines."""
        return self.size // self.devices

    def bounds(self, n: int) -> tuple[int, int]:
        """Return this process's part of n rows in a fixed order: the first row, and the one after the last.

        >>> class Third(World):
        ...     rank, size = 2, 4
        >>> Third().bounds(10)
        (5, 7)
        """
        return n * self.rank // self.size, n * (self.rank + 1) // self.size

    def share(self, rows: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Return this process's rows of a batch, and the weight of their mean loss.

        Gradients are averaged over the processes, so the weight is the process's rows as a multiple of an even share:
        every row of an uneven batch counts alike. A batch with fewer rows than there are processes leaves some without
        one; they take part in the averaging with a row of weight 0. Rows are int64, and at least one.
        """
        if self.size == 1:
            return rows, 1.0
        start, stop = self.bounds(len(rows))
        return (rows[start:stop], self.size * (stop - start) / len(rows)) if stop > start else (rows[:1], 0.0)

    def stream(self, name: str) -> str:
        """Return the name of this process's own stream of random numbers; the first process has the plain one."""
        return name if self.rank == 0 else f"{name} of process {self.rank}"

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace the gradients of all parameters by their averages over the processes."""

    def sum(self, value: torch.Tensor) -> torch.Tensor:
        """Return the sum of a tensor over all processes."""
        return value

    def gather(self, part: np.ndarray) -> np.ndarray:
        """Return the parts of all processes, one after the other, in every process."""
        return part

    def lead(self, function: Callable[[], T]) -> T:
        """Return in every process what the first one alone computes; raise everywhere the `AdelicError` it raises."""
        return function()

    @contextmanager
    def one_first(self) -> Iterator[None]:
        """Let one process of each machine go through the block before the others, who find its files."""
        yield

    @contextmanager
    def copy_of(self, folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
        """Yield a folder with the first process's files of these names: for it the folder itself, else a copy."""
        yield folder


ALONE = World()
"""The world of one process."""
