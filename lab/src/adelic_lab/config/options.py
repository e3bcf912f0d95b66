"""Options of an experiment: what `adelic.storage.options` has, and what searches, files and labels make of a value."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from typing import Any

from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.options import Option, check_fields, option, options, text_of

_MOST_ENTRIES = 8  # of a list in a label


@dataclass(frozen=True, kw_only=True)
class Setting(Option):
    """An option of an experiment.

    Attributes:
        tried: the values that a search tries.
        bounds: the range that a search tries, on a logarithmic scale.
        starred: whether it is searched only when its name is given.
        note: what searched values mean, where they are not the option's own.
        of: the models that have this option; () where all have it.
        unwritten: the value that files leave out: what every run had before there was this option. Others are written,
            but for None.
        in_names: how names of runs say a value, as "sigma{}"; None for the option's name and the value, "" for nothing.
        in_labels: how labels in reports say it, as "sigma {}"; None for the option's name and the value.
    """

    tried: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None
    starred: bool = False
    note: str = ""
    of: tuple[str, ...] = ()
    unwritten: Any = None
    in_names: str | None = None
    in_labels: str | None = None

    def __str__(self) -> str:
        values = f"{self.bounds[0]:g} to {self.bounds[1]:g}" if self.bounds else ", ".join(map(str, self.tried))
        return f"{values} {self.note}".rstrip()

    def drawn(self, value: Any) -> Any:
        """Return a value that a search has drawn as it is used: of a range with three digits, which one can repeat.

        >>> Setting(name="dropout", bounds=(0.01, 1.0)).drawn(0.123456)
        0.123
        """
        return float(f"{value:.3g}") if self.bounds else value

    def in_name(self, value: Any) -> str:
        """Return how the name of a run says a value; empty if it does not.

        >>> Setting(name="sigma", kind=float).in_name(0.30), Setting(name="base", in_names="{}").in_name(30)
        ('sigma0.3', '30')
        """
        plain = f"{'' if value else 'no-'}{self.name}" if self.kind is bool else f"{self.name}{{}}"
        return (plain if self.in_names is None else self.in_names).format(short(value))

    def in_label(self, value: Any) -> str:
        """Return how the label of a model in a report says a value.

        >>> Setting(name="sigma", kind=float).in_label(0.30), Setting(name="base", in_labels="{} signs").in_label(25)
        ('sigma 0.3', '25 signs')
        """
        words = self.name.replace("_", " ")
        plain = f"{'' if value else 'no '}{words}" if self.kind is bool else f"{words} {{}}"
        return (plain if self.in_labels is None else self.in_labels).format(short(value))


setting = partial(option, of_type=Setting)
"""A dataclass's field that is an option of an experiment, as of `adelic.storage.options.option`."""


def packaged(name: str) -> dict[str, Any]:
    """Return the tables of a TOML file that comes with this package.

    >>> packaged("config/solvers.toml")["titles"]["fone"]
    'FoNE'
    """
    return tomllib.loads(resources.files("adelic_lab").joinpath(name).read_text(encoding="utf-8"))


def short(value: Any) -> str:
    """Return a value in a label: of a list, or of numbers by prime, that is long, the first entries and the last.

    >>> short(0.30), short(None), short([2, 3, 5]), short([2, 3, 5, 7, 11, 13, 17, 19, 23])
    ('0.3', 'none', '2,3,5', '2,3,..,23')
    """
    if isinstance(value, bool | None):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    entries = text_of(value).split(",")
    return ",".join(entries if len(entries) <= _MOST_ENTRIES else [*entries[:2], "..", entries[-1]])


@dataclass(frozen=True, kw_only=True)
class Described:
    """A part of an experiment: a name, and fields that are options, which are checked."""

    name: str

    def __post_init__(self) -> None:
        """Check the values, and put them into their types."""
        check_fields(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the table of config.toml: the name, and the values of options without those that files leave out."""
        values = {name: getattr(self, name) for name in options(type(self))}
        left_out = {name: (None, described.unwritten) for name, described in options(type(self)).items()}
        said = {name: value for name, value in values.items() if value not in left_out[name]}
        return {"name": self.name} | {name: _written(value) for name, value in said.items()}


def _written(value: Any) -> Any:
    """Return a value as files have it: tuples are lists, numbers by prime a text."""
    if isinstance(value, Mapping):
        return text_of(value)
    return list(value) if isinstance(value, tuple) else value


def check_table(described: type, table: Any, where: str) -> dict[str, Any]:
    """Return the options that a table of a file gives to a dataclass, checked.

    In a file the name has underscores, on a command line dashes.

    >>> from dataclasses import make_dataclass
    >>> Mine = make_dataclass("Mine", [("batch_size", int, setting(1, least=1, greatest=9))])
    >>> check_table(Mine, {"batch_sise": 3}, "mine.toml [recipe]")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.toml [recipe] has an unknown 'batch_sise'; known: batch_size
    >>> check_table(Mine, {"batch_size": 0}, "mine.toml [recipe]")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.toml [recipe]: batch_size=0 must be a whole number from 1 to 9
    """
    known = options(described)
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is missing; `adelic tune` writes such files")
    for key in table:
        if key not in known:
            raise ConfigurationError(f"{where} has an unknown {key!r}; known: {', '.join(known)}")
    try:
        return {key: replace(known[key], in_files=True).check(value) for key, value in table.items()}
    except AdelicError as error:
        raise type(error)(f"{where}: {error}") from None
