"""The angular embedding: a residue as a point on the circle."""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.vocabulary import Numbers
from adelic.numbers.rationals import residues


class AngularEmbedding(FeatureEmbedding):
    """A linear map of (cos 2πx/q, sin 2πx/q) for one modulus q: AOE's first character at a place q.

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        modulus: q.

    Raises:
        EncodingError: a number is a fraction.
        ConfigurationError: the modulus is below 2.

    Source: Saxena et al., arXiv:2410.03569, section 3.

    >>> AngularEmbedding(None, d_model=8, modulus=4).features([5, -2]).round(decimals=2)
    tensor([[ 0.,  1.],
            [-1.,  0.]])
    """

    name = "angular"
    fixed = ("modulus",)

    def __init__(self, vocabulary: Numbers | None, d_model: int = 128, *, modulus: int = 257) -> None:
        super().__init__(vocabulary, d_model)
        if modulus < 2:
            raise ConfigurationError(f"modulus={modulus} has one residue; modulus >= 2")
        self.modulus = modulus
        self.projection = nn.Linear(2, d_model)
        self._tabulate()

    def features(self, numbers: Any) -> torch.Tensor:
        """Return cos and sin, float32 (*, 2)."""
        angles = 2 * math.pi * residues(numbers, (self.modulus,))[..., 0] / self.modulus
        return torch.from_numpy(np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)) + 0.0

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of points (*, 2), float32 (*, d_model)."""
        return self.projection(features)  # type: ignore[no-any-return]
