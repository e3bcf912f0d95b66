"""What defines a run: data, embedding, recipe, seed; written to `config.toml` and compared when a run is resumed."""

import hashlib
import json
import shlex
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
import tomli_w
import torch

from adelic.data.sources import Source
from adelic.errors import AdelicError, ConfigurationError, RunFolderError, UnknownNameError
from adelic.nn import EMBEDDINGS, NumberEmbedding, PlacewiseClassifier, SequenceClassifier, Vocabulary
from adelic.nn.bodies.classifier import Classifier
from adelic.nn.bodies.placewise_classifier import place_sizes
from adelic.numbers import AdeleSpace
from adelic.numbers.choice import fitting_space
from adelic.storage.checks import GIBIBYTE, check_seed
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_toml
from adelic.training.objectives import Objective
from adelic.training.recipes import Recipe, load_recipe, stored_embedding, stored_values
from adelic.training.renamed import first_names, with_todays_names
from adelic.training.sampler import stream_seed

RECIPE_OPTIONS = (
    "learning_rate",
    "batch_size",
    "max_rows",
    "symmetries",
    "checkpoint",
    "positional",
    "pooling",
    "compute",
)
"""Fields of a recipe that options of the command line change, besides `epochs`."""
_BYTES_A_PARAMETER = 4 * 6  # float32: weight, gradient, two moments of Adam's, best weight, and what is being saved
EMBEDDING_OPTIONS: dict[str, dict[str, Any]] = {
    name: {option.name: option.default for option in embedding.options}
    for name, embedding in EMBEDDINGS.items()
    if embedding.options
}
"""The options that an embedding takes, with their defaults; one that is missing takes none."""
# unknown to runs that are older than them
_YOUNGER = ("places", "coordinates", "bases", "standardize", "sigma", "published")
# What other embeddings may be given all the same, since it asks for nothing.
_NOTHING = {
    "features": "none",
    "projection": "none",
    "places": "flat",
    "coordinates": "all",
    "standardize": False,
    "published": False,
}


def owners(option: str) -> tuple[str, ...]:
    """Return the names of the embeddings that take an option; none for what is no embedding's option.

    >>> owners("precision"), owners("standardize"), owners("learning_rate")
    (('adelic',), ('fone', 'xval'), ())
    """
    return tuple(name for name, options in EMBEDDING_OPTIONS.items() if option in options)


def check_owner(what: str, option: str, embedding: str) -> None:
    """Raise unless an embedding takes an option, or no embedding has one of this name.

    Args:
        what: the option in the user's words.
        option: its name in `EMBEDDING_OPTIONS`.
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
class EmbeddingConfig:
    """Which embedding a model has.

    Attributes:
        name: a name of `adelic.nn.EMBEDDINGS`.
        features: AOE's form, see `adelic.nn.AdelicEmbedding`; "none" for other embeddings.
        projection: "none" or "linear", for AOE.
        primes, precision, fractional_digits: AOE's space.
        places: "flat" for AOE's vector in the flat model, as in the paper, or where places meet in the place-wise one:
            "apart", "late" or "axial", see `adelic.nn.PlacewiseClassifier`.
        coordinates: "all", "real" or "p-adic": which the flat model is given.
        bases: "10" or "2-5", of FoNE's periods; "none" for other embeddings.
        standardize: whether the features of FoNE or xVal have mean 0 and variance 1 over the vocabulary.
        sigma: of the initial frequencies of periodic features; 0 for other embeddings.
        published: whether FoNE, xVal or periodic features are as in their authors' code, without what we changed.
    """

    name: str
    features: str = "none"
    projection: str = "none"
    primes: tuple[int, ...] = ()
    precision: int = 0
    fractional_digits: int = 0
    places: str = "flat"
    coordinates: str = "all"
    bases: str = "none"
    standardize: bool = False
    sigma: float = 0.0
    published: bool = False

    @classmethod
    def of(cls, name: str, **options: Any) -> "EmbeddingConfig":
        """Return the configuration of an embedding; options have the values of `EMBEDDING_OPTIONS` where they are None.

        The features of the place-wise model are characters unless others are given.

        Raises:
            UnknownNameError: there is no such embedding, no such features, or no such form of places.
            ConfigurationError: an option was given to an embedding that has no such option, or has no such value.

        >>> EmbeddingConfig.of("adelic").features, EmbeddingConfig.of("learned").features
        ('digits', 'none')
        >>> EmbeddingConfig.of("periodic", sigma=0.3).options()
        {'sigma': 0.3, 'published': False}
        """
        if name not in EMBEDDINGS:
            raise UnknownNameError.of("embedding", name, EMBEDDINGS)
        given = {option: value for option, value in options.items() if value is not None}
        for option, value in given.items():
            if not owners(option):
                raise TypeError(f"no embedding has an option {option!r}")
            if value != _NOTHING.get(option):
                check_owner(f"--{option.replace('_', '-')}", option, name)
        return cls(name=name, **EMBEDDINGS[name].check_options(given))

    @classmethod
    def choose(cls, recipe: str, name: str | None = None, **options: Any) -> "EmbeddingConfig":
        """Return the embedding that a recipe's file stores, changed by what a user has given.

        Args:
            recipe: name or path of the recipe; a packaged one stores no embedding.
            name: of the embedding; by default the stored one, else "adelic". With another name than the stored one
                nothing of what is stored applies.
            options: as for `of`; those that are None are taken from the file.

        Raises:
            ConfigurationError, UnknownNameError: as `of`.
            StorageError: there is no such file.

        >>> EmbeddingConfig.choose("quick", features="characters").label
        'adelic-characters'
        """
        stored = stored_embedding(recipe)
        chosen = name or stored.pop("name", "adelic")
        if stored.pop("name", chosen) != chosen:
            stored = {}
        return cls.of(chosen, **stored | {k: v for k, v in options.items() if v is not None})

    def options(self) -> dict[str, Any]:
        """Return what `of` takes besides the name; nothing for an embedding without options.

        >>> EmbeddingConfig.of("learned").options(), EmbeddingConfig.of("adelic").options()["precision"]
        ({}, 16)
        """
        return {option: getattr(self, option) for option in EMBEDDING_OPTIONS.get(self.name, {})}

    def build(self, vocabulary: Vocabulary, d_model: int) -> NumberEmbedding:
        """Return the embedding of the flat model."""
        return EMBEDDINGS[self.name].from_options(vocabulary, d_model, self.options())

    def holding(self, numbers: Sequence[int | Fraction]) -> "EmbeddingConfig":
        """Return AOE with as many digits after the point as some numbers need; another embedding as it is.

        Raises:
            PrecisionError: a number needs more digits than there are.

        >>> EmbeddingConfig.of("adelic").holding([Fraction(1999, 100), 3]).fractional_digits
        2
        """
        if self.name != "adelic":
            return self
        fitting = fitting_space(numbers, self.primes, self.precision)
        return replace(self, fractional_digits=fitting.fractional_digits)

    def space(self) -> AdeleSpace:
        """Return AOE's space."""
        return AdeleSpace(self.primes, self.precision, self.fractional_digits)

    @property
    def label(self) -> str:
        """Return a short name for tables and files: adelic-digits, adelic-characters-late, learned, periodic-sigma0.1.

        >>> EmbeddingConfig.of("fone").label, EmbeddingConfig.of("fone", bases="2-5", standardize=True).label
        ('fone', 'fone-bases2-5-standardized')
        """
        parts = [self.name, self.features, self.places, self.coordinates]
        rivals = {"bases": f"bases{self.bases}", "standardize": "standardized", "sigma": f"sigma{self.sigma:g}"}
        rivals["published"] = "published"
        parts += [text for option, text in rivals.items() if not self._is_plain(option)]
        return "-".join(part for part in parts if part not in ("none", "flat", "all"))

    def _is_plain(self, option: str) -> bool:
        """Return whether an option has its default, as those have that the embedding does not take."""
        default = EMBEDDING_OPTIONS.get(self.name, {}).get(option, getattr(type(self), option, None))
        return bool(getattr(self, option) == default)

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml; the youngest options only where they are not what they once all were."""
        table = {field.name: getattr(self, field.name) for field in fields(self)} | {"primes": list(self.primes)}
        return {k: v for k, v in table.items() if k not in _YOUNGER or not self._is_plain(k)}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One training run, defined to the last bit but for the machine.

    Attributes:
        data: a task of some size, or a table of one's own.
        embedding: the embedding.
        recipe: the training recipe.
        seed: of all that is drawn: the data's negatives and parts, initial weights, sampling and dropout.

    Raises:
        ConfigurationError: images are wanted where equivalent rows are in several parts, or the embedding is not made
            for the data's numbers.
    """

    data: Source
    embedding: EmbeddingConfig
    recipe: Recipe
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the seed and the split."""
        object.__setattr__(self, "seed", check_seed(self.seed))
        if self.recipe.symmetries:
            self.data.check_images()
        if self.data.vocabulary is not None:
            self._check_numbers(self.data.vocabulary)

    def _check_numbers(self, vocabulary: Sequence[int | Fraction]) -> None:
        """Raise ConfigurationError where Abacus has no places to tell apart, or FoNE as published would read signs."""
        if self.embedding.published and self.embedding.name == "fone" and any(number < 0 for number in vocabulary):
            raise ConfigurationError(
                f"{self.row} has negative numbers, and FoNE as published leaves the sign to the text; "
                "leave out --published"
            )
        if self.embedding.name == "abacus" and all(
            number == int(number) and -10 < number < 10 for number in vocabulary
        ):
            raise ConfigurationError(
                f"abacus on {self.row} is a learned embedding by another name: every token has one digit; "
                "use --embedding learned"
            )

    @property
    def row(self) -> str:
        """Return the row of the table: schubert-4."""
        return self.data.row

    @property
    def model_label(self) -> str:
        """Return a short name of what is trained: adelic-digits."""
        return self.embedding.label

    @property
    def label(self) -> str:
        """Return a readable name that no other configuration has: it ends in a digest of all fields."""
        digest = hashlib.sha256(json.dumps(self.first_named(), sort_keys=True).encode()).hexdigest()[:8]
        recipe = Path(self.recipe.name).stem  # the name of a recipe's file is its path
        return f"{self.data.label}-{self.embedding.label}-{recipe}-seed{self.seed}-{digest}"

    def as_dict(self) -> dict[str, Any]:
        """Return the tables of config.toml."""
        return {
            "seed": self.seed,
            "data": self.data.as_dict(),
            "embedding": self.embedding.as_dict(),
            "recipe": self.recipe.as_dict(),
        }

    def first_named(self) -> dict[str, Any]:
        """Return the tables of config.toml as the first runs would have named them, for digests that stay the same."""
        return self.as_dict() | {"recipe": first_names(self.recipe.as_dict())}

    def to_toml(self) -> str:
        """Return config.toml."""
        return tomli_w.dumps(self.as_dict())

    def check_memory(self, device: torch.device) -> None:
        """Raise ConfigurationError unless a device's free memory holds the model while it is trained.

        >>> from adelic.data import TaskData
        >>> from adelic.training import load_recipe
        >>> recipe = load_recipe("quick", "schubert-4", d_model=65_536, n_layers=10_000)
        >>> config = RunConfig(data=TaskData("schubert", 4), embedding=EmbeddingConfig.of("learned"), recipe=recipe)
        >>> config.check_memory(torch.device("cpu"))
        Traceback (most recent call last):
        adelic.errors.ConfigurationError: n-layers=10000, d-model=65536 and d-feedforward=512 are 172,469,780,...
        """
        recipe, parameters = self.recipe, self.recipe.n_encoder_parameters
        free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available
        needed = _BYTES_A_PARAMETER * parameters
        if needed > free:
            most = free * recipe.n_layers // needed
            remedy = f"n-layers={most} at most" if most else "no layer of this size fits; d-model=128 is common"
            raise ConfigurationError(
                f"n-layers={recipe.n_layers}, d-model={recipe.d_model} and d-feedforward={recipe.d_feedforward} are "
                f"{parameters:,} parameters, which need {needed / GIBIBYTE:,.1f} GiB to be trained; {device} has "
                f"{free / GIBIBYTE:,.1f} GiB free: {remedy}"
            )

    def model(self, data: "ModelData", objective: Objective) -> Classifier:
        """Return the untrained model for this run's data, its initial weights drawn with the run's seed.

        The embedding's weights have a stream of random numbers of their own, so that two runs that differ in the
        embedding start from equal weights everywhere else. The place-wise model's sizes follow from the recipe's, which
        are the flat one's: it has about as many parameters, see `place_sizes`.
        """
        self._check_numbers(data.vocabulary)
        recipe, vocabulary = self.recipe, Vocabulary(data.vocabulary)
        options: dict[str, Any] = {
            **objective.model_options(),
            "max_length": data.X_train.shape[1],
            "n_layers": recipe.n_layers,
            "n_heads": recipe.n_heads,
            "d_feedforward": recipe.d_feedforward,
            "dropout": recipe.dropout,
            "norm": recipe.norm,
            "pooling": recipe.pooling,
        }
        if recipe.positional == "learned":
            options["positional"] = "learned"
        with torch.random.fork_rng(devices=[]):  # modules are made on the CPU
            if self.embedding.places == "flat":
                torch.manual_seed(stream_seed(self.seed, "embedding"))
                embedding = self.embedding.build(vocabulary, recipe.d_model)
                torch.manual_seed(stream_seed(self.seed, "initialisation"))
                return SequenceClassifier(embedding, **options)
            space = self.embedding.space()
            options |= {"space": space, "features": self.embedding.features, "places": self.embedding.places}
            options |= place_sizes(
                space.n_primes + 1, d_model=recipe.d_model, n_heads=recipe.n_heads, d_feedforward=recipe.d_feedforward
            )
            torch.manual_seed(stream_seed(self.seed, "initialisation"))
            return PlacewiseClassifier(vocabulary, **options)

    def command(self, *, devices: int = 1, nodes: int = 1) -> str:
        """Return the command line that repeats this run; for one that no command line can define, say so.

        Args:
            devices: how many processes took part on a machine.
            nodes: how many machines took part.

        >>> from adelic.data import TaskData
        >>> from adelic.training import load_recipe
        >>> recipe = load_recipe("quick", "schubert-4", epochs=5)
        >>> RunConfig(data=TaskData("schubert", 4), embedding=EmbeddingConfig.of("adelic"), recipe=recipe).command()
        'adelic train schubert --n 4 --embedding adelic --features digits --recipe quick --epochs 5 --seed 0'
        """
        arguments = self.arguments()
        if arguments is None:
            return "adelic.training.run, with the configuration that stands in this result"
        for option, count in (("--devices", devices), ("--nodes", nodes)):
            if count > 1:
                arguments += [option, str(count)]
        return shlex.join(["adelic", "train", *arguments])

    def arguments(self, *, without: Collection[str] = ()) -> list[str] | None:
        """Return what follows `adelic train` in the command line of this run, or None if no command line defines it.

        Args:
            without: fields of the embedding to leave out.
        """
        name, row = self.recipe.name, self.data.row
        flags = {field: getattr(self.recipe, field) for field in ("epochs", *RECIPE_OPTIONS)}
        try:
            given = load_recipe(name, row, **flags) == self.recipe
            plain = EmbeddingConfig.choose(name, self.embedding.name)
            stored = stored_values(name, row)
        except AdelicError:  # a recipe of the caller's own, or a file that is gone
            return None
        if not given:
            return None
        parts = [*self.data.arguments(), "--embedding", self.embedding.name]
        for option, value in self.embedding.options().items():
            if option not in without and (option == "features" or value != getattr(plain, option)):
                flag = f"--{option.replace('_', '-')}"
                text = ",".join(map(str, value)) if option == "primes" else str(value)
                parts += ([flag] if value else [f"--no-{flag[2:]}"]) if type(value) is bool else [flag, text]
        parts += ["--recipe", name, "--epochs", str(self.recipe.epochs)]
        packaged = {f.name: f.default for f in fields(Recipe)} | stored
        for option in RECIPE_OPTIONS:
            value, flag = getattr(self.recipe, option), f"--{option.replace('_', '-')}"
            if value != packaged[option]:
                parts += ([flag] if value else [f"--no-{flag[2:]}"]) if type(value) is bool else [flag, str(value)]
        return [*parts, "--seed", str(self.seed)]


class ModelData(Protocol):
    """What a model has to know of its data."""

    @property
    def X_train(self) -> np.ndarray: ...  # noqa: D102, N802
    @property
    def vocabulary(self) -> tuple[int | Fraction, ...]: ...  # noqa: D102


def check_same(config: RunConfig, path: Path) -> None:
    """Raise `RunFolderError` unless a config.toml holds this configuration."""
    try:
        found = parse_toml(read_bytes(path) or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; use another --run-dir, or --restart to begin anew") from None
    theirs, ours = dict(flatten(with_todays_names(found))), dict(flatten(tomllib.loads(config.to_toml())))
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
