"""Algebraic numbers as adeles: a number field Q(θ), θ a root of f, at an infinite place and at primes.

A root t of f in Z_p makes c(θ) → c(t) a ring homomorphism from the field to Q_p, as a root in the real or complex
numbers does to those. So sums and products stay coordinate-wise, as the paper has them for the rationals. Which of the
roots in Z_p is taken is a choice of one of the prime ideals above p: here it is the root that is smallest modulo p.

Where f has no simple root modulo p, the field is embedded into Q_p[x]/f, the product of its completions at all primes
above p. A number then has as many coordinates at p as the field has degree: its coefficients. Sums act on each of them,
and products on all of them, as on polynomials modulo f (`adelic.numbers.local.extensions`).
"""

import operator
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
from adelic.numbers.finite import FinitePlaces, OperationError
from adelic.numbers.hensel import BelowWindowError, NothingKnownError
from adelic.numbers.local.extensions import ExtensionArray, ExtensionField, ramification
from adelic.numbers.number_array import NoPlace
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import RealPlace
from adelic.numbers.window import DEFAULT_PRECISION, Window, checked_count, checked_integer, checked_window

BITS = 64
"""To which images in the complex numbers are computed before they are rounded to float64."""

PRIME_BOUND = 100_000
"""Splitting primes are searched below it."""

_IN_ALGEBRA = {"multiply": operator.mul, "divide": operator.truediv}
_NEAR = 0.1  # the greatest distance of a user's approximation from a root, relative to max(1, |root|)
_MOST_BITS = 1000.0  # of bounds that float64 holds


@dataclass(frozen=True, init=False)
class AlgebraicSpace:
    """The numbers a + b·θ + c·θ^2 + …, θ a root of a polynomial f, at one infinite place and at primes.

    The field Q(θ) is embedded into the real or complex numbers and, for finitely many primes p, into Q_p, if f has a
    simple root modulo p, and otherwise into Q_p[x]/f. Needs python-flint.

    Args:
        polynomial: f, text such as "x^2 - 2", or coefficients, the constant one first, or a polynomial of sympy or
            python-flint; monic with integer coefficients and irreducible.
        root: an approximation of the real or complex root that is θ at the infinite place. If it is left out, the
            greatest real root; if none is real, of those above the real line the one furthest to the right.
        n_primes: how many primes, by default 7; the first ones at which f splits into different linear factors.
        primes: the primes instead of their number, any ones.
        precision: N, how many digits a window holds.
        fractional_digits: F, how many of them are below p^0, as for `AdeleSpace`.

    Attributes:
        polynomial: the coefficients of f, integers, the constant one first.
        root: the root that the infinite place takes for θ, to float64; its imaginary part is 0 only if it is real.
        primes, precision, fractional_digits: as for `AdeleSpace`.
        roots: θ modulo p^precision for each prime, the lift of the smallest simple root modulo p; None without one.

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
    >>> inert = AlgebraicSpace("x^2 - 2", primes=(5, 7), precision=4)      # 2 is no square modulo 5
    >>> print(inert.encode("1 + 3*x"))
    (5.24264, …0001_5, …0003_5, …4643_7)
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

    @cached_property
    def window(self) -> Window:
        """Return the parameters as the kernels take them: a prime as often as numbers have coordinates there."""
        primes = tuple(p for p, t in zip(self.primes, self.roots, strict=True) for _ in range(self._n_coordinates(t)))
        return Window(primes, (self.precision,) * len(primes), self.fractional_digits)

    def _n_coordinates(self, root: int | None) -> int:
        """Return how many coordinates numbers have at a prime, by θ there."""
        return self.degree if root is None else 1

    @cached_property
    def roots(self) -> tuple[int | None, ...]:
        """Return θ modulo p^precision for each prime, the lift of the smallest simple root; None without one."""
        return tuple(polynomials.simple_root(self.polynomial, p, self.precision) for p in self.primes)

    @cached_property
    def _algebras(self) -> dict[int, tuple[slice, int]]:
        """Return, for the primes without a root, where their coordinates are, and the ramification of Q_p[x]/f."""
        found, start = {}, 0
        for p, t in zip(self.primes, self.roots, strict=True):
            stop = start + self._n_coordinates(t)
            if t is None:
                found[p] = slice(start, stop), ramification(self.polynomial, p)
            start = stop
        return found

    def _algebra(self, p: int, places: FinitePlaces, window: Window) -> ExtensionArray:
        """Return the coordinates (*) of a window at a prime without a root, as numbers of Q_p[x]/f."""
        rows, e = self._algebras[p]
        f, n = places.below(window), places.digits.shape[-1]
        field = ExtensionField(self.polynomial, e, Window((p,) * self.degree, (n,) * self.degree, f))
        here = FinitePlaces(places.digits[..., rows, :], places.known[..., rows])
        return ExtensionArray(field, NoPlace.of(here.known.shape[:-1]), here)

    @property
    def degree(self) -> int:
        """Return the degree of the field."""
        return len(self.polynomial) - 1

    @property
    def n_rows(self) -> int:
        """Return how many rows of the layout the infinite place takes: 1 if it is real, 2 if it is complex."""
        return 1 if self.root.imag == 0 else 2

    def residues(self, element: Element, k: int, window: Window | None = None) -> list[int]:
        """Return the coordinates p^F · α mod p^N of a number of the field at the k-th prime.

        They are in the space's window or another. At a prime with a root a denominator that p divides need not lead
        below the window: with √2 ≡ 3 modulo 7, (√2 − 3)/7 is a 7-adic integer. More digits of θ tell. A
        BelowWindowError means that α has digits below the window.
        """
        p, theta = self.primes[k], self.roots[k]
        n, f = (window or self.window).precision, (window or self.window).fractional_digits
        numerators, denominator = element
        if theta is None:
            return [hensel.residue(c, denominator, p, n, f).value for c in numerators]
        e = valuation(denominator, p)
        # Dividing by p^e takes e digits away, so θ has to be known to e more.
        if n + e > self.precision:
            theta = polynomials.hensel_root(self.polynomial, theta % p, p, n + e)
        value = polynomials.evaluate(numerators, theta, p ** (n + e)) * p**f
        if value % p**e:
            raise BelowWindowError(e - valuation(value, p) + f)
        return [int(value // p**e * pow(denominator // p**e, -1, p**n) % p**n)]

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
        _, precision, fractional_digits = window.parameters
        return AlgebraicSpace(
            polynomials.to_text(self.polynomial),
            root=self.root,
            primes=self.primes,
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
        digits = np.empty((size, len(window.primes), window.precision), dtype=finite.digit_dtype(self.primes))
        images, height = [], np.empty((size, 2))
        for i, element in enumerate(elements):
            j = 0
            for k, p in enumerate(self.primes):
                try:
                    residues = self.residues(element, k, window)
                except BelowWindowError as error:
                    position = np.unravel_index(i, shape)
                    raise self._window_error(element, position, p, error.needed) from None
                for residue in residues:
                    digits[i, j] = hensel.to_digits(residue, p, window.precision)[::-1]
                    j += 1
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
        (2^d · H³ · ∏ p^F)^d = ∏ p^N, d the degree and p^N once for each row. `decode` proves
        that no other such number has the digits.

        Args:
            digits: integers, (*, rows, precision), most significant digit first; a row is a coordinate at a prime.
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
        room = self.precision * sum(map(log2, self.window.primes)) * (1 - 1e-12) / self.degree - self.degree
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
        what = "has a coefficient of" if p in self._algebras else "has"
        return PrecisionError(
            f"{polynomials.to_text(coefficients(element))}{at_position(position)} {what} {p}-adic valuation −{needed}, "
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

        At a complex place two such rows come before the primes: the real part and the imaginary part. A prime where f
        has no simple root has as many rows of digits as the field has degree, one for each coefficient.

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
        degree and p^N once for each coordinate; with fractional digits F, if ∏ p^F · n/m fulfils this. With
        (2·m·c)^d >= ∏ p^N nothing is decoded, since another number may have the same digits. Floats bound m and c: both
        must be below 10^308.

        Args:
            number: makes a coefficient of numerator and denominator, as for `AdeleArray.decode`.

        Raises:
            DecodingError: the coordinates do not prove which number they belong to.

        >>> from adelic.numbers import AlgebraicSpace
        >>> AlgebraicSpace("x^2 - 2", root=1.414).encode(["1 + x/3", 7]).decode().tolist()
        [(Fraction(1, 1), Fraction(1, 3)), (Fraction(7, 1), Fraction(0, 1))]
        """
        return super().decode(number)

    def at(self, p: int) -> Any:
        """Return the coordinates at one prime: a `PadicArray` (*), or an `ExtensionArray` (*).

        The latter where f has no simple root modulo p.

        Raises:
            SpaceError: p is not one of the space's primes.

        >>> from adelic.numbers import AlgebraicSpace
        >>> a = AlgebraicSpace("x^2 - 2", primes=(5, 7), precision=4).encode("1 + 3*x")
        >>> print(a.at(7), a.at(5), a.at(5).norm() == -17)
        …4643_7 (…0001_5, …0003_5) True
        """
        algebras = self.space._algebras
        return self.space._algebra(p, self._finite, self._window) if p in algebras else super().at(p)

    def valuation(self) -> npt.NDArray[np.int64]:
        """Return the valuations v_p, int64 (*, n_primes), as for `AdeleArray`.

        Raises:
            SpaceError: f has no simple root at a prime; `at` has the numbers there.
        """
        self._check_roots()
        return super().valuation()

    def norm(self) -> npt.NDArray[np.object_]:
        """Return the p-adic absolute values, objects (*, n_primes), as for `AdeleArray`; errors as for `valuation`."""
        self._check_roots()
        return super().norm()

    def _check_roots(self) -> None:
        for p in self.space._algebras:
            raise SpaceError(
                f"{polynomials.to_text(self.space.polynomial)} has no simple root modulo {p}, where numbers have "
                f"{self.space.degree} coordinates; at({p}) has the numbers of Q_{p}[x]/f"
            )

    def _operate(self, name: str, x: FinitePlaces, y: Any) -> FinitePlaces:
        algebras = self.space._algebras
        if not algebras or name in ("add", "subtract"):
            return super()._operate(name, x, y)
        window = self._window
        rooted = [j for j, p in enumerate(window.primes) if p not in algebras]
        digits = np.empty((*x.digits.shape[:-1], window.precision), dtype=x.digits.dtype)
        known = np.empty(x.known.shape, dtype=np.int32)

        def write(rows: Any, places: FinitePlaces) -> None:
            digits[:, rows], known[:, rows] = places.digits, places.known

        if rooted:
            part = Window(tuple(window.primes[j] for j in rooted), window.precisions[: len(rooted)], window[2])
            parts = [
                replace(z, digits=z.digits[:, rooted], known=z.known[:, rooted]) if isinstance(z, FinitePlaces) else z
                for z in (x, y)
            ]
            write(rooted, getattr(finite, name)(*parts, part))
        for p, (rows, _) in algebras.items():
            a, b = (self.space._algebra(p, z, window) if isinstance(z, FinitePlaces) else z for z in (x, y))
            try:
                c = self._power(a, b, p) if name == "power" else _IN_ALGEBRA[name](a, b)
            except (DivisionByZeroError, PrecisionError):
                i = next((i for i in range(len(digits)) if not _is_invertible(b[i])), 0)
                raise OperationError(name, i, p, NothingKnownError(), window.precision, window) from None
            here = Window((p,) * self.space.degree, window.precisions[: self.space.degree], window.fractional_digits)
            try:
                write(rows, finite.moved(c._finite, c.space.window, here))
            except OperationError as error:
                error.text = error.text.replace("has ", "has a coefficient of ", 1)
                raise
        return FinitePlaces(digits, known)

    def _power(self, a: ExtensionArray, k: Any, p: int) -> ExtensionArray:
        """Return a^k, or raise an `OperationError` as soon as it is known to be below the window.

        If a^k has F digits below p^0 at most, a^j has with j <= k at most F + v(d), d the discriminant of f: p^F·a^j is
        integral then, and d times an integral number is a polynomial in θ over Z_p.
        """
        window = self._window
        derivative = np.array([i * c for i, c in enumerate(self.space.polynomial)][1:], dtype=object)
        d = int(polynomials.load_flint().fmpz_mat(a.space._matrices(derivative).tolist()).det())  # up to its sign
        most = window.fractional_digits + valuation(d, p) + 1  # one more, for a number whose known digits are 0

        def product(x: ExtensionArray, y: ExtensionArray) -> ExtensionArray:
            xy: ExtensionArray = x * y
            if xy.space.window.fractional_digits > most:
                i = int(finite.valuations(xy._finite, 0).min(axis=-1).argmin())
                error = OperationError("power", i, p, NothingKnownError(), window.precision, window)
                error.text = f"has {p}-adic digits below the window of fractional_digits={window.fractional_digits}"
                raise error
            return xy

        return finite.repeated(a, k, product)

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
            bits = prod(p**r.known for p, r in zip(self._window.primes, residues, strict=True)).bit_length() - 1
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


def _is_invertible(b: ExtensionArray) -> bool:
    try:
        b.inverse()
    except (DivisionByZeroError, PrecisionError):
        return False
    return True
