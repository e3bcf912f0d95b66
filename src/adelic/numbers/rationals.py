"""Read whatever a user calls numbers into exact rationals: lossless or an error, never a silent rounding.

The forms that are read: integers of any size, `Fraction`, `Decimal`, text ("7/5", "-3", "1.25", "1e-3"), rational
numbers of sympy, python-flint and gmpy2, NumPy and torch arrays, a 2-tuple (numerators, denominators), and lists of all
of these, nested. Floats follow a policy. `residues` takes integers modulo any numbers.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf
from numbers import Rational
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DivisionByZeroError, EncodingError
from adelic.numbers import integers
from adelic.numbers.describe import at_position, describe, shortened
from adelic.numbers.primes import decimal
from adelic.numbers.threshold import GCD, are_for_numpy, are_many

_INT64_MAX = 2**63 - 1
_MAX_EXPONENT = 10**5
MAX_AXES = 60  # NumPy stops at 64, and digits need two more
_NUMBER = re.compile(r"([+-]?)(\d(?:_?\d)*)?(?:\.((?:\d(?:_?\d)*)?))?(?:[eE]([+-]?\d+))?(?:\s*/\s*(\d(?:_?\d)*))?")

_POLICIES = "floats='exact', 'shortest' or 'limit:<max denominator>'"
_NOT_IN_NUMPY = ("Int128", "UInt128")  # of polars
_NUMPY_FLOATS = ("torch.float16", "torch.float32", "torch.float64")  # bfloat16 and float8 are not

Position = tuple[int, ...]

EXACT = 2.0**53
"""Integers below it are exact in float64."""

_BLOCK = 1 << 15


@dataclass(frozen=True)
class Rationals:
    """An array of rationals, flattened; in lowest terms with positive denominators unless `read` was told otherwise.

    Attributes:
        numerators: int64, or object (Python integers) if some number needs more, shape (size,).
        denominators: the same dtype and shape; for an array of integers one 1 that is seen everywhere (stride 0).
        shape: the shape that the caller's values had.
    """

    numerators: npt.NDArray[Any]
    denominators: npt.NDArray[Any]
    shape: tuple[int, ...]

    @property
    def is_small(self) -> bool:
        """Return whether everything fits int64, which the compiled kernels need."""
        return bool(self.numerators.dtype != object)

    @property
    def is_integral(self) -> bool:
        """Return whether all are known to be integers."""
        return self.denominators.strides == (0,) or bool(np.all(self.denominators == 1))

    def reduced(self) -> "Rationals":
        """Return the same numbers in lowest terms, for int64; its arrays are its own."""
        if self.is_integral:  # without loading the compiled divisors
            return Rationals(self.numerators.copy(), np.broadcast_to(np.int64(1), self.numerators.shape), self.shape)
        n, m = np.empty_like(self.numerators), np.empty_like(self.denominators)
        for block in blocks(len(n)):
            n[block], m[block] = _reduce(self.numerators[block], self.denominators[block])
        return Rationals(n, m, self.shape)

    def fraction(self, index: int) -> Fraction:
        """Return one number by its flat index."""
        n, m = int(self.numerators[index]), int(self.denominators[index])
        return Fraction(n, m) if self.is_small else integers.fraction(n, m)


def blocks(size: int) -> Iterator[slice]:
    """Yield the parts of an array that are computed one by one, so intermediate results stay in cache."""
    for start in range(0, size, _BLOCK):
        yield slice(start, start + _BLOCK)


def _reduce(n: npt.NDArray[np.int64], m: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return int64 numerators and denominators in lowest terms, the denominators positive."""
    if (
        not are_many(len(n))
        or are_for_numpy(len(n), GCD)
        or max(abs(int(a)) for part in (n, m) for a in (part.min(), part.max())) >= EXACT
    ):
        divisor = np.gcd(n, m) * np.sign(m)
        return n // divisor, m // divisor
    from adelic.numbers.kernels import digitwise

    common = np.empty(len(n))
    digitwise.gcd(np.abs(n.astype(np.float64)), np.abs(m.astype(np.float64)), common)
    common = np.copysign(common, m)
    return (n / common).astype(np.int64), (m / common).astype(np.int64)  # exact: all are integers below 2^53


def read(values: Any, *, floats: str = "error", transient: bool = False) -> Rationals:
    """Return values as exact rationals.

    A tuple of two is a pair (numerators, denominators); lists, ranges and other tuples are sequences.

    Args:
        values: see the module's docstring.
        floats: "error" refuses floats, and so does "never", for callers that take no policy; "exact" takes the binary
            value (0.1 is 3602879701896397/36028797018963968), "shortest" the shortest decimal that names the float (0.1
            is 1/10), "limit:D" the nearest fraction with a denominator of at most D (1000000, 1e6 or 10**6). Every
            float dtype is taken as it is (float32 0.1 is 1/10 to "shortest"); bfloat16 and float8 tensors, which NumPy
            lacks, are widened to float32 first, which is
            exact.
        transient: whether the result is used at once and forgotten: int64 arrays are then taken as they are, not
            copied, and pairs of them not brought to lowest terms.

    Raises:
        EncodingError: a value is not a number, a float comes without a policy, the nesting is ragged.
        DivisionByZeroError: a denominator is zero.

    >>> read([[1, "2/4"], [0.5, -3]], floats="exact")
    Rationals(numerators=array([ 1,  1,  1, -3]), denominators=array([1, 2, 2, 1]), shape=(2, 2))
    >>> read(([1, 2], 6)).denominators
    array([6, 3])
    """
    to_fraction = float_policy(floats)
    if isinstance(values, tuple) and len(values) == 2:
        numbers = _read_pair(*values)
        return numbers.reduced() if numbers.is_small and not transient else numbers
    array = as_array(values)
    array = entries(values) if array is None else array
    return _read_array(array, to_fraction, copy=not transient)


def float_policy(floats: str) -> Callable[[Any], Fraction]:
    """Return the function that turns a finite float into a `Fraction` under a policy.

    >>> float_policy("shortest")(0.1), float_policy("limit:100")(3.14159)
    (Fraction(1, 10), Fraction(311, 99))
    """
    if floats in ("error", "never"):
        return partial(_refuse_float, advice="" if floats == "never" else f"pass {_POLICIES}, or ")
    if floats == "exact":
        return lambda value: Fraction(*value.as_integer_ratio())
    if floats == "shortest":
        return lambda value: Fraction(str(value))  # str of a NumPy float is unique in its dtype
    largest = _limit(floats) if isinstance(floats, str) else None
    if largest is not None:
        return lambda value: Fraction(*value.as_integer_ratio()).limit_denominator(largest)
    raise EncodingError(
        f"floats={describe(floats)} is not a policy; use 'error', 'exact', 'shortest' or 'limit:<max denominator>'"
    )


def _limit(floats: str) -> int | None:
    """Return the D of "limit:D", written 1000000, 1_000_000, 1e6 or 10**6; None if there is none."""
    match = re.fullmatch(r"limit:([1-9]\d*(?:_\d+)*)(?:(\*\*|[eE])(\d{1,6}))?", floats, flags=re.ASCII)
    if match is None:
        return None
    base, exponent = _parse_integer(match[1]), int(match[3] or 1)
    if match[2] and len(match[1]) * exponent > _MAX_EXPONENT:  # would fill the memory
        return None
    return base * int(10**exponent) if match[2] in ("e", "E") else int(base**exponent)


def approximation_errors(values: Any, numbers: Rationals, *, floats: str) -> npt.NDArray[np.float64] | None:
    """Return how far numbers are from the floats that they were read from, or None if nothing was approximated.

    They are |number − float|, float64 in the shape of the numbers, which `values` were read as under the policy; 0
    if a value was no float or is met exactly.

    >>> values = [3.25, 1 / 7]
    >>> approximation_errors(values, read(values, floats="limit:4"), floats="limit:4").round(4)
    array([0.    , 0.1071])
    """
    if floats in ("error", "never", "exact"):
        return None
    exact = read(values, floats="exact")
    n, m = exact.numerators, exact.denominators
    differs = np.flatnonzero((n != numbers.numerators) | (m != numbers.denominators))
    if not len(differs):
        return None
    errors = np.zeros(len(n))
    for i in differs.tolist():  # an error below float64 is still none of 0, one beyond it is infinite
        error = abs(exact.fraction(i) - numbers.fraction(i))
        errors[i] = max(nearest_float(error.numerator, error.denominator), float(np.finfo(np.float64).tiny))
    return errors.reshape(numbers.shape)


def nearest_float(n: int, m: int) -> float:
    """Return n/m correctly rounded, ±inf beyond float64.

    >>> nearest_float(1, 4), nearest_float(-(10**400), 3)
    (0.25, -inf)
    """
    try:
        return n / m
    except OverflowError:
        return inf if n > 0 else -inf


def _refuse_float(value: Any, *, advice: str) -> Fraction:
    raise EncodingError(
        f"{value!s} is a float and may not be the number you mean; {advice or 'pass '}a Fraction, a Decimal or text "
        f"such as '{value!s}'"
    )


def as_array(values: Any) -> npt.NDArray[Any] | None:
    """Return values as a NumPy array when they are an array of some library (NumPy, torch, pandas), else None.

    A masked entry, or a tensor that is sparse, quantized, nested or without data, is an EncodingError.
    """
    if isinstance(values, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(values)):
        position = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(values))[0])
        raise EncodingError(f"a masked entry{at_position(position)} is not a number; fill it, or leave it out")
    if isinstance(values, (type, np.generic)) or not hasattr(values, "__array__"):
        return None
    if any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(values).__mro__):
        try:
            tensor = values.detach().cpu()
            is_in_numpy = not tensor.is_floating_point() or str(tensor.dtype) in _NUMPY_FLOATS
            return np.asarray(tensor if is_in_numpy else tensor.float())
        except (TypeError, RuntimeError) as error:  # sparse, quantized, nested, or without data
            raise EncodingError(
                f"a tensor of {values.dtype}, {values.layout}, on {values.device} is not an array of numbers "
                f"({shortened(str(error))}); make it dense, with integers or floats"
            ) from None
    if str(getattr(values, "dtype", "")) in _NOT_IN_NUMPY:
        return np.array(values.to_list(), dtype=object)
    return np.asarray(values)


def _read_array(array: npt.NDArray[Any], to_fraction: Callable[[Any], Fraction], *, copy: bool) -> Rationals:
    """Return the numbers of an array."""
    flat = array.reshape(-1)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        numerators = flat.astype(np.int64) if copy else np.ascontiguousarray(flat, dtype=np.int64)
        return Rationals(numerators, np.broadcast_to(np.int64(1), numerators.shape), array.shape)
    if array.dtype.kind not in "ufOUT" and array.size:
        first = describe(flat[0].item() if array.dtype.kind in "bc" else flat[0])
        raise EncodingError(
            f"an array of dtype {array.dtype} holds no numbers, such as {first}{at_position((0,) * array.ndim)}; use "
            "integers, floats, objects or text"
        )
    if array.dtype == object and all(type(v) is int for v in flat):  # the common case, made quick
        return _collect([(v, 1) for v in flat], array.shape)
    # Iterating over .flat keeps NumPy scalars, so float32(0.1) is still 0.1 to the policy "shortest".
    return _collect([_read_scalar(v, at, to_fraction) for at, v in np.ndenumerate(array)], array.shape)


def _read_scalar(value: Any, position: Position, to_fraction: Callable[[Any], Fraction]) -> tuple[int, int]:
    """Return one value as (numerator, denominator) in lowest terms."""
    try:
        return _parse(value, to_fraction)
    except (EncodingError, DivisionByZeroError) as error:
        where = f"{at_position(position).strip()}: " if position else ""
        raise type(error)(f"{where}{error}") from None


def _parse(value: Any, to_fraction: Callable[[Any], Fraction]) -> tuple[int, int]:
    if isinstance(value, (bool, np.bool_)):
        raise EncodingError(f"{value!s} is a bool, not a number; write 0 or 1 instead")
    if isinstance(value, np.timedelta64):  # to NumPy an integer
        raise EncodingError(f"{describe(value)} is a span of time, not a number")
    if isinstance(value, (int, np.integer)):
        return int(value), 1
    if type(value) is Fraction:  # not of a user's class, whose parts may be anything
        return value.numerator, value.denominator
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise EncodingError(f"{shortened(str(value))} is not a rational number; only finite values can be encoded")
        is_large = value and abs(value.adjusted()) > _MAX_EXPONENT
        if not is_large and len(str(value)) <= integers.SHORT:
            return value.as_integer_ratio()
        sign, digits, exponent = value.as_tuple()
        # Long by its exponent it would fill the memory; long because its digits are written out, it may be read.
        if is_large and abs(int(exponent)) > _MAX_EXPONENT:
            raise _exponent_error(value)
        return decimal(_parse_integer("".join(map(str, digits))) * (-1 if sign else 1), int(exponent))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise EncodingError(f"{shortened(str(value))} is not a rational number; only finite values can be encoded")
        return to_fraction(value).as_integer_ratio()
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, tuple) and len(value) == 2:
        return _parse_pair(*value)
    if isinstance(value, Rational):  # of sympy, gmpy2 and others, which register their types
        return _parse_pair(value.numerator, value.denominator)
    if is_flint(value):
        return (int(value), 1) if type(value).__name__ == "fmpz" else (int(value.p), int(value.q))
    raise EncodingError(
        f"{describe(value)} of type {type(value).__name__} is not a number; use int, Fraction, Decimal, text, arrays, "
        "pairs or lists of these"
    )


def is_flint(value: Any) -> bool:
    """Return whether a value is an integer or a rational number of python-flint, which registers no types.

    >>> import flint
    >>> is_flint(flint.fmpq(1, 2)), is_flint(flint.fmpz_poly([1, 2])), is_flint(3)
    (True, False, False)
    """
    return type(value).__module__.partition(".")[0] == "flint" and type(value).__name__ in ("fmpz", "fmpq")


def _exponent_error(value: Any) -> EncodingError:
    return EncodingError(
        f"{describe(value)} has an exponent beyond ±{_MAX_EXPONENT}: refused, it would fill the memory; write all its "
        "digits, as an integer or a fraction"
    )


def _parse_text(text: str) -> tuple[int, int]:
    """Return "7/5", "-3", "1.25" or "1e-3" as (numerator, denominator); numbers may have any number of digits."""
    match = _NUMBER.fullmatch(text.strip())  # white space at the start of the pattern would be tried from every place
    if match is None or (match[2] is None and not match[3]) or (match[5] and (match[3] is not None or match[4])):
        raise EncodingError(f"{describe(text)} is not a number; write '7/5', '-3', '1.25' or '1e-3'")
    sign, whole, decimals, exponent, denominator = match.groups()
    size = (exponent or "").lstrip("+-").lstrip("0")
    # The length first, since int() refuses thousands of digits with another error.
    if len(size) > len(str(_MAX_EXPONENT)) or int(size or 0) > _MAX_EXPONENT:
        raise _exponent_error(text)
    decimals = (decimals or "").replace("_", "")
    numerator = _parse_integer((whole or "") + decimals) * (-1 if sign == "-" else 1)
    power = int(size or 0) * (-1 if (exponent or "").startswith("-") else 1) - len(decimals)
    if denominator:
        return _parse_pair(numerator, _parse_integer(denominator))
    return decimal(numerator, power)


def _parse_integer(digits: str) -> int:
    return integers.parse(digits.replace("_", ""))


def _integer(value: Any) -> int | None:
    """Return an integer of any library, also of those whose type is no int; None of a bool, an array and all else."""
    is_array = hasattr(value, "__array__") and not isinstance(value, np.generic)
    try:
        return None if is_array or isinstance(value, bool) else index(value)
    except TypeError:
        return None


def _parse_pair(numerator: Any, denominator: Any) -> tuple[int, int]:
    n, m = _integer(numerator), _integer(denominator)
    if n is None or m is None:
        raise EncodingError(
            f"({describe(numerator)}, {describe(denominator)}) is not a pair (numerator, denominator) of integers; "
            "nested sequences are written as lists"
        )
    if m == 0:
        raise DivisionByZeroError(f"{describe(n)}/0 has denominator zero")
    divisor = integers.greatest_common_divisor(n, m) * (1 if m > 0 else -1)
    return n // divisor, m // divisor


def _read_pair(numerators: Any, denominators: Any) -> Rationals:
    """Return the quotients of two (broadcastable) integer arrays; int64 ones not in lowest terms."""
    n, m = _read_integers(numerators, "numerators"), _read_integers(denominators, "denominators")
    try:
        n, m = np.broadcast_arrays(n, m)
    except ValueError:
        raise EncodingError(f"numerators of shape {n.shape} and denominators of shape {m.shape} do not fit") from None
    if not np.all(m):
        position = tuple(int(i) for i in np.argwhere(m == 0)[0])
        raise DivisionByZeroError(f"{describe(int(n[position]))}/0 has denominator zero{at_position(position)}")
    shape, n, m = n.shape, n.reshape(-1), m.reshape(-1)
    if n.dtype == object or m.dtype == object or _has_int64_min(n) or _has_int64_min(m):
        return _collect([_parse_pair(a, b) for a, b in zip(n.tolist(), m.tolist(), strict=True)], shape)
    return Rationals(np.ascontiguousarray(n), np.ascontiguousarray(m), shape)


def _has_int64_min(a: npt.NDArray[np.int64]) -> bool:
    """Return whether an array holds −2^63, whose negative int64 does not hold."""
    return bool(np.any(a == np.iinfo(np.int64).min))


def _read_integers(values: Any, role: str) -> npt.NDArray[Any]:
    if isinstance(values, tuple):
        values = list(values)
    part = read(values, transient=True)
    if not part.is_integral:
        i = int(np.flatnonzero(part.denominators != 1)[0])
        position = np.unravel_index(i, part.shape)
        raise EncodingError(
            f"{describe(part.fraction(i))}{at_position(position)} is not an integer; the {role} of a pair "
            "(numerators, denominators) are"
        )
    return part.numerators.reshape(part.shape)


def _collect(pairs: list[tuple[int, int]], shape: tuple[int, ...]) -> Rationals:
    """Return pairs in lowest terms as `Rationals`, int64 if they all fit."""
    if all(-_INT64_MAX - 1 <= n <= _INT64_MAX and m <= _INT64_MAX for n, m in pairs):
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return Rationals(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]), shape)
    n, m = (np.array(part, dtype=object) for part in zip(*pairs, strict=True))
    return Rationals(n, m, shape)


def residues(numbers: Any, moduli: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the residues of integers modulo numbers below 2^63.

    From (*,), whatever `AdeleSpace.encode` takes, to int64 (*, len(moduli)), each from 0 to the modulus less one. A
    value that is not an integer is an EncodingError.

    >>> residues([-1, 10**30], (2, 7, 10)).tolist()
    [[1, 6, 9], [0, 1, 0]]
    """
    parsed = read(numbers)
    if not parsed.is_integral:
        first = int(np.flatnonzero(parsed.denominators != 1)[0])
        position = at_position(np.unravel_index(first, parsed.shape))
        raise EncodingError(
            f"{describe(parsed.fraction(first))}{position} is a fraction, and residues are of integers; the adelic "
            "embedding holds fractions"
        )
    values = parsed.numerators
    # NumPy raises if a Python integer beyond int64 is divided by a NumPy integer.
    given = np.array(moduli, dtype=object if values.dtype == object else np.int64)
    return np.asarray(values[:, None] % given).astype(np.int64).reshape(*parsed.shape, len(moduli))


def is_pair(value: Any) -> bool:
    """Return whether a value is a pair (numerator, denominator): a tuple of two, whatever they are.

    >>> is_pair((1, 2)), is_pair([1, 2])
    (True, False)
    """
    return isinstance(value, tuple) and len(value) == 2


def entries(values: Any, *, is_entry: Callable[[Any], bool] = is_pair) -> npt.NDArray[np.object_]:
    """Return the entries of nested sequences and arrays, numbers or not, as an array of objects (*).

    If `is_entry` is true of it, a sequence is one entry. Floats of arrays keep their types. Ragged nesting, one deeper
    than 60, or an array that `as_array` refuses, is an EncodingError.

    >>> entries([[(1, 2), None], ["x", np.float32(0.5)]]).tolist()
    [[(1, 2), None], ['x', np.float32(0.5)]]
    """
    found: list[Any] = []
    shape = _walk(values, (), is_entry, found)
    return objects(found).reshape(shape)


def _walk(values: Any, position: Position, is_entry: Callable[[Any], bool], out: list[Any]) -> tuple[int, ...]:
    """Append the entries of nested sequences, at a position of the caller's, and return their shape."""
    array = as_array(values)
    if array is not None:
        out.extend(array.ravel().tolist() if array.dtype.kind in "iu" else array.flat)
        return array.shape
    if not isinstance(values, (list, tuple, range)) or is_entry(values):
        out.append(values)
        return ()
    if len(position) >= MAX_AXES:
        raise EncodingError(f"a list nested {MAX_AXES} deep{at_position(position[:3])} is not an array of numbers")
    if all(type(v) is int for v in values):  # the common case, made quick
        out.extend(values)
        return (len(values),)
    inner: tuple[int, ...] | None = None
    for i, value in enumerate(values):
        shape = _walk(value, (*position, i), is_entry, out)
        if inner is not None and shape != inner:
            raise EncodingError(
                f"ragged nesting: the entry at position {[*position, i]} has shape {shape}, those before it {inner}; "
                "all entries of an array need the same shape"
            )
        inner = shape
    return (len(values), *(inner or ()))


def objects(values: list[Any]) -> npt.NDArray[np.object_]:
    """Return values as an array of objects with one axis, whatever they are.

    >>> objects([10**30, 2])
    array([1000000000000000000000000000000, 2], dtype=object)
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
