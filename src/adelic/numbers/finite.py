"""The finite places: digits of many numbers at many primes, by the compiled kernels or, for a few, by the reference.

This module encodes, adds, multiplies and divides numbers, and shows them in other windows: those that an exact operand
needs (`exact`), those that powers run through (`power`), and those asked for (`moved`).

Layout: digits (size, n_primes, precision), most significant digit first; known (size, n_primes), int32. The precision
is the one of the prime with the most digits; if another has fewer, the columns beyond are 0 and never known.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from adelic.errors import AdelicError, PrecisionError
from adelic.numbers import hensel, integers, real
from adelic.numbers.describe import at_position, describe, expansion_text
from adelic.numbers.hensel import BelowWindowError, NothingKnownError, Residue
from adelic.numbers.primes import largest_valuation, valuation
from adelic.numbers.rationals import Rationals, blocks
from adelic.numbers.threshold import FEW, are_for_numpy, are_many
from adelic.numbers.window import Window

LIMB_PRIME, LIMB_PRECISION = 43, 64  # 43^4 < 2^22 < 47^4; bits of n/m modulo 2^64
"""The reach of `adelic.numbers.kernels.limbs`: the greatest prime and precision."""

_ALL = slice(None)
_TABLE = 256
"""Below it NumPy looks up a prime's inverses."""
_QUOTIENT = 2
"""A digit of a quotient takes NumPy as long as so many of an integer."""

Digits = npt.NDArray[np.unsignedinteger[Any]]
Known = npt.NDArray[np.int32]
T = TypeVar("T")


@dataclass(frozen=True)
class FinitePlaces:
    """The p-adic coordinates of an array of numbers.

    Attributes:
        digits: unsigned, (*, n_primes, precision), most significant digit first; unknown digits are 0.
        known: int32, (*, n_primes): how many digits, from the lowest one of the window upwards, are known.
        fractional_digits: how many of the digits are below p^0, if `exact` gives another number than the window's.
    """

    digits: Digits
    known: Known
    fractional_digits: int | None = None

    def __getitem__(self, key: Any) -> "FinitePlaces":
        keys = key if isinstance(key, tuple) else (key,)
        if any(k is Ellipsis for k in keys):  # the axes of primes and digits stay out of it
            return replace(self, digits=self.digits[(*keys, _ALL, _ALL)], known=self.known[(*keys, _ALL)])
        return replace(self, digits=self.digits[keys], known=self.known[keys])

    def reshape(self, shape: tuple[int, ...]) -> "FinitePlaces":
        """Return the same coordinates under another array shape."""
        digits = self.digits.reshape(*shape, *self.digits.shape[-2:])
        return replace(self, digits=digits, known=self.known.reshape(*shape, self.known.shape[-1]))

    def broadcast_to(self, shape: tuple[int, ...]) -> "FinitePlaces":
        """Return the same coordinates broadcast to an array shape."""
        digits = np.broadcast_to(self.digits, (*shape, *self.digits.shape[-2:]))
        return replace(self, digits=digits, known=np.broadcast_to(self.known, (*shape, self.known.shape[-1])))

    def below(self, window: Window) -> int:
        """Return how many digits are below p^0, for coordinates that an operation takes next to a window's."""
        return window.fractional_digits if self.fractional_digits is None else self.fractional_digits


class OperationError(AdelicError, ArithmeticError):
    """An operation failed at one number and prime; arrays reword it with the position of the number."""

    def __init__(self, name: str, index: int, p: int, cause: Exception, precision: int, window: Window) -> None:
        noun = {"multiply": "product", "divide": "quotient", "power": "power", "move": "number"}[name]
        if isinstance(cause, BelowWindowError):
            text = (
                f"has {p}-adic valuation −{cause.needed}, below the window of fractional_digits="
                f"{window.fractional_digits}; fractional_digits={cause.needed} would hold it: with_window changes it"
            )
        else:
            text = f"has no known {p}-adic digit at precision={precision}; more known digits would keep some"
        super().__init__(f"the {noun} {text}")
        self.noun, self.index, self.text = noun, index, text


def digit_dtype(primes: Sequence[int]) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest unsigned dtype that holds a digit of each prime, objects if one is beyond 2^64.

    >>> digit_dtype((2, 3, 251)), digit_dtype((2, 257)), digit_dtype((2**89 - 1,))
    (dtype('uint8'), dtype('uint16'), dtype('O'))
    """
    return np.min_scalar_type(max(primes) - 1)


def all_known(window: Window, shape: int | tuple[int, ...]) -> Known:
    """Return the (*shape, n_primes) count of known digits of exact numbers, without storing it a number."""
    axes = (shape,) if isinstance(shape, int) else shape
    return np.broadcast_to(np.array(window.precisions, dtype=np.int32), (*axes, len(window.primes)))


def kernels() -> ModuleType:
    """Import the compiled kernels on first use."""
    from adelic.numbers.kernels import digitwise as compiled

    return compiled


def encode(rationals: Rationals, window: Window, out: npt.NDArray[Any], *, threads: int = 1) -> None:
    """Write the digits of rationals into `out`, (size, n_primes, precision), of any numeric dtype.

    A denominator with more factors p than the window has fractional digits is a PrecisionError.
    """
    # Four ways to the same digits; each is the fastest for so many numbers, of this size, at these primes.
    if _suits_columns(rationals, window):
        _encode_columns(rationals, window, out)
    elif _suits_limbs(rationals, window, out.dtype) and out.flags.c_contiguous:
        rest = _encode_limbs(rationals, window, out, skip=0, threads=threads)
        _encode_some(rationals, window, out, rest)
    elif rationals.is_small and window.suits_kernels and are_many(len(rationals.numerators)):
        _encode_some(rationals, window, out, np.arange(len(rationals.numerators)))
    else:
        _encode_few(rationals, window, out)


def tensor(rationals: Rationals, window: Window, out: npt.NDArray[np.float32], *, threads: int = 1) -> None:
    """Write the paper's layout of rationals into `out`, float32 (size, n_primes + 1, precision), contiguous.

    The rationals need not be in lowest terms. A real value beyond float32 becomes infinite. Errors are
    those of `encode`.
    """
    rest = np.arange(len(rationals.numerators))
    write: Callable[[Rationals, Window, npt.NDArray[Any]], None] = encode
    if _suits_columns(rationals, window):
        write = _encode_columns
    elif _suits_limbs(rationals, window, out.dtype):
        rest = _encode_limbs(rationals, window, out, skip=1, threads=threads)
    if len(rest):
        numbers = Rationals(rationals.numerators[rest], rationals.denominators[rest], (len(rest),))
        if numbers.is_small:
            numbers = numbers.reduced()
        part = np.empty((len(rest), *out.shape[1:]), dtype=np.float32)
        try:
            write(numbers, window, part[:, 1:])
        except PrecisionError:
            write(rationals.reduced() if rationals.is_small else rationals, window, out[:, 1:])  # names the position
            raise
        part[:, 0, :-1] = 0
        with np.errstate(over="ignore"):
            part[:, 0, -1] = real.nearest_floats(numbers)
        out[rest] = part


def _suits_limbs(rationals: Rationals, window: Window, dtype: np.dtype[Any]) -> bool:
    """Return whether `adelic.numbers.kernels.limbs` can encode these numbers, and they are worth it."""
    return (
        rationals.is_small
        and dtype in (np.float32, np.uint8)
        and _has_limbs(window)
        and are_many(len(rationals.numerators))
    )


def _has_limbs(window: Window) -> bool:
    """Return whether `adelic.numbers.kernels.limbs` reaches these primes and this precision."""
    return max(window.primes) <= LIMB_PRIME and window.precision <= LIMB_PRECISION


def _encode_limbs(
    rationals: Rationals, window: Window, out: npt.NDArray[Any], *, skip: int, threads: int
) -> npt.NDArray[np.intp]:
    """Encode by limbs, with a real row if `skip` is 1; return the indices of the numbers that are not done."""
    from adelic.numbers.kernels import limbs, vectors

    size = len(rationals.numerators)
    whole = size - size % vectors.LANES
    flags = np.zeros(whole, dtype=np.uint8)
    constants = limbs.plan(*window)
    numerators = frozen(rationals.numerators)
    denominators = frozen(np.empty(0, np.int64) if rationals.is_integral else rationals.denominators)

    def work(start: int, stop: int) -> None:
        n, m, chosen = numerators[start:stop], denominators[start:stop], out[start:stop].reshape(-1)
        limbs.encode(n, m, constants, chosen, skip, flags[start:stop])

    # Threads share whole blocks, as the kernel takes them.
    step = max(-(-whole // max(threads, 1) // vectors.BLOCK) * vectors.BLOCK, vectors.BLOCK)
    starts = range(0, whole, step)
    if len(starts) <= 1:
        work(0, whole)
    else:
        with ThreadPoolExecutor(len(starts)) as pool:
            list(pool.map(work, starts, [min(start + step, whole) for start in starts]))
    return np.concatenate([np.flatnonzero(flags), np.arange(whole, size)])


def _suits_columns(rationals: Rationals, window: Window) -> bool:
    """Return whether NumPy can encode these numbers, and loading the compiled kernels would take longer."""
    if not rationals.is_small or max(window.primes) >= (2**63 if rationals.is_integral else _TABLE):
        return False
    cost = sum(window.precisions) * (1 if rationals.is_integral else _QUOTIENT)
    return are_for_numpy(len(rationals.numerators), cost)


def _encode_columns(rationals: Rationals, window: Window, out: npt.NDArray[Any]) -> None:
    """Write the digits of int64 in lowest terms by NumPy, one digit of all numbers at a time."""
    out[:, :, :] = 0  # also the digits below p^0, and columns beyond the digits of a prime
    last = window.precision - 1
    for block in blocks(len(rationals.numerators)):
        below = []
        for j, (p, precision) in enumerate(zip(window.primes, window.precisions, strict=True)):
            n, m = rationals.numerators[block], rationals.denominators[block]
            if rationals.is_integral:
                for k in range(window.fractional_digits, precision):
                    n, out[block, j, last - k] = np.divmod(n, p)
                continue
            first = np.full(len(n), window.fractional_digits)
            while (divides := m % p == 0).any():
                m, first = np.where(divides, m // p, m), first - divides
            below += [(block.start + int(i), j) for i in np.flatnonzero(first < 0)[:1]]
            b, s = np.divmod(m, p)
            # Primes are small here: a table of all inverses takes less than an inverse of each number.
            inverse = np.array([0, *(pow(c, -1, p) for c in range(1, p))])[s]
            for k in range(max(int(first.min()), 0), precision):
                a, r = np.divmod(n, p)
                c = np.where(k < first, 0, r * inverse % p)
                out[block, j, last - k] = c
                n = np.where(k < first, n, a - c * b + (r - c * s) // p)  # as `digitwise.encode` stays in int64
        if below:
            i, j = min(below)
            error = BelowWindowError(valuation(int(rationals.denominators[i]), window.primes[j]))
            raise encoding_error(rationals, window, i, j, error)


def _encode_some(rationals: Rationals, window: Window, out: npt.NDArray[Any], chosen: npt.NDArray[np.intp]) -> None:
    """Write the digits of the chosen numbers, int64, digit by digit."""
    if not len(chosen):
        return
    n, m = (np.ascontiguousarray(part[chosen]) for part in (rationals.numerators, rationals.denominators))
    primes = np.array(window.primes, dtype=np.int64)
    part = np.empty((len(chosen), *out.shape[1:]), dtype=out.dtype)
    i, j, code = kernels().encode(n, m, primes, _counts(window), window.fractional_digits, part)
    if code:
        hensel_error = BelowWindowError(valuation(int(m[i]), window.primes[j]))
        raise encoding_error(rationals, window, int(chosen[i]), j, hensel_error)
    out[chosen] = part


def _encode_few(rationals: Rationals, window: Window, out: npt.NDArray[Any]) -> None:
    """Write the digits of numbers of any size, one by one."""
    columns = window.precision  # once: it is found anew each time, and there may be thousands of primes
    for i, (n, m) in enumerate(zip(rationals.numerators.tolist(), rationals.denominators.tolist(), strict=True)):
        for j, (p, precision) in enumerate(zip(window.primes, window.precisions, strict=True)):
            try:
                x = hensel.residue(n, m, p, precision, window.fractional_digits)
            except BelowWindowError as error:
                raise encoding_error(rationals, window, i, j, error) from None
            out[i, j] = hensel.to_digits(x.value, p, columns)[::-1]


def encoding_error(r: Rationals, window: Window, i: int, j: int, error: BelowWindowError) -> PrecisionError:
    """Return the message about number i, which has digits below the window at prime j."""
    position = np.unravel_index(i, r.shape)
    m = int(r.denominators[i])
    is_decimal = m == prod(p ** valuation(m, p) for p in (2, 5))
    decimals = ", and AdeleSpace.decimal() holds every decimal" if is_decimal else ""
    return PrecisionError(
        f"{describe(r.fraction(i))}{at_position(position)} has {window.primes[j]}-adic valuation −{error.needed}, "
        f"below the window of fractional_digits={window.fractional_digits}; "
        f"fractional_digits={error.needed} would hold it{decimals}"
    )


def add(x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces:
    """Return x ⊕ y for coordinates of one shape (size, …)."""
    if found := _of_residues(np.add, x, y, window):
        return found
    if _suits_vectors(window, x, y):
        return _add_vectors(x.digits, y.digits, window, subtract=False)
    return _apply("add", x, y, window, lambda a, b, p, n: hensel.add(a, b, p), ())


def subtract(x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces:
    """Return x − y for coordinates of one shape (size, …)."""
    if found := _of_residues(np.subtract, x, y, window):
        return found
    if _suits_vectors(window, x, y):
        return _add_vectors(x.digits, y.digits, window, subtract=True)
    return add(x, negate(y, window), window)


def multiply(x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces:
    """Return x ⊗ y for coordinates of one shape (size, …).

    A product below the window, or without a known digit, is an OperationError.
    """
    if found := _of_residues(np.multiply, x, y, window):
        return found
    if (
        x.below(window) + y.below(window) == window.fractional_digits
        and _suits_vectors(window, x, y)
        and _has_limbs(window)
    ):
        return _multiply_limbs(x.digits, y.digits, window)
    return _multiply_each(x, y, window)


def _multiply_each(x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces:
    f = window.fractional_digits
    below = x.below(window) + y.below(window) - f

    def reference(a: Residue, b: Residue, p: int, n: int) -> Residue:
        return hensel.multiply(a, b, p, n, f, below)

    return _apply("multiply", x, y, window, reference, (_counts(window), below))


def divide(x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces:
    """Return x / y for coordinates of one shape (size, …).

    A quotient below the window, or without a known digit, is an OperationError.
    """
    f = window.fractional_digits
    above = f + y.below(window) - x.below(window)

    def reference(a: Residue, b: Residue, p: int, n: int) -> Residue:
        return hensel.divide(a, b, p, n, f, above)

    return _apply("divide", x, y, window, reference, (_counts(window), above))


def negate(x: FinitePlaces, window: Window) -> FinitePlaces:
    """Return −x for coordinates of shape (size, …)."""
    if _suits_vectors(window, x):
        return _add_vectors(np.zeros(16, np.uint8), x.digits, window, subtract=True)
    out = np.empty(x.digits.shape, dtype=x.digits.dtype)
    if window.suits_kernels and are_many(len(out)):
        kernels().negate(frozen(x.digits), frozen(x.known), np.array(window.primes, dtype=np.int64), out)
    else:
        for i, j in np.ndindex(x.known.shape):
            value = hensel.negate(read_residue(x, i, j, window), window.primes[j]).value
            out[i, j] = hensel.to_digits(value, window.primes[j], window.precision)[::-1]
    return FinitePlaces(out, x.known)


def _of_residues(operation: np.ufunc, x: FinitePlaces, y: FinitePlaces, window: Window) -> FinitePlaces | None:
    """Return the result for residues modulo one prime, all known: NumPy does the whole work; None for all else."""
    p = window.primes[0]
    if window[1:] != ((1,), 0) or p >= 2**32 or any(z.digits.shape[-1] > 1 for z in (x, y)):
        return None
    if not (is_all_known(x.known, window) and is_all_known(y.known, window)):
        return None
    found = operation(x.digits, y.digits, dtype=np.min_scalar_type((p - 1) ** 2 if operation is np.multiply else 2 * p))
    if operation is np.multiply:
        found -= found // p * p  # NumPy divides by one number in vector registers, and finds remainders without
    else:  # of unsigned integers a negative one is large, so the lesser is the residue
        found = np.minimum(found, found + p if operation is np.subtract else found - p)
    return FinitePlaces(found.astype(x.digits.dtype, copy=False), x.known)


def _suits_vectors(window: Window, *operands: FinitePlaces) -> bool:
    """Return whether all digits are known and below 256, and there are enough of them for `kernels.sums`."""
    return all(
        are_many(len(x.digits)) and x.digits.dtype == np.uint8 and is_all_known(x.known, window) for x in operands
    )


def is_all_known(known: Known, window: Window) -> bool:
    """Return whether every digit is known; at once for the arrays of `all_known`."""
    if known.strides[0] == 0:
        known = known[:1]
    return bool(np.all(known == np.array(window.precisions)))


def _add_vectors(x: Digits, y: Digits, window: Window, *, subtract: bool) -> FinitePlaces:
    from adelic.numbers.kernels import sums

    out = np.empty(y.shape, dtype=np.uint8)
    a, b, primes = frozen(x).reshape(-1), frozen(y).reshape(-1), np.array(window.primes, dtype=np.int64)
    sums.add(a, b, primes, _counts(window), window.precision, subtract, out.reshape(-1))
    return FinitePlaces(out, all_known(window, len(out)))


def _multiply_limbs(x: Digits, y: Digits, window: Window) -> FinitePlaces:
    from adelic.numbers.kernels import limbs, vectors

    out = np.empty(x.shape, dtype=np.uint8)
    known = all_known(window, len(out))
    whole = len(out) - len(out) % vectors.LANES
    a, b = (frozen(digits[:whole]).reshape(-1) for digits in (x, y))
    limbs.multiply(a, b, limbs.plan(*window._replace(fractional_digits=0)), out[:whole].reshape(-1))
    if whole < len(out):
        left, right = (FinitePlaces(digits[whole:], known[whole:]) for digits in (x, y))
        out[whole:] = _multiply_each(left, right, window._replace(fractional_digits=0)).digits
    return FinitePlaces(out, known)


def _counts(window: Window) -> npt.NDArray[np.int64]:
    """Return how many digits each prime has, as the kernels take it."""
    return np.array(window.precisions, dtype=np.int64)


def valuations(x: FinitePlaces, fractional_digits: int) -> npt.NDArray[np.int64]:
    """Return the exponent of the lowest known digit other than 0, or of the first unknown one, int64 (*, n_primes)."""
    is_digit = x.digits[..., ::-1] != 0
    first = np.where(is_digit.any(axis=-1), is_digit.argmax(axis=-1), x.known)
    return first.astype(np.int64) - fractional_digits


def norms(x: FinitePlaces, window: Window) -> npt.NDArray[np.object_]:
    """Return p^(−v) for the valuations v, 0 if no known digit is other than 0, objects (*, n_primes)."""
    exponents = valuations(x, window.fractional_digits)
    is_zero = (x.digits == 0).all(axis=-1)
    out = np.empty(exponents.shape, dtype=object)
    for j, p in enumerate(window.primes):
        # Fractions take long to make, and valuations are few.
        powers = {int(v): Fraction(p) ** -int(v) for v in np.unique(exponents[..., j])}
        pairs = zip(is_zero[..., j].flat, exponents[..., j].flat, strict=True)
        column = [Fraction(0) if zero else powers[int(v)] for zero, v in pairs]
        out[..., j] = np.array(column, dtype=object).reshape(exponents.shape[:-1])
    return out


def agree(x: FinitePlaces, y: FinitePlaces) -> npt.NDArray[np.bool_]:
    """Return whether two arrays of one shape have the same digits, as far as both know them, bool (*, n_primes)."""
    known = np.minimum(x.known, y.known)[..., None]
    place = np.arange(x.digits.shape[-1] - 1, -1, -1)  # of each digit in its window, as they are ordered
    return np.asarray(((x.digits == y.digits) | (place >= known)).all(axis=-1))


def text(x: FinitePlaces, i: int, j: int, window: Window) -> str:
    """Return the coordinate of number i at prime j as text, …11011_2."""
    shown = x.digits[i, j, x.digits.shape[-1] - int(x.known[i, j]) :].tolist()
    return f"{expansion_text(shown, window.primes[j], window.fractional_digits)}_{window.primes[j]}"


def read_residue(x: FinitePlaces, i: int, j: int, window: Window) -> Residue:
    """Return the coordinate of number i at prime j as a residue."""
    return Residue(hensel.from_digits(x.digits[i, j].tolist()[::-1], window.primes[j]), int(x.known[i, j]))


def read_residues(x: FinitePlaces, window: Window) -> list[Residue]:
    """Return the coordinates of one number, of shape (), as residues, one a prime."""
    one = FinitePlaces(x.digits[None], x.known[None])
    return [read_residue(one, 0, j, window) for j in range(len(window.primes))]


def residues(digits: npt.NDArray[Any], p: int) -> list[int]:
    """Return the residues, p^F · q modulo p^N, with these digits at one prime, (size, N), the highest first.

    >>> residues(np.array([[0, 2, 1], [1, 0, 0]]), 5)
    [11, 25]
    """
    precision = digits.shape[-1]
    if len(digits) <= FEW or precision > integers.SHORT:
        return [hensel.from_digits(row, p) for row in digits[:, ::-1].tolist()]
    count = integers.digits_in_64_bits(p)
    found = np.zeros(len(digits), dtype=object)
    for end in range(precision % count or count, precision + 1, count):
        part = digits[:, max(end - count, 0) : end].astype(integers.word_dtype(p))
        powers = [p**k for k in range(part.shape[1])]
        found = found * p ** len(powers) + (part @ np.array(powers[::-1], dtype=part.dtype)).astype(object)
    return list(found)


def write_digits(values: Any, p: int, out: npt.NDArray[Any]) -> None:
    """Write the digits of residues, objects (size,), at one prime into `out`, (size, N), the highest first."""
    precision = out.shape[1]
    if len(out) <= FEW or precision > integers.SHORT:
        for i in range(len(out)):
            out[i] = hensel.to_digits(int(values[i]), p, precision)[::-1]
        return
    count = integers.digits_in_64_bits(p)
    for start in range(0, precision, count):
        rest = (values % p**count).astype(integers.word_dtype(p))
        values = values // p**count
        for place in range(start, min(start + count, precision)):
            above = rest // p  # objects have no np.divmod
            out[:, precision - 1 - place], rest = rest - above * p, above


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as contiguous and read-only, so each kernel is compiled for one kind of argument."""
    view = np.ascontiguousarray(array).view()  # a view, so the caller's own array stays writeable
    view.flags.writeable = False
    return view


def _apply(
    name: str,
    x: FinitePlaces,
    y: FinitePlaces,
    window: Window,
    reference: Callable[[Residue, Residue, int, int], Residue],
    parameters: tuple[Any, ...],
) -> FinitePlaces:
    """Apply the kernel of this name to many numbers, the reference function, of x, y, p and N_p, to a few."""
    digits = np.empty((*x.digits.shape[:-1], window.precision), dtype=x.digits.dtype)
    known = np.empty(x.known.shape, dtype=np.int32)
    code = 0
    if window.suits_kernels and are_many(len(digits)):
        primes = np.array(window.primes, dtype=np.int64)
        kernel, operand = getattr(kernels(), name), kernels().Operand
        operands = [operand(frozen(z.digits), frozen(z.known)) for z in (x, y)]
        i, j, code = kernel(*operands, primes, *parameters, operand(digits, known))
        if not code:
            return FinitePlaces(digits, known)
        pairs = [(i, j)]  # the reference names the fault
    else:
        pairs = list(np.ndindex(known.shape))
    for i, j in pairs:
        p, n = window.primes[j], window.precisions[j]
        try:
            value, known[i, j] = reference(read_residue(x, i, j, window), read_residue(y, i, j, window), p, n)
        except (BelowWindowError, NothingKnownError) as error:
            raise OperationError(name, i, p, error, n, window) from None
        digits[i, j] = hensel.to_digits(value, p, window.precision)[::-1]
    assert not code, "kernel and reference disagree"
    return FinitePlaces(digits, known)


def encoded(rationals: Rationals, window: Window, *, threads: int = 1) -> FinitePlaces:
    """Return the coordinates of rationals, in their shape; errors are as for `encode`."""
    digits = np.empty((len(rationals.numerators), len(window.primes), window.precision), digit_dtype(window.primes))
    encode(rationals, window, digits, threads=threads)
    return FinitePlaces(digits, all_known(window, len(digits))).reshape(rationals.shape)


def exact_window(window: Window, denominators: int, numerators: int) -> Window:
    """Return the window that loses no digit of exact factors, divisors and dividends in an operation.

    A factor needs N digits from p^(−e) up, with p^e the greatest power in a denominator; a quotient is as
    well known as its relative precision, which the factors p of the numerators must not take away.
    """
    return Window(window.primes, tuple(n + denominators + numerators for n in window.precisions), denominators)


def exact(rationals: Rationals, window: Window, *, relative: bool) -> FinitePlaces:
    """Return the coordinates of rationals as one operation takes them without a loss, in a separate window.

    `relative` means that the operation is a quotient. A number so far below the window that no product is in it is a
    PrecisionError.
    """
    most = window.precision + 64  # beyond int64, and further than any result reaches
    e, p = max((largest_valuation(rationals.denominators, p), p) for p in window.primes)
    if e > most:
        raise encoding_error(rationals, window, _first(rationals, p, e), window.primes.index(p), BelowWindowError(e))
    more = 0
    if relative:
        more = min(max(largest_valuation(rationals.numerators, p) for p in window.primes), most)
        more = more if rationals.numerators.all() else max(more, window.precision)  # 0/x is 0, whatever divides x
    return replace(encoded(rationals, exact_window(window, e, more)), fractional_digits=e)


def _first(rationals: Rationals, p: int, e: int) -> int:
    """Return the index of the first number whose denominator p^e divides."""
    return next(i for i, m in enumerate(rationals.denominators.tolist()) if m % p**e == 0)


def below_window(rationals: Rationals, p: int, fractional_digits: int) -> npt.NDArray[np.bool_]:
    """Return whether p divides the denominator more than F times, so a number has digits below the window.

    >>> from adelic.numbers.rationals import read
    >>> below_window(read(["7/5", "1/25"]), 5, 1)
    array([False,  True])
    """
    power = p ** (fractional_digits + 1)
    if rationals.is_small and power >= 2**63:  # which divides no int64, and is none
        return np.zeros(len(rationals.numerators), dtype=np.bool_)
    return np.asarray(rationals.denominators % power == 0, dtype=np.bool_)


def needed_digits(rationals: Rationals, window: Window) -> int:
    """Return the least F that holds rationals, or raise `PrecisionError` if the window has no more digits than that.

    >>> from adelic.numbers.rationals import read
    >>> needed_digits(read(["7/5", "1/4"]), Window((2, 3, 5), (16, 16, 16), 0))
    2
    """
    needed, p = max((largest_valuation(rationals.denominators, p), p) for p in window.primes)
    least = min(window.precisions)
    if needed >= least:
        at = "" if window.is_uniform else f" at the prime {window.primes[window.precisions.index(least)]}"
        number = describe(rationals.fraction(_first(rationals, p, needed)))
        raise PrecisionError(
            f"{number} needs {needed} digit{'s' * (needed != 1)} after the point, which precision={least}{at} does not "
            f"hold; precision={needed + 1} would"
        )
    return needed


def power(x: FinitePlaces, k: int, window: Window) -> FinitePlaces:
    """Return x^k for coordinates of shape (size, …), k >= 1.

    With r digits of its unit part known, x is y·(1 + p^r·t), and (1 + p^r·t)^k is 1 modulo p^(r + v(k)); and modulo
    2^(2 + v(k)) if p = 2, r = 1 and k is even. Any y with the known digits of x therefore tells the digits of the
    power. One that is below the window, or without a known digit, is an OperationError.
    """
    f, precisions = window.fractional_digits, np.array(window.precisions)
    if not f and is_all_known(x.known, window):  # then so it is of the power
        return repeated(x, k, lambda a, b: multiply(a, b, window))
    lowest = valuations(x, f)
    relative = x.known - f - lowest  # 0 for numbers that may be 0
    gained = np.array([valuation(k, p) for p in window.primes])
    gained = gained + ((relative == 1) & (np.array(window.primes) == 2) & (k % 2 == 0))
    first = f + min(k, window.precision + 1) * lowest  # as k does, such an exponent leaves the window
    known = np.minimum(first + np.where(relative == 0, 0, relative + gained), precisions).astype(np.int32)
    _refuse("power", x, np.where(relative == 0, known <= 0, first < 0), window, window, k)
    # The powers of p^depth · x, as many digits of them as lie in the window.
    depth = max(0, -int(lowest.min(initial=0)))
    counts = tuple(int(n) for n in precisions - f + k * depth)
    inner, size = Window(window.primes, counts, 0), len(x.digits)
    alike = moved(replace(x, known=all_known(window, size)), window, inner._replace(fractional_digits=depth))
    found = repeated(replace(alike, known=all_known(inner, size)), k, lambda a, b: multiply(a, b, inner))
    found = moved(found, inner._replace(fractional_digits=k * depth), window)
    return FinitePlaces(shown(found.digits, known), known)


def repeated(x: T, k: int, multiply: Callable[[T, T], T]) -> T:
    """Return x · x · … · x of k >= 1 factors, by repeated squaring.

    >>> repeated("a", 5, lambda x, y: x + y)
    'aaaaa'
    """
    half = repeated(multiply(x, x), k // 2, multiply) if k > 1 else None
    return x if half is None else multiply(half, x) if k % 2 else half


def moved(x: FinitePlaces, window: Window, other: Window) -> FinitePlaces:
    """Return coordinates of shape (size, …), as far as they are known, in another window at the same primes.

    A number below it, or without a known digit in it, is an OperationError.
    """
    if window == other:
        return x
    up = other.fractional_digits - window.fractional_digits
    known = np.minimum(x.known + up, np.array(other.precisions)).astype(np.int32)
    is_below = (x.digits[..., window.precision + min(up, 0) :] != 0).any(axis=-1)
    _refuse("move", x, is_below | (known <= 0), window, other)
    digits = np.zeros((*x.digits.shape[:-1], other.precision), dtype=x.digits.dtype)
    low, high = max(up, 0), min(other.precision, window.precision + up)
    if low < high:
        kept = x.digits[..., window.precision - (high - up) : window.precision - (low - up)]
        digits[..., other.precision - high : other.precision - low] = kept
    return FinitePlaces(shown(digits, known), known)


def shown(digits: Digits, known: Known) -> Digits:
    """Write 0 for the digits that are not known, and return them."""
    columns = digits.shape[-1]
    if known.min(initial=columns) < columns:
        digits[np.arange(columns - 1, -1, -1) >= known[..., None]] = 0
    return digits


def _refuse(name: str, x: FinitePlaces, fails: Any, window: Window, other: Window, k: int = 1) -> None:
    """Raise an `OperationError` at the first number and prime for which x^k is not in the other window."""
    for i, j in np.argwhere(fails)[:1].tolist():
        needed = -k * int(valuations(x, window.fractional_digits)[i, j])
        cause = BelowWindowError(needed) if x.digits[i, j].any() else NothingKnownError()
        raise OperationError(name, i, window.primes[j], cause, other.precisions[j], other)
