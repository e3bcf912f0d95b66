"""Arrays of p-adic numbers at one prime."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DomainError, PrecisionError
from adelic.numbers import finite, rationals
from adelic.numbers.describe import at_position, shortened
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local import functions
from adelic.numbers.local.functions import FunctionError, UndefinedError
from adelic.numbers.number_array import SHOWN, NoPlace, NumberArray, read_only
from adelic.numbers.window import DEFAULT_PRECISION, Window, checked_prime, checked_window

Function = Callable[[FinitePlaces, Window], tuple[Any, npt.NDArray[np.int64]]]


@dataclass(frozen=True, repr=False)
class LocalField:
    """The field Q_p, seen through a window of digits: the space of its arrays, as `AdeleSpace` is of adeles."""

    window: Window

    @property
    def _field(self) -> tuple[Any, ...]:
        return "Q_p", self.window.primes

    def _with_window(self, window: Window) -> "LocalField":
        return LocalField(window)

    def _exact(self, values: Any, *, relative: bool) -> tuple[NoPlace, FinitePlaces]:
        places = finite.exact(rationals.read(values, floats="never"), self.window, relative=relative)
        return NoPlace(places.known.shape[:-1]), places

    def encode(self, values: Any, *, floats: str = "error") -> "PadicArray":
        """Return rational numbers as an array."""
        return self.array(finite.encoded(rationals.read(values, floats=floats), self.window))

    def array(self, places: FinitePlaces) -> "PadicArray":
        """Return the numbers with these coordinates as an array."""
        return PadicArray(self, NoPlace(places.known.shape[:-1]), places)

    def __repr__(self) -> str:
        (p,), (n,), f = self.window
        return f"p={p}, precision={n}, fractional_digits={f}"


class PadicArray(NumberArray):
    """An immutable array of numbers of Q_p, p one prime; made by `padic` and by `AdeleArray.at`.

    Each number is seen through a window of N digits, from p^(−F) to p^(N−F−1), and `known` counts how many of them,
    from the lowest power up, are determined: precision is absolute, capped by the window, and no digit is shown that is
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

    __slots__ = ()
    __hash__ = None  # == is element by element
    space: "LocalField"

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
        """Return F, how many of them are below p^0."""
        return self._window.fractional_digits

    @property
    def digits(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the digits, unsigned (*, precision), most significant first; 0 if they are not known."""
        return read_only(self._finite.digits[..., 0, :])

    @property
    def known(self) -> npt.NDArray[np.int32]:
        """Return how many digits of the window are known, from the lowest one up, int32 (*).

        A number is known modulo p^(known − F): other systems call this exponent its absolute precision.

        >>> from adelic.numbers import padic
        >>> (padic([50, 7], 5, precision=6) / [5, 1]).known
        array([5, 6], dtype=int32)
        """
        return read_only(self._finite.known[..., 0])

    def valuation(self) -> Any:
        """Return the exponent of the lowest digit that is not 0, int for shape (), else int64 (*).

        If every known digit is 0, as for 0 itself, it is known − F: the valuation is at least that.

        >>> from adelic.numbers import padic
        >>> padic([50, "7/5", 0], 5, precision=6, fractional_digits=1).valuation()
        array([ 2, -1,  5])
        """
        found = finite.valuations(self._finite, self.fractional_digits)[..., 0]
        return found if self.shape else int(found)

    def norm(self) -> Any:
        """Return the absolute values p^(−v), for shape () a `Fraction`, else objects (*); |p| is 1/p.

        If every known digit is 0 it is 0: the absolute value is at most p^(F − known).

        >>> from adelic.numbers import padic
        >>> padic([50, 7, 0], 5).norm().tolist()
        [Fraction(1, 25), Fraction(1, 1), Fraction(0, 1)]
        """
        return finite.norms(self._finite, self._window)[(..., 0) if self.shape else 0]

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
        """Return the least number from 0 on with the known digits: the sum of digit · p^exponent.

        Returns:
            Integers if the window has no fractional digits: int for shape (), else an array (*) of int64, or of
            objects if p^N passes it. With fractional digits, `Fraction` instead of the integers.

        >>> from adelic.numbers import padic
        >>> padic([-1, "1/3"], 5, precision=3).lift(), padic("7/5", 5, fractional_digits=1).lift()
        (array([124,  42]), Fraction(7, 5))
        """
        flat = self.reshape(-1)._finite
        values: list[Any] = finite.residues(flat.digits[:, 0], self.p)
        if self.fractional_digits:
            values = [Fraction(value, self.p**self.fractional_digits) for value in values]
        if not self.shape:
            return values[0]
        # Lifts are below p^N, so int64 holds all of them or an array of objects is needed.
        is_small = not self.fractional_digits and self.p**self.precision <= 2**63
        return np.array(values, dtype=np.int64 if is_small else object).reshape(self.shape)

    def is_square(self) -> Any:
        """Return whether there is a square root in Q_p, bool (*): of 0 there is one.

        Raises:
            PrecisionError: too few digits are known to tell, fewer than three of the unit part if p = 2.

        >>> from adelic.numbers import padic
        >>> padic([2, 3, 4, 5, 0], 7).is_square()
        array([ True, False,  True, False,  True])
        """
        found = self._tried(functions.is_square, f"has no square root in Q_{self.p}").reshape(self.shape)
        return found if self.shape else bool(found)

    def sqrt(self) -> "PadicArray":
        """Return the square roots whose unit part is at most (p − 1)/2 modulo p, or 1 modulo 4 if p = 2.

        p^v · u has a root if v is even and u is a square modulo p, or 1 modulo 8 if p = 2. As many digits of the
        root's unit part are known as of the number's, one less if p = 2; of a number whose known digits are all 0,
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
        """Return Σ x^j / j!, which converges if v(x) > 1/(p − 1): v(x) >= 1, or 2 if p = 2.

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
        """Return the logarithms: the homomorphism that is Σ (−1)^(j+1) · (x − 1)^j / j if that converges.

        It converges for 1-units, v(x − 1) >= 1. A unit is a root of unity, whose logarithm is 0, times a 1-unit (up to
        sign if p = 2). As many digits are known as of the unit part.

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
        log_of_power = (n * self.valuation(), m)
        return units.log() + log_of_power

    def teichmuller(self) -> "PadicArray":
        """Return the ω with ω^p = ω and ω = x modulo p: 0, or the root of unity of order p − 1. All digits are known.

        Raises:
            DomainError: a number has a negative valuation.
            PrecisionError: its digit of p^0 is not known.

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
        flat = self.reshape(-1)._finite
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
        """Apply a function to every number; `reason` begins an error's text about the number."""
        if not self.size:
            return self
        values, known = self._tried(function, reason)
        digits = np.empty(self._finite.digits.shape, dtype=self._finite.digits.dtype).reshape(self.size, 1, -1)
        finite.write_digits(np.full(known.shape, values, dtype=object), self.p, digits[:, 0])
        return self.space.array(FinitePlaces(digits, known[:, None].astype(np.int32))).reshape(self.shape)

    def _tried(self, function: Callable[[FinitePlaces, Window], Any], reason: str) -> Any:
        """Return a function's results for all numbers, or raise an error that names the number."""
        try:
            return function(self.reshape(-1)._finite, self._window)
        except FunctionError as error:
            kind = DomainError if isinstance(error, UndefinedError) else PrecisionError
            raise kind(f"{self._name(error.index)} {reason}: {error}") from None

    def _name(self, i: int) -> str:
        """Return the number of a flat index as errors name it: its lowest digits, and its position."""
        flat = self.reshape(-1)._finite
        text = finite.text(flat, i, 0, self._window)
        # Of long numbers the lowest digits are shown: valuation and unit part decide which functions are defined.
        position = np.unravel_index(i, self.shape)
        return f"{text if len(text) <= 60 else '…' + text[-58:]}{at_position(position)}"

    def _line(self, i: int) -> str:
        """Return one number of a flat array in the paper's notation: …11011_2."""
        return finite.text(self._finite, i, 0, self._window)

    def __repr__(self) -> str:
        shown = ", ".join(shortened(line) for line in self._lines())
        more = ", …" if self.size > SHOWN else ""
        values = f"[{shown}{more}], shape={self.shape}" if self.shape else shown
        return f"PadicArray({values}, {self.space!r})"


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
        fractional_digits: F, how many of them are below p^0; when left out, as many as the numbers need.
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
    # The window moves down as far as the numbers need; how many digits it holds stays as asked for.
    if fractional_digits is None:
        window = window._replace(fractional_digits=finite.needed_digits(numbers, window))
    return LocalField(window).array(finite.encoded(numbers, window))
