"""The interface of all solvers, which learn a drawn task from questions; the class of a name; how they are trained."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError
from adelic_lab.config.recipes import cosine, rate_at
from adelic_lab.config.solver_names import SOLVER_MODULES, check_solver
from adelic_lab.models.solvers.saving import Part, trainings
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.steps import take_steps

T = TypeVar("T")
_CLIP = 1.0
_TICKS = 100


class Solver(ABC):
    """A number representation and a network, which learn to answer questions: rows of operands.

    A class needs no arguments to be built. A solver is built, fitted and asked in one process, on one core.

    Attributes:
        learning_rate: the highest one of the training, which a user may change before `fit`; None where there is none.

    >>> class Constant(Solver):
    ...     def fit(self, problem, operands, answers, *, seed, steps, progress=None):
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

    learning_rate: float | None = None

    @classmethod
    def obstacle(cls, problem: SampledTask) -> str | None:
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
        problem: SampledTask,
        operands: Operands,
        answers: Answers,
        *,
        seed: int,
        steps: int,
        progress: Progress | None = None,
    ) -> None:
        """Learn from examples.

        Args:
            problem: what is learned: bounds of its numbers, whether they are integers. Its `solve` is not to be called.
            operands: (n, arity), int64 or objects of Fraction.
            answers: (n,), objects of int or Fraction.
            seed: of initialisation and batches.
            steps: how many steps of training.
            progress: called with (steps done, steps, text) now and then.
        """

    @abstractmethod
    def answer(self, operands: Operands) -> Answers:
        """Return an int or a Fraction for each row of operands (n, arity), or None; before `fit` it raises an error."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Return how many numbers are trained."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long a solver is trained, and from what its random numbers come.

    Attributes:
        seed, steps, progress: as of `Solver.fit`.
        learning_rate: the highest one; None for a solver that has none.
    """

    seed: int
    steps: int
    learning_rate: float | None = None
    progress: Progress | None = None

    @property
    def peak(self) -> float:
        """Return the highest learning rate, of a solver that has one."""
        assert self.learning_rate is not None
        return self.learning_rate

    def initialisation(self) -> AbstractContextManager[None]:
        """Return a context in which torch's numbers are those of initial weights."""
        return seeded(stream_seed(self.seed, "initialisation"))

    def sampler(self) -> torch.Generator:
        """Return the generator of batches."""
        return torch.Generator().manual_seed(stream_seed(self.seed, "sampler"))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Have torch's random numbers begin at a seed, and afterwards go on as if they had not."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


class CheckedSolver(Solver):
    """A solver that refuses what it cannot express, and too few examples; a subclass says in `learn` how it learns.

    Attributes:
        least_examples: how many it needs.
    """

    least_examples: ClassVar[int] = 1
    _network: nn.Module | None = None

    def fit(
        self,
        problem: SampledTask,
        operands: Operands,
        answers: Answers,
        *,
        seed: int,
        steps: int,
        progress: Progress | None = None,
    ) -> None:
        """Learn from examples."""
        if obstacle := self.obstacle(problem):
            raise ConfigurationError(f"{problem.name} cannot be learned: {obstacle}; use another solver")
        if len(operands) < self.least_examples:
            raise ConfigurationError(
                f"examples={len(operands)} leaves too few to learn {problem.name} from; give at least "
                f"{self.least_examples}"
            )
        self._problem = problem
        course = Schedule(seed=seed, steps=steps, learning_rate=self.learning_rate, progress=progress)
        self.learn(problem, operands, answers, course)

    @abstractmethod
    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, course: Schedule) -> None:
        """Learn from examples, which are enough."""

    @property
    def n_parameters(self) -> int:
        """Return how many numbers are trained; 0 before `fit`, and without a network."""
        return sum(p.numel() for p in self._network.parameters() if p.requires_grad) if self._network else 0


def learned(found: T | None) -> T:
    """Return what a solver has learned.

    If there is nothing, since it was not fitted, it is a ConfigurationError.
    """
    if found is None:
        raise ConfigurationError("nothing is learned yet; call fit first")
    return found


class BothOrders(Solver):
    """What makes a solver learn from each example in both orders, where their order makes no difference.

    It stands before the solver among the bases of a class: `class Mine(BothOrders, MySolver)`.

    >>> from adelic.data import drawn_task
    >>> BothOrders.obstacle(drawn_task("subtraction"))
    'the order of its operands makes a difference, or they are not two'
    """

    @classmethod
    def obstacle(cls, problem: SampledTask) -> str | None:
        """Return why there are not two operands in any order, else what the solver behind says."""
        if problem.arity != 2 or not problem.commutative:
            return "the order of its operands makes a difference, or they are not two"
        return super().obstacle(problem)

    def fit(self, problem: SampledTask, operands: Operands, answers: Answers, **how: Any) -> None:
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
    adelic.errors.ConfigurationError: JSONDecoder in json is not a subclass of adelic_lab.models.solvers.Solver
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
            f"{class_name or repr(name)} in {module_name} is not a subclass of adelic_lab.models.solvers.Solver"
        )
    return found


def descend(
    loss: Callable[[int], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    course: Schedule,
    *,
    warm_up: int,
    others: Sequence[torch.optim.Optimizer] = (),
    parts: Sequence[Part | torch.Generator] = (),
) -> None:
    """Train in steps, with gradients of norm 1 at most.

    The optimizer has one group, whose rate rises over `warm_up` steps; `others` are as for `take_steps`. `parts` are
    what the loss changes: the generator from which it draws, rows that it has noted. With these, a training that was
    saved (see `adelic_lab.models.solvers.saving`) goes on as if it had not been stopped. The course's progress is
    called about a hundred times.
    """
    kept = trainings()
    training = kept.begin((optimizer, *others), parts) if kept else None

    def backward(step: int) -> torch.Tensor:
        value = loss(step)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    def after(step: int, value: torch.Tensor) -> None:
        if training:
            training.took(step + 1, course.steps)
        if course.progress and (step + 1) % max(1, course.steps // _TICKS) == 0:
            course.progress(step + 1, course.steps, f"loss {value.item():.3g}")

    def rate(step: int) -> float:
        return rate_at(step, peak=course.peak, warm_up=warm_up, left=cosine(step, course.steps), multiplied=False)

    first = training.step if training else 0
    take_steps(range(first, course.steps), backward, optimizer, rate, after, others=others, greatest_norm=_CLIP)
