"""Integers of many digits in less than quadratic time: reading decimal text, base-p digits, inverses modulo p^N.

Everything is halved until it is short, so nearly all the work is multiplication and division of long integers.
python-flint does those fastest, gmpy2 comes next, and Python's own integers do without either (before Python 3.12 their
division is quadratic, with a small constant). The results are the same Python integers whichever is installed.
"""

from decimal import MAX_EMAX, MAX_PREC, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import gcd
from typing import Any

import numpy as np

SHORT = 256
"""The number of digits up to which the plain loops of `adelic.numbers.hensel` are as fast."""
_LONG = 1000  # bits from which arithmetic of `long_integer` is worth turning an integer into one


@cache
def long_integer() -> Any:
    """Return the type of integers that multiplies and divides fastest here: fmpz, mpz or int."""
    try:
        from flint import fmpz
    except ImportError:
        pass
    else:
        return fmpz
    try:
        from gmpy2 import mpz
    except ImportError:
        return int
    return mpz


def as_long(value: int, bits: int) -> Any:
    """Return an integer as the type that multiplies fastest in arithmetic of so many bits.

    >>> int(as_long(7, 10**5)) + as_long(1, 10)
    8
    """
    return long_integer()(value) if bits > _LONG else value


def doublings(precision: int, first: int = 1, lost: int = 0) -> list[int]:
    """Return how many digits are right after each of Newton's steps: k become 2k − lost, from `first` to a precision.

    >>> doublings(21), doublings(21, 3, 2), doublings(1)
    ([2, 3, 6, 11, 21], [4, 5, 7, 12, 21], [])
    """
    counts = []
    while precision > first:
        counts.append(precision)
        precision = (precision + lost + 1) // 2
    return counts[::-1]


def parse(digits: str) -> int:
    """Return the integer that decimal digits write; unlike int(), without a limit on their number.

    >>> parse("123" * 2000) % 10**6
    123123
    """
    if len(digits) <= SHORT:
        return int(digits)
    integer = long_integer()
    pieces = [integer(int(digits[max(end - SHORT, 0) : end])) for end in range(len(digits), 0, -SHORT)]
    return int(_combined(pieces, integer(10) ** SHORT))


def text(n: int) -> str:
    """Return all decimal digits of an integer; str() takes quadratic time and stops at 4,300.

    >>> text(-(10**5000) - 7)[-3:], len(text(10**5000))
    ('007', 5001)
    """
    if n.bit_length() <= SHORT:
        return str(n)
    integer = long_integer()
    if integer is not int:
        return str(integer(n))
    raw = abs(n).to_bytes(n.bit_length() // 8 + 1, "little")
    pieces = [Decimal(int.from_bytes(raw[at : at + SHORT], "little")) for at in range(0, len(raw), SHORT)]
    with localcontext(prec=MAX_PREC, Emax=MAX_EMAX):  # Decimal multiplies long numbers in less than quadratic time
        return f"{'-' if n < 0 else ''}{_combined(pieces, Decimal(256) ** SHORT):f}"


def fraction(n: int, m: int) -> Fraction:
    """Return n/m for n and m in lowest terms, m positive: Fraction(n, m) looks for a divisor, in quadratic time.

    >>> fraction(7, 10**5000) == Fraction(7, 10**5000)
    True
    """
    found = Fraction(n)
    found._denominator = m  # type: ignore[attr-defined]  # the one way that all versions of Python have
    return found


def greatest_common_divisor(a: int, b: int) -> int:
    """Return the greatest common divisor, not negative.

    >>> greatest_common_divisor(-12, 18), greatest_common_divisor(10**3000, 6**1000) == 2**1000
    (6, True)
    """
    integer = long_integer()
    # The first step of Euclid's algorithm leaves two numbers as short as the shorter one.
    if integer is int or min(a.bit_length(), b.bit_length()) < 4 * SHORT:
        return gcd(a, b)
    if integer.__name__ == "fmpz":
        return int(integer(a).gcd(integer(b)))
    from gmpy2 import gcd as gmpy2_gcd

    return int(gmpy2_gcd(a, b))


def to_digits(value: int, p: int, precision: int) -> list[int]:
    """Return the lowest base-p digits of an integer that is not negative, lowest first.

    >>> to_digits(3**1000 + 5, 3, 1002)[:4], to_digits(3**1000 + 5, 3, 1002)[-3:]
    ([2, 1, 0, 0], [0, 1, 0])
    """
    integer = long_integer()
    leaf = digits_in_64_bits(p)
    powers = [integer(p) ** leaf]  # p^(leaf · 2^k)
    while leaf << len(powers) < precision:
        powers.append(powers[-1] * powers[-1])
    # Digits that are not asked for would make the divisions at the high end longer.
    pieces = [integer(value) % (powers[-1] * powers[-1])]
    for power in reversed(powers):
        pieces = [half for piece in pieces for half in divmod(piece, power)[::-1]]
    rest = np.array([int(piece) for piece in pieces[: -(-precision // leaf)]], dtype=word_dtype(p))
    digits = np.empty((len(rest), leaf), dtype=rest.dtype)
    for k in range(leaf):
        above = rest // p  # objects have no np.divmod
        digits[:, k], rest = rest - above * p, above
    found: list[int] = digits.reshape(-1)[:precision].tolist()
    return found


def from_digits(digits: list[int], p: int) -> int:
    """Return the integer with these base-p digits, lowest first.

    >>> from_digits([1] * 1000, 2) == 2**1000 - 1
    True
    """
    integer = long_integer()
    leaf = digits_in_64_bits(p)
    padded = np.zeros((-(-len(digits) // leaf), leaf), dtype=word_dtype(p))
    padded.reshape(-1)[: len(digits)] = digits
    pieces = padded @ np.array([p**k for k in range(leaf)], dtype=padded.dtype)
    return int(_combined([integer(piece) for piece in pieces.tolist()], integer(p) ** leaf))


def digits_in_64_bits(p: int) -> int:
    """Return how many base-p digits fit 64 bits, at least one.

    >>> digits_in_64_bits(2), digits_in_64_bits(10), digits_in_64_bits(2**64 - 59)
    (64, 19, 1)
    """
    return next((k for k in range(64, 1, -1) if p**k <= 2**64), 1)


def word_dtype(p: int) -> Any:
    """Return the dtype that holds `digits_in_64_bits` digits: uint64, or objects if p is beyond 2^64.

    >>> word_dtype(7).__name__, word_dtype(2**89 - 1).__name__
    ('uint64', 'object_')
    """
    return np.uint64 if p <= 2**64 else np.object_


def divide_modulo(n: int, m: int, p: int, precision: int) -> int:
    """Return n / m modulo p^precision, for m prime to p: Newton's method doubles the digits of 1 / m at each step.

    >>> divide_modulo(7, 5, 3, 1000) * 5 % 3**1000
    7
    """
    if precision <= SHORT:
        modulus = p**precision
        return int(n % modulus * pow(m, -1, modulus) % modulus)
    integer = long_integer()
    inverse, whole = integer(pow(m, -1, p)), integer(p) ** precision
    divisor = integer(m) % whole
    # If m · inverse is 1 + e modulo p^k, it is 1 − e² afterwards. The inverse of 1 is right as it is.
    for known in doublings(precision) if divisor != 1 else ():
        modulus = integer(p) ** known
        inverse = inverse * (2 - divisor % modulus * inverse) % modulus
    return int(integer(n) % whole * inverse % whole)


def _combined(pieces: list[Any], base: Any) -> Any:
    """Return Σ pieces[i] · base^i, two neighbours at a time."""
    while len(pieces) > 1:
        last = [pieces.pop()] if len(pieces) % 2 else []
        pieces = [low + high * base for low, high in zip(pieces[::2], pieces[1::2], strict=True)] + last
        base = base * base
    return pieces[0] if pieces else 0
