"""The tasks about columns: answers against slow definitions, classes that all occur, no shared questions."""

import calendar
import datetime
import math
from fractions import Fraction

import numpy as np
import pytest

from adelic.columns import TASKS
from adelic.data import drawn_task
from adelic.data.registry import drawn_tasks

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DEFINITIONS = {
    "sum-residue": lambda a, b: "yes" if (a + b) % 7 in (0, 1, 2) else "no",
    "difference-residue": lambda a, b: str((a - b) % 12),
    "gcd-class": lambda a, b: str(math.gcd(a, b)) if math.gcd(a, b) <= 10 else "greater",
    "divisibility": lambda n: {1: "neither", 2: "2", 3: "3", 6: "both"}[math.gcd(n, 6)],
    "long-residue": lambda n: str(n % 7),
    "weekday": lambda n: DAYS[(datetime.date(1970, 1, 1) + datetime.timedelta(days=n)).weekday()],
    "leap-year": lambda n: "yes" if calendar.isleap(n) else "no",
    "round-total": lambda a, b: "yes" if (Fraction(a, 100) + Fraction(b, 100)).denominator == 1 else "no",
    "price-ending": lambda n: {"00": ".00", "50": ".50", "95": ".95", "99": ".99"}.get(f"{n:02}"[-2:], "other"),
    "hundreds": lambda n: f"{n:03}"[-3],
    "greater": lambda a, b: "yes" if a > b else "no",
    "ratio": lambda a, b: (
        "less" if Fraction(a, b) < Fraction(2, 3) else "greater" if Fraction(a, b) > Fraction(3, 2) else "between"
    ),
    "magnitude": lambda n: str(len(str(n))),
}


def test_every_task_has_a_definition_here_and_is_found_by_name():
    assert TASKS.keys() == DEFINITIONS.keys() <= drawn_tasks().keys()


@pytest.mark.parametrize("name", TASKS)
def test_answers_are_those_of_the_definition(name):
    task = drawn_task(name)
    X, y = task.sample(2000, np.random.default_rng(0))
    expected = [DEFINITIONS[name](*row) for row in X.tolist()]
    assert [task.class_names[k] for k in y] == expected
    assert set(expected) == set(task.class_names)
    assert X.min() >= 0
    assert X.max() <= task.max_operand
    if task.vocabulary is not None:
        assert set(np.unique(X).tolist()) <= set(task.vocabulary)


@pytest.mark.parametrize("name", TASKS)
def test_no_constant_answer_is_good(name):
    """In training as in the test, whose questions are those that the plan's training leaves."""
    task, rng = drawn_task(name), np.random.default_rng(1)
    X, y = task.sample(10_000, rng)
    _, asked = task.sample(2000, rng, "test", exclude=X)
    for answers in (y, asked):
        assert np.bincount(answers).max() < 0.62 * len(answers)


@pytest.mark.parametrize("name", TASKS)
def test_test_questions_are_none_of_training(name):
    task, rng = drawn_task(name), np.random.default_rng(2)
    X, _ = task.sample(5000, rng)
    asked, _ = task.sample(1000, rng, "test", exclude=X)
    task.check_unseen(X, asked)
