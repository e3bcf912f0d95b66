"""Vocabularies: the finitely many numbers that can occur, in token order."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from adelic.errors import VocabularyError
from adelic.nn.tensors import check_plain
from adelic.numbers import rationals
from adelic.numbers.describe import describe


class Vocabulary:
    """The numbers that can occur in a sequence; number i has the id i.

    Args:
        numbers: different numbers, anything that `AdeleSpace.encode` takes as a flat sequence.

    Raises:
        VocabularyError: there are no numbers, or one occurs twice.
        EncodingError: a value is not a number, or a tensor of them is sparse, nested, quantized or without values.

    >>> vocabulary = Vocabulary(["1/2", 3, -1])
    >>> len(vocabulary), vocabulary.numbers
    (3, (Fraction(1, 2), Fraction(3, 1), Fraction(-1, 1)))
    >>> vocabulary.ids([[3, 3], [-1, "1/2"]])
    tensor([[1, 1], [2, 0]])
    """

    def __init__(self, numbers: Iterable[Any]) -> None:
        check_plain(numbers)
        try:
            listed = list(numbers)
        except TypeError:
            raise VocabularyError(f"a vocabulary is a list of numbers, not {describe(numbers)}") from None
        parsed = rationals.read(listed, floats="never")
        self.numbers: tuple[Fraction, ...] = tuple(parsed.fraction(i) for i in range(len(parsed.numerators)))
        if len(parsed.shape) != 1 or not self.numbers:
            raise VocabularyError("a vocabulary is a flat list of at least one number")
        self._id = {number: i for i, number in enumerate(self.numbers)}
        if len(self._id) < len(self.numbers):
            twice = next(q for i, q in enumerate(self.numbers) if self._id[q] != i)
            raise VocabularyError(f"{describe(twice)} occurs twice in the vocabulary; name each number once")

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        shown = ", ".join(str(q) for q in self.numbers[:8])
        return f"Vocabulary([{shown}{', …' if len(self) > 8 else ''}])"

    def ids(self, numbers: Any) -> torch.Tensor:
        """Return the ids of numbers, int64 of the same shape.

        Raises:
            VocabularyError: a number is not in the vocabulary.
            EncodingError: a value is not a number.
        """
        check_plain(numbers)
        parsed = rationals.read(numbers, floats="never")
        if parsed.is_small and not np.any(parsed.denominators != 1):
            distinct, inverse = np.unique(parsed.numerators, return_inverse=True)
            ids = np.array([self._lookup(Fraction(int(q))) for q in distinct], dtype=np.int64)[inverse]
        else:
            ids = np.array([self._lookup(parsed.fraction(i)) for i in range(len(parsed.numerators))], dtype=np.int64)
        return torch.from_numpy(ids.reshape(parsed.shape))

    def _lookup(self, number: Fraction) -> int:
        try:
            return self._id[number]
        except KeyError:
            raise VocabularyError(f"{describe(number)} is not in the vocabulary {self!r}") from None
