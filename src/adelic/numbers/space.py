"""The adele space: which primes, how many digits; from numbers to coordinates and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, EncodingError, SpaceError
from adelic.numbers import finite, integers, rationals, real
from adelic.numbers.algebraic.space import AlgebraicSpace
from adelic.numbers.array import AdeleArray
from adelic.numbers.coordinates import check_float32, measured, number_array, read_digits, write_real_row
from adelic.numbers.describe import describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.primes import first_primes
from adelic.numbers.real import RealPlace
from adelic.numbers.window import (
    DEFAULT_PRECISION,
    DEFAULT_PRIMES,
    Window,
    check_size,
    checked_count,
    checked_integer,
    checked_window,
)


@dataclass(frozen=True)
class AdeleSpace:
    """The real line times Q_p for finitely many primes p, each p-adic number truncated to a window of digits.

    The defaults give (7 + 1) · 16 = 128 coordinates, the paper's d_model. # NOTE[paper]: it gives neither primes nor N.

    Attributes:
        primes: different primes, ascending or not; the order is the order of the coordinates.
        precision: N, how many digits a window holds: a number, or digits by prime, `{2: 7, 3: 5, 11: 1}`, which name
            each of the primes (and are the primes, if none are given). If all are equal, it is a number;
            otherwise it stays a mapping, and `precisions` are the numbers.
        fractional_digits: F, how many of them are below p^0, one number for all primes. With F = 0 a denominator
            divisible by p is an error.

    If the primes differ in their digits, arrays of digits have `max_precision` columns; those beyond a prime's own
    digits are 0 and count as not known.

    Raises:
        SpaceError: a prime is not prime, repeats or has more than 64 bits, a precision is below 1, digits by prime
            leave out a prime or name another, F is not in 0 … min N_p − 1, or n_primes · max_precision is above 10^7.

    Beyond the compiled kernels, for primes from 2^31 on and precision · p² from 2^62 on, there is a slower path
    with the same digits.

    Source: the paper, section 2 "Method" and appendix "Embedding Construction".

    >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=5, fractional_digits=1)
    >>> space.encode("7/5").digits
    array([[1, 0, 1, 1, 0],
           [1, 2, 1, 2, 0],
           [0, 0, 0, 1, 2],
           [4, 1, 3, 0, 0]], dtype=uint8)
    >>> AdeleSpace(precision={2: 4, 3: 3, 97: 1}).encode([7, -1]).digits.tolist()
    [[[0, 1, 1, 1], [0, 0, 2, 1], [0, 0, 0, 7]], [[1, 1, 1, 1], [0, 2, 2, 2], [0, 0, 0, 96]]]
    """

    primes: tuple[int, ...] = DEFAULT_PRIMES
    precision: int | Mapping[int, int] = DEFAULT_PRECISION
    fractional_digits: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        window = checked_window(self.primes, self.precision, self.fractional_digits)
        # The dataclass is frozen, and the checked values may differ from the given ones: lists become tuples.
        for name, value in zip(("primes", "precision", "fractional_digits"), window.parameters, strict=True):
            object.__setattr__(self, name, value)

    over = AlgebraicSpace
    """`AdeleSpace.over("x^2 - 2", root=1.414)` is another way to write `AlgebraicSpace("x^2 - 2", root=1.414)`."""

    @classmethod
    def decimal(cls, n_primes: int = 7, precision: int = DEFAULT_PRECISION) -> "AdeleSpace":
        """Return a space for terminating decimals: the first primes other than 2 and 5.

        No denominator 2^i · 5^j is divisible by such a prime, so every decimal fits without fractional digits.

        Args:
            n_primes: how many primes: 3, 7, 11, 13, 17, 19, 23, …
            precision: as for `AdeleSpace`.

        Raises:
            SpaceError: as for `AdeleSpace`.

        >>> space = AdeleSpace.decimal()
        >>> space.primes
        (3, 7, 11, 13, 17, 19, 23)
        >>> (space.encode(["0.1", "-12.375"]) * 3).decode()
        array([Fraction(3, 10), Fraction(-297, 8)], dtype=object)
        """
        count = checked_integer("n_primes", n_primes)
        if count < 1:
            raise SpaceError(f"n_primes={describe(count)} leaves no p-adic coordinate; n_primes >= 1, 7 is the default")
        # Refused before 10^12 primes are looked for.
        check_size(count, checked_integer("precision", precision))
        return cls(tuple(p for p in first_primes(count + 2) if p not in (2, 5))[:count], precision)

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return len(self.primes)

    @property
    def precisions(self) -> tuple[int, ...]:
        """Return N_p, how many digits each prime's window holds, in the order of the primes.

        >>> AdeleSpace(primes=(2, 3)).precisions, AdeleSpace(primes=(2, 3), precision={2: 7, 3: 5}).precisions
        ((16, 16), (7, 5))
        """
        n = self.precision
        return tuple(n[p] for p in self.primes) if isinstance(n, Mapping) else (n,) * self.n_primes

    @property
    def max_precision(self) -> int:
        """Return the greatest N_p: how many columns an array of digits has.

        >>> AdeleSpace(primes=(2, 3), precision={2: 7, 3: 5}).max_precision
        7
        """
        return max(self.precisions)

    @cached_property
    def decoding_bound(self) -> int:
        """Return ∏ p^(N_p − F): n/m with denominator prime to all p can be decoded while 2·|n|·m stays below it.

        With fractional digits the general condition is 2·|n'|·m' < ∏ p^N_p, where n'/m' = n/m · ∏ p^F in lowest terms.

        >>> AdeleSpace(primes=(2, 3), precision=4).decoding_bound
        1296
        >>> AdeleSpace(primes=(2, 3), precision={2: 4, 3: 1}).decoding_bound
        48
        """
        return self.window.decoding_bound

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON has them; digits by prime have the primes as names.

        >>> AdeleSpace(precision={2: 7, 3: 5}).to_dict()
        {'primes': [2, 3], 'precision': {'2': 7, '3': 5}, 'fractional_digits': 0}
        """
        n = self.precision
        precision = {str(p): count for p, count in n.items()} if isinstance(n, Mapping) else n
        return {"primes": list(self.primes), "precision": precision, "fractional_digits": self.fractional_digits}

    @classmethod
    def from_dict(cls, data: Any) -> "AdeleSpace":
        """Return the space whose parameters these are, as `to_dict` wrote them.

        Raises:
            SpaceError: the parameters make no space, or they are not the three.

        >>> AdeleSpace.from_dict({"primes": [2, 3], "precision": {"2": 7, "3": 5}, "fractional_digits": 0}).precisions
        (7, 5)
        """
        if not isinstance(data, Mapping) or set(data) != {"primes", "precision", "fractional_digits"}:
            raise SpaceError(f"{describe(data, 200)} does not have primes, precision and fractional_digits alone")
        precision = data["precision"]
        if isinstance(precision, Mapping):
            # Names that are none of the primes stay as they are, for the error.
            names = {str(p): p for p in data["primes"]} if isinstance(data["primes"], (list, tuple)) else {}
            precision = {names.get(p, p) if isinstance(p, str) else p: count for p, count in precision.items()}
        return cls(data["primes"], precision, data["fractional_digits"])

    def part(self, indices: Iterable[int]) -> "AdeleSpace":
        """Return the space of some of the primes, by their indices, each with its digits.

        Raises:
            SpaceError: there is no prime with such an index, or no index.

        >>> AdeleSpace(precision={2: 7, 3: 5, 11: 1}).part([2, 0])
        AdeleSpace(primes=(11, 2), precision={11: 1, 2: 7}, fractional_digits=0)
        """
        try:
            by_prime = {self.primes[j]: self.precisions[j] for j in indices}
        except (TypeError, IndexError):
            raise SpaceError(
                f"indices={describe(indices)} are not a sequence of indices of {self.n_primes} primes, 0 … "
                f"{self.n_primes - 1}"
            ) from None
        return AdeleSpace(tuple(by_prime), by_prime, self.fractional_digits)

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return the primes, which two spaces whose arrays mix have in common."""
        return self.primes

    def _with_window(self, window: Window) -> "AdeleSpace":
        """Return the space with another window at the same primes; `AdeleArray.with_window` takes numbers there.

        >>> AdeleSpace((2, 3), 4)._with_window(Window((2, 3), (7, 5), 1))
        AdeleSpace(primes=(2, 3), precision={2: 7, 3: 5}, fractional_digits=1)
        """
        return AdeleSpace(*window.parameters)

    def _is_inside(self, n: int, m: int) -> bool:
        """Return whether n/m lies inside the decoding bound."""
        scale = self.window.scale
        n, bound = n * scale, scale * self.decoding_bound
        # n/m need not be in lowest terms here: reduced by d, the product n·m is smaller by d².
        divisor = integers.greatest_common_divisor(n, m)
        return 2 * abs(n) * m < bound * divisor**2

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return Window(self.primes, self.precisions, self.fractional_digits)

    def encode(self, values: Any, *, floats: str = "error", threads: int = 1) -> AdeleArray:
        """Return numbers as an `AdeleArray` of the same shape; exact, or an error.

        Args:
            values: integers of any size, `Fraction`, `Decimal`, text such as "7/5", "-3", "1.25", "1e-3"; rational
                numbers of sympy, python-flint or gmpy2; NumPy or torch arrays; a tuple (numerators, denominators);
                lists of all these, nested.
            floats: "error" (default), "exact", "shortest" or "limit:<max denominator>", as "limit:10**6"; see
                `adelic.numbers.rationals.read`. The distance of a number from its float is `.approximation_error`.
                There is no `LossyFloatWarning`, as for columns: whoever names a policy has decided about floats.
            threads: how many may work on large arrays, from 1 on.

        Raises:
            EncodingError: a value is not a rational number, is a float without policy, or the nesting is ragged.
            DivisionByZeroError: a denominator is zero.
            PrecisionError: p divides a denominator more often than the window has fractional digits.
            ConfigurationError: `threads` is not such a number.

        >>> from fractions import Fraction
        >>> AdeleSpace().encode([Fraction(7, 19), 3, "-2/23"]).shape
        (3,)
        """
        if isinstance(values, AdeleArray):
            if values.space != self:
                raise SpaceError(
                    f"the array lives in {describe(values.space, 200)}, not in {describe(self, 200)}; decode() it first"
                )
            return values
        threads = checked_count("threads", threads, error=ConfigurationError)
        numbers = rationals.read(values, floats=floats)
        places = finite.encoded(numbers, self.window, threads=threads)
        real_place = real.encode(numbers, self._is_inside)
        errors = rationals.approximation_errors(values, numbers, floats=floats)
        return AdeleArray(self, real_place.reshape(numbers.shape), places, errors)

    def _exact(self, values: Any, *, relative: bool) -> tuple[RealPlace, FinitePlaces]:
        """Return the coordinates of numbers as one operation takes them without a loss, see `finite.exact`.

        >>> AdeleSpace((5,), 4)._exact("1/5", relative=False)[1].digits.tolist()
        [[0, 0, 0, 0, 1]]
        """
        numbers = rationals.read(values, floats="never")
        places = finite.exact(numbers, self.window, relative=relative)
        return real.encode(numbers, self._is_inside).reshape(numbers.shape), places

    def tensor(
        self,
        values: Any,
        *,
        floats: str = "error",
        threads: int = 1,
        out: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return numbers in the paper's layout, the input of a network, in one pass.

        Args:
            values: as for `encode`.
            floats: as for `encode`, whose result also has the errors of approximations.
            threads: how many may work on large arrays, from 1 on.
            out: the array to write to, contiguous float32 of the result's shape; a new array when left out, whose
                memory the system then has to find, which takes longer than the encoding.

        Returns:
            float32, (*, n_primes + 1, max_precision). Row 0 is [0, …, 0, q], row j the digits at the j-th prime.

        Raises:
            RangeError: |q| is beyond float32, about 3.4e38.
            EncodingError: `out` is no such array, or as for `encode`.
            DivisionByZeroError, PrecisionError, ConfigurationError: as for `encode`.

        >>> AdeleSpace(primes=(2, 3), precision=4).tensor(7)
        array([[0., 0., 0., 7.],
               [0., 1., 1., 1.],
               [0., 0., 2., 1.]], dtype=float32)
        """
        check_float32(self.primes)
        threads = checked_count("threads", threads, error=ConfigurationError)
        if isinstance(values, AdeleArray):
            encoded = self.encode(values).tensor()
            if out is None:
                return encoded
            _check_out(out, encoded.shape)
            out[...] = encoded
            return out
        numbers = rationals.read(values, floats=floats, transient=True)
        shape = (*numbers.shape, self.n_primes + 1, self.max_precision)
        if out is None:
            out = np.empty(shape, dtype=np.float32)
        else:
            _check_out(out, shape)
        flat = out.reshape(-1, *shape[-2:])
        finite.tensor(numbers, self.window, flat, threads=threads)
        if not numbers.is_small:  # small ones are below 2^63, which float32 reaches
            write_real_row(real.nearest_floats(numbers), flat, numbers.shape)
        return out

    def from_digits(self, digits: Any, real_value: Any, *, radius: Any = None) -> AdeleArray:
        """Return the array with these coordinates, for decoding the output of a network or a file.

        Args:
            digits: integers, (*, n_primes, max_precision), most significant digit first; 0 if a prime has none.
            real_value: (*), floats, or exact numbers other than text, which may be beyond float64; None if they are
                not known. Several numbers may have the same digits: −10 and 1/10 do modulo 101.
                Then `decode` returns the n/m = q · ∏ p^F, in lowest terms, with |n| and m at most √(M/2), where
                M = ∏ p^N_p, of which there is at most one (Wang 1981), and raises if there is none. An integer
                beyond that bound may be read as a fraction inside it; `RedundantResidueCode` takes other bounds.
            radius: error bounds of the real values, broadcast to (*), floats or exact numbers; when left out, the
                rounding of their type, float16, float32 or float64. bfloat16, which NumPy lacks, needs one.

        Raises:
            EncodingError: a shape does not fit, a digit is not in 0 … p − 1, or beyond the prime's digits.

        >>> space = AdeleSpace(primes=(2, 3), precision=4)
        >>> space.from_digits([[0, 1, 1, 1], [0, 0, 2, 1]], 7.0).decode()
        Fraction(7, 1)
        >>> space.from_digits([[0, 1, 1, 1], [0, 0, 2, 1]], None).decode()
        Fraction(7, 1)
        """
        given = number_array("digits", digits)
        place = measured(real_value, radius, given.shape[:-2])
        return AdeleArray(self, place, read_digits(given, place.shape, self.window))


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    """Raise `EncodingError` unless an array of this shape can be written to `out`."""
    if not isinstance(out, np.ndarray):
        given = describe(out)
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous or not out.flags.writeable:
        given = f"{out.dtype} of shape {out.shape}"
    else:
        return
    raise EncodingError(f"out must be a writeable, contiguous float32 array of shape {shape}, not {given}")
