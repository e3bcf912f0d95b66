"""Audits of drawn tasks: classes, rules on every split, and the numbers that occur again, counted by hand."""

import json

import numpy as np
import pytest

from adelic.data import DrawnData, audit_drawn
from adelic.data.rules import question_rules
from adelic.errors import ConfigurationError


def source(task="gcd", **options):
    return DrawnData(task, 1000, **{"test_cases": 600, "never_seen_cases": 300} | options)


def test_an_audit_is_json_and_repeats():
    found = audit_drawn(source())
    assert json.loads(json.dumps(found)) == found
    assert audit_drawn(source()) == found
    assert found["command"] == "adelic data audit gcd --examples 1000 --test-cases 600 --never-seen-cases 300"
    asked = {"test": 600, "uniform": 300, "stratified": 300, "new numbers": 300}
    assert found["rows"] == {"train": 1000} | asked
    assert all(rule["accuracies"].keys() == asked.keys() for rule in found["findings"])
    other = audit_drawn(source(task_options=("limit=5000",)), seed=3)
    assert other["command"].endswith("--task-options limit=5000 --seed 3")
    assert other["findings"] != found["findings"]


def test_rules_are_those_of_the_training_questions():
    data = source("unit")
    X, y = data.questions(0)
    asked, wanted = next(data.tests(0, X))
    ((_, further, answers),) = data.never_seen(0, X)
    found = audit_drawn(data)["findings"]
    rules = question_rules(data.drawn, X, y)
    assert [finding["name"] for finding in found] == [rule.name for rule in rules]
    for finding, rule in zip(found, rules, strict=True):
        assert finding["held_out"] == rule.held_out
        assert finding["accuracies"] == {
            "test": np.mean(rule.answers(asked) == wanted),
            "larger": np.mean(rule.answers(further) == answers),
        }


def test_classes_and_known_numbers_are_counted():
    data = source()
    X, y = data.questions(0)
    asked, wanted = next(data.tests(0, X))
    found = audit_drawn(data)
    counts = np.bincount(wanted, minlength=101)
    assert found["classes"]["test"]["answers"] == np.count_nonzero(counts)
    shares = found["classes"]["test"]["shares"]
    assert list(shares)[:2] == ["greater", "1"]
    assert shares == {"greater": counts[100] / 600} | {name: counts[int(name) - 1] / 600 for name in list(shares)[1:]}
    assert found["known"]["test"] == {
        "questions": 0,
        "of_numbers": 1200,
        "numbers": int(np.isin(asked, X).sum()),
    }
    assert found["known"]["new numbers"]["numbers"] == 0  # split by number
    (constant,) = (finding for finding in found["findings"] if finding["name"] == "most frequent class")
    assert constant["accuracies"]["test"] == np.mean(wanted == np.bincount(y).argmax())


@pytest.mark.parametrize(
    "task",
    ["collatz", "modular-sum", pytest.param("fraction-addition", marks=pytest.mark.long), "sum", "sorting"],
)
def test_tasks_with_numbers_fractions_and_many_operands_are_audited(task):
    found = audit_drawn(source(task))
    assert sum(found["classes"]["test"]["shares"].values()) <= 1 + 1e-9
    assert {known["questions"] for known in found["known"].values()} == {0}
    assert json.loads(json.dumps(found)) == found


def test_too_many_questions_and_progress():
    with pytest.raises(ConfigurationError, match=r"polynomial has no 20,000 different questions"):
        audit_drawn(DrawnData("polynomial", 20_000))
    calls = []
    audit_drawn(source("order"), progress=lambda *call: calls.append(call))
    assert [(done, total) for done, total, _ in calls] == [(0, 2), (1, 2), (2, 2)]
