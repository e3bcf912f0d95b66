"""Where a command of the laboratory may write: over no file of a run."""

from collections.abc import Iterable
from pathlib import Path

from adelic.cli import outputs
from adelic.errors import ConfigurationError
from adelic.storage.files import check_writable_folder
from adelic_lab.runs.folder import FILES
from adelic_lab.runs.listing import is_run_folder


def check_output(path: Path, ending: str, *, option: str = "--output", inputs: Iterable[Path] = ()) -> None:
    """Raise unless a command may write a file of this name, as `adelic.cli.outputs.check_output` does.

    Raises:
        ConfigurationError: besides, the file is one of a run.
    """
    outputs.check_output(path, ending, option=option, inputs=inputs)
    if path.name in FILES and is_run_folder(path.parent):
        raise ConfigurationError(f"{option} {path} would replace a file of the run there; choose another name")


def check_folder(folder: Path, option: str) -> None:
    """Raise StorageError unless a command may write files into the folder that an option names."""
    check_writable_folder(folder, remedy=f"choose another {option}")
