"""The command `adelic warm`: compile the code that would be compiled at first use."""

import math
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from adelic.errors import needs_extra
from adelic.numbers import AdeleSpace

_MANY = 10**5  # for as many numbers the compiled kernels are used, whatever else is loaded


def warm() -> None:
    """Compile the code that would be compiled at first use.

    adelic warm

    Run it once after installing, or while building an image: numba compiles the arithmetic of arrays and the training
    of networks for this processor, and keeps them on disk (NUMBA_CACHE_DIR names another folder). Compiled code that is
    there already is only loaded.
    """
    with needs_extra("adelic warm", "fast"):
        import numba  # noqa: F401
    parts: dict[str, Callable[[], None]] = {"arithmetic": _arithmetic}
    if find_spec("torch") is not None:
        parts["networks"] = _networks
    for name, compile_part in parts.items():
        print(f"{name} ... ", end="", flush=True)
        start = time.perf_counter()
        compile_part()
        print(f"{time.perf_counter() - start:.1f} s")


def _arithmetic() -> None:
    """Encode, calculate with and decode integers and rationals, with one byte per digit and with two, and prices."""
    spaces = AdeleSpace(), AdeleSpace(primes=(257, 263), precision=8)
    units = 1 + np.arange(_MANY) * math.prod(p for space in spaces for p in space.primes)
    for space in spaces:
        for values in (units, (units, units[::-1])):
            space.tensor(values)
            a = space.encode(values)
            _ = a + a, a - a, a * a, a / a, -a, a == a, a**2
            a[:1000].decode()
    AdeleSpace(fractional_digits=2).encode((units, np.full_like(units, 100)))


def _networks() -> None:
    """Take a small Transformer once forward and back."""
    import torch

    from adelic import nn

    model = nn.SequenceClassifier(nn.AdelicEmbedding(8, 16), n_classes=2, max_length=4, n_layers=1, n_heads=2)
    model(torch.zeros(4, 4, dtype=torch.long)).sum().backward()
