"""Audits of number theory: one for each task and choice of options, the page has their lines, they can be repeated."""

import json
import shlex
from pathlib import Path

import pytest

from adelic import number_theory
from adelic.data import audit_drawn
from adelic.data.sources import DrawnData
from adelic.number_theory.arithmetic import ARITHMETIC

ROOT = Path(__file__).parents[2]
SCRIPT = "number_theory_audits"
FOUND = {
    path: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "experiments" / "results" / "number-theory-audit").glob("*.json"))
}


def test_the_lines_on_trivial_rules_are_made_from_the_committed_results(script, shown):
    asked = script.audits()
    assert asked.keys() == FOUND.keys()
    assert {found["task"] for found in FOUND.values()} == number_theory.TASKS.keys() - ARITHMETIC.keys()
    assert shown("number-theory/baselines.md", script.MARK) == script.to_lines(FOUND[path] for path in asked)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_an_audit_says_how_it_is_repeated(path, script):
    found, (task, *options) = FOUND[path], script.audits()[path]
    assert found["command"].startswith(shlex.join(["adelic", "data", "audit", task]))
    assert (task, options[1].split(",") if options else []) == (found["task"], found["options"])
    assert not found["commit"].endswith("+")
    assert {known["questions"] for known in found["known"].values()} == {0}
    assert len({finding["name"] for finding in found["findings"]}) == len(found["findings"])


@pytest.mark.parametrize("stem", ["order", "modular-sum-modulus-37-terms-2"])
def test_an_audit_is_repeated(stem):
    committed = FOUND[ROOT / "experiments" / "results" / "number-theory-audit" / f"{stem}.json"]
    cases = {"test_cases": committed["rows"]["test"], "never_seen_cases": 20_000}
    source = DrawnData(committed["task"], committed["rows"]["train"], task_options=tuple(committed["options"]), **cases)
    again = audit_drawn(source)
    assert again["findings"][0] == committed["findings"][0]
    assert (again["classes"], again["known"]) == (committed["classes"], committed["known"])
