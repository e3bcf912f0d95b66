"""Commands that would train on a row of validation or test end with one line and exit code 2, before the first step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adelic import acd
from adelic_lab import CLASSICAL_MODELS
from adelic_lab.models import classical as classical_runs
from adelic_lab.train.loop import Trainer

QUICK = ["--recipe", "quick", "--epochs", "1", "--n-layers", "1", "--device", "cpu"]
SMALL = ["schubert", "--n", "3", "--embedding", "learned", *QUICK]
COMMANDS = {
    "train": ["train", *SMALL],
    "train, a part of the rows": ["train", *SMALL, "--max-rows", "60"],
    "tune": ["tune", *SMALL, "--search", "norm", "--trials", "1"],
    "reproduce": ["reproduce", "schubert-4", "--embeddings", "learned", *QUICK],
    **{
        f"reproduce, {name}": ["reproduce", "schubert-4", "--models", name, "--trials", "1"]
        for name in CLASSICAL_MODELS
    },
}


@pytest.fixture(autouse=True)
def no_step(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a step was made")

    monkeypatch.setattr(Trainer, "run_epoch", refuse)
    monkeypatch.setattr(classical_runs, "estimate", refuse)


def plant(monkeypatch, make):
    """Let `acd.load` return data that a function has changed."""
    plain = acd.load
    monkeypatch.setattr("adelic.data.sources.load", lambda *given, **options: make(plain(*given, **options)))


def files():
    return [path for path in Path().rglob("*") if path.is_file()]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_planted_row(refused, monkeypatch, command, part):
    def planted(data):
        X = np.repeat(getattr(data, f"X_{part}")[:1], len(data.X_train), axis=0)  # whatever part is trained on
        X[1:] = data.X_train[1:] if "part" not in command else X[1:]
        return replace(data, X_train=X)

    plant(monkeypatch, planted)
    line = refused(*COMMANDS[command])
    assert line.startswith(f"adelic: 1 {part} row would be trained on: {part} row 0 (")
    assert line.endswith("; keep equal rows in one part")
    assert files() == []


@pytest.mark.parametrize("command", [name for name in COMMANDS if "majority" not in name])
def test_data_of_another_split(refused, monkeypatch, command):
    """Where images are trained on, and orbits have been torn."""
    plain = acd.load
    monkeypatch.setattr(
        "adelic.data.sources.load", lambda *given, **options: plain(*given, **options | {"split": "published"})
    )
    line = refused(*COMMANDS[command], "--split", "orbits", "--symmetries")
    assert "would be trained on" in line
    assert " is image " in line
    assert line.endswith("use the split 'orbits' (--split orbits), or --no-symmetries")
    assert files() == []


@pytest.mark.parametrize("command", [name for name in COMMANDS if "majority" not in name])
@pytest.mark.parametrize("split", [[], ["--split", "published"]])
def test_images_need_orbits(refused, command, split):
    line = refused(*COMMANDS[command], *split, "--symmetries")
    assert line.endswith("has test rows among them; use --split orbits, or --no-symmetries")
    assert files() == []
