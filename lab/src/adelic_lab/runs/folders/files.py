"""The files of a run folder: config.toml, metrics.jsonl, checkpoint.safetensors, result.json, DONE.

DONE has the SHA-256 of the other texts, as `sha256sum` lists them; the checkpoint has its own, and that of the metrics.
Older folders lack these checksums, and are read unchecked.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from adelic.errors import RunFolderError
from adelic.storage.files import read_bytes
from adelic.storage.records import sha256
from adelic_lab.results.result import Result, check_sum, read_done
from adelic_lab.runs.folders.progress import Counters

CHECKPOINT = "checkpoint.safetensors"
"""From what an unfinished run goes on, and what a finished network predicts with."""
FILES = ("config.toml", "metrics.jsonl", CHECKPOINT, "result.json", "DONE")
"""The files of a run folder, in the order in which they appear."""
LOG_FOLDER = "tensorboard"
"""Name of the subfolder of a run folder that has TensorBoard's logs."""
EVENT_FILES = "events.out.tfevents.*"


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
            raise RunFolderError(
                f"{folder / name} is missing though DONE says that it is there; --restart begins this run anew"
            )
        check_sum(folder / name, content, listed)
        contents[name] = content
    return Result.parse(contents["result.json"], str(folder / "result.json"))


def kept_lines(folder: Path, progress: Counters) -> list[str]:
    """Return the lines of metrics.jsonl that a checkpoint counts.

    A RunFolderError says that some are lost or damaged.

    >>> kept_lines(Path("a folder without metrics"), Counters())
    []
    """
    path = folder / "metrics.jsonl"
    # Lines are written before their checkpoint, so that after a kill there may be more than it counts.
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
