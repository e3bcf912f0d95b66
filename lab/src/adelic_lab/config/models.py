"""Models that are not networks of a recipe: those outside the Transformer, and solvers; and how each is trained.

Nothing here needs torch, or imports a model: names are checked where an experiment joins them with data.
"""

import re
from dataclasses import dataclass

from adelic.errors import UnknownNameError
from adelic_lab.config.options import Described, setting
from adelic_lab.config.solver_names import parse_solver

CLASSICAL_TITLES = {
    "majority": "majority class",
    "lookup": "look-up",
    "logistic": "logistic regression",
    "mlp": "MLP",
    "trees": "boosted trees",
}
"""What tables call the models outside the Transformer, by name."""


@dataclass(frozen=True, kw_only=True)
class Classical(Described):
    """A model outside the Transformer.

    Attributes:
        name: Model outside the Transformer to train: {names}. Of a recipe's options, only --max-rows and --symmetries
            go with it.

    Raises:
        UnknownNameError: it is none.

    >>> Classical(name="trees").label
    'trees'
    """

    def __post_init__(self) -> None:
        """Check the name, without importing the model."""
        if self.name not in CLASSICAL_TITLES:
            raise UnknownNameError.of("model", self.name, CLASSICAL_TITLES)

    @property
    def label(self) -> str:
        """Return the model's name."""
        return self.name


@dataclass(frozen=True, kw_only=True)
class RandomSearch(Described):
    """How the options of a model outside the Transformer are chosen: by random draws, judged by validation.

    Attributes:
        trials: Number of trials of a search, each with other values of the options: of `adelic tune`, by all workers
            together, or random draws for a model outside the Transformer.
        max_rows: Train on at most this number of rows, chosen at random.
        symmetries: Also train on the images of rows under the task's symmetries.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> RandomSearch(trials=3).as_dict()
    {'name': 'search', 'trials': 3}
    """

    trials: int = setting(20, least=1, greatest=1_000_000)
    max_rows: int | None = setting(None, least=1, greatest=10**9)
    symmetries: bool = setting(False, unwritten=False)

    name: str = "search"


@dataclass(frozen=True, kw_only=True)
class SolverConfig(Described):
    """A solver: a model that learns a drawn task from questions, and answers with exact numbers.

    Attributes:
        name: Model that learns a drawn task from questions and answers with exact numbers, instead of a network with an
            --embedding. {names}. A model of your own is package.module:Class; options stand behind a name, as in
            fone:d_model=256.  [default: adelic-placewise]

    Raises:
        UnknownNameError: it is neither.

    >>> SolverConfig(name="my_package.solvers:Mine").label
    'my_package-solvers-Mine'
    """

    def __post_init__(self) -> None:
        """Check the name, without importing the solver."""
        parse_solver(self.name)

    @property
    def label(self) -> str:
        """Return the name as a part of file names."""
        return re.sub(r"[^\w-]+", "-", self.name)


@dataclass(frozen=True, kw_only=True)
class Steps(Described):
    """The recipe of a solver: for how many steps it is trained, and how fast; the solver decides everything else.

    Attributes:
        steps: Number of steps that a solver is trained for.
        learning_rate: Of a solver, the highest learning rate; each solver has a default of its own.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> Steps(steps=800).as_dict()
    {'name': 'steps', 'steps': 800}
    """

    steps: int = setting(500, least=1, greatest=10**9, tried=(0.25, 0.5, 1.0), starred=True, note="of --steps")
    learning_rate: float | None = setting(None, positive=True, bounds=(1e-4, 1e-1))

    name: str = "steps"
    symmetries = False
    max_rows = None
