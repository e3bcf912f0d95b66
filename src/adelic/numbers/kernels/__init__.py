"""Compiled arithmetic of digits (numba), imported when first used: the functions that call it choose the kernel.

- `digitwise`: one digit after the other, for any prime below 2^31; and greatest common divisors
- `limbs`: four digits at a time in vector registers (`vectors`), for primes up to 43; `sums`: sixteen at a time

A new kernel gives the digits of `adelic.numbers.hensel`, as a test checks. May import NumPy and numba alone, and names
the extra that brings numba. It has numba's `njit` for all compiled functions of the package: it logs that it compiles,
and compiled code is always kept. With cache=True numba keeps a function next to its module or, if that folder
cannot be written, in the user's cache folder (`NUMBA_CACHE_DIR` names another).
"""

import logging
import sys
import tempfile
from typing import Any

import numpy.typing as npt

from adelic.errors import needs_extra

with needs_extra("adelic.numbers.kernels", "fast"):
    from numba import config, njit
    from numba.core import event
    from numba.core.caching import FunctionCache

__all__ = ["Array", "njit"]

Array = npt.NDArray[Any]


class _Saying(event.Listener):
    """Says once that functions of this package are compiled; those that are on disk cause no event."""

    is_said = False

    def on_start(self, event: Any) -> None:
        if self.is_said or not event.data["dispatcher"].py_func.__module__.startswith("adelic."):
            return
        self.is_said = True
        text = "compiling for this processor, once: some seconds"
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"adelic: {text}", file=sys.stderr, flush=True)  # noqa: T201  # nothing else shows why it waits
        else:
            logging.getLogger("adelic").info(text)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def _keep_somewhere() -> None:
    """Keep compiled functions in a folder of this process if numba finds no other, and would raise an error."""
    try:
        FunctionCache(_keep_somewhere)
    except RuntimeError:
        # The module keeps it alive: it goes when the process ends.
        _folders.append(tempfile.TemporaryDirectory(prefix="adelic-compiled-"))
        config.CACHE_DIR = _folders[-1].name  # type: ignore[attr-defined]


_folders: list[tempfile.TemporaryDirectory[str]] = []
_saying = _Saying()
event.register("numba:compile", _saying)
_keep_somewhere()
