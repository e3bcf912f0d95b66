"""The audit of root numbers: its counts on few curves; the page has the file's figures."""

import pytest

from adelic.data import DrawnData

SCRIPT = "root_number_audit"


def test_the_page_has_the_figures_of_the_file(figures, section):
    text = section("number-theory/root-number.md")
    moduli, blind, drawn = figures["moduli"], figures["without_discriminant"], figures["drawn_signs"]
    assert list(moduli) == ["2", "4", "8", "16"]
    assert moduli["16"]["hold"] == figures["examples"] == 200_000
    latest = 1 + max(one["hold"] for modulus, one in moduli.items() if modulus != "16")
    assert f"at the prime 2, one of the first {latest:,} examples contradicts earlier ones" in text
    assert f"it guesses too: {100 * blind['right']['new curves']:.2f} % of new curves" in text
    assert f"the solver guesses: {100 * drawn['right']['new curves']:.2f} % of new curves" in text
    new = figures["splits"]["new curves"]
    assert f"Of {new['questions']:,} new curves {new['known']:,} have only known classes" in text
    assert f"Of these, {new['right_of_known']:,} are right." in text
    assert all(split["with_all_classes_of_an_example"] == 0 for split in figures["splits"].values())
    assert "None of 20,000 test curves" in text


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
