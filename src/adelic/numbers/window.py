"""The window of digits that every number of a space has at each prime: its parameters, checked."""

from collections.abc import Iterator, Mapping
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.errors import AdelicError, SpaceError
from adelic.numbers.describe import describe
from adelic.numbers.primes import is_prime, smallest_factor

DEFAULT_PRIMES = (2, 3, 5, 7, 11, 13, 17)
DEFAULT_PRECISION = 16
GREATEST_PRIME = 2**1024
"""Below it a proof that a number is a prime takes at most two seconds."""

MOST_DIGITS = 10**7
"""The greatest n_primes · precision: digits of one number."""
MOST_PRIMES = 10_000
"""With as many, a product takes about two seconds, and decoding seven."""

_LARGEST_FACTOR = 10**5  # that an error message searches


class DigitsByPrime(Mapping[int, int]):
    """How many digits each prime has if they differ: an immutable mapping that can be hashed.

    >>> DigitsByPrime({2: 7, 3: 5})
    {2: 7, 3: 5}
    >>> DigitsByPrime({2: 7, 3: 5}) == {2: 7, 3: 5}
    True
    """

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._counts = dict(counts)

    def __getitem__(self, p: int) -> int:
        return self._counts[p]

    def __iter__(self) -> Iterator[int]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __hash__(self) -> int:
        return hash(frozenset(self._counts.items()))

    def __repr__(self) -> str:
        return repr(self._counts)


class Window(NamedTuple):
    """The parameters of a space as the kernels take them: primes, digits in a window, and digits of it below p^0.

    Attributes:
        primes: the primes.
        precisions: N_p, how many digits the window of each holds.
        fractional_digits: F, how many of them are below p^0.
    """

    primes: tuple[int, ...]
    precisions: tuple[int, ...]
    fractional_digits: int

    @property
    def precision(self) -> int:
        """Return the greatest N_p: how many columns an array of digits has."""
        return max(self.precisions)

    @property
    def is_uniform(self) -> bool:
        """Return whether all primes have the same number of digits, so every column is a digit at every prime."""
        return min(self.precisions) == max(self.precisions)

    @property
    def parameters(self) -> tuple[tuple[int, ...], int | DigitsByPrime, int]:
        """Return the parameters of the `AdeleSpace`: digits by prime if they are not one number.

        >>> Window((2, 3), (5, 5), 0).parameters, Window((2, 3), (7, 5), 1).parameters
        (((2, 3), 5, 0), ((2, 3), {2: 7, 3: 5}, 1))
        """
        by_prime = dict(zip(self.primes, self.precisions, strict=True))
        return self.primes, self.precision if self.is_uniform else DigitsByPrime(by_prime), self.fractional_digits

    def union(self, other: "Window") -> "Window":
        """Return the least window at the same primes that has every digit of both.

        >>> Window((7,), (5,), 0).union(Window((7,), (3,), 2))
        Window(primes=(7,), precisions=(7,), fractional_digits=2)
        """
        if self == other:
            return self
        f, g = self.fractional_digits, other.fractional_digits
        pairs = zip(self.precisions, other.precisions, strict=True)
        return Window(self.primes, tuple(max(n - f, m - g) + max(f, g) for n, m in pairs), max(f, g))

    @property
    def exists(self) -> npt.NDArray[np.bool_]:
        """Return which entries of an array of digits exist, bool (n_primes, precision), highest digits first."""
        place = np.arange(self.precision - 1, -1, -1)
        return np.asarray(place < np.array(self.precisions)[:, None])

    @property
    def modulus(self) -> int:
        """Return M = ∏ p^N_p."""
        return prod(p**n for p, n in zip(self.primes, self.precisions, strict=True))

    @property
    def suits_kernels(self) -> bool:
        """Return whether the compiled kernels, which compute in 64 bits, reach these primes and this precision."""
        return self.precision * max(self.primes) ** 2 < 2**62  # so primes are below 2^31

    @property
    def scale(self) -> int:
        """Return S = ∏ p^F."""
        return int(prod(self.primes) ** self.fractional_digits)

    @property
    def decoding_bound(self) -> int:
        """Return ∏ p^(N_p − F), see `AdeleSpace.decoding_bound`."""
        return self.modulus // self.scale


def checked_window(primes: Any, precision: Any, fractional_digits: Any) -> Window:
    """Return the window with these parameters; if a mapping is the precision, its keys are the default primes.

    Raises:
        SpaceError: as for `AdeleSpace`.

    >>> checked_window([2, 3], 16, 1).scale
    6
    >>> checked_window(DEFAULT_PRIMES, {2: 7, 11: 1}, 0)
    Window(primes=(2, 11), precisions=(7, 1), fractional_digits=0)
    """
    if isinstance(precision, Mapping) and not precision:  # the errors below would be about primes
        raise SpaceError("precision={} names no prime; precision={2: 7, 3: 5} or a number for all, 16 is the default")
    if isinstance(precision, Mapping) and primes is DEFAULT_PRIMES:  # this very tuple: none were given
        primes = tuple(precision)
    try:
        given = tuple(islice(primes, MOST_PRIMES + 1))  # of an iterable that may be endless
    except TypeError:
        raise SpaceError(f"primes={describe(primes)} is not a sequence of primes, such as {DEFAULT_PRIMES}") from None
    primes = tuple(checked_integer("a prime", p) for p in given)
    if not isinstance(precision, Mapping):
        precision = checked_integer("precision", precision)
    fractional_digits = checked_integer("fractional_digits", fractional_digits)
    if not primes:
        raise SpaceError(f"primes=() leaves no p-adic coordinate; primes={DEFAULT_PRIMES} is the default")
    precisions = _by_prime(primes, precision) if isinstance(precision, Mapping) else (precision,) * len(primes)
    if min(precisions) < 1:
        raise SpaceError(
            f"precision={describe(precision, 200)} leaves no digit{_at_which(primes, precisions)}; precision >= 1, "
            "16 is the default"
        )
    if not 0 <= fractional_digits < min(precisions):
        raise SpaceError(
            f"fractional_digits={describe(fractional_digits)} does not fit a window of "
            f"precision={describe(min(precisions))}{_at_which(primes, precisions)}; 0 <= fractional_digits < precision"
        )
    check_size(len(primes), max(precisions))  # before each prime is tested, which takes long for very many
    seen: set[int] = set()
    for p in primes:
        _check_prime(p, "; the first primes are 2, 3, 5, 7, 11, 13")
        if p in seen:
            raise SpaceError(f"the prime {p} occurs twice in primes={describe(primes)}; name each prime once")
        seen.add(p)
    return Window(primes, precisions, fractional_digits)


def _by_prime(primes: tuple[int, ...], precision: Mapping[Any, Any]) -> tuple[int, ...]:
    """Return the numbers of digits that a mapping names, in the order of the primes, or raise `SpaceError`."""
    counts = {
        checked_integer("a prime that precision names", p): checked_integer(f"precision at {describe(p)}", n)
        for p, n in precision.items()
    }
    missing = [p for p in primes if p not in counts]
    strange = set(counts).difference(primes)
    if missing or strange:
        wrong = (
            f"does not name the prime {describe(missing[0])} of"
            if missing
            else f"names {describe(min(strange))}, which is not one of"
        )
        raise SpaceError(
            f"precision={describe(dict(precision), 200)} {wrong} primes={describe(primes, 200)}; name each prime, or "
            "give one number for all"
        )
    return tuple(counts[p] for p in primes)


def _at_which(primes: tuple[int, ...], precisions: tuple[int, ...]) -> str:
    """Return " at the prime 11", the one of the fewest digits, or nothing if all primes have as many."""
    return "" if min(precisions) == max(precisions) else f" at the prime {primes[precisions.index(min(precisions))]}"


def checked_integer(name: str, value: Any) -> int:
    """Return a parameter as an int, or raise `SpaceError`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise SpaceError(f"{name} must be an integer, not {describe(value)}")
    return int(value)


def checked_count(
    name: str, value: Any, least: int = 1, most: int | None = None, error: type[AdelicError] = SpaceError
) -> int:
    """Return a number of things as Python's integer, since powers of NumPy's overflow, or raise an error.

    >>> checked_count("threads", np.int64(2))
    2
    """
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        end = "on" if most is None else f"to {most}"
        raise error(f"{name}={describe(value)} must be a whole number from {least} {end}")
    return int(value)


def checked_prime(p: Any) -> int:
    """Return the one prime that a function is asked about, or raise `SpaceError`.

    >>> checked_prime(4)
    Traceback (most recent call last):
    adelic.errors.SpaceError: p=4 is not a prime (4 = 2 · 2)
    """
    _check_prime(number := checked_integer("p", p), "", "p=")
    return number


def _check_prime(p: int, remedy: str, name: str = "") -> None:
    if p >= GREATEST_PRIME:
        raise SpaceError(f"the prime {describe(p)} is too large; primes below 2^1024 are supported")
    if not is_prime(p):
        factor = smallest_factor(p, limit=_LARGEST_FACTOR) if p > 1 else p
        detail = f" ({describe(p)} = {factor} · {describe(p // factor)})" if factor != p else ""
        raise SpaceError(f"{name}{describe(p)} is not a prime{detail}{remedy}")


def check_size(n_primes: int, precision: int) -> None:
    """Raise `SpaceError` if one number would have too many digits to work with."""
    if n_primes > MOST_PRIMES:
        raise SpaceError(
            f"{n_primes:,} primes are too many: the time of a product grows with their square; at most "
            f"{MOST_PRIMES:,} are supported"
        )
    if n_primes * precision > MOST_DIGITS:
        what = f"precision={describe(precision)} at {describe(n_primes)} {'prime' if n_primes == 1 else 'primes'}"
        raise SpaceError(
            f"{what} would be {n_primes * precision:.3g} digits per number, as many bytes or more; at most "
            f"{MOST_DIGITS} are supported, here precision={MOST_DIGITS // n_primes}"
        )
