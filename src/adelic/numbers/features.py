"""From numbers to feature vectors: the four forms in which a model can eat an adele.

Every feature belongs to one place (the real one or a prime) and to one *level*: the digit of p^(k-1), or the
residue modulo p^k. Levels count from the lowest digit of the window, so that dropping high levels keeps what tells
small numbers apart.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, RangeError, UnknownNameError
from adelic.numbers.array import AdeleArray
from adelic.numbers.describe import at_position, describe
from adelic.numbers.space import AdeleSpace

FeatureKind = Literal["digits", "standardized", "characters", "one-hot-digits"]
FEATURE_KINDS: tuple[str, ...] = get_args(FeatureKind)
"""The forms in which a network can be given an adele."""


@dataclass(frozen=True)
class FeatureLayout:
    """Where each feature of a vector comes from.

    Attributes:
        kind: one of `FEATURE_KINDS`.
        space: the adele space.
        levels: how many levels a place keeps, at most the space's precision.

    >>> FeatureLayout("digits", AdeleSpace(), 16).size, FeatureLayout("characters", AdeleSpace(), 9).size
    (128, 127)
    """

    kind: str
    space: AdeleSpace
    levels: int

    @property
    def size(self) -> int:
        """Return the number of features of one number."""
        return self.size_of(self.kind, self.space, self.levels)

    @property
    def n_real(self) -> int:
        """Return how many features, the first ones, belong to the real place.

        >>> FeatureLayout("digits", AdeleSpace(), 16).n_real, FeatureLayout("characters", AdeleSpace(), 9).n_real
        (16, 1)
        """
        return self.levels if self.kind in ("digits", "standardized") else 1

    @staticmethod
    def size_of(kind: str, space: AdeleSpace, levels: int) -> int:
        """Return the number of features for a number of levels."""
        if kind in ("digits", "standardized"):
            return (space.n_primes + 1) * levels
        if kind == "characters":
            return 1 + 2 * space.n_primes * levels
        return 1 + sum(space.primes) * levels

    @classmethod
    def fit(cls, kind: str, space: AdeleSpace, width: int | None) -> "FeatureLayout":
        """Return the layout with the most levels that fits a width; all of them when the width is None.

        Raises:
            UnknownNameError: there is no such kind.
            ConfigurationError: not even one level fits.
        """
        if kind not in FEATURE_KINDS:
            raise UnknownNameError.of("features", kind, FEATURE_KINDS, listed="features")
        levels = space.precision
        while width is not None and levels and cls.size_of(kind, space, levels) > width:
            levels -= 1
        if not levels:
            raise ConfigurationError(
                f"features={describe(kind)} need {cls.size_of(kind, space, 1)} coordinates at {space.n_primes} primes, "
                f"more than d_model={width}; use projection='linear', a larger d_model or fewer primes"
            )
        return cls(kind, space, levels)


def compute_features(adeles: AdeleArray, layout: FeatureLayout) -> npt.NDArray[np.float32]:
    """Return the features of adeles, float32 (*, layout.size).

    - "digits": the paper's layout, flattened: [0, …, 0, q], then the digits of each prime, raw.
    - "standardized": the same; `standardize` brings each coordinate to mean 0 and variance 1 over a vocabulary.
    - "characters": sign(q)·ln(1 + |q|), then cos and sin of 2πx/p^k for k = 1 … levels, where x is p^F·q: the additive
      characters of Z/p^k, which turn sums into rotations.
    - "one-hot-digits": sign(q)·ln(1 + |q|), then each digit as a one-hot vector of length p, lowest digit first.

    Raises:
        RangeError: a real value is beyond float32 (digits) or float64.

    >>> space = AdeleSpace(primes=(2, 3), precision=3)
    >>> compute_features(space.encode(5), FeatureLayout("digits", space, 2))
    array([0., 5., 0., 1., 1., 2.], dtype=float32)
    >>> compute_features(space.encode(5), FeatureLayout("one-hot-digits", space, 1)).round(2)
    array([1.79, 0.  , 1.  , 0.  , 0.  , 1.  ], dtype=float32)
    """
    space, levels = layout.space, layout.levels
    if layout.kind in ("digits", "standardized"):
        return adeles.tensor()[..., space.precision - levels :].reshape(*adeles.shape, layout.size)
    parts: list[npt.NDArray[Any]] = [signed_logarithm(adeles.real)[..., None]]
    for j, p in enumerate(space.primes):
        digits = adeles.digits[..., j, ::-1][..., :levels]  # lowest first
        parts.append(characters(digits, p) if layout.kind == "characters" else one_hot(digits, p))
    return np.asarray(np.concatenate(parts, axis=-1), dtype=np.float32)


def signed_logarithm(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return sign(q)·ln(1 + |q|) of real values.

    Raises:
        RangeError: a value is infinite.

    >>> signed_logarithm(np.array([0.0, -np.e + 1]))
    array([ 0., -1.])
    """
    beyond = np.argwhere(~np.isfinite(values))
    if len(beyond):
        position = at_position(tuple(beyond[0].tolist()))
        raise RangeError(
            f"the real value{position} is beyond float64, so its feature would be infinite; scale the numbers"
        )
    return np.asarray(np.sign(values) * np.log1p(np.abs(values)), dtype=np.float64)


def characters(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.float64]:
    """Return cos and sin of 2πx/p^k for k = 1 … levels, from the digits of x, lowest first.

    Shape: (*, levels) -> (*, 2 · levels), cos and sin in turn.

    >>> characters(np.array([1, 0]), 2).round(3)
    array([-1.,  0.,  0.,  1.])
    """
    angles = 2 * np.pi * _fractional_parts(digits, p)
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return waves.reshape(*digits.shape[:-1], 2 * digits.shape[-1])


def one_hot(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.bool_]:
    """Return each digit as a one-hot vector of length p.

    Shape: (*, levels) -> (*, p · levels).

    >>> one_hot(np.array([1, 0]), 3).astype(int)
    array([0, 1, 0, 1, 0, 0])
    """
    return np.asarray(digits[..., None] == np.arange(p)).reshape(*digits.shape[:-1], p * digits.shape[-1])


def _fractional_parts(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.float64]:
    """Return x/p^k in [0, 1) for k = 1 … levels, from the digits of x, lowest first."""
    parts = np.empty(digits.shape, dtype=np.float64)
    part: npt.NDArray[np.float64] = np.zeros(digits.shape[:-1])
    for k in range(digits.shape[-1]):
        part = (part + digits[..., k]) / p  # (x mod p^k)/p^k from the level before
        parts[..., k] = part
    return parts


def standardize(features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return features, (rows, size), with mean 0 and variance 1 a coordinate; constant coordinates become 0.

    >>> standardize(np.array([[0, 5], [2, 5]], dtype=np.float32))
    array([[-1.,  0.], [ 1.,  0.]], dtype=float32)
    """
    wide = features.astype(np.float64)
    deviation = wide.std(axis=0)
    return np.asarray((wide - wide.mean(axis=0)) / np.where(deviation == 0, 1, deviation), dtype=np.float32)


def hot_positions(adeles: AdeleArray, layout: FeatureLayout) -> npt.NDArray[np.int64]:
    """Return where the ones of "one-hot-digits" stand among the features: one for each level of each prime.

    Shape: adeles (*) -> (*, n_primes, levels). The sum of these rows of a matrix, and of the first one times the real
    feature, is its product with all features.

    >>> space = AdeleSpace(primes=(2, 3), precision=3)
    >>> layout = FeatureLayout("one-hot-digits", space, 2)
    >>> hot_positions(space.encode(5), layout).tolist()
    [[2, 3], [7, 9]]
    >>> np.flatnonzero(compute_features(space.encode(5), layout)).tolist()
    [0, 2, 3, 7, 9]
    """
    space, levels = layout.space, layout.levels
    digits = adeles.digits[..., ::-1][..., :levels]  # lowest first
    starts = 1 + levels * np.concatenate([[0], np.cumsum(space.primes)[:-1]])
    first = starts[:, None] + np.arange(levels) * np.array(space.primes)[:, None]
    return np.asarray(digits + first, dtype=np.int64)
