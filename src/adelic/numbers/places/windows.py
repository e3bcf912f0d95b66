"""Numbers in other windows: those that an exact operand needs, those that powers run through, and those asked for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adelic.errors import PrecisionError
from adelic.numbers.describe import describe
from adelic.numbers.hensel import BelowWindowError, NothingKnownError
from adelic.numbers.places import finite
from adelic.numbers.places.finite import Digits, FinitePlaces, Known
from adelic.numbers.places.shape import OperationError
from adelic.numbers.primes import largest_valuation, valuation
from adelic.numbers.rationals import Rationals
from adelic.numbers.window import Window

T = TypeVar("T")


def encoded(rationals: Rationals, window: Window, *, threads: int = 1) -> FinitePlaces:
    """Return the coordinates of rationals, in their shape; errors are those of `encode`."""
    digits = np.empty(
        (len(rationals.numerators), len(window.primes), window.precision), finite.digit_dtype(window.primes)
    )
    finite.encode(rationals, window, digits, threads=threads)
    return FinitePlaces(digits, finite.all_known(window, len(digits))).reshape(rationals.shape)


def exact_window(window: Window, denominators: int, numerators: int) -> Window:
    """Return the window that loses no digit of exact factors, divisors and dividends in an operation.

    A factor needs N digits from that of p^(−e) up, where p^e is the greatest power in a denominator; a quotient is as
    well known as its relative precision, which the factors p of the numerators must not take away.
    """
    return Window(window.primes, tuple(n + denominators + numerators for n in window.precisions), denominators)


def exact(rationals: Rationals, window: Window, *, relative: bool) -> FinitePlaces:
    """Return the coordinates of rationals as one operation takes them without a loss, in a window of their own.

    `relative` says that the operation is a quotient. A number so far below the window that no product is in it is a
    PrecisionError.
    """
    most = window.precision + 64  # beyond int64, and further than any result reaches
    e, p = max((largest_valuation(rationals.denominators, p), p) for p in window.primes)
    if e > most:
        raise finite.encoding_error(
            rationals, window, _first(rationals, p, e), window.primes.index(p), BelowWindowError(e)
        )
    more = 0
    if relative:
        more = min(max(largest_valuation(rationals.numerators, p) for p in window.primes), most)
        more = more if rationals.numerators.all() else max(more, window.precision)  # 0/x is 0, whatever divides x
    return replace(encoded(rationals, exact_window(window, e, more)), fractional_digits=e)


def _first(rationals: Rationals, p: int, e: int) -> int:
    """Return the index of the first number whose denominator p^e divides."""
    return next(i for i, m in enumerate(rationals.denominators.tolist()) if m % p**e == 0)


def needed_digits(rationals: Rationals, window: Window) -> int:
    """Return the least F that holds rationals, or raise `PrecisionError` where the window has no more digits than that.

    >>> from adelic.numbers.rationals import read
    >>> needed_digits(read(["7/5", "1/4"]), Window((2, 3, 5), (16, 16, 16), 0))
    2
    """
    needed, p = max((largest_valuation(rationals.denominators, p), p) for p in window.primes)
    least = min(window.precisions)
    if needed >= least:
        at = "" if window.is_uniform else f" at the prime {window.primes[window.precisions.index(least)]}"
        number = describe(rationals.fraction(_first(rationals, p, needed)))
        raise PrecisionError(
            f"{number} needs {needed} digit{'s' * (needed != 1)} after the point, which precision={least}{at} does not "
            f"hold; precision={needed + 1} would"
        )
    return needed


def power(x: FinitePlaces, k: int, window: Window) -> FinitePlaces:
    """Return x^k for coordinates of shape (size, …), k >= 1.

    With r digits of its unit part known, x is y·(1 + p^r·t), and (1 + p^r·t)^k is 1 modulo p^(r + v(k)); and modulo
    2^(2 + v(k)) where p = 2, r = 1 and k is even. So any y with the known digits of x tells those of the power. One
    that is below the window, or without a known digit, is an OperationError.
    """
    f, precisions = window.fractional_digits, np.array(window.precisions)
    if not f and finite.is_all_known(x.known, window):  # then so it is of the power
        return repeated(x, k, lambda a, b: finite.multiply(a, b, window))
    lowest = finite.valuations(x, f)
    relative = x.known - f - lowest  # 0 of what may be 0
    gained = np.array([valuation(k, p) for p in window.primes])
    gained = gained + ((relative == 1) & (np.array(window.primes) == 2) & (k % 2 == 0))
    first = f + min(k, window.precision + 1) * lowest  # as k does, such an exponent leaves the window
    known = np.minimum(first + np.where(relative == 0, 0, relative + gained), precisions).astype(np.int32)
    _refuse("power", x, np.where(relative == 0, known <= 0, first < 0), window, window, k)
    # The powers of p^depth · x, as many digits of them as lie in the window.
    depth = max(0, -int(lowest.min(initial=0)))
    counts = tuple(int(n) for n in precisions - f + k * depth)
    inner, size = Window(window.primes, counts, 0), len(x.digits)
    alike = moved(replace(x, known=finite.all_known(window, size)), window, inner._replace(fractional_digits=depth))
    found = repeated(replace(alike, known=finite.all_known(inner, size)), k, lambda a, b: finite.multiply(a, b, inner))
    found = moved(found, inner._replace(fractional_digits=k * depth), window)
    return FinitePlaces(_shown(found.digits, known), known)


def repeated(x: T, k: int, multiply: Callable[[T, T], T]) -> T:
    """Return x · x · … · x of k >= 1 factors, by repeated squaring.

    >>> repeated("a", 5, lambda x, y: x + y)
    'aaaaa'
    """
    half = repeated(multiply(x, x), k // 2, multiply) if k > 1 else None
    return x if half is None else multiply(half, x) if k % 2 else half


def moved(x: FinitePlaces, window: Window, other: Window) -> FinitePlaces:
    """Return coordinates of shape (size, …), as far as they are known, in another window at the same primes.

    A number below it, or without a known digit in it, is an OperationError.
    """
    if window == other:
        return x
    up = other.fractional_digits - window.fractional_digits
    known = np.minimum(x.known + up, np.array(other.precisions)).astype(np.int32)
    is_below = (x.digits[..., window.precision + min(up, 0) :] != 0).any(axis=-1)
    _refuse("move", x, is_below | (known <= 0), window, other)
    digits = np.zeros((*x.digits.shape[:-1], other.precision), dtype=x.digits.dtype)
    low, high = max(up, 0), min(other.precision, window.precision + up)
    if low < high:
        kept = x.digits[..., window.precision - (high - up) : window.precision - (low - up)]
        digits[..., other.precision - high : other.precision - low] = kept
    return FinitePlaces(_shown(digits, known), known)


def _shown(digits: Digits, known: Known) -> Digits:
    """Write 0 for the digits that are not known, and return them."""
    columns = digits.shape[-1]
    if known.min(initial=columns) < columns:
        digits[np.arange(columns - 1, -1, -1) >= known[..., None]] = 0
    return digits


def _refuse(name: str, x: FinitePlaces, fails: Any, window: Window, other: Window, k: int = 1) -> None:
    """Raise an `OperationError` at the first number and prime where x^k is not in the other window."""
    for i, j in np.argwhere(fails)[:1].tolist():
        needed = -k * int(finite.valuations(x, window.fractional_digits)[i, j])
        cause = BelowWindowError(needed) if x.digits[i, j].any() else NothingKnownError()
        raise OperationError(name, i, window.primes[j], cause, other.precisions[j], other)
