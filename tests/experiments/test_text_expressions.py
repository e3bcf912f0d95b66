"""Expressions of our own: their answers, that they are as described, and that they are drawn again from the seed."""

import re
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "text_expressions"


def committed(name="expressions"):
    return pq.read_table(BENCHMARKS / "data" / f"{name}.parquet").to_pylist()


def test_quotients_are_exact(script):
    assert script.Exact(12) / script.Exact(4) + script.Exact(2) * script.Exact(5) == 13
    for a, b in ((12, 5), (12, 1), (12, 0), (0, 3)):
        with pytest.raises(ZeroDivisionError, match=f"{a} / {b}"):
            script.Exact(a) / script.Exact(b)


def test_expressions_by_evaluation(script):
    """Of our own expressions and the several steps of mathematics-dataset, with Python's own precedence."""
    modules = ("arithmark", "long", "arithmetic__mixed", "arithmetic__mul_div", "arithmetic__add_sub")
    for row in committed() + committed("mathematics_dataset")[::10]:
        if row["module"].startswith(modules):
            expression = max(re.findall(r"[-+*/()\d. ]+", row["question"]), key=len).strip(". ")
            exact = re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", expression)
            assert eval(exact) == Fraction(row["answer"]), row


def test_questions_in_words():
    operations = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}
    for row in committed():
        if row["module"].startswith("bigbench"):
            digits = int(row["module"][len("bigbench__")])
            a, word, b = re.fullmatch(r"What is (\d+) (\D+) (\d+)\?", row["question"]).groups()
            value = {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b), "/": Fraction(a) / (int(b) or 1)}
            assert value[operations[word]] == int(row["answer"]) >= 0
            assert len(a) == digits >= len(b)
            assert (row["regime"] == "extrapolate") == (digits > 3)


def test_expressions_are_as_described():
    for row in committed():
        kind, name = row["module"].split("__")
        numbers = [int(number) for number in re.findall(r"\d+", row["question"])]
        if kind == "arithmark":
            assert len(numbers) == int(name[0]) + 1
            assert max(numbers) < 150
            assert abs(int(row["answer"])) < 1000
        elif kind == "long":
            lengths = {len(str(number)) for number in numbers}
            assert lengths == {50} if row["regime"] == "extrapolate" else max(lengths) <= 15


def test_some_are_drawn_again(script):
    """Of modules whose questions no other one asks."""
    modules = ["bigbench__2_digit_division", "bigbench__4_digit_subtraction"]
    drawn = script.drawn(0, modules)["rows"]
    assert [tuple(row) for row in drawn] == [tuple(row.values()) for row in committed() if row["module"] in modules]


@pytest.mark.long
def test_all_are_drawn_again(script):
    drawn = script.drawn(0)["rows"]
    assert [tuple(row) for row in drawn] == [tuple(row.values()) for row in committed()]
