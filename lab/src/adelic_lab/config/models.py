"""Models that are not networks of a recipe: those outside the Transformer, and solvers; and how each is trained.

Nothing here needs torch, or imports a model: names are checked where an experiment joins them with data.
"""

import re
from dataclasses import dataclass
from typing import Any

from adelic.errors import UnknownNameError
from adelic.storage.options import check_fields, named, option, table_of
from adelic_lab.config.solver_names import DEFAULT_SOLVER, parse_solver, solvers_in_words

CLASSICAL_TITLES = {
    "majority": "majority class",
    "lookup": "look-up",
    "logistic": "logistic regression",
    "mlp": "MLP",
    "trees": "boosted trees",
}
"""What tables call the models outside the Transformer, by name."""


class _Table:
    """A model, or a recipe: a name, and options, which are checked."""

    name: str

    def __post_init__(self) -> None:
        """Check the values."""
        check_fields(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml."""
        return {"name": self.name, **table_of(self)}


@dataclass(frozen=True, kw_only=True)
class Classical(_Table):
    """A model outside the Transformer.

    Attributes:
        name: a name of `CLASSICAL_TITLES`.

    Raises:
        UnknownNameError: it is none.

    >>> Classical(name="trees").label
    'trees'
    """

    name: str = named(
        help=f"Model outside the Transformer to train: {', '.join(CLASSICAL_TITLES)}. Of a recipe's options, only "
        "--max-rows and --symmetries go with it."
    )

    def __post_init__(self) -> None:
        """Check the name, without importing the model."""
        if self.name not in CLASSICAL_TITLES:
            raise UnknownNameError.of("model", self.name, CLASSICAL_TITLES)

    @property
    def label(self) -> str:
        """Return the model's name."""
        return self.name


@dataclass(frozen=True, kw_only=True)
class RandomSearch(_Table):
    """How the options of a model outside the Transformer are chosen: by random draws, judged by validation.

    The attributes are options, and the `help` of each describes it.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> RandomSearch(trials=3).as_dict()
    {'name': 'search', 'trials': 3}
    """

    trials: int = option(
        20,
        help="Number of trials of a search, each with other values of the options: of `adelic tune`, by all workers "
        "together, or random draws for a model outside the Transformer.",
        least=1,
        greatest=1_000_000,
    )
    max_rows: int | None = option(
        None, help="Train on at most this number of rows, chosen at random.", least=1, greatest=10**9
    )
    symmetries: bool = option(
        False, help="Also train on the images of rows under the task's symmetries.", unwritten=False
    )

    name = "search"


@dataclass(frozen=True, kw_only=True)
class SolverConfig(_Table):
    """A solver: a model that learns a drawn task from questions, and answers with exact numbers.

    Attributes:
        name: a name of `adelic_lab.models.solvers.SOLVERS`, or "package.module:Class" of your own, and options behind
            it, as in "fone:d_model=256".

    Raises:
        UnknownNameError: it is neither.

    >>> SolverConfig(name="my_package.solvers:Mine").label
    'my_package-solvers-Mine'
    """

    name: str = named(
        help="Model that learns a drawn task from questions and answers with exact numbers, in place of a network with "
        f"an --embedding. {solvers_in_words()}. A model of your own is package.module:Class.  [default: "
        f"{DEFAULT_SOLVER}]",
    )

    def __post_init__(self) -> None:
        """Check the name, without importing the solver."""
        parse_solver(self.name)

    @property
    def label(self) -> str:
        """Return the name as a part of file names."""
        return re.sub(r"[^\w-]+", "-", self.name)


@dataclass(frozen=True, kw_only=True)
class Steps(_Table):
    """The recipe of a solver: for how many steps it is trained, and how fast; the solver decides everything else.

    The attributes are options, and the `help` of each describes it.

    Raises:
        ConfigurationError: a value makes no sense.

    >>> Steps(steps=800).as_dict()
    {'name': 'steps', 'steps': 800}
    """

    steps: int = option(
        500,
        help="Number of steps that a solver is trained for.",
        least=1,
        greatest=10**9,
        tried=(0.25, 0.5, 1.0),
        starred=True,
        note="of --steps",
    )
    learning_rate: float | None = option(
        None,
        help="Of a solver, the highest learning rate; each solver has a default of its own.",
        positive=True,
        bounds=(1e-4, 1e-1),
    )

    name = "steps"
    symmetries = False
    max_rows = None
