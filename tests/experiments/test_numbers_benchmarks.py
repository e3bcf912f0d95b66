import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gmpy2")
pytest.importorskip("flint")
BENCHMARKS = Path(__file__).parents[2] / "experiments"


def results_of(script, output, *arguments):
    """Run a benchmark and return its exit code and the file it wrote."""
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments), "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert output.exists(), done.stderr
    results = json.loads(output.read_text())
    assert {"command", "machine", "versions", "commit", "repetitions"} <= results.keys()
    return done.returncode, results


def test_decode(tmp_path):
    code, results = results_of("decode.py", tmp_path / "decode.json", "--size", 300, "--repetitions", 2)
    assert results["all_right"] is True
    assert code == int(not results["met"])
    assert len(results["all_seconds"]["decode"]) == len(results["all_seconds"]["gmpy2_loop"]) == 2
    medians = results["median_seconds"]
    assert results["ratio"] == pytest.approx(medians["gmpy2_loop"] / medians["decode"])


def test_big_integers(tmp_path):
    _, results = results_of("big_integers.py", tmp_path / "big.json", "--sizes", 300, 900, "--repetitions", 1)
    assert results["same_digits"] is True
    entries = results["entries"]
    assert len(entries) == 2 * 3 * 4
    assert all((entry["exponent"] is None) == (entry["digits"] == 300) for entry in entries)
