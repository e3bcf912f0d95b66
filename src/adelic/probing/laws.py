"""Linear laws modulo m between the decimal digits of numbers, as check digits have.

A law is w_0·x_0 + w_1·x_1 + … + c ≡ y (mod m), where x_i are the digits, counted from the right. This is algebra, not
learning: each example is an equation, Gaussian elimination modulo the primes of m solves them, and the Chinese
remainder theorem joins the answers. Wrong examples are met by solving small random samples, as for learning parity with
noise; the sample whose law most other examples obey is right.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from adelic.numbers.primes import is_prime
from adelic.probing.readings import Numbers, Reading

Integers = npt.NDArray[np.int64]

PRIME_POWERS = tuple((p, p**k) for p in range(2, 100) if is_prime(p) for k in range(1, 7) if p**k <= 100)
"""(p, p^k) up to 100, the powers of each prime in order."""
SPARE = 8
"""Equations beyond the unknowns of a sample: a law that does not exist passes them with probability m^-8."""
AGREEMENT = 0.75
"""The share of examples that obey a law. Modulo 11 a check digit often is another one where it would be 10 or 11."""
EQUATIONS = 500
"""More are not solved at once."""
EFFORT = dict.fromkeys((2, 3, 5, 7, 13, 97), 1.0) | {11: 8.0}
"""The primes of check digits, and how many times the samples that are asked for are solved; for others a quarter."""


@dataclass(frozen=True)
class Law:
    """y ≡ weights · x + constant (mod modulus).

    Attributes:
        modulus: m.
        weights: one for each unknown, in 0 … m − 1.
        constant: in 0 … m − 1.
    """

    modulus: int
    weights: tuple[int, ...]
    constant: int

    def __call__(self, x: npt.ArrayLike) -> Integers:
        """Return y of examples, (examples, unknowns) -> (examples,), in 0 … m − 1.

        >>> Law(10, (7, 9), 0)([[5, 1], [0, 4]])  # the check digit of EAN for two digits
        array([4, 6])
        """
        found: Integers = (np.asarray(x, dtype=np.int64) @ np.array(self.weights) + self.constant) % self.modulus
        return found


def find_law(
    x: npt.ArrayLike, y: npt.ArrayLike, *, rng: np.random.Generator, greatest: int = 100, tries: int = 16
) -> Law | None:
    """Return the law that at least three quarters of examples obey, modulo as much as holds; None if there is none.

    Args:
        x: whole numbers, (examples, unknowns).
        y: whole numbers, (examples,); only their residues count.
        rng: draws the samples.
        greatest: modulus.
        tries: samples for each prime.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 10, (60, 9))
    >>> find_law(x, -x @ range(2, 11) % 11, rng=rng)  # ISBN-10: weights -2, -3 … modulo 11
    Law(modulus=11, weights=(9, 8, 7, 6, 5, 4, 3, 2, 1), constant=0)
    >>> find_law(x, rng.integers(0, 10, 60), rng=rng) is None
    True
    """
    x, y = np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.int64)
    if len(x) < x.shape[1] + 1 + SPARE:
        return None
    best: dict[int, Law] = {}
    for p, q in PRIME_POWERS:
        if q > greatest or (q != p and p not in best):
            continue  # no law modulo p, so none modulo its powers
        law = next(
            (
                law
                for law in _candidates(x, y, p, q, rng, math.ceil(tries * EFFORT.get(p, 0.25)) if tries > 1 else 1)
                if np.mean(law(x) == y % q) >= AGREEMENT
            ),
            None,
        )
        if law is not None:
            best[p] = law
    joined = list(best.values())
    while math.prod(law.modulus for law in joined) > greatest:
        joined.pop()  # a law of so many primes is of digits that never change
    return _join(joined) if joined else None


def _candidates(x: Integers, y: Integers, p: int, q: int, rng: np.random.Generator, tries: int) -> Iterator[Law]:
    """Yield the laws modulo q = p^k that all examples have, or samples of them."""
    equations = np.concatenate([x, np.ones((len(x), 1), dtype=np.int64), y[:, None]], axis=1) % q
    for i in range(tries):
        sample = x.shape[1] + 1 + SPARE if i else min(len(x), x.shape[1] + EQUATIONS)
        rows = rng.choice(len(x), sample, replace=False)
        solution = solve(equations[rows], p, q)
        if solution is not None:
            yield Law(q, tuple(solution[:-1].tolist()), int(solution[-1]))


def solve(equations: Integers, p: int, q: int) -> Integers | None:
    """Return a solution of equations modulo q = p^k, free unknowns 0, or None if they have none.

    Columns without a pivot that p does not divide are left free, so that modulo p^k a solution may be missed where the
    unknowns are dependent modulo p.

    Args:
        equations: (equations, unknowns + 1), the right-hand sides last.
        p: a prime.
        q: p^k.

    >>> solve(np.array([[2, 1, 3], [1, 1, 0]]), 5, 5)  # 2a + b = 3, a + b = 0
    array([3, 2])
    """
    left = equations % q
    unknowns = left.shape[1] - 1
    solution = np.zeros(unknowns, dtype=np.int64)
    pivots: list[int] = []
    for column in range(unknowns):
        start = len(pivots)
        units = np.flatnonzero(left[start:, column] % p)
        if not len(units):
            continue
        row = start + units[0]
        left[[start, row]] = left[[row, start]]
        left[start] = left[start] * pow(int(left[start, column]), -1, q) % q
        factors = left[:, column].copy()
        factors[start] = 0
        left -= factors[:, None] * left[start]
        left %= q
        pivots.append(column)
        if len(pivots) == len(left):
            break
    if np.any(left[len(pivots) :, -1]):
        return None
    solution[pivots] = left[: len(pivots), -1]
    return solution


def _join(laws: Sequence[Law]) -> Law:
    """Return the law modulo the product of coprime moduli, by the Chinese remainder theorem."""
    modulus = math.prod(law.modulus for law in laws)
    ones = [modulus // law.modulus * pow(modulus // law.modulus, -1, law.modulus) for law in laws]
    columns = zip(*([*law.weights, law.constant] for law in laws), strict=True)
    *weights, constant = (sum(one * part for one, part in zip(ones, parts, strict=True)) % modulus for parts in columns)
    return Law(modulus, tuple(weights), constant)


def law_readings(
    numbers: Numbers, target: Integers | None, valid: Sequence[npt.NDArray[np.bool_]], rng: np.random.Generator
) -> Iterator[Reading]:
    """Yield the laws of a column's digits.

    Args:
        numbers: those of the column.
        target: whole numbers, (examples,), where they may be check digits.
        valid: of which examples the last digit may be a check digit.
        rng: draws samples of equations.
    """
    digits, width = numbers.digits, numbers.digits.shape[1]
    if numbers.decimals != 0 or numbers.is_date or width < 3:
        return
    for form in (_plain, _one_hot):
        find = partial(find_law, rng=rng, greatest=100 if form is _plain else 13, tries=16 if form is _plain else 1)
        if target is not None and (law := find(form(digits), target)):
            codes = partial(_law_value, law=law, form=form, width=width)
            yield _as_digits(law, width, codes) or Reading(
                "checksum", _in_words(law, form, "digits of {}"), "", law.modulus, codes
            )
        for mask in valid:
            if law := find(form(digits[mask][:, 1:]), digits[mask][:, 0]):
                codes = partial(_obeys, law=law, form=form, width=width)
                words = f"whether the last digit of {{}} is {_in_words(law, form, 'digits before it')}"
                yield Reading("checksum", words, "", law.modulus, codes)


def _as_digits(law: Law, width: int, codes: Callable[[Numbers], Integers]) -> Reading | None:
    """Return a law that says n // 10^k modulo m in these words; None if it says something else."""
    k, m = next((i for i, w in enumerate(law.weights) if w), width), law.modulus
    if law.constant or len(law.weights) > width or [*law.weights[k:]] != [10**i % m for i in range(width - k)]:
        return None
    if not k:
        return Reading("modulus", f"{{}} mod {m}", f"{{}} % {m}", m, codes)
    cut = "digit" if k == 1 else f"{k} digits"
    return Reading("digit", f"{{}} without its last {cut}, modulo {m},", f"{{}} // {10**k} % {m}", m, codes)


_Form = Callable[[Integers], Integers]


def _plain(digits: Integers) -> Integers:
    return digits


def _one_hot(digits: Integers) -> Integers:
    return np.asarray(
        (digits[:, :, None] == np.arange(1, 10)).reshape(len(digits), 9 * digits.shape[1]), dtype=np.int64
    )


def _law_value(numbers: Numbers, *, law: Law, form: _Form, width: int) -> Integers:
    digits, is_longer = _cut(numbers, width)
    return np.where(is_longer, law.modulus, law(form(digits)))


def _obeys(numbers: Numbers, *, law: Law, form: _Form, width: int) -> Integers:
    digits, is_longer = _cut(numbers, width)
    return np.where(is_longer, 2, law(form(digits[:, 1:])) == digits[:, 0] % law.modulus)


def _cut(numbers: Numbers, width: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return as many digits as a law knows, and which numbers have more; these have a code of their own."""
    missing = max(0, width - numbers.digits.shape[1])
    return np.pad(numbers.digits, ((0, 0), (0, missing)))[:, :width], np.any(numbers.digits[:, width:], axis=1)


def _in_words(law: Law, form: _Form, of: str) -> str:
    """Return a law with its weights, or with the negated ones where these are less.

    >>> _in_words(Law(10, (7, 9, 7, 9, 7), 0), _plain, "digits of {}")
    '−(3, 1, 3, 1 …)·(digits of {}, from the right) modulo 10'
    """
    negated = [-w % law.modulus for w in law.weights]
    is_negated = sum(negated) < sum(law.weights)
    weights = negated if is_negated else list(law.weights)
    step = next(k for k in range(1, len(weights) + 1) if weights == (weights[:k] * len(weights))[: len(weights)])
    is_repeated = 2 * step < len(weights)
    listed = ", ".join(map(str, (weights[:step] * 4)[:4] if is_repeated else weights)) + " …" * is_repeated
    start = f"{law.constant} " if law.constant else ""
    sign = ("− " if start else "−") if is_negated else ("+ " if start else "")
    factors = listed if form is _plain else "a table for each digit"
    return f"{start}{sign}({factors})·({of}, from the right) modulo {law.modulus}"
