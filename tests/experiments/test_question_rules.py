"""The script that brings trivial rules up to date: it repairs a rule, leaves all else, and knows the committed ones."""

import json
from pathlib import Path

import pytest

from adelic.storage.records import parse_sealed, seal

ROOT = Path(__file__).parents[2]
SCRIPT = "question_rules"
SUMS = ROOT / "experiments" / "results" / "number-theory" / "modular-sum-300-modulus-37-terms-2.jsonl"


def test_an_outdated_rule_is_replaced(script):
    line = SUMS.read_bytes().splitlines()[0]
    record = parse_sealed(line)
    assert record["rule_name"] == "the sum of the operands"
    old = seal(record | {"rule": 0.07, "rule_name": "a and b modulo 5"}).encode()
    assert script.with_rule(old, "a file") == line


def test_a_result_without_a_rule_is_left(script):
    line = (ROOT / "experiments" / "results" / "number-theory" / "collatz-1000000.jsonl").read_bytes().splitlines()[0]
    assert "rule" not in json.loads(line)
    assert script.with_rule(line, "a file") == line


@pytest.mark.parametrize("name", ["columns/hundreds-10000", "number-theory/floor-quotient-20000-limit-999"])
def test_committed_rules_are_todays(name, script):
    for line in (ROOT / "experiments" / "results" / f"{name}.jsonl").read_bytes().splitlines():
        assert script.with_rule(line, "a file") == line
