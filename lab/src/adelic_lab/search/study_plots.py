"""A study as a figure: what each dimension did."""

import io
import warnings
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from adelic.errors import ConfigurationError
from adelic.storage.checks import shown
from adelic.storage.files import FOLDER_REMEDY, atomic_write, storage_errors
from adelic_lab.search.tuning import StudyResult


def check_plot(path: Path) -> None:
    """Raise unless a picture can have this name.

    Raises:
        ConfigurationError: a folder has the name, or its ending is unknown.
        StorageError: no file can have it, since it is too long, or its folder cannot be read.

    >>> check_plot(Path("study.xyz"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: cannot draw study.xyz: give it a name that ends in ...
    """
    known = sorted(Figure().canvas.get_supported_filetypes())
    with storage_errors(f"cannot draw {shown(str(path))}", FOLDER_REMEDY):
        if path.is_dir():
            raise ConfigurationError(f"cannot draw {path}: it is a folder; give it the name of a file")
    if _format(path) not in known:
        raise ConfigurationError(f"cannot draw {path}: give it a name that ends in {', '.join(f'.{n}' for n in known)}")


def _format(path: Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


def write_plot(study: StudyResult, path: Path) -> None:
    """Draw the validation accuracy of every trial by the values of each dimension: Optuna's slice plot.

    The later a trial, the darker its point; pruned trials are grey.

    Args:
        study: a study whose trials are done.
        path: of the picture; its ending, .png or .svg among others, says in which format.

    Raises:
        ConfigurationError: matplotlib does not know the format.
        StorageError: the file cannot be written.
    """
    check_plot(path)
    import optuna
    from matplotlib import pyplot
    from optuna.visualization.matplotlib import plot_slice

    from adelic_lab.search.studies import distribution, quiet

    distributions = {name: distribution(dimension) for name, dimension in study.search.space.items()}
    trials = [
        optuna.trial.create_trial(
            value=100 * trial.accuracy,
            params=trial.values,
            distributions=distributions,
            # What breaks a constraint is grey; a trial that is pruned in Optuna's own sense would not be shown.
            system_attrs={"constraints": [float(trial.state == "pruned")]},
        )
        for trial in study.trials
        if trial.accuracy is not None
    ]
    buffer = io.BytesIO()
    # The plot sets a style for all figures to come. In its usual layout the names of choices lie on each other.
    settings = mpl.rc_context({"figure.constrained_layout.use": True})
    with quiet(), settings, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attempting to set identical", category=UserWarning)
        whole = optuna.create_study(direction="maximize")
        whole.add_trials(trials)
        plot_slice(whole, target_name="validation accuracy (%)")
        figure = pyplot.gcf()
        try:
            figure.set_size_inches(1.5 + 2.2 * len(distributions), 4)
            for axes in figure.axes[: len(distributions)]:
                axes.tick_params(axis="x", rotation=60)
            figure.savefig(buffer, format=_format(path), dpi=150)
        finally:
            pyplot.close(figure)
    atomic_write(path, buffer.getvalue())
