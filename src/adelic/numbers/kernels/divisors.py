"""Greatest common divisors of many integers at once."""

from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.kernels.compiling import njit

Array = npt.NDArray[Any]
BLOCK = 128


@njit(cache=True, nogil=True)
def gcd(a: Array, b: Array, out: Array) -> None:
    """Write the greatest common divisors of integers from 1 to 2^53, all float64 (size,).

    Euclid's algorithm on a block at a time, so that it compiles to vector instructions. The quotient of such floats
    never rounds up to an integer that it does not reach, so that remainders are exact.
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
