"""Checkpoints: one safetensors file with model, optimizer, best weights and counters; loading it executes no code.

The counters carry the SHA-256 of their text and of all tensors.
"""

import hashlib
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import nn

from adelic.storage.files import atomic_write
from adelic.storage.records import seal
from adelic_lab.train.counters import TENSORS, Counters, damage, parse_progress

Weights = dict[str, torch.Tensor]


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, best: Weights, progress: Counters
) -> None:
    """Write everything that a run needs to go on, atomically."""
    tensors = {f"model.{key}": value for key, value in model.state_dict().items()}
    tensors |= {f"best.{key}": value for key, value in best.items()}
    tensors |= {f"optimizer.{key}": value for key, value in optimizer_state(optimizer).items()}
    write_tensors(path, tensors, progress)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Weights, Counters]:
    """Load a checkpoint into a model and its optimizer; return the best weights and the counters.

    If the file is truncated, damaged, or of another model, it is a RunFolderError.
    """
    with damage(path):
        tensors, progress = read_tensors(path)
        best = under(tensors, "best.")
        _check_best(best, model, progress)
        model.load_state_dict(under(tensors, "model."))
        load_optimizer(optimizer, under(tensors, "optimizer."))
    return best, progress


def write_tensors(path: Path, tensors: Weights, progress: Counters) -> None:
    """Write tensors and counters, atomically."""
    tensors = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    metadata = {"progress": seal(vars(progress) | {TENSORS: _digest(tensors)})}
    atomic_write(path, save(tensors, metadata))


def read_tensors(path: Path) -> tuple[Weights, Counters]:
    """Return what `write_tensors` has written; what is wrong raises, inside `damage`."""
    with safe_open(path, framework="pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  (no mapping)
        progress, digest = parse_progress(file.metadata())
    if digest != _digest(tensors):
        raise ValueError("its tensors do not have the SHA-256 that was written with them")
    return tensors, progress


def optimizer_state(optimizer: torch.optim.Optimizer) -> Weights:
    """Return the state of an optimizer alone: its options are the recipe's, and each step sets the learning rate."""
    states = optimizer.state_dict()["state"].items()
    return {f"{index}.{key}": value for index, state in states for key, value in state.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, found: Weights) -> None:
    """Give an optimizer the state that `optimizer_state` has told; ValueError where it is not of its parameters."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    state: dict[int, dict[str, Any]] = {}
    for key, value in found.items():
        index, _, name = key.partition(".")
        # Adam's count of steps has no axis; its moments have those of the parameter.
        if value.ndim and value.shape != parameters[int(index)].shape:
            raise ValueError(f"{name} of parameter {index} has the shape {tuple(value.shape)}")
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def under(found: Weights, prefix: str) -> Weights:
    """Return the tensors whose names begin so, without the beginning."""
    return {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}


def _digest(tensors: Weights) -> str:
    """Return the SHA-256 of tensors with their names, types and shapes."""
    found = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        # reshape(-1): torch refuses to view a tensor without an axis, as Adam's count of steps, as bytes.
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def _check_best(best: Weights, model: nn.Module, progress: Counters) -> None:
    """Raise ValueError unless the best weights fit the model, or, before the first epoch, are missing."""
    expected = model.state_dict() if progress.best_epoch else {}
    if best.keys() != expected.keys():
        raise ValueError("the best weights are missing, or of another model")
    for key, value in best.items():
        if value.shape != expected[key].shape:
            raise ValueError(f"best.{key} has the shape {tuple(value.shape)}, not {tuple(expected[key].shape)}")
