"""The README and other first pages keep their promises: their figures are made from the committed results."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from adelic_lab import published_rows
from adelic_lab.report.frame import comparisons, model_frame, on_most_rows, run_frame
from adelic_lab.report.statistics import ALPHA, declared_family
from adelic_lab.report.tables import chosen_by_validation

ROOT = Path(__file__).parent.parent
README, INDEX = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/index.md"))
REPRODUCE, NUMBERS, RESULTS = (
    " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
    for name in ("reproduce.md", "numbers.md", "results.md")
)


def test_speeds_are_those_of_the_committed_results() -> None:
    measured = json.loads((ROOT / "experiments" / "results" / "acd_builds.json").read_text(encoding="utf-8"))
    slowest = max(build["seconds"] for build in measured["builds"])
    assert f"take {slowest:.1f} seconds or less on one core" in REPRODUCE


def test_the_speed_of_encoding_is_that_of_the_committed_results() -> None:
    measured = json.loads((ROOT / "experiments" / "results" / "encode_memory.json").read_text(encoding="utf-8"))
    ratio = f"{measured['ratios']['integers']:.2f}"
    assert f"runs at {ratio} times the speed of filling the same memory" in NUMBERS


def cell(page: str, heading: str, line: str, column: str) -> str:
    """Return the mean in a cell of the first table behind a heading; other tests hold these tables against results."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    lines = text[text.index(heading) :].splitlines()
    start = next(i for i, text in enumerate(lines) if text.startswith("|"))
    columns = [name.strip() for name in lines[start].split("|")]
    found = next(text for text in lines[start:] if text.startswith(f"| {line} |"))
    return found.split("|")[columns.index(column)].split("±")[0].split("(")[0].strip("* ")


ONE_PRIME, SIZE, DIGITS = (f"number-theory/{name}.md" for name in ("one-prime", "controls-size", "controls-digits"))
PRODUCTS = ("arithmetic/tables.md", "| problem", "a · b, 6 digits | 1,000")
CONICS = ("number-theory/conic.md", "**`conic`")
DIVISORS = ("number-theory/gcd.md", "**`gcd`")
SUMS = ("exact-details.md", "| modules: single", "arithmetic__add_or_sub")
FIGURES = {
    "the divisors of both numbers": (
        ("residues {:.1f} of 100", (*DIVISORS, "AOE, residues", "learned, of 100")),
        ("tokens {:.1f} of 100", (*DIVISORS, "residues mod 25 primes", "learned, of 100")),
        ("{:.1f} of 100", (*DIVISORS, "same inputs, no network", "learned, of 100")),
    ),
    "the order of n modulo a prime that you name": (
        ("one-hot digits {:.1f} %", (ONE_PRIME, "**`order`", "AOE, one-hot digits, with 101", "test")),
        ("base 10 {:.1f} %", (ONE_PRIME, "**`order`", "base 10", "test")),
        ("{:.1f} %", (ONE_PRIME, "**`order`", "same inputs, no network, with 101", "test")),
    ),
    "a product": (
        ("characters {:.0f} %", (*PRODUCTS, "adelic-placewise")),
        ("FoNE {:.0f} %", (*PRODUCTS, "fone")),
        ("{:.0f} %", (*PRODUCTS, "least-squares")),
    ),
    "a condition at each prime": (
        (
            "valuations and units {:.2f} %",
            (*CONICS, "local–global, dropout, 80 passes", "test"),
        ),
        ("learned vectors {:.2f} %", (*CONICS, "learned, dropout, 80 passes", "test")),
        ("{:.2f} %", (*CONICS, "same inputs, no network", "test")),
    ),
    "sums and differences in a text": (
        ("operations {:.1f} %", (*SUMS, "operations")),
        ("Abacus digits {:.1f} %", (*SUMS, "abacus")),
        ("{:.1f} %", (*SUMS, "table")),
    ),
    "size: the rank of one number among five": (
        ("one-hot digits {:.1f} %", (SIZE, "**`sorting`", "AOE, one-hot digits and real value", "test")),
        ("xVal {:.1f} %", (SIZE, "**`sorting`", "xVal", "test")),
        ("{:.1f} %", (SIZE, "**`sorting`", "same inputs, no network", "test")),
    ),
    "a decimal digit": (
        ("one-hot digits {:.1f} %", (DIGITS, "**`decimal-digit`", "AOE, one-hot digits and real value", "test")),
        ("base 10 {:.1f} %", (DIGITS, "**`decimal-digit`", "base 10", "test")),
        ("{:.1f} %", (DIGITS, "**`decimal-digit`", "same inputs, no network", "test")),
    ),
}


@pytest.mark.parametrize("question", FIGURES)
def test_the_figures_that_say_whether_it_helps_are_those_of_the_tables(question: str) -> None:
    told = " | ".join(text.format(float(cell(*where))) for text, where in FIGURES[question])
    line = next(line for line in README.splitlines() if line.startswith(f"| [{question}]("))
    assert line.endswith(f" | {told} |")


def test_what_one_answer_to_all_questions_scores_is_a_figure_of_the_tables() -> None:
    orders, conics = (
        float(cell(*where, "best constant answer", "test")) for where in ((ONE_PRIME, "**`order`"), CONICS)
    )
    assert f"On orders and conics one answer to all questions scores {orders:.1f} and {conics:.1f} %" in README
    assert orders >= float(cell(ONE_PRIME, "**`order`", "base 10", "test"))
    assert conics >= float(cell(*CONICS, "learned, dropout, 80 passes", "test"))


def test_residues_at_primes_tell_the_divisors_without_squares_alone() -> None:
    squarefree = sum(all(n % k**2 for k in range(2, 11)) for n in range(1, 101))
    for page in (README, INDEX):
        assert f"can learn at most {squarefree}." in page


RECIPES = ("results/bodies-and-views.md", "## AOE and learned vectors, by recipe")
SETTINGS = "dropout=0.07, sampling power=0.0, epochs=80"


@pytest.mark.parametrize(
    ("sentence", "cells"),
    [
        (
            "learns {:.1f} of 100 greatest common divisors. From decimal digits it learns {:.1f}.",
            [
                (*DIVISORS, "AOE, residues", "learned, of 100"),
                (*DIVISORS, "base 10", "learned, of 100"),
            ],
        ),
        ("also reaches {:.0f} of 100", [(*DIVISORS, "same inputs, no network", "learned, of 100")]),
        ("Raw digits, the paper's form, learn {:.0f} of 100", [(*DIVISORS, "AOE, digits", "learned, of 100")]),
        (
            "answers {:.2f} % correctly, the table on the same inputs {:.2f} %",
            [
                (*CONICS, "local–global, dropout, 80 passes", "test"),
                (*CONICS, "same inputs, no network", "test"),
            ],
        ),
        (
            "find {:.1f} % of ranks, a scaled number (xVal) {:.1f} %",
            [(SIZE, "**`sorting`", "AOE, one-hot digits alone", "test"), (SIZE, "**`sorting`", "xVal", "test")],
        ),
        (
            "AOE in a Transformer scores {:.2f} %, and {:.2f} % when it reads heights (one seed)",
            [
                (*RECIPES, f"lattice-10 (published) | compact, {SETTINGS}", "AOE"),
                (*RECIPES, "lattice-10 (published) | compact, heights", "AOE"),
            ],
        ),
    ],
)
def test_the_figures_of_the_verdict_are_those_of_the_tables(sentence, cells) -> None:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", RESULTS)
    assert sentence.format(*(float(cell(*where)) for where in cells)) in plain


def test_what_names_that_happen_to_be_numbers_gain_is_a_figure_of_the_results() -> None:
    where = ("results.md", "## Every dataset", "schubert-4 (published)")
    aoe, learned = cell(*where, "AOE"), cell(*where, "learned")
    rules = json.loads(
        (ROOT / "experiments" / "results" / "audit" / "schubert-4-published.json").read_text(encoding="utf-8")
    )["findings"]
    best = 100 * max(rule["test"] for rule in rules if rule["test"] is not None)
    told = f"one-hot digits {aoe} % | learned vectors {learned} % | {best:.2f} % |"
    assert told in README


def test_the_verdict_is_that_of_the_declared_family(table_results) -> None:
    family = declared_family(chosen_by_validation(on_most_rows(comparisons(run_frame(table_results)))))
    tested = family[family.p.notna()].adjusted.astype(float)
    least = tested.idxmin()
    assert f"{(tested <= ALPHA).sum()} of {len(tested)} comparisons are significant" in RESULTS
    dataset = least.partition(" ")[0].replace("-", " ")
    assert f"the smallest adjusted p is {tested[least]:.3f}, on {dataset}." in RESULTS
    datasets = {name.partition(" ")[0] for name in tested.index}
    assert len(datasets) == 10
    assert "It covers ten datasets" in RESULTS
    for page in (README, INDEX):
        assert "On the ten of the paper's datasets that could be tested" in page


def test_which_forms_of_aoe_validation_chose() -> None:
    table = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").split("## Every dataset")[1].split("\n\n")[1]
    forms = [line.split("|")[3] for line in table.splitlines()[2:]]
    few = sum(form.strip().endswith(("(standardized)", "(digits)")) for form in forms)
    assert f"In {few} of the {len(forms)} lines below validation chose standardized or raw digits." in RESULTS


def test_the_results_are_short() -> None:
    assert len((ROOT / "docs" / "results.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_how_many_datasets_of_the_paper_were_run(table_results) -> None:
    """By AOE and by learned vectors, on the published split of the published edition."""
    models = model_frame(run_frame(table_results))
    networks = models[(models.split == "published") & (models.edition == "published")]
    assert all({"adelic", "learned"} <= set(networks.embedding[networks.row == row]) for row in published_rows())
    assert f"the paper's {len(published_rows())} datasets" in RESULTS


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


def test_the_readme_is_short_and_has_one_picture() -> None:
    assert re.findall(r"^## (.*)$", README, flags=re.MULTILINE) == ["Does it help?", "I want to …"]
    assert len(README.splitlines()) <= 90
    *_, picture = re.findall(r"!\[.*\]\((.*)\)", README)
    assert picture == "docs/number-theory/learned.svg"
    assert len(INDEX.splitlines()) <= 45


def test_the_front_pages_say_the_same() -> None:
    code, index = (re.search(r"```python\n(.*?)\n\n", page, flags=re.DOTALL)[1] for page in (README, INDEX))
    assert code.startswith(index)
    assert "from 1 to 100 that the same small Transformer learns" in README
    assert README.count("<address>") == 1


def test_the_bars_are_the_figures_of_the_table() -> None:
    labels = (
        "AOE, residues",
        "residues mod 25 primes",
        "base 10",
        "FoNE",
        "AOE, digits",
    )
    picture = (ROOT / "docs" / "number-theory" / "learned.svg").read_text(encoding="utf-8")
    for label in labels:
        figure = f"{float(cell(*DIVISORS, label, 'learned, of 100')):.1f}"
        assert f">{figure}</text>" in picture
        assert f" {figure}" in re.search(r"!\[Divisors (.*)\]", README)[1]


def test_the_badges_are_true() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [name.rpartition(" ")[2] for name in project["classifiers"] if "Python :: 3." in name]
    badges = (ROOT / "docs" / "assets" / "badges.svg").read_text(encoding="utf-8")
    assert f">{' | '.join(versions)}</text>" in badges
    assert f">{project['license']}</text>" in badges
    assert f"Python {versions[0]} to {versions[-1]}; licence {project['license']};" in README
