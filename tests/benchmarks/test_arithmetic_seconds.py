"""The picture of exact answers against seconds: drawn from the committed results of both plans."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("arithmetic_seconds")


def test_rivals_have_their_longest_trainings(script):
    drawn = script.entries()
    assert {entry.problem for entry in drawn} == {"addition", "multiplication"}
    ours = [entry for entry in drawn if entry.solver.startswith("adelic-placewise")]
    assert {entry.examples for entry in ours} == {1000}
    longest = {
        entry.solver: max(result.seconds for result in entry.results) for entry in drawn if entry.problem == "addition"
    }
    assert all(seconds > 10 * longest["adelic-placewise"] for name, seconds in longest.items() if name in TRAINED_LONG)
    best = {entry.solver: max(entry.accuracies()) for entry in drawn if entry.problem == "addition"}
    assert all(best[name] > 0.99 for name in TRAINED_LONG - {"base-1000-autoregressive"})


TRAINED_LONG = {
    *("fone", "abacus", "base-10"),
    *("base-10-autoregressive", "abacus-autoregressive", "base-1000-autoregressive"),
}


def test_the_picture_is_that_of_the_results(script, tmp_path, monkeypatch):
    committed = script.PICTURE.read_bytes()
    monkeypatch.setattr(script, "PICTURE", tmp_path / "seconds.svg")
    script.main()
    assert script.PICTURE.read_bytes() == committed
