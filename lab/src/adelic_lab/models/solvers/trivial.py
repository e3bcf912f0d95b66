"""Solvers without a network: what is remembered, and what a line fits. A network is worth what it has above them.

A table of the residues that were seen is AOE's memory: it shows how much of a place-wise network's figure is the
Chinese remainder theorem alone. Least squares on the real values is all that sums and products of numbers need.
"""

import math

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import PolynomialFeatures

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.heads.adelic import UNKNOWN_DIGIT, adelic_targets
from adelic.numbers import AdeleSpace, RedundantResidueCode
from adelic_lab.models.solvers.base import Orders, Schedule, Solver, learned
from adelic_lab.models.solvers.placewise import REMEMBERED, largest, space_for, with_remainders

_MAX_OPERANDS = 2
_DEGREE = 2


class ResidueTable(Solver):
    """What was seen at each place: from the operands' first digits to the answer's, and nothing for pairs not seen.

    The space is that of the place-wise solver, with more places. A place at which the pair of digits was not seen is
    erased, and the answer is decoded from the others, if they are enough: to any answer that the task has, or else to
    one that is not larger than those of the examples. Where examples contradict each other, the most frequent digit
    stands.

    Args:
        orders: in which examples are remembered.

    >>> from adelic.data import drawn_task
    >>> addition, table = drawn_task("addition"), ResidueTable()
    >>> table.fit(addition, *addition.sample(3000, np.random.default_rng(0)), seed=0, steps=0)
    >>> table.answer(np.array([[123456, 654321]])).tolist(), table.n_parameters
    ([Fraction(777777, 1)], 0)
    """

    _tables: list[npt.NDArray[np.int64]] | None = None

    def __init__(self, *, orders: Orders = "given") -> None:
        self.orders = orders

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for one operand or two: of more, hardly any digits are seen twice."""
        if problem.arity > _MAX_OPERANDS:
            return f"the table is of {_MAX_OPERANDS} operands at most"
        return super().obstacle(problem)

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Remember the examples; seed and steps are not used."""
        self.space = space_for(problem, mended=REMEMBERED)
        self._usual = largest(answers)
        places = self._keys(self._digits(operands))
        digits = self._digits(answers)
        self._tables = []
        for j, p in enumerate(self.space.primes):
            counts = np.zeros(((p + 1) ** operands.shape[1], p), dtype=np.int64)
            seen = digits[:, j] != UNKNOWN_DIGIT
            # Not counts[…] += 1, which counts a pair once however often it occurs.
            np.add.at(counts, (places[seen, j], digits[seen, j]), 1)
            self._tables.append(np.where(counts.any(axis=1), counts.argmax(axis=1), UNKNOWN_DIGIT))

    def _digits(self, numbers: Operands) -> npt.NDArray[np.int64]:
        """Return the first digits of numbers (*,), int64 (*, n_primes), `UNKNOWN_DIGIT` where there is none."""
        digits: npt.NDArray[np.int64] = adelic_targets(self.space, numbers)[1][..., 0].numpy()
        return digits

    def _keys(self, digits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the line of each place's table that digits (n, arity, n_primes) belong to, (n, n_primes)."""
        primes = np.array(self.space.primes)
        # An unknown digit counts as one more digit, p: keys are numbers in base p + 1.
        digits = np.where(digits == UNKNOWN_DIGIT, primes, digits)
        return np.asarray(sum(digits[:, i] * (primes + 1) ** i for i in range(digits.shape[1])))

    def look_up(self, digits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the answers' digits (n, n_primes) for operands' (n, arity, n_primes), `UNKNOWN_DIGIT` if not seen."""
        keys = self._keys(digits)
        return np.stack([table[keys[:, j]] for j, table in enumerate(learned(self._tables))], axis=-1)

    def answer(self, operands: Operands) -> Answers:
        """Return the numbers, None if too few places were seen."""
        learned(self._tables)  # else there is no space either
        digits, problem = self.look_up(self._digits(operands)), self._problem
        answers = decoded_digits(self.space, digits, problem)
        left = np.array([answer is None for answer in answers.tolist()], dtype=np.bool_)
        if problem.modulus is None and left.any():
            answers[left] = _decoded_up_to(self.space, digits[left], *self._usual)
        return answers


def decoded_digits(space: AdeleSpace, digits: npt.NDArray[np.int64], problem: SampledTask) -> Answers:
    """Return the problem's answers from their digits (n, n_primes), None if too few are known."""
    if math.prod(space.primes) == problem.modulus:  # there are no more places than are needed
        answers = with_remainders(space.primes, digits)
        answers[(digits == UNKNOWN_DIGIT).any(axis=-1)] = None
        return answers
    return _decoded_up_to(space, digits, problem.max_numerator, problem.max_denominator)


def _decoded_up_to(
    space: AdeleSpace, digits: npt.NDArray[np.int64], max_numerator: int, max_denominator: int
) -> Answers:
    """Return the numbers within bounds that have these digits (n, n_primes), None if too few are known."""
    seen = digits != UNKNOWN_DIGIT
    code = RedundantResidueCode(space, max_numerator, max_denominator)
    return code.decode(np.where(seen, digits, 0)[..., None], known=seen.astype(np.int64)).values


class LeastSquares(Solver):
    """A polynomial of degree 2 in the operands' real values, by least squares, rounded to the nearest integer.

    It is computed in float64: answers above 2^53 are beyond it.

    >>> from adelic.data import drawn_task
    >>> subtraction, line = drawn_task("subtraction"), LeastSquares()
    >>> line.fit(subtraction, *subtraction.sample(100, np.random.default_rng(0)), seed=0, steps=0)
    >>> line.answer(np.array([[5, 123456]])).tolist(), line.n_parameters
    ([-123451], 6)
    """

    _weights: npt.NDArray[np.float64] | None = None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why answers cannot be rounded: they are fractions."""
        return None if problem.answers_are_integers else "answers are rounded to integers"

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Fit the polynomial; seed and steps are not used."""
        values: npt.NDArray[np.float64] = operands.astype(np.float64)
        # Unscaled, the squares of large operands would push the constant below lstsq's cut-off, 2^(−52) · rows.
        self._scale = np.abs(values).max(axis=0, initial=1.0)
        found = np.linalg.lstsq(self._columns(values), answers.astype(np.float64), rcond=None)[0]
        self._weights = np.asarray(found, dtype=np.float64)

    def _columns(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the monomials of scaled operands, (n, monomials)."""
        columns: npt.NDArray[np.float64] = PolynomialFeatures(_DEGREE).fit_transform(values / self._scale)
        return columns

    def answer(self, operands: Operands) -> Answers:
        """Return the nearest integers."""
        weights = learned(self._weights)  # else there is no scale either
        values = np.rint(self._columns(operands.astype(np.float64)) @ weights)
        return np.array([int(value) for value in values], dtype=object)

    @property
    def n_parameters(self) -> int:
        """Return the number of coefficients; 0 before `fit`."""
        return 0 if self._weights is None else len(self._weights)
