"""The committed question sets: their JSON, that no test question is in training, and answers by brute force."""

import hashlib
import json
import re
from collections import Counter
from fractions import Fraction
from math import gcd
from pathlib import Path

import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "text_questions"
SETS = ("mathematics_dataset", "reasoning_gym", "expressions")
NUMBER = r"-?\d+(?:\.\d+)?(?:/\d+)?"
DIFFERENCES = {
    rf"Subtract ({NUMBER}) from ({NUMBER})\.": lambda a, b: b - a,
    rf"What is ({NUMBER}) less than ({NUMBER})\?": lambda a, b: b - a,
    rf"What is ({NUMBER}) (?:minus|take away) ({NUMBER})\?": lambda a, b: a - b,
    rf"What is the (?:difference|distance) between ({NUMBER}) and ({NUMBER})\?": lambda a, b: abs(a - b),
    rf"(?:Work out |Calculate |What is )?({NUMBER}) - ({NUMBER})[.?]?": lambda a, b: a - b,
}
SUMS = rf"(?:Add(?: together)?|Put together|Sum|Total of) ({NUMBER}) and ({NUMBER})\."
RULES = {
    "arithmetic__add_or_sub": DIFFERENCES
    | {
        SUMS: lambda a, b: a + b,
        rf"What is ({NUMBER}) plus ({NUMBER})\?": lambda a, b: a + b,
        rf"(?:Work out |Calculate |What is )?({NUMBER}) ?\+ ?({NUMBER})[.?]?": lambda a, b: a + b,
    },
    "arithmetic__mul": {rf"[A-Za-z ]*?({NUMBER})(?: ?\* ?| and | times )({NUMBER})[.?]?": lambda a, b: a * b},
    "arithmetic__div": {rf"[A-Za-z ]*?({NUMBER})(?: divided by | by )({NUMBER})[.?]?": lambda a, b: a / b},
    "numbers__gcd": {rf"[A-Za-z ]*?({NUMBER}) and ({NUMBER})[.?]": lambda a, b: gcd(int(a), int(b))},
}


def rows_of(name):
    return pq.read_table(BENCHMARKS / "data" / f"{name}.parquet").to_pylist()


@pytest.mark.parametrize("name", SETS)
def test_the_json_is_that_of_the_file(script, name):
    path = BENCHMARKS / "data" / f"{name}.parquet"
    about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == about["sha256"]
    rows = rows_of(name)
    assert script.of_rows([tuple(row.values()) for row in rows]) == about["sha256_of_rows"]
    assert dict(Counter(f"{row['regime']}/{row['module']}" for row in rows)) == about["questions"]
    assert tuple(rows[0])[:4] == script.COLUMNS
    assert {type(row[column]) for row in rows for column in script.COLUMNS} == {str}
    assert {row["regime"] for row in rows} <= {"train", "interpolate", "extrapolate"}


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in (BENCHMARKS / "data").iterdir()) < 6 * 10**6


@pytest.mark.parametrize("name", SETS)
def test_no_test_question_is_in_training(name):
    rows = rows_of(name)
    trained = {row["question"] for row in rows if row["regime"] == "train"}
    tests = [(row["module"], row["question"]) for row in rows if row["regime"] != "train"]
    assert not [question for _, question in tests if question in trained]
    assert len(set(tests)) == len(tests)


@pytest.mark.parametrize("module", RULES)
def test_answers_by_brute_force(module):
    """Of the single operations, by reading the templates; of fractions, exactly."""
    rows = [row for row in rows_of("mathematics_dataset") if row["module"].removesuffix("_big") == module]
    assert len(rows) >= 6000
    for row in rows:
        matches = [
            (rule, found) for text, rule in RULES[module].items() if (found := re.fullmatch(text, row["question"]))
        ]
        assert len(matches) == 1, row
        rule, found = matches[0]
        assert rule(*map(Fraction, found.groups())) == Fraction(row["answer"]), row


def test_a_set_is_written(script, monkeypatch, tmp_path, capsys):
    for folder in (tmp_path / "a", tmp_path / "b"):
        words = ["expressions", "--train", "30", "--test", "40", "--output", str(folder)]
        monkeypatch.setattr("sys.argv", ["text_questions.py", *words])
        script.main()
    first, again = (tmp_path / folder / "expressions.parquet" for folder in "ab")
    assert first.read_bytes() == again.read_bytes()
    about = json.loads(first.with_suffix(".json").read_text(encoding="utf-8"))
    assert about["questions"]["train/arithmark__1_operator"] == 15
    assert about["questions"]["extrapolate/long__product"] == 20
    assert "questions, " in capsys.readouterr().err
