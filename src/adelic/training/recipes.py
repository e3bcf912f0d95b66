"""Recipes: everything that decides how a model is trained, equal for every embedding."""

import math
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from adelic.errors import ConfigurationError, UnknownNameError

_COUNTS = ("epochs", "batch_size", "warmup_steps", "d_model", "n_layers", "n_heads", "d_feedforward")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is built and trained, but for its embedding.

    Attributes:
        name: where the recipe comes from.
        learning_rate: Adam's, at its peak.
        epochs: each draws as many rows as the training split has.
        batch_size: rows a step.
        warmup_steps: steps over which the learning rate rises linearly from 0.
        schedule: "cosine" (once an epoch, T_max = epochs, as CosineAnnealingLR) or "constant".
        sampling_power: a row of a class of n_i rows is drawn with weight n_i^(−power); the paper's 1/√n_i is 0.5.
        norm: "post" or "pre" layer norm.
        d_model, n_layers, n_heads, d_feedforward, dropout: the encoder's.
        compute: "float32", or "bfloat16" for matrix products whose factors are rounded to bfloat16; weights, gradients,
            optimizer and all other steps are float32 in both.

    Raises:
        ConfigurationError: a value makes no sense.
    """

    name: str
    learning_rate: float
    epochs: int
    batch_size: int = 2048
    warmup_steps: int = 0
    schedule: str = "cosine"
    sampling_power: float = 0.5
    norm: str = "post"
    d_model: int = 128
    n_layers: int = 6
    n_heads: int = 8
    d_feedforward: int = 512
    dropout: float = 0.1
    compute: str = "float32"

    def __post_init__(self) -> None:
        """Check the values."""
        for name in _COUNTS:
            value, least = getattr(self, name), 0 if name == "warmup_steps" else 1
            if type(value) is not int or value < least:
                raise ConfigurationError(f"{name.replace('_', '-')}={value} must be a whole number from {least} on")
        if not 0 < self.learning_rate < math.inf:
            raise ConfigurationError(f"learning-rate={self.learning_rate} must be positive")
        if not math.isfinite(self.sampling_power):
            raise ConfigurationError(f"sampling-power={self.sampling_power} must be a finite number")
        if not 0 <= self.dropout < 1:
            raise ConfigurationError(f"dropout={self.dropout} must lie in [0, 1)")
        if self.schedule not in ("cosine", "constant"):
            raise ConfigurationError(f"schedule={self.schedule!r} is unknown; use 'cosine' or 'constant'")
        if self.norm not in ("post", "pre"):
            raise ConfigurationError(f"norm={self.norm!r} is unknown; use 'post' or 'pre'")
        if self.compute not in ("float32", "bfloat16"):
            raise ConfigurationError(f"compute={self.compute!r} is unknown; use 'float32' or 'bfloat16'")

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
        """Return the fields as a dictionary, for TOML."""
        return asdict(self)


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return the packaged recipes.toml."""
    return tomllib.loads(resources.files("adelic.training").joinpath("recipes.toml").read_text(encoding="utf-8"))


def recipe_names() -> tuple[str, ...]:
    """Return the names of the packaged recipes.

    >>> recipe_names()
    ('paper', 'quick')
    """
    return tuple(_tables())


def load_recipe(name: str, task: str, n: int, **changes: Any) -> Recipe:
    """Return a packaged recipe for a row.

    Args:
        name: a name of `recipe_names`.
        task: name of the task.
        n: its size.
        changes: fields to override; those that are None are left alone.

    Raises:
        UnknownNameError: there is no such recipe.
        ConfigurationError: the recipe leaves a field open for this row, or a change makes no sense.

    >>> load_recipe("paper", "schubert", 4).learning_rate
    1.7e-05
    >>> load_recipe("quick", "mheight", 8, epochs=3).epochs
    3
    """
    values = packaged_values(name, task, n) | {k: v for k, v in changes.items() if v is not None}
    missing = [f for f in ("learning_rate", "epochs") if f not in values]
    if missing:
        flags = ", ".join("--" + field.replace("_", "-") for field in missing)
        raise ConfigurationError(f"the recipe {name!r} gives no {' or '.join(missing)} for {task} n={n}; pass {flags}")
    return Recipe(name=name, **values)


def packaged_values(name: str, task: str, n: int) -> dict[str, Any]:
    """Return what recipes.toml says for a row: fields of `Recipe`, those that it leaves open missing."""
    if name not in _tables():
        raise UnknownNameError.of("recipe", name, recipe_names())
    common = dict(_tables()[name])
    rows = common.pop("rows", {})
    values: dict[str, Any] = common | rows.get(f"{task}-{n}", {})
    return values
