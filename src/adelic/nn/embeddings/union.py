"""Several embeddings at once: the sum of their vectors."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

import torch
from torch import nn

from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.embeddings.adelic import AdelicEmbedding
from adelic.nn.embeddings.base import NumberEmbedding, longer
from adelic.nn.embeddings.features import ScaledEmbedding
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.embeddings.periodic import PeriodicEmbedding
from adelic.nn.embeddings.xval import XValEmbedding
from adelic.nn.vocabulary import Numbers

PARTS: Mapping[str, type[NumberEmbedding]] = {
    "combined": AdelicEmbedding,
    "fone": FoNEEmbedding,
    "periodic": PeriodicEmbedding,
    "residues": AdelicEmbedding,
    "xval": XValEmbedding,
}


class UnionEmbedding(NumberEmbedding):
    """The sum of the vectors of several embeddings, each with its own trained map.

    A sum of maps is one map of all features together, so this is what a network can read that is given several families
    of features, as AOE's form `combined` is. It is ours, to compare unions with a union.

    Shape: ids or numbers (*, length) -> (*, length, d_model).

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        parts: of combined, fone, periodic, residues and xval, with + between them. combined is `AdelicEmbedding` as it
            is by default; residues are `AdelicEmbedding` with features="residues" and without the real value: a trained
            vector for each n mod p^k, summed over the primes.
        sigma: of periodic, see `PeriodicEmbedding`.
        max_digits: digits before the point of fone; by default as many as the vocabulary needs, 10 without one.

    Raises:
        UnknownNameError: there is no such part.
        ConfigurationError, EncodingError, RangeError: as for the parts.

    >>> from adelic import nn
    >>> nn.UnionEmbedding(1000, d_model=16, parts="fone+xval+residues")(torch.tensor([[0, 7, 360]])).shape
    torch.Size([1, 3, 16])
    >>> nn.UnionEmbedding(None, d_model=16, parts="xval+residues").fit([-5, 20])([[3, 8]]).shape
    torch.Size([1, 2, 16])
    """

    name = "union"
    digits_option = "max_digits"

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        parts: str = "fone+xval+residues",
        sigma: float = 0.01,
        max_digits: int | None = None,
    ) -> None:
        super().__init__(vocabulary, d_model)
        options: Mapping[str, dict[str, Any]] = {
            "fone": {"integer_digits": max_digits},
            "periodic": {"sigma": sigma},
            "residues": {"features": "residues", "projection": "linear", "coordinates": "p-adic"},
        }
        self.parts = nn.ModuleDict()
        named = parts.split("+")
        for part in named:
            if part not in PARTS:
                raise UnknownNameError.of("part", part, PARTS, listed="parts, with + between them")
            if named.count(part) > 1:
                raise ConfigurationError(f"parts={parts!r} names {part} twice; name each once")
            build: Any = PARTS[part]
            self.parts[part] = build(self.vocabulary, d_model, **options.get(part, {}))

    def fit(self, numbers: Any) -> Self:
        """Set the scale of the parts that have one, see `ScaledEmbedding.fit`; return the embedding."""
        for part in self.parts.values():
            if isinstance(part, ScaledEmbedding):
                part.fit(numbers)
        return self

    def extend(self, numbers: Sequence[Any]) -> None:
        """Add numbers after those of the vocabulary, see `NumberEmbedding.extend`."""
        vocabulary, parts = longer(self.vocabulary, numbers), copy.deepcopy(self.parts)
        for part in parts.values():
            cast(NumberEmbedding, part).extend(numbers)
        self.vocabulary, self.parts = vocabulary, parts  # last: an error of one part leaves all as they were

    def forward(self, ids_or_numbers: Any) -> torch.Tensor:
        """Return the sum of the parts' vectors, float32 (*, length, d_model)."""
        vectors: torch.Tensor = sum(part(ids_or_numbers) for part in self.parts.values())
        return vectors
