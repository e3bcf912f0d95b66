"""AOE in, AOE out, as the paper has it: one vector a number, and the rivals' Transformer, of their width or wider."""

import numpy as np
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import AdelicHead, AdelicLoss, AdelicPrediction, PlaceEmbedding
from adelic.nn.heads.adelic import adelic_targets
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers.placewise import decoded, encoded, mean_size, space_for
from adelic_lab.models.solvers.rivals.transformer import (
    D_MODEL,
    Encoder,
    Group,
    Reader,
    TransformerSolver,
    Width,
    vectors,
)


class FlatReader(Reader):
    """One token a number, its places' features in one vector, and one token whose state gives all digits of the answer.

    Args:
        space: the primes and digits.
        operands, answers: of training; the units of the real place are fitted to them.
        problem: bounds the answers.
        d_model: width of the Transformer, which is in proportion.
    """

    def __init__(
        self, space: AdeleSpace, operands: Operands, answers: Answers, problem: SampledTask, *, d_model: int
    ) -> None:
        super().__init__()
        self.space = space
        self.embedding = PlaceEmbedding(space, real_scale=mean_size(operands))
        self.projection = nn.Linear(self.embedding.n_places * self.embedding.width, d_model)
        self.positions = vectors(problem.arity, d_model=d_model)
        self.answer = vectors(1, d_model=d_model)
        self.encoder = Encoder(d_model)
        self.head = FlatHead(space, mean_size(answers), problem, d_model)

    def groups(self, operands: Operands) -> list[Group]:
        """Return all operands in one group, as their real values and digits."""
        return [(np.arange(len(operands)), encoded(self.space, operands))]

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return answers as real values and digits."""
        return adelic_targets(self.space, answers)

    def forward(self, real: torch.Tensor, digits: torch.Tensor) -> AdelicPrediction:
        """Return the prediction for a batch of real values (rows, arity) and digits (rows, arity, n_primes, 1)."""
        tokens = self.projection(self.embedding((real, digits)).flatten(-2)) + self.positions
        tokens = torch.cat([self.answer.expand(len(tokens), 1, -1), tokens], dim=1)
        prediction: AdelicPrediction = self.head(self.encoder(tokens, 1)[:, 0])
        return prediction


class FlatHead(nn.Module):
    """An `AdelicHead` that reads one vector, with its loss and the bounds of its answers."""

    def __init__(self, space: AdeleSpace, scale: float, problem: SampledTask, d_model: int) -> None:
        super().__init__()
        self.head = AdelicHead(space, d_model, placewise=False, real_scale=scale)
        self.digit_loss = AdelicLoss(space, real_scale=scale)
        self.problem = problem

    def forward(self, state: torch.Tensor) -> AdelicPrediction:
        """Return the prediction."""
        prediction: AdelicPrediction = self.head(state)
        return prediction

    def loss(self, prediction: AdelicPrediction, *targets: torch.Tensor) -> torch.Tensor:
        """Return the loss."""
        loss: torch.Tensor = self.digit_loss(prediction, targets)
        return loss

    def decode(self, prediction: AdelicPrediction) -> Answers:
        """Return the numbers."""
        return decoded(self.head.space, prediction.logits, self.problem)


class FlatSolver(TransformerSolver):
    """AOE as the paper has it, one vector a number: the rivals' Transformer, and the space of the place-wise solver.

    Args:
        d_model: width of the Transformer.
    """

    def __init__(self, *, d_model: Width = D_MODEL) -> None:
        self.d_model = d_model

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None: every problem can be expressed."""
        return None

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        return FlatReader(space_for(problem), operands, answers, problem, d_model=self.d_model)
