"""The report begins with its answer, and has bold what is ahead beyond the intervals, and nothing else."""

import re

import pytest
from matplotlib.figure import Figure

from adelic_lab import summarise
from adelic_lab.report.comparison import comparisons
from adelic_lab.report.contrasts import contrasts_table, differences_table
from adelic_lab.report.plots import LEAST_POINTS, at_least
from adelic_lab.report.report import render_page
from adelic_lab.report.row_tables import answer, models_table, overview

AHEAD = {"adelic": 0.96, "learned": 0.90, "fone": 0.93}


@pytest.fixture
def runs(result):
    """Return runs of models with these accuracies, which differ by a tenth of a point from seed to seed."""

    def make(row="schubert-4", seeds=3, **accuracies):
        return [
            result(row, name, seed=s, accuracy=accuracy + (s + len(name)) % 3 / 1000, lookup=0.5)
            for s in range(seeds)
            for name, accuracy in accuracies.items()
        ]

    return make


def found(results):
    return comparisons(summarise(results))


def cells(table):
    """Return the row's name and the column of what is bold."""
    return {(table.rows[i][0], table.columns[column]) for i, column in table.ahead}


def test_the_answer(runs):
    few = {"adelic": 0.5, "learned": 0.9}
    others = [
        *runs("weaving-6", adelic=0.9, learned=0.9, fone=0.9),
        *runs("mheight-8", 2, **few),
        *runs("lattice-10", **few),
    ]
    first, second = answer(found([*runs(**AHEAD), *others]))
    assert "on 4 rows: AOE is ahead beyond the 95 % interval on 1 row: schubert-4 (published) (+6.0" in first
    assert "learned vectors on 1 row: lattice-10 (published) (−40.0" in first
    assert "on 1 row the interval contains 0, and 1 row had too few seeds" in first
    assert second.startswith("Ahead of every other model of its row beyond the intervals: ")
    assert "schubert-4 (published): AOE (digits)" in second
    assert "weaving" not in second
    assert "mheight" not in second


def test_bold_is_who_is_ahead(runs):
    (part,) = found(runs(**AHEAD))
    line = {column for name, column in cells(overview([part])) if name == "schubert-4 (published)"}
    assert {"AOE", "AOE − learned"} <= line <= {"AOE", "AOE − learned", "above published"}
    assert {column for _, column in cells(contrasts_table([part]))} == {"AOE − learned"}
    assert cells(models_table(part)) == {("AOE (digits)", "accuracy")}
    assert {name for name, _ in cells(differences_table(part))} == {"fone"}


@pytest.mark.parametrize(
    ("seeds", "accuracies"), [(3, {"adelic": 0.9, "learned": 0.9, "fone": 0.9}), (2, AHEAD), (1, AHEAD)]
)
def test_nothing_is_bold_where_nobody_is_ahead_or_there_are_too_few_seeds(runs, seeds, accuracies):
    (part,) = found(runs(seeds=seeds, **accuracies))
    for table in (overview([part]), contrasts_table([part]), models_table(part), differences_table(part)):
        assert {column for _, column in cells(table)} <= {"above published"}


@pytest.mark.long
def test_the_page_begins_with_the_answer_and_not_with_what_was_not_run(runs):
    page = render_page(summarise(runs(**AHEAD)))
    before, _, table = page.partition("<table")
    assert 'class="answer"' in before
    assert "AOE is ahead beyond the 95 % interval on 1 row" in before
    body = table.partition("</table>")[0]
    assert "not run" not in re.sub(r"<th.*?</th>", "", body.partition("best outside")[0])
    assert "weaving-6" not in body
    assert "Not run, of the AOE paper’s rows: " in page
    assert "quiver-11" in render_page(summarise(runs(**AHEAD)), all_rows=True).partition("</table>")[0]
    bold = re.findall(r'<td class="ahead">([^<]*)', page)
    assert bold
    assert all(float(text.replace("−", "-").split()[0]) > 0 for text in bold if text != "yes")


@pytest.mark.parametrize("ends", [(99.8, 100.0), (99.9, 101.0), (0.0, 0.2), (50.0, 50.1), (20.0, 90.0)])
def test_no_axis_is_zoomed_to_a_few_test_rows(ends):
    axes = Figure().subplots()
    axes.set_ylim(*ends)
    at_least(axes, LEAST_POINTS)
    low, high = axes.get_ylim()
    assert low <= ends[0]
    assert high >= ends[1]
    assert high - low >= LEAST_POINTS - 1e-9
    assert high <= 101
    if ends[1] - ends[0] > LEAST_POINTS:
        assert (low, high) == ends
