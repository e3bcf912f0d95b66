"""Models that are not networks of a recipe: those outside the Transformer, and solvers; and how each is trained.

Nothing here needs torch, or imports a model: names are checked where an experiment joins them with data.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from adelic.data.registry import task as find_task
from adelic.data.sources import DrawnData, TaskData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic_lab.config.names import parse_solver
from adelic_lab.config.options import Described, Setting, packaged, setting

_FLOAT64 = int(sys.float_info.max)


@dataclass(frozen=True, kw_only=True)
class Model(Described):
    """The description of a model: its name, its options, and what an experiment has to know of its kind.

    Attributes:
        module: what fits it, see `adelic_lab.models`.
        trained_by: the class of its recipes.
        flag: by which a command line names it.
    """

    module: ClassVar[str]
    trained_by: ClassVar[type]
    flag: ClassVar[str]

    @property
    def label(self) -> str:
        """Return its name as a part of file names."""
        return self.name

    @property
    def largest_float(self) -> int | None:
        """Return the largest number that it can read as a float; None if it reads none as a float."""
        return None

    def check(self, experiment: Any) -> Any:
        """Return the recipe of an `Experiment`, which imports this, without what makes the model no difference.

        A ConfigurationError means that the model is not made for the data, or the recipe not for both.
        """
        raise NotImplementedError

    def check_numbers(self, numbers: Sequence[int | Fraction], row: str) -> None:
        """Raise ConfigurationError where it is not made for some numbers; `row` is their data's name."""

    def check_classes(self, row: str, has_one_class_a_row: bool | None) -> None:
        """Raise ConfigurationError if it cannot handle several targets or a number per example; None if unknown."""

    def check_digits(self, numbers: Sequence[int | Fraction], place: Callable[[Fraction], str]) -> None:
        """Raise PrecisionError where a number has more digits after the point than it reads; `place` names one."""

    def searched(self) -> dict[str, Any]:
        """Return what a recipe's table says besides, of a model whose options are searched in the run itself."""
        return {}

    def work(self, experiment: Any) -> float:
        """Return about how many multiplications the forward passes of a whole run take, to order runs by."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ClassicalModel:
    """What a model outside the Transformer is; `adelic_lab.models.classical` fits it.

    Attributes:
        title: what tables call it.
        uses_images: whether it makes a difference to train on the images of examples.
        reads_numbers: whether the target may be a number.
        space: what is searched: name of an option -> its values.

    >>> str(CLASSICAL_MODELS["logistic"].space["inputs"])
    'standardized, one-hot'
    """

    title: str
    uses_images: bool = True
    reads_numbers: bool = False
    space: Mapping[str, Setting] = field(default_factory=dict)


def _setting(about: dict[str, Any]) -> Setting:
    """Return what is searched, as a TOML file describes it, whose lists are tuples here."""
    given: dict[str, Any] = {key: tuple(said) if isinstance(said, list) else said for key, said in about.items()}
    return Setting(**given)


CLASSICAL_MODELS = {
    name: ClassicalModel(**about | {"space": {key: _setting(each) for key, each in about.get("space", {}).items()}})
    for name, about in packaged("config/classical.toml").items()
}
"""The models outside the Transformer, by name."""
TRIALS = "trials.jsonl"
"""The file, in the folder of a search, that has the trials of such a model, one per line."""


@dataclass(frozen=True, kw_only=True)
class Classical(Model):
    """A model outside the Transformer.

    Attributes:
        name: Model outside the Transformer to train: {names}. Of a recipe's options, only --max-rows and --symmetries
            go with it.

    Raises:
        UnknownNameError: it is none.

    >>> Classical(name="trees").label
    'trees'
    """

    module, flag = "adelic_lab.models.classical", "--model"

    def __post_init__(self) -> None:
        """Check the name, without importing the model."""
        if self.name not in CLASSICAL_MODELS:
            raise UnknownNameError.of("model", self.name, CLASSICAL_MODELS)

    @property
    def largest_float(self) -> int | None:
        """Return the largest float of 64 bits; look-up reads none."""
        return None if self.name == "lookup" else _FLOAT64

    def check(self, experiment: Any) -> "RandomSearch":
        """Return the search, with one trial of a model without options; the data have to be examples of one class."""
        if isinstance(experiment.data, DrawnData):
            raise ConfigurationError(f"{experiment.row} is a drawn task; {self.name} does not learn from questions")
        self.check_classes(experiment.row, experiment.data.has_one_class_a_row)
        kind = CLASSICAL_MODELS[self.name]
        plain: dict[str, Any] = {} if kind.space else {"trials": 1}
        plain |= {} if kind.uses_images else {"symmetries": False}
        search: RandomSearch = experiment.search
        return replace(search, **plain)

    def check_classes(self, row: str, has_one_class_a_row: bool | None) -> None:
        """Raise ConfigurationError if examples have several targets, or a number; None is not known yet."""
        if has_one_class_a_row is False and not CLASSICAL_MODELS[self.name].reads_numbers:
            raise ConfigurationError(
                f"{row} has several targets or a number per example; {self.name} is for one class per example: "
                "leave out --model, or on a table take --model digit-trees, or the values for classes (answer=classes)"
            )

    def searched(self) -> dict[str, Any]:
        """Return how options are drawn, and from which values."""
        space = CLASSICAL_MODELS[self.name].space
        # Searches whose configuration lacks the sampler drew otherwise: they are other searches.
        sampler = {"sampler": "optuna.samplers.RandomSampler"} if space else {}
        return sampler | {"searched": {name: str(values) for name, values in space.items()}}

    def work(self, experiment: Any) -> float:
        """Return that of a linear model's pass for each fit: searches come first."""
        data, rows = rows_of(experiment)
        fits: int = experiment.search.trials + 1
        return fits * rows * (find_task(data.task).length(data.n, data.edition) + 1)


@dataclass(frozen=True, kw_only=True)
class RandomSearch(Described):
    """How the options of a model outside the Transformer are chosen: by random draws, judged by validation.

    Attributes:
        trials: Number of trials of a search, each with other values of the options: of `adelic tune`, by all workers
            together, or random draws for a model outside the Transformer.
        max_rows: Train on at most this number of examples, chosen at random.
        symmetries: Also train on the images of examples under the task's symmetries.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> RandomSearch(trials=3).as_dict()
    {'name': 'search', 'trials': 3}
    """

    trials: int = setting(20, least=1, greatest=1_000_000)
    max_rows: int | None = setting(None, least=1, greatest=10**9)
    symmetries: bool = setting(False, unwritten=False)

    name: str = "search"
    view, in_labels = None, "-search"

    @property
    def parts(self) -> tuple[int, str]:
        """Return how many parts a run has, and what they are called: the trials, and the last fit."""
        return self.trials + 1, "fits"


@dataclass(frozen=True, kw_only=True)
class SolverConfig(Model):
    """A solver: a model that learns a drawn task from questions, and answers with exact numbers.

    Attributes:
        name: Model that learns a drawn task and answers with exact numbers, instead of a network with an --embedding:
            {names}. docs/arithmetic-details.md describes them. Options follow a name, as in fone:d_model=256; your own
            model is package.module:Class.  [default: adelic-placewise]

    Raises:
        UnknownNameError: it is neither.

    >>> SolverConfig(name="my_package.solvers:Mine").label
    'my_package-solvers-Mine'
    """

    module, flag = "adelic_lab.models.solvers.fitting", "--solver"

    def __post_init__(self) -> None:
        """Check the name, without importing the solver."""
        parse_solver(self.name)

    @property
    def label(self) -> str:
        """Return the name as a part of file names."""
        return re.sub(r"[^\w-]+", "-", self.name)

    def check(self, experiment: Any) -> "Steps":
        """Return the steps; the data have to be questions."""
        if not isinstance(experiment.data, DrawnData):
            raise ConfigurationError(f"{experiment.row} has stored examples, which {self.name} does not learn from")
        steps: Steps = experiment.steps
        return steps

    def work(self, experiment: Any) -> float:
        """Return the number of steps."""
        return float(experiment.steps.steps)


@dataclass(frozen=True, kw_only=True)
class Steps(Described):
    """The recipe of a solver: for how many steps it is trained, and how fast; the solver decides everything else.

    Attributes:
        steps: Number of steps that a solver is trained for.
        learning_rate: For a solver, the highest learning rate; each solver has its own default.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> Steps(steps=800).as_dict()
    {'name': 'steps', 'steps': 800}
    """

    steps: int = setting(500, least=1, greatest=10**9, tried=(0.25, 0.5, 1.0), starred=True, note="of --steps")
    learning_rate: float | None = setting(None, positive=True, bounds=(1e-4, 1e-1))

    name: str = "steps"
    symmetries = False
    max_rows = view = None
    parts, in_labels = (1, "fits"), ""


Classical.trained_by, SolverConfig.trained_by = RandomSearch, Steps


def rows_of(experiment: Any) -> tuple[TaskData, int]:
    """Return the task that an experiment is on, and about how many examples it trains on."""
    data = experiment.data
    assert isinstance(data, TaskData), "matrices are of tasks"
    rows = find_task(data.task).estimate(data.n, data.edition).rows
    return data, min(rows, experiment.recipe.max_rows or rows)
