"""Options: the metadata of an experiment's fields, which are the only description of an option.

Command lines, the checks of TOML files, searches and printed commands are made from it. One more option is one more
field, with `option(...)` in place of its default.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, replace
from typing import Any

from adelic.errors import ConfigurationError, UnknownNameError
from adelic.storage.checks import check_count, shown, whole_number


@dataclass(frozen=True, kw_only=True)
class Option:
    """The description of one option: a field of a dataclass, and its metadata.

    Attributes:
        name: as in Python; on the command line it has dashes.
        kind: int, float, bool, str or tuple; or Mapping, for a whole number or one for each prime, as 2:7,3:5.
        holds: of a tuple, the kind of its entries.
        optional: whether None is a value too: nothing of the kind.
        none: the text by which a user asks for None; "none" where None is the default, too, and else no text.
        default: the value where none is given; None where one must be.
        help: a sentence for the command line; a field with an empty one is not an option there.
        choices: the texts that there are.
        least, greatest: bounds of a number, both included.
        positive: whether a number has to be above 0.
        below: a number has to be below this one.
        tried: the values that a search tries.
        bounds: the range that a search tries, on a logarithmic scale.
        starred: whether it is searched only when its name is given.
        note: what searched values mean, where they are not the option's own.
        of: the models that have this option; () where all have it.
        unwritten: the value that files leave out: what every run had before there was this option. Others are written,
            but for None.
        in_names: how names of runs say a value, as "sigma{}"; None for the option's name and the value, "" for nothing.
        in_labels: how labels in reports say it, as "sigma {}"; None for the option's name and the value.
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
    tried: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None
    starred: bool = False
    note: str = ""
    of: tuple[str, ...] = ()
    unwritten: Any = None
    in_names: str | None = None
    in_labels: str | None = None
    in_files: bool = False
    also: str = ""

    def __str__(self) -> str:
        shown = f"{self.bounds[0]:g} to {self.bounds[1]:g}" if self.bounds else ", ".join(map(str, self.tried))
        return f"{shown} {self.note}".rstrip()

    @property
    def words_for_all(self) -> tuple[str, ...]:
        """Return the choices as a user writes them, that of None first."""
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
        if self.kind is int:
            least, greatest = (
                int(limit if bound is None else bound)
                for bound, limit in ((self.least, -(1 << 63)), (self.greatest, (1 << 63) - 1))
            )
            return check_count(self.dashed, value, least=least, greatest=greatest)
        if self.kind is float:
            return self._number(value)
        if self.kind is bool:
            if type(value) is not bool:
                raise ConfigurationError(f"{self.dashed}={shown(value)} must be true or false")
            return value
        if self.kind is tuple:
            return self._entries(value)
        if self.kind is Mapping:
            return self._by_prime(value)
        if self.choices and value not in self.choices:
            raise UnknownNameError.of(self.name, value, self.words_for_all, listed=self.name)
        if not isinstance(value, str):
            raise ConfigurationError(f"{self.dashed}={shown(value)} must be a text")
        return value

    def _number(self, value: Any) -> float:
        number = whole_number(value) if not isinstance(value, float) else value
        if (
            number is None
            or not math.isfinite(number)
            or (self.positive and number <= 0)
            or (self.least is not None and number < self.least)
            or (self.greatest is not None and number > self.greatest)
            or (self.below is not None and number >= self.below)
        ):
            wanted = "a positive number" if self.positive else "a number"
            wanted += f" from {self.least:g}" if self.least is not None else ""
            wanted += f" to {self.greatest:g}" if self.greatest is not None else ""
            wanted += f" to below {self.below:g}" if self.below is not None else ""
            raise ConfigurationError(f"{self.dashed}={shown(value)} must be {wanted}")
        return float(number)

    def _entries(self, value: Any) -> tuple[Any, ...]:
        whole = isinstance(value, list | tuple) and all(
            (whole_number(entry) is not None) if self.holds is int else isinstance(entry, self.holds) for entry in value
        )
        if not whole:
            entries = "whole numbers" if self.holds is int else "names"
            raise ConfigurationError(f"{self.dashed}={shown(value)} must be a list of {entries}")
        return tuple(map(int, value) if self.holds is int else value)

    def _by_prime(self, value: Any) -> int | dict[int, int]:
        """Return a whole number, or one for each prime, from a mapping (in files its keys are texts) or a text."""
        pairs: Any = None
        if isinstance(value, Mapping):
            pairs = list(value.items())
        elif isinstance(value, str):
            pairs = [part.strip().split(":") for part in value.split(",")]
        elif whole_number(value) is not None:
            return check_count(self.dashed, value, least=-(1 << 63), greatest=(1 << 63) - 1)
        try:
            keys, counts = zip(*pairs, strict=True)
            primes = [_whole(key) for key in keys]
            found = {p: _whole(n) if isinstance(value, str) else n for p, n in zip(primes, counts, strict=True)}
        except (TypeError, ValueError):  # no pairs at all, a part without one colon, or not a whole number
            found = {}
        if not found or any(whole_number(n) is None for n in found.values()):
            raise ConfigurationError(
                f"{self.dashed}={shown(value)} must be a whole number, or one for each prime, as 2:7,3:5"
            )
        if len(found) < len(primes):
            twice = next(p for p in primes if primes.count(p) > 1)
            raise ConfigurationError(f"{self.dashed}={shown(value)} names {twice} twice; name each prime once")
        return {p: int(n) for p, n in found.items()}

    def parse(self, text: str) -> Any:
        """Return the value that a text means, checked; that for None stays as it is, which is told so from not given.

        >>> Option(name="primes", kind=tuple, holds=int).parse("2,3"), Option(name="epochs", kind=int).parse("3")
        ((2, 3), 3)
        """
        if text == self.none:
            return text
        value: Any = text
        try:
            if self.kind is int or self.kind is float:
                value = self.kind(text)
            elif self.kind is Mapping:
                value = int(text)
            elif self.kind is bool:
                value = {"true": True, "false": False}.get(text.lower(), text)
            elif self.kind is tuple:
                value = tuple(self.holds(part.strip()) for part in text.split(","))
        except ValueError:
            pass  # `check` says what is wanted
        return self.check(value)

    def drawn(self, value: Any) -> Any:
        """Return a value that a search has drawn as it is used: of a range with three digits, which one can repeat.

        >>> Option(name="dropout", bounds=(0.01, 1.0)).drawn(0.123456)
        0.123
        """
        return float(f"{value:.3g}") if self.bounds else value

    def words(self, value: Any) -> list[str]:
        """Return how the command line gives a value.

        >>> Option(name="primes", kind=tuple).words((2, 3)), Option(name="symmetries", kind=bool).words(False)
        (['--primes', '2,3'], ['--no-symmetries'])
        >>> Option(name="precision", kind=Mapping).words({2: 7, 3: 5})
        ['--precision', '2:7,3:5']
        """
        if self.kind is bool:
            return [f"--{'' if value else 'no-'}{self.dashed}"]
        text = ",".join(map(str, value)) if self.kind is tuple else str(self.none if value is None else _written(value))
        return [f"--{self.dashed}", text]

    def in_name(self, value: Any) -> str:
        """Return how the name of a run says a value; empty where it does not.

        >>> Option(name="sigma", kind=float).in_name(0.30), Option(name="base", in_names="{}").in_name(30)
        ('sigma0.3', '30')
        """
        plain = f"{'' if value else 'no-'}{self.name}" if self.kind is bool else f"{self.name}{{}}"
        return (plain if self.in_names is None else self.in_names).format(short(value))

    def in_label(self, value: Any) -> str:
        """Return how the label of a model in a report says a value.

        >>> Option(name="sigma", kind=float).in_label(0.30), Option(name="n_primes", in_labels="{} primes").in_label(25)
        ('sigma 0.3', '25 primes')
        """
        words = self.name.replace("_", " ")
        plain = f"{'' if value else 'no '}{words}" if self.kind is bool else f"{words} {{}}"
        return (plain if self.in_labels is None else self.in_labels).format(short(value))


_MOST_ENTRIES = 8


def short(value: Any) -> str:
    """Return a value in a label: of a list, or of numbers by prime, that is long, the first entries and the last.

    >>> short(0.30), short(None), short([2, 3, 5]), short([2, 3, 5, 7, 11, 13, 17, 19, 23])
    ('0.3', 'none', '2,3,5', '2,3,..,23')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    entries = ["none"] if value is None else str(_written(value)).split(",")
    if isinstance(value, list | tuple):
        entries = list(map(str, value))
    return ",".join(entries if len(entries) <= _MOST_ENTRIES else [*entries[:2], "..", entries[-1]])


def _whole(value: Any) -> int:
    """Return a whole number that a text may write; ValueError for anything else."""
    if isinstance(value, str):
        return int(value)
    number = whole_number(value)
    if number is None:
        raise ValueError(value)
    return number


def _written(value: Any) -> Any:
    """Return a value as files have it: tuples are lists, numbers by prime a text."""
    if isinstance(value, Mapping):
        return ",".join(f"{p}:{n}" for p, n in value.items())
    return list(value) if isinstance(value, tuple) else value


def option(default: Any = MISSING, /, **description: Any) -> Any:
    """Return a dataclass's field with a description.

    `description` has attributes of `Option`; name, kind and whether None is a value follow from the field. A field of
    some models alone is None in others, and says in the description which `default` it has in those.
    """
    return field(default=default, metadata={"option": description})


def named(**description: Any) -> Any:
    """Return a dataclass's field for the name of what it describes, with a description as of `option`.

    A command line has an option of its own for it, see `name_option`; the other options do not have it among them.
    """
    return field(metadata={"name": description})


def name_option(described: type) -> Option:
    """Return the description of a dataclass's name.

    >>> @dataclass
    ... class Mine:
    ...     name: str = named(help="Which one.")
    >>> name_option(Mine).help, list(options(Mine))
    ('Which one.', [])
    """
    (found,) = (each.metadata["name"] for each in dataclasses.fields(described) if "name" in each.metadata)
    return Option(**found)


def options(described: type) -> Mapping[str, Option]:
    """Return the options among the fields of a dataclass, by name, in their order.

    >>> @dataclass
    ... class Mine:
    ...     size: int | None = option(None, least=1, greatest=9)
    >>> options(Mine)["size"].kind, options(Mine)["size"].optional
    (<class 'int'>, True)
    """
    if described not in _KNOWN:
        _KNOWN[described] = types.MappingProxyType(_read(described))
    return _KNOWN[described]


# Not functools.cache: mypy takes the type of a dataclass for unhashable, as its instances may be.
_KNOWN: dict[type, Mapping[str, Option]] = {}


def _read(described: type) -> dict[str, Option]:
    """Return the options among a dataclass's fields, completed by what the fields themselves say."""
    kinds = typing.get_type_hints(described)
    found = {}
    for each in dataclasses.fields(described):
        if "option" in each.metadata:
            kind, optional = kinds[each.name], False
            if isinstance(kind, types.UnionType):
                parts = [part for part in typing.get_args(kind) if part is not type(None)]
                optional = len(parts) < len(typing.get_args(kind))
                kind = parts[-1]  # the last one says it: a number, or numbers by prime
            holds = (*typing.get_args(kind), str)[0]
            default = None if each.default is MISSING else each.default
            given = {"default": default} | each.metadata["option"]
            if optional and given["default"] is None:
                given.setdefault("none", "none")
            found[each.name] = Option(
                name=each.name, kind=typing.get_origin(kind) or kind, holds=holds, optional=optional, **given
            )
    return found


def check_fields(instance: Any) -> None:
    """Check the options of a frozen dataclass's instance, and put them into their types."""
    for name, described in options(type(instance)).items():
        object.__setattr__(instance, name, described.check(getattr(instance, name)))


def table_of(instance: Any) -> dict[str, Any]:
    """Return the table of an instance in files: the values of its options, without those that files leave out.

    >>> @dataclass
    ... class Mine:
    ...     size: int | None = option(None, least=1, greatest=9)
    ...     images: bool = option(False, unwritten=False)
    >>> table_of(Mine()), table_of(Mine(size=3, images=True))
    ({}, {'size': 3, 'images': True})
    """
    values = {name: getattr(instance, name) for name in options(type(instance))}
    return {
        name: _written(value)
        for name, value in values.items()
        if value is not None and value != options(type(instance))[name].unwritten
    }


def check_table(described: type, table: Any, where: str) -> dict[str, Any]:
    """Return the options that a table of a file gives to a dataclass, checked.

    >>> @dataclass
    ... class Mine:
    ...     size: int = option(1, least=1, greatest=9)
    >>> check_table(Mine, {"sise": 3}, "mine.toml [recipe]")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.toml [recipe] has an unknown 'sise'; known: size

    In a file the name has underscores, on a command line dashes.

    >>> @dataclass
    ... class TrainConfig:
    ...     batch_size: int = option(1, least=1, greatest=9)
    >>> check_table(TrainConfig, {"batch_size": 0}, "mine.toml [recipe]")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.toml [recipe]: batch_size=0 must be a whole number from 1 to 9
    """
    known = options(described)
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is missing; `adelic tune` writes such files")
    for key in table:
        if key not in known:
            raise ConfigurationError(f"{where} has an unknown {key!r}; known: {', '.join(known)}")
    checked = {}
    for key, value in table.items():
        try:
            checked[key] = replace(known[key], in_files=True).check(value)
        except (ConfigurationError, UnknownNameError) as error:
            raise type(error)(f"{where}: {error}") from None
    return checked
