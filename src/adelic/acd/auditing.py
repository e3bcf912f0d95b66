"""The audit of a data set: what can be had without understanding anything.

Five things are measured on the splits of a data set.

- The majority class: the accuracy of always saying the class that is most frequent in train.
- Cues: for something trivially read off a row (a task names its own, see `Task.cues`, and the token at each position is
  tried too), the rule that says, for each value of the cue, the class that is most frequent with it in train.
- Models on the raw tokens: logistic regression, on the numbers and on their one-hot encoding, and a decision tree of
  small depth.
- Duplicates: rows that occur twice, and test rows that occur outside test too.
- Symmetry leaks: test rows with an equivalent row outside test. Two rows are equivalent if the task's symmetries lead
  from one to the other through rows of the data set.

A regression task is audited as classification of its target: of the target's sign where there is one target, of each
target's value where there are several, and the accuracies are means over these.
"""

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.acd import registry
from adelic.acd.dataset import Dataset, load
from adelic.acd.protocol import Integers, Progress, Symmetry
from adelic.acd.provenance import machine, source_commit, versions

MODEL_ROWS = 50_000
"""So many train rows, and as many test rows, divided by the number of targets but no fewer than FEWEST_MODEL_ROWS, are
shown to the models; drawn with the data's seed."""
FEWEST_MODEL_ROWS = 5_000
TREE_DEPTH = 8


@dataclass(frozen=True)
class Finding:
    """What one rule or model scores.

    Attributes:
        name: the rule, as "cue: length" or "logistic regression (one-hot)".
        test: accuracy on the test split.
        everywhere: accuracy on all rows of a rule learnt from all rows; None for models.

    >>> Finding("majority class", 0.5, 0.5).name
    'majority class'
    """

    name: str
    test: float
    everywhere: float | None


def audit(
    name: str,
    *,
    n: int | None = None,
    edition: str = "published",
    seed: int = 0,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    **options: str,
) -> dict[str, Any]:
    """Return what trivial rules and simple models score on a data set, and what leaks across its splits.

    Arguments and errors are those of `adelic.acd.load`.

    Returns:
        A dictionary ready for JSON: task, n, edition, options, seed, rows, findings (a list of {"name", "test",
        "everywhere"}, accuracies from 0 to 1), duplicates, symmetries (shares of the test rows), command, versions,
        machine, commit, data_sha256.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = audit("weaving", n=5, edition="leaky", cache=folder)
    >>> {f["name"]: f["test"] for f in found["findings"]}["cue: first row lacks"]
    1.0
    """
    task = registry.task(name)
    d = load(name, n=n, edition=edition, seed=seed, cache=cache, progress=progress, workers=1, **options)
    size = d.provenance["n"]
    steps = 4

    def report(done: int, what: str) -> None:
        if progress is not None:
            progress(done, steps, what)

    report(0, "trivial rules")
    findings = list(_rules(d, task.cues))
    report(1, "models")
    findings += _models(d, seed)
    report(2, "duplicates")
    rows = _Rows(d)
    duplicates = rows.duplicates()
    report(3, "symmetries")
    symmetries = rows.leaks(task.symmetries)
    report(4, "done")
    parts = ["adelic", "data", "audit", name, "--n", str(size), "--edition", edition]
    parts += ["--seed", str(seed)] if seed else []
    parts += [word for option, choice in options.items() for word in ("--option", f"{option}={choice}")]
    return {
        "task": name,
        "n": size,
        "edition": edition,
        "options": d.provenance["options"],
        "seed": seed,
        "rows": d.provenance["rows"],
        "findings": [{"name": f.name, "test": f.test, "everywhere": f.everywhere} for f in findings],
        "duplicates": duplicates,
        "symmetries": symmetries,
        "command": shlex.join(parts),
        "versions": versions("numpy", "scikit-learn"),
        "machine": machine(),
        "commit": source_commit(),
        "data_sha256": d.provenance["sha256"],
    }


def _targets(d: Dataset) -> list[tuple[Integers, Integers]]:
    """Return (train and validation, test) classes, one pair for each target."""
    train, test = np.concatenate([d.y_train, d.y_validation]), d.y_test
    if d.class_names is not None:
        return [(train, test)]
    if train.ndim == 1:
        return [(np.sign(train) + 1, np.sign(test) + 1)]
    return [
        (codes[: len(train)], codes[len(train) :])
        for column in np.concatenate([train, test]).T
        for codes in [np.unique(column, return_inverse=True)[1]]
    ]


def _rules(d: Dataset, cues: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the majority class, the task's cues, and the best single token."""
    train, test = np.concatenate([d.X_train, d.X_validation]), d.X_test
    targets = _targets(d)

    def finding(name: str, in_train: Integers, in_test: Integers) -> Finding:
        scores = [
            (
                _best_rule(in_train, y_train, in_test, y_test),
                _best_rule(*(2 * (np.concatenate([in_train, in_test]), np.concatenate([y_train, y_test])))),
            )
            for y_train, y_test in targets
        ]
        on_test, everywhere = np.mean(scores, axis=0).tolist()
        return Finding(name, on_test, everywhere)

    yield finding("majority class", np.zeros(len(train), np.int8), np.zeros(len(test), np.int8))
    for name, cue in cues.items():
        yield finding(f"cue: {name}", cue(train), cue(test))
    tokens = [finding(f"token {i + 1}", train[:, i], test[:, i]) for i in range(train.shape[1])]
    best = max(tokens, key=lambda found: found.everywhere or 0.0)
    yield Finding(f"best single token: {best.name.removeprefix('token ')}", best.test, best.everywhere)


def _best_rule(cue: Integers, y: Integers, cue_test: Integers, y_test: Integers) -> float:
    """Return the test accuracy of saying, for each value of a cue, the class most frequent with it in train.

    >>> _best_rule(np.array([5, 5, 7]), np.array([1, 1, 0]), np.array([5, 7, 9]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    values, codes = np.unique(cue, return_inverse=True)
    counts = np.zeros((len(values) + 1, int(max(y.max(), y_test.max())) + 1), np.int64)
    np.add.at(counts, (codes, y), 1)
    counts[-1] = counts.sum(axis=0)  # the majority class, for values that are not in train
    answers = counts.argmax(axis=1)
    found = np.searchsorted(values, cue_test)
    found[(found == len(values)) | (values[np.minimum(found, len(values) - 1)] != cue_test)] = len(values)
    return float(np.mean(answers[found] == y_test))


def _models(d: Dataset, seed: int) -> Iterator[Finding]:
    """Yield the scores of logistic regression and a small decision tree on the raw tokens."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(seed)
    X = np.concatenate([d.X_train, d.X_validation])
    targets = _targets(d)
    shown = max(MODEL_ROWS // len(targets), FEWEST_MODEL_ROWS)
    train = rng.permutation(len(X))[:shown]
    test = rng.permutation(len(d.X_test))[:shown]
    models: dict[str, Callable[[], Any]] = {
        "logistic regression (raw)": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "logistic regression (one-hot)": lambda: make_pipeline(
            OneHotEncoder(categories=[np.array(d.vocabulary)] * X.shape[1], handle_unknown="ignore"),
            LogisticRegression(max_iter=300),
        ),
        f"decision tree (depth {TREE_DEPTH})": lambda: DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=0),
    }
    for name, make in models.items():
        scores = []
        for y_train, y_test in targets:
            if len(np.unique(y_train[train])) < 2:
                scores.append(float(np.mean(y_test[test] == y_train[train[0]])))
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # 300 steps are the model
                model = make().fit(X[train], y_train[train])
            scores.append(float(np.mean(model.predict(d.X_test[test]) == y_test[test])))
        yield Finding(name, float(np.mean(scores)), None)


class _Rows:
    """The rows of all splits, found by their content."""

    def __init__(self, d: Dataset) -> None:
        self.X = np.ascontiguousarray(np.concatenate([d.X_train, d.X_validation, d.X_test]))
        self.y = np.concatenate([d.y_train, d.y_validation, d.y_test])
        self.is_test = np.arange(len(self.X)) >= len(self.X) - len(d.X_test)
        self.keys, self.content = np.unique(self._key(self.X), return_inverse=True)

    @staticmethod
    def _key(X: Integers) -> NDArray[np.void]:
        rows = np.ascontiguousarray(X)
        return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)

    def duplicates(self) -> dict[str, float | int]:
        """Return how many rows have a content that occurred before, and the share of test rows known outside test."""
        outside = np.zeros(len(self.keys), np.bool_)
        outside[self.content[~self.is_test]] = True
        return {
            "rows": len(self.X) - len(self.keys),
            "test rows known outside test": self._share(outside[self.content[self.is_test]]),
        }

    def leaks(self, symmetries: Mapping[str, Symmetry]) -> dict[str, float]:
        """Return the share of test rows with an equivalent row outside test, by symmetry and by all of them."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        shares = {}
        edges = []
        for name, symmetry in symmetries.items():
            images = self._find(symmetry(self.X, self.y)[0])
            pairs = np.stack([self.content[images >= 0], images[images >= 0]])
            edges.append(pairs)
            shares[name] = self._shared(pairs, coo_array, connected_components)
        if len(symmetries) > 1:
            shares["all"] = self._shared(np.concatenate(edges, axis=1), coo_array, connected_components)
        return shares

    def _find(self, X: Integers) -> NDArray[np.intp]:
        """Return for each row its place among the contents, -1 where it is none."""
        keys = self._key(X.astype(self.X.dtype))
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, found, -1)

    def _shared(self, pairs: NDArray[np.intp], coo_array: Any, connected_components: Any) -> float:
        """Return the share of test rows whose orbit under these pairs of equivalent contents has a row outside test."""
        size = len(self.keys)
        graph = coo_array((np.ones(pairs.shape[1], np.bool_), tuple(pairs)), shape=(size, size))
        orbits = connected_components(graph, directed=False)[1][self.content]
        outside = np.zeros(size, np.bool_)
        outside[orbits[~self.is_test]] = True
        return self._share(outside[orbits[self.is_test]])

    @staticmethod
    def _share(which: NDArray[np.bool_]) -> float:
        return float(which.mean()) if len(which) else 0.0


def to_markdown(audits: Iterable[Mapping[str, Any]]) -> str:
    """Return audits as one Markdown table by task and size, accuracies on the test split in percent.

    >>> rule = {"name": "majority class", "test": 0.5, "everywhere": 0.5}
    >>> about = {"task": "weaving", "n": 6, "edition": "leaky", "options": {}, "findings": [rule], "symmetries": {}}
    >>> print(to_markdown([about]))
    | data set | majority | best cue | best token | logistic regression | tree | leak by symmetry |
    |---|---:|---:|---:|---:|---:|---:|
    | weaving 6, leaky | 50.0 | – | – | – | – | – |
    """
    head = ("data set", "majority", "best cue", "best token", "logistic regression", "tree", "leak by symmetry")
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *map(_line, sorted(audits, key=lambda a: (a["task"], a["n"])))])


def _line(a: Mapping[str, Any]) -> str:
    def best(prefix: str) -> str:
        found = [f for f in a["findings"] if f["name"].startswith(prefix)]
        if not found:
            return "–"
        finding = max(found, key=lambda f: f["everywhere"] or f["test"])
        name = f" ({finding['name'].removeprefix(prefix)})" if prefix == "cue: " else ""
        return f"{100 * finding['test']:.1f}{name}"

    leaks = a["symmetries"]
    cells = [
        ", ".join([f"{a['task']} {a['n']}", a["edition"], *a["options"].values()]),
        best("majority"),
        best("cue: "),
        best("best single token"),
        best("logistic"),
        best("decision"),
        f"{100 * leaks.get('all', max(leaks.values())):.1f}" if leaks else "–",
    ]
    return f"| {' | '.join(cells)} |"
