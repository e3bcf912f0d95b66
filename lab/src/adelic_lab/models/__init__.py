"""Everything that can be fitted, with one protocol: `fit` an experiment, then `evaluate` and `predict`.

| module | models |
|---|---|
| `network` | the Transformer, its place-wise kin, and other bodies: `adelic_lab.train` has their loop |
| `classical` | majority class, look-up, and scikit-learn's models, with a search of their options |
| `solvers` | models that answer questions of drawn tasks with exact numbers |

The description of a model in an `Experiment` names its module, which has two functions of the signatures here: `fit`,
and `read`, which gives a finished run's model back for `adelic predict`. One more kind of model is one more class in
`adelic_lab.config.models` and one more module.
"""

import importlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError
from adelic_lab.config.experiment import Experiment
from adelic_lab.results.result import Result
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.world import ALONE, World

Answered = tuple[np.ndarray, np.ndarray | None]
"""The answers to examples, as labels are, and of classes their probabilities."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """The surroundings in which a model is fitted, which do not change the result: folder, device, progress, stopping.

    Attributes:
        folder: the run folder, which is held; None to save nothing, which a solver can do.
        device: of a network.
        progress: called with (parts done, parts in all, text) for a progress bar.
        stop: asked between steps whether to save and stop.
        tensorboard: whether to write logs for TensorBoard.
        world: the processes that train together.
        begin: called when all is checked, before the first step.
    """

    folder: Path | None
    device: torch.device
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None
    tensorboard: bool = False
    world: World = ALONE
    begin: Callable[[], None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted model, and the facts about it that a result reports.

    Attributes:
        evaluate: from examples (rows, length) and their labels to the figures and the answers.
        predict: from examples to the answers, and their probabilities if there are classes.
        facts: fields of the result: parameters, flops, seconds, device, versions, history and others.
        metrics: the content of metrics.jsonl; None if the model has no epochs.
        keeps_checkpoint: whether a finished run needs its checkpoint, to predict with.
    """

    evaluate: Callable[[np.ndarray, np.ndarray], tuple[dict[str, float], np.ndarray]]
    predict: Callable[[np.ndarray], Answered]
    facts: dict[str, Any]
    metrics: bytes | None = None
    keeps_checkpoint: bool = True


def fit(experiment: Experiment, data: TrainValidation, context: RunContext) -> Fitted:
    """Fit the model of an experiment, or go on with that in the run folder, without the test split.

    Raises:
        AdelicError: each kind of model says which.
        Interrupted, Stopped: a signal, or `stop`, asked to stop; the same call goes on from there.
    """
    found: Fitted = importlib.import_module(experiment.model.module).fit(experiment, data, context)
    return found


def read(
    experiment: Experiment, data: TrainValidation, folder: Path, result: Result
) -> Callable[[np.ndarray, Sequence[Fraction]], Answered]:
    """Return what answers examples by the model of a finished run on a table, as `Fitted.predict` does.

    It is called with ids, and with further numbers that examples contain; their ids follow those of the data's
    vocabulary.

    Args:
        experiment: what was run.
        data: its data.
        folder: the run folder.
        result: of the run.

    Raises:
        ConfigurationError: the model does not read new numbers.
        RunFolderError: its checkpoint is gone or damaged.
    """
    found: Callable[[np.ndarray, Sequence[Fraction]], Answered]
    found = importlib.import_module(experiment.model.module).read(experiment, data, folder, result)
    return found


def obstacle(experiment: Experiment) -> str | None:
    """Return why the model cannot express the task of an experiment; None if it can, as all but some solvers do.

    A ConfigurationError means that your own solver cannot be imported.
    """
    find = getattr(importlib.import_module(experiment.model.module), "obstacle", None)
    found: str | None = find and find(experiment)
    return found


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
