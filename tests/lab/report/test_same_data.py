"""Models are compared where their data is the same, to the last option of a drawn task and the content of a table."""

from dataclasses import replace

import pytest

from adelic.data.sources import DrawnData, TableData
from adelic_lab.report.frame import comparisons, on_most_rows, run_frame
from adelic_lab.report.page import figures, row_sections
from adelic_lab.report.statistics import difference, paired
from adelic_lab.report.tables import single_runs, tables

ACCURACIES = (0.5, 0.6, 0.8)
pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def runs(result):
    """Return three seeds of a model on some data."""

    def make(data, embedding="learned", accuracies=ACCURACIES):
        about = data.as_dict()
        on = {"task": data.task, "n": data.n, "edition": data.edition, "split": data.split, "data_sha256": None}
        found = [result(embedding=embedding, seed=s, accuracy=a) for s, a in enumerate(accuracies)]
        return [replace(run, **on, configuration=run.configuration | {"data": about}) for run in found]

    return make


def gcd(*options, **counts):
    return DrawnData("gcd", 200, task_options=options, **counts)


@pytest.fixture
def table(tmp_path):
    """Return a table's data, of a file with some content."""

    def make(content="a,b,sold,kind\n1,2,3,4\n", name="mine.csv", **options):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return TableData(str(path), **options)

    return make


def titles(results):
    return [comparison.first.title for comparison in comparisons(run_frame(results))]


def is_never_compared(one, other):
    """Return whether no table has a difference between any two of the models."""
    results = [*one, *other]
    assert paired(run_frame(one), run_frame(other)).empty
    assert difference(run_frame(one), run_frame(other)) is None
    assert tables(results, "changes", "sizes") == []
    assert len(tables(results, "models")) == 2
    found = comparisons(run_frame(results))
    assert all(section["rows"] is None for section in row_sections(found))
    return len(found) == 2 == len(on_most_rows(found))


@pytest.mark.parametrize(
    ("one", "other", "headings"),
    [
        (
            gcd("outcomes=uniform"),
            gcd("limit=5000"),
            ["gcd-200 (limit=5000, drawn)", "gcd-200 (outcomes=uniform, drawn)"],
        ),
        (gcd(), gcd("limit=5000"), ["gcd-200 (drawn)", "gcd-200 (limit=5000, drawn)"]),
        (gcd(), gcd(test_cases=500), ["gcd-200 (drawn)", "gcd-200 (test cases 500, drawn)"]),
    ],
)
def test_options_of_a_drawn_task_are_data_of_their_own(runs, one, other, headings):
    mine, theirs = runs(one), runs(other, accuracies=(0.7, 0.9, 0.9))
    results = [*mine, *theirs]
    assert titles(results) == headings
    assert is_never_compared(mine, theirs)
    (lines,) = tables(results, "runs")
    assert [line[:2] for line in lines.rows] == [(heading, "learned") for heading in headings]
    assert {line[0] for line in single_runs(results).rows} == {
        h.replace(", drawn", "").replace(" (drawn)", "") for h in headings
    }
    assert len([name for name in figures(results) if name.endswith("-curves.svg")]) == 2


def test_questions_that_are_never_seen_are_not_in_the_test(runs):
    """How many of them there are changes no row of training or test."""
    mine, theirs = runs(gcd()), runs(gcd(never_seen_cases=50), "adelic", (0.7, 0.9, 0.9))
    assert titles([*mine, *theirs]) == ["gcd-200 (drawn)"]
    assert len(paired(run_frame(mine), run_frame(theirs))) == 3


@pytest.mark.parametrize(
    ("one", "other", "headings"),
    [
        ({"target": "sold"}, {"target": "kind"}, ["mine (target kind, random)", "mine (target sold, random)"]),
        (
            {"target": "sold", "columns": ("a",)},
            {"target": "sold", "columns": ("a", "b")},
            ["mine (target sold, columns a and b, random)", "mine (target sold, columns a, random)"],
        ),
        (
            {"target": "sold", "answer": "classes"},
            {"target": "sold", "groups": "b"},
            ["mine (target sold, answer classes, random)", "mine (target sold, groups b, random)"],
        ),
    ],
)
def test_target_and_columns_of_a_table_are_data_of_their_own(runs, table, one, other, headings):
    mine, theirs = runs(table(**one)), runs(table(**other), accuracies=(0.7, 0.9, 0.9))
    assert titles([*mine, *theirs]) == headings
    assert is_never_compared(mine, theirs)


def test_a_table_that_has_changed_is_another(runs, table):
    one, other = table(target="sold"), table("a,b,sold,kind\n5,6,7,8\n", target="sold")
    assert titles(runs(one)) == ["mine (target sold, random)"]
    mine, theirs = runs(one), runs(other, accuracies=(0.7, 0.9, 0.9))
    expected = sorted(f"mine (target sold, file {d.sha256[:8]}, random)" for d in (one, other))
    assert sorted(titles([*mine, *theirs])) == expected
    assert is_never_compared(mine, theirs)


def test_a_table_is_the_same_by_another_path(runs, table):
    one, other = (table(name=name, target="sold") for name in ("mine.csv", "copy/mine.csv"))
    mine, theirs = runs(one), runs(other, "adelic", (0.7, 0.9, 0.9))
    assert titles([*mine, *theirs]) == ["mine (target sold, random)"]
    assert difference(run_frame(mine), run_frame(theirs))["seeds"] == 3


def test_runs_on_other_rows_are_no_pair(result):
    """As when a task has a new version: another SHA-256, and other labels, or none. Older results are paired."""
    other = {"labels": None, "predictions": None}
    first = run_frame(result(seed=s, data_sha256="a") for s in range(4))
    about = ({"data_sha256": "a"}, {"data_sha256": "b"} | other, {"data_sha256": None} | other, {"data_sha256": "a"})
    second = run_frame(result(embedding="learned", seed=s, **each) for s, each in enumerate(about))
    assert paired(first, second).seed.tolist() == [0, 2, 3]
    assert paired(first, run_frame([result(row="mheight-8", embedding="learned", data_sha256=None)])).empty


def test_the_same_rows_in_other_bytes_are_a_pair(result):
    """As when another version of pyarrow wrote the file: the SHA-256 differs, and no label does."""
    first, second = result(data_sha256="a"), result(embedding="learned", data_sha256="b")
    assert first.labels == second.labels is not None
    assert len(paired(run_frame([first]), run_frame([second]))) == 1
    labels = second.labels[:-8] + ("AAAAAAA=" if second.labels[-8:] != "AAAAAAA=" else "BBBBBBB=")
    assert paired(run_frame([first]), run_frame([replace(second, labels=labels)])).empty
