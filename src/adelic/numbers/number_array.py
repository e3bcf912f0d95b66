"""The common base of arrays of adeles, of algebraic numbers and of p-adic numbers: NumPy's ways, and arithmetic.

An array has p-adic coordinates (`finite`), and next to them those of a real or complex place, or none (`NoPlace`). An
operation acts on each: its name chooses the functions of `finite` and of the place. An operand that is no array
acts exactly, and the window of two arrays' result holds the digits of both.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod
from numbers import Number
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_tuple

from adelic.errors import ConfigurationError, DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import finite, rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces, OperationError
from adelic.numbers.real import Shaped
from adelic.numbers.window import Window, checked_integer, checked_window

NOT_OF_THE_SPACE = (EncodingError, PrecisionError, DivisionByZeroError)
"""Errors if an operand is no number, or none that the space or window holds."""

# Places have sums, products and reciprocals; −b is exact, so a + (−b) is rounded as a − b would be.
_AT_A_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": lambda a, b: a + -b,
    "multiply": operator.mul,
    "divide": lambda a, b: a * b.reciprocal(),
}
_PRODUCTS = 10**6  # that a product of matrices has in memory at once
SHOWN = 8
"""How many numbers a display lists."""


class Space(Protocol):
    """The interface of a space to its arrays: of an `AdeleSpace`, an `AlgebraicSpace` or a `LocalField`."""

    @property
    def window(self) -> Window:
        """Return the primes, and the window of digits at each."""

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return the common part of two spaces whose arrays mix: all except their windows."""

    def _with_window(self, window: Window) -> "Space":
        """Return the space with another window at the same primes."""

    def _exact(self, values: Any, *, relative: bool) -> tuple[Any, FinitePlaces]:
        """Return the coordinates of numbers as one operation takes them without a loss, see `finite.exact`."""

    def encode(self, values: Any, *, floats: str = "error") -> Any:
        """Return other operands as an array."""


@dataclass(frozen=True)
class NoPlace(Shaped):
    """The companion of p-adic coordinates of numbers that have no others: which are undefined, bool (*).

    Results of undefined operands are undefined, as those of NaN are NaN.
    """

    mask: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> "NoPlace":
        """Return the companion of numbers that are all defined, which takes no memory."""
        return cls(np.broadcast_to(np.False_, shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers."""
        return self.mask.shape

    @property
    def has_undefined(self) -> bool:
        """Return whether a number is undefined; at once for those of `of`."""
        mask = self.mask
        return bool(mask.size and (mask.any() if any(mask.strides) else mask.item(0)))

    def map(self, function: Callable[[Any], Any]) -> "NoPlace":
        """Apply a change of shape."""
        return NoPlace(np.asarray(function(self.mask)))

    def __add__(self, other: "NoPlace") -> "NoPlace":
        return NoPlace(self.mask | other.mask) if other.has_undefined else self

    __mul__ = __add__

    def __neg__(self) -> "NoPlace":
        return self

    def reciprocal(self) -> "NoPlace":
        """Return the same."""
        return self

    cut = reciprocal

    def overlaps(self, other: "NoPlace") -> npt.NDArray[np.bool_]:
        """Return whether nothing contradicts that two numbers are equal: both are defined."""
        return ~(self + other).mask

    def may_be_zero(self) -> npt.NDArray[np.bool_]:
        """Return whether nothing contradicts that a number is zero."""
        return ~self.mask

    def text(self) -> str:
        """Return nothing: errors then name a number by its position alone."""
        return ""


class NumberArray:
    """An immutable, NumPy-like array of numbers: `space`, coordinates at a place and p-adic ones.

    `==` is element by element, so arrays cannot be hashed.
    """

    __slots__ = ("_errors", "_finite", "_real", "space")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so NumPy leaves `ndarray + array` to this class

    def __init__(
        self,
        space: Space,
        place: Any,
        finite_places: FinitePlaces,
        approximation_error: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.space = space
        self._real = place
        self._finite = finite_places
        self._errors = approximation_error

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers, without the axes of primes and digits."""
        return tuple(self._real.shape)

    @property
    def _window(self) -> Window:
        return self.space.window

    def _with_shape(self, shape: tuple[int, ...]) -> Self:
        errors = None if self._errors is None else self._errors.reshape(shape)
        return type(self)(self.space, self._real.reshape(shape), self._finite.reshape(shape), errors)

    def _take(self, keys: tuple[Any, ...]) -> Self:
        errors = None if self._errors is None else np.asarray(self._errors[keys])
        return type(self)(self.space, self._real[keys], self._finite[keys], errors)

    def _coerce(self, other: Any, *, floats: str = "never") -> Any:
        """Return another operand as an array at the same primes, or raise one of `NOT_OF_THE_SPACE`.

        A number that is no array yet is seen through this array's window.
        """
        if not isinstance(other, NumberArray):
            return self.space.encode(other, floats=floats)
        if other.space._field != self.space._field:
            raise SpaceError(
                f"arrays of different spaces do not mix: {describe(self.space, 200)} and {describe(other.space, 200)}; "
                "make both at the same primes"
            )
        return other

    def _exactly(self, other: Any, *, relative: bool) -> Self:
        """Return a number that is no array yet as `finite.exact` has it for a product, or a quotient."""
        return type(self)(self.space, *self.space._exact(other, relative=relative))

    def _in_window(self, window: Window) -> Self:
        """Return the same numbers, as far as they are known, in another window at the same primes."""
        old = self._window
        if window == old:
            return self
        x = self._finite.reshape((-1,))
        places = self._at_places(lambda: finite.moved(x, old, window), self._real)
        # In a smaller window the number may be outside the decoding bound.
        place = self._real if window == old.union(window) else self._real.cut()
        return type(self)(self.space._with_window(window), place, places, self._errors)

    def _at_places(self, operation: Callable[[], FinitePlaces], place: Any) -> FinitePlaces:
        """Return the result of an operation, in the shape of the other place, by which an error names a number."""
        try:
            return operation().reshape(place.shape)
        except OperationError as error:
            position = np.unravel_index(error.index, place.shape)
            value = f" {place[position].text()}".rstrip()
            raise PrecisionError(f"the {error.noun}{value}{at_position(position)} {error.text}") from None

    def _combine(self, other: "NumberArray", name: str) -> Self:
        """Broadcast two operands in one window and apply an operation at every place."""
        shape = common_shape(self, other)
        (a, x), (b, y) = (
            (c._real.broadcast_to(shape), c._finite.broadcast_to(shape).reshape((-1,))) for c in (self, other)
        )
        place = _AT_A_PLACE[name](a, b)
        places = self._at_places(lambda: self._operate(name, x, y), place)
        # Errors of approximations are not followed through arithmetic: NaN shows this, and 0 would claim exactness.
        is_approximate = self._errors is not None or other._errors is not None
        return type(self)(self.space, place, places, np.full(shape, np.nan) if is_approximate else None)

    def _operate(self, name: str, x: FinitePlaces, y: Any) -> FinitePlaces:
        """Return the p-adic coordinates of a sum, difference, product or quotient, or of the power by y."""
        places: FinitePlaces = getattr(finite, name)(x, y, self._window)
        return places

    def _raised(self, k: int) -> Self:
        """Return the power by k >= 1."""
        place = finite.repeated(self._real, k, operator.mul)
        places = self._at_places(lambda: self._operate("power", self._finite.reshape((-1,)), k), place)
        errors = self._errors if k == 1 or self._errors is None else np.full(self.shape, np.nan)
        return type(self)(self.space, place, places, errors)

    def _agrees(self, other: "NumberArray") -> npt.NDArray[np.bool_]:
        """Return whether two arrays, broadcast to one shape, agree in every coordinate as far as it is known."""
        shape = common_shape(self, other)
        same_digits = finite.agree(self._finite.broadcast_to(shape), other._finite.broadcast_to(shape)).all(axis=-1)
        return np.asarray(same_digits & self._real.broadcast_to(shape).overlaps(other._real.broadcast_to(shape)))

    @staticmethod
    def _is_entry(value: Any) -> bool:
        """Return whether a sequence is one number to `_coerce`."""
        return rationals.is_pair(value)

    def __neg__(self) -> Self:
        places = finite.negate(self._finite.reshape((-1,)), self._window).reshape(self.shape)
        return type(self)(self.space, -self._real, places, self._errors)

    def __add__(self, other: Any) -> Self:
        first, second = self._aligned(other)
        return first._combine(second, "add")

    def __sub__(self, other: Any) -> Self:
        first, second = self._aligned(other)
        return first._combine(second, "subtract")

    def __mul__(self, other: Any) -> Self:
        first, second = self._factors(other)
        return first._combine(second, "multiply")

    def __truediv__(self, other: Any) -> Self:
        dividend, divisor = self._factors(other, relative=True)
        # A multiple of every p^N has the digits of 0, and only the other place may tell it from 0.
        has_zero_digits = (divisor._finite.digits == 0).all(axis=(-2, -1))
        zeros = np.argwhere(np.atleast_1d(has_zero_digits & divisor._real.may_be_zero()))
        if len(zeros):
            where = at_position(zeros[0].tolist() if divisor.shape else ())
            raise DivisionByZeroError(f"division by zero{where}: every coordinate of the divisor is zero")
        return dividend._combine(divisor, "divide")

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        second, first = self._aligned(other)
        return first - second

    def __rtruediv__(self, other: Any) -> Self:
        return self._exactly(other, relative=True) / self

    def __matmul__(self, other: Any) -> Self:
        first, second = self._factors(other)
        return first._product(second)

    def __rmatmul__(self, other: Any) -> Self:
        return self._exactly(other, relative=False)._product(self)

    def dot(self, other: Any) -> Self:
        """Return `self @ other`: products of vectors and matrices, with NumPy's rules for further axes.

        Known digits are those that the products and their sum have; an operand that is no array acts exactly.

        Raises:
            SpaceError: an operand has no axis, or the axes that are summed have different lengths.

        >>> from adelic.numbers import padic
        >>> A = padic([[1, 2], ["1/3", 4]], 5, precision=4)
        >>> (A @ [3, 0]).lift(), (A @ A).shape, A[0].dot(A[0]).lift()
        (array([3, 1]), (2, 2), 5)
        """
        product: Self = self @ other
        return product

    def _product(self, other: "NumberArray") -> Self:
        """Return the matrix product of two operands in one window."""
        if not (self.shape and other.shape):
            raise SpaceError(f"@ takes vectors and matrices, not shapes {self.shape} and {other.shape}; use *")
        a = self.reshape(1, -1) if self.ndim == 1 else self
        b = other.reshape(-1, 1) if other.ndim == 1 else other
        if a.shape[-1] != b.shape[-2]:
            raise SpaceError(f"arrays of shapes {self.shape} and {other.shape} do not fit together in @")
        length = a.shape[-1]
        step = max(1, _PRODUCTS * length // max(a.size * b.shape[-1], b.size * a.shape[-2], 1))
        parts = [
            a[..., i : i + step, None]._combine(b[..., None, i : i + step, :], "multiply").sum(axis=-2)
            for i in range(0, max(length, 1), step)
        ]
        total = reduce(operator.add, parts)
        rows, columns = (0 if x.ndim == 1 else slice(None) for x in (self, other))
        return total[..., rows, columns]

    def sum(self, axis: int | tuple[int, ...] | None = None, out: None = None) -> Self:
        """Return the sum of all numbers, or along axes; of none it is 0. `numpy.sum` calls it, and passes `out`.

        >>> from adelic.numbers import padic
        >>> padic([[1, 2], ["1/3", 4]], 5, precision=4).sum(axis=0).series().tolist()
        ['3 + 3*5 + 5^2 + 3*5^3 + O(5^4)', '1 + 5 + O(5^4)']
        """
        if out is not None:
            raise ConfigurationError("sum() returns a new array, and does not write to out=…; leave it out")
        axes = normalize_axis_tuple(range(self.ndim) if axis is None else axis, self.ndim)
        which = np.moveaxis(np.arange(self.size).reshape(self.shape), axes, range(len(axes)))
        shape = which.shape[len(axes) :]
        x = self.reshape(-1)[which.reshape(prod(which.shape[: len(axes)]), *shape)]
        if not len(x):
            zeros: Self = self.space.encode(np.zeros(shape, dtype=np.int64))
            return zeros
        rest = []  # by halves: few operations, each of many numbers, and sums of floats keep their digits
        while len(x) > 1:
            half = len(x) // 2
            rest += [x[-1]] if len(x) % 2 else []
            x = x[:half] + x[half : 2 * half]
        return reduce(operator.add, rest, x[0])

    def _aligned(self, other: Any, *, floats: str = "never") -> tuple[Self, Any]:
        """Return this array and another operand in one window that holds both."""
        try:
            second = self._coerce(other, floats=floats)
        except PrecisionError as error:
            raise PrecisionError(f"{error} (with_window changes it)") from None
        window = self._window.union(second._window)
        return self._in_window(window), second._in_window(window)

    def _factors(self, other: Any, *, relative: bool = False) -> tuple[Self, Any]:
        """Return an array as `_aligned` does; of another factor, or divisor, all digits that a result can show."""
        return (
            self._aligned(other) if isinstance(other, NumberArray) else (self, self._exactly(other, relative=relative))
        )

    def with_window(self, *, precision: Any = None, fractional_digits: int | None = None) -> Self:
        """Return the same numbers seen through another window of digits.

        Known digits stay known: a wider window knows no more digits, and a narrower one leaves out the highest.

        Args:
            precision: N, how many digits the new window holds, as for `AdeleSpace`; when left out, as many digits from
                p^0 up as before.
            fractional_digits: F, how many of them are below p^0; when left out, as many as before.

        Raises:
            PrecisionError: a number has digits below the new window, or no known digit in it.
            SpaceError: the precision does not suit.

        >>> from adelic.numbers import padic
        >>> x = padic(7, 5, precision=4)
        >>> wide = x.with_window(fractional_digits=2)
        >>> print(wide / 25, wide.with_window(precision=3), sep="; ")
        …00.12_5; …2_5
        >>> x.with_window(precision=20).series()
        '2 + 5 + O(5^4)'
        """
        old = self._window
        f = (
            old.fractional_digits
            if fractional_digits is None
            else checked_integer("fractional_digits", fractional_digits)
        )
        if precision is None:
            precision = {p: n + f - old.fractional_digits for p, n in zip(old.primes, old.precisions, strict=True)}
        checked = checked_window(tuple(dict.fromkeys(old.primes)), precision, f)  # which has each prime once
        counts = dict(zip(checked.primes, checked.precisions, strict=True))
        return self._in_window(Window(old.primes, tuple(counts[p] for p in old.primes), checked.fractional_digits))

    def __eq__(self, other: object) -> Any:
        """Return, element by element, whether two numbers are equal as far as both are known.

        A float means its exact value, as when a `Fraction` is compared. An operand that is no number, or none that the
        space holds, is unequal.
        """
        try:
            equal = self._equals(other)
        except NOT_OF_THE_SPACE as error:
            try:
                # An entry that is no number of the space is unequal; the others still have to be compared.
                listed = rationals.entries(other, is_entry=self._is_entry)
            except EncodingError:  # ragged, or masked
                return NotImplemented
            if not listed.shape and isinstance(error, EncodingError) and not isinstance(other, Number):
                return NotImplemented
            shape = common_shape(self, listed)
            which = np.broadcast_to(np.arange(self.size).reshape(self.shape), shape).reshape(-1)
            others = np.broadcast_to(listed, shape).reshape(-1)
            equal = np.array(self.reshape(-1)[which]._equal_entries(others), dtype=np.bool_).reshape(shape)
        return equal if equal.shape else bool(equal)

    def _equals(self, other: Any) -> npt.NDArray[np.bool_]:
        """Return the result of == for an operand that the space holds."""
        first, second = self._aligned(other, floats="exact")
        return first._agrees(second)

    def _equal_entries(self, others: npt.NDArray[np.object_]) -> list[bool]:
        """Return the result of == for an array (n,) and n entries, some of which the space does not hold."""
        try:
            is_array = len(others) == 1 and isinstance(others[0], NumberArray) and not others[0].shape
            found: list[bool] = self._equals(others[0] if is_array else others.tolist()).tolist()
            return found
        except NOT_OF_THE_SPACE:
            if len(others) == 1:
                return [False]
            # Halves find k strange entries of n with about k·log n attempts, instead of n.
            half = len(others) // 2
            return self[:half]._equal_entries(others[:half]) + self[half:]._equal_entries(others[half:])

    def __ne__(self, other: object) -> Any:
        """Return, element by element, whether two numbers are seen to differ."""
        equal: Any = self.__eq__(other)
        if isinstance(equal, np.ndarray):
            return ~equal
        return equal if equal is NotImplemented else not equal

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of numbers."""
        return prod(self.shape)

    def reshape(self, *shape: Any) -> Self:
        """Return the same numbers under another shape; one axis may be −1.

        >>> from adelic import AdeleSpace
        >>> AdeleSpace().encode([[1, 2], [3, 4]]).reshape(4).shape
        (4,)
        """
        target = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        try:
            resolved = self._outline().reshape(target).shape
        except (TypeError, ValueError):
            raise SpaceError(f"an array of {self.size} numbers cannot take the shape {describe(target, 200)}") from None
        return self._with_shape(resolved)

    @property
    def T(self) -> Self:  # noqa: N802  # NumPy's name
        """Return the same numbers with the axes in reverse order: the transpose of a matrix."""
        which = np.arange(self.size).reshape(self.shape).T
        return self.reshape(-1)[which]

    def __getitem__(self, key: Any) -> Self:
        keys = key if isinstance(key, tuple) else (key,)
        self._outline()[keys]  # raises IndexError for too many axes, which the digits' axes would hide
        return self._take(keys)

    def _outline(self) -> npt.NDArray[np.bool_]:
        """Return an array of the shape that takes no memory."""
        return np.broadcast_to(np.False_, self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{type(self).__name__} of shape () has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: Any) -> Self:
        """Return the power by an integer, by repeated squaring; a negative one inverts first.

        As many digits of its unit part are known as of the number's, and the v(k) more that x^k determines.
        """
        if isinstance(exponent, bool) or not isinstance(exponent, (int, np.integer)):
            raise EncodingError(f"an exponent must be an integer, not {describe(exponent)}")
        k = int(exponent)
        if not k:
            ones: Self = self.space.encode(np.ones(self.shape, dtype=np.int64))
            return ones
        return (self if k > 0 else 1 / self)._raised(abs(k))

    def __str__(self) -> str:
        """Return the numbers in the paper's notation, one a line; at most eight of them."""
        more = [f"… {self.size - SHOWN} more"] if self.size > SHOWN else []
        return "\n".join(self._lines() + more)

    def _lines(self) -> list[str]:
        """Return the first numbers in the paper's notation."""
        flat = self.reshape(-1)
        return [flat._line(i) for i in range(min(flat.size, SHOWN))]

    def _line(self, i: int) -> str:
        """Return one number of a flat array in the paper's notation: (1.4, …11011_2, …01212_3, …54130_7)."""
        texts = [finite.text(self._finite, i, j, self._window) for j in range(len(self._window.primes))]
        return f"({self._real[i].text()}, {', '.join(texts)})"


def common_shape(*arrays: NumberArray | npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the shape to which arrays are broadcast, or raise `SpaceError`."""
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise SpaceError(f"arrays of shapes {shapes} do not fit together") from None


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
