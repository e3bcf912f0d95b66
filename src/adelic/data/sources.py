"""The data of an experiment: a task of some size, a drawn task, or a table of your own."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from adelic.data import registry
from adelic.data.dataset import Dataset, load
from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.protocol import SPLIT_KINDS, View, assigned
from adelic.data.store import file_sha256
from adelic.data.tables import ANSWERS, from_table, place_of
from adelic.data.tables.files import ENDINGS, READABLE, check_file, is_table, read_table, refuse_other_files
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers import AdeleSpace
from adelic.numbers.columns.lossy import LOSSY
from adelic.storage.files import file_name
from adelic.storage.options import check_fields, option, options


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """What has a seed.

    Attributes:
        seed: Seed of all random choices: questions, negative examples and parts of the data; for a run also the first
            weights, the examples of each step, and the proposals of a search.
    """

    seed: int = option(0, least=0, greatest=2**63 - 1)


class _Data:
    """What the kinds of data of an experiment have in common: how a command names them; most have no images."""

    _named_by: ClassVar[str] = "task"
    _always_said: ClassVar[str]

    def as_dict(self: Any) -> dict[str, Any]:
        """Return the table `data` of config.toml, as it is read back: without what is None or (), tuples as lists."""
        found = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {"task": self.task} | {name: value for name, value in found.items() if value not in (None, [])}

    def arguments(self) -> list[str]:
        """Return what names these data on the command line."""
        chosen = [getattr(self, self._named_by)]
        for name, described in options(type(self)).items():
            value = getattr(self, name)
            if name == self._always_said or value != described.default:
                chosen += described.words(value)
        return chosen

    def check_images(self) -> None:
        """Raise ConfigurationError unless images of examples may be trained on."""
        raise ConfigurationError(
            f"{getattr(self, self._named_by)} has no symmetries that keep labels; use --no-symmetries"
        )


@dataclass(frozen=True)
class TaskData(_Data):
    """The data of a task, see `load`.

    Attributes:
        task: its name.
        n: Size n of the task's objects.  [default: the smallest published]
        edition: Version of the task's data; `adelic data info TASK` lists them.  [default: published]
        split: How the examples of a task are divided: published (as published, without regard to symmetries) or orbits
            (whole orbits under the task's symmetries in one part, so images of examples may be trained on).
        task_options: Options that the task has, as labelling=random; `adelic data info TASK` lists them.

    Raises:
        UnknownNameError: there is no such task, edition, split, option or choice of it.
        TaskSizeError: there is no data set of this size.
        ConfigurationError: the task has no orbits, or an option is no NAME=VALUE, or is given twice.

    >>> TaskData("weaving", 6, split="orbits").label, TaskData("schubert", 4).row
    ('weaving-6-orbits', 'schubert-4')
    >>> TaskData("quiver", 11, task_options=("labelling=random",)).label
    'quiver-11-labelling-random'
    """

    task: str
    n: int = option()
    edition: str = option("published")
    split: str = option("published", choices=tuple(SPLIT_KINDS))
    task_options: tuple[str, ...] = option((), also="option")

    def __post_init__(self) -> None:
        """Check the names and the size."""
        found = registry.task(self.task)
        found.check_edition(self.edition)
        object.__setattr__(self, "n", found.check_size(self.n, self.edition))
        found.check_split(self.split)
        given = assigned(options(TaskData)["task_options"].check(self.task_options))
        chosen = {name: value for name, value in found.check_options(given).items() if value != found.options[name][0]}
        object.__setattr__(self, "task_options", tuple(f"{name}={value}" for name, value in chosen.items()))

    @property
    def row(self) -> str:
        """Return the name of the dataset in tables of results: schubert-4."""
        return f"{self.task}-{self.n}"

    @property
    def label(self) -> str:
        """Return the example with its edition and split, if they are not the published ones, and its options."""
        special = [name for name in (self.edition, self.split) if name != "published"]
        return file_name("-".join([self.row, *special, *self.task_options]).replace("=", "-"))

    space, _always_said = None, "n"

    @property
    def vocabulary(self) -> tuple[int | Fraction, ...] | None:
        """Return the numbers that can occur; None if only the data tell."""
        return registry.task(self.task).vocabulary(self.n, self.edition)

    @property
    def contaminated(self) -> bool:
        """Return whether the edition shows a leak, so its results are in no ranking."""
        return self.edition in registry.task(self.task).contaminated

    @property
    def has_one_class_a_row(self) -> bool | None:
        """Return whether each example has one class; None if only the data tell."""
        return registry.task(self.task).class_names(self.n, self.edition) is not None

    def view(self, name: str) -> View:
        """Return another way to write the examples for a network."""
        return registry.task(self.task).view(name, self.edition)

    def check_images(self) -> None:
        """Raise ConfigurationError unless images of examples may be trained on."""
        if not registry.task(self.task).symmetries:
            super().check_images()
        if self.split != "orbits":
            raise ConfigurationError(
                f"--symmetries trains on images of examples, and the split {self.split!r} of {self.task} has "
                "test examples among them; use --split orbits, or --no-symmetries"
            )

    def load(self, seed: int) -> Dataset:
        """Return the data."""
        chosen: dict[str, Any] = assigned(self.task_options)
        return load(self.task, n=self.n, edition=self.edition, split=self.split, seed=seed, **chosen)


@dataclass(frozen=True)
class TableData(_Data):
    """A table of your own in a file, see `from_table`.

    Attributes:
        path: of the file: CSV, JSON lines or Parquet.
        target: The column of a table to predict.
        columns: The columns of a table to predict from, as a,b.  [default: all others]
        categories: Those of them whose numbers are names, not quantities, as zip codes: each value gets a vector.
        split: For a table: random, time:COLUMN (the latest examples test), or the name of a column of train, validation
            or test.  [default: published; random for a table]
        groups: A column of a table; examples with the same value in it stay in one part.
        answer: Whether a table's target is classes, an exact whole number, or a real number; with none, its values
            tell.  [default: none]
        lossy: Of numbers lost in floats, or text as 00501.
        sha256: of the file, so a run does not go on with another content; read from it if None.

    Raises:
        StorageError: the file cannot be read.
        ConfigurationError: `columns` are not names.
        UnknownNameError: there is no such kind of answer.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("price,sold", encoding="utf-8")
    ...     data = TableData(str(path), target="sold")
    >>> data.row, data.sha256[:8]
    ('mine', '597f72f3')
    """

    path: str
    target: str = option()
    columns: tuple[str, ...] | None = option(None)
    categories: tuple[str, ...] = option(())
    split: str = option("random")
    groups: str | None = option(None)
    answer: str | None = option(None, choices=ANSWERS)
    lossy: str | None = option(None, choices=LOSSY[1:], none=LOSSY[0])
    sha256: str | None = None

    n = edition = vocabulary = space = has_one_class_a_row = None
    contaminated = False
    _named_by, _always_said = "path", "target"

    def __post_init__(self) -> None:
        """Check what can be checked without the file."""
        for name in ("columns", "categories", "answer", "lossy"):  # not in `groups`: a column may be called none
            given = getattr(self, name)
            given = (given,) if name in ("columns", "categories") and isinstance(given, str) else given
            object.__setattr__(self, name, options(TableData)[name].check(given))
        if self.sha256 is None:
            object.__setattr__(self, "sha256", self._digest())

    def _digest(self) -> str:
        check_file(Path(self.path))
        return file_sha256(Path(self.path), READABLE)

    @property
    def task(self) -> str:
        """Return the table's name, that of its file without the ending."""
        return Path(self.path).stem

    @property
    def row(self) -> str:
        """Return the name of the dataset in tables of results: the table's name."""
        return self.task

    @property
    def label(self) -> str:
        """Return the table's name and what is predicted, as a part of file names."""
        return file_name(f"{self.task}-{self.target}")

    def load(self, seed: int) -> Dataset:
        """Return the data."""
        if self._digest() != self.sha256:
            raise ConfigurationError(
                f"{self.path} has changed since; put its former content back, or train anew with another --run-dir"
            )
        return _loaded(self, seed)

    def place_of(self, number: int | Fraction) -> str:
        """Return in words where a number of the data first occurs in the file."""
        frame, others = read_table(self.path), (self.target, self.split, self.groups)
        return place_of(frame, self.columns or [name for name in frame if name not in others], number)


@lru_cache(maxsize=1)  # a command needs its table twice: to choose the digits, and to train
def _loaded(table: TableData, seed: int) -> Dataset:
    options = {name: v for name, v in asdict(table).items() if v is not None and name not in ("path", "sha256")}
    return from_table(read_table(table.path), **options, seed=seed, name=table.task)


@cache
def _configured(name: str, task_options: tuple[str, ...]) -> SampledTask:
    """Return a drawn task with options as texts."""
    return registry.drawn_task(name).configured(**assigned(task_options))


_VALIDATION = 1000  # the stream of the validation questions: behind those of all splits


@dataclass(frozen=True)
class DrawnData(_Data):
    """Questions of a drawn task, see `SampledTask`.

    Attributes:
        task: its name.
        examples: Of a drawn task, the number of questions to train on.
        test_cases: Of a drawn task, the number of test questions; none is trained on.
        confirmation_cases: Of a drawn task, the number of test questions if the first --test-cases are all answered
            right.
        never_seen_cases: Of a drawn task, the number of questions of each kind unlike those in training, as longer
            numbers.
        task_options: Of a drawn task, its options, as limit=100000,outcomes=uniform.

    Raises:
        UnknownNameError: there is no such task.
        ConfigurationError: a count is not a whole number, or too large, or the task has no such option.

    >>> DrawnData("addition", 300).row
    'addition-300'
    >>> DrawnData("gcd", 300, task_options=("limit=100000",)).label
    'gcd-300-limit-100000'
    """

    task: str
    examples: int = option(1000, least=1, greatest=10**9)
    test_cases: int = option(10_000, least=1, greatest=10**9)
    confirmation_cases: int = option(100_000, least=1, greatest=10**9)
    never_seen_cases: int = option(2_000, least=1, greatest=10**9)
    task_options: tuple[str, ...] = option((), also="option")

    edition = None
    split = "drawn"
    contaminated = False
    has_one_class_a_row = False
    _always_said = "examples"

    def __post_init__(self) -> None:
        """Check the name, the counts and the options."""
        registry.drawn_task(self.task)
        check_fields(self)
        object.__setattr__(self, "task_options", tuple(sorted(self.task_options)))
        _configured(self.task, self.task_options)

    @property
    def drawn(self) -> SampledTask:
        """Return the task with its options."""
        return _configured(self.task, self.task_options)

    @property
    def vocabulary(self) -> tuple[int, ...] | None:
        """Return the numbers that can occur, if they are few; None for open-ended numbers."""
        return self.drawn.vocabulary

    @property
    def space(self) -> AdeleSpace | None:
        """Return the primes and digits that the task's definition asks for; None if it names none."""
        return self.drawn.space

    @property
    def n(self) -> int:
        """Return the size: the number of questions to train on."""
        return self.examples

    @property
    def row(self) -> str:
        """Return the name of the dataset in tables of results: addition-1000."""
        return f"{self.task}-{self.examples}"

    @property
    def label(self) -> str:
        """Return the example with the options, as a part of file names."""
        return file_name("-".join([self.row, *self.task_options]).replace("=", "-"))

    def load(self, seed: int) -> NoReturn:
        """Raise ConfigurationError: there is no data set, see `questions`."""
        raise ConfigurationError(f"{self.task} is drawn, not stored: it has questions instead of a data set")

    def questions(self, seed: int) -> tuple[Operands, Answers]:
        """Return the questions to train on, which all differ, and their answers; they are the same for every model.

        >>> operands, answers = DrawnData("addition", 3).questions(seed=0)
        >>> operands.shape, answers.tolist() == operands.sum(axis=1).tolist()
        ((3, 2), True)
        """
        return self.drawn.sample(self.examples, self._rng(seed, 0))

    def validation(self, seed: int, trained_on: Operands, split: str = "test") -> tuple[Operands, Answers]:
        """Return `test_cases` questions of a split to follow a training by; none of them is trained on.

        >>> source = DrawnData("addition", 3, test_cases=2)
        >>> source.validation(0, source.questions(0)[0])[0].shape
        (2, 2)
        """
        return self.drawn.sample(self.test_cases, self._rng(seed, _VALIDATION), split, exclude=trained_on)

    def tests(self, seed: int, trained_on: Operands) -> Iterator[tuple[Operands, Answers]]:
        """Yield the test questions with their answers: the first `test_cases`, then what is left to confirm them.

        Args:
            seed: of the run.
            trained_on: operands of questions that must not occur.
        """
        task, rng = self.drawn, self._rng(seed, 1)
        for count in (self.test_cases, self.confirmation_cases - self.test_cases):
            if count > 0:
                yield task.sample(count, rng, "test", exclude=trained_on)

    def never_seen(self, seed: int, trained_on: Operands) -> Iterator[tuple[str, Operands, Answers]]:
        """Yield the name of each split that is never seen in training, and its questions with their answers."""
        task = self.drawn
        for i, split in enumerate(task.never_seen):
            yield split, *task.sample(self.never_seen_cases, self._rng(seed, 2 + i), split, exclude=trained_on)

    def _rng(self, seed: int, stream: int) -> np.random.Generator:
        # hash() of a text is another number in each process.
        return np.random.default_rng([zlib.crc32(self.task.encode()), seed, self.examples, stream])


Source = TaskData | TableData | DrawnData
"""The data of an experiment."""
_OWN = " of your own"
_IN_WORDS: dict[type[Source], str] = {TaskData: "a task", TableData: f"a table{_OWN}", DrawnData: "a drawn task"}


def source(name: str, **options: Any) -> Source:
    """Return the data that a name and options mean; options that are None are not given.

    Args:
        name: a task, stored or drawn, or the path of a table.
        options: fields of `TaskData`, `DrawnData` or `TableData`; for a task without n, the smallest published size.

    Raises:
        UnknownNameError: there is no such task.
        ConfigurationError: a file is not a table, an option belongs to other data, or a table has no target.

    >>> source("schubert", n=None)
    TaskData(task='schubert', n=4, edition='published', split='published', task_options=())
    >>> source("schubert", target="sold")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: --target belongs to a table of your own, and 'schubert' is a task
    """
    given = {key: value for key, value in options.items() if value is not None}
    kind: type[Source] = TaskData
    if is_table(name):
        kind = TableData
    elif name in registry.drawn_tasks():
        kind = DrawnData
    elif name not in registry.tasks():
        refuse_other_files(name)
        unknown = UnknownNameError.of("task", name, [*registry.tasks(), *registry.drawn_tasks()])
        hint = f"; a table is a file whose name ends in {ENDINGS}" if "target" in given else ""
        raise UnknownNameError(f"{unknown}{hint}")
    for name_given in given:
        if name_given not in {field.name for field in fields(kind)}:
            owner = next(other for other in _IN_WORDS if name_given in {field.name for field in fields(other)})
            dashed = name_given.replace("_", "-")
            raise ConfigurationError(
                f"--{dashed} belongs to {_IN_WORDS[owner]}, and {name!r} is {_IN_WORDS[kind].removesuffix(_OWN)}"
            )
    if kind is DrawnData:
        return DrawnData(name, **given)
    if kind is TableData:
        if "target" not in given:
            raise ConfigurationError(f"{name} is a table: name the column to predict with --target")
        return TableData(name, **given)
    task = registry.task(name)
    edition = task.check_edition(given.pop("edition", "published"))
    return TaskData(name, given.pop("n", task.sizes[0]), edition, **given)


def row_of(about: Mapping[str, Any]) -> str:
    """Return the dataset, as tables of results name it, of a result or of the table `data` of config.toml.

    >>> row_of({"task": "schubert", "n": 4}), row_of({"task": "mine", "n": None})
    ('schubert-4', 'mine')
    """
    size = about.get("n", about.get("examples"))
    return str(about["task"]) if size is None else f"{about['task']}-{size}"
