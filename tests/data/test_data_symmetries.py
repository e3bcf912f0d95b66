import numpy as np
import pytest

from adelic import acd
from adelic.data import symmetries

SIZES = {"schubert": (4, 4), "weaving": (5, 20), "mheight": (6, 4), "grassmannian": (6, 12), "kl": (4, 4)}
"""A size, and how many images a row has: the order of the group, or of what it does to rows."""


@pytest.fixture
def load(tmp_path):
    return lambda name, n: acd.load(name, n=n, cache=tmp_path)


@pytest.mark.parametrize("name", ["schubert", "weaving", "mheight"])
def test_images_have_the_labels_that_the_data_gives_them(name, load):
    n, order = SIZES[name]
    data = load(name, n)
    X, y = acd.images(data.X_train, data.y_train, acd.task(name).symmetries)
    assert X.shape == (len(data.y_train), order, data.X_train.shape[1])
    assert np.array_equal(X[:, 0], data.X_train)
    everything = {
        row.tobytes(): label
        for rows, labels in (
            (data.X_train, data.y_train),
            (data.X_validation, data.y_validation),
            (data.X_test, data.y_test),
        )
        for row, label in zip(rows.astype(np.int64), labels, strict=True)
    }
    found = [
        (label, everything[image.tobytes()])
        for image, label in zip(X.reshape(-1, X.shape[2]).astype(np.int64), y.ravel(), strict=True)
        if image.tobytes() in everything
    ]
    assert len(found) > len(data.y_train)  # some of them are other rows
    assert all(ours == theirs for ours, theirs in found)


@pytest.mark.parametrize("name", ["schubert", "weaving", "mheight", "kl"])
def test_images_are_a_group_s(name, load):
    """Whatever symmetry is applied to the images of a row, they stay the same set."""
    n, order = SIZES[name]
    data, maps = load(name, n), acd.task(name).symmetries
    X, y = acd.images(data.X_train[:50], data.y_train[:50], maps)
    assert X.shape[1] == order
    sets = [{image.tobytes() for image in row.astype(np.int64)} for row in X]
    for symmetry in maps.values():
        for i in range(order):
            image, label = symmetry(X[:, i], y[:, i])
            assert all(row.tobytes() in known for row, known in zip(image.astype(np.int64), sets, strict=True))
            assert name == "kl" or np.array_equal(label, y[:, 0])


def test_without_symmetries_a_row_is_its_only_image(load):
    data = load("mheight", 6)
    X, y = acd.images(data.X_train, data.y_train, {})
    assert X.shape[1] == y.shape[1] == 1
    assert np.array_equal(X[:, 0], data.X_train)


def test_a_large_group_is_cut_off(load, monkeypatch):
    monkeypatch.setattr(symmetries, "MOST_IMAGES", 7)
    data = load("weaving", 5)
    X, _ = acd.images(data.X_train, data.y_train, acd.task("weaving").symmetries)
    assert X.shape[1] == 7
    assert np.array_equal(X[:, 0], data.X_train)


@pytest.mark.parametrize(("name", "n"), [("grassmannian", 9), ("rsk", 4), ("characters", 6)])
def test_the_images_of_each_row_are_closed(name, n, load):
    """Also where the group has more elements than a row has images, as that of tableaux with different letters."""
    data, maps = load(name, n), acd.task(name).symmetries
    X, y = acd.images(data.X_train[:200], data.y_train[:200], maps)
    sets = [{image.tobytes() for image in row.astype(np.int64)} for row in X]
    for symmetry in maps.values():
        for i in range(X.shape[1]):
            image = symmetry(X[:, i], y[:, i])[0].astype(np.int64)
            assert all(row.tobytes() in known for row, known in zip(image, sets, strict=True))
