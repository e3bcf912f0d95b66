"""Embeddings by name, so that recipes, the command line and users build every one in the same way."""

from collections.abc import Callable
from typing import Any

from adelic.errors import UnknownNameError
from adelic.nn.embeddings import AdelicEmbedding, LearnedEmbedding, NumberEmbedding
from adelic.nn.fone import FoNEEmbedding
from adelic.nn.rivals import (
    AbacusEmbedding,
    OneHotEmbedding,
    PeriodicEmbedding,
    RandomEmbedding,
    XValEmbedding,
)
from adelic.nn.vocabulary import Vocabulary

EMBEDDINGS: dict[str, Callable[..., NumberEmbedding]] = {
    "adelic": AdelicEmbedding,
    "learned": LearnedEmbedding,
    "random": RandomEmbedding,
    "one-hot": OneHotEmbedding,
    "fone": FoNEEmbedding,
    "xval": XValEmbedding,
    "abacus": AbacusEmbedding,
    "periodic": PeriodicEmbedding,
}
"""Every embedding by its name."""


def build_embedding(name: str, vocabulary: Vocabulary | None, **options: Any) -> NumberEmbedding:
    """Return the embedding of this name.

    Args:
        name: a key of `EMBEDDINGS`.
        vocabulary: the numbers that can occur, or None for open-ended numbers.
        options: what the embedding's class takes, such as d_model, space, features.

    Raises:
        UnknownNameError: there is no such embedding; the nearest name is suggested.

    >>> build_embedding("learned", Vocabulary(range(3)), d_model=16).d_model
    16
    """
    if name not in EMBEDDINGS:
        raise UnknownNameError.of("embedding", name, EMBEDDINGS)
    return EMBEDDINGS[name](vocabulary, **options)
