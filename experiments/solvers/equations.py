"""Sparse linear equations modulo 2, solved exactly. Importing this module loads numba.

Libraries with elimination modulo 2 for Python take a byte or eight for an entry: gigabytes for the tens of thousands of
unknowns that are met here. So rows are of bits, 64 in a word.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import psutil

from adelic.errors import ConfigurationError
from adelic.numbers.kernels import njit
from adelic.storage.checks import GIBIBYTE

_WORD = 64


class Equations:
    """Equations modulo 2, which are added until one contradicts those before it.

    An equation is kept under its first unknown, after those before it have been taken from it. With unknowns in the
    order of their frequency, rare ones first, most equations stay short.

    Args:
        unknowns: how many there are. It takes unknowns²/8 bytes.

    Raises:
        ConfigurationError: there is not as much memory.

    Attributes:
        rank: how many equations follow from no others.

    >>> equations = Equations(3)
    >>> equations.add(np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 0]))
    3
    >>> equations.rank, equations.solution()
    (2, array([0, 1, 0], dtype=uint8))
    >>> equations.add(np.array([[2, 2], [0, 2]]), np.array([0, 1]))  # x₂ + x₂ = 0 holds; x₀ + x₂ is not 1
    1
    """

    def __init__(self, unknowns: int) -> None:
        words = -(-unknowns // _WORD)
        needed, free = 8 * unknowns * words, psutil.virtual_memory().available
        if needed > free:
            raise ConfigurationError(
                f"equations modulo 2 with {unknowns:,} unknowns take {needed / GIBIBYTE:,.1f} GiB, and "
                f"{free / GIBIBYTE:,.1f} GiB are free; give fewer --examples"
            )
        self._rows = np.zeros((unknowns, words), dtype=np.uint64)
        self._sums = np.zeros(unknowns, dtype=np.uint8)
        self._is_led = np.zeros(unknowns, dtype=np.bool_)

    @property
    def rank(self) -> int:
        """Return how many equations follow from no others."""
        return int(self._is_led.sum())

    def add(self, terms: npt.NDArray[np.int64], sums: npt.NDArray[np.int64]) -> int:
        """Add the equations x[terms[i, 0]] + x[terms[i, 1]] + … = sums[i] modulo 2; return how many hold.

        That is all of them, or those before the first that contradicts. Terms are (equations, terms), unknowns from 0
        on, sums (equations,), 0 or 1.
        """
        return int(_add(terms.astype(np.int64), sums.astype(np.uint8), self._rows, self._sums, self._is_led))

    def solution(self) -> npt.NDArray[np.uint8]:
        """Return a solution, uint8 (unknowns,), 0 or 1; what the equations leave open is 0."""
        return np.asarray(_substitute(self._rows, self._sums, self._is_led))


@njit(cache=True)
def _add(
    terms: npt.NDArray[np.int64],
    sums: npt.NDArray[np.uint8],
    rows: npt.NDArray[np.uint64],
    row_sums: npt.NDArray[np.uint8],
    is_led: npt.NDArray[np.bool_],
) -> int:
    """Write each equation, less those before it, to the row of its first unknown; return how many do not contradict."""
    # All is uint64, also 1 and 0: of a uint64 and a plain int numba (0.68) makes an int64, whose top bit is a sign.
    words = rows.shape[1]
    equation = np.zeros(words, dtype=np.uint64)
    for i in range(len(terms)):
        # Zeros before `word` are left alone below: a row that is taken away has zeros before its own first bit, too.
        equation[:] = 0
        word, total = words, sums[i]
        for j in terms[i]:
            equation[j // 64] ^= np.uint64(1) << np.uint64(j % 64)
            word = min(word, j // 64)
        while word < words:
            if not equation[word]:
                word += 1
                continue
            first = 64 * word + _lowest_bit(equation[word])
            if not is_led[first]:
                is_led[first], row_sums[first] = True, total
                for k in range(word, words):  # a slice has numba compile the texts of its errors, which takes seconds
                    rows[first, k] = equation[k]
                break
            for k in range(word, words):
                equation[k] ^= rows[first, k]
            total ^= row_sums[first]
        if word == words and total:
            return i
    return len(terms)


@njit(cache=True)
def _substitute(
    rows: npt.NDArray[np.uint64], row_sums: npt.NDArray[np.uint8], is_led: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return the unknowns, found from the last to the first; one that no row has first is 0."""
    values = np.zeros(len(rows), dtype=np.uint8)
    bits = np.zeros(rows.shape[1], dtype=np.uint64)
    for i in range(len(rows) - 1, -1, -1):
        if is_led[i]:
            common = np.uint64(0)
            for k in range(i // 64, len(bits)):
                common ^= rows[i, k] & bits[k]
            value = row_sums[i]
            while common:
                value ^= np.uint8(1)
                common &= common - np.uint64(1)
            values[i] = value
            bits[i // 64] |= np.uint64(value) << np.uint64(i % 64)
    return values


@njit(cache=True)
def _lowest_bit(word: Any) -> int:
    """Return the position of the lowest bit of a word that is not 0."""
    position = 0
    while not (word >> np.uint64(position)) & np.uint64(1):
        position += 1
    return position
