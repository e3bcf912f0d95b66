import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = "moebius_ceiling"


def test_the_page_has_the_figures_of_the_file():
    found = json.loads((ROOT / "experiments" / "results" / "moebius_ceiling.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "number-theory.md").read_text(encoding="utf-8")
    section = " ".join(page.split("## The Möbius function")[1].split("\n## ")[0].split())
    for ceiling in found["ceilings"].values():
        assert f"{100 * ceiling['accuracy']:.2f} ± {100 * ceiling['standard_error']:.2f} %" in section
        assert f"{100 * ceiling['without_size']:.2f}" in section
    zeros, best = (found["ceilings"]["test"][name] for name in ("zeros", "accuracy"))
    assert f"{100 * zeros:.1f} % are seen to be 0" in section
    assert f"has {50 * (1 + zeros):.1f} %" in section
    assert f"right for {100 * (best - zeros) / (1 - zeros):.0f} %" in section


def test_a_smaller_sample(script, tmp_path, monkeypatch):
    output = tmp_path / "found.json"
    monkeypatch.setattr("sys.argv", ["moebius_ceiling.py", "--n", "4000"])
    script.main(n=4000, output=output)
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["command"].startswith("python experiments/moebius_ceiling.py --n 4000")
    assert [ceiling["low"] for ceiling in found["ceilings"].values()] == [2, 10**13 + 1]
    assert all(abs(ceiling["accuracy"] - 0.71) < 0.05 for ceiling in found["ceilings"].values())
