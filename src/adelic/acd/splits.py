"""Splits: which rows train, which validate, which test.

As published, ⌈0.8 N⌉ of the N rows, drawn at random, are for training and the others for testing, without regard to
classes; where the seed of a published split is unknown, ours is drawn with our own. The published code uses its test
rows for validation. We do not: a tenth of the training rows of each class becomes the validation set, so that the test
rows are touched once. A class with fewer than five training rows is too small to be split and trains whole.
"""

import numpy as np
from numpy.typing import NDArray

from adelic.acd.protocol import Rows

SPLITS = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)


def split_rows(rows: Rows, rng: np.random.Generator, *, stratify: bool = True) -> NDArray[np.int8]:
    """Return for each row the index of its split in SPLITS.

    Rows of a group share their split; of groups (of rows, where there are none) the same shares are drawn.

    Args:
        rows: the rows; where `rows.test` is given the test rows are these, else they are drawn.
        rng: the source of the draws.
        stratify: whether `rows.y` are classes, of each of which a tenth is to validate; groups are drawn regardless.

    Returns:
        int8, shape (rows,).

    >>> y = np.repeat([0, 1], [96, 4])
    >>> split = split_rows(Rows(np.zeros((100, 2), np.int8), y), np.random.default_rng(0))
    >>> np.bincount(split).tolist(), np.bincount(y[split == VALIDATION], minlength=2).tolist()
    ([72, 8, 20], [8, 0])
    """
    groups = None if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1].reshape(-1)
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

    >>> np.flatnonzero(published_test(10)).tolist()
    [5, 7]
    """
    order = np.arange(count)
    np.random.RandomState(32).shuffle(order)
    test = np.ones(count, np.bool_)
    test[order[: -(-4 * count // 5)]] = False
    return test
