"""The script that measures training: what it writes, and that a process of its own measures."""

import json
import os
import statistics

import pytest
import torch

from adelic import acd

SCRIPT = "training"
PARTS = ("throughput", "embedding", "products")


@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
def test_throughput(script, monkeypatch, tmp_path, capsys):
    """Each side's worker here, in this process."""
    settings_of = {}

    def here(worker, side, *arguments, settings):
        settings_of[side] = settings
        return worker(side, *arguments)

    monkeypatch.setattr(script, "in_a_process", here)
    monkeypatch.setattr(script.common, "instructions", lambda: "AVX-512")
    sizes = {"lengths": (3,), "tokens": 20, "batch_size": 4, "repetitions": 1}
    script.main("throughput", options=script.Options(**sizes, sides=script.SIDES, output=tmp_path))
    assert capsys.readouterr().err.startswith("length 3, stock, 2 steps, repetition 1 of 1")
    assert settings_of == {"stock": False, "float32": True, "bfloat16": True}
    results = json.loads((tmp_path / "training_throughput.json").read_text(encoding="utf-8"))
    (entry,) = results["entries"]
    assert (entry["length"], entry["steps"]) == (3, 2)
    rates, seconds = entry["tokens_per_second"], entry["step_seconds"]
    for side in ("float32", "bfloat16"):
        assert rates[side] == pytest.approx(16 / seconds[side][0])
        assert entry["ratios"][side] == pytest.approx(seconds["stock"][0] / seconds[side][0])


def test_lengths_of_the_papers_rows(script):
    lengths = script.row_lengths()
    assert lengths == sorted(set(lengths))
    assert acd.load("schubert", n=4).X_train.shape[1] in lengths


@pytest.mark.parametrize("full", [False, True])
def test_sizes_where_none_are_given(script, monkeypatch, tmp_path, full):
    """Each part has its own as they were, and a minute's without --full; the instruction set is told."""
    seen = {}
    for part in PARTS:
        monkeypatch.setattr(script, part, lambda chosen, part=part: seen.update({part: chosen}) or {})
    monkeypatch.setattr(script.common, "instructions", lambda: "AVX2 (restricted)")
    script.main(options=script.Options(output=tmp_path, full=full))
    assert list(seen) == ([*PARTS] if full else ["throughput"])
    assert seen["throughput"].repetitions == (5 if full else 2)
    assert "AVX2" in json.loads((tmp_path / "training_throughput_avx2.json").read_text(encoding="utf-8"))["machine"]


def test_embedding(script, monkeypatch, tmp_path, capsys):
    """With stand-ins for what a process would measure."""
    figures = {"adelic": [1.0, 2.0, 2.0], "learned": [1.0, 1.0, 1.0]}
    monkeypatch.setattr(script, "in_a_process", lambda *_, **__: figures)
    monkeypatch.setattr(script.common, "instructions", lambda: "AVX-512")
    script.main("embedding", options=script.Options(output=tmp_path))
    assert capsys.readouterr().err.count("\n") >= 3
    (path,) = tmp_path.glob("training_embedding*.json")
    assert json.loads(path.read_text(encoding="utf-8"))["entries"]


@pytest.mark.parametrize("has_bfloat16", [True, False])
@pytest.mark.parametrize("restricted", [None, "avx2"])
def test_bfloat16_is_measured_where_there_are_instructions(script, monkeypatch, tmp_path, has_bfloat16, restricted):
    monkeypatch.setattr(script, "in_a_process", lambda *_, **__: 1.0)
    monkeypatch.setattr(script, "is_quick", lambda compute, _: compute != "bfloat16" or has_bfloat16)
    monkeypatch.setattr(script.common, "restrict_instructions", lambda name: None)
    script.main(options=script.Options(output=tmp_path, instructions=restricted))
    (path,) = tmp_path.glob("training_throughput*.json")
    (entry,) = json.loads(path.read_text(encoding="utf-8"))["entries"]
    assert list(entry["ratios"]) == ["float32", "bfloat16"][: 1 + (has_bfloat16 and not restricted)]


def test_products(script, monkeypatch, tmp_path):
    monkeypatch.setattr(script, "TOKENS", 8)
    monkeypatch.setattr(script, "in_a_process", lambda worker, *given: worker(*given))
    monkeypatch.setattr(torch, "set_num_threads", lambda n: None)
    monkeypatch.setattr(script.common, "instructions", lambda: "AVX-512")
    script.main("products", options=script.Options(repetitions=1, output=tmp_path))
    found = json.loads((tmp_path / "training_products.json").read_text(encoding="utf-8"))
    assert list(found["gigaflops"]) == list(script.LAYERS)
    rate, seconds = found["gigaflops"]["inner layer"]["ours"], found["seconds"][2]["ours"]
    assert rate == pytest.approx(6 * 8 * 128 * 512 / statistics.median(seconds) / 1e9)


def test_instructions_are_restricted_and_named(script, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    every = script.common.instructions()
    script.common.restrict_instructions("avx2")
    assert every in ("AVX-512", "AVX2", "NEON", "none")
    assert script.common.instructions() == f"{every.replace('AVX-512', 'AVX2')} (restricted)"
    assert not {"+avx512f", "+avx512vl", "+avx10.1"} & set(os.environ["NUMBA_CPU_FEATURES"].split(","))


@pytest.mark.long
def test_a_worker_in_a_process_of_its_own(script):
    assert script.in_a_process(script.worker_steps, "bfloat16", 3, 1, 4) > 0
