"""Results of runs, written and read here alone; a file is checked in full, since anybody may have written it."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from adelic.data.sources import DrawnData, TableData, row_of
from adelic.errors import RunFolderError
from adelic.storage.checks import shown
from adelic.storage.files import read_bytes
from adelic.storage.options import options
from adelic.storage.records import DamagedTextError, parse_checksums, parse_sealed, parse_toml, seal, sha256
from adelic_lab.config.embedding import EmbeddingConfig
from adelic_lab.config.models import RandomSearch, Steps
from adelic_lab.config.recipes import TrainConfig, changed_words, recipe_names, stored
from adelic_lab.config.renamed import FIRST_NOTHING, SOLVERS, with_todays_names
from adelic_lab.results.kinds import (
    AMOUNT,
    BY_PRIME,
    CLASS_METRICS,
    COUNT,
    COUNTED,
    CURVES,
    FIGURES,
    FLAG,
    FURTHER_CURVES,
    MATRIX,
    METRICS,
    NUMBER,
    NUMBER_METRICS,
    OPTION,
    OPTIONS,
    RANGE,
    RATE,
    TABLE,
    TEXT,
    TEXTS,
    check_all,
    check_kind,
    check_known,
)
from adelic_lab.results.predictions import Integers, unpack

_REMEDY = "--restart begins this run anew; without DONE, the same command judges the checkpoint once more"
Table = Mapping[str, Any]
Figures = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one run: its experiment, its figures on the test split, and those of trivial rules.

    Attributes:
        task, n, edition, split: of the data; n and edition are None for a table of your own.
        contaminated: whether the edition shows a leak.
        embedding: name of the embedding, or of a model outside the Transformer.
        features: AOE's form, or the form in which another model reads numbers; None for models with one form only.
        places: where AOE's places meet; None where they are one vector, which older files call "flat".
        recipe, seed: of the experiment.
        test: figures on the test split: accuracy, loss, and what the kind of prediction has besides.
        validation: accuracy and loss of the weights that were chosen.
        majority, lookup, rule: test accuracies of the most frequent class, of a table that remembers the training rows,
            and of the best trivial rule, whose name is rule_name, see `adelic.data.rules`. Drawn tasks with numbers as
            answers have no rule, nor have older results.
        guess: of several targets or a number, the figures of always giving the most frequent answer.
        predicts_one_class: whether the model gives all rows the same answer; None in older results of solvers.
        never_seen: of a drawn task, the figures on each split of questions unlike those in training.
        by_class: of a drawn task with classes, for the test and each such split, how many questions of each class there
            are, and how many of them have the right answer.
        confusion: rows are true classes, columns predicted ones.
        targets: of several targets, the figures of each.
        class_names, shape, range, labels, predictions: the test split's answers, see `adelic_lab.results.predictions`;
            of too many, only the names of classes.
        rows: the numbers of rows in train, validation and test.
        parameters: how many numbers were fitted.
        flops: operations that one row takes; None where they are not counted.
        seconds: of training.
        processor_seconds: what the process had of the processor in that time; None where it is not known.
        evaluation_seconds: of computing a solver's answers.
        compute: number format of a network's products, which is the recipe's, or float32 where the machine was slow in
            that one; None in older results, which have the recipe's, and for other models.
        device, devices, nodes, versions, commit: the machine and the software of the training.
        command: the command line that repeats the run.
        configuration: the tables of config.toml.
        data_sha256: of the data's file, which another version of pyarrow writes in other bytes.
        converged: whether a solver reached its tolerance; None for models without a tolerance.
        search: how the options of a model outside the Transformer were chosen.
        history: learning curves, one value an epoch, see `adelic_lab.results.metrics.history`.

    >>> import tempfile
    >>> from adelic_lab.config.models import Classical, RandomSearch
    >>> from adelic_lab.config.experiment import Experiment
    >>> from adelic_lab.runs.runner import run
    >>> from adelic.data import TaskData
    >>> experiment = Experiment(
    ...     data=TaskData("schubert", 3), model=Classical(name="majority"), recipe=RandomSearch())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(experiment, Path(folder, "run"))
    >>> labels, predictions = result.answers()
    >>> result.row, (labels == predictions).mean() == result.test["accuracy"] == result.majority
    ('schubert-3', True)
    """

    task: Annotated[str, TEXT]
    n: Annotated[int | None, COUNT.or_null()]
    edition: Annotated[str | None, TEXT.or_null()]
    split: Annotated[str, TEXT]
    contaminated: Annotated[bool, FLAG] = False
    embedding: Annotated[str, TEXT]
    features: Annotated[str | None, TEXT.or_null()]
    places: Annotated[str | None, TEXT.or_null()] = None
    recipe: Annotated[str, TEXT]
    seed: Annotated[int, COUNT]
    test: Annotated[Figures, {"accuracy": RATE}]
    validation: Annotated[Figures | None, {"accuracy": RATE, "loss": NUMBER}] = None
    majority: Annotated[float, RATE]
    lookup: Annotated[float, RATE]
    rule: Annotated[float | None, RATE] = None
    rule_name: Annotated[str | None, TEXT] = None
    guess: Annotated[Figures | None, TABLE] = None
    predicts_one_class: Annotated[bool | None, FLAG] = None
    never_seen: Annotated[Mapping[str, Figures] | None, TABLE] = None
    by_class: Annotated[Mapping[str, Mapping[str, list[int]]] | None, TABLE] = None
    confusion: Annotated[list[list[int]] | None, MATRIX] = None
    targets: Annotated[list[Figures] | None, TABLE.listed()] = None
    class_names: Annotated[list[str] | None, TEXT.listed()] = None
    shape: Annotated[list[int] | None, COUNT.listed()] = None
    range: Annotated[list[int] | None, RANGE] = None
    labels: Annotated[str | None, TEXT] = None
    predictions: Annotated[str | None, TEXT] = None
    rows: Annotated[Mapping[str, int], {"train": COUNT, "validation": COUNT, "test": COUNT}]
    parameters: Annotated[int, COUNT]
    flops: Annotated[int | None, COUNT.or_null()] = None
    seconds: Annotated[float, AMOUNT]
    processor_seconds: Annotated[float | None, AMOUNT] = None
    evaluation_seconds: Annotated[float | None, AMOUNT] = None
    compute: Annotated[str | None, TEXT] = None
    device: Annotated[str, TEXT]
    devices: Annotated[int, COUNT] = 1
    nodes: Annotated[int, COUNT] = 1
    versions: Annotated[Mapping[str, str], TEXTS]
    commit: Annotated[str | None, TEXT.or_null()]
    command: Annotated[str, TEXT]
    configuration: Annotated[Table, {"recipe": TABLE}]
    data_sha256: Annotated[str | None, TEXT] = None
    converged: Annotated[bool | None, FLAG.or_null()] = None
    search: Annotated[Table | None, {"seed": COUNT, "chosen": OPTIONS, "seconds": AMOUNT, "trials": TABLE.listed()}] = (
        None
    )
    history: Annotated[Mapping[str, list[float]], CURVES]

    @classmethod
    def parse(cls, content: bytes, place: str) -> "Result":
        """Return the result that a text holds, after checking every field that is read from it.

        Args:
            content: JSON.
            place: the name of the file, or of the line, for error messages.

        Raises:
            RunFolderError: it is damaged, or not the result of a run; the message names the place and the key.

        >>> Result.parse(b"{}", "results/table/schubert-4.jsonl line 3")
        Traceback (most recent call last):
        adelic.errors.RunFolderError: results/table/schubert-4.jsonl line 3 is not the result of a run: it has no task
        """
        try:
            found = parse_sealed(content, older_end="data_sha256")
            kinds = _kinds_of_fields()
            needed = {e.name for e in fields(cls) if e.default is MISSING}
            check_all(found, {name: kind for name, kind in kinds.items() if name in needed})
            check_known(found, {name: kind for name, kind in kinds.items() if name not in needed})
            found["configuration"] = with_todays_names(found["configuration"])
            if "steps" in found["configuration"].get("recipe", {}):
                found["embedding"] = SOLVERS.get(found["embedding"], found["embedding"])
            for name, nothing in FIRST_NOTHING.items():
                found[name] = None if found.get(name) == nothing else found.get(name)
            check_configuration(found["configuration"])
            _check_figures(found)
            if "search" in found:
                _check_search(found["search"])
            result = cls(**{name: value for name, value in found.items() if name in kinds})
            result._check_answers()
            return result
        except (DamagedTextError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise RunFolderError(f"{place} is not the result of a run: {reason}") from None

    def as_dict(self) -> dict[str, Any]:
        """Return the table for a file: all fields but optional ones that are None."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.default is MISSING or getattr(self, each.name) is not None
        }

    def sealed(self) -> bytes:
        """Return the line of a table's file, with a checksum."""
        return seal(self.as_dict()).encode()

    @property
    def row(self) -> str:
        """Return the row of a table of results: schubert-4."""
        return row_of({"task": self.task, "n": self.n})

    @property
    def split_seed(self) -> int:
        """Return the seed of the split: that of the run, but for older runs, whose configuration says another."""
        return int(self.configuration.get("data", {}).get("seed", self.seed))

    def figures(self, split: str) -> Figures:
        """Return the figures on the split "test", or on one of `never_seen`."""
        return self.test if split == "test" else (self.never_seen or {})[split]

    @property
    def was_quiet(self) -> bool:
        """Return whether nothing else slowed the training down: its process had nine tenths of the time, or more.

        On a GPU that is not known, since a process does not see who shares it.
        """
        has_processor = self.processor_seconds is not None and self.processor_seconds >= 0.9 * self.seconds
        return has_processor and not self.is_of_a_gpu

    @property
    def is_of_a_gpu(self) -> bool:
        """Return whether the device is a GPU, which has a name alone; a processor has threads or cores behind it."""
        return "," not in self.device and self.device != "cpu"

    def todays_command(self) -> str:
        """Return the command line that repeats the run with today's program.

        `command` is right at `commit`. Where a packaged recipe has changed since, this one also says what the recipe
        said then.
        """
        settings = self.configuration.get("recipe", {})
        if not self.command.startswith("adelic train ") or self.recipe not in recipe_names():
            return self.command
        command, mark, comment = self.command.partition("  # ")
        words, today = shlex.split(command), stored(self.recipe, self.row)[0]
        for told in changed_words(settings, today).values():
            if told[0] not in words:
                words += told
        return shlex.join(words) + mark + comment

    def answers(self) -> tuple[Integers, Integers] | None:
        """Return the labels and the predictions of the test split, in its order.

        A task whose rows have one class keeps `class_names`; the others keep `shape` and `range`, see `pack_answers`.

        Returns:
            Each (rows,), or (rows, targets) where rows have several; None where no predictions are kept: in older
            results, and of more answers than `adelic_lab.results.predictions.MOST_BYTES` hold.

        Raises:
            ValueError: the predictions do not fit a test split of that size.
        """
        if self.labels is None or self.predictions is None:
            return None
        shape, least, greatest = self._possible_answers()
        return (
            unpack(self.labels, shape, greatest - least + 1) + least,
            unpack(self.predictions, shape, greatest - least + 1) + least,
        )

    def _possible_answers(self) -> tuple[tuple[int, ...], int, int]:
        """Return the shape of the answers, and the least and the greatest one possible."""
        least, greatest = (0, len(self.class_names or ()) - 1) if self.range is None else self.range
        return (self.rows["test"],) if self.shape is None else tuple(self.shape), least, greatest

    def _check_answers(self) -> None:
        """Raise `DamagedTextError` where classes, confusion matrix, labels and predictions do not fit together."""
        names = self.class_names
        if names is not None and self.confusion is not None and len(self.confusion) != len(names):
            raise DamagedTextError(f"confusion is of {len(self.confusion)} classes, and class_names of {len(names)}")
        if self.predictions is None:
            return
        if names is None and (self.shape is None or self.range is None):
            raise DamagedTextError("it has no class_names")
        if self.labels is None:
            raise DamagedTextError("it has no labels")
        shape, least, greatest = self._possible_answers()
        for key, text in (("labels", self.labels), ("predictions", self.predictions)):
            if math.prod(shape) > 8 * (len(text) + 1):  # an answer takes a bit or more, and a letter holds six
                raise DamagedTextError(f"{key} is too short for {math.prod(shape)} answers")
            try:
                found = unpack(text, shape, greatest - least + 1)
            except ValueError as error:
                raise DamagedTextError(f"{key} is damaged ({error})") from None
            # The bits of an answer can spell more numbers than there are answers, unless these are a power of two.
            if found.max(initial=0) > greatest - least:
                raise DamagedTextError(f"{key} has an answer {least + found.max()}, and the greatest is {greatest}")


@cache
def _kinds_of_fields() -> dict[str, Any]:
    """Return the kind of each field, which a file of thousands of results asks for as often."""
    return {name: hint.__metadata__[0] for name, hint in get_type_hints(Result, include_extras=True).items()}


def read_done(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that a finished run's DONE lists, by name; {} for an older DONE, which is empty.

    A damaged one is a RunFolderError.

    >>> read_done(Path("no such folder"))
    {}
    """
    path = folder / "DONE"
    try:
        return parse_checksums(read_bytes(path) or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; {_REMEDY}") from None


def check_sum(path: Path, content: bytes, listed: dict[str, str]) -> None:
    """Raise `RunFolderError` if a SHA-256 is listed for a file's name, and the file has another one."""
    if listed.get(path.name, expected := sha256(content)) != expected:
        raise RunFolderError(f"{path} is damaged: it does not have the SHA-256 that stands in DONE; {_REMEDY}")


def parse_configuration(content: bytes) -> dict[str, Any]:
    """Return the tables of a config.toml in today's words; a `DamagedTextError` says why they are not those of a run.

    >>> parse_configuration(b"seed = 0")
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it has no data
    """
    found = with_todays_names(parse_toml(content))
    check_all(found, {"seed": COUNT, "data": {"task": TEXT}, "embedding": {"name": TEXT}, "recipe": {"name": TEXT}})
    check_configuration(found)
    return found


def check_configuration(configuration: dict[str, Any]) -> None:
    """Raise `DamagedTextError` unless a configuration has the form of one that was run."""
    for key, part in configuration.items():
        check_kind(part, OPTION, f"configuration.{key}")
    check_known(configuration, {"seed": COUNT, "data": {"task": TEXT}, "embedding": {"name": TEXT}}, "configuration.")
    recipe = configuration["recipe"]  # of a model outside the Transformer, a search with trials; of a solver, steps
    of_others = [{name: COUNT} for name in ("trials", "steps") if name in recipe]
    of_network = {"epochs": COUNT, "batch_size": COUNT, "learning_rate": NUMBER}
    check_all(recipe, (of_others or [of_network])[0], "configuration.recipe.")
    for name, schema in (("recipe", _RECIPE), ("embedding", _EMBEDDING), ("data", _DATA)):
        check_known(configuration.get(name, {}), schema, f"configuration.{name}.")


def _check_figures(result: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where a result lacks a figure of its kind of prediction, or has another thing there."""
    check_known(result.get("validation", {}), {"epoch": COUNT}, "validation.")
    check_known(result.get("guess", {}), FIGURES, "guess.")
    check_known(result["history"], FURTHER_CURVES, "history.")
    if len({len(curve) for name, curve in result["history"].items() if name in CURVES | FURTHER_CURVES}) > 1:
        raise DamagedTextError("history has curves of different lengths")
    if "cases" in result["test"]:  # questions of a drawn task
        check_all(result["test"], COUNTED, "test.")
        check_all(result, {"never_seen": TABLE})
        for split, figures in result["never_seen"].items():
            check_kind(split, TEXT, "never_seen")
            check_all(figures, COUNTED, f"never_seen.{split}.")
        for split, counts in result.get("by_class", {}).items():
            check_kind(counts, TABLE, f"by_class.{split}")
            check_all(counts, {"cases": COUNT.listed(), "correct": COUNT.listed()}, f"by_class.{split}.")
        return
    check_all(result, {"test": METRICS, "predicts_one_class": FLAG})
    is_number = "mean_squared_error" in result["test"]
    metrics = NUMBER_METRICS if is_number else CLASS_METRICS
    check_all(result["test"], metrics, "test.")
    for name, value in result["test"].items():
        check_kind(value, NUMBER, f"test.{name}")
    if "exact_match" in result["test"]:  # several targets, or a number
        guess = ("exact_match", "mean_squared_error") if is_number else ("exact_match",)
        check_all(result, {"guess": {name: FIGURES[name] for name in guess}})
        if not is_number:
            check_all(result["test"], {"exact_match": RATE}, "test.")
            check_all(result, {"targets": TABLE.listed()})
            for index, target in enumerate(result["targets"]):
                check_all(target, {"accuracy": RATE, "majority": RATE, **CLASS_METRICS}, f"targets[{index}].")
                check_known(target, {"confusion": MATRIX}, f"targets[{index}].")


def _check_search(search: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where a search lacks the trial that it has chosen, or one of them is not a trial."""
    chosen, trials = search["chosen"], search["trials"]
    for index, trial in enumerate(trials):
        check_all(trial, _TRIAL, f"search.trials[{index}].")
        if _types(trial["options"]) != _types(chosen):
            raise DamagedTextError(
                f"search.trials[{index}].options is {shown(trial['options'])}, of other kinds than search.chosen"
            )
    if all(trial["options"] != chosen for trial in trials):
        raise DamagedTextError(f"search.chosen is {shown(chosen)}, which none of search.trials has")


def _types(options: dict[str, Any]) -> dict[str, type]:
    return {name: type(value) for name, value in options.items()}


_TRIAL = {"options": OPTIONS, "accuracy": RATE, "loss": NUMBER, "converged": FLAG.or_null(), "seconds": AMOUNT}
_KINDS = {int: COUNT, float: NUMBER, bool: FLAG, str: TEXT, Mapping: BY_PRIME}


def _kinds(described: type) -> dict[str, Any]:
    """Return the kinds of the options of a dataclass, by name."""
    return {
        name: _KINDS[o.holds].listed() if o.kind is tuple else _KINDS[o.kind] for name, o in options(described).items()
    }


_DATA: dict[str, Any] = {
    "seed": COUNT,
    "n": COUNT,
    "edition": TEXT,
    **_kinds(DrawnData),
    **_kinds(TableData),
}
_EMBEDDING: dict[str, Any] = {"name": TEXT, **_kinds(EmbeddingConfig)}
_RECIPE: dict[str, Any] = {
    "name": TEXT,
    **_kinds(TrainConfig),
    **_kinds(RandomSearch),
    **_kinds(Steps),
    "searched": TEXTS,
}
