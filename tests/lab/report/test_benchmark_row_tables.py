import pytest

from adelic_lab import EmbeddingConfig, published_rows, summarise
from adelic_lab.report.comparison import comparisons
from adelic_lab.report.row_tables import (
    costs_table,
    models_table,
    overview,
    paper_table,
    recipe_tables,
    sizes_tables,
    verdict,
)
from adelic_lab.report.rows import Figure, as_published


def lines(table):
    assert all(len(line) == len(table.columns) for line in table.rows)
    return {line[0]: dict(zip(table.columns, line, strict=True)) for line in table.rows}


@pytest.fixture
def found(result):
    """AOE in two forms, learned and a run that says one class, on Schubert 4; three seeds, look-up has 50 %."""

    def make(*more):
        runs = []
        for seed, noise in enumerate((-0.001, 0.0, 0.001)):
            for embedding, features, accuracy in (
                ("adelic", "digits", 0.96),
                ("adelic", "characters", 0.97),
                ("learned", None, 0.9 + 2 * noise),
                ("fone", None, 0.5),
            ):
                best = {"digits": 0.99, "characters": 0.98, None: 0.9 if embedding == "learned" else 0.5 + noise}
                runs.append(
                    result(
                        embedding=embedding,
                        features=features,
                        seed=seed,
                        accuracy=accuracy + noise,
                        loss=0.25,
                        majority=0.494,
                        lookup=0.5 + noise,
                        validation={"accuracy": best[features], "loss": 0.5},
                        predicts_one_class=embedding == "fone",
                    )
                )
        return comparisons(summarise([*runs, *more]))

    return make


def test_each_row(found):
    rows = lines(overview(found()))
    assert list(rows) == list(map(as_published, published_rows()))
    line = rows["schubert-4 (published)"]
    assert line["AOE"] == "96.00 ± 0.25 (digits, quick)"  # characters are better on test, which chooses nothing
    assert line["learned"] == "90.00 ± 0.75"
    assert line["best rival"] == "50.00 ± 0.25 (fone †)"
    assert line["best outside the Transformer"] == "not run"
    assert line["AOE − learned"].startswith("+6.00 (+5.")
    assert line["AOE − learned"].endswith("p < 0.001)")  # the declared one, without a correction
    assert (line["majority class"], line["look-up"]) == ("49.40", "50.00")
    assert line["best published"] == "94.6 ± 1.0 (ACD authors, Transformer)"
    assert line["above published"] == "yes"
    assert rows["quiver-11 (published)"]["AOE"] == rows["quiver-11 (published)"]["learned"] == "not run"
    assert rows["quiver-11 (published)"]["best published"] == "92.9 ± 0.5 (ACD authors, Transformer)"
    assert rows["weaving-6 (published)"]["majority class"] == "–"  # the ACD authors' is of the levels


@pytest.mark.parametrize(
    ("accuracies", "published", "expected"),
    [
        ((0.958, 0.96, 0.962), Figure(94.6, interval=0.8), "yes"),
        ((0.958, 0.96, 0.962), Figure(94.6, interval=1.0), "mean only"),  # their intervals overlap
        ((0.92, 0.96, 1.00), Figure(94.6), "mean only"),
        ((0.96, 0.97), Figure(94.6), "mean only"),  # two seeds have no interval
        ((0.96,), Figure(94.6), "mean only"),
        ((0.94, 0.94, 0.94), Figure(94.6, interval=1.0), "no"),
    ],
)
def test_above_published_honours_both_intervals(accuracies, published, expected):
    assert verdict(list(accuracies), published) == expected


def test_splits_and_editions_have_lines_of_their_own(found, result):
    """The ACD authors' weaving figures stand beside the levels edition, and all others' beside the published split."""
    runs = [
        result("weaving-6", accuracy=0.9, edition=edition, split=split)
        for edition, split in (("levels", "published"), ("levels", "orbits"), ("published", "orbits"))
    ]
    rows = lines(overview(comparisons(summarise(runs))))
    weaving = {name: line["best published"] for name, line in rows.items() if name.startswith("weaving-6")}
    assert weaving == {
        "weaving-6 (published)": "53.02 (AOE paper, learned)",
        "weaving-6 (levels, published)": "86.1 ± 0.2 (ACD authors, MLP)",
        "weaving-6 (levels, orbits)": "–",
        "weaving-6 (orbits)": "–",
    }
    assert rows["weaving-6 (levels, published)"]["above published"] == "mean only"
    assert rows["weaving-6 (orbits)"]["above published"] == "–"
    assert list(rows).index("weaving-6 (orbits)") < list(rows).index("weaving-7 (published)")


def test_of_one_row_nothing_is_said_of_the_others(result):
    """They are left out of what is reported, which does not mean that they were not run."""
    parts = comparisons(summarise([result("weaving-6", accuracy=0.9)]))
    assert list(lines(overview(parts, "weaving-6"))) == ["weaving-6 (published)"]
    for metric in ("accuracy", "loss"):
        assert list(lines(paper_table(parts, metric, "weaving-6"))) == ["weaving-6 (published)"]


def test_what_is_contaminated_is_in_tables_by_that_name_and_in_no_verdict(result):
    parts = comparisons(summarise([result("weaving-6", accuracy=1.0, edition="leaky", contaminated=True)]))
    assert list(lines(overview(parts))) == list(map(as_published, published_rows()))
    assert lines(overview(parts))["weaving-6 (published)"]["AOE"] == "not run"
    assert models_table(parts[0]).title == "weaving-6 (leaky, published, contaminated), quick recipe"
    assert models_table(parts[0]).published == 0
    assert recipe_tables(parts)[0].columns == ("model", "weaving-6 (leaky, published, contaminated)")


def test_all_models_on_all_rows(found, result):
    name = "recipes/tuned/schubert-4-learned.toml"
    older = {"lookup": 0.25, "rule": None, "rule_name": None}
    tuned = result(embedding="learned", accuracy=0.5, recipe={"name": name}, **older)
    more = [result("mheight-8", "fone", accuracy=0.75, lookup=0.9, rule=0.9), tuned]
    quick, searched = recipe_tables(found(*more))
    assert (quick.title, searched.title) == (
        "Every model, quick recipe, published split",
        "Every model, tuned recipe, published split",
    )
    assert quick.columns == ("model", "schubert-4 (published)", "mheight-8 (published)")
    assert quick.rows == (
        ("AOE (characters)", "97.00 ± 0.25", "not run"),
        ("AOE (digits)", "96.00 ± 0.25", "not run"),
        ("fone", "50.00 ± 0.25 †", "75.00"),
        ("learned", "90.00 ± 0.75", "not run"),
        ("majority class", "49.40", "50.00"),
        ("look-up", "50.00", "90.00"),
        ("best trivial rule", "100.00", "90.00"),
    )
    rules = (("majority class", "50.00"), ("look-up", "25.00"), ("best trivial rule", "–"))
    assert searched.rows == (("learned", "50.00"), *rules)
    assert [note.startswith("†") for note in quick.notes] == [False, True]


def test_each_split_has_a_table_of_all_models(found, result):
    orbits = [result(row, accuracy=0.5, split="orbits") for row in ("schubert-4", "mheight-8")]
    first, second = recipe_tables(found(*orbits))
    assert first.columns == ("model", "schubert-4 (published)")
    assert second.columns == ("model", "schubert-4 (orbits)", "mheight-8 (orbits)")


def test_what_is_no_transformer_makes_no_table_alone(result):
    outside = result(embedding="mlp", recipe={"name": "search", "trials": 20})
    del outside.configuration["recipe"]["d_model"]
    assert recipe_tables(comparisons(summarise([outside]))) == []
    (table,) = recipe_tables(comparisons(summarise([outside, result(embedding="learned")])))
    assert [line[0] for line in table.rows] == ["learned", "MLP", "majority class", "look-up", "best trivial rule"]


def test_the_papers_figures_that_are_set_aside_are_no_aim():
    rows = lines(overview([]))
    assert rows["weaving-6 (published)"]["best published"] == "53.02 (AOE paper, learned)"
    assert rows["schubert-6 (published)"]["best published"] == "99.96 (AOE paper, AOE)"


def test_the_papers_tables(found, result):
    run = result("weaving-6", "learned", loss=0.5, accuracy=0.75, lookup=0.625, predicts_one_class=True,
                 recipe={"name": "paper"})  # fmt: skip
    others = [result("weaving-6", edition="leaky", contaminated=True), result("schubert-4", split="orbits")]
    parts = found(run, *others)
    accuracies, losses = (lines(paper_table(parts, metric)) for metric in ("accuracy", "loss"))
    assert list(accuracies) == list(losses) == list(map(as_published, published_rows()))
    assert accuracies["schubert-4 (published)"] == {
        "row": "schubert-4 (published)",
        "recipe": "quick",
        "majority class": "49.40",
        "look-up": "50.00",
        "paper: learned": "50.59",
        "ours: learned": "90.00 ± 0.75",
        "paper: AOE": "87.89",
        "ours: AOE": "96.00 ± 0.25 (digits)",
    }
    assert accuracies["weaving-6 (published)"]["ours: learned"] == "75.00 (†)"
    assert accuracies["weaving-6 (published)"]["recipe"] == "paper"
    assert accuracies["weaving-6 (published)"]["look-up"] == "62.50"
    one_class = lines(overview(comparisons(summarise([result(accuracy=0.5, predicts_one_class=True)]))))[
        "schubert-4 (published)"
    ]
    assert one_class["AOE"] == "50.00 (digits †, quick)"
    assert (losses["schubert-4 (published)"]["paper: AOE"], losses["schubert-4 (published)"]["ours: AOE"]) == (
        "0.3052",
        "0.2500 ± 0.0000 (digits)",
    )


def test_a_line_of_the_papers_table_for_each_recipe(found, result):
    paper = result("schubert-4", "learned", accuracy=0.5, recipe={"name": "paper"})
    rows = [row for row in paper_table(found(paper), "accuracy").rows if row[0] == "schubert-4 (published)"]
    assert [(row[1], row[5], row[7]) for row in rows] == [
        ("quick", "90.00 ± 0.75", "96.00 ± 0.25 (digits)"),
        ("paper", "50.00", "not run"),
    ]


def test_the_papers_tables_without_a_run():
    rows = lines(paper_table([], "loss"))
    assert len(rows) == 13
    assert {cell for line in rows.values() for name, cell in line.items() if name.startswith("ours")} == {"not run"}
    rows = lines(paper_table([], "accuracy"))
    assert (rows["schubert-4 (published)"]["majority class"], rows["weaving-6 (published)"]["majority class"]) == (
        "52.3",
        "–",
    )


def test_a_capped_number_of_rows_is_named(result):
    parts = comparisons(summarise([result("lattice-10", accuracy=0.5, recipe={"max_rows": 20_000})]))
    assert lines(paper_table(parts, "accuracy"))["lattice-10 (published)"]["ours: AOE"] == "50.00 (digits, 20,000 rows)"
    assert lines(overview(parts))["lattice-10 (published)"]["AOE"] == "50.00 (digits, quick, 20,000 rows)"


def test_every_model_and_the_published_ones(found):
    (part,) = found()
    table = models_table(part)
    rows = lines(table)
    ours = ["AOE (characters)", "AOE (digits)", "learned", "fone †"]
    assert list(rows)[:4] == ours
    assert list(rows)[4:] == list(published_rows()["schubert-4"].published())
    assert table.published == 5
    assert rows["AOE (digits)"]["accuracy"] == "96.00 ± 0.25"
    assert rows["AOE (digits)"]["above look-up"] == "+46.00"
    assert rows["fone †"]["above look-up"] == "0.00"
    assert rows["AOE paper, AOE"]["loss"] == "0.3052"
    assert rows["AOE paper, AOE"]["above look-up"] == "–"
    assert rows["ACD authors, MLP"]["accuracy"] == "93.1 ± 2.6"
    assert any("†" in note for note in table.notes)
    assert any("majority class 49.40 %, look-up 50.00 %" in note for note in table.notes)


def test_two_variants_of_a_rival_are_told_apart(result):
    options = {sigma: EmbeddingConfig.of("periodic", sigma=sigma).as_dict() for sigma in (0.01, 0.3)}
    runs = [result(embedding="periodic", accuracy=0.5 + sigma, model=model) for sigma, model in options.items()]
    (part,) = comparisons(summarise(runs))
    assert list(lines(models_table(part)))[:2] == ["periodic (sigma 0.3)", "periodic (sigma 0.01)"]


def test_older_seeds_are_marked(result):
    runs = [result(embedding="learned", seed=s) for s in range(3)]
    for run in runs:
        run.configuration["data"]["seed"] = 0
    table = models_table(comparisons(summarise(runs))[0])
    assert table.rows[0][0] == "learned ‡"
    assert any(note.startswith("‡ older runs") for note in table.notes)


@pytest.mark.parametrize(
    ("recipe", "compute", "used", "mark"),
    [
        ("paper", None, None, ""),
        ("paper", "float32", "float32", ""),
        ("paper", "bfloat16", None, " §"),
        ("compact", "bfloat16", None, ""),
        ("compact", "bfloat16", "bfloat16", ""),
        ("compact", "bfloat16", "float32", " §"),  # of a processor without it
        ("compact", None, None, " §"),
        ("recipes/mine.toml", "bfloat16", "float32", ""),
    ],
)
def test_another_precision_than_the_recipes_is_marked(result, recipe, compute, used, mark):
    """Files of results leave float32 out, which recipes had before there was a choice, and older ones what was used."""
    told = {} if compute is None else {"compute": compute}
    run = result(embedding="learned", recipe={"name": recipe} | told, compute=used)
    table = models_table(comparisons(summarise([run]))[0])
    assert table.rows[0][0] == "learned" + mark
    assert any("precision" in note for note in table.notes) == bool(mark)


def test_no_table_has_more_columns_than_one_reads(found):
    parts = found()
    tables = [overview(parts), paper_table(parts, "accuracy"), models_table(parts[0])]
    assert all(len(table.columns) <= 10 for table in tables)


def test_accuracies_by_the_number_of_training_rows(result):
    few = [
        result(embedding=name, seed=s, accuracy=a + 0.01 * s, lookup=0.4, rule=None, recipe={"max_rows": 50})
        for name, a in {"adelic": 0.7, "learned": 0.6, "xval": 0.5}.items()
        for s in (0, 1)
    ]
    every = [result(embedding=name, accuracy=0.9, lookup=0.5, rule=None) for name in ("adelic", "learned")]
    only_once = result("mheight-8")
    (table,) = sizes_tables(comparisons(summarise([*every, *few, only_once])))
    assert table.columns == ("model", "50 rows", f"all {every[0].rows['train']:,}")
    assert {name: cells for name, *cells in table.rows} == {
        "AOE (digits)": ["70.50 [70.00, 71.00]", "90.00"],
        "learned": ["60.50 [60.00, 61.00]", "90.00"],
        "AOE − learned": ["+10.00 (each seed)", "0.00"],
        "majority class": ["50.00", "50.00"],
        "look-up": ["40.00", "50.00"],
        "best trivial rule": ["–", "–"],
    }  # xval ran on one number of rows alone


def test_what_a_run_costs(result):
    train = {"train": 1_000, "validation": 10, "test": 10}
    graph = result(
        "quiver-11",
        recipe={"body": "graph", "epochs": 20},
        rows=train,
        flops=7_000,
        command="adelic train quiver  # at abc",
    )
    tokens = result(
        "quiver-11", embedding="learned", recipe={"epochs": 20}, rows=train, flops=90_000, command="adelic train"
    )
    ours, theirs = (costs_table(comparisons(summarise([run]))).rows[0] for run in (graph, tokens))
    assert ours[2:5] == (
        "1,000",
        "0.2",
        "4.2e+08",
    )  # 11 vertices · 1,000 rows · 20 epochs; three times the forward pass
    assert theirs[2:5] == ("1,000", "2.4", "5.4e+09")  # 121 tokens and [CLS]
    command, comment = graph.todays_command().split("  # ")
    assert command.startswith("adelic train quiver --")
    assert "--body graph" in command  # the recipe says no such thing
    assert (ours[-1], theirs[-1]) == (f"`{command}` ({comment})", "`adelic train`")
    assert comment == "at abc"


def test_another_body_is_not_compared_with_tokens(result):
    runs = [
        result("quiver-11", embedding=name, recipe=body)
        for name in ("adelic", "learned")
        for body in ({}, {"body": "graph"})
    ]
    found = comparisons(summarise(runs))
    assert sorted(part.recipe for part in found) == ["quick", "quick --body graph"]
    assert all(len(part.models) == 2 for part in found)
    told = [row[1] for row in paper_table(found, "loss").rows if row[0].startswith("quiver")]
    assert sorted(told) == ["quick", "quick with body graph"]
    assert {table.title for table in recipe_tables(found)} == {
        f"Every model, {recipe} recipe, published split" for recipe in ("quick", "quick with body graph")
    }


def test_the_recipe_of_a_row_is_the_best_of_aoe_and_learned_vectors(found, result):
    """Learned vectors are best with an MLP, AOE without; the rival of the other recipe is named with it."""
    body = {"body": "mlp"}
    aoe, learned = (
        [
            result(embedding=name, features=features, accuracy=rate, recipe=body, validation=validation, seed=seed)
            for seed in range(3)
        ]
        for name, features, rate, validation in (
            ("adelic", "digits", 0.8, {"accuracy": 0.8, "loss": 1}),
            ("learned", None, 0.98, {"accuracy": 0.995, "loss": 0.1}),
        )
    )
    line = lines(overview(found(*aoe, *learned)))["schubert-4 (published)"]
    assert (line["AOE"], line["learned"]) == ("80.00 ± 0.00 (digits, quick with body mlp)", "98.00 ± 0.00")
    assert line["best rival"].endswith("(fone †, quick)")
    fewer = lines(overview(found(*aoe[:2], *learned)))["schubert-4 (published)"]  # two seeds, which have no interval
    assert fewer["AOE"] == "96.00 ± 0.25 (digits, quick)"
    alone = lines(overview(found(*learned)))["schubert-4 (published)"]  # AOE did not run with it: nothing to be paired
    assert alone["AOE"] == "96.00 ± 0.25 (digits, quick)"
