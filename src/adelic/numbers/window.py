"""The window of digits that every number of a space has at each prime: its parameters, checked."""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from adelic.errors import SpaceError
from adelic.numbers.describe import describe
from adelic.numbers.primes import is_prime, smallest_factor

DEFAULT_PRIMES = (2, 3, 5, 7, 11, 13, 17)
DEFAULT_PRECISION = 16
GREATEST_PRIME = 2**64
"""Primes below it have digits that fit 64 bits."""

MOST_DIGITS = 10**7
"""The greatest n_primes · precision: digits of one number."""

_LARGEST_FACTOR = 10**5  # that an error message searches


class Window(NamedTuple):
    """The parameters of a space as the kernels take them: primes, digits in a window, and those of them below p^0."""

    primes: tuple[int, ...]
    precision: int
    fractional_digits: int

    @property
    def suits_kernels(self) -> bool:
        """Return whether the compiled kernels, which compute in 64 bits, reach these primes and this precision."""
        largest = max(self.primes)
        return largest < 2**31 and self.precision * largest**2 < 2**62

    @property
    def scale(self) -> int:
        """Return S = ∏ p^F."""
        return int(prod(self.primes) ** self.fractional_digits)

    @property
    def decoding_bound(self) -> int:
        """Return ∏ p^(N − F), see `AdeleSpace.decoding_bound`."""
        return int(prod(self.primes) ** (self.precision - self.fractional_digits))


def checked_window(primes: Any, precision: Any, fractional_digits: Any) -> Window:
    """Return the window with these parameters.

    Raises:
        SpaceError: as for `AdeleSpace`.

    >>> checked_window([2, 3], 16, 1).scale
    6
    """
    try:
        given = tuple(primes)
    except TypeError:
        raise SpaceError(f"primes={describe(primes)} is not a sequence of primes, such as {DEFAULT_PRIMES}") from None
    primes = tuple(checked_integer("a prime", p) for p in given)
    precision = checked_integer("precision", precision)
    fractional_digits = checked_integer("fractional_digits", fractional_digits)
    if not primes:
        raise SpaceError(f"primes=() leaves no p-adic coordinate; primes={DEFAULT_PRIMES} is the default")
    if precision < 1:
        raise SpaceError(f"precision={describe(precision)} leaves no digit; precision >= 1, 16 is the default")
    if not 0 <= fractional_digits < precision:
        raise SpaceError(
            f"fractional_digits={describe(fractional_digits)} does not fit a window of "
            f"precision={describe(precision)}; 0 <= fractional_digits < precision"
        )
    check_size(len(primes), precision)
    seen: set[int] = set()
    for p in primes:
        _check_prime(p)
        if p in seen:
            raise SpaceError(f"the prime {p} occurs twice in primes={describe(primes)}; name each prime once")
        seen.add(p)
    return Window(primes, precision, fractional_digits)


def checked_integer(name: str, value: Any) -> int:
    """Return a parameter as an int, or raise `SpaceError`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise SpaceError(f"{name} must be an integer, not {describe(value)}")
    return int(value)


def _check_prime(p: int) -> None:
    if p >= GREATEST_PRIME:
        raise SpaceError(f"the prime {describe(p)} is too large; primes below 2^64 are supported")
    if not is_prime(p):
        factor = smallest_factor(p, limit=_LARGEST_FACTOR) if p > 1 else p
        detail = f" ({p} = {factor} · {p // factor})" if factor != p else ""
        raise SpaceError(f"{describe(p)} is not a prime{detail}; primes={DEFAULT_PRIMES} is the default")


def check_size(n_primes: int, precision: int) -> None:
    """Raise `SpaceError` where one number would have too many digits to work with."""
    if n_primes * precision > MOST_DIGITS:
        what = f"precision={describe(precision)} at {describe(n_primes)} {'prime' if n_primes == 1 else 'primes'}"
        most = f"precision={MOST_DIGITS // n_primes}" if n_primes <= MOST_DIGITS else f"{MOST_DIGITS} primes"
        raise SpaceError(
            f"{what} would be {n_primes * precision:.3g} digits a number, as many bytes or more; at most "
            f"{MOST_DIGITS} are supported, here {most}"
        )
