"""The readable reference: p-adic digits and p-adic arithmetic of one number at one prime.

A number q in Q_p is held in a *window*: the digits of p^(-F) … p^(N-F-1), with N the precision and F the number of
fractional digits. In this module it is a pair (x, known): the residue x = p^F · q mod p^known; known <= N counts
the digits that are known, from the lowest one of the window upwards. Precision is capped and absolute, as in computer
algebra systems: an operation returns the digits that its arguments determine and no more.

The compiled kernels of `adelic.numbers.kernels.digitwise` do the same for whole arrays; tests hold both equal.
"""

from typing import NamedTuple

from adelic.errors import EncodingError, PrecisionError
from adelic.numbers import integers, rationals
from adelic.numbers.describe import describe
from adelic.numbers.primes import valuation
from adelic.numbers.window import checked_prime, checked_window


class Residue(NamedTuple):
    """A p-adic number seen through a window: `value` = p^F · q mod p^`known`."""

    value: int
    known: int


class BelowWindowError(ArithmeticError):
    """The lowest digit of a result lies below the window; `needed` fractional digits would hold it."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


class NothingKnownError(ArithmeticError):
    """No digit of a result is determined by the digits of its arguments."""


def hensel_digits(n: int, m: int, p: int, precision: int) -> list[int]:
    """Return the lowest p-adic digits of n/m, lowest power first, by Hensel lifting.

    The solution of m·x ≡ n (mod p^k) is lifted from k to k + 1 by the digit c = n · m^(-1) mod p, then n becomes
    (n − c·m) / p (paper, appendix "Hensel's Lemma"). |n| never exceeds max(|n|, m), so nothing grows.

    Args:
        n: numerator.
        m: denominator; p does not divide the denominator of n/m in lowest terms.
        p: prime.
        precision: how many digits.

    Raises:
        EncodingError: n or m is not an integer.
        DivisionByZeroError: m is 0.
        SpaceError: p is not a prime, or precision not an integer from 1 on.
        PrecisionError: p divides the denominator, so the lowest digit is below p^0.

    >>> hensel_digits(7, 5, 2, 5), hensel_digits(7, 5, 3, 5), hensel_digits(7, 5, 7, 5)
    ([1, 1, 0, 1, 1], [2, 1, 2, 1, 0], [0, 3, 1, 4, 5])
    """
    (p,), (precision,), _ = checked_window((checked_prime(p),), precision, 0)
    numbers = rationals.read((n, m))
    if numbers.shape:
        raise EncodingError(f"n and m of shape {numbers.shape} are not one number; AdeleSpace.encode takes arrays")
    q = numbers.fraction(0)
    if below := valuation(q.denominator, p):
        raise PrecisionError(
            f"{describe(q)} has {p}-adic valuation −{below}, and the digits are those from p^0 on; "
            f"AdeleSpace(({p},), fractional_digits={below}) would hold it"
        )
    return _lift(q.numerator, q.denominator, p, precision)


def _lift(n: int, m: int, p: int, precision: int) -> list[int]:
    """Return the result of `hensel_digits` for integers, m positive and not divisible by p."""
    inverse = pow(m, -1, p)
    digits = []
    for _ in range(precision):
        digit = n * inverse % p
        digits.append(digit)
        n = (n - digit * m) // p
    return digits


def window_digits(n: int, m: int, p: int, precision: int, fractional_digits: int = 0) -> list[int]:
    """Return the digits of n/m in the window p^(-F) … p^(precision-F-1), lowest first.

    n and m are coprime, m is positive. A BelowWindowError means that p^(F+1) divides m.

    >>> window_digits(7, 5, 5, 4, fractional_digits=1)   # 2·5^(-1) + 1
    [2, 1, 0, 0]
    """
    e = valuation(m, p)
    if e > fractional_digits:
        raise BelowWindowError(e)
    shift = min(fractional_digits - e, precision)
    return [0] * shift + _lift(n, m // p**e, p, precision - shift)


def residue(n: int, m: int, p: int, precision: int, fractional_digits: int = 0) -> Residue:
    """Return p^F · n/m mod p^precision: the digits of `window_digits` as one integer, for numbers of any size.

    >>> residue(7, 5, 5, 4, fractional_digits=1)
    Residue(value=7, known=4)
    """
    e = valuation(m, p)
    if e > fractional_digits:
        raise BelowWindowError(e)
    n, m = n * p ** (fractional_digits - e), m // p**e
    return Residue(integers.divide_modulo(n, m, p, precision), precision)


def to_digits(value: int, p: int, precision: int) -> list[int]:
    """Return the base-p digits of a residue, lowest first.

    >>> to_digits(7, 2, 5)
    [1, 1, 1, 0, 0]
    """
    if precision > integers.SHORT:
        return integers.to_digits(value, p, precision)
    digits = []
    for _ in range(precision):
        value, digit = divmod(value, p)
        digits.append(digit)
    return digits


def from_digits(digits: list[int], p: int) -> int:
    """Return the integer with these base-p digits, lowest first.

    >>> from_digits([1, 1, 1, 0, 0], 2)
    7
    """
    if len(digits) > integers.SHORT:
        return integers.from_digits(digits, p)
    value = 0
    for digit in reversed(digits):
        value = value * p + digit
    return value


def _valuation(x: Residue, p: int) -> int:
    """Return how many of the known low digits are zero; all of them for a residue that may be zero."""
    return valuation(x.value, p) if x.value else x.known


def add(x: Residue, y: Residue, p: int) -> Residue:
    """Return x + y, known as far as both arguments are.

    >>> add(Residue(3, 4), Residue(14, 4), 2)
    Residue(value=1, known=4)
    """
    known = min(x.known, y.known)
    return Residue((x.value + y.value) % p**known, known)


def negate(x: Residue, p: int) -> Residue:
    """Return −x.

    >>> negate(Residue(1, 4), 2)
    Residue(value=15, known=4)
    """
    return Residue(-x.value % p**x.known, x.known)


def multiply(
    x: Residue, y: Residue, p: int, precision: int, fractional_digits: int = 0, below: int | None = None
) -> Residue:
    """Return x · y; `below` is how many digits of the residues' product lie below the window.

    It is F, if x, y and the product have as many fractional digits; in general F_x + F_y − F.

    With x known mod p^a and y mod p^b, x·y is known mod p^min(a + v(y), b + v(x)), and F digits move below the window.
    A BelowWindowError means that v(x) + v(y) < −F, a NothingKnownError that no digit in the window is determined.

    >>> multiply(Residue(7, 4), Residue(1, 4), 5, 4, fractional_digits=1)   # 7/5 · 1/5 = 7/25
    Traceback (most recent call last):
    adelic.numbers.hensel.BelowWindowError: 2
    >>> multiply(Residue(7, 4), Residue(25, 4), 5, 4, fractional_digits=1)  # 7/5 · 5: one digit less is known
    Residue(value=35, known=3)
    """
    v, w = _valuation(x, p), _valuation(y, p)
    below = fractional_digits if below is None else below
    known = min(v + y.known, w + x.known, precision + below) - below
    # The valuation of a residue 0 is a bound alone: nothing is seen to lie below the window.
    if x.value and y.value and v + w < below:
        raise BelowWindowError(fractional_digits + below - v - w)
    if known <= 0:
        raise NothingKnownError
    long = integers.as_long(x.value, known * p.bit_length())
    return Residue(int(long * y.value // p**below % p**known), known)


def divide(
    x: Residue, y: Residue, p: int, precision: int, fractional_digits: int = 0, above: int | None = None
) -> Residue:
    """Return x / y; `above` is the position in the window at which a quotient of residues that are units begins.

    It is F, if x, y and the quotient have as many fractional digits; in general F + F_y − F_x.

    A quotient is known to the smaller of its arguments' relative precisions: dividing by p^k·unit loses k digits. A
    BelowWindowError means that v(x) − v(y) < −F, a NothingKnownError that y may be zero, or no digit in the window is
    determined.

    >>> divide(Residue(6, 4), Residue(2, 4), 2, 4)
    Residue(value=3, known=3)
    """
    v, w = _valuation(x, p), _valuation(y, p)
    if not y.value:
        raise NothingKnownError
    # The position of the quotient's lowest digit in the window.
    shift = (fractional_digits if above is None else above) + v - w
    known = min(precision, shift + min(x.known - v, y.known - w))
    if x.value and shift < 0:
        raise BelowWindowError(fractional_digits - shift)
    if known <= 0:
        raise NothingKnownError
    if not x.value:
        return Residue(0, known)
    # Powers of p are taken out on both sides, since only units have inverses modulo p^N.
    quotient = integers.divide_modulo(x.value // p**v, y.value // p**w, p, known)
    return Residue(quotient * p**shift % p**known, known)
