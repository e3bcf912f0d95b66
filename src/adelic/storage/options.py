"""Options: fields of dataclasses with the values that they take, which is the only description of an option.

A field has `option(...)` instead of its default, and its help in the class's docstring, under "Attributes:". Command
lines, checks of files and printed commands are made from it.
"""

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field
from typing import Any

from adelic.errors import ConfigurationError, UnknownNameError
from adelic.storage.checks import check_count, shown, whole_number

_INT64 = 1 << 63


@dataclass(frozen=True, kw_only=True)
class Option:
    """The description of one option: a field of a dataclass, and its metadata.

    Attributes:
        name: as in Python; on the command line it has dashes.
        kind: int, float, bool, str or tuple; or Mapping, for a whole number or one for each prime, as 2:7,3:5.
        holds: of a tuple, the kind of its entries.
        optional: whether None is a value too: nothing of the kind.
        none: the text by which a user asks for None; "none" if None is the default, too, and else no text.
        default: the value if none is given; None if one must be.
        help: a sentence for the command line.
        choices: the texts that there are.
        least, greatest: bounds of a number, both included.
        positive: whether a number has to be above 0.
        below: a number has to be below this one.
        in_files: whether errors have its name as files do, with underscores.
        also: another name that the command line takes.
    """

    name: str = ""
    kind: type = str
    holds: type = str
    optional: bool = False
    none: str | None = None
    default: Any = None
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    greatest: float | None = None
    positive: bool = False
    below: float | None = None
    in_files: bool = False
    also: str = ""

    @property
    def words_for_all(self) -> tuple[str, ...]:
        """Return the choices as a user writes them, None's first."""
        return self.choices if self.none is None else (self.none, *self.choices)

    @property
    def dashed(self) -> str:
        """Return the name with dashes, as command lines have it; of an option that is `in_files`, as files have it."""
        return self.name if self.in_files else self.name.replace("_", "-")

    def check(self, value: Any) -> Any:
        """Return a value in the option's type.

        >>> Option(name="scaling", choices=("linear", "log")).check("lgo")
        Traceback (most recent call last):
        adelic.errors.UnknownNameError: unknown scaling 'lgo'; did you mean 'log'? scaling: linear, log
        >>> Option(name="learning_rate", kind=float, positive=True).check(0)
        Traceback (most recent call last):
        adelic.errors.ConfigurationError: learning-rate=0 must be a positive number
        """
        if self.optional and (value is None or value == self.none):
            return None
        if self.kind is int or (self.kind is Mapping and whole_number(value) is not None):
            least = -_INT64 if self.least is None else int(self.least)
            return check_count(
                self.dashed, value, least=least, greatest=int(_INT64 - 1 if self.greatest is None else self.greatest)
            )
        if self.choices and value not in self.choices:
            raise UnknownNameError.of(self.name, value, self.words_for_all, listed=self.name)
        found: Any = None
        wanted = "a text"
        if self.kind is float:
            found, wanted = self._number(value), self._numbers_in_words()
        elif self.kind is tuple:
            wanted = f"a list of {'whole numbers' if self.holds is int else 'names'}"
            entries = value if isinstance(value, list | tuple) else [None]
            held = tuple(whole_number(e) if self.holds is int else e if isinstance(e, str) else None for e in entries)
            found = None if None in held else held
        elif self.kind is Mapping:
            found, wanted = _by_prime(value), "a whole number, or one for each prime, as 2:7,3:5, and each prime once"
        elif type(value) is self.kind:
            found = value
        if found is None:
            wanted = "true or false" if self.kind is bool else wanted
            raise ConfigurationError(f"{self.dashed}={shown(value)} must be {wanted}")
        return found

    def _number(self, value: Any) -> float | None:
        """Return a number within the bounds; None for anything else."""
        number = value if isinstance(value, float) else whole_number(value)
        if number is None or not math.isfinite(number) or (self.positive and number <= 0):
            return None
        low, high, below = self.least, self.greatest, self.below
        is_inside = (low is None or low <= number) and (high is None or number <= high)
        return float(number) if is_inside and (below is None or number < below) else None

    def _numbers_in_words(self) -> str:
        words = "a positive number" if self.positive else "a number"
        bounds = {" from ": self.least, " to ": self.greatest, " to below ": self.below}
        return words + "".join(f"{word}{bound:g}" for word, bound in bounds.items() if bound is not None)

    def parse(self, text: str) -> Any:
        """Return the value that a text means, checked; that for None stays as it is, which is told so from not given.

        >>> Option(name="primes", kind=tuple, holds=int).parse("2,3"), Option(name="epochs", kind=int).parse("3")
        ((2, 3), 3)
        """
        value: Any = text
        with suppress(ValueError):  # `check` names the wanted values
            if self.kind in (int, float, Mapping):
                value = float(text) if self.kind is float else int(text)
            elif self.kind is tuple:
                value = tuple(self.holds(part.strip()) for part in text.split(","))
            elif self.kind is bool:
                value = {"true": True, "false": False}.get(text.lower(), text)
        return text if text == self.none else self.check(value)

    def words(self, value: Any) -> list[str]:
        """Return how the command line gives a value.

        >>> Option(name="primes", kind=tuple).words((2, 3)), Option(name="symmetries", kind=bool).words(False)
        (['--primes', '2,3'], ['--no-symmetries'])
        >>> Option(name="precision", kind=Mapping).words({2: 7, 3: 5})
        ['--precision', '2:7,3:5']
        """
        if self.kind is bool:
            return [f"--{'' if value else 'no-'}{self.dashed}"]
        return [f"--{self.dashed}", str(self.none) if value is None else text_of(value)]


def _by_prime(value: Any) -> dict[int, int] | None:
    """Return numbers by prime from a mapping (in files its keys are texts) or a text; None for anything else."""
    try:
        pairs = [part.split(":") for part in value.split(",")] if isinstance(value, str) else list(value.items())
        found = {int(p) if isinstance(p, str) else whole_number(p): n for p, n in pairs}
        counts = [int(n) if isinstance(value, str) else whole_number(n) for n in found.values()]
    except (AttributeError, TypeError, ValueError):  # no pairs, a part without one colon, or not a whole number
        return None
    by_prime = {p: n for p, n in zip(found, counts, strict=True) if p is not None and n is not None}
    return by_prime if 0 < len(by_prime) == len(pairs) else None


def text_of(value: Any) -> str:
    """Return a value as a text: entries with commas, numbers by prime as 2:7,3:5."""
    if isinstance(value, Mapping):
        return ",".join(f"{p}:{n}" for p, n in value.items())
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def option(default: Any = MISSING, /, *, of_type: type[Option] = Option, **description: Any) -> Any:
    """Return a dataclass's field with a description.

    `description` has attributes of `Option`; name, kind and whether None is a value follow from the field. A field of
    some models alone is None in others, and the description names its `default` in those.
    """
    return field(default=default, metadata={"option": (of_type, description)})


def help_of(described: type) -> dict[str, str]:
    """Return a docstring's texts about attributes, under "Attributes:", by name."""
    section = inspect.cleandoc(described.__doc__ or "").partition("\nAttributes:\n")[2]
    found = re.findall(r"(?ms)^    (\w+): (.*?)(?=\n    \S|\n\n|\Z)", section)
    # Two blanks come before the default, as in other helps.
    return {name: re.sub(r"\s+\[default", "  [default", re.sub(r"\s+", " ", text)) for name, text in found}


def options(described: type) -> Mapping[str, Any]:
    """Return the options among the fields of a dataclass, by name, in their order.

    >>> @dataclass
    ... class Mine:
    ...     '''Something.
    ...
    ...     Attributes:
    ...         size: Length of a side.
    ...     '''
    ...     size: int | None = option(None, least=1, greatest=9)
    >>> options(Mine)["size"].kind, options(Mine)["size"].optional, options(Mine)["size"].help
    (<class 'int'>, True, 'Length of a side.')
    """
    if described not in _KNOWN:
        _KNOWN[described] = types.MappingProxyType(_read(described))
    return _KNOWN[described]


# Not functools.cache: mypy takes the type of a dataclass for unhashable, as its instances may be.
_KNOWN: dict[type, Mapping[str, Any]] = {}


def _read(described: type) -> dict[str, Any]:
    """Return the options among a dataclass's fields, completed by the fields themselves and the docstring."""
    kinds, helps, found = typing.get_type_hints(described), help_of(described), {}
    for each in dataclasses.fields(described):
        if "option" in each.metadata:
            of_type, description = each.metadata["option"]
            parts = typing.get_args(kinds[each.name]) if isinstance(kinds[each.name], types.UnionType) else ()
            optional = type(None) in parts
            # The last one tells: a number, or numbers by prime.
            kind = [part for part in parts or (kinds[each.name],) if part is not type(None)][-1]
            given = {"default": None if each.default is MISSING else each.default} | description
            given.setdefault("none", "none" if optional and given["default"] is None else None)
            given.setdefault("help", helps.get(each.name, ""))
            given |= {"kind": typing.get_origin(kind) or kind, "holds": (*typing.get_args(kind), str)[0]}
            found[each.name] = of_type(name=each.name, optional=optional, **given)
    return found


def check_fields(instance: Any) -> None:
    """Check the options of a frozen dataclass's instance, and put them into their types."""
    for name, described in options(type(instance)).items():
        object.__setattr__(instance, name, described.check(getattr(instance, name)))
