"""The embeddings that the adeles are compared with: random and one-hot vectors, xVal, Abacus digits, PLR; not FoNE.

Written from the formulas of the papers named below. Where we depart from a method, a comment `NOTE[rival]` says so, and
docs/rivals.md lists it with its reason; `published=True` does as the method's own code does. Tests compare that with
what the code computes. FoNE is in `adelic.nn.fone`.
"""

import math
from abc import abstractmethod
from typing import Any, Literal

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, RangeError
from adelic.nn.backend import current
from adelic.nn.base_digits import OPEN_DIGITS, count_digits, to_digits
from adelic.nn.embeddings import NumberEmbedding
from adelic.nn.vocabulary import Vocabulary
from adelic.numbers import rationals
from adelic.numbers.describe import at_position, describe
from adelic.numbers.real import nearest_floats


class RandomEmbedding(NumberEmbedding):
    """One frozen vector of normal random numbers a number: what is left of `LearnedEmbedding` without training.

    The vectors belong to the state dict, since nothing else can bring them back.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: none.

    Args:
        vocabulary: the numbers that can occur.
        d_model: length of a vector.
        generator: of the random numbers; torch's own if there is none.

    >>> embedding = RandomEmbedding(Vocabulary(range(8)), d_model=16)
    >>> embedding(torch.tensor([[0, 7, 3]])).shape, sum(p.numel() for p in embedding.parameters())
    (torch.Size([1, 3, 16]), 0)
    """

    table: torch.Tensor

    def __init__(
        self, vocabulary: Vocabulary | None, d_model: int = 128, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(vocabulary, d_model)
        size = len(_needed(vocabulary, "a random embedding"))
        self.register_buffer("table", torch.randn(size, d_model, generator=generator))

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        return functional.embedding(ids_or_numbers, self.table)


class OneHotEmbedding(NumberEmbedding):
    """A linear map of one-hot vectors; `LearnedEmbedding` but for the bias and smaller initial values.

    Shape: ids (*, length) -> (*, length, d_model). Parameters: (len(vocabulary) + 1) · d_model.

    >>> OneHotEmbedding(Vocabulary(range(8)), d_model=16)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 16])
    """

    def __init__(self, vocabulary: Vocabulary | None, d_model: int = 128) -> None:
        super().__init__(vocabulary, d_model)
        self.projection = nn.Linear(len(_needed(vocabulary, "a one-hot embedding")), d_model)

    def forward(self, ids_or_numbers: torch.Tensor) -> torch.Tensor:
        """Return the vectors of ids, float32 (*, length, d_model)."""
        # The product with a one-hot vector is a column of the weight.
        return functional.embedding(ids_or_numbers, self.projection.weight.T) + self.projection.bias


class FeatureEmbedding(NumberEmbedding):
    """An embedding in two parts: fixed features of a number, and a trained map from features to vectors.

    The features of a vocabulary are one buffer, made once, and the map acts on the vocabulary's numbers, not on every
    token. Open-ended numbers get their features on the way (on the CPU).

    Shape: ids (*, length) -> (*, length, d_model); without a vocabulary: numbers (*, length), whatever
    `AdeleSpace.encode` takes.

    >>> embedding = AbacusEmbedding(None, d_model=8)
    >>> torch.equal(embedding.project(embedding.features([3, 4])), embedding([3, 4]))
    True
    """

    table: torch.Tensor

    def _tabulate(self) -> None:
        """Make the buffer; the last thing that a subclass's `__init__` does."""
        # Without a vocabulary the table is empty, and says on which device the vectors are wanted.
        numbers = [] if self.vocabulary is None else list(self.vocabulary.numbers)
        self.register_buffer("table", self.features(numbers), persistent=False)

    @abstractmethod
    def features(self, numbers: Any) -> torch.Tensor:
        """Return the features of numbers (*,), on the CPU: (*, n_features).

        Raises:
            EncodingError: one is no number, or has no such features.
        """

    @abstractmethod
    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of features, float32 (*, d_model)."""

    def forward(self, ids_or_numbers: Any, *, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return the vectors of ids (or of numbers, without a vocabulary), float32 (*, length, d_model).

        Args:
            ids_or_numbers: (*, length).
            mask: bool (*, length), False where there is padding, whose vector is 0. No number is padding by its value.
        """
        if self.vocabulary is None:
            vectors = self.project(self.features(ids_or_numbers).to(self.table.device))
        else:
            vectors = functional.embedding(ids_or_numbers, self.project(self.table))
        return vectors if mask is None else vectors * mask[..., None]


class ScaledEmbedding(FeatureEmbedding):
    """An embedding of the real value, shifted and scaled as the data need it.

    A vocabulary decides the scale; without one, `fit` does, once, before the first numbers.

    Attributes:
        shift, scale: buffers, float64; the feature of a number x is (t(x) − shift) · scale.

    >>> XValEmbedding(None, d_model=4).fit([-20, 10]).features([-20, 10, 0]).flatten()
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
            self.fit(list(self.vocabulary.numbers))
            super()._tabulate()

    def fit(self, numbers: Any) -> "ScaledEmbedding":
        """Set shift and scale by numbers, such as those of the training data; return the embedding.

        Raises:
            ConfigurationError: there is no number.
            EncodingError, RangeError: one is none, or beyond float64.
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

    @abstractmethod
    def _fit(self, values: np.ndarray) -> tuple[float, float]:
        """Return shift and scale for values t(x)."""


class XValEmbedding(ScaledEmbedding):
    """xVal: e = u·w + b, one direction for all numbers; u is the number, scaled so that the data fill [−5, 5].

    # NOTE[rival]: xVal multiplies the vector of its [NUM] token, so that 0 erases it, and the scale is set by hand.
    # Here b is the token's vector, which stays, and the scale comes from the data. `published=True` has no b.

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

    >>> embedding = XValEmbedding(Vocabulary([-2, 0, 8]), d_model=4)
    >>> embedding.table.flatten(), embedding(torch.tensor([[0, 1]])).shape
    (tensor([-1.2500,  0.0000,  5.0000]), torch.Size([1, 2, 4]))
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None,
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

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and what the feature is; its shift and scale are in the state dict."""
        return super().fingerprint() | {"scaling": self.scaling, "published": self.published}

    def _transform(self, values: np.ndarray) -> np.ndarray:
        return np.sign(values) * np.log1p(np.abs(values)) if self.scaling == "log" else values

    def _fit(self, values: np.ndarray) -> tuple[float, float]:
        if self.standardize:
            return _standard(values)
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

    >>> PeriodicEmbedding(Vocabulary(range(8)), d_model=16)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 16])
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None,
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

    def _fit(self, values: np.ndarray) -> tuple[float, float]:
        return _standard(values)

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of standardized numbers (*, 1), float32 (*, d_model)."""
        angles = 2 * math.pi * features * self.frequencies
        return functional.relu(self.projection(torch.cat([angles.cos(), angles.sin()], dim=-1)))


class AbacusEmbedding(FeatureEmbedding):
    """The base-B digits of a number, least significant first, each bound to its place: Σ_i digit[d_i] ⊙ place[i + o].

    # NOTE[rival]: Abacus gives every digit a token of its own, the sum digit[d_i] + place[i + o]. One vector a number
    # is what a sequence of numbers has room for, and a sum over digits would forget which digit stood where (12 would
    # be 21); hence the product. The tokens themselves are what the arithmetic benchmark's solver `abacus` reads.

    As in the paper the offset o is drawn in training, one a batch, from 0 … max_offset, and is 0 in evaluation: so the
    places of numbers longer than any in training get trained. Leading zeros have no vector; the sign has one.

    Shape: ids or numbers (*, length) -> (*, length, d_model).
    Parameters: (B + 3 + max_digits + max_offset) · d_model.

    Args:
        vocabulary: the numbers that can occur, or None.
        d_model: length of a vector.
        base: B.
        max_digits: of a number; by default as many as the vocabulary needs, 10 without one.
        max_offset: the published code takes 99, for numbers longer than those in training. A vocabulary has none of
            these, and places that are rarely drawn learn slowly, so the default is 0.

    Raises:
        EncodingError: a number is a fraction, or has more digits.
        ConfigurationError: an option has no such value.

    Source: McLeish et al., "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399, section 3.

    >>> embedding = AbacusEmbedding(Vocabulary([12, 21, -5]), d_model=16)
    >>> embedding.table
    tensor([[ 2,  1,  1],
            [ 1,  2,  1],
            [ 5, 10, -1]])
    >>> embedding(torch.tensor([[0, 1]])).shape
    torch.Size([1, 2, 16])
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None,
        d_model: int = 128,
        *,
        base: int = 10,
        max_digits: int | None = None,
        max_offset: int = 0,
    ) -> None:
        super().__init__(vocabulary, d_model)
        if base < 2:
            raise ConfigurationError(f"base={base} has no digits; base >= 2")
        if max_digits is None:
            numbers = () if vocabulary is None else vocabulary.numbers
            max_digits = max((count_digits(math.trunc(q), base) for q in numbers), default=OPEN_DIGITS)
        if max_digits < 1 or max_offset < 0:
            raise ConfigurationError(f"max_digits={max_digits}, max_offset={max_offset}: Abacus needs at least 1 and 0")
        self.base = base
        self.max_digits = max_digits
        self.max_offset = max_offset
        self.digits = nn.Embedding(base + 1, d_model, padding_idx=base)  # the last for no digit: a vector of zeros
        self.places = nn.Embedding(max_digits + max_offset, d_model)
        self.signs = nn.Embedding(3, d_model)
        self._tabulate()

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and what the digits are."""
        return super().fingerprint() | {"base": self.base, "max_digits": self.max_digits}

    def features(self, numbers: Any) -> torch.Tensor:
        """Return the digits, B for none, and the sign, int64 (*, max_digits + 1)."""
        digits, sign = to_digits(numbers, base=self.base, n_digits=self.max_digits)
        beyond = np.cumsum(digits[..., ::-1], axis=-1)[..., ::-1] == 0  # nothing but zeros from here on
        beyond[..., 0] = False  # 0 is written with one digit
        features = np.concatenate([np.where(beyond, self.base, digits), sign[..., None]], axis=-1)
        return torch.from_numpy(features)

    def project(self, features: torch.Tensor) -> torch.Tensor:
        """Return the vectors of digits and sign, int64 (*, max_digits + 1): float32 (*, d_model)."""
        first = current().draw_up_to(self.max_offset) if self.training and self.max_offset else 0
        places = self.places.weight[first : first + self.max_digits]
        vectors: torch.Tensor = (self.digits(features[..., :-1]) * places).sum(dim=-2) + self.signs(
            features[..., -1] + 1
        )
        return vectors


def _needed(vocabulary: Vocabulary | None, what: str) -> Vocabulary:
    """Return the vocabulary of an embedding that cannot do without."""
    if vocabulary is None:
        raise ConfigurationError(f"{what} has one vector a number, so it needs a vocabulary")
    return vocabulary


def _standard(values: np.ndarray) -> tuple[float, float]:
    """Return the shift and the scale that give values mean 0 and variance 1."""
    deviation = float(values.std())
    return float(values.mean()), 1 / deviation if deviation else 1.0


def _reals(numbers: Any) -> np.ndarray:
    """Return the nearest float64 of numbers (*,)."""
    parsed = rationals.read(numbers)
    values = nearest_floats(parsed)
    beyond = np.flatnonzero(~np.isfinite(values))
    if len(beyond):
        position = at_position(tuple(int(i) for i in np.unravel_index(beyond[0], parsed.shape)))
        number = describe(parsed.fraction(int(beyond[0])))
        raise RangeError(
            f"{number}{position} is beyond float64, so that its real value is no feature; scale the numbers"
        )
    return values.reshape(parsed.shape)
