"""One vector for each number of a vocabulary: trained (the paper's baseline), a linear map of one-hot, or frozen."""

import torch
from torch import nn
from torch.nn import functional

from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.vocabulary import Numbers, Vocabulary


class TableEmbedding(NumberEmbedding):
    """One vector for each id, those of missing and unknown numbers among them."""

    reads_missing = needs_vocabulary = True

    vocabulary: Vocabulary


class LearnedEmbedding(TableEmbedding):
    """One trained vector for each number, `nn.Embedding`: the paper's baseline.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: vocabulary.n_ids · d_model.

    >>> LearnedEmbedding(8, d_model=128)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 128])
    """

    name = "learned"

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128) -> None:
        super().__init__(vocabulary, d_model)
        self.table = nn.Embedding(self.vocabulary.n_ids, d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        vectors: torch.Tensor = self.table(ids_or_numbers)
        return vectors


class OneHotEmbedding(TableEmbedding):
    """A linear map of one-hot vectors; `LearnedEmbedding` except the bias and smaller initial values.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: (vocabulary.n_ids + 1) · d_model.

    >>> OneHotEmbedding(8, d_model=16)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 16])
    """

    name = "one-hot"

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128) -> None:
        super().__init__(vocabulary, d_model)
        self.projection = nn.Linear(self.vocabulary.n_ids, d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        # The product with a one-hot vector is a column of the weight.
        return functional.embedding(ids_or_numbers, self.projection.weight.T) + self.projection.bias


class RandomEmbedding(TableEmbedding):
    """One frozen vector of normal random numbers for each number: what is left of `LearnedEmbedding` without training.

    The vectors belong to the state dict, since nothing else can bring them back.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: none.

    Args:
        vocabulary: the numbers that can occur.
        d_model: length of a vector.
        generator: of the random numbers; torch's own by default.

    >>> embedding = RandomEmbedding(8, d_model=16)
    >>> embedding(torch.tensor([[0, 7, 3]])).shape, sum(p.numel() for p in embedding.parameters())
    (torch.Size([1, 3, 16]), 0)
    """

    name = "random"

    table: torch.Tensor

    def __init__(
        self, vocabulary: Numbers | None, d_model: int = 128, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(vocabulary, d_model)
        self.register_buffer("table", torch.randn(self.vocabulary.n_ids, d_model, generator=generator))

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        return functional.embedding(ids_or_numbers, self.table)
