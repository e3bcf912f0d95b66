"""mHeight: permutations that avoid 4231 and contain 3412, by how tall their shortest 3412 pattern is.

An occurrence of 3412 in a permutation a is i < j < k < l with a_k < a_l < a_i < a_j. Its height is a_i - a_l, at
least 1. The mHeight label is the least height less 1. Gaetz and Gao ("On the minimal power of q in a Kazhdan-Lusztig
polynomial", arXiv:2303.13695) use it to prove a conjecture of Billey and Postnikov: for the permutations that avoid
4231 and contain 3412 it gives the least positive power of q in the Kazhdan-Lusztig polynomial P_(1,w).

Rows are in 0-based one-line notation, all permutations of this kind, in lexicographic order. There are A061552(n) -
A032351(n) of them (OEIS: those that avoid 4231, less those that avoid 3412 too). The least n with a row is 4: 3412.
The data set's README forgets the avoidance of 4231 and the "less 1"; its generator and its counts have both.
"""

from collections.abc import Iterable

import numpy as np

from adelic.acd.permutations import read_permutation
from adelic.acd.protocol import Estimate, Request, Rows, Task

# A061552(n) - A032351(n) for n = 4, 5, ...
ROW_COUNTS = (
    1, 15, 147, 1210, 9141, 66080, 467640, 3284072, 23080632, 163204810, 1164914126, 8409095643, 61447022360,
)  # fmt: skip

# Measured: rows, labels and their copies in the split, the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 64
PEAK_BYTES_PER_TOKEN = 6


def mheight(permutation: Iterable[int]) -> int | None:
    """Return the least height of a 3412 pattern less 1; None if there is none, or if there is a 4231 pattern.

    Args:
        permutation: one-line notation, of 0..n-1 or of 1..n.

    Raises:
        EncodingError: `permutation` is no permutation.

    >>> mheight([3, 4, 1, 2]), mheight([4, 5, 3, 1, 2]), mheight([1, 2, 3, 4])
    (0, 1, None)
    >>> mheight([4, 2, 3, 1]), mheight([5, 6, 3, 4, 1, 2])  # 5341 is a 4231 pattern
    (None, None)
    """
    w = read_permutation(permutation, first=None)
    if contains_4231(w):
        return None
    heights = [
        w[i] - w[last]
        for i in range(len(w))
        for last in range(i + 3, len(w))
        if w[last] < w[i] and _has_middle(w, i, last)
    ]
    return min(heights) - 1 if heights else None


def contains_4231(w: tuple[int, ...]) -> bool:
    """Return whether there are i < j < k < l with w_l < w_j < w_k < w_i.

    >>> contains_4231((4, 2, 3, 1)), contains_4231((4, 3, 2, 1))
    (True, False)
    """
    for j in range(1, len(w) - 2):
        four = max(w[:j])
        threes = [k for k in range(j + 1, len(w) - 1) if w[j] < w[k] < four]
        if threes and min(w[threes[0] + 1 :]) < w[j]:
            return True
    return False


def _has_middle(w: tuple[int, ...], i: int, last: int) -> bool:
    """Return whether a 4 and then a 1 stand between the 3 at position i and the 2 at position `last`."""
    greater = next((j for j in range(i + 1, last) if w[j] > w[i]), last)
    return any(w[k] < w[last] for k in range(greater + 1, last))


def _generate(request: Request) -> Rows:
    from adelic.acd import mheight_kernels

    n, parts = request.n, []
    for first in range(n):
        parts.append(mheight_kernels.rows_from(first, n))
        request.report(first + 1, n, "permutations")
    return Rows(np.concatenate([rows for rows, _ in parts]), np.concatenate([labels for _, labels in parts]))


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact row count, or, beyond the table, its last entry as a lower bound (the counts grow with n)."""
    known = min(n - 4, len(ROW_COUNTS) - 1)
    rows = ROW_COUNTS[known]
    return Estimate(rows, rows * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * (known + 4)), exact=known == n - 4)


TASK = Task(
    name="mheight",
    title="the mHeight of a permutation that avoids 4231 and contains 3412",
    version=1,
    sizes=(8, 9, 10),
    minimum=4,
    maximum=99,  # the kernel counts in int8
    editions={"published": "all permutations that avoid 4231 and contain 3412; label: least height less 1"},
    notes={
        "published": (
            "The rows are those of the published data set: its counts by label agree for n = 8, 9, 10.",
            "Settled here: the train/test split is 80/20 as published, but the published seed is unknown.",
        )
    },
    class_names=lambda n, edition: tuple(str(label) for label in range(n - 3)),
    vocabulary=lambda n, edition: tuple(range(n)),
    length=lambda n, edition: n,
    estimate=_estimate,
    generate=_generate,
)
