"""A study as a figure: what each dimension did."""

import io
import warnings
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from adelic.errors import ConfigurationError
from adelic.storage.files import atomic_write
from adelic_lab.search.tuning import StudyResult


def check_plot(path: Path) -> str:
    """Return the format of a picture, by the ending of its name; PNG without one.

    Raises:
        ConfigurationError: the ending is unknown.

    >>> check_plot(Path("study.xyz"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: cannot draw study.xyz: give it a name that ends in ...
    """
    ending = path.suffix.lstrip(".").lower() or "png"
    known = sorted(Figure().canvas.get_supported_filetypes())
    if ending not in known:
        raise ConfigurationError(f"cannot draw {path}: give it a name that ends in {', '.join(f'.{n}' for n in known)}")
    return ending


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
    ending = check_plot(path)
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
            figure.savefig(buffer, format=ending, dpi=150)
        finally:
            pyplot.close(figure)
    atomic_write(path, buffer.getvalue())
