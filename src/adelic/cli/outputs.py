"""Files and folders that a command may write, checked before it begins to work."""

import os
from collections.abc import Iterable
from pathlib import Path

from adelic.errors import ConfigurationError
from adelic.storage.files import check_writable, check_writable_folder, is_stream

_OF_A_RUN = ("config.toml", "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE")


def check_output(path: Path, ending: str, *, option: str = "--output", inputs: Iterable[Path] = ()) -> None:
    """Raise unless a command may write a file of this name; a pipe or a device it always may.

    Args:
        path: of the file.
        ending: of its name, as ".csv".
        option: that names it.
        inputs: files that the command reads, or that it depends on.

    Raises:
        ConfigurationError: the name has another ending; the file is an input, or one of a run.
        StorageError: it cannot be written.

    >>> check_output(Path("mine.parquet"), ".csv")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: --output mine.parquet is to be a file in CSV: give it a name that ends in .csv
    """
    if is_stream(path):
        return
    if path.suffix.lower() != ending:
        kind = ending.lstrip(".").upper()
        raise ConfigurationError(f"{option} {path} is to be a file in {kind}: give it a name that ends in {ending}")
    for read in inputs:
        if os.path.realpath(read) == os.path.realpath(path) or _is_same(read, path):
            raise ConfigurationError(f"{option} {path} would replace {read}, which is an input; choose another name")
    if path.name in _OF_A_RUN and (path.parent / "config.toml").is_file():
        raise ConfigurationError(f"{option} {path} would replace a file of the run there; choose another name")
    check_writable(path)


def check_folder(folder: Path, option: str) -> None:
    """Raise StorageError unless a command may write files into the folder that an option names."""
    check_writable_folder(folder, remedy=f"choose another {option}")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is missing
        return False
