"""Examples that are equivalent to given ones: what a task's symmetries, repeated, make of them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.errors import needs_extra

Integers = NDArray[np.integer[Any]]
"""An array of integers of any width."""
Symmetry = Callable[[Integers, Integers], tuple[Integers, Integers]]
"""Maps examples (X, y) to equivalent examples, one each, with their labels: the same ones, where y are classes."""

MOST_IMAGES = 64
"""How many images an example has at most; symmetries that reach more are applied as far as that, breadth first."""


def images(X: Integers, y: Integers, symmetries: Mapping[str, Symmetry]) -> tuple[Integers, Integers]:
    """Return every image of every example under the group that some symmetries generate, with its label.

    An example that a symmetry leaves as it is has that image more than once, so all examples have equally many.

    Args:
        X: examples, (examples, length).
        y: labels, (examples,) or (examples, n_targets).
        symmetries: as a task has them; see `adelic.data.protocol.Task`.

    Returns:
        X (examples, n_images, length) and y (examples, n_images, …); image 0 is the example itself.

    >>> from adelic import acd
    >>> d = acd.load("schubert", n=4)
    >>> X, y = images(d.X_train, d.y_train, acd.task("schubert").symmetries)
    >>> X.shape, bool((y == d.y_train[:, None]).all())
    ((1515, 4, 15), True)
    """
    found = _images(X, y, symmetries)
    return np.stack([rows for rows, _ in found], axis=1), np.stack([labels for _, labels in found], axis=1)


def _images(X: Integers, y: Integers, symmetries: Mapping[str, Symmetry]) -> list[tuple[Integers, Integers]]:
    """Return one pair (X, y) for each image."""
    found = [(X, y)]
    for rows, labels in found:  # which grows
        for symmetry in symmetries.values():
            if len(found) == MOST_IMAGES:
                return found
            image = symmetry(rows, labels)
            if not any(_same(image[0], other) for other, _ in found):
                found.append(image)
    return found


def _same(X: Integers, other: Integers) -> bool:
    """Return whether all examples are equal; most pairs differ in the first ones, which are compared alone at first."""
    return np.array_equal(X[:64], other[:64]) and np.array_equal(X, other)


def orbits(X: Integers, y: Integers, symmetries: Mapping[str, Symmetry]) -> NDArray[np.int64]:
    """Return the number of each example's orbit: equal for examples of which one is an image of the other.

    Examples with a common image share an orbit, even where the image is not an example of the data.

    Args:
        X: examples, (examples, length).
        y: their labels, which symmetries are given along with them.
        symmetries: as for `images`; without any, equal examples alone share an orbit.

    Returns:
        (examples,), from 0 on without a gap.

    >>> X, y = np.array([[1, 2], [3, 1], [2, 1], [2, 2]]), np.zeros(4, np.int64)
    >>> orbits(X, y, {"reversed": lambda X, y: (X[:, ::-1], y)}).tolist()
    [0, 1, 0, 2]
    """
    keys = np.stack([content_keys(rows) for rows, _ in _images(X, y, symmetries)], axis=1)
    n_images = keys.shape[1]
    contents = np.unique(keys, return_inverse=True)[1].reshape(-1)
    return joined(np.repeat(np.arange(len(X)), n_images), contents)[::n_images].astype(np.int64)


def joined(a: Integers, b: Integers) -> Integers:
    """Return numbers that are equal where a is equal, where b is, and where these join one another.

    Both are whole numbers from 0 on, (size,).

    >>> joined(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 2])).tolist()
    [0, 0, 0, 1, 1]
    """
    with needs_extra("joining examples into orbits", "data"):
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

    first_b = int(a.max(initial=0)) + 1
    size = first_b + int(b.max(initial=0)) + 1
    # Numbers of a on one side, of b on the other, and each place joins two: the components are what is asked for.
    graph = coo_array((np.ones(len(a), np.bool_), (a, first_b + b)), shape=(size, size))
    of_number: Integers = connected_components(graph)[1]
    return of_number[a]


def content_keys(X: Integers) -> NDArray[np.uint64]:
    """Return a 64-bit key of each example: equal for equal examples of any dtype, rarely equal for different ones.

    >>> keys = content_keys(np.array([[1, 2], [2, 1], [1, 2]], np.int8))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    rng = np.random.default_rng(len(X.T))  # a fixed stream: keys of two calls are compared
    keys = np.zeros(len(X), np.uint64)
    multipliers: NDArray[np.uint64] = rng.integers(1 << 63, size=(X.shape[1],), dtype=np.uint64)
    for column, multiplier in zip(X.T, 2 * multipliers + 1, strict=True):  # modulo 2^64 an odd factor loses no bit
        keys += column.astype(np.int64).view(np.uint64) * multiplier
    return keys
