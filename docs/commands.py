"""The table of commands in docs/reference/commands.md is made from the command line: python docs/commands.py."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from cyclopts import App

from adelic.cli import app

PAGE = Path(__file__).parent / "reference" / "commands.md"


def lines(parser: App, words: str = "adelic") -> Iterator[str]:
    """Yield the lines of the table: of each command its first sentence and its first example."""
    for name in (name for name in parser if not name.startswith("-")):
        command = parser[name]
        path, default = f"{words} {name}", command.default_command
        text = inspect.cleandoc((default.__doc__ if inspect.isfunction(default) else command.help) or "")
        example = re.search(rf"(?:^|  )({path} .*|{path})$", text, flags=re.MULTILINE)
        if default is not None and example:
            yield f"| `{path}` | {' '.join(text.split(chr(10) * 2)[0].split())} | `{example[1]}` |"
        yield from lines(command, path)


def filled(page: str) -> str:
    """Return the page with the table of today."""
    table = "\n".join(["| command | what it does | example |", "|---|---|---|", *lines(app())])
    return re.sub(r"(?<=<!-- commands -->\n).*?(?=\n<!-- end -->)", lambda _: table, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
