"""Searches: the options of a run that one may change, by name, with the values of each; and what defines a search."""

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers.describe import shortened
from adelic.numbers.features import PLACE_FEATURES
from adelic.numbers.window import DEFAULT_PRIMES
from adelic.storage.files import file_name
from adelic.storage.options import check_fields, options
from adelic_lab.config.embedding import EmbeddingConfig, check_owner
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import Model, SolverConfig, Steps
from adelic_lab.config.options import Setting, setting
from adelic_lab.config.recipes import TrainConfig

Report = Callable[[int, float, dict[str, Any]], None]
"""Takes an epoch, the best value so far, and the figures of a trial; raises if the trial is to be pruned."""
Between = Callable[[], None]
"""Is called between the steps of a trial; raises if a signal asked to stop."""
DIMENSIONS: dict[str, Setting] = {
    described.dashed: described
    for kind in (TrainConfig, EmbeddingConfig)
    for described in options(kind).values()
    if described.tried or described.bounds
}
"""All dimensions by name: of the recipe, which all embeddings share, then those that some embeddings have.

The architecture is not among them: the table compares embeddings in one and the same encoder.
"""
OF_SOLVERS: dict[str, Setting] = {described.dashed: described for described in options(Steps).values()}
"""Those of solvers, which have no others."""


def dimensions_of(model: Model) -> Mapping[str, Setting]:
    """Return the dimensions of a network, or of a solver, by name.

    >>> list(dimensions_of(SolverConfig(name="fone")))
    ['steps', 'learning-rate']
    """
    return OF_SOLVERS if isinstance(model, SolverConfig) else DIMENSIONS


def dimensions_table() -> str:
    """Return the dimensions and their values as text, a line each; a star marks those that have to be named.

    Those of solvers are the last.

    >>> print(dimensions_table().splitlines()[3])
    norm              post, pre
    """
    lines = []
    for name, dimension in [*DIMENSIONS.items(), *OF_SOLVERS.items()]:
        owners = ("solvers",) if dimension is OF_SOLVERS.get(name) else dimension.of
        whose = f" ({', '.join(owners)})" if owners else ""
        lines.append(f"{name + (' *' if dimension.starred else ''):16}  {dimension}{whose}")
    return "\n".join(lines)


def default_search(model: Model, *, fixed: Collection[str] = ()) -> tuple[str, ...]:
    """Return the dimensions that are searched for an embedding or a solver by default, restricted to what it can take.

    Args:
        model: the embedding, or the solver.
        fixed: names of dimensions whose value the user has given.

    >>> default_search(EmbeddingConfig.of("learned"))
    ('learning-rate', 'batch-size', 'warmup-steps', 'norm', 'dropout')
    >>> default_search(EmbeddingConfig.of("adelic"), fixed=["norm"])[4:]
    ('features', 'projection', 'primes', 'precision')
    >>> default_search(EmbeddingConfig.of("fone"))[5:], default_search(EmbeddingConfig.of("periodic"))[5:]
    (('bases', 'standardize'), ('sigma',))
    >>> default_search(EmbeddingConfig.of("adelic", places="late"))[5:]
    ('features=characters:one-hot-digits:digits', 'primes', 'precision')
    """
    known = dimensions_of(model)
    if isinstance(model, EmbeddingConfig) and isinstance(model.precision, Mapping):  # which names its primes
        fixed = {*fixed, "primes", "precision"}
    names = [name for name, d in known.items() if not d.starred and model.name in (d.of or (model.name,))]
    chosen = [name for name in names if name not in fixed]
    if not isinstance(model, EmbeddingConfig) or model.places is None:
        return tuple(chosen)
    tried = [kind for kind in PLACE_FEATURES if kind in DIMENSIONS["features"].tried]
    parts = {"features": f"features={':'.join(tried)}"}
    return tuple(parts.get(name, name) for name in chosen if name != "projection")


def parse_dimension(text: str, known: Mapping[str, Setting] = DIMENSIONS) -> tuple[str, Setting]:
    """Return a dimension's name, and the dimension, restricted to the part after "=" if there is one.

    A part of a range is a narrower range, given by two values, or three and more values, which become the choices.

    Args:
        text: as learning-rate=1e-4:1e-3.
        known: all dimensions by name, see `dimensions_of`.

    Raises:
        UnknownNameError: the dimension is unknown.
        ConfigurationError: the text after "=" is not a part of it.

    >>> str(parse_dimension("learning-rate=3e-4:3e-3")[1]), str(parse_dimension("batch-size=32:64")[1])
    ('0.0003 to 0.003', '32, 64')
    >>> str(parse_dimension("sigma=0.01:0.1:1")[1]), str(parse_dimension("steps=0.5:1", OF_SOLVERS)[1])
    ('0.01, 0.1, 1.0', '0.5, 1.0 of --steps')
    """
    name, is_part, part = text.partition("=")
    if name not in known:
        raise UnknownNameError.of("dimension", name, known)
    dimension = known[name]
    if not is_part:
        return name, dimension
    values = part.split(":")
    try:
        if dimension.bounds:
            numbers = tuple(map(float, values))
            low, high = dimension.bounds
            if len(numbers) > 1 and low <= numbers[0] and numbers[-1] <= high and list(numbers) == sorted({*numbers}):
                part_of = {"bounds": numbers} if len(numbers) == 2 else {"bounds": None, "tried": numbers}
                return name, replace(dimension, **part_of)
        else:
            listed = (*dimension.tried, *dimension.choices)
            named = {f"{choice:g}": choice for choice in listed if isinstance(choice, float)}  # 1 is 1.0, too
            named |= {str(choice).lower(): choice for choice in listed}
            return name, replace(dimension, tried=tuple(dict.fromkeys(named[value.lower()] for value in values)))
    except (ValueError, KeyError):
        pass  # told below, as values out of bounds are
    example = ":".join(map(str, dimension.bounds or dimension.tried[:2]))
    raise ConfigurationError(
        f"--search {shortened(text)} is not a part of {name} ({dimension}); write --search {name}={example}, or {name} "
        "alone"
    )


def check_search(search: Collection[str], model: Model, *, fixed: Collection[str] = ()) -> tuple[str, ...]:
    """Return dimensions, or parts of them, each once and in the order of `dimensions_of`.

    Raises:
        UnknownNameError: a dimension is unknown.
        ConfigurationError: no dimension is named, or one is named twice, belongs to another embedding, has a value that
            is given, or lacks the part that is named.

    >>> check_search(["norm", "learning-rate=1e-4:1e-3", "norm"], EmbeddingConfig.of("learned"))
    ('learning-rate=1e-4:1e-3', 'norm')
    """
    texts: dict[str, str] = {}
    known = dimensions_of(model)
    for text in search:
        name, dimension = parse_dimension(text, known)
        if texts.setdefault(name, text) != text:
            raise ConfigurationError(f"{name!r} is searched twice, as {texts[name]!r} and {text!r}; name it once")
        if dimension.of:
            check_owner(f"the dimension {name!r}", dimension.name, model.name)
        if name in fixed:
            raise ConfigurationError(f"{name!r} is both given and searched; drop --{name}, or leave it out of --search")
    if not search:
        raise ConfigurationError(f"there is nothing to search; dimensions: {', '.join(known)}")
    return tuple(texts[name] for name in known if name in texts)


def apply(config: Experiment, values: Mapping[str, Any]) -> Experiment:
    """Return a run with the values of some dimensions, the rest as it is.

    Raises:
        AdelicError: the values do not go together.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-4")
    >>> config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> changed = apply(config, {"norm": "post", "epochs": 0.5, "primes": 3})
    >>> changed.recipe.norm, changed.recipe.epochs, changed.model.primes
    ('post', 15, (2, 3, 5))
    """
    recipe: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, value in values.items():
        dimension = dimensions_of(config.model)[name]
        chosen = dimension.drawn(value)
        if name in ("epochs", "steps"):
            chosen = max(1, round(value * getattr(config.recipe, name)))
        elif name == "primes":
            chosen = DEFAULT_PRIMES[:value]
        (own if dimension.of else recipe)[dimension.name] = chosen
    model = replace(config.embedding, **own) if own else config.model
    return replace(config, recipe=replace(config.recipe, **recipe), model=model)


def names_of(fields: Collection[str]) -> tuple[str, ...]:
    """Return the dimensions that search some fields.

    >>> names_of({"learning_rate", "fractional_digits"})
    ('learning-rate',)
    """
    return tuple(name for name, dimension in DIMENSIONS.items() if dimension.name in fields)


_UNUSED = {"epochs", "sampling-power"}
"""Dimensions that make no difference where questions are drawn, or are refused there."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """The definition of a study: a run, and the dimensions of it that are varied.

    Attributes:
        config: the run whose dimensions are varied; its epochs, or a solver's steps, are the budget of every trial, its
            seed that of every training and of the proposals.
        dimensions: names of `dimensions_of` its model, or parts of them, as "batch-size=32:64"; the others keep their
            values.
        pruning: When poor trials stop early: median (below the median of the former ones at the same epoch),
            hyperband or none.

    Raises:
        UnknownNameError: a dimension or the pruning is unknown.
        ConfigurationError: a dimension belongs to another embedding, or makes no sense on these data, or no dimension
            is given; or images of examples are among what is searched, and the split does not allow them.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-4", epochs=10)
    >>> config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("learned"), recipe=recipe)
    >>> Search(config=config, dimensions=("learning-rate", "norm")).name
    'schubert-4-learned-quick-seed0-...'
    """

    config: Experiment
    dimensions: tuple[str, ...]
    pruning: str | None = setting("median", choices=("median", "hyperband"), none="none")

    def __post_init__(self) -> None:
        """Check the names."""
        model = self.config.model
        object.__setattr__(self, "dimensions", check_search(self.dimensions, model))
        if isinstance(self.config.data, DrawnData) and (unused := _UNUSED & self.space.keys()):
            raise ConfigurationError(
                f"{min(unused)} is not searched on a drawn task, where each question is trained on as often as "
                "--passes says; leave it out of --search"
            )
        if isinstance(model, EmbeddingConfig) and isinstance(model.precision, Mapping) and "primes" in self.space:
            raise ConfigurationError(
                "primes are not searched where --precision names them, with digits for each; leave them out, or give "
                "one number for all"
            )
        check_fields(self)
        if self.tries_images:
            self.config.data.check_images()

    @property
    def tries_images(self) -> bool:
        """Return whether a trial may train on images of examples."""
        searched = self.space.get("symmetries")
        return any(searched.tried) if searched else self.config.recipe.symmetries

    @property
    def space(self) -> dict[str, Setting]:
        """Return what is searched, by name."""
        known = dimensions_of(self.config.model)
        return dict(parse_dimension(text, known) for text in self.dimensions)

    @property
    def pruning_word(self) -> str:
        """Return the pruning in files and command lines; no pruning is "none"."""
        return str(options(Search)["pruning"].words(self.pruning)[1])

    @property
    def name(self) -> str:
        """Return the name of the study, which no other search has: it ends in a digest of all that defines it."""
        everything = [
            self.config.as_dict(),
            {name: str(dimension) for name, dimension in self.space.items()},
            self.pruning_word,
        ]
        digest = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()[:8]
        config, model = self.config, self.config.model
        recipe = Path(config.recipe.name).stem
        name = model.name if config.is_network else model.label
        return file_name(f"{config.data.label}-{name}-{recipe}", f"-seed{config.seed}-{digest}")

    def command(self, trials: int) -> str:
        """Return the command line that repeats this search; if none can, a sentence that says so."""
        arguments = self.config.arguments(without=[d.name for d in self.space.values()])
        if arguments is None:
            return "adelic_lab.tune, with the configuration above"
        own = ["--search", ",".join(self.dimensions), "--pruning", self.pruning_word, "--trials", str(trials)]
        return shlex.join(["adelic", "tune", *arguments, *own])
