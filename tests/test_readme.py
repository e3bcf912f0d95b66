"""The README keeps its promises: its table and figures are made from the committed results."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from adelic.cli import commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_table_is_made_from_the_committed_results() -> None:
    shown = re.search(r"<!-- table: adelic (.*?) -->\n(.*?)<!-- end of table -->", README, flags=re.DOTALL)
    assert shown is not None
    printed = CliRunner().invoke(commands, shown[1].replace("results/", f"{ROOT}/results/").split())
    assert printed.exit_code == 0
    assert shown[2].strip() == printed.output.strip()
    assert shown[2].count("| quick, 30 epochs |") == 4


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


def test_the_layout_is_written_at_more_than_half_the_speed_of_filling_its_memory() -> None:
    measured = json.loads((ROOT / "benchmarks" / "results" / "encode_memory.json").read_text(encoding="utf-8"))
    assert "more than half the speed of filling its memory" in " ".join(README.split())
    assert measured["ratios"]["integers"] > 0.5
