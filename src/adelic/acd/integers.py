"""Sequences and arrays of whole numbers: as callers give them, and how far their entries are apart."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from adelic.data.protocol import Integers
from adelic.errors import EncodingError
from adelic.storage.checks import shown, whole_number


def read_sequence(values: object, what: str) -> tuple[int, ...]:
    """Return a sequence of whole numbers as a tuple of ints.

    An EncodingError says what is wrong, with `what` for what they are; text is not a sequence.

    >>> read_sequence(np.array([3, 1]), "a partition"), read_sequence([], "a partition")
    ((3, 1), ())
    >>> read_sequence([3, 0.5], "a partition")
    Traceback (most recent call last):
    adelic.errors.EncodingError: entry 1 of a partition is 0.5, not a whole number
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise EncodingError(f"{what} is a sequence of whole numbers, not {shown(values)}")
    numbers = []
    for position, value in enumerate(values):
        number = whole_number(value)
        if number is None:
            raise EncodingError(f"entry {position} of {what} is {shown(value)}, not a whole number")
        numbers.append(number)
    return tuple(numbers)


def read_array(values: Any, what: str) -> Integers:
    """Return an array of whole numbers.

    An EncodingError says what is wrong, with `what` for what they are.

    >>> read_array([[1, 2], [3]], "a tableau")
    Traceback (most recent call last):
    adelic.errors.EncodingError: a tableau has rows of one length, not as in [[1, 2], [3]]
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise EncodingError(f"{what} has rows of one length, not as in {shown(values)}") from None
    if not np.issubdtype(array.dtype, np.integer):
        raise EncodingError(f"{what} has whole numbers for entries, not {array.dtype}: {shown(values)}")
    return array


def differences(X: Integers) -> Integers:
    """Return how far each entry is above each one before it: x(j) - x(i), i < j.

    From rows (rows, k) to int8 (rows, k(k-1)/2), in the order (1, 2), (1, 3), …; entries are from 0 to 127. The signs
    of a permutation's differences say which patterns it has.

    >>> differences(np.array([[2, 3, 0, 1]])).tolist()
    [[1, -2, -1, -3, -2, 1]]
    """
    first, second = np.triu_indices(X.shape[1], 1)
    signed = X.astype(np.int8)
    return signed[:, second] - signed[:, first]
