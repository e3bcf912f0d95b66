"""From coordinates back to the numbers of a column: only numbers that are proven to have them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError, PrecisionError
from adelic.integrations.columns import Coordinates, encode_column
from adelic.numbers import AdeleSpace, rationals
from adelic.numbers.columns.reading import read_column
from adelic.numbers.places.real import nearest_floats
from adelic.numbers.places.shape import objects
from adelic.numbers.rationals import EXACT, Rationals


def decode_column(
    coordinates: Coordinates,
    radius: npt.NDArray[np.float64],
    space: AdeleSpace,
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
        places = [list(range(space.n_primes))]
        if truncate and floats is not None and floats[1] in ("shortest", "exact"):  # only 2 and 5 divide denominators
            places.insert(0, [j for j, p in enumerate(space.primes) if p not in (2, 5)])
        picked = Coordinates(coordinates.real[rest], coordinates.digits[rest])
        for i, q in zip(rest, _decode(picked, radius[rest], space, places, truncate, rows[rest]), strict=True):
            n[i], m[i] = q.numerator, q.denominator
    return Rationals(n, m, rows.shape)


def _integers_near(
    real: npt.NDArray[np.float64], radius: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], Rationals]:
    """Return the rows where one integer alone is within a radius, and these integers."""
    nearest = np.rint(real)
    with np.errstate(invalid="ignore"):  # infinities
        distance = np.abs(nearest - real)
    # The next integer is 1 − distance away, beyond the radius.
    of = np.flatnonzero((distance <= radius) & (distance + radius < 1) & (np.abs(nearest) < EXACT))
    return of, rationals.read(nearest[of].astype(np.int64))


def _has_digits(
    numbers: Rationals, digits: npt.NDArray[Any], space: AdeleSpace, truncate: bool
) -> npt.NDArray[np.bool_]:
    """Return which numbers have these digits, (rows, n_primes, precision)."""
    try:
        found = encode_column(numbers, space, truncate=truncate).digits
    except PrecisionError:  # not truncated, so they belong to other numbers
        return np.zeros(len(digits), dtype=np.bool_)
    return np.asarray((found == digits).all(axis=(1, 2)), dtype=np.bool_)


def _decode(
    coordinates: Coordinates,
    radius: npt.NDArray[np.float64],
    space: AdeleSpace,
    places: Sequence[list[int]],
    truncate: bool,
    rows: npt.NDArray[np.int64],
) -> list[Fraction]:
    """Return the rationals that have these digits and real values near these.

    `places` has sets of primes (by index) that determine the numbers; one after the other is tried.
    """
    for chosen in filter(None, places):
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
    """Return numbers, and NaN where one is missing, as the column they came from: its type where it holds them.

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
    common = np.result_type(*columns)
    rounds = common.kind == "f" and any(
        column.dtype.kind in "iu" and np.any(np.abs(column.astype(object)) >= EXACT) for column in columns
    )
    out = np.empty((len(columns[0]), len(columns)), dtype=object if rounds else common)
    for j, column in enumerate(columns):
        out[:, j] = column.tolist() if rounds else column
    return out
