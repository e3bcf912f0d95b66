"""A multilayer perceptron over all numbers of a row, side by side."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.backend import dropped
from adelic.nn.bodies.classifier import Body, check_sizes, read_rows
from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.heads.adelic import AdelicHead
from adelic.nn.heads.classes import make_head


class _Layers(nn.Module):
    """The layers of a perceptron, from the numbers of rows to its last states; sizes are those of `MLPClassifier`."""

    def __init__(
        self, embedding: NumberEmbedding, max_length: int, n_layers: int, width: int, dropout: float, first_site: int
    ) -> None:
        super().__init__()
        self.max_length, self.first_site = max_length, first_site
        length = max_length * embedding.tokens_per_number
        # Kept as (d_model, length, width): so the product with each number's vector is one matrix product, see `read`.
        bound = 1 / math.sqrt(embedding.d_model * length)  # as in nn.Linear
        self.weight = nn.Parameter(torch.empty(embedding.d_model, length, width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(width).uniform_(-bound, bound))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(n_layers + 1))
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(n_layers))
        self.dropout = nn.Dropout(dropout)

    def states(self, embedding: NumberEmbedding, ids: Any) -> torch.Tensor:
        """Return the last states of rows of ids or numbers, (rows, length) -> (rows, d_feedforward)."""
        x = self.read(embedding, ids)
        for site, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=False)):
            x = x + layer(self.activated(x, norm, site))
        return self.activated(x, self.norms[-1], len(self.layers))

    def read(self, embedding: NumberEmbedding, ids: Any) -> torch.Tensor:
        """Return the first layer's values for rows of ids or numbers, (rows, length) -> (rows, d_feedforward)."""
        known = embedding.n_ids if embedding.tokens_per_number == 1 else None
        if known is None or known >= len(ids):
            vectors = embedding(ids).transpose(1, 2).flatten(1)
            return vectors @ self.weight.flatten(0, 1) + self.bias  # type: ignore[no-any-return]
        # Numbers are fewer than rows: what each adds at each place is computed once, and rows add it up.
        added = embedding(torch.arange(known, device=ids.device)) @ self.weight.flatten(1)
        places = ids * self.max_length + torch.arange(self.max_length, device=ids.device)
        return functional.embedding_bag(places, added.view(-1, len(self.bias)), mode="sum") + self.bias

    def activated(self, x: torch.Tensor, norm: nn.Module, site: int) -> torch.Tensor:
        """Return dropout(ReLU(norm(x)))."""
        return dropped(functional.relu(norm(x)), self.dropout, self.first_site + site)


class MLPClassifier(_Layers, Body):
    """A multilayer perceptron: it reads the vectors of all numbers of a row, one after the other.

    Every place in the row has weights of its own, so no positions are added and nothing is attended to. Hidden
    layers are residual, with layer norms and ReLU before; all rows have one length. Where the answer is a number (an
    `AdelicHead`), a second perceptron, `real`, says how large it is: size and residues have little in common.

    Shape: ids (*, length), or numbers without a vocabulary -> (*, n_classes), float32; or what a head gives.

    Args:
        embedding: any `NumberEmbedding`.
        n_classes, head: as of `adelic.nn.SequenceClassifier`; the state has d_feedforward numbers.
        max_length: numbers in a row.
        n_layers: hidden layers after the first.
        d_feedforward: width of the hidden layers.
        dropout: probability that an element of a hidden layer is dropped.

    Raises:
        ConfigurationError: a size makes no sense.

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=16)
    >>> model = MLPClassifier(embedding, n_classes=5, max_length=9, n_layers=1, d_feedforward=32)
    >>> model(torch.zeros(4, 9, dtype=torch.int64)).shape
    torch.Size([4, 5])
    """

    name = "mlp"
    unused = ("initial_std", "n_heads", "norm", "pooling", "positional")
    token = "row"

    def __init__(
        self,
        embedding: NumberEmbedding,
        *,
        n_classes: int | Sequence[int] | None = None,
        head: Callable[[int], nn.Module] | None = None,
        max_length: int,
        n_layers: int = 6,
        d_feedforward: int = 512,
        dropout: float = 0.1,
    ) -> None:
        check_sizes(n_classes, max_length, n_layers, dropout)
        if d_feedforward < 1:
            raise ConfigurationError(f"d_feedforward={d_feedforward} leaves no hidden layer; it is at least 1")
        sizes = (embedding, max_length, n_layers, d_feedforward, dropout)
        super().__init__(*sizes, first_site=0)
        self.embedding = embedding
        self.head = make_head(d_feedforward, n_classes, head)
        self.real = _Layers(*sizes, first_site=n_layers + 1) if isinstance(self.head, AdelicHead) else None

    def forward(self, ids: Any) -> Any:
        """Return what the head makes of the last layer: logits (*, n_classes), if it is a classifier.

        Args:
            ids: ids of numbers, (*, length), or numbers.
        """
        rows, batch = read_rows(ids, self.max_length, self.embedding.vocabulary, self.weight.device)
        seen = [part.states(self.embedding, rows) for part in (self, self.real) if part is not None]
        return self.head(*(x.view(*batch, x.shape[1]) for x in seen))
