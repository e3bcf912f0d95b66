"""Compiled kernels of one digit after the other: the same as `adelic.numbers.hensel`, for whole arrays; and `gcd`.

Layout everywhere: digits (size, n_primes, precision), most significant digit first; known (size, n_primes) counts the
known digits from the lowest one upwards; `precisions` has the number of digits of each prime, and columns beyond are 0
and never known. A kernel that meets a number that does not fit returns its position as (index, prime index, code), and
(-1, 0, 0) when all is well.

`finite`, `real` and `rationals` import this module when first needed, since numba takes long to load.
"""

from typing import Any, NamedTuple

import numpy as np

from adelic.numbers.kernels import Array, njit

Failure = tuple[int, int, int]  # index, prime index, code
FITS, BELOW_WINDOW, NOTHING_KNOWN = 0, 1, 2
BLOCK = 128


class Operand(NamedTuple):
    """Digits, (size, n_primes, precision), and how many of them are known, (size, n_primes)."""

    digits: Array
    known: Array


@njit(cache=True, nogil=True)
def inverse_mod(a: Any, p: Any) -> Any:
    """Return the inverse of a modulo the prime p, for a not divisible by p, by the extended Euclidean algorithm."""
    r0, r1 = p, a % p
    t0, t1 = 0, 1
    while r1 != 0:
        quotient = r0 // r1
        r0, r1 = r1, r0 - quotient * r1
        t0, t1 = t1, t0 - quotient * t1
    return t0 % p


@njit(cache=True, nogil=True)
def encode(
    numerators: Array, denominators: Array, primes: Array, precisions: Array, fractional_digits: int, out: Array
) -> Failure:
    """Write the window digits of numerators / denominators into `out` (any numeric dtype).

    Arguments are int64 in lowest terms, denominators positive. The lifting n -> (n - c·m) / p runs on n = p·a + r and
    m = p·b + s as a - c·b + (r - c·s) / p, whose every term stays inside int64.
    """
    size, n_primes, columns = out.shape
    for i in range(size):
        for j in range(n_primes):
            p, precision = primes[j], precisions[j]
            last = columns - 1
            for k in range(precision, columns):
                out[i, j, last - k] = 0
            n = numerators[i]
            m = denominators[i]
            shift = fractional_digits
            while m % p == 0:
                m //= p
                shift -= 1
            if shift < 0:
                return i, j, BELOW_WINDOW
            shift = min(shift, precision)
            for k in range(shift):
                out[i, j, last - k] = 0
            if m == 1:  # integers, the most frequent numbers, need neither an inverse nor products
                for k in range(shift, precision):
                    a = n // p
                    out[i, j, last - k] = n - a * p
                    n = a
            else:
                b = m // p
                s = m - b * p
                inverse = inverse_mod(s, p)
                for k in range(shift, precision):
                    a = n // p
                    r = n - a * p
                    c = r * inverse % p
                    out[i, j, last - k] = c
                    n = a - c * b + (r - c * s) // p
    return -1, 0, FITS


@njit(cache=True, nogil=True)
def add(a: Operand, b: Operand, primes: Array, result: Operand) -> Failure:
    """Write a + b: digit by digit with carries, as far as both are known."""
    (x, x_known), (y, y_known), (out, out_known) = a, b, result
    size, n_primes, precision = out.shape
    for i in range(size):
        for j in range(n_primes):
            p = np.int64(primes[j])
            known = min(x_known[i, j], y_known[i, j])
            carry = np.int64(0)
            for k in range(precision):
                c = precision - 1 - k
                if k < known:
                    total = np.int64(x[i, j, c]) + np.int64(y[i, j, c]) + carry
                    carry = np.int64(total >= p)
                    out[i, j, c] = total - carry * p
                else:
                    out[i, j, c] = 0
            out_known[i, j] = known
    return -1, 0, FITS


@njit(cache=True, nogil=True)
def negate(x: Array, x_known: Array, primes: Array, out: Array) -> None:
    """Write −x: zeros up to the first non-zero digit d, then p − d, then p − 1 − digit."""
    size, n_primes, precision = out.shape
    for i in range(size):
        for j in range(n_primes):
            p = np.int64(primes[j])
            borrow = np.int64(0)
            for k in range(precision):
                c = precision - 1 - k
                if k < x_known[i, j]:
                    digit = -np.int64(x[i, j, c]) - borrow
                    borrow = np.int64(digit < 0)
                    out[i, j, c] = digit + borrow * p
                else:
                    out[i, j, c] = 0


@njit(cache=True, nogil=True)
def low_zeros(digits: Array, known: int) -> int:
    """Return how many of the known low digits are zero (all of them for a number that may be zero)."""
    precision = digits.shape[0]
    k = 0
    while k < known and digits[precision - 1 - k] == 0:
        k += 1
    return k


@njit(cache=True, nogil=True)
def multiply(a: Operand, b: Operand, primes: Array, precisions: Array, below: int, result: Operand) -> Failure:
    """Write a · b: one convolution of digits per coordinate, the digits `below` moved below the window.

    As many as there are fractional digits, unless a or b has others; each may have other columns than the result.
    """
    (x, x_known), (y, y_known), (out, out_known) = a, b, result
    size, n_primes, precision = out.shape
    x_last, y_last = x.shape[2] - 1, y.shape[2] - 1
    for i in range(size):
        for j in range(n_primes):
            p = np.int64(primes[j])
            v = low_zeros(x[i, j], x_known[i, j])
            w = low_zeros(y[i, j], y_known[i, j])
            if v < x_known[i, j] and w < y_known[i, j] and v + w < below:
                return i, j, BELOW_WINDOW
            total = min(v + y_known[i, j], w + x_known[i, j], precisions[j] + below)
            if total <= below:
                return i, j, NOTHING_KNOWN
            # `Window.suits_kernels` keeps N·p² below 2^62, so N products and the carry fit int64.
            carry = np.int64(0)
            for t in range(v + w, total):
                for s in range(max(v, t - y_last), min(t - w, x_last) + 1):
                    carry += np.int64(x[i, j, x_last - s]) * np.int64(y[i, j, y_last - (t - s)])
                # Below the window lie zeros alone: t starts there only if all known digits of x or y are 0.
                if t >= below:
                    out[i, j, precision - 1 - (t - below)] = carry % p
                carry //= p
            known = total - below
            for k in range(precision):
                if k + below < v + w or k >= known:
                    out[i, j, precision - 1 - k] = 0
            out_known[i, j] = known
    return -1, 0, FITS


@njit(cache=True, nogil=True)
def divide(a: Operand, b: Operand, primes: Array, precisions: Array, above: int, result: Operand) -> Failure:
    """Write a / b: Hensel lifting on digit arrays, the remainder carried as in long division from the low end.

    A quotient of units begins at the position `above` of the window, F unless a or b has other fractional digits; each
    may have other columns than the result.
    """
    (x, x_known), (y, y_known), (out, out_known) = a, b, result
    size, n_primes, precision = out.shape
    x_last, y_last = x.shape[2] - 1, y.shape[2] - 1
    for i in range(size):
        for j in range(n_primes):
            p = np.int64(primes[j])
            v = low_zeros(x[i, j], x_known[i, j])
            w = low_zeros(y[i, j], y_known[i, j])
            if w == y_known[i, j]:
                return i, j, NOTHING_KNOWN
            shift = above + v - w
            if v < x_known[i, j] and shift < 0:
                return i, j, BELOW_WINDOW
            known = min(precisions[j], shift + min(x_known[i, j] - v, y_known[i, j] - w))
            if known <= 0:
                return i, j, NOTHING_KNOWN
            for k in range(precision):
                out[i, j, precision - 1 - k] = 0
            if v < x_known[i, j]:
                unit = np.int64(y[i, j, y_last - w])
                inverse = inverse_mod(unit, p)
                # As in `multiply`, N·p² below 2^62 keeps it in int64; digit · unit makes it divisible by p.
                remainder = np.int64(0)
                for t in range(known - shift):
                    remainder += np.int64(x[i, j, x_last - v - t])
                    for s in range(t):
                        remainder -= np.int64(out[i, j, precision - 1 - shift - s]) * np.int64(
                            y[i, j, y_last - w - (t - s)]
                        )
                    digit = (remainder % p) * inverse % p
                    out[i, j, precision - 1 - shift - t] = digit
                    remainder = (remainder - digit * unit) // p
            out_known[i, j] = known
    return -1, 0, FITS


@njit(cache=True, nogil=True)
def gcd(a: Array, b: Array, out: Array) -> None:
    """Write the greatest common divisors of integers from 1 to 2^53, all float64 (size,).

    Euclid's algorithm on a block at a time, so it compiles to vector instructions. The quotient of such floats
    never rounds up to an integer that it does not reach, so remainders are exact.
    """
    rest = np.empty(BLOCK, np.float64)
    for start in range(0, a.shape[0], BLOCK):
        size = min(BLOCK, a.shape[0] - start)
        left = out[start : start + size]
        for i in range(size):
            left[i], rest[i] = a[start + i], b[start + i]
        is_done = False
        while not is_done:
            is_done = True
            for i in range(size):
                x, y = left[i], rest[i]
                # Numbers that are done stay as they are, without a branch, until all of the block are.
                divisor = y if y > 0 else 1.0
                remainder = x - np.floor(x / divisor) * divisor
                left[i] = y if y > 0 else x
                rest[i] = remainder if y > 0 else 0.0
                is_done &= remainder == 0
