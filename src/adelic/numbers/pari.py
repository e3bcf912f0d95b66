"""PARI through cypari: imported when used, one thread at a time."""

import signal
import sys
import threading
from functools import cache
from typing import Any

from adelic.errors import MissingExtraError, needs_extra

PARI_LOCK = threading.Lock()
"""PARI has one stack, so one thread at a time may use it."""
_OF_THE_PROCESS = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM")
"""Signals whose handlers cypari replaces, and that say nothing about PARI."""


@cache
def load_pari(what: str = "the root number") -> Any:
    """Import cypari on first use, and leave the process's signal handlers as they were; `what` needs it.

    A MissingExtraError says that it is not installed, or that this is its first use and not in the main thread.

    >>> int(load_pari()(6).moebius())
    1
    """
    is_first = "cypari" not in sys.modules
    if is_first and threading.current_thread() is not threading.main_thread():
        raise MissingExtraError(
            "cypari can be imported in a process's main thread only: call "
            f"adelic.numbers.pari.load_pari() there before other threads ask for {what}"
        )
    signals = [getattr(signal, name) for name in _OF_THE_PROCESS if hasattr(signal, name)] if is_first else []
    before = {signum: signal.getsignal(signum) for signum in signals}
    with needs_extra(what, "number-theory"):
        from cypari import pari
    for signum, handler in before.items():
        if handler is not None:  # None was not set from Python, and could not be put back
            signal.signal(signum, handler)
    return pari
