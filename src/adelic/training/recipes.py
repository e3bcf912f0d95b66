"""Recipes: everything that decides how a model is trained, equal for every embedding."""

import math
import tomllib
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from importlib import resources
from pathlib import Path, PurePath
from typing import Any

from adelic.errors import ConfigurationError, StorageError, UnknownNameError
from adelic.nn import EMBEDDINGS
from adelic.storage.checks import check_count
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_toml
from adelic.training.renamed import with_todays_names

MOST_SAMPLING_POWER = 10.0
"""With a greater power, or one below its negative, some classes' weights vanish beside those of others."""
CHOICES: dict[str, tuple[str, str]] = {
    "schedule": ("cosine", "constant"),
    "norm": ("post", "pre"),
    "positional": ("embedding", "learned"),
    "checkpoint": ("best", "last"),
    "pooling": ("cls", "tokens"),
    "compute": ("float32", "bfloat16"),
}
"""The fields of a recipe that have one of two values."""
# What runs that are older than these fields have, whose names and folders stay.
_YOUNGER = {"max_rows": 0, "symmetries": False, "checkpoint": "best", "positional": "embedding", "pooling": "cls"}
_OPTIONS = {option.name: type(option.default) for embedding in EMBEDDINGS.values() for option in embedding.options}
_EMBEDDING = {"name": str} | {name: list if kind is tuple else kind for name, kind in _OPTIONS.items()}


def _count(greatest: int, default: Any = MISSING, *, least: int = 1) -> Any:
    """Return a field that is a whole number between two bounds."""
    return field(default=default, metadata={"least": least, "greatest": greatest})


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is built and trained, but for its embedding.

    Attributes:
        name: where the recipe comes from.
        learning_rate: Adam's, at its peak.
        epochs: each draws as many rows as the training split has.
        batch_size: rows a step.
        max_rows: train on so many rows at most, a random part of the training split; 0 for all of them.
        warmup_steps: steps over which the learning rate rises linearly from 0.
        symmetries: whether each draw of a training row is one of its images under the task's symmetries.
        schedule: "cosine" (once an epoch, T_max = epochs, as CosineAnnealingLR) or "constant".
        sampling_power: a row of a class of n_i rows is drawn with weight n_i^(−power); the paper's 1/√n_i is 0.5. Rows
            with several targets, or a number, are drawn with equal weights.
        norm: "post" or "pre" layer norm.
        checkpoint: the weights of which epoch are tested: the "best" by validation accuracy, then loss, or the "last".
            Where validation has few rows, the best of many epochs is an early one by chance.
        positional: positions as the "embedding" has them, without parameters, or "learned" vectors.
        pooling: which of the last states the head reads, "cls" or all "tokens"; see `adelic.nn.SequenceClassifier`.
        d_model, n_layers, n_heads, d_feedforward, dropout: the encoder's. A place-wise model has the same n_layers and
            dropout; its other sizes follow from these, so that it has about as many parameters.
        compute: "float32", or "bfloat16": factors of matrix products, and what lies between two products, are rounded;
            weights, their gradients, optimizer, residual branches, norms, softmax and loss are float32 in both.

    Raises:
        ConfigurationError: a value makes no sense.
    """

    name: str
    learning_rate: float
    epochs: int = _count(1_000_000)
    batch_size: int = _count(10**9, 2048)
    max_rows: int = _count(10**9, 0, least=0)
    symmetries: bool = False
    warmup_steps: int = _count(10**9, 0, least=0)
    schedule: str = "cosine"
    sampling_power: float = 0.5
    norm: str = "post"
    checkpoint: str = "best"
    positional: str = "embedding"
    pooling: str = "cls"
    d_model: int = _count(65_536, 128)
    n_layers: int = _count(10_000, 6)
    n_heads: int = _count(65_536, 8)
    d_feedforward: int = _count(1_048_576, 512)
    dropout: float = 0.1
    compute: str = "float32"

    def __post_init__(self) -> None:
        """Check the values."""
        for each in fields(self):
            if each.metadata:
                object.__setattr__(self, each.name, check_count(each.name, getattr(self, each.name), **each.metadata))
        if type(self.symmetries) is not bool:
            raise ConfigurationError(f"symmetries={self.symmetries!r} must be true or false")
        if not 0 < self.learning_rate < math.inf:
            raise ConfigurationError(f"learning-rate={self.learning_rate} must be positive")
        if not abs(self.sampling_power) <= MOST_SAMPLING_POWER:
            most = MOST_SAMPLING_POWER
            raise ConfigurationError(f"sampling-power={self.sampling_power} must lie from {-most:g} to {most:g}")
        if not 0 <= self.dropout < 1:
            raise ConfigurationError(f"dropout={self.dropout} must lie in [0, 1)")
        for name, (one, other) in CHOICES.items():
            if getattr(self, name) not in (one, other):
                raise ConfigurationError(f"{name}={getattr(self, name)!r} is unknown; use {one!r} or {other!r}")

    @property
    def n_encoder_parameters(self) -> int:
        """Return how many numbers the encoder's matrices have; the rest of a model has few beside them.

        >>> Recipe(name="example", learning_rate=1.0, epochs=4).n_encoder_parameters
        1179648
        """
        return self.n_layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_feedforward)

    def learning_rate_at(self, epoch: int, step: int) -> float:
        """Return the learning rate of a step.

        Args:
            epoch: from 0.
            step: counted from 0 over the whole run.

        >>> recipe = Recipe(name="example", learning_rate=1.0, epochs=4)
        >>> [round(recipe.learning_rate_at(epoch, step=epoch), 3) for epoch in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        rate = self.learning_rate * min(1.0, (step + 1) / (self.warmup_steps + 1))
        if self.schedule == "cosine":
            rate *= (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return rate

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary, for TOML; the youngest only where they are not what they once were.

        >>> "max_rows" in Recipe(name="example", learning_rate=1.0, epochs=4).as_dict()
        False
        """
        return {key: value for key, value in asdict(self).items() if value != _YOUNGER.get(key)}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return the packaged recipes.toml."""
    return tomllib.loads(resources.files("adelic.training").joinpath("recipes.toml").read_text(encoding="utf-8"))


def recipe_names() -> tuple[str, ...]:
    """Return the names of the packaged recipes.

    >>> recipe_names()
    ('paper', 'quick', 'compact')
    """
    return tuple(_tables())


def load_recipe(name: str, row: str, **changes: Any) -> Recipe:
    """Return a recipe for a row.

    Args:
        name: a name of `recipe_names`, or the path of a file that `adelic tune` has written: recipes/mine.toml. The
            path is the recipe's name.
        row: of the table, as "schubert-4"; packaged recipes have epochs and rates of their own for the paper's.
        changes: fields to override; those that are None are left alone.

    Raises:
        UnknownNameError: there is no such recipe.
        StorageError: there is no such file.
        ConfigurationError: the recipe leaves a field open for this row, or a change makes no sense, or the file is
            damaged.

    >>> load_recipe("paper", "schubert-4").learning_rate
    1.7e-05
    >>> load_recipe("quick", "mheight-8", epochs=3).epochs
    3
    """
    values = stored_values(name, row) | {k: v for k, v in changes.items() if v is not None}
    missing = [f for f in ("learning_rate", "epochs") if f not in values]
    if missing:
        flags = ", ".join("--" + field.replace("_", "-") for field in missing)
        raise ConfigurationError(f"the recipe {name!r} gives no {' or '.join(missing)} for {row}; pass {flags}")
    return Recipe(name=PurePath(name).as_posix(), **values)


def stored_values(name: str, row: str) -> dict[str, Any]:
    """Return what is stored for a row: fields of `Recipe`, those that are left open missing."""
    if is_file(name):
        kinds = {f.name: f.type for f in fields(Recipe) if f.name != "name"}
        return _checked(read_recipe_file(name).get("recipe"), kinds, f"{name} [recipe]")
    if name not in _tables():
        raise UnknownNameError.of("recipe", name, recipe_names())
    common = dict(_tables()[name])
    rows = common.pop("rows", {})
    values: dict[str, Any] = common | rows.get(row, {})
    return values


def stored_embedding(name: str) -> dict[str, Any]:
    """Return the embedding that a recipe's file stores: its name and options, checked for their types only.

    A packaged recipe stores none.

    >>> stored_embedding("quick")
    {}
    """
    table = read_recipe_file(name).get("embedding") if is_file(name) else None
    if table is None:
        return {}
    found = _checked(table, _EMBEDDING, f"{name} [embedding]")
    if "name" not in found:
        raise ConfigurationError(f"{name} [embedding] has no name")
    return found | ({"primes": tuple(found["primes"])} if "primes" in found else {})


def is_file(name: str) -> bool:
    """Return whether a recipe is named by the path of its file.

    >>> is_file("quick"), is_file("recipes/schubert-4-adelic.toml")
    (False, True)
    """
    return name.endswith(".toml")


def read_recipe_file(path: str | Path) -> dict[str, Any]:
    """Return the tables of a recipe's file.

    Raises:
        StorageError: there is no such file, or it cannot be read.
        ConfigurationError: it is no TOML.
    """
    content = read_bytes(Path(path), remedy="name a recipe, or a file that `adelic tune` has written")
    if content is None:
        raise StorageError(f"there is no recipe {path}; `adelic tune` writes one, recipes: {', '.join(recipe_names())}")
    try:
        return with_todays_names(parse_toml(content))
    except DamagedTextError as error:
        raise ConfigurationError(f"{path} is no recipe: {error}") from None


def _checked(table: Any, kinds: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a table of a file after a check of its keys and their types; `Recipe` and others check the values."""
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is missing; `adelic tune` writes such files")
    for key, value in table.items():
        if key not in kinds:
            raise ConfigurationError(f"{where} has an unknown {key!r}; known: {', '.join(kinds)}")
        kind = (float, int) if kinds[key] is float else kinds[key]
        whole = not isinstance(value, list) or all(type(v) is int for v in value)
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool) or not whole:
            raise ConfigurationError(f"{where} {key}={value!r:.60} is no {kinds[key].__name__}")
    return table
