"""The check of sizes that layers are built with."""

from numbers import Integral
from typing import Any

from adelic.errors import ConfigurationError


def check_positive(**sizes: Any) -> None:
    """Raise ConfigurationError unless sizes are whole numbers, at least 1.

    >>> check_positive(n_layers=2, d_model=1.5)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: d_model=1.5 must be a whole number
    """
    for name, size in sizes.items():
        if not isinstance(size, Integral):
            raise ConfigurationError(f"{name}={size!r} must be a whole number")
        if size < 1:
            raise ConfigurationError(f"{name}={size} must be at least 1")
