"""Algebraic numbers as adeles: a number field Q(θ), θ a root of f, at an infinite place and at primes where f splits.

A root t of f in Z_p makes c(θ) → c(t) a ring homomorphism from the field to Q_p, as a root in the real or complex
numbers does to those. So sums and products stay coordinate-wise, as the paper has them for the rationals. Which of the
roots in Z_p is taken is a choice of one of the prime ideals above p: here it is the root that is smallest modulo p.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from math import floor, log2, prod
from numbers import Complex
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import algebraic_decoding, finite, hensel, polynomials, rationals, real
from adelic.numbers.algebraic_place import Height, InfinitePlace
from adelic.numbers.array import AdeleArray
from adelic.numbers.balls import RealPlace
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces, Window
from adelic.numbers.hensel import BelowWindowError
from adelic.numbers.polynomials import Element
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.space import (
    DEFAULT_PRECISION,
    AdeleSpace,
    check_float32,
    measured,
    number_array,
    read_digits,
    write_real_row,
)

PRIME_BOUND = 100_000
"""Splitting primes are searched below it."""

_NEAR = 0.1  # how far from a root a user's approximation may be, relative to max(1, |root|)
_MOST_BITS = 1000.0  # of bounds that float64 holds
_BITS = 64  # to which embeddings are computed before they are rounded to float64


@dataclass(frozen=True)
class AlgebraicSpace:
    """The field Q(θ) at one infinite place times Q_p for finitely many primes p; made by `AdeleSpace.over`.

    Attributes:
        polynomial: f, monic and irreducible over the integers, the constant coefficient first; θ is a root.
        root: the root that the infinite place takes for θ, to float64; its imaginary part is 0 only if it is real.
        rational: the adele space of the rationals with the same primes, precision and fractional digits.
        roots: θ modulo p^precision for each prime, the lift of the smallest root modulo p.

    Source: the paper's outlook on algebraic numbers, and its appendix "Hensel's Lemma"; J. Neukirch, Algebraic Number
    Theory (1999), I §8 on primes that split.

    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace.over("x^2 - 2", root=1.414, n_primes=4)
    >>> space.primes
    (7, 17, 23, 31)
    >>> a, b = space.encode(["1 + 3*x", "x/5"])
    >>> (a * b).decode()    # (1 + 3√2)·√2/5 = 6/5 + √2/5
    (Fraction(6, 5), Fraction(1, 5))
    """

    polynomial: tuple[int, ...]
    root: complex
    rational: AdeleSpace
    roots: tuple[int, ...] = field(repr=False)

    @property
    def primes(self) -> tuple[int, ...]:
        """Return the primes."""
        return self.rational.primes

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return self.rational.n_primes

    @property
    def precision(self) -> int:
        """Return how many digits a window holds."""
        return self.rational.precision

    @property
    def fractional_digits(self) -> int:
        """Return how many digits of a window stand below p^0."""
        return self.rational.fractional_digits

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return self.rational.window

    @property
    def degree(self) -> int:
        """Return the degree of the field.

        >>> AdeleSpace.over("x^3 - 2", root=1.26).degree
        3
        """
        return len(self.polynomial) - 1

    @property
    def n_rows(self) -> int:
        """Return how many rows of the layout the infinite place takes: 1 if it is real, 2 if it is complex."""
        return 1 if self.root.imag == 0 else 2

    def encode(self, values: Any, *, floats: str = "error") -> "AlgebraicArray":
        """Return numbers of the field as an `AlgebraicArray`; exact, or an error.

        Args:
            values: one number, or a list of numbers, nested as you like, or an array of them. A number is text such as
                "1 + 3*x", where x is θ; a tuple of coefficients, the constant one first, (1, 3); or a rational number
                as `AdeleSpace.encode` takes them, other than a tuple.
            floats: how floats are read, as for `AdeleSpace.encode`.

        Raises:
            EncodingError: a value is no number of the field, or the nesting is ragged.
            DivisionByZeroError: a denominator is zero.
            PrecisionError: a number has more factors p below the bar than the window has fractional digits.

        >>> space = AdeleSpace.over("x^2 + 1", root=1j)
        >>> space.encode([(1, 3), "2 - x/2", 7]).complex
        array([1.+3.j , 2.-0.5j, 7.+0.j ])
        """
        if isinstance(values, AdeleArray):
            if not isinstance(values, AlgebraicArray) or values.space != self:
                raise SpaceError(
                    f"the array lives in {describe(values.space, 200)}, not in {describe(self, 200)}; decode() it first"
                )
            return values
        elements: list[Element] = []
        shape = self._read(values, (), floats, elements)
        size = len(elements)
        digits = np.empty((size, self.n_primes, self.precision), dtype=finite.digit_dtype(self.primes))
        balls = np.empty((size, self.n_rows, 2))
        height = np.empty((size, 2))
        for i, element in enumerate(elements):
            for j, p in enumerate(self.primes):
                try:
                    residue = self.residue(element, j)
                except BelowWindowError as error:
                    position = tuple(int(k) for k in np.unravel_index(i, shape)) if shape else ()
                    raise self._window_error(element, position, p, error.needed) from None
                digits[i, j] = hensel.to_digits(residue, p, self.precision)[::-1]
            conjugates = self.conjugates(element)
            balls[i] = [_ball(part) for part in (conjugates[0].real, conjugates[0].imag)[: self.n_rows]]
            height[i] = _upper_float(Fraction(element[1])), _upper_float(polynomials.house(conjugates))
        is_multiple = np.array([element[1] < EXACT for element in elements], dtype=np.bool_)
        place = InfinitePlace(
            tuple(real.from_values(balls[:, k, 0], balls[:, k, 1]) for k in range(self.n_rows)),
            Height(height[:, 0], height[:, 1], is_multiple),
            self.degree,
        )
        places = FinitePlaces(digits, finite.all_known(self.window, size))
        return AlgebraicArray(self, place.reshape(shape), places.reshape(shape))

    def from_digits(
        self, digits: Any, value: Any, *, radius: Any = None, max_denominator: int | None = None
    ) -> "AlgebraicArray":
        """Return the array with these coordinates, for decoding what a network or a file says.

        The numbers are taken to be n/m, n in Z[θ], with m <= D and all conjugates at most H in absolute value, where
        (2^d · D² · H · ∏ p^F)^d = ∏ p^N, d the degree. `decode` proves that no other such number has the digits.

        Args:
            digits: integers, (*, n_primes, precision), most significant digit first.
            value: the images at the infinite place, floats or complex numbers (*); None where they are not known.
            radius: error bounds of the values, of each of real and imaginary part, (*); float64 rounding when left out.
            max_denominator: D; where it is left out, D = H.

        Raises:
            EncodingError: a shape does not fit, a digit is not in 0 … p − 1, or no D is left.

        >>> space = AdeleSpace.over("x^2 - 2", root=1.414)
        >>> a = space.encode("1 + x/3")
        >>> space.from_digits(a.digits, a.real).decode(), space.from_digits(a.digits, None).decode()
        ((Fraction(1, 1), Fraction(1, 3)), (Fraction(1, 1), Fraction(1, 3)))
        """
        given = number_array("digits", digits)
        parts = self._measured_parts(value, radius, given.shape[:-2])
        shape = parts[0].shape
        # log2 of D² · H, a little below
        room = self.precision * sum(map(log2, self.primes)) * (1 - 1e-12) / self.degree - self.degree
        room -= self.fractional_digits * sum(map(log2, self.primes))
        if max_denominator is not None:
            is_integer = isinstance(max_denominator, (int, np.integer)) and not isinstance(max_denominator, bool)
            if not is_integer or max_denominator < 1:
                raise EncodingError(f"max_denominator={describe(max_denominator)} must be an integer from 1 on")
        bits = room / 3 if max_denominator is None else log2(int(max_denominator))
        if bits < 0 or room - 2 * bits < -bits:  # then even 1/D is too large
            raise EncodingError(
                f"max_denominator={describe(max_denominator)} leaves no room in {self.precision} digits at "
                f"{self.n_primes} primes; it must stay below about 2^{max(floor(room), 0)}"
            )
        height = Height(
            np.full(shape, 2.0 ** min(bits, _MOST_BITS)),
            np.full(shape, 2.0 ** min(room - 2 * bits, _MOST_BITS)),
            np.zeros(shape, dtype=np.bool_),
        )
        return AlgebraicArray(self, InfinitePlace(parts, height, self.degree), read_digits(given, shape, self.window))

    def _measured_parts(self, value: Any, radius: Any, shape: tuple[int, ...]) -> tuple[RealPlace, ...]:
        """Return the real, or the real and the imaginary, coordinates that a caller gives."""
        if value is None:
            return (measured(None, radius, shape),) * self.n_rows
        images = np.asarray(value)
        if images.dtype.kind == "c" and self.n_rows == 1 and np.any(images.imag != 0):
            raise EncodingError("the values have imaginary parts, but the infinite place of the space is real")
        parts = [images.real, images.imag] if images.dtype.kind == "c" else [value, np.zeros(images.shape)]
        return tuple(measured(part, radius, shape) for part in parts[: self.n_rows])

    def tensor(self, values: Any, *, floats: str = "error") -> npt.NDArray[np.float32]:
        """Return numbers in the layout of `AlgebraicArray.tensor`; arguments and errors as for `encode`.

        >>> AdeleSpace.over("x^2 - 2", root=1.414, n_primes=7).tensor(["x", "1 + x"]).shape
        (2, 8, 16)
        """
        return self.encode(values, floats=floats).tensor()

    def _read(self, values: Any, position: tuple[int, ...], floats: str, out: list[Element]) -> tuple[int, ...]:
        """Append the numbers of nested lists and arrays to `out` and return the shape."""
        array = rationals.as_array(values)
        if array is not None and array.dtype.kind in "OUT":  # objects and text may be more than rational
            values = array.tolist()
        elif array is not None or isinstance(values, range):
            numbers = rationals.read(values, floats=floats)
            out += [self._reduce([numbers.fraction(i)]) for i in range(len(numbers.numerators))]
            return numbers.shape
        if not isinstance(values, list):
            try:
                out.append(self._read_element(values, floats))
            except (EncodingError, DivisionByZeroError) as error:
                where = f"{at_position(position).strip()}: " if position else ""
                raise type(error)(f"{where}{error}") from None
            return ()
        shapes = [self._read(value, (*position, i), floats, out) for i, value in enumerate(values)]
        if any(shape != shapes[0] for shape in shapes):
            raise EncodingError(f"ragged nesting{at_position(position)}: all entries of an array need the same shape")
        inner = array.shape[1:] if array is not None else ()  # which an empty array has too
        return (len(values), *(shapes[0] if shapes else inner))

    def _read_element(self, value: Any, floats: str) -> Element:
        if isinstance(value, tuple):
            if len(value) > self.degree:
                raise EncodingError(
                    f"{describe(value)} has {len(value)} coefficients, but the field has degree {self.degree}; "
                    "arrays of numbers are lists"
                )
            return self._reduce(polynomials.read_coefficients(value, floats=floats))
        if isinstance(value, str) and "x" in value:
            return self._reduce(polynomials.parse(value))
        return self._reduce([rationals.read(value, floats=floats).fraction(0)])

    def _reduce(self, coefficients: Sequence[Fraction]) -> Element:
        return polynomials.reduce(coefficients, self.polynomial)

    def residue(self, element: Element, j: int) -> int:
        """Return p^F · α mod p^precision for a number α of the field at the j-th prime.

        A denominator that p divides need not lead below the window: with √2 ≡ 3 modulo 7, (√2 − 3)/7 is a 7-adic
        integer. More digits of θ tell.

        Raises:
            BelowWindowError: α has digits below the window.
        """
        numerators, denominator = element
        p, n, f = self.primes[j], self.precision, self.fractional_digits
        e = valuation(denominator, p)
        theta = polynomials.hensel_root(self.polynomial, self.roots[j] % p, p, n + e) if e else self.roots[j]
        value = polynomials.evaluate(numerators, theta, p ** (n + e)) * p**f
        if value % p**e:
            raise BelowWindowError(e - valuation(value, p) + f)
        return int(value // p**e * pow(denominator // p**e, -1, p**n) % p**n)

    def _window_error(self, element: Element, position: tuple[int, ...], p: int, needed: int) -> PrecisionError:
        return PrecisionError(
            f"{polynomials.to_text(_coefficients(element))}{at_position(position)} has {p}-adic valuation −{needed}, "
            f"below the window of fractional_digits={self.fractional_digits}; fractional_digits={needed} would hold it"
        )

    def conjugates(self, element: Element) -> list[Any]:
        """Return the images of a number under all embeddings into the complex numbers, as balls of python-flint.

        The image at the infinite place comes first; its radius is below 2^(−64) of its size.
        """
        numerators, denominator = element
        flint = polynomials.load_flint()
        bits = 2 * _BITS + max(abs(n) for n in numerators).bit_length()
        while True:
            roots = polynomials.complex_roots(self.polynomial, bits)
            with polynomials.working_precision(bits):
                ordered = sorted(roots, key=lambda z: abs(_complex(z) - self.root))
                images = [flint.fmpz_poly(list(numerators))(z) / denominator for z in ordered]
                # A number other than 0 has no image 0, so that some precision suffices.
                if not any(numerators) or images[0].rad() * 2**_BITS <= images[0].abs_lower():
                    return images
            bits *= 2


def over(
    polynomial: Any,
    *,
    root: complex,
    n_primes: int = 7,
    primes: Sequence[int] | None = None,
    precision: int = DEFAULT_PRECISION,
    fractional_digits: int = 0,
) -> AlgebraicSpace:
    """Return the space of an algebraic number field; see `AdeleSpace.over`, which calls this.

    >>> over("x^2 + x + 1", root=-0.5 + 0.866j, n_primes=3).primes    # cube roots of unity: p ≡ 1 modulo 3
    (7, 13, 19)
    """
    f = polynomials.defining_polynomial(polynomial)
    chosen = _choose_root(f, root)
    if primes is None:
        if isinstance(n_primes, bool) or not isinstance(n_primes, (int, np.integer)) or n_primes < 1:
            raise SpaceError(f"n_primes={describe(n_primes)} must be a whole number from 1 on")
        primes = tuple(islice(polynomials.splitting_primes(f, PRIME_BOUND), int(n_primes)))
        if len(primes) < n_primes:
            raise SpaceError(
                f"{polynomials.to_text(f)} splits at {len(primes) or 'no'} primes below {PRIME_BOUND}, fewer than "
                f"n_primes={n_primes}; ask for fewer, or name primes=… beyond"
            )
    rational = AdeleSpace(
        primes=cast(tuple[int, ...], primes), precision=precision, fractional_digits=fractional_digits
    )
    roots = []
    for p in rational.primes:
        found = polynomials.roots_modulo(f, p)
        if len(found) < len(f) - 1:
            repeated = next((r for r, multiplicity in found.items() if multiplicity > 1), None)
            why = f"{len(found)} of its {len(f) - 1} roots are there" if repeated is None else f"{repeated} is repeated"
            raise SpaceError(
                f"{polynomials.to_text(f)} does not split into different linear factors modulo {p}: {why}; "
                "leave primes=… out to have primes found"
            )
        roots.append(polynomials.hensel_root(f, min(found), p, rational.precision))
    return AlgebraicSpace(f, chosen, rational, tuple(roots))


def _choose_root(f: tuple[int, ...], near: Any) -> complex:
    """Return the root of f near a user's approximation; it has imaginary part 0 if and only if it is real."""
    is_number = isinstance(near, (Complex, np.number)) and not isinstance(near, bool)
    try:
        z = complex(near) if is_number else complex("nan")
    except OverflowError:
        z = complex("inf")
    if not np.isfinite(z):
        raise SpaceError(f"root={describe(near)} is no finite number; root=1.414 or root=1j chooses the root near it")
    roots = sorted((_complex(w) for w in polynomials.complex_roots(f, _BITS)), key=lambda w: (w.real, w.imag))
    nearest, second = sorted(roots, key=lambda w: abs(w - z))[:2]
    listed = ", ".join(f"{w.real:.6g}" if w.imag == 0 else f"{w:.6g}" for w in roots[:8])
    listed += ", …" if len(roots) > 8 else ""
    if abs(nearest - z) > _NEAR * max(1.0, abs(z)):
        raise SpaceError(f"{polynomials.to_text(f)} has no root near root={describe(near)}; its roots: {listed}")
    if abs(second - z) <= 2 * abs(nearest - z):
        raise SpaceError(
            f"root={describe(near)} does not say which root of {polynomials.to_text(f)} is meant; its roots: {listed}"
        )
    return nearest


class AlgebraicArray(AdeleArray):
    """An immutable array of algebraic numbers; made by `AlgebraicSpace.encode`, and in all else as an `AdeleArray`.

    `+ - * /`, `** k` and unary minus act coordinate by coordinate; other operands are encoded first.

    >>> space = AdeleSpace.over("x^2 - 2", root=-1.414, n_primes=2, precision=5)
    >>> a = space.encode([(0, 1), "1 + x"])
    >>> a.real
    array([-1.41421356, -0.41421356])
    >>> a * a == [2, (3, 2)]
    array([ True,  True])
    """

    __slots__ = ()
    __hash__ = None  # == is element by element
    space: AlgebraicSpace  # type: ignore[assignment]  # AdeleArray asks of space and place only what both kinds have
    _real: InfinitePlace  # type: ignore[assignment]

    def __init__(
        self,
        space: AlgebraicSpace,
        place: InfinitePlace,
        finite_places: FinitePlaces,
        approximation_error: npt.NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(cast(AdeleSpace, space), cast(RealPlace, place), finite_places, approximation_error)

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

        >>> AdeleSpace.over("x^2 + 1", root=1j, n_primes=1, precision=3).encode("2 + 3*x").tensor()
        array([[0., 0., 2.],
               [0., 0., 3.],
               [1., 4., 3.]], dtype=float32)
        """
        check_float32(self.space.primes)
        flat = self.reshape(-1)
        parts = cast(InfinitePlace, flat._real).parts
        out = np.empty((self.size, len(parts) + self.space.n_primes, self.space.precision), dtype=np.float32)
        out[:, len(parts) :] = flat._finite.digits
        for k, part in enumerate(parts):
            write_real_row(part.value, out[:, k:], self.shape)
        return out.reshape(*self.shape, *out.shape[1:])

    def decode(self) -> Any:
        """Return the numbers with these coordinates: an object array of tuples of `Fraction`, for shape () one tuple.

        A tuple holds the coefficients of 1, θ, θ^2, …. The numbers are found by lattice reduction, and returned only if
        they are proven to be the ones (`adelic.numbers.algebraic_decoding`). An encoded number n/m, n in Z[θ], whose
        conjugates are at most c in absolute value, is sure to be decoded if (2^d · m² · c)^d < ∏ p^N, with d the
        degree; with fractional digits F, if ∏ p^F · n/m fulfils this. With (2·m·c)^d >= ∏ p^N nothing is decoded, since
        another number may have the same digits. Floats bound m and c: both must be below 10^308.

        Raises:
            DecodingError: the coordinates do not prove which number they belong to.

        >>> AdeleSpace.over("x^2 - 2", root=1.414).encode(["1 + x/3", 7]).decode().tolist()
        [(Fraction(1, 1), Fraction(1, 3)), (Fraction(7, 1), Fraction(0, 1))]
        """
        return super().decode()

    def _decode_many(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]]:
        return np.full(self.size, None, dtype=object), np.zeros(self.size, dtype=np.bool_)

    def _decode_one(self, position: tuple[int, ...]) -> Any:
        places = self._finite[position]
        flat = FinitePlaces(places.digits[None], places.known[None])
        residues = [finite.read_residue(flat, 0, j, self.space.window) for j in range(self.space.n_primes)]
        element = algebraic_decoding.decode(self.space, residues, self._real[position])
        if element is None:
            bits = prod(p**r.known for p, r in zip(self.space.primes, residues, strict=True)).bit_length() - 1
            raise DecodingError(
                f"the coordinates{at_position(position)} do not prove which number of Q(x)/"
                f"({polynomials.to_text(self.space.polynomial)}) they belong to: contradictory, or of a height beyond "
                f"what digits modulo 2^{bits} determine; more primes or digits widen the bound"
            )
        return _coefficients(element)

    def __repr__(self) -> str:
        space = self.space
        name, values = ("real", self.real) if space.n_rows == 1 else ("complex", self.complex)
        return (
            f"AlgebraicArray({name}={np.array2string(values, separator=', ', threshold=8)}, shape={self.shape}, "
            f"polynomial='{polynomials.to_text(space.polynomial)}', primes={space.primes}, "
            f"precision={space.precision}, fractional_digits={space.fractional_digits})"
        )


def _coefficients(element: Element) -> tuple[Fraction, ...]:
    numerators, denominator = element
    return tuple(Fraction(n, denominator) for n in numerators)


def _complex(z: Any) -> complex:
    return complex(float(z.real.mid()), float(z.imag.mid()))


def _ball(x: Any) -> tuple[float, float]:
    """Return a ball with a float64 centre that holds a real ball of python-flint."""
    value, radius = polynomials.fraction(x.mid()), polynomials.fraction(x.rad())
    if abs(value) <= radius:  # nothing but 0 is known of it: a real or imaginary part that vanishes
        value, radius = Fraction(0), abs(value) + radius
    try:
        centre = float(value)
    except OverflowError:
        return (float("inf") if value > 0 else float("-inf")), float("inf")
    return centre, _upper_float(abs(value - Fraction(centre)) + radius)


def _upper_float(q: Fraction) -> float:
    """Return a float that is at least q >= 0; infinite beyond float64."""
    try:
        value = float(q)
    except OverflowError:
        return float("inf")
    return value if Fraction(value) >= q else float(np.nextafter(value, np.inf))
