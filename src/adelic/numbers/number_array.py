"""What arrays of numbers have in common: a shape, indexing as in NumPy, operations from the right, and powers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod
from numbers import Number
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from adelic.errors import DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import rationals
from adelic.numbers.describe import describe
from adelic.numbers.window import Window, checked_integer, checked_window

NOT_OF_THE_SPACE = (EncodingError, PrecisionError, DivisionByZeroError)
"""What is raised where an operand is no number, or none that the space or window holds."""


class NumberArray(ABC):
    """The interface of an immutable, NumPy-like array of numbers; a class adds coordinates, sums and products.

    `==` is element by element, so that arrays cannot be hashed.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that NumPy leaves `ndarray + array` to this class

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers, without the axes of primes and digits."""

    @abstractmethod
    def _take(self, keys: tuple[Any, ...]) -> Self:
        """Return the numbers that an index without an ellipsis chooses."""

    @abstractmethod
    def _with_shape(self, shape: tuple[int, ...]) -> Self:
        """Return the same numbers under another shape, of which they have as many."""

    @abstractmethod
    def _ones(self) -> Self:
        """Return ones of the same shape."""

    @property
    @abstractmethod
    def _window(self) -> Window:
        """Return the window of digits."""

    @abstractmethod
    def _in_window(self, window: Window) -> Self:
        """Return the same numbers, as far as they are known, in another window at the same primes."""

    @abstractmethod
    def _coerce(self, other: Any, *, floats: str = "never") -> Self:
        """Return another operand as an array at the same primes, or raise one of `NOT_OF_THE_SPACE`.

        A number that is no array yet is seen through this array's window.
        """

    @abstractmethod
    def _exactly(self, other: Any, *, relative: bool) -> Self:
        """Return a number that is no array yet as `windows.exact` has it for a product, or a quotient."""

    @abstractmethod
    def _raised(self, k: int) -> Self:
        """Return the power by k >= 1."""

    @abstractmethod
    def _agrees(self, other: Self) -> npt.NDArray[np.bool_]:
        """Return where two arrays, broadcast to one shape, are equal as far as both are known."""

    @staticmethod
    def _is_entry(value: Any) -> bool:
        """Return whether a sequence is one number to `_coerce`."""
        return rationals.is_pair(value)

    @abstractmethod
    def __add__(self, other: Any) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Any) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Any) -> Self: ...

    @abstractmethod
    def __truediv__(self, other: Any) -> Self: ...

    def __radd__(self, other: Any) -> Self:
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Self:
        return self.__mul__(other)

    def __rsub__(self, other: Any) -> Self:
        second, first = self._aligned(other)
        return first - second

    def __rtruediv__(self, other: Any) -> Self:
        return self._exactly(other, relative=True) / self

    def _aligned(self, other: Any, *, floats: str = "never") -> tuple[Self, Self]:
        """Return this array and another operand in one window that holds both."""
        try:
            second = self._coerce(other, floats=floats)
        except PrecisionError as error:
            raise PrecisionError(f"{error} (with_window changes it)") from None
        window = self._window.union(second._window)
        return self._in_window(window), second._in_window(window)

    def _factors(self, other: Any, *, relative: bool = False) -> tuple[Self, Self]:
        """Return what `_aligned` does of an array; of another factor, or divisor, all digits that a result can show."""
        return (
            self._aligned(other) if isinstance(other, NumberArray) else (self, self._exactly(other, relative=relative))
        )

    def with_window(self, *, precision: Any = None, fractional_digits: int | None = None) -> Self:
        """Return the same numbers seen through another window of digits.

        What is known stays: a wider window has no digit more that is known, and a narrower one leaves out the highest.

        Args:
            precision: N, how many digits the new window holds, as for `AdeleSpace`; when left out, as many digits from
                that of p^0 up as before.
            fractional_digits: F, how many of them stand below p^0; when left out, as many as before.

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
        return self._in_window(checked_window(old.primes, precision, f))

    def __eq__(self, other: object) -> Any:
        """Return, element by element, whether two numbers are equal as far as both are known.

        A float stands for its exact value, as when a `Fraction` is compared. What is no number at all, or none that the
        space holds, is unequal.
        """
        try:
            equal = self._equals(other)
        except NOT_OF_THE_SPACE as error:
            try:
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
        """Return what == returns of an operand that the space holds."""
        first, second = self._aligned(other, floats="exact")
        return first._agrees(second)

    def _equal_entries(self, others: npt.NDArray[np.object_]) -> list[bool]:
        """Return what == returns of an array (n,) and n entries, some of which the space does not hold."""
        try:
            is_array = len(others) == 1 and isinstance(others[0], NumberArray) and not others[0].shape
            found: list[bool] = self._equals(others[0] if is_array else others.tolist()).tolist()
            return found
        except NOT_OF_THE_SPACE:
            if len(others) == 1:
                return [False]
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

    def __getitem__(self, key: Any) -> Self:
        keys = key if isinstance(key, tuple) else (key,)
        if any(k is Ellipsis for k in keys):  # the axes of primes and digits must stay out of it
            before = next(i for i, k in enumerate(keys) if k is Ellipsis)
            if any(k is Ellipsis for k in keys[before + 1 :]):
                raise IndexError("an index can only have a single ellipsis ('...')")
            consumed = sum(_axes_of_index(k) for k in keys)
            keys = keys[:before] + (slice(None),) * (self.ndim - consumed) + keys[before + 1 :]
        self._outline()[keys]  # raises IndexError for too many axes, which the digits' axes would hide
        return self._take(keys)

    def _outline(self) -> npt.NDArray[np.bool_]:
        """Return an array of the shape that takes no memory."""
        return np.broadcast_to(np.False_, self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"an {type(self).__name__} of shape () has no length")
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
        base = self if k >= 0 else 1 / self
        return base._raised(abs(k)) if k else self._ones()


def _axes_of_index(key: Any) -> int:
    """Return how many axes one part of an index consumes; a boolean array stands for as many as it has."""
    if key is None or key is Ellipsis:
        return 0
    if not isinstance(key, slice) and np.asarray(key).dtype == np.bool_:
        return np.ndim(key)
    return 1


def common_shape(a: NumberArray | npt.NDArray[Any], b: NumberArray | npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the shape to which two arrays are broadcast, or raise `SpaceError`."""
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise SpaceError(f"arrays of shapes {a.shape} and {b.shape} do not fit together") from None


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
