"""One run in its folder: config.toml, metrics.jsonl, checkpoint.safetensors, result.json, DONE; resumable."""

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adelic import acd
from adelic.acd import Dataset
from adelic.acd.files import atomic_write, read_bytes, storage_errors
from adelic.acd.provenance import source_commit, versions
from adelic.errors import ConfigurationError, RunFolderError
from adelic.nn import SequenceClassifier, Vocabulary
from adelic.training.checkpoint import load_checkpoint, save_checkpoint
from adelic.training.configuration import RunConfig, check_same
from adelic.training.loop import Split, Tick, Trainer, evaluate
from adelic.training.metrics import confusion, majority_rate
from adelic.training.result import read_result_file

FILES = ("config.toml", "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE")
"""What a run folder holds, in the order in which the files appear."""


def run(
    config: RunConfig,
    folder: Path,
    *,
    device: str = "auto",
    restart: bool = False,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """Train, or resume, or read the result of one run.

    A finished run costs a read. One that was killed goes on after its last whole epoch, and ends in the metrics that it
    would have had (bit for bit on the same machine and number of threads).

    Args:
        config: what to run.
        folder: the run folder; made if missing.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        restart: delete what a former run left in the folder.
        tick: called with (steps done, steps in all, text) for a progress bar.

    Returns:
        The content of result.json.

    Raises:
        RunFolderError: the folder holds a run of another configuration, or its checkpoint is damaged.
        StorageError: the folder cannot be written.

    >>> import tempfile
    >>> from adelic.training import EmbeddingConfig, load_recipe
    >>> recipe = load_recipe("quick", "schubert", 3, epochs=1, batch_size=256)
    >>> config = RunConfig(task="schubert", n=3, embedding=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder))
    ...     again = read_result(Path(folder))
    >>> result["rows"], again == result
    ({'train': 62, 'validation': 6, 'test': 17}, True)
    """
    torch_device = choose_device(device)
    with storage_errors(f"cannot use the run folder {folder}", "choose another --run-dir"):
        if restart:
            _clear(folder)
        _check(folder, config)
        finished = read_result(folder)
    if finished is not None:
        return finished
    data = acd.load(config.task, n=config.n, edition=config.edition, seed=config.data_seed)
    if not len(data.y_validation) or not len(data.y_test):
        raise ConfigurationError(f"{config.row} ({config.edition}) is too small: it has no validation or no test row")
    with torch.random.fork_rng():
        model = config.model(data).to(torch_device)
        vocabulary = Vocabulary(data.vocabulary)
        train, validation = (
            Split(vocabulary.ids(X), y, torch_device)
            for X, y in ((data.X_train, data.y_train), (data.X_validation, data.y_validation))
        )
        trainer = Trainer(model, config.recipe, train, validation, seed=config.seed)
        lines = _resume(trainer, folder)
        atomic_write(folder / "config.toml", config.to_toml())
        while trainer.progress.epoch < config.recipe.epochs:
            lines.append(json.dumps(trainer.run_epoch(tick)))
            # The metrics first: a kill between the two writes leaves one line too many, which resuming cuts off.
            atomic_write(folder / "metrics.jsonl", "".join(line + "\n" for line in lines))
            save_checkpoint(folder / "checkpoint.safetensors", model, trainer.optimizer, trainer.best, trainer.progress)
        model.load_state_dict(trainer.best)
        result = _result(config, data, model, trainer, Split(vocabulary.ids(data.X_test), data.y_test, torch_device))
    result["history"] = _history(lines)
    atomic_write(folder / "result.json", json.dumps(result, indent=2) + "\n")
    atomic_write(folder / "DONE", "")
    return result


def choose_device(name: str) -> torch.device:
    """Return a torch device; "auto" is the GPU where there is one.

    Raises:
        ConfigurationError: there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigurationError(f"device {name!r} cannot be used here ({reason}); use --device auto or cpu") from None
    return device


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the result of a finished run, or None when the run is not finished.

    Raises:
        RunFolderError: result.json is missing or damaged.

    >>> read_result(Path("a folder without a finished run")) is None
    True
    """
    if not (folder / "DONE").exists():
        return None
    path = folder / "result.json"
    result = read_result_file(path)
    if result is None:
        raise RunFolderError(f"{path} is missing though the run is done; --restart begins this run anew")
    return result


def _clear(folder: Path) -> None:
    """Delete what a former run left, the last file first, so that a kill in between leaves a run that can go on."""
    for name in reversed(FILES):
        (folder / name).unlink(missing_ok=True)


def _check(folder: Path, config: RunConfig) -> None:
    """Raise `RunFolderError` if the folder holds another run."""
    path = folder / "config.toml"
    if path.exists():
        check_same(config, path)
        return
    strangers = [name for name in FILES if (folder / name).exists()]
    if strangers:
        raise RunFolderError(f"{folder} holds {strangers[0]} but no config.toml; use another --run-dir, or --restart")


def _resume(trainer: Trainer, folder: Path) -> list[str]:
    """Load the checkpoint, if there is one, and return the lines of metrics.jsonl that belong to it."""
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return []
    trainer.best, trainer.progress = load_checkpoint(path, trainer.model, trainer.optimizer)
    metrics = folder / "metrics.jsonl"
    epochs = trainer.progress.epoch
    lines = (read_bytes(metrics) or b"").decode(errors="replace").splitlines()[:epochs]
    try:
        whole = [json.loads(line)["epoch"] for line in lines] == list(range(1, epochs + 1))
    except (ValueError, TypeError, KeyError):
        whole = False
    if not whole:
        raise RunFolderError(f"{metrics} has lost lines that the checkpoint counts; --restart begins this run anew")
    return lines


def _result(
    config: RunConfig, data: Dataset, model: SequenceClassifier, trainer: Trainer, test: Split
) -> dict[str, Any]:
    """Evaluate the best weights on the test split, the only time that it is touched, and return result.json."""
    figures, predictions = evaluate(model, test, compute=config.recipe.compute)
    assert data.class_names is not None  # RunConfig.model has checked it
    return {
        "task": config.task,
        "n": config.n,
        "edition": config.edition,
        "embedding": config.embedding.name,
        "features": config.embedding.features,
        "recipe": config.recipe.name,
        "seed": config.seed,
        "test": figures,
        "validation": {
            "accuracy": trainer.progress.best_score[0],
            "loss": -trainer.progress.best_score[1],
            "epoch": trainer.progress.best_epoch,
        },
        "majority": majority_rate(data.y_train, data.y_test),
        "predicts_one_class": len(np.unique(predictions)) == 1,
        "confusion": confusion(data.y_test, predictions, len(data.class_names)),
        "rows": {"train": len(data.y_train), "validation": len(data.y_validation), "test": len(data.y_test)},
        "parameters": model.n_parameters,
        "seconds": round(trainer.progress.seconds, 3),
        "device": device_name(test.labels.device),
        "versions": versions("torch", "numpy"),
        "commit": source_commit(),
        "command": config.command(),
        "configuration": config.as_dict(),
        "data_sha256": data.provenance["sha256"],
    }


def _history(lines: list[str]) -> dict[str, list[float]]:
    """Return the learning curves of metrics.jsonl, one value an epoch, for plots."""
    epochs = [json.loads(line) for line in lines]
    return {
        "train_loss": [round(e["train_loss"], 6) for e in epochs],
        "validation_loss": [round(e["validation"]["loss"], 6) for e in epochs],
        "validation_accuracy": [round(e["validation"]["accuracy"], 6) for e in epochs],
    }


def device_name(device: torch.device) -> str:
    """Return what a device is, in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"
