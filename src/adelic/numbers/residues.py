"""Residues of integers modulo any numbers, which need not be prime."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe


def residues(numbers: Any, moduli: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the residues of integers modulo numbers below 2^63.

    From (*,), whatever `AdeleSpace.encode` takes, to int64 (*, len(moduli)), each from 0 to the modulus less one. A
    value that is not an integer is an EncodingError.

    >>> residues([-1, 10**30], (2, 7, 10)).tolist()
    [[1, 6, 9], [0, 1, 0]]
    """
    parsed = rationals.read(numbers)
    if not parsed.is_integral:
        first = int(np.flatnonzero(parsed.denominators != 1)[0])
        position = at_position(np.unravel_index(first, parsed.shape))
        raise EncodingError(
            f"{describe(parsed.fraction(first))}{position} is a fraction, and residues are of integers; the adelic "
            "embedding holds fractions"
        )
    values = parsed.numerators
    # NumPy raises where a Python integer beyond int64 is divided by one of its own.
    given = np.array(moduli, dtype=object if values.dtype == object else np.int64)
    return np.asarray(values[:, None] % given).astype(np.int64).reshape(*parsed.shape, len(moduli))
