"""Drawing from other people's packages: the same seed draws the same, and what is committed is drawn again."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "text_questions"
pytestmark = pytest.mark.long
COUNTS = {
    "mathematics-dataset": {"train": 6, "steps": 6, "test": 3},
    "reasoning-gym": {"train": 6, "test": 3},
}
MODULES = {
    "mathematics-dataset": ["arithmetic__mixed", "numbers__gcd", "comparison__kth_biggest"],
    "reasoning-gym": ["chain_sum", "calendar_arithmetic"],
}


@pytest.fixture(params=COUNTS)
def source(request, script):
    """A source and the Python of the environment that text_questions.py made for it."""
    python = script.ENVIRONMENTS / request.param / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment {python}; experiments/text_questions.py draw {request.param} makes it")
    return request.param, python.absolute()


def test_equal_seeds_draw_equal_questions(script, source):
    name, python = source
    first, again = (script.drawn(python, name, modules=MODULES[name], **COUNTS[name]) for _ in range(2))
    assert first == again
    alone = script.drawn(python, name, modules=MODULES[name][1:2], **COUNTS[name])
    assert all(row in first["rows"] for row in alone["rows"])
    other = script.drawn(python, name, seed=1, modules=MODULES[name], **COUNTS[name])
    assert first["versions"] == other["versions"]
    assert sum(row in first["rows"] for row in other["rows"]) < 2


def test_the_committed_ones_are_drawn_again(script, source):
    """The first of each level and of each test set: later ones do not change what was drawn before."""
    name, python = source
    rows = pq.read_table(BENCHMARKS / "data" / f"{name.replace('-', '_')}.parquet").to_pylist()
    committed = {tuple(row.values()) for row in rows}
    drawn = script.drawn(python, name, modules=MODULES[name], **COUNTS[name])["rows"]
    assert all(tuple(row) in committed for row in drawn)


def test_reasoning_gyms_scorer_takes_its_answers(script):
    python = script.ENVIRONMENTS / "reasoning-gym" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment {python}")
    rows = pq.read_table(BENCHMARKS / "data" / "reasoning_gym.parquet").to_pylist()
    held_out = [row for row in rows if row["regime"] == "interpolate"][::250]
    answers = [(row["module"], row["index"], row["answer"]) for row in held_out]
    found = script.scores(answers, python.absolute())
    assert found == [1.0] * len(answers)
    wrong = script.scores([(module, index, "no answer") for module, index, _ in answers], python.absolute())
    assert max(wrong) < 1
