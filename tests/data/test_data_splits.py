import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic.data.protocol import Rows
from adelic.data.splits import SPLITS, TEST, TRAIN, VALIDATION, split_orbits, split_rows

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


@pytest.mark.parametrize("drawn", [split, lambda y, seed: orbits_split(y, np.arange(100) // 3, seed)])
def test_a_seed_repeats_and_two_differ(drawn):
    y = np.zeros(100, np.int8)
    assert (drawn(y, 0) == drawn(y, 0)).all()
    assert (drawn(y, 0) != drawn(y, 1)).any()


@pytest.mark.parametrize(("rows", "tested", "size", "validation"), [(50, 5, 1, 5), (100, 20, 2, 8)])
def test_given_test_rows_are_kept(rows, tested, size, validation):
    test, groups = np.arange(rows) >= rows - tested, np.arange(rows) // size
    drawn = split(np.zeros(rows, np.int8), 0, test, groups if size > 1 else None)
    assert ((drawn == TEST) == test).all()
    assert np.count_nonzero(drawn == VALIDATION) == validation
    assert (drawn == drawn[::size].repeat(size)).all()


def test_regression_targets_are_one_stratum():
    y = np.arange(200).reshape(100, 2)
    assert np.bincount(split(y, 0, stratify=False)).tolist() == [72, 8, 20]
    assert np.bincount(split(y[:, 0], 0, stratify=False)).tolist() == [72, 8, 20]


@given(groups=arrays(np.int64, st.integers(0, 300), elements=st.integers(-20, 20)), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_groups_stay_together(groups, seed):
    drawn = split(np.zeros(len(groups), np.int8), seed, groups=groups)
    by_group = [set(drawn[groups == group].tolist()) for group in np.unique(groups)]
    assert all(len(found) == 1 for found in by_group)
    not_test = sum(found != {TEST} for found in by_group)
    assert not_test == -(-len(by_group) * 4 // 5)
    assert sum(found == {VALIDATION} for found in by_group) == (not_test + 5) // 10


def orbits_split(y, orbits, seed, groups=None, stratify=True):
    rows = Rows(np.zeros((len(y), 1), np.int8), y, None, groups)
    return split_orbits(rows, orbits, np.random.default_rng(seed), stratify=stratify)


orbits_of_classes = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), max_size=60)
"""(size, class) of each orbit."""


@given(drawn=orbits_of_classes, seed=st.integers(0, 1000), stratify=st.booleans())
@settings(deadline=None)
def test_orbits_are_whole_and_shares_are_as_near_as_they_can_be(drawn, seed, stratify):
    """A part misses its share by half an orbit at most, in every class."""
    sizes, classes = (
        np.array(column, np.int64).reshape(-1) for column in (zip(*drawn, strict=True) if drawn else ([], []))
    )
    order = np.random.default_rng(seed).permutation(sizes.sum())
    orbits, y = np.repeat(np.arange(len(sizes)), sizes)[order], np.repeat(classes, sizes)[order]
    parts = orbits_split(y, orbits, seed, stratify=stratify)
    assert (parts.shape, parts.dtype) == (y.shape, np.int8)
    assert all(len(set(parts[orbits == orbit].tolist())) == 1 for orbit in range(len(sizes)))
    strata = y if stratify else np.zeros(len(y), np.int64)
    for label in np.unique(strata):
        here = strata == label
        half = np.bincount(orbits[here]).max() / 2
        test, validation = (np.count_nonzero(parts[here] == part) for part in (TEST, VALIDATION))
        rest = here.sum() - test
        assert abs(test - here.sum() / 5) <= half
        assert abs(validation - rest / 10) <= half if rest >= 5 else validation == 0


def test_a_class_of_one_orbit_trains():
    parts = orbits_split(np.repeat([0, 1], [100, 6]), np.append(np.arange(100), [100] * 6), 0)
    assert (parts[100:] == TRAIN).all()


@pytest.mark.parametrize(("sizes", "part"), [([2, 3], TEST), ([2, 2, 8], VALIDATION)])
def test_an_orbit_goes_where_exactly_half_of_it_has_room(sizes, part):
    """Of 5 rows 1 tests, of 10 that do not test 1 validates: a pair that comes first in the drawn order."""
    orbits = np.repeat(np.arange(len(sizes)), sizes)
    drawn = [orbits_split(np.zeros(len(orbits), np.int8), orbits, seed) for seed in range(20)]
    assert any(np.count_nonzero(parts == part) == 2 for parts in drawn)


def test_of_five_rows_that_do_not_test_one_validates():
    assert np.bincount(orbits_split(np.zeros(6, np.int8), np.arange(6), 0)).tolist() == [4, 1, 1]


def test_fixed_test_rows_say_nothing_about_orbits():
    rows = Rows(np.zeros((50, 1), np.int8), np.zeros(50, np.int8), np.arange(50) >= 45)
    parts = split_orbits(rows, np.arange(50) // 2, np.random.default_rng(0))
    assert ((parts == TEST) != rows.test).any()


@given(numbers=st.lists(st.tuples(st.integers(0, 30), st.integers(-10, 10)), max_size=80), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_orbits_and_groups_stay_together(numbers, seed):
    orbits, groups = np.array(numbers, np.int64).reshape(-1, 2).T
    parts = orbits_split(np.zeros(len(orbits), np.int8), orbits, seed, groups=groups)
    for those in (orbits, groups):
        assert all(len(set(parts[those == number].tolist())) == 1 for number in np.unique(those))


def test_names():
    assert (SPLITS[TRAIN], SPLITS[VALIDATION], SPLITS[TEST]) == ("train", "validation", "test")
