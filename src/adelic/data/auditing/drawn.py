"""The audit of a drawn task: its classes, how far trivial rules get on every split, and which numbers occur again.

- Classes: how often each occurs, by split.
- Rules: `adelic.data.rules.question_rules`, learnt from training questions, and chosen by them alone.
- Look-up: a test question is never a training question, so memory of whole questions has the most frequent class only;
  counted is how many of the numbers in the questions of a split occur in training questions, too.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Progress
from adelic.data.rules import question_rules
from adelic.data.sources import DrawnData
from adelic.storage.options import options
from adelic.storage.provenance import machine, source_commit, versions

MOST_CLASSES = 10
"""Greatest number of classes of a split that are listed, the most frequent ones."""


def audit_drawn(source: DrawnData, *, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Return how trivial rules score on the questions of a drawn task, and what of these is known from training.

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
    steps = 2

    def report(done: int, what: str) -> None:
        if progress is not None:
            progress(done, steps, what)

    task = source.drawn
    operands, answers = source.questions(seed)
    asked = {"test": next(source.tests(seed, operands))}
    asked |= {split: (questions, right) for split, questions, right in source.never_seen(seed, operands)}
    report(0, "trivial rules")
    findings = [
        {
            "name": rule.name,
            "held_out": rule.held_out,
            "accuracies": {split: rule.accuracy(*pair) for split, pair in asked.items()},
        }
        for rule in question_rules(task, operands, answers)
    ]
    report(1, "look-up")
    every = {"train": (operands, answers), **asked}
    known = {split: _known(task, operands, questions) for split, (questions, _) in asked.items()}
    report(2, "done")
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


def best_and_constant(found: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return an audit's findings on the best rule, and on always giving the most frequent answer."""
    (constant,) = (finding for finding in found["findings"] if finding["name"].startswith("most frequent"))
    return found["findings"][0], constant


def to_lines(audits: Iterable[Mapping[str, Any]]) -> str:
    """Return a line of Markdown for each audit, with the accuracies on the test split in percent.

    >>> always = {"name": "most frequent class", "held_out": 0.5, "accuracies": {"test": 0.5}}
    >>> best = {"name": "n modulo 4", "held_out": 0.9, "accuracies": {"test": 0.875}}
    >>> print(to_lines([{"task": "squarefree", "options": ["limit=99"], "findings": [best, always]}]))
    - `squarefree`, limit=99: best trivial rule: n modulo 4, 87.50 % (most frequent class 50.00 %)
    """
    lines = []
    for found in audits:
        best, constant = best_and_constant(found)
        rule, trivial = (f"{x['name']}{{}}{100 * x['accuracies']['test']:.2f} %" for x in (best, constant))
        beside = "" if best == constant else f" ({trivial.format(' ')})"
        asked = ", ".join([f"`{found['task']}`", *found["options"]])
        lines.append(f"- {asked}: best trivial rule: {rule.format(', ')}{beside}")
    return "\n".join(lines)
