"""Trivial rules: for each value of something that is read off a row, the class that is most frequent with it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.lookup import LookUp
from adelic.data.symmetries import Integers


@dataclass(frozen=True)
class Rule:
    """A trivial rule and what it scores.

    Attributes:
        name: what is read off a row: a cue of the task (`Task.cues`), as "length", or "token 15"; of a table, a column.
        accuracy: of the rule on the test split, the mean over the targets.
    """

    name: str
    accuracy: float


def best_rule(d: Dataset) -> Rule:
    """Return the trivial rule that is best on the validation split, learnt from train, with its accuracy on test.

    Tried are the task's cues and the token at each position; of equally good ones the first counts. Test rows choose
    nothing, so that a network's figure can stand beside the rule's.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     best_rule(acd.load("schubert", n=4, cache=folder))
    Rule(name='prefixes', accuracy=1.0)
    """
    found: tuple[float, Rule] | None = None
    for name, train, validation, test in _readings(d):
        score = accuracy_of_rule(train, d.y_train, validation, d.y_validation)
        if found is None or score > found[0]:
            found = score, Rule(name, accuracy_of_rule(train, d.y_train, test, d.y_test))
    assert found is not None, "a row has at least one token"
    return found[1]


def _readings(d: Dataset) -> Iterator[tuple[str, Integers, Integers, Integers]]:
    """Yield what can be read off the rows of train, validation and test, each (rows,), by name."""
    splits = d.X_train, d.X_validation, d.X_test
    for name, cue in d.cues.items():
        train, validation, test = map(cue, splits)
        yield name, train, validation, test
    columns = d.provenance.get("columns", [f"token {place + 1}" for place in range(d.X_train.shape[1])])
    for place, name in enumerate(columns):
        train, validation, test = (X[:, place] for X in splits)
        yield name, train, validation, test


def accuracy_of_rule(cue: Integers, y: Integers, cue_asked: Integers, y_asked: Integers) -> float:
    """Return how often the class most frequent with a cue's value is right; with new values, the most frequent of all.

    Args:
        cue: what is read off the rows that are known, (rows,).
        y: their targets, (rows,) or (rows, targets).
        cue_asked: what is read off the rows that are asked about, (asked,).
        y_asked: their targets, likewise.

    Returns:
        The mean over the targets.

    >>> accuracy_of_rule(np.array([5, 5, 7]), np.array([1, 1, 0]), np.array([5, 7, 9]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    columns = zip(_columns(y), _columns(y_asked), strict=True)
    return float(np.mean([_accuracy(cue, known, cue_asked, asked) for known, asked in columns]))


def _columns(y: Integers) -> Integers:
    """Return the targets one by one, (targets, rows)."""
    return y[None] if y.ndim == 1 else y.T


def _accuracy(cue: Integers, y: Integers, cue_asked: Integers, y_asked: Integers) -> float:
    labels, codes = np.unique(y, return_inverse=True)
    memory = LookUp(cue[:, None], codes)
    found: NDArray[np.int64] = memory.find(cue_asked[:, None])
    return float(np.mean(labels[np.where(found >= 0, found, np.bincount(codes).argmax())] == y_asked))
