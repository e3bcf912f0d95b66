"""Models outside the Transformer in a matrix of runs, in the table and in the report."""

from adelic_lab import (
    CLASSICAL_MODELS,
    Budget,
    plan_classical,
    published_rows,
)
from adelic_lab.report.tables import RUN_COLUMNS, tables
from adelic_lab.runs.matrix import outstanding_work


def lines_by_model(results):
    (table,) = tables(results, "runs")
    return {row[1].removesuffix(" †"): dict(zip(RUN_COLUMNS, row, strict=True)) for row in table.rows}


def test_a_plan_is_rows_by_models_by_seeds():
    configs = plan_classical(["schubert-4", "mheight-8"], ["mlp", "trees"], [0, 3], trials=7, max_rows=50)
    assert [(c.row, c.model.name, c.seed) for c in configs] == [
        (row, name, seed) for row in ("schubert-4", "mheight-8") for name in ("mlp", "trees") for seed in (0, 3)
    ]
    assert {(c.search.trials, c.recipe.max_rows, c.data.edition) for c in configs} == {(7, 50, "published")}
    assert len(plan_classical(["schubert-4"] * 2, ["mlp"] * 2, [0, 0])) == 1
    assert [c.row for c in plan_classical([], ["majority"], [0])] == list(published_rows())


def test_what_is_left_to_do(classical, run_in, tmp_path, tiny_config):
    config, runs = classical("trees"), tmp_path / "runs"
    assert config.parts_done(runs) == (0, 3, "fits")
    assert tiny_config(epochs=4).parts_done(runs) == (0, 4, "epochs")
    assert outstanding_work(config, runs) < outstanding_work(tiny_config(epochs=1), runs)
    assert outstanding_work(classical("trees", max_rows=10), runs) < outstanding_work(config, runs)
    assert run_in(tmp_path, [config], budget=Budget(0)) == []
    run_in(tmp_path, [config], budget=Budget(600))
    assert config.parts_done(runs) == (3, 3, "fits")
    assert outstanding_work(config, runs) == 0


def test_the_acd_authors_figure_is_that_of_the_same_kind_of_model(result):
    row = published_rows()["schubert-4"]
    results = [result(embedding=name) for name in CLASSICAL_MODELS]
    lines = lines_by_model(results)
    assert {model: line["published"] for model, line in lines.items()} == {
        "majority class": "ACD 52.3",
        "look-up": "–",
        "logistic regression": f"ACD {row.acd_authors('logistic')}",
        "MLP": f"ACD {row.acd_authors('mlp')}",
        "boosted trees": "–",
        "boosted trees on digits": "–",
    }
