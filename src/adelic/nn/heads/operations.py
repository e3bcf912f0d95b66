"""A head that writes a number by choosing numbers of the context and an exact operation on them."""

import functools
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.checks import check_plain, check_positive, is_traced
from adelic.nn.fingerprint import Fingerprinted
from adelic.nn.heads import exact
from adelic.nn.heads.steps import Read, SecondStep
from adelic.numbers.describe import describe, number_text

MOST_NUMBERS = 128
"""The head scores all pairs of so many numbers at most; of longer contexts the most recent ones, if it is told so."""

WARM_UP = 300
"""After so many steps of training the gradient of a loss is its own; before, right derivations count more alike."""

_FARTHEST = 4
"""Numbers of a pair that are farther apart in the text count as that far."""

_LEAST = 64
"""So many targets are seen before anything is said of the share that has a derivation."""

_CANDIDATES = 16
"""The most probable derivations whose values are computed; of two steps so many first ones, and so many behind each."""


class OperationPrediction(NamedTuple):
    """What an `OperationHead` says of k numbers that are to be written.

    Attributes:
        log_probabilities: (k, derivations), of all together; −inf if a derivation is not defined.
        numbers: int32 (k, n, 2, limbs), what it chooses among: numbers of the context, then constants.
        positions: int64 (k, n), the position of each among the numbers that the head was given; constants follow these.
        read: what a second step needs, of a head with two.

    >>> head = OperationHead(4, operations=("+",), constants=(1,))
    >>> prediction = head(torch.zeros(1, 4), torch.zeros(1, 2, 4), exact.exact_numbers([[7, 8]]))
    >>> exact.fractions_of(prediction.numbers)[0, 2], prediction.log_probabilities.shape  # 3 numbers and 9 sums
    (Fraction(1, 1), torch.Size([1, 12]))
    """

    log_probabilities: torch.Tensor
    numbers: torch.Tensor
    positions: torch.Tensor
    read: Read | None = None


class OperationHead(Fingerprinted):
    """The last layer of a network that computes exactly: it chooses numbers of the context and an operation on them.

    Arithmetic is built in; the choice of numbers and operation is learned, from answers alone. The loss is −log of the
    total probability of all derivations with the right value. Its first 300 gradients hardly prefer one right
    derivation to another; later ones follow their probabilities.

    A derivation is a copy of a number, an operation on one, or an operation on an ordered pair: two numbers of the
    text, or one and a constant, of at most `exact.LARGEST_BITS` binary digits together. (A number with itself would
    give 0 and 1 to every question.) One softmax is over all derivations. With h the state and m the memory of a number,
    projected to `key_features` numbers, the logit of an operation o on numbers i and j is base_o(h) + left(h, o)·m_i +
    right(h, o)·m_j + Σ_r c_or u(m_i)_r v(m_j)_r + offset_o(j − i); the last is one trained number for each distance
    between the two in the order of the text, −4 … 4 or farther. With `steps=2` one more operation may follow, on the
    result and a number; see `SecondStep`.

    Shape: states (k, in_features), memory (k, n, memory_features), numbers (k, n, 2, limbs) ->
    `OperationPrediction`. Time and memory grow with k · n² · operations, the number of weights with the features.

    Args:
        in_features: size of a state.
        operations: names in `exact.BINARY` and `exact.UNARY`: sums, differences, products and quotients of any numbers;
            "gcd", "lcm", "%", "//" and "divides" of integers, "lcd" (the least common denominator), "**" with an
            exponent that is an integer; "distance", "min", "max", "<", "<=", "==" and "!=" (1 or 0); "abs", "negate",
            "numerator", "denominator" of one number.
        constants: numbers that may be chosen although the text does not contain them, such as 60 and 100. Each one
            allows more right answers for wrong reasons.
        memory_features: size of the vector of a number of the context, in_features by default.
        key_features: size of the projections that are compared.
        recent: choose only among the last numbers of a longer context, this many.
        free: whether one more choice is a number that another head predicts.
        steps: 2 for derivations of up to two operations, such as (3 + 5) × 2; the second is one of `steps.INVERTIBLE`.
            These allow more right answers for wrong reasons, too.

    Raises:
        ConfigurationError: an operation is unknown, a size is not positive, a constant is no number, or there is no
            operation for a second step.

    >>> _ = torch.manual_seed(0)
    >>> head = OperationHead(8, operations=("+", "-", "*", "/"))
    >>> numbers = exact.exact_numbers([["12.5", 8], [3, 0]])
    >>> prediction = head(torch.zeros(2, 8), torch.zeros(2, 2, 8), numbers)
    >>> loss, share = head.loss(prediction, exact.exact_numbers([100, 7]))  # 12.5 · 8 and 8 · 12.5; nothing gives 7
    >>> share
    tensor(0.5000)
    >>> _ = head.base.bias.data[3].fill_(9.0)  # as if it had learned to multiply
    >>> _ = head.offset.data[2, 5].fill_(9.0)  # a number by the next one
    >>> head.decode(head(torch.zeros(2, 8), torch.zeros(2, 2, 8), numbers)).derivations[0]
    '12.5 × 8'
    """

    def __init__(
        self,
        in_features: int,
        operations: Sequence[str] = ("+", "-", "*", "/"),
        *,
        constants: Sequence[Any] = (),
        memory_features: int | None = None,
        key_features: int = 64,
        recent: int | None = None,
        free: bool = False,
        steps: int = 1,
    ) -> None:
        super().__init__()
        memory_features = in_features if memory_features is None else memory_features
        check_positive(in_features=in_features, memory_features=memory_features, key_features=key_features)
        if recent is not None:
            check_positive(recent=recent)
            if recent > MOST_NUMBERS:
                raise ConfigurationError(f"recent={recent} is more than {MOST_NUMBERS}, whose pairs the head can score")
        names = exact.check_operations(operations)
        self.operations, self.recent, self.free = names, recent, free
        self.in_features, self.memory_features, self.key_features = in_features, memory_features, key_features
        self.unary = ("copy", *(name for name in names if name in exact.UNARY))
        self.binary = tuple(name for name in names if name in exact.BINARY)
        self.constants = tuple(exact.fractions_of(exact.exact_numbers(exact.check_constants(constants))).tolist())
        self.register_buffer("constant_numbers", exact.exact_numbers(self.constants), persistent=False)
        n_unary, n_binary = len(self.unary), len(self.binary)
        self.base = nn.Linear(in_features, n_unary + n_binary + free)
        self.query = nn.Linear(in_features, 3 * key_features)
        self.keys = nn.Linear(memory_features, 5 * key_features)
        self.constant_memory = nn.Parameter(torch.randn(len(self.constants), memory_features))
        nn.init.zeros_(self.base.weight)
        nn.init.zeros_(self.base.bias)
        scale = key_features**-0.5
        self.unary_query = nn.Parameter(scale * torch.randn(n_unary, key_features))
        self.left_query = nn.Parameter(scale * torch.randn(n_binary, key_features))
        self.right_query = nn.Parameter(scale * torch.randn(n_binary, key_features))
        self.pair = nn.Parameter(scale * torch.randn(n_binary, key_features))
        # One more for constants, which have no place in the text.
        self.offset = nn.Parameter(torch.zeros(n_binary, 2 * _FARTHEST + 2))
        # Saved with the weights, so training goes on as if it had not been interrupted.
        self.register_buffer("n_steps", torch.zeros((), dtype=torch.int64))
        if steps not in (1, 2):
            raise ConfigurationError(f"steps={describe(steps)} is neither 1 nor 2; more steps are written one by one")
        self.second = SecondStep(in_features, memory_features, key_features, self.binary) if steps == 2 else None
        self._watch = _Watch(names)

    constant_numbers: torch.Tensor
    n_steps: torch.Tensor

    def extra_repr(self) -> str:
        """Return what print shows."""
        constants = ", ".join(number_text(q) for q in self.constants)
        return f"in_features={self.in_features}, operations={self.operations}, constants=({constants})"

    def fingerprint(self) -> dict[str, Any]:
        """Return the operations and the constants, in their order."""
        return {"operations": list(self.operations), "constants": [number_text(q) for q in self.constants]}

    def forward(self, states: torch.Tensor, memory: torch.Tensor, numbers: torch.Tensor) -> OperationPrediction:
        """Return the probabilities of all derivations.

        Args:
            states: (k, in_features), what is to be written.
            memory: (k, n, memory_features), what is known of each number of the context.
            numbers: int32 (k, n, 2, limbs), the numbers themselves, of `exact_numbers`.

        Raises:
            ConfigurationError: shapes do not fit, or there are more than `MOST_NUMBERS` numbers and no `recent`.
        """
        self._check(states, memory, numbers)
        positions = torch.arange(numbers.shape[1], device=numbers.device).expand(len(numbers), -1)
        if self.recent is not None and self.recent < numbers.shape[1]:
            # The last ones that exist come last in this order, which keeps that of the text.
            exists = (numbers[..., 1, :] != 0).any(dim=-1)
            positions = (exists.long() * numbers.shape[1] + positions).topk(self.recent).indices.sort().values
            numbers = numbers.gather(1, positions[..., None, None].expand(-1, -1, *numbers.shape[2:]))
            memory = memory.gather(1, positions[..., None].expand(-1, -1, memory.shape[2]))
        k, n_all = len(numbers), numbers.shape[1] + len(self.constants)
        n_limbs = max(numbers.shape[-1], self.constant_numbers.shape[-1])
        constants = exact.padded(self.constant_numbers, n_limbs).expand(k, -1, -1, -1)
        numbers = torch.cat([exact.padded(numbers, n_limbs), constants], dim=1)
        behind = torch.arange(len(self.constants), device=numbers.device) + memory.shape[1]
        positions = torch.cat([positions, behind.expand(k, -1)], dim=1)
        memory = torch.cat([memory, self.constant_memory.to(memory).expand(k, -1, -1)], dim=1)

        scale = self.key_features**-0.5
        base, (one, left, right) = self.base(states), self.query(states).chunk(3, dim=-1)
        keys, left_keys, right_keys, u, v = self.keys(memory).chunk(5, dim=-1)
        n_unary = len(self.unary)
        unary = (keys[:, None] * (one[:, None] + self.unary_query)[:, :, None]).sum(-1) * scale
        logits = [(unary + base[:, :n_unary, None]).flatten(1)]
        if self.binary:
            # A form of rank key_features, which operations share except a diagonal: which two numbers go together.
            pairs = torch.einsum("kir,or,kjr->koij", u, self.pair, v)
            pairs = pairs + torch.einsum("kor,kir->koi", left[:, None] + self.left_query, left_keys)[..., None]
            pairs = pairs + torch.einsum("kor,kjr->koj", right[:, None] + self.right_query, right_keys)[:, :, None]
            pairs = pairs * scale + base[:, n_unary : n_unary + len(self.binary), None, None]
            # Times a factor, since an optimizer such as Adam moves each entry by its rate at most: the sums of many
            # entries would be decided long before that a pair is far apart.
            pairs = pairs + self.key_features**0.5 * self.offset[:, self._offsets(memory.shape[1], pairs.device)]
            logits.append(pairs.flatten(1))
        scores = torch.cat(logits, dim=1).masked_fill(~self._defined(numbers), -torch.inf)
        if self.free:
            scores = torch.cat([scores, base[:, -1:]], dim=1)
        assert scores.shape[1] == self._n_derivations(n_all)
        # A row without any number has nothing to choose; its probabilities are NaN nowhere.
        is_empty = scores.isneginf().all(dim=1, keepdim=True)
        log_probabilities = scores.masked_fill(is_empty, 0.0).log_softmax(dim=1).masked_fill(is_empty, -torch.inf)
        read = None if self.second is None else self.second(states, memory)
        return OperationPrediction(log_probabilities, numbers, positions, read)

    def loss(
        self, prediction: OperationPrediction, targets: torch.Tensor, free: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss, a scalar, and the share of targets that have a derivation, a scalar.

        Args:
            prediction: of this head.
            targets: int32 (k, 2, limbs), the numbers that are to be written, of `exact_numbers`.
            free: (k,), the log-probability that another head gives to each; needed where the head has `free`.

        At first a network has no reason to prefer the derivation that was meant to one that happens to give the answer,
        and what it prefers by chance would be confirmed. So in the first 300 steps of training the gradient takes right
        derivations for more alike than their probabilities are: as p^w, w growing from 0 to 1. The value is unchanged.

        Without `free`, targets that no derivation gives are left out; the loss is 0 if none is left.

        Raises:
            ConfigurationError: there is not one target for each prediction, or `free` is missing.

        Warns:
            UserWarning: fewer than half of many targets have a derivation, so the head learns from few; or nothing
                gives a target, and the other head cannot say it; once each.
        """
        if targets.dim() != 3 or len(targets) != len(prediction.numbers) or (free is None) == self.free:
            raise ConfigurationError(
                f"targets of shape {tuple(targets.shape)} do not fit {len(prediction.numbers)} predictions of a head "
                f"with free={self.free}; give (k, 2, limbs), and free (k,) to a head with free alone"
            )
        scores = self._right(prediction, targets)
        is_right = ~scores.isneginf()
        has = is_right.any(dim=1)
        is_right = is_right | ~has[:, None]  # rows that nothing gives would have the gradient NaN
        scores = torch.where(has[:, None], scores, 0.0)
        # With the weight 1 the gradient is that of logsumexp; with less each right derivation is taken for the reason.
        shares = (self._weight() * scores.detach()).masked_fill(~is_right, -torch.inf).softmax(dim=1)
        weighed = (shares * scores.masked_fill(shares == 0, 0.0)).sum(dim=1)
        total = scores.detach().logsumexp(dim=1) + weighed - weighed.detach()
        total = torch.where(has, total, -torch.inf)
        is_learned = has if free is None else has | ~free.isneginf()
        if free is not None:
            both = torch.stack([total, prediction.log_probabilities[:, -1] + free], dim=1)
            total = torch.where(is_learned[:, None], both, 0.0).logsumexp(dim=1)
        losses = -torch.where(is_learned, total, 0.0)
        self._watch.see(has, None if free is None else is_learned)
        return losses.sum() / is_learned.sum().clamp(min=1), has.float().mean() if len(has) else has.float().sum()

    def _right(self, prediction: OperationPrediction, targets: torch.Tensor) -> torch.Tensor:
        """Return log-probabilities (k, derivations without free), −inf if one does not lead to the target."""
        is_right = self.is_right(prediction, targets)
        logs = prediction.log_probabilities[:, : is_right.shape[1]]
        scores = logs.masked_fill(~is_right, -torch.inf)
        if prediction.read is None or self.second is None:
            return scores
        n = len(self.unary) * prediction.numbers.shape[1]
        known = exact.Operands(prediction.numbers), exact.Operands(targets)
        pairs = self.second.scores(prediction.read, logs[:, n:], is_right[:, n:], *known)
        return torch.cat([scores[:, :n], pairs], dim=1)

    @torch.no_grad()
    def is_right(self, prediction: OperationPrediction, targets: torch.Tensor) -> torch.Tensor:
        """Return which derivations of one step give the targets, bool (k, derivations without free).

        >>> head = OperationHead(4, operations=("*", "/"), constants=(2,))
        >>> prediction = head(torch.zeros(1, 4), torch.zeros(1, 2, 4), exact.exact_numbers([[12, 6]]))
        >>> head.is_right(prediction, exact.exact_numbers([2])).nonzero()[:, 1].tolist()  # copy 2, 12 / 6
        [2, 13]
        """
        fractions = functools.cache(lambda: (exact.fractions_of(prediction.numbers), exact.fractions_of(targets)))
        operands, target = exact.Operands(prediction.numbers), exact.Operands(targets)
        left, right, single = operands.along(-1), operands.along(-2), target.along(-1)
        pair, found = single.along(-1), []
        for name in self.unary:
            defined = operands.exists & single.exists
            found.append(exact.matches(exact.operation(name), [operands], single, defined, fractions))
        for name in self.binary:
            defined = self._defined_pairs(name, left, right) & pair.exists
            found.append(exact.matches(exact.operation(name), [left, right], pair, defined, fractions))
        return torch.cat([part.flatten(1) for part in found], dim=1)

    def split(self, prediction: OperationPrediction) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Return the probabilities by operation and numbers, to look at.

        Returns:
            of "copy" and the operations on one number, `self.unary`, (k, operations, n); of those on two,
            `self.binary`, (k, operations, n, n); and of what another head says, (k,), None if there is none.

        >>> head = OperationHead(4, operations=("+", "-"))
        >>> one, two, free = head.split(head(torch.zeros(1, 4), torch.zeros(1, 3, 4), exact.exact_numbers([[5, 7, 9]])))
        >>> one.shape, two.shape, (one.sum() + two.sum()).round(), free
        (torch.Size([1, 1, 3]), torch.Size([1, 2, 3, 3]), tensor(1., ...), None)
        """
        probabilities, n = prediction.log_probabilities.exp(), prediction.numbers.shape[1]
        one = probabilities[:, : len(self.unary) * n].reshape(-1, len(self.unary), n)
        two = probabilities[:, len(self.unary) * n : self._n_derivations(n) - self.free]
        two = two.reshape(len(two), len(self.binary), n, n)
        return one, two, probabilities[:, -1] if self.free else None

    @torch.no_grad()
    def decode(
        self,
        prediction: OperationPrediction,
        free: tuple[Any, npt.NDArray[np.float64]] | None = None,
    ) -> exact.WrittenNumbers:
        """Return the most probable numbers: values of several derivations have their probabilities added.

        Of each number the 16 most probable derivations are computed, with fractions of any size.

        Args:
            prediction: of this head.
            free: what another head says, (k,): values, None if it says nothing, and their log-probabilities.
        """
        k = len(prediction.numbers)
        numbers, positions = exact.fractions_of(prediction.numbers), prediction.positions.tolist()
        last_of_free = prediction.log_probabilities[:, -1].tolist() if self.free else [-np.inf] * k
        values, texts = np.full(k, None, dtype=object), np.full(k, None, dtype=object)
        probabilities = np.zeros(k)
        choices: list[exact.Choice | None] = []
        for row, candidates in enumerate(self._candidates(prediction)):
            sums: dict[Any, float] = {}
            best: dict[Any, exact.Choice] = {}
            # 2 + 2 and 2 × 2 are both 4: what is written is the likeliest value, not the likeliest derivation.
            for score, choice in candidates:
                value = exact.choice_value(choice, numbers[row])
                sums[value] = sums.get(value, 0.0) + float(np.exp(score))
                best.setdefault(value, exact.ordered(choice))
            if free is not None and free[0][row] is not None:
                value = free[0][row]
                sums[value] = sums.get(value, 0.0) + float(np.exp(last_of_free[row] + free[1][row]))
                best.setdefault(value, ("free", None, None))
            if not sums:
                choices.append(None)
                continue
            value = max(sums, key=lambda key: sums[key])
            values[row], probabilities[row] = value, sums[value]
            texts[row] = exact.choice_text(best[value], numbers[row])
            choices.append(exact.placed(best[value], positions[row]))
        return exact.WrittenNumbers(values, texts, probabilities, choices)

    def _candidates(self, prediction: OperationPrediction) -> list[list[tuple[float, exact.Choice]]]:
        """Return the most probable derivations of each row, with their log-probabilities, the best first."""
        logs, n = prediction.log_probabilities, prediction.numbers.shape[1]
        top = logs.topk(min(_CANDIDATES, logs.shape[1]), dim=1)
        found: list[list[tuple[float, exact.Choice]]] = []
        for scores, indices in zip(top.values.tolist(), top.indices.tolist(), strict=True):
            pairs = zip(scores, indices, strict=True)
            known = [(score, i) for score, i in pairs if score > -np.inf and i < logs.shape[1] - self.free]
            found.append([(score, self._derivation(i, n)) for score, i in known])
        if prediction.read is None or self.second is None:
            return found
        return self.second.follow(prediction.read, exact.Operands(prediction.numbers), found, _CANDIDATES)

    def _check(self, states: torch.Tensor, memory: torch.Tensor, numbers: torch.Tensor) -> None:
        for values in (states, memory, numbers):
            check_plain(values, self.pair.device)
        k, n = states.shape[0], memory.shape[1] if memory.dim() == 3 else -1
        expected = [(k, self.in_features), (k, n, self.memory_features), (k, n, 2, numbers.shape[-1])]
        given = [tuple(values.shape) for values in (states, memory, numbers)]
        if given != expected:
            raise ConfigurationError(
                f"states, memory and numbers of shapes {', '.join(map(str, given))} do not fit: "
                f"(k, {self.in_features}), (k, n, {self.memory_features}), (k, n, 2, limbs)"
            )
        if n > MOST_NUMBERS and self.recent is None:
            raise ConfigurationError(
                f"there are {n} numbers in a context, and of at most {MOST_NUMBERS} all pairs can be scored; "
                f"recent={MOST_NUMBERS} chooses among so many most recent ones"
            )

    def _offsets(self, n: int, device: torch.device) -> torch.Tensor:
        """Return which trained offset each pair of n numbers has, the constants among them, int64 (n, n)."""
        places = torch.arange(n, device=device)
        offsets = (places - places[:, None]).clamp(-_FARTHEST, _FARTHEST) + _FARTHEST
        is_constant = places >= n - len(self.constants)
        return offsets.masked_fill(is_constant | is_constant[:, None], 2 * _FARTHEST + 1)

    def _n_derivations(self, n: int) -> int:
        return len(self.unary) * n + len(self.binary) * n * n + self.free

    def _derivation(self, index: int, n: int) -> tuple[str, int, int | None]:
        """Return the operation and the numbers of an entry of the probabilities, of n numbers."""
        if index < len(self.unary) * n:
            return self.unary[index // n], index % n, None
        o, rest = divmod(index - len(self.unary) * n, n * n)
        return self.binary[o], rest // n, rest % n

    def _defined(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return which derivations are defined, bool (k, derivations without free)."""
        operands = exact.Operands(numbers)
        left, right = operands.along(-1), operands.along(-2)
        found = [operands.exists] * len(self.unary)
        found += [self._defined_pairs(name, left, right) for name in self.binary]
        return torch.cat([part.flatten(1) for part in found], dim=1)

    def _defined_pairs(self, name: str, left: exact.Operands, right: exact.Operands) -> torch.Tensor:
        exists, n = left.exists & right.exists & (left.bits + right.bits <= exact.LARGEST_BITS), right.exists.shape[-1]
        places = torch.arange(n, device=exists.device)
        is_constant = places >= n - len(self.constants)
        exists = exists & (places != places[:, None]) & ~(is_constant & is_constant[:, None])
        defined = exact.BINARY[name].defined
        return exists if defined is None else exists & defined(left, right)

    def _weight(self) -> torch.Tensor:
        """Return how much probabilities weigh among right derivations, from 0 to 1 over the first steps of training."""
        if not self.training:
            return torch.ones_like(self.n_steps)
        weight = (self.n_steps / WARM_UP).clamp(max=1.0)
        if torch.is_grad_enabled() and not is_traced():
            self.n_steps += 1
        return weight


class _Watch:
    """Counts the targets that have a derivation, and warns once of each kind.

    Args:
        operations: the names of the head's.

    >>> watch = _Watch(("+",))
    >>> watch.see(torch.tensor([True, False]), None)
    """

    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = ", ".join(operations) or "no operation"
        self.n_targets, self.n_seen, self.is_told, self.is_few = 0, 0, False, False
        self.n_derivable: Any = 0

    def see(self, has: torch.Tensor, is_learned: torch.Tensor | None) -> None:
        """Take note of targets, bool (k,): which have a derivation; and which can be said, where another head helps.

        Warns:
            UserWarning: fewer than half of many have a derivation, or one can be said by neither head; once each. The
                counts are fetched from a device now and then only.
        """
        if is_traced():
            return
        if is_learned is not None and not self.is_told and not bool(is_learned.all()):
            self.is_told = True
            warnings.warn(
                "no operation on numbers of the context gives a number to be written, and the other head cannot write "
                "it, so it is not learned; give more operations or constants, or a greater max_numerator or "
                "max_denominator",
                stacklevel=5,
            )
        self.n_targets, self.n_derivable = self.n_targets + len(has), self.n_derivable + has.sum()
        self.n_seen += 1
        is_due = self.n_seen & (self.n_seen - 1) == 0 and self.n_targets >= _LEAST  # after a power of two of losses
        if is_due and not self.is_few and (share := float(self.n_derivable) / self.n_targets) < 0.5:
            self.is_few = True
            warnings.warn(
                f"only {share:.0%} of {self.n_targets} numbers to be written are in the context or come from it by one "
                f"of {self.operations}, so the head learns from few; other operations, constants or a text with the "
                "steps between (scratchpad) may state more",
                stacklevel=5,
            )
