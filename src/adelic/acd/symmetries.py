"""Rows that are equivalent to given ones: what a task's symmetries, repeated, make of them."""

from collections.abc import Mapping

import numpy as np

from adelic.acd.protocol import Integers, Symmetry

MOST_IMAGES = 64
"""How many images a row has at most; symmetries that reach more are applied as far as that, breadth first."""


def images(X: Integers, y: Integers, symmetries: Mapping[str, Symmetry]) -> tuple[Integers, Integers]:
    """Return every image of every row under the group that some symmetries generate, with its label.

    A row that a symmetry leaves as it is has that image more than once, so that all rows have equally many.

    Args:
        X: rows, (rows, length).
        y: labels, (rows,) or (rows, n_targets).
        symmetries: as a task has them; see `adelic.acd.protocol.Task`.

    Returns:
        X (rows, n_images, length) and y (rows, n_images, …); image 0 is the row itself.

    >>> from adelic import acd
    >>> data = acd.load("schubert", n=4)
    >>> X, y = images(data.X_train, data.y_train, acd.task("schubert").symmetries)
    >>> X.shape, bool((y == data.y_train[:, None]).all())
    ((1515, 4, 15), True)
    """
    found = [(X, y)]
    for rows, labels in found:  # which grows
        for symmetry in symmetries.values():
            image = symmetry(rows, labels)
            if len(found) < MOST_IMAGES and not any(np.array_equal(image[0], other) for other, _ in found):
                found.append(image)
    return np.stack([rows for rows, _ in found], axis=1), np.stack([labels for _, labels in found], axis=1)
