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


def files():
    return [path for path in Path().rglob("*") if path.is_file()]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_planted_row(refused, monkeypatch, command, part):
    """See tests/lab/test_training_guard.py for images, and for what else is planted."""

    def planted(*given, **options):
        data = acd.load(*given, **options)
        X = np.repeat(getattr(data, f"X_{part}")[:1], len(data.X_train), axis=0)  # whatever part is trained on
        X[1:] = data.X_train[1:] if "part" not in command else X[1:]
        return replace(data, X_train=X)

    monkeypatch.setattr("adelic.data.sources.load", planted)
    line = refused(*COMMANDS[command])
    assert line.startswith(f"adelic: 1 {part} row would be trained on: {part} row 0 (")
    assert line.endswith("; keep equal rows in one part")
    assert files() == []
