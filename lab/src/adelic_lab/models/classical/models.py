"""Models outside the Transformer: majority class, look-up, logistic regression, multi-layer perceptron, boosted trees.

All but look-up are scikit-learn's. A model reads a row as one vector, made of the row's integers in one of several
forms, and which form is one of the options that a search decides (`adelic_lab.models.classical.fitting`). Every
training row counts once: the class-balanced sampling of the recipes is not applied, as searches are judged by plain
accuracy.

What an option may be is decided here; whatever is drawn, models are fitted to the training split, and the validation
split chooses the perceptron's epoch. They never see the test split, which `TrainValidation` does not have.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.data import LookUp
from adelic_lab.config.options import Setting
from adelic_lab.results import metrics
from adelic_lab.runs.development import TrainValidation

Rows = npt.NDArray[np.integer[Any]]
Array = npt.NDArray[Any]
Options = Mapping[str, Any]

EPOCHS = 200
"""Epochs of the perceptron; of them the one with the best validation accuracy counts, as for the Transformers."""
ITERATIONS = 1000
"""Most iterations of the logistic regression's solver."""
LEAST_PROBABILITY = 1e-7
"""Lower probabilities count as this one in the loss: in float32, what is nearer to certainty is certainty."""
_MOST_CATEGORIES = 255  # of a feature, for scikit-learn's trees


class Fitted(NamedTuple):
    """A fitted model.

    Attributes:
        probabilities: from rows, (rows, length), to the probability of each class, (rows, n_classes).
        parameters: how many numbers were fitted: coefficients and intercepts, class frequencies, nodes of trees, or
            rows that are remembered.
        flops: operations that one row takes: two a coefficient; for trees the comparisons on the way to a leaf, a mean
            over the training rows, and one addition a tree.
        converged: whether the solver reached its tolerance; None for models without a solver.
        history: learning curves, as of `adelic_lab.results.metrics.history`; empty for models without epochs.
    """

    probabilities: Callable[[Rows], Array]
    parameters: int
    flops: int
    converged: bool | None = None
    history: dict[str, list[float]] = metrics.history([])


Fit = Callable[[Options, TrainValidation, int, Callable[[], None]], Fitted]


@dataclass(frozen=True)
class ClassicalModel:
    """A kind of model.

    Attributes:
        fit: from options, data, a seed below 2^32, and what to call between epochs (it may raise) to the fitted model.
        uses_images: whether it makes a difference to train on the images of rows.
        space: what is searched: name of an option -> its values.

    >>> str(CLASSICAL_MODELS["logistic"].space["inputs"])
    'standardized, one-hot'
    """

    fit: Fit
    uses_images: bool = True
    space: Mapping[str, Setting] = field(default_factory=dict)


def make_inputs(form: str, data: TrainValidation) -> Callable[[Rows], Array]:
    """Return the map from rows, (rows, length), to a model's features.

    Forms are "standardized" (the integers, each position with mean 0 and variance 1 over the training rows), "one-hot"
    (an indicator of each position's number, (rows, length · numbers)), "integers" (as they are) and "categories" (the
    numbers' places in the vocabulary).

    >>> from adelic import acd
    >>> data = TrainValidation.of(acd.load("schubert", n=3))
    >>> row = data.X_train[:1]
    >>> data.vocabulary, row[0, :2].tolist(), make_inputs("one-hot", data)(row)[0, :10].astype(int).tolist()
    ((1, 2, 3, 4, 5), [1, 2], [1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    """
    if form == "one-hot":
        units = np.eye(len(data.numbers), dtype=np.float32)
        return lambda X: units[data.ids(X)].reshape(len(X), -1)
    if form == "categories":
        return data.ids
    values = np.array([float(number) for number in data.numbers])
    numbers: Callable[[Array], Array] = (lambda X: values[X]) if data.is_coded else lambda X: X
    if form == "standardized":
        train = numbers(data.X_train)
        mean, deviation = train.mean(axis=0), train.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0)
        return lambda X: (numbers(X) - mean) / scale
    assert form == "integers"
    return numbers


def reads_any_number(options: Options, n_numbers: int) -> bool:
    """Return whether a fitted model reads numbers that its training data lack.

    >>> reads_any_number({"inputs": "standardized"}, 9), reads_any_number({"inputs": "one-hot"}, 9)
    (True, False)
    """
    form = options.get("inputs")
    return form != "one-hot" and (form != "categories" or n_numbers > _MOST_CATEGORIES)


def cross_entropy(probabilities: Array, labels: Array) -> float:
    """Return the mean of −log of the true class's probability, which is at least `LEAST_PROBABILITY`.

    >>> cross_entropy(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 0])) == math.log(2) / 2
    True
    """
    right = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    return float(-np.log(np.maximum(right, LEAST_PROBABILITY)).mean())


def _probabilities(estimator: Any, inputs: Callable[[Rows], Array], data: TrainValidation) -> Callable[[Rows], Array]:
    """Return the map from rows to the probabilities of all classes; a class without training rows gets 0."""
    n_classes = data.objective.model_options()["n_classes"]

    def probabilities(X: Rows) -> Array:
        found = estimator.predict_proba(inputs(X))
        whole = np.zeros((len(found), n_classes), dtype=found.dtype)
        whole[:, estimator.classes_] = found
        return whole

    return probabilities


def _fit_majority(options: Options, data: TrainValidation, seed: int, between: Callable[[], None]) -> Fitted:
    """Fit the classes' frequencies in the training split, which are every row's probabilities."""
    from sklearn.dummy import DummyClassifier

    inputs = make_inputs("integers", data)
    estimator = DummyClassifier(strategy="prior").fit(inputs(data.X_train), data.y_train)
    return Fitted(_probabilities(estimator, inputs, data), parameters=len(estimator.classes_), flops=0)


def _fit_lookup(options: Options, data: TrainValidation, seed: int, between: Callable[[], None]) -> Fitted:
    """Remember the training rows: the label of an equal row, else the frequencies of the classes in the table."""
    memory = LookUp(data.X_train, data.y_train)
    n_classes = data.objective.model_options()["n_classes"]
    frequencies = np.zeros(n_classes)
    frequencies[: len(memory.counts)] = memory.counts / memory.counts.sum()

    def probabilities(X: Rows) -> Array:
        found = memory.find(X)
        # −1 takes the last unit vector, which `where` leaves out.
        return np.where((found >= 0)[:, None], np.eye(n_classes)[found], frequencies)

    return Fitted(probabilities, parameters=int(memory.counts.sum()), flops=0)


def _fit_logistic(options: Options, data: TrainValidation, seed: int, between: Callable[[], None]) -> Fitted:
    """Fit multinomial logistic regression with an L2 penalty, which has one optimum: seeds do not matter."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    inputs = make_inputs(options["inputs"], data)
    estimator = LogisticRegression(C=options["C"], max_iter=ITERATIONS)
    with _caught(ConvergenceWarning) as caught:
        estimator.fit(inputs(data.X_train).astype(np.float64), data.y_train)
    return Fitted(
        _probabilities(estimator, inputs, data),
        parameters=estimator.coef_.size + estimator.intercept_.size,
        flops=2 * estimator.coef_.size,
        converged=not caught,
    )


def _fit_mlp(options: Options, data: TrainValidation, seed: int, between: Callable[[], None]) -> Fitted:
    """Fit fully connected ReLU layers by Adam, and keep the weights of the epoch with the best validation accuracy."""
    from sklearn.neural_network import MLPClassifier

    inputs = make_inputs(options["inputs"], data)
    estimator = MLPClassifier(
        hidden_layer_sizes=[options["width"]] * options["layers"],
        learning_rate_init=options["learning_rate"],
        alpha=options["alpha"],
        batch_size=min(options["batch_size"], len(data.y_train)),
        random_state=np.random.RandomState(seed),  # a number would give every epoch the same order of rows
    )
    X_train = inputs(data.X_train).astype(np.float32)
    probabilities, classes = _probabilities(estimator, inputs, data), np.unique(data.y_train)
    best, lines = (-math.inf, -math.inf), []
    weights: tuple[list[Array], list[Array]] = [], []
    for epoch in range(EPOCHS):
        between()
        estimator.partial_fit(X_train, data.y_train, classes=classes)
        found = probabilities(data.X_validation)
        figures = {
            "accuracy": float(np.mean(found.argmax(axis=1) == data.y_validation)),
            "loss": cross_entropy(found, data.y_validation),
        }
        lines.append({"epoch": epoch + 1, "train_loss": float(estimator.loss_), "validation": figures})
        score = (figures["accuracy"], -figures["loss"])
        if score > best:
            best = score
            # Copies, since partial_fit changes both in place.
            weights = [w.copy() for w in estimator.coefs_], [b.copy() for b in estimator.intercepts_]
    estimator.coefs_, estimator.intercepts_ = weights
    size = sum(w.size for w in estimator.coefs_)
    return Fitted(
        probabilities,
        parameters=size + sum(b.size for b in estimator.intercepts_),
        flops=2 * size,
        history=metrics.history(lines),
    )


def _fit_trees(options: Options, data: TrainValidation, seed: int, between: Callable[[], None]) -> Fitted:
    """Fit gradient-boosted trees on binned features; the seed chooses the features that each split may use."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # More numbers than a categorical feature may have are read as ordered ones.
    is_categorical = options["inputs"] == "categories" and not reads_any_number(options, len(data.numbers))
    inputs = make_inputs("categories" if is_categorical else "integers", data)
    estimator = HistGradientBoostingClassifier(
        learning_rate=options["learning_rate"],
        max_iter=options["iterations"],
        max_leaf_nodes=options["leaves"],
        min_samples_leaf=options["rows_a_leaf"],
        l2_regularization=options["l2"],
        max_features=options["features"],
        categorical_features=[True] * data.X_train.shape[1] if is_categorical else None,
        early_stopping=False,  # it would take rows for a validation split of its own
        random_state=seed,
    )
    estimator.fit(inputs(data.X_train), data.y_train)
    # scikit-learn shows its trees in no other way.
    trees = [tree.nodes for group in estimator._predictors for tree in group]
    leaves = [nodes[nodes["is_leaf"] == 1] for nodes in trees]
    comparisons = sum(float(np.average(nodes["depth"], weights=nodes["count"])) for nodes in leaves)
    return Fitted(
        _probabilities(estimator, inputs, data),
        parameters=sum(map(len, trees)),
        flops=round(comparisons) + len(trees),
    )


@contextmanager
def _caught(category: type[Warning]) -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of a category; others are shown as ever."""
    found: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always", category)
        yield found
    for warning in shown:
        if issubclass(warning.category, category):
            found.append(warning)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


_DENSE = Setting(tried=("standardized", "one-hot"))
CLASSICAL_MODELS: dict[str, ClassicalModel] = {
    "majority": ClassicalModel(_fit_majority, uses_images=False),
    "lookup": ClassicalModel(_fit_lookup),
    "logistic": ClassicalModel(
        _fit_logistic,
        space={"inputs": _DENSE, "C": Setting(bounds=(1e-3, 1e3), note="inverse weight of the penalty")},
    ),
    "mlp": ClassicalModel(
        _fit_mlp,
        space={
            "inputs": _DENSE,
            "layers": Setting(tried=(1, 2, 3)),
            "width": Setting(tried=(64, 128, 256)),
            "learning_rate": Setting(bounds=(1e-4, 1e-2)),
            "batch_size": Setting(tried=(32, 64, 128, 256)),
            "alpha": Setting(bounds=(1e-6, 1.0), note="weight of the L2 penalty"),
        },
    ),
    "trees": ClassicalModel(
        _fit_trees,
        space={
            "inputs": Setting(tried=("integers", "categories")),
            "learning_rate": Setting(bounds=(0.02, 0.5)),
            "iterations": Setting(tried=(50, 100, 200, 400)),
            "leaves": Setting(tried=(7, 15, 31, 63)),
            "rows_a_leaf": Setting(tried=(1, 5, 20)),
            "l2": Setting(bounds=(1e-3, 10.0)),
            "features": Setting(tried=(0.5, 0.75, 1.0), note="of all, at a split"),
        },
    ),
}
"""The models by name, those of `adelic_lab.config.models.CLASSICAL_TITLES`."""
