"""Progress on the standard error: a bar in a terminal, else lines."""

import math
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from adelic.cli.options import plain
from adelic.data.protocol import Progress as OnProgress

_SECONDS_UNTOLD, _SECONDS_A_LINE, _SECONDS_IN_AN_EPOCH = 0.9, 10.0, 60.0


@contextmanager
def progress_bar(title: str, *, transient: bool = False) -> Iterator[OnProgress]:
    """Show a progress bar on stderr; yield the function that moves it: update(done, total, text).

    Where stderr is not a terminal, it is lines instead: one after each epoch, and in a long one the first after ten
    seconds, then one a minute; of other work one in ten seconds.

    Args:
        title: stands before the text.
        transient: leave nothing on the terminal in the end.
    """
    from rich import progress as rich
    from rich.console import Console

    title = plain(title)
    console = Console(stderr=True)
    if not console.is_terminal:
        with _told_in_lines(title) as told:
            yield told
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
            prepares = threading.Timer(_SECONDS_UNTOLD, _say, [f"{title} · {plain(text)}"])
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
            _say(f"{title} · {plain(text)}{count}")
            spoken = now

    try:
        yield update
    finally:
        prepares.cancel()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
