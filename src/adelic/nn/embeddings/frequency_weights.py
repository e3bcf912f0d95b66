"""How loud AOE's features are: those of large moduli may be quieter than those of small ones."""

import math

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError
from adelic.numbers.features import FeatureLayout, place_size


def frequency_weights(layout: FeatureLayout, falloff: float) -> npt.NDArray[np.float32]:
    """Return the factor 1/√(1 + p^k/falloff) of what depends on q modulo p^k and no lower power, float32 (size,).

    That is a character, or a one-hot digit; other features have the factor 1. A residue is the rarer asked for, and the
    more examples it takes, the greater its modulus. With equal factors the many high levels are noise as loud as the
    few low ones, and a network reads neither in time. For a form without such features, or a falloff that is not
    positive and finite, it raises a ConfigurationError.

    >>> from adelic.numbers import AdeleSpace
    >>> layout = FeatureLayout("characters", AdeleSpace(primes=(2, 5), precision=3), 3)
    >>> frequency_weights(layout, 30).round(2)
    array([1.  , 0.97, 0.97, 0.94, 0.94, 0.89, 0.89, 0.93, 0.93, 0.74, 0.74,
           0.44, 0.44], dtype=float32)
    """
    if layout.kind not in ("characters", "one-hot-digits", "combined") or not 0 < falloff < math.inf:
        raise ConfigurationError(
            f"falloff={falloff} is to be above 0, with features='characters', 'one-hot-digits' or 'combined'; leave it "
            f"out for {layout.kind!r}"
        )
    factors = [np.ones(layout.n_real)]
    for p, count in zip(layout.space.primes, layout.place_levels, strict=True):
        exponents = np.arange(1, count + 1) - layout.space.fractional_digits
        of_levels = (1 + np.exp(np.minimum(exponents * math.log(p), 700)) / falloff) ** -0.5  # exp(710) is infinite
        of_levels = np.repeat(of_levels, p if layout.kind == "one-hot-digits" else 2)
        factors += [of_levels, np.ones(place_size(layout.kind, p, count) - len(of_levels))]
    return np.concatenate(factors).astype(np.float32)
