"""Part of a large data set, the same for all models that are compared with one seed."""

from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from adelic.data.symmetries import Integers
from adelic.training.sampler import stream_seed


class Divided(Protocol):
    """A dataclass of data, with or without a test split."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def X_train(self) -> Integers: ...  # noqa: D102, N802
    @property
    def y_train(self) -> Integers: ...  # noqa: D102
    @property
    def X_validation(self) -> Integers: ...  # noqa: D102, N802
    @property
    def y_validation(self) -> Integers: ...  # noqa: D102


D = TypeVar("D", bound=Divided)


def training_subset(data: D, max_rows: int, seed: int) -> D:
    """Return the data with `max_rows` random training rows, and as great a part of the validation rows.

    The test rows all stay. Fewer training rows than that are left as they are, as they are for `max_rows` 0.

    Args:
        data: a data set.
        max_rows: the most rows to train on; 0 for all.
        seed: the run's, so that every model sees the same rows, and every seed others.

    >>> from adelic import acd
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
