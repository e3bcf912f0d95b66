"""A linear map of one-hot vectors."""

import torch
from torch import nn
from torch.nn import functional

from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.vocabulary import Numbers, Vocabulary


class OneHotEmbedding(NumberEmbedding):
    """A linear map of one-hot vectors; `LearnedEmbedding` but for the bias and smaller initial values.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: (vocabulary.n_ids + 1) · d_model.

    >>> OneHotEmbedding(8, d_model=16)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 16])
    """

    name = "one-hot"
    needs_vocabulary = True
    reads_missing = True

    vocabulary: Vocabulary

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128) -> None:
        super().__init__(vocabulary, d_model)
        self.projection = nn.Linear(self.vocabulary.n_ids, d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        # The product with a one-hot vector is a column of the weight.
        return functional.embedding(ids_or_numbers, self.projection.weight.T) + self.projection.bias
