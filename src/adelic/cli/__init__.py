"""The command line: parse, call, print.

`options` is shared by the commands, each other module one command, or a few that belong together. They are loaded
when they are called. The options of data and experiments, and their help, come from the fields of dataclasses, never
from here. One more command is a function in a module, and a line in `app` here; another package adds one by the entry
points `adelic.commands`.
"""

import errno
import importlib.metadata
import inspect
import io
import os
import platform
import re
import shlex
import shutil
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import dropwhile, takewhile
from types import FrameType
from typing import Any, NoReturn

from cyclopts import App, Parameter
from cyclopts.exceptions import CycloptsError
from rich.console import Console

from adelic.cli.options import GIVEN, UsageError, flags_of, plain, with_options
from adelic.errors import INTERRUPTED, AdelicError, Interrupted, MissingExtraError, UnknownNameError
from adelic.numbers.describe import one_line
from adelic.storage.version import VERSION

USER_ERROR = 2
UNREAD = 1  # as Rich ends when nobody reads the standard output any more, and as Python's documentation has it
SAVING = (("train",), ("tune",), ("reproduce",), ("data", "build"))
"""The commands that save finished work as they go."""
OF_THE_LABORATORY = ("train", "tune", "predict", "reproduce", "report", "runs")
"""The commands of `adelic_lab`."""
_HELP = """Numbers that carry their own embeddings.

Look at a number          adelic encode 7/5 --primes 2,3,5,7 --precision 6
See it at every place     adelic explore 7/5 --with 3/4
Choose primes and digits  adelic space 0.1 2.75 19.99 --operations 2
Find what a column hides  adelic probe mine.csv --target sold
List the data sets        adelic data list
Train one model           adelic train schubert --n 4 --embedding adelic --recipe quick
Predict new rows          adelic predict runs/mine new.csv
Search a recipe           adelic tune schubert --n 4 --embedding adelic --recipe quick --trials 20
Run a matrix of models    adelic reproduce schubert-4 weaving-6 --embeddings adelic,learned --seeds 0-4
Learn arithmetic          adelic reproduce arithmetic --quick
Report the results        adelic report
List the runs             adelic runs list
Find a number again       adelic decode 1.4 2:…011011 3:…101212 5:1.2 7:…254130
Compile, once             adelic warm

For more on a command: adelic COMMAND --help.

Exit codes: 0 done; 1 not all of the output was read, as by | head, or a check of `adelic data verify` failed; 2 a
message names the fault; 130, 143 stopped by Ctrl-C, by a signal.
"""


OF_DEVELOPERS = frozenset({"bench", "dev", "docs", "fuzz", "nightly"})
"""Extras that only those need who work on adelic itself."""
_WIDEST = 110  # columns of a help
_CONTINUED = 8  # the lines after the first one of an argument are as deep
_EXAMPLE = re.compile(r"(^|  )adelic ")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:.*;.*\bextra == ['\"](?P<extra>[\w.-]+)['\"])?")


def _versions() -> str:
    """Return the facts for a bug report: versions, the platform, the libraries that adelic needs, installed extras."""
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    lines = [f"adelic {VERSION}", f"python {python}", f"platform {platform.platform()}"]
    parts = [match for match in map(_REQUIREMENT.match, importlib.metadata.requires("adelic") or ()) if match]
    needed = [part["name"] for part in parts if not part["extra"]]
    of_users = {part["name"] for part in parts if part["extra"] and part["extra"] not in OF_DEVELOPERS}
    for name in (*needed, *sorted(of_users - {*needed, "adelic"})):
        with suppress(importlib.metadata.PackageNotFoundError):
            lines.append(f"{name} {importlib.metadata.version(name)}")
            continue
        if name in needed:
            lines.append(f"{name} not installed")
    return "\n".join(lines)


def app() -> App:
    """Return the parser: the commands of this package, and those that others add; none of them is imported."""
    whole = App(
        name="adelic",
        help=_HELP,
        help_format="plaintext",
        version=_versions,
        default_parameter=Parameter(negative=(), allow_repeating=True),
        result_action="return_value",
    )
    found = {name: f"adelic.cli.numbers:{name}" for name in ("encode", "decode", "space", "explore")}
    found |= {name: f"adelic.cli.{name}:{name}" for name in ("data", "probe", "warm")}
    found |= {added.name: added.value for added in importlib.metadata.entry_points(group="adelic.commands")}
    for name, where in found.items():
        whole.command(where, name=name, show=f"adelic {name}" not in _HELP)
    return whole


def main(arguments: list[str] | None = None) -> None:
    """Run a command line; exit with 2 and one line on stderr for an error of the user."""
    warnings.showwarning = _show_warning
    _shown.clear()
    _prepare_streams()
    given = sys.argv[1:] if arguments is None else arguments
    flags.clear()
    GIVEN[:] = given
    try:
        with _terminable(f"terminated{_what_is_left(given)}"):
            status = _run(given)
            sys.stdout.flush()
    except AdelicError as error:
        _fail(with_options(str(error), flags), USER_ERROR)
    except CycloptsError as error:
        cause = error.__cause__
        if isinstance(cause, AdelicError) and error.target is not None:  # it is complete
            _fail(with_options(str(cause), flags_of(error.target)), USER_ERROR)
        _fail(f"{error} (see `{shlex.join(['adelic', *(error.command_chain or ()), '--help'])}`)", USER_ERROR)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Interrupted):
            _fail(str(stop), stop.exit_code)
        _fail(f"interrupted{_what_is_left(given)}", INTERRUPTED)
    except MemoryError as error:
        _fail(f"this takes more memory than there is ({error or 'none is left'}); smaller sizes take less", USER_ERROR)
    except OSError:
        trouble = _trouble_with_output()
        if trouble is None:  # it is some other file, and a fault of ours
            raise
        if trouble.errno == errno.EPIPE:  # whoever read it has gone, as `head` does
            sys.exit(UNREAD)
        _fail(f"cannot write to the standard output: {trouble.strerror or trouble}", USER_ERROR)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _run(given: list[str]) -> Any:
    """Find the command, and call it."""
    whole = app()
    name = given[0] if given else "--help"
    if name not in whole:  # cyclopts would import every command to suggest one
        if name in OF_THE_LABORATORY:
            raise MissingExtraError(
                f"adelic {name} is a command of the laboratory, which is not installed: pip install ./lab"
            )
        is_option = name.startswith("-")
        known = [each for each in whole if each.startswith("-") is is_option]
        raise UnknownNameError.of("option" if is_option else "command", name, known)
    try:
        command, bound, _ = whole.parse_args(given, exit_on_error=False, print_error=False, help_on_error=False)
        chain, _, _ = whole.parse_commands(given)
    except ImportError as error:  # cyclopts's, of one that a module of a command has raised
        raise error.__cause__ or error from None
    if getattr(command, "__func__", None) is App.help_print:
        print_help(whole, bound.arguments.get("tokens", ()))
        return 0
    bound.apply_defaults()
    flags.update(flags_of(command))
    try:
        return command(*bound.args, **bound.kwargs)
    except UsageError as error:
        error.command_chain = chain
        raise


def print_help(whole: App, words: Sequence[str]) -> None:
    """Print the help of a command, which its words name, as ["data", "list"]."""
    for app in whole.parse_commands(words)[1]:
        if inspect.isfunction(app.default_command):
            app.default_command.__doc__ = reflowed(app.default_command.__doc__ or "")
        else:
            app.help = reflowed(app.help)
    columns = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    wide, narrow = (_rendered(whole, words, width) for width in (10_000, columns))
    for line in takewhile(_is_text, wide):
        is_whole = _EXAMPLE.search(line) or line.startswith((" ", "Usage:"))
        print(line if is_whole else textwrap.fill(line, columns))
    print(*dropwhile(_is_text, narrow), sep="\n")


def _rendered(whole: App, words: Sequence[str], width: int) -> list[str]:
    """Return the lines of the help in a width; a text is wrapped there, so an example is whole in a wide one."""
    console = Console(width=width)
    with console.capture() as captured:
        whole.help_print(words, console=console)
    return captured.get().rstrip("\n").splitlines()


def _is_text(line: str) -> bool:
    """Return whether a line of the help is above the first box, which lists commands or options."""
    return "╭" not in line


def reflowed(text: str) -> str:
    r"""Return a docstring with each paragraph, and the text of each argument, in one line.

    Examples keep their lines, and so does indented text, as tables are.

    >>> print(reflowed("One\ntwo.\n\nadelic warm\nadelic data list"))
    One two.
    <BLANKLINE>
    adelic warm
    adelic data list
    """
    lines: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        before = lines[-1] if lines else ""
        depth, depth_before = (len(each) - len(each.lstrip()) for each in (line, before))
        goes_on = (depth == depth_before == 0 and before != "Args:") or depth >= _CONTINUED
        if not (before and line) or not goes_on or any(_EXAMPLE.search(each) for each in (before, line)):
            lines.append(line)
        else:
            lines[-1] += f" {line.strip()}"
    return "\n".join(lines)


def _prepare_streams() -> None:
    """Open nothing instead of a closed stream, and let a stream escape characters that its encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (as long as we run)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _trouble_with_output() -> OSError | None:
    """Return the error of the standard output, and have it swallow the rest; None if it takes an end of line."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # a stream of a caller's own
        return None
    try:
        sys.stdout.flush()
        os.write(descriptor, b"\n")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        return error
    return None


@contextmanager
def _terminable(message: str) -> Iterator[None]:
    """Have SIGTERM end a command as Ctrl-C does: files under way are cleaned up, and one line tells of it."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Interrupted(signum, message)

    # Python takes handlers in the main thread alone, and one that a caller has set stays.
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, stop)
    before, sys.unraisablehook = sys.unraisablehook, _signal_again
    try:
        yield
    finally:
        sys.unraisablehook = before
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _signal_again(ignored: Any) -> None:
    """Send a signal again that came while an object was deleted: Python prints an error raised there, and goes on."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        signum = getattr(ignored.exc_value, "signum", signal.SIGINT)
        again = threading.Timer(0.01, os.kill, [os.getpid(), signum])  # when the deletion is over
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(ignored)


def _what_is_left(arguments: list[str]) -> str:
    """Return the results that a stopped command leaves."""
    if any(tuple(arguments[: len(command)]) == command for command in SAVING):
        return "; finished work is saved, and the same command goes on from there"
    return " before it was done; the same command starts anew"


def _fail(message: str, status: int) -> NoReturn:
    with suppress(OSError):  # the standard error is full, too
        # Its end in the same write, so the lines of several processes stay lines.
        print(f"adelic: {plain(one_line(message))}\n", end="", file=sys.stderr, flush=True)
    sys.exit(status)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    line = plain(one_line(with_options(str(message), flags)))
    if line not in _shown:  # a table may be read more than once
        _shown.add(line)
        print(f"adelic: warning: {line}", file=sys.stderr, flush=True)


_shown: set[str] = set()
"""The warnings that this command has shown."""
flags: dict[str, str] = {}
"""The options of this command by the names of Python's keywords, in which errors are told."""
