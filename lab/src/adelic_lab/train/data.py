"""Development data, which a search or a fit may see: without the test split; and random parts of large data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from adelic.data import Dataset, Holdout, Symmetry
from adelic.data.dataset import positions
from adelic.data.protocol import View
from adelic.errors import ConfigurationError
from adelic_lab.config.experiment import Experiment
from adelic_lab.train.objectives import Objective, OneClass, make_objective
from adelic_lab.train.sampler import stream_seed

Questions = tuple[np.ndarray, np.ndarray]
"""Operands and answers."""


@dataclass(frozen=True, eq=False)
class TrainValidation:
    """The splits that a search, or a training, may see. It has no test split: no search can look at it.

    Attributes:
        X_train, y_train: examples and labels; of a drawn task questions, int64 (rows, arity), and classes.
        X_validation, y_validation: examples, or questions, to follow a training by.
        objective: what is predicted; it knows how many classes a target has, or how great a number may be.
        vocabulary: the numbers that can occur, None if they are open-ended: then the ids of numbers are the numbers.
        holdout: the examples of validation and test, without labels; the guard keeps them out of training.
        symmetries: the maps of examples to equivalent examples.
        sha256: of the data's file; None of a drawn task, whose questions follow from the rest.
        is_coded: whether tokens are positions in `vocabulary`.
        n_words: how many words, of a table's categories and gaps, have positions before those of numbers.
        view: how examples are written for a network; None for the task's own way.
        every_class: more questions, with every class equally often, to count the classes that are learned; None if
            the task has no such split.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_validation: np.ndarray
    y_validation: np.ndarray
    objective: Objective
    vocabulary: tuple[int | Fraction, ...] | None
    holdout: Holdout
    symmetries: Mapping[str, Symmetry]
    sha256: str | None = None
    is_coded: bool = False
    n_words: int = 0
    view: View | None = None
    every_class: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, data: Dataset, *, max_rows: int | None = None, view: View | None = None) -> "TrainValidation":
        """Return the development data of a data set.

        Args:
            data: all of it.
            max_rows: the most examples to train on; None for all. See `training_subset`.
            view: how examples are written for a network; None for the task's own way.

        Raises:
            ConfigurationError: there are no validation examples.
        """
        about = data.provenance
        if not len(data.y_validation):
            row = "-".join(str(about[key]) for key in ("task", "n", "edition", "split") if about[key] is not None)
            raise ConfigurationError(f"{row} is too small: it has no validation examples")
        development = cls(
            X_train=data.X_train,
            y_train=data.y_train,
            X_validation=data.X_validation,
            y_validation=data.y_validation,
            objective=make_objective(data),
            vocabulary=data.vocabulary if view is None else view.vocabulary(about["n"]),
            holdout=data.holdout,
            symmetries=data.symmetries,
            sha256=about["sha256"],
            is_coded=data.is_coded,
            n_words=len(data.words),
            view=view,
        )
        return training_subset(development, max_rows, about["seed"])

    @classmethod
    def of_questions(
        cls, experiment: Experiment, trained_on: Questions, asked: np.ndarray, *, is_followed: bool = True
    ) -> "TrainValidation":
        """Return the questions of an experiment: those to train on, and more from the same distribution for validation.

        Args:
            experiment: on a drawn task.
            trained_on: operands and answers.
            asked: operands of the test's questions.
            is_followed: whether the training is followed by validation questions; else there are none.
        """
        source, seed, (X, y) = experiment.questions, experiment.seed, trained_on
        task = source.drawn
        X_validation, y_validation, every_class = X[:0], y[:0], None
        if is_followed:
            others = np.concatenate([X, asked])
            X_validation, y_validation = source.validation(seed, others)
            task.check_unseen(X, X_validation)
            every_class = source.validation(seed, others, task.every_class) if task.every_class else None
        # Fractions, and integers beyond int64, are known by their digests.
        held = (X_validation, asked) if X.dtype == np.int64 else (task.keys(X_validation), task.keys(asked))
        return cls(
            X_train=X,
            y_train=y,
            X_validation=X_validation,
            y_validation=y_validation,
            objective=OneClass(len(task.class_names or ())),
            vocabulary=experiment.vocabulary,
            holdout=Holdout(*held),
            symmetries={},
            every_class=every_class,
        )

    def ids(self, X: np.ndarray) -> np.ndarray:
        """Return the position in `vocabulary` of each token of examples, in the view if there is one."""
        if self.vocabulary is None:
            return X
        return positions(X if self.view is None else self.view.rows(X), self.vocabulary, is_coded=self.is_coded)

    @property
    def numbers(self) -> tuple[int | Fraction, ...]:
        """Return the vocabulary; () where numbers are open-ended."""
        return self.vocabulary or ()

    @property
    def length(self) -> int:
        """Return how many numbers a network is given of an example."""
        return int(self.ids(self.X_train[:1]).shape[1])


D = TypeVar("D", Dataset, TrainValidation)


def training_subset(data: D, max_rows: int | None, seed: int) -> D:
    """Return the data with `max_rows` random training examples, and the same share of the validation examples.

    All test examples stay. The data are returned as they are if they have fewer training examples, or `max_rows` is
    None.

    Args:
        data: a data set.
        max_rows: the most examples to train on; None for all.
        seed: the run's: every model sees the same examples, and every seed others.

    >>> from adelic import acd
    >>> data = acd.load("schubert", n=4)
    >>> part = training_subset(data, 100, seed=0)
    >>> [len(y) for y in (data.y_train, data.y_validation, part.y_train, part.y_validation, part.y_test)]
    [1515, 169, 100, 12, 421]
    """
    n_train, n_validation = len(data.y_train), len(data.y_validation)
    if max_rows is None or max_rows >= n_train:
        return data
    rng = np.random.default_rng(stream_seed(seed, "training rows"))
    # Sorted: examples keep the generator's order.
    train = np.sort(rng.choice(n_train, max_rows, replace=False))
    # Rounded up: however few examples there are to train on, one validates.
    validation = np.sort(rng.choice(n_validation, -(-max_rows * n_validation // n_train), replace=False))
    return replace(
        data,
        X_train=data.X_train[train],
        y_train=data.y_train[train],
        X_validation=data.X_validation[validation],
        y_validation=data.y_validation[validation],
    )
