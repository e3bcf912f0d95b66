import json
from dataclasses import replace

import numpy as np
import pytest

from adelic import acd, data
from adelic.data import auditing
from adelic.data.dataset import Dataset
from adelic.errors import ConfigurationError, UnknownNameError


def dataset(train, validation, test, class_names=("no", "yes"), symmetries=None):
    """A data set from (X, y) of each split."""
    arrays = [np.array(part) for split in (train, validation, test) for part in split]
    vocabulary = tuple(range(int(max(X.max() for X in arrays[::2])) + 1))
    return Dataset(*arrays, class_names=class_names, vocabulary=vocabulary, provenance={}, symmetries=symmetries or {})


def rules(d, cues=None):
    return {found.name: (found.test, found.everywhere) for found in auditing._rules(replace(d, cues=cues or {}))}


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


def test_the_best_token_is_named(parity):
    parts = ((getattr(parity, f"X_{part}"), getattr(parity, f"y_{part}")) for part in ("train", "validation", "test"))
    d = dataset(*((np.column_stack([X, y]), y) for X, y in parts))
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
    assert auditing._duplicates(d) == {"rows": 3, "test rows known outside test": pytest.approx(2 / 3)}


def reversed_row(X, y):
    return X[:, ::-1], y


def rotated_row(X, y):
    return X[:, [1, 2, 0]], y


def test_leaks_are_test_rows_with_an_equivalent_row_outside_test():
    # 132 is the reverse of 231; 213 is a rotation of 321 reversed; 444 is alone.
    d = dataset(
        ([[1, 3, 2], [9, 9, 9]], [0, 1]),
        ([[3, 2, 1]], [0]),
        ([[2, 3, 1], [2, 1, 3], [4, 4, 4]], [0, 0, 1]),
        symmetries={"reversed": reversed_row, "rotated": rotated_row, "identity": lambda X, y: (X, y)},
    )
    assert auditing._leaks(d) == {
        "reversed": pytest.approx(1 / 3),
        "rotated": pytest.approx(1 / 3),
        "identity": 0.0,
        "all": pytest.approx(2 / 3),
    }
    assert auditing._leaks(dataset(([[1]], [0]), ([[2]], [1]), ([[3]], [0]))) == {}


def test_overlap_and_look_up_of_rows_and_of_images():
    d = dataset(
        ([[1, 2], [3, 4], [5, 6], [7, 7]], [1, 0, 1, 1]),
        ([[4, 3]], [0]),
        ([[2, 1], [4, 4], [1, 2], [8, 8]], [1, 0, 1, 1]),
        symmetries={"reversed": reversed_row},
    )
    X, y = acd.images(d.X_train, d.y_train, {})
    assert auditing._overlap(d, X) == {"validation": {"rows": 0, "share": 0.0}, "test": {"rows": 1, "share": 0.25}}
    assert auditing._look_up(d, X, y) == 0.75  # 44 gets the majority class, which is not its own
    X, y = acd.images(d.X_train, d.y_train, d.symmetries)
    assert auditing._overlap(d, X) == {"validation": {"rows": 1, "share": 1.0}, "test": {"rows": 2, "share": 0.5}}
    assert auditing._look_up(d, X, y) == 0.75


def test_look_up_of_several_targets_is_their_mean():
    d = dataset(
        ([[1], [2], [3]], [[0, 5], [1, 6], [1, 5]]),
        ([[4]], [[0, 0]]),
        ([[1], [9]], [[0, 5], [1, 6]]),
        class_names=None,
    )
    X, y = acd.images(d.X_train, d.y_train, {})
    assert auditing._look_up(d, X, y) == 0.75  # of row 9 the first target is the majority's, the second is not


@pytest.mark.parametrize(("name", "n"), [("schubert", 3), ("rsk", 4), ("characters", 6)])
def test_on_orbits_nothing_is_remembered(name, n):
    found = acd.audit(name, n=n, split="orbits")
    assert found["command"] == f"adelic data audit {name} --n {n} --edition published --split orbits"
    assert found["split"] == "orbits"
    assert found["orbits"] > 0
    for parts in found["overlap"].values():
        assert [part["rows"] for part in parts.values()] == [0, 0]
    assert set(found["symmetries"].values()) == {0.0}
    assert found["lookup"].keys() == {"rows", "images"}


def test_without_symmetries_there_are_no_images():
    found = acd.audit("lattice", n=6)
    assert found["overlap"].keys() == found["lookup"].keys() == {"rows"}
    assert found["orbits"] is None
    with pytest.raises(ConfigurationError, match="lattice has no symmetries"):
        acd.audit("lattice", n=6, split="orbits")


def test_the_published_split_overlaps_with_images():
    """The figures that made the split of orbits."""
    found = acd.audit("weaving", n=6)
    assert found["overlap"]["images"]["test"] == {"rows": 185, "share": 185 / 363}
    assert found["lookup"]["images"] == 1.0


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


def test_a_data_set_without_test_rows_is_not_audited():
    with pytest.raises(ConfigurationError, match="mheight 4 is too small to be audited: its test split is empty"):
        acd.audit("mheight", n=4)


@pytest.mark.parametrize("price", [["1/2", "7/3"], ["4", "9"]], ids=["fractions", "whole numbers"])
def test_a_table_of_ones_own(price):
    frame = {"price": price * 100, "n": range(200), "cheap": ["yes", "no"] * 100}
    d = data.from_table(frame, target="cheap", name="mine")
    found = json.loads(json.dumps(data.audit(d)))
    scores = {finding["name"]: finding["test"] for finding in found["findings"]}
    assert (found["task"], found["n"], found["split"], found["command"]) == ("mine", None, "random", None)
    assert scores["best single token: price"] == scores["logistic regression (one-hot)"] == 1
    assert found["rows"] == d.provenance["rows"]
    assert found["overlap"]["rows"]["test"]["rows"] == 0
    for chosen in ({"n": 4}, {"seed": 1}, {"split": "orbits"}, {"edition": "leaky"}, {"labelling": "random"}):
        with pytest.raises(ConfigurationError, match="chooses among stored data; leave it out with a data set"):
            data.audit(d, **chosen)
