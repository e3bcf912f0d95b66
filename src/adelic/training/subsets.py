"""What is trained on: part of a large data set, or all images of its rows, the same for all runs that are compared."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from adelic import acd
from adelic.errors import ConfigurationError
from adelic.training.sampler import stream_seed

if TYPE_CHECKING:
    from adelic.training.tuning import DevelopmentData

D = TypeVar("D", acd.Dataset, "DevelopmentData")


def training_subset(data: D, max_rows: int, seed: int) -> D:
    """Return the data with `max_rows` random training rows, and as great a part of the validation rows.

    The test rows all stay. Fewer training rows than that are left as they are, as they are for `max_rows` 0.

    Args:
        data: a data set.
        max_rows: the most rows to train on; 0 for all.
        seed: the data's, so that every model and every seed of training sees the same rows.

    >>> data = acd.load("schubert", n=4)
    >>> part = training_subset(data, 100, seed=0)
    >>> [len(y) for y in (data.y_train, data.y_validation, part.y_train, part.y_validation, part.y_test)]
    [1515, 169, 100, 12, 421]
    """
    n_train, n_validation = len(data.y_train), len(data.y_validation)
    if not 0 < max_rows < n_train:
        return data
    rng = np.random.default_rng(stream_seed(seed, "training rows"))
    # Sorted, so that rows stand in the generator's order as they did.
    train = np.sort(rng.choice(n_train, max_rows, replace=False))
    validation = np.sort(rng.choice(n_validation, -(-max_rows * n_validation // n_train), replace=False))
    return replace(
        data,
        X_train=data.X_train[train],
        y_train=data.y_train[train],
        X_validation=data.X_validation[validation],
        y_validation=data.y_validation[validation],
    )


def training_images(task: str, X: np.ndarray, y: np.ndarray, *, symmetries: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return what stands for each training row: the row alone, or all its images under the task's symmetries.

    Args:
        task: its name.
        X: rows, (rows, length).
        y: their labels, (rows, ...).
        symmetries: whether images are wanted.

    Returns:
        X (rows, images, length) and y (rows, images, ...).

    Raises:
        ConfigurationError: images are wanted, and the task has no symmetries that keep labels.

    >>> data = acd.load("schubert", n=4)
    >>> training_images("schubert", data.X_train, data.y_train, symmetries=True)[0].shape
    (1515, 4, 15)
    """
    of_task = acd.task(task).symmetries if symmetries else {}
    if symmetries and not of_task:
        raise ConfigurationError(f"{task} has no symmetries that keep labels; use --no-symmetries")
    return acd.images(X, y, of_task)
