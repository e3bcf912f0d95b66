"""Digits of many numbers by NumPy, one digit of all of them at a time: before the compiled kernels are loaded."""

from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.places.threshold import are_for_numpy
from adelic.numbers.rationals import Rationals, blocks
from adelic.numbers.window import Window

_TABLE = 256  # below it a prime's inverses are looked up
_QUOTIENT = 2  # a digit of a quotient takes as long as so many of an integer


def suit(rationals: Rationals, window: Window) -> bool:
    """Return whether `encode` can encode these numbers, and loading the compiled kernels would take longer."""
    if not rationals.is_small or not (rationals.is_integral or max(window.primes) < _TABLE):
        return False
    cost = sum(window.precisions) * (1 if rationals.is_integral else _QUOTIENT)
    return are_for_numpy(len(rationals.numerators), cost)


def encode(rationals: Rationals, window: Window, out: npt.NDArray[Any]) -> tuple[int, int] | None:
    """Write the digits of int64 in lowest terms into `out`, as `hensel.hensel_digits` finds them.

    Return (index, prime index) of the first number below the window, or None if all fit.
    """
    out[:, :, :] = 0  # also the digits below p^0, and where a prime has fewer than others
    last = window.precision - 1
    for block in blocks(len(rationals.numerators)):
        below = []
        for j, (p, precision) in enumerate(zip(window.primes, window.precisions, strict=True)):
            n, m = rationals.numerators[block], rationals.denominators[block]
            if rationals.is_integral:
                for k in range(window.fractional_digits, precision):
                    n, out[block, j, last - k] = np.divmod(n, p)
                continue
            first = np.full(len(n), window.fractional_digits)
            while (divides := m % p == 0).any():
                m, first = np.where(divides, m // p, m), first - divides
            below += [(block.start + int(i), j) for i in np.flatnonzero(first < 0)[:1]]
            b, s = np.divmod(m, p)
            inverse = np.array([0, *(pow(c, -1, p) for c in range(1, p))])[s]
            for k in range(max(int(first.min()), 0), precision):
                a, r = np.divmod(n, p)
                c = np.where(k < first, 0, r * inverse % p)
                out[block, j, last - k] = c
                n = np.where(k < first, n, a - c * b + (r - c * s) // p)  # as `digitwise.encode` stays in int64
        if below:
            return min(below)
    return None
