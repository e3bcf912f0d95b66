"""Layer 7, the command line: parse, call, print.

One module a command, or a few that belong together; `options` has what they share. The options of an experiment and
their help come from the fields of `Experiment`, never from here. May import every layer; no layer imports it. One more
command is a click command in a module, and a name in the list of `add_command` here.
"""

import errno
import io
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from types import FrameType
from typing import Any, NoReturn

import click

from adelic.cli.data import data_commands
from adelic.cli.explore import explore
from adelic.cli.numbers import decode, encode, space
from adelic.cli.options import SuggestingGroup, plain, with_options
from adelic.cli.versions import version_option
from adelic.cli.warm import warm
from adelic.errors import INTERRUPTED, AdelicError, Interrupted, MissingExtraError
from adelic.numbers.describe import one_line

USER_ERROR = 2
UNREAD = 1  # as click and Rich end when nobody reads the standard output any more, and as Python's documentation has it
SAVING = (("train",), ("tune",), ("reproduce",), ("data", "build"))
"""The commands that save what is finished while they work."""


OF_THE_LABORATORY = ("train", "tune", "predict", "reproduce", "report", "runs")
"""The commands of `adelic_lab`."""


class Commands(SuggestingGroup):
    """The commands of this package, and those that others add by the entry points `adelic.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *entry_points(group="adelic.commands").names]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command, loaded when it is asked for."""
        for found in entry_points(group="adelic.commands", name=name):
            command: click.Command = found.load()
            return command
        if name in OF_THE_LABORATORY:
            raise MissingExtraError(
                f"adelic {name} is a command of the laboratory, which is not installed: pip install ./lab"
            )
        return super().get_command(ctx, name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@version_option
def commands() -> None:
    """Numbers that carry their own embeddings.

    \b
    Look at a number          adelic encode 7/5 --primes 2,3,5,7 --precision 6
    See it at every place     adelic explore 7/5 --with 3/4
    Choose primes and digits  adelic space 0.1 2.75 19.99 --operations 2
    List the data sets        adelic data list
    Train one model           adelic train schubert --n 4 --embedding adelic --recipe quick
    Predict new rows          adelic predict runs/mine new.csv
    Search a recipe           adelic tune schubert --n 4 --embedding adelic --recipe quick --trials 20
    Run a matrix of models    adelic reproduce schubert-4 weaving-6 --embeddings adelic,learned --seeds 0-4
    Learn arithmetic          adelic reproduce arithmetic --quick
    Report the results        adelic report
    List the runs             adelic runs list
    Compile, once             adelic warm

    For more on a command: adelic COMMAND --help.

    \b
    Exit codes: 0 done; 1 not all of the output was read, as by | head, or a check of adelic data
    verify failed; 2 a message says what is wrong; 130, 143 stopped by Ctrl-C, by a signal.
    """


for command in (encode, decode, explore, space, data_commands, warm):
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command line; exit with 2 and one line on stderr for an error of the user."""
    warnings.showwarning = _show_warning
    _shown.clear()
    _prepare_streams()
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with _terminable(f"terminated{_what_is_left(given)}"):
            status = commands.main(given, prog_name="adelic", standalone_mode=False, obj=shlex.join(["adelic", *given]))
            sys.stdout.flush()
    except AdelicError as error:
        _fail(str(error), USER_ERROR)
    # Before UsageError, whose subclass it is: its message is the help, of many lines.
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(USER_ERROR)
    except click.UsageError as error:
        help_command = f"{error.ctx.command_path if error.ctx else 'adelic'} --help"
        _fail(f"{error.format_message()} (see `{help_command}`)", USER_ERROR)
    except click.ClickException as error:
        _fail(error.format_message(), USER_ERROR)
    except (click.Abort, KeyboardInterrupt) as stop:
        cause = stop.__cause__ or stop  # click makes an Abort of any KeyboardInterrupt
        if isinstance(cause, Interrupted):
            _fail(str(cause), cause.exit_code)
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


def _prepare_streams() -> None:
    """Open nothing in place of a closed stream, and let a stream escape what its encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (as long as we run)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _trouble_with_output() -> OSError | None:
    """Return what the standard output raises, and have it swallow the rest; None if it takes an end of line."""
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
    """Have SIGTERM end a command as Ctrl-C does: files under way are cleaned up, and one line says so."""

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
    """Send a signal again that came while an object was deleted: Python prints what is raised there, and goes on."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        signum = getattr(ignored.exc_value, "signum", signal.SIGINT)
        again = threading.Timer(0.01, os.kill, [os.getpid(), signum])  # when the deletion is over
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(ignored)


def _what_is_left(arguments: list[str]) -> str:
    """Return what a command leaves behind that was stopped."""
    if any(tuple(arguments[: len(command)]) == command for command in SAVING):
        return "; what was finished is saved, and the same command goes on from there"
    return " before it was done; the same command starts anew"


def _fail(message: str, status: int) -> NoReturn:
    with suppress(OSError):  # the standard error is full, too
        click.echo(f"adelic: {plain(one_line(message))}", err=True)
    sys.exit(status)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    text, context = str(message), click.get_current_context(silent=True)
    if context is not None:
        text = with_options(text, context.command.params)
    line = plain(one_line(text))
    if line not in _shown:  # a table may be read more than once
        _shown.add(line)
        click.echo(f"adelic: warning: {line}", err=True)


_shown: set[str] = set()
"""The warnings that this command has shown."""
