"""The counters of a checkpoint: how far a run has come. They carry the SHA-256 of their own text.

Older checkpoints lack it, and are not checked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adelic.errors import RunFolderError, needs_extra
from adelic.storage.files import check_regular
from adelic.storage.records import parse_sealed
from adelic_lab.runs.signals import held_signals

TENSORS = "tensors_sha256"
"""The key, among the counters, of the SHA-256 of all tensors."""


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
        loss: training loss summed over the rows of these steps.
        generators: inside an epoch, the states of the random generators; see `adelic_lab.train.generators`.
        metrics: SHA-256 of the lines of metrics.jsonl; empty in an older checkpoint.
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
    generators: dict[str, str] = field(default_factory=dict)
    metrics: str = ""
    compute: str = ""


def read_progress(path: Path) -> Counters:
    """Return the counters of a checkpoint, without loading or checking its tensors.

    A file that is truncated or damaged is a RunFolderError.
    """
    with needs_extra("reading a checkpoint", "torch"):
        from safetensors import safe_open
    # NumPy's reader does not load torch, for which a list of runs would wait seconds.
    with damage(path), safe_open(path, framework="np") as file:
        return parse_progress(file.metadata())[0]


def parse_progress(metadata: dict[str, str] | None) -> tuple[Counters, str | None]:
    """Return the counters in a checkpoint's metadata and the SHA-256 of its tensors; None in an older one.

    If they are damaged, it is a ValueError or a TypeError.
    """
    table = parse_sealed((metadata or {})["progress"].encode())
    digest = table.pop(TENSORS, None)
    progress = Counters(**table)
    for name in ("epoch", "step", "best_epoch", "batch"):
        value = getattr(progress, name)
        if type(value) is not int or value < 0:
            raise ValueError(f"{name}={value!r:.40}")
    accuracy, loss = progress.best_score  # a list in JSON
    progress.best_score = (float(accuracy), float(loss))
    for name in ("seconds", "processor_seconds", "loss"):
        setattr(progress, name, float(getattr(progress, name)))
    if not all(isinstance(state, str) for state in progress.generators.values()):
        raise TypeError("a generator's state is not a text")
    if not isinstance(progress.metrics, str):
        raise TypeError("the SHA-256 of the metrics is not a text")
    if progress.compute not in ("", "float32", "bfloat16"):
        raise ValueError(f"compute={progress.compute!r:.40}")
    return progress, digest


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
