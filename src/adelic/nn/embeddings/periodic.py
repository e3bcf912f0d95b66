"""PLR: periodic features of the real value, with trained frequencies."""

import math

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.embeddings.features import ScaledEmbedding
from adelic.nn.vocabulary import Numbers


class PeriodicEmbedding(ScaledEmbedding):
    """PLR: e = ReLU(W [cos v; sin v] + b) for v = 2π c·u; the K frequencies c are trained, u is x standardized.

    Shape: ids or numbers (*, length) -> (*, length, d_model). Parameters: K + (2K + 1)·d_model.

    Args:
        vocabulary: the numbers that can occur; None for open-ended numbers, for which `fit` sets mean and deviation.
        d_model: length of a vector.
        n_frequencies: K.
        sigma: standard deviation of the initial frequencies; the one option that the authors say must be searched.
            The default is theirs, with which an untrained embedding is nearly linear in x.
        published: whether no initial frequency is beyond 3σ, as in the authors' package; in their paper, as here, they
            are normal.

    # NOTE[rival]: the authors have frequencies of its own for each column of a table; here all tokens have the same.

    Raises:
        RangeError: a number is beyond float64.
        ConfigurationError: a number came before the scale was fitted; K < 1; sigma is not positive.

    Source: Gorishniy et al., "On embeddings for numerical features in tabular deep learning", arXiv:2203.05556, 3.3.

    >>> PeriodicEmbedding(8, d_model=16)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 16])
    """

    name = "periodic"

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        n_frequencies: int = 48,
        sigma: float = 0.01,
        published: bool = False,
    ) -> None:
        super().__init__(vocabulary, d_model)
        if n_frequencies < 1 or not 0 < sigma < math.inf:
            raise ConfigurationError(
                f"n_frequencies={n_frequencies}, sigma={sigma}: there is at least one frequency, and sigma > 0"
            )
        self.frequencies = nn.Parameter(torch.randn(n_frequencies) * sigma)
        if published:
            nn.init.trunc_normal_(self.frequencies, std=sigma, a=-3 * sigma, b=3 * sigma)
        self.projection = nn.Linear(2 * n_frequencies, d_model)
        self._tabulate()

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of standardized numbers (*, 1), float32 (*, d_model)."""
        angles = 2 * math.pi * features * self.frequencies
        return functional.relu(self.projection(torch.cat([angles.cos(), angles.sin()], dim=-1)))
