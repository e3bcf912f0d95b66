"""AOE in, AOE out, as the paper has it: one vector a number, and the rivals' Transformer, of their width or wider."""

import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import AdelicHead, AdelicLoss, AdelicPrediction, PlaceEmbedding
from adelic.nn.heads.adelic import adelic_targets
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers.placewise import decoded, encoded, mean_size, space_for
from adelic_lab.models.solvers.rivals.transformer import D_MODEL, OneTokenReader, Reader, TransformerSolver, Width


class FlatEmbedding(nn.Module):
    """The features of all places in one vector, and a linear map of it: vectors (*, d_model).

    Args:
        space: the primes and digits.
        real_scale: unit of the real place.
        d_model: length of the vectors.
    """

    def __init__(self, space: AdeleSpace, *, real_scale: float, d_model: int) -> None:
        super().__init__()
        self.d_model, self.places = d_model, PlaceEmbedding(space, real_scale=real_scale)
        self.projection = nn.Linear(self.places.n_places * self.places.width, d_model)

    def project(self, real: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return the vectors of real values (rows, arity) and digits (rows, arity, n_primes, 1)."""
        vectors: torch.Tensor = self.projection(self.places((real, digits)).flatten(-2))
        return vectors


class FlatReader(OneTokenReader):
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
        embedding = FlatEmbedding(space, real_scale=mean_size(operands), d_model=d_model)
        super().__init__(embedding, None, problem.arity)
        self.space, self.head = space, FlatHead(space, mean_size(answers), problem, d_model)

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return operands as their real values and digits."""
        return encoded(self.space, operands)

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return answers as real values and digits."""
        return adelic_targets(self.space, answers)


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
