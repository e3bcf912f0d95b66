"""Images and orbits of rows: against brute force, and against the labels of the data."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic import acd
from adelic.data import orbits, symmetries

SIZES = {"schubert": (4, 4), "weaving": (5, 20), "mheight": (6, 4), "grassmannian": (6, 12), "kl": (4, 4)}
"""A size, and how many images a row has: the order of the group, or of what it does to rows."""


@pytest.fixture
def load(tmp_path):
    return lambda name, n: acd.load(name, n=n, cache=tmp_path)


CLOSED = [*(pair for pair in SIZES.items() if pair[0] != "grassmannian"), ("grassmannian", (9, None)), ("rsk", (4, 8))]


@pytest.mark.parametrize(("name", "size"), [*CLOSED, ("characters", (6, 2))])
def test_images_are_a_groups(name, size, load):
    """Whatever symmetry is applied to the images of a row, they stay the same set.

    Also where the group has more elements than a row has images, as that of tableaux with different letters.
    """
    (n, order), maps = size, acd.task(name).symmetries
    d = load(name, n)
    X, y = acd.images(d.X_train[:100], d.y_train[:100], maps)
    assert X.shape[1] == order or order is None
    sets = [{image.tobytes() for image in row.astype(np.int64)} for row in X]
    for symmetry in maps.values():
        for i in range(X.shape[1]):
            image, label = symmetry(X[:, i], y[:, i])
            assert all(row.tobytes() in known for row, known in zip(image.astype(np.int64), sets, strict=True))
            assert d.class_names is None or np.array_equal(label, y[:, 0])


def test_a_large_group_is_cut_off(load, monkeypatch):
    monkeypatch.setattr(symmetries, "MOST_IMAGES", 7)
    data = load("weaving", 5)
    X, _ = acd.images(data.X_train, data.y_train, acd.task("weaving").symmetries)
    assert X.shape[1] == 7
    assert np.array_equal(X[:, 0], data.X_train)


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


def test_a_common_image_that_is_no_row_joins():
    """0 and 2 both reach 1, which is not a row, by maps that lead nowhere else."""

    def to_one(X, y):
        return np.where(np.isin(X, (0, 2)), 1, X), y

    assert orbits(np.array([[0], [2], [5]]), np.zeros(3, np.int64), {"to one": to_one}).tolist() == [0, 0, 1]


def test_a_group_that_is_cut_off_still_joins_what_shares_an_image(monkeypatch):
    """With two images a row, neighbours on a ring: together all of it."""
    monkeypatch.setattr(symmetries, "MOST_IMAGES", 2)

    def next_of_ring(X, y):
        return (X + 1) % 6, y

    X = np.arange(6)[:, None]
    found = orbits(X, np.zeros(6, np.int64), {"next": next_of_ring})
    assert all(a == b for a, b in pairwise(found.tolist()))
