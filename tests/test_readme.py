"""The README keeps its promises: its figures are made from the committed results."""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_speeds_are_those_of_the_committed_results() -> None:
    builds, classes = (
        json.loads((ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8"))
        for name in ("acd_builds.json", "quiver_sage.json")
    )
    slowest = max(build["seconds"] for build in builds["builds"])
    ratios = [entry["ratio"] for entry in classes["classes"]]
    text = " ".join(README.split())
    assert f"take {slowest:.1f} seconds or less on one core" in text
    assert f"found {min(ratios):.0f} to {max(ratios):.0f} times as fast as by Sage" in text


def test_the_layout_s_speed_is_told_for_integers_and_for_rationals() -> None:
    measured = json.loads((ROOT / "benchmarks" / "results" / "encode_memory.json").read_text(encoding="utf-8"))
    integers, rationals = (f"{measured['ratios'][kind]:.2f}" for kind in ("integers", "rationals"))
    told = f"{integers} times the speed of filling its memory for integers and {rationals} times for rationals"
    assert told in " ".join(README.split())
