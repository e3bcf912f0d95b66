"""Whole character tables of symmetric groups: the Murnaghan-Nakayama rule as products of sparse and dense matrices.

Let k be the first, and so the greatest, part of μ, and μ' the rest of it. The rule says that χ^λ_μ is the sum of
±χ^λ'_μ' over the λ' that are λ without a rim hook of length k. For all λ and all such μ at once this is a sparse matrix
of signs times a block of the table of S_(n-k). In reverse lexicographic order the μ with first part k are consecutive,
and so are the μ' whose parts are at most k: these are the last ones. To remove the greatest part first keeps the tables
of smaller groups narrow: of the table of S_m only the μ with parts of at most n - m are ever used.

The entries are exact in int64 for n <= 33. The squares of the dimensions f^λ sum to n!, and |χ^λ_μ| <= f^λ, so that an
entry is at most √(33!) < 2**62. Partial sums are not greater: f^λ counts standard tableaux, and those whose entries up
to n - k fill some λ' are at least f^λ'.
"""

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adelic.acd.characters.shapes import Partition, partitions, without_rim_hooks
from adelic.data.protocol import Progress
from adelic.errors import needs_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Int64 = NDArray[np.int64]


def character_table(n: int, progress: Progress | None = None) -> Int64:
    """Return χ^λ_μ for all partitions λ (rows) and μ (columns) of n, 1 <= n <= 33, in reverse lexicographic order.

    >>> character_table(3).tolist()
    [[1, 1, 1], [-1, 0, 2], [1, -1, 1]]
    """
    shapes = [partitions(m) for m in range(n + 1)]
    tables: list[Int64] = [np.ones((1, 1), np.int64)]  # of the trivial group S_0
    for m in range(1, n + 1):
        greatest = n if m == n else min(m, n - m)
        blocks = []
        # In this order the blocks are the columns in reverse lexicographic order.
        for k in range(greatest, 0, -1):
            smaller = tables[m - k]
            columns = _count_with_parts_up_to(k, shapes[m - k])
            blocks.append(_removals(shapes[m], shapes[m - k], k) @ smaller[:, smaller.shape[1] - columns :])
        tables.append(np.hstack(blocks))
        if progress:
            progress(m, n, "character tables")
    return tables[n]


def _removals(shapes: list[Partition], smaller_shapes: list[Partition], k: int) -> "csr_array":
    """Return the matrix with the sign of the rim hook that is λ without λ', of length k, in row λ and column λ'."""
    with needs_extra("a character table", "data"):
        from scipy.sparse import csr_array

    index = {shape: column for column, shape in enumerate(smaller_shapes)}
    rows, columns, signs = [], [], []
    for row, shape in enumerate(shapes):
        for rest, sign in without_rim_hooks(shape, k):
            rows.append(row)
            columns.append(index[rest])
            signs.append(sign)
    entries = (np.array(signs, np.int64), (np.array(rows, np.intp), np.array(columns, np.intp)))
    return csr_array(entries, shape=(len(shapes), len(smaller_shapes)))


def _count_with_parts_up_to(k: int, shapes: list[Partition]) -> int:
    """Return how many partitions have no part above k; in reverse lexicographic order these are the last ones."""
    return len(shapes) - bisect_left(shapes, -k, key=lambda shape: -max(shape, default=0))
