"""AOE: the adele of a number as its vector."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.embeddings.base import NumberEmbedding, check_autocast, check_range, greatest_of
from adelic.nn.fingerprint import of_space
from adelic.nn.positional import AdelicPositionalEncoding, PositionalEncoding
from adelic.nn.vocabulary import Vocabulary
from adelic.numbers import AdeleSpace
from adelic.numbers.features import (
    HOT_KINDS,
    FeatureLayout,
    compute_features,
    hot_positions,
    signed_logarithm,
    standardize,
)

COORDINATES = ("all", "real", "p-adic")
"""Which of AOE's coordinates a model is given."""


class AdelicEmbedding(NumberEmbedding):
    """The adele of a number as its vector: AOE. The paper's form is features="digits", which has no parameters.

    A finite vocabulary becomes one frozen table (a buffer) of features, float32: 4 bytes a feature and number, as 158
    MB for 10^5 numbers in the default form. Without a vocabulary the numbers themselves are encoded on the way (on the
    CPU), and there is no table.

    Where the features are fewer than d_model they are padded with zeros. Where they are more, the highest levels
    (powers of p) are left out, as long as the vocabulary's numbers keep different vectors; `projection="linear"` keeps
    all levels.

    Shape: ids (*, length) -> (*, length, d_model); without a vocabulary: numbers (*, length), whatever
    `AdeleSpace.encode` takes.

    # NOTE[paper]: its form is "digits". The default is ours, and the page "Which features?" says why.

    Args:
        vocabulary: the numbers that can occur, or None.
        space: the adele space; the default has 128 coordinates.
        d_model: length of a vector.
        features: "digits" (the paper), "standardized", "characters", "one-hot-digits", "valuation-unit",
            "multiplicative-characters" or "combined"; see `adelic.numbers.features`. None, the default, is "combined".
        projection: None, or "linear" for a trained linear map from all features to d_model, which "combined" always
            has.
        coordinates: "all"; "real" or "p-adic" leaves those of the other places at 0, to see what each is worth.
        scale: mean and deviation of the numbers that are usual, for "combined": one more feature is the size on that
            scale. `for_column` sets it.

    Raises:
        ConfigurationError: no level fits, two numbers would get the same vector, or "standardized" lacks a vocabulary.
        PrecisionError: a number of the vocabulary does not fit the space's window.
        RangeError: on conversion to a type of fewer bits, a feature would become infinite, as 10^6 in float16.

    Source: the paper, section 2 "Embedding Construction" and "Plug-and-play Integration".

    >>> embedding = AdelicEmbedding(Vocabulary(range(8)), d_model=128, features="digits")
    >>> embedding(torch.tensor([[0, 7, 3]])).shape, sum(p.numel() for p in embedding.parameters())
    (torch.Size([1, 3, 128]), 0)
    >>> AdelicEmbedding(Vocabulary(range(8)), d_model=128)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 128])
    >>> AdelicEmbedding(None, features="characters", projection="linear")([["1/19", 10**20]]).shape
    torch.Size([1, 2, 128])
    """

    name = "adelic"

    def __init__(
        self,
        vocabulary: Vocabulary | None,
        *,
        space: AdeleSpace | None = None,
        d_model: int = 128,
        features: str | None = None,
        projection: str | None = None,
        coordinates: str = "all",
        scale: tuple[float, float] | None = None,
    ) -> None:
        super().__init__(vocabulary, d_model)
        if coordinates not in COORDINATES:
            raise ConfigurationError(f"coordinates={coordinates!r} are unknown; use {', '.join(COORDINATES)}")
        if projection not in (None, "linear"):
            raise ConfigurationError(f"projection={projection!r} is unknown; use None or 'linear'")
        features = "combined" if features is None else features
        if features == "combined":
            projection = "linear"  # these features are more than a vector has coordinates
        if features == "standardized" and vocabulary is None:
            raise ConfigurationError("features='standardized' needs a vocabulary to standardize over")
        if scale is not None and (features != "combined" or not all(map(math.isfinite, scale)) or scale[1] <= 0):
            raise ConfigurationError(
                f"scale={scale}: it is a mean and a deviation above 0, for features='combined'; leave it out otherwise"
            )
        self.space, self.coordinates, self.scale = AdeleSpace() if space is None else space, coordinates, scale
        self.layout = FeatureLayout.fit(features, self.space, None if projection else d_model)
        self.projection = nn.Linear(self.layout.size, d_model) if projection else None
        # Without a vocabulary the table is empty, and says on which device and in which type the vectors are wanted.
        table = torch.empty(0, d_model) if vocabulary is None else self._features(list(vocabulary.numbers))
        self._check_distinct(table)
        self.table: torch.Tensor
        self.register_buffer("table", table, persistent=False)
        self._greatest = greatest_of(table)

    @classmethod
    def from_options(
        cls, vocabulary: Vocabulary | None, d_model: int, options: Mapping[str, Any], *, reach: int | None = None
    ) -> Self:
        """Return the embedding that the values of all options describe, in the flat model."""
        return cls(
            vocabulary,
            space=AdeleSpace(options["primes"], options["precision"], options["fractional_digits"]),
            d_model=d_model,
            features=options["features"],
            projection=None if options["projection"] == "none" else options["projection"],
            coordinates=options["coordinates"],
        )

    def _features(self, numbers: Any) -> torch.Tensor:
        """Return the features of numbers, padded to d_model unless a projection does that."""
        adeles = self.space.encode(numbers, floats="never")
        flat = compute_features(adeles, self.layout, scale=self.scale)
        if self.layout.kind == "standardized":
            flat = standardize(flat)
        if self.coordinates != "all":
            flat[..., slice(self.layout.n_real, None) if self.coordinates == "real" else slice(self.layout.n_real)] = 0
        padding = 0 if self.projection is not None else self.d_model - self.layout.size
        return torch.from_numpy(np.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, padding)]))

    def _check_distinct(self, table: torch.Tensor) -> None:
        """Raise `ConfigurationError` if two numbers of the vocabulary have the same vector."""
        if len(torch.unique(table, dim=0)) < len(table):
            rounded = "" if table.dtype == torch.float32 else f" in {table.dtype}"
            raise ConfigurationError(
                f"{self.layout.levels} levels of {self.layout.kind} at the primes {self.space.primes} "
                f"({self.coordinates} coordinates){rounded} give two numbers of the vocabulary the same vector; "
                "use more primes, a higher precision, a larger d_model or projection='linear'"
            )

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Self:
        """Move or convert the module, unless its numbers would no longer be told apart."""
        converted = fn(self.table)
        if converted.dtype != self.table.dtype and not converted.is_meta:
            check_range(self._greatest, converted.dtype)
            self._check_distinct(converted)
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call, no-any-return]

    def forward(self, ids_or_numbers: Any) -> torch.Tensor:
        """Return the vectors of ids (or of numbers, without a vocabulary), (*, length, d_model).

        Float32, or the type that the module was converted to.

        Raises:
            RangeError: a feature is beyond that type, or beyond the one that autocasting would give it.
        """
        if self.vocabulary is not None:
            greatest, vectors = self._greatest, functional.embedding(ids_or_numbers, self.table)
        else:
            if self.projection is not None and self.layout.kind in HOT_KINDS and self.coordinates == "all":
                return self._project_digits(ids_or_numbers, self.projection)
            features = self._features(ids_or_numbers)
            greatest = greatest_of(features)
            check_range(greatest, self.table.dtype)
            vectors = features.to(self.table.device, self.table.dtype)
        check_autocast(greatest, self.table.device.type)
        return vectors if self.projection is None else self.projection(vectors)

    def _project_digits(self, numbers: Any, projection: nn.Linear) -> torch.Tensor:
        """Return the vectors of open-ended numbers as sums of the map's columns, without thousands of features."""
        adeles = self.space.encode(numbers, floats="never")
        device, dtype = self.table.device, self.table.dtype
        hot = torch.from_numpy(hot_positions(adeles, self.layout)).to(device)
        real = torch.from_numpy(np.asarray(signed_logarithm(adeles.real))).to(device, dtype)
        columns = functional.pad(projection.weight.t(), (0, 0, 0, 1))
        bags = hot.reshape(-1, math.prod(hot.shape[-2:]))
        sums = functional.embedding_bag(bags, columns, mode="sum", padding_idx=self.layout.size)
        return sums.reshape(*hot.shape[:-2], self.d_model) + real[..., None] * columns[0] + projection.bias

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, the space and the features."""
        features: dict[str, Any] = {
            "features": self.layout.kind,
            "levels": self.layout.levels,
            "coordinates": self.coordinates,
        }
        if self.layout.kind == "combined":
            features["scale"] = self.scale and list(self.scale)
        return super().fingerprint() | of_space(self.space) | features

    @property
    def frozen(self) -> torch.Tensor | None:
        """Return the vectors of the vocabulary, (numbers, d_model), unless a projection is trained or there is none."""
        return None if self.vocabulary is None or self.projection is not None else self.table

    def positional_encoding(self, max_length: int) -> PositionalEncoding:
        """Return the joint encoding where coordinates are digits, else the sinusoidal one."""
        if self.projection is None and self.layout.kind in ("digits", "standardized"):
            return AdelicPositionalEncoding(self.layout, self.d_model, max_length=max_length)
        return super().positional_encoding(max_length)
