"""Arrays of adeles: the paper's ⊕ and ⊗, place by place, and back to rationals."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from adelic.errors import (
    ConfigurationError,
    DecodingError,
    DivisionByZeroError,
    PrecisionError,
    SpaceError,
)
from adelic.numbers import finite
from adelic.numbers.coordinates import check_float32, write_real_row
from adelic.numbers.decoding import reconstruction
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces, OperationError
from adelic.numbers.hensel import Residue
from adelic.numbers.local.array import PadicArray
from adelic.numbers.number_array import NumberArray, common_shape, read_only
from adelic.numbers.real import RealPlace
from adelic.numbers.threshold import are_many
from adelic.numbers.window import Window


class Space(Protocol):
    """The interface of a space to its arrays: of an `AdeleSpace`, or of a space of algebraic numbers."""

    @property
    def primes(self) -> tuple[int, ...]:
        """Return the primes."""

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""

    @property
    def precision(self) -> int | Mapping[int, int]:
        """Return how many digits a window holds, or each prime's where they are not the same."""

    @property
    def fractional_digits(self) -> int:
        """Return how many of them stand below p^0."""

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return what two spaces whose arrays mix have in common: all but their windows."""

    def _with_window(self, window: Window) -> "Space":
        """Return the space with another window at the same primes."""

    def _exact(self, values: Any, *, relative: bool) -> tuple[Any, FinitePlaces]:
        """Return the coordinates of numbers as `finite.exact` does."""

    def encode(self, values: Any, *, floats: str = "error") -> "AdeleArray":
        """Return other operands as an array."""


class AdeleArray(NumberArray):
    """An immutable array of adeles of one space; made by `AdeleSpace.encode`, NumPy-like in shape and indexing.

    `+ - * /`, `** k` and unary minus act coordinate by coordinate, with NumPy's broadcasting; numbers that are no
    arrays act exactly. p-adic coordinates are exact to the digits that `known` counts; the real one is a float64 with
    an error bound. Arrays of spaces with the same primes mix: the result's window holds the digits of both. `==` and
    `!=` compare element by element: digits as far as both sides know them, real values within their error bounds.

    Source: the paper, section 2: A(x + y) = A(x) ⊕ A(y), A(x · y) = A(x) ⊗ A(y).

    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=8)
    >>> a = space.encode(["1/11", 6, "-2/13"])
    >>> (a * 11 + 1).decode()
    array([Fraction(2, 1), Fraction(67, 1), Fraction(-9, 13)], dtype=object)
    >>> a + a == 2 * a
    array([ True,  True,  True])
    """

    __slots__ = ("_errors", "_finite", "_real", "space")
    __hash__ = None  # == is element by element

    def __init__(
        self,
        space: Space,
        real_place: RealPlace,
        finite_places: FinitePlaces,
        approximation_error: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.space = space
        self._real = real_place
        self._finite = finite_places
        self._errors = approximation_error

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers, without the axes of primes and digits."""
        return self._real.shape

    @property
    def real(self) -> npt.NDArray[np.float64]:
        """Return the real coordinates, float64 (*)."""
        return read_only(self._real.value)

    @property
    def approximation_error(self) -> npt.NDArray[np.float64]:
        """Return |number − float| where `encode` approximated floats, float64 (*); 0 where the number is exact.

        Only the policies "limit:D" and "shortest" approximate. What is computed from approximations has the error NaN:
        it is not followed through arithmetic.

        >>> import math
        >>> from adelic import AdeleSpace
        >>> a = AdeleSpace(primes=(3, 5)).encode([math.pi, 0.5], floats="limit:10")
        >>> a.decode()
        array([Fraction(22, 7), Fraction(1, 2)], dtype=object)
        >>> a.approximation_error
        array([0.00126449, 0.        ])
        """
        return read_only(np.zeros(self.shape) if self._errors is None else self._errors)

    @property
    def digits(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the p-adic digits, unsigned (*, n_primes, max_precision), most significant first.

        Digits that are not known (see `known`) are 0, as where a prime has fewer digits than others.
        """
        return read_only(self._finite.digits)

    @property
    def known(self) -> npt.NDArray[np.int32]:
        """Return how many digits of each window are known, counted from the lowest, int32 (*, n_primes).

        All that the prime has after `encode` and after sums. Products of arrays with fractional digits and quotients
        by multiples of p know fewer (capped absolute precision).

        >>> from adelic import AdeleSpace
        >>> space = AdeleSpace(primes=(2, 3), precision=8)
        >>> (space.encode(12) / 4).known
        array([6, 8], dtype=int32)
        """
        return read_only(self._finite.known)

    def at(self, p: int) -> PadicArray:
        """Return the coordinates at one prime, as numbers of Q_p with functions of their own.

        Args:
            p: one of the space's primes.

        Returns:
            `PadicArray` (*), in the window that the prime has.

        Raises:
            SpaceError: p is not one of them.

        >>> from adelic import AdeleSpace
        >>> two = AdeleSpace(primes=(3, 7), precision=5).encode(2)
        >>> print(two.at(7).sqrt())
        …16213_7
        """
        window = self.space.window
        if isinstance(p, (bool, np.bool_)) or p not in window.primes:
            raise SpaceError(f"the array has no coordinate at {describe(p)}; its primes are {describe(window.primes)}")
        j = window.primes.index(p)
        n = window.precisions[j]
        places = FinitePlaces(
            self._finite.digits[..., j : j + 1, window.precision - n :], self._finite.known[..., j : j + 1]
        )
        return PadicArray(Window((window.primes[j],), (n,), window.fractional_digits), places)

    def valuation(self) -> npt.NDArray[np.int64]:
        """Return the valuations v_p, int64 (*, n_primes): the place of the lowest digit that is not 0.

        Where every known digit is 0, as of 0 itself, it is the number of the first place that is not known, N − F where
        all are: the valuation is at least that. (`adelic.numbers.valuation` is the one of rational numbers.)

        >>> from adelic import AdeleSpace
        >>> AdeleSpace(primes=(2, 3, 5), precision=6, fractional_digits=1).encode([96, "7/5", 0]).valuation()
        array([[ 5,  1,  0],
               [ 0,  0, -1],
               [ 5,  5,  5]])
        """
        return finite.valuations(self._finite, self.space.fractional_digits)

    def norm(self) -> npt.NDArray[np.object_]:
        """Return the p-adic absolute values p^(−v), objects (*, n_primes) that are `Fraction`; |p| is 1/p.

        Where every known digit is 0 it is 0: the absolute value is below that of every known digit.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace(primes=(2, 3, 5), precision=6).encode(96).norm().tolist()
        [Fraction(1, 32), Fraction(1, 3), Fraction(1, 1)]
        """
        return finite.norms(self._finite, self.space.window)

    def tensor(self) -> npt.NDArray[np.float32]:
        """Return the paper's layout, float32 (*, n_primes + 1, max_precision): row 0 is [0, …, 0, q].

        Raises:
            RangeError: a real value is beyond float32.
            EncodingError: a prime above 2^24 has digits that float32 does not hold.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace(primes=(2, 3), precision=3).encode(5).tensor()
        array([[0., 0., 5.],
               [1., 0., 1.],
               [0., 1., 2.]], dtype=float32)
        """
        check_float32(self.space.primes)
        flat = self.reshape(-1)
        out = np.empty((self.size, self.space.n_primes + 1, flat._finite.digits.shape[-1]), dtype=np.float32)
        out[:, 1:] = flat._finite.digits
        write_real_row(flat._real.value, out, self.shape)
        return out.reshape(*self.shape, *out.shape[1:])

    def decode(self, number: Callable[[int, int], Any] = Fraction) -> Any:
        """Return the rationals with these coordinates: an object array of `Fraction`, for shape () one `Fraction`.

        Chinese remainders, rational reconstruction, then a check against the real place (see
        `adelic.numbers.decoding`). Many numbers with 2·|n|·m up to about 2^60 take a compiled path.

        Args:
            number: what makes a number of numerator and denominator in place of `Fraction`, such as `sympy.Rational`,
                `flint.fmpq` or `gmpy2.mpq`.

        Raises:
            DecodingError: no rational n/m with 2·|n|·m below the space's bound has these coordinates, or the
                coordinates do not determine which. (Without real values, see `AdeleSpace.from_digits`.)
            ConfigurationError: `number` does not take a numerator and a denominator, as `int` does not.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace().encode(["22/19", -5]).decode()
        array([Fraction(22, 19), Fraction(-5, 1)], dtype=object)
        >>> from flint import fmpq
        >>> AdeleSpace().encode(fmpq(22, 19)).decode(fmpq)
        22/19
        """
        out, found = self._decode_many()
        for i in np.flatnonzero(~found):
            out[i] = self._decode_one(np.unravel_index(i, self.shape))
        if number is not Fraction:
            try:
                for j, q in enumerate(out):
                    out[j] = self._converted(q, number)
            except (TypeError, ValueError):
                raise ConfigurationError(
                    f"{getattr(number, '__name__', number)} makes no number of a numerator and a denominator, as "
                    "decode needs; use fractions.Fraction, sympy.Rational, flint.fmpq or gmpy2.mpq"
                ) from None
        return out.reshape(self.shape) if self.shape else out[0]

    def _decode_many(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]]:
        """Return numbers, flattened, and which of them are found; `_decode_one` does the others."""
        if not are_many(self.size):
            return np.full(self.size, None, dtype=object), np.zeros(self.size, dtype=np.bool_)
        from adelic.numbers.decoding import fast

        flat = self.reshape(-1)
        return fast.decode(flat._finite, flat._real, self.space.window)

    def _converted(self, decoded: Any, number: Callable[[int, int], Any]) -> Any:
        """Return a decoded number as another library has it."""
        return number(decoded.numerator, decoded.denominator)

    def _decode_one(self, position: tuple[Any, ...]) -> Fraction:
        real_place, residues = self._real[position], finite.read_residues(self._finite[position], self.space.window)
        if real_place.is_unmeasured():
            return self._decode_digits(residues, position)
        q = reconstruction.decode(residues, self.space.primes, self.space.fractional_digits, real_place)
        if q is None:
            bound = self.space.window.decoding_bound
            within = replace(real_place, centre=real_place.radius).text(2)
            raise DecodingError(
                f"the coordinates{at_position(position)} determine no rational number: no n/m with 2·|n|·m below about "
                f"2^{bound.bit_length() - 1} has these digits and the real value {real_place.text(15)} within {within}"
                ", or more than one may have them; more primes or digits widen the bound, and a radius says how far a "
                "real value that from_digits was given may be off"
            )
        return q

    def _decode_digits(self, residues: list[Residue], position: tuple[int, ...]) -> Fraction:
        """Return the number with these digits where no real value is known."""
        q, others = reconstruction.decode_digits(residues, self.space.primes, self.space.fractional_digits)
        if q is None:
            bound = self.space.window.decoding_bound
            are = f"; they are those of {' and '.join(map(describe, others))}, for example" if others else ""
            raise DecodingError(
                f"the digits{at_position(position)} alone determine no rational number: none with numerator and "
                f"denominator up to about 2^{bound.bit_length() // 2} has them{are}; a real value "
                "tells which, or more digits; in Python RedundantResidueCode(space, max_numerator, max_denominator) "
                "takes other bounds"
            )
        return q

    def _with_shape(self, shape: tuple[int, ...]) -> Self:
        errors = None if self._errors is None else self._errors.reshape(shape)
        return type(self)(self.space, self._real.reshape(shape), self._finite.reshape(shape), errors)

    def _take(self, keys: tuple[Any, ...]) -> Self:
        errors = None if self._errors is None else np.asarray(self._errors[keys])
        return type(self)(self.space, self._real[keys], self._finite[keys], errors)

    def _coerce(self, other: Any, *, floats: str = "never") -> "AdeleArray":
        """Return another operand as an array of the same space."""
        if not isinstance(other, AdeleArray):
            return self.space.encode(other, floats=floats)
        if other.space._field != self.space._field:
            raise SpaceError(
                f"arrays of different spaces do not mix: {describe(self.space, 200)} and {describe(other.space, 200)}"
            )
        return other

    def _exactly(self, other: Any, *, relative: bool) -> "AdeleArray":
        return type(self)(self.space, *self.space._exact(other, relative=relative))

    @property
    def _window(self) -> Window:
        return self.space.window

    def _in_window(self, window: Window) -> "AdeleArray":
        old = self._window
        if window == old:
            return self
        x, real_place = self._finite.reshape((-1,)), self._real
        places = self._at_places(lambda: finite.moved(x, old, window), real_place)
        if window != old.union(window) and isinstance(real_place, RealPlace):
            # In a smaller window the number may be outside the decoding bound.
            beyond = real_place.beyond.copy()
            beyond["is_inside"] = False
            real_place = replace(real_place, beyond=beyond)
        return type(self)(self.space._with_window(window), real_place, places, self._errors)

    def _at_places(self, operation: Callable[[], FinitePlaces], real_place: RealPlace) -> FinitePlaces:
        """Return what an operation makes, in the shape of its real place; an error names a number by that."""
        try:
            return operation().reshape(real_place.shape)
        except OperationError as error:
            position = np.unravel_index(error.index, real_place.shape)
            value = real_place[position].text()
            raise PrecisionError(f"the {error.noun} {value}{at_position(position)} {error.text}") from None

    def _combine(
        self, other: "AdeleArray", real_operation: Callable[[RealPlace, RealPlace], RealPlace], finite_operation: Any
    ) -> "AdeleArray":
        """Broadcast two operands and apply an operation at every place."""
        shape = common_shape(self, other)
        (a, x), (b, y) = (
            (c._real.broadcast_to(shape), c._finite.broadcast_to(shape).reshape((-1,))) for c in (self, other)
        )
        real_place = real_operation(a, b)
        places = self._at_places(lambda: finite_operation(x, y, self._window), real_place)
        is_approximate = self._errors is not None or other._errors is not None
        errors = np.full(shape, np.nan) if is_approximate else None
        return type(self)(self.space, real_place, places, errors)

    def __add__(self, other: Any) -> "AdeleArray":
        a, b = self._aligned(other)
        return a._combine(b, lambda a, b: a + b, finite.add)

    def __mul__(self, other: Any) -> "AdeleArray":
        a, b = self._factors(other)
        return a._combine(b, lambda a, b: a * b, finite.multiply)

    def _raised(self, k: int) -> "AdeleArray":
        real_place = finite.repeated(self._real, k, lambda a, b: a * b)
        places = self._at_places(lambda: finite.power(self._finite.reshape((-1,)), k, self._window), real_place)
        errors = self._errors if k == 1 or self._errors is None else np.full(self.shape, np.nan)
        return type(self)(self.space, real_place, places, errors)

    def __neg__(self) -> "AdeleArray":
        places = finite.negate(self._finite.reshape((-1,)), self.space.window)
        return type(self)(self.space, -self._real, places.reshape(self.shape), self._errors)

    def __sub__(self, other: Any) -> "AdeleArray":
        a, b = self._aligned(other)
        return a._combine(b, lambda a, b: a + -b, finite.subtract)

    def __truediv__(self, other: Any) -> "AdeleArray":
        dividend, divisor = self._factors(other, relative=True)
        may_be_zero = np.atleast_1d(divisor._is_zero())
        if np.any(may_be_zero):
            position = tuple(int(i) for i in np.argwhere(may_be_zero)[0]) if divisor.shape else ()
            raise DivisionByZeroError(
                f"division by zero{at_position(position)}: every coordinate of the divisor is zero"
            )
        return dividend._combine(divisor, lambda a, b: a * b.reciprocal(), finite.divide)

    def _is_zero(self) -> npt.NDArray[np.bool_]:
        """Return where every coordinate is zero, as far as it is known."""
        has_zero_digits = (self._finite.digits == 0).all(axis=(-2, -1))
        return np.asarray(has_zero_digits & self._real.may_be_zero(), dtype=np.bool_)

    def _ones(self) -> "AdeleArray":
        return self.space.encode(np.ones(self.shape, dtype=np.int64))

    def _agrees(self, other: "AdeleArray") -> npt.NDArray[np.bool_]:
        """Return where two arrays, broadcast to one shape, agree in every coordinate as far as it is known."""
        shape = common_shape(self, other)
        same_digits = finite.agree(self._finite.broadcast_to(shape), other._finite.broadcast_to(shape)).all(axis=-1)
        return np.asarray(same_digits & self._real.broadcast_to(shape).overlaps(other._real.broadcast_to(shape)))

    def __repr__(self) -> str:
        space = self.space
        return (
            f"AdeleArray(real={np.array2string(self.real, separator=', ', threshold=8)}, shape={self.shape}, "
            f"primes={space.primes}, precision={space.precision}, fractional_digits={space.fractional_digits})"
        )

    def __str__(self) -> str:
        """Return the numbers in the paper's notation, one a line: (1.4, …11011_2, …01212_3, …54130_7)."""
        flat = self.reshape(-1)
        lines = [flat._line(i) for i in range(min(flat.size, 8))]
        return "\n".join(lines + ([f"… {flat.size - 8} more"] if flat.size > 8 else []))

    def _line(self, i: int) -> str:
        """Return one number of a flat array in the paper's notation."""
        texts = [finite.text(self._finite, i, j, self.space.window) for j in range(self.space.n_primes)]
        return f"({self._real[i].text()}, {', '.join(texts)})"
