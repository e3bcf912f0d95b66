"""The trainings of a solver in a checkpoint, for stopped runs to continue.

A solver may train several networks, one after the other. They are counted in the order in which they begin, which is
the same each time: what a finished one has learned is put into its network, and the next one goes on.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import torch
from torch import nn

from adelic_lab.train.checkpoint import Weights, load_optimizer, optimizer_state, read_tensors, under, write_tensors
from adelic_lab.train.counters import Counters, damage

_SECONDS = 5.0
_SHARE = 0.05
"""Writing takes this share of the time at most."""


class Trainings:
    """The trainings of one solver.

    Args:
        path: of the checkpoint; the trainings of one that is there go on. Without one, nothing is saved.

    Attributes:
        done: steps of all trainings together.

    Raises:
        RunFolderError: the checkpoint is damaged.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._tensors: Weights = {}
        self._before = Counters()
        if path is not None and path.exists():
            with damage(path):
                self._tensors, self._before = read_tensors(path)
        self.done = self._begun = 0
        self._start, self._processor = time.perf_counter(), time.process_time()
        self._next = self._start + _SECONDS

    @property
    def seconds(self) -> float:
        """Return the seconds so far, over all resumed parts."""
        return self._before.seconds + time.perf_counter() - self._start

    @property
    def processor_seconds(self) -> float:
        """Return the seconds of a processor so far, over all resumed parts."""
        return self._before.processor_seconds + time.process_time() - self._processor

    def begin(self, network: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> int:
        """Put the next training where it was when it was saved; return how many of its steps are done."""
        self._begun += 1
        self._network, self._optimizers = network, optimizers
        found = under(self._tensors, f"{self._begun}.")
        if self._path is None or not found:
            return 0
        with damage(self._path):
            network.load_state_dict(under(found, "model."))
            for i, optimizer in enumerate(optimizers):
                load_optimizer(optimizer, under(found, f"optimizer.{i}."))
            step = int(found["step"])
        self.done += step
        return step

    def took(self, step: int, of: int) -> None:
        """Note that a step was taken; write a checkpoint if it is time to, or keep what a finished training learned."""
        self.done += 1
        now, is_over = time.perf_counter(), step == of
        if self._path is None or not (is_over or now >= self._next):
            return
        prefix = f"{self._begun}."
        self._tensors = {key: value for key, value in self._tensors.items() if not key.startswith(prefix)}
        state = {"step": torch.tensor(step)} | {f"model.{k}": v for k, v in self._network.state_dict().items()}
        for i, optimizer in enumerate(() if is_over else self._optimizers):
            state |= {f"optimizer.{i}.{key}": value for key, value in optimizer_state(optimizer).items()}
        # Copies: the next step changes them in place.
        self._tensors |= {prefix + key: value.detach().clone() for key, value in state.items()}
        if now < self._next:
            return
        spent = Counters(
            step=self.done, batch=self.done, seconds=self.seconds, processor_seconds=self.processor_seconds
        )
        write_tensors(self._path, self._tensors, spent)
        took = time.perf_counter() - now
        self._next = time.perf_counter() + max(_SECONDS, took / _SHARE)


_CURRENT: ContextVar[Trainings | None] = ContextVar("trainings", default=None)


def trainings() -> Trainings:
    """Return those that are to be saved, or others of which nothing is."""
    return _CURRENT.get() or Trainings(None)


@contextmanager
def saved(path: Path | None) -> Iterator[Trainings]:
    """Have the trainings of a solver saved in a checkpoint, if there is to be one, and go on from there."""
    found = Trainings(path)
    token = _CURRENT.set(found)
    try:
        yield found
    finally:
        _CURRENT.reset(token)
