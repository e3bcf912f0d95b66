import pytest

from adelic.benchmark import published_rows, summarise
from adelic.benchmark.comparison import comparisons
from adelic.benchmark.overview import (
    differences,
    differences_grid,
    models_grid,
    overview,
    paper_grid,
    recipe_grids,
)


def lines(grid):
    assert all(len(line) == len(grid.headers) for line in grid.rows)
    return {line[0]: dict(zip(grid.headers, line, strict=True)) for line in grid.rows}


@pytest.fixture
def found(result):
    """AOE in two forms, learned and a run that says one class, on Schubert 4; three seeds."""

    def make(*more):
        runs = []
        for seed, noise in enumerate((-0.001, 0.0, 0.001)):
            for embedding, features, accuracy in (
                ("adelic", "digits", 0.96),
                ("adelic", "characters", 0.97),
                ("learned", "none", 0.9 + 2 * noise),
                ("fone", "none", 0.5),
            ):
                run = result(embedding=embedding, seed=seed, accuracy=accuracy + noise, loss=0.25, majority=0.494)
                run["configuration"]["embedding"]["features"] = features
                run["validation"]["accuracy"] = {"digits": 0.99, "characters": 0.98}.get(features, 0.5 + noise)
                run |= {"features": features, "predicts_one_class": embedding == "fone"}
                if embedding == "learned":
                    run["validation"]["accuracy"] = 0.9
                runs.append(run)
        return comparisons(summarise([*runs, *more]))

    return make


def test_who_wins(found):
    rows = lines(overview(found()))
    assert list(rows) == list(published_rows())
    line = rows["schubert-4"]
    assert line["AOE"] == "96.00 ± 0.25 (digits)"  # characters are better on the test split, which chooses nothing
    assert line["best other embedding"] == "90.00 ± 0.75 (learned)"
    assert line["best outside the Transformer"] == "not run"
    assert line["AOE − other"] == "+6.00"
    assert line["majority class"] == "49.40"
    assert line["best published"] == "94.6 ± 1.0 (ACD authors, Transformer)"
    assert line["AOE beats it"] == "yes"
    assert 0 < float(line["p"].removeprefix("< ")) < 0.05
    assert rows["quiver-11"]["AOE"] == rows["quiver-11"]["best other embedding"] == "not run"
    assert rows["quiver-11"]["best published"] == "92.9 ± 0.5 (ACD authors, Transformer)"


def test_all_models_on_all_rows(found, result):
    name = "recipes/tuned/schubert-4-learned.toml"
    tuned = result(embedding="learned", accuracy=0.5, recipe={"name": name}) | {"recipe": name}
    quick, searched = recipe_grids(found(result("mheight-8", "fone", accuracy=0.75), tuned))
    assert (quick.title, searched.title) == ("Every model, quick recipe", "Every model, tuned recipe")
    assert quick.headers == ("model", "schubert-4", "mheight-8")
    assert quick.rows == (
        ("AOE (characters)", "97.00 ± 0.25", "not run"),
        ("AOE (digits)", "96.00 ± 0.25", "not run"),
        ("fone", "50.00 ± 0.25 †", "75.00"),
        ("learned", "90.00 ± 0.75", "not run"),
    )
    assert searched.rows == (("learned", "50.00"),)
    assert [note.startswith("†") for note in quick.notes] == [False, True]


def test_what_is_no_transformer_makes_no_table_alone(result):
    outside = result(embedding="mlp", recipe={"trials": 20}) | {"recipe": "search"}
    del outside["configuration"]["recipe"]["d_model"]
    assert recipe_grids(comparisons(summarise([outside]))) == []
    (grid,) = recipe_grids(comparisons(summarise([outside, result(embedding="learned")])))
    assert [line[0] for line in grid.rows] == ["learned", "MLP"]


def test_the_papers_figures_that_are_set_aside_are_no_aim(found):
    rows = lines(overview([]))
    assert rows["weaving-6"]["best published"] == "86.1 ± 0.2 (ACD authors, MLP)"
    assert rows["weaving-7"]["best published"] == "99.9 ± 0.0 (ACD authors, Transformer)"
    assert rows["schubert-6"]["best published"] == "99.96 (AOE paper, AOE)"


def test_another_edition_has_a_line_of_its_own_without_published_figures(found, result):
    rows = lines(overview(found(result("weaving-6") | {"edition": "leaky"})))
    assert rows["weaving-6"]["AOE"] == "not run"
    assert rows["weaving-6 (leaky)"]["AOE"].endswith("(digits)")
    assert (rows["weaving-6 (leaky)"]["best published"], rows["weaving-6 (leaky)"]["AOE beats it"]) == ("–", "–")


def test_the_papers_tables(found, result):
    run = result("weaving-6", "learned", loss=0.5, accuracy=0.75, one_class=True, recipe={"name": "paper"})
    parts = found(run | {"recipe": "paper"}, result("weaving-6") | {"edition": "leaky"})
    accuracies, losses = (lines(paper_grid(parts, metric)) for metric in ("accuracy", "loss"))
    assert list(accuracies) == list(losses) == list(published_rows())
    assert accuracies["schubert-4"] == {
        "row": "schubert-4",
        "majority class": "52.3",
        "paper: learned": "50.59",
        "paper: AOE": "87.89",
        "ours: learned, paper": "not run",
        "ours: AOE, paper": "not run",
        "ours: learned, quick": "90.00 ± 0.75",
        "ours: AOE, quick": "96.00 ± 0.25 (digits)",
    }
    assert accuracies["weaving-6"]["ours: learned, paper"] == "75.00 (†)"
    one_class = lines(overview(comparisons(summarise([result(accuracy=0.5, one_class=True)]))))["schubert-4"]
    assert one_class["AOE"] == "50.00 (digits †)"
    assert (losses["schubert-4"]["paper: AOE"], losses["schubert-4"]["ours: AOE, quick"]) == (
        "0.3052",
        "0.2500 ± 0.0000 (digits)",
    )


def test_the_papers_tables_without_a_run():
    rows = lines(paper_grid([], "loss"))
    assert len(rows) == 13
    assert {cell for line in rows.values() for name, cell in line.items() if name.startswith("ours")} == {"not run"}


def test_a_capped_number_of_rows_is_named(result):
    parts = comparisons(summarise([result("lattice-10", accuracy=0.5, recipe={"max_rows": 20_000})]))
    assert lines(paper_grid(parts, "accuracy"))["lattice-10"]["ours: AOE, quick"] == "50.00 (digits, 20,000 rows)"
    assert lines(overview(parts))["lattice-10"]["recipe"] == "quick, 20,000 rows"


def test_every_model_and_the_published_ones(found):
    (part,) = found()
    grid = models_grid(part)
    rows = lines(grid)
    ours = ["AOE (characters)", "AOE (digits)", "learned", "fone †"]
    assert list(rows)[:4] == ours
    assert list(rows)[4:] == list(published_rows()["schubert-4"].published())
    assert grid.published == 5
    assert rows["AOE (digits)"]["accuracy"] == "96.00 ± 0.25"
    assert rows["AOE (digits)"]["− best published"] == "+1.40"
    assert rows["learned"]["− best published"] == "−4.60"
    assert rows["AOE paper, AOE"]["loss"] == "0.3052"
    learned = part.models["learned"]
    tokens = sum(r["rows"]["train"] * r["configuration"]["recipe"]["epochs"] * 16 for r in learned.results)
    seconds = sum(r["seconds"] for r in learned.results)
    assert rows["learned"]["tokens/s"] == f"{tokens / seconds:,.0f}"
    assert rows["AOE paper, AOE"]["tokens/s"] == "–"
    assert rows["ACD authors, MLP"]["accuracy"] == "93.1 ± 2.6"
    assert any("†" in note for note in grid.notes)


def test_figures_that_only_newer_results_have(result):
    old, new = result(), result(embedding="learned", calibration_error=0.031) | {"flops": 12_345_678}
    old["test"].pop("calibration_error", None)
    old.pop("flops", None)
    old.pop("rows", None)
    rows = lines(models_grid(comparisons(summarise([old, new]))[0]))
    assert (rows["AOE (digits)"]["calibration error"], rows["AOE (digits)"]["FLOPs (k)"]) == ("–", "–")
    assert rows["AOE (digits)"]["tokens/s"] == "–"
    assert (rows["learned"]["calibration error"], rows["learned"]["FLOPs (k)"]) == ("3.10", "12,345.7")


def test_the_matrix_of_differences(found):
    (part,) = found()
    cells = differences(part)
    assert [[cell is None for cell in line] for line in cells] == [[i == j for j in range(4)] for i in range(4)]
    assert [cell.difference for cell in cells[0] if cell] == ["+1.00", "+7.00", "+47.00"]
    assert [line[0].difference for line in cells[1:]] == ["−1.00", "−7.00", "−47.00"]
    assert (cells[0][1].p, cells[0][1].kind) == ("", "")  # the same for every seed: nothing to test
    assert (cells[0][2].kind, cells[2][0].kind) == ("up", "down")
    assert cells[0][2].p == cells[2][0].p != ""
    text = differences_grid(part).to_markdown()
    assert f"| 1. AOE (characters) |  | +1.00 | +7.00 ({cells[0][2].p}) | +47.00 |" in text
