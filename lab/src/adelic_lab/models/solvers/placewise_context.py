"""Place-wise layers that are told by another place what to do: the arithmetic of each place, the control of one.

Many laws are arithmetic with cases: at every place the answer is a simple function of the residue, but which function
it is the residues of that place do not show. In a long Collatz step an odd n becomes a·n + b, where a and b depend on
how often 2 divides, so on the digits of n at the place 2. `BallContext` reads that place and chooses among a few
operations; `ContextPlacewise` carries the chosen ones out, at every place with weights of its own. Where size decides,
as in max(a, b), `SizeContext` reads the real place.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.checks import as_digits, check_plain, check_positive
from adelic.nn.fingerprint import Fingerprinted, of_space
from adelic.nn.kernels.lifting import column
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import describe
from adelic.numbers.primes import is_prime

MOST_BALLS = 2**24
"""Vectors that a context may have for an operand."""
_GAIN = 3**0.5
"""Bound of a uniform distribution of variance 1."""


class BallContext(Fingerprinted):
    """A choice among operations, by functions of integers that are locally constant at a prime q.

    An integer lies in one ball of each level k: its residue modulo q^k, which its k lowest digits say. A ball has a
    trained vector, and the sum of the vectors over all levels and operands, cut into parts, goes through a softmax
    each. So a rule that is decided by the lowest digits is learned from few examples, and an exception that only
    deeper digits show is one ball's vector, which changes nothing elsewhere. Sums of balls' indicators are all the
    locally constant functions, and come near every continuous one (van der Put's basis).

    The vectors start at 0, so that at first every operation is as likely as every other. Their gradient is sparse.

    Shape: residues int64 (*, n_operands), in [0, q^depth) -> (*, n_layers, n_operations), float32.

    Args:
        depth: greatest level.
        prime: q.
        n_operands: how many integers there are.
        n_layers: parts of the sum, one for each layer of `ContextPlacewise`.
        n_operations: size of a part.

    Raises:
        ConfigurationError: a size is not positive, q is not a prime, or there are more than 2^24 balls.

    Source: of the basis, M. van der Put, "Algèbres de fonctions continues p-adiques", Indag. Math. 30 (1968).

    >>> context = BallContext(3, n_operations=2)
    >>> with torch.no_grad():
    ...     context.balls.weight[1, :2] = torch.tensor([5.0, 0.0])  # 1 modulo 2: the first operation of layer 0
    >>> context(torch.tensor([[3], [6]])).detach()[:, 0].round(decimals=2)
    tensor([[0.9900, 0.0100],
            [0.5000, 0.5000]])
    """

    moduli: torch.Tensor
    starts: torch.Tensor

    def __init__(
        self, depth: int, *, prime: int = 2, n_operands: int = 1, n_layers: int = 2, n_operations: int = 16
    ) -> None:
        super().__init__()
        check_positive(depth=depth, n_operands=n_operands, n_layers=n_layers, n_operations=n_operations)
        _check_prime(prime)
        # The depth first: q^depth of any depth could take hours. q >= 2, so that greater ones are too many for every q.
        if depth > MOST_BALLS.bit_length() or prime**depth > MOST_BALLS:
            raise ConfigurationError(f"{prime}^{depth} balls are more than {MOST_BALLS:,}; choose a smaller depth")
        self.depth, self.prime, self.n_operands = depth, prime, n_operands
        self.n_layers, self.n_operations = n_layers, n_operations
        moduli = [prime**level for level in range(1, depth + 1)]
        n_balls = sum(moduli)
        starts = [[operand * n_balls + sum(moduli[:level]) for level in range(depth)] for operand in range(n_operands)]
        self.register_buffer("moduli", torch.tensor(moduli), persistent=False)
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.balls = nn.EmbeddingBag(n_operands * n_balls, n_layers * n_operations, mode="sum", sparse=True)
        nn.init.zeros_(self.balls.weight)

    def extra_repr(self) -> str:
        """Return what print shows."""
        sizes = f"n_operands={self.n_operands}, n_layers={self.n_layers}, n_operations={self.n_operations}"
        return f"depth={self.depth}, prime={self.prime}, {sizes}"

    def fingerprint(self) -> dict[str, Any]:
        """Return the prime and the depth."""
        return {"prime": self.prime, "depth": self.depth}

    def forward(self, residues: torch.Tensor) -> torch.Tensor:
        """Return how much each layer is to do of each operation; the shares of a layer add up to 1.

        Raises:
            ConfigurationError: there is another number of operands.
        """
        check_plain(residues, self.moduli.device)
        if residues.shape[-1:] != (self.n_operands,):
            raise ConfigurationError(
                f"the context was built for (*, {self.n_operands}), not for shape {tuple(residues.shape)}"
            )
        balls = residues[..., None] % self.moduli + self.starts
        sums: torch.Tensor = self.balls(balls.reshape(-1, self.n_operands * self.depth))
        return sums.view(*residues.shape[:-1], self.n_layers, self.n_operations).softmax(dim=-1)


class SizeContext(Fingerprinted):
    """A choice among operations, by how large numbers are and by their residues at the smallest places.

    A few linear forms of the real values, each seen at several scales as tanh(10^j · form), say how numbers compare,
    coarsely and finely at once: the coarse levels find the form, a − b for instance, and the fine ones its sign. A
    perceptron reads these and the digits, one-hot. Its last layer starts at 0, so that at first every operation is as
    likely as every other.

    Shape: real values (*, n_operands), of about unit size, and digits int64 (*, n_operands, n_places) ->
    (*, n_layers, n_operations), float32.

    Args:
        primes: of the places whose digits are read; () for sizes alone.
        n_operands: how many numbers there are.
        n_forms, n_levels: how many linear forms there are, and scales of each.
        hidden: width of the perceptron.
        n_layers, n_operations: as those of `ContextPlacewise`.

    Raises:
        ConfigurationError: a size is not positive, or one of the primes is not a prime, or beyond 2^24.

    >>> context = SizeContext((2, 5), n_operands=2, n_operations=4)
    >>> context(torch.tensor([[0.5, 1.0]]), torch.tensor([[[1, 3], [0, 4]]])).shape
    torch.Size([1, 2, 4])
    """

    def __init__(
        self,
        primes: Sequence[int],
        *,
        n_operands: int = 1,
        n_forms: int = 8,
        n_levels: int = 7,
        hidden: int = 64,
        n_layers: int = 2,
        n_operations: int = 16,
    ) -> None:
        super().__init__()
        check_positive(n_operands=n_operands, n_forms=n_forms, n_levels=n_levels, hidden=hidden)
        check_positive(n_layers=n_layers, n_operations=n_operations)
        for prime in primes:
            _check_prime(prime)
        self.primes, self.n_operands, self.n_levels = tuple(primes), n_operands, n_levels
        self.n_layers, self.n_operations = n_layers, n_operations
        self.forms = nn.Linear(n_operands, n_forms)
        nn.init.normal_(self.forms.weight)
        nn.init.zeros_(self.forms.bias)
        self.inner = nn.Linear(n_forms * n_levels + n_operands * sum(self.primes), hidden)
        self.outer = nn.Linear(hidden, n_layers * n_operations)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def extra_repr(self) -> str:
        """Return what print shows."""
        sizes = f"n_operands={self.n_operands}, n_layers={self.n_layers}, n_operations={self.n_operations}"
        return f"primes={self.primes}, {sizes}"

    def fingerprint(self) -> dict[str, Any]:
        """Return the primes."""
        return {"primes": list(self.primes)}

    def forward(self, real: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return how much each layer is to do of each operation; the shares of a layer add up to 1.

        Raises:
            ConfigurationError: the shapes do not fit.
        """
        check_plain(real, self.forms.weight.device)
        check_plain(digits, self.forms.weight.device)
        numbers = (*real.shape[:-1], self.n_operands)
        if tuple(real.shape) != numbers or tuple(digits.shape) != (*numbers, len(self.primes)):
            raise ConfigurationError(
                f"the context was built for real values (*, {self.n_operands}) and digits (*, {self.n_operands}, "
                f"{len(self.primes)}), not for shapes {tuple(real.shape)} and {tuple(digits.shape)}"
            )
        digits = as_digits(digits, column(digits.device, self.primes, torch.int64))
        forms = self.forms(real)
        # In float32 at least: in float16 the greater scales would be infinite, and 0 times them not 0.
        scales = 10.0 ** torch.arange(self.n_levels, device=forms.device)
        seen = [torch.tanh(forms[..., None] * scales).flatten(-2).to(forms.dtype)]
        for i, prime in enumerate(self.primes):
            seen.append(functional.one_hot(digits[..., i], prime).flatten(-2).to(forms.dtype))
        sums: torch.Tensor = self.outer(functional.relu(self.inner(torch.cat(seen, dim=-1))))
        return sums.view(*numbers[:-1], self.n_layers, self.n_operations).softmax(dim=-1)


class ContextPlacewise(Fingerprinted):
    """A network a place, whose units multiply the place's features by a context that all places share.

    At a place, the first layer's units are products of a vector of each operand's digit; every other layer's are linear
    in what came before. Each unit is multiplied by a linear form of the context, which is the layer's choice among
    operations (`BallContext`, `SizeContext`, or any weights of them). A linear map follows, and a ReLU; behind the last
    layer the map leads to the answer's digit. So a place learns each operation once, whatever the context that asks for
    it, and the context learns once which operation to ask for, from all places.

    Multiplications by constants are diagonal in the characters of the units modulo p, additions in those of Z/p. Both
    are such products, and two layers compute every affine map of a residue, by a factor and a constant.

    Shape: digits int64 (*, n_operands, n_primes) and context (*, n_layers, n_operations) -> logits
    (*, n_primes, max_prime), float32; −inf for what is not a digit, from p on.

    Args:
        space: the primes; of each, the first digit counts.
        n_operands: how many numbers there are.
        n_layers: how often the context multiplies.
        n_operations: numbers of a layer's context.
        hidden: units of a layer and place.
        width: numbers between two layers, a place.

    Raises:
        ConfigurationError: a size is not positive, or the space has fractional digits.

    >>> space = AdeleSpace(primes=(3, 5, 7), precision=1)
    >>> network = ContextPlacewise(space, n_operations=4, hidden=8, width=8)
    >>> digits = torch.tensor(space.encode([10, 11]).digits[:, None, :, 0], dtype=torch.int64)
    >>> context = BallContext(3, n_operations=4)
    >>> network(digits, context(torch.tensor([[10 % 8], [11 % 8]]))).shape
    torch.Size([2, 3, 7])
    """

    is_no_digit: torch.Tensor
    rows: torch.Tensor

    def __init__(
        self,
        space: AdeleSpace,
        *,
        n_operands: int = 1,
        n_layers: int = 2,
        n_operations: int = 16,
        hidden: int = 64,
        width: int = 64,
    ) -> None:
        super().__init__()
        check_positive(n_operands=n_operands, n_layers=n_layers, n_operations=n_operations, hidden=hidden, width=width)
        if space.fractional_digits:
            raise ConfigurationError(f"fractional_digits={space.fractional_digits}: the first digits are read; give 0")
        self.space, self.n_operands, self.n_layers, self.n_operations = space, n_operands, n_layers, n_operations
        self.hidden, self.width = hidden, width
        places, most = space.n_primes, max(space.primes)
        # Products of independent factors of variance 1 have variance 1.
        self.digits = nn.Parameter(_uniform(_GAIN, n_operands, places, most, hidden))
        self.contexts = nn.Parameter(_uniform(_GAIN, n_layers, places, n_operations, hidden))
        self.inner = nn.ParameterList(_uniform(_GAIN, places, width, hidden) for _ in range(n_layers - 1))
        self.inner_bias = nn.ParameterList(torch.zeros(places, hidden) for _ in range(n_layers - 1))
        sizes = [width] * (n_layers - 1) + [most]
        self.outer = nn.ParameterList(_uniform(_GAIN * hidden**-0.5, places, hidden, size) for size in sizes)
        self.outer_bias = nn.ParameterList(torch.zeros(places, size) for size in sizes)
        is_no_digit = torch.arange(most) >= torch.tensor(space.primes)[:, None]
        self.register_buffer("is_no_digit", is_no_digit, persistent=False)
        self.register_buffer("rows", torch.arange(places)[:, None] * most, persistent=False)

    def extra_repr(self) -> str:
        """Return what print shows."""
        sizes = f"n_operands={self.n_operands}, n_layers={self.n_layers}, n_operations={self.n_operations}"
        return f"{self.space}, {sizes}, hidden={self.hidden}, width={self.width}"

    def fingerprint(self) -> dict[str, Any]:
        """Return the space."""
        return of_space(self.space)

    def forward(self, digits: torch.Tensor, context: torch.Tensor, places: Sequence[int] | None = None) -> torch.Tensor:
        """Return the logits of the answer's first digits.

        Args:
            digits: of the operands.
            context: of each layer.
            places: which primes to answer for, and to compute, by their indices; all when left out. `digits` has all.

        Raises:
            ConfigurationError: the shapes do not fit.
        """
        check_plain(digits, self.rows.device)
        check_plain(context, self.rows.device)
        inputs, layers = (self.n_operands, self.space.n_primes), (self.n_layers, self.n_operations)
        batch = digits.shape[:-2]
        if tuple(digits.shape[-2:]) != inputs or tuple(context.shape) != (*batch, *layers):
            raise ConfigurationError(
                f"the network was built for digits (*, {inputs[0]}, {inputs[1]}) and a context (*, {layers[0]}, "
                f"{layers[1]}), not for shapes {tuple(digits.shape)} and {tuple(context.shape)}"
            )
        digits = as_digits(digits, column(digits.device, self.space.primes, torch.int64))
        chosen: Any = slice(None) if places is None else list(places)
        values = self._values(digits.reshape(-1, *inputs), context.reshape(-1, *layers).transpose(0, 1), chosen)
        logits = values.transpose(0, 1).masked_fill(self.is_no_digit[chosen], -math.inf)
        return logits.reshape(*batch, *logits.shape[1:])

    def _values(self, digits: torch.Tensor, context: torch.Tensor, chosen: Any) -> torch.Tensor:
        """Return the last layer's values, place by place, (places, n, max_prime)."""
        rows = digits.permute(1, 2, 0)[:, chosen] + self.rows[chosen]  # (n_operands, places, n)
        units = functional.embedding(rows[0], self.digits[0].flatten(0, 1))
        for others, table in zip(rows[1:], self.digits[1:], strict=True):
            units = units * functional.embedding(others, table.flatten(0, 1))
        units = units * self._controls(context, 0, chosen)
        values = torch.baddbmm(self.outer_bias[0][chosen][:, None], units, self.outer[0][chosen])
        for i in range(1, self.n_layers):
            inner = torch.baddbmm(
                self.inner_bias[i - 1][chosen][:, None], functional.relu(values), self.inner[i - 1][chosen]
            )
            units = inner * self._controls(context, i, chosen)
            values = torch.baddbmm(self.outer_bias[i][chosen][:, None], units, self.outer[i][chosen])
        return values

    def _controls(self, context: torch.Tensor, layer: int, chosen: Any) -> torch.Tensor:
        """Return what a layer's units are multiplied by, (places, n, hidden)."""
        forms = self.contexts[layer][chosen]
        return torch.bmm(context[layer].expand(len(forms), -1, -1), forms)


def _uniform(bound: float, *shape: int) -> torch.Tensor:
    return torch.empty(shape).uniform_(-bound, bound)


def _check_prime(prime: int) -> None:
    if prime > MOST_BALLS:  # before its primality, of which a greater number has no proof
        raise ConfigurationError(f"prime={describe(prime)} is beyond {MOST_BALLS:,}; choose a smaller one")
    if not is_prime(prime):
        raise ConfigurationError(f"prime={describe(prime)} is not a prime")
