"""Arithmetic: sums, products, quotients, inverses, fractions, sequences, a polynomial, and a comparison."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Draw, Operands, SampledTask, Variants, integers
from adelic.number_theory.drawing import answers_with
from adelic.numbers.rationals import objects
from adelic.storage.options import option

COMPOSITE_MODULUS = math.prod((3, 5, 7, 11, 13, 17, 19, 23, 29))
"""3,234,846,615, a product of nine primes: residues and inverses modulo it are those at nine places."""
PRIME_MODULUS = 1_000_003
"""A prime that is too great for a place of a sensible space: an inverse modulo it mixes the places."""
POLYNOMIAL = (3, -7, 2, -11)
"""Coefficients of f(x) = 3x³ − 7x² + 2x − 11, highest first; no solver is told."""
MAX_TERMS = 12
"""Number of columns of a sequence of terms."""
_MAX_DENOMINATOR = 10


def _long_integers(least_digits: int, most_digits: int, columns: int) -> Draw:
    """Return draws whose examples have numbers of equally many digits, each length as often as the others."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        low = 10 ** (rng.integers(least_digits, most_digits + 1, (n, 1)) - 1)
        return rng.integers(low, 10 * low, (n, columns))

    return draw


def _units(modulus: int, high: int) -> Draw:
    """Return draws of one integer below `high` that has an inverse modulo `modulus`."""

    def draw(n: int, rng: np.random.Generator) -> Operands:
        found = np.empty(0, dtype=np.int64)
        while len(found) < n:
            # Modulo 3 · 5 · … · 29 three numbers in ten are units, ∏ (1 − 1/p), so one round is mostly enough.
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
        return objects([Fraction(a, b) for a, b in pairs]).reshape(n, 2)

    return draw


def _terms(least: int, most: int, neutral: int, high: int) -> Draw:
    """Return draws of `least` to `most` terms from the neutral element to high − 1, and it up to MAX_TERMS columns.

    The neutral element, not None: every operand is a number, and no solver needs a mask to be right.
    """

    def draw(n: int, rng: np.random.Generator) -> Operands:
        lengths = rng.integers(least, most + 1, (n, 1))
        return np.where(np.arange(MAX_TERMS) < lengths, rng.integers(neutral, high, (n, MAX_TERMS)), neutral)

    return draw


def _exact(function: Callable[[Operands], Operands]) -> Callable[[Operands], Answers]:
    """Return the function computed with Python's integers, which can have any size."""
    return lambda operands: np.asarray(function(operands.astype(object)), dtype=object)


def _evaluate(x: Operands) -> Operands:
    value: Any = 0
    for coefficient in POLYNOMIAL:
        value = value * x + coefficient
    return np.asarray(value)


class _TwoNumbers(Variants):
    """Options of tasks about two numbers."""

    digits: int = option(6, help="How many digits the numbers of training have at most.", least=1, greatest=9)

    def _task(
        self,
        name: str,
        title: str,
        solve: Callable[[Operands], Answers],
        bound: Callable[[int], int],
        longer: int = 4,
        **more: Any,
    ) -> SampledTask:
        """Return the task, whose longer numbers have three digits more, up to `longer`; `bound` is that of answers."""
        least, most = self.digits + 3, self.digits + longer
        lengths = f"{least} to {most}" if longer > 3 else f"{least}"
        return SampledTask(
            name=name,
            title=f"{title}, {self.digits} digit{'s' if self.digits > 1 else ''}",
            never_seen_titles={"longer": f"{title}, {lengths} digits"},
            arity=2,
            draws={"train": integers(0, 10**self.digits - 1, 2), "longer": _long_integers(least, most, 2)},
            solve=solve,
            max_operand=10**most - 1,
            max_numerator=bound(10**most - 1),
            variants=type(self),
            **more,
        )


class Addition(_TwoNumbers):
    """Options of the task `addition`: the sum of two numbers, from 0 on.

    >>> X, y = Addition(digits=2).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85, 63], [51, 26]], [148, 77])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task("addition", "a + b", _exact(lambda x: x[:, 0] + x[:, 1]), lambda n: 2 * n, commutative=True)


class Subtraction(_TwoNumbers):
    """Options of the task `subtraction`: the difference of two numbers, which may be negative.

    >>> X, y = Subtraction(digits=2).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85, 63], [51, 26]], [22, 25])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task("subtraction", "a − b", _exact(lambda x: x[:, 0] - x[:, 1]), lambda n: n, signed=True)


class Multiplication(_TwoNumbers):
    """Options of the task `multiplication`: the product of two numbers.

    >>> X, y = Multiplication(digits=2).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85, 63], [51, 26]], [5355, 1326])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        solve = _exact(lambda x: x[:, 0] * x[:, 1])
        return self._task("multiplication", "a · b", solve, lambda n: n**2, longer=3, commutative=True)


class Comparison(_TwoNumbers):
    """Options of the task `comparison`: 1 if the first of two numbers is greater, else 0.

    >>> X, y = Comparison(digits=2).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85, 63], [51, 26]], [1, 1])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        solve = answers_with(lambda x: x[:, 0] > x[:, 1])
        return self._task("comparison", "a > b (1 or 0; guessing gives 50)", solve, lambda n: 1)


_LONG_NUMERATOR = 10**6 - 1


def _of_fractions(
    name: str, what: str, solve: Callable[[Operands], Operands], max_numerator: int, max_denominator: int
) -> SampledTask:
    """Return a task about two fractions, with bounds of what it answers."""
    return SampledTask(
        name=name,
        title=f"{what}, 3 digits over 1 to 10",
        never_seen_titles={"longer": f"{what}, up to 6 digits over 1 to 10"},
        arity=2,
        draws={"train": _fractions(0, 1000), "longer": _fractions(1000, _LONG_NUMERATOR + 1)},
        solve=_exact(solve),
        max_operand=_LONG_NUMERATOR,
        max_operand_denominator=_MAX_DENOMINATOR,
        max_numerator=max_numerator,
        max_denominator=max_denominator,
        signed=True,
        commutative=True,
    )


def _of_terms(
    name: str, terms: str, neutral: int, high: int, solve: Callable[[Operands], Operands], max_numerator: int
) -> SampledTask:
    """Return a task about up to MAX_TERMS terms below `high`."""
    return SampledTask(
        name=name,
        title=f"{name} of 2 to 5 {terms} below {high:,}",
        never_seen_titles={"more terms": f"{name} of 8 to 12 {terms} below {high:,}"},
        arity=MAX_TERMS,
        draws={"train": _terms(2, 5, neutral, high), "more terms": _terms(8, 12, neutral, high)},
        solve=_exact(solve),
        max_operand=high - 1,
        max_numerator=max_numerator,
        commutative=True,
        neutral=neutral,
    )


def _inverse(name: str, modulus: int, what: str) -> SampledTask:
    """Return the task of 1/x modulo a number, of which the title says `what`."""
    return SampledTask(
        name=name,
        title=f"1/x mod {modulus:,}{what}, up to 10 digits",
        arity=1,
        draws={"train": _units(modulus, 10**10)},
        solve=lambda X: objects([pow(x, -1, modulus) for x in X[:, 0].tolist()]),
        max_operand=10**10 - 1,
        max_numerator=modulus - 1,
        modulus=modulus,
    )


ARITHMETIC: Mapping[str, SampledTask] = {
    p.name: p
    for p in (
        Addition().task(),
        Subtraction().task(),
        Multiplication().task(),
        _inverse("modular-inverse", COMPOSITE_MODULUS, " = 3 · 5 · … · 29"),
        _inverse("modular-inverse-prime", PRIME_MODULUS, " (a prime)"),
        SampledTask(
            name="exact-division",
            title="a / b without remainder, quotient of 6 digits, b of 4",
            never_seen_titles={"longer": "a / b without remainder, quotient of 9 digits"},
            arity=2,
            draws={"train": _multiples(0, 10**6), "longer": _multiples(10**8, 10**9)},
            solve=_exact(lambda x: x[:, 0] // x[:, 1]),
            max_operand=(10**9 - 1) * 9_999,
            max_numerator=10**9 - 1,
        ),
        _of_fractions(
            "fraction-addition",
            "a/b + c/d",
            lambda x: x[:, 0] + x[:, 1],
            # The common denominator is at most 90, of 10 and 9; there the numerators are multiplied by 9 and 10.
            max_numerator=_LONG_NUMERATOR * (_MAX_DENOMINATOR + _MAX_DENOMINATOR - 1),
            max_denominator=_MAX_DENOMINATOR * (_MAX_DENOMINATOR - 1),
        ),
        _of_fractions(
            "fraction-multiplication",
            "a/b · c/d",
            lambda x: x[:, 0] * x[:, 1],
            max_numerator=_LONG_NUMERATOR**2,
            max_denominator=_MAX_DENOMINATOR**2,
        ),
        _of_terms("sum", "terms", 0, 1000, lambda x: x.sum(axis=1), MAX_TERMS * 999),
        # No factor 0: of twelve factors below 100, one is 0 in a ninth of all examples, whose product is then trivial.
        _of_terms("product", "factors", 1, 100, lambda x: x.prod(axis=1), 99**MAX_TERMS),
        SampledTask(
            name="polynomial",
            title="3x³ − 7x² + 2x − 11, x of 4 digits",
            never_seen_titles={"longer": "3x³ − 7x² + 2x − 11, x of 6 digits"},
            arity=1,
            draws={"train": integers(0, 10**4 - 1, 1), "longer": _long_integers(6, 6, 1)},
            solve=_exact(lambda x: _evaluate(x[:, 0])),
            max_operand=10**6 - 1,
            max_numerator=int(_evaluate(np.array(10**6 - 1, dtype=object))),
            signed=True,
        ),
        Comparison().task(),
    )
}
"""The tasks by name. `comparison` and `modular-inverse-prime` mix the places: there residues should fail."""
