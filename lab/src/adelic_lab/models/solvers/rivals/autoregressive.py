"""The digit solvers that say one digit after the other, the lowest first, as their papers have it.

The network is the rivals' Transformer, but causal: a token sees those before it, the operands and the digits that are
said. Training gives it the right ones (teacher forcing); an answer is made of its own most probable digits.
"""

import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers
from adelic_lab.models.solvers.base import Solver
from adelic_lab.models.solvers.rivals.heads import DigitLogits
from adelic_lab.models.solvers.rivals.transformer import (
    D_FEEDFORWARD,
    D_MODEL,
    N_HEADS,
    N_LAYERS,
    AbacusSolver,
    Base10Solver,
    Base1000Solver,
    DigitReader,
    DigitSolver,
)


class CausalEncoder(nn.Module):
    """torch's own layers with a causal mask, of the rivals' sizes.

    Shape: tokens (batch, length, 64) -> states of the last `n_read` tokens (batch, n_read, 64).
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(D_MODEL, N_HEADS, D_FEEDFORWARD, 0.0, batch_first=True, norm_first=True)
            for _ in range(N_LAYERS)
        )
        self.norm = nn.LayerNorm(D_MODEL)

    def forward(self, tokens: torch.Tensor, n_read: int) -> torch.Tensor:
        """Return the states."""
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        for layer in self.layers:
            tokens = layer(tokens, src_mask=mask, is_causal=True)
        states: torch.Tensor = self.norm(tokens[:, -n_read:])
        return states


class AutoregressiveReader(DigitReader):
    """The operands' digits, then the answer's, lowest first, and its sign at the end.

    At the answer's i-th token the network reads the vector of what it said before (of a question at the first), plus
    that of the place that it has to fill. Arguments are those of `DigitReader`.
    """

    def __init__(self, **options: int | bool | tuple[int, int]) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.encoder = CausalEncoder()  # type: ignore[assignment]

    def loss(self, inputs: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the loss of a batch, each digit asked behind the right ones."""
        loss: torch.Tensor = self.head.loss(self.said(inputs[0], targets[0]), *targets)
        return loss

    def decode(self, inputs: tuple[torch.Tensor, ...]) -> Answers:
        """Return the answers of a batch, each digit behind those that the network itself says."""
        _, n_digits, _ = self.lengths(inputs[0])
        digits = torch.zeros(len(inputs[0]), 0, dtype=torch.int64)
        for said in range(n_digits):
            following = self.head.digit(self._states(inputs[0], digits, said + 1)[:, -1:]).argmax(dim=-1)
            digits = torch.cat([digits, following], dim=1)
        answers: Answers = self.head.decode(self.said(inputs[0], digits))
        return answers

    def said(self, tokens: torch.Tensor, digits: torch.Tensor) -> DigitLogits:
        """Return the logits of each digit behind those before it, and of the sign behind all of them."""
        states = self._states(tokens, digits, digits.shape[1] + 1)
        outputs: DigitLogits = self.head(states.roll(1, dims=1))  # the head reads the sign first
        return outputs

    def _states(self, tokens: torch.Tensor, digits: torch.Tensor, n_read: int) -> torch.Tensor:
        """Return the states of the answer's first tokens: of operands (rows, arity, 1 + width), of digits (rows, k)."""
        width, n_digits, offset = self.lengths(tokens)
        read = functional.embedding(tokens, self.tokens) + self.place_vectors(slice(1, None), width, offset)
        places = self.place_vectors(slice(0, 1), n_digits, offset)[0].roll(-1, dims=0)  # the sign's is the last
        begin = torch.full((len(tokens), 1), self.base + 3)
        said = functional.embedding(torch.cat([begin, digits], dim=1), self.tokens) + places[:n_read]
        states: torch.Tensor = self.encoder(torch.cat([read.flatten(1, 2), said], dim=1), n_read)
        return states


class AutoregressiveBase10Solver(Base10Solver):
    """Decimal digits, said one after the other, the lowest first."""

    name, reader = "base-10-autoregressive", AutoregressiveReader


class AutoregressiveBase24Solver(DigitSolver):
    """Digits in base 24, said one after the other, the lowest first: the best of those that were tried on Collatz.

    Source: Charton and Narayanan, arXiv:2511.10811.
    """

    name, base, reader = "base-24-autoregressive", 24, AutoregressiveReader


class AutoregressiveBase1000Solver(Base1000Solver):
    """Digits in base 1,000, said one after the other, the lowest first."""

    name, reader = "base-1000-autoregressive", AutoregressiveReader


class AutoregressiveAbacusSolver(AbacusSolver):
    """Decimal digits with Abacus positions, said one after the other, the lowest first, as its paper has it."""

    name, reader = "abacus-autoregressive", AutoregressiveReader


SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        AutoregressiveBase10Solver,
        AutoregressiveBase24Solver,
        AutoregressiveBase1000Solver,
        AutoregressiveAbacusSolver,
    )
}
