"""Columns of tables as p-adic digits, as named features of a model, and back: what `sklearn` consists of.

`adelic.numbers.columns` reads columns. Here are the coordinates of decimals whose denominators the primes of the space
divide, their features, whose formulas are those of `adelic.nn`, and the way back, which returns a number only if it is
proven to have these coordinates.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import AdelicError, DecodingError, PrecisionError
from adelic.numbers import AdeleSpace, finite, rationals
from adelic.numbers.columns.reading import read_column
from adelic.numbers.describe import at_position
from adelic.numbers.features import (
    ONE_HOT_KINDS,
    characters,
    digits_together,
    place_features,
    place_size,
    signed_logarithm,
    unit_characters,
    unit_residues,
)
from adelic.numbers.rationals import EXACT, Rationals, objects
from adelic.numbers.real import nearest_floats
from adelic.probing.readings import CALENDAR, Numbers, calendar_part, decimal_digits, digits_from, residue

_NEAR = 0.25
"""A feature farther than this from the feature of every digit is taken for none of them."""
_WITHOUT_INVERSE = ("valuation-unit", "multiplicative-characters")
Floats = npt.NDArray[np.float64]


def mantissa_bits(dtype: np.dtype[Any]) -> int:
    """Return how many bits of a float its type stores; 0 of other types.

    >>> mantissa_bits(np.dtype(np.float32)), mantissa_bits(np.dtype(np.int64))
    (23, 0)
    """
    return int(np.finfo(dtype).nmant) if dtype.kind == "f" else 0


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Put the name of a column before the errors of a block.

    >>> with naming("'day'"):
    ...     raise AdelicError("it is empty")
    Traceback (most recent call last):
    adelic.errors.AdelicError: column 'day': it is empty
    """
    try:
        yield
    except AdelicError as error:
        raise type(error)(f"column {column}: {error}") from None


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a column's numbers.

    Attributes:
        real: the nearest float64, (rows,).
        digits: p-adic digits, (rows, n_primes, max_precision), lowest first.
        codes: small whole numbers, int32 (rows, codes); None without any.
    """

    real: Floats
    digits: npt.NDArray[Any]
    codes: npt.NDArray[np.int32] | None = None

    def __getitem__(self, rows: slice) -> "Coordinates":
        """Return those of some rows."""
        return Coordinates(self.real[rows], self.digits[rows], None if self.codes is None else self.codes[rows])


@dataclass(frozen=True)
class Code:
    """A small whole number that numbers have besides their digits at primes, as n mod 12 or the weekday.

    Attributes:
        name: the end of the feature's name.
        size: codes are start … start + size − 1.
        read: of `Numbers`, int64 (rows,).
        start: the least code.
        decimals: numbers are read as multiples of 10^-decimals, without the digits below.
        is_found: whether the probe found it; it may read decimal digits.
    """

    name: str
    size: int
    read: Callable[[Numbers], npt.NDArray[np.int64]]
    start: int = 0
    decimals: int = 0
    is_found: bool = False


def codes_for(
    numbers: Rationals, bases: Sequence[int], moduli: Sequence[int], calendar: Sequence[str], decimals: int
) -> tuple[Code, ...]:
    """Return the codes of a column: the digits of |n| in some bases, n modulo some m, and parts of dates.

    There are as many digits as the longest of the numbers has.

    >>> numbers = rationals.read([7, 1204])
    >>> [code.name for code in codes_for(numbers, (10,), (12,), ("month",), 0)]
    ['b10_d0', 'b10_d1', 'b10_d2', 'b10_d3', 'mod12', 'month']
    """
    found: list[Code] = []
    most = max(map(abs, _whole(numbers, decimals).tolist()), default=0)
    for base in bases:
        first, k = (-decimals if base == 10 else 0), 0
        while k == 0 or base**k <= most:
            read = partial(residue, m=base, unit=base**k, is_absolute=True)
            found.append(Code(f"b{base}_d{first + k}", base, read, decimals=decimals))
            k += 1
    found += [Code(f"mod{m}", m, partial(residue, m=m), decimals=decimals) for m in moduli]
    for part in calendar:
        start, size = CALENDAR[part]
        read = partial(residue, m=7, shift=3) if part == "weekday" else partial(calendar_part, part=part)
        found.append(Code(part.replace("-", "_"), size, read, start))
    return tuple(found)


def read_codes(
    numbers: Rationals, codes: Sequence[Code], real: Floats, seconds: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int32]:
    """Return the codes of numbers, (rows, codes); `seconds` of the day, if they are dates and times."""
    found = np.empty((len(numbers.numerators), len(codes)), dtype=np.int32)
    for decimals in {code.decimals for code in codes}:
        whole = _whole(numbers, decimals)
        digits = decimal_digits(np.abs(whole) if any(code.is_found for code in codes) else whole[:0])
        read = Numbers(whole, real, decimals, False, digits, seconds)
        for k, code in enumerate(codes):
            if code.decimals == decimals:
                found[:, k] = code.read(read)
    return found


def as_arithmetic(code: Code) -> tuple[bool, int, int, int] | None:
    """Return (is_absolute, shift, a, b) if a code is (|n| or n, + shift) modulo a, divided by b, of int64; else None.

    >>> as_arithmetic(Code("p2_d3", 2, partial(residue, m=2, unit=8)))
    (False, 0, 16, 8)
    """
    function, given = getattr(code.read, "func", None), getattr(code.read, "keywords", {})
    if function is digits_from:
        given = {"m": 10 ** given["count"], "unit": 10 ** given["k"], "is_absolute": True}
    is_absolute, b = given.get("is_absolute", False), given.get("unit", 1)
    a = given.get("m", 0) * b
    if code.decimals or function not in (residue, digits_from) or b >= 2**63 or (a >= 2**63 and not is_absolute):
        return None
    return is_absolute, given.get("shift", 0), min(a, 2**63 - 1), b  # the highest digits are all of |n|


def _whole(numbers: Rationals, decimals: int) -> npt.NDArray[Any]:
    """Return numbers as multiples of 10^-decimals, without the digits below."""
    n, m = numbers.numerators, numbers.denominators
    if max(map(abs, (int(n.min(initial=0)), int(n.max(initial=0))))) >= 2**63 // 10**decimals:
        n = n.astype(object)
    if numbers.is_integral and not decimals:
        return n
    return np.asarray(np.sign(n) * (np.abs(n) * 10**decimals // m))


def encode_column(
    numbers: Rationals, space: AdeleSpace | None, *, truncate: bool, real: Floats | None = None
) -> Coordinates:
    """Return the coordinates of numbers in the window of digits that the space holds.

    Where p divides a denominator more often than the window has fractional digits, `truncate` leaves out the digits
    below the window, at that p alone; otherwise that is a PrecisionError. `real` has the nearest float64 of each
    number, if that is known.

    >>> from adelic.numbers import rationals
    >>> space = AdeleSpace(primes=(2, 5), precision=4)
    >>> encode_column(rationals.read(["7/5"]), space, truncate=True)    # 7/5 is 1.2 in Q_5
    Coordinates(real=array([1.4]), digits=array([[[1, 1, 0, 1],
            [1, 0, 0, 0]]], dtype=uint8), codes=None)
    """
    if space is None:
        digits = np.empty((len(numbers.numerators), 0, 0), dtype=np.uint8)
    else:
        digits = _truncated(numbers, space) if truncate else _encode(numbers, space)
    return Coordinates(nearest_floats(numbers) if real is None else real, digits[..., ::-1])


def _truncated(numbers: Rationals, space: AdeleSpace) -> npt.NDArray[Any]:
    """Return the digits of `_encode`, without those below the window."""
    n, m = numbers.numerators, numbers.denominators
    digits = np.empty((len(n), space.n_primes, space.max_precision), finite.digit_dtype(space.primes))
    if not numbers.is_small and (fits := _fits_int64(numbers)).any():  # few long numbers slow no others
        for rows, dtype in ((fits, np.int64), (~fits, object)):
            some = Rationals(n[rows].astype(dtype), m[rows].astype(dtype), (int(rows.sum()),))
            digits[rows] = _truncated(some, space)
        return digits
    below = _has_digits_below(numbers, space)
    if not below.any():
        return _encode(numbers, space)
    digits[~below] = _encode(Rationals(n[~below], m[~below], (int((~below).sum()),)), space)
    for j, precision in enumerate(space.precisions):
        digits[below, j] = 0
        digits[below, j, -precision:] = _window(n[below], m[below], space.part([j]))
    return digits


def _fits_int64(numbers: Rationals) -> npt.NDArray[np.bool_]:
    n, m = numbers.numerators.astype(object), numbers.denominators.astype(object)
    return np.asarray((np.abs(n) < 2**63) & (m < 2**63), dtype=np.bool_)


def _encode(numbers: Rationals, space: AdeleSpace) -> npt.NDArray[Any]:
    """Return the digits alone, (rows, n_primes, precision), highest first."""
    digits = np.empty((len(numbers.numerators), space.n_primes, space.max_precision), finite.digit_dtype(space.primes))
    finite.encode(numbers, space.window, digits)
    return digits


def _has_digits_below(numbers: Rationals, space: AdeleSpace) -> npt.NDArray[np.bool_]:
    """Return which numbers have a prime in the denominator more often than the window has fractional digits."""
    found = np.zeros(len(numbers.numerators), dtype=np.bool_)
    if not numbers.is_integral:
        for p in space.primes:
            found |= finite.below_window(numbers, p, space.fractional_digits)
    return found


def _window(n: npt.NDArray[Any], m: npt.NDArray[Any], place: AdeleSpace) -> npt.NDArray[Any]:
    """Return the digits of n/m at p^(N − F − 1) … p^(−F), (rows, N), p the one prime of a space; not those below.

    They are read from a window that reaches down to the lowest digit. Rows that need an equally deep one go together.
    """
    (p,), precision, fractional = place.primes, place.max_precision, place.fractional_digits
    deeper, rest = np.full(len(n), -fractional), m.copy()
    while (divisible := (rest % p == 0).astype(np.bool_)).any():
        rest[divisible] //= p
        deeper[divisible] += 1
    out = np.empty((len(n), precision), dtype=finite.digit_dtype(place.primes))
    for k in np.unique(deeper := deeper.clip(min=0)).tolist():
        rows = np.flatnonzero(deeper == k)
        numbers = Rationals(n[rows], m[rows], rows.shape)
        out[rows] = _encode(numbers, AdeleSpace((p,), precision + k, fractional + k))[:, 0, :precision]
    return out


@dataclass(frozen=True)
class ColumnFeatures:
    """The features of one column: its real value, those of each prime, lowest power first, and those of codes.

    Attributes:
        kind: "digits", "standardized" (here the same), "characters", "one-hot-digits", "residues", "valuation-unit" or
            "multiplicative-characters".
        space: the adele space; None for no primes.
        codes: more, each like a digit: as it is, one-hot, or with "characters" on a circle.

    >>> space = AdeleSpace(primes=(2, 3), precision=2, fractional_digits=1)
    >>> ColumnFeatures("digits", space).names("x0")
    ['x0_real', 'x0_p2_d-1', 'x0_p2_d0', 'x0_p3_d-1', 'x0_p3_d0']
    """

    kind: str
    space: AdeleSpace | None
    codes: tuple[Code, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of features."""
        return self.parts()[-1][-1].stop if self.parts() else 1

    @property
    def primes(self) -> list[tuple[int, int]]:
        """Return each prime, and how many digits it has."""
        return [] if self.space is None else list(zip(self.space.primes, self.space.precisions, strict=True))

    @property
    def code_kind(self) -> str:
        """Return the kind of the codes' features."""
        return {"standardized": "digits", "digits": "digits", "characters": "characters"}.get(
            self.kind, "one-hot-digits"
        )

    @property
    def starts(self) -> list[int]:
        """Return what is taken from each code: as numbers months are 1 … 12, on a circle 0 … 11."""
        return [0 if self.code_kind == "digits" else code.start for code in self.codes]

    def parts(self) -> list[tuple[str, int, int, slice]]:
        """Return for each prime, then for each code, the kind, the base, the digits and which features they have."""
        every = [(self.kind, p, n) for p, n in self.primes]
        every += [
            (self.code_kind, code.start - start + code.size, 1)
            for code, start in zip(self.codes, self.starts, strict=True)
        ]
        ends = np.cumsum([1, *(place_size(*one) for one in every)]).tolist()
        return [(*one, section) for one, section in zip(every, map(slice, ends, ends[1:]), strict=True)]

    def digits(self, coordinates: Coordinates) -> list[npt.NDArray[Any]]:
        """Return the digits of each part, (rows, digits), lowest first."""
        found = [coordinates.digits[:, j, :n] for j, (_, n) in enumerate(self.primes)]
        if coordinates.codes is not None:
            found += [coordinates.codes[:, k : k + 1] - start for k, start in enumerate(self.starts)]
        return found

    def names(self, column: str) -> list[str]:
        """Return the features' names.

        - digits: `x0_p7_d2` is the digit of 7^2.
        - one-hot-digits: `x0_p7_d2_5` is 1 where this digit is 5.
        - residues: `x0_p7_r3_5` is 1 where the number is 5 modulo 7^3; `x0_p7_d3_5` is of a higher digit.
        - characters: `x0_p7_cos2` is cos(2πx/7^2).
        - valuation-unit: `x0_p7_v2` is 1 for 7^2·u, and `x0_p7_u5` where u is 5 modulo 7 (at p = 2 modulo 8); the
          last valuation stands for more factors, too.
        - multiplicative-characters: `x0_p7_v2` as there; `x0_p7_chi1_cos` and `x0_p7_chi1_sin` are the parts of the
          first character of u modulo 7 (at p = 2 modulo 8), in the order of `adelic.numbers.features.unit_characters`.
        - codes: `x0_mod12`, `x0_b10_d2` and `x0_weekday`, one-hot `x0_mod12_7`, and `x0_mod12_cos` on a circle.
        """
        names = [f"{column}_real"]
        for p, precision in self.primes:
            exponents = [k - self.space.fractional_digits for k in range(precision)]  # type: ignore[union-attr]
            if self.kind in _WITHOUT_INVERSE:
                names += [f"{column}_p{p}_v{v}" for v in [*exponents, exponents[-1] + 1]]
            if self.kind == "multiplicative-characters":
                about = unit_characters(p, precision)
                parts = zip(about.names, about.is_sine, strict=True)
                names += [f"{column}_p{p}_chi{k}_{'sin' if is_sine else 'cos'}" for k, is_sine in parts]
            elif self.kind == "valuation-unit":
                names += [f"{column}_p{p}_u{residue}" for residue in unit_residues(p, precision)]
            elif self.kind == "characters":
                names += [f"{column}_p{p}_{wave}{e + 1}" for e in exponents for wave in ("cos", "sin")]
            elif self.kind in ONE_HOT_KINDS:
                k = digits_together(self.kind, p, precision)
                first = f"d{exponents[0]}" if self.kind == "one-hot-digits" else f"r{exponents[k - 1] + 1}"
                names += [f"{column}_p{p}_{first}_{residue}" for residue in range(p**k)]
                names += [f"{column}_p{p}_d{e}_{digit}" for e in exponents[k:] for digit in range(p)]
            else:
                names += [f"{column}_p{p}_d{e}" for e in exponents]
        for code in self.codes:
            ends = {"digits": [""], "characters": ["_cos", "_sin"]}.get(self.code_kind)
            values = range(code.start, code.start + code.size)
            names += [f"{column}_{code.name}{end}" for end in ends or [f"_{value}" for value in values]]
        return names

    def compute(self, coordinates: Coordinates) -> Floats:
        """Return the features, (rows, size).

        Where the logarithm of a real value beyond float64 is wanted, it is a RangeError.
        """
        out = np.empty((len(coordinates.real), self.size))
        out[:, 0] = self.real_feature(coordinates.real)
        for (kind, base, _, section), digits in zip(self.parts(), self.digits(coordinates), strict=True):
            out[:, section] = place_features(kind, digits, base)
        return out

    def real_feature(self, real: Floats) -> Floats:
        """Return the feature of real values: q, or sign(q)·ln(1 + |q|) beside characters and one-hot digits."""
        return real if self.kind in ("digits", "standardized") else signed_logarithm(real)

    def read(self, features: Floats, relative_error: float) -> tuple[Coordinates, Floats]:
        """Return the coordinates that have these features, and how far the real ones may be off.

        Features are finite, (rows, size); `relative_error` is that of the feature of the real value, and of logarithms
        and exponentials. A DecodingError says that a feature is near that of no digit, or that they do not say all
        digits.

        >>> layout = ColumnFeatures("one-hot-digits", AdeleSpace(primes=(3,), precision=2))
        >>> coordinates = Coordinates(np.array([5.0]), np.array([[[2, 1]]]))
        >>> found, radius = layout.read(layout.compute(coordinates), 1e-15)
        >>> found.digits, bool(abs(found.real[0] - 5) < radius[0])
        (array([[[2, 1]]]), True)
        """
        if self.kind in _WITHOUT_INVERSE:
            raise DecodingError(
                f"features={self.kind!r} say the power of p and one residue of the unit, which do not give the "
                "number back; use 'digits', 'characters', 'one-hot-digits' or 'residues'"
            )
        real = features[:, 0]
        radius = np.abs(real) * relative_error
        if self.kind not in ("digits", "standardized"):
            with np.errstate(over="ignore"):
                real = np.sign(real) * np.expm1(np.abs(real))
            # The derivative of the inverse is 1 + |q|, and expm1 rounds, too.
            radius = (1 + np.abs(real)) * radius + np.abs(real) * relative_error
        of_primes = len(self.primes)
        digits = np.zeros((len(features), of_primes, max((n for _, n in self.primes), default=0)), dtype=np.int64)
        codes = np.zeros((len(features), len(self.codes)), dtype=np.int32)
        for j, (kind, base, precision, section) in enumerate(self.parts()):
            found = self._read_digits(kind, features[:, section], base, precision)
            if j < of_primes:
                digits[:, j, :precision] = found
            else:
                codes[:, j - of_primes] = found[:, 0] + self.starts[j - of_primes]
        return Coordinates(real, digits, codes if self.codes else None), radius

    @staticmethod
    def _read_digits(kind: str, features: Floats, p: int, precision: int) -> npt.NDArray[np.int64]:
        """Return the digits in one base, (rows, precision), lowest first."""
        if kind in ONE_HOT_KINDS:
            k = digits_together(kind, p, precision)
            modulo = features[:, : p**k].argmax(axis=-1)[:, None] // p ** np.arange(k) % p
            above = features[:, p**k :].reshape(len(features), precision - k, p).argmax(axis=-1)
            digits = np.concatenate([modulo, above], axis=-1)
            wrong = np.abs(features - place_features(kind, digits, p)) > _NEAR
        elif kind == "characters":
            waves = features.reshape(len(features), precision, 2)
            digits = _digits_of_angles(np.arctan2(waves[..., 1], waves[..., 0]) / (2 * np.pi), p)
            expected = characters(digits, p).reshape(waves.shape)
            # At most a quarter of the arc between two digits, which is 2π/p.
            wrong = np.abs(waves - expected).max(axis=-1) > min(_NEAR, np.pi / (2 * p))
        else:
            digits = np.rint(np.clip(features, -1, p)).astype(np.int64)
            wrong = (np.abs(features - digits) > _NEAR) | (digits < 0) | (digits >= p)
        if wrong.any():
            row = int(np.flatnonzero(wrong.any(axis=1))[0])
            raise DecodingError(f"the features{at_position((row,))} are near those of no digit at the prime {p}")
        return digits


def _digits_of_angles(turns: Floats, p: int) -> npt.NDArray[np.int64]:
    """Return the digits of x, lowest first, from x/p^k for k = 1 … levels, each up to an integer.

    >>> _digits_of_angles(np.array([[5 / 3, 5 / 9 - 1]]), 3)    # 5 is 12 in base 3
    array([[2, 1]])
    """
    # From the lowest digit on, so errors of one level, which are below half a digit, do not add up.
    digits = np.empty(turns.shape, dtype=np.int64)
    before = np.zeros(len(turns))  # (x mod p^(k-1))/p^(k-1), from digits found so far
    for k in range(turns.shape[1]):
        # It is x/p^(k+1): p times it is the digit of p^k plus `before`, up to a multiple of p.
        digits[:, k] = np.rint(p * turns[:, k] - before).astype(np.int64) % p
        before = (before + digits[:, k]) / p
    return digits


def decode_column(
    coordinates: Coordinates,
    radius: Floats,
    space: AdeleSpace | None,
    *,
    integral: bool,
    floats: tuple[np.dtype[Any], str] | None,
    exact: bool,
    truncate: bool,
    rows: npt.NDArray[np.int64],
) -> Rationals:
    """Return the numbers with these coordinates.

    Where one integer or float alone is near the real coordinate, it is the number if it has the digits; so windows do
    that hold too few digits to decode, or truncated ones. Otherwise digits and real coordinate determine the number.

    The real coordinates may be off by `radius` (rows,). `floats` has the type and the policy of numbers that were
    floats; `exact` says that their real coordinates are these floats; `truncate` is as for `encode_column`, and `rows`
    numbers the rows in messages. A DecodingError says that no number, or more than one, has these coordinates.

    >>> space = AdeleSpace(primes=(7,), precision=1)
    >>> options = {"floats": None, "exact": False, "truncate": True, "rows": np.arange(1)}
    >>> x = Coordinates(np.array([12345.0]), np.array([[[4]]]))
    >>> decode_column(x, np.array([1e-9]), space, integral=True, **options).fraction(0)
    Fraction(12345, 1)
    """
    n, m = objects([0] * len(rows)), objects([1] * len(rows))
    of = np.empty(0, dtype=np.int64)
    if floats is not None and exact:
        of, near = np.arange(len(rows)), read_column(coordinates.real.astype(floats[0]), floats=floats[1]).numbers
    elif integral:
        of, near = _integers_near(coordinates.real, radius)
    if len(of):
        right = _has_digits(near, coordinates.digits[of], space, truncate)
        of = of[right]
        n[of], m[of] = near.numerators[right].tolist(), near.denominators[right].tolist()
    rest = np.setdiff1d(np.arange(len(rows)), of)
    if len(rest):
        places = [] if space is None else [list(range(space.n_primes))]
        if (
            space is not None and truncate and floats is not None and floats[1] in ("shortest", "exact")
        ):  # only 2 and 5 divide
            places.insert(0, [j for j, p in enumerate(space.primes) if p not in (2, 5)])
        picked = Coordinates(coordinates.real[rest], coordinates.digits[rest])
        for i, q in zip(rest, _decode(picked, radius[rest], space, places, truncate, rows[rest]), strict=True):
            n[i], m[i] = q.numerator, q.denominator
    return Rationals(n, m, rows.shape)


def _integers_near(real: Floats, radius: Floats) -> tuple[npt.NDArray[np.int64], Rationals]:
    """Return the rows where one integer alone is within a radius, and these integers."""
    nearest = np.rint(real)
    with np.errstate(invalid="ignore"):  # infinities
        distance = np.abs(nearest - real)
    # The next integer is 1 − distance away, beyond the radius.
    of = np.flatnonzero((distance <= radius) & (distance + radius < 1) & (np.abs(nearest) < EXACT))
    return of, rationals.read(nearest[of].astype(np.int64))


def _has_digits(
    numbers: Rationals, digits: npt.NDArray[Any], space: AdeleSpace | None, truncate: bool
) -> npt.NDArray[np.bool_]:
    """Return which numbers have these digits, (rows, n_primes, precision)."""
    try:
        found = encode_column(numbers, space, truncate=truncate).digits
    except PrecisionError:  # not truncated, so they belong to other numbers
        return np.zeros(len(digits), dtype=np.bool_)
    return np.asarray((found == digits).all(axis=(1, 2)), dtype=np.bool_)


def _decode(
    coordinates: Coordinates,
    radius: Floats,
    space: AdeleSpace | None,
    places: Sequence[list[int]],
    truncate: bool,
    rows: npt.NDArray[np.int64],
) -> list[Fraction]:
    """Return the rationals that have these digits and real values near these.

    `places` has sets of primes (by index) that determine the numbers; one after the other is tried.
    """
    for chosen in filter(None, places):
        assert space is not None  # else there are no places
        part = space.part(chosen)
        try:
            digits = coordinates.digits[:, chosen, part.max_precision - 1 :: -1]
            found = list(part.from_digits(digits, coordinates.real, radius=radius).decode())
        except DecodingError:
            continue
        if _has_digits(rationals.read(found), coordinates.digits, space, truncate).all():
            return found
    if len(rows) > 1:  # some numbers by some primes, or the first row that will not do
        single = [Coordinates(coordinates.real[i : i + 1], coordinates.digits[i : i + 1]) for i in range(len(rows))]
        return [
            _decode(one, radius[i : i + 1], space, places, truncate, rows[i : i + 1])[0] for i, one in enumerate(single)
        ]
    raise DecodingError(
        f"at position [{rows[0]}]: no number, or more than one, has these digits and the real value "
        f"{coordinates.real[0]:.6g} within {radius[0]:.2g}; more primes or digits, or dtype=numpy.float64, may tell it"
    )


def column_values(numbers: Rationals, is_missing: npt.NDArray[np.bool_], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers, and NaN if one is missing, as the column they came from: its type where it holds them.

    >>> column_values(rationals.read([1, 3]), np.array([False, True, False]), np.dtype(np.int64))
    array([ 1., nan,  3.])
    """
    n, m = numbers.numerators, numbers.denominators
    if dtype.kind == "b":  # as integers, which they are again where another number has come, or one is missing
        if not is_missing.any() and np.all(m == 1) and np.all((n == 0) | (n == 1)):
            return n.astype(dtype)
        dtype = np.dtype(np.int64)
    if dtype.kind in "iu" and not is_missing.any() and np.all(m == 1) and _fits(n, dtype):
        return n.astype(dtype)
    is_float = dtype.kind == "f" or (dtype.kind in "iu" and np.all(m == 1) and np.all(np.abs(n) < EXACT))
    out = np.full(len(is_missing), np.nan, dtype=np.float64 if is_float else object)
    if is_float:
        out[~is_missing] = nearest_floats(numbers)
    else:
        fractions: list[Any] = [numbers.fraction(i) for i in range(len(n))]
        out[~is_missing] = objects([int(q) for q in fractions] if numbers.is_integral else fractions)
    return out.astype(dtype) if dtype.kind == "f" else out


def _fits(n: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return all(limits.min <= a <= limits.max for a in n.tolist())


def join_columns(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return columns as one matrix; of objects where its one type would round integers of another.

    >>> join_columns([np.array([1, 2]), np.array([0.5, 1.5])])
    array([[1. , 0.5],
           [2. , 1.5]])
    >>> join_columns([np.array([2**60]), np.array([0.5])])
    array([[1152921504606846976, 0.5]], dtype=object)
    """
    common = np.result_type(*columns)  # float64 for integers beside floats, which holds integers below 2^53 alone
    rounds = common.kind == "f" and any(
        column.dtype.kind in "iu" and np.any(np.abs(column.astype(object)) >= EXACT) for column in columns
    )
    out = np.empty((len(columns[0]), len(columns)), dtype=object if rounds else common)
    for j, column in enumerate(columns):
        out[:, j] = column.tolist() if rounds else column
    return out
