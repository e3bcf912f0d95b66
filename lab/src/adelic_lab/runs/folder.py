"""The folder of a run: made, held, read, finished.

Its files are config.toml, metrics.jsonl, checkpoint.safetensors, result.json and DONE. DONE has the SHA-256 of the
other texts, as `sha256sum` lists them; the checkpoint has its own, and that of the metrics.

Nothing here may import torch: `adelic runs list` would wait seconds for it.
"""

import json
from contextlib import ExitStack
from pathlib import Path

from adelic.errors import RunFolderError
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic.storage.records import checksums
from adelic_lab.config.experiment import Experiment, check_same, is_extension
from adelic_lab.results.result import Result, check_sum, read_done
from adelic_lab.train.counters import CHECKPOINT
from adelic_lab.train.tensorboard import EVENT_FILES, LOG_FOLDER

FILES = ("config.toml", "metrics.jsonl", CHECKPOINT, "result.json", "DONE")
"""The files of a run folder, in the order in which they appear."""


def prepare_folder(experiment: Experiment, folder: Path, held: ExitStack, *, restart: bool) -> Result | None:
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
