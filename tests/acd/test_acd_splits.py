import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic.acd.protocol import Rows
from adelic.acd.splits import SPLITS, TEST, TRAIN, VALIDATION, split_rows

labels = arrays(np.int8, st.integers(0, 300), elements=st.integers(0, 4))


def split(y, seed, test=None, groups=None, stratify=True):
    rows = Rows(np.zeros((len(y), 1), np.int8), y, test, groups)
    return split_rows(rows, np.random.default_rng(seed), stratify=stratify)


@given(y=labels, seed=st.integers(0, 1000))
@settings(deadline=None)
def test_every_row_has_one_split_and_sizes_are_exact(y, seed):
    drawn = split(y, seed)
    assert drawn.shape == y.shape
    assert set(drawn.tolist()) <= {TRAIN, VALIDATION, TEST}
    assert np.count_nonzero(drawn != TEST) == -(-len(y) * 4 // 5)  # ⌈0.8 N⌉


@given(y=labels, seed=st.integers(0, 1000))
@settings(deadline=None)
def test_validation_is_a_rounded_tenth_of_each_class(y, seed):
    drawn = split(y, seed)
    for label in range(5):
        not_test = np.count_nonzero((y == label) & (drawn != TEST))
        validation = np.count_nonzero((y == label) & (drawn == VALIDATION))
        assert abs(validation - not_test / 10) <= 0.5
        assert validation == 0 or not_test >= 5  # a small class trains whole


@given(y=labels, seed=st.integers(0, 1000))
@settings(deadline=None)
def test_a_seed_repeats(y, seed):
    assert (split(y, seed) == split(y, seed)).all()


def test_two_seeds_differ():
    y = np.zeros(100, np.int8)
    assert (split(y, 0) != split(y, 1)).any()


def test_given_test_rows_are_kept():
    y = np.zeros(50, np.int8)
    test = np.arange(50) >= 45
    drawn = split(y, 0, test)
    assert ((drawn == TEST) == test).all()
    assert np.count_nonzero(drawn == VALIDATION) == 5


def test_regression_targets_are_one_stratum():
    y = np.arange(200).reshape(100, 2)
    assert np.bincount(split(y, 0, stratify=False)).tolist() == [72, 8, 20]
    assert np.bincount(split(y[:, 0], 0, stratify=False)).tolist() == [72, 8, 20]


@given(groups=arrays(np.int64, st.integers(1, 300), elements=st.integers(-20, 20)), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_groups_stay_together(groups, seed):
    drawn = split(np.zeros(len(groups), np.int8), seed, groups=groups)
    by_group = [set(drawn[groups == group].tolist()) for group in np.unique(groups)]
    assert all(len(found) == 1 for found in by_group)
    not_test = sum(found != {TEST} for found in by_group)
    assert not_test == -(-len(by_group) * 4 // 5)
    assert sum(found == {VALIDATION} for found in by_group) == (not_test + 5) // 10


def test_groups_respect_given_test_rows():
    groups = np.arange(100) // 2
    test = np.arange(100) >= 80
    drawn = split(np.zeros(100, np.int8), 0, test, groups)
    assert ((drawn == TEST) == test).all()
    assert np.count_nonzero(drawn == VALIDATION) == 8
    assert (drawn[::2] == drawn[1::2]).all()


def test_names():
    assert (SPLITS[TRAIN], SPLITS[VALIDATION], SPLITS[TEST]) == ("train", "validation", "test")
