"""Arrays of adeles: the paper's ⊕ and ⊗, place by place, and back to rationals."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers.coordinates import check_float32, write_real_row
from adelic.numbers.decoding import reconstruction
from adelic.numbers.describe import at_position, describe
from adelic.numbers.expansion import expansion_text
from adelic.numbers.hensel import Residue
from adelic.numbers.places import finite
from adelic.numbers.places.balls import RealPlace
from adelic.numbers.places.finite import FinitePlaces, OperationError
from adelic.numbers.rationals import are_many
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

    def encode(self, values: Any, *, floats: str = "error") -> "AdeleArray":
        """Return other operands as an array."""


class AdeleArray:
    """An immutable array of adeles of one space; made by `AdeleSpace.encode`, NumPy-like in shape and indexing.

    `+ - * /`, `** k` and unary minus act coordinate by coordinate, with NumPy's broadcasting; other operands are
    encoded first. p-adic coordinates are exact to the digits that `known` counts; the real one is a float64 with an
    error bound. `==` and `!=` compare element by element: digits as far as both sides know them, real values within
    their error bounds.

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
    __hash__ = None  # type: ignore[assignment]  # == is element by element
    __array_ufunc__ = None  # so that NumPy leaves `ndarray + AdeleArray` to this class

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
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of numbers."""
        return prod(self.shape)

    @property
    def real(self) -> npt.NDArray[np.float64]:
        """Return the real coordinates, float64 (*)."""
        return _read_only(self._real.value)

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
        return _read_only(np.zeros(self.shape) if self._errors is None else self._errors)

    @property
    def digits(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the p-adic digits, unsigned (*, n_primes, max_precision), most significant first.

        Digits that are not known (see `known`) are 0, as where a prime has fewer digits than others.
        """
        return _read_only(self._finite.digits)

    @property
    def known(self) -> npt.NDArray[np.int32]:
        """Return how many digits of each window are known, counted from the lowest, int32 (*, n_primes).

        All that the prime has after `encode` and after sums. Products with fractional digits and quotients by
        multiples of p know fewer (capped absolute precision).

        >>> from adelic import AdeleSpace
        >>> space = AdeleSpace(primes=(2, 3), precision=8)
        >>> (space.encode(12) / 4).known
        array([6, 8], dtype=int32)
        """
        return _read_only(self._finite.known)

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

    def decode(self) -> Any:
        """Return the rationals with these coordinates: an object array of `Fraction`, for shape () one `Fraction`.

        Chinese remainders, rational reconstruction, then a check against the real place (see
        `adelic.numbers.decoding`). Many numbers with 2·|n|·m up to about 2^60 take a compiled path.

        Raises:
            DecodingError: no rational n/m with 2·|n|·m below the space's bound has these coordinates, or the
                coordinates do not determine which. (Without real values, see `AdeleSpace.from_digits`.)

        >>> from adelic import AdeleSpace
        >>> AdeleSpace().encode(["22/19", -5]).decode()
        array([Fraction(22, 19), Fraction(-5, 1)], dtype=object)
        """
        out, found = self._decode_many()
        for i in np.flatnonzero(~found):
            out[i] = self._decode_one(tuple(int(k) for k in np.unravel_index(i, self.shape)) if self.shape else ())
        return out.reshape(self.shape) if self.shape else out[0]

    def _decode_many(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]]:
        """Return numbers, flattened, and which of them are found; `_decode_one` does the others."""
        if not are_many(self.size):
            return np.full(self.size, None, dtype=object), np.zeros(self.size, dtype=np.bool_)
        from adelic.numbers.decoding import fast

        flat = self.reshape(-1)
        return fast.decode(flat._finite, flat._real, self.space.window)

    def _decode_one(self, position: tuple[int, ...]) -> Fraction:
        places, real_place = self._finite[position], self._real[position]
        flat = FinitePlaces(places.digits[None], places.known[None])
        residues = [finite.read_residue(flat, 0, j, self.space.window) for j in range(self.space.n_primes)]
        if real_place.is_unmeasured():
            return self._decode_digits(residues, position)
        q = reconstruction.decode(residues, self.space.primes, self.space.fractional_digits, real_place)
        if q is None:
            bound = self.space.window.decoding_bound
            raise DecodingError(
                f"the coordinates{at_position(position)} determine no rational number: no n/m with 2·|n|·m below about "
                f"2^{bound.bit_length() - 1} has these digits and the real value {real_place.text()}, or "
                "more than one may have them; more primes or digits widen the bound"
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
                "tells which, and RedundantResidueCode(space, max_numerator, max_denominator) takes other bounds"
            )
        return q

    def reshape(self, *shape: Any) -> "AdeleArray":
        """Return the same numbers under another shape; one axis may be −1.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace().encode([[1, 2], [3, 4]]).reshape(4).shape
        (4,)
        """
        target = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        try:
            real_place = self._real.reshape(target)
        except ValueError:
            raise SpaceError(f"an array of {self.size} numbers cannot take the shape {describe(target, 200)}") from None
        resolved = real_place.shape
        errors = None if self._errors is None else self._errors.reshape(resolved)
        return type(self)(self.space, real_place, self._finite.reshape(resolved), errors)

    def __getitem__(self, key: Any) -> "AdeleArray":
        keys = key if isinstance(key, tuple) else (key,)
        if any(k is Ellipsis for k in keys):  # the axes of primes and digits must stay out of it
            before = next(i for i, k in enumerate(keys) if k is Ellipsis)
            if any(k is Ellipsis for k in keys[before + 1 :]):
                raise IndexError("an index can only have a single ellipsis ('...')")
            consumed = sum(_axes_of_index(k) for k in keys)
            keys = keys[:before] + (slice(None),) * (self.ndim - consumed) + keys[before + 1 :]
        self._real.centre[keys]  # raises IndexError for too many axes, which the digits' axes would hide
        errors = None if self._errors is None else np.asarray(self._errors[keys])
        return type(self)(self.space, self._real[keys], self._finite[keys], errors)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an AdeleArray of shape () has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator["AdeleArray"]:
        return (self[i] for i in range(len(self)))

    def _coerce(self, other: Any, *, floats: str = "never") -> "AdeleArray":
        """Return another operand as an array of the same space."""
        if isinstance(other, AdeleArray) and other.space != self.space:
            raise SpaceError(
                f"arrays of different spaces do not mix: {describe(self.space, 200)} and {describe(other.space, 200)}"
            )
        return self.space.encode(other, floats=floats)

    def _combine(
        self, other: "AdeleArray", real_operation: Callable[[RealPlace, RealPlace], RealPlace], finite_operation: Any
    ) -> "AdeleArray":
        """Broadcast two operands and apply an operation at every place."""
        try:
            shape = np.broadcast_shapes(self.shape, other.shape)
        except ValueError:
            raise SpaceError(f"arrays of shapes {self.shape} and {other.shape} do not fit together") from None
        pairs = [(a._real.broadcast_to(shape), a._finite.broadcast_to(shape).reshape((-1,))) for a in (self, other)]
        real_place = real_operation(pairs[0][0], pairs[1][0])
        try:
            places = finite_operation(pairs[0][1], pairs[1][1], self.space.window)
        except OperationError as error:
            position = tuple(int(i) for i in np.unravel_index(error.index, shape)) if shape else ()
            value = real_place[position].text()
            raise PrecisionError(f"the {error.noun} {value}{at_position(position)} {error.text}") from None
        is_approximate = self._errors is not None or other._errors is not None
        errors = np.full(shape, np.nan) if is_approximate else None
        return type(self)(self.space, real_place, places.reshape(shape), errors)

    def __add__(self, other: Any) -> "AdeleArray":
        return self._combine(self._coerce(other), lambda a, b: a + b, finite.add)

    def __mul__(self, other: Any) -> "AdeleArray":
        return self._combine(self._coerce(other), lambda a, b: a * b, finite.multiply)

    def __neg__(self) -> "AdeleArray":
        places = finite.negate(self._finite.reshape((-1,)), self.space.window)
        return type(self)(self.space, -self._real, places.reshape(self.shape), self._errors)

    def __pos__(self) -> "AdeleArray":
        return self

    def __sub__(self, other: Any) -> "AdeleArray":
        return self._combine(self._coerce(other), lambda a, b: a + -b, finite.subtract)

    def __truediv__(self, other: Any) -> "AdeleArray":
        divisor = self._coerce(other)
        may_be_zero = np.atleast_1d(divisor._is_zero())
        if np.any(may_be_zero):
            position = tuple(int(i) for i in np.argwhere(may_be_zero)[0]) if divisor.shape else ()
            raise DivisionByZeroError(
                f"division by zero{at_position(position)}: every coordinate of the divisor is zero"
            )
        return self._combine(divisor, lambda a, b: a * b.reciprocal(), finite.divide)

    def _is_zero(self) -> npt.NDArray[np.bool_]:
        """Return where every coordinate is zero, as far as it is known."""
        has_zero_digits = (self._finite.digits == 0).all(axis=(-2, -1))
        return np.asarray(has_zero_digits & self._real.may_be_zero(), dtype=np.bool_)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> "AdeleArray":
        return self._coerce(other) - self

    def __rtruediv__(self, other: Any) -> "AdeleArray":
        return self._coerce(other) / self

    def __pow__(self, exponent: Any) -> "AdeleArray":
        """Return the power by an integer, by repeated squaring; a negative one inverts first."""
        if isinstance(exponent, bool) or not isinstance(exponent, (int, np.integer)):
            raise EncodingError(f"an exponent must be an integer, not {describe(exponent)}")
        k = int(exponent)
        base = self if k >= 0 else 1 / self
        result: AdeleArray | None = None
        k = abs(k)
        while k:
            if k & 1:
                result = base if result is None else result * base
            k >>= 1
            if k:
                base = base * base
        return self._ones() if result is None else result

    def _ones(self) -> "AdeleArray":
        return self.space.encode(np.ones(self.shape, dtype=np.int64))

    def __eq__(self, other: object) -> Any:
        """Return, element by element, whether two numbers agree in every coordinate as far as it is known.

        A float stands for its exact value, as when a `Fraction` is compared; what is not a number at all is unequal.
        """
        try:
            right = self._coerce(other, floats="exact")
        except EncodingError:
            return NotImplemented
        try:
            shape = np.broadcast_shapes(self.shape, right.shape)
        except ValueError:
            raise SpaceError(f"arrays of shapes {self.shape} and {right.shape} do not fit together") from None
        a, b = self._finite.broadcast_to(shape), right._finite.broadcast_to(shape)
        known = np.minimum(a.known, b.known)[..., None]
        place = np.arange(a.digits.shape[-1] - 1, -1, -1)  # of each digit in its window, as `digits` orders them
        same_digits = ((a.digits == b.digits) | (place >= known)).all(axis=(-2, -1))
        equal = same_digits & self._real.broadcast_to(shape).overlaps(right._real.broadcast_to(shape))
        return equal if shape else bool(equal)

    def __ne__(self, other: object) -> Any:
        """Return, element by element, whether two numbers are seen to differ in some coordinate."""
        equal = self.__eq__(other)
        return (
            equal if equal is NotImplemented else np.logical_not(equal) if isinstance(equal, np.ndarray) else not equal
        )

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
        texts = []
        for j, p in enumerate(self.space.primes):
            known = int(self._finite.known[i, j])
            shown = self._finite.digits[i, j, self._finite.digits.shape[-1] - known :].tolist()
            texts.append(f"{expansion_text(shown, p, self.space.fractional_digits)}_{p}")
        return f"({self._real[i].text()}, {', '.join(texts)})"


def _axes_of_index(key: Any) -> int:
    """Return how many axes one part of an index consumes; a boolean array stands for as many as it has."""
    if key is None or key is Ellipsis:
        return 0
    if not isinstance(key, slice) and np.asarray(key).dtype == np.bool_:
        return np.ndim(key)
    return 1


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
