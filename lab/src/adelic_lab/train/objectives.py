"""Objectives: what a model predicts of an example (one class, several, or a number), its loss, and its figures."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import prod
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional

from adelic.data import Dataset
from adelic.nn import AdelicHead, AdelicLoss, AdelicPrediction
from adelic.nn.functional import encode
from adelic.nn.heads.adelic import real_window
from adelic.numbers import AdeleSpace, RedundantResidueCode
from adelic.numbers.primes import first_primes
from adelic_lab.results import metrics

Reduction = Literal["mean", "sum"]
_AGREEMENT = 0.5  # of the real place and the digits, in asinh(number / unit)


class Objective(ABC):
    """A kind of prediction. Objectives hold no weights and no data, only what tells one task from another.

    Labels are int64, (rows,) or (rows, n_targets); outputs are what a model makes of a batch.
    """

    @abstractmethod
    def model_options(self) -> dict[str, Any]:
        """Return the option of a `Classifier` that decides its outputs: `n_classes` or `head`."""

    @abstractmethod
    def loss(self, output: Any, labels: torch.Tensor, *, reduction: Reduction) -> torch.Tensor:
        """Return the loss of a batch, float32 (): the mean over its examples, or their sum."""

    @abstractmethod
    def predictions(self, output: Any) -> torch.Tensor:
        """Return the predictions in a batch's output, (rows,) or (rows, …)."""

    def answers(self, predictions: np.ndarray) -> np.ndarray:
        """Return the answers in predictions, int64 as the labels: (rows,) or (rows, n_targets)."""
        return predictions if predictions.ndim == 1 else predictions[:, 0].astype(np.int64)

    @property
    @abstractmethod
    def answer_range(self) -> tuple[int, int]:
        """Return the least and the greatest answer."""

    @abstractmethod
    def figures(self, labels: np.ndarray, predictions: np.ndarray, loss: float) -> dict[str, float]:
        """Return the figures of a split; `accuracy` and `loss` decide which epoch is the best one."""

    @abstractmethod
    def result(self, train_labels: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
        """Return fields of result.json on the answers of the test split: the baseline, and details."""

    def strata(self, labels: np.ndarray) -> np.ndarray:
        """Return the class of each example that sampling balances, int64 (rows,); one class means uniform sampling."""
        return np.zeros(len(labels), dtype=np.int64)


@dataclass(frozen=True)
class OneClass(Objective):
    """An example has one class: cross-entropy, class-balanced sampling.

    Attributes:
        n_classes: how many classes there are.

    >>> OneClass(3).figures(np.array([0, 2]), np.array([[0, 0.9], [1, 0.5]]), 0.5)["accuracy"]
    0.5
    """

    n_classes: int

    def model_options(self) -> dict[str, Any]:
        """Return the number of classes."""
        return {"n_classes": self.n_classes}

    def loss(self, output: Any, labels: torch.Tensor, *, reduction: Reduction) -> torch.Tensor:
        """Return the cross-entropy."""
        return functional.cross_entropy(output.float(), labels, reduction=reduction)

    def predictions(self, output: Any) -> torch.Tensor:
        """Return the class with the greatest logit, and its probability, float64 (rows, 2)."""
        probabilities, classes = output.double().softmax(dim=-1).max(dim=-1)
        return torch.stack([classes.double(), probabilities], dim=-1)

    @property
    def answer_range(self) -> tuple[int, int]:
        """Return the first and the last class."""
        return 0, self.n_classes - 1

    def figures(self, labels: np.ndarray, predictions: np.ndarray, loss: float) -> dict[str, float]:
        """Return accuracy, balanced accuracy, macro-F1, loss and calibration error."""
        classes, probabilities = predictions.T
        figures = metrics.classification_metrics(labels, classes.astype(np.int64), loss)
        return figures | {"calibration_error": metrics.calibration_error(probabilities, classes == labels)}

    def result(self, train_labels: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
        """Return the rate of the most frequent class, whether the model predicts one class, the confusion matrix."""
        return {
            "majority": metrics.majority_rate(train_labels, labels),
            "predicts_one_class": len(np.unique(answers)) == 1,
            "confusion": metrics.confusion(labels, answers, self.n_classes),
        }

    def strata(self, labels: np.ndarray) -> np.ndarray:
        """Return the classes themselves."""
        return labels


@dataclass(frozen=True)
class SeveralClasses(Objective):
    """An example has several targets, each with its own classes: bits, or small coefficients. Uniform sampling.

    The loss is the mean of the targets' cross-entropies; with two classes that is the loss of a multi-label classifier.

    Attributes:
        n_classes: how many classes each target has; 1 where it never varies.

    >>> found = SeveralClasses((2, 2)).figures(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]]), 0.5)
    >>> found["accuracy"], found["exact_match"]
    (0.75, 0.5)
    """

    n_classes: tuple[int, ...]

    def model_options(self) -> dict[str, Any]:
        """Return the number of classes of each target."""
        return {"n_classes": self.n_classes}

    def loss(self, output: Any, labels: torch.Tensor, *, reduction: Reduction) -> torch.Tensor:
        """Return the mean of the targets' cross-entropies."""
        logits = output.float().flatten(0, -2)
        # Each target has a label in every example, so the mean over all labels is the mean of the targets' means.
        loss = functional.cross_entropy(logits, labels.flatten(), reduction=reduction)
        return loss if reduction == "mean" else loss / len(self.n_classes)

    def predictions(self, output: Any) -> torch.Tensor:
        """Return each target's class with the greatest logit, (rows, n_targets)."""
        found: torch.Tensor = output.argmax(dim=-1)
        return found

    def answers(self, predictions: np.ndarray) -> np.ndarray:
        """Return the classes of each target, (rows, n_targets)."""
        return predictions.astype(np.int64)

    @property
    def answer_range(self) -> tuple[int, int]:
        """Return the first class, and the last one that any target has."""
        return 0, max(self.n_classes) - 1

    def figures(self, labels: np.ndarray, predictions: np.ndarray, loss: float) -> dict[str, float]:
        """Return the means over the targets of their figures, the rate of examples with no error, and the loss."""
        return metrics.several_classes_metrics(labels, predictions) | {"loss": float(loss)}

    def result(self, train_labels: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
        """Return the figures of always saying each target's most frequent class, and figures for each target."""
        guess = np.broadcast_to(np.array([metrics.most_frequent(column) for column in train_labels.T]), labels.shape)
        guessed = metrics.several_classes_metrics(labels, guess)
        targets = []
        for target, n_classes in enumerate(self.n_classes):
            true, predicted = labels[:, target], answers[:, target]
            figures = metrics.classification_metrics(true, predicted, 0.0)
            del figures["loss"]  # outputs are not kept
            rate = metrics.majority_rate(train_labels[:, target], true)
            targets.append(figures | {"majority": rate, "confusion": metrics.confusion(true, predicted, n_classes)})
        return {
            "majority": guessed["accuracy"],
            "guess": guessed,
            "predicts_one_class": len(answers) > 0 and bool((answers == answers[0]).all()),
            "targets": targets,
        }


@dataclass(frozen=True)
class OneNumber(Objective):
    """An example has one integer, told by its digits modulo several primes and by its real value. Uniform sampling.

    The loss is `AdelicLoss`. An answer is the number that the digits decode to, wrong digits mended, where the
    confidence in it is above 1/2 and the real value agrees, to within half of the unit or a half of itself; else the
    real value, rounded.

    Attributes:
        bound: the greatest absolute value of an answer.
        unit: of the real place, see `AdelicHead`: numbers below it count by their errors, greater ones by their
            relative errors.

    >>> OneNumber(bound=16336320).space.primes
    (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
    """

    bound: int
    unit: float = 1.0

    @cached_property
    def space(self) -> AdeleSpace:
        """Return the space of the first primes, a digit each, with twice the bits of the answers: it mends digits."""
        # By the bound of `RedundantResidueCode`, wrong digits are mended at primes with a product up to √(2·bound + 1).
        enough = (2 * self.bound + 1) ** 2
        primes = next(primes for primes in map(first_primes, count(1)) if prod(primes) > enough)
        return AdeleSpace(primes, precision=1)

    def model_options(self) -> dict[str, Any]:
        """Return the option `head`, which makes an `AdelicHead`."""
        return {"head": lambda d: AdelicHead(self.space, d, placewise=False, real_scale=self.unit)}

    def loss(self, output: Any, labels: torch.Tensor, *, reduction: Reduction) -> torch.Tensor:
        """Return the cross-entropy of the digits plus the distance of the real values."""
        prediction = AdelicPrediction(*(part.float() for part in output))
        digits = encode(labels, space=self.space, dtype=torch.int64, real_row=False)
        loss: torch.Tensor = AdelicLoss(self.space, real_scale=self.unit)(prediction, (labels, digits))
        return loss if reduction == "mean" else loss * len(labels)

    def predictions(self, output: Any) -> torch.Tensor:
        """Return the answers, and whether they come from the digits, (rows, 2)."""
        # A model that has diverged is asked before its loss tells: NaN counts as 0, and an infinite sinh is clipped.
        logits = output.logits.float().nan_to_num(neginf=-torch.inf).log_softmax(dim=-1).cpu().numpy()
        place = output.real.double().nan_to_num().cpu().numpy()
        with np.errstate(over="ignore"):
            real = (self.unit * np.sinh(place)).clip(-self.bound, self.bound)
        middle, radius = real_window(place, _AGREEMENT, self.unit)
        decoded = RedundantResidueCode(self.space, self.bound).decode_soft(logits, real=middle, tolerance=radius)
        is_decoded = decoded.confidence > 0.5
        answers = np.rint(real).astype(np.int64)
        answers[is_decoded] = [int(value) for value in decoded.values[is_decoded]]
        return torch.from_numpy(np.stack([answers, is_decoded], axis=-1))

    @property
    def answer_range(self) -> tuple[int, int]:
        """Return the bounds."""
        return -self.bound, self.bound

    def figures(self, labels: np.ndarray, predictions: np.ndarray, loss: float) -> dict[str, float]:
        """Return the rate of right answers, that of decoded ones, the mean errors, and the loss."""
        answers, is_decoded = predictions.T
        return metrics.number_metrics(labels, answers) | {"decoded": float(np.mean(is_decoded)), "loss": float(loss)}

    def result(self, train_labels: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
        """Return the figures of always answering the most frequent number."""
        guess = metrics.number_metrics(labels, np.full_like(labels, metrics.most_frequent(train_labels)))
        return {
            "majority": guess["accuracy"],
            "guess": guess,
            "predicts_one_class": len(np.unique(answers)) == 1,
        }


@dataclass(frozen=True)
class RealNumber(Objective):
    """An example has a real number: the squared error, in units of the standard deviation. Uniform sampling.

    Attributes:
        mean, deviation: of the training targets.

    >>> RealNumber(10.0, 2.0).figures(np.array([8.0, 12.0]), np.array([8.0, 11.0]), 0.125)["r2"]
    0.875
    """

    mean: float
    deviation: float

    def model_options(self) -> dict[str, Any]:
        """Return the option `head`, which makes a linear layer with one output."""
        return {"head": lambda d: torch.nn.Linear(d, 1)}

    def loss(self, output: Any, labels: torch.Tensor, *, reduction: Reduction) -> torch.Tensor:
        """Return the squared error of the standardized target."""
        wanted = ((labels - self.mean) / self.deviation).float()
        return functional.mse_loss(output.float().squeeze(-1), wanted, reduction=reduction)

    def predictions(self, output: Any) -> torch.Tensor:
        """Return the numbers, float64 (rows,)."""
        found: torch.Tensor = output.double().squeeze(-1) * self.deviation + self.mean
        return found

    @property
    def answer_range(self) -> tuple[int, int]:
        """Return nothing: real numbers are not kept."""
        return 0, 0

    def figures(self, labels: np.ndarray, predictions: np.ndarray, loss: float) -> dict[str, float]:
        """Return R², the mean errors, and the loss."""
        return metrics.number_metrics(labels, predictions) | {"loss": float(loss)}

    def result(self, train_labels: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
        """Return the figures of always answering the mean."""
        guess = metrics.number_metrics(labels, np.full_like(labels, self.mean))
        return {"majority": guess["accuracy"], "guess": guess, "predicts_one_class": len(np.unique(answers)) == 1}


def make_objective(data: Dataset) -> Objective:
    """Return the objective of a data set.

    The number of classes of a target, and the bound of numbers, are facts of the task as `class_names` is. They are
    read off the targets of all splits, since the training split may lack a rare value. The unit of numbers is the root
    mean square of the training targets, as a power of 2 from 1 on.

    >>> from adelic import acd
    >>> make_objective(acd.load("schubert", n=3)), make_objective(acd.load("characters", n=4))
    (OneClass(n_classes=2), OneNumber(bound=3, unit=2.0))
    >>> make_objective(acd.load("kl", n=4))
    SeveralClasses(n_classes=(2, 2, 1))
    """
    if data.class_names is not None:
        return OneClass(len(data.class_names))
    if data.y_train.dtype == np.float64:
        return RealNumber(float(data.y_train.mean()), float(data.y_train.std()) or 1.0)
    splits = [y for y in (data.y_train, data.y_validation, data.y_test) if len(y)]
    if data.y_train.ndim == 1:
        mean_square = float(np.mean(np.square(data.y_train, dtype=np.float64))) if len(data.y_train) else 0.0
        # The root mean square, rounded to a power of 2: no other machine has another one by rounding.
        unit = 2.0 ** max(round(math.log2(mean_square) / 2), 0) if mean_square else 1.0
        return OneNumber(max(int(np.abs(y).max()) for y in splits), unit)
    greatest = np.max([y.max(axis=0) for y in splits], axis=0)
    return SeveralClasses(tuple(int(g) + 1 for g in greatest))
