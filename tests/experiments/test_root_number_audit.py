"""The audit of root numbers: its counts on few curves; the page has the file's figures."""

import json
from pathlib import Path

import pytest

from adelic.data import DrawnData

ROOT = Path(__file__).parents[2]
SCRIPT = "root_number_audit"


def test_the_page_has_the_figures_of_the_file():
    found = json.loads((ROOT / "experiments" / "results" / "root_number_audit.json").read_text(encoding="utf-8"))
    assert not found["commit"].endswith("+")
    page = " ".join((ROOT / "docs" / "number-theory.md").read_text(encoding="utf-8").split())
    section = page.split("### What gradients do not find, equations do")[1]
    moduli, blind, drawn = found["moduli"], found["without_discriminant"], found["drawn_signs"]
    assert list(moduli) == ["2", "4", "8", "16"]
    assert moduli["16"]["hold"] == found["examples"] == 200_000
    latest = 1 + max(one["hold"] for modulus, one in moduli.items() if modulus != "16")
    assert f"at the prime 2 some example among the first {latest:,} contradicts earlier ones (seed 0)" in section
    assert f"The {moduli['16']['bits']:,} bits of 200,000 examples" in section
    assert list(blind["moduli"])[-1] == "64"
    assert f"({100 * blind['right']['new curves']:.2f} % of new curves)" in section
    assert f"the {1 + blind['moduli']['64']['hold']:,}th example contradicts" in section
    assert f"the solver guesses ({100 * drawn['right']['new curves']:.2f} %)" in section
    assert f"and modulo 16 the {1 + drawn['moduli']['16']['hold']:,}st example contradicts" in section
    new = found["splits"]["new curves"]
    assert f"Of {new['questions']:,} new curves {new['known']:,} have only classes" in section
    assert f"and {new['right_of_known']:,} of these are right" in section
    others, right = new["questions"] - new["known"], new["right"] - new["right_of_known"]
    assert f"of the {others} others, where a bit is missing, {right} " in section
    assert all(split["with_all_classes_of_an_example"] == 0 for split in found["splits"].values())
    assert "None of 20,000 test curves" in section


@pytest.mark.long
def test_counts_of_few_curves(script):
    data = DrawnData("root-number", 6000, task_options=("max_prime=7",), test_cases=300, never_seen_cases=200)
    found = script.counted(data)
    assert list(found["moduli"])[-1] == "16"
    assert found["moduli"]["16"]["hold"] == 6000 > max(one["hold"] for one in list(found["moduli"].values())[:-1])
    for name, count in (("test", 300), ("new curves", 200)):
        split = found["splits"][name]
        assert split["questions"] == count >= split["known"] >= split["right_of_known"]
        assert split["right"] > 0.7 * count
        assert split["right_of_known"] / split["known"] > split["right"] / count
        assert split["with_all_classes_of_an_example"] < count / 2
        assert 0.35 < found["without_discriminant"]["right"][name] < 0.65
        assert 0.35 < found["drawn_signs"]["right"][name] < 0.65
