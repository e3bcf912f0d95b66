"""The guard against leaks: no example of validation or test is trained on, in any image.

Whatever trains gets its examples from `training_rows`, which compares all of them, images included, with the examples
of validation and test, by content, and raises `LeakError`. There is no switch to turn it off.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adelic.data.lookup import RowIndex
from adelic.data.symmetries import Integers, Symmetry, images
from adelic.errors import ConfigurationError, LeakError


class Holdout:
    """The examples that nobody may train on, known by their content alone: it has no labels.

    Args:
        validation: examples, (examples, length).
        test: examples, (examples, length).

    >>> held = Holdout(np.array([[1, 2]]), np.array([[3, 4], [5, 6]]))
    >>> held.overlap(np.array([[[7, 8]], [[5, 6]]]))
    {'validation': 0, 'test': 1}
    """

    def __init__(self, validation: Integers, test: Integers) -> None:
        self._rows = np.concatenate([validation, test])
        self._index = RowIndex(self._rows)
        self._n_validation = len(validation)

    @property
    def test(self) -> Integers:
        """Return the examples of test, without labels: who cuts validation anew hands them on to the next `Holdout`."""
        return self._rows[self._n_validation :]

    def overlap(self, X: Integers) -> dict[str, int]:
        """Return how many examples of validation and of test are among examples, (examples, n_images, length)."""
        return self._counts(self._held(X)[0])

    def check(self, X: Integers) -> None:
        """Raise `LeakError` if an example of validation or test is among examples, (examples, n_images, length)."""
        held, first = self._held(X)
        if first is None:
            return
        counts = self._counts(held)
        row, image, place = first
        part = "validation" if place < self._n_validation else "test"
        number = place if part == "validation" else place - self._n_validation
        tokens = " ".join(map(str, self._rows[place][:12].tolist())) + (" …" if self._rows.shape[1] > 12 else "")
        many = " and ".join(f"{count:,} {name} example{'s' * (count != 1)}" for name, count in counts.items() if count)
        how = f"image {image} of training example {row}" if X.shape[1] > 1 else f"training example {row}"
        remedy = (
            "images need parts that are closed under the symmetries: use the split 'orbits' (--split orbits), or "
            "--no-symmetries"
            if X.shape[1] > 1
            else "keep equal examples in one part"
        )
        raise LeakError(f"{many} would be trained on: {part} example {number} ({tokens}) is {how}; {remedy}")

    def _held(self, X: Integers) -> tuple[NDArray[np.bool_], tuple[int, int, int] | None]:
        """Return which held-out examples are in X; and (example of X, image, held-out example) of the first found."""
        content = self._index.find(self._rows)  # equal rows are found as the first of them
        is_held = np.zeros(len(self._rows), np.bool_)
        first = None
        for image in range(X.shape[1]):
            found = self._index.find(X[:, image])
            rows = np.flatnonzero(found >= 0)
            is_held[found[rows]] = True
            if first is None and len(rows):
                first = int(rows[0]), image, int(found[rows[0]])
        return is_held[content], first

    def _counts(self, held: NDArray[np.bool_]) -> dict[str, int]:
        parts = {"validation": held[: self._n_validation], "test": held[self._n_validation :]}
        return {name: int(np.count_nonzero(part)) for name, part in parts.items()}


def check_disjoint(train: Integers, held_out: Integers) -> None:
    """Raise `LeakError` if an example that is held out is among examples of training: the guard for a loop of your own.

    Args:
        train: examples, (examples, length), or (examples, n_images, length) where images of examples are trained on,
            too.
        held_out: examples, (examples, length).

    >>> check_disjoint(np.array([[1, 2]]), np.array([[2, 1]]))
    >>> with_images = np.array([[[1, 2], [2, 1]]])  # a + b = b + a
    >>> check_disjoint(with_images, np.array([[2, 1]]))
    Traceback (most recent call last):
    adelic.errors.LeakError: 1 test example would be trained on: test example 0 (2 1) is image 1 of training ...
    """
    Holdout(held_out[:0], held_out).check(train if train.ndim == 3 else train[:, None])


class Guarded(Protocol):
    """Data that can be trained on: their training examples, and what must not be among them."""

    @property
    def X_train(self) -> Integers: ...  # noqa: D102, N802
    @property
    def y_train(self) -> Integers: ...  # noqa: D102
    @property
    def symmetries(self) -> Mapping[str, Symmetry]: ...  # noqa: D102
    @property
    def holdout(self) -> Holdout: ...  # noqa: D102


def overlap(d: Guarded, *, symmetries: bool) -> dict[str, int]:
    """Return how many examples of validation and test are among what may be trained on.

    Args:
        d: a data set, as `adelic.acd.load` gives it.
        symmetries: whether the images of training examples under the task's symmetries count.

    >>> from adelic import acd
    >>> overlap(acd.load("schubert", n=4), symmetries=False)
    {'validation': 0, 'test': 0}
    """
    return d.holdout.overlap(images(d.X_train, d.y_train, d.symmetries if symmetries else {})[0])


def training_rows(d: Guarded, *, symmetries: bool) -> tuple[Integers, Integers]:
    """Return the examples to train on, each with all its images if these are wanted, after the check for leaks.

    Args:
        d: a data set, as `adelic.acd.load` gives it.
        symmetries: whether images under the task's symmetries are wanted.

    Returns:
        X (examples, n_images, length) and y (examples, n_images, …); image 0 is the example itself.

    Raises:
        LeakError: an example of validation or test is among them.
        ConfigurationError: images are wanted, and the task has no symmetries that keep labels.

    >>> from adelic import acd
    >>> training_rows(acd.load("schubert", n=4, split="orbits"), symmetries=True)[0].shape
    (1515, 4, 15)
    >>> training_rows(acd.load("schubert", n=4), symmetries=True)
    Traceback (most recent call last):
    adelic.errors.LeakError: 61 validation examples and 177 test examples would be trained on: ...
    """
    if symmetries and not d.symmetries:
        raise ConfigurationError("the task has no symmetries that keep labels; use --no-symmetries")
    X, y = images(d.X_train, d.y_train, d.symmetries if symmetries else {})
    d.holdout.check(X)
    return X, y
