"""What holds for the rows of every task: shapes, counts, vocabularies, seeds, symmetries."""

import numpy as np
import pytest

from adelic import acd
from adelic.data import Request

SIZES = {
    "characters": (1, 5, 8, 18),
    "grassmannian": (9, 10),
    "kl": (1, 3, 5),
    "lattice": (4, 7, 10),
    "mheight": (4, 6, 8),
    "quiver": (6, 7, 8),
    "rsk": (2, 4, 7),
    "schubert": (2, 3, 4),
    "weaving": (3, 5, 6),
}
"""A size that is built at once, and others."""
ROWS = [(name, n, edition) for name in acd.TASKS for n in SIZES[name] for edition in acd.TASKS[name].editions]
PUBLISHED = [
    *[("characters", n, ()) for n in (18, 20, 22)],
    ("grassmannian", 12, ()),
    *[("kl", 5, ()), ("kl", 6, ()), ("kl", 7, pytest.mark.long)],
    *[("lattice", n, ()) for n in (10, 11, 12)],
    ("lattice", 13, pytest.mark.long),
    *[("mheight", n, ()) for n in (8, 9, 10)],
    ("quiver", 11, pytest.mark.long),
    *[("rsk", 8, ()), ("rsk", 9, ()), ("rsk", 10, pytest.mark.slow)],
    *[("schubert", 4, ()), ("schubert", 5, ()), ("schubert", 6, pytest.mark.slow)],
    *[("weaving", n, ()) for n in (3, 4, 5, 6, 7)],
]


@pytest.mark.parametrize(("name", "n", "edition"), ROWS)
def test_rows(name, n, edition, generated):
    task, rows = acd.TASKS[name], generated(name, n, edition)
    names, estimate = task.class_names(n, edition), task.estimate(n, edition)
    assert (rows.X.dtype, rows.X.shape) == (np.int8, (len(rows.y), task.length(n, edition)))
    assert len(np.unique(rows.X, axis=0)) == len(rows.X)  # no row stands in two splits
    assert set(np.unique(rows.X).tolist()) <= set(task.vocabulary(n, edition))
    if names is not None:
        assert rows.y.max() < len(names)
        assert rows.y.min() >= 0
    assert estimate.rows == len(rows.y) if estimate.exact else estimate.rows <= len(rows.y)
    assert estimate.exact or (name, edition) == ("characters", "central")
    assert not task.estimate(10**400, edition).exact


@pytest.mark.parametrize(("name", "n"), [pytest.param(name, n, marks=marks) for name, n, marks in PUBLISHED])
def test_published_counts(name, n):
    """They are equal, or the facts say why not."""
    checks = acd.verify(name, n=n)
    assert checks
    differ = {(check.edition, check.what) for check in checks if not check.equal}
    expected = {
        ("grassmannian", 12): {("published", what) for what in ("rows", "cluster variable", "not a cluster variable")},
        ("kl", 7): {("published", f"q^4 = {value}") for value in (0, 1, 2, 3, 7)},
        ("characters", 20): {("central", "max"), ("central", "min")},
        ("characters", 22): {("central", "max"), ("central", "min")},
    }
    assert differ == expected.get((name, n), set())
    assert all(check.why for check in checks if not check.equal)


@pytest.mark.parametrize(("name", "edition"), [(name, e) for name in acd.TASKS for e in acd.TASKS[name].editions])
def test_requests_decide_the_rows(name, edition):
    """The same with more workers; other numbers draw other negatives at most; progress ends where all is done."""
    task, n, seen = acd.TASKS[name], SIZES[name][1], []

    def generate(seed, **given):
        rng = np.random.default_rng(seed)
        return task.generate(Request(n=n, edition=edition, options=task.check_options({}), rng=rng, **given))

    first, again, other = generate(0, progress=lambda *call: seen.append(call)), generate(0, workers=2), generate(1)
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert len(other.X) == len(first.X)
    certain = slice(None) if task.class_names(n, edition) is None else first.y == 1
    assert (first.X[certain] == other.X[certain]).all()
    assert not seen or seen[-1][0] == seen[-1][1]


COMPLETE = ("characters", "kl", "mheight", "rsk")
"""All rows that there are: an image is one of them."""
COMPLETE_POSITIVES = ("grassmannian", "schubert", "weaving")
"""So are those whose label is not 0; of those with 0 there may be others."""


@pytest.mark.parametrize(("name", "n", "edition"), [case for case in ROWS if acd.TASKS[case[0]].symmetries])
def test_images_that_are_rows_have_their_labels(name, n, edition, generated):
    rows = generated(name, n, edition)
    known = {row.tobytes(): np.array(y).tolist() for row, y in zip(rows.X, rows.y, strict=True)}
    for symmetry in acd.TASKS[name].symmetries.values():
        X, y = symmetry(rows.X, rows.y)
        assert (X.dtype, X.shape, y.dtype, y.shape) == (rows.X.dtype, rows.X.shape, rows.y.dtype, rows.y.shape)
        images = [image.tobytes() for image in X]
        assert len(set(images)) == len(images)
        assert all(known.get(image, label) == label for image, label in zip(images, np.array(y).tolist(), strict=True))
        assert name not in COMPLETE or known.keys() == set(images)
        if name in COMPLETE_POSITIVES:
            assert {row for row in known if known[row]} == {row for row, label in zip(images, y, strict=True) if label}
        assert len(y) < 50 or (X != rows.X).any()


@pytest.mark.parametrize("name", ["kl", "schubert", "lattice", "mheight"])
def test_of_no_rows_there_is_nothing_to_read(name):
    task, n = acd.TASKS[name], SIZES[name][1]
    X, y = np.empty((0, task.length(n, "published")), np.int8), np.empty(0, np.int8)
    assert all(cue(X).shape == (0,) for cue in task.cues.values())
    assert all(symmetry(X, y)[0].shape == X.shape for symmetry in task.symmetries.values())
