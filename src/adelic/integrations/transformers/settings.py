"""The settings of an equipped model's numbers: plain data in its config.json."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from adelic.errors import ConfigurationError
from adelic.nn import exact_numbers, fractions_of
from adelic.nn.heads.exact import check_constants, check_operations
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
        loss_weight: of the number head's loss beside the language model's.
        operations: with which an `OperationHead` writes numbers; none for a model without one.
        constants: numbers that it may choose though no text has them, as texts.
        recent: of a longer context only so many numbers, the last ones, are chosen among; None for all.
        steps: how many operations on two numbers may give one that is written, 1 or 2.

    Raises:
        ConfigurationError: a value is not so.
        SpaceError: the space has too few digits to tell apart the numbers that are to be written.

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
    """Return the numerators for which half of the digits suffice, so that the other half can mend errors.

    With M = ∏ p^N and S = ∏ p^F this is √M / (2·S·max_denominator), at least 1.

    >>> default_max_numerator(AdeleSpace(primes=(5, 7, 11, 13), precision=2))
    2502
    """
    return max(1, isqrt(space.window.modulus) // (2 * space.window.scale * max(1, max_denominator)))
