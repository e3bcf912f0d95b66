"""Places modulo composite numbers: the Chinese remainder theorem without primes.

The primes of the place-wise solver, in pairs: the least with the greatest, and so on. A place is Z/pq, a ring that is
not a field: sums turn its additive characters, as at a prime, but its units are not cyclic, and no character tells them
apart (they have those of p and q, which are the primes' again, and are left out). What the answer is modulo pq says
what it is modulo p and q, so that the same code decodes it and mends errors.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import PlacewiseMLP
from adelic.nn.placewise import stack_places
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers.characters import integers_modulo
from adelic_lab.models.solvers.placewise import HIDDEN, decoded, largest, space_for
from adelic_lab.models.solvers.rivals.places import PlacewiseRival
from adelic_lab.models.solvers.rivals.transformer import Reader

_SCALE = 10.0  # of the logits at first


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
        self.space, self.head = space, CompositeHead(space, problem, usual)
        self.moduli = self.head.moduli
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


class CompositeHead(nn.Module):
    """The loss of residues, and the way back to numbers: by what the places say of each prime."""

    def __init__(self, space: AdeleSpace, problem: SampledTask, usual: tuple[int, int]) -> None:
        super().__init__()
        self.space, self.problem, self.usual, self.factors = space, problem, usual, paired(sorted(space.primes))
        self.moduli = [math.prod(primes) for primes in self.factors]

    def loss(self, outputs: torch.Tensor, residues: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy of residues (rows, n_places)."""
        return functional.nll_loss(outputs.flatten(0, 1), residues.flatten())

    def of_primes(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of first digits at the primes, (rows, n_primes, 1, greatest prime)."""
        most, found = max(self.space.primes), {}
        for j, (primes, m) in enumerate(zip(self.factors, self.moduli, strict=True)):
            for p in primes:  # residue a·p + b is b modulo p
                digits = outputs[:, j, :m].reshape(-1, m // p, p).logsumexp(dim=1)
                found[p] = functional.pad(digits, (0, most - p), value=-math.inf)
        return torch.stack([found[p] for p in self.space.primes], dim=1)[:, :, None]

    def decode(self, outputs: torch.Tensor) -> Answers:
        """Return the numbers, None where the digits are not near a codeword."""
        return decoded(self.space, self.of_primes(outputs), self.problem, usual=self.usual)


class CompositeSolver(PlacewiseRival):
    """Residues modulo products of two primes, a place each."""

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        return CompositePlaces(space_for(problem), problem, largest(answers))
