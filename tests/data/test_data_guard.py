"""The guard against leaks: a planted row is refused, in whatever form, and nothing else is."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic import acd, data
from adelic.data import Holdout, lookup, symmetries
from adelic.errors import LeakError

TRAIN = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def reversed_row(X, y):
    return X[:, ::-1], y


@dataclass
class Guarded:
    """The least that the guard asks of a data set."""

    X_train: Any
    held: Holdout
    symmetries: Any = field(default_factory=dict)

    @property
    def y_train(self):
        return np.zeros(len(self.X_train), np.int64)

    @property
    def holdout(self):
        return self.held


def guarded(validation, test, maps=None):
    length = len(TRAIN[0])
    parts = (np.array(part, np.int8).reshape(-1, length) for part in (validation, test))
    return Guarded(np.array(TRAIN), Holdout(*parts), maps or {})


PLANTED = {
    "test row": (
        [[0, 0, 0]],
        [[3, 3, 3], [4, 5, 6]],
        {},
        "1 test example would",
        "test example 1 (4 5 6) is training example 1",
    ),
    "validation row": (
        [[7, 8, 9]],
        [[0, 0, 0]],
        {},
        "1 validation example would",
        "validation example 0 (7 8 9) is training example 2",
    ),
    "several": (
        [[7, 8, 9]],
        [[1, 2, 3], [4, 5, 6]],
        {},
        "1 validation example and 2 test examples would",
        "test example 0 (1 2 3) is training example 0",
    ),
    "image": (
        [[0, 0, 0]],
        [[9, 8, 7]],
        {"reversed": reversed_row},
        "1 test example would",
        "test example 0 (9 8 7) is image 1 of training example 2",
    ),
    "duplicates": ([[0, 0, 0]], [[1, 2, 3], [1, 2, 3]], {}, "2 test examples would", "is training example 0"),
    "no validation": ([], [[4, 5, 6]], {}, "1 test example would", "test example 0 (4 5 6) is training example 1"),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_planted_rows_are_refused(plant):
    validation, test, maps, count, first = PLANTED[plant]
    d = guarded(validation, test, maps)
    with pytest.raises(LeakError) as caught:
        data.training_rows(d, symmetries=bool(maps))
    message = str(caught.value)
    assert message.startswith(count)
    assert first in message
    assert ("--split orbits" if maps else "keep equal examples in one part") in message
    assert "\n" not in message


@pytest.mark.parametrize("ndim", [2, 3])
def test_parts_outside_the_data_sets_are_checked(ndim):
    """As arithmetic's, which have no validation rows."""
    train = np.array(TRAIN) if ndim == 2 else np.array(TRAIN)[:, None]
    data.check_disjoint(train, np.array([[3, 2, 1]]))
    with pytest.raises(
        LeakError, match=r"1 test example would be trained on: test example 1 \(4 5 6\) is training example 1"
    ):
        data.check_disjoint(train, np.array([[3, 2, 1], [4, 5, 6]]))


def test_what_is_no_image_is_trained_on():
    d = guarded([[3, 2, 0]], [[9, 8, 7]], {"reversed": reversed_row})
    X, y = data.training_rows(d, symmetries=False)
    assert (X.shape, y.shape) == ((3, 1, 3), (3, 1))
    assert data.overlap(d, symmetries=False) == {"validation": 0, "test": 0}
    assert data.overlap(d, symmetries=True) == {"validation": 0, "test": 1}


@pytest.mark.parametrize("leak", [False, True])
def test_equal_keys_do_not_make_equal_rows(monkeypatch, leak):
    """Whatever the keys are, contents decide: no false alarm and no leak that passes."""
    for module in (lookup, symmetries):
        monkeypatch.setattr(module, "content_keys", lambda X: np.zeros(len(X), np.uint64))
    d = guarded([[1, 2, 4]], [[4, 5, 7], [3, 2, 1], *([[7, 8, 9]] if leak else [])])
    assert data.overlap(d, symmetries=False) == {"validation": 0, "test": int(leak)}
    if leak:
        with pytest.raises(LeakError, match=r"test example 2 \(7 8 9\) is training example 2"):
            data.training_rows(d, symmetries=False)
    else:
        data.training_rows(d, symmetries=False)


rows = arrays(np.int8, st.tuples(st.integers(0, 20), st.just(2)), elements=st.integers(0, 3))


@given(
    train=arrays(np.int64, st.tuples(st.integers(0, 10), st.integers(1, 3), st.just(2)), elements=st.integers(0, 3)),
    validation=rows,
    test=rows,
)
@settings(deadline=None)
def test_overlap_is_what_sets_say(train, validation, test):
    """Of arrays of any dtype."""
    known = set(map(tuple, train.reshape(-1, 2).tolist()))
    expected = {
        name: sum(tuple(row) in known for row in part.tolist())
        for name, part in (("validation", validation), ("test", test))
    }
    held = Holdout(validation, test)
    assert held.overlap(train) == expected
    if any(expected.values()):
        with pytest.raises(LeakError):
            held.check(train)
    else:
        held.check(train)


def test_the_published_split_is_refused_with_images_and_the_orbits_are_not():
    with pytest.raises(LeakError, match="185 test examples would be trained on"):
        data.training_rows(acd.load("weaving", n=6), symmetries=True)
    assert data.training_rows(acd.load("weaving", n=6), symmetries=False)[0].shape == (1308, 1, 30)
    d = acd.load("weaving", n=6, split="orbits")
    assert data.training_rows(d, symmetries=True)[0].shape == (len(d.X_train), 24, 30)
