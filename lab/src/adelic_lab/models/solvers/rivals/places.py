"""The rivals' digits place by place: the networks of `placewise`, with decimal digits in place of primes.

A place is a decimal digit of the answer. Its network sees what the operands are there, and of no other place: of FoNE
the waves of the period that ends with this digit, in base 10 the digit alone. What these learn needs no primes.
"""

import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import PlacewiseMLP
from adelic.nn.base_digits import to_digits
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic_lab.models.solvers.placewise import BATCH_SIZE, HIDDEN, LEARNING_RATE, WEIGHT_DECAY
from adelic_lab.models.solvers.rivals.heads import DigitLogits, DigitwiseHead, FourierHead
from adelic_lab.models.solvers.rivals.transformer import Reader, TransformerSolver

_MAX_OPERANDS = 2
_SCALE = 10.0  # the first scale of a place's numbers, that of `AdelicHead`


class DigitPlaces(Reader):
    """One small network a decimal digit of the answer, lowest first.

    Shape: `inputs` (rows, arity, n_places, width) -> `DigitLogits` of (rows, n_places, 10), without a sign.

    Args:
        n_places: digits of the answers.
        arity: operands a row.
        width: features of an operand at a place.
        out: what a place's network gives the head.
        head: from (rows, n_places · out) to the logits.
    """

    def __init__(self, n_places: int, arity: int, *, width: int, out: int, head: DigitwiseHead) -> None:
        super().__init__()
        self.n_places = n_places
        self.perceptron = PlacewiseMLP(n_places, arity * width, HIDDEN, out)
        self.scale = nn.Parameter(torch.full((n_places, 1), _SCALE))
        self.head = head

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return the digits of the answers."""
        return self.head.targets(answers, self.n_places)  # type: ignore[no-any-return]

    def forward(self, inputs: torch.Tensor) -> DigitLogits:
        """Return logits of the answers' digits."""
        places = self.perceptron(inputs.transpose(1, 2).flatten(-2))
        outputs: DigitLogits = self.head((self.scale * places).flatten(-2))
        return outputs


class FoNEPlaces(DigitPlaces):
    """FoNE's periods 10, 100, …: a place sees 1 and cos and sin of 2πx/10^k, and says the k-th digit by two waves."""

    def __init__(self, n_places: int, arity: int) -> None:
        head = FourierHead(2 * n_places, n_digits=n_places, projection=None, signed=False)
        super().__init__(n_places, arity, width=3, out=2, head=head)
        self.embedding = FoNEEmbedding(None, 2 * n_places + 1, integer_digits=n_places, projection=None)

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return 1 and the two waves of each place."""
        waves = self.embedding.features(operands)[..., :-1].reshape(*operands.shape, self.n_places, 2)
        return (functional.pad(waves, (1, 0), value=1.0),)


class OneHotPlaces(DigitPlaces):
    """Base-10 digits: a place sees one digit of each operand as a one-hot vector, and says one; there is no carry."""

    def __init__(self, n_places: int, arity: int) -> None:
        super().__init__(n_places, arity, width=10, out=10, head=LogitsHead())

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return the digits."""
        digits, _ = to_digits(operands, base=10, n_digits=self.n_places)
        return (functional.one_hot(torch.from_numpy(digits), 10).float(),)


class LogitsHead(DigitwiseHead):
    """The head of states that are the logits themselves.

    Shape: (*, n_digits · 10) -> digits (*, n_digits, 10), without a sign.
    """

    base, signed = 10, False

    def forward(self, hidden: torch.Tensor) -> DigitLogits:
        """Return the logits."""
        return DigitLogits(hidden.reshape(*hidden.shape[:-1], -1, self.base), None)


class PlacewiseRival(TransformerSolver):
    """A solver whose places are not primes, trained as the place-wise solver is."""

    batch_size, learning_rate, weight_decay = BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why the places cannot express a problem: it has fractions, or more than two operands."""
        if problem.arity > _MAX_OPERANDS:
            return f"it reads {_MAX_OPERANDS} operands at most"
        return super().obstacle(problem)


class DigitRival(PlacewiseRival):
    """A solver whose places are decimal digits."""

    places: type[FoNEPlaces | OneHotPlaces]

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why digits without a sign cannot express a problem."""
        return "it has no place for a sign" if problem.signed else super().obstacle(problem)

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        return self.places(max(problem.max_operand_digits, problem.max_answer_digits), problem.arity)


class PlacewiseFoNE(DigitRival):
    """FoNE's periods, each a place.

    Source: Zhou et al., arXiv:2502.09741, for the features and the head.
    """

    places = FoNEPlaces


class PlacewiseBase10(DigitRival):
    """Decimal digits, each a place."""

    places = OneHotPlaces
