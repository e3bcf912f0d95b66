"""The interface of all solvers, which learn a drawn task from questions; the class of a name; how they are trained."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from adelic.data.drawn import Answers, DrawnTask, Operands
from adelic.data.protocol import Progress as Tick
from adelic.errors import ConfigurationError
from adelic.training.network.steps import take_steps
from adelic.training.recipes import cosine
from adelic.training.solver_names import SOLVER_MODULES, check_solver

_CLIP = 1.0
_TICKS = 100


class Solver(ABC):
    """A number representation and a network, which learn to answer questions: rows of operands.

    A class needs no arguments to be built. A solver is built, fitted and asked in one process, on one core.

    >>> class Constant(Solver):
    ...     def fit(self, problem, operands, answers, *, seed, steps, tick=None):
    ...         self.said = answers[0]
    ...     def answer(self, operands):
    ...         return np.full(len(operands), self.said, dtype=object)
    ...     n_parameters = 1
    >>> import numpy as np
    >>> from adelic.data import drawn_task
    >>> solver, comparison = Constant(), drawn_task("comparison")
    >>> solver.fit(comparison, *comparison.sample(10, np.random.default_rng(0)), seed=0, steps=1)
    >>> solver.answer(np.array([[1, 2], [4, 3]])).tolist(), solver.n_parameters, solver.obstacle(comparison)
    ([1, 1], 1, None)
    """

    @classmethod
    def obstacle(cls, problem: DrawnTask) -> str | None:
        """Return why this representation cannot express a problem's operands or answers; None where it can.

        The table then has "—" and this reason, and nothing is run.

        >>> from adelic.data import drawn_task
        >>> Solver.obstacle(drawn_task("addition")) is None
        True
        """
        return None

    @abstractmethod
    def fit(
        self,
        problem: DrawnTask,
        operands: Operands,
        answers: Answers,
        *,
        seed: int,
        steps: int,
        tick: Tick | None = None,
    ) -> None:
        """Learn from examples.

        Args:
            problem: what is learned: bounds of its numbers, whether they are integers. Its `solve` is not to be called.
            operands: (n, arity), int64 or objects of Fraction.
            answers: (n,), objects of int or Fraction.
            seed: of initialisation and batches.
            steps: how many steps of training.
            tick: called with (steps done, steps, text) now and then.
        """

    @abstractmethod
    def answer(self, operands: Operands) -> Answers:
        """Return an int or a Fraction for each row of operands (n, arity), or None where it finds no answer."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Return how many numbers are trained."""


class BothOrders(Solver):
    """What makes a solver learn from each example in both orders, where their order makes no difference.

    It stands before the solver among the bases of a class: `class Mine(BothOrders, MySolver)`.

    >>> from adelic.data import drawn_task
    >>> BothOrders.obstacle(drawn_task("subtraction"))
    'the order of its operands makes a difference, or they are not two'
    """

    @classmethod
    def obstacle(cls, problem: DrawnTask) -> str | None:
        """Return why there are not two operands in any order, else what the solver behind says."""
        if problem.arity != 2 or not problem.commutative:
            return "the order of its operands makes a difference, or they are not two"
        return super().obstacle(problem)

    def fit(self, problem: DrawnTask, operands: Operands, answers: Answers, **how: Any) -> None:
        """Learn from the examples, and behind them from each with its operands exchanged."""
        twice = np.concatenate([operands, operands[:, ::-1]]), np.concatenate([answers, answers])
        super().fit(problem, *twice, **how)  # type: ignore[safe-super]  # of the other base


def solver_class(name: str) -> type[Solver]:
    """Return the class of a solver.

    Args:
        name: one of `SOLVER_MODULES`, or "package.module:Class" for a solver of your own.

    Raises:
        UnknownNameError: the solver is unknown.
        ConfigurationError: the module cannot be imported, or the class is not a solver.

    >>> solver_class("json:JSONDecoder")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: JSONDecoder in json is not a subclass of adelic.training.solvers.Solver
    """
    check_solver(name)
    own_module, _, class_name = name.partition(":")
    module_name = SOLVER_MODULES.get(name, own_module)
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:  # ValueError: an empty name
        raise ConfigurationError(f"the solver {name!r} cannot be imported: {error}") from None
    found: Any = getattr(module, class_name, None) if class_name else module.SOLVERS.get(name)
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise ConfigurationError(
            f"{class_name or repr(name)} in {module_name} is not a subclass of adelic.training.solvers.Solver"
        )
    return found


def rate_at(step: int, steps: int, *, peak: float, warm_up: int) -> float:
    """Return the learning rate of a step: it rises over the first `warm_up` steps, and falls to 0 as a cosine.

    >>> [round(1e5 * rate_at(step, 8, peak=1e-3, warm_up=1)) for step in range(8)]
    [100, 96, 85, 69, 50, 31, 15, 4]
    """
    return peak * min((step + 1) / warm_up, cosine(step, steps))


def descend(
    loss: Callable[[int], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    steps: int,
    tick: Tick | None = None,
    *,
    peak: float,
    warm_up: int,
    others: Sequence[torch.optim.Optimizer] = (),
) -> None:
    """Train in steps, with gradients of norm 1 at most.

    Args:
        loss: from the number of a step to the loss of its batch.
        optimizer: of what is trained, in one group.
        steps: how many there are.
        tick: called with (steps done, steps, text) about a hundred times.
        peak: the greatest learning rate, see `rate_at`.
        warm_up: steps over which it is reached.
        others: see `take_steps`.
    """

    def backward(step: int) -> torch.Tensor:
        value = loss(step)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    def after(step: int, value: torch.Tensor) -> None:
        if tick and (step + 1) % max(1, steps // _TICKS) == 0:
            tick(step + 1, steps, f"loss {value.item():.3g}")

    def rate(step: int) -> float:
        return rate_at(step, steps, peak=peak, warm_up=warm_up)

    take_steps(range(steps), backward, optimizer, rate, after, others=others, greatest_norm=_CLIP)
