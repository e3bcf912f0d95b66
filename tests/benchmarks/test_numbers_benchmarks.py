import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gmpy2")
pytest.importorskip("flint")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


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


def test_precisions(tmp_path):
    command = ["encode.py", "precisions", "--size", "200", "--repetitions", "1", "--output", str(tmp_path)]
    done = subprocess.run([sys.executable, str(BENCHMARKS / command[0]), *command[1:]], capture_output=True, text=True)
    results = json.loads((tmp_path / "encode_precisions.json").read_text())
    assert done.returncode == int(any(results["ratios"][name] < least for name, least in results["targets"].items()))
    seconds = results["seconds"]["12, 16"]
    assert results["ratios"]["*, 12 digits"] == pytest.approx(seconds["* 16"] / seconds["* 12"])


def test_big_integers(tmp_path):
    _, results = results_of("big_integers.py", tmp_path / "big.json", "--sizes", 300, 900, "--repetitions", 1)
    assert results["same_digits"] is True
    entries = results["entries"]
    assert len(entries) == 2 * 3 * 4
    assert all((entry["exponent"] is None) == (entry["digits"] == 300) for entry in entries)
