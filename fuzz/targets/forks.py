"""Forks of this process, which find loaded what it has loaded; where there are none (Windows), `HAS_FORKS` is False."""

import os
import signal
import time
import warnings
from collections.abc import Callable

HAS_FORKS = hasattr(os, "fork")
_PATIENCE = 120.0


def start(work: Callable[[], int]) -> int:
    """Call a function in a fork, which ends with the exit status that it returns; return the fork's process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, from Python 3.12 on
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        status = work()
    except KeyboardInterrupt:  # before the work listens to signals
        status = 130
    finally:
        os._exit(status)  # nothing of the parent's is to happen twice


def wait(child: int) -> int:
    """Return a fork's exit status, negative for the signal that ended it; what does not end is killed."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError(f"a process does not end within {_PATIENCE:.0f} s")
