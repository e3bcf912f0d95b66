"""The two layers that `equip` adds to a model: from numbers to embeddings, from hidden states to numbers."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from adelic.integrations.transformers.settings import NumberSettings
from adelic.nn import (
    AdelicHead,
    AdelicLoss,
    AdelicPrediction,
    OperationHead,
    OperationPrediction,
    PlaceEmbedding,
    WrittenNumbers,
    adelic_targets,
)
from adelic.nn.fingerprint import Fingerprinted
from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.nn.heads.exact import Operands
from adelic.numbers import AdeleSpace

N_REAL = 2
"""Features of the real place: asinh(q / real_scale) and the sign."""


class NumberLayers(Fingerprinted):
    """A projection of adelic features to the width of a language model, and an `AdelicHead` on its hidden states.

    The features of the primes are those of `adelic.nn.PlaceEmbedding`. The real place has others, which stay small
    whatever numbers a text has: asinh(q / real_scale), linear near 0 and logarithmic far from it, and the sign. A prime
    of which no digits are known, since it divides the denominator, has the features 0.

    Shape: `embed`: real values (*) and digits (*, n_primes, max_precision) -> (*, embedding_size);
    `predict`: (*, hidden_size) -> `AdelicPrediction` (*).

    Args:
        settings: the space, the features and so on.
        hidden_size: the model's width.
        embedding_size: that of its embeddings, where it is another, as ALBERT's.
        embedding_std: the standard deviation that embedded numbers have at first, about that of the model's own.

    >>> from adelic import AdeleSpace
    >>> from adelic.nn import adelic_targets
    >>> space = AdeleSpace(primes=(2, 3, 5), precision=2)
    >>> layers = NumberLayers(NumberSettings(space=space, token_id=0), hidden_size=32)
    >>> layers.embed(*adelic_targets(space, [[7, "1/2"], [-3, 10**30]])).shape
    torch.Size([2, 2, 32])
    >>> layers.predict(torch.zeros(5, 32)).logits.shape
    torch.Size([5, 3, 2, 5])
    """

    greatest_size: torch.Tensor | None

    def __init__(
        self,
        settings: NumberSettings,
        hidden_size: int,
        *,
        embedding_size: int | None = None,
        embedding_std: float = 0.02,
    ) -> None:
        super().__init__()
        space = settings.space
        self.settings = settings
        self.features = PlaceEmbedding(space, settings.features)
        n_features = N_REAL + space.n_primes * self.features.width
        self.projection = nn.Linear(
            n_features, embedding_size or hidden_size, bias=False
        )  # the token's own embedding is the bias
        self.head = AdelicHead(space, hidden_size, placewise=False, real_scale=settings.real_scale)
        self.loss = AdelicLoss(space, real_scale=settings.real_scale)
        self.operations = None
        # With operations the answer depends on sizes hardly, and a number that is greater than all of training looks as
        # the greatest of these: the head computes with it as it is. Saved with the weights.
        self.register_buffer("greatest_size", torch.zeros(()) if settings.operations else None)
        if settings.operations:
            self.operations = OperationHead(
                hidden_size,
                settings.operations,
                constants=settings.constants,
                memory_features=2 * hidden_size,
                recent=settings.recent,
                free=True,
                steps=settings.steps,
            )
        # About half of the features' mean square is there: cos and sin of many angles, or fewer ones among zeros.
        nn.init.normal_(self.projection.weight, std=embedding_std * (2 / n_features) ** 0.5)

    def fingerprint(self) -> dict[str, Any]:
        """Return the number token and the unit of the real place; the layers inside tell the rest themselves."""
        return {"token_id": self.settings.token_id, "real_scale": float(self.settings.real_scale)}

    def embed(self, reals: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return vectors to be added to the embedding of the number token, in the projection's dtype.

        Args:
            reals: real values, floats (*); NaN where the number is not known, which gives a vector of zeros.
            digits: integers (*, n_primes, max_precision), most significant first, checked before; `UNKNOWN_DIGIT` where
                there is none.
        """
        is_known = (digits != UNKNOWN_DIGIT).all(dim=-1)
        places = self.features.of_primes(digits.clamp(min=0)).float() * is_known[..., None]
        size = torch.asinh(reals.float().clamp(-_LARGEST, _LARGEST) / self.settings.real_scale)
        if self.greatest_size is not None:
            if self.training:
                seen = size.detach().abs().nan_to_num(0.0).flatten()
                self.greatest_size = torch.cat([seen, self.greatest_size.float().reshape(1)]).amax()
            size = size.clamp(-self.greatest_size.float(), self.greatest_size.float())
        features = torch.cat([torch.stack([size, reals.sign()], dim=-1), places.flatten(-2)], dim=-1)
        features = torch.where(reals.isnan()[..., None], 0.0, features)
        vectors: torch.Tensor = self.projection(features.to(self.projection.weight.dtype))
        return vectors

    def predict(self, states: torch.Tensor) -> AdelicPrediction:
        """Return what hidden states say of numbers, computed in float32 whatever the model's type."""
        prediction: AdelicPrediction = _in_float32(self.head, states.float())
        return prediction

    def choose(self, states: torch.Tensor, memory: torch.Tensor, numbers: torch.Tensor) -> OperationPrediction:
        """Return which numbers of a context, and which operation, hidden states say, computed in float32.

        Args:
            states: (k, hidden_size).
            memory: (k, n, 2 · hidden_size), the state at each number of the context and at the token after it: what
                stands behind a number is not known at the number itself in a causal model.
            numbers: int32 (k, n, 2, limbs), the numbers; `exact_numbers`.
        """
        assert self.operations is not None
        prediction: OperationPrediction = _in_float32(self.operations, states.float(), memory.float(), numbers)
        return prediction

    def operation_loss(
        self,
        states: torch.Tensor,
        numbers: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        is_number: torch.Tensor,
        targets: torch.Tensor,
        *,
        is_causal: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return −log of the probability of the numbers that are to be written, and the share with a derivation.

        Args:
            states: (batch, length, hidden_size).
            numbers: the numbers at all tokens, real values, digits and limbs.
            is_number: where the model reads a number, bool (batch, length).
            targets: where a number is to be written, bool (batch, length).
            is_causal: whether the state before a token says it, of what was read until then; else that at the token.
        """
        assert self.operations is not None
        _, digits, limbs = numbers
        rows, at = torch.nonzero(targets, as_tuple=True)
        ends = at - 1 if is_causal else torch.full_like(at, states.shape[1] - 1)
        is_read = is_number[rows]
        is_read[torch.arange(len(at), device=at.device), at] = False
        memory, chosen = contexts(states, limbs, rows, is_read, ends)
        queries = states[rows, ends if is_causal else at]
        wanted = limbs[rows, at]
        size = Operands(wanted)
        code = self.settings.code
        is_held = (size.above.abs() <= code.max_numerator) & (size.under <= code.max_denominator)
        free = self._log_likelihood(queries, digits[rows, at]).masked_fill(~is_held, -torch.inf)
        return self.operations.loss(self.choose(queries, memory, chosen), wanted, free)

    def _log_likelihood(self, states: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return the log-probability of digits (k, n_primes, max_precision), (k,); −inf where some are unknown."""
        logs = self.predict(states).logits.log_softmax(dim=-1)
        of_digits = logs.gather(-1, digits.clamp(min=0)[..., None])[..., 0].flatten(1).sum(dim=1)
        return of_digits.masked_fill((digits == UNKNOWN_DIGIT).flatten(1).any(dim=1), -torch.inf)

    @torch.no_grad()
    def write(self, states: torch.Tensor, memory: torch.Tensor, numbers: torch.Tensor) -> WrittenNumbers:
        """Return the numbers that hidden states say, and how they come about; for the shapes of `choose`."""
        assert self.operations is not None
        logs = self.predict(states).logits.log_softmax(dim=-1)
        said = self.settings.code.decode_soft(logs.cpu().numpy())
        likelihoods = np.full(len(states), -np.inf)
        known = [row for row, value in enumerate(said.values) if value is not None]
        if known:
            _, digits = adelic_targets(self.settings.space, [said.values[row] for row in known])
            likelihoods[known] = self._log_likelihood(states[known], digits.to(states.device)).cpu().numpy()
        return self.operations.decode(self.choose(states, memory, numbers), (said.values, likelihoods))

    def number_loss(self, states: torch.Tensor, reals: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
        """Return the `AdelicLoss` of hidden states (k, hidden_size) for the numbers that they should say, a scalar."""
        loss: torch.Tensor = self.loss(self.predict(states), (reals, digits))
        return loss

    @torch.no_grad()
    def decode(self, states: torch.Tensor) -> npt.NDArray[np.object_]:
        """Return the numbers that hidden states say, `Fraction` or None where the digits are near no number."""
        logits = self.predict(states).logits
        return self.settings.code.decode_soft(logits.log_softmax(dim=-1).cpu().numpy()).values

    @torch.no_grad()
    def restore_tables(self) -> None:
        """Compute the constant tables again, which weights' files do not hold and `from_pretrained` leaves empty."""
        # New layers also draw weights, which are not wanted: the caller's random numbers stay as they are.
        with torch.random.fork_rng(devices=[]), torch.device("cpu"):
            fresh = self._fresh()
        for name, table in fresh.named_buffers():
            module, _, key = name.rpartition(".")
            if key in self.get_submodule(module)._non_persistent_buffers_set:
                setattr(self.get_submodule(module), key, table.to(self.projection.weight.device))

    def initialize(self) -> None:
        """Give the weights the values that new layers have, except those that Transformers has loaded."""
        from transformers import initialization

        fresh = self._fresh()
        for name, parameter in self.named_parameters():
            initialization.copy_(parameter, fresh.get_parameter(name))

    def _fresh(self) -> "NumberLayers":
        """Return new layers like these."""
        return NumberLayers(self.settings, self.head.in_features, embedding_size=self.projection.out_features)

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Self:
        """Move or convert the weights; the tables keep their types, since bfloat16 does not hold primes above 256."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.restore_tables()
        return self


def contexts(
    states: torch.Tensor, limbs: torch.Tensor, rows: torch.Tensor, is_number: torch.Tensor, ends: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the memory (k, n, 2 · hidden_size) of the numbers until k tokens, and these numbers; see `choose`.

    Args:
        states: (batch, length, hidden_size).
        limbs: int32 (batch, length, 2, limbs).
        rows: int64 (k,), the texts of the k tokens.
        is_number: which numbers may be read for each, bool (k, length).
        ends: int64 (k,), the last token of each that counts.

    >>> limbs = torch.tensor([[[[5], [1]], [[0], [0]], [[7], [1]], [[0], [0]]]])
    >>> states, is_number = torch.arange(4.0)[None, :, None], torch.tensor([[True, False, True, False]])
    >>> memory, numbers = contexts(states, limbs, torch.tensor([0]), is_number, torch.tensor([3]))
    >>> memory.tolist(), numbers[0, :, 0, 0]
    ([[[0.0, 1.0], [2.0, 3.0]]], tensor([5, 7]))
    """
    length = states.shape[1]
    at = torch.arange(length, device=ends.device)
    is_read = is_number & (at <= ends[:, None])
    places = at.where(is_read, length).sort(dim=1).values
    places = places[:, : int(is_read.sum(dim=1).amax()) if len(rows) else 0]
    is_there, places, rows = places < length, places.clamp(max=length - 1), rows[:, None]
    memory = torch.cat([states[rows, places], states[rows, torch.minimum(places + 1, ends[:, None])]], dim=-1)
    return memory, limbs[rows, places] * is_there[..., None, None]


def _in_float32(head: nn.Module, *inputs: torch.Tensor) -> Any:
    parameters = {name: parameter.float() for name, parameter in head.named_parameters()}
    return torch.func.functional_call(head, parameters, inputs)


_LARGEST = float(np.finfo(np.float32).max)


def unknown_numbers(
    space: AdeleSpace, shape: tuple[int, ...], *, device: torch.device | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the real values, float32 (*shape), and digits, int32 (*shape, n_primes, max_precision), of no numbers.

    >>> unknown_numbers(AdeleSpace(primes=(2, 3), precision=1), (2,))
    (tensor([nan, nan]), tensor([[[-100],
             [-100]],
    <BLANKLINE>
            [[-100],
             [-100]]], dtype=torch.int32))
    """
    size = (*shape, space.n_primes, space.max_precision)
    digits = torch.full(size, UNKNOWN_DIGIT, dtype=torch.int32, device=device)
    return torch.full(shape, torch.nan, device=device), digits
