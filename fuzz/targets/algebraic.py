"""Random expressions in number fields, against exact arithmetic modulo the minimal polynomial (python-flint)."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

from flint import fmpq, fmpq_poly

from adelic import AdeleSpace
from adelic.errors import DecodingError, DivisionByZeroError, PrecisionError
from adelic.numbers.algebraic.space import AlgebraicSpace
from targets.case import Case

FIELDS = (
    ("x^2 - 2", 1.414),
    ("x^2 - 2", -1.414),
    ("x^2 + 1", 1j),
    ("x^2 + x + 1", -0.5 + 0.866j),
    ("x^2 - x - 1", 1.618),
    ("x^2 - 1000003", 1000.0),
    ("x^3 - 2", 1.26),
    ("x^3 - 2", -0.63 - 1.09j),
    ("x^3 - x - 1", 1.3247),
    ("x^4 - 10x^2 + 1", 3.146),
)


@cache
def _space(field: int, n_primes: int, precision: int, fractional_digits: int) -> AlgebraicSpace:
    polynomial, root = FIELDS[field]
    return AdeleSpace.over(
        polynomial, root=root, n_primes=n_primes, precision=precision, fractional_digits=fractional_digits
    )


def algebraic(case: Case) -> None:
    """Check sums, differences, products, quotients and powers of a few numbers of one field."""
    rng = case.rng
    precision = rng.choice([4, 16, 16, 30])
    space = _space(rng.randrange(len(FIELDS)), rng.choice([2, 7, 12]), precision, rng.choice([0, 0, 1, 2]))
    size = rng.choice([1, 5])
    x, y = ([_random_element(case, space) for _ in range(size)] for _ in range(2))
    k = rng.randint(0, 4)
    try:
        a, b = (space.encode([_coefficients(z, space) for z in row]) for row in (x, y))
    except PrecisionError:
        case.counts["outside the space"] += 1
        return
    modulus = fmpq_poly(list(space.polynomial))
    operations: list[tuple[Callable[[], Any], Callable[[fmpq_poly, fmpq_poly], fmpq_poly]]] = [
        (lambda: a, lambda u, v: u),
        (lambda: a + b, lambda u, v: u + v),
        (lambda: a - b, lambda u, v: u - v),
        (lambda: a * b, lambda u, v: u * v % modulus),
        (lambda: a / b, lambda u, v: u * _inverse(v, modulus) % modulus),
        (lambda: a**k, lambda u, v: u**k % modulus),
    ]
    for operation, exactly in operations:
        try:
            array = operation()
        except (DivisionByZeroError, PrecisionError):  # the divisor is 0, or the result has digits below the window
            case.counts["outside the space"] += 1
            continue
        for i in range(size):
            _check(case, array[i], exactly(x[i], y[i]))
    for i, z in enumerate(x):
        if _is_guaranteed(space, z):
            assert a[i].decode() == _coefficients(z, space)


def _random_element(case: Case, space: AlgebraicSpace) -> fmpq_poly:
    """Return an element with coefficients of one size; denominators mostly prime to the primes."""
    size = case.rng.choice([1, 10, 1000, 10**6, 10**12])
    coefficients = []
    for _ in range(space.degree):
        m = case.rng.randint(1, case.rng.choice([1, 1, 10, 1000]))
        if not case.chance(0.1):
            for p in space.primes:
                while m % p == 0:
                    m //= p
        coefficients.append(fmpq(case.rng.randint(-size, size), m))
    return fmpq_poly(coefficients)


def _coefficients(z: fmpq_poly, space: AlgebraicSpace) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(z[i].p), int(z[i].q)) for i in range(space.degree))


def _inverse(z: fmpq_poly, modulus: fmpq_poly) -> fmpq_poly:
    """Return 1/z in the field; z has no common factor with the irreducible modulus unless it is 0."""
    divisor, inverse, _ = z.xgcd(modulus)
    return inverse / divisor[0] % modulus


def _check(case: Case, number: Any, exact: fmpq_poly) -> None:
    """Assert that digits, the infinite place and decoding of one number are right."""
    space, expected = number.space, _coefficients(exact, number.space)
    for j, p in enumerate(space.primes):
        known = int(number.known[j])
        digits = number.digits[j].tolist()
        found = sum(d * p**k for k, d in enumerate(reversed(digits)))
        theta = space.roots[j]
        assert sum(c * theta**i for i, c in enumerate(space.polynomial)) % p**space.precision == 0
        if all(c.denominator % p for c in expected):  # else digits of θ beyond the window decide
            scale, power = p**space.fractional_digits, p**known
            value = sum(c.numerator * pow(c.denominator, -1, power) * theta**i for i, c in enumerate(expected)) * scale
            assert found == value % power, f"{expected} has wrong digits at {p}: {digits}"
    try:
        found = number.decode()
    except DecodingError:
        case.counts["refused"] += 1
        return
    case.counts["decoded"] += 1
    assert found == expected, f"{expected} decodes to {found}"


def _is_guaranteed(space: AlgebraicSpace, z: fmpq_poly) -> bool:
    """Return whether an encoded number is sure to decode: (2^d · m² · c)^d < ∏ p^N of S·α, as `decode` says."""
    scaled = z * int(prod(space.primes) ** space.fractional_digits)
    m = int(scaled.denom())
    roots = [abs(complex(root)) for root, _ in fmpq_poly(list(space.polynomial)).numer().complex_roots()]
    house = max(sum(abs(Fraction(int(c.p), int(c.q))) * Fraction(r) ** i for i, c in enumerate(scaled)) for r in roots)
    d = space.degree
    return bool((2**d * m**2 * (house + 1)) ** d < prod(space.primes) ** space.precision)
