"""The picture of exact answers against seconds: drawn from the committed results of both plans."""

from pathlib import Path

from adelic_lab.plans import gather, read_plan
from adelic_lab.report.arithmetic import looks
from adelic_lab.report.plots import COLOURS

ROOT = Path(__file__).parents[2]
SCRIPT = "arithmetic_seconds"
FAMILIES = ("fone", "xval", "abacus", "base-digits:base=1000", "base-digits")


def test_rivals_have_their_longest_trainings(script):
    drawn = script.series()
    assert {one.task for one in drawn} == {"addition", "multiplication"}
    ours = [one for one in drawn if one.model.startswith("adelic-placewise")]
    assert {one.examples for one in ours} == {1000}
    longest = {one.model: max(result.seconds for result in one.results) for one in drawn if one.task == "addition"}
    assert all(seconds > 10 * longest["adelic-placewise"] for name, seconds in longest.items() if name in TRAINED_LONG)
    best = {one.model: max(one.accuracies()) for one in drawn if one.task == "addition"}
    assert all(best[name] > 0.99 for name in TRAINED_LONG - {"base-digits:base=1000:autoregressive=true"})


TRAINED_LONG = {
    *("fone", "abacus", "base-digits"),
    *("base-digits:autoregressive=true", "abacus:autoregressive=true", "base-digits:base=1000:autoregressive=true"),
}


def test_the_picture_is_that_of_the_results(script, tmp_path, monkeypatch):
    committed = script.PICTURE.read_bytes()
    monkeypatch.setattr(script, "PICTURE", tmp_path / "seconds.svg")
    script.main()
    assert script.PICTURE.read_bytes() == committed


def test_each_rival_has_one_colour_and_no_other_has_it(script):
    full = gather(read_plan("full", "arithmetic"), ROOT / "experiments" / "results" / "arithmetic")
    for drawn in (script.series(), full):
        of_families = {}
        for name, look in looks(drawn).items():
            family = next((one for one in FAMILIES if name.startswith(one)), None)
            if family or name == "crt-composite":
                of_families.setdefault(family or name, set()).add(look["color"])
        assert all(len(colours) == 1 for colours in of_families.values())
        assert COLOURS[0] not in set.union(*of_families.values())
        rivals = [of_families[family] for family in of_families if family != "crt-composite"]
        assert len(set.union(*rivals)) == len(rivals) == 5
