"""Checkpoints: one safetensors file with model, optimizer, best weights and counters; loading it executes no code."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from adelic.acd.files import atomic_write
from adelic.errors import RunFolderError

Weights = dict[str, torch.Tensor]


@dataclass
class Progress:
    """Counters of a run after whole epochs.

    Attributes:
        epoch: epochs done.
        step: optimizer steps done.
        seconds: training time so far, over all resumed parts.
        best_epoch: the epoch (from 1) whose weights are kept; 0 before the first.
        best_score: (validation accuracy, −validation loss) of that epoch.
    """

    epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    best_epoch: int = 0
    best_score: tuple[float, float] = (-1.0, 0.0)


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, best: Weights, progress: Progress
) -> None:
    """Write everything that a run needs to go on, atomically."""
    tensors = {f"model.{key}": value for key, value in model.state_dict().items()}
    tensors |= {f"best.{key}": value for key, value in best.items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{key}": value for key, value in state.items()}
    metadata = {"progress": json.dumps(vars(progress))}
    atomic_write(path, save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, metadata))


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Weights, Progress]:
    """Load a checkpoint into a model and its optimizer; return the best weights and the counters.

    Raises:
        RunFolderError: the file is truncated, damaged, or of another model.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  (no mapping)
            saved = json.loads((file.metadata() or {})["progress"])
        parts: dict[str, Weights] = {"model": {}, "best": {}, "optimizer": {}}
        for key, value in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = value
        model.load_state_dict(parts["model"])
        state: dict[int, dict[str, Any]] = {}
        for key, value in parts["optimizer"].items():
            index, _, name = key.partition(".")
            state.setdefault(int(index), {})[name] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
        progress = Progress(**saved)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise RunFolderError(
            f"{path} is truncated or damaged ({reason}); --restart begins this run anew, or delete its folder"
        ) from None
    progress.best_score = (progress.best_score[0], progress.best_score[1])
    return parts["best"], progress
