import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adelic import acd
from adelic.data import orbits, overlap
from adelic.errors import LeakError
from adelic_lab.search.tuning import TrainValidation
from adelic_lab.train.loop import Trainer

BENCHMARKS = Path(__file__).parents[2] / "experiments"
SCRIPT = "folds"


@pytest.mark.parametrize(("split", "symmetries"), [("published", False), ("orbits", False), ("orbits", True)])
def test_each_row_is_held_back_once_and_no_test_row_is_read(script, tiny_config, monkeypatch, split, symmetries):
    seen = []
    plain = script.train_trial
    monkeypatch.setattr(script, "train_trial", lambda *given: seen.append(given[1]) or plain(*given))
    found = script.cross_validate(tiny_config(split=split, symmetries=symmetries), 3)
    data = acd.load("schubert", n=3, split=split)
    rows = sorted(map(tuple, np.concatenate([data.X_train, data.X_validation]).tolist()))
    assert sorted(map(tuple, np.concatenate([part.X_validation for part in seen]).tolist())) == rows
    for part in seen:
        assert sorted(map(tuple, np.concatenate([part.X_train, part.X_validation]).tolist())) == rows
        assert len(part.y_train) == len(part.X_train)
        assert overlap(part, symmetries=symmetries) == {"validation": 0, "test": 0}
        np.testing.assert_array_equal(part.holdout.test, data.X_test)
    assert found["rows"] == len(rows)
    assert len(found["accuracies"]) == len(found["losses"]) == len(seen) == 3
    assert all(0 <= accuracy <= 1 for accuracy in found["accuracies"])


@pytest.mark.parametrize(("task", "n"), [("schubert", 4), ("weaving", 6)])
def test_folds_of_whole_orbits(script, task, n):
    """Each row in one fold, orbits together, classes in proportion; without them, images of rows would leak."""
    data = TrainValidation.of(acd.load(task, n=n, split="orbits"))
    y = data.rows[1]
    held = np.array(list(script.held_rows(data, 5, symmetries=True)))
    assert (held.sum(axis=0) == 1).all()
    of_row = orbits(*data.rows, data.symmetries)
    assert len(np.unique(np.stack([of_row, held.argmax(axis=0)]), axis=1).T) == of_row.max() + 1
    for fold in held:
        assert fold.mean() == pytest.approx(0.2, abs=0.05)
        assert y[fold].mean() == pytest.approx(y.mean(), abs=0.05)
        assert overlap(data.fold(fold), symmetries=True) == {"validation": 0, "test": 0}
    torn = next(script.held_rows(data, 5, symmetries=False))
    assert overlap(data.fold(torn), symmetries=True)["validation"] > 0


def test_a_torn_orbit_is_not_trained_on(script, tiny_config, monkeypatch):
    """Whoever divides rows without their orbits is stopped before the first step."""
    plain = script.held_rows
    monkeypatch.setattr(script, "held_rows", lambda data, n, symmetries: plain(data, n, symmetries=False))
    monkeypatch.setattr(Trainer, "run_epoch", refuse)
    with pytest.raises(LeakError, match=r"validation rows would be trained on: .* is image [123] of training row"):
        script.cross_validate(tiny_config(split="orbits", symmetries=True), 3)


@pytest.mark.parametrize("part", ["X_train", "X_validation"])
def test_a_planted_test_row_is_not_trained_on(script, tiny_config, monkeypatch, part):
    """Not one of the training rows, and not one that the first fold holds back and the others train on."""
    plain = acd.load

    def planted(*arguments, **options):
        data = plain(*arguments, **options)
        X = getattr(data, part)
        return replace(data, **{part: np.concatenate([data.X_test[:1], X[1:]])})

    monkeypatch.setattr("adelic.data.sources.load", planted)
    monkeypatch.setattr(Trainer, "run_epoch", refuse)
    with pytest.raises(LeakError, match="1 test row would be trained on: test row 0"):
        script.cross_validate(tiny_config(split="orbits", epochs=1), 3)
    with pytest.raises(LeakError, match=r"test row.* would be trained on"):
        script.cross_validate(tiny_config(split="orbits", symmetries=True, epochs=1), 3)


def refuse(*arguments):
    raise AssertionError("a step was made")


def test_the_rivals_are_rivals_on_every_row(script):
    """Abacus tells digits by their places, and the tokens of these tasks have one digit."""
    assert "abacus" not in script.RIVALS
    assert len(script.adelic_lab.plan(["schubert-4"], script.RIVALS, [0])) == len(script.RIVALS)


def test_models_that_are_done_are_read(script, monkeypatch, tmp_path, capsys):
    made = []
    figures = {"rows": 9, "accuracies": [0.5], "losses": [0.7]}
    monkeypatch.setattr(
        script,
        "cross_validate",
        lambda config, n: made.append((config.embedding.name, config.data.split, n)) or figures,
    )
    output = tmp_path / "folds.json"

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["folds.py", "--recipe", "quick", "--output", str(output), *arguments])
        script.main()

    call("--models", "learned")
    call("--models", "learned", "xval")
    assert made == [("learned", "orbits", 5), ("xval", "orbits", 5)]
    assert [entry["model"] for entry in json.loads(output.read_text(encoding="utf-8"))["entries"]] == [
        "learned",
        "xval",
    ]
    for other in (["--folds", "3"], ["--split", "published"]):
        with pytest.raises(SystemExit, match="2"):
            call("--models", "fone", *other)
        assert "has other folds; choose another --output" in capsys.readouterr().err
    call("--models", "learned", "--split", "published", "--output", str(tmp_path / "published.json"))
    assert made[2:] == [("learned", "published", 5)]
    assert json.loads((tmp_path / "published.json").read_text(encoding="utf-8"))["split"] == "published"
