"""Views: other ways to write the rows of a task for a network."""

from itertools import combinations

import numpy as np
import pytest

from adelic import acd
from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic_lab import EmbeddingConfig, Experiment, run

SMALLEST = {
    "characters": 6,
    "grassmannian": 9,
    "kl": 4,
    "lattice": 6,
    "schubert": 3,
    "mheight": 6,
    "rsk": 5,
    "weaving": 5,
}
VIEWS = [(task, name) for task in acd.TASKS for name in acd.task(task).views]


def test_every_task_with_a_view_is_asked():
    assert {task for task, _ in VIEWS} == set(SMALLEST)


@pytest.mark.parametrize(("task", "name"), VIEWS)
def test_different_rows_stay_different_and_numbers_are_of_the_vocabulary(task, name):
    n = SMALLEST[task]
    for edition in acd.task(task).views[name].editions or acd.task(task).editions:
        d = acd.load(task, n=n, edition=edition)
        view = acd.task(task).view(name, edition)
        X = np.concatenate([d.X_train, d.X_validation, d.X_test])
        seen = view.rows(X)
        assert len(np.unique(seen, axis=0)) == len(np.unique(X, axis=0)) == len(seen)
        assert set(np.unique(seen).tolist()) <= set(view.vocabulary(n))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_triples_of_patterns_change_once_at_most_on_four_pseudolines(n):
    """Felsner and Weil (2001): on the triples of any four, in lexicographic order, signs change once at most.

    Their number is that of all patterns, so nothing else is a pattern.
    """
    d = acd.load("weaving", n=n)
    X, y = (np.concatenate([getattr(d, f"{a}_{part}") for part in ("train", "validation", "test")]) for a in "Xy")
    seen = acd.task("weaving").views["triples"].rows(X)
    index = {triple: i for i, triple in enumerate(combinations(range(n), 3))}
    fours = [[index[triple] for triple in combinations(four, 3)] for four in combinations(range(n), 4)]
    is_sign = np.isin(seen, (0, 7)).all(axis=1)
    changes = np.array([(np.diff(seen[:, four] == 7, axis=1) != 0).sum(axis=1) for four in fours] or [[0]])
    assert np.array_equal(is_sign & (changes <= 1).all(axis=0), y == 1)


@pytest.mark.parametrize("n", [5, 6, pytest.param(7, marks=pytest.mark.long)])
def test_triples_that_are_all_0_or_7_tell_the_patterns_among_the_rows(n):
    """Of all sequences they do not, see above; of the rows of the data set they do, as docs/results.md says."""
    d = acd.load("weaving", n=n)
    view = acd.task("weaving").views["triples"]
    for part in ("train", "validation", "test"):
        X, y = getattr(d, f"X_{part}"), getattr(d, f"y_{part}")
        assert np.array_equal(np.isin(view.rows(X), (0, 7)).all(axis=1), y == 1)


def test_differences_give_the_height():
    """The least w(i) - w(l) of i < j < k < l with w(k) < w(l) < w(i) < w(j), less 1, read off the differences alone."""
    d = acd.load("mheight", n=6)
    pairs = list(combinations(range(6), 2))
    for seen, label in zip(acd.task("mheight").views["differences"].rows(d.X_train).tolist(), d.y_train, strict=True):
        of = dict(zip(pairs, seen, strict=True))
        heights = [
            -of[i, m] for i, j, k, m in combinations(range(6), 4) if of[i, j] > 0 and of[k, m] > 0 and of[i, m] < 0
        ]
        assert min(heights) - 1 == label


def test_ranks_give_the_constant_terms():
    """P_{x,w}(0) is 1 for x <= w, else 0: where no difference of the rank matrices is below 0."""
    d = acd.load("kl", n=4)
    differences = acd.task("kl").views["ranks"].rows(d.X_train)[:, 16:]
    assert np.array_equal((differences >= 0).all(axis=1), d.y_train[:, 0] == 1)


def test_a_network_reads_the_view_and_the_guard_the_rows(tiny_recipe, tmp_path):
    results = {}
    for view in (None, "triples"):
        recipe = tiny_recipe(view=view, symmetries=True, epochs=1)
        data = TaskData("weaving", 5, split="orbits")
        experiment = Experiment(data=data, model=EmbeddingConfig.of("learned"), recipe=recipe)
        results[view] = run(experiment, tmp_path / str(view))
        assert experiment.as_dict()["recipe"].get("view") == view
        assert ("--view triples" in experiment.command()) == (view == "triples")
    assert results["triples"].rows == results[None].rows
    assert results["triples"].parameters == results[None].parameters + (8 - 5) * 16  # a vector for each number
    assert results["triples"].flops < results[None].flops


def test_views_that_there_are_not(tiny_config, works, refused):
    with pytest.raises(UnknownNameError, match=r"unknown view 'height'; did you mean 'heights'\?"):
        tiny_config(task="lattice", n=6, view="height")
    with pytest.raises(ConfigurationError, match="examples of weaving have no other view"):
        tiny_config(task="weaving", n=5, edition="leaky", view="triples")
    assert "gcd-1000 has no other view; leave out --view" in refused("train", "gcd", "--view", "heights")
    assert "view heights, for `adelic train --view heights`" in works("data", "info", "lattice")
