"""Sums of digits, eight at a time: a 64-bit word holds eight digits below 256, one a byte.

With 256 − p added to every digit of x, the byte of a digit overflows exactly where x + y, carry included, reaches p, so
that one 64-bit addition does the carries of eight digits. Where no byte overflowed, 256 − p is taken off again. (So
have decimal digits been added since the first machines with packed decimals.)
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

Array = npt.NDArray[Any]

DIGITS = 8
ONES = np.uint64(0x0101010101010101)


def _load(typing: Any, digits: Any, at: Any) -> Any:
    """Return the eight digits from digits[at] on as a word, the last of them, the lowest, in the lowest byte."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        word = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer()))
        word.align = 1
        return builder.bswap(word)  # memory is little-endian: the first digit, the highest, came into the lowest byte

    return types.uint64(digits, types.intp), generate


def _store(typing: Any, word: Any, digits: Any, at: Any) -> Any:
    """Write the eight digits of a word from digits[at] on, the lowest byte last."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[1])(context, builder, arguments[1]).data
        target = builder.bitcast(builder.gep(data, [arguments[2]]), ir.IntType(64).as_pointer())
        builder.store(builder.bswap(arguments[0]), target).align = 1
        return context.get_dummy_value()

    return types.void(types.uint64, digits, types.intp), generate


load: Any = intrinsic(_load)
store: Any = intrinsic(_store)


@njit(cache=True, nogil=True, inline="always")
def add_words(a: Any, b: Any, carry: Any, excess: Any) -> Any:
    """Return the digits of a + b + carry as a word and what is carried on, where a has 256 − p = excess added."""
    total = a + b + carry
    carries = (a & b) | ((a | b) & ~total)  # the highest bit of a byte: whether it overflowed
    overflowed = (carries >> np.uint64(7)) & ONES
    return total - (overflowed ^ ONES) * excess, carries >> np.uint64(63)


@cache
def masks(precisions: tuple[int, ...]) -> Array | None:
    """Return which digits of each prime's words there are, uint64 (n_primes, n_words), the lowest word first.

    None where all primes have as many digits: for that `add` is compiled without masks.

    >>> [[hex(word) for word in row] for row in masks((9, 2))]
    [['0xffffffffffffffff', '0xff'], ['0xffff', '0x0']]
    """
    if min(precisions) == max(precisions):
        return None
    n_words = -(-max(precisions) // DIGITS)
    rows = [[256 ** min(max(n - DIGITS * k, 0), DIGITS) - 1 for k in range(n_words)] for n in precisions]
    return np.array(rows, np.uint64)


@njit(cache=True, nogil=True)
def add(x: Array, y: Array, primes: Array, precision: int, masks: Array | None, subtract: bool, out: Array) -> None:
    """Write x + y, or x − y, of digits that are all known.

    All are uint8 (size, n_primes, precision), contiguous, flattened; an x of size 0 stands for zeros. Primes are int64,
    below 256; masks are of their precisions, from `masks`. To subtract, the digits of y become p − 1 − digit, and 1 is
    carried into the lowest one.
    """
    tail = precision % DIGITS
    shift, kept = np.uint64(8 * (DIGITS - tail)), np.uint64(8 * tail)
    at = 0
    while at < y.shape[0]:
        for j in range(primes.shape[0]):
            p = primes[j]
            excess = np.uint64(256 - p)
            zeros, greatest = excess * ONES, np.uint64(p - 1) * ONES
            carry, word, k = np.uint64(subtract), np.uint64(0), 0
            for start in range(at + precision - DIGITS, at + tail - 1, -DIGITS):
                if masks is not None and masks[j, k] == 0:
                    word = np.uint64(0)
                else:
                    a, b = zeros, load(y, start)
                    if x.shape[0]:
                        a += load(x, start)
                    if subtract:
                        b = greatest - b
                    word, carry = add_words(a, b, carry, excess)
                    if masks is not None:
                        word &= masks[j, k]
                store(word, out, start)
                k += 1
            if tail and at + DIGITS <= y.shape[0]:
                # The word that starts the row holds the digits that are left and, below them, others: those of the
                # last word, which stay, or of the next rows, which overwrite what is written here.
                a, b = zeros, load(y, at) >> shift
                if x.shape[0]:
                    a += load(x, at) >> shift
                if subtract:
                    b = greatest - b
                left, carry = add_words(a, b, carry, excess)
                if masks is not None:
                    left &= masks[j, k]
                store(left << shift | word >> kept, out, at)
            elif tail:  # a word from here on would reach beyond the array
                for c in range(at + tail - 1, at - 1, -1):
                    digit = np.int64(y[c])
                    if subtract:
                        digit = p - 1 - digit
                    digit += np.int64(carry)
                    if x.shape[0]:
                        digit += np.int64(x[c])
                    carry = np.uint64(digit >= p)
                    out[c] = digit - np.int64(carry) * p
                    if masks is not None:
                        out[c] &= (masks[j, k] >> np.uint64(8 * (at + tail - 1 - c))) & np.uint64(255)
            at += precision
