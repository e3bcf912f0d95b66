"""The golden runs: a kind is recorded, compared with itself, and a change of anything is told."""

import json
from pathlib import Path

import pytest

SCRIPT = "golden"


@pytest.mark.long
def test_a_kind_is_recorded_and_compared(script, capsys, tmp_path, monkeypatch):
    """The record is made twice: a network of the command line has the same weights each time, also after a kill."""
    assert script.record(tmp_path / "a", "table-classes")
    assert capsys.readouterr().out.startswith("table-classes: recorded, and equal after a signal")
    monkeypatch.setattr(script, "INTERRUPTED", {})  # once is enough
    assert script.record(tmp_path / "b", "table-classes")
    capsys.readouterr()
    record = json.loads((tmp_path / "a" / "table-classes.json").read_text())
    assert record["resumed"] == []
    assert len(record["weights"]) > 10
    assert len(record["text"]["predicted.csv"]) == 31
    assert script.compare(tmp_path / "a", tmp_path / "b", "table-classes")
    assert capsys.readouterr().out == "table-classes: equal\n"


def write(folder: Path, **changed):
    folder.mkdir()
    record = {
        "figures": {"x test.accuracy": 0.5, "x rows.test": 9},
        "metrics": ['{"epoch": 1}'],
        "weights": {"0123": "model.head", "4567": "best.head"},
        "text": {"printed": ["| a |"]},
        "first loss": "3.1",
        "resumed": [],
    }
    (folder / "fone.json").write_text(json.dumps(record | changed))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"figures": {"x test.accuracy": 0.25, "x rows.test": 9}}, "x test.accuracy: 0.5 became 0.25"),
        ({"figures": {"x test.accuracy": 0.5}}, "x rows.test only in A: 9"),
        ({"metrics": []}, "metrics: 1 lines, then 0"),
        ({"weights": {"0123": "model.head"}}, "weights: 1 of 2 tensors are not there, as ['best.head']"),
        ({"text": {"printed": ["| b |"]}}, "text of printed: ('| a |', '| b |')"),
        ({"first loss": "3.2"}, "first loss: 3.1 became 3.2"),
        ({"resumed": ["seed: 0 became 1"]}, "a resumed run of B differs: seed: 0 became 1"),
    ],
)
def test_every_difference_is_told(script, capsys, tmp_path, changed, told):
    write(tmp_path / "a")
    write(tmp_path / "b", **changed)
    assert not script.compare(tmp_path / "a", tmp_path / "b", "fone")
    out = capsys.readouterr().out
    assert out.startswith(f"fone: DIFFERENT\n    {told}")
    assert len(out.splitlines()) == 2


def test_names_may_change(script, capsys, tmp_path, monkeypatch):
    """Of tensors, always; of keys, where it was decided."""
    monkeypatch.setitem(script.PLAN, "renamed", {r"rows\.test$": "rows.tested"})
    monkeypatch.setitem(script.PLAN, "decided", {r"\.accuracy$": "for this test"})
    write(tmp_path / "a")
    write(tmp_path / "b", figures={"x rows.tested": 9}, weights={"0123": "head", "4567": "head.best"})
    assert script.compare(tmp_path / "a", tmp_path / "b", "fone")
    assert capsys.readouterr().out == "fone: equal (1 decided)\n"


def test_what_is_missing_is_told(script, capsys, tmp_path):
    write(tmp_path / "a")
    assert not script.compare(tmp_path / "a", tmp_path, "fone")
    assert "fone.json is missing" in capsys.readouterr().out
