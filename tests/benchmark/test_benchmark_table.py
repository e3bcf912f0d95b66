import csv
import io
from dataclasses import astuple

import pytest
from rich.console import Console

from adelic.benchmark import published_rows, summarise, table


def line_of(*results):
    (line,) = table.lines(summarise(results))
    return line


def test_one_run(result):
    line = line_of(
        result(
            accuracy=0.87654, balanced_accuracy=0.5, macro_f1=1 / 3, loss=0.69314, majority=0.523, recipe={"epochs": 7}
        )
        | {"lookup": 0.6, "rule": 0.97, "rule_name": "length"}
    )
    assert line == table.Line(
        task="schubert-4",
        model="AOE (digits)",
        training="quick, 7 epochs, 1 seed",
        majority="52.30",
        lookup="60.00",
        rule="97.00 (length)",
        accuracy="87.65",
        macro_f1="33.33",
        loss="0.6931",
        published="paper 87.89, ACD 94.6 ± 1.0",
    )


def test_several_seeds_have_an_interval(result):
    results = [
        result(seed=s, accuracy=a, loss=a, macro_f1=0.5, majority=a) | {"lookup": a / 2}
        for s, a in enumerate([0.90, 0.92, 0.94])
    ]
    line = line_of(*results)
    assert line.training.endswith(", 3 seeds")
    assert (line.majority, line.lookup) == ("92.00", "46.00")  # means: each seed has its own test rows
    assert line.accuracy == "92.00 ± 4.97"
    assert line.macro_f1 == "50.00 ± 0.00"
    assert line.loss == "0.9200 ± 0.0497"


def test_the_best_trivial_rule_is_named_where_all_seeds_have_one(result):
    rules = [{"rule": 0.97, "rule_name": "length"}, {"rule": 0.99, "rule_name": "length"}]
    assert line_of(*(result(seed=s) | rule for s, rule in enumerate(rules))).rule == "98.00 (length)"
    rules[1]["rule_name"] = "prefixes"
    assert line_of(*(result(seed=s) | rule for s, rule in enumerate(rules))).rule == "98.00"


def test_the_flag_of_one_class(result):
    flagged = table.lines(summarise([result(embedding="learned", one_class=True), result()]))
    assert [line.model for line in flagged] == ["learned †", "AOE (digits)"]
    assert any("†" in note for note in table.notes(flagged))
    assert not any("†" in note for note in table.notes(flagged[1:]))


def test_published_figures_stand_beside_ours(result):
    assert line_of(result("weaving-6", "learned")).published == "paper 53.02"
    assert line_of(result("weaving-6", "adelic")).published == "paper 100.00"
    assert line_of(result("weaving-6", "fone")).published == "–"
    levels = result("weaving-6", "fone") | {"edition": "levels"}
    assert line_of(levels).published == "ACD 85.9 ± 2.3"  # the format that the ACD authors had
    assert line_of(result("schubert-4", "fone")).published == "ACD 94.6 ± 1.0"
    assert line_of(result("schubert-4", "learned") | {"split": "orbits"}).published == "–"
    assert line_of(result("schubert-3")).published == "–"


def test_the_order_is_the_papers_whatever_was_run_first(result):
    results = [
        result(row, e) for row in ("rsk-5", "mheight-8", "schubert-4", "lattice-12") for e in ("learned", "adelic")
    ]
    lines = table.lines(summarise(results))
    assert [line.task for line in lines[::2]] == ["lattice-12", "schubert-4", "mheight-8", "rsk-5"]
    assert [line.task for line in lines[1::2]] == ["lattice-12", "schubert-4", "mheight-8", "rsk-5"]
    assert {line.model for line in lines} == {"learned", "AOE (digits)"}


def test_editions_and_splits_are_named(result):
    assert line_of(result("weaving-6") | {"edition": "leaky", "contaminated": True}).task == (
        "weaving-6 (leaky, contaminated)"
    )
    lines = table.lines(summarise([result("weaving-6") | {"split": "orbits"}, result("weaving-6", "learned")]))
    assert [line.task for line in lines] == ["weaving-6", "weaving-6 (orbits)"]


def test_the_tables_name_look_up_and_have_ten_columns_at_most():
    assert list(table.HEADERS.values())[3:6] == ["majority class", "look-up", "best trivial rule"]
    assert len(table.HEADERS) == 10
    assert "look-up: memory alone" in table.NOTES


def test_all_rows(result):
    lines = table.lines(summarise([result("schubert-4", "adelic"), result("schubert-3")]), all_rows=True)
    assert len(lines) == 2 * 13 + 1
    run = [line for line in lines if line.accuracy != "not run"]
    assert [line.task for line in run] == ["schubert-4", "schubert-3"]
    assert list(dict.fromkeys(line.task for line in lines)) == [*published_rows(), "schubert-3"]
    missing = next(line for line in lines if line.task == "quiver-11" and line.model == "learned")
    assert missing == table.Line(
        task="quiver-11",
        model="learned",
        training="–",
        majority="–",
        lookup="–",
        rule="–",
        accuracy="not run",
        macro_f1="–",
        loss="–",
        published="paper 45.13, ACD 92.9 ± 0.5",
    )
    assert len(table.lines(summarise([result()]))) == 1


@pytest.fixture
def lines(result):
    results = [result(seed=s, accuracy=0.9 + s / 100) for s in range(3)]
    results += [result(embedding="learned", one_class=True), result("schubert-3", "fone")]
    return table.lines(summarise(results), all_rows=True)


def test_csv(lines):
    rows = list(csv.reader(io.StringIO(table.to_csv(table.paper_content(lines)))))
    assert rows[0] == list(table.HEADERS.values())
    assert rows[1:] == [list(astuple(line)) for line in lines]


def test_markdown(lines):
    text = table.to_markdown(table.paper_content(lines))
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines() if row.startswith("|")]
    assert rows[0] == list(table.HEADERS.values())
    assert all(set(cell) <= set("-:") for cell in rows[1])
    assert len(rows[1]) == len(rows[0])
    assert rows[2:] == [list(astuple(line)) for line in lines]
    assert all(note in text for note in table.notes(lines))


@pytest.mark.parametrize("width", [190, 240])
def test_rich(lines, width):
    """190 columns, the width of a pipe, hold every figure in one piece."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table.to_rich(table.paper_content(lines)))
    text = console.file.getvalue()
    rows = [[cell.strip() for cell in row.strip("│").split("│")] for row in text.splitlines() if row.startswith("│")]
    assert rows == [list(astuple(line)) for line in lines]


def test_no_runs():
    assert table.lines([]) == []
    assert len(table.to_csv(table.paper_content([])).splitlines()) == 1
    assert len(table.lines([], all_rows=True)) == 26
    Console(width=170, file=io.StringIO()).print(table.to_rich(table.paper_content([])))


def test_the_place_wise_model_is_named_and_is_not_the_papers(result):
    """Results of older versions do not say where places meet: theirs is the flat model."""
    placewise, older = result("weaving-6"), result("weaving-6")
    placewise |= {"features": "characters", "places": "late"}
    del older["places"]
    assert [(line_of(r).model, line_of(r).published) for r in (placewise, older)] == [
        ("AOE (characters, late)", "–"),
        ("AOE (digits)", "paper 100.00"),
    ]
