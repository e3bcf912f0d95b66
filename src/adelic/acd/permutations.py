"""Permutations as tuples: reading them from what a caller gives, and their length."""

from collections.abc import Iterable

from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number


def read_permutation(values: Iterable[object], *, first: int | None = 1) -> tuple[int, ...]:
    """Return a permutation of first, ..., first + n - 1 in one-line notation as a tuple of ints.

    Args:
        values: n whole numbers; n = 0 is the permutation of nothing.
        first: the least of them; None takes 0 if that occurs, else 1.

    Raises:
        EncodingError: `values` is not such a permutation.

    >>> read_permutation([3, 1, 2])
    (3, 1, 2)
    >>> read_permutation([3, 1, 1])
    Traceback (most recent call last):
    adelic.errors.EncodingError: (3, 1, 1) is not a permutation of 1..3
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise EncodingError(f"a permutation is a sequence of whole numbers, not {shown(values)}")
    entries = []
    for position, value in enumerate(values):
        number = whole_number(value)
        if number is None:
            raise EncodingError(f"entry {position} of a permutation is {shown(value)}, which is not a whole number")
        entries.append(number)
    if first is None:
        first = 0 if 0 in entries else 1
    if sorted(entries) != list(range(first, first + len(entries))):
        raise EncodingError(f"{shown(tuple(entries))} is not a permutation of {first}..{first + len(entries) - 1}")
    return tuple(entries)


def length(permutation: tuple[int, ...]) -> int:
    """Return the number of inversions: pairs i < j with w(i) > w(j), the Coxeter length.

    >>> length((3, 1, 2)), length((4, 3, 2, 1))
    (2, 6)
    """
    return sum(a > b for i, a in enumerate(permutation) for b in permutation[i + 1 :])


def trimmed(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """Return a 1-based permutation without its trailing fixed points.

    >>> trimmed((2, 1, 3, 4)), trimmed((1, 2))
    ((2, 1), ())
    """
    size = len(permutation)
    while size and permutation[size - 1] == size:
        size -= 1
    return permutation[:size]


def padded(permutation: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return a 1-based permutation with fixed points appended up to `size` entries.

    >>> padded((2, 1), 4)
    (2, 1, 3, 4)
    """
    return permutation + tuple(range(len(permutation) + 1, size + 1))
