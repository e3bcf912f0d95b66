"""Several processes for independent parts of the work; the results do not depend on how many there are."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from adelic.storage.checks import check_count

Part = TypeVar("Part")
Result = TypeVar("Result")


def map_parts(function: Callable[[Part], Result], parts: Iterable[Part], workers: int = 1) -> Iterator[Result]:
    """Yield function(part) for each part, in the order of the parts.

    The function is defined at the top of a module, so another process finds it, and the parts are picklable. One
    worker is this process itself.

    >>> list(map_parts(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    listed = list(parts)
    if min(workers, len(listed)) <= 1:
        yield from map(function, listed)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks of torch and numba
    with ProcessPoolExecutor(min(workers, len(listed)), mp_context=context) as pool:
        try:
            yield from pool.map(function, listed)
        finally:
            # When nobody asks for more, as after an error, parts at work are not waited for; `with` alone would wait.
            pool.shutdown(wait=False, cancel_futures=True)


def check_workers(workers: Any) -> int:
    """Return the number of workers; ConfigurationError unless it is a whole number from 1 to 1024.

    >>> check_workers(0)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: workers=0 must be a whole number from 1 to 1,024
    """
    return check_count("workers", workers, greatest=1024)


def cores() -> int:
    """Return how many cores this process may use.

    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
