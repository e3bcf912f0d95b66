"""Results of runs, written and read here alone; a file is checked in full, since anybody may have written it."""

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from adelic.data.sources import DrawnData, TableData, row_of
from adelic.errors import AdelicError, RunFolderError
from adelic.storage import records
from adelic.storage.checks import CONTROL, shown
from adelic.storage.files import read_bytes
from adelic.storage.options import options
from adelic.storage.records import DamagedTextError
from adelic_lab.config.embedding import EmbeddingConfig
from adelic_lab.config.models import RandomSearch, Steps
from adelic_lab.config.recipes import TrainConfig, changed_words, recipe_names, stored
from adelic_lab.results.predictions import Integers, unpack, unpack_wrong

OF_OLDER_VERSIONS = frozenset({"keep", "readout"})
"""Options of recipes that adelic 0.1 named so: its files are not read."""
_REMEDY = "--restart begins this run anew; without DONE, the same command judges the checkpoint once more"
Table = Mapping[str, Any]
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Kind:
    """A kind of value in a result, such as a rate: its name in an error message, and whether a value of JSON is one."""

    words: str
    holds: Callable[[Any], bool]

    def or_null(self) -> "Kind":
        """Return the kind that may also be null."""
        return Kind(f"{self.words}, or null", lambda value: value is None or self.holds(value))

    def listed(self) -> "Kind":
        """Return the kind of lists of such values."""
        words = f"a list, each entry {self.words}"
        return Kind(words, lambda value: type(value) is list and all(map(self.holds, value)))


def _between(words: str, types: set[type], least: float, greatest: float) -> Kind:
    """Return the kind of the numbers of some types between two bounds: no NaN, and no infinity."""
    return Kind(words, lambda value: type(value) in types and least <= value <= greatest)


def _is_option(value: Any) -> bool:
    if type(value) is list or type(value) is dict:
        return all(map(_is_option, value.values() if type(value) is dict else value))
    return NUMBER.holds(value) or type(value) is bool or TEXT.holds(value)


TEXT = Kind("a text without control characters", lambda v: type(v) is str and not CONTROL.search(v))
FLAG = Kind("true or false", lambda v: type(v) is bool)
COUNT = _between("a whole number from 0 to 2**63 - 1", {int}, 0, (1 << 63) - 1)
NUMBER = _between("a finite number", {int, float}, -1e300, 1e300)
AMOUNT = _between("a finite number from 0 on", {int, float}, 0, 1e300)
RATE = _between("a rate from 0 to 1", {int, float}, 0, 1)
OPTION = Kind("a number, a text, true or false, or a list or table of such", _is_option)
OPTIONS = Kind("a table of options", lambda v: type(v) is dict and _is_option(v))
COUNTS = COUNT.listed()
MATRIX = Kind(
    "a square matrix of whole numbers from 0 on",
    lambda v: COUNTS.listed().holds(v) and all(len(row) == len(v) > 0 for row in v),
)
RANGE = Kind(
    "two whole numbers, the lesser first",
    lambda v: type(v) is list and len(v) == 2 and all(type(x) is int and abs(x) < 1 << 62 for x in v) and v[0] <= v[1],
)
METRICS = {"accuracy": RATE, "loss": NUMBER}
COUNTED = {"accuracy": RATE, "cases": COUNT, "correct": COUNT, "unanswered": COUNT}
CLASS_METRICS = {"balanced_accuracy": RATE, "macro_f1": RATE}
NUMBER_METRICS = {"exact_match": RATE, "mean_absolute_error": AMOUNT, "mean_squared_error": AMOUNT}
CURVES = {"train_loss": NUMBER.listed(), "validation_loss": NUMBER.listed(), "validation_accuracy": RATE.listed()}
TRIAL = {"options": OPTIONS, "accuracy": RATE, "loss": NUMBER, "converged?": FLAG.or_null(), "seconds": AMOUNT}


def check(value: Any, schema: Any, name: str = "") -> None:
    """Raise `DamagedTextError` where a value, or a part of it, lacks a key or is of another kind.

    Args:
        value: as JSON or TOML has it.
        schema: a `Kind`; or a table with the schema of each key, those behind "?" of keys that may lack, that behind
            "*" of all keys; or a list with the schema of its entries.
        name: of the value in messages.

    >>> check({"seed": -1}, {"seed": COUNT, "task?": TEXT})
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: seed is -1 instead of a whole number from 0 to 2**63 - 1
    """
    if isinstance(schema, Kind):
        if not schema.holds(value):
            raise DamagedTextError(f"{name} is {shown(value)} instead of {schema.words}")
    elif not isinstance(value, type(schema)):
        raise DamagedTextError(f"{name} is not a {'list' if isinstance(schema, list) else 'table'}")
    elif isinstance(schema, list):
        for index, entry in enumerate(value):
            check(entry, schema[0], f"{name}[{index}]")
    else:
        for key, inner in schema.items():
            for each in value if key == "*" else [key.removesuffix("?")]:
                check(each, TEXT, name)
                place = f"{name}.{each}".removeprefix(".")
                if each in value:
                    check(value[each], inner, place)
                elif not key.endswith("?"):
                    raise DamagedTextError(f"it has no {place}")


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one run: its experiment, its figures on the test split, and those of baselines.

    Attributes:
        task, n, edition, split: of the data; n and edition are None for your own table.
        contaminated: whether the edition shows a leak.
        embedding: name of the embedding, or of a model outside the Transformer.
        features: AOE's form, or the form in which another model reads numbers; None for models with one form only.
        places: where AOE's places meet; None if they are one vector, which older files call "flat".
        recipe, seed: of the experiment.
        test: figures on the test split: accuracy, loss, and what the kind of prediction has besides.
        validation: accuracy and loss of the weights that were chosen.
        majority, lookup, rule: test accuracies of the most frequent class, of a table that remembers the training
            examples, and of the best baseline, named rule_name, see `adelic.data.rules`. Drawn tasks with
            numbers as answers have none, nor have older results.
        guess: of several targets or a number, the figures of always giving the most frequent answer.
        predicts_one_class: whether the model gives all examples the same answer; None in older results of solvers.
        never_seen: of a drawn task, the figures on each split of questions unlike those in training.
        by_class: of a drawn task with classes, for the test and each such split, how many questions of each class there
            are, and how many of them have the right answer.
        confusion: rows are true classes, columns predicted ones.
        targets: of several targets, the figures of each.
        class_names, shape, range, labels, predictions: the test split's answers, see `adelic_lab.results.predictions`;
            of too many, only the names of classes.
        columns: of a table, how each column was read.
        trees: of a table, figures of boosted trees on digits on validation and test, and the network's on validation.
        rows: the numbers of examples in train, validation and test.
        parameters: how many numbers were fitted.
        flops: operations that one example takes; None if they are not counted.
        seconds: of training.
        processor_seconds: what the process had of the processor in that time; None if it is not known.
        wrong, asked_sha256: of a drawn task, the wrong answers of each split, and the SHA-256 of all its questions, see
            `adelic_lab.results.recounting`; older results lack them.
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
    validation: Annotated[Figures | None, {**METRICS, "epoch?": COUNT}] = None
    majority: Annotated[float, RATE]
    lookup: Annotated[float, RATE]
    rule: Annotated[float | None, RATE] = None
    rule_name: Annotated[str | None, TEXT] = None
    guess: Annotated[Figures | None, {f"{k}?": v for k, v in (METRICS | CLASS_METRICS | NUMBER_METRICS).items()}] = None
    predicts_one_class: Annotated[bool | None, FLAG] = None
    never_seen: Annotated[Mapping[str, Figures] | None, {"*": COUNTED}] = None
    by_class: Annotated[Mapping[str, Mapping[str, list[int]]] | None, {"*": {"cases": COUNTS, "correct": COUNTS}}] = (
        None
    )
    confusion: Annotated[list[list[int]] | None, MATRIX] = None
    targets: Annotated[
        list[Figures] | None, [{"accuracy": RATE, "majority": RATE, **CLASS_METRICS, "confusion?": MATRIX}]
    ] = None
    class_names: Annotated[list[str] | None, TEXT.listed()] = None
    shape: Annotated[list[int] | None, COUNTS] = None
    range: Annotated[list[int] | None, RANGE] = None
    labels: Annotated[str | None, TEXT] = None
    predictions: Annotated[str | None, TEXT] = None
    wrong: Annotated[Mapping[str, str] | None, {"*": TEXT}] = None
    asked_sha256: Annotated[str | None, TEXT] = None
    columns: Annotated[list[Table] | None, OPTIONS.listed()] = None
    trees: Annotated[Mapping[str, Figures] | None, {"*": {"*": NUMBER}}] = None
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
    versions: Annotated[Mapping[str, str], {"*": TEXT}]
    commit: Annotated[str | None, TEXT.or_null()]
    command: Annotated[str, TEXT]
    configuration: Annotated[Table, {"*": OPTION}]
    data_sha256: Annotated[str | None, TEXT] = None
    converged: Annotated[bool | None, FLAG.or_null()] = None
    search: Annotated[Table | None, {"seed": COUNT, "chosen": OPTIONS, "seconds": AMOUNT, "trials": [TRIAL]}] = None
    history: Annotated[Mapping[str, list[float]], {**CURVES, "learned_classes?": COUNTS}]

    @classmethod
    def parse(cls, content: bytes, place: str, *, is_sealed: bool = False) -> "Result":
        """Return the result that a text holds, after checking every field that is read from it.

        Args:
            content: JSON.
            place: the name of the file, or of the line, for error messages.
            is_sealed: whether it must have a checksum, as the lines of a table's file have.

        Raises:
            RunFolderError: it is damaged, or not the result of a run; the message names the place and the key.

        >>> Result.parse(b"{}", "results/table/schubert-4.jsonl line 3")
        Traceback (most recent call last):
        adelic.errors.RunFolderError: results/table/schubert-4.jsonl line 3 is not the result of a run: it has no task
        """
        try:
            found = (
                records.parse_sealed(content)
                if is_sealed or records.SEAL.encode() in content
                else records.parse_object(content)
            )
            check(found, _fields())
            check(found, _by_prediction(found["test"]))
            check_configuration(found["configuration"], "configuration")
            if len({len(curve) for curve in found["history"].values()}) > 1:
                raise DamagedTextError("history has curves of different lengths")
            if "search" in found:
                _check_search(found["search"])
            known = {field.name for field in fields(cls)}
            result = cls(**{name: value for name, value in found.items() if name in known})
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
        return records.seal(self.as_dict()).encode()

    @property
    def row(self) -> str:
        """Return the dataset of a table of results: schubert-4."""
        return row_of({"task": self.task, "n": self.n})

    @property
    def split_seed(self) -> int:
        """Return the seed of the split: the run's, except for older runs with another in their configuration."""
        return int(self.configuration.get("data", {}).get("seed", self.seed))

    @property
    def is_real(self) -> bool:
        """Return whether the target is a real number, which is never hit exactly: R² counts, not accuracy."""
        return "r2" in self.test and self.rule is None

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
        """Return whether the device is a GPU, which has a name alone; a processor has threads or cores too."""
        return "," not in self.device and self.device != "cpu"

    def todays_command(self) -> str:
        """Return the command line that repeats the run with today's program.

        `command` is right at `commit`. Where a packaged recipe has changed since, this one also says what the recipe
        said then; where a recipe is a file, it says where that is now.
        """
        settings = self.configuration.get("recipe", {})
        if not self.command.startswith("adelic train "):
            return self.command
        command, mark, comment = self.command.partition("  # ")
        words = shlex.split(command)
        if self.recipe.endswith(".toml") and "--recipe" in words:  # a file, which may have moved since
            words[words.index("--recipe") + 1] = self.recipe
            return shlex.join(words) + mark + comment
        if self.recipe not in recipe_names():
            return self.command
        today = stored(self.recipe, self.row)[0]
        for told in changed_words(settings, today).values():
            if told[0] not in words:
                words += told
        return shlex.join(words) + mark + comment

    def answers(self) -> tuple[Integers, Integers] | None:
        """Return the labels and the predictions of the test split, in its order.

        A task whose examples have one class keeps `class_names`; the others keep `shape` and `range`, see
        `pack_answers`.

        Returns:
            Each (rows,), or (rows, targets) where examples have several; None if no predictions are kept: in older
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
        for split, text in (self.wrong or {}).items():
            try:
                wrong, figures = unpack_wrong(text), self.figures(split)
            except (KeyError, ValueError) as error:
                raise DamagedTextError(f"wrong.{split} is damaged ({error})") from None
            if len(wrong) != figures["cases"] - figures["correct"] or max(wrong, default=-1) >= figures["cases"]:
                raise DamagedTextError(f"wrong.{split} has {len(wrong)} answers, not those that its figures count")
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
def _fields() -> dict[str, Any]:
    """Return the schema of a result: the kind of each field, which a file of thousands of results asks for as often."""
    kinds = get_type_hints(Result, include_extras=True)
    return {f"{e.name}{'' if e.default is MISSING else '?'}": kinds[e.name].__metadata__[0] for e in fields(Result)}


def _by_prediction(test: Figures) -> dict[str, Any]:
    """Return the schema of the figures that a result has of its kind of prediction, by those on the test split."""
    if "cases" in test:  # questions of a drawn task
        return {"test": COUNTED, "never_seen": {}}
    is_number = "mean_squared_error" in test
    metrics = METRICS | (NUMBER_METRICS if is_number else CLASS_METRICS)
    found: dict[str, Any] = {"test": {"*": NUMBER, **metrics}, "predicts_one_class": FLAG}
    if "exact_match" in test:  # several targets, or a number
        found["guess"] = {"exact_match": RATE, **({"mean_squared_error": AMOUNT} if is_number else {})}
        if not is_number:
            found["test"]["exact_match"] = RATE
            found["targets"] = [{}]
    return found


def read_done(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that a finished run's DONE lists, by name; {} without a DONE.

    A damaged one, or an empty one of a version that listed nothing, is a RunFolderError.

    >>> read_done(Path("no such folder"))
    {}
    """
    path = folder / "DONE"
    content = read_bytes(path)
    if content == b"":
        raise RunFolderError(f"{path} is empty, as adelic 0.1 left it: read this run with that version; {_REMEDY}")
    try:
        return records.parse_checksums(content or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; {_REMEDY}") from None


def check_sum(path: Path, content: bytes, listed: dict[str, str]) -> None:
    """Raise `RunFolderError` if a SHA-256 is listed for a file's name, and the file has another one."""
    if listed.get(path.name, expected := records.sha256(content)) != expected:
        raise RunFolderError(f"{path} is damaged: its SHA-256 is not the one in DONE; {_REMEDY}")


def parse_configuration(content: bytes) -> dict[str, Any]:
    """Return the tables of a config.toml in today's words; a `DamagedTextError` says why they are not those of a run.

    >>> parse_configuration(b"seed = 0")
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it has no data
    """
    found = records.parse_toml(content)
    check_configuration(found)
    return found


_OF_DATA = {"task": TEXT, "n?": COUNT.or_null(), "edition?": TEXT.or_null(), "seed?": COUNT}
_OPTIONS = {
    "data": (DrawnData, TableData),
    "embedding": (EmbeddingConfig,),
    "recipe": (TrainConfig, RandomSearch, Steps),
}


def check_configuration(configuration: dict[str, Any], name: str = "") -> None:
    """Raise `DamagedTextError` unless a configuration has the form of one that was run; `name` is its in messages."""
    named = {"name": TEXT}
    check(configuration, {"*": OPTION, "seed": COUNT, "data": _OF_DATA, "embedding": named, "recipe": named}, name)
    recipe = configuration["recipe"]
    if older := sorted(OF_OLDER_VERSIONS & recipe.keys()):
        raise DamagedTextError(f"it has recipe.{older[0]}, a word of adelic 0.1: read it, or go on, with that version")
    # Of a model outside the Transformer, a search with trials; of a solver, steps
    of_others = [{name: COUNT} for name in ("trials", "steps") if name in recipe]
    of_network = {"epochs": COUNT, "batch_size": COUNT, "learning_rate": NUMBER}
    check(recipe, (of_others or [of_network])[0], f"{name}.recipe".removeprefix("."))
    for table, kinds in _OPTIONS.items():
        for key, option in (each for kind in kinds for each in options(kind).items()):
            value = configuration[table].get(key)
            try:
                if value is not None:
                    option.check(value)
            except AdelicError as error:
                place = f"{name}.{table}.{key}".removeprefix(".")
                raise DamagedTextError(f"{place} is {shown(value)}: {error}") from None


def _check_search(search: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where a search lacks the trial that it has chosen, or one of them is not a trial."""
    chosen = search["chosen"]
    types = {name: type(value) for name, value in chosen.items()}
    for index, trial in enumerate(search["trials"]):
        if {name: type(value) for name, value in trial["options"].items()} != types:
            raise DamagedTextError(
                f"search.trials[{index}].options is {shown(trial['options'])}, of other kinds than search.chosen"
            )
    if all(trial["options"] != chosen for trial in search["trials"]):
        raise DamagedTextError(f"search.chosen is {shown(chosen)}, which none of search.trials has")
