import math

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from adelic_lab.results.metrics import calibration_error, classification_metrics, confusion, majority_rate


def metrics(labels, predictions):
    return classification_metrics(np.array(labels), np.array(predictions), 0.25)


@pytest.mark.filterwarnings("ignore:y_pred contains classes:UserWarning")
@pytest.mark.parametrize("seed", range(20))
def test_the_figures_are_scikit_learns_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n_classes, offset = rng.integers(2, 30), rng.integers(-5, 5)
    labels, predictions = rng.integers(n_classes, size=(2, 100)) + offset
    found = metrics(labels, predictions)
    assert found["balanced_accuracy"] == balanced_accuracy_score(labels, predictions)
    assert found["macro_f1"] == f1_score(labels, predictions, average="macro", zero_division=0)


@pytest.mark.parametrize(("predictions", "rate"), [([1, 1, 1], 1.0), ([1, 0, 1], 2 / 3), ([0, 0, 0], 0.0)])
def test_labels_of_one_class(predictions, rate):
    """As the test split of a very small data set may have; no warning either."""
    found = metrics([1, 1, 1], predictions)
    assert found["accuracy"] == found["balanced_accuracy"] == pytest.approx(rate)


def test_majority_is_that_of_the_training_split():
    assert majority_rate(np.array([2, 2, 2, 0, 0]), np.array([0, 0, 2, 1])) == 0.25
    assert majority_rate(np.array([5]), np.array([0, 1])) == 0.0


def test_calibration_by_hand():
    # bins (0.4, 7/15], (0.6, 2/3] and (14/15, 1]; the second holds two rows, one of them right
    confidence, is_right = np.array([0.45, 0.61, 0.66, 0.95]), np.array([True, True, False, True])
    assert calibration_error(confidence, is_right) == pytest.approx((0.55 + abs(1 - 0.61 - 0.66) + 0.05) / 4)
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, True])) == 0
    assert calibration_error(np.array([1.0, 1.0]), np.array([False, False])) == 1


def test_a_bin_has_its_upper_edge():
    edge = 9 / 15
    pair = np.array([True, False])
    assert calibration_error(np.array([edge, edge - 1e-9]), pair) == pytest.approx(abs(1 - 2 * edge) / 2)
    assert calibration_error(np.array([edge, edge + 1e-9]), pair) == pytest.approx((1 - edge + edge) / 2)


def test_calibration_of_a_model_that_diverged_is_no_number():
    assert math.isnan(calibration_error(np.array([np.nan, 0.5]), np.array([True, True])))


def test_confusion_has_true_classes_in_rows():
    found = confusion(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2]), 4)
    assert found == [[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert all(type(count) is int for row in found for count in row)
