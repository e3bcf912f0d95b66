"""The rivals' solvers: one small Transformer, five ways to give it numbers and to read its answer.

All have the same encoder (pre-norm, 2 layers, width 64, 4 heads, feed-forward 256) and the same training. Here every
digit of the answer is predicted at once, which treats all alike and makes large test sets cheap; `autoregressive` has
those that say one digit after the other.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.backend import Backend, Noise, current
from adelic.nn.base_digits import count_digits, to_digits
from adelic.nn.bodies.encoder import EncoderLayer
from adelic.nn.embeddings.features import FeatureEmbedding
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.embeddings.xval import XValEmbedding
from adelic_lab.models.solvers.base import BothOrders, CheckedSolver, Schedule, Solver, descend, learned
from adelic_lab.models.solvers.rivals.heads import DigitHead, DigitLogits, FourierHead, XValHead
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


class DigitReader(Reader):
    """The operands' signs and base-B digits, a token each, and a token for the answer's sign and each of its digits.

    Numbers are filled up with leading zeros to the length of the longest in training, so that training is not slowed
    by digits that do not occur there; operands beyond this length are read, and answered, with as many digits as the
    problem's longest numbers have. A digit knows its place by a learned vector: with `shared_places` (Abacus) this
    vector is the same for all numbers, a random offset trains the places beyond those in training, and another vector
    says which number it is; without, every number has vectors of its own.

    Args:
        base: B.
        shared_places: see above.
        operand_digits, answer_digits: (longest in training, longest at all).
        arity: number of operands.
        number_token_weight: of the head's number token loss.
    """

    def __init__(
        self,
        *,
        base: int,
        shared_places: bool,
        operand_digits: tuple[int, int],
        answer_digits: tuple[int, int],
        arity: int,
        number_token_weight: float = 0.0,
    ) -> None:
        super().__init__()
        self.base = base
        self.arity = arity
        self.operand_digits = operand_digits
        self.answer_digits = answer_digits
        # The digits, then "+", "−", and the questions for a sign and for a digit.
        self.tokens = vectors(base + 4)
        self.max_offset = 0
        n_places = max(operand_digits[1], answer_digits[1])
        if shared_places:
            self.max_offset = max(operand_digits[1] - operand_digits[0], answer_digits[1] - answer_digits[0])
            n_places = max(n_places, max(operand_digits[0], answer_digits[0]) + self.max_offset)
            self.numbers = vectors(1 + arity)
        self.shared_places = shared_places
        self.places = vectors(1 if shared_places else 1 + arity, 1 + n_places)
        self.encoder = Encoder()
        self.head = DigitHead(D_MODEL, base=base, number_token_weight=number_token_weight)

    def groups(self, operands: Operands) -> list[Group]:
        """Return operands as tokens (rows, arity, 1 + n_digits), those no longer than in training apart from others."""
        short, longest = self.operand_digits
        digits, sign = to_digits(operands, base=self.base, n_digits=longest)
        is_longer = digits[..., short:].any(axis=(1, 2))
        tokens = np.concatenate([np.where(sign < 0, self.base + 1, self.base)[..., None], digits], axis=-1)
        parts = [(np.flatnonzero(~is_longer), short), (np.flatnonzero(is_longer), longest)]
        return [(rows, (torch.from_numpy(tokens[rows][..., : 1 + width]),)) for rows, width in parts if len(rows)]

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return digits and signs of answers that are no longer than in training."""
        return self.head.targets(answers, self.answer_digits[0])  # type: ignore[no-any-return]

    def lengths(self, tokens: torch.Tensor) -> tuple[int, int, int]:
        """Return how many digits the operands of a batch have, and their answers, and the offset of shared places."""
        width = tokens.shape[-1] - 1
        n_digits = self.answer_digits[0 if width == self.operand_digits[0] else 1]
        return width, n_digits, current().draw_up_to(self.max_offset) if self.max_offset and self.training else 0

    def forward(self, tokens: torch.Tensor) -> DigitLogits:
        """Return logits of the answer's digits for a batch of tokens (rows, arity, 1 + n_digits)."""
        width, n_digits, offset = self.lengths(tokens)
        question = torch.full((1 + n_digits,), self.base + 3)
        question[0] = self.base + 2
        asked = self.tokens[question] + self.place_vectors(slice(0, 1), n_digits, offset)[0]
        read = functional.embedding(tokens, self.tokens) + self.place_vectors(slice(1, None), width, offset)
        states = torch.cat([asked.expand(len(tokens), -1, -1), read.flatten(1, 2)], dim=1)
        outputs: DigitLogits = self.head(self.encoder(states, 1 + n_digits))
        return outputs

    def place_vectors(self, numbers: slice, n_digits: int, offset: int) -> torch.Tensor:
        """Return the vectors of sign and digits for some of answer and operands: (numbers, 1 + n_digits, 64)."""
        if not self.shared_places:
            return self.places[numbers, : 1 + n_digits]
        of_sign, of_digits = self.places[:, :1], self.places[:, 1 + offset : 1 + offset + n_digits]
        return torch.cat([of_sign, of_digits], dim=1) + self.numbers[numbers, None]


class TransformerSolver(CheckedSolver):
    """A solver that trains a `Reader`.

    Attributes:
        name: in messages.
        batch_size, learning_rate, weight_decay: of the training.
    """

    name: str
    batch_size, weight_decay = BATCH_SIZE, 0.0
    learning_rate: float = LEARNING_RATE
    _network: Reader | None = None

    @classmethod
    def obstacle(cls, problem: SampledTask) -> str | None:
        """Return why the representation cannot express a problem, None where it can: it has no fractions."""
        if problem.operands_are_integers and problem.answers_are_integers:
            return None
        return f"{cls.name} has no fractions"

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
        generator = course.sampler()
        noise_seed = stream_seed(course.seed, "dropout") % 2**32
        parameters = [p for p in reader.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=True)

        def loss(step: int) -> torch.Tensor:
            rows = torch.randint(len(operands), (self.batch_size,), generator=generator)
            with Backend(noise=Noise(noise_seed + step)).on("cpu"):
                return reader.loss(tuple(t[rows] for t in inputs), tuple(t[rows] for t in targets))

        reader.train()
        warm_up = max(1, round(WARM_UP * course.steps))
        descend(loss, optimizer, course, warm_up=warm_up, parts=[generator])
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

    Source: Zhou et al., arXiv:2502.09741.
    """

    name, d_model = "fone", D_MODEL

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        embedding = FoNEEmbedding(None, self.d_model, integer_digits=problem.max_operand_digits)
        n_digits = problem.max_answer_digits
        head = FourierHead(self.d_model, n_digits=n_digits)
        return OneTokenReader(embedding, head, problem.arity, n_digits=n_digits)


class FoNE256Solver(FoNESolver):
    """FoNE with a Transformer of width 256."""

    name, d_model = "fone-256", 256


class FoNEBothOrdersSolver(BothOrders, FoNESolver):
    """FoNE, trained on the examples in both orders, of problems whose operands may be exchanged."""

    name = "fone-both-orders"


class XValSolver(TransformerSolver):
    """xVal: one real number in, one out. Operands and answers have a scale each, fitted to the training data.

    Source: Golkar et al., arXiv:2310.02989.
    """

    name, is_published = "xval", False

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        embedding = XValEmbedding(None, D_MODEL, published=self.is_published)
        embedding.fit(operands)
        return OneTokenReader(embedding, XValHead(D_MODEL).fit(answers), problem.arity)


class DigitSolver(TransformerSolver):
    """Base-B digits as tokens, with learned positions."""

    base: int
    shared_places = False
    number_token_weight = 0.0
    reader: type[DigitReader] = DigitReader

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        def digits(numbers: Any, longest: int) -> tuple[int, int]:
            here = max(count_digits(int(x), self.base) for x in numbers.flat)
            return here, max(here, count_digits(10**longest - 1, self.base))

        return self.reader(
            base=self.base,
            shared_places=self.shared_places,
            operand_digits=digits(operands, problem.max_operand_digits),
            answer_digits=digits(answers, problem.max_answer_digits),
            arity=problem.arity,
            number_token_weight=self.number_token_weight,
        )


class Base10Solver(DigitSolver):
    """Decimal digits, each with the learned position of its operand and place."""

    name, base = "base-10", 10


class Base1000Solver(DigitSolver):
    """Digits in base 1,000, as Int2Int writes integers."""

    name, base = "base-1000", 1000


class AbacusSolver(DigitSolver):
    """Decimal digits with Abacus positions: the digit's place in its number, the same for all numbers.

    The random offset of training goes as far as the problem's longest numbers need it. (The paper's 100 is for numbers
    of 100 digits; it would train the places that are read here in only one batch of a hundred.)

    Source: McLeish et al., arXiv:2405.17399.
    """

    name, base, shared_places = "abacus", 10, True


def vectors(*shape: int, d_model: int = D_MODEL) -> nn.Parameter:
    """Return trained vectors of tokens or places, float32 (*shape, d_model)."""
    return nn.Parameter(torch.randn(*shape, d_model) * _INITIAL)


SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        FoNESolver,
        FoNE256Solver,
        FoNEBothOrdersSolver,
        XValSolver,
        AbacusSolver,
        Base10Solver,
        Base1000Solver,
    )
}
