"""Expressions of our own are drawn again from the seed; test_text_questions.py holds what they are."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "text_expressions"


def committed():
    return pq.read_table(BENCHMARKS / "data" / "expressions.parquet").to_pylist()


def test_quotients_are_exact(script):
    assert script.Exact(12) / script.Exact(4) + script.Exact(2) * script.Exact(5) == 13
    for a, b in ((12, 5), (12, 1), (12, 0), (0, 3)):
        with pytest.raises(ZeroDivisionError, match=f"{a} / {b}"):
            script.Exact(a) / script.Exact(b)


def test_some_are_drawn_again(script):
    """Of modules whose questions no other one asks."""
    modules = ["bigbench__2_digit_division", "bigbench__4_digit_subtraction"]
    drawn = script.drawn(0, modules)["rows"]
    assert [tuple(row) for row in drawn] == [tuple(row.values()) for row in committed() if row["module"] in modules]


@pytest.mark.long
def test_all_are_drawn_again(script):
    drawn = script.drawn(0)["rows"]
    assert [tuple(row) for row in drawn] == [tuple(row.values()) for row in committed()]
