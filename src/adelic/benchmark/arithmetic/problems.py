"""The problems of the arithmetic benchmark: questions drawn from a seed, with exact answers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import ConfigurationError, UnknownNameError

Operands = NDArray[Any]
Answers = NDArray[np.object_]
Draw = Callable[[int, np.random.Generator], Operands]

COMPOSITE_MODULUS = math.prod((3, 5, 7, 11, 13, 17, 19, 23, 29))
"""3,234,846,615: its residues are those at nine places, and so are its inverses."""
PRIME_MODULUS = 1_000_003
"""A prime that is no place of any sensible space: here an inverse mixes the places."""
POLYNOMIAL = (3, -7, 2, -11)
"""Coefficients of f(x) = 3x³ − 7x² + 2x − 11, highest first; no solver is told."""
MAX_TERMS = 12
"""How many columns a sequence of terms has."""
_MAX_DENOMINATOR = 10
_FRUITLESS_ROUNDS = 500
"""Rounds of 256 or more draws without a new question, after which there is none left."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A kind of question with exact answers.

    Attributes:
        name, title: as on the command line, and in words.
        arity: number of operands; every split has as many columns.
        draws: how operands are drawn, by split: "train", and the splits that are never seen in training, such as
            "longer". The split "test" is drawn as "train" is.
        never_seen_titles: the splits whose questions are unlike all in training, and their titles.
        solve: operands (n, arity) -> answers (n,), exact.
        max_operand, max_operand_denominator: bounds of the operands' numerators (absolute) and denominators, over all
            splits.
        max_numerator, max_denominator: bounds of the answers in lowest terms, over all splits: what a space must hold.
        signed: whether an operand or an answer can be negative.
        commutative: whether the order of the operands makes no difference. Then a question with the same operands in
            another order counts as the same question.
        modulus: of an answer that is a residue; None for other problems.
        neutral: for a sequence of terms, the number that fills the columns behind the last term; the answer is the
            operation on the whole row with or without it. None for problems that have no such columns.

    >>> problem = PROBLEMS["subtraction"]
    >>> operands, answers = problem.sample(3, np.random.default_rng(0), "longer")
    >>> operands.shape, operands.dtype, answers.tolist() == [int(a) - int(b) for a, b in operands]
    ((3, 2), dtype('int64'), True)
    >>> problem.splits, problem.max_operand_digits, problem.answers_are_integers
    (('train', 'test', 'longer'), 10, True)
    """

    name: str
    title: str
    arity: int
    draws: Mapping[str, Draw]
    solve: Callable[[Operands], Answers]
    max_operand: int
    max_numerator: int
    never_seen_titles: Mapping[str, str] = field(default_factory=dict)
    max_operand_denominator: int = 1
    max_denominator: int = 1
    signed: bool = False
    commutative: bool = False
    modulus: int | None = None
    neutral: int | None = None

    @property
    def never_seen(self) -> tuple[str, ...]:
        """Return the splits whose questions are unlike all in training."""
        return tuple(self.never_seen_titles)

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the names of all splits."""
        return ("train", "test", *self.never_seen)

    @property
    def max_operand_digits(self) -> int:
        """Return how many decimal digits the largest operand (its numerator) has, over all splits."""
        return len(str(self.max_operand))

    @property
    def max_answer_digits(self) -> int:
        """Return how many decimal digits the largest answer (its numerator) has, over all splits."""
        return len(str(self.max_numerator))

    @property
    def operands_are_integers(self) -> bool:
        """Say whether every operand is an integer."""
        return self.max_operand_denominator == 1

    @property
    def answers_are_integers(self) -> bool:
        """Say whether every answer is an integer."""
        return self.max_denominator == 1

    def sample(
        self, n: int, rng: np.random.Generator, split: str = "train", *, exclude: Operands | None = None
    ) -> tuple[Operands, Answers]:
        """Return n questions with their answers.

        Training questions all differ. The others are independent draws, of which those in `exclude` are drawn again:
        so the test split has the distribution of the training split outside the questions that were trained on.

        Args:
            n: how many.
            rng: source of all randomness.
            split: one of `splits`.
            exclude: operands (m, arity) of questions that must not occur.

        Returns:
            Operands (n, arity), int64 or objects of Fraction, and answers (n,), objects of int or Fraction.

        Raises:
            UnknownNameError: there is no such split.
            ConfigurationError: there are fewer than n different questions.

        >>> operands, answers = PROBLEMS["fraction-addition"].sample(2, np.random.default_rng(1))
        >>> operands.tolist()
        [[Fraction(-473, 2), Fraction(-511, 8)], [Fraction(-151, 1), Fraction(-475, 2)]]
        >>> answers.tolist()
        [Fraction(-2403, 8), Fraction(-777, 2)]
        """
        if split not in self.splits:
            raise UnknownNameError.of(f"split of {self.name}", split, self.splits, listed="splits")
        draw = self.draws["train" if split == "test" else split]
        refused = set() if exclude is None else set(self.keys(exclude))
        found: list[Operands] = []
        missing, fruitless = n, 0
        while missing:
            rows = draw(max(missing, 256), rng)
            kept = []
            for i, key in enumerate(self.keys(rows)):
                if key not in refused:
                    kept.append(i)
                    if split == "train":
                        refused.add(key)
            found.append(rows[kept[:missing]])
            missing -= len(found[-1])
            fruitless = 0 if kept else fruitless + 1
            if fruitless == _FRUITLESS_ROUNDS:
                raise ConfigurationError(
                    f"{self.name} has no {n:,} different questions (about {n - missing:,}); choose fewer examples"
                )
        operands = np.concatenate(found) if found else draw(1, rng)[:0]
        return operands, self.solve(operands)

    def keys(self, operands: Operands) -> list[tuple[Any, ...]]:
        """Return what identifies each question: its operands, sorted where their order makes no difference.

        >>> PROBLEMS["addition"].keys(np.array([[2, 1]])), PROBLEMS["subtraction"].keys(np.array([[2, 1]]))
        ([(1, 2)], [(2, 1)])
        """
        order: Callable[[Any], Any] = sorted if self.commutative else tuple
        return [tuple(order(row)) for row in operands.tolist()]


def problem(name: str) -> Problem:
    """Return the problem of this name.

    Raises:
        UnknownNameError: there is no such problem; the nearest one is suggested.

    >>> problem("product").title
    'product of 2 to 5 factors below 100'
    """
    if name not in PROBLEMS:
        raise UnknownNameError.of("problem", name, PROBLEMS)
    return PROBLEMS[name]


def _integers(low: int, high: int, columns: int) -> Draw:
    """Return draws of `columns` integers from low to high − 1."""
    return lambda n, rng: rng.integers(low, high, (n, columns))


def _long_integers(least_digits: int, most_digits: int, columns: int) -> Draw:
    """Return draws whose rows have numbers of equally many digits, each length as often as the others."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        low = 10 ** (rng.integers(least_digits, most_digits + 1, (n, 1)) - 1)
        return rng.integers(low, 10 * low, (n, columns))

    return draw


def _units(modulus: int, high: int) -> Draw:
    """Return draws of one integer below `high` that has an inverse modulo `modulus`."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        found = np.empty(0, dtype=np.int64)
        while len(found) < n:
            more = rng.integers(1, high, 4 * n)
            found = np.concatenate([found, more[np.gcd(more, modulus) == 1]])
        return found[:n, None]

    return draw


def _multiples(low: int, high: int) -> Draw:
    """Return draws of (a, b) with b below 10,000 and a quotient a/b from low to high − 1."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        divisors = rng.integers(1, 10_000, n)
        return np.column_stack([rng.integers(low, high, n) * divisors, divisors])

    return draw


def _fractions(low: int, high: int) -> Draw:
    """Return draws of two fractions ±n/d with n from low to high − 1 and d from 1 to 10, in lowest terms."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        numerators = rng.integers(low, high, (n, 2)) * rng.choice([-1, 1], (n, 2))
        denominators = rng.integers(1, _MAX_DENOMINATOR + 1, (n, 2))
        pairs = zip(numerators.ravel().tolist(), denominators.ravel().tolist(), strict=True)
        return _objects([Fraction(a, b) for a, b in pairs]).reshape(n, 2)

    return draw


def _terms(least: int, most: int, low: int, high: int, neutral: int) -> Draw:
    """Return draws of `least` to `most` terms from low to high − 1, then the neutral element up to MAX_TERMS columns.

    The neutral element, not None: every operand is a number, and no solver needs a mask to be right.
    """

    def draw(n: int, rng: np.random.Generator) -> Operands:
        lengths = rng.integers(least, most + 1, (n, 1))
        return np.where(np.arange(MAX_TERMS) < lengths, rng.integers(low, high, (n, MAX_TERMS)), neutral)

    return draw


def _objects(values: list[Any]) -> Answers:
    """Return exact numbers as an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _exact(function: Callable[[Operands], Operands]) -> Callable[[Operands], Answers]:
    """Return the function on Python's numbers, which have no largest one."""
    return lambda operands: np.asarray(function(operands.astype(object)), dtype=object)


def _inverses(modulus: int) -> Callable[[Operands], Answers]:
    return lambda operands: _objects([pow(x, -1, modulus) for x in operands[:, 0].tolist()])


def _greater(operands: Operands) -> Answers:
    return (operands[:, 0] > operands[:, 1]).astype(np.int64).astype(object)


def _evaluate(x: Operands) -> Operands:
    value: Any = 0
    for coefficient in POLYNOMIAL:
        value = value * x + coefficient
    return np.asarray(value)


_SIX_DIGITS, _LONG = _integers(0, 10**6, 2), _long_integers(9, 10, 2)
_SMALL_FRACTIONS, _LONG_FRACTIONS = _fractions(0, 1000), _fractions(1000, 10**6)
_LONG_NUMERATOR = 10**6 - 1

PROBLEMS: dict[str, Problem] = {
    p.name: p
    for p in (
        Problem(
            name="addition",
            title="a + b, 6 digits",
            never_seen_titles={"longer": "a + b, 9 to 10 digits"},
            arity=2,
            draws={"train": _SIX_DIGITS, "longer": _LONG},
            solve=_exact(lambda x: x[:, 0] + x[:, 1]),
            max_operand=10**10 - 1,
            max_numerator=2 * (10**10 - 1),
            commutative=True,
        ),
        Problem(
            name="subtraction",
            title="a − b, 6 digits",
            never_seen_titles={"longer": "a − b, 9 to 10 digits"},
            arity=2,
            draws={"train": _SIX_DIGITS, "longer": _LONG},
            solve=_exact(lambda x: x[:, 0] - x[:, 1]),
            max_operand=10**10 - 1,
            max_numerator=10**10 - 1,
            signed=True,
        ),
        Problem(
            name="multiplication",
            title="a · b, 6 digits",
            never_seen_titles={"longer": "a · b, 9 digits"},
            arity=2,
            draws={"train": _SIX_DIGITS, "longer": _long_integers(9, 9, 2)},
            solve=_exact(lambda x: x[:, 0] * x[:, 1]),
            max_operand=10**9 - 1,
            max_numerator=(10**9 - 1) ** 2,
            commutative=True,
        ),
        Problem(
            name="modular-inverse",
            title=f"1/x mod {COMPOSITE_MODULUS:,} = 3 · 5 · … · 29, up to 10 digits",
            arity=1,
            draws={"train": _units(COMPOSITE_MODULUS, 10**10)},
            solve=_inverses(COMPOSITE_MODULUS),
            max_operand=10**10 - 1,
            max_numerator=COMPOSITE_MODULUS - 1,
            modulus=COMPOSITE_MODULUS,
        ),
        Problem(
            name="modular-inverse-prime",
            title=f"1/x mod {PRIME_MODULUS:,} (a prime), up to 10 digits",
            arity=1,
            draws={"train": _units(PRIME_MODULUS, 10**10)},
            solve=_inverses(PRIME_MODULUS),
            max_operand=10**10 - 1,
            max_numerator=PRIME_MODULUS - 1,
            modulus=PRIME_MODULUS,
        ),
        Problem(
            name="exact-division",
            title="a / b without remainder, quotient of 6 digits, b of 4",
            never_seen_titles={"longer": "a / b without remainder, quotient of 9 digits"},
            arity=2,
            draws={"train": _multiples(0, 10**6), "longer": _multiples(10**8, 10**9)},
            solve=_exact(lambda x: x[:, 0] // x[:, 1]),
            max_operand=(10**9 - 1) * 9_999,
            max_numerator=10**9 - 1,
        ),
        Problem(
            name="fraction-addition",
            title="a/b + c/d, 3 digits over 1 to 10",
            never_seen_titles={"longer": "a/b + c/d, up to 6 digits over 1 to 10"},
            arity=2,
            draws={"train": _SMALL_FRACTIONS, "longer": _LONG_FRACTIONS},
            solve=_exact(lambda x: x[:, 0] + x[:, 1]),
            max_operand=_LONG_NUMERATOR,
            max_operand_denominator=_MAX_DENOMINATOR,
            max_numerator=_LONG_NUMERATOR * (_MAX_DENOMINATOR + _MAX_DENOMINATOR - 1),
            max_denominator=_MAX_DENOMINATOR * (_MAX_DENOMINATOR - 1),
            signed=True,
            commutative=True,
        ),
        Problem(
            name="fraction-multiplication",
            title="a/b · c/d, 3 digits over 1 to 10",
            never_seen_titles={"longer": "a/b · c/d, up to 6 digits over 1 to 10"},
            arity=2,
            draws={"train": _SMALL_FRACTIONS, "longer": _LONG_FRACTIONS},
            solve=_exact(lambda x: x[:, 0] * x[:, 1]),
            max_operand=_LONG_NUMERATOR,
            max_operand_denominator=_MAX_DENOMINATOR,
            max_numerator=_LONG_NUMERATOR**2,
            max_denominator=_MAX_DENOMINATOR**2,
            signed=True,
            commutative=True,
        ),
        Problem(
            name="sum",
            title="sum of 2 to 5 terms below 1,000",
            never_seen_titles={"more terms": "sum of 8 to 12 terms below 1,000"},
            arity=MAX_TERMS,
            draws={"train": _terms(2, 5, 0, 1000, 0), "more terms": _terms(8, 12, 0, 1000, 0)},
            solve=_exact(lambda x: x.sum(axis=1)),
            max_operand=999,
            max_numerator=MAX_TERMS * 999,
            commutative=True,
            neutral=0,
        ),
        Problem(
            name="product",
            title="product of 2 to 5 factors below 100",
            never_seen_titles={"more terms": "product of 8 to 12 factors below 100"},
            arity=MAX_TERMS,
            # No factor 0: of twelve factors below 100, one is 0 in a ninth of all rows, which asks for nothing.
            draws={"train": _terms(2, 5, 1, 100, 1), "more terms": _terms(8, 12, 1, 100, 1)},
            solve=_exact(lambda x: x.prod(axis=1)),
            max_operand=99,
            max_numerator=99**MAX_TERMS,
            commutative=True,
            neutral=1,
        ),
        Problem(
            name="polynomial",
            title="3x³ − 7x² + 2x − 11, x of 4 digits",
            never_seen_titles={"longer": "3x³ − 7x² + 2x − 11, x of 6 digits"},
            arity=1,
            draws={"train": _integers(0, 10**4, 1), "longer": _long_integers(6, 6, 1)},
            solve=_exact(lambda x: _evaluate(x[:, 0])),
            max_operand=10**6 - 1,
            max_numerator=int(_evaluate(np.array(10**6 - 1, dtype=object))),
            signed=True,
        ),
        Problem(
            name="comparison",
            title="a > b (1 or 0; guessing gives 50), 6 digits",
            never_seen_titles={"longer": "a > b (1 or 0; guessing gives 50), 9 to 10 digits"},
            arity=2,
            draws={"train": _SIX_DIGITS, "longer": _LONG},
            solve=_greater,
            max_operand=10**10 - 1,
            max_numerator=1,
        ),
    )
}
"""All problems by name. `comparison` and `modular-inverse-prime` mix the places: there residues should fail."""
