"""Progress on the standard error: a bar in a terminal, else lines."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from adelic.cli.options import plain
from adelic.data.protocol import Progress as OnProgress

_FIRST_SECONDS, _FURTHER_SECONDS = 10.0, 60.0  # a minute without a line looks like a command that hangs


@contextmanager
def progress_bar(title: str, *, transient: bool = False) -> Iterator[OnProgress]:
    """Show a progress bar on stderr; yield the function that moves it: update(done, total, text).

    If stderr is not a terminal, it is lines instead: one after each epoch, and one more when ten seconds, and later a
    minute, pass without any.

    Args:
        title: shown before the text.
        transient: leave nothing on the terminal in the end.
    """
    from rich import progress as rich
    from rich.console import Console

    title = plain(title)
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title)
        return
    described = rich.TextColumn("{task.description}", markup=False)  # brackets in names are not markup
    time_left = rich.TextColumn("left"), rich.TimeRemainingColumn()
    columns = (described, rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn(), *time_left)
    bar = rich.Progress(*columns, console=console, transient=transient)
    task = bar.add_task(title, total=None)

    def update(done: int, total: int, text: str) -> None:
        bar.start()  # not before there is something to show; starting twice does nothing
        bar.update(task, completed=done, total=total, description=f"{title} · {plain(text)}")

    try:
        yield update
        bar.update(task, description=title)
    finally:
        if bar.live.is_started:
            bar.stop()


def _lines(title: str) -> OnProgress:
    """Return a function that writes lines, each at once."""
    spoken, patience = time.monotonic(), _FIRST_SECONDS

    def update(done: int, total: int, text: str) -> None:
        nonlocal spoken, patience
        is_epoch = ", validation " in text
        if is_epoch or time.monotonic() - spoken >= patience:
            spoken, patience = time.monotonic(), _FURTHER_SECONDS
            count = "" if is_epoch or total == 1 else f" · {done:,} of {total:,}"
            print(f"{title} · {plain(text)}{count}", file=sys.stderr, flush=True)

    return update
