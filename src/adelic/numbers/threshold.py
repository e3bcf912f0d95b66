"""How many numbers are for the compiled kernels, and whether these are there: numba is an extra."""

import importlib.util
import sys
import warnings
from functools import cache

FEW = 32
"""With fewer numbers than this, Python and NumPy are quicker than loading the compiled kernels."""

NUMPY_DIGITS = 100_000_000
"""Number of digits of integers that NumPy finds in about the time that it takes to load the compiled kernels.

Compiling them, once after installing, takes ten times as long; small work ends before."""

GCD = 10
"""A greatest common divisor takes NumPy as long as so many digits."""

_CALL = 1_000
"""How many digits NumPy would find while one of its operations begins."""

_found = [0]  # digits of integers that NumPy has found in this process, and the cost of its operations besides

SLOW = 10_000
"""With more numbers than this, it is logged once that they would be computed quicker if numba were there."""


@cache
def has_kernels() -> bool:
    """Return whether numba is installed, which compiles the kernels.

    >>> has_kernels()
    True
    """
    return importlib.util.find_spec("numba") is not None


def are_many(size: int) -> bool:
    """Return whether this many numbers are for the compiled kernels; without numba none are, and Python does the same.

    >>> are_many(FEW), are_many(FEW + 1)
    (False, True)
    """
    if size <= FEW or has_kernels():
        return size > FEW
    if size > SLOW:
        _say_once_that_it_takes_long()
    return False


def are_for_numpy(size: int, digits: int) -> bool:
    """Return whether NumPy finds this many digits of each of this many integers, and count them.

    It does if there is no numba, and before the compiled kernels are loaded. Whoever goes on encoding, a batch
    after the other, has them loaded when NumPy has taken about as long as that takes.

    >>> are_for_numpy(FEW, 16), are_for_numpy(NUMPY_DIGITS, 16)
    (False, False)
    """
    if size <= FEW or "adelic.numbers.kernels.limbs" in sys.modules:
        return False
    cost = (size + _CALL) * digits
    if has_kernels() and _found[0] + cost > NUMPY_DIGITS:
        return False
    _found[0] += cost
    return True


@cache
def _say_once_that_it_takes_long() -> None:
    warnings.warn(
        "without numba, many numbers are computed one by one, which takes long: pip install 'adelic[fast]'",
        stacklevel=2,
    )
