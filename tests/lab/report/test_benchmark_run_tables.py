import csv
import io

import pytest

from adelic_lab import published_rows, summarise
from adelic_lab.cli.report import print_figures
from adelic_lab.report.rows import as_published
from adelic_lab.report.run_tables import COLUMNS, NOTE, run_tables


def table_of(results, **options):
    """Return the table of the tasks with one class a row."""
    (table,) = run_tables(summarise(results), **options)
    return table


def lines_of(results, **options):
    """Return its lines, by column."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in table_of(results, **options).rows]


def line_of(*results):
    (line,) = lines_of(results)
    return line


def test_one_run(result):
    line = line_of(
        result(
            accuracy=0.87654,
            balanced_accuracy=0.5,
            macro_f1=1 / 3,
            loss=0.69314,
            majority=0.523,
            lookup=0.6,
            rule=0.97,
            rule_name="length",
            recipe={"epochs": 7},
        )
    )
    assert line == {
        "task": "schubert-4 (published)",
        "model": "AOE (digits)",
        "training": "quick, 7 epochs, 1 seed",
        "majority class": "52.30",
        "look-up": "60.00",
        "best trivial rule": "97.00 (length)",
        "test accuracy": "87.65",
        "macro-F1": "33.33",
        "test loss": "0.6931",
        "published": "paper 87.89, ACD 94.6 ± 1.0",
    }


def test_several_seeds_have_an_interval(result):
    results = [
        result(seed=s, accuracy=a, loss=a, macro_f1=0.5, majority=a, lookup=a / 2)
        for s, a in enumerate([0.90, 0.92, 0.94])
    ]
    line = line_of(*results)
    assert line["training"].endswith(", 3 seeds")
    assert (line["majority class"], line["look-up"]) == ("92.00", "46.00")  # means: each seed has its own test rows
    assert line["test accuracy"] == "92.00 ± 4.97"
    assert line["macro-F1"] == "50.00 ± 0.00"
    assert line["test loss"] == "0.9200 ± 0.0497"


def test_the_best_trivial_rule_is_named_where_all_seeds_have_one(result):
    rules = [{"rule": 0.97, "rule_name": "length"}, {"rule": 0.99, "rule_name": "length"}]
    assert line_of(*(result(seed=s, **rule) for s, rule in enumerate(rules)))["best trivial rule"] == "98.00 (length)"
    rules[1]["rule_name"] = "prefixes"
    assert line_of(*(result(seed=s, **rule) for s, rule in enumerate(rules)))["best trivial rule"] == "98.00"
    assert line_of(result(rule=None, rule_name=None))["best trivial rule"] == "–"  # an older result


def test_the_flag_of_one_class(result):
    runs = [result(embedding="learned", predicts_one_class=True), result()]
    assert [line["model"] for line in lines_of(runs)] == ["learned †", "AOE (digits)"]
    assert any("†" in note for note in table_of(runs).notes)
    assert not any("†" in note for note in table_of(runs[1:]).notes)


def test_published_figures_stand_beside_ours(result):
    assert line_of(result("weaving-6", "learned"))["published"] == "paper 53.02"
    assert line_of(result("weaving-6", "adelic"))["published"] == "paper 100.00"
    assert line_of(result("weaving-6", "fone"))["published"] == "–"
    levels = result("weaving-6", "fone", edition="levels")
    assert line_of(levels)["published"] == "ACD 85.9 ± 2.3"  # the format that the ACD authors had
    assert line_of(result("schubert-4", "fone"))["published"] == "ACD 94.6 ± 1.0"
    assert line_of(result("schubert-4", "learned", split="orbits"))["published"] == "–"
    assert line_of(result("schubert-3"))["published"] == "–"


def test_the_order_is_the_papers_whatever_was_run_first(result):
    results = [
        result(row, e) for row in ("rsk-5", "mheight-8", "schubert-4", "lattice-12") for e in ("learned", "adelic")
    ]
    lines = lines_of(results)
    expected = [f"{row} (published)" for row in ("lattice-12", "schubert-4", "mheight-8", "rsk-5")]
    assert [line["task"] for line in lines[::2]] == expected
    assert [line["task"] for line in lines[1::2]] == expected
    assert {line["model"] for line in lines} == {"learned", "AOE (digits)"}


def test_editions_and_splits_are_named(result):
    leaky = result("weaving-6", edition="leaky", contaminated=True)
    assert line_of(leaky)["task"] == "weaving-6 (leaky, published, contaminated)"
    lines = lines_of([result("weaving-6", split="orbits"), result("weaving-6", "learned")])
    assert [line["task"] for line in lines] == ["weaving-6 (published)", "weaving-6 (orbits)"]


def test_the_tables_name_look_up_and_have_ten_columns_at_most():
    assert COLUMNS[3:6] == ("majority class", "look-up", "best trivial rule")
    assert len(COLUMNS) == 10
    assert "look-up: memory alone" in NOTE


def test_all_rows(result):
    lines = lines_of([result("schubert-4", "adelic"), result("schubert-3")], all_rows=True)
    assert len(lines) == 2 * 13 + 1
    run = [line for line in lines if line["test accuracy"] != "not run"]
    assert [line["task"] for line in run] == ["schubert-4 (published)", "schubert-3 (published)"]
    assert list(dict.fromkeys(line["task"] for line in lines)) == [
        *map(as_published, published_rows()),
        "schubert-3 (published)",
    ]
    missing = next(line for line in lines if line["task"] == "quiver-11 (published)" and line["model"] == "learned")
    assert missing == dict.fromkeys(COLUMNS, "–") | {
        "task": "quiver-11 (published)",
        "model": "learned",
        "test accuracy": "not run",
        "published": "paper 45.13, ACD 92.9 ± 0.5",
    }
    assert len(lines_of([result()])) == 1


@pytest.fixture
def table(result):
    results = [result(seed=s, accuracy=0.9 + s / 100) for s in range(3)]
    results += [result(embedding="learned", predicts_one_class=True), result("schubert-3", "fone")]
    return table_of(results, all_rows=True)


def test_csv(table):
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [list(COLUMNS), *map(list, table.rows)]


def test_markdown(table):
    text = table.to_markdown()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines() if row.startswith("|")]
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["---"] * 3 + ["---:"] * 7
    assert rows[2:] == [list(row) for row in table.rows]
    assert all(note in text for note in table.notes)


def test_a_pipe_holds_every_figure_in_one_piece(table, capsys):
    print_figures(table)
    text = capsys.readouterr().out
    rows = [[cell.strip() for cell in row.strip("│").split("│")] for row in text.splitlines() if row.startswith("│")]
    assert rows == [list(row) for row in table.rows]


def test_no_runs():
    (empty,) = run_tables([])
    assert empty.rows == ()
    assert len(empty.to_csv().splitlines()) == 1
    assert empty.to_markdown() == "not run\n"
    assert len(table_of([], all_rows=True).rows) == 26
    print_figures(empty)


def test_the_place_wise_model_is_named_and_is_not_the_papers(result):
    placewise, flat = result("weaving-6", features="characters", places="late"), result("weaving-6")
    assert [(line_of(r)["model"], line_of(r)["published"]) for r in (placewise, flat)] == [
        ("AOE (characters, late)", "–"),
        ("AOE (digits)", "paper 100.00"),
    ]
