"""Recipes: how a network is built and trained, whatever its embedding."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from adelic.errors import ConfigurationError, StorageError, UnknownNameError
from adelic.storage.files import read_bytes
from adelic.storage.options import options
from adelic.storage.records import DamagedTextError, parse_toml
from adelic_lab.config.names import check_name
from adelic_lab.config.options import Described, check_table, packaged, setting

SEQUENCE = "sequence"
"""The default body."""
TABLE = "table"
"""The default recipe of a table."""
_POSITIONAL = ("embedding", "learned")


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return the packaged recipes.toml, a recipe with what it takes from the one that it is `like`."""
    tables = packaged("config/recipes.toml")
    for name, table in tables.items():
        tables[name] = {k: v for k, v in tables.get(table.pop("like", ""), {}).items() if k != "rows"} | table
    return tables


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Described):
    """How a network is built and trained, whatever its embedding.

    With `symmetries`, each draw of a training example takes one of its equivalent images. `schedule` "cosine" is
    CosineAnnealingLR with T_max = epochs. An example of a class of n_i examples is drawn with weight
    n_i^(−sampling_power), 1/√n_i in the paper; examples with several targets, or a number, have equal weights. If
    validation has few examples, the best of many epochs (`checkpoint` "best") may be an early one by chance. A
    place-wise model has the same n_layers and dropout; its other sizes are chosen for about the same number of
    parameters. With `compute` "bfloat16", the factors of matrix products, and the values between two products, are
    rounded (on the CPU not in the bodies graph and mlp). Weights, their gradients, optimizer, residual branches, norms,
    softmax and loss are always float32.

    Attributes:
        name: How to train: {names}, or a file that `adelic tune` wrote, as recipes/mine.toml.  [default: paper for the
            paper's datasets, fresh for a drawn task, table for a table, else compact]
        learning_rate: Highest learning rate of the optimizer (Adam).
        batch_size: Number of examples in each training step.
        warmup_steps: Number of steps at the start over which the learning rate rises from 0.
        norm: Position of the layer norms: post (after each residual sum, as in the recipe paper) or pre (before each
            sublayer).
        dropout: Share of the activations that dropout sets to 0 in training.
        epochs: Number of epochs; each draws as many examples as the training split has.
        schedule: Schedule of the learning rate from epoch to epoch: cosine (falls towards 0) or constant, with which
            more --epochs continue a finished run in its --run-dir.
        sampling_power: How strongly rare classes are favoured: each example of a class of n is drawn with weight 1/n to
            this power (0: all examples alike, 1: all classes alike).
        max_rows: Train on at most this number of examples, chosen at random.
        passes: Of a drawn task, how often each question is trained on; the epochs share them all.
        symmetries: Also train on the images of examples under the task's symmetries; needs --split orbits.
        patience: Stop after this number of epochs that are no better on validation by a thousandth.
        trees: On a table, also fit boosted trees on digits (--model digit-trees), and say which is better.
        checkpoint: Epoch whose weights are tested: best (with the best validation accuracy) or last.
        positional: Positional encoding: embedding (fixed, the embedding's own) or learned (trained vectors).
        initial_std: Standard deviation of the first vectors of [CLS], of learned positions and of the embedding's
            tokens (GPT-2: 0.02).
        pooling: States that the network's head reads: cls (of the token [CLS], as in the paper) or tokens (all).
        view: Another way to write examples, as heights for lattice paths; `adelic data info TASK` lists them.
        body: Body of the network: sequence (a Transformer, one token per number), graph (one token per vertex, for
            n × n matrices) or mlp (all numbers side by side, without attention).
        d_model: Number of coordinates of each token's vector.
        n_layers: Number of layers of the encoder.
        n_heads: Number of attention heads in each layer.
        d_feedforward: Width of the hidden layer in each feed-forward block.
        compute: Number format in matrix products: float32, or bfloat16 (less exact, and faster if the processor has
            instructions for it; otherwise a recipe's own bfloat16 becomes float32).

    Raises:
        ConfigurationError, UnknownNameError: a value makes no sense.
    """

    learning_rate: float = setting(positive=True, bounds=(1e-5, 1e-2))
    batch_size: int = setting(2048, least=1, greatest=10**9, tried=(32, 64, 128, 256, 512, 1024, 2048))
    warmup_steps: int = setting(0, least=0, greatest=10**9, tried=(0, 10, 30, 100, 300))
    norm: str = setting("post", choices=("post", "pre"), tried=("post", "pre"))
    dropout: float = setting(0.1, least=0, below=1, tried=(0.0, 0.05, 0.1, 0.2, 0.3))
    epochs: int = setting(least=1, greatest=1_000_000, tried=(0.25, 0.5, 1.0), starred=True, note="of --epochs")
    schedule: str = setting("cosine", choices=("cosine", "constant"), tried=("cosine", "constant"), starred=True)
    # Beyond the bounds, some classes' weights vanish next to others.
    sampling_power: float = setting(0.5, least=-10, greatest=10, tried=(0.0, 0.25, 0.5, 0.75, 1.0), starred=True)
    max_rows: int | None = setting(None, least=1, greatest=10**9)
    passes: int = setting(1, least=1, greatest=10**6, unwritten=1)
    symmetries: bool = setting(False, tried=(False, True), starred=True, unwritten=False)
    checkpoint: str = setting("best", choices=("best", "last"), unwritten="best")
    patience: int | None = setting(None, least=1, greatest=1_000_000)
    trees: bool = setting(False, unwritten=False)
    positional: str = setting("embedding", choices=_POSITIONAL, tried=_POSITIONAL, starred=True, unwritten="embedding")
    initial_std: float = setting(1.0, positive=True, unwritten=1.0)
    pooling: str = setting("cls", choices=("cls", "tokens"), tried=("cls", "tokens"), starred=True, unwritten="cls")
    view: str | None = setting(None)
    body: str = setting(SEQUENCE, unwritten=SEQUENCE)
    d_model: int = setting(128, least=1, greatest=65_536)
    n_layers: int = setting(6, least=1, greatest=10_000)
    n_heads: int = setting(8, least=1, greatest=65_536)
    d_feedforward: int = setting(512, least=1, greatest=1_048_576)
    compute: str = setting("float32", choices=("float32", "bfloat16"))
    may_fall_back: bool = field(default=False, compare=False, repr=False)
    """Whether `compute` is only the recipe's own: float32 is used then where bfloat16 would be the slower one."""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        check_name("body", self.body)

    @property
    def n_encoder_parameters(self) -> int:
        """Return the number of parameters in the encoder's matrices; a model has few others.

        >>> TrainConfig(name="example", learning_rate=1.0, epochs=4).n_encoder_parameters
        1179648
        """
        # Queries, keys, values and output; then the two matrices of the feed-forward block.
        return self.n_layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_feedforward)

    @property
    def parts(self) -> tuple[int, str]:
        """Return how many parts a run has, and what they are called."""
        return self.epochs, "epochs"

    @property
    def in_labels(self) -> str:
        """Return how names of runs say the recipe: the name of a file is its path."""
        return f"-{Path(self.name).stem}"

    def learning_rate_at(self, epoch: int, step: int) -> float:
        """Return the learning rate of a step.

        Args:
            epoch: from 0.
            step: counted from 0 over the whole run.

        >>> recipe = TrainConfig(name="example", learning_rate=1.0, epochs=4)
        >>> [round(recipe.learning_rate_at(epoch, step=epoch), 3) for epoch in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        left = cosine(epoch, self.epochs) if self.schedule == "cosine" else 1.0
        # + 1: the first step has a rate above 0, and the one after the warm-up is the first with the full rate.
        return rate_at(step, peak=self.learning_rate, warm_up=self.warmup_steps + 1, left=left, multiplied=True)


def cosine(done: int, of: int) -> float:
    """Return the share of the learning rate that is left: from 1 to 0, as half a wave of the cosine.

    >>> [round(cosine(k, 4), 3) for k in range(5)]
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    return (1 + math.cos(math.pi * done / of)) / 2


def rate_at(step: int, *, peak: float, warm_up: int, left: float, multiplied: bool) -> float:
    """Return the learning rate of a step: it rises over the first `warm_up` steps, and falls as `left` says.

    `peak` is the highest rate, and `left` the share of it that the fall leaves, as of `cosine`. Rise and fall are
    `multiplied`, as recipes have it, or the lesser one counts, as solvers do.

    >>> [round(rate_at(step, peak=1.0, warm_up=2, left=cosine(step, 4), multiplied=False), 3) for step in range(4)]
    [0.5, 0.854, 0.5, 0.146]
    """
    risen = min(1.0, (step + 1) / warm_up)
    # Two formulas, which differ only while the rate rises: with one of them, results of the other would come out anew.
    return peak * risen * left if multiplied else peak * min(risen, left)


def recipe_names() -> tuple[str, ...]:
    """Return the names of the packaged recipes.

    >>> recipe_names()
    ('paper', 'quick', 'compact', 'natural', 'fresh', 'table')
    """
    return tuple(_tables())


def recipes_in_words() -> str:
    """Return the packaged recipes and what they are, for the help of a command.

    >>> recipes_in_words().split("), ")[1]
    'quick (ours, many small steps'
    """
    return ", ".join(f"{name} ({table['about']})" for name, table in _tables().items())


def default_recipe(row: str) -> str:
    """Return the default recipe of a dataset: "paper" for the paper's datasets, else "compact".

    >>> default_recipe("schubert-4"), default_recipe("kl-5"), default_recipe("mine")
    ('paper', 'compact', 'compact')
    """
    return "paper" if row in _tables()["paper"]["rows"] else "compact"


def load_recipe(name: str, row: str, **changes: Any) -> TrainConfig:
    """Return a recipe for a dataset.

    Args:
        name: a name of `recipe_names`, or the path of a file that `adelic tune` has written: recipes/mine.toml. The
            path is the recipe's name.
        row: the dataset, as "schubert-4"; packaged recipes have their own epochs and rates for the paper's.
        changes: fields to override; those that are None are left alone.

    Raises:
        UnknownNameError: the recipe is unknown.
        StorageError: the file does not exist.
        ConfigurationError: the recipe leaves a field open for this dataset, or a change makes no sense, or the file is
            damaged.

    >>> load_recipe("paper", "schubert-4").learning_rate
    1.7e-05
    >>> load_recipe("quick", "mheight-8", epochs=3).epochs
    3
    """
    return complete(name, row, stored(name, row)[0], {k: v for k, v in changes.items() if v is not None})


def complete(name: str, row: str, values: dict[str, Any], changes: dict[str, Any]) -> TrainConfig:
    """Return the recipe of a name with its values for a dataset, some of them changed.

    If one is missing, or makes no sense, it is a ConfigurationError.
    """
    values = {"may_fall_back": "compute" not in changes} | values | changes
    missing = [f for f in ("learning_rate", "epochs") if f not in values]
    if missing:
        flags = ", ".join("--" + field.replace("_", "-") for field in missing)
        raise ConfigurationError(f"the recipe {name!r} does not set {' or '.join(missing)} for {row}; pass {flags}")
    # A file has one name on all systems, since names of runs are made of it.
    return TrainConfig(name=PurePath(name).as_posix(), **values)


def stored(name: str, row: str) -> tuple[dict[str, Any], Any]:
    """Return two tables that a recipe stores for a dataset: the fields of `TrainConfig` that it sets, and embedding.

    The table of the embedding is not checked; it is None if the recipe lacks one, as packaged recipes do.

    >>> stored("quick", "schubert-4")[0]["epochs"], stored("quick", "schubert-4")[1]
    (30, None)
    """
    if name.endswith(".toml"):
        tables = read_recipe_file(name)
        return check_table(TrainConfig, tables.get("recipe"), f"{name} [recipe]"), tables.get("embedding")
    if name not in _tables():
        raise UnknownNameError.of("recipe", name, recipe_names())
    common = {key: value for key, value in _tables()[name].items() if key not in ("about", "rows")}
    return common | _tables()[name].get("rows", {}).get(row, {}), None


def changed_words(settings: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return how the command line gives each setting of a recipe that is unlike those of a table, by its field.

    What one of the two does not name has its default there.

    >>> changed_words({"epochs": 5, "dropout": 0.1}, {"epochs": 30, "dropout": 0.1})
    {'epochs': ['--epochs', '5']}
    """
    values = {field: settings.get(field, described.default) for field, described in options(TrainConfig).items()}
    return {
        field: described.words(values[field])
        for field, described in options(TrainConfig).items()
        if values[field] != table.get(field, described.default)
    }


def read_recipe_file(path: str | Path) -> dict[str, Any]:
    """Return the tables of a recipe's file.

    A StorageError means that it cannot be read, a ConfigurationError that it is not TOML.
    """
    content = read_bytes(Path(path), remedy="name a recipe, or a file that `adelic tune` has written", streams=True)
    if content is None:
        raise StorageError(
            f"there is no recipe {path}; `adelic tune` writes one; packaged recipes: {', '.join(recipe_names())}"
        )
    try:
        return parse_toml(content)
    except DamagedTextError as error:
        raise ConfigurationError(f"{path} is not a recipe: {error}") from None
