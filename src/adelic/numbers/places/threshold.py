"""How many numbers are for the compiled kernels, and whether these are there: numba is an extra."""

import importlib.util
import sys
import warnings
from functools import cache

FEW = 32
"""With fewer numbers than this, Python and NumPy are quicker than loading the compiled kernels."""

FEW_INTEGERS = 500_000
"""With fewer integers than this, NumPy finds their digits before the compiled kernels would be loaded."""

SLOW = 10_000
"""With more numbers than this, it is said once that they would be computed quicker if numba were there."""


@cache
def has_kernels() -> bool:
    """Return whether numba is installed, which compiles the kernels.

    >>> has_kernels()
    True
    """
    return importlib.util.find_spec("numba") is not None


def are_many(size: int) -> bool:
    """Return whether so many numbers are for the compiled kernels; without numba none are, and Python does the same.

    >>> are_many(FEW), are_many(FEW + 1)
    (False, True)
    """
    if size <= FEW or has_kernels():
        return size > FEW
    if size > SLOW:
        _say_once_that_it_takes_long()
    return False


def are_many_integers(size: int) -> bool:
    """Return whether so many integers are for the compiled kernels: many, or some where the kernels are loaded.

    >>> are_many_integers(FEW), are_many_integers(FEW_INTEGERS + 1)
    (False, True)
    """
    return has_kernels() and size > (FEW if "adelic.numbers.kernels" in sys.modules else FEW_INTEGERS)


@cache
def _say_once_that_it_takes_long() -> None:
    warnings.warn(
        "without numba, many numbers are computed one by one, which takes long: pip install 'adelic[fast]'",
        stacklevel=2,
    )
