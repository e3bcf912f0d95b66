"""The interface of all solvers, which learn a drawn task from questions; the class of a name; how they are trained."""

import importlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError, UnknownNameError
from adelic_lab.config.names import SOLVERS, parse_solver
from adelic_lab.config.recipes import cosine, rate_at
from adelic_lab.models.solvers.saving import trainings
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.steps import take_step

T = TypeVar("T")
Orders = Literal["given", "both"]
"""Both: each example once more with its operands exchanged, where their order makes no difference."""
_CLIP = 1.0
_TICKS = 100


class Solver(ABC):
    """A number representation and a network, which learn to answer questions, each with some operands.

    A class says in `learn` how it learns, and needs no arguments to be built; those that it takes are options of its
    name, see `build_solver`. A solver is built, fitted and asked in one process, on one core.

    Attributes:
        learning_rate: the highest one of the training, which a user may change before `fit`; None if there is none.
        least_examples: how many it needs.
        orders: in which it learns from the two operands of an example.

    >>> class Constant(Solver):
    ...     def learn(self, problem, operands, answers, schedule):
    ...         self.said = answers[0]
    ...     def answer(self, operands):
    ...         return np.full(len(operands), self.said, dtype=object)
    >>> import numpy as np
    >>> from adelic.data import drawn_task
    >>> solver, comparison = Constant(), drawn_task("comparison")
    >>> solver.fit(comparison, *comparison.sample(10, np.random.default_rng(0)), seed=0, steps=1)
    >>> solver.answer(np.array([[1, 2], [4, 3]])).tolist(), solver.n_parameters, solver.obstacle(comparison)
    ([1, 1], 0, None)
    >>> build_solver("fone:orders=both").obstacle(drawn_task("subtraction"))
    'the order of its operands makes a difference, or they are not two'
    """

    learning_rate: float | None = None
    least_examples: ClassVar[int] = 1
    orders: Orders = "given"
    _network: nn.Module | None = None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why this representation cannot express a problem's operands or answers; None if it can.

        The table then has "—" and this reason, and nothing is run.
        """
        if self.orders == "both" and (problem.arity != 2 or not problem.commutative):
            return "the order of its operands makes a difference, or they are not two"
        return None

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
        """Learn from examples; refuse what cannot be expressed, and too few of them.

        Args:
            problem: what is learned: bounds of its numbers, whether they are integers. Its `solve` is not to be called.
            operands: (n, arity), int64 or objects of Fraction.
            answers: (n,), objects of int or Fraction.
            seed: of initialisation and batches.
            steps: how many steps of training.
            progress: called with (steps done, steps, text) now and then.
        """
        if obstacle := self.obstacle(problem):
            raise ConfigurationError(f"{problem.name} cannot be learned: {obstacle}; use another solver")
        if len(operands) < self.least_examples:
            few = f"examples={len(operands)} leaves too few to learn {problem.name} from"
            raise ConfigurationError(f"{few}; give at least {self.least_examples}")
        if self.orders == "both":
            operands, answers = np.concatenate([operands, operands[:, ::-1]]), np.concatenate([answers, answers])
        self._problem = problem
        schedule = Schedule(seed=seed, steps=steps, learning_rate=self.learning_rate, progress=progress)
        self.learn(problem, operands, answers, schedule)

    def learn(  # noqa: B027  (a solver of your own may take all upon itself in `fit`)
        self, problem: SampledTask, operands: Operands, answers: Answers, schedule: "Schedule"
    ) -> None:
        """Learn from examples, which are enough."""

    @abstractmethod
    def answer(self, operands: Operands) -> Answers:
        """Return an int, a Fraction or None for each question, operands (n, arity); an error before `fit`."""

    @property
    def n_parameters(self) -> int:
        """Return how many numbers are trained; 0 before `fit`, and without a network."""
        return sum(p.numel() for p in self._network.parameters() if p.requires_grad) if self._network else 0


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

    def generator(self, step: int) -> torch.Generator:
        """Return the generator of all that a step draws: a function of the seed and the step."""
        return torch.Generator().manual_seed(stream_seed(self.seed, "sampler", step))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Have torch's random numbers begin at a seed, and afterwards go on as if they had not."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def learned(found: T | None) -> T:
    """Return what a solver has learned.

    If there is nothing, since it was not fitted, it is a ConfigurationError.
    """
    if found is None:
        raise ConfigurationError("nothing is learned yet; call fit first")
    return found


def build_solver(name: str) -> Solver:
    """Return a solver that has learned nothing yet.

    Args:
        name: one of `SOLVERS`, or "package.module:Class" for your own solver, which may be in the working directory;
            options of the class follow, each after a colon, as in "fone:d_model=256".

    Raises:
        UnknownNameError: the solver, or an option, is unknown.
        ConfigurationError: the module cannot be imported, or the class is not a solver, or a value makes no sense.

    >>> build_solver("fone:d_model=256").d_model
    256
    >>> build_solver("fone:d_model=wide")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: fone:d_model=wide: expected `int`, got `str`
    >>> build_solver("json:JSONDecoder")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: JSONDecoder in json is not a subclass of adelic_lab.models.solvers.Solver
    """
    short, given = parse_solver(name)
    module_name, _, class_name = SOLVERS.get(short, short).partition(":")
    if short not in SOLVERS and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # as a command has only its own folder there
    try:
        found: Any = getattr(importlib.import_module(module_name), class_name, None)
    except ImportError as error:
        raise ConfigurationError(f"the solver {name!r} cannot be imported: {error}") from None
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise ConfigurationError(f"{class_name} in {module_name} is not a subclass of adelic_lab.models.solvers.Solver")
    types = get_type_hints(found.__init__, include_extras=True)
    options = {}
    for key, value in given.items():
        if key not in inspect.signature(found).parameters:
            known = inspect.signature(found).parameters
            raise UnknownNameError.of(f"option of {short}", key, known, listed="its options")
        if get_origin(types[key]) is Literal and value not in get_args(types[key]):
            raise UnknownNameError.of(f"{key} of {short}", value, get_args(types[key]), listed="values")
        try:
            options[key] = msgspec.convert(value, types[key], strict=False)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"{short}:{key}={value}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    solver: Solver = found(**options)
    return solver


def descend(
    network: nn.Module,
    loss: Callable[[int], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
    *,
    warm_up: int,
    others: Sequence[torch.optim.Optimizer] = (),
) -> None:
    """Train in steps, with gradients of norm 1 at most.

    The loss is a function of the step and of what the network holds, parameters and buffers, so that a training that
    was saved (see `adelic_lab.models.solvers.saving`) goes on as if it had not been stopped. The optimizer has one
    group, whose rate rises over `warm_up` steps; `others` are as for `take_step`. The schedule's progress is called
    about a hundred times.
    """
    training = trainings()
    optimizers = (optimizer, *others)
    for step in range(training.begin(network, optimizers), schedule.steps):
        for one in optimizers:
            one.zero_grad(set_to_none=True)
        value = loss(step)
        value.backward()  # type: ignore[no-untyped-call]
        left = cosine(step, schedule.steps)
        rate = rate_at(step, peak=schedule.peak, warm_up=warm_up, left=left, multiplied=False)
        take_step(optimizer, rate, others=others, greatest_norm=_CLIP)
        training.took(step + 1, schedule.steps)
        if schedule.progress and (step + 1) % max(1, schedule.steps // _TICKS) == 0:
            schedule.progress(step + 1, schedule.steps, f"loss {value.item():.3g}")
