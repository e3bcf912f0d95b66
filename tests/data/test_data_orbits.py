"""Orbits against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic.data import images, orbits, symmetries

LENGTH = 4


def columns_permuted(permutation):
    return lambda X, y: (X[:, permutation], y)


def group_of(generators):
    """Return all products of some permutations."""
    found = [tuple(range(LENGTH))]
    for element in found:
        for g in generators:
            product = tuple(element[i] for i in g)
            if product not in found:
                found.append(product)
    return found


tables = arrays(np.int8, st.tuples(st.integers(0, 25), st.just(LENGTH)), elements=st.integers(0, 2))
permutation_groups = st.lists(st.permutations(range(LENGTH)), max_size=3)


def numbered(sets):
    """Return the number of each set, from 0 on in any order, as a partition of the places."""
    return {frozenset(i for i, other in enumerate(sets) if other == one) for one in sets}


@given(X=tables, generators=permutation_groups)
@settings(deadline=None)
def test_orbits_are_those_of_the_group(X, generators):
    maps = {str(i): columns_permuted(list(g)) for i, g in enumerate(generators)}
    found = orbits(X, np.zeros(len(X), np.int64), maps)
    group = group_of(generators)
    sets = [frozenset(tuple(row[i] for i in g) for g in group) for row in X.tolist()]
    assert numbered(found.tolist()) == numbered(sets)
    assert sorted(set(found.tolist())) == list(range(len(set(sets))))  # no gap


@given(X=tables, generators=permutation_groups)
@settings(deadline=None)
def test_orbits_are_unions_of_what_shares_an_image(X, generators):
    y = np.zeros(len(X), np.int64)
    maps = {str(i): columns_permuted(list(g)) for i, g in enumerate(generators)}
    found, X_images = orbits(X, y, maps), images(X, y, maps)[0]
    by_image = {}
    for number, several in zip(found.tolist(), X_images.tolist(), strict=True):
        for image in several:
            by_image.setdefault(tuple(image), set()).add(number)
    assert all(len(numbers) == 1 for numbers in by_image.values())


def test_a_common_image_that_is_no_row_joins():
    """0 and 2 both reach 1, which is not a row, by maps that lead nowhere else."""

    def to_one(X, y):
        return np.where(np.isin(X, (0, 2)), 1, X), y

    assert orbits(np.array([[0], [2], [5]]), np.zeros(3, np.int64), {"to one": to_one}).tolist() == [0, 0, 1]


def test_without_symmetries_equal_rows_are_one_orbit():
    X = np.array([[3, 3], [1, 1], [3, 3], [2, 2]])
    found = orbits(X, np.zeros(4, np.int64), {})
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3


def test_a_group_that_is_cut_off_still_joins_what_shares_an_image(monkeypatch):
    """With two images a row, neighbours on a ring: together all of it."""
    monkeypatch.setattr(symmetries, "MOST_IMAGES", 2)

    def next_of_ring(X, y):
        return (X + 1) % 6, y

    X = np.arange(6)[:, None]
    found = orbits(X, np.zeros(6, np.int64), {"next": next_of_ring})
    assert all(a == b for a, b in pairwise(found.tolist()))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_keys_do_not_depend_on_the_dtype(dtype):
    X = np.array([[-2, 5], [0, 7]], np.int8)
    assert (symmetries.content_keys(X) == symmetries.content_keys(X.astype(dtype))).all()
