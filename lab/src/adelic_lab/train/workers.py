"""Threads that share a batch on the CPU: each works on parts of it that stay in cache, on one core, without waiting."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import torch

TOKENS = 2048
"""Tokens of a part: its activations stay in the second-level cache, and its products are still large enough."""
_T = TypeVar("_T")
_S = TypeVar("_S")


class Workers:
    """A pool with the number of threads that torch uses, each running torch on one core; a context manager.

    Torch's own threads share every single operation and wait for each other after it, which costs more than it gives
    where operations take microseconds, and much more where other processes want the cores too. Which worker does what
    is fixed, so that sums are added in the same order every time.

    >>> with Workers(2) as workers:
    ...     workers.map(lambda part: part.sum().item(), torch.arange(6).split(2))
    [1, 5, 9]
    """

    def __init__(self, count: int | None = None) -> None:
        self._threads = torch.get_num_threads()
        self.count = self._threads if count is None else count
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        if self.count > 1:
            self._pool = ThreadPoolExecutor(self.count, "adelic", initializer=torch.set_num_threads, initargs=(1,))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
            torch.set_num_threads(self._threads)  # a part of torch's setting is the whole process's

    def map(self, function: Callable[[_S], _T], items: Iterable[_S]) -> list[_T]:
        """Return function(item) for every item; the calls run at the same time."""
        return list(map(function, items) if self._pool is None else self._pool.map(function, items))

    def shares(self, parts: Sequence[_S]) -> list[list[_S]]:
        """Return what each worker is to do, one list a worker that has something to do."""
        return [list(parts[i :: self.count]) for i in range(min(self.count, len(parts)))]

    def rows_of_a_part(self, rows: int, tokens_per_row: int) -> int:
        """Return the number of rows of a part, so that parts are small and all workers get equally many.

        >>> Workers(2).rows_of_a_part(2048, 11)
        171
        """
        # As many parts a worker as keep each near `TOKENS`; that number, times the workers, then divides the rows.
        rounds = -(-rows * tokens_per_row // (self.count * TOKENS))
        return max(1, -(-rows // (self.count * max(1, rounds))))
