"""From a column of numbers to a reading of it: the primes and digits, the scale, and its apparent kind."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError
from adelic.numbers.columns.reading import is_date_text, read_column, series_of
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import Rationals
from adelic.numbers.real import nearest_floats
from adelic.numbers.space import AdeleSpace
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES

MOST_DECIMALS = 6
"""Decimals with more digits after the point are measurements: their last digits are noise."""
NO_GAPS = "none, and one would be an error"
"""The treatment of missing entries if there are none."""
_DISTINCT = 10_000
"""Denominators are looked at in at most this many different numbers."""


@dataclass(frozen=True)
class ColumnChoice:
    """How a column is to be read, and why: `print` it for a few lines.

    Attributes:
        kind: "integers", "dates", "decimals", "fractions" or "measurements".
        space: primes and digits; of measurements, whose digits are noise, the default space.
        coordinates: "all", or "real" for measurements; "p-adic" if a user asks for it.
        scale: mean and deviation of the numbers; None if one is beyond float64.
        rows, missing, distinct: how many rows there are, without a number, and different numbers.
        least, greatest: of the numbers, float64; infinite beyond it.
        whole: among dates, how many rows have a whole number, read as days since 1 January 1970 as dates are.

    >>> print(choose_for_column([1999, 250, None, 12000]))
    4 rows, 3 different integers from 250 to 12,000, 1 missing
    space: primes 2, 3, 5, 7, 11, 13, 17 with up to 15 digits
    form: combined
    scale: mean 4,749.67, deviation 5,176.24
    missing: a trained vector
    """

    kind: str
    space: AdeleSpace
    coordinates: str
    scale: tuple[float, float] | None
    rows: int
    missing: int
    distinct: int
    least: float
    greatest: float
    whole: int = 0

    def __str__(self) -> str:
        """Return the lines, for an embedding in its default form."""
        return self.text(form="combined", missing="a trained vector" if self.missing else NO_GAPS)

    def text(self, *, form: str, missing: str, given: Collection[str] = ()) -> str:
        """Return the lines.

        `missing` describes the treatment of missing entries; `given` has which of "space", "coordinates", "form",
        "scale" and "missing" the user gave, as the text tells. "combined" alone reads the scale.
        """
        gaps = f", {self.missing:,} missing" if self.missing else ""
        reach = f"from {_shown(self.least)} to {_shown(self.greatest)}"
        named = "dates, days since 1970-01-01" if self.kind == "dates" else self.kind
        lines = [f"{self.rows:,} rows, {self.distinct:,} different {named} {reach}{gaps}"]
        if self.kind == "dates":
            found = f" (rows with one: {self.whole:,})" if self.whole else ""
            lines.append(f"whole numbers instead of dates: read as days since 1970-01-01{found}")
        if self.coordinates == "real" and "coordinates" in given:
            lines.append("space: the real value alone")
        elif self.coordinates == "real":
            lines.append(
                f"space: the real value alone (more than {MOST_DECIMALS} decimals, or long denominators: measured, so "
                "the last digits are noise)"
            )
        else:
            after = f", {self.space.fractional_digits} of them after the point" if self.space.fractional_digits else ""
            primes = ", ".join(map(str, self.space.primes))
            alone = ", without the real value" if self.coordinates == "p-adic" else ""
            lines.append(f"space: primes {primes} with up to {self.space.max_precision} digits{after}{alone}")
        lines.append(f"form: {form}")
        if form == "combined" and self.scale is not None and self.coordinates != "p-adic":
            lines.append(f"scale: mean {self.scale[0]:,.6g}, deviation {self.scale[1]:,.6g}")
        lines.append(f"missing: {missing}")
        by_user = {"space" if name == "coordinates" else name for name in given}
        return "\n".join(f"{line} (as given)" if line.partition(":")[0] in by_user else line for line in lines)


def choose_for_column(
    values: Any, *, floats: str = "shortest", fractional_digits: int | None = None, real: bool = True
) -> ColumnChoice:
    """Return how a column of numbers is to be read.

    Values are a pandas or polars series, an array or a list: integers, fractions, decimals, dates, with gaps; `floats`
    is as for `AdeleSpace.encode`. There are as many `fractional_digits` as the column needs, unless they are given;
    `real` tells whether the real value is a coordinate. An EncodingError means that a value is not a number, or beyond
    float64 if that matters, or that there is none.

    >>> choose_for_column([0.5, 19.99, 3]).kind, choose_for_column(["1/3", 2]).kind
    ('decimals', 'fractions')
    """
    array = series_of(values)
    column = read_column(array.reshape(-1), floats=floats)
    numbers = column.numbers
    kept = ~column.is_missing
    if not kept.any():
        raise EncodingError("the column has no number to choose by; give one with at least one")
    n, m = numbers.numerators[kept], numbers.denominators[kept]
    reals = nearest_floats(Rationals(n, m, n.shape))
    if real and not np.isfinite(reals).all():
        raise EncodingError(
            "a number of the column is beyond float64; scale the numbers, or leave the real value out "
            "(coordinates='p-adic' of an embedding)"
        )
    is_date = [True] if column.dtype.kind == "M" else []
    if column.dtype.kind == "O":
        is_date = [_is_date(value) for value in array.reshape(-1)[kept]]
    kind, space = _kind_and_space(n, m)
    if fractional_digits is not None:
        before = space.max_precision - space.fractional_digits
        after = fractional_digits if hasattr(fractional_digits, "__index__") else 0  # the space refuses others
        space = AdeleSpace(space.primes, before + max(int(after), 0), fractional_digits)
    with np.errstate(over="ignore", invalid="ignore"):
        scale = float(reals.mean()), float(reals.std()) or 1.0
    return ColumnChoice(
        kind="dates" if any(is_date) else kind,
        space=space,
        coordinates="real" if kind == "measurements" else "all",
        scale=scale if np.isfinite(scale).all() else None,
        rows=len(kept),
        missing=int((~kept).sum()),
        distinct=len(set(zip(n.tolist(), m.tolist(), strict=True))),
        least=float(reals.min()),
        greatest=float(reals.max()),
        whole=is_date.count(False) if any(is_date) else 0,
    )


def _shown(value: float) -> str:
    return f"{value:,.10g}" if np.isfinite(value) else f"{'above' if value > 0 else 'below'} {np.sign(value):.0f}e308"


def _is_date(value: Any) -> bool:
    return hasattr(value, "toordinal") or (isinstance(value, str) and is_date_text(value))


def _kind_and_space(n: npt.NDArray[Any], m: npt.NDArray[Any]) -> tuple[str, AdeleSpace]:
    """Return the apparent kind of fractions n/m, and the space for them."""
    denominators = sorted({int(q) for q in np.unique(m)[:_DISTINCT].tolist()})
    is_decimal = all(10**MOST_DECIMALS % q == 0 for q in denominators)
    fractional = max(valuation(q, p) for q in denominators for p in DEFAULT_PRIMES)
    if denominators[-1] == 1:
        kind = "integers"
    elif is_decimal:
        kind = "decimals"
    elif fractional <= MOST_DECIMALS and len(denominators) < _DISTINCT and denominators[-1] < 10**MOST_DECIMALS:
        kind = "fractions"
    else:
        return "measurements", AdeleSpace()
    largest = max(abs(int(n.min())), abs(int(n.max())), 1)
    # 2 has the least room: 2^N > 2·|n| tells apart all integers of this size at every prime alone.
    precision = min(largest.bit_length() + 1 + fractional, DEFAULT_PRECISION + fractional)
    return kind, AdeleSpace(DEFAULT_PRIMES, precision, fractional)
