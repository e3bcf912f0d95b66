"""Arrays of p-adic numbers to and from `padic_ml.PArray` (google-deepmind, JAX), by NumPy's arrays in between.

A `PArray` has a unit part, a valuation and the logarithm of a radius: disks c + {x : |x| ≤ r} of Q_p with a centre in
Z[1/p], where r = 0 is the point c. A number of a `PadicArray` that is known modulo p^a is the disk of radius p^(−a)
around each number with its digits. Neither padic-ml nor JAX is imported here.

Source: padic-ml 0.0.1, `padic_ml.PArray` and `padic_ml.array`; https://github.com/google-deepmind/padic-ml.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, PrecisionError
from adelic.numbers import PadicArray, padic
from adelic.numbers.describe import at_position
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.window import DEFAULT_PRECISION

__all__ = ["from_padic_ml", "to_padic_ml"]

_ROUNDING = 1e-4
"""A logarithm of a radius in float32 may be off by less."""


def to_padic_ml(x: PadicArray, *, exact: bool = False, dtype: npt.DTypeLike = np.int32) -> dict[str, Any]:
    """Return the arguments of `padic_ml.array`, with which it makes the `PArray` of the same numbers.

    Args:
        x: numbers of Q_p, of shape (*).
        exact: whether the radius is 0. The centres are then taken for the numbers themselves: correct for integers and
            multiples of p^v whose absolute value is below half of p^known, as for those of numbers made with `padic`.
        dtype: of `unit` and `valuation`. JAX has int32 alone, unless `jax_enable_x64` is set: int64 would wrap around.

    Returns:
        `unit` and `valuation` (*): the centre unit · p^valuation is the one of least absolute value, and 0 has (0, 0);
        `log_radius` (*), floats of as many bits, −a for numbers known modulo p^a, or −∞; and `p`.

    Raises:
        PrecisionError: a unit part does not fit the dtype.
        DomainError: a number is undefined.

    >>> from adelic.numbers import padic
    >>> arguments = to_padic_ml(padic([18, -1, "1/3"], 3, precision=5))      # padic_ml.array(**arguments)
    >>> arguments["unit"], arguments["valuation"], arguments["log_radius"], arguments["p"]
    (array([ 2, -1,  1], dtype=int32), array([ 2,  0, -1], dtype=int32), array([-4., -4., -4.], dtype=float32), 3)
    """
    p, f = x.p, x.fractional_digits
    integers = np.dtype(dtype)
    parts = np.zeros((2, x.size), dtype=integers)
    centres, known = (part.reshape(-1) for part in x.integers())
    for i, (centre, digits) in enumerate(zip(centres.tolist(), known.tolist(), strict=True)):
        v = -f
        if 2 * centre > p**digits:
            centre -= p**digits
        while centre and centre % p == 0:
            centre, v = centre // p, v + 1
        if abs(centre) > np.iinfo(integers).max:
            raise PrecisionError(
                f"the unit part {centre}{at_position(np.unravel_index(i, x.shape))} does not fit {integers}; fewer "
                "digits would, or dtype=numpy.int64 with jax_enable_x64"
            )
        if centre:
            parts[:, i] = centre, v
    unit, valuation = parts.reshape(2, *x.shape)
    radius = np.full(x.shape, -np.inf) if exact else (f - known.reshape(x.shape)).astype(np.float64)
    return {
        "unit": unit,
        "valuation": valuation,
        "log_radius": radius.astype(f"float{8 * integers.itemsize}"),
        "p": p,
    }


def from_padic_ml(array: Any, precision: int = DEFAULT_PRECISION) -> PadicArray:
    """Return the numbers of a `PArray`: those of radius p^r are known modulo p^(−r), points to the whole window.

    Args:
        array: of shape (*): anything with `unit`, `valuation`, `log_radius` and `p`.
        precision: N, how many digits the window holds. Its fractional digits are as many as the numbers need.

    Raises:
        EncodingError: a radius is not a number.
        SpaceError: p is not a prime, or N digits do not hold the fractional digits.

    >>> from types import SimpleNamespace
    >>> disks = SimpleNamespace(unit=[2, -1, 1], valuation=[2, 0, -1], log_radius=[-3, -float("inf"), -2.5], p=3)
    >>> from_padic_ml(disks, precision=6).series().tolist()
    ['2*3^2 + O(3^3)', '2 + 2*3 + 2*3^2 + 2*3^3 + 2*3^4 + O(3^5)', '3^-1 + O(3^3)']
    """
    unit, valuation, radius = (np.asarray(part) for part in (array.unit, array.valuation, array.log_radius))
    if np.isnan(radius).any():
        raise EncodingError("log_radius has NaN, which is no radius; -inf is that of a point")
    # Half-way radii hold the disk of the next power of p below; rounding must never make a disk smaller.
    exponent = np.where(np.isneginf(radius), np.inf, np.ceil(-radius - _ROUNDING))
    # One digit at least is known of each number, if only that it is 0.
    fractional_digits = int(max(0, -valuation.min(initial=0), 1 - exponent.min(initial=1)))
    powers = int(array.p) ** np.abs(valuation).astype(object)
    pair = np.where(valuation > 0, unit * powers, unit), np.where(valuation < 0, powers, 1)
    x = padic(pair, int(array.p), precision, fractional_digits=fractional_digits)
    known = np.minimum(exponent + fractional_digits, precision).astype(np.int32)
    digits = np.where(np.arange(precision)[::-1] < known[..., None], x.digits, 0).astype(x.digits.dtype)
    return x.space.array(FinitePlaces(digits[..., None, :], known[..., None]))
