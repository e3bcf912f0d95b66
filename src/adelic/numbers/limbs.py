"""The fast way from numbers to digits: Hensel lifting in limbs of four digits, in vector registers.

A limb is what four digits make, 0 … p^4 − 1. For a block of numbers and one prime the limbs are found first, as loops
over the block that compile to vector instructions:

- The remainder of a 64-bit integer v modulo P = p^4 is v − P·⌊v/P⌋, the quotient estimated in float64 and the product
  taken modulo 2^64; the estimate is off by little, and a second, exact step makes up for that.
- A limb of n/m is c = n · m^(-1) mod P, and then n becomes (n − c·m) / P. The division is exact and its result fits
  int64, so it is a multiplication by P^(-1) modulo 2^64, whatever overflowed before.
- m^(-1) mod p^2 stands in a table; one Newton step makes it the inverse modulo p^4.
- At p = 2 a limb is four bits of n · m^(-1) modulo 2^64.

Then four limbs at a time are spread to sixteen digits: digit k of c is ⌊c/p^k⌋ − p·⌊c/p^(k+1)⌋, in float32, which is
exact (with c + 1/2 for c, so that rounding crosses no integer) while p^4 < 2^22. Only the sixteen lanes of a vector and
shuffles of them are asked of the compiler (LLVM), which makes the best of them on every processor.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

Array = npt.NDArray[Any]

DIGITS = 4
LANES = 16
"""So many digits, and so many numbers, are written at once."""
BLOCK = 512
GREATEST_PRIME = 43  # 43^4 < 2^22 < 47^4
GREATEST_PRECISION = 64  # bits of n/m modulo 2^64


class Plan(NamedTuple):
    """The constants of a set of primes, one entry a prime.

    Attributes:
        primes: int64.
        limb: p^4, int64.
        limb_inverse: p^(-4) modulo 2^64, uint64 (0 for p = 2).
        powers: float32 (n_primes, 16): p^(-3), …, p^0, four times.
        inverses: int32, the inverses modulo p^2 of 0 … p^2 − 1, 0 where there is none, of all primes in a row.
        starts: int64, where each prime's inverses start.
    """

    primes: Array
    limb: Array
    limb_inverse: Array
    powers: Array
    inverses: Array
    starts: Array


@cache
def plan(primes: tuple[int, ...]) -> Plan:
    """Return the constants of these primes.

    >>> plan((3, 5)).limb.tolist(), plan((3, 5)).inverses[:9].tolist()
    ([81, 625], [0, 1, 5, 0, 7, 2, 0, 4, 8])
    """
    exponents = DIGITS - 1 - np.arange(LANES) % DIGITS
    base = np.array(primes, np.float64)[:, None]
    tables = [[pow(a, -1, p * p) if a % p else 0 for a in range(p * p)] for p in primes]
    return Plan(
        primes=np.array(primes, np.int64),
        limb=np.array([p**DIGITS for p in primes], np.int64),
        limb_inverse=np.array([pow(p**DIGITS, -1, 2**64) if p > 2 else 0 for p in primes], np.uint64),
        powers=(base**-exponents).astype(np.float32),
        inverses=np.array([a for table in tables for a in table], np.int32),
        starts=np.cumsum([0, *(p * p for p in primes[:-1])], dtype=np.int64),
    )


def _spread(typing: Any, limbs: Any, first: Any, powers: Any, p: Any, out: Any, at: Any, row: Any) -> Any:
    """Write digits of sixteen numbers: limbs[l, i] + 1/2 lies at first + BLOCK·l + i, its digits go to out[at + row·i].

    Args:
        typing: numba's, which adds it.
        limbs: float32, contiguous.
        first: where the lowest of the four limbs of the first number lies.
        powers: p^(-3), …, p^0, four times, float32.
        p: the prime, float32.
        out: float32 or uint8, contiguous; sixteen digits a number, the highest first.
        at: where the first number's digits go.
        row: the distance between two numbers' digits.
    """
    signature = types.void(limbs, types.intp, powers, types.float32, out, types.intp, types.intp)
    element = ir.FloatType() if out.dtype == types.float32 else ir.IntType(8)
    alignment = 4 if out.dtype == types.float32 else 1
    floats, digits_type = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(element, LANES)
    i32, i64 = ir.IntType(32), ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data_of(index: int) -> Any:
            return cgutils.create_struct_proxy(signature.args[index])(context, builder, arguments[index]).data

        def load(pointer: Any) -> Any:
            value = builder.load(builder.bitcast(pointer, floats.as_pointer()))
            value.align = 4
            return value

        def call(name: str, *operands: Any) -> Any:
            kind = ir.FunctionType(floats, [floats] * len(operands))
            function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32")
            return builder.call(function, operands)

        def choose(a: Any, b: Any, lanes: list[int]) -> Any:
            return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(i32, LANES), lanes))

        first, p, at, row = (arguments[index] for index in (1, 3, 5, 6))
        limbs_data, out_data = data_of(0), data_of(4)
        powers_vector = load(data_of(2))
        minus_p = builder.insert_element(ir.Constant(floats, ir.Undefined), builder.fneg(p), ir.Constant(i32, 0))
        minus_p = choose(minus_p, minus_p, [0] * LANES)
        rows = [
            load(builder.gep(limbs_data, [builder.add(first, ir.Constant(i64, BLOCK * limb))]))
            for limb in range(LANES // DIGITS)
        ]
        zeros = ir.Constant(floats, [0.0] * LANES)
        above = [lane - 1 if lane % DIGITS else LANES for lane in range(LANES)]
        for i in range(LANES):
            group, place = divmod(i, DIGITS)
            if place == 0:  # bring the limbs of four numbers together, those of one row side by side
                quarter = range(DIGITS * group, DIGITS * (group + 1))
                halves = [*quarter, *(LANES + lane for lane in quarter)] * 2
                high, low = choose(rows[3], rows[2], halves), choose(rows[1], rows[0], halves)
                four = choose(high, low, [*range(8), *range(LANES, LANES + 8)])
            limb = choose(four, four, [lane - lane % DIGITS + place for lane in range(LANES)])
            quotient = call("floor", builder.fmul(limb, powers_vector))
            digits = call("fma", minus_p, choose(quotient, zeros, above), quotient)
            if out.dtype != types.float32:
                digits = builder.fptoui(digits, digits_type)
            target = builder.bitcast(builder.gep(out_data, [at]), digits_type.as_pointer())
            builder.store(digits, target).align = alignment
            at = builder.add(at, row)
        return context.get_dummy_value()

    return signature, generate


spread: Any = intrinsic(_spread)


@njit(cache=True, nogil=True, inline="always")
def small_remainder(v: Any, modulus: Any, inverse: Any) -> Any:
    """Return v modulo `modulus`, for |v| < 2^51; `inverse` is 1 / modulus."""
    return v - np.int64(np.floor((np.float64(v) + 0.5) * inverse)) * modulus


@njit(cache=True, nogil=True, inline="always")
def remainder(v: Any, modulus: Any, inverse: Any) -> Any:
    """Return v modulo `modulus`, for any int64."""
    near = v - np.int64(np.floor(np.float64(v) * inverse)) * modulus  # |near| < 2^13 · modulus
    return small_remainder(near, modulus, inverse)


@njit(cache=True, nogil=True)
def integer_limbs(x: Array, p: int, limb: int, limbs: Array) -> None:
    """Write the limbs of integers, int64 (size,), and a half each, into limbs[:, :size]."""
    if p == 2:
        for k in range(limbs.shape[0]):
            shift, row = min(DIGITS * k, 63), limbs[k]
            for i in range(x.shape[0]):
                row[i] = np.float32((x[i] >> shift) & 15) + np.float32(0.5)
        return
    pair = limb * limb
    limb_float, pair_float = np.float64(limb), np.float64(pair)
    limb_inverse, pair_inverse = 1.0 / limb_float, 1.0 / pair_float
    rest = np.empty(BLOCK, np.float64)
    row, next_row = limbs[0], limbs[1]
    for i in range(x.shape[0]):
        quotient = np.int64(np.floor(np.float64(x[i]) * pair_inverse))
        low = x[i] - quotient * pair
        negative, large = np.int64(low < 0), np.int64(low >= pair)  # the estimate is off by one at most
        low += (negative - large) * pair
        rest[i] = np.float64(quotient - negative + large)
        low_float = np.float64(low)
        second = np.floor((low_float + 0.5) * limb_inverse)
        row[i] = low_float - second * limb_float + 0.5
        next_row[i] = second + 0.5
    for k in range(2, limbs.shape[0], 2):
        row, next_row = limbs[k], limbs[k + 1]
        for i in range(x.shape[0]):
            quotient_float = np.floor((rest[i] + 0.5) * pair_inverse)
            low_float = rest[i] - quotient_float * pair_float
            rest[i] = quotient_float
            second = np.floor((low_float + 0.5) * limb_inverse)
            row[i] = low_float - second * limb_float + 0.5
            next_row[i] = second + 0.5


@njit(cache=True, nogil=True)
def binary_limbs(x: Array, m: Array, limbs: Array, flags: Array) -> None:
    """Write the limbs of x / m at p = 2 into limbs[:, :size]; flag the numbers whose m is even."""
    two = np.uint64(2)
    quotients = np.empty(BLOCK, np.uint64)
    for i in range(x.shape[0]):
        odd = np.uint64(m[i])
        inverse = (np.uint64(3) * odd) ^ two  # right modulo 2^5; each step doubles the bits
        inverse *= two - odd * inverse
        inverse *= two - odd * inverse
        inverse *= two - odd * inverse
        inverse *= two - odd * inverse
        quotients[i] = np.uint64(x[i]) * inverse
    for i in range(x.shape[0]):
        flags[i] |= np.uint8(m[i] & 1) ^ np.uint8(1)
    for k in range(limbs.shape[0]):
        shift, row = np.uint64(DIGITS * k), limbs[k]
        for i in range(x.shape[0]):
            row[i] = np.float32((quotients[i] >> shift) & np.uint64(15)) + np.float32(0.5)


@njit(cache=True, nogil=True)
def rational_limbs(
    x: Array, m: Array, p: int, limb: int, limb_inverse: Any, inverses: Array, limbs: Array, flags: Array
) -> None:
    """Write the limbs of x / m at an odd p into limbs[:, :size]; flag the numbers whose m is divisible by p."""
    square = p * p
    per_limb, per_square = 1.0 / np.float64(limb), 1.0 / np.float64(square)
    rest, inverse = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for i in range(x.shape[0]):
        rest[i] = remainder(m[i], limb, per_limb)
    for i in range(x.shape[0]):
        inverse[i] = inverses[small_remainder(rest[i], square, per_square)]
    for i in range(x.shape[0]):
        flags[i] |= np.uint8(inverse[i] == 0)
    for i in range(x.shape[0]):
        error = small_remainder(rest[i] * inverse[i], limb, per_limb)
        inverse[i] = small_remainder(inverse[i] * (2 - error), limb, per_limb)
    for i in range(x.shape[0]):
        rest[i] = x[i]
    for k in range(limbs.shape[0]):
        row = limbs[k]
        for i in range(x.shape[0]):
            c = small_remainder(remainder(rest[i], limb, per_limb) * inverse[i], limb, per_limb)
            row[i] = np.float32(c) + np.float32(0.5)
            rest[i] = np.int64(np.uint64(rest[i] - c * m[i]) * limb_inverse)


@njit(cache=True, nogil=True)
def find_limbs(x: Array, m: Array, constants: Plan, j: int, limbs: Array, flags: Array) -> None:
    """Write the limbs of x / m (of x where m has size 0) at prime j into limbs[:, :size]."""
    p, limb = constants.primes[j], constants.limb[j]
    if m.shape[0] == 0:
        integer_limbs(x, p, limb, limbs)
    elif p == 2:
        binary_limbs(x, m, limbs, flags)
    else:
        table = constants.inverses[constants.starts[j] : constants.starts[j] + p * p]
        rational_limbs(x, m, p, limb, constants.limb_inverse[j], table, limbs, flags)


@njit(cache=True, nogil=True)
def write_rest(
    limbs: Array, constants: Plan, j: int, n_digits: int, precision: int, out: Array, at: int, row: int, size: int
) -> None:
    """Write what the whole vectors leave: the highest n_digits % 16 digits, and zeros after the point."""
    powers, p = constants.powers[j], np.float32(constants.primes[j])
    rest = n_digits % LANES
    scratch = np.empty(LANES * LANES, out.dtype)
    for i in range(0, size, LANES):
        if rest:
            first = n_digits // LANES * (LANES // DIGITS) * BLOCK
            spread(limbs, first + i, powers, p, scratch, 0, LANES)
        for number in range(LANES):
            start = at + (i + number) * row
            for digit in range(rest):
                out[start + digit] = scratch[(number + 1) * LANES - rest + digit]
            for digit in range(n_digits, precision):
                out[start + digit] = 0


@njit(cache=True, nogil=True)
def write_real_row(x: Array, m: Array, precision: int, out: Array, at: int, row: int, flags: Array) -> None:
    """Write [0, …, 0, x / m] (x where m has size 0) for each number of a block, the first one's from out[at] on.

    Numbers whose parts float64 does not hold are flagged: their quotient is not the nearest float64.
    """
    for i in range(x.shape[0]):
        start = at + i * row
        for k in range(0, precision - LANES + 1, LANES):
            for lane in range(LANES):  # one vector
                out[start + k + lane] = 0
        for k in range(precision - precision % LANES, precision):
            out[start + k] = 0
    last = at + precision - 1
    if m.shape[0] == 0:
        for i in range(x.shape[0]):
            out[last + i * row] = np.float64(x[i])
    else:
        for i in range(x.shape[0]):
            out[last + i * row] = np.float64(x[i]) / np.float64(m[i])
        for i in range(x.shape[0]):
            flags[i] |= np.uint8(abs(x[i]) >= 1 << 53) | np.uint8(abs(m[i]) >= 1 << 53)


@njit(cache=True, nogil=True)
def encode(
    numerators: Array,
    denominators: Array,
    constants: Plan,
    precision: int,
    fractional_digits: int,
    out: Array,
    skip: int,
    flags: Array,
) -> None:
    """Write the digits of numerators / denominators into `out`, sixteen numbers at a time.

    Args:
        numerators: int64 (size,), size a multiple of LANES.
        denominators: int64 (size,), not 0, signs and common factors as they come; of size 0 for integers.
        constants: of the primes, from `plan`.
        precision: N <= GREATEST_PRECISION.
        fractional_digits: F.
        out: float32 or uint8, (size, skip + n_primes, N), contiguous, flattened.
        skip: 1 for a real row [0, …, 0, n / m] before the first prime's, or 0.
        flags: uint8 (size,), zeros; 1 afterwards for numbers that are not done: a prime divides the denominator or,
            with a real row, float64 does not hold the parts.
    """
    n_primes = constants.primes.shape[0]
    row = (skip + n_primes) * precision
    n_digits = precision - fractional_digits
    n_limbs = -(-n_digits // LANES) * (LANES // DIGITS)
    limbs = np.empty((n_primes, n_limbs, BLOCK), np.float32)
    for start in range(0, numerators.shape[0], BLOCK):
        stop = min(start + BLOCK, numerators.shape[0])
        x, m, at, size = numerators[start:stop], denominators[start:stop], start * row, stop - start
        for j in range(n_primes):
            find_limbs(x, m, constants, j, limbs[j], flags[start:stop])
        for i in range(0, size, LANES):
            for j in range(n_primes):
                column = at + i * row + (skip + j) * precision + n_digits - LANES
                first = j * n_limbs * BLOCK + i
                powers, p = constants.powers[j], np.float32(constants.primes[j])
                for k in range(n_digits // LANES):
                    spread(limbs, first + k * (LANES // DIGITS * BLOCK), powers, p, out, column - k * LANES, row)
        if skip:
            write_real_row(x, m, precision, out, at, row, flags[start:stop])
        if n_digits < precision or n_digits % LANES:
            for j in range(n_primes):
                write_rest(limbs[j], constants, j, n_digits, precision, out, at + (skip + j) * precision, row, size)
