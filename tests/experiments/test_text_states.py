"""Which answers can be stated: small cases, and what the committed file says of modules whose operation is known."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "text_states"


@pytest.mark.parametrize(
    ("question", "answer", "category", "operation"),
    [
        ("Is 3 > 2?", "True", "basic", "<"),  # 3 - 2
        ("Which is bigger: -1/2 or 0.3?", "0.3", "copy", "max"),
        ("0.1 and 7", "7.1", "basic", "+"),
        ("12 and 18", "36", "further", "lcm"),
        ("17 and 5", "2", "further", "%"),
        ("2 to 10", "1024", "further", "**"),
        ("10 to -3", "0.001", "further", "**"),
        ("3/4", "-0.75", "further", "negate"),
        ("3/4", "4", "further", "denominator"),
        ("5 in halves", "5/2", "constants", None),
        ("Sort 3, 2.", "2, 3", "none", None),
        ("1 and 0", "17", "none", None),
    ],
)
def test_categories(script, question, answer, category, operation):
    numbers = [found.value for found in script.find_numbers(question)]
    found, operations = script.of_answer(numbers, script.read(answer)[0])
    assert found == category
    assert operation is None or operation in operations


def test_shares(script):
    questions = [("2 and 3", "5"), ("2 and 4", "6"), ("Sort 3, 2.", "2, 3"), ("Sort 9, 8.", "8, 10")]
    found = script.states(questions)
    assert found["shares"] == {"copy": 0, "basic": 0.5, "further": 0, "constants": 0, "none": 0.5}
    # Each with the answer of the one before: 5 = 4 + a constant, 6 = 3 · 2, and two lists.
    assert found["by_chance"] == {"copy": 0, "basic": 0.25, "further": 0, "constants": 0.25, "none": 0.5}
    assert found["kinds"] == {"number": 0.5, "list": 0.5}
    assert found["lists_of_copies"] == 0.25
    assert found["operations"] == {"+": 0.5}


def test_what_is_misread(script):
    questions = [
        ("8/2/4", "1"),
        ("(8)/2/4", "1"),
        ("3/4 + 1", "7/4"),
        ("1 - 2", "-1"),
        ("Round 12 to one decimal place.", "12"),
    ]
    found = script.misread(questions, joins=True)
    assert {kind: entry["share"] for kind, entry in found.items()} == {
        "lost": 0.2,
        "joined": 0.4,
        "joined_wrongly": 0.2,
        "words": 0.2,
    }
    assert found["joined_wrongly"]["examples"] == [["(8)/2/4", "1", ["8", "1/2"]]]
    assert script.evaluate("What is 2*(3 - 1/2)?") == 5
    assert script.evaluate("nothing") is None
    assert script.as_read("(8)/2/4") == Fraction(16)


def test_the_committed_file():
    found = json.loads((BENCHMARKS / "results" / "text_states.json").read_text(encoding="utf-8"))
    sets = found["sets"]
    for name in ("train/arithmetic__add_or_sub", "extrapolate/arithmetic__mul_big", "interpolate/arithmetic__div"):
        shares = sets[f"mathematics_dataset/{name}"]["states"]["shares"]
        assert shares["copy"] + shares["basic"] == 1
    assert sets["mathematics_dataset/interpolate/numbers__gcd"]["states"]["operations"]["gcd"] == 1
    assert not found["commit"].endswith("+")
    assert not any("joined_wrongly" in entry["misread"] for entry in sets.values())
