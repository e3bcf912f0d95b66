"""Sums of digits, sixteen at a time: one addition of integers, with one bit per digit, gives their carries.

With 256 − p added to every digit of x, the byte of a digit overflows exactly if x + y, carry included, reaches p.
One integer has a bit for each byte that overflows, another for each byte that is 255, which a carry runs through: their
sum has the carries. If no byte overflowed, 256 − p is taken off again.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from adelic.numbers.kernels import Array, njit
from adelic.numbers.kernels.vectors import LANES, array_data, load_vector

_BITS, _I32 = ir.IntType(LANES), ir.IntType(32)
_BOOLS, _BYTES = ir.VectorType(ir.IntType(1), LANES), ir.VectorType(ir.IntType(8), LANES)


def _add_sixteen(typing: Any, x: Any, x_at: Any, y: Any, at: Any, p: Any, subtract: Any, carry: Any, out: Any) -> Any:
    """Write sixteen digits of x ± y to out[at] and on, the highest first, and return the carry.

    Args:
        typing: numba's, which adds it.
        x: uint8, contiguous; its digits are read from x[x_at] on.
        x_at: their index.
        y: as x; its digits are read from y[at] on, and become p − 1 − digit if they are subtracted.
        at: the index of these, and of the sums.
        p: the prime, below 256.
        subtract: whether to subtract.
        carry: 0 or 1, the carry into the lowest digit.
        out: as x.
    """
    signature = types.uint32(x, types.intp, y, types.intp, types.uint8, types.boolean, types.uint32, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def reverse(vector: Any) -> Any:
            lanes = ir.Constant(ir.VectorType(_I32, LANES), list(range(LANES))[::-1])
            return builder.shuffle_vector(vector, vector, lanes)

        def everywhere(byte: Any) -> Any:
            first = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), byte, ir.Constant(_I32, 0))
            return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))

        def bits(bools: Any) -> Any:
            return builder.zext(builder.bitcast(bools, _BITS), _I32)

        def place(argument: int, at: Any) -> Any:
            return builder.gep(array_data(context, builder, signature.args[argument], arguments[argument]), [at])

        x_at, at, p, subtract, carry = (arguments[index] for index in (1, 3, 4, 5, 6))
        prime = everywhere(p)
        digits, others = (reverse(load_vector(builder, place(*where), _BYTES, 1)) for where in ((0, x_at), (2, at)))
        negative = builder.sub(builder.sub(prime, ir.Constant(_BYTES, [1] * LANES)), others)
        others = builder.select(builder.trunc(subtract, ir.IntType(1)), negative, others)
        raised = builder.sub(digits, prime)  # plus 256, which a byte does not hold
        total = builder.add(raised, others)
        through = bits(builder.icmp_unsigned("==", total, ir.Constant(_BYTES, [255] * LANES)))
        over = builder.shl(bits(builder.icmp_unsigned("<", total, raised)), ir.Constant(_I32, 1))
        sums = builder.add(builder.or_(over, carry), through)
        carries = builder.bitcast(builder.trunc(builder.xor(sums, through), _BITS), _BOOLS)
        total = builder.sub(total, builder.sext(carries, _BYTES))
        total = builder.select(builder.icmp_unsigned("<", total, raised), total, builder.add(total, prime))
        target = builder.bitcast(place(7, at), _BYTES.as_pointer())
        builder.store(reverse(total), target).align = 1
        return builder.lshr(sums, ir.Constant(_I32, LANES))

    return signature, generate


add_sixteen: Any = intrinsic(_add_sixteen)


@njit(cache=True, nogil=True)
def add_single(x: Array, y: Array, stop: int, count: int, p: int, subtract: bool, out: Array) -> None:
    """Write the lowest digits, `count` of them, of the row before out[stop] one by one; x and y as for `add`."""
    carry = int(subtract)
    for c in range(stop - 1, stop - count - 1, -1):
        digit = np.int64(y[c])
        total = (p - 1 - digit if subtract else digit) + carry
        if x.shape[0] == y.shape[0]:
            total += np.int64(x[c])
        carry = int(total >= p)
        out[c] = total - carry * p


@njit(cache=True, nogil=True)
def add(x: Array, y: Array, primes: Array, precisions: Array, precision: int, subtract: bool, out: Array) -> None:
    """Write x + y, or x − y, of digits that are all known.

    The last row comes first: its highest digits are written as a whole vector, which may begin in the row before, whose
    digits are written later. Only numbers for which it would begin before the array have their digits written singly.

    Args:
        x: uint8, (size, n_primes, N), contiguous, flattened; or sixteen zeros, to subtract from 0.
        y: as x, more than sixteen.
        primes: int64, below 256.
        precisions: of each prime, int64. If one has fewer than others, zeros are written.
        precision: N, the greatest of them.
        subtract: whether to subtract.
        out: as y.
    """
    n_primes = primes.shape[0]
    before = -precision % LANES  # digits that lie before a row and are written with it
    step = int(x.shape[0] == y.shape[0])
    for end in range(y.shape[0], 0, -n_primes * precision):
        stop = end
        for j in range(n_primes - 1, -1, -1):
            first = stop - precision
            if end - n_primes * precision < before:
                add_single(x, y, stop, precision, primes[j], subtract, out)
            else:
                carry = np.uint32(subtract)
                for start in range(stop - LANES, first - LANES, -LANES):
                    carry = add_sixteen(x, start * step, y, start, np.uint8(primes[j]), subtract, carry, out)
            if precisions[j] < precision:
                out[first : stop - precisions[j]] = 0
            stop = first
