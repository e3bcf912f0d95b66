"""The rivals' solvers: one small Transformer, five ways to give it numbers and to read its answer.

All have the same encoder (pre-norm, 2 layers, width 64, 4 heads, feed-forward 256) and the same training. Here every
digit of the answer is predicted at once, which treats all alike and makes large test sets cheap; `digits` has also
those that say one digit after the other.
"""

from abc import abstractmethod
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.backend import Backend, Noise
from adelic.nn.bodies.encoder import EncoderLayer
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.embeddings.xval import XValEmbedding
from adelic_lab.models.solvers.base import CheckedSolver, Orders, Schedule, descend, learned
from adelic_lab.models.solvers.rivals.heads import FourierHead, XValHead
from adelic_lab.train.sampler import stream_seed

D_MODEL, N_LAYERS, N_HEADS, D_FEEDFORWARD = 64, 2, 4, 256
BATCH_SIZE, LEARNING_RATE, WARM_UP = 128, 1e-3, 0.05
"""Training by Adam: rows a batch, highest learning rate, share of steps in which it rises before its cosine fall."""
_INITIAL = 0.02
"""Standard deviation of the initial vectors of tokens and places, GPT-2's.

With torch's 1, beside which the layers' results are small, FoNE has 2.5 % of three-digit sums right after 600 steps;
with this, over 99 %.
"""
_ROWS = 2048  # at once, when answers are computed

Width = Annotated[int, msgspec.Meta(ge=N_HEADS, le=4096, multiple_of=N_HEADS)]
Group = tuple[np.ndarray, tuple[torch.Tensor, ...]]


class Encoder(nn.Module):
    """The Transformer that all rivals share.

    Shape: tokens (batch, length, d_model) -> states of the first `n_read` tokens (batch, n_read, d_model).

    Args:
        d_model: width; that of the feed-forward layers is in proportion.
    """

    def __init__(self, d_model: int = D_MODEL) -> None:
        super().__init__()
        d_feedforward = D_FEEDFORWARD // D_MODEL * d_model
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, N_HEADS, d_feedforward, 0.0, norm="pre") for _ in range(N_LAYERS)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: torch.Tensor, n_read: int) -> torch.Tensor:
        """Return the states."""
        for i, layer in enumerate(self.layers):
            # Behind the last layer other tokens are not read, so that it computes those that are.
            tokens = layer(tokens, n_read=n_read if i == N_LAYERS - 1 else None)
        states: torch.Tensor = self.norm(tokens)
        return states


class Reader(nn.Module):
    """A way to turn operands into tokens, and states into an answer.

    Attributes:
        head: has `loss` and `decode`.
    """

    head: Any

    @abstractmethod
    def groups(self, operands: Operands) -> list[Group]:
        """Return operands as tensors with a row each, in groups that can share a batch: (rows, tensors)."""

    @abstractmethod
    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return answers as tensors for the head's loss."""

    def loss(self, inputs: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the loss of a batch."""
        loss: torch.Tensor = self.head.loss(self(*inputs), *targets)
        return loss

    def decode(self, inputs: tuple[torch.Tensor, ...]) -> Answers:
        """Return the most probable answers of a batch."""
        answers: Answers = self.head.decode(self(*inputs))
        return answers


class OneTokenReader(Reader):
    """One token a number, and one whose state gives the answer: FoNE and xVal.

    Args:
        embedding: of open-ended numbers; the Transformer is as wide as its vectors.
        head: reads the answer from one state.
        arity: number of operands.
        options: what the head's `targets` takes besides the answers.
    """

    def __init__(self, embedding: FeatureEmbedding, head: FourierHead | XValHead, arity: int, **options: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.positions = vectors(arity, d_model=embedding.d_model)
        self.answer = vectors(1, d_model=embedding.d_model)
        self.encoder = Encoder(embedding.d_model)
        self.head = head
        self.options = options

    def groups(self, operands: Operands) -> list[Group]:
        """Return all operands in one group, as their features (rows, arity, n_features)."""
        return [(np.arange(len(operands)), (self.embedding.features(operands),))]

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return answers as tensors for the head's loss."""
        found: tuple[torch.Tensor, ...] = self.head.targets(answers, **self.options)
        return found

    def forward(self, features: torch.Tensor) -> Any:
        """Return the head's outputs for a batch of features."""
        return self.head(self.state(features))

    def state(self, features: torch.Tensor) -> torch.Tensor:
        """Return the states that give the answers, (rows, d_model), for a batch of features."""
        tokens = self.embedding.project(features) + self.positions
        tokens = torch.cat([self.answer.expand(len(tokens), 1, -1), tokens], dim=1)
        return self.encoder(tokens, 1)[:, 0]  # type: ignore[no-any-return]


class TransformerSolver(CheckedSolver):
    """A solver that trains a `Reader`.

    Attributes:
        batch_size, learning_rate, weight_decay: of the training.
    """

    batch_size, weight_decay = BATCH_SIZE, 0.0
    learning_rate: float = LEARNING_RATE
    _network: Reader | None = None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why the representation cannot express a problem, None where it can: it has no fractions."""
        if problem.operands_are_integers and problem.answers_are_integers:
            return super().obstacle(problem)
        return "it has no fractions"

    @abstractmethod
    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        """Return an untrained reader for a problem, its scales and lengths fitted to the training data."""

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, course: Schedule) -> None:
        """Learn from examples, drawn with replacement."""
        with course.initialisation():
            reader = self._read(problem, operands, answers)
        # One group: none of these numbers is longer than the longest in training.
        ((_, inputs),) = reader.groups(operands)
        targets = reader.targets(answers)
        noise_seed = stream_seed(course.seed, "dropout") % 2**32
        parameters = [p for p in reader.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=True)

        def loss(step: int) -> torch.Tensor:
            rows = torch.randint(len(operands), (self.batch_size,), generator=course.generator(step))
            with Backend(noise=Noise(noise_seed + step)).on("cpu"):
                return reader.loss(tuple(t[rows] for t in inputs), tuple(t[rows] for t in targets))

        reader.train()
        warm_up = max(1, round(WARM_UP * course.steps))
        descend(reader, loss, optimizer, course, warm_up=warm_up)
        self._network = reader.eval()

    @torch.no_grad()
    def answer(self, operands: Operands) -> Answers:
        """Return the most probable integer for each row of operands.

        Before `fit` it is a ConfigurationError; an operand that is a fraction, or too long, is an EncodingError.
        """
        reader = learned(self._network)
        found = np.empty(len(operands), dtype=object)
        for rows, inputs in reader.groups(operands) if len(operands) else []:
            for first in range(0, len(rows), _ROWS):
                part = slice(first, first + _ROWS)
                found[rows[part]] = reader.decode(tuple(t[part] for t in inputs))
        return found


class FoNESolver(TransformerSolver):
    """FoNE: Fourier features of the digits in, Fourier slices out.

    Args:
        d_model: width of the Transformer.
        orders: in which it is trained on the examples.

    Source: Zhou et al., arXiv:2502.09741.
    """

    def __init__(self, *, d_model: Width = D_MODEL, orders: Orders = "given") -> None:
        self.d_model, self.orders = d_model, orders

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        embedding = FoNEEmbedding(None, self.d_model, integer_digits=problem.max_operand_digits)
        n_digits = problem.max_answer_digits
        head = FourierHead(self.d_model, n_digits=n_digits)
        return OneTokenReader(embedding, head, problem.arity, n_digits=n_digits)


class XValSolver(TransformerSolver):
    """xVal: one real number in, one out. Operands and answers have a scale each, fitted to the training data.

    Source: Golkar et al., arXiv:2310.02989.
    """

    is_published = False

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        embedding = XValEmbedding(None, D_MODEL, published=self.is_published)
        embedding.fit(operands)
        return OneTokenReader(embedding, XValHead(D_MODEL).fit(answers), problem.arity)


def vectors(*shape: int, d_model: int = D_MODEL) -> nn.Parameter:
    """Return trained vectors of tokens or places, float32 (*shape, d_model)."""
    return nn.Parameter(torch.randn(*shape, d_model) * _INITIAL)
