"""One frozen random vector a number."""

import torch
from torch.nn import functional

from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.vocabulary import Numbers, Vocabulary


class RandomEmbedding(NumberEmbedding):
    """One frozen vector of normal random numbers a number: what is left of `LearnedEmbedding` without training.

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
    needs_vocabulary = True
    reads_missing = True

    vocabulary: Vocabulary
    table: torch.Tensor

    def __init__(
        self, vocabulary: Numbers | None, d_model: int = 128, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(vocabulary, d_model)
        self.register_buffer("table", torch.randn(self.vocabulary.n_ids, d_model, generator=generator))

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        return functional.embedding(ids_or_numbers, self.table)
