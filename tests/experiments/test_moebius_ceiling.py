import json

SCRIPT = "moebius_ceiling"


def test_the_page_has_the_figures_of_the_file(figures, section):
    text = section("number-theory/moebius.md")
    for ceiling in figures["ceilings"].values():
        assert f"{100 * ceiling['accuracy']:.2f} ± {100 * ceiling['standard_error']:.2f} %" in text
        assert f"{100 * ceiling['without_size']:.2f}" in text
    zeros, best = (figures["ceilings"]["test"][name] for name in ("zeros", "accuracy"))
    assert f"In {100 * zeros:.1f} % of these numbers a square is seen." in text
    assert f"scores {50 * (1 + zeros):.1f} %" in text
    assert f"right for {100 * (best - zeros) / (1 - zeros):.0f} %" in text


def test_a_smaller_sample(script, tmp_path, monkeypatch):
    output = tmp_path / "found.json"
    monkeypatch.setattr("sys.argv", ["moebius_ceiling.py", "--n", "4000"])
    script.main(n=4000, output=output)
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["command"].startswith("python experiments/moebius_ceiling.py --n 4000")
    assert [ceiling["low"] for ceiling in found["ceilings"].values()] == [2, 10**13 + 1]
    assert all(abs(ceiling["accuracy"] - 0.71) < 0.05 for ceiling in found["ceilings"].values())
