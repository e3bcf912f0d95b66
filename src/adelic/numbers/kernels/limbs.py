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

from collections.abc import Sequence
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
        weights: float32 (n_primes, 16): p^3, …, p^0, four times.
        inverses: int32, the inverses modulo p^2 of 0 … p^2 − 1, 0 where there is none, of all primes in a row.
        starts: int64, where each prime's inverses start.
    """

    primes: Array
    limb: Array
    limb_inverse: Array
    powers: Array
    weights: Array
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
        weights=(base**exponents).astype(np.float32),
        inverses=np.array([a for table in tables for a in table], np.int32),
        starts=np.cumsum([0, *(p * p for p in primes[:-1])], dtype=np.int64),
    )


# The vectors and their shuffles, in which `_spread` and `_gather` are written.
_BYTE, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return where the data of an array lies."""
    return cgutils.create_struct_proxy(kind)(context, builder, array).data


def _load(builder: Any, pointer: Any, vector: Any, alignment: int) -> Any:
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = alignment
    return value


def _choose(builder: Any, a: Any, b: Any, lanes: Sequence[int]) -> Any:
    """Return the vector of these lanes of a (0 … 15) and b (16 … 31)."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, LANES), list(lanes)))


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
    element = ir.FloatType() if out.dtype == types.float32 else _BYTE
    alignment = 4 if out.dtype == types.float32 else 1
    digits_type = ir.VectorType(element, LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def call(name: str, *operands: Any) -> Any:
            kind = ir.FunctionType(_FLOATS, [_FLOATS] * len(operands))
            function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32")
            return builder.call(function, operands)

        def choose(a: Any, b: Any, lanes: Sequence[int]) -> Any:
            return _choose(builder, a, b, lanes)

        def prefetch(target: Any) -> None:
            """Ask for the memory that the next sixteen numbers will want here: it takes longer than their digits do."""
            kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _I32, _I32, _I32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            distance = builder.mul(row, ir.Constant(_I64, LANES * alignment))
            next_target = builder.gep(builder.bitcast(target, _BYTE.as_pointer()), [distance])
            for_writing, into_all_caches, data = 1, 3, 1
            builder.call(function, [next_target, *(ir.Constant(_I32, k) for k in (for_writing, into_all_caches, data))])

        first, p, at, row = (arguments[index] for index in (1, 3, 5, 6))
        limbs_data, powers_data, out_data = (
            _data(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 4)
        )
        powers_vector = _load(builder, powers_data, _FLOATS, 4)
        minus_p = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), builder.fneg(p), ir.Constant(_I32, 0))
        minus_p = choose(minus_p, minus_p, [0] * LANES)
        rows = [
            _load(builder, builder.gep(limbs_data, [builder.add(first, ir.Constant(_I64, BLOCK * limb))]), _FLOATS, 4)
            for limb in range(LANES // DIGITS)
        ]
        zeros = ir.Constant(_FLOATS, [0.0] * LANES)
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
            prefetch(target)
            at = builder.add(at, row)
        return context.get_dummy_value()

    return signature, generate


def _gather(typing: Any, digits: Any, at: Any, row: Any, weights: Any, limbs: Any, first: Any) -> Any:
    """Read what `_spread` writes: sixteen digits each of sixteen numbers become four limbs each, without the half.

    Args:
        typing: numba's, which adds it.
        digits: uint8, contiguous.
        at: where the first number's sixteen digits lie.
        row: the distance between two numbers' digits.
        weights: p^3, …, p^0, four times, float32.
        limbs: float32, contiguous; limb l of number i goes to first + BLOCK·l + i.
        first: where the lowest of the four limbs of the first number goes.
    """
    signature = types.void(digits, types.intp, types.intp, weights, limbs, types.intp)
    bytes_type = ir.VectorType(_BYTE, LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def add_pairs(a: Any, b: Any) -> Any:
            """Return the sums of neighbours: eight of a, then eight of b."""
            even, odd = range(0, 2 * LANES, 2), range(1, 2 * LANES, 2)
            return builder.fadd(_choose(builder, a, b, even), _choose(builder, a, b, odd))

        digits_data, weights_data, limbs_data = (
            _data(context, builder, signature.args[i], arguments[i]) for i in (0, 3, 4)
        )
        at, row, first = (arguments[index] for index in (1, 2, 5))
        weights_vector = _load(builder, weights_data, _FLOATS, 4)
        parts = []
        for _ in range(LANES):
            digits = _load(builder, builder.gep(digits_data, [at]), bytes_type, 1)
            parts.append(builder.fmul(builder.uitofp(digits, _FLOATS), weights_vector))
            at = builder.add(at, row)
        while len(parts) > DIGITS:  # sums of four: the limbs of four numbers a vector, the highest limb first
            parts = [add_pairs(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        for limb in range(LANES // DIGITS):
            lanes = range(LANES // DIGITS - 1 - limb, 2 * LANES, DIGITS)  # of two vectors, eight numbers
            low = _choose(builder, parts[0], parts[1], [*lanes, *lanes])
            high = _choose(builder, parts[2], parts[3], [*lanes, *lanes])
            row_limbs = _choose(builder, low, high, [*range(8), *range(LANES, LANES + 8)])
            target = builder.gep(limbs_data, [builder.add(first, ir.Constant(_I64, BLOCK * limb))])
            builder.store(row_limbs, builder.bitcast(target, _FLOATS.as_pointer())).align = 4
        return context.get_dummy_value()

    return signature, generate


def _spread_reals(typing: Any, reals: Any, first: Any, out: Any, at: Any, row: Any) -> Any:
    """Write fifteen zeros and a real for each of the sixteen from reals[first] on; for float32 arrays alone.

    Args:
        typing: numba's, which adds it.
        reals: float32, contiguous.
        first: where the first real lies.
        out: float32, contiguous; for others this does nothing.
        at: where the first number's fifteen zeros and real go.
        row: the distance between two numbers' reals.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if out.dtype == types.float32:
            reals_data, out_data = (_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2))
            at, row = arguments[3], arguments[4]
            values = _load(builder, builder.gep(reals_data, [arguments[1]]), _FLOATS, 4)
            zeros = ir.Constant(_FLOATS, [0.0] * LANES)
            for lane in range(LANES):
                vector = _choose(builder, zeros, values, [0] * (LANES - 1) + [LANES + lane])
                builder.store(vector, builder.bitcast(builder.gep(out_data, [at]), _FLOATS.as_pointer())).align = 4
                at = builder.add(at, row)
        return context.get_dummy_value()

    return types.void(reals, types.intp, out, types.intp, types.intp), generate


spread: Any = intrinsic(_spread)
gather: Any = intrinsic(_gather)
spread_reals: Any = intrinsic(_spread_reals)


@njit(cache=True, nogil=True, inline="always")
def small_remainder(v: Any, modulus: Any, inverse: Any) -> Any:
    """Return v modulo `modulus`, for |v| < 2^51; `inverse` is 1 / modulus."""
    return v - np.int64(np.floor((np.float64(v) + 0.5) * inverse)) * modulus


@njit(cache=True, nogil=True, inline="always")
def remainder(v: Any, modulus: Any, inverse: Any) -> Any:
    """Return v modulo `modulus`, for any int64."""
    near = v - np.int64(np.floor(np.float64(v) * inverse)) * modulus  # |near| < 2^13 · modulus
    return small_remainder(near, modulus, inverse)


@njit(cache=True, nogil=True, fastmath={"contract"})
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
        quotient = np.floor(np.float64(x[i]) * pair_inverse)  # off by one at most
        low = x[i] - np.int64(quotient) * pair
        step = 1.0 if low >= pair else (-1.0 if low < 0 else 0.0)
        half_more = np.float64(low) - step * pair_float + 0.5
        rest[i] = quotient + (step + 0.5)
        second = np.floor(half_more * limb_inverse)
        row[i] = half_more - second * limb_float
        next_row[i] = second + 0.5
    for k in range(2, limbs.shape[0], 2):
        row, next_row = limbs[k], limbs[k + 1]
        for i in range(x.shape[0]):
            quotient = np.floor(rest[i] * pair_inverse)
            half_more = rest[i] - quotient * pair_float
            rest[i] = quotient + 0.5
            second = np.floor(half_more * limb_inverse)
            row[i] = half_more - second * limb_float
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
def find_reals(x: Array, m: Array, reals: Array, flags: Array) -> None:
    """Write x / m (x where m has size 0) into reals[:size]; flag the numbers whose parts float64 does not hold."""
    if m.shape[0] == 0:
        for i in range(x.shape[0]):
            reals[i] = np.float64(x[i])
    else:
        for i in range(x.shape[0]):
            reals[i] = np.float64(x[i]) / np.float64(m[i])
        for i in range(x.shape[0]):
            flags[i] |= np.uint8(abs(x[i]) >= 1 << 53) | np.uint8(abs(m[i]) >= 1 << 53)


@njit(cache=True, nogil=True)
def write_real_rows(reals: Array, first: int, precision: int, out: Array, at: int, row: int) -> None:
    """Write [0, …, 0, real] for sixteen numbers from reals[first] on, the first one's from out[at] on."""
    last = precision - LANES  # where the vector starts that ends in the real
    if last >= 0:
        spread_reals(reals, first, out, at + last, row)
    for number in range(LANES):
        start = at + number * row
        for k in range(last if last >= 0 else precision - 1):
            out[start + k] = 0
        if last < 0:
            out[start + precision - 1] = reals[first + number]


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
    limbs, reals = np.empty((n_primes, n_limbs, BLOCK), np.float32), np.empty(BLOCK, np.float32)
    for start in range(0, numerators.shape[0], BLOCK):
        stop = min(start + BLOCK, numerators.shape[0])
        x, m, at, size = numerators[start:stop], denominators[start:stop], start * row, stop - start
        for j in range(n_primes):
            find_limbs(x, m, constants, j, limbs[j], flags[start:stop])
        if skip:
            find_reals(x, m, reals, flags[start:stop])
        for i in range(0, size, LANES):
            if skip:
                write_real_rows(reals, i, precision, out, at + i * row, row)
            for j in range(n_primes):
                column = at + i * row + (skip + j) * precision + n_digits - LANES
                first = j * n_limbs * BLOCK + i
                powers, p = constants.powers[j], np.float32(constants.primes[j])
                for k in range(n_digits // LANES):
                    spread(limbs, first + k * (LANES // DIGITS * BLOCK), powers, p, out, column - k * LANES, row)
        if n_digits < precision or n_digits % LANES:
            for j in range(n_primes):
                write_rest(limbs[j], constants, j, n_digits, precision, out, at + (skip + j) * precision, row, size)


@njit(cache=True, nogil=True)
def read_limbs(
    digits: Array, constants: Plan, j: int, precision: int, at: int, row: int, limbs: Array, size: int
) -> None:
    """Read the limbs of a block at prime j, the first number's digits from digits[at] on, into limbs[:, :size]."""
    weights = constants.weights[j]
    for k in range(precision // LANES):
        column = at + precision - LANES * (k + 1)
        for i in range(0, size, LANES):
            gather(digits, column + i * row, row, weights, limbs, k * (LANES // DIGITS) * BLOCK + i)
    for k in range(precision // LANES * (LANES // DIGITS), limbs.shape[0]):
        stop = max(precision - k * DIGITS, 0)
        for i in range(size):
            limb = 0
            for digit in range(max(stop - DIGITS, 0), stop):
                limb = limb * constants.primes[j] + digits[at + i * row + digit]
            limbs[k, i] = limb


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
def multiply(x: Array, y: Array, constants: Plan, precision: int, out: Array) -> None:
    """Write the digits of x · y, all known and F = 0, sixteen numbers at a time.

    A limb of the product is a sum of products of limbs, below 16 · 43^8 < 2^48 and so exact in float64.

    Args:
        x: uint8, (size, n_primes, N), contiguous, flattened; size a multiple of LANES, N <= GREATEST_PRECISION.
        y: as x.
        constants: of the primes, from `plan`.
        precision: N.
        out: as x.
    """
    n_primes = constants.primes.shape[0]
    row = n_primes * precision
    n_limbs = -(-precision // LANES) * (LANES // DIGITS)
    shape = (n_limbs, BLOCK)
    a, b, limbs = np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, np.float32)
    for start in range(0, x.shape[0], BLOCK * row):
        size = min(BLOCK, (x.shape[0] - start) // row)
        for j in range(n_primes):
            at = start + j * precision
            p, limb = np.float32(constants.primes[j]), np.float64(constants.limb[j])
            read_limbs(x, constants, j, precision, at, row, a, size)
            read_limbs(y, constants, j, precision, at, row, b, size)
            if n_limbs == 4:
                multiply_four_limbs(a, b, limb, limbs, size)
            else:
                multiply_limbs(a, b, limb, limbs, size)
            for k in range(precision // LANES):
                column = at + precision - LANES * (k + 1)
                for i in range(0, size, LANES):
                    spread(limbs, k * (LANES // DIGITS) * BLOCK + i, constants.powers[j], p, out, column + i * row, row)
            if precision % LANES:
                write_rest(limbs, constants, j, precision, precision, out, at, row, size)
