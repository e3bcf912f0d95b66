"""How far a training has come: the counters of a checkpoint, and the lines of metrics.jsonl that belong to it.

Nothing here may import torch: `adelic runs list` would wait seconds for it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adelic.errors import RunFolderError, needs_extra
from adelic.storage.files import check_regular, read_bytes
from adelic.storage.records import parse_sealed, sha256
from adelic_lab.train.signals import held_signals

CHECKPOINT = "checkpoint.safetensors"
"""From what an unfinished run goes on, and what a finished network predicts with."""
TENSORS = "tensors_sha256"
"""The key, among the counters of a checkpoint, of the SHA-256 of all tensors."""


@dataclass
class Counters:
    """How far a run has come: after whole epochs, or after a step inside an epoch.

    Attributes:
        epoch: epochs done.
        step: optimizer steps done.
        seconds: training time so far, over all resumed parts.
        processor_seconds: what the process had of the processor in that time, all threads together.
        best_epoch: the epoch (from 1) whose weights are kept; 0 before the first.
        best_score: (validation accuracy, −validation loss) of that epoch.
        batch: steps done of the next epoch.
        loss: training loss summed over the examples of these steps.
        metrics: SHA-256 of the lines of metrics.jsonl; empty before the first.
        compute: number format of products, with which the run goes on wherever that is; empty in an older checkpoint,
            whose run has the recipe's.
    """

    epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    best_epoch: int = 0
    best_score: tuple[float, float] = (-1.0, 0.0)
    batch: int = 0
    loss: float = 0.0
    metrics: str = ""
    compute: str = ""


def read_progress(path: Path) -> Counters:
    """Return the counters of a checkpoint, without loading or checking its tensors.

    A file that is truncated or damaged is a RunFolderError.
    """
    with needs_extra("reading a checkpoint", "torch"):
        from safetensors import safe_open
    # NumPy's reader does not load torch.
    with damage(path), safe_open(path, framework="np") as file:
        return parse_progress(file.metadata())[0]


def parse_progress(metadata: dict[str, str] | None) -> tuple[Counters, str]:
    """Return the counters in a checkpoint's metadata and the SHA-256 of its tensors.

    If they are damaged, it is a ValueError, a KeyError or a TypeError.
    """
    table = parse_sealed((metadata or {})["progress"].encode())
    digest: str = table.pop(TENSORS)
    if table.pop("generators", None):  # states of generators, which steps of version 0.1 drew from
        raise ValueError("it is from inside an epoch of adelic 0.1, which alone goes on from there")
    # The seal says that a program like this one has written it: types and signs need no check.
    if table.get("compute") not in ("", "float32", "bfloat16"):
        raise ValueError(f"compute={table.get('compute')!r:.40}")
    table["best_score"] = tuple(table["best_score"])  # a list in JSON
    return Counters(**table), digest


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """Turn what a damaged checkpoint can raise into a RunFolderError of one line; signals wait until it is read."""
    from safetensors import SafetensorError

    damages = (SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError, RuntimeError)
    try:
        check_regular(path)
        with held_signals():
            yield
    except damages as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunFolderError(
            f"{path} is truncated or damaged ({reason}); --restart begins this run anew, or delete its folder"
        ) from None


def metrics_text(lines: Sequence[str]) -> bytes:
    """Return metrics.jsonl.

    >>> len(metrics_text(["{}", "{}"]).splitlines())
    2
    """
    return "".join(line + "\n" for line in lines).encode()


def kept_lines(folder: Path, progress: Counters) -> list[str]:
    """Return the lines of metrics.jsonl that a checkpoint counts.

    A RunFolderError means that some are lost or damaged.

    >>> kept_lines(Path("a folder without metrics"), Counters())
    []
    """
    path = folder / "metrics.jsonl"
    # Lines are written before their checkpoint: after a kill there may be more than it counts.
    lines = (read_bytes(path) or b"").decode(errors="replace").splitlines()[: progress.epoch]
    if len(lines) < progress.epoch:
        raise RunFolderError(f"{path} has lost lines that the checkpoint counts; --restart begins this run anew")
    if lines and progress.metrics != sha256(metrics_text(lines)):
        raise RunFolderError(
            f"{path} is damaged: its SHA-256 is not the one in the checkpoint; --restart begins this run anew"
        )
    return lines
