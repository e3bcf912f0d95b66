"""What memory of covers gets on lattice paths, and whether networks use it.

    python experiments/lattice_covers.py        # a minute

Nearly every path is the second one in three examples: in one matching cover, and in two Lagrange covers. So who has
counted the examples outside test that end in a path often knows which label is left for a test example that ends in it.
The baseline here takes for each pair of counts the most frequent label among the examples outside test, each counted
without itself.

A test example is "decided" where 99 % of the examples outside test with its counts have one label. A network that used
such memory would have these examples right more often than others: for each network of the results that kept its
predictions, the accuracy on both is written, by label.

Writes experiments/results/lattice_covers.json, whose figures are in docs/audit.md and
docs/results/bodies-and-views.md.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt

from adelic import acd
from adelic.data import Dataset
from adelic_lab import read_results
from adelic_lab.results.predictions import unpack
from adelic_lab.results.result import Result

Counts = list[tuple[int, int]]
"""The number of matching covers and of Lagrange covers of an example's second path outside test, without itself."""
_SIZES = (10, 11, 12)
_SURE = 0.99


def main(*, results_dir: Path = common.RESULTS / "table", output: Path | None = None) -> None:
    """Ask every size, and every network that kept its predictions.

    Args:
        results_dir: of the networks.
        output: file of the results.
    """
    sizes, runs = {}, []
    for n in common.each(_SIZES, "n = {}".format):
        data = acd.load("lattice", n=n)
        outside, test = counts(data, n)
        label, decided = said(rule(outside, outside_labels(data)), test)
        shares = {"rule": float((label == data.y_test).mean()), "decided": float(decided.mean())}
        sizes[str(n)] = {"paths_with_three": three_covers(data, n)} | shares
        found = (r for r in read_results(results_dir) if r.row == f"lattice-{n}" and r.edition == "published")
        networks = (r for r in found if r.predictions and "epochs" in r.configuration["recipe"])
        runs += [accuracies(result, data, decided) for result in networks]
    common.write("lattice_covers.json", ("adelic", "numpy"), {"sizes": sizes, "runs": runs}, output)


def outside_labels(data: Dataset) -> npt.NDArray[Any]:
    """Return the labels of the examples outside test."""
    return np.concatenate([data.y_train, data.y_validation])


def three_covers(data: Dataset, n: int) -> float:
    """Return the share of second paths that are in one matching cover and in two Lagrange covers."""
    X = np.concatenate([data.X_train, data.X_validation, data.X_test])
    _, path = np.unique(X[:, 2 * n - 1 :], axis=0, return_inverse=True)
    y = np.concatenate([outside_labels(data), data.y_test])
    covers = np.stack([np.bincount(path.reshape(-1), weights=y == label) for label in (0, 1)], axis=1)
    return float((covers == (1, 2)).all(axis=1).mean())


def counts(data: Dataset, n: int) -> tuple[Counts, Counts]:
    """Return the counts of the examples outside test, and of the test examples."""
    paths = [[bytes(path) for path in X[:, 2 * n - 1 :].astype(np.int8)] for X in (data.X_train, data.X_validation)]
    outside, labels = paths[0] + paths[1], outside_labels(data).tolist()
    seen = Counter(zip(outside, labels, strict=True))
    own = [(seen[path, 0] - (y == 0), seen[path, 1] - (y == 1)) for path, y in zip(outside, labels, strict=True)]
    test = [bytes(path) for path in data.X_test[:, 2 * n - 1 :].astype(np.int8)]
    return own, [(seen[path, 0], seen[path, 1]) for path in test]


def rule(of_rows: Counts, labels: npt.NDArray[Any]) -> dict[tuple[int, int], tuple[int, bool]]:
    """Return the most frequent label of examples with each pair of counts, and whether 99 % of them have it.

    >>> rule([(1, 1), (1, 1), (0, 1)], np.array([1, 1, 0]))
    {(0, 1): (0, True), (1, 1): (1, True)}
    """
    seen = Counter(zip(of_rows, labels.tolist(), strict=True))
    answers = {}
    for pair in sorted(set(of_rows)):
        label = max((0, 1), key=lambda y: seen[pair, y])
        answers[pair] = label, seen[pair, label] >= _SURE * (seen[pair, 0] + seen[pair, 1])
    return answers


def said(
    answers: dict[tuple[int, int], tuple[int, bool]], of_rows: Counts
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return the answers for examples, 1 if the counts are unknown, and whether the answer is sure."""
    found = [answers.get(pair, (1, False)) for pair in of_rows]
    return np.array([label for label, _ in found]), np.array([sure for _, sure in found])


def accuracies(result: Result, data: Dataset, decided: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return what tells a run from the others, and its accuracy on decided examples and on others, for each label."""
    assert result.predictions is not None
    recipe, right = result.configuration["recipe"], unpack(result.predictions, data.y_test.shape, 2) == data.y_test
    found = {name: getattr(result, name) for name in ("row", "embedding", "features", "seed")}
    found |= {"body": recipe.get("body", "sequence"), "view": recipe.get("view")}
    for part, rows in (("decided", decided), ("open", ~decided)):
        means = (float(right[rows & (data.y_test == y)].mean()) for y in (0, 1))
        found[part] = dict(zip(("matching", "Lagrange"), means, strict=True))
    return found


if __name__ == "__main__":
    common.run(main)
