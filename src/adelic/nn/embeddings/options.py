"""The checks of AOE's options."""

import math
from numbers import Integral, Real
from typing import Any

from adelic.errors import ConfigurationError
from adelic.numbers.rationals import float_policy
from adelic.numbers.space import AdeleSpace

COORDINATES = ("all", "real", "p-adic")
"""Which of AOE's coordinates a model is given."""


def check_features(features: str, projection: Any, coordinates: Any, *, has_vocabulary: bool) -> None:
    """Raise `ConfigurationError` unless there are such coordinates and such a projection, for these features."""
    if coordinates not in COORDINATES:
        raise ConfigurationError(f"coordinates={coordinates!r} are unknown; use {', '.join(COORDINATES)}")
    if projection not in (None, "linear"):
        raise ConfigurationError(f"projection={projection!r} is unknown; use None or 'linear'")
    if features == "standardized" and not has_vocabulary:
        raise ConfigurationError("features='standardized' needs a vocabulary to standardize over")


def check_numbers(space: Any, gain: Any, scale: Any, features: str, *, is_projected: bool) -> None:
    """Raise `ConfigurationError` unless a space is one, and a gain and a scale are numbers that play a part.

    >>> check_numbers(None, 1.0, (0, 0), "combined", is_projected=True)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: scale=(0, 0): it is a mean and a deviation above 0, for features='combined'; ...
    """
    if not isinstance(space, AdeleSpace | None):
        raise ConfigurationError(f"space={space!r} is no AdeleSpace; leave it out for the default")
    is_number = isinstance(gain, Real)
    if not is_number or not 0 < gain < math.inf or (gain != 1 and not is_projected):
        raise ConfigurationError(f"gain={gain!r} must be a positive number, and 1 without projection='linear'")
    if scale is None:
        return
    pair = list(scale) if isinstance(scale, tuple | list) else []
    is_pair = len(pair) == 2 and all(isinstance(x, Real) and math.isfinite(x) for x in pair)
    if features != "combined" or not is_pair or pair[1] <= 0:
        raise ConfigurationError(
            f"scale={scale!r}: it is a mean and a deviation above 0, for features='combined'; leave it out otherwise"
        )


def check_ids(n_ids: int | None, padding_idx: Any, floats: Any, *, missing: bool) -> None:
    """Raise `ConfigurationError` where options for ids and for open-ended numbers are mixed up, or have no such value.

    There are n_ids ids; None without a vocabulary. Floats of no policy are an `EncodingError`, as where they are read.
    """
    float_policy(floats)
    if n_ids is not None and (missing or floats != "never"):
        raise ConfigurationError(
            "floats and missing are for embeddings without a vocabulary; Vocabulary(numbers, missing=True) has an "
            "id for what is missing"
        )
    if padding_idx is None:
        return
    is_whole = isinstance(padding_idx, Integral)
    if n_ids is None or not is_whole or not 0 <= padding_idx < n_ids:
        known = "a vocabulary" if n_ids is None else f"an id from 0 to {n_ids - 1}"
        raise ConfigurationError(f"padding_idx={padding_idx!r} is not an id here; it needs {known}")
