"""Arrays of p-adic numbers at one prime."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, DecodingError, DomainError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import finite, hensel, rationals
from adelic.numbers.decoding import reconstruction
from adelic.numbers.describe import at_position, describe, parse_expansion, shortened
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local import functions, matrices, special
from adelic.numbers.local.functions import FunctionError, UndefinedError
from adelic.numbers.local.matrices import powers
from adelic.numbers.local.rational import valuation
from adelic.numbers.number_array import SHOWN, NoPlace, NumberArray, common_shape, read_only
from adelic.numbers.primes import largest_valuation, split
from adelic.numbers.window import (
    DEFAULT_PRECISION,
    MOST_DIGITS,
    Window,
    checked_count,
    checked_integer,
    checked_prime,
    checked_window,
)

_EXACT = 2**62  # the k of O(p^k) of a number that is known exactly
_MOST_ROOTS = 10_000
_SYSTEMS = ("cypari", "cypari2", "sage")  # whose p-adic numbers are read as they print them
_FACTOR = r"\d+(?:\s*\^\s*\(?-?\d{1,9}\)?|/\d+)?"
_TERM = re.compile(rf"\s*([+-]?)\s*(O\(\s*)?({_FACTOR}(?:\s*\*\s*{_FACTOR})*)(?(2)\s*\))\s*")
"""A term of a p-adic number as PARI and Sage write it: 3*5^-2, 7/5, O(5^3)."""

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
        return NoPlace.of(places.known.shape[:-1]), places

    def encode(self, values: Any, *, floats: str = "error") -> "PadicArray":
        """Return rational numbers as an array."""
        return self.array(finite.encoded(rationals.read(values, floats=floats), self.window))

    def lifts(self, values: Any, digits: int = 1) -> tuple[npt.NDArray[np.object_], int, npt.NDArray[np.int64]]:
        """Return v, s and k: the numbers v · p^(−s), v integers from 0 on, objects (*), known modulo p^k, k int64 (*).

        Of rational numbers k is digits · (1 + s): an operation that needs no more takes them as exact.

        >>> from adelic.numbers import padic
        >>> v, s, k = padic(1, 2).space.lifts([1, "1/2"], 3)
        >>> v.tolist(), s, k.tolist()
        ([2, 1], 1, [6, 6])
        """
        p = self.window.primes[0]
        if not isinstance(values, PadicArray):
            numbers = rationals.read(values, floats="never")
            s = largest_valuation(numbers.denominators, p)
            window = Window((p,), (digits * (1 + s),), s)
            values = LocalField(window).array(finite.encoded(numbers, window))
        found, known = self.encode(0)._coerce(values).integers()
        return found, values.fractional_digits, known

    def approximations(self, values: Any, below: Any, modulo: Any) -> "PadicArray":
        """Return the numbers values · p^(−below), known modulo p^modulo, in a window that ends as this field's.

        Args:
            values: integers, objects (*).
            below: exponents, broadcast to (*).
            modulo: exponents, broadcast to (*); what is known beyond the window's end is cut.

        Returns:
            Their array; its window has as many fractional digits as they need, and as this field's at least.
        """
        (p,), (n,), f = self.window
        shape = np.shape(values)
        # One axis, since arithmetic of arrays without one gives no arrays.
        values, below, modulo = (np.broadcast_to(c, shape).reshape(-1) for c in (values, below, modulo))
        modulo = np.minimum(modulo, n - f)
        values = values % powers(p, np.maximum(modulo + below, 0))
        lowest = np.where(values == 0, modulo - 1, split(values, p)[0] - below)  # one digit is known at least
        depth = max(f, -int(lowest.min(initial=0)))
        window = self.window._replace(precisions=(n - f + depth,), fractional_digits=depth)
        values = values * powers(p, np.maximum(depth - below, 0)) // powers(p, np.maximum(below - depth, 0))
        digits = np.empty((len(values), 1, window.precision), dtype=finite.digit_dtype(window.primes))
        finite.write_digits(values, p, digits[:, 0])
        known = (modulo + depth).astype(np.int32)[:, None]
        return LocalField(window).array(FinitePlaces(digits, known).reshape(shape))

    def array(self, places: FinitePlaces) -> "PadicArray":
        """Return the numbers with these coordinates as an array."""
        return PadicArray(self, NoPlace.of(places.known.shape[:-1]), places)

    def __repr__(self) -> str:
        (p,), (n,), f = self.window
        return f"p={p}, precision={n}, fractional_digits={f}"


class PadicArray(NumberArray):
    """An immutable array of numbers of Q_p, p one prime; made by `padic` and by `AdeleArray.at`.

    Each number is seen through a window of N digits, from p^(−F) to p^(N−F−1), and `known` counts how many of them,
    from the lowest power up, are determined: precision is absolute, capped by the window, and no digit is shown that is
    not known. `+ - * /`, `** k`, unary minus, `==` and `!=` act element by element with NumPy's broadcasting; rational
    operands act exactly. The window of two arrays' result holds the digits of both, and as many fractional digits as
    products, quotients and powers need. `==` compares digits as far as
    both sides know them; `x.with_window(precision=k) == y` compares k at most.

    Functions such as `sqrt` raise an error where they are undefined, or with errors="mask" have `mask` tell where.
    Undefined numbers stay so in arithmetic and equal nothing, as NaN. What gives NumPy's arrays gives masked ones of
    them, and `x[~x.mask]` leaves them out.

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

    def __init__(self, space: LocalField, place: NoPlace, finite_places: FinitePlaces, errors: None = None) -> None:
        if place.has_undefined:  # an undefined number is a one, which no operation refuses
            mask, one = place.mask[..., None], np.zeros_like(finite_places.digits[(0,) * place.mask.ndim])
            one[..., -1 - finite_places.below(space.window)] = 1
            digits = np.where(mask[..., None], one, finite_places.digits)
            known = np.where(mask, np.int32(one.shape[-1]), finite_places.known)
            finite_places = replace(finite_places, digits=digits, known=known)
        super().__init__(space, place, finite_places, errors)

    def _holding(self, lowest: int) -> Window:
        """Return the window with as many fractional digits as a number needs whose lowest exponent is given."""
        (p,), (n,), f = self._window
        more = max(0, -lowest - f)
        return self._window if n + more > MOST_DIGITS else Window((p,), (n + more,), f + more)

    def _combine(self, other: NumberArray, name: str) -> "PadicArray":
        below = [z._finite.below(z._window) for z in (self, other)]
        if name == "divide" or (name == "multiply" and any(below)):
            (v, is_zero), (w, _) = (_valuations(z._finite, f) for z, f in zip((self, other), below, strict=True))
            window = self._holding(int(np.min((v - w if name == "divide" else v + w) - is_zero, initial=0)))
            if window != self._window:
                return self._shown_through(window)._combine(PadicArray._shown_through(other, window), name)
        shape = common_shape(self, other)
        place = self._real.broadcast_to(shape) + other._real.broadcast_to(shape)
        if not place.has_undefined:
            return super()._combine(other, name)
        a, b = (PadicArray(self.space, place, x._finite.broadcast_to(shape)) for x in (self, other))
        return NumberArray._combine(a, b, name)

    def _shown_through(self: Any, window: Window) -> "PadicArray":
        """Return the numbers in another window; exact operands keep their own digits."""
        if self._finite.fractional_digits is None:
            moved: PadicArray = self._in_window(window)
            return moved
        return PadicArray(LocalField(window), self._real, self._finite)

    def _raised(self, k: int) -> "PadicArray":
        v, is_zero = _valuations(self._finite, self.fractional_digits)
        lowest = int(np.min(k * v.astype(object) - is_zero.astype(object), initial=0))
        return NumberArray._raised(self._in_window(self._holding(lowest)), k)

    def __pow__(self, exponent: Any) -> "PadicArray":
        power = super().__pow__(exponent)
        return PadicArray(power.space, self._real, power._finite)  # also x^0 is undefined where x is

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """Return which numbers are undefined, bool (*), as in `numpy.ma`.

        >>> from adelic.numbers import padic
        >>> roots = padic([2, 3, 4], 7, precision=4).sqrt(errors="mask")
        >>> print(roots + 1)
        …6214_7
        undefined
        …0003_7
        >>> roots.mask, roots.lift()
        (array([False,  True, False]), masked_array(data=[2166, --, 2],
             mask=[False,  True, False],
             fill_value=999999))
        """
        return read_only(self._real.mask)

    def _masked(self, values: npt.NDArray[Any]) -> Any:
        """Return an array (*, …) of results, masked if numbers are undefined."""
        if not self._real.has_undefined:
            return values
        mask = self._real.mask.reshape(self.shape + (1,) * (values.ndim - self.ndim))
        return np.ma.array(values, mask=np.broadcast_to(mask, values.shape))

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
    def digits(self) -> Any:
        """Return the digits, unsigned (*, precision), most significant first; 0 if they are not known."""
        return self._masked(read_only(self._finite.digits[..., 0, :]))

    @property
    def known(self) -> Any:
        """Return how many digits of the window are known, from the lowest one up, int32 (*).

        A number is known modulo p^(known − F): other systems call this exponent its absolute precision.

        >>> from adelic.numbers import padic
        >>> (padic([50, 7], 5, precision=6) / [5, 1]).known
        array([5, 6], dtype=int32)
        """
        return self._masked(read_only(self._finite.known[..., 0]))

    def valuation(self) -> Any:
        """Return the exponent of the lowest digit that is not 0, int for shape (), else int64 (*).

        If every known digit is 0, as for 0 itself, it is known − F: the valuation is at least that.

        >>> from adelic.numbers import padic
        >>> padic([50, "7/5", 0], 5, precision=6, fractional_digits=1).valuation()
        array([ 2, -1,  5])
        """
        return self._result(finite.valuations(self._finite, self.fractional_digits)[..., 0])

    def _result(self, values: Any, undefined: npt.NDArray[np.bool_] | None = None) -> Any:
        """Return results of an array or, for shape (), the one; masked if they are undefined, or numbers are."""
        found = self._masked(np.asarray(values))
        if undefined is not None and undefined.any():
            found = np.ma.array(found, mask=undefined)
        return found if self.shape else np.ma.masked if np.ma.is_masked(found) else found.item()

    def norm(self) -> Any:
        """Return the absolute values p^(−v), for shape () a `Fraction`, else objects (*); |p| is 1/p. So does `abs`.

        If every known digit is 0 it is 0: the absolute value is at most p^(F − known).

        >>> from adelic.numbers import padic
        >>> padic([50, 7, 0], 5).norm().tolist()
        [Fraction(1, 25), Fraction(1, 1), Fraction(0, 1)]
        """
        return self._result(finite.norms(self._finite, self._window)[..., 0])

    __abs__ = norm

    def unit(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the unit parts u of the numbers p^v · u. The arguments are those of `sqrt`.

        Raises:
            PrecisionError: no digit other than 0 is known.

        >>> from adelic.numbers import padic
        >>> print(padic(50, 5, precision=4).unit())
        …02_5
        """
        return self._apply(functions.unit_part, "has no known unit part", errors, where)

    def lift(self) -> Any:
        """Return the least number from 0 on with the known digits: the sum of digit · p^exponent.

        Returns:
            Integers if the window has no fractional digits: int for shape (), else an array (*) of int64, or of
            objects if p^N passes it. With fractional digits, `Fraction` instead of the integers.

        >>> from adelic.numbers import padic
        >>> padic([-1, "1/3"], 5, precision=3).lift(), padic("7/5", 5, fractional_digits=1).lift()
        (array([124,  42]), Fraction(7, 5))
        """
        # Lifts are below p^N, so int64 holds all of them or an array of objects is needed.
        if not self.fractional_digits and self.p**self.precision <= 2**63:
            powers = np.array([self.p**k for k in reversed(range(self.precision))])
            return self._result(self._finite.digits[..., 0, :].astype(np.int64) @ powers)
        values = rationals.objects(finite.residues(self.reshape(-1)._finite.digits[:, 0], self.p)).reshape(self.shape)
        scale = Fraction(1, self.p**self.fractional_digits)
        return self._result(values * scale if self.fractional_digits else values)

    def __int__(self) -> int:
        """Return the `lift` of one p-adic integer."""
        if self.shape:
            raise TypeError(f"a PadicArray of shape {self.shape} is not one number; use lift()")
        value = self.lift()
        if value is np.ma.masked or value.denominator != 1:
            raise DomainError(f"{self} is not a {self.p}-adic integer; lift() gives a Fraction")
        return int(value)

    def decode(
        self,
        number: Callable[[int, int], Any] = Fraction,
        *,
        max_denominator: int | None = None,
        errors: str = "raise",
    ) -> Any:
        """Return the rationals with these digits: an object array of `Fraction`, for shape () one `Fraction`.

        Of the numbers n/m = p^F · q there is at most one with |n| ≤ A and m ≤ B if 2·A·B < p^known. (F is
        `fractional_digits`.) Digits of an irrational number may be those of a fraction, too: more digits tell.
        `AdeleArray.decode` knows the real value, too, and reaches further.

        Args:
            number: makes a number of numerator and denominator instead of `Fraction`.
            max_denominator: B, the greatest m; 1 for integers. When left out A and B are √(p^known / 2).
            errors: as for `sqrt`; with "mask" a number of no such digits is masked in the result.

        Raises:
            DecodingError: no such number has these digits.

        Source: P. S. Wang, A p-adic algorithm for univariate partial fractions (1981).

        >>> from adelic.numbers import padic
        >>> x = padic(["22/7", -5], 5, precision=10)
        >>> x.decode(), padic(-1500, 5, precision=6).decode(max_denominator=1)
        (array([Fraction(22, 7), Fraction(-5, 1)], dtype=object), Fraction(-1500, 1))
        """
        _check_errors(errors)
        limit = max_denominator
        if limit is not None:
            limit = checked_count("max_denominator", limit, error=ConfigurationError)
        flat = self.reshape(-1)._finite
        out = np.empty(self.size, dtype=object)
        for i in np.flatnonzero(~self._real.mask).tolist():
            residue = finite.read_residue(flat, i, 0, self._window)
            q, _ = reconstruction.decode_digits([residue], (self.p,), self.fractional_digits, limit)
            if q is None and errors == "mask":
                continue
            if q is None:
                power = f"{describe(self.p)}^{residue.known}"
                bound = f"and m up to √({power} / 2)" if limit is None else f"up to {power} / {describe(2 * limit)}"
                raise DecodingError(
                    f"{self._name(i)} has the digits of no rational number n/m with |n| {bound}; more digits reach "
                    "further, or another max_denominator"
                )
            out[i] = q if number is Fraction else number(q.numerator, q.denominator)
        undefined = np.array([q is None for q in out], dtype=np.bool_)
        return self._result(out.reshape(self.shape), undefined.reshape(self.shape))

    def is_square(self, *, errors: str = "raise", where: Any = True) -> Any:
        """Return whether there is a square root in Q_p, bool (*): of 0 there is one.

        The arguments are those of `sqrt`; as an index take the masked result's `.filled(False)`.

        Raises:
            PrecisionError: too few digits are known to tell, fewer than three of the unit part if p = 2.

        >>> from adelic.numbers import padic
        >>> padic([2, 3, 4, 5, 0], 7).is_square()
        array([ True, False,  True, False,  True])
        """
        chosen, squares = self._tried(functions.is_square, f"has no square root in Q_{self.p}", errors, where)
        found, undefined = np.zeros(self.size, dtype=np.bool_), np.ones(self.size, dtype=np.bool_)
        found[chosen], undefined[chosen] = squares, False
        return self._result(found.reshape(self.shape), undefined.reshape(self.shape))

    def sqrt(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the square roots whose unit part is at most (p − 1)/2 modulo p, or 1 modulo 4 if p = 2.

        p^v · u has a root if v is even and u is a square modulo p, or 1 modulo 8 if p = 2. As many digits of the
        root's unit part are known as of the number's, one less if p = 2; of a number whose known digits are all 0,
        half of those. `-x.sqrt()` are the other roots, and `roots(2)` both.

        Args:
            errors: "raise" an error, or "mask": a number without a root, or with too few digits to tell, is then
                undefined in the result, see `mask`.
            where: bool, broadcast to (*): which numbers are computed; the others are undefined.

        Raises:
            DomainError: a number has no square root in Q_p.
            PrecisionError: too few digits are known to tell.
            ConfigurationError: `errors` is neither of the two.

        >>> from adelic.numbers import padic
        >>> print(padic([2, 98], 7, precision=5).sqrt())
        …16213_7
        …2130_7
        >>> padic(3, 7, precision=2).sqrt()
        Traceback (most recent call last):
        adelic.errors.DomainError: …03_7 has no square root in Q_7: its unit part is 3 modulo 7, which is not a square
        """
        return self._apply(functions.square_root, f"has no square root in Q_{self.p}", errors, where)

    def roots(self, n: int, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return all n-th roots in Q_p, (*, d): each number has d = gcd(n, p − 1), or gcd(n, 2) if p = 2, or none.

        p^v · u has roots if n divides v and u = ω·t is a power: ω, of order p − 1, is one modulo p, and log(t)/n lies
        where exp converges. If p^k is the power of p in n, k digits of the unit part fewer are known than of the
        number's; of a number whose known digits are all 0, an n-th of them, rounded up.

        Args:
            n: from 1 on; 2 for both square roots.
            errors: as for `sqrt`.
            where: as for `sqrt`.

        Returns:
            `PadicArray` (*, d), ordered by the unit part modulo p; first the one that is 1 modulo 4 if p = 2.

        Raises:
            DomainError: a number has no such root in Q_p.
            PrecisionError: too few digits are known to tell.
            ConfigurationError: n is not an integer from 1 on, or d is above 10,000.
            MissingExtraError: python-flint is not installed, and d is above 1.

        Source: Koblitz (1984), IV.1; Sage's `nth_root(n, all=True)`; PARI's `sqrtn` gives one root.

        >>> from adelic.numbers import padic
        >>> cube_roots = padic([8, 6], 7, precision=4).roots(3, errors="mask")
        >>> cube_roots.shape, cube_roots[0].lift(), cube_roots[0] ** 3 == 8, cube_roots.mask[:, 0]
        ((2, 3), array([2094,    2,  305]), array([ True,  True,  True]), array([False, False]))
        """
        n = checked_count("n", n, error=ConfigurationError)
        count = functions.count_of_roots(n, self.p)
        if count > _MOST_ROOTS:
            raise ConfigurationError(
                f"a number has {describe(count)} roots of order {describe(n)}, above {_MOST_ROOTS}"
            )
        reason = f"has no root of order {n} in Q_{self.p}"
        return self._apply(partial(functions.nth_roots, n=n), reason, errors, where, count)

    def exp(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return Σ x^j / j!, which converges if v(x) > 1/(p − 1): v(x) >= 1, or 2 if p = 2.

        As many digits are known as of x. The arguments are those of `sqrt`.

        Raises:
            DomainError: the series does not converge.
            PrecisionError: too few digits are known to tell.

        >>> from adelic.numbers import padic
        >>> x = padic(5, 5, precision=6).exp()
        >>> x.series(), x.log() == 5
        ('1 + 5 + 3*5^2 + 3*5^3 + 4*5^4 + 5^5 + O(5^6)', True)
        """
        return self._apply(functions.exponential, f"has no exponential in Q_{self.p}", errors, where)

    def log(self, *, p_branch: Any = None, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the logarithms: the homomorphism that is Σ (−1)^(j+1) · (x − 1)^j / j if that converges.

        It converges for 1-units, v(x − 1) >= 1. A unit is a root of unity, whose logarithm is 0, times a 1-unit (up to
        sign if p = 2). As many digits are known as of the unit part.

        Args:
            p_branch: a rational number for log(p), which nothing determines; 0 is Iwasawa's choice. Without one, only
                units have logarithms.
            errors: as for `sqrt`.
            where: as for `sqrt`.

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
            return self._apply(functions.logarithm, reason, errors, where)
        units = self._apply(functions.unit_part, reason, errors, where)  # log(p^v · u) = log(u) + v · log(p)
        branch = rationals.read(p_branch)
        n, m = (part.reshape(branch.shape) for part in (branch.numerators.astype(object), branch.denominators))
        log_of_power = (n * np.ma.getdata(self.valuation()), m)
        return units.log() + log_of_power

    def teichmuller(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the ω with ω^p = ω and ω = x modulo p: 0, or the root of unity of order p − 1. All digits are known.

        The arguments are those of `sqrt`.

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
        return self._apply(functions.teichmuller, f"has no Teichmüller lift in Q_{self.p}", errors, where)

    def gamma(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the values of Morita's gamma function Γ_p, continuous on Z_p: Γ_p(x + 1) = −x·Γ_p(x) for units x.

        For p | x, x is left out of this product. At whole numbers n it is (−1)^n times the product of all j from 1 to
        n − 1 that p does not divide. As many digits are known as of x, one if p = 2 and x is known modulo 4. The
        arguments are those of `sqrt`.

        Raises:
            DomainError: a number is no p-adic integer, or p is beyond 2^16.
            PrecisionError: no digit from p^0 up is known.

        Source: Y. Morita, A p-adic analogue of the Γ-function (1975); PARI's `gamma`.

        >>> from adelic.numbers import padic
        >>> x = padic(["1/2", "1/4"], 7, precision=5)
        >>> x.gamma() ** 2 == [1, (x[1].gamma() ** 2).lift()], (x.gamma() * (1 - x).gamma()).lift().tolist()
        (array([ True,  True]), [1, 1])
        """
        return self._apply(special.gamma, f"has no value of Γ_{self.p}", errors, where)

    def log_gamma(self, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return the logarithms of `gamma`; as many digits are known as of it. The arguments are those of `sqrt`.

        Raises:
            DomainError, PrecisionError: as for `gamma`.

        Source: PARI's `lngamma`.

        >>> from adelic.numbers import padic
        >>> print(padic("1/3", 5, precision=6).log_gamma())
        …323130_5
        """
        return self.gamma(errors=errors, where=where).log()

    def zeta(self, branch: int = 0, *, errors: str = "raise", where: Any = True) -> "PadicArray":
        """Return ζ_p(s) for numbers s of Z_p, the zeta function of Kubota and Leopoldt; or another L_p(s, ω^branch).

        At whole numbers n > 0 with n = branch modulo p − 1 (modulo 2 if p = 2), L_p(1 − n, ω^branch) is
        (1 − p^(n − 1)) · ζ(1 − n) = −(1 − p^(n − 1)) · B_n / n. They determine the function on Z_p; the branch 0
        has a pole at 1, and odd branches are 0.

        With M digits of s known and w = v(s − 1), the branch 0 is known modulo p^(M − 2w − 1), others modulo p^(M + 1).

        Args:
            branch: an even number, of which the residue modulo p − 1 matters.
            errors: as for `sqrt`.
            where: as for `sqrt`.

        Returns:
            `PadicArray` (*), with as many fractional digits as it needs, w + 1 in branch 0.

        Raises:
            DomainError: a number is no p-adic integer, p is beyond 2^16, or the branch is odd.
            PrecisionError: the known digits do not tell the number from 1, or 1 − 1/p has no known digit.
            MissingExtraError: python-flint, which has the Bernoulli numbers, is not installed.

        Source: T. Kubota, H. W. Leopoldt (1964); Washington, Introduction to Cyclotomic Fields, theorem 5.11; PARI's
        `zeta`, which is the branch 0.

        >>> from adelic.numbers import padic
        >>> s = padic([-3, 3], 5, precision=6)
        >>> print(s.zeta())    # (1 − 5³) · ζ(−3) is −31/30; and the 5-adic counterpart of Apéry's number
        …04034.4_5
        …30320.2_5
        >>> s[0].zeta() == "-31/30"
        True
        """
        reason = f"has no value of ζ_{self.p}"
        period = max(self.p - 1, 2)
        branch = checked_integer("branch", branch)
        if branch % 2:
            raise DomainError(f"branch={branch} is odd, where L_p(s, ω^branch) is 0; even ones are not")
        chosen, found = self._tried(lambda x, w: special.zeta(x, w, branch % period), reason, errors, where)
        parts = [
            np.full(self.size, start, dtype=kind) for start, kind in ((0, object), (0, int), (self.precision, int))
        ]
        for part, values in zip(parts, found, strict=False):  # nothing is found of no number
            part[chosen] = values
        result = self.space.approximations(*(part.reshape(self.shape) for part in parts))
        is_undefined = ~np.isin(np.arange(self.size), chosen).reshape(self.shape)
        return PadicArray(result.space, NoPlace(is_undefined), result._finite)

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
            k = known - self.fractional_digits
            out[i] = " + ".join([*terms, f"O({self._power(k) if k else f'{self.p}^0'})"])  # O(1) is no p-adic one
        return self._result(out.reshape(self.shape))

    def integers(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.int64]]:
        """Return p^F times the numbers as integers from 0 on, objects (*), and how many of their digits are known.

        Raises:
            DomainError: a number is undefined.

        >>> from adelic.numbers import padic
        >>> x, known = padic([1, "1/2"], 2, precision=3, fractional_digits=1).integers()
        >>> x.tolist(), known.tolist()
        ([2, 1], [3, 3])
        """
        if self._real.has_undefined:
            at = at_position(np.argwhere(self._real.mask)[0].tolist())
            raise DomainError(f"the number{at} is undefined, so it has no digits; x[~x.mask] leaves such numbers out")
        values = np.empty(self.size, dtype=object)
        values[:] = finite.residues(self.reshape(-1)._finite.digits[:, 0], self.p)
        return values.reshape(self.shape), self._finite.known[..., 0].astype(np.int64)

    def solve(self, b: Any) -> "PadicArray":
        """Return the solutions x of A·x = b for square matrices A, this array.

        The digits shown are those of the solution for every A and b that have the known digits. Let A be known modulo
        p^N, r the least valuation in row i of A^(−1), and s the least one of all x_j. For exact b, x_i is known modulo
        p^(N + r + s), and no further; if b is known modulo p^N, s is 0 at most. Entries of A may be known differently
        far, which `adelic.numbers.local.matrices` follows.

        Args:
            b: a `PadicArray`, or rational numbers, which are exact; of shape (n,), or (*, n, k) for k columns, next to
                A of shape (*, n, n).

        Returns:
            x, of b's shape, with as many fractional digits as it needs.

        Raises:
            PrecisionError: a matrix is singular as far as its digits are known.
            SpaceError: the shapes do not fit, or the primes.

        Source: `adelic.numbers.local.matrices`; PARI's `matsolve`.

        >>> from adelic.numbers import padic
        >>> A = padic([[7, 1], [0, 2]], 7, precision=4)
        >>> x = A.solve([1, 0])
        >>> x.series().tolist(), (A[0, 0] * x[0] + A[0, 1] * x[1]).series()
        (['7^-1 + O(7^2)', 'O(7^3)'], '1 + O(7^3)')
        """
        field, f, (a, known) = self.space, self.fractional_digits, self._matrices()
        right, depth, known_b = field.lifts(b, 4 * self.precision)  # more than elimination computes with
        if isinstance(b, PadicArray):
            field = LocalField(self._window.union(b._window))
        batch, n, k = matrices.checked_shapes("solve", self.shape, right.shape)
        shape = (*batch, n) if right.ndim == 1 else (*batch, n, k)
        columns = (*right.shape[:-2], n, k)
        right, known_b = right.reshape(columns), known_b.reshape(columns)
        # A·x = b for p^F·A and p^G·b has the solution p^(G − F)·x.
        digits = max(field.window.precision - field.window.fractional_digits + depth - f, 1)
        x, below, modulo = matrices.solve(a, known, right, known_b, self.p, digits, self.shape[:-2])
        x, modulo = x.reshape(shape), modulo.reshape(shape)
        return field.approximations(x, below + depth - f, modulo - depth + f)

    def inverse(self) -> "PadicArray":
        """Return the inverse matrices, of shape (*, n, n): `solve` with the unit matrix.

        >>> from adelic.numbers import padic
        >>> print(padic([[2, 1], [1, 1]], 7, precision=3).inverse()[1])
        …666_7
        …002_7
        """
        return self.solve(np.eye(self.shape[-1] if self.shape else 0, dtype=np.int64))

    def det(self) -> "PadicArray":
        """Return the determinants of matrices (*, n, n), of shape (*).

        A matrix known modulo p^N with the Smith form p^(e_1), …, p^(e_n) has its determinant known modulo
        p^(N + e_1 + … + e_(n − 1)), and no further; the window ends as the matrix's. If entries of a
        row are known differently far, it may be known further than by the least of them.

        Raises:
            SpaceError: the matrices are not square.

        Source: X. Caruso, D. Roe, T. Vaccon, p-adic stability in linear algebra (2015); PARI's `matdet`.

        >>> from adelic.numbers import padic
        >>> padic([[[1, 2], [3, 4]], [[7, 0], [0, 49]]], 7, precision=4).det().series().tolist()
        ['5 + 6*7 + 6*7^2 + 6*7^3 + O(7^4)', '7^3 + O(7^4)']
        """
        batch, n, _ = matrices.checked_shapes("det", self.shape, (self.shape[-1] if self.shape else 0,))
        values, below, modulo = (c.reshape(batch) for c in matrices.determinant(*self._matrices(), self.p))
        below = below + n * self.fractional_digits
        return self.space.approximations(values, below, modulo - below)

    def rank(self) -> Any:
        """Return the ranks of matrices (*, n, m), int for shape (n, m), else int64 (*): the least that digits allow.

        Every matrix with the known digits has this rank at least. So a rank of n or m is certain. Any other is the rank
        of a matrix with these digits, if the entries of each row are known equally far.

        >>> from adelic.numbers import padic
        >>> padic([[1, 2], [2, 4]], 7).rank(), padic([[1, 2], [2, 4 + 7**20]], 7).rank()
        (1, 1)
        """
        ranks = matrices.rank(*self._matrices(), self.p).reshape(self.shape[:-2])
        return ranks if ranks.shape else int(ranks)

    def smith(self) -> npt.NDArray[np.int64]:
        """Return the exponents e_1 ≤ e_2 ≤ … of the Smith forms diag(p^(e_i)) over Z_p, int64 (*, min(n, m)).

        U·A·V is diagonal for two matrices U and V that are invertible over Z_p. Let A be known modulo p^N. An exponent
        below N is certain; N means N at least, as for `valuation`.

        Source: PARI's `matsnf`, Sage's `smith_form`.

        >>> from adelic.numbers import padic
        >>> padic([[2, 4, 4], [-6, 6, 12], [10, 4, 16]], 2).smith()
        array([1, 1, 2])
        """
        found, _, factors = matrices.exponents(*self._matrices(), self.p)
        e = found - factors[:, :1] - self.fractional_digits
        return e.reshape(*self.shape[:-2], e.shape[1])

    def hermite(self) -> "PadicArray":
        """Return the Hermite forms over Z_p of matrices (*, n, m) of rank m: upper triangular, of shape (*, m, m).

        Its rows are the basis of the lattice that the rows of A span: the pivots are powers of p, and the entries above
        one are integers from 0 on that are smaller. The known digits determine all digits of it, or the rank is below
        m as far as they tell.

        Raises:
            PrecisionError: the rank is below m as far as digits are known.
            MissingExtraError: python-flint is not installed.

        Source: FLINT's `fmpz_mat_hnf` of lifts; Sage's `hermite_form`. PARI's `mathnf` takes columns.

        >>> from adelic.numbers import padic
        >>> padic([[2, 3], [4, 1], [8, 0]], 5, precision=4).hermite().lift().tolist()
        [[1, 0], [0, 1]]
        >>> padic([[5, 1], [0, 25]], 5, precision=4).hermite().lift().tolist()
        [[5, 1], [0, 25]]
        """
        found = matrices.hermite(*self._matrices(), self.p, self.shape[:-2])
        m = self.shape[-1]
        return self.space.approximations(found.reshape(*self.shape[:-2], m, m), self.fractional_digits, self.precision)

    def _matrices(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.int64]]:
        """Return integers, p^F times the numbers, and how many digits of them are known, as matrices (size, n, m)."""
        if self.ndim < 2:
            raise SpaceError(f"an array of shape {self.shape} is no matrix; shape (n, m), or (*, n, m), is a batch")
        shape = prod(self.shape[:-2]), *self.shape[-2:]
        values, known = self.integers()
        return values.reshape(shape), known.reshape(shape)

    def _term(self, digit: int, k: int) -> str:
        return str(digit) if k == 0 else self._power(k) if digit == 1 else f"{digit}*{self._power(k)}"

    def _power(self, k: int) -> str:
        return "1" if k == 0 else str(self.p) if k == 1 else f"{self.p}^{k}"

    def _apply(
        self, function: Function, reason: str, errors: str = "raise", where: Any = True, count: int | None = None
    ) -> "PadicArray":
        """Apply a function of one value, or of `count` in a further axis, to every number; see `_tried`."""
        chosen, found = self._tried(function, reason, errors, where)
        shape, n = (self.size, count or 1), self.precision
        digits = np.zeros((*shape, 1, n), dtype=self._finite.digits.dtype)
        known = np.full((*shape, 1), n, dtype=np.int32)
        mask = np.ones(shape, dtype=np.bool_)
        if len(chosen):
            values = np.broadcast_to(np.asarray(found[0], dtype=object).reshape(-1, shape[1]), (len(chosen), shape[1]))
            part = np.empty((values.size, n), dtype=digits.dtype)
            finite.write_digits(values.reshape(-1), self.p, part)
            digits[chosen], known[chosen] = part.reshape(*values.shape, 1, n), found[1][:, None, None]
            mask[chosen] = False
        place = NoPlace(mask) if mask.any() else NoPlace.of(shape)
        result = PadicArray(self.space, place, FinitePlaces(digits, known))
        return result.reshape(self.shape if count is None else (*self.shape, count))

    def _tried(
        self, function: Callable[[FinitePlaces, Window], Any], reason: str, errors: str = "raise", where: Any = True
    ) -> tuple[npt.NDArray[np.intp], Any]:
        """Return the flat indices of the numbers that a function has results for, and these.

        At others it raises an error that names the number, and that `reason` explains, or none if `errors` is "mask".
        """
        _check_errors(errors)
        try:
            wanted = np.broadcast_to(np.asarray(where, dtype=np.bool_), self.shape) & ~self._real.mask
        except ValueError:
            raise SpaceError(f"where of shape {np.shape(where)} does not fit numbers of shape {self.shape}") from None
        flat, chosen = self.reshape(-1)._finite, np.flatnonzero(wanted)
        while len(chosen):
            try:
                return chosen, function(flat if len(chosen) == self.size else flat[chosen], self._window)
            except FunctionError as error:
                if errors == "raise":
                    kind = DomainError if isinstance(error, UndefinedError) else PrecisionError
                    raise kind(f"{self._name(chosen[error.where.argmax()])} {reason}: {error}") from None
                chosen = chosen[~error.where]
        return chosen, np.zeros(0, dtype=np.bool_)

    def _name(self, i: int) -> str:
        """Return the number of a flat index as errors name it: its lowest digits, and its position."""
        flat = self.reshape(-1)._finite
        text = finite.text(flat, i, 0, self._window)
        # Of long numbers the lowest digits are shown: valuation and unit part decide which functions are defined.
        position = np.unravel_index(i, self.shape)
        return f"{text if len(text) <= 60 else '…' + text[-58:]}{at_position(position)}"

    def _line(self, i: int) -> str:
        """Return one number of a flat array in the paper's notation: …11011_2."""
        return "undefined" if self._real.mask[i] else finite.text(self._finite, i, 0, self._window)

    def __repr__(self) -> str:
        shown = ", ".join(shortened(line) for line in self._lines())
        more = ", …" if self.size > SHOWN else ""
        values = f"[{shown}{more}], shape={self.shape}" if self.shape else shown
        return f"PadicArray({values}, {self.space!r})"


def _valuations(x: FinitePlaces, fractional_digits: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return valuations, and 1 where all known digits are 0: a window has to show the one below."""
    is_zero = (x.digits == 0).all(axis=(-2, -1))
    return finite.valuations(x, fractional_digits)[..., 0], is_zero.astype(np.int64)


def _check_errors(errors: str) -> None:
    if errors not in ("raise", "mask"):
        raise ConfigurationError(f"errors={describe(errors)} is neither 'raise' nor 'mask'")


def padic(
    values: Any,
    p: int,
    precision: int | None = None,
    *,
    fractional_digits: int | None = None,
    floats: str = "error",
) -> PadicArray:
    """Return rational numbers as numbers of Q_p: `AdeleSpace((p,), precision, fractional_digits).encode(values).at(p)`.

    Args:
        values: whatever `AdeleSpace.encode` takes, of shape (*). Also p-adic numbers as text, known as far as it says:
            what `print` shows of a `PadicArray`, several on a line each, what `series` and PARI write, and Sage's modes
            "series", "terse", "val-unit" and, for p up to 7, "digits"; or numbers of cypari and Sage themselves, one
            `PadicArray`, or several of shape () in lists.
        p: prime.
        precision: N, how many digits the window holds. When left out 16, or as many as p-adic numbers have.
        fractional_digits: F, how many of them are below p^0; when left out, as many as the numbers need.
        floats: as for `AdeleSpace.encode`.

    Returns:
        `PadicArray` (*), known modulo p^(N − F), or less if text is.

    Raises:
        SpaceError: p is not a prime, or the precision does not suit.
        EncodingError, DivisionByZeroError, PrecisionError: as for `AdeleSpace.encode`.

    >>> print(padic("7/5", 5, precision=6))
    …00001.2_5
    >>> print(padic(["…001.2_5", "2*5^-1 + 1 + O(5^3)", "7/5 + O(5^2)", "5^-1 * 7 + O(5^2)"], 5))
    …001.2_5
    …001.2_5
    …01.2_5
    …01.2_5
    """
    p = checked_prime(p)
    numbers, ends = _read(values, p, floats)
    told = ends[ends < _EXACT]
    depth = max(largest_valuation(numbers.denominators, p), 1 - int(ends.min(initial=_EXACT)))
    f = max(depth, 0) if fractional_digits is None else fractional_digits
    if precision is None:
        digits = np.where(ends < _EXACT, np.maximum(ends, 1) + f, DEFAULT_PRECISION)
        precision = int(digits.max(initial=1)) if len(ends) else DEFAULT_PRECISION
    window = checked_window((p,), precision, fractional_digits or 0)
    # The window moves down as far as the numbers need; how many digits it holds stays as asked for.
    if fractional_digits is None:
        window = checked_window((p,), precision, max(finite.needed_digits(numbers, window), f))
    places = finite.encoded(numbers, window)
    if len(told):
        known = np.minimum(ends + window.fractional_digits, window.precision).astype(np.int32)
        if len(few := np.flatnonzero(known <= 0)):
            at = at_position(np.unravel_index(few[0], numbers.shape))
            raise PrecisionError(f"O({p}^{ends[few[0]]}){at} has no digit in the window; more fractional_digits have")
        known = known.reshape(*numbers.shape, 1)
        places = FinitePlaces(finite.shown(places.digits, known), known)
    return LocalField(window).array(places)


def check_padic(function: str, *values: Any) -> None:
    """Raise `EncodingError` if a value is no `PadicArray`."""
    for value in values:
        if not isinstance(value, PadicArray):
            raise EncodingError(f"{function} takes a PadicArray, which padic makes, not {describe(value)}")


def _read(values: Any, p: int, floats: str) -> tuple[rationals.Rationals, npt.NDArray[np.int64]]:
    """Return numbers, and the k of the O(p^k) of text that has one, int64 (size,)."""
    try:
        numbers = rationals.read(values, floats=floats)
        return numbers, np.full(len(numbers.numerators), _EXACT)
    except EncodingError:
        values = np.array(values, dtype=object) if isinstance(values, PadicArray) else values
        entries = rationals.entries(values.splitlines() if isinstance(values, str) and "\n" in values else values)
        found = [_parsed(entry, p) for entry in entries.flat]
        if entries.size and not any(found):
            raise
    pairs = [pair or (entry, _EXACT) for pair, entry in zip(found, entries.flat, strict=True)]
    exact = rationals.objects([value for value, _ in pairs]).reshape(entries.shape)
    return rationals.read(exact, floats=floats), np.array([end for _, end in pairs], dtype=np.int64)


def _parsed(entry: Any, p: int) -> tuple[Fraction, int] | None:
    """Return the rational number of a p-adic one, or of its text, and the k of its O(p^k); None of all else."""
    if isinstance(entry, PadicArray) and not entry.shape:
        lift, depth, known = LocalField(Window((p,), (1,), 0)).lifts(entry)
        return Fraction(lift.item(), p**depth), known.item() - depth
    if not isinstance(entry, str) and type(entry).__module__.partition(".")[0] not in _SYSTEMS:
        return None
    text = str(entry).strip()
    if text.startswith(("…", "...")):
        body, _, prime = text.partition("_")
        if prime not in ("", str(p)):
            raise EncodingError(f"{describe(text)} is a number of Q_{shortened(prime)}, not of Q_{describe(p)}")
        unknown = body.count("?")
        if unknown and not re.fullmatch(r"(…|[.]{3})[.][?]+[^?]+", body):
            raise EncodingError(
                f"{describe(text)} has a '?' elsewhere than next to the point, as in ….?12_{describe(p)}"
            )
        digits, after, _ = parse_expansion(body.replace("?", "(0)" if p > 10 else "0"), p)
        value = Fraction(hensel.from_digits(digits[::-1], p), p**after)
        return value, -unknown if unknown else len(digits) - after
    total, end, at = Fraction(0), None, 0
    while not text or at < len(text):
        match = _TERM.match(text, at)
        if match is None or end is not None or (at and not match[1]):
            return None
        term = Fraction(-1 if match[1] == "-" else 1)
        for factor in match[3].split("*"):
            base, is_power, exponent = factor.partition("^")
            k = int(exponent.strip(" ()") or 1)
            if (is_power or match[2]) and (base.strip() not in ("1", str(p)) or abs(k) > MOST_DIGITS):
                raise EncodingError(
                    f"{describe(text)} has {describe(factor.strip())}, no power of p={describe(p)} written as p^k"
                )
            term *= Fraction(int(base)) ** k if is_power else rationals.read(base).fraction(0)
        end = valuation(term, p) if match[2] else None
        total += 0 if match[2] else term
        at = match.end()
    return total, _EXACT if end is None else end
