"""The paper's laws against python-flint: sums, products, differences and quotients modulo p^N, in random spaces.

One law is one operation on two random numbers, at every prime of a space. flint computes p^F · (x ∘ y) modulo p^N from
numerators and denominators; the array operation has only the digits of x and y.
"""

from functools import cache

import numpy as np
import pytest

from adelic import AdeleSpace

flint = pytest.importorskip("flint")

PRIMES = [p for p in range(2, 252) if all(p % a for a in range(2, p))]
OPERATIONS = {
    "sum": (lambda x, y: x + y, lambda a, b, c, d: (a * d + c * b, b * d)),
    "difference": (lambda x, y: x - y, lambda a, b, c, d: (a * d - c * b, b * d)),
    "product": (lambda x, y: x * y, lambda a, b, c, d: (a * c, b * d)),
    "quotient": (lambda x, y: x / y, lambda a, b, c, d: (a * d, b * c)),
}
GREATEST = (10, 10**4, 10**9, 2**62)


def random_space(rng):
    """Return a space of 1 to 30 primes up to 251, 1 to 64 digits, up to 8 of them after the point."""
    primes = rng.choice(PRIMES, rng.integers(1, 31), replace=False)
    precision = int(rng.integers(1, 65))
    return AdeleSpace(tuple(primes.tolist()), precision, int(rng.integers(0, min(8, precision - 1) + 1)))


def random_numbers(rng, space, size, *, units):
    """Return numerators and denominators, the latter prime to all primes of the space; the former too for units."""
    n, m = (rng.integers(1, rng.choice(GREATEST), size) for _ in range(2))
    for p in space.primes:
        for part in (n, m) if units else (m,):
            while (divisible := part % p == 0).any():
                part[divisible] //= p
    return n * rng.choice([-1, 1], size), m


@cache
def weights(p, precision):
    """Return p^(N−1), …, 1."""
    return np.array([p**k for k in reversed(range(precision))], dtype=object)


def residues(array, j):
    """Return p^F · q modulo p^known of each number at prime j, and known."""
    p, known = array.space.primes[j], array.known[:, j].tolist()
    return array.digits[:, j].astype(object) @ weights(p, array.space.precision), known


def check_laws(rng, space, name, size):
    """Assert one law of `size` pairs of numbers, at every prime."""
    operation, formula = OPERATIONS[name]
    x, y = (random_numbers(rng, space, size, units=units) for units in (False, name == "quotient"))
    result = operation(space.encode(x), space.encode(y))
    exact = [formula(*map(flint.fmpz, row)) for row in zip(*(part.tolist() for part in (*x, *y)), strict=True)]
    f = space.fractional_digits
    for j, p in enumerate(space.primes):
        moduli = [flint.fmpz(p) ** k for k in range(space.precision + 1)]
        shift = flint.fmpz(p) ** f
        found, known = residues(result, j)
        least = space.precision if name in ("sum", "difference") else space.precision - f
        assert min(known) >= least
        for (n, m), value, k in zip(exact, found, known, strict=True):
            assert 0 <= value < moduli[k]
            assert (m * int(value) - n * shift) % moduli[k] == 0, (space, name, n, m, p, value)


def check_many(seed, spaces, size):
    """Check 4 · spaces · size laws."""
    rng = np.random.default_rng(seed)
    for _ in range(spaces):
        space = random_space(rng)
        for name in OPERATIONS:
            check_laws(rng, space, name, size)


def test_ten_thousand_laws():
    check_many(seed=1, spaces=50, size=50)


@pytest.mark.slow
def test_a_million_laws():
    check_many(seed=2, spaces=500, size=500)
