"""The trainings of a solver in a checkpoint, so that a run that was stopped goes on where it was.

A solver may train several networks, one after the other. They are counted in the order in which they begin, which is
the same each time: what a finished one has learned is put into its network, and the next one goes on.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

import torch

from adelic_lab.runs.folder import Counters, damage
from adelic_lab.train.checkpoint import (
    Weights,
    load_optimizer,
    optimizer_state,
    read_tensors,
    write_tensors,
)

_SECONDS = 5.0
_SHARE = 0.05
"""Writing takes this share of the time at most."""


class Part(Protocol):
    """What a training changes beside parameters, as the rows that it has drawn."""

    def state(self) -> Weights:
        """Return all of it."""
        ...

    def restore(self, found: Weights) -> None:
        """Take what `state` has told."""
        ...


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
        self.done = 0
        self._begun = 0
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

    def begin(self, optimizers: Sequence[torch.optim.Optimizer], parts: Sequence[Part | torch.Generator]) -> "Training":
        """Return the next training, with all that it changes put where it was when it was saved."""
        self._begun += 1
        training = Training(self, f"{self._begun}.", optimizers, parts)
        prefix = training.prefix
        if self._path is not None and f"{prefix}step" in self._tensors:
            with damage(self._path):
                training.restore(_under(self._tensors, prefix))
        return training

    def save(self, training: "Training", *, is_last: bool) -> None:
        """Write a checkpoint, if it is time to, or keep what a finished training has learned."""
        now = time.perf_counter()
        if self._path is None or (not is_last and now < self._next):
            return
        for key in [key for key in self._tensors if key.startswith(training.prefix)]:
            del self._tensors[key]
        self._tensors |= {training.prefix + key: value for key, value in training.state(is_over=is_last).items()}
        if now < self._next:
            return
        progress = Counters(
            step=self.done, batch=self.done, seconds=self.seconds, processor_seconds=self.processor_seconds
        )
        write_tensors(self._path, self._tensors, progress)
        took = time.perf_counter() - now
        self._next = time.perf_counter() + max(_SECONDS, took / _SHARE)


class Training:
    """One training of a solver; `Trainings.begin` makes it.

    Attributes:
        prefix: of its tensors in the checkpoint.
        step: steps done.
    """

    def __init__(
        self,
        trainings: Trainings,
        prefix: str,
        optimizers: Sequence[torch.optim.Optimizer],
        parts: Sequence[Part | torch.Generator],
    ) -> None:
        self._trainings, self.prefix = trainings, prefix
        self._optimizers, self._parts = optimizers, parts
        self.step = 0

    def took(self, step: int, of: int) -> None:
        """Note that a step was taken, and save if it is time to."""
        self._trainings.done += step - self.step
        self.step = step
        self._trainings.save(self, is_last=step == of)

    def state(self, *, is_over: bool) -> Weights:
        """Return all that the training changes: parameters, generators, other parts, and what optimizers still need."""
        found: Weights = {"step": torch.tensor(self.step)}
        for i, optimizer in enumerate(self._optimizers):
            # Copies: the next step changes them in place.
            found |= {f"parameters.{i}.{k}": p.detach().clone() for k, p in enumerate(_parameters(optimizer))}
            needed = {} if is_over else optimizer_state(optimizer)
            found |= {f"optimizer.{i}.{key}": value.clone() for key, value in needed.items()}
        for i, part in enumerate(self._parts):
            state = {"": part.get_state()} if isinstance(part, torch.Generator) else part.state()
            found |= {f"part.{i}.{key}": value.clone() for key, value in state.items()}
        return found

    @torch.no_grad()
    def restore(self, found: Weights) -> None:
        """Take what `state` has told; what does not fit is a ValueError or a KeyError."""
        for i, optimizer in enumerate(self._optimizers):
            for k, parameter in enumerate(_parameters(optimizer)):
                saved = found[f"parameters.{i}.{k}"]
                if saved.shape != parameter.shape:
                    raise ValueError(f"parameter {k} has the shape {tuple(saved.shape)}")
                parameter.copy_(saved)
            load_optimizer(optimizer, _under(found, f"optimizer.{i}."))
        for i, part in enumerate(self._parts):
            state = _under(found, f"part.{i}.")
            if isinstance(part, torch.Generator):
                part.set_state(state[""])
            else:
                part.restore(state)
        self.step = int(found["step"])
        self._trainings.done += self.step


def _parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _under(found: Weights, prefix: str) -> Weights:
    """Return the tensors whose names begin so, without the beginning."""
    return {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}


_CURRENT: ContextVar[Trainings | None] = ContextVar("trainings", default=None)


def trainings() -> Trainings | None:
    """Return those that are to be saved, or None.

    >>> trainings() is None
    True
    """
    return _CURRENT.get()


@contextmanager
def saved(path: Path | None) -> Iterator[Trainings]:
    """Have the trainings of a solver saved in a checkpoint, if there is to be one, and go on from there."""
    found = Trainings(path)
    token = _CURRENT.set(found)
    try:
        yield found
    finally:
        _CURRENT.reset(token)
