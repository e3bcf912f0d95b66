"""AOE in, AOE out, with a context: at every place arithmetic; one place's digits, or sizes, choose which.

Many laws are arithmetic with cases: at every place the answer is a simple function of the residue, but which function
it is the residues of that place do not show. In a long Collatz step an odd n becomes a·n + b, where a and b depend on
how often 2 divides, so on the digits of n at the place 2. `BallContext` reads that place and chooses among a few
operations; `ContextPlacewise` carries the chosen ones out, at every place with weights of its own. Where size decides,
as in max(a, b), `SizeContext` reads the real place.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.errors import ConfigurationError
from adelic.nn import AdelicLoss, AdelicPrediction, adelic_targets
from adelic.numbers import AdeleSpace
from adelic.numbers.primes import is_prime
from adelic_lab.models.solvers.base import Schedule, Solver, descend, learned
from adelic_lab.models.solvers.placewise import decoded, mean_size, space_for
from adelic_lab.train.sampler import stream_seed

_DEEPEST = 2**18
"""Most balls of the deepest level."""
_LAYERS, _OPERATIONS, _HIDDEN, _WIDTH = 2, 16, 64, 64
"""How often the context multiplies, and among how many operations it chooses; units of a layer and place, and numbers
between two layers."""
_FORMS, _LEVELS = 8, 7
"""Linear forms of real values, and the scales at which each is seen."""
_GAIN = 3**0.5
"""Bound of a uniform distribution of variance 1."""
_BATCH, _WARM_UP = 256, 100
_BALLS_RATE, _BALLS_START = 0.1, 1e-4
_HARD, _SCOUTED, _KEPT = 128, 1024, 2048
"""Of the examples: the hardest in a batch, those per step whose loss is looked at, and the hardest that are kept."""
_SCOUTS = 2
"""Places, the largest primes, that say how hard an example is."""
_UNTOLD = 0.05
"""Share of the steps before examples are chosen: nothing says then what is hard."""
_SMALLEST = 7
"""Greatest prime whose digits help to choose an operation, where sizes do."""
_CHUNK, _READ = 2_000, 100_000
"""Rows at once, when they are answered and when they are read."""


class BallContext(nn.Module):
    """A choice among operations, by functions of integers that are locally constant at a prime q.

    An integer lies in one ball of each level k: its residue modulo q^k, which its k lowest digits say. A ball has a
    trained vector, and the sum of the vectors over all levels and operands, cut into parts, goes through a softmax
    each. So a rule that is decided by the lowest digits is learned from few examples, and an exception that only
    deeper digits show is one ball's vector, which changes nothing elsewhere. Sums of balls' indicators are all the
    locally constant functions, and come near every continuous one (van der Put's basis).

    The vectors start at 0, so at first every operation is as likely as every other. Their gradient is sparse.

    Shape: residues int64 (n, arity), in [0, q^depth), and digits, which it does not read -> shares of the operations in
    each layer (n, 2, 16).

    Source: of the basis, M. van der Put, "Algèbres de fonctions continues p-adiques", Indag. Math. 30 (1968).
    """

    moduli: torch.Tensor
    starts: torch.Tensor

    def __init__(self, depth: int, prime: int, arity: int) -> None:
        super().__init__()
        moduli = [prime**level for level in range(1, depth + 1)]
        n_balls = sum(moduli)
        starts = [[operand * n_balls + sum(moduli[:level]) for level in range(depth)] for operand in range(arity)]
        self.register_buffer("moduli", torch.tensor(moduli), persistent=False)
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.balls = nn.EmbeddingBag(arity * n_balls, _LAYERS * _OPERATIONS, mode="sum", sparse=True)
        nn.init.zeros_(self.balls.weight)

    def forward(self, residues: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return how much each layer is to do of each operation; the shares of a layer add up to 1."""
        balls = residues[..., None] % self.moduli + self.starts
        return _shares(self.balls(balls.flatten(1)))


class SizeContext(nn.Module):
    """A choice among operations, by how large numbers are and by their residues at the smallest places.

    A few linear forms of the real values, each seen at several scales as tanh(10^j · form), say how numbers compare,
    coarsely and finely at once: the coarse levels find the form, a − b for instance, and the fine ones its sign. A
    perceptron reads these and the digits, one-hot. Its last layer starts at 0, so at first every operation is as
    likely as every other.

    Shape: real values (n, arity), of about unit size, and digits int64 (n, arity, places), of which the first are read
    -> shares (n, 2, 16).
    """

    def __init__(self, primes: Sequence[int], arity: int) -> None:
        super().__init__()
        self.primes = tuple(primes)
        self.forms = nn.Linear(arity, _FORMS)
        nn.init.normal_(self.forms.weight)
        nn.init.zeros_(self.forms.bias)
        self.inner = nn.Linear(_FORMS * _LEVELS + arity * sum(self.primes), _HIDDEN)
        self.outer = nn.Linear(_HIDDEN, _LAYERS * _OPERATIONS)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, real: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return how much each layer is to do of each operation; the shares of a layer add up to 1."""
        scales = 10.0 ** torch.arange(_LEVELS)
        seen = [torch.tanh(self.forms(real)[..., None] * scales).flatten(1)]
        seen += [functional.one_hot(digits[..., i], prime).flatten(1).float() for i, prime in enumerate(self.primes)]
        return _shares(self.outer(functional.relu(self.inner(torch.cat(seen, dim=-1)))))


def _shares(sums: torch.Tensor) -> torch.Tensor:
    return sums.view(-1, _LAYERS, _OPERATIONS).softmax(dim=-1)


class ContextPlacewise(nn.Module):
    """A network a place, whose units multiply the place's features by a context that all places share.

    At a place, the first layer's units are products of a vector of each operand's digit; every other layer's are linear
    in what came before. Each unit is multiplied by a linear form of the context, which is the layer's choice among
    operations. A linear map follows, and a ReLU; after the last layer the map leads to the answer's digit. So a place
    learns each operation once, whatever the context that asks for it, and the context learns once which operation to
    ask for, from all places.

    Multiplications by constants are diagonal in the characters of the units modulo p, additions in those of Z/p. Both
    are such products, and two layers compute every affine map of a residue, by a factor and a constant.

    Shape: what the context sees of the operands, (n, arity), and first digits int64 (n, arity, n_primes) -> logits
    (n, n_primes, max_prime), −inf for what is not a digit, from p on.

    Args:
        space: the primes.
        arity: operands a row.
        context: a `BallContext`, which sees residues, or a `SizeContext`, which sees real values and some digits.
    """

    is_no_digit: torch.Tensor
    rows: torch.Tensor

    def __init__(self, space: AdeleSpace, arity: int, context: BallContext | SizeContext) -> None:
        super().__init__()
        places, most = space.n_primes, max(space.primes)
        self.context = context
        # Products of independent factors of variance 1 have variance 1.
        self.digits = nn.Parameter(_uniform(_GAIN, arity, places, most, _HIDDEN))
        self.contexts = nn.Parameter(_uniform(_GAIN, _LAYERS, places, _OPERATIONS, _HIDDEN))
        self.inner = nn.ParameterList(_uniform(_GAIN, places, _WIDTH, _HIDDEN) for _ in range(_LAYERS - 1))
        self.inner_bias = nn.ParameterList(torch.zeros(places, _HIDDEN) for _ in range(_LAYERS - 1))
        sizes = [_WIDTH] * (_LAYERS - 1) + [most]
        self.outer = nn.ParameterList(_uniform(_GAIN * _HIDDEN**-0.5, places, _HIDDEN, size) for size in sizes)
        self.outer_bias = nn.ParameterList(torch.zeros(places, size) for size in sizes)
        is_no_digit = torch.arange(most) >= torch.tensor(space.primes)[:, None]
        self.register_buffer("is_no_digit", is_no_digit, persistent=False)
        self.register_buffer("rows", torch.arange(places)[:, None] * most, persistent=False)
        self.digit_loss = AdelicLoss(space, real_weight=0.0)

    def forward(self, seen: torch.Tensor, digits: torch.Tensor, places: Sequence[int] | None = None) -> torch.Tensor:
        """Return the logits of the answer's first digits, of some places alone if these are given by their indices."""
        chosen: Any = slice(None) if places is None else list(places)
        context = self.context(seen, digits := digits.long())
        rows = digits.permute(1, 2, 0)[:, chosen] + self.rows[chosen]  # (arity, places, n)
        units = functional.embedding(rows[0], self.digits[0].flatten(0, 1))
        for others, table in zip(rows[1:], self.digits[1:], strict=True):
            units = units * functional.embedding(others, table.flatten(0, 1))
        for i, (outer, bias) in enumerate(zip(self.outer, self.outer_bias, strict=True)):
            if i:
                inner, inner_bias = self.inner[i - 1][chosen], self.inner_bias[i - 1][chosen]
                units = torch.baddbmm(inner_bias[:, None], functional.relu(values), inner)  # noqa: F821
            forms = self.contexts[i][chosen]
            units = units * torch.bmm(context[:, i].expand(len(forms), -1, -1), forms)
            values = torch.baddbmm(bias[chosen][:, None], units, outer[chosen])
        return values.transpose(0, 1).masked_fill(self.is_no_digit[chosen], -math.inf)

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy of digits (n, n_primes)."""
        prediction = AdelicPrediction(logits[:, 0, 0], logits[:, :, None])
        value: torch.Tensor = self.digit_loss(prediction, (logits[:, 0, 0], targets[..., None]))
        return value


def _uniform(bound: float, *shape: int) -> torch.Tensor:
    return torch.empty(shape).uniform_(-bound, bound)


class Context(Solver):
    """First digits at many primes, at each a network of its own, and the digits at 2 say which operation it does.

    Half of every batch are among the hardest rows so far, by the loss at two places, which a look at many more rows
    finds: a rare operation is learned as fast as others, since its rows come again and again until they are right. The
    other half are as they are drawn.

    Args:
        prime: whose digits choose.
    """

    learning_rate: float = 2e-2
    _network: ContextPlacewise | None = None

    def __init__(self, *, prime: int = 2) -> None:
        if prime > _DEEPEST or not is_prime(prime):  # of a much greater number there is no proof that it is a prime
            raise ConfigurationError(f"prime={prime} is not a prime up to {_DEEPEST:,}; choose another one")
        self.prime = prime

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for one or two integers."""
        if problem.arity > 2:
            return "a context is made of one or two operands"
        return None if problem.operands_are_integers else "a context is made of integers"

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Learn from examples."""
        self._space = space_for(problem)
        with schedule.initialisation():
            self._network = ContextPlacewise(self._space, problem.arity, self._context(operands))
        inputs, targets = self._inputs(operands), _targets(self._space, answers)
        _train(self._network, *inputs, targets, schedule)

    def _context(self, operands: Operands) -> BallContext | SizeContext:
        """Return an untrained context for such operands."""
        depth = _depth(self.prime, len(operands))
        self._modulus = self.prime**depth
        return BallContext(depth, self.prime, operands.shape[1])

    def _seen(self, operands: Operands) -> npt.NDArray[Any]:
        """Return what the context sees of operands next to their digits, of the same shape."""
        return np.asarray(operands % self._modulus).astype(np.int64)

    def _inputs(self, operands: Operands) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the context sees of operands, and their digits."""
        digits = self._space.encode(operands).digits[..., 0].astype(np.int16)
        return torch.from_numpy(self._seen(operands)), torch.from_numpy(digits)

    @torch.no_grad()
    def answer(self, operands: Operands) -> Answers:
        """Return the number that the digits of each question's answer are decoded to, None if they are no codeword."""
        network, found = learned(self._network), [np.empty(0, dtype=object)]
        for first in range(0, len(operands), _CHUNK):
            logits = network(*self._inputs(operands[first : first + _CHUNK]))
            found.append(decoded(self._space, logits[:, :, None], self._problem))
        return np.concatenate(found)


class Hybrid(Context):
    """The same, where the operands' real values, and their digits at the smallest places, choose the operation.

    For answers that need size and residues: the greater of two numbers, a rounded number, a sum up to a bound.
    """

    def _context(self, operands: Operands) -> SizeContext:
        """Return an untrained context for such operands."""
        self._unit = mean_size(operands)
        smallest = [p for p in self._space.primes if p <= _SMALLEST]
        return SizeContext(smallest, operands.shape[1])

    def _seen(self, operands: Operands) -> npt.NDArray[Any]:
        return np.asarray(operands / self._unit).astype(np.float32)


def _train(
    network: ContextPlacewise, seen: torch.Tensor, digits: torch.Tensor, targets: torch.Tensor, schedule: Schedule
) -> None:
    """Train on the examples, half of each batch from the hardest."""
    n_rows = len(seen)
    # Of a quarter of the examples at most: the hardest of few would else be any.
    hard = _Hardest(n_rows, min(_KEPT, 1 + n_rows // 4))
    context = list(network.context.parameters())
    dense, others = [weight for weight in network.parameters() if not any(weight is one for one in context)], []
    if isinstance(network.context, BallContext):
        # Their gradients are sparse, which AdamW refuses; Adagrad takes them, with a rate of its own for each ball.
        others.append(torch.optim.Adagrad(context, lr=_BALLS_RATE, initial_accumulator_value=_BALLS_START))
    else:
        dense += context
    optimizer = torch.optim.AdamW(dense, lr=schedule.peak, betas=(0.9, 0.99), weight_decay=0.0, fused=True)
    scouts = list(range(len(network.rows)))[-_SCOUTS:]

    def losses(logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        # `UNKNOWN_DIGIT` is what cross_entropy leaves out: an unknown digit makes no example hard.
        wanted = targets[rows][:, scouts].long()
        of_places = functional.cross_entropy(logits.detach().transpose(1, 2), wanted, reduction="none")
        return of_places.sum(dim=1)

    def loss(step: int) -> torch.Tensor:
        scouted = _in_epochs(n_rows, step, schedule.seed)
        if step < _UNTOLD * schedule.steps:
            batch = scouted[:_BATCH]
            return network.loss(network(seen[batch], digits[batch]), targets[batch])
        with torch.no_grad():
            hard.look(scouted, losses(network(seen[scouted], digits[scouted], scouts), scouted))
        chosen = hard.draw(_HARD, schedule.generator(step))
        batch = torch.cat([chosen, scouted[: _BATCH - len(chosen)]])
        logits = network(seen[batch], digits[batch])
        # Rows that are no longer hard make room.
        hard.look(batch, losses(logits[:, scouts], batch))
        return network.loss(logits, targets[batch])

    # Said aloud that it is off, else torch warns that it is.
    with torch.sparse.check_sparse_tensor_invariants(False):  # type: ignore[no-untyped-call]
        descend(nn.ModuleList([network, hard]), loss, optimizer, schedule, warm_up=_WARM_UP, others=others)


def _depth(prime: int, examples: int) -> int:
    """Return how many digits of the context place are read: deeper balls would have less than one example each.

    >>> _depth(2, 2000), _depth(2, 10**7), _depth(5, 10**7)
    (11, 18, 7)
    """
    most = min(_DEEPEST, prime * examples)
    return max(depth for depth in range(1, _DEEPEST.bit_length()) if depth == 1 or prime**depth <= most)


class _Hardest(nn.Module):
    """The examples with the greatest losses, as last looked at; −1 where there are not as many.

    They are buffers, so a checkpoint has them.
    """

    losses: torch.Tensor
    rows: torch.Tensor

    def __init__(self, n_rows: int, size: int) -> None:
        super().__init__()
        self.register_buffer("losses", torch.zeros(n_rows))
        self.register_buffer("rows", torch.full((size,), -1))

    def look(self, rows: torch.Tensor, losses: torch.Tensor) -> None:
        """Note the losses of examples, and keep the hardest of these and those that are here."""
        self.losses[rows] = losses
        candidates = torch.unique(torch.cat([self.rows[self.rows >= 0], rows]))
        kept = candidates[self.losses[candidates].topk(min(len(self.rows), len(candidates))).indices]
        self.rows[: len(kept)] = kept

    def draw(self, count: int, generator: torch.Generator) -> torch.Tensor:
        """Return some of the examples, all different, int64 (at most count,)."""
        rows = self.rows[self.rows >= 0]
        return rows[torch.randperm(len(rows), generator=generator)[:count]]


def _in_epochs(n_rows: int, step: int, seed: int) -> torch.Tensor:
    """Return the `_SCOUTED` examples of a step, int64: in random order, each once before any comes again."""
    places = torch.arange(step * _SCOUTED, (step + 1) * _SCOUTED)
    epochs = places // n_rows
    found = torch.empty_like(places)
    for epoch in epochs.unique().tolist():
        found[epochs == epoch] = _permutation(n_rows, epoch, seed)[places[epochs == epoch] % n_rows]
    return found


@lru_cache(maxsize=1)
def _permutation(n_rows: int, epoch: int, seed: int) -> torch.Tensor:
    return torch.randperm(n_rows, generator=torch.Generator().manual_seed(stream_seed(seed, "epochs", epoch)))


def _targets(space: AdeleSpace, answers: Answers) -> torch.Tensor:
    """Return the first digits of answers, int16 (n, n_primes), `UNKNOWN_DIGIT` where there is none."""
    found = torch.empty(len(answers), space.n_primes, dtype=torch.int16)
    for first in range(0, len(answers), _READ):
        part = answers[first : first + _READ]
        if all(type(answer) is int for answer in part.tolist()):
            with suppress(OverflowError):
                part = part.astype(np.int64)  # a tenth of the time that objects take
        found[first : first + _READ] = adelic_targets(space, part)[1][..., 0]
    return found
