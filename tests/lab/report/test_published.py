from dataclasses import replace
from pathlib import Path

import pytest

from adelic.errors import UnknownNameError
from adelic_lab import published_rows, read_results
from adelic_lab.report.frame import published_row
from adelic_lab.report.published import Figure, split_row

# The majority class, logistic regression, MLP and Transformer of the ACD authors (arXiv 2503.06366, with the half width
# of the 95 % interval where they give it); then the paper's tables of test accuracy and test loss, baseline and AOE.
ROWS = {
    "lattice-10": (66.19, 66.2, (90.6, 0.8), (65.3, 0.0), (66.19, 0.7045), (70.10, 0.5957)),
    "lattice-11": (66.30, 66.3, (95.8, 0.3), (69.4, 6.0), (66.30, 0.6893), (66.30, 0.6454)),
    "lattice-12": (66.50, 66.5, (98.6, 0.1), (86.2, 14.2), (66.50, 0.6845), (78.44, 0.4658)),
    "weaving-6": (63.4, 70.4, (86.1, 0.2), (85.9, 2.3), (53.02, 0.6910), (100.00, 0.6897)),
    "weaving-7": (85.0, 85.8, (99.3, 0.2), (99.9, 0.0), (51.53, 0.6933), (100.00, 0.0001)),
    "quiver-11": (17.7, 40.3, (86.5, 1.9), (92.9, 0.5), (45.13, 0.9873), (91.11, 0.2247)),
    "grassmannian-12": (50.0, 65.7, (99.3, 0.1), (99.5, 0.1), (91.27, 0.2422), (97.39, 0.0827)),
    "schubert-4": (52.3, 88.8, (93.1, 2.6), (94.6, 1.0), (50.59, 0.6937), (87.89, 0.3052)),
    "schubert-5": (49.9, 90.6, (97.5, 0.2), (96.2, 1.1), (49.83, 1.0910), (96.87, 0.1093)),
    "schubert-6": (50.1, 89.7, (99.8, 0.0), (91.3, 8.0), (50.00, 0.8031), (99.96, 0.0020)),
    "mheight-8": (91.42, 91.4, (99.4, 0.3), (99.7, 0.4), (91.42, 0.4740), (96.94, 0.1190)),
    "mheight-9": (93.20, 93.2, (99.8, 0.6), (99.9, 0.4), (93.20, 0.4329), (99.17, 0.0230)),
    "mheight-10": (94.15, 94.2, (99.9, 0.0), (99.9, 0.6), (94.15, 0.3998), (99.66, 0.0105)),
}


def test_the_rows_and_their_order():
    assert list(published_rows()) == list(ROWS)


@pytest.mark.parametrize("name", list(ROWS))
def test_figures(name):
    majority, regression, mlp, transformer, baseline, aoe = ROWS[name]
    row = published_rows()[name]
    edition = "levels" if name.startswith("weaving") else "published"  # the ACD authors' older format
    assert row.name == name
    assert split_row(name) == (row.task, int(name.rpartition("-")[2]))
    assert row.figures["majority"] == Figure(majority, edition=edition)
    assert row.figures["acd_logistic_regression"] == Figure(regression, edition=edition)
    assert row.figures["acd_mlp"] == Figure(mlp[0], interval=mlp[1], edition=edition)
    assert row.figures["acd_transformer"] == Figure(transformer[0], interval=transformer[1], edition=edition)
    assert row.paper("learned") == row.figures["paper_baseline"] == Figure(*baseline)
    assert row.paper("adelic") == row.figures["paper_aoe"] == Figure(*aoe)
    assert row.paper("fone") is None
    assert row.paper("learned", "levels") is None


@pytest.mark.parametrize("name", ["weaving-6", "weaving-7"])
def test_the_acd_authors_weaving_figures_are_of_the_levels_edition(name):
    row = published_rows()[name]
    assert [who.split(",")[0] for who in row.published()] == ["AOE paper"] * 2
    assert [who.split(",")[0] for who in row.published("levels")] == ["ACD authors"] * 3
    assert row.best_published()[0] == "AOE paper, learned"  # 100 % is set aside
    assert row.best_published("levels")[0].startswith("ACD authors")
    assert row.best_published("leaky") is None
    assert row.acd_authors("mlp") is None
    assert row.acd_authors("mlp", "levels") == row.figures["acd_mlp"]


def test_a_figure_as_text():
    assert str(Figure(94.6, interval=1.0)) == "94.6 ± 1.0"
    assert str(Figure(65.3, interval=0.0)) == "65.3 ± 0.0"
    assert str(Figure(87.89, loss=0.3)) == "87.89"


def test_unknown_rows():
    with pytest.raises(UnknownNameError, match=r"unknown row 'schubert4'.*did you mean 'schubert-4'"):
        split_row("schubert4")


def test_nothing_is_published_for_other_rows_of_the_same_task():
    run = read_results(Path(__file__).parents[3] / "experiments" / "results" / "demo")[0]
    chosen = {**run.configuration, "data": {**run.configuration["data"], "task_options": ["labelling=random"]}}
    assert published_row(run) == published_rows()["schubert-4"]
    assert published_row(replace(run, split="orbits")) is None
    assert published_row(replace(run, configuration=chosen)) is None
