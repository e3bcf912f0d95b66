"""Arrays of p-adic numbers at one prime."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DivisionByZeroError, DomainError, PrecisionError, SpaceError
from adelic.numbers import finite, rationals
from adelic.numbers.describe import at_position, shortened
from adelic.numbers.finite import FinitePlaces, OperationError
from adelic.numbers.local import functions
from adelic.numbers.local.functions import FunctionError, UndefinedError
from adelic.numbers.number_array import NumberArray, common_shape, read_only
from adelic.numbers.window import DEFAULT_PRECISION, Window, checked_prime, checked_window

_SHOWN = 8
Function = Callable[[FinitePlaces, Window], tuple[Any, npt.NDArray[np.int64]]]


class PadicArray(NumberArray):
    """An immutable array of numbers of Q_p, p one prime; made by `padic` and by `AdeleArray.at`.

    Each number is seen through a window of N digits, those of p^(−F) … p^(N−F−1), and `known` says how many of them,
    from the lowest one up, are determined: precision is absolute, capped by the window, and no digit is shown that is
    not known. `+ - * /`, `** k`, unary minus, `==` and `!=` act element by element with NumPy's broadcasting; rational
    operands act exactly, and the window of two arrays' result holds the digits of both. `==` compares digits as far as
    both sides know them.

    Source: the paper, section 2; for the functions, `adelic.numbers.local.functions`.

    >>> from adelic.numbers import padic
    >>> x = padic([2, "1/3", -1], 7, precision=6)
    >>> print(x)
    …000002_7
    …444445_7
    …666666_7
    >>> x[0].sqrt() ** 2 == 2, (3 * x[1]).lift(), x[2].series()
    (True, 1, '6 + 6*7 + 6*7^2 + 6*7^3 + 6*7^4 + 6*7^5 + O(7^6)')
    """

    __slots__ = ("_places", "_window")
    __hash__ = None  # == is element by element

    _window: Window

    def __init__(self, window: Window, places: FinitePlaces) -> None:
        self._window = window
        self._places = places

    @property
    def p(self) -> int:
        """Return the prime."""
        return self._window.primes[0]

    @property
    def precision(self) -> int:
        """Return N, how many digits the window holds."""
        return self._window.precisions[0]

    @property
    def fractional_digits(self) -> int:
        """Return F, how many of them stand below p^0."""
        return self._window.fractional_digits

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array of numbers, without the axis of digits."""
        return self._places.known.shape[:-1]

    @property
    def digits(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the digits, unsigned (*, precision), most significant first; 0 where they are not known."""
        return read_only(self._places.digits[..., 0, :])

    @property
    def known(self) -> npt.NDArray[np.int32]:
        """Return how many digits of the window are known, from the lowest one up, int32 (*).

        A number is known modulo p^(known − F): that exponent is what other systems call its absolute precision.

        >>> from adelic.numbers import padic
        >>> (padic([50, 7], 5, precision=6) / [5, 1]).known
        array([5, 6], dtype=int32)
        """
        return read_only(self._places.known[..., 0])

    def valuation(self) -> Any:
        """Return the place of the lowest digit that is not 0, int for shape (), else int64 (*).

        Where every known digit is 0, as of 0 itself, it is known − F: the valuation is at least that.

        >>> from adelic.numbers import padic
        >>> padic([50, "7/5", 0], 5, precision=6, fractional_digits=1).valuation()
        array([ 2, -1,  5])
        """
        found = finite.valuations(self._places, self.fractional_digits)[..., 0]
        return found if self.shape else int(found)

    def norm(self) -> Any:
        """Return the absolute values p^(−v), for shape () a `Fraction`, else objects (*); |p| is 1/p.

        Where every known digit is 0 it is 0: the absolute value is at most p^(F − known).

        >>> from adelic.numbers import padic
        >>> padic([50, 7, 0], 5).norm().tolist()
        [Fraction(1, 25), Fraction(1, 1), Fraction(0, 1)]
        """
        return finite.norms(self._places, self._window)[(..., 0) if self.shape else 0]

    def unit(self) -> "PadicArray":
        """Return the unit parts u of the numbers p^v · u.

        Raises:
            PrecisionError: no digit other than 0 is known.

        >>> from adelic.numbers import padic
        >>> print(padic(50, 5, precision=4).unit())
        …02_5
        """
        return self._apply(functions.unit_part, "has no known unit part")

    def lift(self) -> Any:
        """Return the least number from 0 on with the known digits: the sum of digit · p^place.

        Returns:
            Integers where the window has no fractional digits: int for shape (), else an array (*) of int64, or of
            objects where p^N passes it. With fractional digits, `Fraction` in place of the integers.

        >>> from adelic.numbers import padic
        >>> padic([-1, "1/3"], 5, precision=3).lift(), padic("7/5", 5, fractional_digits=1).lift()
        (array([124,  42]), Fraction(7, 5))
        """
        flat = self.reshape(-1)._places
        values: list[Any] = functions.residues(flat, self.p)
        if self.fractional_digits:
            values = [Fraction(value, self.p**self.fractional_digits) for value in values]
        if not self.shape:
            return values[0]
        is_small = not self.fractional_digits and self.p**self.precision <= 2**63
        return np.array(values, dtype=np.int64 if is_small else object).reshape(self.shape)

    def is_square(self) -> Any:
        """Return whether there is a square root in Q_p, bool (*): of 0 there is one.

        Raises:
            PrecisionError: too few digits are known to tell, fewer than three of the unit part where p = 2.

        >>> from adelic.numbers import padic
        >>> padic([2, 3, 4, 5, 0], 7).is_square()
        array([ True, False,  True, False,  True])
        """
        found = self._tried(functions.is_square, f"has no square root in Q_{self.p}").reshape(self.shape)
        return found if self.shape else bool(found)

    def sqrt(self) -> "PadicArray":
        """Return the square roots whose unit part is at most (p − 1)/2 modulo p, or 1 modulo 4 where p = 2.

        p^v · u has a root where v is even and u is a square modulo p, or 1 modulo 8 where p = 2. As many digits of the
        root's unit part are known as of the number's, one less where p = 2; of a number whose known digits are all 0,
        half of those.

        Raises:
            DomainError: a number has no square root in Q_p.
            PrecisionError: too few digits are known to tell.

        >>> from adelic.numbers import padic
        >>> print(padic([2, 98], 7, precision=5).sqrt())
        …16213_7
        …2130_7
        >>> padic(3, 7, precision=2).sqrt()
        Traceback (most recent call last):
        adelic.errors.DomainError: …03_7 has no square root in Q_7: its unit part is 3 modulo 7, which is not a square
        """
        return self._apply(functions.square_root, f"has no square root in Q_{self.p}")

    def exp(self) -> "PadicArray":
        """Return Σ x^j / j!, which converges where v(x) > 1/(p − 1): v(x) >= 1, or 2 where p = 2.

        As many digits are known as of x.

        Raises:
            DomainError: the series does not converge.
            PrecisionError: too few digits are known to tell.

        >>> from adelic.numbers import padic
        >>> x = padic(5, 5, precision=6).exp()
        >>> x.series(), x.log() == 5
        ('1 + 5 + 3*5^2 + 3*5^3 + 4*5^4 + 5^5 + O(5^6)', True)
        """
        return self._apply(functions.exponential, f"has no exponential in Q_{self.p}")

    def log(self, *, p_branch: Any = None) -> "PadicArray":
        """Return the logarithms: the homomorphism that is Σ (−1)^(j+1) · (x − 1)^j / j where that converges.

        It converges for 1-units, v(x − 1) >= 1. A unit is a root of unity, whose logarithm is 0, times a 1-unit (up to
        sign where p = 2). As many digits are known as of the unit part.

        Args:
            p_branch: a rational number for log(p), which nothing determines; 0 is Iwasawa's choice. Without one, only
                units have logarithms.

        Raises:
            DomainError: a number is not a unit, and there is no `p_branch`.
            PrecisionError: no digit other than 0 is known, as of 0 itself.

        >>> from adelic.numbers import padic
        >>> a, b = padic([2, 3], 5, precision=6)
        >>> (a * b).log() == a.log() + b.log(), (-a).log() == a.log(), (5 * a).log(p_branch=0) == a.log()
        (True, True, True)
        """
        reason = f"has no logarithm in Q_{self.p}"
        if p_branch is None:
            return self._apply(functions.logarithm, reason)
        units = self._apply(functions.unit_part, reason)  # log(p^v · u) = log(u) + v · log(p)
        branch = rationals.read(p_branch)
        n, m = (part.reshape(branch.shape) for part in (branch.numerators.astype(object), branch.denominators))
        return self._coerce((n * self.valuation(), m)) + units.log()

    def teichmuller(self) -> "PadicArray":
        """Return the ω with ω^p = ω and ω = x modulo p: 0, or the root of unity of order p − 1. All digits are known.

        Raises:
            DomainError: a number has a negative valuation.
            PrecisionError: its lowest digit, that of p^0, is not known.

        >>> from adelic.numbers import padic
        >>> w = padic([2, 7, 10], 5, precision=6).teichmuller()
        >>> print(w)
        …431212_5
        …431212_5
        …000000_5
        >>> w**4 == 1
        array([ True,  True, False])
        """
        return self._apply(functions.teichmuller, f"has no Teichmüller lift in Q_{self.p}")

    def series(self) -> Any:
        """Return numbers as text of PARI and Sage, lowest power first: str for shape (), else objects (*).

        >>> from adelic.numbers import padic
        >>> padic(["7/5", 0], 5, precision=4, fractional_digits=1).series().tolist()
        ['2*5^-1 + 1 + O(5^3)', 'O(5^3)']
        """
        flat = self.reshape(-1)._places
        out = np.empty(self.size, dtype=object)
        for i in range(self.size):
            known = int(flat.known[i, 0])
            lowest_first = flat.digits[i, 0, ::-1][:known].tolist()
            terms = [self._term(c, k - self.fractional_digits) for k, c in enumerate(lowest_first) if c]
            out[i] = " + ".join([*terms, f"O({self._power(known - self.fractional_digits)})"])
        return out.reshape(self.shape) if self.shape else out[0]

    def _term(self, digit: int, k: int) -> str:
        return str(digit) if k == 0 else self._power(k) if digit == 1 else f"{digit}*{self._power(k)}"

    def _power(self, k: int) -> str:
        return "1" if k == 0 else str(self.p) if k == 1 else f"{self.p}^{k}"

    def _apply(self, function: Function, reason: str) -> "PadicArray":
        """Apply a function to every number; `reason` is what an error says of the number first."""
        if not self.size:
            return self
        values, known = self._tried(function, reason)
        digits = np.empty(self._places.digits.shape, dtype=self._places.digits.dtype).reshape(self.size, 1, -1)
        functions.write_digits(np.full(known.shape, values, dtype=object), self.p, digits[:, 0])
        return PadicArray(self._window, FinitePlaces(digits, known[:, None].astype(np.int32))).reshape(self.shape)

    def _tried(self, function: Callable[[FinitePlaces, Window], Any], reason: str) -> Any:
        """Return what a function gives of all numbers, or raise an error that names the number."""
        try:
            return function(self.reshape(-1)._places, self._window)
        except FunctionError as error:
            kind = DomainError if isinstance(error, UndefinedError) else PrecisionError
            raise kind(f"{self._name(error.index)} {reason}: {error}") from None

    def _name(self, i: int) -> str:
        """Return the number of a flat index as errors name it: its lowest digits, and its position."""
        flat = self.reshape(-1)._places
        text = finite.text(flat, i, 0, self._window)
        position = np.unravel_index(i, self.shape)
        return f"{text if len(text) <= 60 else '…' + text[-58:]}{at_position(position)}"

    def _take(self, keys: tuple[Any, ...]) -> "PadicArray":
        return PadicArray(self._window, self._places[keys])

    def _with_shape(self, shape: tuple[int, ...]) -> "PadicArray":
        return PadicArray(self._window, self._places.reshape(shape))

    def _ones(self) -> "PadicArray":
        return self._coerce(np.ones(self.shape, dtype=np.int64))

    def _coerce(self, other: Any, *, floats: str = "never") -> "PadicArray":
        """Return another operand as an array of the same window."""
        if not isinstance(other, PadicArray):
            numbers = rationals.read(other, floats=floats)
            return PadicArray(self._window, finite.encoded(numbers, self._window))
        if other.p != self.p:
            raise SpaceError(
                f"numbers of Q_{self.p} and Q_{other.p} do not mix: {_describe(self._window)} and "
                f"{_describe(other._window)}; make both with the same prime"
            )
        return other

    def _exactly(self, other: Any, *, relative: bool) -> "PadicArray":
        numbers = rationals.read(other, floats="never")
        return PadicArray(self._window, finite.exact(numbers, self._window, relative=relative))

    def _in_window(self, window: Window) -> "PadicArray":
        x, old = self._places.reshape((-1,)), self._window
        return self if window == old else _made(lambda: finite.moved(x, old, window), window, self.shape)

    def _raised(self, k: int) -> "PadicArray":
        x = self._places.reshape((-1,))
        return _made(lambda: finite.power(x, k, self._window), self._window, self.shape)

    def _combine(self, other: "PadicArray", operation: Any) -> "PadicArray":
        """Broadcast two operands and apply an operation."""
        shape = common_shape(self, other)
        x, y = (a._places.broadcast_to(shape).reshape((-1,)) for a in (self, other))
        return _made(lambda: operation(x, y, self._window), self._window, shape)

    def __add__(self, other: Any) -> "PadicArray":
        x, y = self._aligned(other)
        return x._combine(y, finite.add)

    def __sub__(self, other: Any) -> "PadicArray":
        x, y = self._aligned(other)
        return x._combine(y, finite.subtract)

    def __mul__(self, other: Any) -> "PadicArray":
        x, y = self._factors(other)
        return x._combine(y, finite.multiply)

    def __truediv__(self, other: Any) -> "PadicArray":
        dividend, divisor = self._factors(other, relative=True)
        zeros = np.argwhere(np.atleast_1d((divisor._places.digits == 0).all(axis=(-2, -1))))
        if len(zeros):
            position = tuple(int(i) for i in zeros[0]) if divisor.shape else ()
            raise DivisionByZeroError(f"division by zero{at_position(position)}: no digit of the divisor other than 0")
        return dividend._combine(divisor, finite.divide)

    def __neg__(self) -> "PadicArray":
        places = finite.negate(self._places.reshape((-1,)), self._window)
        return PadicArray(self._window, places.reshape(self.shape))

    def _agrees(self, other: "PadicArray") -> npt.NDArray[np.bool_]:
        """Return where two arrays, broadcast to one shape, have the same digits as far as both know them."""
        shape = common_shape(self, other)
        equal = finite.agree(self._places.broadcast_to(shape), other._places.broadcast_to(shape))[..., 0]
        return np.asarray(equal, dtype=np.bool_)

    def _lines(self) -> list[str]:
        flat = self.reshape(-1)._places
        return [finite.text(flat, i, 0, self._window) for i in range(min(self.size, _SHOWN))]

    def __repr__(self) -> str:
        shown = ", ".join(shortened(line) for line in self._lines())
        more = ", …" if self.size > _SHOWN else ""
        values = f"[{shown}{more}], shape={self.shape}" if self.shape else shown
        return f"PadicArray({values}, {_describe(self._window)})"

    def __str__(self) -> str:
        """Return the numbers in the paper's notation, one a line: …11011_2; at most eight of them."""
        more = [f"… {self.size - _SHOWN} more"] if self.size > _SHOWN else []
        return "\n".join(self._lines() + more)


def padic(
    values: Any,
    p: int,
    precision: int = DEFAULT_PRECISION,
    *,
    fractional_digits: int | None = None,
    floats: str = "error",
) -> PadicArray:
    """Return rational numbers as numbers of Q_p: `AdeleSpace((p,), precision, fractional_digits).encode(values).at(p)`.

    Args:
        values: whatever `AdeleSpace.encode` takes, of shape (*).
        p: prime.
        precision: N, how many digits the window holds.
        fractional_digits: F, how many of them stand below p^0; when left out, as many as the numbers need.
        floats: as for `AdeleSpace.encode`.

    Returns:
        `PadicArray` (*), known modulo p^(N − F).

    Raises:
        SpaceError: p is not a prime, or the precision does not suit.
        EncodingError, DivisionByZeroError, PrecisionError: as for `AdeleSpace.encode`.

    >>> print(padic("7/5", 5, precision=6))
    …00001.2_5
    """
    window = checked_window((checked_prime(p),), precision, fractional_digits or 0)
    numbers = rationals.read(values, floats=floats)
    if fractional_digits is None:
        window = window._replace(fractional_digits=finite.needed_digits(numbers, window))
    return PadicArray(window, finite.encoded(numbers, window))


def _made(operation: Callable[[], FinitePlaces], window: Window, shape: tuple[int, ...]) -> PadicArray:
    """Return what an operation makes, as an array of a shape."""
    try:
        return PadicArray(window, operation().reshape(shape))
    except OperationError as error:
        position = np.unravel_index(error.index, shape)
        raise PrecisionError(f"the {error.noun}{at_position(position)} {error.text}") from None


def _describe(window: Window) -> str:
    return f"p={window.primes[0]}, precision={window.precision}, fractional_digits={window.fractional_digits}"
