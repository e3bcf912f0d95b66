"""Embeddings of numbers behind one interface; this module has the paper's two."""

import itertools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, RangeError
from adelic.nn.fingerprint import Fingerprinted, of_space, of_vocabulary
from adelic.nn.positional import AdelicPositionalEncoding, PositionalEncoding, SinusoidalPositionalEncoding
from adelic.nn.tensors import check_plain
from adelic.nn.vocabulary import Vocabulary
from adelic.numbers import AdeleSpace
from adelic.numbers.features import FeatureLayout, compute_features, standardize

COORDINATES = ("all", "real", "p-adic")
"""Which of AOE's coordinates a model is given."""


class NumberEmbedding(Fingerprinted):
    """A map from numbers to vectors; the interface of every embedding.

    Shape: ids (*, length), int64, or numbers (*, length) without a vocabulary -> (*, length, d_model).

    Attributes:
        vocabulary: the numbers that can occur; None for open-ended numbers.
        d_model: length of a vector.

    >>> class Halves(NumberEmbedding):
    ...     def forward(self, ids):
    ...         return ids[..., None].expand(*ids.shape, self.d_model) / 2
    >>> Halves(Vocabulary(range(8)), d_model=2)(torch.tensor([[3, 5]]))
    tensor([[[1.5000, 1.5000],
             [2.5000, 2.5000]]])
    """

    def __init__(self, vocabulary: Vocabulary | None, d_model: int) -> None:
        super().__init__()
        if d_model < 1:
            raise ConfigurationError(f"d_model={d_model} leaves no coordinate; d_model >= 1")
        self.vocabulary = vocabulary
        self.d_model = d_model
        self.register_forward_pre_hook(_check_input)

    @abstractmethod
    def forward(self, ids_or_numbers: Any) -> torch.Tensor:
        """Return the vectors, float32 (*, length, d_model)."""

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and in subclasses whatever else is frozen and no tensor of the state dict."""
        return of_vocabulary(self.vocabulary)

    @property
    def frozen(self) -> torch.Tensor | None:
        """Return the vectors of the vocabulary, (numbers, d_model), where neither training nor loading changes them."""
        return None

    def positional_encoding(self, max_length: int) -> PositionalEncoding:
        """Return the positional encoding that goes with this embedding."""
        return SinusoidalPositionalEncoding(self.d_model, max_length=max_length)


class LearnedEmbedding(NumberEmbedding):
    """One trained vector a number, `nn.Embedding`: the paper's baseline.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: len(vocabulary) · d_model.

    >>> LearnedEmbedding(Vocabulary(range(8)), d_model=128)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 128])
    """

    vocabulary: Vocabulary

    def __init__(self, vocabulary: Vocabulary, d_model: int = 128) -> None:
        if vocabulary is None:
            raise ConfigurationError("a learned embedding has one vector a number, so it needs a vocabulary")
        super().__init__(vocabulary, d_model)
        self.table = nn.Embedding(len(vocabulary), d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        vectors: torch.Tensor = self.table(ids_or_numbers)
        return vectors


class AdelicEmbedding(NumberEmbedding):
    """The adele of a number as its vector: AOE, without parameters unless projected.

    A finite vocabulary becomes one frozen table (a buffer), so that a training step costs what `nn.Embedding` costs.
    Without a vocabulary the numbers themselves are encoded on the way (on the CPU).

    Where the features are fewer than d_model they are padded with zeros. Where they are more, the highest levels
    (powers of p) are left out, as long as the vocabulary's numbers keep different vectors; `projection="linear"` keeps
    all levels.

    Shape: ids (*, length) -> (*, length, d_model); without a vocabulary: numbers (*, length), whatever
    `AdeleSpace.encode` takes.

    Args:
        vocabulary: the numbers that can occur, or None.
        space: the adele space; the default has 128 coordinates.
        d_model: length of a vector.
        features: "digits" (the paper), "standardized", "characters" or "one-hot-digits"; see `adelic.numbers.features`.
        projection: None, or "linear" for a trained linear map from all features to d_model.
        coordinates: "all"; "real" or "p-adic" leaves those of the other places at 0, to see what each is worth.

    Raises:
        ConfigurationError: no level fits, two numbers would get the same vector, or "standardized" lacks a vocabulary.
        PrecisionError: a number of the vocabulary does not fit the space's window.
        RangeError: on conversion to a type of fewer bits, a feature would become infinite, as 10^6 in float16.

    Source: the paper, section 2 "Embedding Construction" and "Plug-and-play Integration".

    >>> embedding = AdelicEmbedding(Vocabulary(range(8)), d_model=128)
    >>> embedding(torch.tensor([[0, 7, 3]])).shape, sum(p.numel() for p in embedding.parameters())
    (torch.Size([1, 3, 128]), 0)
    >>> AdelicEmbedding(None, features="characters", projection="linear")([["1/19", 10**20]]).shape
    torch.Size([1, 2, 128])
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None,
        *,
        space: AdeleSpace | None = None,
        d_model: int = 128,
        features: str = "digits",
        projection: str | None = None,
        coordinates: str = "all",
    ) -> None:
        super().__init__(vocabulary, d_model)
        if coordinates not in COORDINATES:
            raise ConfigurationError(f"coordinates={coordinates!r} are unknown; use {', '.join(COORDINATES)}")
        if projection not in (None, "linear"):
            raise ConfigurationError(f"projection={projection!r} is unknown; use None or 'linear'")
        if features == "standardized" and vocabulary is None:
            raise ConfigurationError("features='standardized' needs a vocabulary to standardize over")
        self.space, self.coordinates = AdeleSpace() if space is None else space, coordinates
        self.layout = FeatureLayout.fit(features, self.space, None if projection else d_model)
        self.projection = nn.Linear(self.layout.size, d_model) if projection else None
        # Without a vocabulary the table is empty, and says on which device and in which type the vectors are wanted.
        table = torch.empty(0, d_model) if vocabulary is None else self._features(list(vocabulary.numbers))
        self._check_distinct(table)
        self.table: torch.Tensor
        self.register_buffer("table", table, persistent=False)
        self._greatest = greatest_of(table)

    def _features(self, numbers: Any) -> torch.Tensor:
        """Return the features of numbers, padded to d_model unless a projection does that."""
        flat = compute_features(self.space.encode(numbers, floats="never"), self.layout)
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
            features = self._features(ids_or_numbers)
            greatest = greatest_of(features)
            check_range(greatest, self.table.dtype)
            vectors = features.to(self.table.device, self.table.dtype)
        check_autocast(greatest, self.table.device.type)
        return vectors if self.projection is None else self.projection(vectors)

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, the space and the features."""
        features = {"features": self.layout.kind, "levels": self.layout.levels, "coordinates": self.coordinates}
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


def _check_input(embedding: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Raise `EncodingError` for tensors that are no ids or numbers: numbers are read on the CPU, ids where they are."""
    is_open = getattr(embedding, "vocabulary", None) is None
    held = None if is_open else next(itertools.chain(embedding.parameters(), embedding.buffers()), None)
    for values in inputs:
        check_plain(values, *(() if held is None else (held.device,)))


def greatest_of(features: torch.Tensor) -> float:
    """Return the greatest size of a feature, 0 if there is none.

    >>> greatest_of(torch.tensor([[1.0, -3.0]])), greatest_of(torch.empty(0, 2))
    (3.0, 0.0)
    """
    return float(features.abs().max()) if features.numel() else 0.0


def check_range(greatest: float, dtype: torch.dtype) -> None:
    """Raise `RangeError` if a floating-point type does not hold features of a size.

    >>> check_range(1e6, torch.bfloat16)
    >>> check_range(1e6, torch.float16)
    Traceback (most recent call last):
    adelic.errors.RangeError: the feature 1e+06 is beyond float16 (6.6e+04), so it would be infinite; use bfloat16 or...
    """
    if greatest > torch.finfo(dtype).max:
        name = str(dtype).removeprefix("torch.")
        raise RangeError(
            f"the feature {greatest:.6g} is beyond {name} ({torch.finfo(dtype).max:.2g}), so it would be infinite; use "
            "bfloat16 or float32, features='characters' or 'standardized', or scale the numbers"
        )


def check_autocast(greatest: float, device_type: str) -> None:
    """Raise `RangeError` if autocasting would make features of a size infinite in the next product.

    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     check_autocast(1e6, "cpu")
    """
    if greatest <= torch.finfo(torch.float16).max or not torch.amp.is_autocast_available(device_type):
        return  # all types that there are hold them, or there is no autocasting
    if torch.is_autocast_enabled(device_type):
        check_range(greatest, torch.get_autocast_dtype(device_type))
