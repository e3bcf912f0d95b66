"""Shared by the commands: types of parameters, and parameters that fields of dataclasses describe.

A command is a function. Its keywords are the options, their annotations give the types, and the docstring explains
each of them; cyclopts makes the parser and the help from them. The options of data and experiments are described by
the fields of their dataclasses instead, see `adelic.storage.options`, and `takes` gives a command those.
"""

import inspect
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.exceptions import CycloptsError

from adelic.errors import UnknownNameError
from adelic.numbers.describe import describe, shortened
from adelic.storage.options import Option, help_of, options, text_of

_LONGEST_RANGE = 10_000
_MANY = 4  # choices, which only the help of an option lists

# One word of the command line is one value, and may begin with a dash: --operation -
_word = partial(Parameter, n_tokens=1, allow_leading_hyphen=True, accepts_keys=False)


class UsageError(CycloptsError):
    """Options that do not go together; the message ends with the command for help."""


def reader(read: Callable[[str], Any]) -> Callable[[Any, Any], Any]:
    """Return a converter, as cyclopts takes it, from a function of one text."""
    return lambda _, tokens: read(tokens[-1].value)  # of an option that is given twice, the last


def integers(text: str, each: Option | None = None) -> tuple[int, ...]:
    """Return integers separated by commas; "a-b" is a range. With a field of an experiment, each within its bounds.

    >>> integers("2,3,5"), integers("0-3")
    ((2, 3, 5), (0, 1, 2, 3))
    """
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        try:
            listed = range(int(low), int(high) + 1) if dash and low else [int(part)]
        except ValueError:
            raise ValueError(f"{describe(part.strip())} is not an integer; write 2,3,5 or 0-4") from None
        if not listed or listed[-1] - listed[0] >= _LONGEST_RANGE:
            least = f"more than {_LONGEST_RANGE} integers" if listed else "no integer"
            raise ValueError(f"{describe(part.strip())} lists {least}")
        found += listed
    return tuple(found if each is None else map(each.check, found))


def names(text: str) -> tuple[str, ...]:
    """Return names separated by commas.

    >>> names("fone, base-10,")
    ('fone', 'base-10')
    """
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def duration(text: str) -> float:
    """Return the seconds of a time span in hours, minutes and seconds.

    >>> duration("25m"), duration("1h30m")
    (1500.0, 5400.0)
    """
    parts = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?", text.strip(), re.ASCII)
    hours, minutes, seconds = (int(part or 0) for part in (parts.groups() if parts else (0, 0, 0)))
    span = 3600 * hours + 60 * minutes + seconds
    if not span:
        raise ValueError(f"{text!r} is not a time span; write 25m, 90s or 1h30m")
    return float(span)


def _name(text: str) -> str:
    """Return a text that is not empty; an unset variable of a shell is empty, and would mean the default."""
    if not text:
        raise ValueError("the text is empty; write one, or leave the option out")
    return text


def _path(text: str) -> Path:
    """Return the name of a file or a folder: any but an empty one, which would be the working directory."""
    if not text:
        raise ValueError("the name is empty; name a file or a folder")
    return Path(text)


Text = Annotated[str, _word(converter=reader(_name), metavar="TEXT")]
File = Annotated[Path, _word(converter=reader(_path), metavar="PATH")]
Integers = Annotated[tuple[int, ...], _word(converter=reader(integers), metavar="INTEGERS")]
Names = Annotated[tuple[str, ...], _word(converter=reader(names), metavar="NAMES")]
ByPrime = Annotated[
    int | dict[int, int],
    _word(converter=reader(Option(name="precision", kind=Mapping).parse), metavar="DIGITS"),
]
Duration = Annotated[float, _word(converter=reader(duration), metavar="DURATION")]
Number = Annotated[str, Parameter(allow_leading_hyphen=True)]  # so -3 is one
Flag = Annotated[bool, Parameter(show_default=False)]
Json = Annotated[Flag, Parameter("--json", help="Print JSON instead of text.")]
RunsDir = Annotated[File, Parameter(help="Folder that holds the runs, a folder each.")]
DryRun = Annotated[Flag, Parameter(help="Print the commands of the runs, and train nothing.")]


def field_options(
    *described: type,
    only: Collection[str] = (),
    default: str | None = None,
    is_filled: bool = False,
    group: str | None = None,
) -> list[inspect.Parameter]:
    """Return the options of the command line that the fields of dataclasses describe, each once, in their order.

    A field that several have is described by all of them.

    Args:
        described: dataclasses with fields of `adelic.storage.options.option`.
        only: names of fields; by default all.
        default: the default as the help shows it, "" to show none; if left out, the field's.
        is_filled: whether a command gets the field's default if none is given, and not None.
        group: the box of the help that lists them.
    """
    found: dict[str, list[Option]] = {}
    for kind in described:
        for name, option in options(kind).items():
            if not only or name in only:
                found.setdefault(name, []).append(option)
    return [_field_option(each, default, is_filled=is_filled, group=group) for each in found.values()]


def _field_option(found: list[Option], default: str | None, *, is_filled: bool, group: str | None) -> inspect.Parameter:
    first, words = found[0], " ".join(dict.fromkeys(option.help for option in found))
    if not all(option.choices for option in found):  # a table's split may be a column
        first = replace(first, choices=())
    if default is not None:
        words = re.sub(r"  \[default: [^]]*\]$", "", words)
    elif first.kind is bool and first.default is not None:
        default = "yes" if first.default else "no"
    elif first.default is not None:
        default = text_of(first.default)
    elif first.none != "none":
        default = first.none
    if default and not words.endswith("]"):
        words += f"  [default: {default}]"
    how: dict[str, Any] = {"help": words, "show_default": False} | _in(group)
    kinds = {int: "INTEGER", float: "NUMBER", tuple: "LIST", Mapping: "DIGITS"}
    metavar = "|".join(first.words_for_all) if 0 < len(first.choices) < _MANY else kinds.get(first.kind, "TEXT")
    also = [f"--{first.also}"] if first.also else []
    read = _word(converter=reader(first.parse), metavar=metavar, alias=also, **how)
    kind: Any = Annotated[Any, read]
    if first.kind is bool:
        kind = Annotated[bool | None, Parameter(negative=f"--no-{first.dashed}", **how)]
    return _keyword(first.name, kind, first.default if is_filled else None)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def name_option(
    described: type, option: str, known: str, group: str | None = None, kind: Any = Text
) -> inspect.Parameter:
    """Return the option for the name of something that a dataclass describes: the embedding, the recipe.

    Args:
        described: its docstring describes the name, with {names} for the known ones.
        option: without dashes, as "embedding".
        known: the names that there are, in words.
        group: of the help.
        kind: the type: a text, or several names.
    """
    words = help_of(described)["name"].format(names=known)
    return _keyword(option, Annotated[kind | None, Parameter(help=words, **_in(group))], None)


def _in(group: str | None) -> dict[str, Any]:
    return {} if group is None else {"group": group}  # None would hide it


def takes(*parameters: inspect.Parameter) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command more keywords, which it gets by its `**given`.

    They come first in the help, in their order. Those that the command has by name need no annotation there.
    """
    given = {parameter.name for parameter in parameters}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = [p for p in own if p.name not in given]
        described = [p for p in own if p.kind is not p.KEYWORD_ONLY]
        described += [*parameters, *(p for p in own if p.kind is p.KEYWORD_ONLY)]
        command.__signature__ = inspect.Signature(described)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in described}
        return command

    return decorate


GIVEN: list[str] = []
"""The words of the command line, which `adelic.cli.main` keeps here."""


def command_line() -> str:
    """Return the command line that this process carries out."""
    return shlex.join(["adelic", *GIVEN])


def flags_of(command: Callable[..., Any]) -> dict[str, str]:
    """Return the options of a command by the names of its keywords.

    >>> def mine(*, runs_dir: RunsDir, as_json: Json): ...
    >>> flags_of(mine)
    {'runs_dir': '--runs-dir', 'as_json': '--json'}
    """
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            told = [p.name for p in getattr(parameter.annotation, "__metadata__", ()) if getattr(p, "name", None)]
            found[name] = told[-1][0] if told else f"--{name.replace('_', '-')}"
    return found


def with_options(text: str, flags: Mapping[str, str]) -> str:
    """Return an error's text with --fractional-digits 1 for fractional_digits=1, --primes 2,3 for primes=(2, 3)."""
    text = re.sub(r"\bprimes=\(([\d, ]+)\)", lambda match: "primes=" + match[1].replace(" ", "").strip(","), text)
    text = re.sub(r"\bprecision=\{([\d:, -]+)\}", lambda match: "precision=" + match[1].replace(" ", ""), text)
    for name, flag in flags.items():
        # In messages it has underscores or dashes, and Python's name or the option's; after --search it names a
        # dimension.
        spelled = "|".join(re.escape(each).replace("_", "[-_]") for each in (name, flag.removeprefix("--")))
        text = re.sub(rf"(?<!--search )(?<![\w-])(?:{spelled})=", f"{flag} ", text)
    return text.replace("AdeleSpace.decimal()", "--primes 3,7,11,13,17,19,23")


def plain(text: str) -> str:
    r"""Return a text with escapes for control codes, which a terminal would obey.

    >>> plain("evil\x1b[31m")
    'evil\\x1b[31m'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def refuse_options(numbers: Iterable[str], command: Callable[..., Any]) -> None:
    """Raise for an unknown option, which a command that takes -3 for a number gets as an argument."""
    for number in numbers:
        if number.startswith("--"):
            raise UnknownNameError.of("option", shortened(number), flags_of(command).values())
