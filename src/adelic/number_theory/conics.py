"""Conics with a rational point: one is found by PARI, and the theorem of Hasse and Minkowski is a task.

Source: Serre, "A Course in Arithmetic", chapter IV, theorem 8: a form has a rational zero if and only if it has one at
every place. No published network that learns it is known to us.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.drawn import Operands, SampledTask, Variants
from adelic.errors import ConfigurationError, DomainError
from adelic.number_theory.drawing import answers_with, held_out, kept
from adelic.number_theory.spaces import for_square_classes, primes_up_to
from adelic.number_theory.symbols import has_zero
from adelic.numbers import rationals
from adelic.numbers.describe import at_position
from adelic.numbers.number_array import common_shape
from adelic.numbers.pari import PARI_LOCK, load_pari
from adelic.storage.options import option


def solve_conic(a: Any, b: Any, c: Any, *, errors: str = "raise") -> Any:
    """Return integers x, y, z >= 0, not all 0, with a·x² + b·y² + c·z² = 0.

    There are none if and only if there are none at some place (Hasse and Minkowski), which the error names. The conic
    a·x² + b·y² = c·z² is asked about with −c. Every solution is checked before it is returned.

    Args:
        a: rational numbers as for `AdeleSpace.encode`, of any size. Their numerators and denominators are factored,
            which takes long beyond 60 digits.
        b: as a.
        c: as a; their shapes broadcast to (*).
        errors: "raise", or "zero" to have (0, 0, 0) where there is no solution.

    Returns:
        Integers without a common divisor, objects (*, 3); for shape () a tuple of three. Exact.

    Raises:
        DomainError: there is no solution, and `errors` is "raise".
        ConfigurationError: `errors` is another one.
        SpaceError: the shapes do not fit.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.
        MissingExtraError: cypari is not installed.

    Source: D. Simon, Solving quadratic equations using reduced unimodular quadratic forms, Math. Comp. 74 (2005), in
    PARI's `qfsolve`.

    >>> solve_conic(2, 3, -5), solve_conic([1, 1], [1, 1], [-2, -3], errors="zero").tolist()
    ((1, 1, 1), [[1, 1, 1], [0, 0, 0]])
    >>> solve_conic(3, 3, -1)
    Traceback (most recent call last):
    adelic.errors.DomainError: 3·x² + 3·y² + (-1)·z² = 0 has no solution but 0: there is none in Q_3
    """
    if errors not in ("raise", "zero"):
        raise ConfigurationError(f"errors={errors!r} is not one of 'raise' and 'zero'")
    numbers = [rationals.read(number, floats="never") for number in (a, b, c)]
    flat = [np.array([n.fraction(i) for i in range(len(n.numerators))], dtype=object) for n in numbers]
    shaped = [part.reshape(n.shape) for part, n in zip(flat, numbers, strict=True)]
    shape = common_shape(*shaped)
    forms = [np.broadcast_to(part, shape) for part in shaped]
    pari = load_pari("solve_conic")
    found = np.zeros((*shape, 3), dtype=object)
    for position in np.ndindex(shape):
        form: list[Any] = [coefficients[position] for coefficients in forms]
        if 0 in form:  # of which PARI gives a basis
            found[position][form.index(0)] = 1
            continue
        with PARI_LOCK:
            answer = pari.qfsolve(pari.matdiagonal([pari(str(q)) for q in form]))
        if answer.type() == "t_INT":
            if errors == "raise":
                equation = " + ".join(f"{q if q > 0 else f'({q})'}·{x}²" for q, x in zip(form, "xyz", strict=True))
                field = "real numbers" if int(answer) < 0 else f"Q_{answer}"
                raise DomainError(
                    f"{equation} = 0{at_position(position)} has no solution but 0: there is none in {field}"
                )
            continue
        found[position] = [abs(int(x)) for x in answer]
        if sum(q * x * x for q, x in zip(form, found[position], strict=True)) != 0:
            raise ArithmeticError(f"PARI's {found[position]} does not solve {form}")
    return found if shape else tuple(found)


class _Coefficients(Variants):
    """Options of both tasks: which coefficients there are."""

    max_prime: int = option(31, help="Greatest prime of the coefficients.", least=5, greatest=97)
    max_factors: int = option(3, help="Most primes of one coefficient.", least=1, greatest=4)

    def _forms(
        self, name: str, equation: str, arity: int, form: Callable[[Operands], tuple[Operands, Operands, Operands]]
    ) -> SampledTask:
        """Return a task whose operands are ± products of different primes, and belong to forms in three variables."""
        primes, most = primes_up_to(self.max_prime), self.max_factors

        def coefficients(n: int, rng: np.random.Generator) -> Operands:
            counts = rng.integers(1, most + 1, (n, arity))
            # The first few of a permutation are different primes, each as likely.
            order = rng.permuted(np.tile(primes, (n, arity, 1)), axis=-1)[..., :most]
            taken = np.where(np.arange(order.shape[-1]) < counts[..., None], order, 1)
            return np.asarray(taken.prod(axis=-1) * rng.choice([-1, 1], (n, arity)))

        products = [math.prod(some) for k in range(1, most + 1) for some in itertools.combinations(primes, k)]
        return SampledTask(
            name=name,
            title=f"has {equation} a rational solution? primes up to {self.max_prime}",
            variants=type(self),
            arity=arity,
            vocabulary=tuple(sorted(sign * product for product in products for sign in (-1, 1))),
            draws={
                "train": kept(coefficients, lambda rows: ~_has_new_pair(rows, primes), ahead=2),
                "new combinations": kept(coefficients, lambda rows: _has_new_pair(rows, primes), ahead=2),
            },
            never_seen_titles={"new combinations": "two primes, in two coefficients, that training never joins"},
            solve=answers_with(lambda X: has_zero(*form(X), primes)),
            max_operand=int(np.prod(np.array(primes[-most:], dtype=object))),
            signed=True,
            commutative=True,
            class_names=("no", "yes"),
            space=for_square_classes(primes),
        )


class Conic(_Coefficients):
    """Options of the task `conic`: whether a·x² + b·y² = z² has a solution in rationals, besides 0.

    A coefficient is ± a product of different primes. In training and test no pair of primes that is held out occurs
    with one prime in a and the other in b; in the split "new combinations" one does.

    >>> X, y = Conic(max_prime=7).task().sample(4, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[5, 2], [-2, 5], [-5, 2], [3, 3]], [0, 0, 0, 0])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._forms("conic", "ax² + by² = z²", 2, lambda X: (X[:, 0], X[:, 1], np.full(len(X), -1)))


class TernaryForm(_Coefficients):
    """Options of the task `ternary-form`: whether a·x² + b·y² + c·z² = 0 has a solution in rationals, besides 0.

    Coefficients and held out pairs of primes are those of `Conic`.

    >>> X, y = TernaryForm(max_prime=7).task().sample(2, np.random.default_rng(1))
    >>> X.tolist(), y.tolist()
    ([[-6, 3, 3], [-3, 2, 2]], [1, 0])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._forms("ternary-form", "ax² + by² + cz² = 0", 3, lambda X: (X[:, 0], X[:, 1], X[:, 2]))


def _has_new_pair(rows: Operands, primes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which examples have different primes p and q in different coefficients, where {p, q} is held out."""
    divides = rows[..., None] % np.array(primes) == 0  # (n, arity, primes)
    first, second = np.triu_indices(len(primes), 1)
    # Primes are below 100, so each pair has a number of its own.
    pairs = held_out(np.array(primes)[first] * 1000 + np.array(primes)[second])
    first, second = first[pairs], second[pairs]
    found = np.zeros(len(rows), dtype=bool)
    for i, j in itertools.permutations(range(rows.shape[1]), 2):
        found |= (divides[:, i, first] & divides[:, j, second]).any(axis=1)
    return found
