"""Predictions of a finished run on a table of one's own for other rows: of a network, or of a model outside it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.sources import TableData, row_of
from adelic.data.tables import ids_of, place_of
from adelic.errors import ConfigurationError, RunFolderError, StorageError
from adelic.numbers.columns.lossy import LOSSY
from adelic.numbers.describe import describe
from adelic.storage.files import read_bytes
from adelic.storage.options import options
from adelic.storage.records import DamagedTextError
from adelic_lab.config.embedding import EmbeddingConfig, stored_embedding
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import Classical, RandomSearch
from adelic_lab.config.options import check_table
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.models.classical.fitting import refitted
from adelic_lab.models.classical.models import reads_any_number
from adelic_lab.results.result import TEXT, check, parse_configuration
from adelic_lab.runs.development import TrainValidation
from adelic_lab.runs.objectives import OneClass, make_objective
from adelic_lab.runs.runner import check_numbers, command_in, finished_result, trained_network
from adelic_lab.train.fitting import Network

_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Predictions:
    """What a network, or another model, says of rows.

    Attributes:
        answers: the names of classes, or whole numbers, a row each.
        probabilities: of these classes, as the model has them, (rows,); None of numbers.

    >>> Predictions(("odd", "even"), probabilities=(0.75, 0.5)).answers[0]
    'odd'
    """

    answers: tuple[str | int, ...]
    probabilities: tuple[float, ...] | None


def predict(folder: str | Path, frame: Any, *, lossy: str | None = None) -> Predictions:
    r"""Return what the model of a finished run on a table predicts for other rows.

    The table of the run has to be where it was, and unchanged: its columns, classes and numbers are read from it.
    Numbers that are not in it get the vectors that their digits, or other features, give them; an embedding with a
    vector for each number has none for them. A model outside the Transformer is fitted once more, to the same rows.

    Args:
        folder: of the run.
        frame: a table as for `from_table`, with the number columns of the run; other columns are ignored.
        lossy: as for `from_table`, of these rows; None for what the run was trained with.

    Raises:
        RunFolderError: the run is not finished, or its files are damaged.
        StorageError: the table of the run is not where it was.
        ConfigurationError: it is not on a table; the table has changed; a value is not a number, or not one of those
            that the model knows.
        UnknownNameError: a column is missing.
        PrecisionError: a number has more digits after the point, at a prime, than the run has.
        RangeError: a number is beyond the floats that the model reads.

    >>> import tempfile
    >>> import adelic_lab
    >>> from adelic import data
    >>> digits = {"features": "one-hot-digits", "projection": "linear", "primes": (2, 3), "precision": 4}
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path, folder = Path(place) / "mine.csv", Path(place) / "run"
    ...     lines = "".join(f"{n},{'odd' if n % 2 else 'even'}\n" for n in range(200))
    ...     _ = path.write_text("n,kind\n" + lines, encoding="utf-8")
    ...     table = data.TableData(str(path), target="kind")
    ...     run = adelic_lab.Experiment.choose(table, recipe="quick", epochs=10, batch_size=8, n_layers=1, **digits)
    ...     _ = adelic_lab.run(run, folder, device="cpu")
    ...     adelic_lab.predict(folder, {"n": [7, 1000, 2001]}).answers
    ('odd', 'even', 'odd')
    """
    folder = Path(folder)
    experiment = _of_table(folder)
    with _remedies_of_training(experiment, folder):
        if isinstance(experiment.model, Classical):
            return _by_classical(experiment, folder, frame, lossy)
        network = trained_network(experiment, folder)
    data = experiment.data.load(experiment.seed)
    ids, new = _ids_of(experiment, frame, data, lossy)
    check_numbers(experiment, new, partial(place_of, frame, data.provenance["columns"]))
    if new:
        _extend(network, new)
    objective = make_objective(data)
    with torch.inference_mode():
        found = [objective.predictions(network(part)) for part in torch.split(torch.from_numpy(ids), _ROWS_AT_ONCE)]
    predictions = torch.cat(found).numpy()
    answers: Sequence[int] = objective.answers(predictions).tolist()
    if not isinstance(objective, OneClass) or data.class_names is None:
        return Predictions(tuple(answers), None)
    return Predictions(tuple(data.class_names[i] for i in answers), tuple(np.round(predictions[:, 1], 6).tolist()))


@contextmanager
def _remedies_of_training(experiment: Experiment, folder: Path) -> Iterator[None]:
    """Let errors of a damaged run name the command that trains it anew: the option --restart is not of this one."""
    try:
        yield
    except RunFolderError as error:
        trouble, is_damaged, _ = str(error).partition("; --restart")
        if not is_damaged:
            raise
        anew = f"{command_in(experiment, folder)} --restart"
        raise RunFolderError(f"{trouble}; this trains it anew: {anew}") from None


def _of_table(folder: Path) -> Experiment:
    """Return the experiment of a run folder, on a table."""
    path = folder / "config.toml"
    content = read_bytes(path)
    if content is None:
        raise RunFolderError(f"{folder} holds no run; `adelic runs list` lists the runs")
    try:
        found = parse_configuration(content)
        if "path" in found["data"]:
            check(found["data"], {"path": TEXT, "target": TEXT}, "data")
    except DamagedTextError as error:
        raise RunFolderError(
            f"{path} is damaged: {error}; train it anew: adelic train … --run-dir {folder} --restart"
        ) from None
    about = found["data"]
    if "path" not in about:
        raise ConfigurationError(f"{folder} is a run on {row_of(about)}; predictions are for tables of your own")
    recipe = {key: value for key, value in found["recipe"].items() if key != "name"}
    known = {field.name for field in fields(TableData)}  # `finished_result` refuses a file that has others
    data = TableData(**{key: value for key, value in about.items() if key in known})
    if not Path(data.path).is_file():
        raise StorageError(
            f"the table that the run was trained on, {data.path}, is not here: run this in the folder where the run "
            "was trained, or put the table back"
        )
    if found["recipe"]["name"] == RandomSearch.name:
        own = {key: value for key, value in recipe.items() if key in options(RandomSearch)}
        model, search = Classical(name=found["embedding"]["name"]), RandomSearch(**own)
        return Experiment(data=data, model=model, recipe=search, seed=found["seed"])
    return Experiment(
        data=data,
        model=EmbeddingConfig(**stored_embedding(found["embedding"], str(path))),
        recipe=TrainConfig(name=found["recipe"]["name"], **check_table(TrainConfig, recipe, f"{path} [recipe]")),
        seed=found["seed"],
    )


def _by_classical(experiment: Experiment, folder: Path, frame: Any, lossy: str | None) -> Predictions:
    """Return what a model outside the Transformer, fitted once more, predicts for the rows of a table."""
    result = finished_result(experiment, folder)
    chosen = (result.search or {})["chosen"]
    data = experiment.data.load(experiment.seed)
    assert data.class_names is not None  # other models than networks have classes
    ids, new = _ids_of(experiment, frame, data, lossy)
    if new and not reads_any_number(chosen, len(data.vocabulary)):
        raise ConfigurationError(
            f"{describe(new[0])} does not occur in the table of the run, and its search has chosen "
            f"inputs={chosen['inputs']}, which know no others; a network with --embedding adelic reads any number"
        )
    check_numbers(experiment, new, partial(place_of, frame, data.provenance["columns"]))
    rows = TrainValidation.of(data, max_rows=experiment.recipe.max_rows)
    # As ids: those of new numbers lie behind those of the table, whose ids stay.
    rows = replace(
        rows,
        X_train=rows.ids(rows.X_train),
        X_validation=rows.ids(rows.X_validation),
        vocabulary=(*rows.numbers, *new),
        is_coded=True,
    )
    found = refitted(experiment, rows, chosen).probabilities(ids)
    names = tuple(data.class_names[i] for i in found.argmax(axis=1))
    return Predictions(names, tuple(np.round(found.max(axis=1).astype(np.float64), 6).tolist()))


def _ids_of(
    experiment: Experiment, frame: Any, data: Dataset, lossy: str | None
) -> tuple[NDArray[np.int64], tuple[Fraction, ...]]:
    """Return the rows of a table for the model of a run, and the numbers that are not in its own table."""
    assert isinstance(experiment.data, TableData)  # of `_of_table`
    return ids_of(frame, data.provenance["columns"], data.vocabulary, lossy=lossy or experiment.data.lossy or LOSSY[0])


def _extend(network: Network, new: Sequence[Fraction]) -> None:
    """Let a network read more numbers, whose ids are behind those that it knows."""
    if not hasattr(network, "embedding"):  # place-wise ones have frozen vectors of each place instead
        raise ConfigurationError(
            f"{describe(new[0])} does not occur in the table of the run, and its network knows no others; "
            "one with --places flat reads any number"
        )
    network.extend(new)
