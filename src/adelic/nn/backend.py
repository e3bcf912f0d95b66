"""How forward passes compute: the precision of products, and dropout's random numbers; set around a model's call.

A model is called as `model(ids)`. What a training loop has to say beside that holds inside a `with` statement, in the
thread that enters it alone, so several threads may train on parts of one batch.
"""

import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.kernels import fused
from adelic.nn.kernels.fused import Site

PRECISIONS = ("float32", "bfloat16")
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Noise:
    """The random numbers of dropout in one step: a function of the seed and the place alone.

    Attributes:
        seed: of the step, 0 <= seed < 2^64.
        first_row: how many rows of the batch come before those that the model is given.

    >>> Noise(seed=3).key(0) != Noise(seed=3).key(1) != Noise(seed=4).key(0)
    True
    """

    seed: int
    first_row: int = 0

    def key(self, site: int) -> int:
        """Return the 64-bit key of one of the places in a model where dropout acts (splitmix64's scrambling)."""
        z = (self.seed + (site + 1) * 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def from_row(self, first_row: int) -> "Noise":
        """Return the noise of the rows from one on."""
        return replace(self, first_row=first_row)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """How the forward passes inside `with backend.on(device):` compute.

    Attributes:
        compute: precision of the encoder's products: "float32", or "bfloat16", to which factors are rounded. On the CPU
            `adelic.nn.kernels.fused` does that, elsewhere `torch.autocast`.
        noise: the random numbers of dropout and of embeddings that draw some, on the CPU; without it, and on other
            devices, torch's generator gives them.

    Raises:
        ConfigurationError: there is no such precision.

    >>> from adelic import nn
    >>> model = nn.SequenceClassifier(nn.LearnedEmbedding(nn.Vocabulary(range(8))), n_classes=2, max_length=4)
    >>> ids = torch.tensor([[1, 2, 3]])
    >>> with Backend(noise=Noise(seed=3)).on("cpu"):
    ...     torch.allclose(model(ids), model(ids))
    True
    >>> torch.allclose(model(ids), model(ids))
    False
    """

    compute: str = "float32"
    noise: Noise | None = None

    def __post_init__(self) -> None:
        """Check the precision."""
        if self.compute not in PRECISIONS:
            raise ConfigurationError(f"compute={self.compute!r} is unknown; use {' or '.join(PRECISIONS)}")

    def on(self, device: torch.device | str) -> AbstractContextManager[None]:
        """Return the context in which models on a device compute so."""
        kind = torch.device(device).type
        if kind == "cpu":
            return self._active()
        return torch.autocast(kind, torch.bfloat16, enabled=self.compute == "bfloat16")

    @contextmanager
    def _active(self) -> Iterator[None]:
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    @property
    def dtype(self) -> torch.dtype:
        """Return the type to which factors are rounded."""
        return torch.float32 if self.compute == "float32" else torch.bfloat16

    def drawn(self, p: float) -> "Backend":
        """Return the backend with noise; if it has none and p > 0, it is seeded by torch's generator."""
        if self.noise is not None:
            return self
        # Where nothing is dropped nothing is drawn, so an evaluation leaves the generator as it was.
        return replace(self, noise=Noise(int(torch.randint(2**62, ())) if p else 0))

    def site(self, number: int, p: float) -> Site:
        """Return a place where dropout acts, for the kernels."""
        assert self.noise is not None
        return Site(self.noise.key(number), self.noise.first_row, p)

    def draw_up_to(self, most: int) -> int:
        """Return a random number 0 … most: always the same for one noise; without noise from torch's generator.

        >>> backend = Backend(noise=Noise(seed=3))
        >>> backend.draw_up_to(9) == backend.draw_up_to(9) <= 9
        True
        """
        if self.noise is None:
            return int(torch.randint(most + 1, ()))
        return self.noise.key(-1) % (most + 1)  # -1: dropout's sites count from 0


PLAIN = Backend()
"""In no context: float32, and torch's generator."""
_ACTIVE = ContextVar("backend", default=PLAIN)


def current() -> Backend:
    """Return the backend in whose context the caller is; in none, or in what a compiler reads, the default.

    >>> with Backend(compute="bfloat16").on("cpu"):
    ...     current().compute
    'bfloat16'
    >>> current()
    Backend(compute='float32', noise=None)
    """
    # Dynamo cannot trace ContextVar.get (torch 2.x): a graph would break here.
    return PLAIN if torch.compiler.is_compiling() else _ACTIVE.get()


def is_quick(compute: str, device: torch.device | str) -> bool:
    """Return whether a device has instructions for products of a precision; without them bfloat16 is far slower.

    Of x86 processors those with AVX-512 BF16 have them (and all with AMX have that, too). What the environment takes
    from torch or from oneDNN, as ATEN_CPU_CAPABILITY=avx2 does, is not there.

    >>> is_quick("float32", "cpu")
    True
    """
    kind = torch.device(device).type
    if compute == "float32" or kind not in ("cpu", "cuda"):
        return True
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # oneDNN also takes bfloat16 if it has to convert it, as with AVX-512 alone; torch calls bfloat16 with it alone.
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):  # type: ignore[no-untyped-call]
        return False
    if platform.machine().lower() in ("aarch64", "arm64"):
        return True
    has_instructions = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return bool(torch.backends.cpu.get_cpu_capability() == "AVX512" and has_instructions())


def dropped(x: torch.Tensor, dropout: nn.Dropout, site: int) -> torch.Tensor:
    """Return what dropout makes of rows (rows, *).

    On the CPU, with the mask that the backend's noise has for these rows at this site of the model, whatever thread
    computes them.

    >>> x, dropout = torch.ones(4, 100), nn.Dropout(0.5)
    >>> with Backend(noise=Noise(seed=3)).on("cpu"):
    ...     torch.equal(dropped(x, dropout, 0), dropped(x, dropout, 0)), torch.equal(
    ...         dropped(x, dropout, 0), dropped(x, dropout, 1)
    ...     )
    (True, False)
    """
    if not (dropout.training and dropout.p and fused.takes(x)):
        return dropout(x)  # type: ignore[no-any-return]
    return fused.apply(fused.Dropout, x, current().drawn(dropout.p).site(site, dropout.p), x.numel() // len(x))
