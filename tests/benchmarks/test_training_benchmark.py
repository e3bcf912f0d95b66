"""The script that measures training: what it writes, and that a process of its own measures."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = "training"


@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
def test_throughput(script, monkeypatch, tmp_path):
    """Each side's worker here, in this process."""
    settings_of = {}

    def here(name, *, settings, **arguments):
        settings_of[arguments["side"]] = settings
        return {"steps": script.worker_steps}[name](**arguments)

    monkeypatch.setattr(script, "in_a_process", here)
    options = ["--lengths", "3", "--tokens", "20", "--batch-size", "4", "--repetitions", "1", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["training.py", "throughput", *options])
    script.main()
    assert settings_of == {"stock": False, "float32": True, "bfloat16": True}
    results = json.loads((tmp_path / "training_throughput.json").read_text(encoding="utf-8"))
    (entry,) = results["entries"]
    assert (entry["length"], entry["steps"]) == (3, 2)
    rates, seconds = entry["tokens_per_second"], entry["step_seconds"]
    for side in ("float32", "bfloat16"):
        assert rates[side] == pytest.approx(16 / seconds[side][0])
        assert entry["ratios"][side] == pytest.approx(seconds["stock"][0] / seconds[side][0])


@pytest.mark.long
def test_a_worker_in_a_process_of_its_own(script):
    assert script.in_a_process("steps", settings=True, side="bfloat16", length=3, n_steps=1, batch_size=4) > 0
