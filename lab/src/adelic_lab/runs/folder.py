"""A run's folder: made, held, checked, finished; `adelic_lab.runs.folders.files` has its files."""

import json
import platform
from contextlib import ExitStack
from pathlib import Path

import torch

from adelic.errors import ConfigurationError, RunFolderError
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic.storage.records import checksums
from adelic_lab.config.experiment import Experiment, check_same, is_extension
from adelic_lab.results.result import Result
from adelic_lab.runs.folders.files import CHECKPOINT, EVENT_FILES, FILES, LOG_FOLDER, read_result
from adelic_lab.train.tensorboard import TensorBoardLog, has_log, require_tensorboard


def prepare(
    experiment: Experiment, folder: Path, held: ExitStack, *, restart: bool, tensorboard: bool
) -> Result | None:
    """Return the result of a finished run; else hold the folder, empty it if the run is to start anew, and check it.

    A run with fewer epochs than the experiment's, finished or not, becomes an unfinished one with as many.
    """
    if tensorboard:
        require_tensorboard()
    remedy = "choose another --run-dir"
    with storage_errors(f"cannot use the run folder {folder}", remedy):
        config = folder / "config.toml"
        extends = not restart and config.exists() and is_extension(experiment, config)
        # A finished run is only read, which several processes may do at once.
        if restart or extends or not (folder / "DONE").exists():
            held.enter_context(sole_user(folder, remedy=remedy))
        if restart:
            _clear(folder)
        if extends:
            _extend(folder, experiment)
        _check(folder, experiment)
        finished = read_result(folder)
    if finished is not None and tensorboard and not has_log(folder):
        content = read_bytes(folder / "metrics.jsonl") or b""
        with TensorBoardLog(folder, map(json.loads, content.splitlines()), experiment.to_toml()):
            pass  # it is complete
    return finished


def describe(experiment: Experiment, folder: Path) -> None:
    """Write config.toml, if it is not there."""
    if not (folder / "config.toml").exists():
        atomic_write(folder / "config.toml", experiment.to_toml())


def finish(experiment: Experiment, folder: Path, result: Result, metrics: bytes | None) -> Result:
    """Write the result, the configuration if that was deleted meanwhile, and that the run is done.

    The folder is held; `metrics` is the content of metrics.jsonl, of a run that has one. If the folder has come to hold
    another run meanwhile, it is a RunFolderError.
    """
    describe(experiment, folder)
    check_same(experiment, folder / "config.toml")
    texts = {"result.json": (json.dumps(result.as_dict(), indent=2) + "\n").encode()}
    if metrics is not None:
        texts = {"metrics.jsonl": metrics, **texts}
    for name, text in texts.items():
        if read_bytes(folder / name) != text:
            atomic_write(folder / name, text)
    # The last: after a kill before it, the same command judges the checkpoint once more.
    atomic_write(folder / "DONE", checksums({"config.toml": read_bytes(folder / "config.toml") or b"", **texts}))
    return result


def _clear(folder: Path) -> None:
    """Delete what a former run left, the last file first, so that a kill in between leaves a run that can go on."""
    for name in reversed(FILES):
        (folder / name).unlink(missing_ok=True)
    for log in (folder / LOG_FOLDER).glob(EVENT_FILES):
        log.unlink(missing_ok=True)


def _extend(folder: Path, experiment: Experiment) -> None:
    """Make an unfinished run with more epochs of a run, in an order in which a kill leaves one of the two."""
    if (folder / "DONE").exists() and not (folder / CHECKPOINT).exists():
        raise RunFolderError(
            f"{folder} has no checkpoint any more from which the run could go on; use another --run-dir, or --restart "
            "to begin anew"
        )
    (folder / "DONE").unlink(missing_ok=True)
    atomic_write(folder / "config.toml", experiment.to_toml())
    (folder / "result.json").unlink(missing_ok=True)


def _check(folder: Path, experiment: Experiment) -> None:
    """Raise `RunFolderError` if the folder holds another run."""
    path = folder / "config.toml"
    if path.exists():
        check_same(experiment, path)
        return
    strangers = [name for name in FILES if (folder / name).exists()]
    if strangers:
        raise RunFolderError(f"{folder} holds {strangers[0]} but no config.toml; use another --run-dir, or --restart")


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
