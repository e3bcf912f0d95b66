"""A run's folder: config.toml, metrics.jsonl, checkpoint.safetensors, result.json, DONE; made, held, checked, read.

A run with `--places auto` has joint.json, too. DONE has the SHA-256 of the other texts, as `sha256sum` lists them; the
checkpoint and joint.json have their own, and the checkpoint has that of the metrics. Older folders lack these
checksums, and are read unchecked.
"""

import json
import platform
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import torch

from adelic.errors import ConfigurationError, RunFolderError
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic.storage.records import checksums, sha256
from adelic.training.experiment import Experiment, check_same
from adelic.training.network.checkpoint import Progress
from adelic.training.network.tensorboard import EVENT_FILES, LOG_FOLDER, TensorBoardLog, has_log, require_tensorboard
from adelic.training.result import Result, check_sum, read_done

JOINT = "joint.json"
"""How each joint of a local–global network did, of a run whose joint validation has chosen."""
FILES = ("config.toml", JOINT, "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE")
"""The files of a run folder, in the order in which they appear."""


def prepare(
    experiment: Experiment, folder: Path, held: ExitStack, *, restart: bool, tensorboard: bool
) -> Result | None:
    """Return the result of a finished run; else hold the folder, empty it if the run is to start anew, and check it."""
    if tensorboard:
        require_tensorboard()
    remedy = "choose another --run-dir"
    with storage_errors(f"cannot use the run folder {folder}", remedy):
        if restart or not (folder / "DONE").exists():
            held.enter_context(sole_user(folder, remedy=remedy))
        if restart:
            _clear(folder)
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


def finish(folder: Path, result: Result, metrics: bytes | None) -> Result:
    """Write the result, and that the run is done.

    Args:
        folder: the run folder, which is held.
        result: for result.json.
        metrics: of metrics.jsonl, of a run that has one.
    """
    texts = {"result.json": (json.dumps(result.as_dict(), indent=2) + "\n").encode()}
    if metrics is not None:
        texts = {"metrics.jsonl": metrics, **texts}
    for name, text in texts.items():
        if read_bytes(folder / name) != text:
            atomic_write(folder / name, text)
    atomic_write(folder / "DONE", checksums({"config.toml": read_bytes(folder / "config.toml") or b"", **texts}))
    return result


def metrics_text(lines: Sequence[str]) -> bytes:
    """Return metrics.jsonl.

    >>> len(metrics_text(["{}", "{}"]).splitlines())
    2
    """
    return "".join(line + "\n" for line in lines).encode()


def read_result(folder: Path) -> Result | None:
    """Return the result of a finished run, or None when the run is not finished.

    Raises:
        RunFolderError: result.json is missing or damaged, or another text that DONE lists is.

    >>> read_result(Path("a folder without a finished run")) is None
    True
    """
    if not (folder / "DONE").exists():
        return None
    listed = read_done(folder)
    contents: dict[str, bytes] = {}
    for name in dict.fromkeys((*listed, "result.json")):
        content = read_bytes(folder / name)
        if content is None:
            raise RunFolderError(f"{folder / name} is missing though the run is done; --restart begins this run anew")
        check_sum(folder / name, content, listed)
        contents[name] = content
    return Result.parse(contents["result.json"], str(folder / "result.json"))


def _clear(folder: Path) -> None:
    """Delete what a former run left, the last file first, so that a kill in between leaves a run that can go on."""
    for name in reversed(FILES):
        (folder / name).unlink(missing_ok=True)
    for log in (folder / LOG_FOLDER).glob(EVENT_FILES):
        log.unlink(missing_ok=True)


def _check(folder: Path, experiment: Experiment) -> None:
    """Raise `RunFolderError` if the folder holds another run."""
    path = folder / "config.toml"
    if path.exists():
        check_same(experiment, path)
        return
    strangers = [name for name in FILES if (folder / name).exists()]
    if strangers:
        raise RunFolderError(f"{folder} holds {strangers[0]} but no config.toml; use another --run-dir, or --restart")


def kept_lines(folder: Path, progress: Progress) -> list[str]:
    """Return the lines of metrics.jsonl that a checkpoint counts.

    Raises:
        RunFolderError: some are lost, or they are damaged.

    >>> kept_lines(Path("a folder without metrics"), Progress())
    []
    """
    path = folder / "metrics.jsonl"
    lines = (read_bytes(path) or b"").decode(errors="replace").splitlines()[: progress.epoch]
    try:
        whole = [json.loads(line)["epoch"] for line in lines] == list(range(1, progress.epoch + 1))
    except (ValueError, TypeError, KeyError, RecursionError):
        whole = False
    if not whole:
        raise RunFolderError(f"{path} has lost lines that the checkpoint counts; --restart begins this run anew")
    if progress.metrics and progress.metrics != sha256(metrics_text(lines)):
        raise RunFolderError(
            f"{path} is damaged: it does not have the SHA-256 that stands in the checkpoint; --restart begins this run "
            "anew"
        )
    return lines


def choose_device(name: str) -> torch.device:
    """Return a torch device; "auto" is the GPU where there is one.

    Raises:
        ConfigurationError: the device cannot be used here.
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


def device_name(device: torch.device) -> str:
    """Return what a device is, in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"
