"""Options, types of parameters and progress bars that the commands share."""

import math
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from adelic.data.protocol import Progress as OnProgress
from adelic.errors import AdelicError, UnknownNameError
from adelic.numbers.describe import describe, shortened
from adelic.storage.options import Option, name_option, options

Command = Callable[..., Any]
_LONGEST_RANGE = 10_000
_SECONDS_UNTOLD, _SECONDS_A_LINE, _SECONDS_IN_AN_EPOCH = 0.9, 10.0, 60.0


class SuggestingGroup(click.Group):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(str(UnknownNameError.of("command", name, self.list_commands(ctx))))
        return super().resolve_command(ctx, args)


class SectionedOption(click.Option):
    """An option that stands in a section of the help, which has a title."""

    def __init__(self, *declared: Any, section: str, **how: Any) -> None:
        super().__init__(*declared, **how)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help has its options in sections, in the order in which these begin; the others come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the help."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        others = sections.pop("Options")  # --help is one of them
        for title, records in (*sections.items(), ("Options", others)):
            with formatter.section(title):
                formatter.write_dl(records)


class IntegerList(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click alone
    """Integers separated by commas; "a-b" is a range. With a field of an experiment, each within its bounds."""

    name = "integers"

    def __init__(self, each: Option | None = None) -> None:
        self.each = each

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the integers that a text lists, such as 2,3,5 or 0-4."""
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for part in str(value).split(","):
            low, dash, high = part.strip().partition("-")
            try:
                listed = range(int(low), int(high) + 1) if dash and low else [int(part)]
            except ValueError:
                self.fail(f"{describe(part.strip())} is not an integer; write 2,3,5 or 0-4", param, ctx)
            if not listed:
                self.fail(f"{describe(part.strip())} lists no integer", param, ctx)
            if listed[-1] - listed[0] >= _LONGEST_RANGE:
                self.fail(f"{describe(part.strip())} lists more than {_LONGEST_RANGE} integers", param, ctx)
            found += listed
        if self.each is not None:
            each = Given(self.each if param is None else replace(self.each, name=param.opts[0].lstrip("-")))
            for number in found:
                each.convert(str(number), param, ctx)
        return tuple(found)


class NameList(click.ParamType):  # type: ignore[type-arg]
    """Names separated by commas."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names that a text lists."""
        return value if isinstance(value, tuple) else tuple(n for n in (p.strip() for p in str(value).split(",")) if n)


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A time span in hours, minutes and seconds, as 25m or 1h30m."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds of a time span."""
        if isinstance(value, float):
            return value
        parts = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?", str(value).strip(), re.ASCII)
        hours, minutes, seconds = (int(part or 0) for part in (parts.groups() if parts else (0, 0, 0)))
        span = 3600 * hours + 60 * minutes + seconds
        if not span:
            self.fail(f"{value!r} is not a time span; write 25m, 90s or 1h30m", param, ctx)
        return float(span)


class Name(click.ParamType):  # type: ignore[type-arg]
    """A text that is not empty, as that of an unset variable of a shell, which would mean the default."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text."""
        if value == "":
            self.fail("the text is empty; write one, or leave the option out", param, ctx)
        return value


class FileName(click.Path):
    """The name of a file or a folder: any but an empty one, which would be the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the name is empty; give that of a file or a folder", param, ctx)
        return super().convert(value, param, ctx)


INTEGERS = IntegerList()
DURATION = Duration()
PATH = FileName(path_type=Path)
NAME = Name()
NAMES = NameList()


class Given(click.ParamType):  # type: ignore[type-arg]
    """A value of an option of an experiment, in the words and within the bounds that its field says."""

    def __init__(self, described: Option) -> None:
        self.described = described
        self.name = {int: "integer", float: "number", tuple: "list", Mapping: "digits"}.get(described.kind, "text")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value that a text means."""
        if not isinstance(value, str):
            return value
        try:
            return self.described.parse(value)
        except AdelicError as error:
            error.args = (str(error).replace(f"{self.described.dashed}=", f"--{self.described.dashed} ", 1),)
            raise


def field_options(
    *experiments: type,
    only: Collection[str] = (),
    default: str | None = None,
    is_filled: bool = False,
    section: str = "Options",
) -> Callable[[Command], Command]:
    """Return the options of the command line that the fields of dataclasses describe, each once, in their order.

    A field that several have is described by all of them.

    Args:
        experiments: dataclasses with fields of `adelic.storage.options.option`.
        only: names of fields; by default all.
        default: what the help says of the value where none is given; by default the field's own.
        is_filled: whether a command gets the field's default where none is given, and not None.
        section: of the help of a `SectionedCommand`, in which they stand.
    """
    found: dict[str, list[Option]] = {}
    for kind in experiments:
        for name, described in options(kind).items():
            if not only or name in only:
                found.setdefault(name, []).append(described)
    how = {"cls": SectionedOption, "section": section}
    return stack(*(_field_option(described, default, how, is_filled=is_filled) for described in found.values()))


def named_option(described: type, flag: str, *, section: str = "Options", **how: Any) -> Callable[[Command], Command]:
    """Return the option for the name of what a dataclass describes: the embedding, the recipe.

    Args:
        described: with a field of `adelic.storage.options.named`.
        flag: of the option, as "--embedding".
        section: of the help, as for `field_options`.
        how: what else click is told, such as its type.
    """
    shown: dict[str, Any] = {"help": name_option(described).help, "cls": SectionedOption, "section": section}
    return click.option(flag, **shown | {"type": NAME} | how)


def _field_option(
    found: list[Option], default: str | None, how: Mapping[str, Any], *, is_filled: bool
) -> Callable[[Command], Command]:
    first, words = found[0], " ".join(dict.fromkeys(described.help for described in found))
    if not all(described.choices for described in found):  # a table's split may be a column
        first = replace(first, choices=())
    if default:
        words = re.sub(r"  \[default: [^]]*\]$", "", words)
    if default is None and first.default is None and first.none != "none":
        default = first.none
    if default is None and first.default is not None:
        default = str(first.default)
        if first.kind is tuple:
            default = ",".join(map(str, first.default))
        elif first.kind is bool:
            default = "yes" if first.default else "no"
    if default and not words.endswith("]"):
        words += f"  [default: {default}]"
    if first.kind is bool:
        return click.option(f"--{first.dashed}/--no-{first.dashed}", default=None, help=words, **how)
    metavar = f"[{'|'.join(first.words_for_all)}]" if first.choices else None
    filled = first.default if is_filled else None
    names = [f"--{name}" for name in (first.dashed, first.also) if name]
    return click.option(*names, first.name, type=Given(first), metavar=metavar, default=filled, help=words, **how)


def stack(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator that applies several, the first one outermost."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


runs_option = click.option(
    "--runs-dir", type=PATH, default="runs", show_default=True, help="Folder that holds the runs, a folder each."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the commands of the runs, and train nothing.")


def space_options(default_primes: str, *, by_prime: bool) -> Callable[[Command], Command]:
    """Return the options --primes, --precision, with digits by prime or not, and --fractional-digits."""
    several = ": one for all, or by prime, as 2:7,3:5,11:1, which names the primes too" if by_prime else ""
    return stack(
        click.option(
            "--primes",
            type=INTEGERS,
            help=f"Different primes at which digits are shown, as 2,3,5.  [default: {default_primes}]",
        ),
        click.option(
            "--precision",
            type=Given(Option(name="precision", kind=Mapping)) if by_prime else int,
            help=f"Number of digits at each prime{several}.  [default: 16]",
        ),
        click.option(
            "--fractional-digits",
            type=int,
            help="How many of these digits stand after the point.  [default: as many as the numbers need]",
        ),
    )


def in_terms_of_options(command: Command) -> Command:
    """Return a command whose errors name its options where the package's name Python's keywords."""

    @wraps(command)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return command(*arguments, **named)
        except AdelicError as error:
            error.args = (with_options(str(error), click.get_current_context().command.params),)
            raise

    return run


def with_options(text: str, parameters: list[click.Parameter]) -> str:
    """Return an error's text with --fractional-digits 1 for fractional_digits=1, --primes 2,3 for primes=(2, 3)."""
    text = re.sub(r"\bprimes=\(([\d, ]+)\)", lambda match: "primes=" + match[1].replace(" ", "").strip(","), text)
    text = re.sub(r"\bprecision=\{([\d:, -]+)\}", lambda match: "precision=" + match[1].replace(" ", ""), text)
    for option in parameters:
        if isinstance(option, click.Option) and option.name:
            # In messages it has underscores or dashes; behind --search it names a dimension.
            name = re.escape(option.name).replace("_", "[-_]")
            text = re.sub(rf"(?<!--search )(?<![\w-]){name}=", f"{option.opts[0]} ", text)
    return text.replace("AdeleSpace.decimal()", "--primes 3,7,11,13,17,19,23")


def plain(text: str) -> str:
    r"""Return a text with escapes for control codes, which a terminal would obey.

    >>> plain("evil\x1b[31m")
    'evil\\x1b[31m'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def refuse_options(numbers: tuple[str, ...]) -> None:
    """Raise for an unknown option, which a command that takes -3 for a number gets as an argument."""
    for number in numbers:
        if number.startswith("--"):
            raise click.NoSuchOption(shortened(number), ctx=click.get_current_context())


@contextmanager
def progress_bar(title: str, *, percent: bool = False, transient: bool = False) -> Iterator[OnProgress]:
    """Show a progress bar on stderr; yield the function that moves it: update(done, total, text).

    Where stderr is not a terminal, it is lines instead: one after each epoch, and in a long one the first after ten
    seconds, then one a minute; of other work one in ten seconds.

    Args:
        title: stands before the text.
        percent: show the share that is done, instead of both numbers.
        transient: leave nothing on the terminal in the end.
    """
    columns = (
        TextColumn("{task.description}", markup=False),  # brackets in names are not markup
        BarColumn(),
        TaskProgressColumn() if percent else MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    title = plain(title)
    console = Console(stderr=True)
    if not console.is_terminal:
        with _told_in_lines(title) as told:
            yield told
        return
    progress = Progress(*columns, console=console, transient=transient)
    task = progress.add_task(title, total=None)

    def update(done: int, total: int, text: str) -> None:
        progress.start()  # not before there is something to show; starting twice does nothing
        progress.update(task, completed=done, total=total, description=f"{title} · {plain(text)}")

    try:
        yield update
        progress.update(task, description=title)
    finally:
        if progress.live.is_started:
            progress.stop()


@contextmanager
def _told_in_lines(title: str) -> Iterator[OnProgress]:
    """Yield a function that writes lines, each at once; what is prepared, as (0, 1, text), only after a second."""
    began, spoken, prepared = time.monotonic(), -math.inf, ""
    prepares = threading.Timer(0, lambda: None)

    def update(done: int, total: int, text: str) -> None:
        nonlocal spoken, prepared, prepares
        prepares.cancel()
        if (done, total) == (0, 1) and text != prepared:
            prepared = text
            prepares = threading.Timer(_SECONDS_UNTOLD, click.echo, [f"{title} · {plain(text)}"], {"err": True})
            prepares.daemon = True
            prepares.start()
            return
        now = time.monotonic()
        epoch = re.search(r"\bepoch \d+/\d+(, validation )?", text)
        is_done = epoch is not None and epoch[1] is not None
        silent = now - spoken if epoch is None else now - max(spoken, began)
        is_first = spoken == -math.inf  # a minute without a line looks like a command that hangs
        if is_done or silent >= (_SECONDS_A_LINE if epoch is None or is_first else _SECONDS_IN_AN_EPOCH):
            count = "" if is_done or total == 1 else f" · {done:,} of {total:,}"
            click.echo(f"{title} · {plain(text)}{count}", err=True)  # which flushes
            spoken = now

    try:
        yield update
    finally:
        prepares.cancel()
