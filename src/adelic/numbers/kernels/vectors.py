"""Sixteen lanes at a time between digits and limbs: loads, shuffles and stores that are asked of the compiler (LLVM).

A limb is the number of four digits, 0 … p^4 − 1. Digit k of a limb c is ⌊c/p^k⌋ − p·⌊c/p^(k+1)⌋, in float32, which is
exact (with c + 1/2 for c, so rounding crosses no integer) while p^4 < 2^22. Only the sixteen lanes of a vector and
shuffles of them are asked for, which the compiler makes the best of on every processor.

Why by hand: numba has no vectors, and LLVM finds none in the plain loops, whose digits go to memory one by one. With
those loops instead of `spread` and `gather`, 10^5 numbers of the default space take this many times as long (processor
time, runs in turn, AVX-512 and AVX2): encoding integers 5.3 and 5.1, fractions 2.3 and 2.5, the layout of fractions 1.7
and 1.8, products 5.3 and 4.6. The loops are in tests/numbers/kernels/test_vectors.py, which holds both equal; to time
them again, put them into `limbs` and clear numba's cache (`experiments/encode.py` times the encoder as it is).
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

DIGITS = 4
LANES = 16
"""How many digits of a number, and of how many numbers, are written at once."""
LIMBS = LANES // DIGITS
BLOCK = 512
"""How many numbers are computed with at once, and so the distance between two limbs of one number."""

_BYTE, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


def array_data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of an array's data."""
    return cgutils.create_struct_proxy(kind)(context, builder, array).data


def load_vector(builder: Any, pointer: Any, vector: Any, alignment: int) -> Any:
    """Return the vector of this type that lies at a pointer."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = alignment
    return value


def _choose(builder: Any, a: Any, b: Any, lanes: Sequence[int]) -> Any:
    """Return the vector of these lanes of a (0 … 15) and b (16 … 31)."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, LANES), list(lanes)))


def _prefetch(builder: Any, target: Any, distance: Any) -> None:
    """Ask for the memory `distance` bytes further on, to write there: fetching it takes longer than the digits do."""
    kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _I32, _I32, _I32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    for_writing, into_all_caches, data = (ir.Constant(_I32, k) for k in (1, 3, 1))
    further = builder.gep(builder.bitcast(target, _BYTE.as_pointer()), [distance])
    builder.call(function, [further, for_writing, into_all_caches, data])


def _spread(typing: Any, limbs: Any, first: Any, powers: Any, j: Any, p: Any, out: Any, at: Any, row: Any) -> Any:
    """Write digits of sixteen numbers: limbs[l, i] + 1/2 lies at first + BLOCK·l + i, its digits go to out[at + row·i].

    Args:
        typing: numba's, which adds it.
        limbs: float32, contiguous.
        first: the address of the lowest of the four limbs of the first number.
        powers: float32, contiguous, (n_primes, 16): p^(-3), …, p^0, four times, for each prime.
        j: which prime it is.
        p: the prime, float32.
        out: float32 or uint8, contiguous; sixteen digits a number, the highest first.
        at: the address for the first number's digits.
        row: the distance between two numbers' digits.
    """
    signature = types.void(limbs, types.intp, powers, types.intp, types.float32, out, types.intp, types.intp)
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

        first, j, p, at, row = (arguments[index] for index in (1, 3, 4, 6, 7))
        limbs_data, powers_data, out_data = (
            array_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 5)
        )
        powers_at = builder.gep(powers_data, [builder.mul(j, ir.Constant(_I64, LANES))])
        powers_vector = load_vector(builder, powers_at, _FLOATS, 4)
        minus_p = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), builder.fneg(p), ir.Constant(_I32, 0))
        minus_p = choose(minus_p, minus_p, [0] * LANES)
        rows = [
            load_vector(builder, builder.gep(limbs_data, [builder.add(first, place)]), _FLOATS, 4)
            for place in (ir.Constant(_I64, BLOCK * limb) for limb in range(LIMBS))
        ]
        zeros, distance = ir.Constant(_FLOATS, [0.0] * LANES), builder.mul(row, ir.Constant(_I64, LANES * alignment))
        # ⌊c/p^(k+1)⌋ is in the lane before ⌊c/p^k⌋; for the highest digit of a limb it is 0.
        above = [lane - 1 if lane % DIGITS else LANES for lane in range(LANES)]
        for i in range(LANES):
            group, place = divmod(i, DIGITS)
            if place == 0:  # bring the limbs of four numbers together, the limbs of one row side by side
                quarter = range(DIGITS * group, DIGITS * (group + 1))
                halves = [*quarter, *(LANES + lane for lane in quarter)] * 2
                high, low = choose(rows[3], rows[2], halves), choose(rows[1], rows[0], halves)
                four = choose(high, low, [*range(8), *range(LANES, LANES + 8)])
            limb = choose(four, four, [lane - lane % DIGITS + place for lane in range(LANES)])
            quotient = call("floor", builder.fmul(limb, powers_vector))
            digits = call("fma", minus_p, choose(quotient, zeros, above), quotient)
            if out.dtype != types.float32:
                digits = builder.fptoui(digits, digits_type)
            target = builder.gep(out_data, [at])
            builder.store(digits, builder.bitcast(target, digits_type.as_pointer())).align = alignment
            _prefetch(builder, target, distance)
            at = builder.add(at, row)
        return context.get_dummy_value()

    return signature, generate


def _gather(typing: Any, digits: Any, at: Any, row: Any, weights: Any, j: Any, limbs: Any, first: Any) -> Any:
    """Undo `_spread`: sixteen digits each of sixteen numbers become four limbs each, without the half.

    Digits are uint8, contiguous, a number's from `at` + row·i on; limb l of number i goes to first + BLOCK·l + i of the
    limbs, float32. `typing` and `weights` are as of `_spread`, with p^3, …, p^0.
    """
    signature = types.void(digits, types.intp, types.intp, weights, types.intp, limbs, types.intp)
    bytes_type = ir.VectorType(_BYTE, LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def add_pairs(a: Any, b: Any) -> Any:
            """Return the sums of neighbours: eight of a, then eight of b."""
            even, odd = range(0, 2 * LANES, 2), range(1, 2 * LANES, 2)
            return builder.fadd(_choose(builder, a, b, even), _choose(builder, a, b, odd))

        digits_data, weights_data, limbs_data = (
            array_data(context, builder, signature.args[i], arguments[i]) for i in (0, 3, 5)
        )
        at, row, j, first = (arguments[index] for index in (1, 2, 4, 6))
        weights_at = builder.gep(weights_data, [builder.mul(j, ir.Constant(_I64, LANES))])
        weights_vector = load_vector(builder, weights_at, _FLOATS, 4)
        parts = []
        for _ in range(LANES):
            digits = load_vector(builder, builder.gep(digits_data, [at]), bytes_type, 1)
            parts.append(builder.fmul(builder.uitofp(digits, _FLOATS), weights_vector))
            at = builder.add(at, row)
        while len(parts) > DIGITS:  # sums of four: the limbs of four numbers a vector, the highest limb first
            parts = [add_pairs(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        for limb in range(LIMBS):
            lanes = range(LIMBS - 1 - limb, 2 * LANES, DIGITS)  # of two vectors, eight numbers
            low = _choose(builder, parts[0], parts[1], [*lanes, *lanes])
            high = _choose(builder, parts[2], parts[3], [*lanes, *lanes])
            row_limbs = _choose(builder, low, high, [*range(8), *range(LANES, LANES + 8)])
            target = builder.gep(limbs_data, [builder.add(first, ir.Constant(_I64, BLOCK * limb))])
            builder.store(row_limbs, builder.bitcast(target, _FLOATS.as_pointer())).align = 4
        return context.get_dummy_value()

    return signature, generate


def _spread_reals(typing: Any, reals: Any, first: Any, out: Any, at: Any, row: Any) -> Any:
    """Write fifteen zeros and a real for each of the sixteen from reals[first] on; for float32 arrays alone.

    They are float32, contiguous, and so is `out`: for other arrays this does nothing. The rest is as of `_spread`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if out.dtype == types.float32:
            reals_data, out_data = (array_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2))
            at, row = arguments[3], arguments[4]
            values = load_vector(builder, builder.gep(reals_data, [arguments[1]]), _FLOATS, 4)
            zeros = ir.Constant(_FLOATS, [0.0] * LANES)
            for lane in range(LANES):
                vector = _choose(builder, zeros, values, [0] * (LANES - 1) + [LANES + lane])
                builder.store(vector, builder.bitcast(builder.gep(out_data, [at]), _FLOATS.as_pointer())).align = 4
                at = builder.add(at, row)
        return context.get_dummy_value()

    return types.void(reals, types.intp, out, types.intp, types.intp), generate


def _copying(lanes: int) -> Any:
    """Return the function that copies this many elements from source[first] to out[at] and on, both of one dtype."""

    def copy(typing: Any, source: Any, first: Any, out: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vector = ir.VectorType(context.get_data_type(out.dtype), lanes)
            source_data, out_data = (array_data(context, builder, signature.args[i], arguments[i]) for i in (0, 2))
            values = load_vector(builder, builder.gep(source_data, [arguments[1]]), vector, 1)
            target = builder.bitcast(builder.gep(out_data, [arguments[3]]), vector.as_pointer())
            builder.store(values, target).align = 1
            return context.get_dummy_value()

        return types.void(source, types.intp, out, types.intp), generate

    return intrinsic(copy)


def _fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a·b + c, rounded once, of float64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.f64"), arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


fused: Any = intrinsic(_fused)
spread: Any = intrinsic(_spread)
gather: Any = intrinsic(_gather)
spread_reals: Any = intrinsic(_spread_reals)
copy_four: Any = _copying(4)
copy_eight: Any = _copying(8)
