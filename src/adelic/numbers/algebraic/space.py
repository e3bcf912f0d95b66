"""Algebraic numbers as adeles: a number field Q(θ), θ a root of f, at an infinite place and at primes that split f.

A root t of f in Z_p makes c(θ) → c(t) a ring homomorphism from the field to Q_p, as a root in the real or complex
numbers does to those. So sums and products stay coordinate-wise, as the paper has them for the rationals. Which of the
roots in Z_p is taken is a choice of one of the prime ideals above p: here it is the root that is smallest modulo p.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import log2, prod
from numbers import Complex
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import finite, hensel, rationals, real
from adelic.numbers.algebraic import decoding, polynomials
from adelic.numbers.algebraic.place import Height, InfinitePlace
from adelic.numbers.algebraic.polynomials import Element
from adelic.numbers.array import AdeleArray
from adelic.numbers.coordinates import measured, number_array, read_digits
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.hensel import BelowWindowError
from adelic.numbers.local.extensions import ExtensionField, extension
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import RealPlace
from adelic.numbers.window import DEFAULT_PRECISION, Window, checked_count, checked_integer, checked_window

BITS = 64
"""To which images in the complex numbers are computed before they are rounded to float64."""

PRIME_BOUND = 100_000
"""Splitting primes are searched below it."""

_NEAR = 0.1  # the greatest distance of a user's approximation from a root, relative to max(1, |root|)
_MOST_BITS = 1000.0  # of bounds that float64 holds


@dataclass(frozen=True, init=False)
class AlgebraicSpace:
    """The numbers a + b·θ + c·θ^2 + …, θ a root of a polynomial f, at one infinite place and at primes.

    The field Q(θ) is embedded into the real or complex numbers and into Q_p for finitely many primes p. Needs
    python-flint.

    Args:
        polynomial: f, text such as "x^2 - 2", or coefficients, the constant one first, or a polynomial of sympy or
            python-flint; monic with integer coefficients and irreducible.
        root: an approximation of the real or complex root that is θ at the infinite place. If it is left out, the
            greatest real root; if none is real, of those above the real line the one furthest to the right.
        n_primes: how many primes, by default 7; the first ones at which f splits into different linear factors.
        primes: the primes instead of their number; at each of them f has to split so.
        precision: N, how many digits a window holds.
        fractional_digits: F, how many of them are below p^0, as for `AdeleSpace`.

    Attributes:
        polynomial: the coefficients of f, integers, the constant one first.
        root: the root that the infinite place takes for θ, to float64; its imaginary part is 0 only if it is real.
        primes, precision, fractional_digits: as for `AdeleSpace`.
        roots: θ modulo p^precision for each prime, the lift of the smallest root modulo p.

    Raises:
        SpaceError: the polynomial, the root or a prime does not fit; the message tells why.
        EncodingError: the text is not a polynomial in x.
        MissingExtraError: python-flint is not installed.

    Source: the paper's outlook on algebraic numbers, and its appendix "Hensel's Lemma"; J. Neukirch, Algebraic Number
    Theory (1999), I §8 on primes that split.

    >>> space = AlgebraicSpace("x^2 - 2", n_primes=4)
    >>> space.root, space.primes
    ((1.4142135623730951+0j), (7, 17, 23, 31))
    >>> a, b = space.encode(["1 + 3*x", "x/5"])
    >>> (a * b).decode()    # (1 + 3√2)·√2/5 = 6/5 + √2/5
    (Fraction(6, 5), Fraction(1, 5))
    """

    polynomial: tuple[int, ...]
    root: complex
    primes: tuple[int, ...]
    precision: int
    fractional_digits: int

    def __init__(
        self,
        polynomial: Any,
        *,
        root: complex | None = None,
        n_primes: int | None = None,
        primes: Sequence[int] | None = None,
        precision: int = DEFAULT_PRECISION,
        fractional_digits: int = 0,
    ) -> None:
        f = polynomials.defining_polynomial(polynomial)
        chosen = _choose_root(f, root)
        precision = checked_integer("the precision of an AlgebraicSpace", precision)
        if primes is None:
            primes = _first_primes(f, 7 if n_primes is None else n_primes)
        elif n_primes is not None:
            raise SpaceError(f"n_primes={describe(n_primes)} is how many primes are found if primes=… are left out")
        window = checked_window(primes, precision, fractional_digits)
        for p in window.primes:
            _check_splitting(f, p)
        values = (f, chosen, window.primes, precision, window.fractional_digits)
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return the common part of two spaces whose arrays mix."""
        return self.polynomial, self.root, self.primes

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return len(self.primes)

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return Window(self.primes, (self.precision,) * self.n_primes, self.fractional_digits)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Return θ modulo p^precision for each prime, the lift of the smallest root modulo p."""
        f = self.polynomial
        return tuple(
            polynomials.hensel_root(f, min(polynomials.roots_modulo(f, p)), p, self.precision) for p in self.primes
        )

    @property
    def degree(self) -> int:
        """Return the degree of the field."""
        return len(self.polynomial) - 1

    @property
    def n_rows(self) -> int:
        """Return how many rows of the layout the infinite place takes: 1 if it is real, 2 if it is complex."""
        return 1 if self.root.imag == 0 else 2

    def completion(self, p: int) -> ExtensionField:
        """Return the completion at a prime over which one prime of the field lies: Q_p[x]/f, in the space's window.

        Such p do not split, and are no `primes` of a space. f has to be irreducible modulo p, or an Eisenstein
        polynomial; the error tells if f(x + a) is one. Numbers are given by their coefficients, and `decode` returns
        these.

        Raises:
            SpaceError: f is neither of the two at p.

        >>> field = AlgebraicSpace("x^2 - 2", root=1.414).completion(5)
        >>> a, b = field.from_coefficients([[1, 3], [0, Fraction(1, 3)]])     # 1 + 3√2, √2/3
        >>> (a * b).decode().tolist(), a.norm().decode(max_denominator=1)
        ([Fraction(2, 1), Fraction(1, 3)], Fraction(-17, 1))
        """
        return extension(p, self.polynomial, self.precision, fractional_digits=self.fractional_digits)

    def residue(self, element: Element, j: int, window: Window | None = None) -> int:
        """Return p^F · α mod p^N for a number α of the field at the j-th prime, in the space's window or another.

        A denominator that p divides need not lead below the window: with √2 ≡ 3 modulo 7, (√2 − 3)/7 is a 7-adic
        integer. More digits of θ tell. A BelowWindowError means that α has digits below the window.
        """
        numerators, denominator = element
        p, f = self.primes[j], (window or self.window).fractional_digits
        n = (window or self.window).precisions[j]
        e = valuation(denominator, p)
        theta = self.roots[j]
        # Dividing by p^e takes e digits away, so θ has to be known to e more.
        if n + e > self.precision:
            theta = polynomials.hensel_root(self.polynomial, theta % p, p, n + e)
        value = polynomials.evaluate(numerators, theta, p ** (n + e)) * p**f
        if value % p**e:
            raise BelowWindowError(e - valuation(value, p) + f)
        return int(value // p**e * pow(denominator // p**e, -1, p**n) % p**n)

    def conjugates(self, element: Element) -> list[Any]:
        """Return the images of a number under all embeddings into the complex numbers, as balls of python-flint.

        The image at the infinite place comes first; its radius is below 2^(−64) of its size.
        """
        numerators, denominator = element
        flint = polynomials.load_flint()
        # Enough at once, unless the terms of the image nearly cancel.
        bits = 2 * BITS + max(abs(n) for n in numerators).bit_length()
        while True:
            roots = polynomials.complex_roots(self.polynomial, bits)
            with polynomials.working_precision(bits):
                ordered = sorted(roots, key=lambda z: abs(to_complex(z) - self.root))
                images = [flint.fmpz_poly(list(numerators))(z) / denominator for z in ordered]
                # The images of a number other than 0 are not 0, so some precision suffices.
                if not any(numerators) or images[0].rad() * 2**BITS <= images[0].abs_lower():
                    return images
            bits *= 2

    def encode(self, values: Any, *, floats: str = "error") -> "AlgebraicArray":
        """Return numbers of the field as an `AlgebraicArray`; exact, or an error.

        Args:
            values: one number, or a list of numbers, nested as you like, or an array of them. A number is text such as
                "1 + 3*x" with x for θ; a tuple of coefficients, the constant one first, (1, 3); a polynomial of sympy
                or python-flint, whose variable is θ; or a rational number as `AdeleSpace.encode` takes them, other than
                a tuple.
            floats: how floats are read, as for `AdeleSpace.encode`.

        Raises:
            EncodingError: a value is not a number of the field, or the nesting is ragged.
            DivisionByZeroError: a denominator is zero.
            PrecisionError: a number has more factors p below the bar than the window has fractional digits.

        >>> space = AlgebraicSpace("x^2 + 1", root=1j)
        >>> space.encode([(1, 3), "2 - x/2", 7]).complex
        array([1.+3.j , 2.-0.5j, 7.+0.j ])
        """
        if isinstance(values, AdeleArray):
            if not isinstance(values, AlgebraicArray) or values.space != self:
                raise SpaceError(
                    f"the array lives in {describe(values.space, 200)}, not in {describe(self, 200)}; decode() it first"
                )
            return values
        elements, shape = self._read(values, floats)
        return AlgebraicArray(self, *self._encoded(elements, shape, self.window))

    def _with_window(self, window: Window) -> "AlgebraicSpace":
        """Return the space with another window at the same primes; `AlgebraicArray.with_window` takes numbers there.

        >>> AlgebraicSpace("x^2 - 2", primes=(7,))._with_window(Window((7,), (9,), 1)).precision
        9
        """
        primes, precision, fractional_digits = window.parameters
        return AlgebraicSpace(
            polynomials.to_text(self.polynomial),
            root=self.root,
            primes=primes,
            precision=precision,  # type: ignore[arg-type]  # digits by prime are refused
            fractional_digits=fractional_digits,
        )

    def _exact(self, values: Any, *, relative: bool) -> tuple[InfinitePlace, FinitePlaces]:
        """Return the coordinates of numbers as one operation takes them without a loss, see `finite.exact`.

        >>> AlgebraicSpace("x^2 - 2", primes=(7,), precision=3)._exact("x", relative=False)[1].digits.tolist()
        [[2, 1, 3]]
        """
        elements, shape = self._read(values, "never")
        e = max((valuation(m, p) for _, m in elements for p in self.primes), default=0)
        own = finite.exact_window(self.window, min(e, self.precision), self.precision if relative else 0)
        place, places = self._encoded(elements, shape, own)
        return place, replace(places, fractional_digits=own.fractional_digits)

    def _encoded(
        self, elements: list[Element], shape: tuple[int, ...], window: Window
    ) -> tuple[InfinitePlace, FinitePlaces]:
        """Return the coordinates of numbers of the field in a window."""
        size = len(elements)
        digits = np.empty((size, self.n_primes, window.precision), dtype=finite.digit_dtype(self.primes))
        images, height = [], np.empty((size, 2))
        for i, element in enumerate(elements):
            for j, p in enumerate(self.primes):
                try:
                    residue = self.residue(element, j, window)
                except BelowWindowError as error:
                    position = np.unravel_index(i, shape)
                    raise self._window_error(element, position, p, error.needed) from None
                digits[i, j] = hensel.to_digits(residue, p, window.precision)[::-1]
            conjugates = self.conjugates(element)
            images.append(conjugates[0])
            height[i] = _upper_float(Fraction(element[1])), _upper_float(polynomials.house(conjugates))
        is_multiple = np.array([element[1] < EXACT for element in elements], dtype=np.bool_)
        parts = ([z.real for z in images], [z.imag for z in images])[: self.n_rows]
        place = InfinitePlace(
            tuple(map(_real_place, parts)), Height(height[:, 0], height[:, 1], is_multiple), self.degree
        )
        return place.reshape(shape), FinitePlaces(digits, finite.all_known(window, size)).reshape(shape)

    def from_digits(self, digits: Any, value: Any, *, radius: Any = None) -> "AlgebraicArray":
        """Return the array with these coordinates, for decoding the output of a network or a file.

        The numbers are taken to be n/m, n in Z[θ], with m and the absolute values of all conjugates at most H, with
        (2^d · H³ · ∏ p^F)^d = ∏ p^N, d the degree. `decode` proves that no other such number has the digits.

        Args:
            digits: integers, (*, n_primes, precision), most significant digit first.
            value: the images at the infinite place, floats or complex numbers (*); None if they are not known.
            radius: error bounds of the values, of each of real and imaginary part, (*); float64 rounding when left out.

        Raises:
            EncodingError: a shape does not fit, a digit is not in 0 … p − 1, or H is below 1.

        >>> space = AlgebraicSpace("x^2 - 2", root=1.414)
        >>> a = space.encode("1 + x/3")
        >>> space.from_digits(a.digits, a.real).decode(), space.from_digits(a.digits, None).decode()
        ((Fraction(1, 1), Fraction(1, 3)), (Fraction(1, 1), Fraction(1, 3)))
        """
        given = number_array("digits", digits)
        parts = self._measured_parts(value, radius, given.shape[:-2])
        shape = parts[0].shape
        # log2 of H³, a little below
        room = self.precision * sum(map(log2, self.primes)) * (1 - 1e-12) / self.degree - self.degree
        room -= self.fractional_digits * sum(map(log2, self.primes))
        if room < 0:
            raise EncodingError(
                f"{self.precision} digits at {self.n_primes} primes leave no room for a number; give more of either"
            )
        bound = np.full(shape, 2.0 ** min(room / 3, _MOST_BITS))
        height = Height(bound, bound, np.zeros(shape, dtype=np.bool_))
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

        >>> AlgebraicSpace("x^2 - 2", root=1.414, n_primes=7).tensor(["x", "1 + x"]).shape
        (2, 8, 16)
        """
        return self.encode(values, floats=floats).tensor()

    def _read(self, values: Any, floats: str) -> tuple[list[Element], tuple[int, ...]]:
        """Return the numbers of nested lists and arrays, flattened, and their shape."""
        listed = rationals.entries(values, is_entry=lambda value: isinstance(value, tuple))
        elements = []
        for position, value in np.ndenumerate(listed):
            try:
                elements.append(self._read_element(value, floats))
            except (EncodingError, DivisionByZeroError) as error:
                where = f"{at_position(position).strip()}: " if position else ""
                raise type(error)(f"{where}{error}") from None
        return elements, listed.shape

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
        if polynomials.foreign_coefficients(value) is not None:
            return self._reduce(polynomials.read(value, floats=floats))
        try:
            return self._reduce([rationals.read(value, floats=floats).fraction(0)])
        except EncodingError as error:
            if isinstance(value, str):
                raise EncodingError(f"{error}, or '1 + 3*x' with x for the root") from None
            raise

    def _reduce(self, coefficients: Sequence[Fraction]) -> Element:
        return polynomials.reduce(coefficients, self.polynomial)

    def _window_error(self, element: Element, position: tuple[Any, ...], p: int, needed: int) -> PrecisionError:
        return PrecisionError(
            f"{polynomials.to_text(coefficients(element))}{at_position(position)} has {p}-adic valuation −{needed}, "
            f"below the window of fractional_digits={self.fractional_digits}; fractional_digits={needed} would hold it"
        )


def to_complex(z: polynomials.Ball) -> complex:
    """Return the nearest complex128 of a ball's centre."""
    return complex(float(z.real.mid()), float(z.imag.mid()))


def coefficients(element: Element) -> tuple[Fraction, ...]:
    """Return a number's coefficients of 1, θ, θ^2, …."""
    numerators, denominator = element
    return tuple(Fraction(n, denominator) for n in numerators)


def _first_primes(f: tuple[int, ...], n_primes: Any) -> tuple[int, ...]:
    """Return the first primes at which f splits."""
    primes = tuple(islice(polynomials.splitting_primes(f, PRIME_BOUND), checked_count("n_primes", n_primes)))
    if len(primes) < n_primes:
        raise SpaceError(
            f"{polynomials.to_text(f)} splits at {len(primes) or 'no'} primes below {PRIME_BOUND}, fewer than "
            f"n_primes={n_primes}; ask for fewer, or name primes=… beyond"
        )
    return primes


def _check_splitting(f: tuple[int, ...], p: int) -> None:
    """Raise `SpaceError` unless f is a product of different linear factors modulo p."""
    found = polynomials.roots_modulo(f, p)
    if len(found) < len(f) - 1:
        repeated = next((r for r, multiplicity in found.items() if multiplicity > 1), None)
        why = f"{len(found)} of its {len(f) - 1} roots are there" if repeated is None else f"{repeated} is repeated"
        raise SpaceError(
            f"{polynomials.to_text(f)} does not split into different linear factors modulo {p}: {why}; "
            f"leave primes=… out to have primes found; completion({p}) has its numbers if it is irreducible "
            f"modulo {p}, or Eisenstein"
        )


def _choose_root(f: tuple[int, ...], near: Any) -> complex:
    """Return the root of f near a user's approximation, or the default; its imaginary part is 0 only if it is real."""
    roots = sorted((to_complex(w) for w in polynomials.complex_roots(f, BITS)), key=lambda w: (w.real, w.imag))
    if near is None:
        return max(roots, key=lambda w: (w.imag == 0, w.imag > 0, w.real, w.imag))
    is_number = isinstance(near, (Complex, np.number)) and not isinstance(near, bool)
    try:
        z = complex(near) if is_number else complex("nan")
    except OverflowError:
        z = complex("inf")
    if not np.isfinite(z):
        raise SpaceError(
            f"root={describe(near)} is not a finite number; root=1.414 or root=1j chooses the root near it"
        )
    nearest, second = sorted(roots, key=lambda w: abs(w - z))[:2]
    listed = ", ".join(f"{w.real:.6g}" if w.imag == 0 else f"{w:.6g}" for w in roots[:8])
    listed += ", …" if len(roots) > 8 else ""
    if abs(nearest - z) > _NEAR * max(1.0, abs(z)):
        raise SpaceError(f"{polynomials.to_text(f)} has no root near root={describe(near)}; its roots: {listed}")
    # Unless the second root is more than twice as far away, either may be meant.
    if abs(second - z) <= 2 * abs(nearest - z):
        raise SpaceError(
            f"root={describe(near)} does not determine a root of {polynomials.to_text(f)}; its roots: {listed}"
        )
    return nearest


def _real_place(balls: list[Any]) -> RealPlace:
    """Return the coordinates that real balls of python-flint are."""
    numbers = [(polynomials.fraction(x.mid()), polynomials.fraction(x.rad())) for x in balls]
    # Of a ball with 0 in it nothing but 0 is known: a real or imaginary part that vanishes.
    numbers = [(q, r) if abs(q) > r else (Fraction(0), abs(q) + r) for q, r in numbers]
    return real.from_numbers([q for q, _ in numbers], [r for _, r in numbers])


def _upper_float(q: Fraction) -> float:
    """Return a float that is at least q >= 0; infinite beyond float64."""
    value = rationals.nearest_float(q.numerator, q.denominator)
    return value if value >= q else float(np.nextafter(value, np.inf))


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
    space: "AlgebraicSpace"
    _real: InfinitePlace

    @property
    def complex(self) -> npt.NDArray[np.complex128]:
        """Return the coordinates at the infinite place, complex128 (*); `real` is their real part."""
        parts = self._real.parts
        return np.asarray(parts[0].value + (1j * parts[1].value if len(parts) == 2 else 0j))

    def tensor(self) -> npt.NDArray[np.float32]:
        """Return the layout, float32 (*, n_rows + n_primes, precision): [0, …, 0, q], then the digits at each prime.

        At a complex place two such rows come before the primes: the real part and the imaginary part.

        Raises:
            RangeError: a coordinate at the infinite place is beyond float32.
            EncodingError: a prime above 2^24 has digits that float32 does not hold.

        >>> from adelic.numbers import AlgebraicSpace
        >>> AlgebraicSpace("x^2 + 1", root=1j, n_primes=1, precision=3).encode("2 + 3*x").tensor()
        array([[0., 0., 2.],
               [0., 0., 3.],
               [1., 4., 3.]], dtype=float32)
        """
        return super().tensor()

    def decode(self, number: Callable[[int, int], Any] = Fraction) -> Any:
        """Return the numbers with these coordinates: an object array of tuples of `Fraction`, for shape () one tuple.

        A tuple holds the coefficients of 1, θ, θ^2, …. The numbers are found by lattice reduction, and returned only if
        they are proven to be the ones (`adelic.numbers.algebraic.decoding`). An encoded number n/m, n in Z[θ], whose
        conjugates are at most c in absolute value, is sure to be decoded if (2^d · m² · c)^d < ∏ p^N, with d the
        degree; with fractional digits F, if ∏ p^F · n/m fulfils this. With (2·m·c)^d >= ∏ p^N nothing is decoded, since
        another number may have the same digits. Floats bound m and c: both must be below 10^308.

        Args:
            number: makes a coefficient of numerator and denominator, as for `AdeleArray.decode`.

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
                f"the bound of digits modulo 2^{bits}; more primes or digits widen the bound"
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
