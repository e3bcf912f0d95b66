"""The paper's model: a Transformer encoder over embedded numbers, read at [CLS], or at all tokens."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.bodies.classifier import Classifier, Pooling, after_cls, check_layers, check_sizes, read_size
from adelic.nn.bodies.encoder import SITES, EncoderLayer, Norm
from adelic.nn.checks import as_ids, length_of
from adelic.nn.embeddings.base import NumberEmbedding, check_autocast, greatest_of
from adelic.nn.heads.classes import make_head
from adelic.nn.positional import LearnedPositionalEncoding, PositionalEncoding, SinusoidalPositionalEncoding

_MOST_FOLDED = 2**22
"""Elements of a table of all numbers at all positions; a larger one would be slower to read than to add."""


class SequenceClassifier(Classifier):
    """A Transformer encoder for sequences of numbers, with a head on the [CLS] state or on all states.

    If the vectors of numbers and positions are frozen, they are added once: the table `folded` has the vector of every
    number at every position.

    Shape: ids (*, length) -> logits (*, n_classes), float32, or see `Classifier`.

    Args:
        embedding: any `NumberEmbedding`. The two models of the paper differ only here.
        n_classes: number of classes, or one number per target if examples have several targets (see `ClassHeads`).
        head: a function that makes, from d_model, another module to read the state, such as `AdelicHead`.
        max_length: the greatest number of numbers in an example.
        n_layers, n_heads, dropout: the paper's 6, 8 and 0.1.
        d_feedforward: # NOTE[paper]: it gives none; 512 = 4 · d_model, as usual.
        norm: "post" (torch's default, which we take for the paper's) or "pre", which trains without warm-up.
        positional: "embedding" lets the embedding choose; "sinusoidal", "learned" and None (no positions)
            override it.
        pooling: "cls", as in the paper, or "tokens": the head reads the last states of all tokens, and all sequences
            have max_length tokens. Such a head can count, while attention averages.

    # NOTE[paper]: it does not define [CLS] for AOE. Here it is one trained vector in both models.

    Source: the paper, section 3.1 "Models".

    >>> from adelic import nn
    >>> model = nn.SequenceClassifier(nn.LearnedEmbedding(nn.Vocabulary(range(8))), n_classes=5, max_length=8)
    >>> model(torch.zeros(2, 8, dtype=torch.int64)).shape
    torch.Size([2, 5])
    """

    name = "sequence"

    def __init__(
        self,
        embedding: NumberEmbedding,
        *,
        n_classes: int | Sequence[int] | None = None,
        head: Callable[[int], nn.Module] | None = None,
        max_length: int,
        n_layers: int = 6,
        n_heads: int = 8,
        d_feedforward: int = 512,
        dropout: float = 0.1,
        norm: Norm = "post",
        positional: Literal["embedding", "sinusoidal", "learned"] | None = "embedding",
        pooling: Pooling = "cls",
    ) -> None:
        super().__init__()
        d_model = embedding.d_model
        check_layers(n_heads, d_feedforward, norm, d_model=d_model)
        check_sizes(n_classes, max_length, n_layers, dropout)
        max_length *= embedding.tokens_per_number
        self.embedding = embedding
        self.max_length, self.pooling = max_length, pooling
        # N(0, 1), as the vectors of nn.Embedding begin.
        self.cls = nn.Parameter(torch.randn(d_model))
        self.positional = _positional(positional, embedding, max_length + 1)
        self.folded: torch.Tensor | None
        self.register_buffer("folded", _fold(embedding.frozen, self.positional.table), persistent=False)
        self._greatest = 0.0 if self.folded is None else greatest_of(self.folded)
        self.dropout = nn.Dropout(dropout)
        # One object a layer: nn.TransformerEncoder would copy the first, and all layers would start from equal weights.
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_feedforward, dropout, norm=norm) for _ in range(n_layers)
        )
        self.final_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.head = make_head(read_size(pooling, d_model, max_length), n_classes, head)

    def extend(self, numbers: Sequence[Any]) -> None:
        """Read more numbers, whose ids are after those of the vocabulary; see `NumberEmbedding.extend`."""
        self.embedding.extend(numbers)
        self.folded = None  # it has the vectors of the numbers that were known

    def embed(self, ids: Any) -> torch.Tensor:
        """Return the embedding's vectors, (*, length, d_model)."""
        vectors: torch.Tensor = self.embedding(ids)
        return vectors

    def place(self, ids: Any) -> torch.Tensor:
        """Return [CLS] and the vectors of ids, positions added, (*, length + 1, d_model)."""
        if self.folded is None:
            return super().place(ids)
        ids = as_ids(ids, self.folded.device)
        length = length_of(ids.shape)
        self.check_length(length)
        # The embedding, whose forward would check this, is not called.
        check_autocast(self._greatest, self.folded.device.type)
        # In this order an id outside the vocabulary lies outside the table at every position, and is refused.
        places = ids * self.max_length + torch.arange(length, device=ids.device)
        return after_cls(self.cls + self.positional.table[0], functional.embedding(places, self.folded))

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last states that are read, (batch, d_model) or (batch, (length + 1) · d_model)."""
        for i, layer in enumerate(self.layers):
            # Where [CLS] alone is read, the last layer computes no other token's state.
            n_read = 1 if self.pooling == "cls" and i == len(self.layers) - 1 else None
            x = layer(x, n_read=n_read, first_site=1 + SITES * i)
        states: torch.Tensor = self.final_norm(x)
        return states.flatten(1)


def _fold(table: torch.Tensor | None, positions: torch.Tensor) -> torch.Tensor | None:
    """Return a table's vectors at each position behind [CLS], (numbers · positions, d).

    None if there is no table, or where positions are trained, or where it would take too much memory.
    """
    if table is None or positions.requires_grad or table.numel() * (len(positions) - 1) > _MOST_FOLDED:
        return None
    return (table[:, None] + positions[1:]).flatten(0, 1)


def _positional(kind: str | None, embedding: NumberEmbedding, max_length: int) -> PositionalEncoding:
    if kind == "embedding":
        return embedding.positional_encoding(max_length)
    if kind == "sinusoidal":
        return SinusoidalPositionalEncoding(embedding.d_model, max_length=max_length)
    if kind == "learned":
        return LearnedPositionalEncoding(embedding.d_model, max_length=max_length)
    if kind is None:
        return PositionalEncoding(torch.zeros(max_length, embedding.d_model))
    raise ConfigurationError(f"positional={kind!r} is unknown; use 'embedding', 'sinusoidal', 'learned' or None")
