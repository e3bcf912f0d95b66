"""A bit for each class of operands at each place, whose parity tells two classes of answers apart.

For whatever is a product of a sign a place, as root numbers and Hilbert symbols over all places are. Gradients do not
find such signs: as long as the places know nothing, what one of them can learn is multiplied by the mean signs of all
others. But each example is a linear equation modulo 2 between the bits of its classes, and equations are solved
exactly, however many there are of them.
"""

import warnings
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import psutil

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError
from adelic.numbers import AdeleSpace
from adelic.numbers.primes import split
from adelic.storage.checks import GIBIBYTE
from adelic_lab.models.solvers.base import Schedule, Solver, learned

MODULI = (2, 4, 8, 16, 32, 64)
"""Units are told modulo the greatest power of p up to one of these, and at least modulo p."""
_CHECKS = 20
"""Fewer examples that follow from the others may do so by chance: each does with probability 1/2."""
_PART = 1000
"""Equations that are added between two ticks."""
LocalPart = tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""A place, 0 for the real one, and two arrays of what it reads of questions, each with several numbers."""


class Equations:
    """Equations modulo 2, which are added until one contradicts those before it.

    An equation is one integer: a bit for each unknown, the first unknown's the highest, and the sum's the lowest. It is
    kept under its highest bit, after those before it have been taken from it. With unknowns in the order of their
    frequency, rare ones first, most equations stay short. Libraries with elimination modulo 2 for Python take a byte or
    eight for an entry: gigabytes for the tens of thousands of unknowns that are met here.

    Args:
        unknowns: how many there are. It takes unknowns²/8 bytes at most.

    Raises:
        ConfigurationError: there is not as much memory.

    >>> equations = Equations(3)
    >>> equations.add(np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 0]))
    3
    >>> equations.rank, equations.solution()
    (2, array([0, 1, 0], dtype=uint8))
    >>> equations.add(np.array([[2, 2], [0, 2]]), np.array([0, 1]))  # x₂ + x₂ = 0 holds; x₀ + x₂ is not 1
    1
    """

    def __init__(self, unknowns: int) -> None:
        needed, free = unknowns**2 / 8, psutil.virtual_memory().available
        if needed > free:
            raise ConfigurationError(
                f"equations modulo 2 with {unknowns:,} unknowns take {needed / GIBIBYTE:,.1f} GiB, and "
                f"{free / GIBIBYTE:,.1f} GiB are free; give fewer --examples"
            )
        self._unknowns = unknowns
        self._led: dict[int, int] = {}

    @property
    def rank(self) -> int:
        """Return how many equations follow from no others."""
        return len(self._led)

    def add(self, terms: npt.NDArray[np.int64], sums: npt.NDArray[np.int64]) -> int:
        """Add the equations x[terms[i, 0]] + x[terms[i, 1]] + … = sums[i] modulo 2; return how many hold.

        That is all of them, or those before the first that contradicts. Terms are (equations, terms), unknowns from 0
        on, sums (equations,), 0 or 1.
        """
        for i, (unknowns, equation) in enumerate(zip(terms.tolist(), sums.tolist(), strict=True)):
            for j in unknowns:
                equation ^= 1 << self._unknowns - j
            while (first := equation.bit_length() - 1) in self._led:
                equation ^= self._led[first]
            if equation == 1:  # 0 = 1
                return i
            if equation:
                self._led[first] = equation
        return len(terms)

    def solution(self) -> npt.NDArray[np.uint8]:
        """Return a solution, uint8 (unknowns,), 0 or 1; what the equations leave open is 0."""
        values = 1  # of the sum, and of the unknowns found so far, from the last on
        for first, equation in sorted(self._led.items()):
            values |= ((equation & values).bit_count() & 1) << first
        return np.frombuffer(f"{values:0{self._unknowns + 1}b}"[:-1].encode(), np.uint8) - ord("0")


class Parity(Solver):
    """One unknown bit for each class at each place; the examples are equations modulo 2.

    A class at a prime p is, of each operand p^v·u, v and the residue of u; at the real place it is each operand's sign.
    Where the task has `invariants`, they count as operands: of root numbers the discriminant, whose unit counts, too,
    at all primes. From 5 on theory asks for its valuation alone, next to the classes of a and b (Rohrlich's formulas).
    So there are more bits than there need be, and more examples are needed to know them; what is known is as right.
    Primes are those that the task asks for. Units are told as coarsely as the examples allow: modulo the first of
    `MODULI` with which no equation contradicts those before it, or with which most hold before one does.

    The answer is the parity of a constant and of the bits of all places; a class that no example has adds nothing. It
    has no network, and nothing is drawn: seed and steps are not used. Where no units are fine enough, or no example
    confirms what others say, it warns.

    >>> from adelic.data import drawn_task
    >>> curves, parity = drawn_task("root-number").configured(max_prime=7), Parity()
    >>> parity.fit(curves, *curves.sample(10_000, np.random.default_rng(0)), seed=0, steps=0)
    >>> asked, signs = curves.sample(1000, np.random.default_rng(1), "new curves")
    >>> parity.modulus, bool((parity.answer(asked) == signs).mean() > 0.85)
    (16, True)
    """

    modulus = 0
    """What units are told modulo, once it is fitted."""

    def __init__(self) -> None:
        self.tried: dict[int, tuple[int, int]] = {}
        """Of each modulus that was tried how many bits there are, and how many examples hold before one contradicts."""
        self._places: list[tuple[RowIndex, int]] | None = None
        self._bits = np.zeros(0, dtype=np.uint8)

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for two classes and integers."""
        if problem.operators or not problem.operands_are_integers:
            return "its operands are not integers"
        two = problem.class_names is not None and len(problem.class_names) == 2
        return None if two else "its answers are not one of two classes"

    @property
    def n_parameters(self) -> int:
        """Return how many bits there are."""
        return len(self._bits)

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Solve the equations of the examples, with units as coarse as they allow."""
        self._primes = (problem.space or AdeleSpace()).primes
        parts, furthest, count = self._parts(operands), -1, len(answers)
        self.tried = {}
        for modulus in MODULI:
            places, bits, held, rank = self._solved(parts, answers, modulus, schedule.progress)
            self.tried[modulus] = len(bits), held
            if held > furthest:
                self.modulus, self._places, self._bits, furthest = modulus, places, bits, held
            if held == count:
                break
        name = f"parity on {problem.name}"
        if furthest < count:
            warnings.warn(
                f"{name}: no bits of local classes have the parities of all {count:,} examples; the first "
                f"{furthest:,} hold together and the next contradicts them, and only those are learned from",
                stacklevel=2,
            )
        elif count - rank < _CHECKS:
            warnings.warn(
                f"{name}: {count - rank:,} of {count:,} examples follow from the others, so that hardly any confirms "
                f"the {len(self._bits):,} bits, and answers are guesses; give more --examples",
                stacklevel=2,
            )

    def _parts(self, operands: Operands) -> list[LocalPart]:
        """Return what each place has of the operands, and of what is derived from them."""
        derive = self._problem.invariants
        numbers = operands if derive is None else np.concatenate([operands, derive(operands)], axis=1)
        return local_parts(numbers, self._primes)

    def _solved(
        self, parts: list[LocalPart], answers: Answers, modulus: int, progress: Progress | None
    ) -> tuple[list[tuple[RowIndex, int]], npt.NDArray[np.uint8], int, int]:
        """Return classes, and the unknown of the first, of each place; all bits; how many examples hold; their rank."""
        places = []
        terms = np.zeros((len(answers), len(parts) + 1), dtype=np.int64)
        start = 1  # after the constant
        for j, of_place in enumerate(local_classes(parts, modulus)):
            # By the number of the first equal question: questions are compared by a key each, not column by column.
            _, first, which = np.unique(RowIndex(of_place).find(of_place), return_index=True, return_inverse=True)
            places.append((RowIndex(of_place[first]), start))
            terms[:, j + 1] = start + which
            start += len(first)
        # Rare unknowns lead equations, which keeps these short; see `Equations`.
        by_frequency = np.argsort(np.bincount(terms.ravel(), minlength=start), kind="stable")
        column = np.empty(start, dtype=np.int64)
        column[by_frequency] = np.arange(start)
        equations, held = Equations(start), 0
        for i in range(0, len(terms), _PART):
            part = slice(i, i + _PART)
            found = equations.add(column[terms[part]], answers[part].astype(np.int64))
            held += found
            if progress is not None:
                progress(held, len(terms), f"units modulo {modulus}, {start:,} bits")
            if found < len(terms[part]):
                break
        return places, equations.solution()[column], held, equations.rank

    def answer(self, operands: Operands) -> Answers:
        """Return the class of each question, 0 or 1."""
        found = self._looked_up(operands)
        bits = np.where(found < 0, 0, self._bits[found])
        return np.asarray((self._bits[0] + bits.sum(axis=1)) % 2).astype(object)

    def is_known(self, operands: Operands) -> npt.NDArray[np.bool_]:
        """Say of each question whether examples have all its classes, each at least one: where not, it is a guess."""
        return np.asarray((self._looked_up(operands) >= 0).all(axis=1))

    def _looked_up(self, operands: Operands) -> npt.NDArray[np.int64]:
        """Return the unknown of each question's class at each place, (n, places), −1 where no example has the class."""
        places = learned(self._places)
        classes = local_classes(self._parts(operands), self.modulus)
        at = np.stack([known.find(one) for one, (known, _) in zip(classes, places, strict=True)], axis=1)
        return np.where(at < 0, -1, at + [start for _, start in places])


def local_parts(numbers: Operands, primes: Iterable[int]) -> list[LocalPart]:
    """Return what each place reads of questions, the real one first: their signs and 0; at p what `split` says.

    Numbers are (n, k), int64 or objects of int.
    """
    signs = (numbers > 0).astype(np.int64) - (numbers < 0)
    return [(0, signs, np.zeros_like(signs)), *((p, *split(numbers, p)) for p in primes)]


def local_classes(parts: Iterable[LocalPart], modulus: int) -> list[npt.NDArray[np.int64]]:
    """Return the class of questions at each place: a list of int64 (n, 2k), rows that are equal where classes are.

    At the real place that is the sign of each number; at a prime p of each number p^v·u first v, then the residue of u
    modulo the greatest power of p up to `modulus`, and at least modulo p. Of 0 they are 0, as of no other number.

    >>> real, at_2, at_3 = local_classes(local_parts(np.array([[12, -10], [0, 9]]), (2, 3)), 4)
    >>> real[:, :2].tolist(), at_2.tolist(), at_3.tolist()
    ([[1, -1], [0, 1]], [[2, 1, 3, 3], [0, 0, 0, 1]], [[1, 0, 1, 2], [0, 2, 0, 1]])
    """
    found = []
    for p, first, second in parts:
        # At the real place, p = 0, nothing is left of a residue modulo 1.
        power = max(p, 1)
        while p and power * p <= modulus:
            power *= p
        found.append(np.concatenate([first, (second % power).astype(np.int64)], axis=1))
    return found
