"""TensorBoard's logs of a run: a view of metrics.jsonl, made again when a run is resumed, without double steps."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adelic.errors import StorageError, needs_extra
from adelic.storage.files import storage_errors

LOG_FOLDER = "tensorboard"
"""Name of the subfolder of a run folder that has TensorBoard's logs."""
EVENT_FILES = "events.out.tfevents.*"


class TensorBoardLog:
    """Writes the epochs of a run for TensorBoard, each as it is there; a context that closes the log.

    A TensorBoard that watches the folder drops what it had read of an earlier log, since the new one says that it
    begins with the first epoch (`purge_step`).

    Args:
        folder: the run folder. Earlier logs in it are deleted.
        lines: the lines of metrics.jsonl so far, parsed.
        configuration: the text of config.toml, which TensorBoard shows under "Text".

    Raises:
        MissingExtraError: tensorboard is not installed.
        StorageError: the logs cannot be written.
    """

    def __init__(self, folder: Path, lines: Iterable[dict[str, Any]], configuration: str) -> None:
        summary_writer = require_tensorboard()
        logs = folder / LOG_FOLDER
        try:
            str(logs).encode()
        except UnicodeEncodeError:
            raise StorageError(
                f"TensorBoard cannot write in a folder whose name is not UTF-8, as {str(folder)!a}"
            ) from None
        self._storage = (f"cannot write in {logs}", "choose a run folder with room, or leave --tensorboard out")
        with storage_errors(*self._storage):
            logs.mkdir(parents=True, exist_ok=True)
            for former in logs.glob(EVENT_FILES):
                former.unlink(missing_ok=True)
            self._writer = summary_writer(str(logs), purge_step=1)
            # Indented lines are code in Markdown.
            self._writer.add_text("config.toml", "".join(f"    {line}\n" for line in configuration.splitlines()))
        for line in lines:
            self.add(line)

    def add(self, line: dict[str, Any]) -> None:
        """Write an epoch's line of metrics.jsonl."""
        scalars = {"learning_rate": line["learning_rate"], "loss/train": line["train_loss"]}
        scalars |= {f"{name}/validation": value for name, value in line["validation"].items()}
        with storage_errors(*self._storage):
            for tag, value in scalars.items():
                self._writer.add_scalar(tag, value, line["epoch"])
            self._writer.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the log; what kept it from being written has been raised before."""
        with storage_errors(*self._storage):
            self._writer.close()


def require_tensorboard() -> Any:
    """Return the class SummaryWriter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what tensorboard itself imports
        with needs_extra("--tensorboard", "tensorboard", "./lab"):
            from torch.utils.tensorboard import SummaryWriter
    return SummaryWriter


def has_log(folder: Path) -> bool:
    """Return whether a run folder has a log.

    >>> has_log(Path("no such folder"))
    False
    """
    return any((folder / LOG_FOLDER).glob(EVENT_FILES))
