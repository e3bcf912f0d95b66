"""AOE in, AOE out, for expressions whose order of operations is learned: a controller tells a stack what to do.

While it is learned, its choices are soft, as in networks with a differentiable stack (Grefenstette et al. 2015, arXiv
1506.02516; Joulin & Mikolov 2015, arXiv 1503.01007), and the arithmetic is done at three small primes. Afterwards they
are hard, and the networks of all places are trained.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.errors import EncodingError
from adelic.nn import PlaceEmbedding, PlacewiseMLP
from adelic.nn.heads.adelic import adelic_targets
from adelic.nn.placewise import N_CHARACTERS, digit_characters, stack_places
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers.base import Schedule, descend, seeded
from adelic_lab.models.solvers.placewise import HELD_OUT, WARM_UP, PlacewiseNetwork, encoded, without_padding
from adelic_lab.train.sampler import stream_seed

from .program import Call, ExpressionNetwork, Program

ACTIONS = ("nothing", "push", "drop", "exchange", "keep", "call", "call what was kept")
"""What is done at a token: nothing; push its value (unknown if it has none); drop the top value; exchange the two
on top; keep a network for later, on a stack of its own; call a network, or the one kept last, which takes the two
values on top and leaves one."""
_CALL, _CALL_KEPT = 5, 6
_PRIMES, _HIDDEN, _BATCH, _ROWS_TO_JUDGE = (3, 5, 7), 16, 128, 500
_NOISE, _SCALE = 0.05, 2.0  # of the first scores, and how much faster than other weights they are learned
_HOT, _COLD = 2.0, 0.3  # the first and the last temperature
_STARTS, _GOOD = 5, 2 / 3  # at most; no further one after this share of right digits
_LEAST = 1e-6  # of probabilities in a loss


class Controller(nn.Module):
    """Scores of the actions, and of the networks that are called or kept, for each kind of token.

    A kind is 0 for numbers and k for what stands as −k. Nothing else of a token is read, nor what was before it.

    Shape: kinds (n, columns) -> actions (n, columns, 7) and networks (n, columns, networks).

    Args:
        operators: how many kinds there are besides numbers, and how many networks.
    """

    def __init__(self, operators: int) -> None:
        super().__init__()
        self.actions = nn.Parameter(_NOISE * torch.randn(operators + 1, len(ACTIONS)))
        self.networks = nn.Parameter(_NOISE * torch.randn(operators + 1, operators))

    def choices(self, kinds: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the likeliest action and network, int64 (n, columns)."""
        return self.actions.argmax(dim=-1)[kinds], self.networks.argmax(dim=-1)[kinds]

    def forward(
        self, kinds: torch.Tensor, temperature: float, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a draw of weights, each question's own and alike at its tokens of a kind (Gumbel softmax)."""
        found = []
        for scores in (self.actions, self.networks):
            # −log of an exponentially distributed number has Gumbel's distribution.
            noise = -torch.empty(len(kinds), *scores.shape).exponential_(generator=generator).log()
            weights = (_SCALE * scores / temperature + noise).softmax(dim=-1)
            found.append(weights[torch.arange(len(kinds))[:, None], kinds])
        return found[0], found[1]


def futures(
    stack: torch.Tensor, pushed: torch.Tensor, results: tuple[torch.Tensor, torch.Tensor], empty: torch.Tensor
) -> torch.Tensor:
    """Return the stack after each action, (n, 7, depth, *).

    The stack is (n, depth, *), the top first; what a push puts on top, the results of a call and of a call of what was
    kept, and what comes from below an empty stack are (n, 1, *).

    >>> one = torch.tensor([[0]])
    >>> futures(torch.tensor([[1, 2, 3]]), 4 + one, (5 + one, 6 + one), one)[0, [1, 2, 3, 5]]
    tensor([[4, 1, 2],
            [2, 3, 0],
            [2, 1, 3],
            [5, 3, 0]])
    """
    push = torch.cat([pushed, stack[:, :-1]], dim=1)
    drop = torch.cat([stack[:, 1:], empty], dim=1)
    exchange = torch.cat([stack[:, 1:2], stack[:, :1], stack[:, 2:]], dim=1)
    calls = [torch.cat([result, drop[:, 1:]], dim=1) for result in results]
    return torch.stack([stack, push, drop, exchange, stack, *calls], dim=1)


def _kept(stack: torch.Tensor, own: torch.Tensor, empty: torch.Tensor) -> torch.Tensor:
    """Return the stack of kept networks after each action, (n, 7, depth, *)."""
    keep, taken = torch.cat([own, stack[:, :-1]], dim=1), torch.cat([stack[:, 1:], empty], dim=1)
    return torch.stack([stack, stack, stack, stack, keep, stack, taken], dim=1)


class SoftMachine(nn.Module):
    """Stacks that do all actions at once, each with its weight, and a network for each operator and small prime.

    A value is the probabilities of the digits at each prime; an unknown one has all digits alike.

    Shape: kinds (n, columns), negative after the end; digits (n, columns, 3), what the controller says of kinds
    -> probabilities of the top value's digits after the last token, (n, 3, 7).
    """

    characters: torch.Tensor
    unknown: torch.Tensor

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller, (_, self.networks) = controller, controller.networks.shape
        n_places, hidden = self.networks * len(_PRIMES), _HIDDEN
        self.perceptron = PlacewiseMLP(n_places, 2 * N_CHARACTERS, hidden, N_CHARACTERS)
        self.gains = nn.Parameter(torch.zeros(self.networks, len(_PRIMES), 1))
        self.register_buffer("characters", stack_places([digit_characters(p) for p in _PRIMES]))
        self.register_buffer("unknown", stack_places([torch.full((p, 1), 1 / p) for p in _PRIMES])[..., 0])

    def _results(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return what each network makes of two values, (n, networks, 3, 7)."""
        read = torch.cat([torch.einsum("npd,pdf->npf", value, self.characters) for value in (left, right)], dim=-1)
        said = self.perceptron(read.repeat(1, self.networks, 1)).unflatten(1, self.gains.shape[:2])
        logits = torch.einsum("nkpf,pdf->nkpd", said * (5 * self.gains).exp(), self.characters)
        return logits.masked_fill(self.unknown == 0, -torch.inf).softmax(dim=-1)

    def forward(
        self, kinds: torch.Tensor, digits: torch.Tensor, said: tuple[torch.Tensor, torch.Tensor], depth: int
    ) -> torch.Tensor:
        """Return the probabilities."""
        n, columns = kinds.shape
        unknown = self.unknown.expand(n, 1, -1, -1)
        none = torch.zeros(n, 1, self.networks)
        stack, kept = unknown.repeat(1, depth, 1, 1), none.repeat(1, depth, 1)
        values = functional.one_hot(digits, max(_PRIMES)).float()
        values = torch.where((kinds == 0)[..., None, None], values, self.unknown)
        for column in range(columns):
            action, own = said[0][:, column], said[1][:, column : column + 1]
            # The value below the top was there first: it is the left one.
            every = self._results(stack[:, 1], stack[:, 0])
            results = [
                # Weights of networks sum to less than 1 where nothing was kept: the rest of the result is unknown.
                torch.einsum("nok,nkpd->nopd", which, every) + (1 - which.sum(-1))[..., None, None] * unknown
                for which in (own, kept[:, :1])
            ]
            after = futures(stack, values[:, column : column + 1], (results[0], results[1]), unknown)
            is_over = kinds[:, column] < 0
            stack = torch.where(is_over[:, None, None, None], stack, torch.einsum("na,na...->n...", action, after))
            kept = torch.einsum("na,nadk->ndk", action, _kept(kept, own, none))
        return stack[:, 0]


class ControlledNetwork(ExpressionNetwork):
    """An `ExpressionNetwork` whose operations come in the order that a controller tells.

    Args:
        embedding, operators, answer_scale: as for `ExpressionNetwork`.
        controller: its likeliest choices are followed; it is not trained.
    """

    def __init__(
        self, embedding: PlaceEmbedding, operators: int, *, answer_scale: float, controller: Controller
    ) -> None:
        super().__init__(embedding, operators, answer_scale=answer_scale)
        self.controller = controller.requires_grad_(False)

    def calls(self, tokens: torch.Tensor) -> Iterator[Call]:
        """Yield a column, what is called in each question (0: nothing), and its values' columns, the left one first.

        One column more than there are stands for an unknown value.
        """
        kinds, (n, columns) = kinds_of(tokens, len(self.perceptrons)), tokens.shape
        rows, empty, none = torch.arange(n), torch.full((n, 1), columns), torch.zeros(n, 1, dtype=torch.int64)
        stack, kept = empty.repeat(1, columns + 2), none.repeat(1, columns + 2)
        actions, networks = self.controller.choices(kinds.clamp(min=0))
        for column in range(columns):
            is_over, own = kinds[:, column] < 0, 1 + networks[:, column : column + 1]
            action = torch.where(is_over, 0, actions[:, column])
            called = torch.where(action == _CALL, own[:, 0], torch.where(action == _CALL_KEPT, kept[:, 0], 0))
            yield column, called, stack[:, 1], stack[:, 0]
            here = torch.full((n, 1), column)
            pushed = torch.where(kinds[:, column : column + 1] == 0, here, columns)
            result = torch.where(called[:, None] > 0, here, columns)
            stack = futures(stack, pushed, (result, result), empty)[rows, action]
            kept = _kept(kept, own, none)[rows, action]


def kinds_of(tokens: torch.Tensor, operators: int) -> torch.Tensor:
    """Return the kinds of tokens: 0 for a number, k for −k, −1 after the end; int64 (n, columns).

    A reference, which only `Program` follows, is an EncodingError.

    >>> kinds_of(torch.tensor([[7, 8, -2, 0]]), 3)
    tensor([[ 0,  0,  2, -1]])
    """
    tokens = tokens.long()
    if (unknown := tokens < -operators).any():
        token = int(tokens[unknown][0])
        raise EncodingError(f"{token} is none of the {operators} signs, from -1 down; program:Program reads programs")
    return torch.where(tokens > 0, 0, torch.where(tokens < 0, -tokens, -1))


class Controlled(Program):
    """The solver for expressions, which also learns from the examples what is to be done at which token.

    Up to five controllers are trained, until one has two digits in three right, with hard choices, of longer
    examples that were held out; the best is taken. Each is trained on the shortest examples first, then on all. The
    networks of all places are trained then, as those of `Program` are.
    """

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for expressions, in whatever notation, whose answers are integers."""
        if not problem.answers_are_integers:
            return "its controller is learned from integers"
        return None if problem.operators else "its questions are not expressions"

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Learn the controller from examples, then arithmetic."""
        self._controller = learned_controller(problem, operands, answers, schedule)
        super().learn(problem, operands, answers, schedule)

    def _around(self, embedding: PlaceEmbedding, arity: int, *, answer_scale: float) -> PlacewiseNetwork:
        controller, operators = self._controller, self._problem.operators
        return ControlledNetwork(embedding, operators, answer_scale=answer_scale, controller=controller)


def learned_controller(problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> Controller:
    """Return the best of some controllers, trained on examples.

    How many signs stand in the expressions is read off them. Each start has the steps of the schedule, in the first
    half of them with the shortest examples alone, and calls its progress anew.
    """
    lessons = _Lessons(problem, operands, answers)
    best: tuple[float, Controller] | None = None
    for start in range(_STARTS):
        with seeded(stream_seed(schedule.seed, f"machine {start}")):
            machine = SoftMachine(Controller(problem.operators))
        lessons.teach(machine, replace(schedule, seed=stream_seed(schedule.seed, f"controller {start}")))
        right = lessons.right(machine)
        if best is None or right > best[0]:
            best = right, machine.controller
        if right >= _GOOD:
            break
    assert best is not None  # there is a start
    return best[1]


class _Lessons:
    """Examples for controllers: those of the shortest and all, and others that are held out.

    Args:
        problem, operands, answers: as for `learned_controller`.
    """

    def __init__(self, problem: SampledTask, operands: Operands, answers: Answers) -> None:
        space = AdeleSpace(primes=_PRIMES, precision=1)
        trimmed, self.lengths = without_padding(operands, problem)
        self.kinds = kinds_of(torch.from_numpy(trimmed), problem.operators)
        self.digits = encoded(space, trimmed)[1][..., 0].long()
        self.targets = adelic_targets(space, answers)[1][..., 0]
        self.depth = max(2, int((self.kinds == 0).sum(dim=1).max()))
        rows = torch.arange(len(operands))
        held_out, self.rest = rows.tensor_split([max(1, round(HELD_OUT * len(rows)))])
        is_short = self.lengths == self.lengths.min()
        # Of very few examples all the shortest may be among those held out; then these are learned from.
        self.short = rows[is_short] if not is_short[self.rest].any() else self.rest[is_short[self.rest]]
        self.judged = held_out[~is_short[held_out]][:_ROWS_TO_JUDGE]

    def chances(
        self, machine: SoftMachine, rows: torch.Tensor, said: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Return the probabilities of all digits of some questions' answers, (n, 3, 7)."""
        columns = int(self.lengths[rows].max())
        chances: torch.Tensor = machine(self.kinds[rows, :columns], self.digits[rows, :columns], said, self.depth)
        return chances

    def teach(self, machine: SoftMachine, schedule: Schedule) -> None:
        """Train a machine on examples whose controller's choices are drawn ever sharper."""

        def loss(step: int) -> torch.Tensor:
            generator = schedule.generator(step)
            among = self.short if 2 * step < schedule.steps else self.rest
            rows = among[torch.randint(len(among), (_BATCH,), generator=generator)]
            temperature = _HOT * (_COLD / _HOT) ** (step / schedule.steps)
            said = machine.controller(self.kinds[rows].clamp(min=0), temperature, generator)
            right = self.chances(machine, rows, said).gather(2, self.targets[rows, :, None])
            value: torch.Tensor = -(right + _LEAST).log().mean()
            return value

        optimizer = torch.optim.Adam(machine.parameters(), lr=schedule.peak)
        faster = replace(schedule, learning_rate=2 * schedule.peak)
        descend(machine, loss, optimizer, faster, warm_up=WARM_UP)

    @torch.no_grad()
    def right(self, machine: SoftMachine) -> float:
        """Return the share of digits of longer held-out examples that are right with hard choices."""
        kinds = self.kinds[self.judged].clamp(min=0)
        actions, networks = machine.controller.choices(kinds)
        said = functional.one_hot(actions, len(ACTIONS)).float(), functional.one_hot(networks, machine.networks).float()
        found = self.chances(machine, self.judged, said).argmax(dim=-1) == self.targets[self.judged]
        return float(found.float().mean()) if len(found) else 0.0
