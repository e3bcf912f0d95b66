"""Numbers of no vocabulary: read as they come, and features that are kept of those that come again and again."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adelic.errors import ConfigurationError, EncodingError
from adelic.numbers import rationals
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import read_values, series_of
from adelic.numbers.describe import at_position, describe
from adelic.numbers.rationals import EXACT, Rationals, is_pair, objects

Compute = Callable[[Rationals], torch.Tensor]
"""From numbers (*) to their features, float32 (*, features)."""
Missing = npt.NDArray[np.bool_] | None
"""Which numbers are missing, bool (*); None if none is."""

_BLOCK = 1 << 12
"""The features of so many numbers are computed at once, if they are kept."""


class OpenNumbers:
    """What an embedding without a vocabulary knows of the numbers that come.

    Args:
        floats, lossy: as for `AdelicEmbedding`.
        missing: whether a number may be missing.

    >>> numbers = OpenNumbers(floats="shortest", lossy="warn", missing=False)
    >>> numbers.read([0.5, 3])[0].fraction(0)
    Fraction(1, 2)
    """

    def __init__(self, *, floats: str, lossy: str, missing: bool) -> None:
        check_lossy((), floats=floats, lossy=lossy)  # the options alone
        self.floats, self.lossy, self.missing = floats, lossy, missing
        # float32 on the CPU, wherever the embedding is: what a shorter type rounds would be lost.
        self._kept = torch.empty(0, 0)
        self._row_of: dict[Any, int] = {}

    def read(self, numbers: Any) -> tuple[Rationals, Missing]:
        """Return numbers, (*), 0 if one is missing.

        Raises:
            EncodingError: a value is not a number, or missing and may not be; with lossy="error" a number was lost.
        """
        if self.floats == "never" and not self.missing:
            return rationals.read(numbers, floats="never"), None
        parsed, is_missing = read_values(numbers, floats=self.floats)
        if self.floats != "never" and check_lossy(numbers, floats=self.floats, lossy=self.lossy):
            self.lossy = "ignore"  # it is said once, not of every batch
        if not is_missing.any():
            return parsed, None
        if not self.missing:
            position = at_position(tuple(int(i) for i in np.argwhere(is_missing)[0]))
            raise EncodingError(
                f"there is no number{position}; missing=True, of AdelicEmbedding or its for_column, gives it a vector"
            )
        return parsed, is_missing

    def keep(self, column: Any, most: Any, compute: Compute) -> None:
        """Compute the features of the most frequent numbers of a column, at most so many, and keep them.

        >>> numbers = OpenNumbers(floats="shortest", lossy="warn", missing=False)
        >>> numbers.keep([0.5, 7, 0.5], 1, lambda q: torch.ones(*q.shape, 2))
        >>> numbers.features(np.array([7, 0.5]), lambda q: torch.zeros(*q.shape, 2))[0]
        tensor([[0., 0.],
                [1., 1.]])
        """
        if not isinstance(most, int) or most < 0:
            raise ConfigurationError(f"remember={describe(most)} is no number from 0 on")
        read, _ = read_values(column, floats=self.floats)
        numbers = [number for number, _ in Counter(_keys(read)).most_common(most)]
        if not numbers:
            return
        n, m = (objects(list(part)) for part in zip(*numbers, strict=True))
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(n), _BLOCK)]
        self._kept = torch.cat([compute(Rationals(n[block], m[block], n[block].shape)) for block in blocks])
        row_of: dict[Any, int] = {number: row for row, number in enumerate(numbers)}
        # And by the value, which need not be read then.
        values = zip(_values(column) or (), _keys(read), strict=False)
        self._row_of = row_of | {v: row_of[key] for v, key in values if abs(v) < EXACT and key in row_of}

    def features(self, numbers: Any, compute: Compute) -> tuple[torch.Tensor, Missing]:
        """Return the features of numbers, (*, features): those that are kept, and of others what `compute` gives.

        Raises:
            EncodingError: as for `read`.
        """
        values = _values(numbers) if self._row_of else None
        if values is not None:
            rows, shape = self._rows(values), np.shape(numbers)
            others = np.flatnonzero(rows < 0)
            if not len(others) or (self.missing and all(values[i] != values[i] for i in others)):  # NaN
                found = self._kept[torch.from_numpy(rows)].reshape(*shape, self._kept.shape[1])
                return found, (rows < 0).reshape(shape) if len(others) else None
        read, is_missing = self.read(numbers)
        if not self._row_of:
            return compute(read), is_missing
        rows = self._rows(_keys(read))
        others, found = np.flatnonzero(rows < 0), self._kept[torch.from_numpy(rows)]
        if len(others):
            found[others] = compute(Rationals(read.numerators[others], read.denominators[others], others.shape))
        return found.reshape(*read.shape, self._kept.shape[1]), is_missing

    def _rows(self, keys: Any) -> npt.NDArray[np.int64]:
        """Return where the features of numbers are kept; -1 of others."""
        return np.array([self._row_of.get(key, -1) for key in keys], dtype=np.int64)


def _keys(numbers: Rationals) -> Iterator[tuple[int, int]]:
    """Return numbers as (numerator, denominator)."""
    return zip(numbers.numerators.tolist(), numbers.denominators.tolist(), strict=True)


def _values(numbers: Any) -> list[Any] | None:
    """Return integers or float64, in an array, a series, a tensor or a list, as a list; None for others."""
    array = None if is_pair(numbers) else series_of(numbers)
    if array is None or not (array.dtype.kind in "iu" or array.dtype == np.float64):
        return None
    return list(array.reshape(-1).tolist())
