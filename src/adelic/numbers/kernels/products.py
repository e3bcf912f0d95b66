"""Products of digits by limbs of four digits, as `adelic.numbers.kernels.limbs` writes them: read, multiply, write."""

from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.kernels.compiling import njit
from adelic.numbers.kernels.limbs import Plan, cut_limbs, write_digits
from adelic.numbers.kernels.vectors import BLOCK, DIGITS, LANES, LIMBS, gather

Array = npt.NDArray[Any]


@njit(cache=True, nogil=True)
def gather_first(digits: Array, column: int, row: int, weights: Array, j: int, limbs: Array, first: int) -> None:
    """Do what `gather` does where the first number's vector would begin before all digits."""
    moved = np.zeros(LANES * LANES, np.uint8)
    for number in range(LANES):
        for lane in range(LANES):
            if column + number * row + lane >= 0:
                moved[number * LANES + lane] = digits[column + number * row + lane]
    gather(moved, 0, LANES, weights, j, limbs, first)


@njit(cache=True, nogil=True)
def read_limbs(
    digits: Array, weights: Array, highest: Array, j: int, precision: int, at: int, row: int, limbs: Array, size: int
) -> None:
    """Read the limbs of a block at prime j, the first number's digits from digits[at] on, into limbs[:, :size].

    Weights are those of `Plan`, `highest` those of the highest vector: 0 for what lies before its row.
    """
    for k in range(0, limbs.shape[0], LIMBS):
        column = at + precision - LANES - k * DIGITS
        chosen = weights if k * DIGITS + LANES <= precision else highest
        if column < 0:
            gather_first(digits, column, row, chosen, j, limbs, k * BLOCK)
        for i in range(LANES if column < 0 else 0, size, LANES):
            gather(digits, column + i * row, row, chosen, j, limbs, k * BLOCK + i)


@njit(cache=True, nogil=True, inline="always")
def split_limb(total: Any, limb: Any, inverse: Any) -> Any:
    """Return the lowest limb of a sum of products, and a half, and what is carried to the next; below 2^49, exactly."""
    carry = np.floor((total + 0.5) * inverse)
    return np.float32(total - carry * limb + 0.5), carry


@njit(cache=True, nogil=True)
def multiply_four_limbs(a: Array, b: Array, limb: float, product: Array, size: int) -> None:
    """Write the four lowest limbs of products, and a half each: what `multiply_limbs` does, in one go."""
    inverse = 1 / limb
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = product[0], product[1], product[2], product[3]
    for i in range(size):
        x0, x1, x2, x3 = np.float64(a0[i]), np.float64(a1[i]), np.float64(a2[i]), np.float64(a3[i])
        y0, y1, y2, y3 = np.float64(b0[i]), np.float64(b1[i]), np.float64(b2[i]), np.float64(b3[i])
        c0[i], carry = split_limb(x0 * y0, limb, inverse)
        c1[i], carry = split_limb(x0 * y1 + x1 * y0 + carry, limb, inverse)
        c2[i], carry = split_limb(x0 * y2 + x1 * y1 + x2 * y0 + carry, limb, inverse)
        c3[i], carry = split_limb(x0 * y3 + x1 * y2 + x2 * y1 + x3 * y0 + carry, limb, inverse)


@njit(cache=True, nogil=True)
def multiply_limbs(a: Array, b: Array, limb: float, product: Array, size: int) -> None:
    """Write the lowest limbs of products, and a half each; arrays are float32 (n_limbs, BLOCK)."""
    inverse = 1 / limb
    total = np.zeros(BLOCK, np.float64)
    for k in range(product.shape[0]):
        for left in range(k + 1):
            u, v = a[left], b[k - left]
            for i in range(size):
                total[i] += np.float64(u[i]) * np.float64(v[i])
        row = product[k]
        for i in range(size):
            row[i], total[i] = split_limb(total[i], limb, inverse)


@njit(cache=True, nogil=True)
def multiply(x: Array, y: Array, constants: Plan, precisions: Array, precision: int, out: Array) -> None:
    """Write the digits of x · y, all known and F = 0, sixteen numbers at a time.

    A limb of the product is a sum of products of limbs, below 16 · 43^8 < 2^48 and so exact in float64. All are uint8
    (size, n_primes, N), contiguous, flattened; size is a multiple of LANES, N <= 64 the greatest of the precisions,
    int64. Constants are those of `plan`.
    """
    n_primes = constants.primes.shape[0]
    row = n_primes * precision
    n_limbs = -(-precision // LANES) * LIMBS
    # The highest vector of a row may begin in the row before, whose digits must not count.
    highest = constants.weights.copy()
    highest[:, : -precision % LANES] = 0
    a, b = np.empty((n_limbs, BLOCK), np.float32), np.empty((n_limbs, BLOCK), np.float32)
    limbs, reals = np.empty((n_primes, n_limbs, BLOCK), np.float32), np.empty(0, np.float32)
    for start in range(0, x.shape[0], BLOCK * row):
        size = min(BLOCK, (x.shape[0] - start) // row)
        for j in range(n_primes):
            limb = np.float64(constants.limb[j])
            read_limbs(x, constants.weights, highest, j, precision, start + j * precision, row, a, size)
            read_limbs(y, constants.weights, highest, j, precision, start + j * precision, row, b, size)
            if n_limbs == LIMBS:
                multiply_four_limbs(a, b, limb, limbs[j], size)
            else:
                multiply_limbs(a, b, limb, limbs[j], size)
            if precisions[j] < precision:
                cut_limbs(constants.primes[j], precisions[j], limbs[j], size)
        write_digits(limbs, reals, size, constants, precision, 0, 0, out, start)
