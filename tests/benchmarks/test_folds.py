import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from adelic import acd

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def folds(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("folds")


def test_each_row_is_held_back_once_and_no_test_row_is_read(folds, tiny_config, monkeypatch):
    seen = []
    plain = folds.train_trial
    monkeypatch.setattr(folds, "train_trial", lambda *given: seen.append(given[1]) or plain(*given))
    found = folds.cross_validate(tiny_config(), 3)
    data = acd.load("schubert", n=3)
    rows = sorted(map(tuple, np.concatenate([data.X_train, data.X_validation]).tolist()))
    assert sorted(map(tuple, np.concatenate([part.X_validation for part in seen]).tolist())) == rows
    for part in seen:
        assert sorted(map(tuple, np.concatenate([part.X_train, part.X_validation]).tolist())) == rows
        assert len(part.y_train) == len(part.X_train)
    assert found["rows"] == len(rows)
    assert len(found["accuracies"]) == len(found["losses"]) == len(seen) == 3
    assert all(0 <= accuracy <= 1 for accuracy in found["accuracies"])


def test_models_that_are_done_are_read(folds, monkeypatch, tmp_path, capsys):
    made = []
    figures = {"rows": 9, "accuracies": [0.5], "losses": [0.7]}
    monkeypatch.setattr(folds, "cross_validate", lambda config, n: made.append((config.embedding.name, n)) or figures)
    output = tmp_path / "folds.json"

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["folds.py", "--recipe", "quick", "--output", str(output), *arguments])
        folds.main()

    call("--models", "learned")
    call("--models", "learned", "xval")
    assert made == [("learned", 5), ("xval", 5)]
    assert [entry["model"] for entry in json.loads(output.read_text(encoding="utf-8"))["entries"]] == [
        "learned",
        "xval",
    ]
    with pytest.raises(SystemExit, match="2"):
        call("--models", "fone", "--folds", "3")
    assert "has other folds; choose another --output" in capsys.readouterr().err
