"""Tokens instead of vectors: the base-B digits of a number, or its residues, each a token of its own."""

from typing import Any

import numpy as np
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.base_digits import most_digits, to_digits
from adelic.nn.checks import length_of
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.vocabulary import Numbers
from adelic.numbers.primes import first_primes
from adelic.numbers.rationals import residues


class TokenEmbedding(FeatureEmbedding):
    """A number as several tokens, each with a learned vector: the way of Transformers that read text.

    Shape: ids or numbers (*, length) -> (*, length · tokens_per_number, d_model), the tokens of a number side by side.

    >>> tokens = BaseDigitsEmbedding(None, d_model=8, base=10, max_digits=3)
    >>> tokens([[12, 345]]).shape, tokens.tokens_per_number
    (torch.Size([1, 8, 8]), 4)
    """

    vectors: nn.Embedding

    def forward(self, ids_or_numbers: Any, *, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return the tokens' vectors, float32 (*, length · tokens_per_number, d_model).

        A number alone, which is no sequence, is a ConfigurationError.
        """
        found = super().forward(ids_or_numbers, mask=None if mask is None else mask[..., None])
        length_of(found.shape[:-2])  # refuses a number alone: its tokens would pass for a sequence
        return found.flatten(-3, -2)

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of tokens, int64 (*): float32 (*, d_model)."""
        return self.vectors(features)  # type: ignore[no-any-return]


class BaseDigitsEmbedding(TokenEmbedding):
    """The sign and the base-B digits of an integer, highest first and with leading zeros, a token each.

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        base: B.
        max_digits: of a number; by default as many as the vocabulary needs, 10 without one.

    Raises:
        EncodingError: a number is a fraction, or has more digits.
        ConfigurationError: an option's value is out of range.

    # NOTE[rival]: Int2Int writes no leading zeros and ends a number by the next sign; here all numbers have one length.

    Source: Charton, "Learning the greatest common divisor", arXiv:2308.15594, section 2.

    >>> BaseDigitsEmbedding(None, d_model=8, base=10, max_digits=3).features([-12])
    tensor([[11,  0,  1,  2]])
    """

    name = "base-digits"
    fixed = ("base", "max_digits")
    digits_option = "max_digits"

    def __init__(
        self, vocabulary: Numbers | None, d_model: int = 128, *, base: int = 10, max_digits: int | None = None
    ) -> None:
        super().__init__(vocabulary, d_model)
        numbers = () if self.vocabulary is None else self.vocabulary.numbers
        self.base, self.max_digits = base, most_digits(numbers, base, max_digits)
        self.tokens_per_number = 1 + self.max_digits
        self.vectors = nn.Embedding(base + 2, d_model)
        self._tabulate()

    def features(self, numbers: Any) -> torch.Tensor:
        """Return the tokens, int64 (*, 1 + max_digits): B for + or B + 1 for −, then the digits, highest first."""
        digits, sign = to_digits(numbers, base=self.base, n_digits=self.max_digits)
        signs = np.where(sign < 0, self.base + 1, self.base)
        return torch.from_numpy(np.concatenate([signs[..., None], digits[..., ::-1]], axis=-1))


class ResiduesEmbedding(TokenEmbedding):
    """The residues of an integer modulo the first primes, a token each ("CRT" tokens).

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        n_primes: how many primes.

    Raises:
        EncodingError: a number is a fraction.
        ConfigurationError: there is no prime.

    Source: Lowry-Duda, arXiv:2502.10335, whose numbers are given by their residues modulo the first 100 primes.

    >>> ResiduesEmbedding(None, d_model=8, n_primes=3).features([-1, 7])  # tokens at 2 from 0, at 3 from 2, at 5 from 5
    tensor([[1, 4, 9],
            [1, 3, 7]])
    """

    name = "residues"
    fixed = ("n_primes",)

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128, *, n_primes: int = 100) -> None:
        super().__init__(vocabulary, d_model)
        if n_primes < 1:
            raise ConfigurationError(f"n_primes={n_primes} leaves no residue; n_primes >= 1")
        self.moduli = first_primes(n_primes)
        # Tokens are not shared by primes: 1 modulo 2 and 1 modulo 3 say different things.
        self._starts = np.concatenate([[0], np.cumsum(self.moduli)[:-1]])
        self.n_primes = self.tokens_per_number = n_primes
        self.vectors = nn.Embedding(sum(self.moduli), d_model)
        self._tabulate()

    def features(self, numbers: Any) -> torch.Tensor:
        """Return the tokens, int64 (*, n_primes)."""
        return torch.from_numpy(residues(numbers, self.moduli) + self._starts)
