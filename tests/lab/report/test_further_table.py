"""The rows that the paper's table lacks: several targets, or a number."""

import csv
import io

import pytest

from adelic import acd
from adelic_lab import plan, published_rows, run, write_report
from adelic_lab.report.published import further_rows, split_row
from adelic_lab.report.tables import FURTHER_COLUMNS, RUN_COLUMNS, tables


@pytest.fixture(scope="module")
def further_results(tiny_config, tmp_path_factory):
    """Results of very small runs of the three tasks, by task."""
    folder = tmp_path_factory.mktemp("further")
    sizes = {"kl": 4, "rsk": 5, "characters": 5}
    return {
        task: run(tiny_config("adelic", task=task, n=n, epochs=1, max_rows=30), folder / task, device="cpu")
        for task, n in sizes.items()
    }


@pytest.fixture
def further(further_results, like):
    """Return results like real ones with other sizes, seeds and figures."""

    def make(row, seed=0, **changes):
        return like(further_results[row.rpartition("-")[0]], row, seed=seed, **changes)

    return make


def lines(results):
    """Return the lines of the tasks with several targets or a number, by column."""
    *_, table = tables(results, "runs")
    assert table.columns == FURTHER_COLUMNS
    return [dict(zip(FURTHER_COLUMNS, row, strict=True)) for row in table.rows]


def test_the_rows():
    assert {"characters-18", "kl-5", "kl-6", "rsk-8"} <= further_rows().keys()
    assert not further_rows().keys() & published_rows().keys()
    for name in further_rows():
        task, n = split_row(name)
        assert n in acd.task(task).sizes


def test_a_plan():
    configs = plan(["kl-5", "rsk-8", "characters-18"], ["adelic", "learned"], [0, 1], recipe="quick")
    assert [(c.row, c.embedding.name) for c in configs[::2]] == [
        (row, name) for row in ("kl-5", "rsk-8", "characters-18") for name in ("adelic", "learned")
    ]
    assert not {c.row for c in plan([], ["learned"], [0], recipe="quick")} & further_rows().keys()


def test_a_line_of_a_number(further):
    made = [
        further("characters-18", seed, exact_match=a, mean_squared_error=e, mean_absolute_error=1234.5678)
        for seed, (a, e) in enumerate([(0.90, 1e10), (0.92, 2e10), (0.94, 3e10)])
    ]
    (line,) = lines(made)
    assert line.pop("ACD authors").startswith("1.592e+10 / ")
    about = {"dataset": "characters-18 (published)", "target": "all", "model": "AOE (digits)", "seeds": "3"}
    figures = {
        "exact match": "92.00 ± 4.97",
        "mean squared error": "2e+10 ± 2.5e+10",
        "mean absolute error": "1235 ± 0",
    }
    trivial = {"mean squared error, baseline and look-up": f"{made[0].guess['mean_squared_error']:.4g}"}
    nothing = dict.fromkeys(("accuracy", "balanced accuracy", "majority class and look-up"), "–")
    assert line.items() >= (about | {"recipe": "quick, 1 epoch, 30 examples"} | figures | trivial | nothing).items()


def test_baselines_are_means_over_seeds(further):
    """Each seed has test rows of its own, so that the first one's figure is not the rule's."""
    made = [further("kl-5", seed, majority=rate) for seed, rate in enumerate((0.25, 0.75))]
    for each in made:
        each.guess["exact_match"] = each.targets[0]["majority"] = each.majority
    whole, first, *_ = lines(made)
    assert whole["exact match, baseline and look-up"] == "50.00"
    assert whole["majority class and look-up"] == first["majority class and look-up"] == "50.00"


def test_errors_of_two_seeds_have_their_range(further):
    made = [further("characters-18", seed, mean_squared_error=e) for seed, e in enumerate([1e10, 3e10])]
    assert lines(made)[0]["mean squared error"] == "2e+10 [1e+10, 3e+10]"
    assert lines(made[:1])[0]["mean squared error"] == "1e+10"


def test_lines_of_several_targets(further):
    made = [further("kl-5", seed, accuracy=a) for seed, a in enumerate([0.5, 0.75])]
    for result, accuracy in zip(made, (0.25, 0.75), strict=True):
        result.targets[1].update({"accuracy": accuracy, "majority": 0.125})
    whole, *targets = lines(made)
    assert whole["accuracy"] == "62.50 [50.00, 75.00]"  # of two seeds the range
    assert whole["exact match, baseline and look-up"] == f"{100 * made[0].guess['exact_match']:.2f}"
    assert [line["target"] for line in targets] == ["q^0", "q^1", "q^2"]
    assert targets[1]["accuracy"] == "50.00 [25.00, 75.00]"
    assert targets[1]["majority class and look-up"] == "12.50"
    assert {line["mean squared error"] for line in (whole, *targets)} == {"–"}
    assert len(lines([further("rsk-8")])) == 1  # ten targets are too many


def test_each_result_is_in_one_table(result, further):
    first, second = tables([further("rsk-8"), result("schubert-4"), further("kl-5"), further("kl-4")], "runs")
    assert [row[0] for row in first.rows] == ["schubert-4 (published)"]
    assert [row[0] for row in second.rows] == ["kl-5 (published)"] * 4 + ["rsk-8 (published)"] + [
        "kl-4 (published)"
    ] * 4
    assert first.rows == tables([result("schubert-4")], "runs")[0].rows
    assert [table.columns for table in tables([further("rsk-8")], "runs")] == [FURTHER_COLUMNS]
    assert [table.columns for table in tables([], "runs")] == [RUN_COLUMNS]


def test_the_report_has_both(result, further, tmp_path):
    files = write_report([result("schubert-4"), further("characters-18")], tmp_path / "page.html")
    page, text, markdown, _ = (path.read_text(encoding="utf-8") for path in files)
    parts = [list(csv.reader(io.StringIO(part))) for part in text.split("\n\n")]
    assert [rows[0] for rows in parts] == [list(RUN_COLUMNS), list(FURTHER_COLUMNS)]
    assert [rows[1][0] for rows in parts] == ["schubert-4 (published)", "characters-18 (published)"]
    assert page.count('class="scroll all-runs"') == 2
    for cell in parts[1][1]:
        assert f"<td>{cell}</td>" in page
        assert f"| {cell} |" in markdown
    assert "For characters it is the mean squared error" in page
