"""Models outside the Transformer in a matrix of runs, in the table and in the report."""

import pytest

from adelic.errors import AdelicError
from adelic_lab import (
    CLASSICAL_MODELS,
    Budget,
    plan_classical,
    published_rows,
    read_results,
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


@pytest.mark.parametrize(
    ("rows", "models", "seeds", "changes", "words"),
    [
        (["schubert-4"], [], [0], {}, "at least one model"),
        (["schubert-4"], ["mlp"], [], {}, "one seed"),
        (["schubert-9"], ["mlp"], [0], {}, "unknown row"),
        (["schubert-4"], ["mlp"], [0], {"edition": "leaky"}, "edition"),
        (["schubert-4"], ["mlp"], [0], {"split": "orbit"}, "did you mean 'orbits'"),
    ],
)
def test_plans_that_make_no_sense(rows, models, seeds, changes, words):
    with pytest.raises(AdelicError, match=words):
        plan_classical(rows, models, seeds, **changes)


def test_a_matrix_of_both_kinds(classical, run_in, tmp_path, tiny_config):
    """A Transformer, and two seeds each of two other models; all results are read by what reads results."""
    outside = [classical(name, seed=seed) for name in ("logistic", "trees") for seed in (0, 1)]
    configs = [tiny_config(epochs=1), *outside]
    found = run_in(tmp_path, configs)
    assert [result.embedding for result in found] == ["learned", "logistic", "logistic", "trees", "trees"]
    results = tmp_path / "results"
    assert [path.name for path in results.iterdir()] == ["schubert-3.jsonl"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")}
    assert len(before) == 1 + 1 + 4 + 1 + 2  # results, the Transformer's metrics and result, fits, trials
    assert run_in(tmp_path, configs) == found
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")} == before

    assert [result.flops > 0 for result in found] == [True] * 5
    lines = lines_by_model(read_results(results))
    assert lines["boosted trees"]["training"] == "search, 2 trials, 2 seeds"
    assert lines["learned"]["training"] == "quick, 1 epoch, 1 seed"
    first, other = sorted(100 * result.test["accuracy"] for result in found[1:3])
    assert first != other  # logistic regression knows no chance, but the split is drawn, too
    assert lines["logistic regression"]["test accuracy"] == f"{(first + other) / 2:.2f} [{first:.2f}, {other:.2f}]"


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


def test_a_budget_stops_a_search_which_goes_on(classical, run_in, steps, tmp_path):
    config = classical("trees", trials=3)
    assert run_in(tmp_path, [config], budget=steps(2)) == []
    done, _, _ = config.parts_done(tmp_path / "runs")
    assert 0 < done < 3
    (result,) = run_in(tmp_path, [config])
    assert len(result.search["trials"]) == 3


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
    }
