"""Positional encodings: the sinusoidal one, the paper's joint one, both without parameters, and learned vectors."""

import math

import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.checks import check_plain, check_positive
from adelic.nn.fingerprint import Fingerprinted
from adelic.numbers.features import FeatureLayout

_BASE = 10_000.0


class PositionalEncoding(Fingerprinted):
    """Add a vector at each position: (*, length, d_model) -> (*, length, d_model).

    Attributes:
        table: float32 (max_length, d_model); a buffer, except learned vectors.

    >>> PositionalEncoding(torch.eye(3))(torch.zeros(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """

    table: torch.Tensor

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x plus the encodings of positions 0 … length − 1."""
        check_plain(x, self.table.device)
        length = x.shape[-2]
        if length > len(self.table):
            raise ConfigurationError(f"a sequence of length {length} exceeds max_length={len(self.table)}")
        return x + self.table[:length]


class SinusoidalPositionalEncoding(PositionalEncoding):
    """The encoding of "Attention is all you need": sin(s·ω_k) and cos(s·ω_k), ω_k = 10000^(−2k/d_model).

    Shape: (*, length, d_model) -> (*, length, d_model). A size that is no whole number from 1 is a ConfigurationError.

    >>> SinusoidalPositionalEncoding(4, max_length=2).table
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """

    def __init__(self, d_model: int, *, max_length: int) -> None:
        check_positive(d_model=d_model, max_length=max_length)
        # In float64: float32 holds an angle of position 10^4 to three decimals only.
        frequency = torch.arange((d_model + 1) // 2, dtype=torch.float64) * (-2 * math.log(_BASE) / d_model)
        angles = torch.arange(max_length, dtype=torch.float64)[:, None] * frequency.exp()
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
        super().__init__(waves.flatten(1).to(torch.float32)[:, :d_model])


class LearnedPositionalEncoding(PositionalEncoding):
    """A trained vector for each position, drawn from N(0, 1) at first, as those of `torch.nn.Embedding`.

    Neighbouring positions are as different as distant ones from the start, unlike in a sinusoidal encoding, whose
    vectors turn slowly.

    Shape: (*, length, d_model) -> (*, length, d_model).

    >>> LearnedPositionalEncoding(4, max_length=3)(torch.zeros(2, 3, 4)).requires_grad
    True
    """

    def __init__(self, d_model: int, *, max_length: int) -> None:
        check_positive(d_model=d_model, max_length=max_length)
        nn.Module.__init__(self)
        self.table = nn.Parameter(torch.randn(max_length, d_model))


class AdelicPositionalEncoding(PositionalEncoding):
    """The paper's encoding, jointly over the sequence index s, the place index i and the digit index j.

    PE(s, i, j) = sin or cos (j even or odd) of s·ω(i, j) + 2πi/P, with ω(i, j) = 10000^(−2k/(P·N)), k = ⌊j/2⌋·P + i,
    for P places (the real one first, then the primes) and N digits. Each pair of neighbouring digits rotates with s, so
    that shifts stay linear maps; the place is a phase, the digit a frequency.

    # NOTE[paper]: it gives no formula. Here the leading digits, zero for small numbers, turn fast, and the lowest
    # digits, which tell small numbers apart, hardly at all, so position and value stay apart.

    Where primes differ in their digits, N is the greatest number of them, and what no digit is at is left out.

    Shape: (*, length, P·N) -> (*, length, P·N), padded with sinusoids up to d_model.

    Args:
        layout: a digit layout ("digits" or "standardized").
        d_model: at least layout.size.
        max_length: longest sequence.

    >>> from adelic import AdeleSpace
    >>> layout = FeatureLayout("digits", AdeleSpace(primes=(2,), precision=2), 2)
    >>> AdelicPositionalEncoding(layout, 4, max_length=2).table[1]
    tensor([ 0.8415,  0.5403, -0.0100, -0.9999])
    """

    def __init__(self, layout: FeatureLayout, d_model: int, *, max_length: int) -> None:
        check_positive(d_model=d_model, max_length=max_length)
        n_places, n_digits = layout.space.n_primes + 1, layout.levels
        place = torch.arange(n_places, dtype=torch.float64)[:, None, None]
        pair = torch.arange((n_digits + 1) // 2, dtype=torch.float64)[None, :, None]
        k = pair * n_places + place
        frequency = torch.exp(-2 * math.log(_BASE) * k / (n_places * n_digits))
        phase = 2 * math.pi * place / n_places
        angles = torch.arange(max_length, dtype=torch.float64) * frequency + phase  # (places, pairs, max_length)
        # Digits 2j and 2j + 1 share a frequency: together they rotate, so a shift by s is a linear map of the pair.
        waves = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1, 2)[:, :n_digits]
        table = waves.permute(2, 0, 1)[:, torch.from_numpy(layout.is_present)].to(torch.float32)
        rest = SinusoidalPositionalEncoding(d_model, max_length=max_length).table[:, layout.size :]
        super().__init__(torch.cat([table, rest], dim=1))
