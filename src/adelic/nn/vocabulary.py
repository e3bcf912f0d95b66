"""Vocabularies: the finitely many numbers that can occur, in token order."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adelic.errors import ConfigurationError, EncodingError, VocabularyError
from adelic.nn.checks import check_plain
from adelic.numbers import rationals
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import is_any_missing, read_values
from adelic.numbers.describe import describe
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import Rationals
from adelic.numbers.space import AdeleSpace


class Vocabulary:
    """The numbers that can occur in a sequence; number i has the id i.

    Args:
        numbers: different numbers, anything that `AdeleSpace.encode` takes as a flat sequence.
        missing: whether there is an id for no number (None, NaN), the first after those of numbers.
        unknown: whether there is an id for all other numbers, the last one; without it they are an error.
        lossy: of text with leading zeros, or written as a float that lost its number: "warn", "error" or "ignore".

    Attributes:
        numbers: fractions, in the order of ids.
        pair: their numerators and denominators, which are read faster.
        missing_id, unknown_id: these ids; None if there is none.

    Raises:
        VocabularyError: there are no numbers, or one occurs twice.
        EncodingError: a value is not a number, or a tensor of them is sparse, nested, quantized or without values.

    >>> vocabulary = Vocabulary(["1/2", 3, -1])
    >>> len(vocabulary), vocabulary.numbers
    (3, (Fraction(1, 2), Fraction(3, 1), Fraction(-1, 1)))
    >>> vocabulary.ids([[3, 3], [-1, "1/2"]])
    tensor([[1, 1], [2, 0]])
    >>> Vocabulary(range(3), missing=True, unknown=True).ids([2, None, 7])
    tensor([2, 3, 4])
    """

    def __init__(
        self, numbers: Iterable[Any], *, missing: bool = False, unknown: bool = False, lossy: str = "warn"
    ) -> None:
        check_plain(numbers)
        try:
            listed = list(numbers)
        except TypeError:
            raise VocabularyError(f"a vocabulary is a list of numbers, not {describe(numbers)}") from None
        parsed = rationals.read(listed, floats="never")
        self.pair = parsed.numerators, parsed.denominators
        self._parsed = parsed
        if len(parsed.shape) != 1 or not len(self):
            raise VocabularyError("a vocabulary is a flat list of at least one number")
        # Numerator and denominator, not fractions: to make and hash 10^6 of those takes seconds.
        self._id = {pair: i for i, pair in enumerate(zip(*map(np.ndarray.tolist, self.pair), strict=True))}
        if len(self._id) < len(self):
            twice = next(q for i, q in enumerate(self.numbers) if self._id[q.as_integer_ratio()] != i)
            raise VocabularyError(f"{describe(twice)} occurs twice in the vocabulary; name each number once")
        # Floats were refused above; only text can still be of a number that was lost before.
        if any(isinstance(number, str) for number in listed):
            check_lossy(listed, floats="never", lossy=lossy, column="the vocabulary")
        self.missing_id = len(self) if missing else None
        self.unknown_id = len(self) + missing if unknown else None

    @classmethod
    def of(cls, numbers: "Vocabulary | Iterable[Any] | int") -> "Vocabulary":
        """Return a vocabulary, of a whole number n that of 0 … n − 1, of other numbers theirs.

        >>> Vocabulary.of(1000), Vocabulary.of([5, "1/2"])
        (Vocabulary([0, 1, 2, 3, 4, 5, 6, 7, …]), Vocabulary([5, 1/2]))
        """
        if isinstance(numbers, Vocabulary):
            return numbers
        is_count = isinstance(numbers, int | np.integer) and not isinstance(numbers, bool)
        return cls(range(int(numbers)) if is_count else numbers)  # type: ignore[arg-type]

    @cached_property
    def numbers(self) -> tuple[Fraction, ...]:
        """Return the numbers in the order of ids."""
        return tuple(map(self._parsed.fraction, range(len(self))))

    def space(self) -> AdeleSpace:
        """Return the default space, with as many more digits, after the point, as these numbers need.

        >>> Vocabulary(range(9)).space() == AdeleSpace(), Vocabulary([1, "0.25"]).space().fractional_digits
        (True, 2)
        """
        space = AdeleSpace()
        denominators = {1} if self._parsed.is_integral else set(self._parsed.denominators.tolist())
        needed = max(valuation(m, p) for m in denominators for p in space.primes)
        return AdeleSpace(space.primes, space.max_precision + needed, needed)

    @property
    def n_ids(self) -> int:
        """Return the number of ids, those of missing and unknown numbers among them."""
        return len(self) + (self.missing_id is not None) + (self.unknown_id is not None)

    def check_all_known(self, reader: str) -> None:
        """Raise ConfigurationError if there are ids for missing or unknown numbers, which a reader cannot read."""
        if self.n_ids > len(self):
            raise ConfigurationError(
                f"{reader} has no vector for a missing or unknown number; take a vocabulary without ids for these, or "
                "an embedding that has one, as adelic or learned"
            )

    def __len__(self) -> int:
        return len(self.pair[0])

    def __repr__(self) -> str:
        shown = ", ".join(str(self._parsed.fraction(i)) for i in range(min(8, len(self))))
        return f"Vocabulary([{shown}{', …' if len(self) > 8 else ''}])"

    def ids(self, numbers: Any) -> torch.Tensor:
        """Return the ids of numbers, int64 of the same shape.

        Raises:
            VocabularyError: a number is not in the vocabulary, and there is no id for unknown ones.
            EncodingError: a value is not a number, or is missing, and there is no id for that.
        """
        check_plain(numbers)
        if self.missing_id is not None:
            parsed, is_missing = read_values(numbers, floats="never")
            found = np.full(parsed.shape, self.missing_id, dtype=np.int64)
            found[~is_missing] = self._ids(parsed, np.flatnonzero(~is_missing))
            return torch.from_numpy(found)
        try:
            parsed = rationals.read(numbers, floats="never")
            every = np.arange(len(parsed.numerators))
            return torch.from_numpy(self._ids(parsed, every).reshape(parsed.shape))
        except EncodingError as error:
            if not is_any_missing(numbers):
                raise
            raise EncodingError(f"{error}; a Vocabulary with missing=True has an id for None and NaN") from None

    def _ids(self, parsed: Rationals, which: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the ids of some of the numbers, by their places in the flat array."""
        if parsed.is_small and not np.any(parsed.denominators != 1):
            # One look-up for each different number: a column of 10^6 rows may have few.
            distinct, inverse = np.unique(parsed.numerators[which], return_inverse=True)
            return np.array([self._lookup(q) for q in distinct.tolist()], dtype=np.int64)[inverse]
        return np.array([self._lookup(parsed.fraction(i)) for i in which.tolist()], dtype=np.int64)

    def _lookup(self, number: int | Fraction) -> int:
        try:
            return self._id[number.as_integer_ratio()]
        except KeyError:
            if self.unknown_id is not None:
                return self.unknown_id
            raise VocabularyError(
                f"{describe(number)} is not in the vocabulary {self!r}; unknown=True gives an id to others"
            ) from None


Numbers = Vocabulary | Iterable[Any] | int
"""What lists the numbers that can occur: a vocabulary, a list or range of them, or n for 0 … n − 1."""
