import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
SCRIPT = "common"
BENCHMARK = Path(__file__).parents[2] / "experiments" / "encode.py"


@pytest.mark.long
def test_precisions(tmp_path):
    command = [str(BENCHMARK), "precisions", "--size", "200", "--repetitions", "1", "--output", str(tmp_path)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    results = json.loads((tmp_path / "encode_precisions.json").read_text())
    assert done.returncode == int(any(results["ratios"][name] < least for name, least in results["targets"].items()))
    seconds = results["seconds"]["12, 16"]
    assert results["ratios"]["*, 12 digits"] == pytest.approx(seconds["* 16"] / seconds["* 12"])


def test_instructions_are_restricted_and_named(script, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    every = script.instructions()
    script.restrict_instructions("avx2")
    assert every in ("AVX-512", "AVX2", "NEON", "none")
    assert script.instructions() == f"{every.replace('AVX-512', 'AVX2')} (restricted)"
    assert not {"+avx512f", "+avx512vl", "+avx10.1"} & set(os.environ["NUMBA_CPU_FEATURES"].split(","))
