"""Experiments: the data, model, recipe and seed that define a run, to the last bit on one machine.

Its fields are the only description of their options: see `adelic_lab.config.options`. Nothing here needs torch, so that
what a user gives is checked before seconds are spent on loading it.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from adelic.data.protocol import Progress, View
from adelic.data.sources import DrawnData, Seeded, Source, TableData, TaskData
from adelic.errors import AdelicError, ConfigurationError, RangeError, RunFolderError
from adelic.numbers.primes import valuation
from adelic.numbers.window import DEFAULT_PRECISION
from adelic.storage.checks import check_text
from adelic.storage.files import file_name, read_bytes
from adelic.storage.options import check_fields, options
from adelic.storage.records import DamagedTextError, parse_toml
from adelic_lab.config.embedding import EmbeddingConfig, stored_embedding
from adelic_lab.config.models import TRIALS, Classical, Model, RandomSearch, Steps
from adelic_lab.config.names import check_name, needs_vocabulary, unused_options
from adelic_lab.config.recipes import SEQUENCE, TABLE, TrainConfig, changed_words, complete, stored


@dataclass(frozen=True, kw_only=True)
class Experiment(Seeded):
    """The definition of one run: its data, model, recipe and seed.

    Attributes:
        data: a task of some size, a drawn task, or your own table.
        model: a network by its embedding, a model outside the Transformer, or a solver, which is for drawn tasks.
        recipe: how it is trained: a `TrainConfig` for a network, a `RandomSearch` for a model outside the Transformer,
            `Steps` for a solver.
        seed: of everything random: the data's negatives and parts, initial weights, sampling and dropout.

    Raises:
        UnknownNameError: the model is unknown.
        ConfigurationError: images are to be trained on although the split puts equivalent examples into several parts,
            or the model is not made for the data, or the recipe not for the model.

    >>> data = TaskData("schubert", 4)
    >>> Experiment(data=data, model=Classical(name="logistic"), recipe=RandomSearch()).command()
    'adelic reproduce schubert-4 --models logistic --trials 20 --seeds 0'
    >>> Experiment(data=TaskData("rsk", 8), model=Classical(name="mlp"), recipe=RandomSearch())
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: rsk-8 has several targets or a number per example; mlp is for one ...
    """

    data: Source
    model: Model  # an `EmbeddingConfig`, `Classical` or `SolverConfig`
    recipe: TrainConfig | RandomSearch | Steps

    def __post_init__(self) -> None:
        """Check what the parts demand of each other."""
        check_fields(self)
        if not isinstance(self.recipe, self.model.trained_by):
            raise ConfigurationError(f"{self.model.name} is not trained by a {type(self.recipe).__name__}")
        object.__setattr__(self, "recipe", self.model.check(self))
        if self.recipe.symmetries:
            self.data.check_images()
        for key, value in flatten(self.as_dict()):
            for text in value if isinstance(value, list | tuple) else [value]:
                if isinstance(text, str):
                    check_text(key, text)

    @property
    def vocabulary(self) -> tuple[int | Fraction, ...] | None:
        """Return the numbers that a network reads; None if only the data tell, or they are open-ended."""
        if self.view is not None and isinstance(self.data, TaskData):
            return self.view.vocabulary(self.data.n)
        if isinstance(self.data, DrawnData) and needs_vocabulary(self.model.name):
            return self.data.drawn.numbers
        return self.data.vocabulary

    @property
    def view(self) -> View | None:
        """Return how examples are written for the network; None for the task's own way.

        Raises:
            UnknownNameError, ConfigurationError: the task has no such view.
        """
        name = self.recipe.view
        if name is None:
            return None
        if not isinstance(self.data, TaskData):
            raise ConfigurationError(f"{self.row} has no other view; leave out --view")
        return self.data.view(name)

    @property
    def needs_all_epochs(self) -> str | None:
        """Return why every epoch depends on how many there are; None if a run may be given more of them later."""
        if not isinstance(self.recipe, TrainConfig):
            return f"{self.model.name} has no epochs"
        if self.recipe.schedule != "constant":
            falls = "the learning rate falls over all epochs (with schedule=constant it does not)"
            return f"with schedule={self.recipe.schedule} {falls}"
        if isinstance(self.data, DrawnData):
            return "the epochs share the questions"
        return None

    def check_numbers(self, numbers: Sequence[int | Fraction], place: Callable[[Fraction], str] | None = None) -> None:
        r"""Raise where the model is not made for some numbers.

        Args:
            numbers: those that are to be read.
            place: for numbers of another table than the run's, the words for a position.

        Raises:
            ConfigurationError: Abacus is to read numbers of one digit, or FoNE as published negative ones.
            RangeError: a number of a table is too large for the floats that the model reads.
            PrecisionError: a number of another table has more digits after the point, at a prime, than the run has.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "mine.csv"
        ...     _ = path.write_text("a,y\n1e400,p", encoding="utf-8")
        ...     data = TableData(str(path), target="y")
        ...     Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch()).check_numbers([10**400])
        Traceback (most recent call last):
        adelic.errors.RangeError: column 'a' has 1000000…000 (401 digits) in row 1 (line 2), beyond the largest float
        (1.8e+308) that trees reads; scale the numbers, or train a network with --embedding adelic --coordinates p-adic
        """
        if place is None:
            self.model.check_numbers(numbers, self.row)
        if not isinstance(self.data, TableData):
            return
        where, largest = place or self.data.place_of, self.model.largest_float
        for q in numbers:
            # Of integers: a fraction for each of 10^6 numbers takes seconds.
            if largest is not None and abs(q.numerator) > largest * q.denominator:
                raise RangeError(
                    f"{where(Fraction(q))}, beyond the largest float ({float(largest):.2g}) that {self.model.name} "
                    "reads; scale the numbers, or train a network with --embedding adelic --coordinates p-adic"
                )
        if place is not None:
            self.model.check_digits(numbers, place)

    @classmethod
    def choose(
        cls,
        data: Source,
        *,
        recipe: str,
        embedding: str | None = None,
        seed: int = 0,
        progress: Progress = lambda *_: None,
        **given: Any,
    ) -> "Experiment":
        """Return the run of a network that a recipe's name and the user's options describe.

        On your own table AOE has the form `combined` unless another one is given; on tasks it has the paper's.

        Args:
            data: what it is trained on.
            recipe: name of a packaged recipe, or path of a file that `adelic tune` has written.
            embedding: its name; by default the recipe's, else "adelic".
            seed: of the run.
            progress: called with (0, 1, text) before a table is read.
            given: fields of `TrainConfig` and `EmbeddingConfig`; those that are None are the recipe's.

        >>> Experiment.choose(TaskData("schubert", 4), recipe="quick", epochs=5).command()
        'adelic train schubert --n 4 --embedding adelic --features digits --recipe quick --epochs 5 --seed 0'
        """
        values, table = stored(recipe, data.row)
        own = options(EmbeddingConfig)
        changes = {name: value for name, value in given.items() if name not in own and value is not None}
        told = values | changes
        body = told.get("body", SEQUENCE)
        check_name("body", body)  # also loads your own class, which tells its unused options
        if unused := sorted(changes.keys() & unused_options(body)):
            raise ConfigurationError(f"--{unused[0].replace('_', '-')} plays no part in --body {body}; leave it out")
        kept = stored_embedding(table, recipe)
        chosen = EmbeddingConfig.choose(
            kept,
            embedding,
            space=data.space,
            d_model=told.get("d_model", options(TrainConfig)["d_model"].default),
            **{name: v for name, v in given.items() if name in own},
        )
        if isinstance(data, TableData):
            is_told = given.get("features") is not None or "features" in kept
            if chosen.name == "adelic" and chosen.places is None and not is_told:
                chosen = replace(chosen, features="combined")  # the default of `nn.AdelicEmbedding`, not the paper's
            progress(0, 1, "reading")
            loaded = data.load(seed)
            if given.get("fractional_digits") is None:
                if chosen.primes and chosen.precision == DEFAULT_PRECISION and given.get("precision") is None:
                    # Decimals of many digits, as floats have, are held whole, and no digit before the point is lost.
                    depth = max(valuation(q.denominator, p) for q in loaded.vocabulary for p in chosen.primes)
                    chosen = replace(chosen, precision=DEFAULT_PRECISION + max(depth - DEFAULT_PRECISION // 2, 0))
                chosen = chosen.holding(loaded.vocabulary, data.place_of)
            if recipe == TABLE and "batch_size" not in changes:
                # About 150 steps an epoch, between 32 and 2048 examples.
                changes["batch_size"] = 1 << min(max((len(loaded.y_train) // 100).bit_length() - 1, 5), 11)
        return cls(data=data, model=chosen, recipe=complete(recipe, data.row, values, changes), seed=seed)

    @property
    def is_network(self) -> bool:
        """Return whether the model is a network that a recipe trains."""
        return isinstance(self.model, EmbeddingConfig)

    @property
    def questions(self) -> DrawnData:
        """Return the data of a solver; other models have a data set."""
        assert isinstance(self.data, DrawnData)
        return self.data

    @property
    def steps(self) -> Steps:
        """Return the recipe of a solver."""
        assert isinstance(self.recipe, Steps)
        return self.recipe

    @property
    def embedding(self) -> EmbeddingConfig:
        """Return the embedding of a network; not for other models."""
        assert isinstance(self.model, EmbeddingConfig)
        return self.model

    @property
    def network_recipe(self) -> TrainConfig:
        """Return the recipe of a network; other models have a search."""
        assert isinstance(self.recipe, TrainConfig)
        return self.recipe

    @property
    def search(self) -> RandomSearch:
        """Return the search of a model outside the Transformer; networks have a recipe."""
        assert isinstance(self.recipe, RandomSearch)
        return self.recipe

    @property
    def row(self) -> str:
        """Return the dataset of the table: schubert-4."""
        return self.data.row

    @property
    def search_label(self) -> str:
        """Return the name of the search, which all seeds share; a digest at its end makes it unique, as in `label`."""
        everything = {key: value for key, value in self.as_dict().items() if key != "seed"}
        return file_name(f"{self.data.label}-{self.model.label}", f"-search-{_digest(everything)}")

    def search_path(self, runs: Path) -> Path:
        """Return where the trials of a search are, in a folder of run folders."""
        return runs / self.search_label / TRIALS

    def parts_done(self, runs: Path) -> tuple[int, int, str]:
        """Return how many parts of the run are done, how many there are, and what they are called.

        >>> data, search = TaskData("schubert", 4), RandomSearch(trials=5)
        >>> Experiment(data=data, model=Classical(name="mlp"), recipe=search).parts_done(Path("no runs"))
        (0, 6, 'fits')
        """
        folder, (whole, words) = runs / self.label, self.recipe.parts
        if (folder / "DONE").exists():
            return whole, whole, words
        # A solver has neither: how many trainings it has is its own affair.
        lines = self.search_path(runs) if isinstance(self.model, Classical) else folder / "metrics.jsonl"
        return min(whole, (read_bytes(lines) or b"").count(b"\n")), whole, words

    @property
    def label(self) -> str:
        """Return the name of the run, which is one of a folder; a digest of all fields in it makes it unique.

        >>> data = TaskData("schubert", 4)
        >>> Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch(), seed=3).label
        'schubert-4-trees-search-...-seed3'
        """
        if isinstance(self.model, Classical):
            return f"{self.search_label}-seed{self.seed}"
        name = f"{self.data.label}-{self.model.label}{self.recipe.in_labels}"
        return file_name(name, f"-seed{self.seed}-{_digest(self.as_dict())}")

    def as_dict(self) -> dict[str, Any]:
        """Return the tables of config.toml; of a search also the values from which options are drawn."""
        recipe = self.recipe.as_dict() | self.model.searched()
        return {"seed": self.seed, "data": self.data.as_dict(), "embedding": self.model.as_dict(), "recipe": recipe}

    def to_toml(self) -> str:
        """Return config.toml."""
        import tomli_w

        return tomli_w.dumps(self.as_dict())

    def command(self, *, devices: int = 1, nodes: int = 1) -> str:
        """Return the command line that repeats this run; if none can, a sentence that says so.

        Args:
            devices: how many processes took part on a machine.
            nodes: how many machines took part.
        """
        of_row = isinstance(self.model, Classical) and isinstance(self.data, TaskData) and not self.data.task_options
        arguments = self._search_arguments() if of_row else self.arguments()
        if arguments is None:
            return "adelic_lab.run, with the configuration in this result"
        for flag, count in (("--devices", devices), ("--nodes", nodes)):
            if count > 1:
                arguments += [flag, str(count)]
        return shlex.join(["adelic", "reproduce" if of_row else "train", *arguments])

    def arguments(self, *, without: Collection[str] = ()) -> list[str] | None:
        """Return the words after `adelic train` in the command line of this run; None if no command line defines it.

        Args:
            without: fields of the embedding to leave out.
        """
        if not self.is_network:
            words = [self.model.flag, self.model.name, *self._recipe_words()]
            return [*self.data.arguments(), *words, "--seed", str(self.seed)]
        name, recipe, model = self.recipe.name, self.network_recipe, self.embedding
        try:
            values, table = stored(name, self.row)
            plain = EmbeddingConfig.choose(stored_embedding(table, name), model.name)
            named = ("features", "primes", "precision") if self.data.space is not None else ("features",)
        except AdelicError:  # the recipe is not a packaged one, or its file is gone
            return None
        parts = [*self.data.arguments(), "--embedding", model.name]
        own = options(EmbeddingConfig)
        for field, value in model.options().items():
            if field not in without and (field in named or value != getattr(plain, field)):
                parts += own[field].words(value)
        parts += ["--recipe", name, "--epochs", str(recipe.epochs)]
        for field, words in changed_words(vars(recipe), values).items():
            if field != "epochs":
                parts += words
        return [*parts, "--seed", str(self.seed)]

    def _search_arguments(self) -> list[str]:
        """Return the words after `adelic reproduce`."""
        about = self.data.arguments()[3:]  # without the task and its size, which the dataset names
        words = [*self._recipe_words("trials"), *about, *self._recipe_words("max_rows", "symmetries")]
        return [self.row, "--models", self.model.name, *words, "--seeds", str(self.seed)]

    def _recipe_words(self, *names: str) -> list[str]:
        """Return how a command line gives the recipe, all of it or these options, of a model that is no network."""
        known = options(type(self.recipe))
        told = [(known[name], getattr(self.recipe, name)) for name in names or known]
        return [word for described, value in told if value not in (None, False) for word in described.words(value)]


def _digest(table: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:8]


def check_same(experiment: Experiment, path: Path) -> None:
    """Raise `RunFolderError` unless a config.toml holds this experiment."""
    for key, (theirs, ours) in _differences(experiment, path).items():
        if key == "data.sha256" and isinstance(experiment.data, TableData):
            raise RunFolderError(
                f"{experiment.data.path} has changed since the run in {path.parent} began; use another --run-dir, or "
                "--restart to begin anew"
            )
        raise RunFolderError(
            f"{path.parent} holds a run of another configuration: {key} is {theirs!r} there and {ours!r} here; use "
            "another --run-dir, or --restart to begin anew (a run of adelic 0.1 goes on with that version)"
        )


def is_extension(experiment: Experiment, path: Path) -> bool:
    """Return whether a config.toml holds this experiment with fewer epochs, from which it can go on.

    If it holds it with fewer epochs, and cannot go on from there, it is a RunFolderError.
    """
    shorter, longer = _differences(experiment, path).get("recipe.epochs", (0, 0))
    if not (type(shorter) is type(longer) is int and 0 < shorter < longer) or len(_differences(experiment, path)) > 1:
        return False
    if experiment.needs_all_epochs:
        raise RunFolderError(
            f"{path.parent} holds this run with {shorter} epoch{'s' * (shorter > 1)}, from where it cannot go on to "
            f"{longer}: {experiment.needs_all_epochs}; use another --run-dir, or --restart to begin anew"
        )
    return True


def _differences(experiment: Experiment, path: Path) -> dict[str, tuple[Any, Any]]:
    """Return where a config.toml and an experiment differ: theirs and ours by key."""
    try:
        found = parse_toml(read_bytes(path) or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; use another --run-dir, or --restart to begin anew") from None
    theirs, ours = dict(flatten(found)), dict(flatten(experiment.as_dict()))
    pairs = {key: (theirs.get(key), ours.get(key)) for key in ours | theirs}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield ("data.task", value) for nested tables.

    >>> list(flatten({"seed": 0, "data": {"task": "schubert", "n": 4}}))
    [('seed', 0), ('data.task', 'schubert'), ('data.n', 4)]
    """
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
