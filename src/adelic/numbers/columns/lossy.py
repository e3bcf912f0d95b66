"""Numbers that were lost before they are read: in floats too short for them, and text whose zeros a number lacks."""

import re
import warnings
from collections.abc import Callable, Container, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, EncodingError, LeadingZerosWarning, LossyFloatWarning
from adelic.numbers.columns.reading import exact_below, is_date_text, series_of
from adelic.numbers.describe import at_position, describe
from adelic.numbers.rationals import is_pair

LOSSY = ("warn", "error", "ignore")
_DIGITS = {"float16": 3, "float32": 7, "float64": 15}
"""As many significant digits a decimal may have that is still the shortest one of its float."""
_POWERS = 10.0 ** np.arange(23)
"""They are exact."""
_FEW_DECIMALS, _MANY_DECIMALS = 2, 6
_MANY_DECIMALS_OF_TEXT = 10
_LEADING_ZERO = re.compile(r"\s*[+-]?0_?\d")
_FLOAT = re.compile(r"-?\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)")
_BFLOAT16_BITS = 8

Found = tuple[int, str, type[Warning]]
"""A row, its fault and the remedy, and the text of the warning."""


def check_lossy(
    values: Any,
    *,
    floats: str,
    lossy: str,
    column: str | None = None,
    where: Callable[[int], str] | None = None,
    told: Container[str | None] = (),
) -> str | None:
    """Warn of the first number of a column that is probably not the one that was meant, and return the warning.

    That is a float at or beyond 2^53, since float64 no longer holds every integer (2^24 of float32, 2^11 of float16,
    2^8 of bfloat16). With floats="shortest" it is also a float that is no integer, and no decimal of at most 15
    significant digits (7 of float32, 3 of float16), or one of a float64 column that was float32 before, as far as that
    can be told: all numbers are float32, and some with the last bit of float32 have more than 6 decimals, or more than
    2 and not all equally many. Prices with two decimals are none of these. Other policies give no warning of decimals
    either: "exact" asks for the binary value, "limit:D" corrects 1/3. Text is lost if zeros come before other digits,
    as in "00501", unless it is a date; text and Decimals also if programs write such a float like this.

    Args:
        values: a column as for `read_values`, whose numbers were read without an error.
        floats: their policy; "error" and "never" refuse such floats themselves.
        lossy: "warn", "error" (raise EncodingError) or "ignore".
        column: names the column in messages; if None, the name of a series.
        where: gives the text for a row's position; its position in `values` if None.
        told: warnings that are not given again.

    >>> prices = [19.99, 5, 123456789.01]
    >>> check_lossy(prices, floats="shortest", lossy="error")
    >>> check_lossy([*prices, 0.1 + 0.2], floats="shortest", lossy="error")
    Traceback (most recent call last):
    adelic.errors.EncodingError: the column, at position [3]: 0.30000000000000004 has more than the 15 significant...
    """
    if lossy not in LOSSY:
        raise ConfigurationError(f"lossy={describe(lossy)} is unknown; use one of {', '.join(LOSSY)}")
    if lossy == "ignore" or is_pair(values):
        return None
    array = series_of(values)
    bits = _BFLOAT16_BITS if str(getattr(values, "dtype", "")) == "torch.bfloat16" else None
    found = min(_found(array.reshape(-1), floats, bits), key=lambda each: each[0], default=None)
    if found is None:
        return None
    row, text, category = found
    name = getattr(values, "name", None)
    column = column or (f"column {name!r}" if name and isinstance(name, str) else "the column")
    place = at_position(tuple(map(int, np.unravel_index(row, array.shape)))).strip() if where is None else where(row)
    message = f"{column}, {place}: {text}" if place else f"{column}: {text}"
    if lossy == "error":
        raise EncodingError(message)
    if message not in told:
        warnings.warn(f"{message}; lossy='ignore' takes it as it is", category, stacklevel=2)
    return message


def _found(values: npt.NDArray[Any], floats: str, bits: int | None) -> Iterator[Found]:
    """Yield the first row of each kind of loss."""
    if values.dtype.kind == "f":
        yield from _in_floats(values, np.arange(len(values)), floats, bits)
    elif values.dtype.kind in "OUS":
        of_dtype: dict[np.dtype[Any], list[int]] = {}
        written: list[tuple[int, str]] = []
        is_text_found = False
        for row, value in enumerate(values.tolist()):
            if isinstance(value, float | np.floating):
                of_dtype.setdefault(np.asarray(value).dtype, []).append(row)
            elif isinstance(value, str):
                if not is_text_found and _LEADING_ZERO.match(value) and not is_date_text(value):
                    is_text_found = True
                    yield row, _of_text(value), LeadingZerosWarning
                written.append((row, value.strip()))
            elif isinstance(value, Decimal):  # of JSON lines
                written.append((row, str(value).lower()))
        yield from _in_written(written)
        for dtype, rows in of_dtype.items():
            yield from _in_floats(values[rows].astype(dtype), np.array(rows), floats, bits)


def _in_written(texts: list[tuple[int, str]]) -> Iterator[Found]:
    """Yield the first row of each kind of loss in texts that are floats as Python and pandas write them.

    If no float is written like a decimal of as many digits, the column was never one of floats.
    """
    long = [(row, text) for row, text in texts if len(text) > _DIGITS["float64"] or "e" in text]
    as_floats = [(row, text, float(text)) for row, text in long if _FLOAT.fullmatch(text)]
    is_long = [len(text) > _DIGITS["float64"] + 1 for _, text, _ in as_floats]
    # People write a short 1e17; with a sign, or with all digits, it is a program's. Amounts have up to nine
    # decimals, however great they are.
    is_written = [
        (text in (repr(v), f"{v:.1f}") or (long and text == repr(v).replace("+", "")))
        and ("e" in text or not 1 < len(text.partition(".")[2]) < _MANY_DECIMALS_OF_TEXT)
        for (_, text, v), long in zip(as_floats, is_long, strict=True)
    ]
    if any(is_written) and all(written for written, long in zip(is_written, is_long, strict=True) if long):
        found = [(row, value) for (row, _, value), written in zip(as_floats, is_written, strict=True) if written]
        rows, values = map(np.array, zip(*found, strict=True))
        for row, text, category in _in_floats(values, rows, "shortest", None):
            yield row, f"as a float is written, {text}", category


def _of_text(value: str) -> str:
    return (
        f"the text {describe(value)} has leading zeros, which its number lacks; a name that is written in digits is no "
        "number: leave the column out, or encode it as a category"
    )


def _in_floats(values: npt.NDArray[Any], rows: npt.NDArray[np.int64], floats: str, bits: int | None) -> Iterator[Found]:
    """Yield the first row of floats, which are in some rows, of each kind of loss."""
    if floats in ("error", "never"):
        return
    dtype, limit = values.dtype, exact_below(values.dtype) if bits is None else 2.0**bits
    values = np.where(np.isfinite(values), values, dtype.type(0))
    beyond = np.flatnonzero(np.abs(values) >= limit)
    if len(beyond):
        first = beyond[0]
        yield (
            int(rows[first]),
            f"{describe(int(values[first]))} is at or beyond 2^{int(np.log2(limit))}, and "
            f"{dtype if bits is None else 'bfloat16'} does not hold every integer there, so it may not be the intended "
            "number; read the column as integers (Int64 in pandas, also with gaps) or as text",
            LossyFloatWarning,
        )
    others = np.flatnonzero(np.trunc(values) != values)
    if floats != "shortest" or dtype.name not in _DIGITS or not len(others):
        return
    digits = _DIGITS[dtype.name]
    is_lossy = ~_is_short(values[others], digits)
    is_widened = dtype == np.float64 and _are_float32(values)
    if is_widened:
        is_lossy |= _are_longer_than_float32(values[others])
    if is_lossy.any():
        first = others[np.argmax(is_lossy)]
        what = f"has more than the {digits} significant digits that {dtype} is sure to hold"
        if is_widened:
            what = f"seems to be the float32 {np.float32(values[first])!s}, made a float64"
        remedy = "round the column to its decimals, or read it as text"
        yield int(rows[first]), f"{values[first]!s} {what}; {remedy}", LossyFloatWarning


def _is_short(values: npt.NDArray[Any], digits: int) -> npt.NDArray[np.bool_]:
    """Return which floats, not integers, are the nearest of their type to a decimal of some significant digits."""
    v = np.abs(values.astype(np.float64))
    k = digits - 1 - np.floor(np.log10(v)).astype(np.int64)  # so many decimals
    k += v * _POWERS[np.clip(k, 0, 22)] < 10.0 ** (digits - 1)  # log10 is rounded up just below a power of ten
    power = _POWERS[np.clip(k, 0, 22)]
    # Both are exact, so the quotient is the float nearest to the decimal, also if it is rounded once more.
    nearest = (np.rint(v * power) / power).astype(values.dtype)
    found = np.asarray((nearest == np.abs(values)) & (k >= 0), dtype=np.bool_)
    for i in np.flatnonzero(k > 22).tolist():  # tiny ones, whose power is not exact
        found[i] = len(str(values[i]).partition("e")[0].lstrip("-0.").replace(".", "")) <= digits
    return found


def _are_float32(values: npt.NDArray[np.float64]) -> bool:
    """Return whether all floats are float32."""
    with np.errstate(over="ignore", under="ignore"):
        few, every = values[:64], values
        return all(bool(np.all(part.astype(np.float32) == part)) for part in (few, every))  # the few are soon seen


def _are_longer_than_float32(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which numbers of a column of float32 have its last bit, if these show that decimals were rounded."""
    mantissa, exponent = np.frexp(values)
    has_last_bit = mantissa * 2.0**24 % 2 == 1
    decimals = 24 - exponent[has_last_bit]
    # Multiples of a quarter, of an eighth, … have it within one power of two.
    most = decimals.max(initial=0)
    is_rounded = most > _MANY_DECIMALS or (most > _FEW_DECIMALS and most != decimals.min(initial=most))
    return np.asarray(has_last_bit & is_rounded, dtype=np.bool_)
