"""What `equip` adds to a model: the settings of its numbers, and two layers, from numbers and to numbers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn import (
    AdelicHead,
    AdelicLoss,
    AdelicPrediction,
    OperationHead,
    OperationPrediction,
    PlaceEmbedding,
    WrittenNumbers,
    adelic_targets,
    exact_numbers,
    fractions_of,
)
from adelic.nn.fingerprint import Fingerprinted
from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.nn.heads.exact import Operands, check_constants, check_operations
from adelic.nn.heads.operations import MOST_NUMBERS
from adelic.nn.heads.steps import check_second
from adelic.numbers import AdeleSpace, RedundantResidueCode
from adelic.numbers.describe import describe, number_text
from adelic.numbers.features import PLACE_FEATURES

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NUMBER_TOKEN = "[NUM]"
"""The token that stands for every number."""
MOST_LOGITS = 1 << 20
"""What the head says of one number: 4 megabytes of logits."""


@dataclass(frozen=True, kw_only=True)
class NumberSettings:
    """How a model reads and writes numbers.

    Attributes:
        space: the primes and digits.
        token_id: of `NUMBER_TOKEN`.
        features: what the digits become, one of `adelic.numbers.features.PLACE_FEATURES`.
        real_scale: the unit of the real place, about the size of the numbers: asinh(q / real_scale) is what is read.
        max_numerator: numbers n/m that are written have |n| up to it; None for `default_max_numerator`.
        max_denominator: and m up to it; 1 for integers.
        loss_weight: of the number head's loss next to the language model's.
        operations: with which an `OperationHead` writes numbers; none for a model without one.
        constants: numbers that it may choose though no text has them, as texts.
        recent: of a longer context only so many numbers, the last ones, are chosen among; None for all.
        steps: how many operations on two numbers may give one that is written, 1 or 2.

    Raises:
        ConfigurationError: a value is not so.
        SpaceError: the space has too few digits to distinguish the numbers that are to be written.

    >>> settings = NumberSettings(space=AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1), token_id=9)
    >>> settings.code.max_numerator, settings.code.guaranteed_errors
    (86, 1)
    >>> NumberSettings.from_dict(settings.to_dict()) == settings
    True
    """

    space: AdeleSpace
    token_id: int
    features: str = "characters"
    real_scale: float = 1.0
    max_numerator: int | None = None
    max_denominator: int = 1
    loss_weight: float = 1.0
    operations: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    recent: int | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        """Check the values."""
        object.__setattr__(self, "operations", check_operations(self.operations))
        if not self.operations and (self.constants or self.recent is not None):
            raise ConfigurationError("constants and recent are for operations, and there are none; operations=('+', …)")
        constants = fractions_of(exact_numbers(check_constants(self.constants)))
        object.__setattr__(self, "constants", tuple(number_text(q) for q in constants))
        for name, (words, holds) in _RULES.items():
            if not holds(value := getattr(self, name)):
                raise ConfigurationError(f"{name}={describe(value)} must be {words}")
        if self.steps == 2:
            check_second(self.operations)
        if self.max_numerator is None:
            object.__setattr__(self, "max_numerator", default_max_numerator(self.space, self.max_denominator))
        _ = self.code  # raises SpaceError where digits are too few

    @property
    def code(self) -> RedundantResidueCode:
        """Return the numbers that can be written, as a code in the space's digits."""
        assert self.max_numerator is not None
        return RedundantResidueCode(self.space, self.max_numerator, self.max_denominator)

    def holds(self, number: Fraction) -> bool:
        """Return whether the head can write a number.

        >>> NumberSettings(space=AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1), token_id=9).holds(Fraction(1, 2))
        False
        """
        assert self.max_numerator is not None
        return abs(number.numerator) <= self.max_numerator and number.denominator <= self.max_denominator

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        data = asdict(self) | {"space": self.space.to_dict()}
        if not self.operations:
            of_operations = ("operations", "constants", "recent", "steps")
            return {key: value for key, value in data.items() if key not in of_operations}
        return data | {"operations": list(self.operations), "constants": list(self.constants)}

    @classmethod
    def from_dict(cls, data: Any) -> "NumberSettings":
        """Return the settings that `to_dict` wrote.

        Raises:
            ConfigurationError: that is something else.
            SpaceError: the space's parameters do not make sense.
        """
        try:
            return cls(**data | {"space": AdeleSpace.from_dict({**data["space"]})})
        except (TypeError, KeyError) as error:
            raise ConfigurationError(f"{describe(data)} are not the settings of an equipped model: {error!r}") from None


def _is_real(value: Any, least: float) -> bool:
    """Return whether a value is a number from a least one on that float32 holds."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and bool(least <= value <= _GREATEST)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def _is_small(space: Any) -> bool:
    """Return whether a space has few enough digits, before tables of them are made."""
    return isinstance(space, AdeleSpace) and space.n_primes * space.max_precision * max(space.primes) <= MOST_LOGITS


_GREATEST = 2.0**127
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "token_id": ("a whole number from 0 on", lambda value: type(value) is int and value >= 0),
    "space": (
        f"an AdeleSpace with at most {MOST_LOGITS:,} = n_primes · precision · (largest prime): so many logits a number "
        "takes",
        _is_small,
    ),
    "features": (
        f"one of {', '.join(PLACE_FEATURES)}",
        lambda value: isinstance(value, str) and value in PLACE_FEATURES,
    ),
    "real_scale": ("positive and finite in float32", lambda value: _is_real(value, 1 / _GREATEST)),
    "max_numerator": ("a whole number from 0 on, or None", lambda value: value is None or _is_whole(value, 0)),
    "max_denominator": ("a whole number from 1 on", lambda value: _is_whole(value, 1)),
    "recent": (
        f"a whole number from 1 to {MOST_NUMBERS}, or None",
        lambda value: value is None or (_is_whole(value, 1) and value <= MOST_NUMBERS),
    ),
    "steps": ("1 or 2; more are written one by one", lambda value: type(value) is int and value in (1, 2)),
    "loss_weight": ("finite in float32 and not negative", lambda value: _is_real(value, 0)),
}
"""Setting -> what it has to be, in words, and whether a value, also one from a file, is that."""


def check_tokenizer(tokenizer: Any) -> None:
    """Raise `ConfigurationError` for what is not a tokenizer of Transformers.

    >>> check_tokenizer(None)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: None is not a tokenizer; AutoTokenizer.from_pretrained(...) of Transformers is
    """
    if not hasattr(tokenizer, "get_vocab"):
        raise ConfigurationError(
            f"{describe(tokenizer)} is not a tokenizer; AutoTokenizer.from_pretrained(...) of Transformers is"
        )


def note_settings(tokenizer: "PreTrainedTokenizerBase", settings: NumberSettings) -> None:
    """Note in a tokenizer which numbers its model reads and writes; it is saved and loaded with it.

    If it goes with a model of another space already, that is a ConfigurationError.
    """
    noted = noted_settings(tokenizer)
    if noted is not None and noted.space != settings.space:
        raise ConfigurationError(
            f"the tokenizer goes with a model of {noted.space}, this one has {settings.space}; equip takes a tokenizer "
            "that is not equipped, such as a copy.deepcopy from before"
        )
    tokenizer.init_kwargs[_NOTED] = settings.to_dict()


def noted_settings(tokenizer: "PreTrainedTokenizerBase") -> NumberSettings | None:
    """Return the settings that `equip` noted in a tokenizer; None in one of a time when it did not.

    >>> from tokenizers import Tokenizer, models
    >>> from transformers import PreTrainedTokenizerFast
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"[NUM]": 0})))
    >>> note_settings(tokenizer, NumberSettings(space=AdeleSpace(), token_id=0))
    >>> noted_settings(tokenizer).space == AdeleSpace()
    True
    """
    noted = tokenizer.init_kwargs.get(_NOTED)
    return None if noted is None else NumberSettings.from_dict(noted)


_NOTED = "adelic"
"""The entry of tokenizer_config.json."""


def default_max_numerator(space: AdeleSpace, max_denominator: int = 1) -> int:
    """Return the numerators for which half of the digits suffice, so the other half can correct errors.

    With M = ∏ p^N and S = ∏ p^F this is √M / (2·S·max_denominator), at least 1.

    >>> default_max_numerator(AdeleSpace(primes=(5, 7, 11, 13), precision=2))
    2502
    """
    return max(1, isqrt(space.window.modulus) // (2 * space.window.scale * max(1, max_denominator)))


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
        embedding_size: that of its embeddings, if it is another, as ALBERT's.
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
            reals: real values, floats (*); NaN if the number is not known, which gives a vector of zeros.
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
                is after a number is not known at the number itself in a causal model.
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
            targets: whether a number is to be written, bool (batch, length).
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
        """Return the log-probability of digits (k, n_primes, max_precision), (k,); −inf if some are unknown."""
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
        """Return the numbers that hidden states say, `Fraction` or None if the digits are near no number."""
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
    # Near a logit of 10 bfloat16 has steps of 0.06, more than many a right digit leads by.
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
