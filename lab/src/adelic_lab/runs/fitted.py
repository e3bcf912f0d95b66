"""The surroundings in which a model is fitted, and the fitted model: the same for all kinds of models."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError
from adelic_lab.train.world import ALONE, World


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """The surroundings in which a model is fitted, which do not change the result: folder, device, progress, stopping.

    Attributes:
        folder: the run folder, which is held.
        device: of a network.
        progress: called with (parts done, parts in all, text) for a progress bar.
        stop: asked between steps whether to save and stop.
        tensorboard: whether to write logs for TensorBoard.
        world: the processes that train together.
        begin: called when all is checked, before the first step.
    """

    folder: Path
    device: torch.device
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None
    tensorboard: bool = False
    world: World = ALONE
    begin: Callable[[], None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted model, with the facts about it that a result reports.

    Attributes:
        evaluate: from rows (rows, length) and their labels to the figures and the predictions of the objective.
        remembered: from rows to the answers of look-up, which remembers the rows that were trained on, images included,
            and gives the most frequent answer elsewhere; None for a solver, none of whose questions is among these.
        features: the form in which it reads the numbers; None for models with one form only.
        parameters: how many numbers were fitted.
        flops: operations that one row takes; None where they are not counted.
        seconds: that fitting took.
        device: where it was fitted, in words.
        versions: of the packages that matter.
        validation: accuracy and loss of the weights that were chosen; None where none were to be chosen.
        history: learning curves, as of `adelic_lab.results.metrics.history`.
        metrics: the content of metrics.jsonl; None where the model has no epochs.
        further: fields of the result that this kind of model has besides.
    """

    evaluate: Callable[[np.ndarray, np.ndarray], tuple[dict[str, float], np.ndarray]]
    remembered: Callable[[np.ndarray], np.ndarray] | None
    features: str | None
    parameters: int
    flops: int | None
    seconds: float
    device: str
    versions: dict[str, str]
    validation: dict[str, Any] | None
    history: dict[str, list[float]]
    metrics: bytes | None = None
    further: dict[str, Any] = field(default_factory=dict)


def choose_device(name: str) -> torch.device:
    """Return a torch device; "auto" is the GPU where there is one.

    If it cannot be used here, it is a ConfigurationError.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        # A name can be that of a device which is not here: only its use tells, without CUDA by an AssertionError.
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]  # PyTorch goes on with all that it can do elsewhere
        raise ConfigurationError(f"device {name!r} cannot be used here ({reason}); use --device auto or cpu") from None
    return device


def device_name(device: torch.device) -> str:
    """Return what a device is, in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"
