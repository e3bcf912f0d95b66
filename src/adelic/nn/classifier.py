"""The paper's model: a Transformer encoder over embedded numbers, read at [CLS], or at all tokens."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn import fused
from adelic.nn.backend import current
from adelic.nn.embeddings import NumberEmbedding, check_autocast, greatest_of
from adelic.nn.encoder import SITES, EncoderLayer, Norm
from adelic.nn.positional import LearnedPositionalEncoding, PositionalEncoding, SinusoidalPositionalEncoding
from adelic.nn.tensors import check_plain

Readout = Literal["cls", "tokens"]
READOUTS: tuple[str, ...] = get_args(Readout)
"""Which last states a head reads: that of [CLS], or those of all tokens, [CLS] among them, one after the other."""
_MOST_FOLDED = 2**22
"""Elements of a table of all numbers at all positions; a larger one would be slower to read than to add."""


class ClassHeads(nn.Module):
    """One linear classifier a target, on a common state; a target with fewer classes than others has logits −inf.

    Shape: state (*, in_features) -> logits (*, n_targets, most classes), float32.

    Args:
        in_features: length of the state.
        n_classes: number of classes of each target; 1 for a target that never varies.

    >>> logits = ClassHeads(8, (2, 3, 1))(torch.zeros(4, 8))
    >>> logits.shape, torch.isinf(logits[0]).tolist()
    (torch.Size([4, 3, 3]), [[False, False, True], [False, False, False], [False, True, True]])
    """

    def __init__(self, in_features: int, n_classes: Sequence[int]) -> None:
        super().__init__()
        if not n_classes or min(n_classes) < 1:
            raise ConfigurationError(f"n_classes={list(n_classes)}: name one target or more, each with a class or more")
        self.n_classes = tuple(n_classes)
        self.linear = nn.Linear(in_features, sum(n_classes))
        most = max(n_classes)
        places = [target * most + c for target, count in enumerate(n_classes) for c in range(count)]
        self.places: torch.Tensor
        self.register_buffer("places", torch.tensor(places), persistent=False)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        """Return the logits, float32 (*, n_targets, most classes)."""
        found = self.linear(state)
        n_targets, most = len(self.n_classes), max(self.n_classes)
        padded = found.new_full((*found.shape[:-1], n_targets * most), -math.inf)
        logits: torch.Tensor = padded.index_copy(-1, self.places, found).unflatten(-1, (n_targets, most))
        return logits


class Classifier(nn.Module):
    """The interface of classifiers towards training: ids to logits, all but the encoder.

    Tokens are embedded, [CLS] stands before them, positions are added; a subclass says how tokens get their last
    states, of which a head reads the first, or all.

    Shape: ids (*, length) -> logits (*, n_classes), float32; with several targets (*, n_targets, most classes); with a
    head of one's own, what it makes of states (*, d).

    Attributes:
        max_length: longest sequence, without [CLS]; with readout="tokens", the length of all.
        readout: which last states the head reads, see `READOUTS`.
        cls: the vector of [CLS], (d,).
        positional: the positional encoding.
        dropout: of embedded tokens.
        head: from the state of [CLS] to logits, or what a head of one's own gives.

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=8)
    >>> isinstance(nn.SequenceClassifier(embedding, n_classes=2, max_length=8), Classifier)
    True
    """

    max_length: int
    readout: Readout
    cls: nn.Parameter
    positional: PositionalEncoding
    dropout: nn.Dropout
    head: nn.Module

    @abstractmethod
    def embed(self, ids: Any) -> torch.Tensor:
        """Return the vectors of ids, (*, length, d), some of them random in training."""

    @abstractmethod
    def encode(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last states that are read, (batch, d), or (batch, (length + 1) · d) where all are.

        Args:
            x: tokens, (batch, length + 1, d); dropout's site 0 is used already.
        """

    def forward(self, ids: Any) -> Any:
        """Return what the head makes of the states it reads: logits, float32 (*, n_classes), where it is a classifier.

        How precise the products are, and where dropout's random numbers come from, is the affair of
        `adelic.nn.backend.Backend`.

        Args:
            ids: ids of numbers, or numbers without a vocabulary, (*, length).
        """
        check_plain(ids, self.cls.device)
        x = self.place(ids)
        batch = x.shape[:-2]
        x = x.reshape(math.prod(batch), *x.shape[-2:])
        if fused.takes(x):
            p = self.dropout.p if self.training else 0.0
            backend = current().drawn(p)  # one for all layers
            with backend.on(x.device):
                if p:
                    x = fused.apply(fused.Dropout, x, backend.site(0, p), x.numel() // len(x))
                states = self.encode(x)
        else:
            states = self.encode(self.dropout(x))
        return self.head(states.reshape(*batch, states.shape[-1]))

    def place(self, ids: Any) -> torch.Tensor:
        """Return [CLS] and the vectors of ids, positions added, (*, length + 1, d)."""
        tokens = self.embed(ids)
        self._check_length(tokens.shape[-2])
        return self.positional(_after(self.cls, tokens))  # type: ignore[no-any-return]

    def _check_length(self, length: int) -> None:
        if self.readout == "tokens" and length != self.max_length:
            raise ConfigurationError(
                f"a sequence of length {length}: with readout='tokens' every sequence has max_length={self.max_length}"
            )
        if length > self.max_length:
            raise ConfigurationError(f"a sequence of length {length} exceeds max_length={self.max_length}")

    @property
    def n_parameters(self) -> int:
        """Return the number of trained parameters."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


def _after(cls: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return tokens, (*, length, d), behind a vector (d,)."""
    return torch.cat([cls.expand(*tokens.shape[:-2], 1, -1), tokens], dim=-2)


def make_head(d: int, n_classes: int | Sequence[int] | None, head: Callable[[int], nn.Module] | None) -> nn.Module:
    """Return what reads a state of length d: a linear classifier, one a target, or what `head` makes of d.

    Raises:
        ConfigurationError: there are both classes and a head, or neither.

    >>> make_head(8, 3, None)
    Linear(in_features=8, out_features=3, bias=True)
    """
    if head is not None and n_classes is None:
        return head(d)
    if head is not None or n_classes is None:
        raise ConfigurationError("a model ends in classes or in a head: give n_classes or head, and not both")
    return nn.Linear(d, n_classes) if isinstance(n_classes, int) else ClassHeads(d, n_classes)


def read_size(readout: str, d: int, max_length: int) -> int:
    """Return how many numbers a head reads: the d of [CLS], or those of all tokens.

    Raises:
        ConfigurationError: there is no such readout.

    >>> read_size("cls", 128, 8), read_size("tokens", 128, 8)
    (128, 1152)
    """
    if readout not in READOUTS:
        raise ConfigurationError(f"readout={readout!r} is unknown; use {' or '.join(READOUTS)}")
    return d if readout == "cls" else (max_length + 1) * d


def check_sizes(n_classes: int | Sequence[int] | None, max_length: int, n_layers: int) -> None:
    """Raise ConfigurationError unless a classifier can have these sizes."""
    if (isinstance(n_classes, int) and n_classes < 2) or max_length < 1 or n_layers < 1:
        raise ConfigurationError(
            f"n_classes={n_classes}, max_length={max_length}, n_layers={n_layers}: "
            "a classifier needs at least 2, 1 and 1"
        )


class SequenceClassifier(Classifier):
    """Embedding, positional encoding, [CLS], Transformer encoder, head on the [CLS] state, or on all states.

    Where the embedding's vectors and those of positions are frozen, they are added once: `folded` has the vector of
    every number at every position, and a step reads it as `nn.Embedding` reads its own.

    Shape: ids (*, length) -> logits (*, n_classes), float32, or as `Classifier` says.

    Args:
        embedding: any `NumberEmbedding`; the two models of the paper differ in it alone.
        n_classes: number of classes; or that of each target, where a row has several (see `ClassHeads`).
        head: makes, from d_model, a module that reads the state in place of a classifier, as `AdelicHead` does.
        max_length: longest sequence, without [CLS].
        n_layers, n_heads, dropout: the paper's 6, 8 and 0.1.
        d_feedforward: # NOTE[paper]: it gives none; 512 = 4 · d_model, as usual.
        norm: "post" (torch's default, which we take for the paper's) or "pre", which trains without warm-up.
        positional: "embedding" lets the embedding choose; "sinusoidal", "learned" and "none" override it.
        readout: "cls", as in the paper, or "tokens": the head reads all tokens' last states, one after the other, and
            all sequences have max_length tokens. What attention averages, such a head can count.

    # NOTE[paper]: what [CLS] is for AOE is not said. Here it is one trained vector in both models.

    Source: the paper, section 3.1 "Models".

    >>> from adelic import nn
    >>> model = nn.SequenceClassifier(nn.LearnedEmbedding(nn.Vocabulary(range(8))), n_classes=5, max_length=8)
    >>> model(torch.zeros(2, 8, dtype=torch.int64)).shape
    torch.Size([2, 5])
    """

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
        positional: Literal["embedding", "sinusoidal", "learned", "none"] = "embedding",
        readout: Readout = "cls",
    ) -> None:
        super().__init__()
        d_model = embedding.d_model
        if n_heads < 1 or d_model % n_heads:
            raise ConfigurationError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        check_sizes(n_classes, max_length, n_layers)
        if norm not in ("post", "pre"):
            raise ConfigurationError(f"norm={norm!r} is unknown; use 'post' or 'pre'")
        self.embedding = embedding
        self.max_length, self.readout = max_length, readout
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
        self.head = make_head(read_size(readout, d_model, max_length), n_classes, head)

    def embed(self, ids: Any) -> torch.Tensor:
        """Return the embedding's vectors, (*, length, d_model)."""
        vectors: torch.Tensor = self.embedding(ids)
        return vectors

    def place(self, ids: Any) -> torch.Tensor:
        """Return [CLS] and the vectors of ids, positions added, (*, length + 1, d_model)."""
        if self.folded is None:
            return super().place(ids)
        length = ids.shape[-1]
        self._check_length(length)
        check_autocast(self._greatest, self.folded.device.type)
        # In this order an id that is no number's lies outside the table, at whatever position, and is told.
        places = ids * self.max_length + torch.arange(length, device=ids.device)
        return _after(self.cls + self.positional.table[0], functional.embedding(places, self.folded))

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last states that are read, (batch, d_model) or (batch, (length + 1) · d_model)."""
        for i, layer in enumerate(self.layers):
            # Where [CLS] alone is read, the last layer computes no other token's state.
            n_read = 1 if self.readout == "cls" and i == len(self.layers) - 1 else None
            x = layer(x, n_read=n_read, first_site=1 + SITES * i)
        states: torch.Tensor = self.final_norm(x)
        return states.flatten(1)


def _fold(table: torch.Tensor | None, positions: torch.Tensor) -> torch.Tensor | None:
    """Return a table's vectors at each position behind [CLS], (numbers · positions, d).

    None where there is no table, or where positions are trained, or where it would be too much.
    """
    if table is None or positions.requires_grad or table.numel() * (len(positions) - 1) > _MOST_FOLDED:
        return None
    return (table[:, None] + positions[1:]).flatten(0, 1)


def _positional(kind: str, embedding: NumberEmbedding, max_length: int) -> PositionalEncoding:
    if kind == "embedding":
        return embedding.positional_encoding(max_length)
    if kind == "sinusoidal":
        return SinusoidalPositionalEncoding(embedding.d_model, max_length=max_length)
    if kind == "learned":
        return LearnedPositionalEncoding(embedding.d_model, max_length=max_length)
    if kind == "none":
        return PositionalEncoding(torch.zeros(max_length, embedding.d_model))
    raise ConfigurationError(f"positional={kind!r} is unknown; use 'embedding', 'sinusoidal', 'learned' or 'none'")
