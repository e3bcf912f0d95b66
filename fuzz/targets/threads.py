"""Numbers computed in threads, in a fork and in a DataLoader's workers are those of one thread."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from adelic import AdeleSpace
from targets import forks
from targets.case import Case
from targets.rational import decode, random_number, random_space

_THREADS = 4
_PATIENCE = 60  # seconds for another process


def threads(case: Case) -> None:
    """Encode, multiply, add and decode the same numbers at once in several threads, and now and then elsewhere."""
    space = random_space(case.rng)
    size = case.rng.choice([3, 40, 500, 5000]) if space.n_primes * space.precision < 300 else 3
    numbers = [random_number(case.rng, AdeleSpace(space.primes, space.precision)) for _ in range(size)]
    given = [Fraction(int(q.p), int(q.q)) for q in numbers]
    expected = _work(space, given)
    start = threading.Barrier(_THREADS)

    def at_once() -> list[Any]:
        start.wait()
        return _work(space, given)

    with ThreadPoolExecutor(_THREADS) as pool:
        for found in [pool.submit(at_once) for _ in range(_THREADS)]:
            _compare(found.result(), expected)
            case.counts["numbers in threads"] += size
    _compare(_work(space, given, threads=_THREADS), expected)
    case.counts["numbers with threads="] += size
    if case.chance(0.1) and forks.HAS_FORKS:
        _in_fork(space, given, expected)
        case.counts["numbers in forks"] += size
    if case.chance(0.02):
        _in_workers(space, given, expected)
        case.counts["numbers in workers"] += size


def _work(space: AdeleSpace, numbers: list[Fraction], threads: int = 1) -> list[Any]:
    """Return what comes out of one chain of operations, as arrays and lists."""
    a = space.encode(numbers, threads=threads)
    results = [a, a * a + 1, a - 3 * a]
    out: list[Any] = [part for array in results for part in (array.digits, array.known, array.real)]
    return [*out, decode(a[:100]), decode(results[2][:100])]


def _compare(found: list[Any], expected: list[Any]) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def _in_fork(space: AdeleSpace, numbers: list[Fraction], expected: list[Any]) -> None:
    """Do the work in a fork of this process; it says by its exit status whether the results are equal."""

    def work() -> int:
        _compare(_work(space, numbers), expected)
        return 0

    status = forks.wait(forks.start(work))
    assert status == 0, f"a fork ends with {status}"


class _Numbers:
    """A map-style data set of encoded numbers, as PyTorch's loader takes it."""

    def __init__(self, space: AdeleSpace, numbers: list[Fraction]) -> None:
        self.space, self.numbers = space, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: int) -> Any:
        return (self.space.encode(self.numbers[i]) * 1).digits.astype(np.int64)


@cache
def _loader() -> Any:
    from torch.utils.data import DataLoader

    return DataLoader


def _in_workers(space: AdeleSpace, numbers: list[Fraction], expected: list[Any]) -> None:
    """Encode the numbers one by one in two workers of a DataLoader."""
    if max(space.primes) >= 2**62:  # PyTorch has no unsigned 64-bit numbers to collate
        return
    loader = _loader()(_Numbers(space, numbers[:100]), batch_size=10, num_workers=2, timeout=_PATIENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, from Python 3.12 on
        found = np.concatenate([batch.numpy() for batch in loader])
    np.testing.assert_array_equal(found, expected[0][:100].astype(np.int64))
