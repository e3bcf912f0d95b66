"""Unramified and Eisenstein extensions of Q_p, and arrays of their numbers.

The field is Q_p[x]/f, and a number is its coefficients of 1, x, …, x^(n−1). If f is irreducible modulo p, these are
integral for integral numbers, and p stays a uniformiser. If f is an Eisenstein polynomial, x is a uniformiser π, and
π^i divides Σ c_i·x^i as far as it divides every term. So precision is counted in powers of π; that of coefficients
follows.

For any other f without repeated roots Q_p[x]/f is a product of fields, of one or more, as `AdeleSpace.over` has it at
primes where f has no simple root. Its precision is counted in powers of p that divide all coefficients.

Source: J.-P. Serre, Local Fields (1979), I.6; X. Caruso, Computations with p-adic numbers (2017), 2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DivisionByZeroError, DomainError, PrecisionError, SpaceError
from adelic.numbers import finite
from adelic.numbers.algebraic import polynomials
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local.array import LocalField, PadicArray, padic
from adelic.numbers.local.matrices import powers
from adelic.numbers.number_array import NoPlace, NumberArray, common_shape
from adelic.numbers.primes import split
from adelic.numbers.window import DEFAULT_PRECISION, Window, checked_integer, checked_prime, checked_window

Integers = npt.NDArray[np.object_]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class ExtensionField:
    """An extension of Q_p with arrays of numbers; made by `extension`.

    Attributes:
        polynomial: f, its coefficients, the constant one first.
        ramification: e, so π^e is p times a unit: 1, or the degree; 0 if f is neither irreducible modulo p nor an
            Eisenstein polynomial, so that Q_p[x]/f may be a product of fields.
        window: of digits of the coefficients, with the prime once for each.

    >>> from adelic.numbers import extension
    >>> field = extension(5, "x^2 - 5", precision=4)
    >>> field, field.p, field.degree, field.ramification
    (Q_5[x]/(x^2 - 5), precision=4, fractional_digits=0, 5, 2, 2)
    """

    polynomial: tuple[int, ...]
    ramification: int
    window: Window

    @property
    def p(self) -> int:
        """Return the prime."""
        return self.window.primes[0]

    @property
    def degree(self) -> int:
        """Return the degree n over Q_p."""
        return len(self.polynomial) - 1

    @property
    def base(self) -> LocalField:
        """Return Q_p, with the window of the coefficients."""
        return LocalField(Window((self.p,), self.window.precisions[:1], self.window.fractional_digits))

    @property
    def _field(self) -> tuple[Any, ...]:
        return self.polynomial, self.p

    def _with_window(self, window: Window) -> "ExtensionField":
        return replace(self, window=window)

    def _exact(self, values: Any, *, relative: bool) -> tuple[Any, FinitePlaces]:
        numbers = self.encode(values)
        return numbers._real, numbers._finite

    def encode(self, values: Any, *, floats: str = "error") -> "ExtensionArray":
        """Return rational numbers (*) as an array (*) of this field."""
        return self.from_coefficients(self.base.encode(values, floats=floats)[..., None])

    def from_coefficients(self, values: Any) -> "ExtensionArray":
        """Return the numbers c_0 + c_1·x + … from the c_i in the last axis: at most n rational or p-adic numbers.

        Raises:
            SpaceError: there are more coefficients, or they are of another prime.
            DomainError: a coefficient is undefined.
            EncodingError, DivisionByZeroError, PrecisionError: as for `padic`.

        >>> from adelic.numbers import extension
        >>> print(extension(5, "x^2 - 5", precision=4).from_coefficients([[1, 2], [0, "1/3"]]))
        (…0001_5, …0002_5)
        (…0000_5, …3132_5)
        """
        c = values if isinstance(values, PadicArray) else padic(values, self.p, self.base.window.precision)
        c = c if c.shape else c.reshape(1)
        if c.shape[-1] > self.degree or c.p != self.p:
            raise SpaceError(
                f"{c.shape[-1]} coefficients in Q_{describe(c.p)} are no number of {self!r}: {self.degree} at most, in "
                f"Q_{describe(self.p)}"
            )
        if c.mask.any():
            raise DomainError("an undefined coefficient makes no number; x[~x.mask] leaves such numbers out")
        shape, k, n = c.shape[:-1], c.shape[-1], self.degree
        digits = np.zeros((*shape, n, c.precision), dtype=c._finite.digits.dtype)
        known = np.full((*shape, n), c.precision, dtype=np.int32)
        digits[..., :k, :], known[..., :k] = c._finite.digits[..., 0, :], c._finite.known[..., 0]
        field = replace(self, window=Window((self.p,) * n, (c.precision,) * n, c.fractional_digits))
        return ExtensionArray(field, NoPlace.of(shape), FinitePlaces(digits, known))

    @property
    def _steps(self) -> int:
        """Return how many powers of what precision is counted in make p."""
        return max(1, self.ramification)

    @property
    def _weights(self) -> Counts:
        """Return the valuations of 1, x, …, x^(n−1), in powers of π."""
        return np.arange(self.degree) * (self.ramification > 1)

    def _approximations(self, values: Integers, below: Any, known: Counts) -> "ExtensionArray":
        """Return the numbers p^(−below) · Σ values_i·x^i, known modulo π^known."""
        modulo = -((self._weights - known[..., None]) // self._steps)
        return self.from_coefficients(self.base.approximations(values, np.broadcast_to(below, values.shape), modulo))

    def _matrices(self, values: Integers) -> Integers:
        """Return the matrices (*, n, n) of products with numbers a, (*, n): the rows are a·x^j."""
        rows, f = [values], np.array(self.polynomial[:-1], dtype=object)
        for _ in range(1, self.degree):
            top = rows[-1][..., -1:]
            rows.append(np.concatenate([0 * top, rows[-1][..., :-1]], axis=-1) - top * f)
        return np.stack(rows, axis=-2)

    def _product(self, a: Integers, b: Integers) -> Integers:
        """Return the products of numbers a and b, (*, n)."""
        product: Integers = np.matmul(a[..., None, :], self._matrices(b))[..., 0, :]
        return product

    @cached_property
    def _frobenius(self) -> Integers:
        """Return the coefficients (n, n) of the powers of the root of f that is x^p modulo p, by Newton's steps."""
        field = replace(self, window=self.window._replace(fractional_digits=0))
        y = field.from_coefficients([0, 1]) ** self.p
        derivative = [i * c for i, c in enumerate(self.polynomial)][1:]

        def at(f: Sequence[int]) -> ExtensionArray:
            return reduce(lambda total, c: total * y + c, reversed(f), field.encode(0))

        for _ in range(self.window.precision.bit_length()):
            y = y - at(self.polynomial) / at(derivative)
        return np.array([(y**i).coefficients.integers()[0] for i in range(self.degree)], dtype=object)

    def __repr__(self) -> str:
        return f"Q_{self.p}[x]/({polynomials.to_text(self.polynomial)}), {repr(self.base).partition(', ')[2]}"


class ExtensionArray(NumberArray):
    """An immutable array of numbers of an extension of Q_p; made by `extension(…).from_coefficients`.

    `+ - * /`, `** k`, unary minus, `==` and `!=` act element by element with NumPy's broadcasting, also with rational
    and p-adic numbers; rational factors act exactly. Let a be known modulo π^k, b modulo π^l. Then a·b is known modulo
    π^min(v(a) + l, v(b) + k), and 1/a modulo π^(k − 2v(a)); the windows of results are as wide as they need.

    >>> from adelic.numbers import extension
    >>> field = extension(5, "x^2 - 5", precision=4)
    >>> x = field.from_coefficients([0, 1])
    >>> x * x == 5, (1 + x) * (1 - x) == -4, (1 / x).valuation()
    (True, True, -1)
    """

    __slots__ = ()
    __hash__ = None  # == is element by element
    space: ExtensionField

    @property
    def coefficients(self) -> PadicArray:
        """Return the coefficients of 1, x, …, `PadicArray` (*, n)."""
        return self.space.base.array(FinitePlaces(self._finite.digits[..., None, :], self._finite.known[..., None]))

    def _parts(self) -> tuple[Integers, Counts, Counts]:
        """Return p^F times the coefficients, and modulo which power of π numbers are known, and their valuations."""
        values, known = self.coefficients.integers()
        e, f, weights = self.space._steps, self.space.window.fractional_digits, self.space._weights
        valuations = np.where(values == 0, known, split(values, self.space.p)[0])
        known, valuations = ((e * (part - f) + weights).min(axis=-1) for part in (known, valuations))
        return values, known, np.minimum(valuations, known)

    def valuation(self) -> Any:
        """Return the exponents of π in the numbers, int for shape (), else int64 (*); those of p are e times as large.

        If every known digit is 0, it is as many as are known: the valuation is at least that.

        Raises:
            DomainError: the numbers are of a product of fields, and have a valuation in each.

        >>> from adelic.numbers import extension
        >>> extension(7, "x^3 - 7", precision=4).from_coefficients([[0, 0, 1], [7, 0, 2], [49, 7, 0]]).valuation()
        array([2, 2, 4])
        """
        if not self.space.ramification:
            raise DomainError(f"{self.space!r} may be a product of fields, without one valuation; norm() has one")
        found = self._parts()[2]
        return found if self.shape else int(found)

    def norm(self) -> PadicArray:
        """Return the norms to Q_p: the products of the conjugates, the determinants of multiplication.

        With r = k − v(a) digits of a's unit part known, those of the norm are modulo p^⌈r/e⌉.

        Source: Serre, Local Fields, V.2 and V.3; PARI's `polresultant` with f.

        >>> from adelic.numbers import extension
        >>> extension(7, "x^2 - 3", precision=4).from_coefficients([1, 2]).norm() == 1 - 3 * 2**2
        True
        """
        values, known, valuations = self._parts()
        n, e = self.space.degree, self.space._steps
        window = self.space.base.window
        digits = window.precision + n * window.fractional_digits  # as many as are shown, and below p^0
        wide = LocalField(window._replace(precisions=(digits,)))
        matrices = self.space._matrices(values)
        norms = wide.approximations(matrices, window.fractional_digits, digits).det()
        modulo = n // e * valuations - (valuations - known) // e
        return self.space.base.approximations(norms.integers()[0], norms.fractional_digits, modulo)

    def trace(self) -> PadicArray:
        """Return the traces to Q_p: the sums of the conjugates. Of a number known modulo π^k it is modulo p^⌈k/e⌉.

        >>> from adelic.numbers import extension
        >>> extension(7, "x^2 - 3", precision=4).from_coefficients([[1, 2], [0, 1]]).trace().lift()
        array([2, 0])
        """
        values, known, _ = self._parts()
        traces = np.trace(self.space._matrices(values), axis1=-2, axis2=-1)
        modulo = -(-known // self.space._steps)
        return self.space.base.approximations(traces, self.space.window.fractional_digits, modulo)

    def frobenius(self, times: int = 1) -> "ExtensionArray":
        """Return the images under the automorphism that is a → a^p modulo p, or under a power of it.

        As many digits are known as of the numbers.

        Raises:
            DomainError: the extension is not unramified, and has no such automorphism.

        Source: Serre, Local Fields, I.8; Sage's `frobenius`.

        >>> from adelic.numbers import extension
        >>> x = extension(5, 3, precision=6).from_coefficients([0, 1])
        >>> (x.frobenius() - x**5).valuation() > 0, x.frobenius(3) == x, x * x.frobenius() * x.frobenius(2) == x.norm()
        (True, True, True)
        """
        if self.space.ramification != 1:
            raise DomainError(
                f"{self.space!r} has no Frobenius automorphism: x is no root of an irreducible f modulo p"
            )
        values, known, _ = self._parts()
        for _ in range(checked_integer("times", times) % self.space.degree):
            values = values @ self.space._frobenius
        return self.space._approximations(values, self.space.window.fractional_digits, known)

    def inverse(self) -> "ExtensionArray":
        """Return 1/a: a^e is p^v(a) times a unit u, of which Newton's steps find the inverse, and 1/a is a^(e−1)/a^e.

        Modulo π the inverse of u is u^(q−2), q the size of the residue field. In a product of fields linear equations
        give it.

        Raises:
            DivisionByZeroError: a number has no known digit other than 0.
            PrecisionError: in one of several fields no such digit is known.

        >>> from adelic.numbers import extension
        >>> print(extension(5, "x^2 - 5", precision=4).from_coefficients([0, 1]).inverse())
        (…000_5, …000.1_5)
        """
        values, known, valuations = self._parts()
        if (zeros := np.argwhere(np.atleast_1d(valuations >= known))).size:
            at = at_position(zeros[0].tolist() if self.shape else ())
            raise DivisionByZeroError(f"division by zero{at}: no digit other than 0 is known of the divisor")
        field, e, f = self.space, self.space.ramification, self.space.window.fractional_digits
        if not e:
            matrices = np.swapaxes(field._matrices(values), -1, -2)
            one = [1] + [0] * (field.degree - 1)
            try:
                found = field.base.approximations(matrices, f, known[..., None, None]).solve(one)
            except PrecisionError:
                raise PrecisionError(
                    f"the divisor may be 0 in one of the fields of {field!r}; more known digits may tell"
                ) from None
            return field.from_coefficients(found)
        below = valuations + e * f  # of p^F·a
        digits = field.window.precision + 2 * int(below.max(initial=0)) + 1
        one = np.eye(1, field.degree, dtype=np.int64)[0].astype(object)

        def power(x: Integers, k: int, modulus: int) -> Integers:
            return finite.repeated(x, k, lambda a, b: field._product(a, b) % modulus) if k else 0 * x + one

        rest, modulus = power(values, e - 1, field.p**digits), field.p**digits
        unit = field._product(rest, values) % modulus // powers(field.p, below)[..., None]
        inverse = power(unit, field.p ** (field.degree // e) - 2, field.p)
        for _ in range((e * digits).bit_length()):
            inverse = field._product(inverse, 2 * one - field._product(unit, inverse) % modulus) % modulus
        return field._approximations(field._product(rest, inverse), (below - f)[..., None], known - 2 * valuations)

    def decode(self, *, max_denominator: int | None = None) -> Any:
        """Return the rational coefficients that have these digits: `Fraction`, an object array (*, n).

        Raises:
            DecodingError: no rational number has the digits of a coefficient, see `PadicArray.decode`.

        >>> from adelic.numbers import extension
        >>> extension(7, "x^2 - 3").from_coefficients([1, "2/5"]).decode().tolist()
        [Fraction(1, 1), Fraction(2, 5)]
        """
        return self.coefficients.decode(max_denominator=max_denominator)

    def _coerce(self, other: Any, *, floats: str = "never") -> Any:
        other = self.space.from_coefficients(other[..., None]) if isinstance(other, PadicArray) else other
        return super()._coerce(other, floats=floats)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, ExtensionArray):
            return self.space.from_coefficients(self.coefficients * _column(other))
        a, b = self._aligned(other)
        common_shape(a, b)  # or a SpaceError
        (x, k, v), (y, m, w) = a._parts(), b._parts()
        product = a.space._product(x, y)
        return a.space._approximations(product, 2 * a.space.window.fractional_digits, np.minimum(v + m, w + k))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, ExtensionArray):
            return self.space.from_coefficients(self.coefficients / _column(other))
        return self * other.inverse()

    def __rtruediv__(self, other: Any) -> Any:
        return self.inverse() * other

    def _raised(self, k: int) -> Any:
        return finite.repeated(self, k, mul)

    def _line(self, i: int) -> str:
        rows = range(self.space.degree)
        return f"({', '.join(finite.text(self._finite, i, j, self.space.window) for j in rows)})"

    def __repr__(self) -> str:
        return f"ExtensionArray([{', '.join(self._lines())}], shape={self.shape}, {self.space!r})"


def _column(other: Any) -> Any:
    """Return p-adic or rational numbers (*) as (*, 1)."""
    return (other if isinstance(other, PadicArray) else np.asarray(other))[..., None]


def extension(
    p: int, polynomial: Any, precision: int = DEFAULT_PRECISION, *, fractional_digits: int = 0
) -> ExtensionField:
    """Return the extension of Q_p by a root x of a polynomial, unramified or Eisenstein.

    Args:
        p: prime.
        polynomial: f, monic with integer coefficients, as text such as "x^2 - 2", coefficients, the constant one first,
            or a polynomial of sympy or python-flint; irreducible modulo p, or an Eisenstein polynomial. Or the degree
            of the unramified extension, from 2 on; f is then FLINT's choice, of Conway's where its table has one.
        precision: N, how many digits the window of a coefficient holds.
        fractional_digits: F, how many of them are below p^0.

    Raises:
        SpaceError: p is not a prime, the precision does not suit, or f is neither of the two.
        EncodingError: it is not a polynomial.
        MissingExtraError: python-flint is not installed.

    Source: Serre, Local Fields, I.6; Sage's `Zq` and `ext`, PARI's `ffinit`.

    >>> extension(7, 3).polynomial, extension(7, "x^3 - 7").ramification
    ((4, 0, 6, 1), 3)
    >>> extension(7, "x^2 - 2")
    Traceback (most recent call last):
    adelic.errors.SpaceError: x^2 - 2 is neither irreducible modulo 7, but (x + 3)·(x + 4), nor an Eisenstein polynomial
    """
    window = checked_window((checked_prime(p),), precision, fractional_digits)
    (p,), (precision,), _ = window
    flint = polynomials.load_flint("extension")
    if isinstance(polynomial, (int, np.integer)):
        if checked_integer("the degree", polynomial) < 2:
            raise SpaceError(f"an extension of degree={polynomial} is none; degrees are from 2 on")
        modulus = flint.fq_default_ctx(flint.fmpz(p), int(polynomial)).modulus()
        polynomial = [int(c) for c in modulus.coeffs()]
    coefficients = polynomials.read(polynomial)
    f = tuple(int(c) for c in coefficients)
    text = polynomials.to_text(coefficients)
    if len(f) < 3 or f != tuple(coefficients) or f[-1] != 1:
        raise SpaceError(f"{text} is not monic with integer coefficients, of degree from 2 on")
    found = ramification(f, p)
    if not found:
        _, factors = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(p))(list(f)).factor()
        a = -int(factors[0][0][0]) % p
        shifted = [int(c) for c in flint.fmpz_poly(list(f))(flint.fmpz_poly([a, 1])).coeffs()]
        remedy = ""
        if factors[0][1] == len(f) - 1 and shifted[0] % p**2:
            remedy = f"; with x + {a} for x it is one, {polynomials.to_text(tuple(shifted))}"
        shown = sorted(f"({polynomials.to_text(list(map(int, g.coeffs())))}){f'^{k}' * (k > 1)}" for g, k in factors)
        raise SpaceError(
            f"{text} is neither irreducible modulo {p}, but {'·'.join(shown)}, nor an Eisenstein polynomial{remedy}"
        )
    n = len(f) - 1
    window = Window((p,) * n, (precision,) * n, window.fractional_digits)
    return ExtensionField(f, found, window)


def ramification(f: tuple[int, ...], p: int) -> int:
    """Return 1 if f is irreducible modulo p, its degree if it is an Eisenstein polynomial, 0 for all else.

    >>> ramification((-3, 0, 1), 7), ramification((-7, 0, 1), 7), ramification((-2, 0, 1), 7)
    (1, 2, 0)
    """
    flint = polynomials.load_flint("extension")
    _, factors = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(p))(list(f)).factor()
    if len(factors) == 1 and factors[0][1] == 1:
        return 1
    return len(f) - 1 if not any(c % p for c in f[:-1]) and f[0] % p**2 else 0
