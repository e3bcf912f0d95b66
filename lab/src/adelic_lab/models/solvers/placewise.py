"""AOE in, AOE out: a small network a place, which keeps the places apart."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn import AdelicHead, AdelicLoss, AdelicPrediction, PlaceEmbedding, PlacewiseMLP
from adelic.nn.heads.adelic import UNKNOWN_DIGIT, adelic_targets
from adelic.nn.placewise import N_CHARACTERS, stack_places
from adelic.numbers import AdeleSpace, RedundantResidueCode
from adelic.numbers.primes import is_prime
from adelic_lab.models.solvers.base import Orders, Schedule, Solver, descend, learned, seeded
from adelic_lab.train.sampler import stream_seed

MENDED = 10**6
"""Redundancy of the spaces: wrong digits at any places with a product up to this are corrected."""
REMEMBERED = 10**20
"""That of solvers that remember pairs of digits: a place more costs them little, and makes up for pairs not seen."""
_FEATURES = ("characters", "one-hot-digits")
HIDDEN = 32
"""Products a place."""
BATCH_SIZE, LEARNING_RATE, WARM_UP, WEIGHT_DECAY = 256, 1e-2, 20, 0.01
"""Training by AdamW: examples per batch, highest learning rate, steps of its rise before a cosine fall, decay."""
HELD_OUT, _PILOT = 0.2, 0.25  # of the examples, of the steps
_CERTAIN = 0.5  # confidence beyond which an answer is not in doubt
_DOUBT = 0.2  # weight of the loss where a pair of digits was not seen

Tensors = tuple[torch.Tensor, ...]
RowsLoss = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def space_for(problem: SampledTask, precision: int = 1, *, mended: int = MENDED) -> AdeleSpace:
    """Return a space of the least primes that divide no denominator and hold the answers with redundancy.

    For an inverse modulo a product of small primes, the space has these primes, which determine the answer.

    Wrong digits at any places with a product up to `mended` are corrected.

    >>> from adelic.data import drawn_task
    >>> space_for(drawn_task("addition")).primes[-1], space_for(drawn_task("modular-inverse")).primes
    (61, (3, 5, 7, 11, 13, 17, 19, 23, 29))
    """
    if problem.modulus is not None:
        factors = tuple(p for p in range(2, 100) if is_prime(p) and problem.modulus % p == 0)
        if math.prod(factors) == problem.modulus:
            return AdeleSpace(primes=factors, precision=1)
    # Numbers n/m and n'/m' that agree at places with the product P are equal if P > |n·m' − n'·m|; and where wrong
    # places with a product up to e are corrected, two numbers near one word agree at all but e² of the whole product.
    needed = 2 * problem.max_numerator * problem.max_denominator * mended**2
    candidates = _primes_above(problem.max_operand_denominator)
    primes: list[int] = []
    while math.prod(primes) ** precision <= needed:
        primes.append(next(candidates))
    return AdeleSpace(primes=tuple(primes), precision=precision)


class PlacewiseNetwork(nn.Module):
    """One small network a place, which reads the operands one after the other.

    One operand goes through a perceptron; so do two together. A longer question is folded from the left: what a place
    has so far goes in again like an operand, as the mean of its possible digits' features. So questions of any length
    are read with the same weights.

    Shape: real values (n, arity), digits (n, arity, n_primes, precision) and lengths (n,): operands per question
    (the rest is padding) -> `AdelicPrediction` of n numbers.

    Args:
        embedding: the features of the places.
        arity: operands per question; at most two if the space has more than one digit per prime.
        answer_scale: unit of the answers' real values.
    """

    digit_features: torch.Tensor

    def __init__(self, embedding: PlaceEmbedding, arity: int, *, answer_scale: float) -> None:
        super().__init__()
        self.embedding, space = embedding, embedding.space
        places, width = self.embedding.n_places, self.embedding.width
        self.perceptron = PlacewiseMLP(places, min(arity, 2) * width, HIDDEN, N_CHARACTERS * space.max_precision)
        self.head = AdelicHead(space, N_CHARACTERS * space.max_precision, real_scale=answer_scale)
        self.loss = AdelicLoss(space, real_scale=answer_scale)
        every_digit = self.embedding(space.encode(range(max(space.primes))))  # row r: r at every place
        self.register_buffer("digit_features", every_digit.transpose(0, 1), persistent=False)

    def forward(self, real: torch.Tensor, digits: torch.Tensor, lengths: torch.Tensor) -> AdelicPrediction:
        """Return the prediction."""
        state, *others = self.embedding((real, digits)).unbind(dim=1)
        if not others:
            return self._step(state)
        prediction = self._step(torch.cat([state, others[0]], dim=-1))
        for i, operand in enumerate(others[1:], start=2):
            following = self._step(torch.cat([self._mean_features(prediction), operand], dim=-1))
            is_over = lengths <= i
            prediction = AdelicPrediction(
                torch.where(is_over, prediction.real, following.real),
                torch.where(is_over[:, None, None, None], prediction.logits, following.logits),
            )
        return prediction

    def _step(self, features: torch.Tensor) -> AdelicPrediction:
        prediction: AdelicPrediction = self.head(self.perceptron(features))
        return prediction

    def _mean_features(self, prediction: AdelicPrediction) -> torch.Tensor:
        """Return the places' mean features over the digits that they may have, (n, n_places, width)."""
        probabilities = prediction.logits[:, :, 0].softmax(dim=-1)
        places = torch.einsum("njc,jcf->njf", probabilities, self.digit_features[1:])
        real = self.digit_features[0, :1].expand(len(places), -1, -1)  # the real place starts anew from 0
        return torch.cat([real, places], dim=1)


class PlacewiseSolver(Solver):
    """First digits at many primes, and a separate network at each.

    Which features the network reads is chosen on examples held out in a short trial of each; then it is trained on all.

    Attributes:
        precision: digits per prime.
        features: of places, to choose from.
        mended: redundancy of the space, see `space_for`.
        rows_at_once: when answers are computed.
    """

    precision: int = 1
    features: ClassVar[tuple[str, ...]] = _FEATURES
    mended: ClassVar[int] = MENDED
    rows_at_once: ClassVar[int] = 5_000
    learning_rate: float = LEARNING_RATE
    least_examples = 2  # one is held out
    _network: PlacewiseNetwork | None = None

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Learn from examples, of which some are held out."""
        self._problem, self._usual = problem, largest(answers)
        self._space = self._space_for(problem)
        trimmed, lengths = without_padding(operands, problem)
        inputs = (*encoded(self._space, trimmed), lengths)
        targets = adelic_targets(self._space, answers)
        order = torch.from_numpy(np.random.default_rng(schedule.seed).permutation(len(operands)))
        held_out, rest = order.tensor_split([max(1, round(HELD_OUT * len(order)))])
        trials = {}
        for features in self.features if len(self.features) > 1 else ():
            network = self._built(features, trimmed, answers, schedule.seed)
            pilot = replace(schedule, steps=max(1, round(_PILOT * schedule.steps)), progress=None)
            _train(network, self._loss(network, inputs, targets), rest, pilot)
            with torch.no_grad():
                prediction = network(*_rows(inputs, held_out))
                trials[features] = network.loss(prediction, _rows(targets, held_out)).item()
        best = min(trials, key=trials.__getitem__) if trials else self.features[0]
        # Anew from the same first weights: the trial saw only a part of the examples, and its rate has fallen to 0.
        self._network = self._built(best, trimmed, answers, schedule.seed)
        loss, lessons = self._loss(self._network, inputs, targets), self._lessons(order, lengths)
        _train(self._network, loss, lessons, schedule)

    def _lessons(self, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return which of the examples, of these lengths, the network is trained on."""
        return rows

    def _space_for(self, problem: SampledTask) -> AdeleSpace:
        return space_for(problem, self.precision, mended=self.mended)

    def _loss(self, network: PlacewiseNetwork, inputs: Tensors, targets: Tensors) -> RowsLoss:
        """Return the loss of some of the examples, which may also draw from a generator."""
        return lambda rows, generator: network.loss(network(*_rows(inputs, rows)), _rows(targets, rows))

    def _built(self, features: str, operands: Operands, answers: Answers, seed: int) -> PlacewiseNetwork:
        """Return an untrained network; the units of its real places are fitted to the examples."""
        with seeded(seed):
            embedding = self._embedding(features, mean_size(operands), seed)
            return self._around(embedding, operands.shape[1], answer_scale=mean_size(answers))

    def _around(self, embedding: PlaceEmbedding, arity: int, *, answer_scale: float) -> PlacewiseNetwork:
        return PlacewiseNetwork(embedding, arity, answer_scale=answer_scale)

    def _embedding(self, features: str, real_scale: float, seed: int) -> PlaceEmbedding:
        return PlaceEmbedding(self._space, features, real_scale=real_scale)

    @torch.no_grad()
    def answer(self, operands: Operands) -> Answers:
        """Return the number that the digits of each question's answer are decoded to, None if they are no codeword."""
        network, problem = learned(self._network), self._problem
        found = [np.empty(0, dtype=object)]
        for first in range(0, len(operands), self.rows_at_once):
            part, lengths = without_padding(operands[first : first + self.rows_at_once], problem)
            logits = network(*encoded(self._space, part), lengths).logits
            found.append(self._decoded(logits))
        return np.concatenate(found)

    def _decoded(self, logits: torch.Tensor) -> Answers:
        return decoded(self._space, logits, self._problem, usual=self._usual)


class PlainPlacewise(PlacewiseSolver):
    """The place-wise solver.

    Args:
        precision: digits per prime; with several there are fewer primes.
        orders: in which it is trained on the examples.
    """

    def __init__(self, *, precision: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1, orders: Orders = "given") -> None:
        self.precision, self.orders = precision, orders

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None, except for sequences and several digits per prime: carries of a fold are not computed."""
        if problem.arity > 2 and self.precision > 1:
            return "folding is done with first digits"
        return super().obstacle(problem)


class OneHotSolver(PlacewiseSolver):
    """The place-wise solver with one-hot digits alone, which tell the network nothing of the places' groups.

    Of a pair of digits that it has not seen at a place it can know nothing. Trained on the examples alone it yet says a
    digit there, with confidence and nearly always a wrong one, which costs the decoding twice what an erased place
    does. So it is also trained on random digits, towards no opinion (all digits equally likely) at the places where
    their pair is in no example: the more pairs were seen, the less of that there is. And as the table of residues,
    which knows what it has not seen, it has more places. Characters are left without: they tell what a pair that was
    not seen should be, and no opinion there would unlearn it.
    """

    features = ("one-hot-digits",)
    mended = REMEMBERED

    def _loss(self, network: PlacewiseNetwork, inputs: Tensors, targets: Tensors) -> RowsLoss:
        """Return the loss of examples, and of random digits towards no opinion where they were not seen together."""
        of_examples, (real, digits, lengths) = super()._loss(network, inputs, targets), inputs
        arity = digits.shape[1]
        if arity > 2:  # what a fold reads are not digits of examples
            return of_examples
        places, primes = torch.arange(self._space.n_primes), torch.tensor(self._space.primes)
        # The digits of a question at p, as one number in base p.
        powers = primes ** torch.arange(arity)[:, None]
        is_seen = torch.zeros(len(primes), max(self._space.primes) ** arity, dtype=torch.bool)
        is_seen[places, (digits[..., 0].long() * powers).sum(dim=1)] = True

        def loss(rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
            drawn = (torch.rand(len(rows), arity, len(primes), generator=generator) * primes).long()
            logits = network(real[rows], drawn[..., None], lengths[rows]).logits[:, :, 0]
            # The cross-entropy with p equally likely digits, −Σ log q / p; from digit p on the logits are −∞.
            surprise = -logits.log_softmax(dim=-1).where(logits.isfinite(), 0.0).sum(dim=-1) / primes
            is_new = ~is_seen[places, (drawn * powers).sum(dim=1)]
            value: torch.Tensor = of_examples(rows, generator) + _DOUBT * (surprise * is_new).mean()
            return value

        return loss


class PermutedEmbedding(PlaceEmbedding):
    """The features of places whose digits have other labels: at each prime a digit has the features of another one.

    One-hot digits hardly change: only their columns are in another order. Characters are those of other digits, and
    hardly anything of a group's law is left in them.

    Args:
        space, features, real_scale: as for `PlaceEmbedding`.
        rng: draws a permutation of the digits for each prime.

    >>> embedding = PermutedEmbedding(AdeleSpace((2, 5), 1), "digits", rng=np.random.default_rng(0))
    >>> embedding(embedding.space.encode(range(5)))[:, 2, 0]  # at 5
    tensor([0.4000, 0.8000, 0.6000, 0.0000, 0.2000])
    """

    labels: torch.Tensor

    def __init__(self, space: AdeleSpace, features: str, *, rng: np.random.Generator, real_scale: float = 1.0) -> None:
        super().__init__(space, features, real_scale=real_scale)
        labels = stack_places([torch.from_numpy(rng.permutation(p)) for p in space.primes])
        self.register_buffer("labels", labels, persistent=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return what `PlaceEmbedding` does, and the labels."""
        return super().fingerprint() | {"labels": self.labels.tolist()}

    def _digit_features(self, digits: torch.Tensor) -> torch.Tensor:
        return super()._digit_features(self.labels[torch.arange(len(self.labels))[:, None], digits])


class PermutedSolver(PlacewiseSolver):
    """The place-wise solver with characters of permuted digits: what is left where they do not give the rule away.

    What the operands' digits are called is drawn from the seed; the answer's keep their names.
    """

    features = ("characters",)

    def _embedding(self, features: str, real_scale: float, seed: int) -> PlaceEmbedding:
        rng = np.random.default_rng(stream_seed(seed, "labels"))
        return PermutedEmbedding(self._space, features, rng=rng, real_scale=real_scale)


def _train(network: PlacewiseNetwork, loss: RowsLoss, rows: torch.Tensor, schedule: Schedule) -> None:
    """Train on some of the examples, drawn with replacement."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.peak, weight_decay=WEIGHT_DECAY, fused=True)

    def of_batch(step: int) -> torch.Tensor:
        generator = schedule.generator(step)
        return loss(rows[torch.randint(len(rows), (BATCH_SIZE,), generator=generator)], generator)

    descend(network, of_batch, optimizer, schedule, warm_up=WARM_UP)


def decoded(
    space: AdeleSpace, logits: torch.Tensor, problem: SampledTask, *, usual: tuple[int, int] | None = None
) -> Answers:
    """Return the problem's answers from logits of their digits, None if these are not near a codeword.

    Args:
        space: of the digits.
        logits: (n, n_primes, precision, max_prime), −inf from p on.
        problem: bounds the answers.
        usual: how large numerators and denominators of examples are, as of `largest`: an answer that is in doubt among
            all that the problem has is one of these sizes, where that is in less doubt. Residues have no size.
    """
    if math.prod(space.primes) == problem.modulus:
        return with_remainders(space.primes, logits[:, :, 0].argmax(dim=-1).numpy())
    code = RedundantResidueCode(space, problem.max_numerator, problem.max_denominator)
    log_probabilities = logits.float().log_softmax(dim=-1).numpy()
    found = code.decode_soft(log_probabilities)
    doubt = np.flatnonzero(found.confidence <= _CERTAIN)
    if usual is not None and problem.modulus is None and len(doubt):
        likely = RedundantResidueCode(space, *usual).decode_soft(log_probabilities[doubt])
        is_better = likely.confidence > found.confidence[doubt]
        found.values[doubt[is_better]] = likely.values[is_better]
    return found.values


def largest(answers: Answers) -> tuple[int, int]:
    """Return the greatest numerator (absolute) and the greatest denominator of numbers, each at least 1."""
    numbers = answers.tolist()
    return max((abs(x.numerator) for x in numbers), default=0) or 1, max((x.denominator for x in numbers), default=1)


def with_remainders(primes: Sequence[int], remainders: npt.NDArray[np.int64]) -> Answers:
    """Return the numbers modulo the product of different primes with these remainders (*, n_primes).

    By the Chinese remainder theorem there is one for any remainders, and nothing to correct.

    >>> with_remainders((3, 5), np.array([[1, 2], [2, 0]]))
    array([7, 5], dtype=object)
    """
    product = math.prod(primes)
    # Each is 1 modulo its own prime, and 0 modulo all others.
    idempotents = [product // p * pow(product // p, -1, p) for p in primes]
    return np.asarray(remainders.astype(object) @ np.array(idempotents, dtype=object) % product)


def encoded(space: AdeleSpace, numbers: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the real values and the digits of numbers."""
    adeles = space.encode(numbers)
    return torch.tensor(adeles.real), torch.tensor(adeles.digits)


def _rows(tensors: tuple[torch.Tensor, ...], rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor[rows] for tensor in tensors)


def without_padding(operands: Operands, problem: SampledTask) -> tuple[Operands, torch.Tensor]:
    """Return questions without columns that are padding in all of them, and their numbers of operands, 2 or more."""
    if problem.neutral is None:
        return operands, torch.full((len(operands),), problem.arity)
    is_used = operands != problem.neutral
    lengths = np.maximum(2, problem.arity - is_used[:, ::-1].argmax(axis=1))  # padding alone: argmax is 0
    lengths = np.where(is_used.any(axis=1), lengths, 2)
    return operands[:, : lengths.max(initial=2)], torch.from_numpy(lengths)


def mean_size(numbers: Any) -> float:
    """Return the unit of the real place: the mean size of the numbers, at least 1."""
    return max(1.0, float(np.abs(numbers.astype(np.float64)).mean()))


def _primes_above(n: int) -> Iterator[int]:
    return (p for p in itertools.count(n + 1) if is_prime(p))


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
