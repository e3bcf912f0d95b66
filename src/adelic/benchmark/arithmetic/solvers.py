"""What learns a problem of the arithmetic benchmark from examples, and the solvers by name."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from adelic.benchmark.arithmetic.problems import Answers, Operands, Problem
from adelic.errors import ConfigurationError, UnknownNameError

Tick = Callable[[int, int, str], None]

_ADELES, _RIVALS = "adelic.benchmark.arithmetic.adeles", "adelic.benchmark.arithmetic.rivals"
SOLVER_MODULES: dict[str, str] = {
    "adelic-placewise": _ADELES,
    "adelic-one-hot": _ADELES,
    "adelic-3-digits": _ADELES,
    "adelic-flat": _ADELES,
    "fone": _RIVALS,
    "xval": _RIVALS,
    "abacus": _RIVALS,
    "base-10": _RIVALS,
    "base-1000": _RIVALS,
}
"""Where each solver lives, in the order of tables. Each module has a dictionary SOLVERS of its classes by name."""


class Solver(ABC):
    """A number representation and a network, which learn from pairs of operands and answer.

    A class needs no arguments to be built. A solver is built, fitted and asked in one process, on one core.

    >>> class Constant(Solver):
    ...     def fit(self, problem, operands, answers, *, seed, steps, tick=None):
    ...         self.said = answers[0]
    ...     def answer(self, operands):
    ...         return np.full(len(operands), self.said, dtype=object)
    ...     n_parameters = 1
    >>> import numpy as np
    >>> from adelic.benchmark.arithmetic import problem
    >>> solver, comparison = Constant(), problem("comparison")
    >>> solver.fit(comparison, *comparison.sample(10, np.random.default_rng(0)), seed=0, steps=1)
    >>> solver.answer(np.array([[1, 2], [4, 3]])).tolist(), solver.n_parameters, solver.obstacle(comparison)
    ([1, 1], 1, None)
    """

    @classmethod
    def obstacle(cls, problem: Problem) -> str | None:
        """Return why this representation cannot express a problem's operands or answers; None where it can.

        The table then has "—" and this reason, and nothing is run.

        >>> from adelic.benchmark.arithmetic import problem
        >>> Solver.obstacle(problem("addition")) is None
        True
        """
        return None

    @abstractmethod
    def fit(
        self,
        problem: Problem,
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
        """Return an int or a Fraction for each row of operands (n, arity), or None where there is no answer."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Return how many numbers are trained."""


def check_solver(name: str) -> None:
    """Raise `UnknownNameError` for what is no name of a solver; the nearest one is suggested.

    >>> check_solver("fon")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown solver 'fon'; did you mean 'fone'? solvers: adelic-placewise, ...
    """
    module, _, own = name.partition(":")
    is_own = own.isidentifier() and all(part.isidentifier() for part in module.split("."))
    if name not in SOLVER_MODULES and not is_own:
        raise UnknownNameError.of("solver", name, [*SOLVER_MODULES, "module:Class of your own"], listed="solvers")


def solver_class(name: str) -> type[Solver]:
    """Return the class of a solver.

    Args:
        name: one of `SOLVER_MODULES`, or "package.module:Class" for one of the caller's own.

    Raises:
        UnknownNameError: there is no such solver.
        ConfigurationError: the module cannot be imported, or the class is no solver.

    >>> solver_class("json:JSONDecoder")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: JSONDecoder in json is no subclass of adelic.benchmark.arithmetic.Solver
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
            f"{class_name or repr(name)} in {module_name} is no subclass of adelic.benchmark.arithmetic.Solver"
        )
    return found
