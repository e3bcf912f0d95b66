"""Signals that ask a run to stop: noted at once, handled between two steps, after the run has saved itself."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):  # noqa: N818  (no error: whoever starts a run with `stop` expects it)
    """A run was asked to stop, and has saved a checkpoint from which it goes on."""


def cause(signum: int) -> str:
    """Return the words that a run was stopped, with the name of the signal.

    >>> cause(signal.SIGINT), cause(signal.SIGTERM)
    ('interrupted', 'stopped by SIGTERM')
    """
    return "interrupted" if signum == signal.SIGINT else f"stopped by {signal.Signals(signum).name}"


class StopRequest:
    """The signal that has asked a run to stop, if one has.

    Attributes:
        signum: the signal's number; None before one came.
    """

    def __init__(self) -> None:
        self.signum: int | None = None


@contextmanager
def deferred_signals() -> Iterator[StopRequest]:
    """Note SIGINT (Ctrl-C) and SIGTERM instead of obeying them; a second one of the same kind kills at once.

    Handlers belong to a process's main thread: in another one, or where a signal is ignored (as SIGINT is for a job in
    the background of a shell script), nothing changes. After the block the former handlers are back.

    >>> with deferred_signals() as request:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     request.signum == signal.SIGTERM
    True
    """
    request = StopRequest()

    def note(signum: int, frame: FrameType | None) -> None:
        request.signum = signum
        signal.signal(signum, signal.SIG_DFL)  # who asks twice will not wait; files are whole at any moment

    before = {}
    if threading.current_thread() is threading.main_thread():
        # A handler of None was not set from Python, and could not be put back.
        found = {signum: signal.getsignal(signum) for signum in STOP_SIGNALS}
        before = {signum: handler for signum, handler in found.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for signum in before:
            signal.signal(signum, note)
        yield request
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@contextmanager
def held_signals() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back until the block has ended; then they are obeyed.

    A library in C that calls Python may take an exception of a signal's handler for its own error.

    >>> with deferred_signals() as request, held_signals():
    ...     signal.raise_signal(signal.SIGTERM)
    >>> request.signum == signal.SIGTERM
    True
    """
    request = StopRequest()
    try:
        with deferred_signals() as request:
            yield
    finally:
        if request.signum is not None:
            signal.raise_signal(request.signum)
