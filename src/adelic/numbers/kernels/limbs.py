"""The fast way from numbers to digits, and to their products: limbs of four digits, in vector registers.

A limb is the number of four digits, 0 … p^4 − 1. For a block of numbers and one prime the limbs are found first, as
loops over the block that compile to vector instructions:

- All but p = 2 is computed in float64: AVX2 has no product of 64-bit integers, and nothing that makes one of a float.
- A 64-bit integer is h·2^32 + l. Its remainder modulo P = p^4 is the remainder of h·(2^32 mod P) + l, which float64
  holds.
- A limb of n/m is c = n · m^(-1) mod P, and then n becomes (n − c·m) / P: h − c·m_h is divided with a remainder, which
  goes into l. That division is exact, so its rounded result is right however c·m_l was rounded.
- m^(-1) mod p^2 is in a table; one Newton step makes it the inverse modulo p^4.
- At p = 2 a limb is four bits of n · m^(-1) modulo 2^64.

Then four limbs at a time are spread to sixteen digits (`vectors`), in whole vectors also if a window has fewer. A
product reads limbs from digits, multiplies them in float64 and writes digits again.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from adelic.numbers.kernels import Array, njit
from adelic.numbers.kernels.vectors import (
    BLOCK,
    DIGITS,
    LANES,
    LIMBS,
    copy_eight,
    copy_four,
    fused,
    gather,
    spread,
    spread_reals,
)

TWO_32, TWO_53 = 2.0**32, 2.0**53


class Plan(NamedTuple):
    """The constants of a window of digits; of arrays one entry per prime.

    Attributes:
        primes: int64.
        limb: p^4, int64.
        powers: float32 (n_primes, 16): p^(-3), …, p^0, four times.
        weights: float32 (n_primes, 16): p^3, …, p^0, four times.
        inverses: int32, the inverses modulo p^2 of 0 … p^2 − 1, 0 if there is none, of all primes in a row.
        starts: int64, the index at which each prime's inverses start.
        precisions: int64, how many digits each prime has.
        precision: N <= 64, the greatest of them; if a prime has fewer, zeros are written.
        fractional_digits: F.
    """

    primes: Array
    limb: Array
    powers: Array
    weights: Array
    inverses: Array
    starts: Array
    precisions: Array
    precision: int
    fractional_digits: int


@lru_cache(maxsize=1024)
def plan(primes: tuple[int, ...], precisions: tuple[int, ...], fractional_digits: int) -> Plan:
    """Return the constants of a window.

    >>> constants = plan((3, 5), (16, 16), 0)
    >>> constants.limb.tolist(), constants.inverses[:9].tolist()
    ([81, 625], [0, 1, 5, 0, 7, 2, 0, 4, 8])
    """
    exponents = DIGITS - 1 - np.arange(LANES) % DIGITS
    base = np.array(primes, np.float64)[:, None]
    tables = [[pow(a, -1, p * p) if a % p else 0 for a in range(p * p)] for p in primes]
    return Plan(
        primes=np.array(primes, np.int64),
        limb=np.array([p**DIGITS for p in primes], np.int64),
        powers=(base**-exponents).astype(np.float32),
        weights=(base**exponents).astype(np.float32),
        inverses=np.array([a for table in tables for a in table], np.int32),
        starts=np.cumsum([0, *(p * p for p in primes[:-1])], dtype=np.int64),
        precisions=np.array(precisions, np.int64),
        precision=max(precisions),
        fractional_digits=fractional_digits,
    )


@njit(cache=True, nogil=True, inline="always")
def small_remainder(v: Any, modulus: Any, inverse: Any) -> Any:
    """Return v modulo `modulus`, for integers |v| < 2^51 in float64; `inverse` is 1 / modulus."""
    # (v + 1/2) / modulus is at least 1/(2·modulus) from every integer: farther than rounding reaches.
    return v - np.floor((v + 0.5) * inverse) * modulus


@njit(cache=True, nogil=True)
def split_integers(v: Array, parts: Array, first: int) -> None:
    """Write of each integer v = h·2^32 + l, int64, into three rows from parts[first] on: h, l and v rounded."""
    high, low, whole = parts[first], parts[first + 1], parts[first + 2]
    for i in range(v.shape[0]):  # processors turn 32 bits into floats, not all of them 64
        high[i], low[i] = np.float64(np.int32(v[i] >> 32)), np.float64(np.uint32(v[i]))
        whole[i] = high[i] * TWO_32 + low[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def integer_limbs(x: Array, parts: Array, p: int, limb: int, limbs: Array) -> None:
    """Write the limbs of integers x, int64 (size,), and a half each, into limbs[:, :size]; parts as of `encode`."""
    if p == 2:
        for k in range(limbs.shape[0]):
            shift, row = DIGITS * k, limbs[k]
            for i in range(x.shape[0]):
                row[i] = np.float32(np.int32(x[i] >> shift) & 15) + np.float32(0.5)
        return
    # Two limbs at a time take half as many of the long quotients; p^8 < 2^44 is exact in float64.
    limb_float, pair = np.float64(limb), np.float64(limb * limb)
    limb_inverse, pair_inverse = 1.0 / limb_float, 1.0 / pair
    high, low, whole, rest = parts[0], parts[1], parts[2], parts[6]
    row, next_row = limbs[0], limbs[1]
    for i in range(x.shape[0]):
        quotient = np.floor(whole[i] * pair_inverse)  # off by one at most
        half_more = fused(-quotient, pair, high[i] * TWO_32) + (low[i] + 0.5)
        # With a half more, and below 2^51, numbers are farther from multiples than rounding reaches.
        second = np.floor(half_more * limb_inverse)
        row[i] = half_more - second * limb_float
        second += 0.5
        carry = np.floor(second * limb_inverse)
        next_row[i] = second - carry * limb_float
        rest[i] = quotient + carry + 0.5
    for k in range(2, limbs.shape[0], 2):
        row, next_row = limbs[k], limbs[k + 1]
        for i in range(x.shape[0]):
            quotient = np.floor(rest[i] * pair_inverse)
            half_more = rest[i] - quotient * pair
            rest[i] = quotient + 0.5
            second = np.floor(half_more * limb_inverse)
            row[i] = half_more - second * limb_float
            next_row[i] = second + 0.5


@njit(cache=True, nogil=True)
def binary_limbs(x: Array, m: Array, limbs: Array, flags: Array) -> None:
    """Write the limbs of x / m at p = 2 into limbs[:, :size]; flag the numbers whose m is even."""
    quotients = np.empty(BLOCK, np.uint64)
    two = np.uint32(2)
    for i in range(x.shape[0]):
        odd = np.uint32(m[i])
        inverse = np.uint32(np.uint32(3) * odd) ^ two  # right modulo 2^5; each step doubles the bits
        inverse = np.uint32(inverse * np.uint32(two - np.uint32(odd * inverse)))
        inverse = np.uint32(inverse * np.uint32(two - np.uint32(odd * inverse)))
        inverse = np.uint32(inverse * np.uint32(two - np.uint32(odd * inverse)))
        quotients[i] = np.uint64(inverse)
    for i in range(x.shape[0]):
        inverse = quotients[i]
        quotients[i] = np.uint64(x[i]) * (inverse * (np.uint64(2) - np.uint64(m[i]) * inverse))
    for i in range(x.shape[0]):
        flags[i] |= np.uint8(m[i] & 1) ^ np.uint8(1)
    for k in range(limbs.shape[0]):
        shift, row = np.uint64(DIGITS * k), limbs[k]
        for i in range(x.shape[0]):
            row[i] = np.float32(np.int32(quotients[i] >> shift) & 15) + np.float32(0.5)


# Fused or not, the digits are the same: products and sums are exact except for those that are rounded to integers.
@njit(cache=True, nogil=True, fastmath={"contract"})
def rational_limbs(parts: Array, p: int, limb: int, inverses: Array, limbs: Array, flags: Array) -> None:
    """Write the limbs of x / m at an odd p into limbs[:, :size]; flag the numbers whose m is divisible by p."""
    size = flags.shape[0]
    modulus, square = np.float64(limb), np.float64(p * p)
    per_limb, per_square, high_unit = 1.0 / modulus, 1.0 / square, np.float64(2**32 % limb)
    x_high, x_low, m_high, m_low = parts[0], parts[1], parts[3], parts[4]
    high, low, rest, inverse = parts[6], parts[7], parts[8], parts[9]
    for i in range(size):
        v = m_high[i] * high_unit + m_low[i]  # below 2^53; the remainder is between −limb and 2·limb
        rest[i] = v - np.floor(v * per_limb) * modulus
        inverse[i] = small_remainder(rest[i], square, per_square)
    for i in range(size):
        inverse[i] = inverses[np.int32(inverse[i])]
    for i in range(size):
        flags[i] |= np.uint8(inverse[i] == 0)
    for i in range(size):
        error = small_remainder(rest[i] * inverse[i], modulus, per_limb)
        inverse[i] = small_remainder(inverse[i] * (2 - error), modulus, per_limb)
        high[i], low[i] = x_high[i], x_low[i]
    for k in range(limbs.shape[0]):
        row = limbs[k]
        for i in range(size):
            v = high[i] * high_unit + low[i]
            c = small_remainder((v - np.floor(v * per_limb) * modulus) * inverse[i], modulus, per_limb)
            row[i] = c + 0.5
            above = high[i] - c * m_high[i]  # below 2^53
            quotient = np.floor(above * per_limb)
            below = (above - quotient * modulus) * TWO_32 + (low[i] - c * m_low[i])  # rounded, by less than limb / 8
            high[i] = quotient
            low[i] = np.rint(below * per_limb)


@njit(cache=True, nogil=True)
def find_limbs(x: Array, m: Array, parts: Array, constants: Plan, j: int, limbs: Array, flags: Array) -> None:
    """Write the limbs of x / m (of x if m has size 0) at prime j into limbs[:, :size]; parts as of `encode`."""
    p, limb = constants.primes[j], constants.limb[j]
    if m.shape[0] == 0:
        integer_limbs(x, parts, p, limb, limbs)
    elif p == 2:
        binary_limbs(x, m, limbs, flags)
    else:
        table = constants.inverses[constants.starts[j] : constants.starts[j] + p * p]
        rational_limbs(parts, p, limb, table, limbs, flags)


@njit(cache=True, nogil=True, inline="always")
def limbs_of(count: int) -> Any:
    """Return how many limbs the lowest digits, that many, take: an even number, as `integer_limbs` makes them."""
    return -(-count // (2 * DIGITS)) * 2


@njit(cache=True, nogil=True)
def cut_limbs(p: int, count: int, limbs: Array, size: int) -> None:
    """Leave the lowest digits of limbs[:, :size], that many, which lie in the first `limbs_of`, and zeros above."""
    whole, rest = count // DIGITS, count % DIGITS
    if rest:
        row, modulus = limbs[whole], np.float32(p**rest)
        inverse = np.float32(1.0) / modulus
        for i in range(size):  # the half that every limb has keeps it farther from multiples than rounding reaches
            row[i] -= np.floor(row[i] * inverse) * modulus
    for k in range(whole + (rest > 0), limbs.shape[0]):
        row = limbs[k]
        for i in range(size):
            row[i] = np.float32(0.5)


@njit(cache=True, nogil=True)
def find_reals(parts: Array, is_integral: bool, reals: Array, flags: Array) -> None:
    """Write x / m (x if all are integers) into reals[:size]; flag the numbers whose parts float64 does not hold."""
    x, m = parts[2], parts[5]
    if is_integral:
        for i in range(flags.shape[0]):
            reals[i] = x[i]
    else:
        for i in range(flags.shape[0]):
            reals[i] = x[i] / m[i]
        for i in range(flags.shape[0]):
            flags[i] |= np.uint8(max(abs(x[i]), abs(m[i])) >= TWO_53)


@njit(cache=True, nogil=True, inline="always")
def copy_few(source: Array, first: int, out: Array, at: int, count: int) -> None:
    """Copy fewer than sixteen elements from source[first] on, in two steps that may overlap if possible."""
    if count >= 8:
        copy_eight(source, first, out, at)
        copy_eight(source, first + count - 8, out, at + count - 8)
    elif count >= 4:
        copy_four(source, first, out, at)
        copy_four(source, first + count - 4, out, at + count - 4)
    else:
        for k in range(count):
            out[at + k] = source[first + k]


@njit(cache=True, nogil=True)
def write_real_rows(reals: Array, first: int, precision: int, out: Array, at: int, row: int, zeros: Array) -> None:
    """Write [0, …, 0, real] for sixteen numbers from reals[first] on, the first one's from out[at] on."""
    last = precision - LANES  # the start of the vector that ends in the real
    if last >= 0:
        spread_reals(reals, first, out, at + last, row)
    for number in range(LANES):
        start = at + number * row
        if last >= 0:
            for k in range(last):
                out[start + k] = 0
        else:
            copy_few(zeros, 0, out, start, precision)
            out[start + precision - 1] = reals[first + number]


@njit(cache=True, nogil=True)
def write_first_digits(limbs: Array, i: int, constants: Plan, skip: int, out: Array, at: int, apart: Array) -> None:
    """Write the highest digits that `write_digits` leaves: vectors that would begin before their number, i … i + 15."""
    n_primes, n_limbs, precision = limbs.shape[0], limbs.shape[1], constants.precision
    for j in range(n_primes):
        row = (skip + j) * precision
        count = (precision - constants.fractional_digits - 1) % LANES + 1
        if row + count >= LANES:
            return
        first = (j * n_limbs + n_limbs - LIMBS) * BLOCK + i
        spread(limbs, first, constants.powers, j, np.float32(constants.primes[j]), apart, 0, LANES)
        for number in range(LANES):
            target = at + number * (skip + n_primes) * precision + row
            copy_few(apart, (number + 1) * LANES - count, out, target, count)


@njit(cache=True, nogil=True)
def write_digits(limbs: Array, reals: Array, size: int, constants: Plan, skip: int, out: Array, at: int) -> None:
    """Write the digits of a block, and its real rows, sixteen numbers at a time, from out[at] on.

    The last prime comes first: the highest digits are written as a whole vector, which may begin before their row,
    where the digits of the primes before, or the real row, are written later. Only where it would begin before the
    number itself its digits are written by way of another place.

    Limbs are float32 (n_primes, n_limbs, BLOCK), n_limbs a multiple of LIMBS that holds N − F digits, a half each;
    reals are float32 (BLOCK,), of which `size`, a multiple of LANES, are written. The first number's rows start at
    `at`; the rest is as for `encode`.
    """
    n_primes, n_limbs = limbs.shape[0], limbs.shape[1]
    precision, fractional_digits = constants.precision, constants.fractional_digits
    row = (skip + n_primes) * precision
    apart, zeros = np.empty(LANES * LANES, out.dtype), np.zeros(LANES, out.dtype)
    is_whole = precision % LANES == 0 and not fractional_digits
    for i in range(0, size, LANES):
        start = at + i * row
        for j in range(n_primes - 1, -1, -1):
            p, point = np.float32(constants.primes[j]), (skip + j + 1) * precision - fractional_digits
            for k in range(0, min(n_limbs, point // LANES * LIMBS), LIMBS):
                first = (j * n_limbs + k) * BLOCK + i
                spread(limbs, first, constants.powers, j, p, out, start + point - LANES - k * DIGITS, row)
            for number in range(LANES if fractional_digits else 0):
                for k in range(point, point + fractional_digits):
                    out[start + number * row + k] = 0
        if not is_whole:
            write_first_digits(limbs, i, constants, skip, out, start, apart)
        if skip:
            write_real_rows(reals, i, precision, out, start, row, zeros)


@njit(cache=True, nogil=True)
def encode(numerators: Array, denominators: Array, constants: Plan, out: Array, skip: int, flags: Array) -> None:
    """Write the digits of numerators / denominators into `out`, sixteen numbers at a time.

    Args:
        numerators: int64 (size,), size a multiple of LANES.
        denominators: int64 (size,), not 0, signs and common factors as they come; of size 0 for integers.
        constants: of the window, from `plan`.
        out: float32 or uint8, (size, skip + n_primes, N), contiguous, flattened; zeros if a prime has fewer digits.
        skip: 1 for a real row [0, …, 0, n / m] before the first prime's, or 0.
        flags: uint8 (size,), zeros; 1 afterwards for numbers that are not done: a prime divides the denominator or,
            with a real row, float64 does not hold the parts.
    """
    n_primes = constants.primes.shape[0]
    precisions, precision, fractional_digits = constants.precisions, constants.precision, constants.fractional_digits
    n_limbs = -(-(precision - fractional_digits) // LANES) * LIMBS
    limbs, reals = np.empty((n_primes, n_limbs, BLOCK), np.float32), np.empty(BLOCK, np.float32)
    parts = np.empty((10, BLOCK), np.float64)  # three rows of x, three of m, and room: a block is done in microseconds
    for start in range(0, numerators.shape[0], BLOCK):
        stop = min(start + BLOCK, numerators.shape[0])
        x, m = numerators[start:stop], denominators[start:stop]
        split_integers(x, parts, 0)
        split_integers(m, parts, 3)
        for j in range(n_primes):
            count = precisions[j] - fractional_digits
            used = n_limbs if precisions[j] == precision else limbs_of(count)
            find_limbs(x, m, parts, constants, j, limbs[j, :used], flags[start:stop])
            if precisions[j] < precision:
                cut_limbs(constants.primes[j], count, limbs[j], stop - start)
        if skip:
            find_reals(parts, m.shape[0] == 0, reals, flags[start:stop])
        at = start * (skip + n_primes) * precision
        write_digits(limbs, reals, stop - start, constants, skip, out, at)


@njit(cache=True, nogil=True)
def gather_first(digits: Array, column: int, row: int, weights: Array, j: int, limbs: Array, first: int) -> None:
    """Do the work of `gather` if the first number's vector would begin before all digits."""
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

    Weights are as in `Plan`, `highest` for the highest vector: 0 for digits before its row.
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
    """Return the lowest limb of a sum of products, and a half, and the carry to the next; below 2^49, exactly."""
    carry = np.floor((total + 0.5) * inverse)
    return np.float32(total - carry * limb + 0.5), carry


@njit(cache=True, nogil=True)
def multiply_four_limbs(a: Array, b: Array, limb: float, product: Array, size: int) -> None:
    """Write the four lowest limbs of products, and a half each: `multiply_limbs` in one go."""
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
def multiply(x: Array, y: Array, constants: Plan, out: Array) -> None:
    """Write the digits of x · y, all known and F = 0, sixteen numbers at a time.

    A limb of the product is a sum of products of limbs, below 16 · 43^8 < 2^48 and so exact in float64. All are uint8
    (size, n_primes, N), contiguous, flattened; size is a multiple of LANES. Constants are as in `plan`.
    """
    n_primes, precisions, precision = constants.primes.shape[0], constants.precisions, constants.precision
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
        write_digits(limbs, reals, size, constants, 0, out, start)
