"""From the coordinates of a column of numbers to named features, and back; the formulas are those of `adelic.nn`."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adelic.errors import DecodingError
from adelic.integrations.columns import Coordinates
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import at_position
from adelic.numbers.features import (
    characters,
    one_hot,
    place_features,
    place_size,
    signed_logarithm,
    unit_characters,
    unit_residues,
)

_NEAR = 0.25
"""A feature farther than this from the feature of every digit is taken for none of them."""

_WITHOUT_INVERSE = ("valuation-unit", "multiplicative-characters")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnFeatures:
    """The features of one column: its real value, then those of each prime, lowest power first.

    Attributes:
        kind: "digits", "standardized" (here the same), "characters", "one-hot-digits", "valuation-unit" or
            "multiplicative-characters".
        space: the adele space.

    >>> space = AdeleSpace(primes=(2, 3), precision=2, fractional_digits=1)
    >>> ColumnFeatures("digits", space).names("x0")
    ['x0_real', 'x0_p2_d-1', 'x0_p2_d0', 'x0_p3_d-1', 'x0_p3_d0']
    """

    kind: str
    space: AdeleSpace

    @property
    def size(self) -> int:
        """Return the number of features."""
        return 1 + sum(self.place_sizes)

    @property
    def place_sizes(self) -> list[int]:
        """Return the number of features at each prime."""
        return [place_size(self.kind, p, n) for p, n in zip(self.space.primes, self.space.precisions, strict=True)]

    def names(self, column: str) -> list[str]:
        """Return the features' names.

        - digits: `x0_p7_d2` is the digit of 7^2.
        - one-hot-digits: `x0_p7_d2_5` is 1 where this digit is 5.
        - characters: `x0_p7_cos2` is cos(2πx/7^2).
        - valuation-unit: `x0_p7_v2` is 1 for 7^2·u, and `x0_p7_u5` where u is 5 modulo 7 (at p = 2 modulo 8); the
          last valuation stands for more factors, too.
        - multiplicative-characters: `x0_p7_v2` as there; `x0_p7_chi1_cos` and `x0_p7_chi1_sin` are the parts of the
          first character of u modulo 7 (at p = 2 modulo 8), in the order of `adelic.numbers.features.unit_characters`.
        """
        names = [f"{column}_real"]
        for p, precision in zip(self.space.primes, self.space.precisions, strict=True):
            exponents = [k - self.space.fractional_digits for k in range(precision)]
            if self.kind in _WITHOUT_INVERSE:
                names += [f"{column}_p{p}_v{v}" for v in [*exponents, exponents[-1] + 1]]
            if self.kind == "multiplicative-characters":
                about = unit_characters(p, precision)
                parts = zip(about.names, about.is_sine, strict=True)
                names += [f"{column}_p{p}_chi{k}_{'sin' if is_sine else 'cos'}" for k, is_sine in parts]
            elif self.kind == "valuation-unit":
                names += [f"{column}_p{p}_u{residue}" for residue in unit_residues(p, precision)]
            elif self.kind == "characters":
                names += [f"{column}_p{p}_{wave}{e + 1}" for e in exponents for wave in ("cos", "sin")]
            elif self.kind == "one-hot-digits":
                names += [f"{column}_p{p}_d{e}_{digit}" for e in exponents for digit in range(p)]
            else:
                names += [f"{column}_p{p}_d{e}" for e in exponents]
        return names

    def compute(self, coordinates: Coordinates) -> Floats:
        """Return the features, (rows, size).

        Where the logarithm of a real value beyond float64 is wanted, it is a RangeError.
        """
        out = np.empty((len(coordinates.real), self.size))
        out[:, 0] = self.real_feature(coordinates.real)
        start = 1
        places = zip(self.space.primes, self.space.precisions, self.place_sizes, strict=True)
        for j, (p, precision, size) in enumerate(places):
            out[:, start : start + size] = place_features(self.kind, coordinates.digits[:, j, :precision], p)
            start += size
        return out

    def real_feature(self, real: Floats) -> Floats:
        """Return the feature of real values: q, or sign(q)·ln(1 + |q|) beside characters and one-hot digits."""
        return real if self.kind in ("digits", "standardized") else signed_logarithm(real)

    def read(self, features: Floats, relative_error: float) -> tuple[Coordinates, Floats]:
        """Return the coordinates that have these features, and how far the real ones may be off.

        Features are finite, (rows, size); `relative_error` is that of the feature of the real value, and of logarithms
        and exponentials. A DecodingError says that a feature is near that of no digit, or that they do not say all
        digits.

        >>> layout = ColumnFeatures("one-hot-digits", AdeleSpace(primes=(3,), precision=2))
        >>> coordinates = Coordinates(np.array([5.0]), np.array([[[2, 1]]]))
        >>> found, radius = layout.read(layout.compute(coordinates), 1e-15)
        >>> found.digits, bool(abs(found.real[0] - 5) < radius[0])
        (array([[[2, 1]]]), True)
        """
        if self.kind in _WITHOUT_INVERSE:
            raise DecodingError(
                f"features={self.kind!r} say the power of p and one residue of the unit, which do not give the "
                "number back; use 'digits', 'characters' or 'one-hot-digits'"
            )
        real = features[:, 0]
        radius = np.abs(real) * relative_error
        if self.kind not in ("digits", "standardized"):
            with np.errstate(over="ignore"):
                real = np.sign(real) * np.expm1(np.abs(real))
            # The derivative of the inverse is 1 + |q|, and expm1 rounds, too.
            radius = (1 + np.abs(real)) * radius + np.abs(real) * relative_error
        digits = np.zeros((len(features), self.space.n_primes, self.space.max_precision), dtype=np.int64)
        start = 1
        places = zip(self.space.primes, self.space.precisions, self.place_sizes, strict=True)
        for j, (p, precision, size) in enumerate(places):
            digits[:, j, :precision] = self._read_digits(features[:, start : start + size], p, precision)
            start += size
        return Coordinates(real, digits), radius

    def _read_digits(self, features: Floats, p: int, precision: int) -> npt.NDArray[np.int64]:
        """Return the digits at one prime, (rows, precision), lowest first."""
        if self.kind == "one-hot-digits":
            blocks = features.reshape(len(features), precision, p)
            digits = np.asarray(blocks.argmax(axis=-1), dtype=np.int64)
            wrong = np.abs(blocks - one_hot(digits, p).reshape(blocks.shape)).max(axis=-1) > _NEAR
        elif self.kind == "characters":
            waves = features.reshape(len(features), precision, 2)
            digits = _digits_of_angles(np.arctan2(waves[..., 1], waves[..., 0]) / (2 * np.pi), p)
            expected = characters(digits, p).reshape(waves.shape)
            # At most a quarter of the arc between two digits, which is 2π/p.
            wrong = np.abs(waves - expected).max(axis=-1) > min(_NEAR, np.pi / (2 * p))
        else:
            digits = np.rint(np.clip(features, -1, p)).astype(np.int64)
            wrong = (np.abs(features - digits) > _NEAR) | (digits < 0) | (digits >= p)
        if wrong.any():
            row = int(np.flatnonzero(wrong.any(axis=1))[0])
            raise DecodingError(f"the features{at_position((row,))} are near those of no digit at the prime {p}")
        return digits


def _digits_of_angles(turns: Floats, p: int) -> npt.NDArray[np.int64]:
    """Return the digits of x, lowest first, from x/p^k for k = 1 … levels, each up to an integer.

    >>> _digits_of_angles(np.array([[5 / 3, 5 / 9 - 1]]), 3)    # 5 is 12 in base 3
    array([[2, 1]])
    """
    digits = np.empty(turns.shape, dtype=np.int64)
    before = np.zeros(len(turns))  # (x mod p^(k-1))/p^(k-1), from digits found so far
    for k in range(turns.shape[1]):
        # It is x/p^(k+1): p times it is the digit of p^k plus `before`, up to a multiple of p.
        digits[:, k] = np.rint(p * turns[:, k] - before).astype(np.int64) % p
        before = (before + digits[:, k]) / p
    return digits
