import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = [sys.executable, str(ROOT / "benchmarks" / "training.py")]


def test_throughput(tmp_path):
    options = ["--lengths", "3", "--tokens", "20", "--batch-size", "4", "--repetitions", "1", "--output", str(tmp_path)]
    subprocess.run([*SCRIPT, "throughput", *options], check=True, capture_output=True)
    results = json.loads((tmp_path / "training_throughput.json").read_text(encoding="utf-8"))
    (entry,) = results["entries"]
    assert (entry["length"], entry["steps"]) == (3, 2)
    rates, seconds = entry["tokens_per_second"], entry["step_seconds"]
    for side in ("float32", "bfloat16"):
        assert rates[side] == pytest.approx(16 / seconds[side][0])
        assert entry["ratios"][side] == pytest.approx(seconds["stock"][0] / seconds[side][0])
