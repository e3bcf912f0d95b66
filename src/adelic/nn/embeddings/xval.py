"""xVal: the real value, one direction for all numbers."""

from typing import Literal

import numpy as np
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.embeddings.features import ScaledEmbedding
from adelic.nn.vocabulary import Numbers


class XValEmbedding(ScaledEmbedding):
    """xVal: e = u·w + b, one direction for all numbers; u is the number, scaled so that the data fill [−5, 5].

    # NOTE[rival]: xVal multiplies the vector of its [NUM] token, so 0 erases it, and the scale is set by hand.
    # Here b is the token's vector, which stays, and the scale comes from the data. With `published=True` there is no b.

    # NOTE[rival]: `standardize` is ours. It is what AOE is offered as features="standardized".

    Shape: ids or numbers (*, length) -> (*, length, d_model). Parameters: 2·d_model; d_model if published.

    Args:
        vocabulary: the numbers that can occur; None for open-ended numbers, for which `fit` sets the scale.
        d_model: length of a vector.
        scaling: "linear" as in the paper, or "log" for sign(x)·ln(1 + |x|), as FoNE's authors ran it.
        standardize: whether u has mean 0 and variance 1 instead of [−5, 5].
        published: whether e = u·w, as in the published code: 0 has the vector 0. With scaling="log", which is FoNE's
            authors' code of xVal, 0 has the vector w, as if u were 1.

    Raises:
        RangeError: a number is beyond float64.
        ConfigurationError: a number came before the scale was fitted; `standardize` and `published` are both wanted.

    Source: Golkar et al., "xVal: A continuous number encoding for large language models", arXiv:2310.02989, section 2.

    >>> embedding = XValEmbedding([-2, 0, 8], d_model=4)
    >>> embedding.table.flatten(), embedding(torch.tensor([[0, 1]])).shape
    (tensor([-1.2500,  0.0000,  5.0000]), torch.Size([1, 2, 4]))
    """

    name = "xval"
    fixed = ("scaling", "published")

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        scaling: Literal["linear", "log"] = "linear",
        standardize: bool = False,
        published: bool = False,
    ) -> None:
        super().__init__(vocabulary, d_model)
        if scaling not in ("linear", "log"):
            raise ConfigurationError(f"scaling={scaling!r} is unknown; use 'linear' or 'log'")
        if standardize and published:
            raise ConfigurationError("standardize is ours, and does not go with published; drop one of the two")
        self.scaling = scaling
        self.standardize = standardize
        self.published = published
        self.direction = nn.Parameter(torch.randn(d_model))
        self.token = None if published else nn.Parameter(torch.randn(d_model))
        self._tabulate()

    def _transform(self, values: np.ndarray) -> np.ndarray:
        return np.sign(values) * np.log1p(np.abs(values)) if self.scaling == "log" else values

    def _fit(self, values: np.ndarray) -> tuple[float, float]:
        if self.standardize:
            return super()._fit(values)
        largest = float(np.abs(values).max())
        return 0.0, 5 / largest if largest else 1.0

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of scaled numbers (*, 1), float32 (*, d_model)."""
        if self.token is not None:
            return features * self.direction + self.token
        if self.scaling == "log":
            features = torch.where(features == 0, 1, features)
        return features * self.direction

    def unscale(self, features: torch.Tensor) -> np.ndarray:
        """Return the real numbers that have these scaled values (*,), float64 (*,); the inverse of `features`.

        >>> embedding = XValEmbedding(None, d_model=4, scaling="log").fit([-20, 100])
        >>> embedding.unscale(embedding.features([-20, 0, 7])[..., 0]).round(4).tolist()
        [-20.0, 0.0, 7.0]
        """
        values = features.detach().double().cpu().numpy() / self.scale.item() + self.shift.item()
        if self.scaling == "linear":
            return np.asarray(values)
        with np.errstate(over="ignore"):  # inf says it
            return np.asarray(np.sign(values) * np.expm1(np.abs(values)))
