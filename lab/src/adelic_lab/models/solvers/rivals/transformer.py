"""The rivals' solvers: one small Transformer, five ways to give it numbers and to read its answer.

All have the same encoder (pre-norm, 2 layers, width 64, 4 heads, feed-forward 256) and the same training. Here every
digit of the answer is predicted at once, which treats all alike and makes large test sets cheap; `digits` has also
those that say one digit after the other.
"""

from abc import abstractmethod
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.backend import Backend, Noise
from adelic.nn.base_digits import count_digits
from adelic.nn.bodies.encoder import EncoderLayer
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.embeddings.xval import XValEmbedding
from adelic_lab.models.solvers.base import Orders, Schedule, Solver, descend, learned
from adelic_lab.models.solvers.rivals.heads import FourierHead, XValHead
from adelic_lab.train.sampler import stream_seed

D_MODEL, N_LAYERS, N_HEADS, D_FEEDFORWARD = 64, 2, 4, 256
BATCH_SIZE, LEARNING_RATE, WARM_UP = 128, 1e-3, 0.05
"""Training by Adam: examples per batch, highest learning rate, share of steps of its rise before a cosine fall."""
_INITIAL = 0.02
"""Standard deviation of the initial vectors of tokens and places, GPT-2's.

With torch's 1 the layers' results are small in comparison: FoNE has 2.5 % of three-digit sums right after 600 steps,
with this over 99 %.
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
            # After the last layer other tokens are not read: it computes only the read ones.
            tokens = layer(tokens, n_read=n_read if i == N_LAYERS - 1 else None)
        states: torch.Tensor = self.norm(tokens)
        return states


class Reader(nn.Module):
    """A way to turn operands into tokens, and states into an answer.

    Attributes:
        head: has `loss` and `decode`.
    """

    head: Any

    def groups(self, operands: Operands) -> list[Group]:
        """Return operands as tensors with a row per question, in groups that can share a batch: (rows, tensors)."""
        return [(np.arange(len(operands)), self.inputs(operands))]

    @abstractmethod
    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return operands, which all are in one group, as tensors with a row per question."""

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
    """One token a number, and one whose state gives the answer: FoNE, xVal, and AOE in one vector.

    Where training shifts FoNE's numbers, the answer's digits are asked as many places further up.

    Args:
        embedding: of open-ended numbers; the Transformer is as wide as its vectors.
        head: reads the answer from one state.
        arity: number of operands.
        options: what the head's `targets` takes besides the answers.
    """

    def __init__(self, embedding: Any, head: Any, arity: int, **options: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.positions = vectors(arity, d_model=embedding.d_model)
        self.answer = vectors(1, d_model=embedding.d_model)
        self.encoder = Encoder(embedding.d_model)
        self.head = head
        self.options = options

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return the operands' features, (rows, arity, n_features)."""
        return (self.embedding.features(operands),)

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return answers as tensors for the head's loss."""
        found: tuple[torch.Tensor, ...] = self.head.targets(answers, **self.options)
        return found

    def forward(self, *features: torch.Tensor) -> Any:
        """Return the head's outputs for a batch of features."""
        shift = (self.embedding.draw_shift(),) if isinstance(self.embedding, FoNEEmbedding) else ()
        tokens = self.embedding.project(*features) + self.positions
        tokens = torch.cat([self.answer.expand(len(tokens), 1, -1), tokens], dim=1)
        return self.head(self.encoder(tokens, 1)[:, 0], *shift)


class TransformerSolver(Solver):
    """A solver that trains a `Reader`.

    Attributes:
        batch_size, learning_rate, weight_decay: of the training.
    """

    batch_size, weight_decay = BATCH_SIZE, 0.0
    learning_rate: float = LEARNING_RATE
    _network: Reader | None = None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why the representation cannot express a problem, None if it can: it has no fractions."""
        if problem.operands_are_integers and problem.answers_are_integers:
            return super().obstacle(problem)
        return "it has no fractions"

    @abstractmethod
    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        """Return an untrained reader for a problem, its scales and lengths fitted to the training data."""

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Learn from examples, drawn with replacement."""
        with schedule.initialisation():
            reader = self._read(problem, operands, answers)
        # One group: none of these numbers is longer than the longest in training.
        ((_, inputs),) = reader.groups(operands)
        targets = reader.targets(answers)
        noise_seed = stream_seed(schedule.seed, "dropout") % 2**32
        parameters = [p for p in reader.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=True)

        def loss(step: int) -> torch.Tensor:
            rows = torch.randint(len(operands), (self.batch_size,), generator=schedule.generator(step))
            with Backend(noise=Noise(noise_seed + step)).on("cpu"):
                return reader.loss(tuple(t[rows] for t in inputs), tuple(t[rows] for t in targets))

        reader.train()
        warm_up = max(1, round(WARM_UP * schedule.steps))
        descend(reader, loss, optimizer, schedule, warm_up=warm_up)
        self._network = reader.eval()

    @torch.no_grad()
    def answer(self, operands: Operands) -> Answers:
        """Return the most probable integer for each question.

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
        published: whether a token's vector is added, there is no sign, and a layer norm stands before the slices, as
            its authors have it.
        shifts: whether operands and answers are multiplied by powers of ten in training (their `len_gen_size`), as far
            as the problem's longest operands. Only of sums is the answer to 10^k·a and 10^k·b that to a and b, times
            10^k.

    Source: Zhou et al., arXiv:2502.09741, and its code.

    >>> from adelic.data import drawn_task
    >>> FoNESolver(published=True).obstacle(drawn_task("subtraction"))
    'as published it has no negative numbers'
    >>> FoNESolver(shifts=True).obstacle(drawn_task("multiplication"))
    'shifts are for sums alone'
    """

    def __init__(
        self, *, d_model: Width = D_MODEL, orders: Orders = "given", published: bool = False, shifts: bool = False
    ) -> None:
        self.d_model, self.orders, self.published, self.shifts = d_model, orders, published, shifts

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why FoNE cannot express a problem: it has no fractions, and as published no negative answers."""
        if self.shifts and problem.name not in ("addition", "sum"):
            return "shifts are for sums alone"
        if self.published and problem.signed:
            return "as published it has no negative numbers"
        return super().obstacle(problem)

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        longest, n_digits = problem.max_operand_digits, problem.max_answer_digits
        shift = max(0, longest - max(count_digits(int(x), 10) for x in operands.flat)) if self.shifts else 0
        embedding = FoNEEmbedding(None, self.d_model, integer_digits=longest, published=self.published, max_shift=shift)
        head = FourierHead(
            self.d_model,
            n_digits=n_digits,
            projection="norm" if self.published else "linear",
            signed=not self.published,
            max_shift=shift,
        )
        return OneTokenReader(embedding, head, problem.arity, n_digits=n_digits)


class XValSolver(TransformerSolver):
    """xVal: one real number in, one out.

    Args:
        published: whether the number's vector is a multiple of one vector, as its authors have it.
        scaling: "linear", a scale each for operands and answers, fitted to the training data; or "log", a logarithmic
            one for both, and a linear head, as FoNE's authors ran it, with vectors as published.

    Source: Golkar et al., arXiv:2310.02989; of "log" the code of Zhou et al., arXiv:2502.09741.
    """

    def __init__(self, *, published: bool = False, scaling: Literal["linear", "log"] = "linear") -> None:
        self.published, self.scaling = published, scaling

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        is_log, read, said = self.scaling == "log", operands, answers
        if is_log:
            read = said = np.concatenate([operands.astype(object).ravel(), answers])
        embedding = XValEmbedding(None, D_MODEL, scaling=self.scaling, published=self.published or is_log)
        embedding.fit(read)
        head = XValHead(D_MODEL, scaling=self.scaling, is_linear=is_log).fit(said)
        return OneTokenReader(embedding, head, problem.arity)


def vectors(*shape: int, d_model: int = D_MODEL) -> nn.Parameter:
    """Return trained vectors of tokens or places, float32 (*shape, d_model)."""
    return nn.Parameter(torch.randn(*shape, d_model) * _INITIAL)
