"""Numbers that carry their own embeddings: an exact number system that is also a tensor.

>>> from fractions import Fraction
>>> import adelic
>>> space = adelic.AdeleSpace(primes=(2, 3, 5, 7), precision=6, fractional_digits=1)
>>> a, b = space.encode(["7/5", "22/7"])
>>> (a + b).decode(), (a * b).decode()
(Fraction(159, 35), Fraction(22, 5))

The parts: `adelic.numbers` (exact mathematics), `adelic.data` (tasks, your own tables, splits), `adelic.acd` (the
Algebraic Combinatorics Dataset, generated from its definitions), `adelic.number_theory` (questions drawn from their
definitions), `adelic.columns` (small ones about number columns), `adelic.nn` (PyTorch layers); and `adelic.probe`,
which finds the arithmetic of a column that tells a target. They load when first used: `import adelic` imports neither
torch nor numba. Stored data need `pip install 'adelic[data]'`, the layers `pip install 'adelic[torch]'`. Experiments
are another package, `adelic_lab`.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from adelic.errors import AdelicError
from adelic.numbers import AdeleArray, AdeleSpace, RedundantResidueCode, SpaceChoice, choose_space, padic
from adelic.storage.version import VERSION

if TYPE_CHECKING:
    from adelic import acd, columns, data, nn, number_theory, numbers
    from adelic.probing import probe

__version__ = VERSION
__all__ = [
    "AdeleArray",
    "AdeleSpace",
    "AdelicError",
    "RedundantResidueCode",
    "SpaceChoice",
    "acd",
    "choose_space",
    "columns",
    "data",
    "nn",
    "number_theory",
    "numbers",
    "padic",
    "probe",
]

_NEED_TORCH = frozenset({"nn"})
_SUBPACKAGES = frozenset({"acd", "columns", "data", "number_theory", "numbers"}) | _NEED_TORCH


def __getattr__(name: str) -> Any:
    """Import a subpackage when it is first used."""
    if name in _SUBPACKAGES:
        return importlib.import_module(f"adelic.{name}")
    if name == "probe":
        return importlib.import_module("adelic.probing").probe
    raise AttributeError(f"module 'adelic' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, also those not loaded yet; names that need torch only if it is installed.

    `help(adelic)` and the like get everything that is listed.
    """
    absent = frozenset() if importlib.util.find_spec("torch") else _NEED_TORCH
    return sorted({*__all__} - absent)
