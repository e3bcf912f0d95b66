"""Valuations, absolute values and periods of rational numbers, which are known exactly."""

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from math import gcd, inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.errors import DomainError
from adelic.numbers import hensel, integers, primes, rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.window import checked_prime

_TRIED = 10**6  # divisors, if no library factors integers


class Period(NamedTuple):
    """The period of a rational number's digits: how many precede it, and its length, two integers or two arrays (*).

    Attributes:
        before: how many digits, from p^min(v, 0) up, come before the repeating ones.
        length: how many digits repeat.

    >>> Period(before=1, length=2).length
    2
    """

    before: Any
    length: Any


def valuation(values: Any, p: int) -> Any:
    """Return the k for which q = p^k · n/m with n and m prime to p.

    Args:
        values: rational numbers as `AdeleSpace.encode` takes them, of shape (*).
        p: prime.

    Returns:
        int for shape (), and `math.inf` for 0; int64 (*) for arrays, in which no number is 0.

    Raises:
        DomainError: a number of an array is 0. (`PadicArray.valuation` and `AdeleArray.valuation` have integers for
            it: the first exponent that is not known.)
        SpaceError: p is not a prime.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    >>> valuation(48, 2), valuation("-3/75", 5), valuation(0, 2), valuation([7, 9], 3)
    (4, -2, inf, array([0, 2]))
    """
    return _each(values, p, _valuation, np.int64)


def norm(values: Any, p: int) -> Any:
    """Return |q|_p = p^(−v), v the valuation, and 0 for 0; |p| is 1/p.

    Args:
        values: rational numbers as `AdeleSpace.encode` takes them, of shape (*).
        p: prime.

    Returns:
        `Fraction` for shape (), else objects (*).

    Raises:
        SpaceError: p is not a prime.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    >>> norm(96, 2), norm(["7/5", 0], 5).tolist()
    (Fraction(1, 32), [Fraction(5, 1), Fraction(0, 1)])
    """
    return _each(values, p, lambda q, p: Fraction(p) ** -_valuation(q, p) if q else Fraction(0), np.object_)


def period(values: Any, p: int) -> Period:
    """Return after how many p-adic digits a rational number's digits repeat, and the length of the period.

    The digits of n/m, p not dividing m, repeat with the order of p modulo m: from the k on for which the remainder
    n_k/m of `hensel_digits` lies in −1 … 0, since these are the numbers A/(1 − p^L) with 0 <= A < p^L, or −1. An
    integer repeats 0, or p − 1 if it is negative: one digit.

    Args:
        values: rational numbers as `AdeleSpace.encode` takes them, of shape (*).
        p: prime.

    Returns:
        `Period`: int for shape (), else objects (*), since a length may pass int64.

    Raises:
        DomainError: the order takes the factors of a number that has none below 10^6 and is not a prime; python-flint
            finds them.
        SpaceError: p is not a prime.
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    Source: the fractions of N. Koblitz (1984), I.5, exercise 4.

    >>> period("1/4", 3)                # …02020 2 1
    Period(before=1, length=2)
    >>> period(["7/5", -1, 12, "1/97"], 5).length.tolist()
    [1, 1, 1, 96]
    """
    found = _each(values, p, _period, np.object_)
    if isinstance(found, Period):
        return found
    return Period(*(np.array([x[k] for x in found.flat], dtype=object).reshape(found.shape) for k in (0, 1)))


def _each(values: Any, p: int, function: Callable[[Fraction, int], Any], dtype: npt.DTypeLike) -> Any:
    """Return a function of every number and p, in an array unless there is one number alone."""
    p = checked_prime(p)
    numbers = rationals.read(values)
    out = np.empty(len(numbers.numerators), dtype=dtype)
    for i in range(len(out)):
        q = numbers.fraction(i)
        try:
            found = function(q, p)
            if numbers.shape and found == inf:
                raise DomainError(
                    f"is divisible by every power of {p}: its valuation is infinite, and an array of them is of int64"
                )
        except DomainError as error:
            position = np.unravel_index(i, numbers.shape)
            raise DomainError(f"{describe(q)}{at_position(position)} {error}") from None
        if not numbers.shape:
            return found
        out[i] = found
    return out.reshape(numbers.shape)


def _valuation(q: Fraction, p: int) -> Any:
    if not q:
        return inf
    return primes.valuation(q.numerator, p) - primes.valuation(q.denominator, p)


def _period(q: Fraction, p: int) -> Period:
    n, m = q.numerator, q.denominator
    e = primes.valuation(m, p)
    m //= p**e
    # Digits that repeat from one position on do so from every later one, so halving finds the first.
    end = 1
    while not _repeats(n, m, p, end):
        end *= 2
    before = bisect_left(range(end), 1, key=lambda k: _repeats(n, m, p, k))
    return Period(before, _order(p, m) if n % m else 1)


def _repeats(n: int, m: int, p: int, k: int) -> bool:
    """Return whether the digits from the k-th on repeat from the first: the rest of n/m lies in −1 … 0."""
    rest = n - hensel.residue(n, m, p, k).value * m
    return bool(-m * p**k <= rest <= 0)


def _order(a: int, m: int) -> int:
    """Return the multiplicative order of a modulo m, to which it is prime (OEIS A002326 for a = 2)."""
    order = 1
    for q, k in _factors(m).items():
        # The size of the group modulo q^k is a multiple of the order (Lagrange), out of which primes are taken.
        part = q ** (k - 1) * (q - 1)
        for prime in (*_factors(q - 1), q):
            while part % prime == 0 and pow(a, part // prime, q**k) == 1:
                part //= prime
        order = order * part // gcd(order, part)
    return order


def _factors(n: int) -> dict[int, int]:
    """Return the prime factors of n >= 1 with their multiplicities, or raise `DomainError`."""
    if integers.long_integer().__name__ == "fmpz":
        return {int(q): int(k) for q, k in integers.long_integer()(n).factor()}
    found: dict[int, int] = {}
    while n > 1:
        if n < primes.GREATEST_PROVEN and primes.is_prime(n):
            q = n
        else:
            q = primes.smallest_factor(n, limit=_TRIED)
            if q == n:
                raise DomainError(
                    f"needs the factors of {describe(n)}, which has none up to {_TRIED}; python-flint finds them: pip "
                    "install 'adelic[flint]'"
                )
        found[q] = primes.valuation(n, q)
        n //= q ** found[q]
    return found
