import json

import numpy as np
import pandas as pd
import pytest

SCRIPT = "real_tables"
pytest.importorskip("lightgbm", exc_type=ImportError)
pytest.importorskip("skrub", exc_type=ImportError)


def test_of_codes_that_are_not_known_the_usual_class(script):
    codes = [np.array([0, 0, 1]), np.array([1, 7]), np.array([0, 1, 9])]
    accuracy, _, answers = script.of_codes(codes, np.array([1, 1, 0]), np.array([0, 1]))
    assert (accuracy, answers.tolist()) == (1.0, [1, 0, 1])


def test_inputs_of_prices_and_big_integers(script):
    frames = [pd.DataFrame({"price": [0.5, 12.25], "n": np.array([10**24, 7], dtype=object)})] * 3
    digits = script.decimal_digits(frames)[0]
    assert digits.shape == (2, 4 + 25)
    assert digits[1].tolist() == [1, 2, 2, 5, *[0] * 24, 7]
    assert script.encoded([digits] * 3, frames, "MLP")[0].shape[1] > digits.shape[1]


@pytest.mark.slow
def test_a_run_resumes(script, tmp_path):
    script.main("unicode-digits", seeds=(0,), output=tmp_path)
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    script.main("unicode-digits", seeds=(0,), output=tmp_path)
    assert before == {path.name: path.read_text() for path in tmp_path.iterdir()}
    lines = [json.loads(text) for text in before["unicode-digits-time.jsonl"].splitlines()]
    assert {(line["input"], line["model"]) for line in lines} >= {("probe", "rule"), ("AOE", "MLP"), ("PLR", "MLP")}
