"""The interface of classifiers towards training: ids to logits, all but the encoder."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.backend import current
from adelic.nn.checks import as_ids, check_plain, check_positive, length_of
from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.kernels import fused
from adelic.nn.positional import PositionalEncoding
from adelic.nn.vocabulary import Vocabulary
from adelic.numbers import rationals

Pooling = Literal["cls", "tokens"]
POOLINGS: tuple[str, ...] = get_args(Pooling)
"""Which last states a head reads: that of [CLS], or those of all tokens, [CLS] among them, one after the other."""


class Body(nn.Module):
    """What leads from numbers to an answer: any module that is built from an embedding and sizes.

    Attributes:
        name: in `adelic.nn.registry.BODIES`, in recipes and on the command line; without one it is in none of them.
        unused: fields of a recipe that play no part in it, and that its `__init__` does not take.
        token: what it works on as a whole: each "number", each "vertex" of rows of n × n numbers, or each "row".
        embedding: of the numbers.
        max_length: longest sequence.
    """

    name: ClassVar[str]
    unused: ClassVar[tuple[str, ...]] = ()
    token: ClassVar[str] = "number"

    embedding: NumberEmbedding
    max_length: int

    def extend(self, numbers: Sequence[Any]) -> None:
        """Read more numbers, whose ids are after those of the vocabulary; see `NumberEmbedding.extend`."""
        self.embedding.extend(numbers)

    @property
    def n_parameters(self) -> int:
        """Return the number of trained parameters."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


class Classifier(Body):
    """The interface of classifiers towards training: ids to logits, all but the encoder.

    Tokens are embedded, [CLS] is before them, positions are added; a subclass says how tokens get their last
    states, of which a head reads the first, or all.

    Shape: ids (*, length), of any integer type -> logits (*, n_classes), float32, under `torch.autocast` of its type;
    with several targets (*, n_targets, most classes); with a head of your own, what it makes of states (*, d).

    Attributes:
        max_length: longest sequence, without [CLS]; with pooling="tokens", the length of all.
        pooling: which last states the head reads, see `POOLINGS`.
        cls: the vector of [CLS], (d,).
        positional: the positional encoding.
        dropout: of embedded tokens.
        head: from the state of [CLS] to logits, or what a head of your own gives.

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=8)
    >>> isinstance(nn.SequenceClassifier(embedding, n_classes=2, max_length=8), Classifier)
    True
    """

    pooling: Pooling
    cls: nn.Parameter
    positional: PositionalEncoding
    dropout: nn.Dropout
    head: nn.Module

    @abstractmethod
    def embed(self, ids: Any) -> torch.Tensor:
        """Return the vectors of ids, (*, length, d), some of them random in training."""

    @abstractmethod
    def encode(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last states that are read, (batch, d), or (batch, (length + 1) · d) if all are.

        x are tokens, (batch, length + 1, d); dropout's site 0 is used already.
        """

    def forward(self, ids: Any) -> Any:
        """Return what the head makes of the states it reads: logits, (*, n_classes), if it is a classifier.

        They are float32, under `torch.autocast` of its type. How precise the products are, and where dropout's random
        numbers come from, is the affair of `adelic.nn.backend.Backend`. Without a vocabulary, numbers stand instead of
        ids (*, length).
        """
        check_plain(ids, self.cls.device)
        x = self.place(ids)
        batch = x.shape[:-2]
        # -1 would not do for an empty batch, whose size is ambiguous then.
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
        self.check_length(length_of(tokens.shape[:-1]))
        return self.positional(after_cls(self.cls, tokens))  # type: ignore[no-any-return]

    def check_length(self, length: int) -> None:
        """Raise ConfigurationError for a sequence that is too long, or too short where the head reads all tokens."""
        if self.pooling == "tokens" and length != self.max_length:
            raise ConfigurationError(
                f"a sequence of length {length}: with pooling='tokens' every sequence has max_length={self.max_length}"
            )
        if length > self.max_length:
            raise ConfigurationError(f"a sequence of length {length} exceeds max_length={self.max_length}")


def check_rows(shape: tuple[int, ...], length: int) -> None:
    """Raise ConfigurationError unless ids or numbers of a shape are rows of a length.

    >>> check_rows(torch.Size([2, 3]), 4)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: an example of 3 numbers: this body reads 4
    """
    if length_of(shape) != length:
        raise ConfigurationError(f"an example of {shape[-1]} numbers: this body reads {length}")


def read_rows(
    numbers: Any, length: int, vocabulary: Vocabulary | None, device: torch.device
) -> tuple[Any, tuple[int, ...]]:
    """Return ids of a vocabulary, or else numbers, (*, length) as rows, (rows, length), and the shape *.

    Ids are those of a layer on `device`. Numbers that are no array are read as exact ones: then rows are a pair
    (numerators, denominators), which whatever reads numbers takes.

    >>> read_rows(torch.tensor([[[1, 2]]]), 2, Vocabulary.of(5), torch.device("cpu"))
    (tensor([[1, 2]]), (1, 1))
    >>> read_rows([["1/7", 2]], 2, None, torch.device("cpu"))
    ((array([[1, 2]]), array([[7, 1]])), (1,))
    """
    if vocabulary is None:
        check_plain(numbers)
    else:
        numbers = as_ids(numbers, device)
    if isinstance(numbers, torch.Tensor | np.ndarray):
        shape, parts = numbers.shape, [numbers]
    else:
        parsed = rationals.read(numbers, floats="never")
        shape, parts = parsed.shape, [parsed.numerators, parsed.denominators]
    check_rows(shape, length)
    rows = tuple(part.reshape(math.prod(shape[:-1]), length) for part in parts)
    return rows if len(rows) > 1 else rows[0], tuple(shape[:-1])


def after_cls(cls: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return tokens, (*, length, d), after a vector (d,).

    >>> after_cls(torch.ones(3), torch.zeros(2, 4, 3)).shape
    torch.Size([2, 5, 3])
    """
    return torch.cat([cls.expand(*tokens.shape[:-2], 1, -1), tokens], dim=-2)


def read_size(pooling: str, d: int, max_length: int) -> int:
    """Return how many numbers a head reads: the d of [CLS], or those of all tokens.

    >>> read_size("cls", 128, 8), read_size("tokens", 128, 8)
    (128, 1152)
    """
    if pooling not in POOLINGS:
        raise ConfigurationError(f"pooling={pooling!r} is unknown; use {' or '.join(POOLINGS)}")
    return d if pooling == "cls" else (max_length + 1) * d


def check_sizes(n_classes: int | Sequence[int] | None, max_length: int, n_layers: int, dropout: float) -> None:
    """Raise ConfigurationError unless a classifier can have these sizes, and dropout leaves something."""
    check_positive(max_length=max_length, n_layers=n_layers)
    if n_classes is not None and not isinstance(n_classes, Sequence):
        check_positive(n_classes=n_classes)
        if n_classes < 2:
            raise ConfigurationError(
                f"n_classes={n_classes} leaves nothing to tell apart; a classifier needs at least 2"
            )
    if not 0 <= dropout < 1:
        raise ConfigurationError(f"dropout={dropout} must lie in [0, 1)")


def check_layers(n_heads: int, d_feedforward: int, norm: str = "pre", **width: int) -> None:
    """Raise ConfigurationError unless layers of an encoder can have these sizes: heads share a vector.

    >>> check_layers(3, 16, d_model=8)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: d_model=8 is not divisible by n_heads=3
    """
    check_positive(n_heads=n_heads, d_feedforward=d_feedforward, **width)
    for name, d in width.items():
        if d % n_heads:
            raise ConfigurationError(f"{name}={d} is not divisible by n_heads={n_heads}")
    if norm not in ("post", "pre"):
        raise ConfigurationError(f"norm={norm!r} is unknown; use 'post' or 'pre'")
