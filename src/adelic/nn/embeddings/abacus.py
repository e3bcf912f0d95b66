"""Abacus: the digits of a number, each bound to its place."""

from typing import Any

import numpy as np
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.backend import current
from adelic.nn.base_digits import most_digits, to_digits
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.vocabulary import Numbers


class AbacusEmbedding(FeatureEmbedding):
    """The base-B digits of a number, least significant first, each bound to its place: Σ_i digit[d_i] ⊙ place[i + o].

    # NOTE[rival]: Abacus gives every digit a token of its own, the sum digit[d_i] + place[i + o]. One vector per number
    # is what a sequence of numbers has room for, and a sum over digits would forget which digit stood where (12 would
    # be 21); hence the product. The tokens themselves are what the arithmetic benchmark's solver `abacus` reads.

    As in the paper the offset o is drawn in training, one per batch, from 0 … max_offset, and is 0 in evaluation: so
    the places of numbers longer than any in training get trained. Leading zeros have no vector; the sign has one.

    Shape: ids or numbers (*, length) -> (*, length, d_model).
    Parameters: (B + 3 + max_digits + max_offset) · d_model.

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        base: B.
        max_digits: of a number; by default as many as the vocabulary needs, 10 without one.
        max_offset: the published code takes 99, for numbers longer than those in training. A vocabulary has none of
            these, and places that are rarely drawn learn slowly, so the default is 0.

    Raises:
        EncodingError: a number is a fraction, or has more digits.
        ConfigurationError: an option's value is out of range.

    Source: McLeish et al., "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399, section 3.

    >>> embedding = AbacusEmbedding([12, 21, -5], d_model=16)
    >>> embedding.table
    tensor([[ 2,  1,  1],
            [ 1,  2,  1],
            [ 5, 10, -1]])
    >>> embedding(torch.tensor([[0, 1]])).shape
    torch.Size([1, 2, 16])
    """

    name = "abacus"
    fixed = ("base", "max_digits")
    digits_option = "max_digits"

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        base: int = 10,
        max_digits: int | None = None,
        max_offset: int = 0,
    ) -> None:
        super().__init__(vocabulary, d_model)
        numbers = () if self.vocabulary is None else self.vocabulary.numbers
        self.base, self.max_digits, self.max_offset = base, most_digits(numbers, base, max_digits), max_offset
        if max_offset < 0:
            raise ConfigurationError(f"max_offset={max_offset} leaves no place; max_offset >= 0")
        self.digits = nn.Embedding(base + 1, d_model, padding_idx=base)  # the last for no digit: a vector of zeros
        self.places = nn.Embedding(self.max_digits + max_offset, d_model)
        self.signs = nn.Embedding(3, d_model)
        self._tabulate()

    def features(self, numbers: Any) -> torch.Tensor:
        """Return the digits, B for none, and the sign, int64 (*, max_digits + 1)."""
        digits, sign = to_digits(numbers, base=self.base, n_digits=self.max_digits)
        beyond = np.cumsum(digits[..., ::-1], axis=-1)[..., ::-1] == 0  # nothing but zeros from here on
        beyond[..., 0] = False  # 0 is written with one digit
        features = np.concatenate([np.where(beyond, self.base, digits), sign[..., None]], axis=-1)
        return torch.from_numpy(features)

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of digits and sign, int64 (*, max_digits + 1): float32 (*, d_model)."""
        # One offset for the whole batch: threads that share it draw the same, since noise is a function of the seed.
        first = current().draw_up_to(self.max_offset) if self.training and self.max_offset else 0
        places = self.places.weight[first : first + self.max_digits]
        vectors: torch.Tensor = (self.digits(features[..., :-1]) * places).sum(dim=-2) + self.signs(
            features[..., -1] + 1
        )
        return vectors
