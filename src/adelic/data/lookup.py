"""Look-up: examples found by their content, and the model that knows nothing but the examples that it has seen."""

import numpy as np
from numpy.typing import NDArray

from adelic.data.symmetries import Integers, content_keys

_BLOCK = 1 << 16
"""Examples that are compared at once: copies of all of a large data set's would take several times its memory."""

_SMALL_TABLE = 1 << 16
"""Counts of pairs that are always few enough for a table of all pairs."""


class RowIndex:
    """Examples, found by their content.

    Args:
        X: (examples, length), integers; the last axis is an example.

    >>> RowIndex(np.array([[1, 2], [3, 4]])).find(np.array([[3, 4], [4, 3]])).tolist()
    [1, -1]
    """

    def __init__(self, X: Integers) -> None:
        self.X = X
        keys = content_keys(X)
        # Stable, so of equal examples the first one is found.
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def find(self, X: Integers) -> NDArray[np.int64]:
        """Return for each example the number of the first equal example of the index, -1 if there is none.

        Keys only propose: whether two examples are equal is decided by their contents.
        """
        found = np.full(len(X), -1, np.int64)
        if len(self.X):
            for start in range(0, len(X), _BLOCK):
                self._find(X[start : start + _BLOCK], found[start : start + _BLOCK])
        return found

    def _find(self, X: Integers, found: NDArray[np.int64]) -> None:
        """Write what `find` returns of a block of examples into `found`, which is -1 everywhere."""
        keys = content_keys(X)
        place = np.searchsorted(self._keys, keys)
        open_ = np.arange(len(X))
        while len(open_):
            inside = place[open_] < len(self._keys)
            open_ = open_[inside]
            open_ = open_[self._keys[place[open_]] == keys[open_]]
            row = self._order[place[open_]]
            equal = (self.X[row] == X[open_]).all(axis=1)
            found[open_[equal]] = row[equal]
            open_ = open_[~equal]
            place[open_] += 1  # another row with the same key


class LookUp:
    """The model that answers with the label of an equal example among those it has seen, else with the majority class.

    Its score is memory, so compare each result with it. If equal examples have different labels, the most frequent one
    counts, of equally frequent ones the first. The majority class is the one of the table: equal examples count once.

    Args:
        X: examples, (examples, length).
        y: their classes, (examples,).

    Attributes:
        counts: how many different examples of each class it knows, (classes,).
        majority: the class of which it knows most, of several the first.

    >>> memory = LookUp(np.array([[1, 2], [3, 4], [5, 6]]), np.array([1, 0, 0]))
    >>> memory.predict(np.array([[1, 2], [9, 9]])).tolist()
    [1, 0]
    """

    def __init__(self, X: Integers, y: Integers) -> None:
        self.index = RowIndex(X)
        content = self.index.find(X)
        self.answers = most_frequent_labels(content, y, len(y))[content]
        self.counts = np.bincount(self.answers[np.unique(content)])
        self.majority = int(self.counts.argmax())

    def find(self, X: Integers) -> NDArray[np.int64]:
        """Return for each example the label of an equal example, (examples,); -1 if there is none."""
        found = self.index.find(X)
        return np.where(found >= 0, self.answers[found], -1).astype(np.int64)

    def predict(self, X: Integers) -> NDArray[np.int64]:
        """Return a class for each example, (examples,)."""
        found = self.find(X)
        return np.where(found >= 0, found, self.majority)


def most_frequent_labels(groups: Integers, y: Integers, n_groups: int) -> NDArray[np.int64]:
    """Return for each group the most frequent label of its examples, of several the least; (n_groups,).

    Groups are numbers from 0 on, one an example, and labels integers, likewise. Of an empty group the answer says
    nothing.

    >>> most_frequent_labels(np.array([0, 0, 0, 1, 1]), np.array([7, 5, 7, 7, 5]), 2).tolist()
    [7, 5]
    """
    least, greatest = int(y.min()), int(y.max())
    n_labels = greatest - least + 1
    if n_groups * n_labels <= max(_SMALL_TABLE, 4 * len(y)):  # a table of all pairs, without sorting
        pairs = groups.astype(np.int64) * n_labels + (y.astype(np.int64) - least)
        counts = np.bincount(pairs, minlength=n_groups * n_labels).reshape(n_groups, n_labels)
        return np.asarray(counts.argmax(axis=1) + least)
    labels, codes = np.unique(y, return_inverse=True)
    pairs, counts = np.unique(groups.astype(np.int64) * len(labels) + codes.reshape(-1), return_counts=True)
    met, label = np.divmod(pairs, len(labels))
    best = np.lexsort((label, -counts, met))
    met, first = np.unique(met[best], return_index=True)
    found = np.full(n_groups, least, np.int64)
    found[met] = labels[label[best][first]]
    return found
