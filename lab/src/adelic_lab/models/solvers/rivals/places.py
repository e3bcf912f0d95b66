"""Places that are not primes, and a small network at each, as `placewise` has them at primes.

Of decimal digits, a place's network sees what the operands are there, and of no other place: of FoNE the waves of the
period that ends with this digit, in base 10 the digit alone. What these learn needs no primes.

Of composite numbers, places are the primes of the place-wise solver, in pairs: the least with the greatest, and so on.
A place is Z/pq, a ring that is not a field: sums turn its additive characters, as at a prime, but its units are not
cyclic, and no character tells them apart (they have those of p and q, which are the primes' again, and are left out).
The answer modulo pq determines it modulo p and q: the same code decodes it and corrects errors.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import PlacewiseMLP
from adelic.nn.base_digits import to_digits
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.placewise import stack_places
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers.characters import integers_modulo
from adelic_lab.models.solvers.placewise import (
    BATCH_SIZE,
    HIDDEN,
    LEARNING_RATE,
    WEIGHT_DECAY,
    decoded,
    largest,
    space_for,
)
from adelic_lab.models.solvers.rivals.heads import DigitLogits, DigitwiseHead, FourierHead
from adelic_lab.models.solvers.rivals.transformer import Reader, TransformerSolver

_MAX_OPERANDS = 2
_SCALE = 10.0  # the first scale of a place's numbers, that of `AdelicHead`


class DigitPlaces(Reader):
    """One small network a decimal digit of the answer, lowest first.

    Shape: `inputs` (rows, arity, n_places, width) -> `DigitLogits` of (rows, n_places, 10), without a sign.

    Args:
        n_places: digits of the answers.
        arity: operands per question.
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


def paired(primes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return ascending primes in pairs, the least with the greatest; of an odd number the middle one is alone.

    >>> paired((2, 3, 5, 7, 11))
    [(2, 11), (3, 7), (5,)]
    """
    half = len(primes) // 2
    pairs = zip(primes[:half], reversed(primes[-half:]), strict=True) if half else ()
    return [*pairs, *((p,) for p in primes[half : len(primes) - half])]


class CompositePlaces(Reader):
    """One small network a modulus, which reads the additive characters of residues and answers with a residue.

    The characters are those of frequencies 1, 8, 64, …, which tell all residues (`CyclicGroup.frequencies`); the logit
    of a residue is the inner product of its characters and as many numbers of the network, as in `AdelicHead`.

    Shape: residues (rows, arity, n_places) -> log-probabilities of residues (rows, n_places, greatest modulus), −inf
    from the modulus on.

    Args:
        space: the primes that the moduli are products of.
        problem: bounds the answers.
        usual: how large they are in the examples, see `decoded`.
    """

    tables: torch.Tensor
    is_residue: torch.Tensor

    def __init__(self, space: AdeleSpace, problem: SampledTask, usual: tuple[int, int]) -> None:
        super().__init__()
        self.space, self.problem, self.usual, self.factors = space, problem, usual, paired(sorted(space.primes))
        self.moduli = [math.prod(primes) for primes in self.factors]
        groups = [integers_modulo(m) for m in self.moduli]
        points = [group.characters(np.arange(group.order)).flatten(1) for group in groups]
        n_most = max(table.shape[1] for table in points)
        points = [functional.pad(table, (0, n_most - table.shape[1])) for table in points]
        with_one = [functional.pad(table, (1, 0), value=1.0) for table in points]
        self.register_buffer("tables", stack_places(with_one), persistent=False)
        is_residue = torch.arange(max(self.moduli)) < torch.tensor(self.moduli)[:, None]
        self.register_buffer("is_residue", is_residue, persistent=False)
        width = self.tables.shape[-1]
        self.perceptron = PlacewiseMLP(len(self.moduli), problem.arity * width, HIDDEN, width)
        self.scale = nn.Parameter(torch.full((len(self.moduli), 1), _SCALE))

    def inputs(self, operands: Operands) -> tuple[torch.Tensor, ...]:
        """Return the residues of integers (*), int64 (*, n_places)."""
        residues = [np.asarray(operands % m).astype(np.int64) for m in self.moduli]
        return (torch.from_numpy(np.stack(residues, axis=-1)),)

    def targets(self, answers: Answers) -> tuple[torch.Tensor, ...]:
        """Return the residues of the answers."""
        return self.inputs(answers)

    def forward(self, residues: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities."""
        read = self.tables[torch.arange(len(self.moduli)), residues]
        states = self.scale * self.perceptron(read.transpose(1, 2).flatten(-2))
        logits = torch.einsum("njf,jrf->njr", states, self.tables)
        return logits.masked_fill(~self.is_residue, -math.inf).log_softmax(dim=-1)

    def loss(self, inputs: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the mean cross-entropy of residues (rows, n_places)."""
        return functional.nll_loss(self(*inputs).flatten(0, 1), targets[0].flatten())

    def of_primes(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of first digits at the primes, (rows, n_primes, 1, greatest prime)."""
        most, found = max(self.space.primes), {}
        for j, (primes, m) in enumerate(zip(self.factors, self.moduli, strict=True)):
            for p in primes:  # residue a·p + b is b modulo p
                digits = outputs[:, j, :m].reshape(-1, m // p, p).logsumexp(dim=1)
                found[p] = functional.pad(digits, (0, most - p), value=-math.inf)
        return torch.stack([found[p] for p in self.space.primes], dim=1)[:, :, None]

    def decode(self, inputs: tuple[torch.Tensor, ...]) -> Answers:
        """Return the numbers of a batch, None if the digits are not near a codeword."""
        return decoded(self.space, self.of_primes(self(*inputs)), self.problem, usual=self.usual)


class CompositeSolver(PlacewiseRival):
    """Residues modulo products of two primes, a place each."""

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        return CompositePlaces(space_for(problem), problem, largest(answers))
