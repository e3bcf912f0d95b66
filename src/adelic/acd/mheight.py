"""mHeight: permutations that avoid 4231 and contain 3412, by how tall their shortest 3412 pattern is.

An occurrence of 3412 in a permutation a is i < j < k < l with a_k < a_l < a_i < a_j. Its height is a_i - a_l, at
least 1. The mHeight label is the least height less 1. Gaetz and Gao ("On the minimal power of q in a Kazhdan-Lusztig
polynomial", arXiv:2303.13695) use it to prove a conjecture of Billey and Postnikov: for the permutations that avoid
4231 and contain 3412 it gives the least positive power of q in the Kazhdan-Lusztig polynomial P_(1,w).

Examples are in 0-based one-line notation, all permutations of this kind, in lexicographic order. There are A061552(n) -
A032351(n) of them (OEIS: those that avoid 4231, less those that avoid 3412 too). The least n with an example is 4:
3412. The dataset's README lacks the avoidance of 4231 and the "less 1"; its generator and its counts have both.

Symmetries: the inverse and the reverse-complement i -> n - 1 - w(n - 1 - i) of an example are examples with the same
label, see `inverted` and `reverse_complemented`. Any split of the examples at random has such twins on both sides.

Nine examples of ten have label 0 (91.8, 92.9, 94.2 % for n = 8, 9, 10), and no feature that is read off at a glance
does more than half a percent better than this majority.
"""

from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from adelic.acd import permutations as many
from adelic.acd.facts import described
from adelic.acd.permutations import differences, in_chunks, read_permutation, read_permutations
from adelic.data.protocol import Estimate, Integers, Request, Rows, Task

# A061552(n) - A032351(n) for n = 4, 5, ...
ROW_COUNTS = (
    1, 15, 147, 1210, 9141, 66080, 467640, 3284072, 23080632, 163204810, 1164914126, 8409095643, 61447022360,
)  # fmt: skip

# Measured: examples, labels and their copies in the split, the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 40
PEAK_BYTES_PER_TOKEN = 3


@overload
def mheight(permutation: NDArray[Any]) -> Any: ...
@overload
def mheight(permutation: Iterable[int]) -> int | None: ...
def mheight(permutation: Any) -> Any:
    """Return the least height of a 3412 pattern less 1; None if there is none, or if there is a 4231 pattern.

    Args:
        permutation: one-line notation, of 0..n-1 or of 1..n; or an array of many, shape (*, n) with at least two axes.

    Returns:
        For an array of many permutations an int64 array of shape (*), with -1 instead of None.

    Raises:
        EncodingError: `permutation` is not a permutation, or holds something that is not one.

    >>> mheight([3, 4, 1, 2]), mheight([4, 5, 3, 1, 2]), mheight([1, 2, 3, 4])
    (0, 1, None)
    >>> mheight([4, 2, 3, 1]), mheight([5, 6, 3, 4, 1, 2])  # 5341 is a 4231 pattern
    (None, None)
    >>> mheight(np.array([[4, 5, 3, 1, 2], [1, 2, 3, 4, 5]]))
    array([ 1, -1])
    """
    if isinstance(permutation, np.ndarray) and permutation.ndim > 1:
        return _mheights(permutation)
    label = int(_mheights(np.array([read_permutation(permutation, first=None)], np.int64))[0])
    return None if label < 0 else label


def _mheights(permutations: NDArray[Any]) -> NDArray[np.int64]:
    """Return the label of each permutation, (*, n) -> (*), -1 where there is none."""
    *batch, n = read_permutations(permutations, 0, 1).shape
    if n < 4:  # which is too short for a pattern
        return np.full(batch, -1)
    w = permutations.reshape(-1, n).astype(np.int64)
    labels, threshold = _labels(w), np.full(len(w), -1)
    for size in range(n):
        labels[w[:, size] < threshold] = -1
        threshold = np.maximum(threshold, _greatest_two(w[:, :size], w[:, size]))
    return labels.reshape(batch)


def _labels(w: Integers) -> NDArray[np.int64]:
    """Return the least height of a 3412 pattern less 1, -1 where there is none, (examples, n) -> (examples,)."""
    return in_chunks(_labels_at_once, w, max(1, (1 << 22) // w.shape[1] ** 2))


def _labels_at_once(w: Integers) -> NDArray[np.int64]:
    n = w.shape[1]
    places = np.arange(n)
    rises = (w[:, None] > w[:, :, None]) & (places > places[:, None])  # from place i to place j behind it
    # The entry i is a 3 and l a 2 if the first greater entry behind i, a 4, stands before the last smaller one before
    # l, a 1.
    four = np.where(rises.any(axis=2), rises.argmax(axis=2), n)
    one = np.where(rises.any(axis=1), n - 1 - rises[:, ::-1].argmax(axis=1), -1)
    heights = w[:, :, None].astype(np.int64) - w[:, None]
    is_pattern = (heights > 0) & (four[:, :, None] < one[:, None])
    least = np.where(is_pattern, heights, n).min(axis=(1, 2), initial=n)
    return np.where(least < n, least - 1, -1)


def _greatest_two(before: Integers, three: Integers) -> NDArray[np.int64]:
    """Return the greatest 2 of all 423 patterns that end with `three` behind the entries `before`; -1 without one."""
    is_two = (before < three[:, None]) & (np.maximum.accumulate(before, axis=1) > three[:, None])
    return np.asarray(np.where(is_two, before, -1).max(axis=1, initial=-1), np.int64)


def _rows_from(first: int, n: int) -> Integers:
    """Return the permutations of 0..n-1 that begin with `first` and avoid 4231, in lexicographic order.

    They grow entry by entry, all at once. An entry below the 2 of a 423 pattern before it would complete a 4231: where
    an entry that is still to come is one, the beginning is dropped.
    """
    w = np.full((1, 1), first, np.int8)
    unused = np.arange(n) != np.full((1, 1), first)
    threshold = np.full(1, -1)
    for _ in range(1, n):
        row, entry = np.nonzero(unused)
        threshold = np.maximum(threshold[row], _greatest_two(w[row], entry))
        w, unused = np.hstack([w[row], entry[:, None].astype(np.int8)]), unused[row]
        unused[np.arange(len(w)), entry] = False
        kept = ~unused.any(axis=1) | (unused.argmax(axis=1) > threshold)
        w, unused, threshold = w[kept], unused[kept], threshold[kept]
    return w


def inverted(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the inverse permutations, with the same labels.

    4231 and 3412 are their own inverses, so the inverses are examples. The heights of single occurrences change, but
    the least of them does not, for the label is that of a power of q in P_(1,w) (see the module's source), and P_(1,w)
    is the same for w and its inverse. The tests compare all examples for n <= 8.

    Examples are (examples, n), labels (examples,).

    >>> inverted(np.array([[3, 0, 4, 1, 2]]), np.array([0]))
    (array([[1, 3, 4, 0, 2]]), array([0]))
    """
    return many.inverses(X).astype(X.dtype), y


def reverse_complemented(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the permutations i -> n - 1 - w(n - 1 - i), with the same labels.

    An occurrence of 4231 at i < j < k < l becomes one at the reflected places, and so does one of 3412, in which the 3
    and the 2 change parts: the new 3 is n - 1 - a_l, the new 2 is n - 1 - a_i, and the height a_i - a_l is what it was.

    Examples are (examples, n), labels (examples,).

    >>> reverse_complemented(np.array([[3, 0, 4, 1, 2]]), np.array([0]))
    (array([[2, 3, 0, 4, 1]]), array([0]))
    """
    return np.asarray(X.shape[1] - 1 - X[:, ::-1], X.dtype), y


def _generate(request: Request) -> Rows:
    n, parts = request.n, []
    for first in range(n):
        rows = _rows_from(first, n)
        labels = _labels(rows)
        parts.append((rows[labels >= 0], labels[labels >= 0].astype(np.int8)))
        request.report(first + 1, n, "permutations")
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; beyond the table its last entry, as a lower bound."""
    known = min(n - 4, len(ROW_COUNTS) - 1)
    rows = ROW_COUNTS[known]
    return Estimate(rows, rows * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * (known + 4)), exact=known == n - 4)


TASK = Task(
    **described(
        "mheight",
        matrix=(lambda X: many.matrices(X).reshape(len(X), -1), lambda n: (0, 1)),
        differences=(differences, lambda n: tuple(value for value in range(1 - n, n) if value)),
    ),
    version=1,
    minimum=4,
    maximum=99,  # tokens and labels are int8
    class_names=lambda n, edition: tuple(str(label) for label in range(n - 3)),
    vocabulary=lambda n, edition: tuple(range(n)),
    length=lambda n, edition: n,
    estimate=_estimate,
    generate=_generate,
    symmetries={"inverse": inverted, "reverse-complement": reverse_complemented},
    cues={
        "first entry": lambda X: X[:, 0],
        "place of the greatest entry": lambda X: X.argmax(axis=1),
        "inversions": many.lengths,
        "greatest drop": lambda X: (X[:, :-1] - X[:, 1:]).max(axis=1),
    },
)
