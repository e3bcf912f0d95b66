import json

import numpy as np
import pytest

from adelic import acd
from adelic.acd import auditing
from adelic.acd.dataset import Dataset
from adelic.acd.provenance import machine, source_commit, versions
from adelic.errors import UnknownNameError


def dataset(train, validation, test, class_names=("no", "yes")):
    """A data set from (X, y) of each split."""
    arrays = [np.array(part) for split in (train, validation, test) for part in split]
    vocabulary = tuple(range(int(max(X.max() for X in arrays[::2])) + 1))
    return Dataset(*arrays, class_names=class_names, vocabulary=vocabulary, provenance={})


def rules(d, cues=None):
    return {found.name: (found.test, found.everywhere) for found in auditing._rules(d, cues or {})}


@pytest.fixture
def parity():
    """The label is the parity of the sum; the second token is noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (400, 2))
    y = X.sum(axis=1) % 2
    return dataset((X[:300], y[:300]), (X[300:320], y[300:320]), (X[320:], y[320:]))


def test_a_cue_that_decides_scores_all(parity):
    found = rules(parity, {"parity": lambda X: X.sum(axis=1) % 2, "nothing": lambda X: np.zeros(len(X), int)})
    assert found["cue: parity"] == (1.0, 1.0)
    assert found["cue: nothing"] == found["majority class"]
    majority = np.bincount(np.concatenate([parity.y_train, parity.y_validation])).argmax()
    assert found["majority class"][0] == np.mean(parity.y_test == majority)


def test_values_that_train_lacks_get_the_majority_class():
    d = dataset(([[1], [1], [2]], [0, 0, 1]), ([[2]], [1]), ([[3], [0], [2]], [0, 1, 1]))
    assert auditing._best_rule(d.X_train[:, 0], d.y_train, d.X_test[:, 0], d.y_test) == pytest.approx(2 / 3)


def test_the_best_token_is_named(parity):
    X_train, X_validation, X_test = (
        np.column_stack([X, y])
        for X, y in (
            (parity.X_train, parity.y_train),
            (parity.X_validation, parity.y_validation),
            (parity.X_test, parity.y_test),
        )
    )
    d = dataset((X_train, parity.y_train), (X_validation, parity.y_validation), (X_test, parity.y_test))
    assert rules(d)["best single token: 3"] == (1.0, 1.0)


def test_regressions_are_audited_by_sign_or_by_target():
    X = np.arange(40).reshape(40, 1) % 4
    y = X[:, 0] - 1
    signs = dataset((X[:20], y[:20]), (X[20:24], y[20:24]), (X[24:], y[24:]), class_names=None)
    assert rules(signs)["majority class"] == (0.5, 0.5)  # 1 and 2 are positive
    two = np.column_stack([y, np.full(40, 7)])
    values = dataset((X[:20], two[:20]), (X[20:24], two[20:24]), (X[24:], two[24:]), class_names=None)
    assert rules(values)["majority class"] == (0.625, 0.625)  # the mean of 1/4 and 1


def test_duplicates_are_counted():
    d = dataset(([[1, 2], [3, 4], [1, 2]], [0, 1, 0]), ([[5, 6]], [1]), ([[1, 2], [5, 6], [7, 8]], [0, 1, 1]))
    assert auditing._Rows(d).duplicates() == {"rows": 3, "test rows known outside test": pytest.approx(2 / 3)}


def test_leaks_follow_the_symmetries_through_the_data_set():
    def next_of_ring(X, y):
        return (X + 1) % 6, y

    # 0 → 1 → 2 → 3 is an orbit as far as there are rows; 4 is none, and so ends it, and 10 is alone.
    d = dataset(([[0], [9]], [0, 1]), ([[1]], [0]), ([[2], [3], [10]], [0, 0, 1]))
    assert auditing._Rows(d).leaks({"next": next_of_ring}) == {"next": pytest.approx(2 / 3)}
    nothing = auditing._Rows(d).leaks({"next": next_of_ring, "identity": lambda X, y: (X, y)})
    assert nothing == {"next": pytest.approx(2 / 3), "identity": 0.0, "all": pytest.approx(2 / 3)}
    assert auditing._Rows(d).leaks({}) == {}


def test_models_learn_what_is_linear_and_what_is_not():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, (2000, 3))
    halves = [(X[a:b], (X[a:b, 0] > 3).astype(int)) for a, b in ((0, 1500), (1500, 1600), (1600, 2000))]
    scores = {found.name: found.test for found in auditing._models(dataset(*halves), 0)}
    assert scores["logistic regression (raw)"] > 0.98
    assert scores["logistic regression (one-hot)"] == scores[f"decision tree (depth {auditing.TREE_DEPTH})"] == 1.0
    xor = [(A, (A[:, 0] > 3) ^ (A[:, 1] > 3)) for A, _ in halves]
    scores = {found.name: found.test for found in auditing._models(dataset(*((A, b.astype(int)) for A, b in xor)), 0)}
    assert scores["logistic regression (raw)"] < 0.7
    assert scores[f"decision tree (depth {auditing.TREE_DEPTH})"] > 0.98


def test_an_audit_is_json_and_repeats():
    found = acd.audit("weaving", n=6, edition="leaky")
    assert json.loads(json.dumps(found)) == found
    assert acd.audit("weaving", n=6, edition="leaky") == found
    assert found["command"] == "adelic data audit weaving --n 6 --edition leaky"
    scores = {f["name"]: f["test"] for f in found["findings"]}
    assert scores[f"decision tree (depth {auditing.TREE_DEPTH})"] == 1.0  # the leak
    assert found["duplicates"] == {"rows": 0, "test rows known outside test": 0.0}
    with pytest.raises(UnknownNameError, match="did you mean 'weaving'"):
        acd.audit("weavin")


def test_progress():
    calls = []
    acd.audit("schubert", n=3, progress=lambda *call: calls.append(call))
    assert calls[-1][:2] == (4, 4)


def test_provenance():
    assert set(versions("numpy")) == {"adelic", "numpy", "python"}
    assert "core" in machine()
    commit = source_commit()
    assert commit is None or len(commit.rstrip("+")) == 40
