"""One trained vector a number, the paper's baseline."""

import torch
from torch import nn

from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.vocabulary import Numbers, Vocabulary


class LearnedEmbedding(NumberEmbedding):
    """One trained vector a number, `nn.Embedding`: the paper's baseline.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: vocabulary.n_ids · d_model.

    >>> LearnedEmbedding(8, d_model=128)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 128])
    """

    name = "learned"
    needs_vocabulary = True
    reads_missing = True

    vocabulary: Vocabulary

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128) -> None:
        super().__init__(vocabulary, d_model)
        self.table = nn.Embedding(self.vocabulary.n_ids, d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        vectors: torch.Tensor = self.table(ids_or_numbers)
        return vectors
