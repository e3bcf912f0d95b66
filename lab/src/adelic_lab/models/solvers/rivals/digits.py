"""Base-B digits as tokens: all digits of an answer at once, or one after the other, the lowest first.

The latter is how their papers have it. The network is then the rivals' Transformer, but causal: a token sees those
before it, the operands and the digits that are said. Training gives it the right ones (teacher forcing); an answer is
made of its own most probable digits.
"""

from functools import partial
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.backend import current
from adelic.nn.base_digits import count_digits, to_digits
from adelic_lab.models.solvers.rivals import transformer
from adelic_lab.models.solvers.rivals.heads import DigitHead, DigitLogits


class DigitReader(transformer.Reader):
    """The operands' signs and base-B digits, a token each, and a token for the answer's sign and each of its digits.

    Numbers are filled up with leading zeros to the length of the longest in training, so that training is not slowed
    by digits that do not occur there; operands beyond this length are read, and answered, with as many digits as the
    problem's longest numbers have. A digit knows its place by a learned vector: with `shared_places` (Abacus) this
    vector is the same for all numbers, a random offset trains the places beyond those in training, and another vector
    tells which number it is; without, every number has its own vectors.

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
        self.tokens = transformer.vectors(base + 4)
        self.max_offset = 0
        n_places = max(operand_digits[1], answer_digits[1])
        if shared_places:
            self.max_offset = max(operand_digits[1] - operand_digits[0], answer_digits[1] - answer_digits[0])
            n_places = max(n_places, max(operand_digits[0], answer_digits[0]) + self.max_offset)
            self.numbers = transformer.vectors(1 + arity)
        self.shared_places = shared_places
        self.places = transformer.vectors(1 if shared_places else 1 + arity, 1 + n_places)
        self.encoder = transformer.Encoder()
        self.head = DigitHead(transformer.D_MODEL, base=base, number_token_weight=number_token_weight)

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return operands as tokens (rows, arity, 1 + n_digits), as long as the longest at all."""
        digits, sign = to_digits(operands, base=self.base, n_digits=self.operand_digits[1])
        signs = np.where(sign < 0, self.base + 1, self.base)[..., None]
        return (torch.from_numpy(np.concatenate([signs, digits], axis=-1)),)

    def groups(self, operands: Operands) -> list[transformer.Group]:
        """Return the tokens of operands, of those no longer than in training as long as these, apart from others."""
        ((tokens,), (short, longest)) = self.inputs(operands), self.operand_digits
        is_longer = tokens[..., 1 + short :].any(dim=-1).any(dim=-1).numpy()
        parts = [(np.flatnonzero(~is_longer), short), (np.flatnonzero(is_longer), longest)]
        return [(rows, (tokens[rows][..., : 1 + width],)) for rows, width in parts if len(rows)]

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


class CausalEncoder(nn.Module):
    """torch's own layers with a causal mask, of the rivals' sizes.

    Shape: tokens (batch, length, 64) -> states of the last `n_read` tokens (batch, n_read, 64).
    """

    def __init__(self) -> None:
        super().__init__()
        sizes = transformer.D_MODEL, transformer.N_HEADS, transformer.D_FEEDFORWARD
        layer = partial(nn.TransformerEncoderLayer, *sizes, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.ModuleList(layer() for _ in range(transformer.N_LAYERS))
        self.norm = nn.LayerNorm(transformer.D_MODEL)

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

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.encoder = CausalEncoder()  # type: ignore[assignment]

    def loss(self, inputs: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the loss of a batch, each digit predicted after the right ones."""
        loss: torch.Tensor = self.head.loss(self.said(inputs[0], targets[0]), *targets)
        return loss

    def decode(self, inputs: tuple[torch.Tensor, ...]) -> Answers:
        """Return the answers of a batch, each digit predicted after the network's own digits."""
        _, n_digits, _ = self.lengths(inputs[0])
        digits = torch.zeros(len(inputs[0]), 0, dtype=torch.int64)
        for said in range(n_digits):
            following = self.head.digit(self._states(inputs[0], digits, said + 1)[:, -1:]).argmax(dim=-1)
            digits = torch.cat([digits, following], dim=1)
        answers: Answers = self.head.decode(self.said(inputs[0], digits))
        return answers

    def said(self, tokens: torch.Tensor, digits: torch.Tensor) -> DigitLogits:
        """Return the logits of each digit after those before it, and of the sign after all of them."""
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


class DigitSolver(transformer.TransformerSolver):
    """Digits, each with the learned position of its operand and place.

    Args:
        base: B; 10, or 1,000 as Int2Int writes integers, or 24, the best of those that were tried on Collatz steps.
        autoregressive: whether digits are said one after the other.
        number_token_weight: of the number token loss next to the cross-entropy; its authors' is 0.3.

    Source: of base 24, Charton and Narayanan, arXiv:2511.10811; of the loss, Zausinger et al., arXiv:2411.02083.
    """

    shared_places = False

    def __init__(
        self,
        *,
        base: Annotated[int, msgspec.Meta(ge=2, le=10_000)] = 10,
        autoregressive: bool = False,
        number_token_weight: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 0.0,
    ) -> None:
        self.base, self.autoregressive, self.number_token_weight = base, autoregressive, number_token_weight

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> transformer.Reader:
        def digits(numbers: Any, longest: int) -> tuple[int, int]:
            here = max(count_digits(int(x), self.base) for x in numbers.flat)
            return here, max(here, count_digits(10**longest - 1, self.base))

        reader = AutoregressiveReader if self.autoregressive else DigitReader
        return reader(
            base=self.base,
            shared_places=self.shared_places,
            operand_digits=digits(operands, problem.max_operand_digits),
            answer_digits=digits(answers, problem.max_answer_digits),
            arity=problem.arity,
            number_token_weight=self.number_token_weight,
        )


class AbacusSolver(DigitSolver):
    """Decimal digits with Abacus positions: the digit's place in its number, the same for all numbers.

    The random offset of training goes as far as the problem's longest numbers need it. (The paper's 100 is for numbers
    of 100 digits; it would train the places that are read here in only one batch of a hundred.)

    Args:
        autoregressive: whether digits are said one after the other, as the paper has it.

    Source: McLeish et al., arXiv:2405.17399.
    """

    shared_places = True

    def __init__(self, *, autoregressive: bool = False) -> None:
        super().__init__(autoregressive=autoregressive)
