"""Several processes for independent parts of the work; the results do not depend on how many there are."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from adelic.acd.protocol import shown, whole_number
from adelic.errors import ConfigurationError

Part = TypeVar("Part")
Result = TypeVar("Result")


def map_parts(function: Callable[[Part], Result], parts: Iterable[Part], workers: int = 1) -> Iterator[Result]:
    """Yield function(part) for each part, in the order of the parts.

    Args:
        function: one that a module defines at its top, so that another process finds it.
        parts: picklable arguments.
        workers: how many processes work; one is this process itself.

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
            pool.shutdown(wait=False, cancel_futures=True)


def check_workers(workers: Any) -> int:
    """Return the number of workers; ConfigurationError unless it is a whole number from 1 to 1024.

    >>> check_workers(0)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: workers must be a whole number from 1 to 1024, not 0
    """
    number = whole_number(workers)
    if number is None or not 1 <= number <= 1024:
        raise ConfigurationError(f"workers must be a whole number from 1 to 1024, not {shown(workers)}")
    return number
