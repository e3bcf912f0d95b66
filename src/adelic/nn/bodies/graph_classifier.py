"""A Transformer over the vertices of a graph, whose attention is told the numbers on the edges."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.backend import dropped
from adelic.nn.bodies.classifier import Body, check_layers, check_rows, check_sizes
from adelic.nn.bodies.encoder import SITES
from adelic.nn.checks import as_ids
from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.heads.classes import make_head


class GraphClassifier(Body):
    """Vertices instead of tokens: rows are n × n matrices of numbers, the one from i to j on the edge from i to j.

    A vertex begins as the sum of what its edges say, and attends to the others. Attention from i to j is biased by the
    numbers on both edges between them, and what j tells i depends on these numbers too. The head reads mean and maximum
    over the vertices. So the logits do not depend on how vertices are numbered, and a matrix costs n tokens, not n².

    Shape: ids (*, n²), row after row -> logits (*, n_classes), float32; or what a head of your own gives.

    Args:
        embedding: any `NumberEmbedding` with a vocabulary and one vector per number.
        n_classes, head: as of `adelic.nn.SequenceClassifier`; the state has 2 · d_model numbers.
        max_length: numbers in a row, n².
        n_layers, n_heads, d_feedforward, dropout: as of `adelic.nn.SequenceClassifier`; layer norms stand before.

    Raises:
        ConfigurationError: a size makes no sense, or n² is not a square, or the embedding has no vocabulary or several
            vectors per number.

    Source: the bias is that of Ying et al., "Do Transformers really perform badly for graph representation?" (2021).

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(-2, 3)), d_model=16)
    >>> model = GraphClassifier(embedding, n_classes=7, max_length=9, n_layers=1, n_heads=2, d_feedforward=32)
    >>> model(torch.zeros(4, 9, dtype=torch.int64)).shape
    torch.Size([4, 7])
    """

    name = "graph"
    unused = ("initial_std", "norm", "pooling", "positional")
    token = "vertex"

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
    ) -> None:
        super().__init__()
        d = embedding.d_model
        check_sizes(n_classes, max_length, n_layers, dropout)
        check_layers(n_heads, d_feedforward, d_model=d)
        n = math.isqrt(max_length)
        if n * n != max_length:
            raise ConfigurationError(
                f"body=graph reads n × n numbers, and these examples have {max_length}; use body=sequence"
            )
        if embedding.tokens_per_number != 1:
            raise ConfigurationError(
                f"body=graph needs one vector per number; this embedding has {embedding.tokens_per_number}, use another"
            )
        self.embedding, self.max_length = embedding, max_length
        if embedding.vocabulary is None:
            raise ConfigurationError("body=graph needs a vocabulary: name the numbers that can occur")
        self.start = nn.Linear(d, 2 * d)  # of the edges from a vertex, and of those to it
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(GraphLayer(d, n_heads, d_feedforward, dropout) for _ in range(n_layers))
        self.final_norm = nn.LayerNorm(d)
        self.head = make_head(2 * d, n_classes, head)

    def forward(self, ids: Any) -> Any:
        """Return what the head makes of the vertices: logits (*, n_classes), if it is a classifier.

        Args:
            ids: ids of numbers, (*, n²).
        """
        device = self.start.weight.device
        ids = as_ids(ids, device)
        check_rows(ids.shape, self.max_length)
        n, batch = math.isqrt(self.max_length), ids.shape[:-1]
        n_ids = self.embedding.n_ids
        assert n_ids is not None
        numbers = self.embedding(torch.arange(n_ids, device=device))  # (numbers, d)
        # Numbers are few: products with one-hot vectors take the place of a vector of length d for each of n² edges.
        there = functional.one_hot(ids.reshape(-1, n, n), len(numbers)).to(numbers.dtype)
        edges = torch.cat([there, there.transpose(1, 2)], dim=-1)  # (rows, from, to, 2 · numbers)
        # A sum of n independent vectors is √n times as large as one.
        x = dropped(edges.sum(dim=2) @ both_ways(self.start(numbers)) / math.sqrt(n), self.dropout, 0)
        for i, layer in enumerate(self.layers):
            x = layer(x, edges, numbers, first_site=1 + SITES * i)
        x = self.final_norm(x)
        state = torch.cat([x.mean(dim=1), x.amax(dim=1)], dim=-1)
        return self.head(state.reshape(*batch, state.shape[-1]))


class GraphLayer(nn.Module):
    """Attention among vertices, biased and told by the numbers on edges, and a feed-forward layer; norms before.

    Shape: x (rows, n, d), edges (rows, n, n, 2 · numbers), numbers (numbers, d) -> (rows, n, d).

    Args:
        d_model: width.
        n_heads: heads of the attention; a divisor of d_model.
        d_feedforward: width of the inner layer.
        dropout: probability that an element is dropped.

    >>> edges, numbers = torch.zeros(4, 3, 3, 2 * 5), torch.zeros(5, 16)
    >>> GraphLayer(16, 2, 32, 0.1)(torch.zeros(4, 3, 16), edges, numbers).shape
    torch.Size([4, 3, 16])
    """

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.bias = nn.Linear(d_model, 2 * n_heads, bias=False)
        self.message = nn.Linear(d_model, 2 * d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_feedforward), nn.Linear(d_feedforward, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: torch.Tensor, edges: torch.Tensor, numbers: torch.Tensor, *, first_site: int = 0
    ) -> torch.Tensor:
        """Return the vertices' next states; `first_site` numbers the layer's first site of `SITES` in the model."""
        rows, n, d = x.shape
        heads, size = self.n_heads, d // self.n_heads
        q, k, v = self.in_proj(self.norm1(x)).view(rows, n, 3, heads, size).permute(2, 0, 3, 1, 4)
        bias, message = both_ways(self.bias(numbers)), both_ways(self.message(numbers))
        scores = q @ k.transpose(-1, -2) / math.sqrt(size) + (edges @ bias).permute(0, 3, 1, 2)
        shares = dropped(scores.softmax(dim=-1), self.dropout, first_site)  # (rows, heads, n, n)
        # Σ_j share · message(edge): shares are added up number by number first, and no edge gets a message of its own.
        by_number = (shares.permute(0, 2, 1, 3) @ edges).transpose(1, 2)  # (rows, heads, n, 2 · numbers)
        states = shares @ v + by_number @ message.view(-1, heads, size).transpose(0, 1)
        x = x + dropped(self.out_proj(states.transpose(1, 2).flatten(2)), self.dropout, first_site + 1)
        inner = dropped(functional.relu(self.linear1(self.norm2(x))), self.dropout, first_site + 2)
        return x + dropped(self.linear2(inner), self.dropout, first_site + 3)


def both_ways(told: torch.Tensor) -> torch.Tensor:
    """Return what numbers say as an edge's own, and after it as the edge's back: (numbers, 2 · d) -> (2 · numbers, d).

    >>> both_ways(torch.tensor([[1, 2], [3, 4]])).tolist()
    [[1], [3], [2], [4]]
    """
    return torch.cat(told.chunk(2, dim=-1))
