"""Arrays of algebraic numbers."""

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError
from adelic.numbers.algebraic import decoding, polynomials
from adelic.numbers.algebraic.field import EmbeddedField, coefficients
from adelic.numbers.algebraic.place import InfinitePlace
from adelic.numbers.array import AdeleArray
from adelic.numbers.coordinates import check_float32, write_real_row
from adelic.numbers.describe import at_position
from adelic.numbers.places import finite
from adelic.numbers.places.balls import RealPlace
from adelic.numbers.places.finite import FinitePlaces


class AlgebraicArray(AdeleArray):
    """An immutable array of algebraic numbers; made by `AlgebraicSpace.encode`, and in all else as an `AdeleArray`.

    `+ - * /`, `** k` and unary minus act coordinate by coordinate; numbers that are no arrays act exactly.

    >>> from adelic.numbers import AlgebraicSpace
    >>> space = AlgebraicSpace("x^2 - 2", root=-1.414, n_primes=2, precision=5)
    >>> a = space.encode([(0, 1), "1 + x"])
    >>> a.real
    array([-1.41421356, -0.41421356])
    >>> a * a == [2, (3, 2)]
    array([ True,  True])
    """

    __slots__ = ()
    space: EmbeddedField
    _real: InfinitePlace  # type: ignore[assignment]  # AdeleArray asks of a place only what both kinds have

    def __init__(
        self,
        space: EmbeddedField,
        place: InfinitePlace,
        finite_places: FinitePlaces,
        approximation_error: npt.NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(space, cast(RealPlace, place), finite_places, approximation_error)

    @property
    def complex(self) -> npt.NDArray[np.complex128]:
        """Return the coordinates at the infinite place, complex128 (*); `real` is their real part."""
        parts = self._real.parts
        return np.asarray(parts[0].value + (1j * parts[1].value if len(parts) == 2 else 0j))

    def tensor(self) -> npt.NDArray[np.float32]:
        """Return the layout, float32 (*, n_rows + n_primes, precision): [0, …, 0, q], then the digits at each prime.

        At a complex place two such rows stand before the primes: the real part and the imaginary part.

        Raises:
            RangeError: a coordinate at the infinite place is beyond float32.
            EncodingError: a prime above 2^24 has digits that float32 does not hold.

        >>> from adelic.numbers import AlgebraicSpace
        >>> AlgebraicSpace("x^2 + 1", root=1j, n_primes=1, precision=3).encode("2 + 3*x").tensor()
        array([[0., 0., 2.],
               [0., 0., 3.],
               [1., 4., 3.]], dtype=float32)
        """
        check_float32(self.space.primes)
        flat = self.reshape(-1)
        parts = flat._real.parts
        out = np.empty((self.size, len(parts) + self.space.n_primes, self.space.precision), dtype=np.float32)
        out[:, len(parts) :] = flat._finite.digits
        for k, part in enumerate(parts):
            write_real_row(part.value, out[:, k:], self.shape)
        return out.reshape(*self.shape, *out.shape[1:])

    def decode(self, number: Callable[[int, int], Any] = Fraction) -> Any:
        """Return the numbers with these coordinates: an object array of tuples of `Fraction`, for shape () one tuple.

        A tuple holds the coefficients of 1, θ, θ^2, …. The numbers are found by lattice reduction, and returned only if
        they are proven to be the ones (`adelic.numbers.algebraic.decoding`). An encoded number n/m, n in Z[θ], whose
        conjugates are at most c in absolute value, is sure to be decoded if (2^d · m² · c)^d < ∏ p^N, with d the
        degree; with fractional digits F, if ∏ p^F · n/m fulfils this. With (2·m·c)^d >= ∏ p^N nothing is decoded, since
        another number may have the same digits. Floats bound m and c: both must be below 10^308.

        Args:
            number: what makes a coefficient of numerator and denominator, as for `AdeleArray.decode`.

        Raises:
            DecodingError: the coordinates do not prove which number they belong to.

        >>> from adelic.numbers import AlgebraicSpace
        >>> AlgebraicSpace("x^2 - 2", root=1.414).encode(["1 + x/3", 7]).decode().tolist()
        [(Fraction(1, 1), Fraction(1, 3)), (Fraction(7, 1), Fraction(0, 1))]
        """
        return super().decode(number)

    def _converted(self, decoded: Any, number: Callable[[int, int], Any]) -> Any:
        return tuple(number(c.numerator, c.denominator) for c in decoded)

    @staticmethod
    def _is_entry(value: Any) -> bool:
        return isinstance(value, tuple)  # the coefficients of one number

    def _decode_many(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]]:
        return np.full(self.size, None, dtype=object), np.zeros(self.size, dtype=np.bool_)

    def _decode_one(self, position: tuple[Any, ...]) -> Any:
        residues = finite.read_residues(self._finite[position], self.space.window)
        element = decoding.decode(self.space, residues, self._real[position])
        if element is None:
            bits = prod(p**r.known for p, r in zip(self.space.primes, residues, strict=True)).bit_length() - 1
            raise DecodingError(
                f"the coordinates{at_position(position)} do not prove which number of Q(x)/"
                f"({polynomials.to_text(self.space.polynomial)}) they belong to: contradictory, or of a height beyond "
                f"what digits modulo 2^{bits} determine; more primes or digits widen the bound"
            )
        return coefficients(element)

    def __repr__(self) -> str:
        space = self.space
        name, values = ("real", self.real) if space.n_rows == 1 else ("complex", self.complex)
        return (
            f"AlgebraicArray({name}={np.array2string(values, separator=', ', threshold=8)}, shape={self.shape}, "
            f"polynomial='{polynomials.to_text(space.polynomial)}', primes={space.primes}, "
            f"precision={space.precision}, fractional_digits={space.fractional_digits})"
        )
