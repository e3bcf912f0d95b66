"""Splits: which examples train, which validate, which test.

As published, ⌈0.8 N⌉ of the N examples, drawn at random, are for training and the others for testing, without regard to
classes; if the seed of a published split is unknown, we draw with our own. The published code uses its test
examples for validation. We do not: a tenth of the training examples of each class becomes the validation set, so
the test examples are touched once. A class with fewer than five training examples is too small to be split and trains
whole.

That is `split="published"`. It separates examples that are one another's images under the task's symmetries, so
training on images would train on test examples. `split="orbits"` keeps whole orbits in one part, with the same
proportions of every class: images of its training examples may be trained on. The seed of a published split that is
known says nothing about orbits, which are always drawn anew.
"""

import numpy as np
from numpy.typing import NDArray

from adelic.data.protocol import Rows
from adelic.data.symmetries import Integers, joined

SPLITS = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)


def part_sizes(split: NDArray[np.int8]) -> dict[str, int]:
    """Return how many examples there are in all, and in each part.

    >>> part_sizes(np.array([TRAIN, TRAIN, TEST], np.int8))
    {'all': 3, 'train': 2, 'validation': 0, 'test': 1}
    """
    return {"all": len(split)} | {name: int(np.count_nonzero(split == i)) for i, name in enumerate(SPLITS)}


def split_rows(rows: Rows, rng: np.random.Generator, *, stratify: bool = True) -> NDArray[np.int8]:
    """Return for each example the index of its split in SPLITS.

    Examples of a group share their split; of groups (of examples, if there are none) the same shares are drawn.

    Where `rows.test` is given the test examples are these, else they are drawn. With `stratify`, `rows.y` are classes,
    of each of which a tenth is to validate; groups are drawn regardless. The result is int8 (examples,).

    >>> y = np.repeat([0, 1], [96, 4])
    >>> split = split_rows(Rows(np.zeros((100, 2), np.int8), y), np.random.default_rng(0))
    >>> np.bincount(split).tolist(), np.bincount(y[split == VALIDATION], minlength=2).tolist()
    ([72, 8, 20], [8, 0])
    """
    groups = None if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1]
    test = rows.test if rows.test is not None else _drawn_test(len(rows.y), groups, rng)
    split = np.where(test, TEST, TRAIN).astype(np.int8)
    if groups is not None:
        chosen = _tenth(np.unique(groups[~test]), rng)
        split[np.isin(groups, chosen) & ~test] = VALIDATION
        return split
    classes = rows.y if stratify else np.zeros(len(rows.y), np.int8)
    for label in np.unique(classes):
        split[_tenth(np.flatnonzero((classes == label) & ~test), rng)] = VALIDATION
    return split


def split_orbits(rows: Rows, orbits: Integers, rng: np.random.Generator, *, stratify: bool = True) -> NDArray[np.int8]:
    """Return for each example the index of its split in SPLITS, the same for all examples of an orbit.

    Of each class a fifth of the examples is for testing and a tenth of the others for validation, as nearly as whole
    orbits allow: orbits are drawn in random order, and one goes to a part if half of it or more still has room there.
    Examples that share a group (`rows.groups`) share a part, too. `rows.test` is ignored. `orbits` (examples,) numbers
    each example's; all examples of one have one class, if `stratify` says that there are classes. The result is int8
    (examples,).

    >>> rows = Rows(np.zeros((100, 2), np.int8), np.repeat([0, 1], [80, 20]))
    >>> split = split_orbits(rows, np.arange(100) // 4, np.random.default_rng(1))
    >>> np.bincount(split).tolist(), np.bincount(rows.y[split == TEST]).tolist()
    ([72, 8, 20], [16, 4])
    """
    if rows.groups is not None:
        orbits = joined(*(np.unique(numbers, return_inverse=True)[1] for numbers in (orbits, rows.groups)))
    numbers, first, of_row, sizes = np.unique(orbits, return_index=True, return_inverse=True, return_counts=True)
    parts = np.full(len(numbers), TRAIN, np.int8)
    # A group may hold examples of several classes, as in a corrected edition: then its first example's class counts.
    classes = rows.y[first] if stratify else np.zeros(len(numbers), np.int8)
    for label in np.unique(classes):
        members = rng.permutation(np.flatnonzero(classes == label))
        before = np.cumsum(sizes[members]) - sizes[members] / 2  # rows up to the middle of each orbit
        n_rows = sizes[members].sum()
        is_test = before <= n_rows / 5
        rest, n_rest = members[~is_test], n_rows - sizes[members[is_test]].sum()
        parts[members[is_test]] = TEST
        middle = np.cumsum(sizes[rest]) - sizes[rest] / 2
        parts[rest[middle <= n_rest / 10]] = VALIDATION
    return parts[of_row]


def _tenth(members: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a tenth of the members, rounded, drawn at random."""
    return rng.permutation(members)[: (len(members) + 5) // 10]


def _drawn_test(count: int, groups: NDArray[np.intp] | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    if groups is not None:
        return _drawn_test(int(groups.max(initial=-1)) + 1, None, rng)[groups]
    train_count = -(-4 * count // 5)  # ⌈0.8 count⌉ without rounding errors
    test = np.zeros(count, np.bool_)
    test[rng.permutation(count)[train_count:]] = True
    return test


def published_test(count: int) -> NDArray[np.bool_]:
    """Return which of `count` items are test items where the ACD's own generators draw the split, with NumPy's seed 32.

    They shuffle the indices with NumPy's legacy generator, whose stream is frozen; the first ⌈0.8 count⌉ train.

    >>> np.arange(10)[published_test(10)].tolist()
    [5, 7]
    """
    order = np.arange(count)
    np.random.RandomState(32).shuffle(order)
    test = np.ones(count, np.bool_)
    test[order[: -(-4 * count // 5)]] = False
    return test
