import os
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
SCRIPT = "common"
BENCHMARK = Path(__file__).parents[2] / "experiments" / "encode.py"


def test_instructions_are_restricted_and_named(script, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    every = script.instructions()
    script.restrict_instructions("avx2")
    assert every in ("AVX-512", "AVX2", "NEON", "none")
    assert script.instructions() == f"{every.replace('AVX-512', 'AVX2')} (restricted)"
    assert not {"+avx512f", "+avx512vl", "+avx10.1"} & set(os.environ["NUMBA_CPU_FEATURES"].split(","))
