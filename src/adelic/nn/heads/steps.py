"""A second step of a head that computes exactly: what is done with the result of its first operation."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.heads.exact import BINARY, PRIMES, Choice, Operands, Results

INVERTIBLE = ("+", "-", "*", "/")
"""The operations that a second step may be: of these follows what the first result has to be."""

_LOOKED_AT = 64
"""Of the first operations that lead to a target, so many count, the most probable ones."""


def check_second(operations: Sequence[str]) -> tuple[str, ...]:
    """Return those of the operations that a second step may be.

    >>> check_second(("gcd", "*", "+"))
    ('*', '+')
    """
    found = tuple(name for name in operations if name in INVERTIBLE)
    if not found:
        raise ConfigurationError(f"steps=2 needs one of {', '.join(INVERTIBLE)} among the operations {operations}")
    return found


class Read(NamedTuple):
    """What a second step knows of k contexts of n numbers, projected.

    Attributes:
        state: (k, features), of what is to be written.
        left, right, keys: (k, n, features), of a number as an operand of the first operation, and of the second.
    """

    state: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor
    keys: torch.Tensor


class Second(NamedTuple):
    """What may follow m first operations.

    Attributes:
        stop: log-probabilities that nothing does, (m,).
        then: of the second operations, (m, 2 · operations, n): the result and a number, a number and the result, first
            for the first operation, then for the next.
    """

    stop: torch.Tensor
    then: torch.Tensor


class SecondStep(nn.Module):
    """Says what follows an operation on two numbers: nothing, or one more on its result and a number.

    With h the state and z = tanh(A h + B m_i + C m_j + d_o) of the first operation o on numbers i and j, the logit of
    each second one c on the result and a number k is base_c(z) + (query(z) + e_c)·m_k + g_c, the last where k is i or
    j; that of nothing is base(z). They have one softmax for each first operation. A number 0 is not multiplied by, nor
    divided, nor divided by: these results say nothing of the first one.

    Args:
        in_features: of a state.
        memory_features: of what is known of a number.
        key_features: of the projections.
        operations: of the first step, on two numbers; those of `INVERTIBLE` may come second.

    Raises:
        ConfigurationError: none of them may.

    >>> from adelic.nn import OperationHead, exact_numbers
    >>> head = OperationHead(4, ("+", "*"), steps=2)
    >>> prediction = head(torch.zeros(1, 4), torch.zeros(1, 3, 4), exact_numbers([[3, 5, 2]]))
    >>> head.loss(prediction, exact_numbers([16]))[1]  # (3 + 5) · 2 is one of the derivations
    tensor(1.)
    """

    def __init__(self, in_features: int, memory_features: int, key_features: int, operations: Sequence[str]) -> None:
        super().__init__()
        self.first = tuple(operations)
        self.operations = check_second(operations)
        self.state = nn.Linear(in_features, key_features)
        self.operands = nn.Linear(memory_features, 3 * key_features, bias=False)
        scale, n_choices = key_features**-0.5, 2 * len(self.operations)
        self.operation = nn.Parameter(torch.randn(len(self.first), key_features))
        self.base = nn.Linear(key_features, 1 + n_choices)
        self.query = nn.Linear(key_features, key_features)
        self.choice = nn.Parameter(scale * torch.randn(n_choices, key_features))
        self.again = nn.Parameter(torch.zeros(n_choices))

    def forward(self, states: torch.Tensor, memory: torch.Tensor) -> Read:
        """Return what is known before any first operation is chosen, of states (k, ·) and numbers (k, n, ·)."""
        return Read(self.state(states), *self.operands(memory).chunk(3, dim=-1))

    def of(self, read: Read, operands: Operands, at: Sequence[torch.Tensor]) -> Second:
        """Return what may follow first operations, `at`: four indices (m,): of the row, the operation, i and j."""
        row, o, i, j = at
        dtype, n = read.state.dtype, read.keys.shape[1]
        z = read.state[row] + read.left[row, i] + read.right[row, j] + self.operation.to(dtype)[o]
        z = z.tanh()
        base = functional.linear(z, self.base.weight.to(dtype), self.base.bias.to(dtype))
        query = functional.linear(z, self.query.weight.to(dtype), self.query.bias.to(dtype))
        query = query[:, None] + self.choice.to(dtype)
        then = torch.einsum("mcf,mnf->mcn", query, read.keys[row]) * read.keys.shape[-1] ** -0.5
        places = torch.arange(n, device=row.device)
        is_again = (places == i[:, None]) | (places == j[:, None])
        then = then + base[:, 1:, None] + self.again.to(dtype)[:, None] * is_again[:, None]
        # By a first result of 0 nothing is divided.
        results = self.results(operands)
        is_zero = (results.residues[:, row, o, i, j] == 0).all(dim=0) & (results.real[row, o, i, j] == 0)
        then = then.masked_fill(~self._defined(operands, results.is_known[row, o, i, j], is_zero, row), -torch.inf)
        logs = torch.cat([base[:, :1], then.flatten(1)], dim=1).log_softmax(dim=1)
        return Second(logs[:, 0], logs[:, 1:].reshape(then.shape))

    @torch.no_grad()
    def follow(
        self, read: Read, operands: Operands, found: list[list[tuple[float, Choice]]], n_best: int
    ) -> list[list[tuple[float, Choice]]]:
        """Return derivations of one and two steps, with log-probabilities, the best of each row first.

        Args:
            read: of `forward`.
            operands: the numbers, (k, n).
            found: of each of k rows, derivations of one step with their log-probabilities.
            n_best: so many continuations of each, the most probable ones, are returned.
        """
        n, device = read.keys.shape[1], read.keys.device
        pairs = [
            (row, score, choice) for row, one in enumerate(found) for score, choice in one if choice[2] is not None
        ]
        longer = [[one for one in row if one[1][2] is None] for row in found]
        at = [(row, self.first.index(name), i, j) for row, _, (name, i, j) in pairs]
        logs = self.of(read, operands, torch.tensor(at, dtype=torch.long, device=device).reshape(-1, 4).unbind(dim=1))
        both = torch.cat([logs.stop[:, None], logs.then.flatten(1)], dim=1)
        top = both.topk(min(n_best, both.shape[1]), dim=1)
        for (row, score, choice), more, index in zip(pairs, top.values.tolist(), top.indices.tolist(), strict=True):
            for log, then in zip(more, index, strict=True):
                if log > -torch.inf:
                    longer[row].append((score + log, self._followed(choice, then - 1, n) if then else choice))
        return [sorted(row, key=lambda one: -one[0]) for row in longer]

    def _followed(self, choice: Choice, then: int, n: int) -> Choice:
        """Return the derivation whose second step is an entry of `Second.then`."""
        c, k = divmod(then, n)
        name, is_second = self.operations[c // 2], c % 2
        return (name, k, choice) if is_second else (name, choice, k)

    def _defined(
        self, operands: Operands, is_known: torch.Tensor, is_zero: torch.Tensor, row: torch.Tensor
    ) -> torch.Tensor:
        """Return which second operations are defined, bool (m, 2 · operations, n)."""
        exists = operands.exists[row] & operands.is_known[row] & is_known[:, None]
        nonzero = exists & ~operands.is_zero[row]
        by = {"*": (nonzero, nonzero), "/": (nonzero, nonzero & ~is_zero[:, None])}
        return torch.stack([part for name in self.operations for part in by.get(name, (exists, exists))], dim=1)

    def results(self, operands: Operands) -> Results:
        """Return what all first operations give, (k, operations, n, n), whether they are defined or not."""
        left, right = operands.along(-1), operands.along(-2)
        found = [BINARY[name].results(left, right) for name in self.first]
        shape = found[0].real.shape
        return Results(
            torch.stack([part.residues for part in found], dim=2),
            torch.stack([part.real for part in found], dim=1),
            torch.stack([part.is_known.expand(shape) for part in found], dim=1),
        )

    @torch.no_grad()
    def leading(
        self, first: torch.Tensor, operands: Operands, target: Operands
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return which second operations make targets of first results: indices (p,) of row, first and second one.

        Args:
            first: log-probabilities of the first operations, (k, operations · n · n), −inf if one is not defined.
            operands: the numbers, (k, n).
            target: (k,).

        Equal results are not searched one by one: they are sorted, and what each second operation needs is looked up.
        """
        results = self.results(operands)
        # One integer below 2^60 stands for a result: sorted, the n² results are searched in log n steps for what each
        # second operation needs, if all pairs of steps would be n³ comparisons.
        code = torch.where(results.is_known, _code(results.residues), -1).flatten(1)
        code = torch.where(first.isneginf(), -1, code)
        # The most probable ones of equal results come first.
        order = first.argsort(dim=1, descending=True)
        code, again = code.gather(1, order).sort(dim=1, stable=True)
        order = order.gather(1, again)
        wanted, real = self._wanted(operands, target.along(-1))
        start, end = torch.searchsorted(code, wanted), torch.searchsorted(code, wanted, right=True)
        counts = (end - start).clamp(max=_LOOKED_AT).flatten()
        entry = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        place = torch.arange(len(entry), device=counts.device) - (counts.cumsum(0) - counts)[entry]
        row, second = entry // wanted.shape[1], entry % wanted.shape[1]
        found = order[row, start.flatten()[entry] + place]
        difference = results.real.flatten(1)[row, found] - real[row, second]
        is_near = ~(difference.abs() > 1e-4 * (real[row, second].abs() + operands.real.abs().amax(dim=1)[row]))
        return row[is_near], found[is_near], second[is_near]

    def _wanted(self, operands: Operands, target: Operands) -> tuple[torch.Tensor, torch.Tensor]:
        """Return which first result makes the target with each second operation, as codes and reals (k, ·)."""
        exists = operands.exists & operands.is_known & target.exists & target.is_known
        nonzero = exists & ~operands.is_zero
        n, t = operands, target
        needed = {
            "+": [("-", t, n, exists)] * 2,
            "-": [("+", t, n, exists), ("-", n, t, exists)],
            "*": [("/", t, n, nonzero)] * 2,
            "/": [("*", t, n, nonzero), ("/", n, t, nonzero & ~t.is_zero)],
        }
        codes, reals = [], []
        for inverse, a, b, defined in (one for name in self.operations for one in needed[name]):
            found = BINARY[inverse].results(a, b)
            codes.append(torch.where(defined & found.is_known, _code(found.residues), -2))
            reals.append(found.real)
        return torch.stack(codes, dim=1).flatten(1), torch.stack(reals, dim=1).flatten(1)

    def scores(
        self, read: Read, first: torch.Tensor, is_right: torch.Tensor, operands: Operands, target: Operands
    ) -> torch.Tensor:
        """Return the log-probability of each first operation together with all that makes the target of it.

        Args:
            read: of `forward`.
            first: log-probabilities of the first operations, (k, operations · n · n).
            is_right: which of them give the target, bool (k, operations · n · n).
            operands: the numbers, (k, n).
            target: the targets, (k,).

        Of each row the 64 most probable first operations that lead to the target count.
        """
        row, index, second = self.leading(first.detach(), operands, target)
        needed = is_right.clone()
        needed[row, index] = True
        best = first.detach().masked_fill(~needed, -torch.inf).topk(min(_LOOKED_AT, first.shape[1]), dim=1).indices
        needed &= torch.zeros_like(needed).scatter(1, best, True)
        at, found = needed.nonzero(as_tuple=True)
        n = read.keys.shape[1]
        logs = self.of(read, operands, (at, found // (n * n), found // n % n, found % n))
        place = found.new_full(needed.shape, -1)
        place[at, found] = torch.arange(len(at), device=at.device)
        place = place[row, index]
        leads = torch.zeros_like(logs.then, dtype=torch.bool).flatten(1)
        leads[place[place >= 0], second[place >= 0]] = True
        right = torch.cat([is_right[at, found][:, None], leads], dim=1)
        both = torch.cat([logs.stop[:, None], logs.then.flatten(1)], dim=1).masked_fill(~right, -torch.inf)
        total = first[at, found] + both.logsumexp(dim=1)
        return torch.full_like(first, -torch.inf).index_put((at, found), total)


def _code(residues: torch.Tensor) -> torch.Tensor:
    """Return one integer below 2^60 for the residues (2, *) at both primes."""
    return residues[0] * PRIMES[1] + residues[1]
