"""Partitions of whole numbers, and the rim hooks of their diagrams."""

from collections.abc import Iterable, Iterator

from adelic.acd.integers import read_sequence
from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number

Partition = tuple[int, ...]


def partitions(n: int) -> list[Partition]:
    """Return all partitions of n, in reverse lexicographic order.

    Raises:
        EncodingError: n is not a whole number from 0 on.

    >>> partitions(4)
    [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    size = whole_number(n)
    if size is None or size < 0:
        raise EncodingError(f"only whole numbers from 0 on have partitions, not {shown(n)}")
    return list(_partitions(size, size))


def conjugate(lam: Iterable[int]) -> Partition:
    """Return the conjugate partition: its parts are the columns of the Young diagram.

    Raises:
        EncodingError: `lam` is not a partition.

    >>> conjugate([3, 1, 1]), conjugate([4, 2])
    ((3, 1, 1), (2, 2, 1, 1))
    """
    shape = read_partition(lam)
    return tuple(sum(part > column for part in shape) for column in range(max(shape, default=0)))


def without_rim_hooks(shape: Partition, k: int) -> Iterator[tuple[Partition, int]]:
    """Yield (λ', sign) for each λ' that is λ without a rim hook of k cells; the sign is (-1)^height.

    The beta-numbers of λ are λ_i + m - i for i = 1..m, with m the number of parts: different numbers that fall. To
    remove a rim hook of k cells is to make one of them less by k, where the result is not negative and not there yet;
    the height of the rim hook is how many others it passes.

    >>> list(without_rim_hooks((3, 2, 1), 3))
    [((1, 1, 1), -1), ((3,), -1)]
    >>> list(without_rim_hooks((2, 2), 4))
    []
    """
    m = len(shape)
    betas = [part + m - 1 - i for i, part in enumerate(shape)]
    for i, beta in enumerate(betas):
        target = beta - k
        if target < 0 or target in betas:
            continue
        place = i + 1
        while place < m and betas[place] > target:
            place += 1
        height = place - 1 - i
        # The beta-number in place j (from 0) is its part plus m - 1 - j; those that are passed move up by one place.
        parts = (*shape[:i], *(part - 1 for part in shape[i + 1 : place]), target - (m - place), *shape[place:])
        yield tuple(part for part in parts if part), (-1) ** height


def read_partition(values: Iterable[object]) -> Partition:
    """Return a partition as a tuple of positive ints, without the zeros at its end.

    Raises:
        EncodingError: `values` are not whole numbers from 0 on that never rise.

    >>> read_partition([3, 1, 0, 0])
    (3, 1)
    >>> read_partition([1, 3])
    Traceback (most recent call last):
    adelic.errors.EncodingError: (1, 3) is not a partition: its parts must never rise, nor be below 0
    """
    parts = read_sequence(values, "a partition")
    if min(parts, default=0) < 0 or list(parts) != sorted(parts, reverse=True):
        raise EncodingError(f"{shown(parts)} is not a partition: its parts must never rise, nor be below 0")
    return tuple(part for part in parts if part)


def _partitions(n: int, greatest: int) -> Iterator[Partition]:
    if n == 0:
        yield ()
    for first in range(min(n, greatest), 0, -1):
        for rest in _partitions(n - first, first):
            yield (first, *rest)
