"""The models outside the Transformer, on data so small that their figures are known."""

import math
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from adelic.data import Holdout
from adelic_lab import CLASSICAL_MODELS
from adelic_lab.models import classical
from adelic_lab.models.classical import FITS, cross_entropy, make_inputs
from adelic_lab.search.studies import draw
from adelic_lab.search.tuning import TrainValidation
from adelic_lab.train.objectives import OneClass

MLP = {"inputs": "one-hot", "layers": 2, "width": 8, "learning_rate": 1e-2, "batch_size": 4, "alpha": 1e-4}
TREES = {
    "inputs": "integers", "learning_rate": 0.5, "iterations": 3, "leaves": 7, "rows_a_leaf": 1, "l2": 1e-3,
    "features": 1.0,
}  # fmt: skip


def go_on():
    pass


def development(X, y, *, n_classes=2, vocabulary=(0, 1), validation=None):
    X, y = np.array(X, dtype=np.int8), np.array(y)
    X_validation, y_validation = validation or (X, y)
    return TrainValidation(
        X_train=X, y_train=y, X_validation=X_validation, y_validation=y_validation, objective=OneClass(n_classes),
        vocabulary=vocabulary, sha256="", symmetries={}, holdout=Holdout(X_validation, X[:0]),
    )  # fmt: skip


@pytest.fixture
def first_bit():
    """Rows of three bits; the class is the first."""
    X = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    return development(X, [row[0] for row in X])


def fit(name, options, data, seed=0):
    return FITS[name](options, data, seed, go_on)


def test_inputs():
    data = development([[0, 5], [2, 5]], [0, 1], vocabulary=(0, 2, 5))
    rows = np.array([[2, 5], [5, 0]], dtype=np.int8)
    assert make_inputs("integers", data)(rows).tolist() == [[2, 5], [5, 0]]
    assert make_inputs("categories", data)(rows).tolist() == [[1, 2], [2, 0]]
    assert make_inputs("one-hot", data)(rows).tolist() == [[0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]]
    # Mean (1, 5) and deviation (1, 0) of the training rows; what never varies there is shifted alone.
    assert make_inputs("standardized", data)(rows).tolist() == [[1, 0], [4, -5]]


def test_cross_entropy_is_bounded():
    labels = np.array([0, 1])
    assert cross_entropy(np.array([[0.25, 0.75], [0.5, 0.5]]), labels) == pytest.approx(1.5 * math.log(2))
    assert cross_entropy(np.array([[0.0, 1.0], [0.0, 1.0]]), labels) == pytest.approx(7 * math.log(10) / 2)


def test_majority_is_the_classes_frequencies():
    data = development([[0], [0], [1], [1]], [2, 0, 2, 2], n_classes=4)
    model = fit("majority", {}, data)
    assert model.probabilities(data.X_train[:2]).tolist() == [[0.25, 0, 0.75, 0]] * 2  # two classes have no row
    assert (model.parameters, model.flops, model.converged) == (2, 0, None)


def test_look_up_knows_its_rows_and_else_the_frequencies_of_its_table():
    """Equal rows count once, and of two labels of equal rows the more frequent one."""
    data = development([[0, 0], [0, 1], [0, 1], [0, 1], [1, 0]], [2, 0, 0, 3, 0], n_classes=4)
    model = fit("lookup", {}, data)
    found = model.probabilities(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int8))
    assert found.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [2 / 3, 0, 1 / 3, 0]]
    assert (model.parameters, model.flops, model.converged) == (3, 0, None)
    assert model.history == {"train_loss": [], "validation_loss": [], "validation_accuracy": []}


@pytest.mark.parametrize("inputs", ["standardized", "one-hot"])
def test_logistic_regression(first_bit, inputs):
    model = fit("logistic", {"inputs": inputs, "C": 10.0}, first_bit)
    features = 3 if inputs == "standardized" else 6
    assert (model.parameters, model.flops, model.converged) == (features + 1, 2 * features, True)
    probabilities = model.probabilities(first_bit.X_train)
    assert probabilities.argmax(axis=1).tolist() == first_bit.y_train.tolist()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert model.history == {"train_loss": [], "validation_loss": [], "validation_accuracy": []}


def test_logistic_regression_has_coefficients_for_each_of_several_classes():
    data = development([[0], [1], [2]], [0, 1, 2], n_classes=3, vocabulary=(0, 1, 2))
    model = fit("logistic", {"inputs": "one-hot", "C": 1.0}, data)
    assert (model.parameters, model.flops) == (3 * 3 + 3, 2 * 3 * 3)


def test_a_solver_that_does_not_converge_says_so(first_bit, monkeypatch):
    monkeypatch.setattr(classical, "ITERATIONS", 1)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        model = fit("logistic", {"inputs": "one-hot", "C": 1e3}, first_bit)
    assert model.converged is False
    assert not shown


def test_other_warnings_of_a_fit_are_shown(first_bit, monkeypatch):
    plain = LogisticRegression.fit

    def fit_and_warn(self, *rows):
        warnings.warn("something else", UserWarning, stacklevel=1)
        return plain(self, *rows)

    monkeypatch.setattr(LogisticRegression, "fit", fit_and_warn)
    with pytest.warns(UserWarning, match="something else"):
        assert fit("logistic", {"inputs": "one-hot", "C": 1.0}, first_bit).converged is True


def test_the_perceptron(first_bit, monkeypatch):
    monkeypatch.setattr(classical, "EPOCHS", 60)
    model = fit("mlp", MLP, first_bit)
    weights = 6 * 8 + 8 * 8 + 8  # one output tells two classes
    assert (model.parameters, model.flops, model.converged) == (weights + 8 + 8 + 1, 2 * weights, None)
    assert model.probabilities(first_bit.X_train).argmax(axis=1).tolist() == first_bit.y_train.tolist()
    assert {len(curve) for curve in model.history.values()} == {60}
    again, other = fit("mlp", MLP, first_bit), fit("mlp", MLP, first_bit, seed=1)
    assert again.history == model.history
    assert other.history != model.history


def test_the_perceptron_keeps_its_best_epoch(monkeypatch):
    """Validation labels are the opposite of the training labels: the longer it trains, the worse it gets."""
    X, y = np.array([[0], [1]] * 8, dtype=np.int8), np.array([0, 1] * 8)
    monkeypatch.setattr(classical, "EPOCHS", 40)
    data = development(X, y, validation=(X, 1 - y))
    model = fit("mlp", MLP, data)
    losses, accuracies = model.history["validation_loss"], model.history["validation_accuracy"]
    best = max(range(40), key=lambda epoch: (accuracies[epoch], -losses[epoch]))
    assert best < 39
    found = model.probabilities(X)
    assert cross_entropy(found, 1 - y) == pytest.approx(losses[best], abs=1e-6)
    assert losses[-1] > losses[best]


def test_batches_are_not_larger_than_the_data(first_bit, monkeypatch):
    monkeypatch.setattr(classical, "EPOCHS", 1)
    fit("mlp", MLP | {"batch_size": 256}, first_bit)  # scikit-learn would warn, and warnings are errors here


def test_the_perceptron_can_be_stopped_between_epochs(first_bit):
    with pytest.raises(StopIteration):  # when it is asked for the third time
        FITS["mlp"](MLP, first_bit, 0, iter([None, None]).__next__)


@pytest.mark.parametrize("inputs", ["integers", "categories"])
def test_trees(first_bit, inputs):
    """One comparison, of the first bit, tells the classes: three trees of three nodes, whose leaves lie at depth 1."""
    X, y = np.tile(first_bit.X_train, (10, 1)), np.tile(first_bit.y_train, 10)  # rare categories are not told apart
    model = fit("trees", TREES | {"inputs": inputs, "leaves": 2}, development(X, y))
    assert model.probabilities(first_bit.X_train).argmax(axis=1).tolist() == first_bit.y_train.tolist()
    assert (model.parameters, model.flops, model.converged) == (3 * 3, 3 * (1 + 1), None)


def test_comparisons_are_means_over_rows():
    """Half of the rows end at depth 1, the others at depth 2: two trees of five nodes, one and a half comparisons."""
    X = [[a, b] for a in (0, 1) for b in (0, 1)] * 2
    model = fit("trees", TREES | {"iterations": 2, "leaves": 3}, development(X, [a & b for a, b in X]))
    assert (model.parameters, model.flops) == (2 * 5, 3 + 2)


def test_more_numbers_than_categories_can_be():
    numbers = tuple(range(300))
    data = development([[i % 100] for i in range(200)], [i % 2 for i in range(200)], vocabulary=numbers)
    assert fit("trees", TREES | {"inputs": "categories"}, data).parameters > 0


def test_draws_are_from_the_space():
    for model in CLASSICAL_MODELS.values():
        draws = [draw(model.space, seed) for seed in range(30)]
        for name, dimension in model.space.items():
            values = {options[name] for options in draws}
            if dimension.bounds:
                low, high = dimension.bounds
                assert low <= min(values) < math.sqrt(low * high) < max(values) <= high
            else:
                assert values == set(dimension.tried)
