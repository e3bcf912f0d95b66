"""From numbers to feature vectors: the forms in which a model can eat an adele.

Every feature belongs to one place (the real one or a prime) and to one *level*: the digit of p^(k-1), the residue
modulo p^k, or whether p^k is the power of p in the number. Levels count from the lowest digit of the window, so
dropping high levels keeps the features that distinguish small numbers. A prime has no more levels than digits.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, RangeError, UnknownNameError
from adelic.numbers.array import AdeleArray
from adelic.numbers.describe import at_position, describe
from adelic.numbers.primes import primitive_root
from adelic.numbers.space import AdeleSpace

PLACE_FEATURES = ("characters", "one-hot-digits", "digits", "valuation-unit", "multiplicative-characters")
"""The forms in which a network with a state at each place can be given an adele."""
WITHOUT_COMBINED = ("digits", "standardized", *PLACE_FEATURES[:2], *PLACE_FEATURES[3:], "residues")
"""The forms that show a number in one way, also in tables."""
FEATURE_KINDS = (*WITHOUT_COMBINED, "combined")
"""The forms in which a network can be given an adele."""
ONE_HOT_KINDS = ("one-hot-digits", "residues")
"""The forms with one-hot vectors that contain all digits."""
HOT_KINDS = (*ONE_HOT_KINDS, "valuation-unit")
"""The forms whose features at primes are 0 or 1, of which `hot_positions` finds the ones."""
_COMBINED = ("characters", "valuation-unit")  # at a prime: the one shows sums, the other divisors and residues
DECIMAL_PERIODS = tuple(10.0**k for k in range(-1, 13))
"""The periods of the waves of the real value in "combined": they show its digits in base 10, 0.01 … 10^11."""
_REAL_SCALE = 10
"""In "combined" the logarithm is divided by this, so it is about as large as the other features."""
_GREATEST_RESIDUES = 343
"""Of "residues", the greatest modulus p^k > p whose residues have a feature each: 2^8, 3^5, 5^3, 7^3, 11^2, 13^2, 17^2.
Chosen so they are above all prime powers below 100; others were not tried."""
_BLOCK = 1024  # rows of features that are computed together
_UNIT_DIGITS_AT_2 = 3  # u mod 8 decides whether the unit u is a square in Q_2; at other primes u mod p does


@dataclass(frozen=True)
class FeatureLayout:
    """The source of each feature of a vector.

    Attributes:
        kind: one of `FEATURE_KINDS`.
        space: the adele space.
        levels: how many levels a place keeps, at most the space's greatest precision; a prime of fewer digits keeps
            all of them.

    >>> FeatureLayout("digits", AdeleSpace(), 16).size, FeatureLayout("characters", AdeleSpace(), 9).size
    (128, 127)
    >>> FeatureLayout("characters", AdeleSpace(precision={2: 7, 3: 5, 11: 1}), 7).size
    27
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
        return real_size(self.kind, self.levels)

    @property
    def place_levels(self) -> tuple[int, ...]:
        """Return how many levels each prime keeps.

        >>> FeatureLayout("digits", AdeleSpace(precision={2: 7, 3: 5, 11: 1}), 6).place_levels
        (6, 5, 1)
        """
        return tuple(min(self.levels, n) for n in self.space.precisions)

    @property
    def is_present(self) -> npt.NDArray[np.bool_]:
        """Return which coordinates of the layout, cut to the lowest levels, are features: (n_primes + 1, levels)."""
        place = np.arange(self.levels - 1, -1, -1)
        return np.asarray(place < np.array([self.levels, *self.place_levels])[:, None])

    @staticmethod
    def size_of(kind: str, space: AdeleSpace, levels: int) -> int:
        """Return the number of features for a number of levels."""
        places = zip(space.primes, space.precisions, strict=True)
        return real_size(kind, levels) + sum(place_size(kind, p, min(levels, n)) for p, n in places)

    @classmethod
    def fit(cls, kind: str, space: AdeleSpace, width: int | None) -> "FeatureLayout":
        """Return the layout with the most levels that fits a width; all of them when the width is None.

        If not even one level fits, it is a ConfigurationError.
        """
        if kind not in FEATURE_KINDS:
            raise UnknownNameError.of("features", kind, FEATURE_KINDS, listed="features")
        levels = space.max_precision
        if width is not None:
            # More levels never take fewer features, so halving finds the greatest number that fits.
            levels = bisect_right(range(1, levels + 1), width, key=lambda n: cls.size_of(kind, space, n))
        if not levels:
            raise ConfigurationError(
                f"features={describe(kind)} need {cls.size_of(kind, space, 1)} coordinates at {space.n_primes} primes, "
                f"more than d_model={width}; use projection='linear', a larger d_model or fewer primes"
            )
        return cls(kind, space, levels)


def compute_features(
    adeles: AdeleArray,
    layout: FeatureLayout,
    *,
    scale: tuple[float, float] | None = None,
    real: bool = True,
    dtype: Any = np.float32,
) -> npt.NDArray[Any]:
    """Return the features of adeles, float32 (*, layout.size).

    - "digits": the paper's layout, flattened: [0, …, 0, q], then the digits of each prime, raw.
    - "standardized": the same; `standardize` brings each coordinate to mean 0 and variance 1 over a vocabulary.
    - "characters": sign(q)·ln(1 + |q|), then cos and sin of 2πx/p^k for k = 1 … levels, with x = p^F·q: the additive
      characters of Z/p^k, which turn sums into rotations.
    - "one-hot-digits": sign(q)·ln(1 + |q|), then each digit as a one-hot vector of length p, lowest digit first.
    - "residues": sign(q)·ln(1 + |q|), then q modulo the greatest p^k ≤ 343 (at least p) as one one-hot vector of length
      p^k, and the digits above as "one-hot-digits" has them. A linear map gives each element of Z/p^k a vector.
    - "valuation-unit": sign(q)·ln(1 + |q|), then q = p^v·u as number theorists write it, see `valuation_unit`.
    - "multiplicative-characters": the same, but of u the values of Dirichlet characters, which turn products into
      rotations, see `multiplicative_characters`.
    - "combined": `real_features` of the real value, then at each prime "characters" and "valuation-unit".

    Digits beyond the levels of a prime are not features.

    Args:
        adeles: the numbers, (*).
        layout: the wanted features.
        scale: mean and deviation of the numbers that are usual, for "combined"; without them that feature is 0.
        real: whether to look at the real value, which may be too great for its features; they are 0 otherwise.
        dtype: np.uint8 for `HOT_KINDS` takes a quarter of the memory; the first feature, which it cannot hold, is 0.

    Raises:
        RangeError: a real value is beyond float32 (digits) or float64.

    >>> space = AdeleSpace(primes=(2, 3), precision=3)
    >>> compute_features(space.encode(5), FeatureLayout("digits", space, 2))
    array([0., 5., 0., 1., 1., 2.], dtype=float32)
    >>> compute_features(space.encode(5), FeatureLayout("one-hot-digits", space, 1)).round(2)
    array([1.79, 0.  , 1.  , 0.  , 0.  , 1.  ], dtype=float32)
    >>> compute_features(space.encode(12), FeatureLayout("valuation-unit", space, 3)).round(2)  # 2^2·3 and 3·4
    array([2.56, 0.  , 0.  , 1.  , 0.  , 0.  , 0.  , 0.  , 0.  , 0.  , 1.  ,
           0.  , 0.  , 1.  , 0.  ], dtype=float32)
    """
    space = layout.space
    if layout.kind in ("digits", "standardized"):
        around = [*[(0, 0)] * len(adeles.shape), (1, 0), (0, 0)]
        coordinates = adeles.tensor() if real else np.pad(adeles.digits.astype(np.float32), around)
        coordinates = coordinates[..., space.max_precision - layout.levels :]
        if not space.window.is_uniform:
            coordinates = coordinates[..., layout.is_present]
        return coordinates.reshape(*adeles.shape, layout.size)
    # In blocks, which stay in cache, and in the type of the result: of 10^5 numbers all features are hundreds of
    # megabytes, and memory that is touched for the first time costs more than the computation.
    out = np.zeros((*adeles.shape, layout.size), dtype)
    flat, every = adeles.reshape(-1), out.reshape(-1, layout.size)
    for i in range(0, len(every), _BLOCK):
        block, rows = flat[i : i + _BLOCK], every[i : i + _BLOCK]
        if layout.kind in HOT_KINDS:
            hot = hot_positions(block, layout).reshape(len(rows), -1)
            np.put_along_axis(rows, np.where(hot == layout.size, 0, hot), 1, axis=-1)  # the first is written below
            continue
        start = layout.n_real
        for j, (p, count) in enumerate(zip(space.primes, layout.place_levels, strict=True)):
            end = start + place_size(layout.kind, p, count)
            rows[:, start:end] = place_features(layout.kind, block.digits[:, j, ::-1][:, :count], p)
            start = end
    is_wanted = real and dtype is np.float32
    out[..., : layout.n_real] = real_features(layout.kind, adeles.real, scale) if is_wanted else 0
    return out


def real_size(kind: str, levels: int) -> int:
    """Return how many features of a kind the real place has.

    >>> real_size("digits", 16), real_size("characters", 16), real_size("combined", 16)
    (16, 1, 30)
    """
    if kind == "combined":
        return 2 + 2 * len(DECIMAL_PERIODS)
    return levels if kind in ("digits", "standardized") else 1


def real_features(
    kind: str, real: npt.NDArray[np.float64], scale: tuple[float, float] | None = None
) -> npt.NDArray[np.float64]:
    """Return the features of real values q, (*) -> (*, real_size): sign(q)·ln(1 + |q|), and in "combined" more.

    There it is divided by 10; then comes asinh((q − mean)/deviation), 0 without a scale, and then cos and sin of 2πq/T
    for the periods T = 10^−1, …, 10^12, which show q's digits in base 10 (for fractions, the digits of the nearest
    float64).

    >>> real_features("combined", np.array([25.0]), (5.0, 20.0))[0, :2].round(2)  # ln(26)/10 and asinh(1)
    array([0.33, 0.88])
    """
    logarithm = signed_logarithm(real)[..., None]
    if kind != "combined":
        return logarithm
    mean, deviation = (0.0, 0.0) if scale is None else scale
    with np.errstate(over="ignore"):
        size = np.arcsinh((real - mean) / deviation) if deviation else np.zeros_like(real)
        turns = real[..., None] / DECIMAL_PERIODS
    turns[np.isinf(turns)] = 0  # a float so great is an integer, and makes whole turns of 0.1
    angles = 2 * np.pi * np.fmod(turns, 1.0)
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(*real.shape, 2 * len(DECIMAL_PERIODS))
    return np.concatenate([logarithm / _REAL_SCALE, size[..., None], waves], axis=-1)


def place_size(kind: str, p: int, levels: int) -> int:
    """Return how many features of a kind a prime has for a number of levels.

    >>> [place_size(kind, 5, 2) for kind in FEATURE_KINDS]
    [2, 2, 4, 10, 7, 6, 25, 11]
    """
    if kind == "combined":
        return sum(place_size(part, p, levels) for part in _COMBINED)
    if kind in ("valuation-unit", "multiplicative-characters"):
        modulus = p ** unit_digits(p, levels)
        return int(levels + modulus - modulus // p + (kind == "valuation-unit"))  # `unit_residues` lists them
    if kind in ONE_HOT_KINDS:
        together = digits_together(kind, p, levels)
        return int(p**together + p * (levels - together))
    return levels * (2 if kind == "characters" else 1)


def digits_together(kind: str, p: int, levels: int) -> int:
    """Return how many of the lowest digits share one one-hot vector, of length p^k.

    >>> [digits_together("residues", p, 16) for p in (2, 3, 5, 7, 11, 97)], digits_together("one-hot-digits", 2, 16)
    ([8, 5, 3, 3, 2, 1], 1)
    """
    if kind != "residues":
        return 1
    return max(1, bisect_right(range(1, levels + 1), _GREATEST_RESIDUES, key=lambda k: p**k))


def place_features(kind: str, digits: npt.NDArray[Any], p: int) -> npt.NDArray[Any]:
    """Return the features of a kind at one prime, from digits, lowest first: (*, levels) -> (*, place_size)."""
    if kind == "combined":
        return np.concatenate([place_features(part, digits, p) for part in _COMBINED], axis=-1)
    functions = {
        "characters": characters,
        "one-hot-digits": one_hot,
        "residues": residues,
        "valuation-unit": valuation_unit,
        "multiplicative-characters": multiplicative_characters,
    }
    return np.asarray(functions[kind](digits, p)) if kind in functions else digits


def signed_logarithm(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return sign(q)·ln(1 + |q|) of real values.

    Infinity is a RangeError.

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
    """Return cos and sin of 2πx/p^k for k = 1 … levels, in turn, from the digits of x, lowest first: (*, 2 · levels).

    >>> characters(np.array([1, 0]), 2).round(3)
    array([-1.,  0.,  0.,  1.])
    """
    # Of x modulo p^k, not of x: x may be beyond float64, and its angle would be rounded away long before.
    angles = 2 * np.pi * _fractional_parts(digits, p)
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return waves.reshape(*digits.shape[:-1], 2 * digits.shape[-1])


def one_hot(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.bool_]:
    """Return each digit as a one-hot vector of length p, (*, levels) -> (*, p · levels).

    >>> one_hot(np.array([1, 0]), 3).astype(int)
    array([0, 1, 0, 1, 0, 0])
    """
    return np.asarray(digits[..., None] == np.arange(p)).reshape(*digits.shape[:-1], p * digits.shape[-1])


def residues(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.bool_]:
    """Return x modulo p^k as one one-hot vector, with k from `digits_together`, and each higher digit as another.

    Shape: (*, levels) -> (*, p^k + p · (levels − k)).

    >>> np.flatnonzero(residues(np.array([1, 0, 2, 0, 0, 2]), 3))  # 19 modulo 243, and the digit 2 of 3^5
    array([ 19, 245])
    """
    hot = np.zeros((*digits.shape[:-1], place_size("residues", p, digits.shape[-1])), np.bool_)
    np.put_along_axis(hot, one_hot_positions("residues", digits, p), True, axis=-1)
    return hot


def one_hot_positions(kind: str, digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.int64]:
    """Return the indices of the ones of `ONE_HOT_KINDS` at one prime, from digits, lowest first: (*, levels − k + 1).

    The lowest k digits, see `digits_together`, have one of them.

    >>> digits = np.array([1, 0, 2])
    >>> one_hot_positions("one-hot-digits", digits, 3), one_hot_positions("residues", digits, 3)
    (array([1, 3, 8]), array([19]))
    """
    levels = digits.shape[-1]
    k = digits_together(kind, p, levels)
    modulo = digits[..., :k].astype(np.int64) @ p ** np.arange(k)
    above = digits[..., k:].astype(np.int64) + p**k + p * np.arange(levels - k)
    return np.concatenate([modulo[..., None], above], axis=-1)


def unit_residues(p: int, levels: int) -> tuple[int, ...]:
    """Return the residues of units that "valuation-unit" tells apart: modulo p, and modulo 8 at p = 2.

    A unit u is a square in Q_p if it is one modulo p, p odd, and in Q_2 if it is 1 modulo 8. With fewer than three
    digits at 2 it is modulo 4 or 2.

    >>> unit_residues(5, 1), unit_residues(2, 6), unit_residues(2, 2)
    ((1, 2, 3, 4), (1, 3, 5, 7), (1, 3))

    Source: J.-P. Serre, A Course in Arithmetic (1973), II.3.3.
    """
    return tuple(r for r in range(p ** unit_digits(p, levels)) if r % p)


def unit_digits(p: int, levels: int) -> int:
    """Return how many digits of a unit these residues take: 1, and at p = 2 three, if there are as many."""
    return min(_UNIT_DIGITS_AT_2, levels) if p == 2 else 1


def valuation_unit(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.bool_]:
    """Return v and a residue of u as one-hot vectors, from the digits of x = p^v·u, lowest first.

    v is 0 … levels, the last for "at least as many", which 0 has, too; then come the residues that `unit_residues`
    names. None of them is marked if the digits do not tell which it is: u has levels − v known digits.

    With fractional digits F, x is p^F·q, so the first valuation is −F. Digits that are not known count as 0.

    Shape: (*, levels) -> (*, levels + 1 + number of residues).

    >>> valuation_unit(np.array([[2, 1], [0, 1], [0, 0]]), 3).astype(int)
    array([[1, 0, 0, 0, 1],
           [0, 1, 0, 1, 0],
           [0, 0, 1, 0, 0]])
    """
    levels = digits.shape[-1]
    v, residue, is_told = _split(digits, p)
    is_unit = (residue == np.array(unit_residues(p, levels))) & is_told
    return np.concatenate([v == np.arange(levels + 1), is_unit], axis=-1)


def multiplicative_characters(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.float64]:
    """Return v as a one-hot vector, and the values of characters of u, from the digits of x = p^v·u, lowest first.

    A character χ of units has χ(u·w) = χ(u)·χ(w) and |χ(u)| = 1. There are as many as residues that `unit_residues`
    names, which they tell apart: for an odd p with the primitive root g they are χ_k(g^i) = exp(2πi·k/(p − 1)), and
    modulo 8 they are 1, (−1/u), (2/u) and (−2/u). Each, except the trivial one, gives the real part and, if it is
    not real, the imaginary one; of two that are conjugate the first. `unit_characters` has their order. All are 0 if
    the digits do not tell the residue, as in `valuation_unit`, whose valuations these are.

    Shape: (*, levels) -> (*, levels + 1 + number of residues − 1).

    Source: K. Ireland, M. Rosen, A Classical Introduction to Modern Number Theory (1990), chapters 8 and 16.

    >>> multiplicative_characters(np.array([[1, 0], [2, 0], [4, 0], [0, 3]]), 5).round(2)[:, 3:] + 0.0  # v is before
    array([[ 1.,  0.,  1.],
           [ 0.,  1., -1.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """
    levels = digits.shape[-1]
    v, residue, is_told = _split(digits, p)
    about = unit_characters(p, levels)
    turns = (about.indices[residue[..., 0]] @ about.turns.T) % about.order / about.order - about.is_sine / 4
    return np.concatenate([v == np.arange(levels + 1), np.cos(2 * np.pi * turns) * is_told], axis=-1)


@dataclass(frozen=True)
class UnitCharacters:
    """The characters of units modulo p, or modulo 8 at p = 2, as whole numbers.

    Feature j of the unit u is the cosine of 2π·(indices[u]·turns[j]/order), or its sine.

    Attributes:
        indices: int64 (modulus, 2), by residue: the logarithm to the least primitive root, and 0; at p = 2 the
            exponents of −1 in (−1/u) and (2/u).
        turns: int64 (n_features, 2).
        order: p − 1, and 2 at p = 2.
        is_sine: bool (n_features,).
        names: which character each feature belongs to, from 1 on.
    """

    indices: npt.NDArray[np.int64]
    turns: npt.NDArray[np.int64]
    order: int
    is_sine: npt.NDArray[np.bool_]
    names: tuple[int, ...]


@lru_cache(maxsize=1024)
def unit_characters(p: int, levels: int) -> UnitCharacters:
    """Return the characters, in their order: the first's cosine and sine, the second's, …, and (u/p) at the end.

    >>> about = unit_characters(5, 1)
    >>> about.indices[:, 0].tolist(), about.turns[:, 0].tolist(), about.order, about.is_sine.tolist()
    ([0, 0, 1, 3, 2], [1, 1, 2], 4, [False, True, False])
    """
    if p == 2:
        modulus = 2 ** unit_digits(2, levels)
        u = np.arange(modulus)
        # (−1/u) is −1 to the power (u − 1)/2, and (2/u) to the power (u² − 1)/8.
        turns = np.array([(1, 0), (0, 1), (1, 1)])[: modulus // 2 - 1]
        indices = np.stack([u // 2 % 2, (u * u - 1) // 8 % 2], axis=-1) * (u % 2)[:, None]
        return UnitCharacters(indices, turns, 2, np.zeros(len(turns), np.bool_), tuple(range(1, len(turns) + 1)))
    indices, power, root = np.zeros((p, 2), np.int64), 1, primitive_root(p)
    for exponent in range(p - 1):
        indices[power, 0] = exponent
        power = power * root % p
    # Conjugate characters have the same cosine and the negative sine, so one of two is enough.
    names = [k for k in range(1, (p + 1) // 2) for _ in range(1 if 2 * k == p - 1 else 2)]
    turns = np.stack([names, np.zeros_like(names)], axis=-1)
    return UnitCharacters(indices, turns, p - 1, np.arange(p - 2) % 2 == 1, tuple(names))


def _split(
    digits: npt.NDArray[Any], p: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return of x = p^v·u, from its digits, lowest first: v, the residue of u, whether the digits tell it: (*, 1)."""
    levels, count = digits.shape[-1], unit_digits(p, digits.shape[-1])
    v = (np.cumsum(digits != 0, axis=-1) == 0).sum(axis=-1)[..., None]
    place = v + np.arange(count)
    of_unit = np.take_along_axis(digits, np.minimum(place, levels - 1), axis=-1).astype(np.int64)
    residue = (of_unit * p ** np.arange(count)).sum(axis=-1, keepdims=True)
    return v, residue, v + count <= levels


def _fractional_parts(digits: npt.NDArray[Any], p: int) -> npt.NDArray[np.float64]:
    """Return x/p^k in [0, 1) for k = 1 … levels, from the digits of x, lowest first."""
    parts = np.empty(digits.shape, dtype=np.float64)
    part: npt.NDArray[np.float64] = np.zeros(digits.shape[:-1])
    for k in range(digits.shape[-1]):
        part = (part + digits[..., k]) / p  # (x mod p^k)/p^k from the level before
        parts[..., k] = part
    return parts


def hot_positions(adeles: AdeleArray, layout: FeatureLayout) -> npt.NDArray[np.int64]:
    """Return the indices of the ones among the features at primes; if there is none, the number of all features.

    The sum of these rows of a matrix, with a row of zeros at its end, and of its first row times the real feature, is
    its product with all features: the way to read thousands of features of which few are not 0.

    Shape: adeles (*) -> (*, n_primes, levels), with "valuation-unit" (*, n_primes, 2).

    >>> space = AdeleSpace(primes=(2, 3), precision=3)
    >>> layout = FeatureLayout("one-hot-digits", space, 2)
    >>> hot_positions(space.encode(5), layout).tolist()
    [[2, 3], [7, 9]]
    >>> np.flatnonzero(compute_features(space.encode(5), layout)).tolist()
    [0, 2, 3, 7, 9]
    """
    places = list(zip(layout.space.primes, layout.place_levels, strict=True))
    starts = 1 + np.cumsum([0, *(place_size(layout.kind, p, n) for p, n in places)])
    digits = adeles.digits[..., ::-1]  # lowest first
    is_split = layout.kind == "valuation-unit"
    found = np.full((*digits.shape[:-1], 2 if is_split else layout.levels), layout.size)
    for j, (p, n) in enumerate(places):
        if is_split:
            v, residue, is_told = _split(digits[..., j, :n], p)
            # Of the residues, the units are those that p does not divide; the first is 1.
            units = np.where(is_told, n + residue - residue // p, layout.size - starts[j])
            positions = np.concatenate([v, units], axis=-1)
        else:
            positions = one_hot_positions(layout.kind, digits[..., j, :n], p)
        found[..., j, : positions.shape[-1]] = starts[j] + positions
    return found
