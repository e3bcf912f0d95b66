"""Predictions of a finished run on your own table for other rows: of a network, or of a model outside it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adelic.data.sources import TableData, row_of
from adelic.data.tables import ids_of, place_of
from adelic.errors import ConfigurationError, RunFolderError, StorageError
from adelic.numbers.columns.lossy import LOSSY
from adelic.storage.files import read_bytes
from adelic.storage.options import options
from adelic.storage.records import DamagedTextError
from adelic_lab.config.embedding import EmbeddingConfig, stored_embedding
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import Classical, RandomSearch
from adelic_lab.config.options import check_table
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.models import read
from adelic_lab.results.result import TEXT, check, parse_configuration
from adelic_lab.runs.judging import development
from adelic_lab.runs.runner import command_in, finished_result


@dataclass(frozen=True)
class Predictions:
    """What a network, or another model, says of rows.

    Attributes:
        answers: the names of classes, or numbers, a row each.
        probabilities: of these classes, as the model has them, (rows,); None of numbers.

    >>> Predictions(("odd", "even"), probabilities=(0.75, 0.5)).answers[0]
    'odd'
    """

    answers: tuple[str | int | float, ...]
    probabilities: tuple[float, ...] | None


def predict(folder: str | Path, frame: Any, *, lossy: str | None = None) -> Predictions:
    r"""Return what the model of a finished run on a table predicts for other rows.

    The table of the run has to be where it was, and unchanged: its columns, classes and numbers are read from it.
    Numbers that are not in it get the vectors that their digits, or other features, give them; an embedding with a
    vector for each number has none for them. A model outside the Transformer is fitted once more, to the same rows.

    Args:
        folder: of the run.
        frame: a table as for `from_table`, with the columns of the run; others are ignored. It is read as in
            training: a category that training lacked, or had once, has the vector that all such share.
        lossy: as for `from_table`, of these rows; None for what the run was trained with.

    Raises:
        RunFolderError: the run is not finished, or its files are damaged.
        StorageError: the table of the run is not where it was.
        ConfigurationError: it is not on a table; the table has changed; a value is not of its column's kind, or missing
            where training had none missing, or not one of those that the model knows.
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
    return predictor(folder, lossy=lossy)(frame)


def predictor(folder: str | Path, *, lossy: str | None = None) -> Callable[[Any], Predictions]:
    """Return `predict` for many tables: what the run has is read once. Arguments and errors are those of `predict`.

    It is for rows beyond memory, batch by batch, as in Ray Data's `map_batches`; docs/scaling.md shows how.

    >>> predictor("runs/none")
    Traceback (most recent call last):
    adelic.errors.RunFolderError: runs/none holds no run; `adelic runs list` lists the runs
    """
    folder = Path(folder)
    experiment = _of_table(folder)
    assert isinstance(experiment.data, TableData)
    loss = lossy or experiment.data.lossy or LOSSY[0]
    with _remedies_of_training(experiment, folder):
        result = finished_result(experiment, folder)
        data = experiment.data.load(experiment.seed)
        model = read(experiment, development(experiment), folder, result)

    def answer(frame: Any) -> Predictions:
        with _remedies_of_training(experiment, folder):
            ids, new = ids_of(frame, data.readings, data.vocabulary, words=data.words, lossy=loss)
            experiment.check_numbers(new, partial(place_of, frame, [reading.name for reading in data.readings]))
            answers, probabilities = model(ids, new)
        if data.class_names is None or probabilities is None:
            return Predictions(tuple(answers.tolist()), None)
        names = tuple(data.class_names[i] for i in answers.tolist())
        return Predictions(names, tuple(np.round(probabilities, 6).tolist()))

    return answer


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
        raise ConfigurationError(f"{folder} is a run on {row_of(about)}; predictions are for your own tables")
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
