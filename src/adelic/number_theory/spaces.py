"""The places that a task needs, and the digits at each, from its definition: what a task says in its `space`."""

from collections.abc import Iterable

from adelic.numbers import AdeleSpace, is_prime
from adelic.numbers.primes import smallest_factor

_UNIT_DIGITS_AT_2 = 3
"""u modulo 8 says whether the unit u is a square in Q_2; at other primes u modulo p does."""


def primes_up_to(greatest: int) -> tuple[int, ...]:
    """Return the primes up to a number.

    >>> primes_up_to(11)
    (2, 3, 5, 7, 11)
    """
    return tuple(p for p in range(2, greatest + 1) if is_prime(p))


def for_divisors(greatest: int) -> AdeleSpace:
    """Return the space whose digits say which of the numbers up to `greatest` divide a number.

    At each prime p it has one digit more than the greatest k with p^k ≤ greatest: then valuations up to k are told
    from greater ones.

    >>> for_divisors(10).precision
    {2: 4, 3: 3, 5: 2, 7: 2}
    """
    return AdeleSpace(precision={p: digits_of(greatest, p) for p in primes_up_to(greatest)})


def for_square_classes(primes: Iterable[int]) -> AdeleSpace:
    """Return the space whose digits say the classes of squarefree numbers modulo squares, as Hilbert symbols ask for.

    The class of p^v·u, where v is 0 or 1, is v and whether u is a square: u modulo p says that, and modulo 8 at p = 2.
    At 2 there is a digit to spare, so u modulo 8 is known where v = 2, too; the runs of the benchmark have it.

    >>> for_square_classes((2, 3, 5)).precision
    {2: 5, 3: 2, 5: 2}
    """
    return AdeleSpace(precision={p: 2 + _UNIT_DIGITS_AT_2 if p == 2 else 2 for p in primes})


def for_curves(primes: Iterable[int]) -> AdeleSpace:
    """Return the space whose digits say most of the local classes of curves y² = x³ + ax + b, as root numbers ask for.

    In a minimal equation p⁴ does not divide a, or p⁶ not b: so it has six digits for valuations, and after them those
    of the unit, modulo p, 16 or 9.

    >>> for_curves((2, 3, 5)).precision
    {2: 10, 3: 8, 5: 7}
    """
    return AdeleSpace(precision={p: 6 + {2: 4, 3: 2}.get(p, 1) for p in primes})


def for_residues(modulus: int) -> AdeleSpace:
    """Return the space whose digits say a residue: p^k is a factor of the modulus if p has k digits.

    >>> for_residues(12).precision, for_residues(257).primes
    ({2: 2, 3: 1}, (257,))
    """
    precision: dict[int, int] = {}
    while modulus > 1:
        p = smallest_factor(modulus)
        precision[p] = precision.get(p, 0) + 1
        modulus //= p
    return AdeleSpace(precision=precision)


def digits_of(n: int, p: int) -> int:
    """Return how many digits a positive integer has in base p: floor(log_p n) + 1, exactly.

    >>> digits_of(100, 2), digits_of(125, 5), digits_of(124, 5)
    (7, 4, 3)
    """
    count = 0
    while n:
        n //= p
        count += 1
    return count
