"""Random expressions in random spaces, against python-flint's rationals.

Digits have to be those of the exact result as far as they are known, the real ball has to hold it, and decoding has to
return it or refuse. It may refuse only outside a guarantee that is computed here, from the expression alone (see
`Traced.is_guaranteed`).
"""

import operator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

from flint import fmpq

from adelic import AdeleArray, AdeleSpace
from adelic.errors import DecodingError, DivisionByZeroError, PrecisionError
from targets.case import Case

SMALL_PRIMES = tuple(p for p in range(2, 252) if all(p % a for a in range(2, p)))
LARGE_PRIMES = (257, 1031, 65537, 10**9 + 7, 2**31 - 1, 2**31 + 11, 2**61 - 1, 2**63 - 25, 2**63 + 29, 2**64 - 59)
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_ULP = fmpq(1, 2**50)
_EXACT = 2**53


@dataclass(frozen=True)
class Traced:
    """A number with what arithmetic in float64 can know of it.

    Attributes:
        value: the number.
        error: a bound of the real coordinate's error, eight times float64's an operation.
        denominator: a bound of the denominator, from those of the operands.
    """

    value: fmpq
    error: fmpq
    denominator: int

    @classmethod
    def of(cls, value: fmpq) -> "Traced":
        """Return an encoded number."""
        return cls(value, abs(value) * _ULP, int(value.q))

    def __add__(self, other: "Traced") -> "Traced":
        value = self.value + other.value
        return Traced(value, self.error + other.error + abs(value) * _ULP, self.denominator * other.denominator)

    def __sub__(self, other: "Traced") -> "Traced":
        return self + Traced(-other.value, other.error, other.denominator)

    def __mul__(self, other: "Traced") -> "Traced":
        value = self.value * other.value
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return Traced(value, error + abs(value) * _ULP, self.denominator * other.denominator)

    def __truediv__(self, other: "Traced") -> "Traced":
        gap = abs(other.value) - 2 * other.error
        if gap <= 0:  # the ball may hold 0, and nothing is known of its inverse
            return Traced(self.value / other.value, fmpq(2) ** 100_000, 1)
        inverse = 1 / other.value
        error = other.error / gap / abs(other.value) + abs(inverse) * _ULP
        bound = abs(other.value) * other.denominator
        return self * Traced(inverse, error, max(int(bound) + 1, _EXACT))

    def __pow__(self, k: int) -> "Traced":
        base = self if k >= 0 else Traced.of(fmpq(1)) / self
        result = Traced.of(fmpq(1))
        for _ in range(abs(k)):
            result = result * base
        return result

    def is_guaranteed(self, space: AdeleSpace, known: list[int]) -> bool:
        """Return whether a number with so many known digits a prime has to decode.

        Two numbers with the same digits, M = ∏ p^known, are at least M / (S · m · m') apart, S = ∏ p^F. So the number
        stands alone in its ball if that is more than twice the radius for every m' up to the bound.
        """
        scale = prod(space.primes) ** space.fractional_digits
        modulus = prod(p**k for p, k in zip(space.primes, known, strict=True))
        scaled = self.value * scale
        m = int(scaled.q)
        inside = 2 * abs(int(scaled.p)) * m < modulus
        return inside and 4 * self.error * scale * m * max(self.denominator, m) < modulus


def random_space(rng: Random) -> AdeleSpace:
    """Return a space of 1 to 30 primes, mostly small ones, of 1 to 64 digits, now and then a thousand."""
    primes = rng.sample(SMALL_PRIMES, rng.choice([1, 2, 4, 7, 7, 12, 30]))
    if rng.random() < 0.2:
        primes = [*primes[:3], *rng.sample(LARGE_PRIMES, rng.randint(1, 3))]
    precision = rng.choice([rng.randint(1, 8), 16, 16, rng.randint(1, 64), rng.randint(1, 64)])
    if rng.random() < 0.05:
        primes, precision = primes[:4], rng.choice([300, 1000])
    rng.shuffle(primes)
    return AdeleSpace(tuple(primes), precision, rng.choice([0, 0, rng.randrange(min(precision, 9))]))


def random_number(rng: Random, space: AdeleSpace) -> fmpq:
    """Return a number of a random size, mostly of such a kind that the space holds it."""
    size = rng.choice([1, 2, 10, 10**3, 10**6, 10**9, 2**31, 2**53, 2**62, 2**64, 10**30])
    if rng.random() < 0.1:
        size = 10 ** rng.choice([100, 309, 400, 1000])
    n = rng.randint(-size, size)
    if rng.random() < 0.4:
        return fmpq(n)
    m = rng.randint(1, rng.choice([2, 10, 1000, 10**9, 2**62, size]))
    for p in space.primes:
        while m % p == 0:
            m //= p
    for _ in range(space.fractional_digits if rng.random() < 0.5 else 0):
        m *= rng.choice(space.primes) if rng.random() < 0.3 else 1
    return fmpq(n, m)


def random_expression(rng: Random, depth: int) -> Any:
    """Return nested tuples (operation, left, right); a leaf is None, and the right of "**" an exponent."""
    if depth == 0 or rng.random() < 0.2:
        return None
    name = rng.choice("+-**/^")
    if name == "^":
        return "**", random_expression(rng, depth - 1), rng.choice([0, 1, 2, 2, 3, 5, 9, -1, -2])
    return name, random_expression(rng, depth - 1), random_expression(rng, depth - 1)


def has_division(expression: Any) -> bool:
    """Return whether an expression divides, or has a negative power."""
    if expression is None:
        return False
    name, left, right = expression
    if name == "**":
        return right < 0 or has_division(left)
    return name == "/" or has_division(left) or has_division(right)


def evaluate(case: Case, expression: Any, space: AdeleSpace, size: int) -> tuple[AdeleArray, list[Traced]]:
    """Return an expression's value on random leaves: by the package, and traced."""
    if expression is None:
        numbers = [random_number(case.rng, space) for _ in range(size)]
        fractions = [Fraction(int(q.p), int(q.q)) for q in numbers]
        return space.encode(fractions), [Traced.of(q) for q in numbers]
    name, left, right = expression
    a, x = evaluate(case, left, space, size)
    if name == "**":
        if right < 0 and not all(t.value for t in x):
            raise DivisionByZeroError("0 to a negative power")
        return a**right, [t**right for t in x]
    b, y = evaluate(case, right, space, size)
    if name == "/" and not all(t.value for t in y):
        raise DivisionByZeroError("division by 0")
    operation = OPERATIONS[name]
    return operation(a, b), [operation(t, u) for t, u in zip(x, y, strict=True)]


def flint(case: Case) -> None:
    """Check the results of one expression on 1 to 300 numbers."""
    space = random_space(case.rng)
    depth = case.rng.choice([0, 1, 1, 2, 3])
    size = case.rng.choice([1, 2, 10, 40, 60, 300]) if space.precision <= 64 else 2
    expression = random_expression(case.rng, depth)
    try:
        array, exact = evaluate(case, expression, space, size)
    except (PrecisionError, DivisionByZeroError):
        case.counts["outside the space"] += 1
        return
    if not (space.fractional_digits or has_division(expression)):
        assert (array.known == space.precision).all(), "digits are lost without a division"
    check_digits(array, [t.value for t in exact])
    check_balls(array, [t.value for t in exact])
    decoded = decode(array)
    for i, (found, traced) in enumerate(zip(decoded, exact, strict=True)):
        value = Fraction(int(traced.value.p), int(traced.value.q))
        if found is None:
            case.counts["refused"] += 1
            assert not traced.is_guaranteed(space, array.known[i].tolist()), f"{value} in {space} is refused"
        else:
            case.counts["decoded"] += 1
            assert found == value, f"{value} in {space} decodes to {found}"


def decode(array: AdeleArray) -> list[Fraction | None]:
    """Return the numbers that decode, all at once if they do, and None for the others."""
    try:
        return list(array.decode())
    except DecodingError:
        return [_decode_one(array[i]) for i in range(len(array))]


def _decode_one(number: AdeleArray) -> Fraction | None:
    try:
        found: Fraction = number.decode()
        return found
    except DecodingError:
        return None


def check_digits(array: AdeleArray, exact: list[fmpq]) -> None:
    """Assert that each known digit is that of the exact number, and that unknown ones are 0."""
    space = array.space
    for j, p in enumerate(space.primes):
        weights = [p**k for k in reversed(range(space.precision))]
        digits, known = array.digits[:, j].tolist(), array.known[:, j].tolist()
        scale = p**space.fractional_digits
        for row, k, q in zip(digits, known, exact, strict=True):
            found = sum(d * w for d, w in zip(row, weights, strict=True) if d)
            n, m = int((q * scale).p), int((q * scale).q)
            assert 0 <= k <= space.precision
            assert 0 <= found < p**k, f"{q} has unknown digits at {p}"
            assert (m * found - n) % p**k == 0, f"{q} has wrong digits at {p} in {space}: {row}"


def check_balls(array: AdeleArray, exact: list[fmpq]) -> None:
    """Assert that each real ball holds its number."""
    for i, q in enumerate(exact):
        ball = array._real[i].ball(100_000)
        if ball is not None:
            distance = abs(Fraction(int(q.p), int(q.q)) - ball[0])
            assert distance <= ball[1], f"{q} is not in the ball {float(ball[0])} ± {float(ball[1])}"
