"""Tables on the terminal: no word is broken, and if the width is too small, columns that matter less are left out."""

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adelic.cli.options import plain

_BETWEEN_WORDS = re.compile(r"(?<!±)\s+(?!±)")  # a figure stays next to its interval
_FRAME = 3  # a border and two blanks per column; one border more at the end


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    needed: Sequence[str] = (),
    whole: Sequence[str] = (),
    names: int | None = None,
    sections: bool = False,
    more: str = "",
    width: int | None = None,
) -> None:
    """Print a table.

    If the terminal is too narrow for words, the last columns are left out first, except needed ones; a line below names
    them. If the needed ones are too wide, lines are longer than the terminal. A pipe has no width, and gets all.

    Args:
        columns: headings.
        rows: lines of texts; control characters are shown as they are written.
        needed: columns that stay in; all by default.
        whole: columns whose cells stay in one line, blanks or not.
        names: how many columns on the left are names; the others are figures, aligned on the right; all by default.
        sections: whether to draw a line between lines that begin with different names.
        more: where to read the columns that are left out, as "--json".
        width: of the terminal; found out by default.

    >>> print_table(["label", "state", "row"], [["a-long-label", "finished", "weaving-6"]], needed=["label"], width=30)
    ┏━━━━━━━━━━━━━━┳━━━━━━━━━━┓
    ┃ label        ┃ state    ┃
    ┡━━━━━━━━━━━━━━╇━━━━━━━━━━┩
    │ a-long-label │ finished │
    └──────────────┴──────────┘
    not shown, for lack of width: row
    """
    columns = [plain(column) for column in columns]
    texts = [[plain(cell) for cell in row] for row in rows]
    room = width or (Console().width if sys.stdout.isatty() else None)
    least, most = [], []  # the widths of each column's longest word and of its longest cell
    for column, *cells in zip(columns, *texts, strict=True):
        words = (
            part for cell in (column, *cells) for part in ([cell] if column in whole else _BETWEEN_WORDS.split(cell))
        )
        least.append(max(map(cell_len, words)))
        most.append(max(map(cell_len, (column, *cells))))
    kept = list(range(len(columns)))
    spare = [i for i in kept if needed and columns[i] not in needed]
    while room is not None and spare and sum(least[i] + _FRAME for i in kept) + 1 > room:
        kept.remove(spare.pop())
    widths = {i: least[i] for i in kept}
    left = float("inf") if room is None else room - sum(least[i] + _FRAME for i in kept) - 1
    # Columns that lack the least get it first, so as many as there can be have no cell of several lines.
    for i in sorted(kept, key=lambda i: most[i] - least[i]):
        widths[i] += int(min(most[i] - least[i], max(left, 0)))
        left -= widths[i] - least[i]
    table = Table(header_style="bold")
    for i in kept:
        is_figure = names is not None and i >= names
        table.add_column(Text(columns[i]), justify="right" if is_figure else "left", width=widths[i])
    for before, row in zip((None, *texts), texts, strict=False):
        if sections and before is not None and before[0] != row[0]:
            table.add_section()
        table.add_row(*(Text(row[i]) for i in kept))  # not as rich's markup, which [b] in a name would be
    Console(width=sum(width + _FRAME for width in widths.values()) + 1, file=sys.stdout).print(table, crop=False)
    if len(kept) < len(columns):
        absent = ", ".join(column for i, column in enumerate(columns) if i not in kept)
        told = f"not shown, for lack of width: {absent}" + (f"; {more} has them" if more else "")
        print(wrapped(told, max(room or 80, 40)))


def say(text: str) -> None:
    """Print a sentence, in a terminal without breaking its words."""
    room = Console().width if sys.stdout.isatty() else len(text) + 1
    print(wrapped(text, max(room, 40)))


def wrapped(text: str, width: int, indent: str = "", hang: str = "") -> str:
    """Return a text in lines of a width, no word of which is broken; the first line, and the others, are indented."""
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)
