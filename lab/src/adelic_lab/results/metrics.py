"""Test figures: accuracy, macro-F1, calibration error and others, of predictions on a split."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.data.drawn import Answers

Labels = npt.NDArray[np.integer[Any]]
LEARNED = 0.95
"""The share of right answers from which a class counts as learned, as in the source of the task gcd."""
CALIBRATION_BINS = 15
"""Number of bins of the calibration error, that of its authors."""


def classification_metrics(labels: Labels, predictions: Labels, loss: float) -> dict[str, float]:
    """Return accuracy, balanced accuracy (mean recall of the classes that occur), macro-F1 and mean cross-entropy.

    Labels and predictions are (rows,).

    >>> classification_metrics(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), 0.5)
    {'accuracy': 0.75, 'balanced_accuracy': 0.5, 'macro_f1': 0.42857142857142855, 'loss': 0.5}
    """
    # NumPy, not scikit-learn: importing that takes as long as importing torch, and every training would.
    classes, codes = np.unique(np.concatenate([labels, predictions]), return_inverse=True)
    truth, said = codes[: len(labels)], codes[len(labels) :]
    right, true, predicted = (
        np.bincount(found, minlength=len(classes)) for found in (truth[truth == said], truth, said)
    )
    occurs = true > 0  # a predicted class that does not occur has no recall
    return {
        "accuracy": float(np.mean(labels == predictions)),
        "balanced_accuracy": float(np.mean(right[occurs] / true[occurs])),
        # F1 in counts; the denominator is never 0, since a class is in the labels or in the predictions.
        "macro_f1": float(np.mean(2 * right / (true + predicted))),
        "loss": float(loss),
    }


def calibration_error(confidence: npt.NDArray[np.floating[Any]], is_right: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error: how far confidence and accuracy are apart, by 15 bins of confidence.

    Σ over bins of (share of the examples) · |accuracy − mean confidence|; the bins have equal width, (0, 1/15], ….

    Both are (rows,): the probability of the predicted class, and whether it is the true one.

    Source: Guo et al., "On calibration of modern neural networks", arXiv:1706.04599, section 2.

    >>> round(calibration_error(np.array([0.95, 0.95, 0.6]), np.array([True, False, True])), 4)
    0.4333
    """
    places = np.ceil(confidence.astype(np.float64) * CALIBRATION_BINS).clip(1, CALIBRATION_BINS)
    bins = np.nan_to_num(places, nan=1).astype(np.int64) - 1  # a model that has diverged has an error of NaN
    # share · |accuracy − mean confidence| = |Σ (right − confidence)| / rows: the size of a bin cancels.
    gaps = np.bincount(bins, weights=is_right - confidence.astype(np.float64), minlength=CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def several_classes_metrics(labels: Labels, predictions: Labels) -> dict[str, float]:
    """Return the figures of several targets: means over the targets, and the rate of examples without an error.

    Both are (rows, n_targets).

    >>> several_classes_metrics(np.array([[0, 0], [0, 1]]), np.array([[0, 0], [0, 0]]))["exact_match"]
    0.5
    """
    targets = [classification_metrics(*columns, 0.0) for columns in zip(labels.T, predictions.T, strict=True)]
    names = ("accuracy", "balanced_accuracy", "macro_f1")
    means = {name: float(np.mean([figures[name] for figures in targets])) for name in names}
    return means | {"exact_match": float(np.mean((labels == predictions).all(axis=1)))}


def number_metrics(numbers: Labels, answers: Labels) -> dict[str, float]:
    """Return the figures of answers that are numbers: the rate of right ones, mean absolute and squared error, and R².

    R² is 1 − (mean squared error)/(variance of the numbers), 0 where they are all the same. Both are (rows,).

    >>> number_metrics(np.array([0, 0, 7, -1]), np.array([0, 0, 5, -1]))
    {'accuracy': 0.75, 'exact_match': 0.75, 'mean_absolute_error': 0.5, 'mean_squared_error': 1.0, 'r2': 0.902...}
    """
    error = np.abs(numbers.astype(np.float64) - answers.astype(np.float64))  # squares of int64 would overflow
    right, variance = float(np.mean(numbers == answers)), float(np.var(numbers.astype(np.float64)))
    return {
        "accuracy": right,
        "exact_match": right,
        "mean_absolute_error": float(np.mean(error)),
        "mean_squared_error": float(np.mean(error**2)),
        "r2": 1 - float(np.mean(error**2)) / variance if variance else 0.0,
    }


def majority_rate(train_labels: Labels, labels: Labels) -> float:
    """Return the accuracy of always saying the most frequent class of the training split.

    >>> majority_rate(np.array([0, 0, 1]), np.array([0, 1, 1, 1]))
    0.25
    """
    return float(np.mean(labels == most_frequent(train_labels)))


def confusion(labels: Labels, predictions: Labels, n_classes: int) -> list[list[Any]]:
    """Return the confusion matrix, true classes in rows, as nested lists.

    >>> confusion(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    [[1, 0], [1, 1]]
    """
    pairs = labels.astype(np.int64) * n_classes + predictions
    matrix: list[list[Any]] = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes).tolist()
    return matrix


def history(lines: Iterable[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the learning curves of the lines of metrics.jsonl, one value an epoch, for plots.

    Of tasks with a split that has every class equally often there is also the number of classes that are learned.

    >>> history([{"epoch": 1, "train_loss": 0.5, "validation": {"loss": 0.625, "accuracy": 0.75}}])
    {'train_loss': [0.5], 'validation_loss': [0.625], 'validation_accuracy': [0.75]}
    """
    epochs = list(lines)
    curves = {
        "train_loss": [round(e["train_loss"], 6) for e in epochs],
        "validation_loss": [round(e["validation"]["loss"], 6) for e in epochs],
        "validation_accuracy": [round(e["validation"]["accuracy"], 6) for e in epochs],
    }
    counts = [e["learned_classes"] for e in epochs if "learned_classes" in e]  # not in an older run's first epochs
    return curves | ({"learned_classes": counts} if epochs and len(counts) == len(epochs) else {})


def counted(labels: Answers, given: Answers) -> dict[str, float]:
    """Return how many answers are exactly right; None counts as unanswered.

    >>> counted(np.array([1, 2, 3]), np.array([1, 5, None]))
    {'accuracy': 0.333..., 'cases': 3, 'correct': 1, 'unanswered': 1}
    """
    correct = sum(a is not None and bool(a == b) for a, b in zip(given, labels, strict=True))
    unanswered = sum(a is None for a in given)
    return {"accuracy": correct / len(labels), "cases": len(labels), "correct": correct, "unanswered": unanswered}


def counted_by_class(labels: Answers, given: Answers, n_classes: int) -> dict[str, list[int]]:
    """Return how many questions of each class there are, and how many of them have the right answer.

    >>> counted_by_class(np.array([0, 2, 2]), np.array([0, 2, 1]), 3)
    {'cases': [1, 0, 2], 'correct': [1, 0, 1]}
    """
    of_class = labels.astype(np.int64)
    return {
        "cases": np.bincount(of_class, minlength=n_classes).tolist(),
        "correct": np.bincount(of_class[given == labels], minlength=n_classes).tolist(),
    }


def is_learned(cases: npt.ArrayLike, correct: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which classes have at least 95 % of their questions right; those without a question do not count.

    Args:
        cases: the number of questions of each class, (n_classes,).
        correct: how many of them have the right answer, likewise; both as `counted_by_class` returns them.

    >>> is_learned([1, 0, 2], [1, 0, 1]).tolist()
    [True, False, False]
    """
    asked, right = np.asarray(cases), np.asarray(correct)
    learned: npt.NDArray[np.bool_] = (asked > 0) & (right >= LEARNED * asked)
    return learned


def most_frequent(answers: Answers) -> Any:
    """Return the most frequent answer or class, of equally frequent ones the least.

    >>> most_frequent(np.array([3, 1, 1, 3]))
    1
    """
    values, counts = np.unique(answers, return_counts=True)
    return values[counts.argmax()].item() if answers.dtype != object else values[counts.argmax()]
