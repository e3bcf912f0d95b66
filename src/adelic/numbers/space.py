"""The adele space: which primes, how many digits; from numbers to coordinates and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, RangeError, SpaceError
from adelic.numbers import finite, rationals, real
from adelic.numbers.balls import RealPlace
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces, Window
from adelic.numbers.primes import first_primes, is_prime, smallest_factor

if TYPE_CHECKING:
    from adelic.numbers.algebraic import AlgebraicSpace
    from adelic.numbers.array import AdeleArray

DEFAULT_PRIMES = (2, 3, 5, 7, 11, 13, 17)
DEFAULT_PRECISION = 16
GREATEST_PRIME = 2**64
"""Primes below it have digits that fit 64 bits."""

MOST_DIGITS = 10**7
"""The greatest n_primes · precision: digits of one number."""

_LARGEST_FACTOR = 10**5  # that an error message searches


@dataclass(frozen=True)
class AdeleSpace:
    """The real line times Q_p for finitely many primes p, each p-adic number truncated to a window of digits.

    The defaults give (7 + 1) · 16 = 128 coordinates, the paper's d_model. # NOTE[paper]: it gives neither primes nor N.

    Attributes:
        primes: different primes, ascending or not; the order is the order of the coordinates.
        precision: N, how many digits a window holds.
        fractional_digits: F, how many of them stand below p^0. With F = 0 a denominator divisible by p is an error.

    Raises:
        SpaceError: a prime is not prime, repeats or has more than 64 bits, the precision is below 1, F is not in
            0 … N − 1, or a number would have more than `MOST_DIGITS` digits.

    What the compiled kernels do not reach, primes from 2^31 on and precision · p² from 2^62 on, takes a slower path
    with the same digits.

    Source: the paper, section 2 "Method" and appendix "Embedding Construction".

    >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=5, fractional_digits=1)
    >>> space.encode("7/5").digits
    array([[1, 0, 1, 1, 0],
           [1, 2, 1, 2, 0],
           [0, 0, 0, 1, 2],
           [4, 1, 3, 0, 0]], dtype=uint8)
    """

    primes: tuple[int, ...] = DEFAULT_PRIMES
    precision: int = DEFAULT_PRECISION
    fractional_digits: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        try:
            given = tuple(self.primes)
        except TypeError:
            raise SpaceError(
                f"primes={describe(self.primes)} is no sequence of primes, such as {DEFAULT_PRIMES}"
            ) from None
        primes = tuple(_integer("a prime", p) for p in given)
        object.__setattr__(self, "primes", primes)
        object.__setattr__(self, "precision", _integer("precision", self.precision))
        object.__setattr__(self, "fractional_digits", _integer("fractional_digits", self.fractional_digits))
        if not primes:
            raise SpaceError(f"primes=() leaves no p-adic coordinate; primes={DEFAULT_PRIMES} is the default")
        if self.precision < 1:
            raise SpaceError(f"precision={describe(self.precision)} leaves no digit; precision >= 1, 16 is the default")
        if not 0 <= self.fractional_digits < self.precision:
            raise SpaceError(
                f"fractional_digits={describe(self.fractional_digits)} does not fit a window of "
                f"precision={describe(self.precision)}; 0 <= fractional_digits < precision"
            )
        _check_size(len(primes), self.precision)
        seen: set[int] = set()
        for p in primes:
            _check_prime(p)
            if p in seen:
                raise SpaceError(f"the prime {p} occurs twice in primes={describe(primes)}; name each prime once")
            seen.add(p)

    @classmethod
    def over(
        cls,
        polynomial: Any,
        *,
        root: complex,
        n_primes: int = 7,
        primes: Sequence[int] | None = None,
        precision: int = DEFAULT_PRECISION,
        fractional_digits: int = 0,
    ) -> "AlgebraicSpace":
        """Return the space of the algebraic numbers a + b·θ + c·θ^2 + …, θ a root of a polynomial; needs python-flint.

        Args:
            polynomial: text such as "x^2 - 2", or coefficients, the constant one first; monic with integer coefficients
                and irreducible.
            root: an approximation of the real or complex root that is θ at the infinite place.
            n_primes: how many primes; the first ones at which the polynomial splits into different linear factors.
            primes: the primes instead; at each of them the polynomial has to split so.
            precision: N, how many digits a window holds.
            fractional_digits: F, how many of them stand below p^0, as for `AdeleSpace`.

        Raises:
            SpaceError: the polynomial, the root or a prime will not do; the message says why.
            EncodingError: the polynomial is no polynomial in x.
            MissingExtraError: python-flint is not installed.

        >>> space = AdeleSpace.over("x^2 - 2", root=1.414)
        >>> (space.encode("1 + 3*x") ** 2).decode()    # (1 + 3√2)^2 = 19 + 6√2
        (Fraction(19, 1), Fraction(6, 1))
        """
        from adelic.numbers import algebraic

        return algebraic.over(
            polynomial,
            root=root,
            n_primes=n_primes,
            primes=primes,
            precision=precision,
            fractional_digits=fractional_digits,
        )

    @classmethod
    def decimal(cls, n_primes: int = 7, precision: int = DEFAULT_PRECISION) -> "AdeleSpace":
        """Return a space for terminating decimals: the first primes other than 2 and 5.

        No denominator 2^i · 5^j is divisible by such a prime, so every decimal fits without fractional digits.

        Args:
            n_primes: how many primes: 3, 7, 11, 13, 17, 19, 23, …
            precision: as for `AdeleSpace`.

        Raises:
            SpaceError: as for `AdeleSpace`.

        >>> space = AdeleSpace.decimal()
        >>> space.primes
        (3, 7, 11, 13, 17, 19, 23)
        >>> (space.encode(["0.1", "-12.375"]) * 3).decode()
        array([Fraction(3, 10), Fraction(-297, 8)], dtype=object)
        """
        count = _integer("n_primes", n_primes)
        if count < 1:
            raise SpaceError(f"n_primes={describe(count)} leaves no p-adic coordinate; n_primes >= 1, 7 is the default")
        _check_size(count, _integer("precision", precision))
        return cls(tuple(p for p in first_primes(count + 2) if p not in (2, 5))[:count], precision)

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return len(self.primes)

    @cached_property
    def decoding_bound(self) -> int:
        """Return ∏ p^(N − F): n/m with denominator prime to all p can be decoded while 2·|n|·m stays below it.

        With fractional digits the general condition is 2·|n'|·m' < ∏ p^N, where n'/m' = n/m · ∏ p^F in lowest terms.

        >>> AdeleSpace(primes=(2, 3), precision=4).decoding_bound
        1296
        """
        bound: int = prod(self.primes) ** (self.precision - self.fractional_digits)
        return bound

    @cached_property
    def _scale(self) -> int:
        """Return ∏ p^F."""
        return int(prod(self.primes) ** self.fractional_digits)

    def _is_inside(self, n: int, m: int) -> bool:
        """Return whether n/m lies inside the decoding bound."""
        scaled = Fraction(n * self._scale, m)
        return 2 * abs(scaled.numerator) * scaled.denominator < self._scale * self.decoding_bound

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return Window(self.primes, self.precision, self.fractional_digits)

    def encode(self, values: Any, *, floats: str = "error", threads: int = 1) -> "AdeleArray":
        """Return numbers as an `AdeleArray` of the same shape; exact, or an error.

        Args:
            values: integers of any size, `Fraction`, `Decimal`, text such as "7/5", "-3", "1.25", "1e-3"; NumPy or
                torch arrays; a tuple (numerators, denominators); lists of all these, nested.
            floats: "error" (default), "exact", "shortest" or "limit:<max denominator>", as "limit:10**6"; see
                `adelic.numbers.rationals.read`. How far a number is from its float is `.approximation_error`.
            threads: how many may work on large arrays.

        Raises:
            EncodingError: a value is no rational number, is a float without policy, or the nesting is ragged.
            DivisionByZeroError: a denominator is zero.
            PrecisionError: p divides a denominator more often than the window has fractional digits.

        >>> from fractions import Fraction
        >>> AdeleSpace().encode([Fraction(7, 19), 3, "-2/23"]).shape
        (3,)
        """
        from adelic.numbers.array import AdeleArray

        if isinstance(values, AdeleArray):
            if values.space != self:
                raise SpaceError(
                    f"the array lives in {describe(values.space, 200)}, not in {describe(self, 200)}; decode() it first"
                )
            return values
        numbers = rationals.read(values, floats=floats)
        size = len(numbers.numerators)
        digits = np.empty((size, self.n_primes, self.precision), dtype=finite.digit_dtype(self.primes))
        finite.encode(numbers, self.window, digits, threads=threads)
        places = FinitePlaces(digits, finite.all_known(self.window, size))
        real_place = real.encode(numbers, self._is_inside)
        errors = rationals.approximation_errors(values, numbers, floats=floats)
        return AdeleArray(self, real_place.reshape(numbers.shape), places.reshape(numbers.shape), errors)

    def tensor(
        self,
        values: Any,
        *,
        floats: str = "error",
        threads: int = 1,
        out: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return numbers in the paper's layout, in one pass: what a network eats.

        Args:
            values: as for `encode`.
            floats: as for `encode`, whose result also has the errors of approximations.
            threads: how many may work on large arrays.
            out: where to write, contiguous float32 of the result's shape; a new array when left out, whose memory the
                system then has to find, which takes longer than the encoding.

        Returns:
            float32, (*, n_primes + 1, precision). Row 0 is [0, …, 0, q], row j the digits at the j-th prime.

        Raises:
            RangeError: |q| is beyond float32, about 3.4e38.
            EncodingError, DivisionByZeroError, PrecisionError: as for `encode`.

        >>> AdeleSpace(primes=(2, 3), precision=4).tensor(7)
        array([[0., 0., 0., 7.],
               [0., 1., 1., 1.],
               [0., 0., 2., 1.]], dtype=float32)
        """
        from adelic.numbers.array import AdeleArray

        check_float32(self.primes)
        if isinstance(values, AdeleArray):
            return self.encode(values).tensor()
        numbers = rationals.read(values, floats=floats, transient=True)
        shape = (*numbers.shape, self.n_primes + 1, self.precision)
        if out is None:
            out = np.empty(shape, dtype=np.float32)
        elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous or not out.flags.writeable:
            given = f"{out.dtype} of shape {out.shape}"
            raise EncodingError(f"out must be a writeable, contiguous float32 array of shape {shape}, not {given}")
        flat = out.reshape(-1, *shape[-2:])
        finite.tensor(numbers, self.window, flat, threads=threads)
        if not numbers.is_small:
            write_real_row(real.nearest_floats(numbers), flat, numbers.shape)
        return out

    def from_digits(self, digits: Any, real_value: Any, *, radius: Any = None) -> "AdeleArray":
        """Return the array with these coordinates, for decoding what a network or a file says.

        Args:
            digits: integers, (*, n_primes, precision), most significant digit first.
            real_value: (*), floats, or exact numbers other than text, which may be beyond float64; None where they are
                not known. Digits alone may be those of several numbers: modulo 101 they are the same for −10 and 1/10.
                Then `decode` returns the n/m = q · ∏ p^F, in lowest terms, with |n| and m at most √(M/2), M = ∏ p^N, of
                which there is at most one (Wang 1981), and raises where there is none. An integer beyond that bound may
                be read as a fraction inside it; `RedundantResidueCode` takes other bounds.
            radius: error bounds of the real values, (*); float64 rounding when left out.

        Raises:
            EncodingError: a shape does not fit, or a digit is not in 0 … p − 1.

        >>> space = AdeleSpace(primes=(2, 3), precision=4)
        >>> space.from_digits([[0, 1, 1, 1], [0, 0, 2, 1]], 7.0).decode()
        Fraction(7, 1)
        >>> space.from_digits([[0, 1, 1, 1], [0, 0, 2, 1]], None).decode()
        Fraction(7, 1)
        """
        from adelic.numbers.array import AdeleArray

        given = number_array("digits", digits)
        place = measured(real_value, radius, given.shape[:-2])
        return AdeleArray(self, place, read_digits(given, place.shape, self.window))


def read_digits(given: npt.NDArray[Any], shape: tuple[int, ...], window: Window) -> FinitePlaces:
    """Return digits of numbers of a shape, all known, or raise `EncodingError`."""
    expected = (*shape, len(window.primes), window.precision)
    if given.shape != expected:
        raise EncodingError(f"digits have shape {given.shape}; for real values of shape {shape} it is {expected}")
    dtype = finite.digit_dtype(window.primes)
    greatest = np.array([p - 1 for p in window.primes], dtype=dtype)[:, None]
    if given.dtype.kind == "f":
        is_digit = (given >= 0) & (given <= greatest) & (given == np.floor(given))
    else:  # unsigned, so that large digits are compared exactly
        is_digit = (given >= 0) & (given.astype(np.uint64) <= greatest)
    wrong = np.argwhere(~is_digit)
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        p = window.primes[at[-2]]
        raise EncodingError(f"{given[at]!s}{at_position(at)} is no digit at the prime {p}; digits are 0 … {p - 1}")
    known = np.broadcast_to(np.int32(window.precision), expected[:-1])
    return FinitePlaces(given.astype(dtype), known)


def measured(real_value: Any, radius: Any, shape: tuple[int, ...]) -> RealPlace:
    """Return the real place of what a caller gives, or of numbers of a shape without any, or raise `EncodingError`."""
    if real_value is None:
        if radius is not None:
            raise EncodingError("radius says how near a real value is; without one, leave it out")
        return real.unknown(shape)
    exact = _exact_numbers(real_value)
    if exact is None:
        value = _floats("real values", real_value)
        return real.from_values(value, None if radius is None else _radii(radius, value.shape))
    numbers = [exact.fraction(i) for i in range(len(exact.numerators))]
    sizes: list[Fraction | None] = [abs(q) / 2**53 for q in numbers]
    if radius is not None:
        bounds = _exact_numbers(radius)
        if bounds is None:
            sizes = [Fraction(r) if np.isfinite(r) else None for r in _radii(radius, exact.shape).ravel().tolist()]
        elif bounds.shape == exact.shape and np.all(bounds.numerators >= 0):
            sizes = [bounds.fraction(i) for i in range(len(numbers))]
        else:
            raise EncodingError(f"radii of shape {bounds.shape} must fit real values of shape {exact.shape}, from 0 on")
    return real.from_numbers(numbers, sizes).reshape(exact.shape)


def _exact_numbers(values: Any) -> rationals.Rationals | None:
    """Return values as rationals where they are exact numbers or long floats, which float64 may not hold, else None."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    if array.dtype == np.longdouble != np.float64 and np.all(np.isfinite(array)):
        return rationals.read(array, floats="exact")
    if array.dtype != object or any(isinstance(x, (str, bytes)) or x is None for x in array.flat):
        return None
    return rationals.read(array.tolist() if array.shape else values, floats="exact")


def number_array(name: str, values: Any) -> npt.NDArray[Any]:
    """Return integers or floats as an array, or raise `EncodingError`."""
    array = rationals.as_array(values)
    try:
        array = _array_of_lists(values) if array is None else array
    except ValueError:
        raise EncodingError(f"{name} are ragged: all entries of an array need the same shape") from None
    if array.dtype.kind not in "iuf" and array.size:
        raise EncodingError(f"{name} must be integers or floats, not an array of dtype {array.dtype}")
    return array


def _array_of_lists(values: Any) -> npt.NDArray[Any]:
    """Return nested lists as an array; NumPy would round integers from 2^63 on beside smaller ones to float64."""
    array = np.asarray(values)
    if array.dtype == np.float64 and np.any(array >= 2.0**63):
        exact = np.array(values, dtype=object)
        if all(type(x) is int and 0 <= x < 2**64 for x in exact.flat):
            return exact.astype(np.uint64)
    return array


def _floats(name: str, values: Any) -> npt.NDArray[np.float64]:
    """Return a float64 copy, which later changes of the caller's array do not reach."""
    with np.errstate(over="ignore"):  # of longer floats
        return number_array(name, values).astype(np.float64)


def _radii(radius: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return error bounds of real values of a shape, or raise `EncodingError`."""
    radii = _floats("radii", radius)
    try:
        radii = np.broadcast_to(radii, shape)
    except ValueError:
        raise EncodingError(f"radii of shape {radii.shape} do not fit real values of shape {shape}") from None
    wrong = np.argwhere(~(radii >= 0))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise EncodingError(f"the radius {radii[at]!s}{at_position(at)} is no error bound; radii are at least 0")
    return radii


def _integer(name: str, value: Any) -> int:
    """Return a parameter as an int, or raise `SpaceError`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise SpaceError(f"{name} must be an integer, not {describe(value)}")
    return int(value)


def _check_prime(p: int) -> None:
    if p >= GREATEST_PRIME:
        raise SpaceError(f"the prime {describe(p)} is too large; primes below 2^64 are supported")
    if not is_prime(p):
        factor = smallest_factor(p, limit=_LARGEST_FACTOR) if p > 1 else p
        detail = f" ({p} = {factor} · {p // factor})" if factor != p else ""
        raise SpaceError(f"{describe(p)} is not a prime{detail}; primes={DEFAULT_PRIMES} is the default")


def _check_size(n_primes: int, precision: int) -> None:
    """Raise `SpaceError` where one number would have too many digits to work with."""
    if n_primes * precision > MOST_DIGITS:
        what = f"precision={describe(precision)} at {describe(n_primes)} {'prime' if n_primes == 1 else 'primes'}"
        most = f"precision={MOST_DIGITS // n_primes}" if n_primes <= MOST_DIGITS else f"{MOST_DIGITS} primes"
        raise SpaceError(
            f"{what} would be {n_primes * precision:.3g} digits a number, as many bytes or more; at most "
            f"{MOST_DIGITS} are supported, here {most}"
        )


def check_float32(primes: tuple[int, ...]) -> None:
    """Raise `EncodingError` unless float32 holds all digits, which it does up to the prime 2^24."""
    if max(primes) > 2**24:
        raise EncodingError(f"float32 does not hold the digits of the prime {max(primes)}; use .digits")


def write_real_row(values: npt.NDArray[np.float64], out: npt.NDArray[np.float32], shape: tuple[int, ...]) -> None:
    """Write [0, …, 0, q] into row 0 of `out`, (size, n_primes + 1, precision).

    Raises:
        RangeError: a value is beyond float32.
    """
    with np.errstate(over="ignore"):
        out[:, 0, :-1] = 0
        out[:, 0, -1] = values
    beyond = np.flatnonzero(~np.isfinite(out[:, 0, -1]))
    if len(beyond):
        position = tuple(int(i) for i in np.unravel_index(beyond[0], shape)) if shape else ()
        raise RangeError(
            f"the real value {values[beyond[0]]:.6g}{at_position(position)} is beyond float32 (3.4e38), so the real "
            "row would be infinite; feed .digits alone, or scale the numbers"
        )
