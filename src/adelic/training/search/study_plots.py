"""A study as a figure: its history, and what each dimension did."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from adelic.errors import ConfigurationError
from adelic.storage.checks import shown
from adelic.storage.files import FOLDER_REMEDY, atomic_write, storage_errors
from adelic.training.search.tuning import StudyResult, TrialResult

_COLUMNS = 4
_COMPLETE, _PRUNED = (
    "#0072B2",
    "#999999",
)  # a blue that any eye tells from grey


def check_plot(path: Path) -> None:
    """Raise unless a picture can have this name.

    Raises:
        ConfigurationError: a folder has it, or it has no known ending.
        StorageError: no file can have it, since it is too long, or its folder cannot be read.

    >>> check_plot(Path("study.xyz"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: cannot draw study.xyz: give it a name that ends in ...
    """
    known = sorted(Figure().canvas.get_supported_filetypes())
    with storage_errors(f"cannot draw {shown(str(path))}", FOLDER_REMEDY):
        is_folder = path.is_dir()
    if is_folder or _format(path) not in known:
        raise ConfigurationError(f"cannot draw {path}: give it a name that ends in {', '.join(f'.{n}' for n in known)}")


def _format(path: Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


def write_plot(study: StudyResult, path: Path) -> None:
    """Draw the validation accuracy of every trial, by number and by the values of each dimension.

    Args:
        study: a study whose trials are done.
        path: of the picture; its ending, .png or .svg among others, says in which format.

    Raises:
        ConfigurationError: matplotlib does not know the format.
        StorageError: the file cannot be written.
    """
    check_plot(path)
    space = study.search.space
    trials = [trial for trial in study.trials if trial.accuracy is not None]
    n_rows = math.ceil((1 + len(space)) / _COLUMNS)
    figure = Figure(figsize=(3.2 * _COLUMNS, 2.8 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, _COLUMNS, sharey=True, squeeze=False).flatten()
    numbers = [trial.number for trial in trials]
    _scatter(panels[0], trials, numbers)
    best = np.maximum.accumulate([_percent(trial) if trial.state == "complete" else 0.0 for trial in trials])
    panels[0].step(numbers, np.where(best > 0, best, np.nan), where="post", color=_COMPLETE, linewidth=1)
    panels[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_title("trial (line: best so far; grey: pruned)", fontsize=9)
    for axes, (name, dimension) in zip(panels[1:], space.items(), strict=False):
        values = [trial.values[name] for trial in trials]
        if dimension.bounds:
            axes.set_xscale("log")
        else:
            choices = list(dimension.choices)
            values = [choices.index(value) for value in values]
            axes.set_xlim(-0.5, len(choices) - 0.5)
            axes.set_xticks(range(len(choices)), [str(choice) for choice in choices], fontsize=7)
        _scatter(axes, trials, values)
        axes.set_title(name, fontsize=9)
    for axes in panels[1 + len(space) :]:
        axes.set_axis_off()
    for row in range(n_rows):
        panels[row * _COLUMNS].set_ylabel("validation accuracy (%)")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=_format(path), dpi=150)
    atomic_write(path, buffer.getvalue())


def _scatter(axes: Axes, trials: list[TrialResult], values: list[Any]) -> None:
    colours = [_COMPLETE if trial.state == "complete" else _PRUNED for trial in trials]
    axes.scatter(values, [_percent(trial) for trial in trials], c=colours, s=16)


def _percent(trial: TrialResult) -> float:
    return 100 * (trial.accuracy or 0.0)
