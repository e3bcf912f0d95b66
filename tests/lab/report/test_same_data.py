"""Models are compared where their data is the same, to the last option of a drawn task and the content of a table."""

from dataclasses import replace

import pytest

from adelic.data.sources import DrawnData, TableData
from adelic_lab import Summary, summarise
from adelic_lab.report.comparison import comparisons, on_most_rows
from adelic_lab.report.report import figures, row_sections, tables
from adelic_lab.report.results import paired
from adelic_lab.report.run_tables import run_tables, single_runs
from adelic_lab.report.significance import paired_difference

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


def titles(summaries):
    return [comparison.first.title for comparison in comparisons(summaries)]


def is_never_compared(summaries):
    """Return whether no table has a difference between any two of the models."""
    first, second = summaries
    assert paired(first, second) is None
    assert paired_difference(first, second) is None
    assert tables(summaries, "differences", "changes", "sizes") == []
    sections = row_sections(comparisons(summaries))
    assert all(section.efficiency.svg is None for section in sections)
    return len(sections) == 2 == len(on_most_rows(comparisons(summaries)))


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
    results = [*runs(one), *runs(other, accuracies=(0.7, 0.9, 0.9))]
    summaries = summarise(results)
    assert titles(summaries) == headings
    assert is_never_compared(summaries)
    (lines,) = run_tables(summaries)
    assert [line[:2] for line in lines.rows] == [(heading, "learned") for heading in headings]
    assert {line[0] for line in single_runs(results).rows} == {
        h.replace(", drawn", "").replace(" (drawn)", "") for h in headings
    }
    assert len([name for name in figures(summaries) if name.endswith("-curves.svg")]) == 2


def test_questions_that_are_never_seen_are_not_in_the_test(runs):
    """How many of them there are changes no row of training or test."""
    summaries = summarise([*runs(gcd()), *runs(gcd(never_seen_cases=50), "adelic", (0.7, 0.9, 0.9))])
    assert titles(summaries) == ["gcd-200 (drawn)"]
    assert paired(*summaries) is not None


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
    summaries = summarise([*runs(table(**one)), *runs(table(**other), accuracies=(0.7, 0.9, 0.9))])
    assert titles(summaries) == headings
    assert is_never_compared(summaries)


def test_a_table_that_has_changed_is_another(runs, table):
    one, other = table(target="sold"), table("a,b,sold,kind\n5,6,7,8\n", target="sold")
    assert titles(summarise(runs(one))) == ["mine (target sold, random)"]
    summaries = summarise([*runs(one), *runs(other, accuracies=(0.7, 0.9, 0.9))])
    assert sorted(titles(summaries)) == sorted(f"mine (target sold, file {d.sha256[:8]}, random)" for d in (one, other))
    assert is_never_compared(summaries)


def test_a_table_is_the_same_by_another_path(runs, table):
    one, other = (table(name=name, target="sold") for name in ("mine.csv", "copy/mine.csv"))
    summaries = summarise([*runs(one), *runs(other, "adelic", (0.7, 0.9, 0.9))])
    assert titles(summaries) == ["mine (target sold, random)"]
    assert paired_difference(*summaries).seeds == (0, 1, 2)


def test_runs_on_other_rows_are_no_pair(result):
    """As when a task has a new version: another SHA-256, and other labels, or none. Older results are paired."""
    other = {"labels": None, "predictions": None}
    first = Summary(tuple(result(seed=s, data_sha256="a") for s in range(4)))
    about = ({"data_sha256": "a"}, {"data_sha256": "b"} | other, {"data_sha256": None} | other, {"data_sha256": "a"})
    second = Summary(tuple(result(embedding="learned", seed=s, **each) for s, each in enumerate(about)))
    mine, theirs = paired(first, second)
    assert mine.seeds == theirs.seeds == (0, 2, 3)
    assert paired(first, Summary((result(row="mheight-8", embedding="learned", data_sha256=None),))) is None


def test_the_same_rows_in_other_bytes_are_a_pair(result):
    """As when another version of pyarrow wrote the file: the SHA-256 differs, and no label does."""
    first, second = result(data_sha256="a"), result(embedding="learned", data_sha256="b")
    assert first.labels == second.labels is not None
    assert paired(Summary((first,)), Summary((second,))) is not None
    labels = second.labels[:-8] + ("AAAAAAA=" if second.labels[-8:] != "AAAAAAA=" else "BBBBBBB=")
    assert paired(Summary((first,)), Summary((replace(second, labels=labels),))) is None
