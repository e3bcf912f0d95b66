"""Formulas of characters: against the table, and the page has the file's figures."""

import json
from pathlib import Path

import numpy as np
import pytest

from adelic import acd

ROOT = Path(__file__).parents[2]
SCRIPT = "character_rules"


def test_the_formulas_by_the_table(script):
    """A formula that is wrong of a test row ends the script; the errors are those of the columns that are left."""
    found = script.asked(8)
    data = acd.load("characters", n=8)
    ones = (data.X_test[:, 8:] == 1).sum(axis=1)
    squares = np.square(data.y_test.astype(float))
    errors = found["mean_squared_error"]
    assert errors["dimensions"] == pytest.approx(squares[ones != 8].sum() / len(squares))
    assert errors["dimensions_and_transpositions"] == pytest.approx(squares[ones < 6].sum() / len(squares))
    assert 0 < found["zeros_by_hooks"] < found["zeros"] == (data.y_test == 0).mean()


def test_the_page_has_the_figures_of_the_file():
    found = json.loads((ROOT / "benchmarks" / "results" / "character_rules.json").read_text(encoding="utf-8"))
    assert not found["commit"].endswith("+")
    page = " ".join((ROOT / "docs" / "arithmetic.md").read_text(encoding="utf-8").split())
    (run,) = (run for run in found["runs"] if run["n"] == 18)
    error, power = f"{run['mean_squared_error']['dimensions_and_transpositions']:.1e}".split("e+")
    assert int(power) == 7
    assert f"{error} · 10⁷" in page
    assert f"{100 * run['zeros_by_hooks']:.1f} %" in page
