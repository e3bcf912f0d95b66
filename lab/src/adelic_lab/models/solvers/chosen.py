"""Places that are chosen from the examples alone: for answers of which nobody says modulo what they are."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import torch

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.heads.adelic import UNKNOWN_DIGIT, adelic_targets
from adelic.numbers import AdeleSpace
from adelic.numbers.primes import is_prime
from adelic_lab.models.solvers.base import Schedule, learned
from adelic_lab.models.solvers.placewise import HELD_OUT, PlacewiseSolver, encoded, space_for, without_padding
from adelic_lab.train.sampler import stream_seed

_GREATEST_MODULUS = 1000
"""Above it answers are numbers of whatever size, not residues of a prime that could be a place."""
_MISSED = 8
"""Of n residues modulo q, none is among the greatest 8q/n once in 3,000 times (e^8)."""


def candidates(problem: SampledTask, answers: Answers) -> tuple[int, ...]:
    """Return the primes that places may be: those that hold the problem's answers, and those next above all answers.

    The latter only where answers are small integers: of residues modulo a prime, this is a little above the greatest.

    >>> from adelic.data import drawn_task
    >>> candidates(drawn_task("modular-sum"), np.array([3, 255, 254, *range(200)]))[-3:]
    (43, 257, 263)
    """
    primes = set(space_for(replace(problem, modulus=None)).primes)
    greatest = max(map(abs, answers.tolist()))
    if problem.answers_are_integers and greatest < _GREATEST_MODULUS:
        reach = greatest + 1 + math.ceil(_MISSED * greatest / len(answers))
        primes |= {p for p in range(greatest + 1, reach + 1) if is_prime(p)}
    return tuple(sorted(primes))


class ChosenPlacesSolver(PlacewiseSolver):
    """The place-wise solver that is not told a modulus: it keeps the places whose digits it can learn.

    A first network has all `candidates` as places. At each prime it is asked for the digits of a fifth of the examples,
    on which it was not trained. Where they cost it less than half of what guessing does, log p, the answer's digit
    follows from the operands', and the prime is kept: all of them for sums of numbers, but 37 alone for sums modulo 37.
    If none is kept all are. The network that answers has the places that were kept. Where these do not tell apart the
    numbers up to the problem's bounds, answers are residues modulo their product.

    Attributes:
        primes: of the places that were kept.
    """

    least_examples = 3  # some are held out twice
    primes: tuple[int, ...] = ()

    def _space_for(self, problem: SampledTask) -> AdeleSpace:
        return AdeleSpace(self.primes, precision=1)

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Learn from examples; the problem's modulus is not looked at."""
        untold = replace(problem, modulus=None)
        order = np.random.default_rng(stream_seed(schedule.seed, "places")).permutation(len(operands))
        held_out, rest = np.split(order, [max(1, round(HELD_OUT * len(order)))])
        self.primes = candidates(untold, answers)
        super().learn(untold, operands[rest], answers[rest], replace(schedule, progress=None))
        shares = self._shares(operands[held_out], answers[held_out])
        kept = tuple(p for p, share in zip(self.primes, shares, strict=True) if share < 1 / 2)
        self.primes = kept or self.primes
        product = math.prod(self.primes)
        is_modulus = product <= 2 * problem.max_numerator * problem.max_denominator
        super().learn(replace(untold, modulus=product if is_modulus else None), operands, answers, schedule)

    @torch.no_grad()
    def _shares(self, operands: Operands, answers: Answers) -> Iterable[float]:
        """Return, for each prime, the mean cross-entropy of the answers' digits over log p, that of guessing."""
        trimmed, lengths = without_padding(operands, self._problem)
        losses = -learned(self._network)(*encoded(self._space, trimmed), lengths).logits[:, :, 0].log_softmax(dim=-1)
        digits = adelic_targets(self._space, answers)[1][..., 0]
        is_known = digits != UNKNOWN_DIGIT
        # An unknown digit is −100, not an index: digit 0 stands in, whose loss is finite and is multiplied by 0.
        of_digits = losses.gather(-1, digits.clamp(min=0)[..., None])[..., 0] * is_known
        means = of_digits.sum(dim=0) / is_known.sum(dim=0).clamp(min=1)
        shares: list[float] = (means / torch.tensor(self.primes).log()).tolist()
        return shares
