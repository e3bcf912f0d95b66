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

DATA = Path(__file__).parents[2] / "experiments" / "data"
COLUMNS = ("module", "regime", "question", "answer")
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
    return pq.read_table(DATA / f"{name}.parquet").to_pylist()


@pytest.mark.parametrize("name", SETS)
def test_the_json_is_that_of_the_file(name):
    path = DATA / f"{name}.parquet"
    about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == about["sha256"]
    rows = rows_of(name)
    lines = "".join(f"{json.dumps(list(row.values()), ensure_ascii=False)}\n" for row in rows)
    assert hashlib.sha256(lines.encode()).hexdigest() == about["sha256_of_rows"]
    assert dict(Counter(f"{row['regime']}/{row['module']}" for row in rows)) == about["questions"]
    assert tuple(rows[0])[:4] == COLUMNS
    assert {type(row[column]) for row in rows for column in COLUMNS} == {str}
    assert {row["regime"] for row in rows} <= {"train", "interpolate", "extrapolate"}


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in (DATA).iterdir()) < 6 * 10**6


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


def test_expressions_by_evaluation():
    """Of our own expressions and the several steps of mathematics-dataset, with Python's own precedence."""
    modules = ("arithmark", "long", "arithmetic__mixed", "arithmetic__mul_div", "arithmetic__add_sub")
    for row in rows_of("expressions") + rows_of("mathematics_dataset")[::10]:
        if row["module"].startswith(modules):
            expression = max(re.findall(r"[-+*/()\d. ]+", row["question"]), key=len).strip(". ")
            exact = re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", expression)
            assert eval(exact) == Fraction(row["answer"]), row


def test_questions_in_words():
    operations = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}
    for row in rows_of("expressions"):
        if row["module"].startswith("bigbench"):
            digits = int(row["module"][len("bigbench__")])
            a, word, b = re.fullmatch(r"What is (\d+) (\D+) (\d+)\?", row["question"]).groups()
            value = {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b), "/": Fraction(a) / (int(b) or 1)}
            assert value[operations[word]] == int(row["answer"]) >= 0
            assert len(a) == digits >= len(b)
            assert (row["regime"] == "extrapolate") == (digits > 3)


def test_expressions_are_as_described():
    for row in rows_of("expressions"):
        kind, name = row["module"].split("__")
        numbers = [int(number) for number in re.findall(r"\d+", row["question"])]
        if kind == "arithmark":
            assert len(numbers) == int(name[0]) + 1
            assert max(numbers) < 150
            assert abs(int(row["answer"])) < 1000
        elif kind == "long":
            lengths = {len(str(number)) for number in numbers}
            assert lengths == {50} if row["regime"] == "extrapolate" else max(lengths) <= 15


def test_a_set_is_written(script, tmp_path, capsys):
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        script.draw("expressions", train=30, test=40, output=folder)
    first, again = (tmp_path / folder / "expressions.parquet" for folder in "ab")
    assert first.read_bytes() == again.read_bytes()
    about = json.loads(first.with_suffix(".json").read_text(encoding="utf-8"))
    assert about["questions"]["train/arithmark__1_operator"] == 15
    assert about["questions"]["extrapolate/long__product"] == 20
    assert "questions, " in capsys.readouterr().err
