"""The help of commands: docstrings, with paragraphs in lines as long as the terminal's."""

import inspect
import re
import shutil
import textwrap
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from cyclopts import App
from rich.console import Console

_WIDEST = 110
_CONTINUED = 8  # as deep are the lines behind the first one of an argument
_EXAMPLE = re.compile(r"(^|  )adelic ")


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
    """Return the lines of the help in a width; a text is wrapped there, so that an example is whole in a wide one."""
    console = Console(width=width)
    with console.capture() as captured:
        whole.help_print(words, console=console)
    return captured.get().rstrip("\n").splitlines()


def _is_text(line: str) -> bool:
    """Return whether a line of the help stands before the first box, which lists commands or options."""
    return "╭" not in line


def reflowed(text: str) -> str:
    r"""Return a docstring with each paragraph, and what is said of each argument, in one line.

    Examples keep their lines, and so does what is indented, as tables are.

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
