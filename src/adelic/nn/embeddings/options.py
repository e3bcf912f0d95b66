"""How an embedding describes its options, so that recipes, command lines and searches need no list of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adelic.errors import ConfigurationError, UnknownNameError


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing that a user may change in an embedding, in the words of command lines and recipes.

    Attributes:
        name: as in Python; on the command line it has dashes.
        default: the value where none is given; its type is the option's.
        help: a sentence for the command line.
        choices: the values that there are; () where the type alone counts.
        search: the values that a search tries; () where it tries none, or a range.
        bounds: the range that a search tries, on a logarithmic scale.
        note: what searched values mean, where they are not the option's own.

    >>> Option(name="scaling", default="linear", help="Of the value.", choices=("linear", "log")).check("lgo")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown scaling 'lgo'; did you mean 'log'? scaling: linear, log
    """

    name: str
    default: Any
    help: str
    choices: tuple[Any, ...] = ()
    search: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None
    note: str = ""

    def check(self, value: Any) -> Any:
        """Return a value of the option's type.

        Raises:
            UnknownNameError: it is none of the choices.
            ConfigurationError: it is not true or false where that is wanted.
        """
        if self.choices and value not in self.choices:
            raise UnknownNameError.of(self.name, value, self.choices, listed=self.name)
        if type(self.default) is bool and type(value) is not bool:
            raise ConfigurationError(f"{self.name}={value!r} must be true or false")
        return float(value) if type(self.default) is float else value


STANDARDIZE = Option(
    name="standardize",
    default=False,
    help="Whether the features have mean 0 and variance 1 over the vocabulary.",
    search=(False, True),
)
"""What FoNE and xVal may be given, as AOE has it by features="standardized".

"one-hot" is not offered it: its trained linear map can shift and scale by itself. Nor is "random": its coordinates are
drawn with mean 0 and variance 1. "periodic" always has it.
"""
PUBLISHED = Option(
    name="published", default=False, help="Whether all is as in the authors' code, without what we changed."
)
"""What embeddings have whose authors' code does other than ours."""


def refuse_both(options: Mapping[str, Any]) -> None:
    """Raise ConfigurationError if features are to be standardized and as published.

    >>> refuse_both({"standardize": True, "published": False})
    """
    if options["standardize"] and options["published"]:
        raise ConfigurationError("--standardize is ours, and does not go with --published; drop one of the two")
