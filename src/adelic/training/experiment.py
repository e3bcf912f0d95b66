"""`Experiment`: data, model, recipe and seed, which define a run to the last bit but for the machine.

Its fields are the only description of their options: see `adelic.storage.options`. Nothing here needs torch, so that
what a user gives is checked before seconds are spent on loading it.
"""

import hashlib
import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from adelic.data.sources import Source, TableData, TaskData
from adelic.errors import AdelicError, ConfigurationError, RunFolderError, UnknownNameError
from adelic.numbers import AdeleSpace
from adelic.numbers.choice import fitting_space
from adelic.numbers.features import FEATURE_KINDS
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES
from adelic.storage.checks import check_seed
from adelic.storage.files import read_bytes
from adelic.storage.options import Option, check_fields, check_table, option, options, table_of
from adelic.storage.records import DamagedTextError, parse_toml
from adelic.training.recipes import Recipe, complete, stored
from adelic.training.renamed import first_form, with_todays_names

PLACE_FEATURES = ("characters", "one-hot-digits", "digits")
"""AOE's forms that a place-wise model reads."""
_AOE = ("adelic",)


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """Which embedding a network has; an option is None where the embedding has no such option.

    Attributes:
        name: a name of `adelic.nn.EMBEDDINGS`.

    What the others are stands beside them. The features of the place-wise model are characters unless others are given.

    Raises:
        UnknownNameError: there is no such embedding, no such features, or no such form of places.
        ConfigurationError: an option was given to an embedding that has no such option, or has no such value, or two
            do not go together.

    >>> EmbeddingConfig(name="adelic").features, EmbeddingConfig(name="learned").features
    ('digits', None)
    """

    name: str
    features: str | None = option(
        None,
        default="digits",
        help="AOE's form: digits (the paper), standardized, characters or one-hot-digits.",
        choices=FEATURE_KINDS,
        tried=FEATURE_KINDS,
        of=_AOE,
    )
    projection: str | None = option(
        None,
        help="Trained map from AOE's features to the vector: none or linear.",
        choices=("linear",),
        tried=("none", "linear"),
        of=_AOE,
    )
    primes: tuple[int, ...] | None = option(
        None,
        default=DEFAULT_PRIMES,
        help="Different primes, as 2,3,5.",
        tried=tuple(range(2, len(DEFAULT_PRIMES) + 1)),
        note="first primes",
        of=_AOE,
    )
    precision: int | None = option(
        None,
        default=DEFAULT_PRECISION,
        help="Digits at each prime.",
        tried=(4, 6, 8, 12, DEFAULT_PRECISION),
        note="digits",
        of=_AOE,
    )
    fractional_digits: int | None = option(
        None, default=0, help="How many of the digits stand after the point.", of=_AOE
    )
    places: str | None = option(
        None,
        default="flat",
        help="Where AOE's places meet: flat (the paper: one vector), apart, late or axial.",
        choices=("flat", "apart", "late", "axial"),
        of=_AOE,
        unwritten="flat",
    )
    coordinates: str | None = option(
        None,
        default="all",
        help="The coordinates of AOE that the flat model is given: all, real or p-adic.",
        choices=("all", "real", "p-adic"),
        of=_AOE,
        unwritten="all",
    )
    bases: str | None = option(
        None,
        default="10",
        help="Bases of FoNE's periods: 10 (its paper) or 2-5 (its code).",
        choices=("10", "2-5"),
        tried=("10", "2-5"),
        of=("fone",),
        unwritten="10",
    )
    standardize: bool | None = option(
        None,
        default=False,
        help="Give the features of fone or xval mean 0 and variance 1 over the vocabulary.",
        tried=(False, True),
        of=("fone", "xval"),
        unwritten=False,
    )
    sigma: float | None = option(
        None,
        default=0.01,
        help="Standard deviation of periodic's initial frequencies.",
        positive=True,
        bounds=(0.01, 10.0),  # the authors' range, in their package's documentation
        of=("periodic",),
        unwritten=0.01,
    )
    published: bool | None = option(
        None,
        default=False,
        help="Make fone, xval or periodic as in their authors' code, see docs/rivals.md.",
        of=("fone", "periodic", "xval"),
        unwritten=False,
    )

    def __post_init__(self) -> None:
        """Check the values, and fill in those that were not given."""
        check_fields(self)
        known = options(EmbeddingConfig)
        for name, described in known.items():
            if getattr(self, name) is not None:
                check_owner(f"--{described.dashed}", name, self.name)
            elif self.name in described.of:
                object.__setattr__(self, name, self._default(described))
        if self.name in _AOE:
            self._check_places()
            space = self.space()
            for name in ("primes", "precision", "fractional_digits"):
                object.__setattr__(self, name, getattr(space, name))
        if self.standardize and self.published:
            raise ConfigurationError("--standardize is ours, and does not go with --published; drop one of the two")
        from adelic.nn import EMBEDDINGS  # the last check, since it loads torch

        if self.name not in EMBEDDINGS:
            raise UnknownNameError.of("embedding", self.name, EMBEDDINGS)

    def _default(self, described: Option) -> Any:
        if described.name == "features" and self.places not in (None, "flat"):
            return "characters"
        return described.default

    def _check_places(self) -> None:
        """Raise ConfigurationError where a place-wise model is given what belongs to the flat one."""
        if self.places == "flat":
            return
        if self.features not in PLACE_FEATURES:
            raise ConfigurationError(
                f"features={self.features!r} belong to places='flat'; with {self.places!r} use "
                f"{', '.join(PLACE_FEATURES)}"
            )
        if self.projection is not None:
            raise ConfigurationError(f"projection='linear' belongs to places='flat'; {self.places!r} has one anyway")
        if self.coordinates != "all":
            raise ConfigurationError(
                f"coordinates={self.coordinates!r} belong to places='flat'; {self.places!r} has all"
            )

    @classmethod
    def of(cls, name: str, **given: Any) -> "EmbeddingConfig":
        """Return the configuration of an embedding; an option that is None, or false, is not given.

        >>> EmbeddingConfig.of("periodic", sigma=0.3).options()
        {'sigma': 0.3, 'published': False}
        """
        plain = {option: value for option, value in given.items() if value is False and name not in owners(option)}
        return cls(name=name, **{option: value for option, value in given.items() if option not in plain})

    @classmethod
    def choose(cls, table: Mapping[str, Any], name: str | None = None, **given: Any) -> "EmbeddingConfig":
        """Return the embedding that a recipe's file stores, changed by what a user has given.

        Args:
            table: what is stored; {} where nothing is.
            name: of the embedding; by default the stored one, else "adelic". With another name than the stored one
                nothing of what is stored applies.
            given: as for `of`; those that are None are taken from the table.

        >>> EmbeddingConfig.choose({"name": "adelic", "precision": 3}, features="characters").options()["precision"]
        3
        """
        kept = {key: value for key, value in table.items() if key != "name"}
        chosen = name or table.get("name", "adelic")
        if table.get("name", chosen) != chosen:
            kept = {}
        return cls.of(chosen, **kept | {k: v for k, v in given.items() if v is not None})

    def options(self) -> dict[str, Any]:
        """Return the options of this embedding; none for an embedding without.

        >>> EmbeddingConfig(name="learned").options(), EmbeddingConfig(name="adelic").options()["precision"]
        ({}, 16)
        """
        return {name: getattr(self, name) for name, o in options(EmbeddingConfig).items() if self.name in o.of}

    def holding(self, numbers: Sequence[int | Fraction]) -> "EmbeddingConfig":
        """Return AOE with as many digits after the point as some numbers need; another embedding as it is.

        Raises:
            PrecisionError: a number needs more digits than there are.

        >>> EmbeddingConfig(name="adelic").holding([Fraction(1999, 100), 3]).fractional_digits
        2
        """
        if self.primes is None or self.precision is None:
            return self
        return replace(self, fractional_digits=fitting_space(numbers, self.primes, self.precision).fractional_digits)

    def space(self) -> AdeleSpace:
        """Return AOE's space; other embeddings have none."""
        assert self.primes is not None
        assert self.precision is not None
        assert self.fractional_digits is not None
        return AdeleSpace(self.primes, self.precision, self.fractional_digits)

    @property
    def label(self) -> str:
        """Return a short name for tables and files: adelic-digits, adelic-characters-late, learned, periodic-sigma0.1.

        >>> EmbeddingConfig(name="fone").label, EmbeddingConfig(name="fone", bases="2-5", standardize=True).label
        ('fone', 'fone-bases2-5-standardized')
        """
        parts = [self.name, self.features, self.places, self.coordinates]
        rivals = {"bases": f"bases{self.bases}", "standardize": "standardized", "published": "published"}
        if self.sigma is not None:
            rivals["sigma"] = f"sigma{self.sigma:g}"
        parts += [rivals[name] for name in table_of(self) if name in rivals]
        return "-".join(part for part in parts if part not in (None, "flat", "all"))

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml."""
        return {"name": self.name, **table_of(self)}


def owners(option: str) -> tuple[str, ...]:
    """Return the names of the embeddings that have an option; none where it is no embedding's.

    >>> owners("precision"), owners("standardize"), owners("learning_rate")
    (('adelic',), ('fone', 'xval'), ())
    """
    known = options(EmbeddingConfig)
    return known[option].of if option in known else ()


def check_owner(what: str, option: str, embedding: str) -> None:
    """Raise unless an embedding has an option, or no embedding has one of this name.

    Args:
        what: the option in the user's words.
        option: its name, a field of `EmbeddingConfig`.
        embedding: name of the embedding.

    Raises:
        ConfigurationError: the option belongs to other embeddings.

    >>> check_owner("--sigma", "sigma", "learned")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: --sigma belongs to the embedding 'periodic', not to 'learned'
    """
    names = owners(option)
    if names and embedding not in names:
        listed = " and ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))
        whose = f"embedding{'s' if len(names) > 1 else ''} {listed}"
        raise ConfigurationError(f"{what} belongs to the {whose}, not to {embedding!r}")


@dataclass(frozen=True, kw_only=True)
class Classical:
    """A model outside the Transformer.

    Attributes:
        name: a name of `adelic.training.CLASSICAL_MODELS`.

    >>> Classical(name="trees").label
    'trees'
    """

    name: str

    @property
    def label(self) -> str:
        """Return the model's name."""
        return self.name

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml."""
        return {"name": self.name}


@dataclass(frozen=True, kw_only=True)
class RandomSearch:
    """How the options of a model outside the Transformer are chosen: by random draws, judged by validation.

    What the fields are stands beside them.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> RandomSearch(trials=3).as_dict()
    {'name': 'search', 'trials': 3}
    """

    trials: int = option(20, help="Random draws of the model's options.", least=1, greatest=1_000_000)
    max_rows: int | None = option(None, help="Train on this many random rows at most.", least=1, greatest=10**9)
    symmetries: bool = option(
        False, help="Train on the images of rows under the task's symmetries, too.", unwritten=False
    )

    name = "search"

    def __post_init__(self) -> None:
        """Check the values."""
        check_fields(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml."""
        return {"name": self.name, **table_of(self)}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One run, defined to the last bit but for the machine.

    Attributes:
        data: a task of some size, or a table of one's own.
        model: a network by its embedding, or a model outside the Transformer.
        recipe: how it is trained: a `Recipe` for a network, a `RandomSearch` for another model.
        seed: of all that is drawn: the data's negatives and parts, initial weights, sampling and dropout.

    Raises:
        UnknownNameError: there is no such model.
        ConfigurationError: images are wanted where equivalent rows are in several parts, or the model is not made for
            the data, or the recipe not for the model.

    >>> data = TaskData("schubert", 4)
    >>> Experiment(data=data, model=Classical(name="logistic"), recipe=RandomSearch()).command()
    'adelic reproduce schubert-4 --models logistic --trials 20 --seeds 0'
    >>> Experiment(data=TaskData("rsk", 8), model=Classical(name="mlp"), recipe=RandomSearch())
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: rsk-8 has several targets or a number a row; mlp is for rows with one class
    """

    data: Source
    model: EmbeddingConfig | Classical
    recipe: Recipe | RandomSearch
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what the parts demand of each other."""
        object.__setattr__(self, "seed", check_seed(self.seed))
        if isinstance(self.model, EmbeddingConfig) is not isinstance(self.recipe, Recipe):
            raise ConfigurationError(f"{self.model.name} is not trained by a {type(self.recipe).__name__}")
        if isinstance(self.model, Classical):
            self._check_classical()
        elif self.data.vocabulary is not None:
            self.check_numbers(self.data.vocabulary)
        if self.recipe.symmetries:
            self.data.check_images()

    def _check_classical(self) -> None:
        """Check the name, and take from the recipe what makes no difference to the model."""
        from adelic.training.classical.models import CLASSICAL_MODELS

        if self.model.name not in CLASSICAL_MODELS:
            raise UnknownNameError.of("model", self.model.name, CLASSICAL_MODELS)
        if self.data.has_one_class_a_row is False:
            raise self.not_one_class()
        kind = CLASSICAL_MODELS[self.model.name]
        plain: dict[str, Any] = ({} if kind.space else {"trials": 1}) | (
            {} if kind.uses_images else {"symmetries": False}
        )
        object.__setattr__(self, "recipe", replace(self.search, **plain))

    def not_one_class(self) -> ConfigurationError:
        """Return the error of a model outside the Transformer whose rows have several targets, or a number."""
        return ConfigurationError(
            f"{self.row} has several targets or a number a row; {self.model.name} is for rows with one class"
        )

    def check_numbers(self, vocabulary: Sequence[int | Fraction]) -> None:
        """Raise ConfigurationError where Abacus has no places to tell apart, or FoNE as published would read signs."""
        name = self.model.name
        if name == "fone" and getattr(self.model, "published", False) and any(number < 0 for number in vocabulary):
            raise ConfigurationError(
                f"{self.row} has negative numbers, and FoNE as published leaves the sign to the text; "
                "leave out --published"
            )
        if name == "abacus" and all(number == int(number) and -10 < number < 10 for number in vocabulary):
            raise ConfigurationError(
                f"abacus on {self.row} is a learned embedding by another name: every token has one digit; "
                "use --embedding learned"
            )

    @classmethod
    def choose(
        cls,
        data: Source,
        *,
        recipe: str,
        embedding: str | None = None,
        seed: int = 0,
        **given: Any,
    ) -> "Experiment":
        """Return the run of a network that a recipe's name, and what a user has given beside it, describe.

        Args:
            data: what it is trained on.
            recipe: name of a packaged recipe, or path of a file that `adelic tune` has written.
            embedding: its name; by default the recipe's, else "adelic".
            seed: of the run.
            given: fields of `Recipe` and `EmbeddingConfig`; those that are None are the recipe's.

        >>> Experiment.choose(TaskData("schubert", 4), recipe="quick", epochs=5).command()
        'adelic train schubert --n 4 --embedding adelic --features digits --recipe quick --epochs 5 --seed 0'
        """
        values, table = stored(recipe, data.row)
        own = options(EmbeddingConfig)
        chosen = EmbeddingConfig.choose(
            _stored_embedding(table, recipe), embedding, **{name: v for name, v in given.items() if name in own}
        )
        changes = {name: value for name, value in given.items() if name not in own and value is not None}
        if isinstance(data, TableData) and given.get("fractional_digits") is None:
            chosen = chosen.holding(data.load(seed).vocabulary)
        return cls(data=data, model=chosen, recipe=complete(recipe, data.row, values | changes), seed=seed)

    @property
    def is_network(self) -> bool:
        """Return whether the model is a network that a recipe trains."""
        return isinstance(self.model, EmbeddingConfig)

    @property
    def embedding(self) -> EmbeddingConfig:
        """Return the embedding of a network; other models have none."""
        assert isinstance(self.model, EmbeddingConfig)
        return self.model

    @property
    def network_recipe(self) -> Recipe:
        """Return the recipe of a network; other models have a search."""
        assert isinstance(self.recipe, Recipe)
        return self.recipe

    @property
    def search(self) -> RandomSearch:
        """Return the search of a model outside the Transformer; networks have a recipe."""
        assert isinstance(self.recipe, RandomSearch)
        return self.recipe

    @property
    def row(self) -> str:
        """Return the row of the table: schubert-4."""
        return self.data.row

    @property
    def search_label(self) -> str:
        """Return a readable name of a search that no other one has, and that all seeds share: it ends in a digest."""
        everything = {key: value for key, value in self.as_dict().items() if key != "seed"}
        return f"{self.data.label}-{self.model.label}-search-{_digest(everything)}"

    @property
    def label(self) -> str:
        """Return a readable name that no other run has: a digest of all fields is in it.

        >>> data = TaskData("schubert", 4)
        >>> Experiment(data=data, model=Classical(name="trees"), recipe=RandomSearch(), seed=3).label
        'schubert-4-trees-search-...-seed3'
        """
        if not self.is_network:
            return f"{self.search_label}-seed{self.seed}"
        recipe = Path(self.recipe.name).stem  # the name of a recipe's file is its path
        return f"{self.data.label}-{self.model.label}-{recipe}-seed{self.seed}-{_digest(first_form(self.as_dict()))}"

    def as_dict(self) -> dict[str, Any]:
        """Return the tables of config.toml; of a search also the values from which options are drawn."""
        recipe = self.recipe.as_dict()
        if not self.is_network:
            from adelic.training.classical.models import CLASSICAL_MODELS

            space = CLASSICAL_MODELS[self.model.name].space
            if space:  # a search whose configuration does not say this was drawn otherwise: it is another one
                recipe["sampler"] = "optuna.samplers.RandomSampler"
            recipe["searched"] = {name: str(values) for name, values in space.items()}
        return {"seed": self.seed, "data": self.data.as_dict(), "embedding": self.model.as_dict(), "recipe": recipe}

    def to_toml(self) -> str:
        """Return config.toml."""
        import tomli_w

        return tomli_w.dumps(self.as_dict())

    def command(self, *, devices: int = 1, nodes: int = 1) -> str:
        """Return the command line that repeats this run; for one that no command line can define, say so.

        Args:
            devices: how many processes took part on a machine.
            nodes: how many machines took part.
        """
        arguments = self.arguments() if self.is_network else self._search_arguments()
        if arguments is None:
            return "adelic.training.run, with the configuration that stands in this result"
        for flag, count in (("--devices", devices), ("--nodes", nodes)):
            if count > 1:
                arguments += [flag, str(count)]
        return shlex.join(["adelic", "train" if self.is_network else "reproduce", *arguments])

    def arguments(self, *, without: Collection[str] = ()) -> list[str] | None:
        """Return what follows `adelic train` in the command line of a network's run, or None if none defines it.

        Args:
            without: fields of the embedding to leave out.
        """
        name, recipe, model = self.recipe.name, self.network_recipe, self.embedding
        try:
            values, table = stored(name, self.row)
            plain = EmbeddingConfig.choose(_stored_embedding(table, name), model.name)
        except AdelicError:  # a recipe of the caller's own, or a file that is gone
            return None
        parts = [*self.data.arguments(), "--embedding", model.name]
        own, known = options(EmbeddingConfig), options(Recipe)
        for field, value in model.options().items():
            if field not in without and (field == "features" or value != getattr(plain, field)):
                parts += own[field].words(value)
        parts += ["--recipe", name, "--epochs", str(recipe.epochs)]
        for field, described in known.items():
            value = getattr(recipe, field)
            if field != "epochs" and value != values.get(field, described.default):
                parts += described.words(value)
        return [*parts, "--seed", str(self.seed)]

    def _search_arguments(self) -> list[str] | None:
        """Return what follows `adelic reproduce`; None for a table, which no command line takes here."""
        if not isinstance(self.data, TaskData):
            return None
        parts = [self.row, "--models", self.model.name]
        for name, described in options(RandomSearch).items():
            value = getattr(self.recipe, name)
            if name == "trials":
                # without the task and its size, which the row names
                parts += [*described.words(value), *self.data.arguments()[3:]]
            elif value != described.default:
                parts += described.words(value)
        return [*parts, "--seeds", str(self.seed)]


def _stored_embedding(table: Any, recipe: str) -> dict[str, Any]:
    """Return the table of a recipe's file that stores an embedding, checked; {} where it stores none."""
    if table is None:
        return {}
    where = f"{recipe} [embedding]"
    own = check_table(
        EmbeddingConfig, {k: v for k, v in table.items() if k != "name"} if type(table) is dict else table, where
    )
    if type(table.get("name")) is not str:
        raise ConfigurationError(f"{where} has no name")
    return {"name": table["name"], **own}


def _digest(table: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:8]


def check_same(experiment: Experiment, path: Path) -> None:
    """Raise `RunFolderError` unless a config.toml holds this experiment."""
    try:
        found = parse_toml(read_bytes(path) or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; use another --run-dir, or --restart to begin anew") from None
    theirs, ours = dict(flatten(with_todays_names(found))), dict(flatten(experiment.as_dict()))
    for key in ours | theirs:
        if ours.get(key) != theirs.get(key):
            raise RunFolderError(
                f"{path.parent} holds a run of another configuration: {key} is {theirs.get(key)!r} there and "
                f"{ours.get(key)!r} here; use another --run-dir, or --restart to begin anew"
            )


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
