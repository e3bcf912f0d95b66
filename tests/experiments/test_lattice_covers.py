"""What memory of covers gets on lattice paths: the rule against its definition, the pages have the file's figures."""

import numpy as np
import pytest

from adelic import acd

SCRIPT = "lattice_covers"


def test_counts_and_rule_against_the_definition(script):
    n = 6
    data = acd.load("lattice", n=n)
    length = 2 * n - 1
    outside = [*data.X_train.tolist(), *data.X_validation.tolist()]
    labels = script.outside_labels(data).tolist()
    own, test = script.counts(data, n)

    def count(path, label, but=None):
        rows = enumerate(zip(outside, labels, strict=True))
        return sum(row[length:] == path and y == label for i, (row, y) in rows if i != but)

    assert own == [tuple(count(row[length:], y, i) for y in (0, 1)) for i, row in enumerate(outside)]
    assert test == [tuple(count(row[length:], y) for y in (0, 1)) for row in data.X_test.tolist()]
    answers = script.rule(own, np.array(labels))
    for pair, (label, sure) in answers.items():
        shares = np.bincount([y for one, y in zip(own, labels, strict=True) if one == pair], minlength=2)
        assert shares[label] == shares.max()
        assert sure == (shares[label] >= 0.99 * shares.sum())
    label, sure = script.said(answers, [*test, (9, 9)])
    assert (label[-1], sure[-1]) == (1, False)
    assert len(label) == len(sure) == len(test) + 1


def test_most_paths_have_three_covers(script):
    data = acd.load("lattice", n=6)
    parts = ("train", "validation", "test")
    rows = [
        (tuple(row[11:]), y)
        for part in parts
        for row, y in zip(getattr(data, f"X_{part}").tolist(), getattr(data, f"y_{part}").tolist(), strict=True)
    ]
    paths = {path for path, _ in rows}
    have = [path for path in paths if (rows.count((path, 0)), rows.count((path, 1))) == (1, 2)]
    assert script.three_covers(data, 6) == pytest.approx(len(have) / len(paths))
    assert len(have) > len(paths) / 2


def test_the_pages_have_the_figures_of_the_file(figures, section):
    rates = [f"{100 * figures['sizes'][n]['rule']:.1f}" for n in ("10", "11", "12")]
    for name in ("audit.md", "results/bodies-and-views.md"):
        assert f"scores {rates[0]} % for n = 10 and {rates[2]} % for n = 12" in section(name)
    labels = ("matching", "Lagrange")
    most = max(run["decided"][label] - run["open"][label] for run in figures["runs"] for label in labels)
    assert f"by {100 * most:.1f} points at most" in section("audit.md")
