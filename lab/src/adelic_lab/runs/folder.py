"""The folder of a run: made, held, read, finished.

Its files are config.toml, metrics.jsonl, checkpoint.safetensors, result.json and DONE. DONE has the SHA-256 of the
other texts, as `sha256sum` lists them; the checkpoint has its own, and that of the metrics.

Nothing here may import torch: `adelic runs list` would wait seconds for it.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adelic.errors import RunFolderError, needs_extra
from adelic.storage.files import atomic_write, check_regular, read_bytes, sole_user, storage_errors
from adelic.storage.records import checksums, parse_sealed, sha256
from adelic_lab.config.experiment import Experiment, check_same, is_extension
from adelic_lab.results.result import Result, check_sum, read_done
from adelic_lab.runs.signals import held_signals

CHECKPOINT = "checkpoint.safetensors"
"""From what an unfinished run goes on, and what a finished network predicts with."""
FILES = ("config.toml", "metrics.jsonl", CHECKPOINT, "result.json", "DONE")
"""The files of a run folder, in the order in which they appear."""
LOG_FOLDER = "tensorboard"
"""Name of the subfolder of a run folder that has TensorBoard's logs."""
EVENT_FILES = "events.out.tfevents.*"
TENSORS = "tensors_sha256"
"""The key, among the counters of a checkpoint, of the SHA-256 of all tensors."""


def prepare(experiment: Experiment, folder: Path, held: ExitStack, *, restart: bool) -> Result | None:
    """Return the result of a finished run; else hold the folder, empty it if the run is to start anew, and check it.

    A run with fewer epochs than the experiment's, finished or not, becomes an unfinished one with as many.
    """
    remedy, config = "choose another --run-dir", folder / "config.toml"
    with storage_errors(f"cannot use the run folder {folder}", remedy):
        extends = not restart and config.exists() and is_extension(experiment, config)
        # A finished run is only read, which several processes may do at once.
        if restart or extends or not (folder / "DONE").exists():
            held.enter_context(sole_user(folder, remedy=remedy))
        if restart:
            # The last file first, so that a kill in between leaves a run that can go on.
            for path in [*(folder / name for name in reversed(FILES)), *(folder / LOG_FOLDER).glob(EVENT_FILES)]:
                path.unlink(missing_ok=True)
        if extends:
            _extend(folder, experiment)
        if config.exists():
            check_same(experiment, config)
        elif stranger := next((name for name in FILES if (folder / name).exists()), None):
            raise RunFolderError(f"{folder} holds {stranger} but no config.toml; use another --run-dir, or --restart")
        return read_result(folder)


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
    texts = {} if metrics is None else {"metrics.jsonl": metrics}
    texts["result.json"] = (json.dumps(result.as_dict(), indent=2) + "\n").encode()
    for name, text in texts.items():
        if read_bytes(folder / name) != text:
            atomic_write(folder / name, text)
    # The last: after a kill before it, the same command judges the checkpoint once more.
    atomic_write(folder / "DONE", checksums({"config.toml": read_bytes(folder / "config.toml") or b"", **texts}))
    return result


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

    A RunFolderError says that some are lost or damaged.

    >>> kept_lines(Path("a folder without metrics"), Counters())
    []
    """
    path = folder / "metrics.jsonl"
    # Lines are written before their checkpoint, so that after a kill there may be more than it counts.
    lines = (read_bytes(path) or b"").decode(errors="replace").splitlines()[: progress.epoch]
    if len(lines) < progress.epoch:
        raise RunFolderError(f"{path} has lost lines that the checkpoint counts; --restart begins this run anew")
    if lines and progress.metrics != sha256(metrics_text(lines)):
        raise RunFolderError(
            f"{path} is damaged: it does not have the SHA-256 that stands in the checkpoint; --restart begins this run "
            "anew"
        )
    return lines
