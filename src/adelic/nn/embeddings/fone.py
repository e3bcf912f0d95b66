"""FoNE: Fourier features of a number's digits, as we run it and as it is published."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, EncodingError
from adelic.nn.backend import current
from adelic.nn.base_digits import OPEN_DIGITS, count_digits, refuse_signs, to_digits
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.vocabulary import Numbers
from adelic.numbers.describe import describe, number_text

_ROUNDING = 1e-12
"""Waves whose deviation is less differ by rounding alone, as sin 2πx/2 does."""
_TOKEN = 0.02
"""Deviation of a token's first vector in the models that FoNE's authors train, GPT-2 and Llama."""


class FoNEEmbedding(FeatureEmbedding):
    """Fourier features of a number: two a digit, (cos 2πx/T, sin 2πx/T) for T = 10^(1−F), …, 10^I.

    With other bases than 10 the periods are those of the published code: T = b·10^k for each base b, k >= −F and
    T < 10^(I+1); so {2, 5} gives 2, 5, 20, 50 for numbers of one digit.

    # NOTE[rival]: the published code leaves the sign to the text, as a token of its own, and gives 0 no waves. Here all
    # tokens are numbers, so the features are those of |x|, and one more feature is the sign, −1, 0 or 1; 0 has waves,
    # and padding is an explicit mask. `published=True` follows the code. docs/rivals.md lists every difference.

    # NOTE[rival]: the angles are exact for any size: they come from digits, not from float64.

    # NOTE[rival]: `standardize` is ours. It is what AOE is offered as features="standardized".

    Shape: ids or numbers (*, length) -> (*, length, d_model).

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        integer_digits: I; by default as many as the vocabulary needs, 10 without one, and `max_shift` more.
        fractional_digits: F; by default as many as the vocabulary needs, 0 without one.
        projection: "linear" for a trained linear map of the features, 2(I + F) + 1 with base 10; None pads them with
            zeros (the paper finds both equally good).
        bases: of the periods, each from 2 to 10, or text such as "2-5"; the paper's is 10, the published code also has
            {2, 5}.
        standardize: whether each feature is shifted and scaled to mean 0 and variance 1 over the vocabulary, as
            `adelic.numbers.features.standardize` does; those that are constant become 0.
        published: whether to do as the published code does: a trained vector, that of its token [NUM], is added to
            every number; the linear map starts as one of d_model features does, √(d_model / features) times smaller; 0
            has no waves; and there is no sign, so negative numbers are refused.
        max_shift: in training numbers are multiplied by 10^k, with k drawn from 0 … max_shift, one per batch, so that
            the places of longer numbers are trained, too. The published code's option `len_gen_size`, 0 there as here.

    Raises:
        EncodingError: a number has more digits, or no finite decimal expansion, as 1/3; or is negative, if published.
        ConfigurationError: the features do not fit d_model, a base is out of range or does not go with a shift,
            `standardize` lacks a vocabulary or does not go with another option, or no digit is left after a shift.

    Source: Zhou et al., "FoNE: Precise single-token number embeddings via Fourier features", arXiv:2502.09741, 3.1.

    >>> FoNEEmbedding(None, d_model=6, integer_digits=2, projection=None)([[25, 0]]).round(decimals=2)
    tensor([[[-1.,  0.,  0.,  1.,  1.,  0.],
             [ 1.,  0.,  1.,  0.,  0.,  0.]]])
    >>> FoNEEmbedding(None, d_model=32, integer_digits=2, bases=(2, 5)).n_features  # 2, 5, 20, 50, 200, 500; the sign
    13
    >>> FoNEEmbedding(None, d_model=4, integer_digits=2, published=True).features([25, 0]).round(decimals=2)
    tensor([[-1.,  0.,  0.,  1.],
            [ 0.,  0.,  0.,  0.]])
    """

    name = "fone"
    digits_option = "integer_digits"

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        integer_digits: int | None = None,
        fractional_digits: int | None = None,
        projection: Literal["linear"] | None = "linear",
        bases: Sequence[int] | str = (10,),
        standardize: bool = False,
        published: bool = False,
        max_shift: int = 0,
    ) -> None:
        super().__init__(vocabulary, d_model)
        numbers = () if self.vocabulary is None else self.vocabulary.numbers
        if integer_digits is None:
            needed = max((count_digits(math.trunc(q), 10) for q in numbers), default=OPEN_DIGITS)
            integer_digits = needed + max_shift
        if fractional_digits is None:
            fractional_digits = max((_decimal_places(q) for q in numbers), default=0)
        if integer_digits < 1 or fractional_digits < 0:
            raise ConfigurationError(
                f"integer_digits={integer_digits}, fractional_digits={fractional_digits}: FoNE needs at least 1 and 0"
            )
        if not 0 <= max_shift < integer_digits + fractional_digits:
            raise ConfigurationError(
                f"max_shift={max_shift} of {integer_digits} + {fractional_digits} digits; give 0, or fewer than these"
            )
        self.bases = check_bases(bases)
        if max_shift and any(10 % base for base in self.bases):
            raise ConfigurationError(f"max_shift={max_shift} needs bases dividing 10, not {self.bases}; use 2, 5, 10")
        if projection not in (None, "linear"):
            raise ConfigurationError(f"projection={projection!r} is unknown; use None or 'linear'")
        if standardize and vocabulary is None:
            raise ConfigurationError("standardize=True needs a vocabulary to standardize over")
        if standardize and (published or max_shift):
            raise ConfigurationError("standardize is ours, and goes neither with published nor with max_shift; drop it")
        self.integer_digits, self.fractional_digits = integer_digits, fractional_digits
        self.published, self.max_shift = published, max_shift
        self._powers = _periods(self.bases, integer_digits, fractional_digits)
        self.periods = [base * Fraction(10) ** k for base, k in self._powers]
        self.n_waves = 2 * len(self.periods)
        self.n_features = self.n_waves + (not published)
        if projection is None and self.n_features > d_model:
            raise ConfigurationError(
                f"FoNE has {self.n_features} features for {integer_digits} + {fractional_digits} digits, more than "
                f"d_model={d_model}; use projection='linear' or a larger d_model"
            )
        self.projection = nn.Linear(self.n_features, d_model) if projection else None
        self.token = nn.Parameter(torch.randn(d_model) * _TOKEN) if published else None
        if published and self.projection is not None:
            # The code's map reads d_model features, of which those after the waves are always 0.
            for parameter in self.projection.parameters():
                nn.init.uniform_(parameter, -(d_model**-0.5), d_model**-0.5)
        self.standardize = standardize
        self._mean, self._deviation = np.zeros(self.n_features), np.ones(self.n_features)
        if standardize:
            waves = self._waves(list(numbers))
            self._mean, deviation = waves.mean(axis=0), waves.std(axis=0)
            # What is divided by infinity is 0.
            self._deviation = np.where(deviation < _ROUNDING, np.inf, deviation)
        self._tabulate()

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and what the features are."""
        options = {"published": self.published, "standardize": self.standardize}
        return super().fingerprint() | {"periods": list(map(number_text, self.periods))} | options

    def features(self, numbers: Any) -> torch.Tensor:
        """Return the waves of the periods and the sign, float32 (*, n_features); no sign if published."""
        return torch.from_numpy(((self._waves(numbers) - self._mean) / self._deviation).astype(np.float32))

    def _waves(self, numbers: Any) -> np.ndarray:
        """Return the features before they are standardized, float64 (*, n_features)."""
        n_digits = self.integer_digits + self.fractional_digits
        digits, sign = to_digits(numbers, base=10, n_digits=n_digits, fractional_digits=self.fractional_digits)
        # x/T modulo 1 is Σ d_i · (10^(i−F)/T modulo 1) modulo 1, where high digits have weight 0.
        turns = {base: _turns(base, n_digits + 1) for base in self.bases}  # without a period's power of ten
        exponents = np.arange(n_digits) - self.fractional_digits
        weights = np.stack([turns[base][exponents - k + n_digits + 1] for base, k in self._powers], axis=1)
        angles = 2 * np.pi * (digits @ weights)
        waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(*sign.shape, self.n_waves)
        if self.published:
            refuse_signs(numbers, sign, "without published (--published) it is a feature")
            return np.asarray(waves * sign[..., None])  # 0 or 1
        return np.concatenate([waves, sign[..., None]], axis=-1)

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of features, float32 (*, d_model)."""
        features = self._shifted(features, self.draw_shift())
        if self.projection is None:
            vectors = functional.pad(features, (0, self.d_model - self.n_features))
        else:
            vectors = self.projection(features)
        return vectors if self.token is None else vectors + self.token

    def draw_shift(self) -> int:
        """Return the k of this batch: random in training, always the same for one noise; 0 in evaluation."""
        return current().draw_up_to(self.max_shift) if self.training and self.max_shift else 0

    def _shifted(self, features: torch.Tensor, k: int) -> torch.Tensor:
        """Return the features of 10^k·x from those of x.

        10^k·x makes as many turns of period 10^k·T as x of T, and whole turns of the periods below.
        """
        if not k:
            return features
        waves, sign = features[..., : self.n_waves], features[..., self.n_waves :]
        n_whole = k * len(self.bases)
        whole = features.new_tensor([1.0, 0.0]).repeat(n_whole).expand(*features.shape[:-1], -1)
        if self.published:
            whole = whole * waves.any(dim=-1, keepdim=True)  # 0 has no waves
        return torch.cat([whole, waves[..., : self.n_waves - 2 * n_whole], sign], dim=-1)


def check_bases(bases: Sequence[int] | str) -> tuple[int, ...]:
    """Return the bases of FoNE's periods, each once, ascending.

    Other bases than whole numbers from 2 to 10, or none, are a ConfigurationError.

    >>> check_bases([5, 2]), check_bases("2-5")
    ((2, 5), (2, 5))
    """
    if isinstance(bases, str):
        bases = [int(base) if base.isdecimal() else -1 for base in bases.split("-")]
    if not bases or not all(type(base) is int and 2 <= base <= 10 for base in bases):
        raise ConfigurationError(f"bases={tuple(bases)} give no periods; use whole numbers from 2 to 10, as (2, 5)")
    return tuple(sorted(set(bases)))


def _periods(bases: Sequence[int], integer_digits: int, fractional_digits: int) -> list[tuple[int, int]]:
    """Return (b, k) of FoNE's periods b·10^k < 10^(I+1) for k >= −F, ascending."""
    powers = range(-fractional_digits, integer_digits + 1)
    # 10·10^k is the first of the next power, and beyond the last one there is none.
    return [(base, k) for k in powers for base in bases if (base, k) != (10, integer_digits)]


def _turns(base: int, greatest: int) -> np.ndarray:
    """Return 10^e/base modulo 1 for |e| <= greatest, ascending, each rounded once, float64 (2·greatest + 1,)."""
    below, power = [], base
    for _ in range(greatest):
        power *= 10
        below.append(1 / power)
    return np.array([*reversed(below), *(pow(10, e, base) / base for e in range(greatest + 1))])


def _decimal_places(number: Fraction) -> int:
    """Return how many decimal digits after the point a number has."""
    m, places, power = number.denominator, 0, 1
    while power % m and places < m.bit_length():  # the exponents of 2 and 5 in it are less
        places, power = places + 1, power * 10
    if power % m:
        raise EncodingError(
            f"{describe(number)} has no finite decimal expansion, as FoNE needs; the adelic embedding holds fractions"
        )
    return places
