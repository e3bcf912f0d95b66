"""The README and the overview keep their promises: their figures are made from the committed results."""

import json
import re
from pathlib import Path

from adelic.benchmark import published_rows, summarise
from adelic.benchmark.comparison import comparisons, on_most_rows
from adelic.benchmark.row_tables import chosen_by_validation
from adelic.benchmark.significance import corrected, declared_contrast

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OVERVIEW, RESULTS = (
    " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split()) for name in ("overview.md", "results.md")
)
WORDS = (
    *("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)


def test_speeds_are_those_of_the_committed_results() -> None:
    builds, classes = (
        json.loads((ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8"))
        for name in ("acd_builds.json", "quiver_sage.json")
    )
    slowest = max(build["seconds"] for build in builds["builds"])
    ratios = [entry["ratio"] for entry in classes["classes"]]
    assert f"take {slowest:.1f} seconds or less on one core" in OVERVIEW
    assert f"found {min(ratios):.0f} to {max(ratios):.0f} times as fast as by Sage" in OVERVIEW


def test_the_layout_s_speed_is_told_for_integers_and_for_rationals() -> None:
    measured = json.loads((ROOT / "benchmarks" / "results" / "encode_memory.json").read_text(encoding="utf-8"))
    integers, rationals = (f"{measured['ratios'][kind]:.2f}" for kind in ("integers", "rationals"))
    told = f"{integers} times the speed of filling its memory for integers and {rationals} times for rationals"
    assert told in OVERVIEW


def test_on_how_many_rows_aoe_is_ahead(table_results) -> None:
    summaries = summarise(table_results)
    chosen = [c for c in chosen_by_validation(on_most_rows(comparisons(summaries))).values() if c is not None]
    differences = [contrast.difference for contrast in map(declared_contrast, chosen) if contrast is not None]
    clear = [difference.mean for difference in differences if difference.is_beyond_the_interval]
    ahead, behind = sum(mean > 0 for mean in clear), sum(mean < 0 for mean in clear)
    text = " ".join(README.split())
    several = WORDS[sum(len(difference.seeds) > 1 for difference in differences)]
    assert f"we ran {len(differences)} rows, {several} of them with several seeds." in text
    better = f"AOE is surely better than plain learned vectors on {WORDS[ahead]} of these"
    assert f"Each taken by itself, {better}, and surely worse on {WORDS[behind]}." in text


def test_how_many_contrasts_are_left_once_p_is_corrected(table_results) -> None:
    found = map(declared_contrast, on_most_rows(comparisons(summarise(table_results))))
    contrasts = corrected({i: contrast.difference for i, contrast in enumerate(found) if contrast is not None})
    left = sum(difference.is_significant for difference in contrasts.values())
    said = f"{WORDS[left]} {'are' if left > 1 else 'is'} left"
    assert f"With p corrected for all contrasts {said}" in " ".join(README.split())
    tested = sum(difference.p is not None for difference in contrasts.values())
    assert f"With p corrected for all {tested} contrasts" in RESULTS


def test_how_many_rows_of_the_paper_were_run(table_results) -> None:
    """By AOE or learned vectors, on the published split of the published edition."""
    networks = [
        summary
        for summary in summarise(table_results)
        if summary.embedding in ("adelic", "learned")
        and summary.split == "published"
        and summary.edition == "published"
    ]
    seeds = {row: max((len(s.results) for s in networks if s.row == row), default=0) for row in published_rows()}
    assert all(seeds.values())
    single = WORDS[list(seeds.values()).count(1)]
    assert f"Each of the paper's {len(seeds)} rows has been run, and {single} have one seed" in RESULTS


def test_what_to_cite_is_what_the_citation_file_says() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    paper = re.search(r"preferred-citation:\n(.*?)\nreferences:", citation, flags=re.DOTALL)
    assert paper is not None
    for key, field in (("title", "title"), ("year", "year"), ("collection-title", "booktitle")):
        value = re.search(rf"^  {key}: (.*)$", paper[1], flags=re.MULTILINE)
        assert value is not None
        assert re.search(rf"{field} *= " + re.escape(f"{{{value[1]}}}"), README)
    names = re.findall(r"family-names: (\w+)\n +given-names: (\w+)", paper[1])
    assert f"author    = {{{' and '.join(f'{family}, {given}' for family, given in names)}}}" in README
    version = re.search(r"^version: (.*)$", citation, flags=re.MULTILINE)
    assert version is not None
    assert f"version = {{{version[1]}}}" in README


def test_a_newcomer_finds_what_matters_on_the_first_screens() -> None:
    headings = re.findall(r"^## (.*)$", README, flags=re.MULTILINE)
    wanted = [
        "Who it is for",
        "What is exact, and what is learned",
        "Installing",
        "Ten lines",
        "Where to go on",
        "Citing",
    ]
    assert headings == wanted
    assert len(README.splitlines()) < 140
    assert README.count("![") == 1
    assert "**When not to use it:**" in README
    assert "git clone …" not in README
