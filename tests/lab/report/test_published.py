from dataclasses import replace
from pathlib import Path

import pytest

from adelic_lab import published_rows, read_results
from adelic_lab.report.frame import published_row
from adelic_lab.report.published import Figure, split_row


def test_the_rows_in_their_order_and_their_figures(oracle):
    assert list(published_rows()) == list(oracle("published_tables"))
    for name, its in oracle("published_tables").items():
        row = published_rows()[name]
        edition = "levels" if name.startswith("weaving") else "published"  # the ACD authors' older format
        assert row.name == name
        assert split_row(name) == (row.task, int(name.rpartition("-")[2]))
        assert row.figures["majority"] == Figure(its["majority"], edition=edition)
        assert row.figures["acd_logistic_regression"] == Figure(its["logistic_regression"], edition=edition)
        for model in ("mlp", "transformer"):
            accuracy, interval = its[model]
            assert row.figures[f"acd_{model}"] == Figure(accuracy, interval=interval, edition=edition)
        assert row.paper("learned") == row.figures["paper_baseline"] == Figure(*its["baseline"])
        assert row.paper("adelic") == row.figures["paper_aoe"] == Figure(*its["aoe"])
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


def test_nothing_is_published_for_other_rows_of_the_same_task():
    run = read_results(Path(__file__).parents[3] / "experiments" / "results" / "demo")[0]
    chosen = {**run.configuration, "data": {**run.configuration["data"], "task_options": ["labelling=random"]}}
    assert published_row(run) == published_rows()["schubert-4"]
    assert published_row(replace(run, split="orbits")) is None
    assert published_row(replace(run, configuration=chosen)) is None
