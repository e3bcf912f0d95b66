"""Characters of the symmetric groups: the values χ^λ_μ of the irreducible characters on the conjugacy classes.

Partitions λ of n name the irreducible characters of S_n, partitions μ of n the classes, by cycle type. All values are
whole numbers. The Murnaghan-Nakayama rule computes them: for any part k of μ, with μ' the other parts,

    χ^λ_μ = Σ (-1)^height · χ^λ'_μ'   over the λ' that are λ without a rim hook of k cells,

where a rim hook is a connected piece of the border of the Young diagram that has no 2 × 2 square, and its height is
the number of its rows less 1. Sources: Sagan, "The Symmetric Group" (2001), section 4.10; James and Kerber, "The
Representation Theory of the Symmetric Group" (1981), section 2.7, for rim hooks by beta-numbers.

The dataset: all pairs of partitions of n, λ and then μ, each padded with zeros to n entries, so 2n tokens 0..n. The
examples are ordered by λ and then by μ, both in reverse lexicographic order: (n), (n-1, 1), ..., (1, ..., 1). The
target is χ^λ_μ as int64, a regression.

Editions:

- `published`: all pairs: 148,225, 393,129 and 1,004,004 for n = 18, 20, 22. The README has this size for n = 18.
- `central`: those with |χ^λ_μ| <= c, c the least number for which they are at least 95 % of all. The older published
  loader drops all others, with c = 294, 573, 1144 written out, and the sizes in the README for n = 20 and 22 are those
  of the remaining pairs (373,480 and 953,835), next to the extremes of all pairs.

Symmetry: χ^λ'_μ = sgn(μ) χ^λ_μ for the conjugate λ' of λ, so examples with an odd μ change the sign of their target.
Self-conjugate λ are mapped to themselves, and vanish on odd μ.

Whole tables at once. Let k be the first, and so the greatest, part of μ, and μ' the rest of it. The rule says that
χ^λ_μ is the sum of ±χ^λ'_μ' over the λ' that are λ without a rim hook of length k. For all λ and all such μ at once
this is a sparse matrix of signs times a block of the table of S_(n-k). In reverse lexicographic order the μ with first
part k are consecutive, and so are the μ' whose parts are at most k: these are the last ones. To remove the greatest
part first keeps the tables of smaller groups narrow: of the table of S_m only the μ with parts of at most n - m are
ever used.

The entries are exact in int64 for n <= 33. The squares of the dimensions f^λ sum to n!, and |χ^λ_μ| <= f^λ, so an
entry is at most √(33!) < 2**62. Partial sums are not greater: f^λ counts standard tableaux, and those whose entries up
to n - k fill some λ' are at least f^λ'.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adelic.acd.facts import described
from adelic.acd.permutations import Int64, read_sequence
from adelic.data import store
from adelic.data.protocol import Estimate, Integers, Progress, Request, Rows, Task, silent
from adelic.errors import EncodingError, needs_extra
from adelic.storage.checks import shown, whole_number

Partition = tuple[int, ...]


# Partitions


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


if TYPE_CHECKING:
    from scipy.sparse import csr_array


# All characters of a group at once


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


MAXIMUM = 33  # int64 holds all values up to here, see above
CENTRAL_PERCENT = 95
# The numbers of examples of the edition "central", for the published sizes.
CENTRAL_COUNTS = {18: 140846, 20: 373480, 22: 953835}

# Measured: examples and targets, their copies in the splits, the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 48
PEAK_BYTES_PER_TOKEN = 3


# One character at a time


def character(lam: Iterable[int], mu: Iterable[int]) -> int:
    """Return χ^λ_μ, the value of the irreducible character λ of S_n on the permutations of cycle type μ.

    Args:
        lam: a partition of n: whole numbers that never rise; zeros at the end do not count.
        mu: a partition of n, likewise.

    Raises:
        EncodingError: an argument is not a partition, or they are not partitions of the same number.

    >>> character([3, 1, 1], [2, 2, 1]), character([2, 1], [1, 1, 1]), character([2, 1], [2, 1])
    (-2, 2, 0)
    """
    shape, cycle_type = read_partition(lam), read_partition(mu)
    if sum(shape) != sum(cycle_type):
        raise EncodingError(
            f"{shown(shape)} is a partition of {sum(shape)} and {shown(cycle_type)} one of {sum(cycle_type)}; "
            "a character needs two partitions of the same number"
        )
    # All ways to remove rim hooks at once, long ones first, because there are few of them; equal rests are added up.
    signs = {shape: 1}
    for k in cycle_type:
        total: dict[Partition, int] = {}
        for current, coefficient in signs.items():
            for rest, sign in without_rim_hooks(current, k):
                total[rest] = total.get(rest, 0) + sign * coefficient
        signs = total
    return signs.get((), 0)


def character_table(n: int, progress: Progress = silent) -> Int64:
    """Return the character table of S_n: χ^λ_μ in the row of λ and the column of μ, in the order of `partitions(n)`.

    Args:
        n: a whole number from 1 to 33, beyond which int64 could not hold all values.
        progress: called with (done, total, what).

    Raises:
        TaskSizeError: n is not such a number.

    >>> character_table(4)
    array([[ 1,  1,  1,  1,  1],
           [-1,  0, -1,  1,  3],
           [ 0, -1,  2,  0,  2],
           [ 1,  0, -1, -1,  3],
           [-1,  1,  1, -1,  1]])
    """
    n = TASK.check_size(n, "published")
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
        progress(m, n, "character tables")
    return tables[n]


# The dataset


def hooks(X: Integers) -> Integers:
    """Return per example the number of hooks of λ of each length, its contents, and the number of cycles of μ of each.

    From (examples, 2n) to int8 (examples, 4n - 1): the cells of λ with a hook of 1, …, n cells; those with the
    content -(n-1), …, n-1, which is column less row; the parts of μ that are 1, …, n. The contents tell λ. Source:
    Sagan, "The Symmetric Group" (2001), sections 3.10 and 4.10: the dimension is n! over the product of all hook
    lengths, and χ is 0 where μ has a part k and λ no hook of k cells.

    >>> hooks(np.array([[2, 1, 0, 3, 0, 0]])).tolist()  # hooks of 3, 1 and 1 cells, contents 0, 1 and -1
    [[2, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1]]
    """
    n = X.shape[1] // 2
    lengths = np.arange(1, n + 1)
    # Partitions are far fewer than examples.
    cycle_types, of_type = np.unique(X[:, n:], axis=0, return_inverse=True)
    cycles = np.count_nonzero(cycle_types[:, :, None] == lengths, axis=1).astype(np.int8)
    shapes, of_shape = np.unique(X[:, :n], axis=0, return_inverse=True)
    row, column = np.indices((n, n))
    in_diagram = column < shapes[:, :, None]
    hook = shapes[:, :, None] - column + _conjugated_shapes(shapes)[:, None, :] - row - 1
    cells = np.empty((len(shapes), 3 * n - 1), np.int8)
    for at, length in enumerate(lengths):
        cells[:, at] = np.count_nonzero(in_diagram & (hook == length), axis=(1, 2))
    for content in range(1 - n, n):
        cells[:, 2 * n - 1 + content] = np.count_nonzero(in_diagram & (column - row == content), axis=(1, 2))
    # reshape: some versions of NumPy 2 give the inverse the shape of the examples.
    return np.hstack([cells[of_shape.reshape(-1)], cycles[of_type.reshape(-1)]])


@cache
def _partition_count(n: int) -> int:
    """Return A000041(n), the number of partitions of n, by adding one part size after the other."""
    counts = [1] + [0] * n
    for part in range(1, n + 1):
        for total in range(part, n + 1):
            counts[total] += counts[total - part]
    return counts[n]


def _generate(request: Request) -> Rows:
    n = request.n
    y = character_table(n, request.report).reshape(-1)
    padded = np.array([shape + (0,) * (n - len(shape)) for shape in partitions(n)], np.int8)
    count = len(padded)
    pairs = np.empty((count, count, 2 * n), np.int8)
    pairs[:, :, :n] = padded[:, None]
    pairs[:, :, n:] = padded[None]
    X = pairs.reshape(-1, 2 * n)
    if request.edition == "central":
        sizes = np.abs(y)
        rank = _central_rows_at_least(len(y)) - 1
        kept = sizes <= np.partition(sizes, rank)[rank]
        X, y = X[kept], y[kept]
    return Rows(X, y)


def _central_rows_at_least(rows: int) -> int:
    return -(-CENTRAL_PERCENT * rows // 100)


def _tally(rows: Rows) -> Mapping[str, int]:
    return {
        "zeros": int(np.count_nonzero(rows.y == 0)),
        "max": int(rows.y.max()),
        "min": int(rows.y.min()),
    }


def _conjugated(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples with λ conjugated, and sgn(μ) times their targets."""
    n = X.shape[1] // 2
    mapped = X.copy()
    mapped[:, :n] = _conjugated_shapes(X[:, :n])
    return mapped, np.where(_is_odd(X[:, n:]), -y, y)


def _conjugated_shapes(shapes: Integers) -> Integers:
    n = shapes.shape[1]
    columns = np.zeros_like(shapes)
    for row in range(n):
        columns += shapes[:, row : row + 1] > np.arange(n)
    return columns


def _is_odd(cycle_types: Integers) -> NDArray[np.bool_]:
    """Return whether permutations of these cycle types are odd: n less the number of cycles is."""
    return np.asarray((cycle_types.shape[1] - np.count_nonzero(cycle_types, axis=1)) % 2 == 1)


def _fixed_points(X: Integers) -> Integers:
    """Return the number of ones in μ; μ = (1, ..., 1) has the dimensions, the greatest values of their rows."""
    return np.asarray(np.count_nonzero(X[:, X.shape[1] // 2 :] == 1, axis=1))


def _hook_margin(X: Integers) -> Integers:
    """Return how much longer the longest hook of λ is than the longest cycle; χ is 0 where this is negative."""
    n = X.shape[1] // 2
    longest_hook = X[:, 0].astype(np.int64) + np.count_nonzero(X[:, :n], axis=1) - 1
    return np.asarray(longest_hook - X[:, n])


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; for other sizes of "central", and beyond n = 100, a lower bound."""
    size = min(n, 100)
    pairs = _partition_count(size) ** 2
    rows = pairs
    if edition == "central":
        rows = CENTRAL_COUNTS.get(n, _central_rows_at_least(pairs))
    exact = n in CENTRAL_COUNTS if edition == "central" else n == size
    tokens = 2 * size
    peak = pairs * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * tokens) + store.decoding_bytes(pairs, tokens)
    return Estimate(rows, peak, exact)


TASK = Task(
    **described("characters", hooks=(hooks, lambda n: tuple(range(n + 1)))),
    version=1,
    minimum=1,
    maximum=MAXIMUM,
    class_names=lambda n, edition: None,
    vocabulary=lambda n, edition: tuple(range(n + 1)),
    length=lambda n, edition: 2 * n,
    estimate=_estimate,
    generate=_generate,
    symmetries={"conjugate": _conjugated},
    cues={
        "ones in the cycle type": _fixed_points,
        "longest hook less longest cycle": _hook_margin,
    },
    tally=_tally,
)
