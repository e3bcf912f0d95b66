"""Digits of integers in one base, the real-world notation that the rivals of the adeles read and write."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, EncodingError
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe

OPEN_DIGITS = 10
"""Digits before the point for open-ended numbers, as in FoNE's published runs."""


def count_digits(number: int, base: int) -> int:
    """Return the number of base-B digits of |number|, at least 1.

    >>> count_digits(0, 10), count_digits(-1000, 10), count_digits(999, 1000)
    (1, 4, 1)
    """
    # By powers, not by a logarithm: math.log(1000, 10) is 2.9999999999999996.
    count, bound = 1, base
    while bound <= abs(number):
        count, bound = count + 1, bound * base
    return count


def most_digits(numbers: Iterable[int | Fraction], base: int, given: int | None) -> int:
    """Return how many base-B digits an embedding reads: those given, else those that the numbers of a vocabulary need.

    Raises:
        ConfigurationError: the base has no digits, or no digit is left.

    >>> most_digits([12, -345], 10, None), most_digits([], 10, None), most_digits([12], 10, 5)
    (3, 10, 5)
    """
    if base < 2:
        raise ConfigurationError(f"base={base} has no digits; base >= 2")
    found = max((count_digits(int(q), base) for q in numbers), default=OPEN_DIGITS) if given is None else given
    if found < 1:
        raise ConfigurationError(f"max_digits={found} leaves no digit; max_digits >= 1")
    return found


def to_digits(
    numbers: Any, *, base: int, n_digits: int, fractional_digits: int = 0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the base-B digits of |numbers|, least significant first, and the signs.

    Of `n_digits` digits, `fractional_digits` are after the point. From numbers (*,), whatever `AdeleSpace.encode`
    takes, to int64 (*, n_digits) and signs −1, 0 or 1, int64 (*). A number with more digits is an EncodingError.

    >>> to_digits([-120, 7], base=10, n_digits=4)
    (array([[0, 2, 1, 0],
           [7, 0, 0, 0]]), array([-1,  1]))
    >>> to_digits("1.25", base=10, n_digits=4, fractional_digits=3)[0]
    array([0, 5, 2, 1])
    """
    parsed = rationals.read(numbers)
    scaled = parsed.numerators
    if not parsed.is_integral:
        product = parsed.numerators.astype(object) * base**fractional_digits
        _check(parsed, product % parsed.denominators != 0, _too_fine(base, fractional_digits))
        scaled = product // parsed.denominators
    elif fractional_digits:
        scaled = scaled.astype(object) * base**fractional_digits
    sign = np.sign(scaled).astype(np.int64)
    # int64 does not hold |−2^63|, uint64 does
    rest = np.abs(scaled) if scaled.dtype == object else np.abs(scaled).astype(np.uint64)
    digits = np.empty((len(rest), n_digits), dtype=np.int64)
    for k in range(n_digits):
        digits[:, k] = rest % base
        rest = rest // base
    room = n_digits - fractional_digits
    _check(parsed, rest != 0, f"more than {room} base-{base} digits before the point; allow more digits")
    return digits.reshape(*parsed.shape, n_digits), sign.reshape(parsed.shape)


def refuse_signs(numbers: Any, sign: npt.NDArray[np.int64], remedy: str) -> None:
    """Raise `EncodingError` if one of the numbers (*,) is negative, for FoNE as published; `sign` is of `to_digits`.

    >>> refuse_signs([3, -5], np.array([1, -1]), "use signed=True")
    Traceback (most recent call last):
    adelic.errors.EncodingError: -5 at position [1] has a sign, which FoNE as published leaves to the text; use ...
    """
    if (sign < 0).any():
        text = f"a sign, which FoNE as published leaves to the text; {remedy}"
        _check(rationals.read(numbers), (sign < 0).ravel(), text)


def _too_fine(base: int, fractional_digits: int) -> str:
    if fractional_digits:
        return f"more than {fractional_digits} base-{base} digits after the point; fractional_digits says how many"
    return "a denominator, and these digits hold integers alone; the adelic embedding holds fractions"


def _check(parsed: rationals.Rationals, wrong: npt.NDArray[np.bool_], what: str) -> None:
    """Raise `EncodingError` for the first number that is marked as wrong."""
    found = np.flatnonzero(wrong)
    if len(found):
        position = at_position(np.unravel_index(found[0], parsed.shape))
        raise EncodingError(f"{describe(parsed.fraction(int(found[0])))}{position} has {what}")
