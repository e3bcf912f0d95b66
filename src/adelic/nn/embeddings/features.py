"""Embeddings in two parts, fixed features and a trained map: what xVal, PLR, FoNE and Abacus have in common.

They are written from the formulas of their papers. Where we depart from a method, a comment `NOTE[rival]` says so, and
docs/rivals.md lists it with its reason; `published=True` does as the method's own code does. Tests compare that with
what the code computes.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from adelic.errors import ConfigurationError, RangeError
from adelic.nn.embeddings.base import NumberEmbedding, longer
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.real import nearest_floats


class FeatureEmbedding(NumberEmbedding):
    """An embedding in two parts: fixed features of a number, and a trained map from features to vectors.

    The features of a vocabulary are one buffer, made once, and the map acts on the vocabulary's numbers, not on every
    token. Open-ended numbers get their features on the way (on the CPU).

    Shape: ids (*, length) -> (*, length, d_model); without a vocabulary: numbers (*, length), whatever
    `AdeleSpace.encode` takes.

    >>> from adelic import nn
    >>> embedding = nn.AbacusEmbedding(None, d_model=8)
    >>> torch.equal(embedding.project(embedding.features([3, 4])), embedding([3, 4]))
    True
    """

    fixed: ClassVar[tuple[str, ...]] = ()
    """The attributes that features depend on, next to the vocabulary."""

    table: torch.Tensor

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and what else the features depend on."""
        return super().fingerprint() | {name: getattr(self, name) for name in self.fixed}

    def _tabulate(self) -> None:
        """Make the buffer; the last thing that a subclass's `__init__` does."""
        # Without a vocabulary the table is empty, and says on which device the vectors are wanted.
        numbers = [] if self.vocabulary is None else list(self.vocabulary.numbers)
        self.register_buffer("table", self.features(numbers), persistent=False)

    def extend(self, numbers: Sequence[Any]) -> None:
        """Add numbers after those of the vocabulary, see `NumberEmbedding.extend`."""
        vocabulary = longer(self.vocabulary, numbers)
        self.table = torch.cat([self.table, self.features(list(numbers)).to(self.table)])
        self.vocabulary = vocabulary  # last: a number without such features leaves the embedding as it was

    @abstractmethod
    def features(self, numbers: Any) -> torch.Tensor:
        """Return the features of numbers (*,), on the CPU: (*, n_features).

        A value that is not a number, or does not have these features, is an EncodingError.
        """

    @abstractmethod
    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of features, float32 (*, d_model)."""

    def forward(self, ids_or_numbers: Any, *, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return the vectors of ids (or of numbers, without a vocabulary), float32 (*, length, d_model).

        The mask is bool (*, length), False if there is padding, whose vector is 0: no number is padding by its
        value.
        """
        if self.vocabulary is None:
            vectors = self.project(self.features(ids_or_numbers).to(self.table.device))
        else:
            # The map acts on each number of the vocabulary once: a batch has more tokens than there are numbers.
            table = self.project(self.table)
            found = functional.embedding(ids_or_numbers, table.flatten(1))
            vectors = found.view(*found.shape[:-1], *table.shape[1:])
        return vectors if mask is None else vectors * mask[..., None]


class ScaledEmbedding(FeatureEmbedding):
    """An embedding of the real value, shifted and scaled as the data need it.

    A vocabulary decides the scale; without one, `fit` does, once, before the first numbers.

    Attributes:
        shift, scale: buffers, float64; the feature of a number x is (t(x) − shift) · scale.

    >>> from adelic import nn
    >>> nn.XValEmbedding(None, d_model=4).fit([-20, 10]).features([-20, 10, 0]).flatten()
    tensor([-5.0000,  2.5000,  0.0000])
    """

    shift: torch.Tensor
    scale: torch.Tensor

    def _tabulate(self) -> None:
        self.register_buffer("shift", torch.tensor(math.nan, dtype=torch.float64))
        self.register_buffer("scale", torch.tensor(math.nan, dtype=torch.float64))
        if self.vocabulary is None:
            self.register_buffer("table", torch.empty(0, 1), persistent=False)
        else:
            # First: features need the scale.
            self.fit(list(self.vocabulary.numbers))
            super()._tabulate()

    def fit(self, numbers: Any) -> "ScaledEmbedding":
        """Set shift and scale by numbers, such as those of the training data; return the embedding.

        A ConfigurationError says that there are no numbers, a RangeError that one is beyond float64.
        """
        values = self._transform(_reals(numbers))
        if not values.size:
            raise ConfigurationError("a scale cannot be fitted to no numbers; give at least one")
        shift, scale = self._fit(values)
        self.shift.fill_(shift)
        self.scale.fill_(scale)
        return self

    def features(self, numbers: Any) -> torch.Tensor:
        """Return scaled numbers, float32 (*, 1)."""
        if torch.isnan(self.scale):
            raise ConfigurationError(f"{type(self).__name__} has no scale yet; call fit(numbers) or give a vocabulary")
        values = (self._transform(_reals(numbers)) - self.shift.item()) * self.scale.item()
        return torch.from_numpy(values.astype(np.float32))[..., None]

    def _transform(self, values: np.ndarray) -> np.ndarray:
        """Return t(x)."""
        return values

    def _fit(self, values: np.ndarray) -> tuple[float, float]:
        """Return shift and scale for values t(x); by default those that give mean 0 and variance 1."""
        deviation = float(values.std())
        return float(values.mean()), 1 / deviation if deviation else 1.0


def _reals(numbers: Any) -> np.ndarray:
    """Return the nearest float64 of numbers (*,)."""
    parsed = rationals.read(numbers)
    values = nearest_floats(parsed)
    beyond = np.flatnonzero(~np.isfinite(values))
    if len(beyond):
        position = at_position(np.unravel_index(beyond[0], parsed.shape))
        number = describe(parsed.fraction(int(beyond[0])))
        raise RangeError(
            f"{number}{position} is beyond float64, so its real value cannot be a feature; scale the numbers"
        )
    return values.reshape(parsed.shape)


def standardize(features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return features, (rows, size), with mean 0 and variance 1 a coordinate; constant coordinates become 0.

    >>> standardize(np.array([[0, 5], [2, 5]], dtype=np.float32))
    array([[-1.,  0.], [ 1.,  0.]], dtype=float32)
    """
    wide = features.astype(np.float64)
    deviation = wide.std(axis=0)
    return np.asarray((wide - wide.mean(axis=0)) / np.where(deviation == 0, 1, deviation), dtype=np.float32)
