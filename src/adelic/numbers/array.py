"""Arrays of adeles: the paper's ⊕ and ⊗, place by place, and back to rationals."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, DecodingError, SpaceError
from adelic.numbers import finite
from adelic.numbers.coordinates import check_float32, write_real_row
from adelic.numbers.decoding import reconstruction
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.hensel import Residue
from adelic.numbers.local.array import LocalField, PadicArray
from adelic.numbers.number_array import NumberArray, read_only
from adelic.numbers.threshold import are_many
from adelic.numbers.window import Window


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

    __slots__ = ()
    __hash__ = None  # == is element by element
    space: Any  # an `AdeleSpace`, or an `AlgebraicSpace`
    _real: Any  # `RealPlace`, or `InfinitePlace`

    @property
    def real(self) -> npt.NDArray[np.float64]:
        """Return the real coordinates, float64 (*)."""
        return read_only(self._real.value)

    @property
    def approximation_error(self) -> npt.NDArray[np.float64]:
        """Return |number − float| for floats that `encode` approximated, float64 (*); 0 if the number is exact.

        Only the policies "limit:D" and "shortest" approximate. Results of approximations have the error NaN:
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

        Digits that are not known (see `known`) are 0, also if a prime has fewer digits than others.
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
        """Return the coordinates at one prime, as numbers of Q_p with their own functions.

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
            raise SpaceError(
                f"the array has no coordinate at {describe(p)}; its primes are {describe(self.space.primes)}"
            )
        j = window.primes.index(p)
        n = window.precisions[j]
        # A prime with fewer digits than others has them in the last columns, the lowest digit in the last one.
        places = FinitePlaces(
            self._finite.digits[..., j : j + 1, window.precision - n :], self._finite.known[..., j : j + 1]
        )
        return LocalField(Window((window.primes[j],), (n,), window.fractional_digits)).array(places)

    def valuation(self) -> npt.NDArray[np.int64]:
        """Return the valuations v_p, int64 (*, n_primes): the exponent of the lowest digit that is not 0.

        If every known digit is 0, as for 0 itself, it is the first exponent that is not known, N − F if
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

        If every known digit is 0 it is 0: the absolute value is less than the one of every known digit.

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
        digits, parts = flat._finite.digits, flat._real.parts
        out = np.empty((self.size, len(parts) + digits.shape[1], digits.shape[2]), dtype=np.float32)
        out[:, len(parts) :] = digits
        for k, part in enumerate(parts):
            write_real_row(part.value, out[:, k:], self.shape)
        return out.reshape(*self.shape, *out.shape[1:])

    def decode(self, number: Callable[[int, int], Any] = Fraction) -> Any:
        """Return the rationals with these coordinates: an object array of `Fraction`, for shape () one `Fraction`.

        Chinese remainders, rational reconstruction, then a check against the real place (see
        `adelic.numbers.decoding`). Many numbers with 2·|n|·m up to about 2^60 take a compiled path.

        Args:
            number: makes a number of numerator and denominator instead of `Fraction`, such as `sympy.Rational`,
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
        # Imported here, since it loads numba, which programs with a few numbers do without.
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
            # A radius may be beyond float64, as a value may be, and is written in the same way.
            within = replace(real_place, centre=real_place.radius).text(2)
            raise DecodingError(
                f"the coordinates{at_position(position)} determine no rational number: no n/m with 2·|n|·m below about "
                f"2^{bound.bit_length() - 1} has these digits and the real value {real_place.text(15)} within {within}"
                ", or more than one may have them; more primes or digits widen the bound, and a radius bounds the "
                "error of a real value that from_digits was given"
            )
        return q

    def _decode_digits(self, residues: list[Residue], position: tuple[int, ...]) -> Fraction:
        """Return the number with these digits if no real value is known."""
        q, others = reconstruction.decode_digits(residues, self.space.primes, self.space.fractional_digits)
        if q is None:
            bound = self.space.window.decoding_bound
            are = f"; {' and '.join(map(describe, others))} have them, for example" if others else ""
            raise DecodingError(
                f"the digits{at_position(position)} alone determine no rational number: none with numerator and "
                f"denominator up to about 2^{bound.bit_length() // 2} has them{are}; a real value "
                "tells which, or more digits; in Python RedundantResidueCode(space, max_numerator, max_denominator) "
                "takes other bounds"
            )
        return q

    def __repr__(self) -> str:
        space = self.space
        return (
            f"AdeleArray(real={np.array2string(self.real, separator=', ', threshold=8)}, shape={self.shape}, "
            f"primes={space.primes}, precision={space.precision}, fractional_digits={space.fractional_digits})"
        )
