"""Audits: how far baselines and memory get on a task, and which test examples are known from training.

Seven things are measured on the splits of a data set, see `audit`.

- The majority class: the accuracy of always saying the class that is most frequent in train.
- Cues: a cue is a simple feature of an example. A task names its own (`Task.cues`), and the token at each position is
  tried too. The answer is the most frequent class in train with the same value.
- Models on the raw tokens: logistic regression, on the numbers and on their one-hot encoding, and a decision tree of
  small depth.
- Duplicates: examples that occur twice, and test examples that occur outside test too.
- Symmetry leaks: test examples with an equivalent example outside test. Two examples are equivalent if they are in one
  orbit, see `adelic.data.orbits`.
- Overlap: examples of validation and of test that are among the training examples, and among their images under all
  symmetries. On the split "orbits" both are 0; on "published", training on images is training on test examples.
- Look-up: the accuracy on test of `adelic.data.LookUp`, which remembers the training examples, or all their images. A
  network's accuracy is worth what it has above that.

A regression task is audited as classification of its target: of the target's sign if there is one target, of each
target's value if there are several, and the accuracies are means over these.

Of the questions of a drawn task these are measured, see `audit_drawn`.

- Classes: how often each occurs, by split.
- Rules: `adelic.data.rules.question_rules`, learnt from training questions, and chosen by them alone.
- Look-up: a test question is never a training question, so memory of whole questions has the most frequent class only;
  counted is how many of the numbers in the questions of a split occur in training questions, too.
"""

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adelic.data import registry
from adelic.data.dataset import Dataset, load
from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.lookup import LookUp, RowIndex
from adelic.data.protocol import Progress, silent
from adelic.data.rules import accuracy_of_rule, question_rules, row_readings
from adelic.data.sources import DrawnData
from adelic.data.symmetries import Integers, Symmetry, images, orbits
from adelic.errors import ConfigurationError, needs_extra
from adelic.storage.options import options
from adelic.storage.provenance import machine, source_commit, versions

MODEL_ROWS = 50_000
"""How many examples of train, and of test, the models are shown, drawn with the data's seed; this is divided by the
number of targets, but not below FEWEST_MODEL_ROWS."""
FEWEST_MODEL_ROWS = 5_000
TREE_DEPTH = 8


class Finding(NamedTuple):
    """The score of a baseline or a simple model.

    Attributes:
        name: of the baseline, as "cue: length" or "logistic regression (one-hot)".
        test: accuracy on the test split.
        everywhere: accuracy on all examples, if fitted to all examples; None for models.

    >>> Finding("majority class", 0.5, 0.5).name
    'majority class'
    """

    name: str
    test: float
    everywhere: float | None


def audit(name: str | Dataset, *, progress: Progress | None = None, **which: Any) -> dict[str, Any]:
    """Return the scores of baselines and simple models on a dataset, and its leaks across splits.

    Arguments and errors are those of `adelic.acd.load`: n, edition, split, seed, cache and the task's options. A data
    set without test examples is a ConfigurationError. Instead of a name, a data set may be given, as `from_table` makes
    one, and no other argument but `progress` with it. Of a table with fractions the models see the places of numbers in
    the vocabulary.

    Returns:
        A dictionary ready for JSON: task, n, edition, split, options, seed, rows, orbits (how many, where they were
        divided), findings (a list of {"name", "test", "everywhere"}, accuracies from 0 to 1), duplicates, symmetries
        (shares of the test examples), overlap ({"rows", "images"}, each by "validation" and "test" a number of "rows"
        and their "share"), lookup ({"rows", "images"}, accuracies on test), command, versions, machine, commit,
        data_sha256. For a task without symmetries there is no "images". For a data set that is given, command is None,
        and other things may be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = audit("weaving", n=5, edition="leaky", cache=folder)
    >>> {f["name"]: f["test"] for f in found["findings"]}["cue: first row lacks"], found["overlap"]["images"]["test"]
    (1.0, {'rows': 9, 'share': 0.375})

    >>> from adelic import data
    >>> frame = {"day": range(700), "weekday": [day % 7 for day in range(700)]}
    >>> found = audit(data.from_table(frame, target="weekday", name="days"))
    >>> found["task"], found["lookup"], found["overlap"]["rows"]["test"]["rows"]
    ('days', {'rows': 0.14285714285714285}, 0)
    """
    if isinstance(name, Dataset):
        for option, value in which.items():
            raise ConfigurationError(f"{option}={value!r} chooses among stored data; leave it out with a data set")
        return _audited(name, None, progress)
    d = load(name, progress=progress, **which)
    about, options = d.provenance, registry.task(name).options
    parts = ["adelic", "data", "audit", about["task"], "--n", str(about["n"]), "--edition", about["edition"]]
    parts += ["--split", about["split"]] if about["split"] != "published" else []
    parts += ["--seed", str(about["seed"])] if about["seed"] else []
    chosen = [f"{option}={choice}" for option, choice in which.items() if option in options]
    return _audited(d, shlex.join([*parts, *(["--task-options", ",".join(chosen)] if chosen else [])]), progress)


def _audited(d: Dataset, command: str | None, progress: Progress | None) -> dict[str, Any]:
    """Return the audit of a data set."""
    about = {"task": "data", "seed": 0, "options": {}, **d.provenance}
    if not len(d.X_test):
        size = "" if about.get("n") is None else f" {about['n']}"
        raise ConfigurationError(f"{about['task']}{size} is too small to be audited: its test split is empty")
    report, steps = progress or silent, 5
    report(0, steps, "baselines")
    findings = list(_rules(d))
    report(1, steps, "models")
    findings += _models(d, about["seed"])
    report(2, steps, "duplicates")
    duplicates = _duplicates(d)
    report(3, steps, "symmetries")
    symmetries = _leaks(d)
    report(4, steps, "look-up")
    overlap, lookup = {}, {}
    for what, chosen in {"rows": {}, "images": d.symmetries}.items():
        if chosen or what == "rows":
            X, y = images(d.X_train, d.y_train, chosen)
            overlap[what], lookup[what] = _overlap(d, X), _look_up(d, X, y)
    report(5, steps, "done")
    return {
        **{name: about.get(name) for name in ("task", "n", "edition", "split", "options", "seed", "rows", "orbits")},
        "findings": [finding._asdict() for finding in findings],
        "duplicates": duplicates,
        "symmetries": symmetries,
        "overlap": overlap,
        "lookup": lookup,
        "command": command,
        "versions": versions("numpy", "scikit-learn"),
        "machine": machine(),
        "commit": source_commit(),
        "data_sha256": about.get("sha256"),
    }


def _targets(d: Dataset, y: Integers, y_test: Integers) -> list[tuple[Integers, Integers]]:
    """Return the classes of labels and of labels to be told, one pair for each target."""
    if d.class_names is not None:
        return [(y, y_test)]
    if y.ndim == 1:
        return [((np.sign(y) + 1).astype(np.int64), (np.sign(y_test) + 1).astype(np.int64))]
    return [
        (codes[: len(y)], codes[len(y) :])
        for column in np.concatenate([y, y_test]).T
        for codes in [np.unique(column, return_inverse=True)[1]]
    ]


def _learnt_and_tested(d: Dataset) -> list[tuple[Integers, Integers]]:
    """Return the classes of train and validation, and those of test, one pair for each target."""
    return _targets(d, np.concatenate([d.y_train, d.y_validation]), d.y_test)


def _rules(d: Dataset) -> Iterator[Finding]:
    """Yield the majority class, the task's cues, and the best single token."""
    y_train, y_test = (np.stack(targets, axis=1) for targets in zip(*_learnt_and_tested(d), strict=True))
    y = np.concatenate([y_train, y_test])

    def finding(name: str, in_train: Integers, in_test: Integers) -> Finding:
        cue = np.concatenate([in_train, in_test])
        on_test = accuracy_of_rule(in_train, y_train, in_test, y_test)
        return Finding(name, on_test, accuracy_of_rule(cue, y, cue, y))

    yield finding("majority class", np.zeros(len(y_train), np.int8), np.zeros(len(y_test), np.int8))
    tokens = []
    is_table = "columns" in d.provenance
    for name, train, validation, test in row_readings(d):
        found = finding(name, np.concatenate([train, validation]), test)
        if name in d.cues:
            yield found._replace(name=f"cue: {name}")
        else:
            token = name if is_table else name.removeprefix("token ")
            tokens.append(found._replace(name=f"best single token: {token}"))
    yield max(tokens, key=lambda found: found.everywhere or 0.0)


def _models(d: Dataset, seed: int) -> Iterator[Finding]:
    """Yield the scores of logistic regression and a small decision tree on the raw tokens."""
    with needs_extra("an audit", "data"):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler
        from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(seed)
    X = np.concatenate([d.X_train, d.X_validation])
    targets = _learnt_and_tested(d)
    tokens = np.arange(len(d.tokens)) if d.is_coded else np.array(d.vocabulary)
    shown = max(MODEL_ROWS // len(targets), FEWEST_MODEL_ROWS)
    train = rng.permutation(len(X))[:shown]
    test = rng.permutation(len(d.X_test))[:shown]
    models: dict[str, Callable[[], Any]] = {
        "logistic regression (raw)": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "logistic regression (one-hot)": lambda: make_pipeline(
            OneHotEncoder(categories=[tokens] * X.shape[1], handle_unknown="ignore"),
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


def _duplicates(d: Dataset) -> dict[str, float | int]:
    """Return how many examples occurred before, and the share of test examples that also occur outside test."""
    X, is_test = _all_rows(d)
    content = RowIndex(X).find(X)
    return {
        "rows": len(X) - len(np.unique(content)),
        "test rows known outside test": _known_outside(content, is_test),
    }


def _leaks(d: Dataset) -> dict[str, float]:
    """Return the share of test examples with an equivalent example outside test, by symmetry and by all of them."""
    X, is_test = _all_rows(d)
    y = np.concatenate([d.y_train, d.y_validation, d.y_test])
    by_name: dict[str, Mapping[str, Symmetry]] = {name: {name: symmetry} for name, symmetry in d.symmetries.items()}
    if len(by_name) > 1:
        by_name["all"] = d.symmetries
    return {name: _known_outside(orbits(X, y, chosen), is_test) for name, chosen in by_name.items()}


def _all_rows(d: Dataset) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the examples of all parts, and which of them are test examples."""
    X = np.concatenate([d.X_train, d.X_validation, d.X_test])
    return X, np.arange(len(X)) >= len(X) - len(d.X_test)


def _known_outside(numbers: NDArray[np.int64], is_test: NDArray[np.bool_]) -> float:
    """Return the share of test examples whose number (of content, of orbit) an example outside test has as well."""
    outside = np.zeros(int(numbers.max(initial=-1)) + 1, np.bool_)
    outside[numbers[~is_test]] = True
    return _share(int(outside[numbers[is_test]].sum()), int(is_test.sum()))


def _share(count: int, rows: int) -> float:
    return count / rows if rows else 0.0


def _overlap(d: Dataset, X: Integers) -> dict[str, dict[str, float | int]]:
    """Return how many validation and test examples are among some, (examples, n_images, length), and their share."""
    sizes = {"validation": len(d.X_validation), "test": len(d.X_test)}
    counts = d.holdout.overlap(X)
    return {part: {"rows": count, "share": _share(count, sizes[part])} for part, count in counts.items()}


def _look_up(d: Dataset, X: Integers, y: Integers) -> float:
    """Return the test accuracy of look-up among examples, (examples, n_images, length), as a mean over targets.

    An example that is known has all the targets of an equal example; for another one each target has its own majority
    class.
    """
    targets = _targets(d, y.reshape(-1, *y.shape[2:]), d.y_test)
    known = np.stack([known for known, _ in targets], axis=1)
    if len(targets) == 1:  # sorting numbers is faster than sorting rows
        labels, codes = np.unique(known, return_inverse=True)
        labels = labels[:, None]
    else:
        labels, codes = np.unique(known, axis=0, return_inverse=True)
    memory = LookUp(X.reshape(-1, X.shape[2]), codes.reshape(-1))
    counts = np.pad(memory.counts, (0, len(labels) - len(memory.counts)))
    found = memory.find(d.X_test)
    scores = []
    for classes, (_, y_test) in zip(labels.T, targets, strict=True):
        majority = np.bincount(classes, weights=counts).argmax()
        scores.append(np.mean(np.where(found >= 0, classes[found], majority) == y_test))
    return float(np.mean(scores))


MOST_CLASSES = 10
"""Greatest number of classes of a split that are listed, the most frequent ones."""


def audit_drawn(source: DrawnData, *, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Return how baselines score on the questions of a drawn task, and what of these is known from training.

    Args:
        source: the task with its options, and how many questions of each split; further test questions are not drawn.
        seed: of the questions, which are those of a run with this seed and source.
        progress: called with (steps done, steps in all, what).

    Returns:
        A dictionary ready for JSON: task, options, seed, rows (by split), classes (by split a number of different
        answers, and the share of each of the most frequent ones), findings (a list of {"name", "held_out",
        "accuracies" by split}, the best rule first, see `question_rules`), known (by split, how many "questions", and
        "of_numbers" how many "numbers", occur among the training questions), command, versions, machine, commit.

    Raises:
        ConfigurationError: the task has fewer different questions.

    >>> found = audit_drawn(DrawnData("order", 2000, test_cases=1000, never_seen_cases=1000))
    >>> found["findings"][0]["name"], found["rows"]
    ('n modulo 7', {'train': 2000, 'test': 1000, 'larger': 1000})
    >>> found["known"]["test"]
    {'questions': 0, 'of_numbers': 1000, 'numbers': 0}
    """
    report, steps = progress or silent, 2
    task = source.drawn
    operands, answers = source.questions(seed)
    asked = {"test": next(source.tests(seed, operands))}
    asked |= {split: (questions, right) for split, questions, right in source.never_seen(seed, operands)}
    report(0, steps, "baselines")
    findings = [
        {
            "name": rule.name,
            "held_out": rule.held_out,
            "accuracies": {split: rule.accuracy(*pair) for split, pair in asked.items()},
        }
        for rule in question_rules(task, operands, answers)
    ]
    report(1, steps, "look-up")
    every = {"train": (operands, answers), **asked}
    known = {split: _known(task, operands, questions) for split, (questions, _) in asked.items()}
    report(2, steps, "done")
    return {
        "task": task.name,
        "options": list(source.task_options),
        "seed": seed,
        "rows": {split: len(y) for split, (_, y) in every.items()},
        "classes": {split: _classes(task, y) for split, (_, y) in every.items()},
        "findings": findings,
        "known": known,
        "command": shlex.join(["adelic", "data", "audit", *_arguments(source, seed)]),
        "versions": versions("numpy", "scikit-learn"),
        "machine": machine(),
        "commit": source_commit(),
    }


def _arguments(source: DrawnData, seed: int) -> list[str]:
    found = [source.task]
    for name in ("examples", "test_cases", "never_seen_cases", "task_options"):
        value = getattr(source, name)
        found += options(DrawnData)[name].words(value) if value else []
    return found + (["--seed", str(seed)] if seed else [])


def _classes(task: SampledTask, answers: Answers) -> dict[str, Any]:
    """Return how many different answers there are, and the shares of the most frequent ones, by name."""
    values, counts = np.unique(answers, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    names = [str(value) if task.class_names is None else task.class_names[value] for value in values[first]]
    return {"answers": len(values), "shares": dict(zip(names, (counts[first] / len(answers)).tolist(), strict=True))}


def _known(task: SampledTask, operands: Operands, asked: Operands) -> dict[str, int]:
    """Return how many questions, and how many of the numbers in them, occur among the training questions."""
    questions = RowIndex(task.keys(operands)).find(task.keys(asked)) >= 0
    return {
        "questions": int(questions.sum()),
        "of_numbers": asked.size,
        "numbers": int(np.isin(asked, operands).sum()),
    }
