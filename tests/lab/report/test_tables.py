"""The tables of results, and what stands in their cells."""

from dataclasses import replace

import pytest

from adelic_lab import published_rows
from adelic_lab.cli.report import print_figures
from adelic_lab.report.frame import comparisons, run_frame
from adelic_lab.report.published import Figure, as_published
from adelic_lab.report.statistics import declared_contrast, discordance
from adelic_lab.report.table import p_text
from adelic_lab.report.tables import (
    RUN_COLUMNS,
    changes_table,
    contrasts_table,
    costs_table,
    models_table,
    overview,
    paper_table,
    tables,
    verdict,
)


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
        return comparisons(run_frame([*runs, *more]))

    return make


def test_each_row(found):
    rows = lines(overview(found()))
    assert list(rows) == list(map(as_published, published_rows()))
    line = rows["schubert-4 (published)"]
    contrast = line.pop("AOE − learned")  # the declared one
    assert contrast.startswith("+6.00 (+5.")
    assert line.pop("adjusted p") == "< 0.001"
    assert (
        line.items()
        >= {
            "recipe": "quick",
            "AOE": "96.00 ± 0.25 (digits)",  # characters are better on test, which chooses nothing
            "learned": "90.00 ± 0.75",
            "best other embedding": "50.00 ± 0.25 (fone †)",
            "best classical model": "not run",
            "look-up": "50.00",
            "best published": "▲ 94.6 ± 1.0 (ACD authors, Transformer)",
        }.items()
    )
    assert rows["quiver-11 (published)"]["AOE"] == rows["quiver-11 (published)"]["learned"] == "not run"


@pytest.mark.parametrize(
    ("accuracies", "published", "expected"),
    [
        ((0.958, 0.96, 0.962), Figure(94.6, interval=0.8), "▲"),
        ((0.958, 0.96, 0.962), Figure(94.6, interval=1.0), "≈"),  # their intervals overlap
        ((0.92, 0.96, 1.00), Figure(94.6), "≈"),
        ((0.96, 0.97), Figure(94.6), "≈"),  # two seeds have no interval
        ((0.96,), Figure(94.6), "≈"),
        ((0.94, 0.94, 0.94), Figure(94.6, interval=1.0), "▼"),
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
    rows = lines(overview(comparisons(run_frame(runs))))
    weaving = {name: line["best published"] for name, line in rows.items() if name.startswith("weaving-6")}
    assert weaving == {
        "weaving-6 (published)": "53.02 (AOE paper, learned)",
        "weaving-6 (levels, published)": "≈ 86.1 ± 0.2 (ACD authors, MLP)",
        "weaving-6 (levels, orbits)": "–",
        "weaving-6 (orbits)": "–",
    }
    assert list(rows).index("weaving-6 (orbits)") < list(rows).index("weaving-7 (published)")


def test_what_is_contaminated_is_in_tables_by_that_name_and_in_no_verdict(result):
    parts = comparisons(run_frame([result("weaving-6", accuracy=1.0, edition="leaky", contaminated=True)]))
    assert list(lines(overview(parts))) == list(map(as_published, published_rows()))
    assert lines(overview(parts))["weaving-6 (published)"]["AOE"] == "not run"
    assert models_table(parts).title == "weaving-6 (leaky, published, contaminated)"


def test_the_papers_tables(found, result):
    """See `test_docs` for all their cells."""
    of_class = result("weaving-6", "learned", accuracy=0.75, predicts_one_class=True, recipe={"name": "paper"})
    others = [result("weaving-6", edition="leaky", contaminated=True), result("schubert-4", split="orbits")]
    parts = found(of_class, *others)
    accuracies, losses = (lines(paper_table(parts, metric)) for metric in ("accuracy", "loss"))
    assert list(accuracies) == list(losses) == list(map(as_published, published_rows()))
    schubert, weaving = accuracies["schubert-4 (published)"], accuracies["weaving-6 (published)"]
    assert (schubert["recipe"], schubert["look-up"], weaving["recipe"]) == ("quick", "50.00", "paper")
    assert (schubert["paper: AOE"], schubert["ours: AOE"]) == ("87.89", "96.00 ± 0.25 (digits)")
    assert (schubert["paper: learned"], schubert["ours: learned"]) == ("50.59", "90.00 ± 0.75")
    assert weaving["ours: learned"] == "75.00 (†)"
    schubert = losses["schubert-4 (published)"]
    assert (schubert["paper: AOE"], schubert["ours: AOE"]) == ("0.3052", "0.2500 ± 0.0000 (digits)")
    one_class = lines(overview(comparisons(run_frame([result(accuracy=0.5, predicts_one_class=True)]))))
    assert one_class["schubert-4 (published)"]["AOE"] == "50.00 (digits †)"


def test_a_capped_number_of_examples_is_named(result):
    parts = comparisons(run_frame([result("lattice-10", accuracy=0.5, recipe={"max_rows": 20_000})]))
    for table in (paper_table(parts, "accuracy"), overview(parts)):
        assert lines(table)["lattice-10 (published)"]["recipe"] == "quick, 20,000 examples"


def test_older_seeds_are_marked(result):
    runs = [result(embedding="learned", seed=s) for s in range(3)]
    for run in runs:
        run.configuration["data"]["seed"] = 0
    table = models_table(comparisons(run_frame(runs)))
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
    table = models_table(comparisons(run_frame([run])))
    assert table.rows[0][0] == "learned" + mark
    assert any("precision" in note for note in table.notes) == bool(mark)


def test_what_a_run_costs(result):
    about = {"rows": {"train": 1_000, "validation": 10, "test": 10}, "flops": 7_000}
    recipe = {"body": "graph", "epochs": 20}
    graph = result("quiver-11", recipe=recipe, command="adelic train quiver  # at abc", **about)
    tokens = result("quiver-11", "learned", recipe={"epochs": 20}, command="adelic train", **about)
    ours, theirs = (costs_table(comparisons(run_frame([run]))).rows[0] for run in (graph, tokens))
    # 11 vertices · 1,000 rows · 20 epochs; three times the forward pass. Of tokens there are 121 and [CLS].
    assert (ours[2:5], theirs[2:4]) == (("1,000", "0.2", "4.2e+08"), ("1,000", "2.4"))
    command, comment = graph.todays_command().split("  # ")
    assert command.startswith("adelic train quiver --")
    assert "--body graph" in command  # the recipe says no such thing
    assert (ours[-1], theirs[-1]) == (f"`{command}` ({comment})", "`adelic train`")
    assert comment == "at abc"


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
    assert (line["recipe"], line["AOE"], line["learned"]) == (
        "quick, mlp",
        "80.00 ± 0.00 (digits)",
        "98.00 ± 0.00",
    )
    assert line["best other embedding"].endswith("(fone †, quick)")
    fewer = lines(overview(found(*aoe[:2], *learned)))["schubert-4 (published)"]  # two seeds, which have no interval
    assert (fewer["recipe"], fewer["AOE"]) == ("quick", "96.00 ± 0.25 (digits)")
    alone = lines(overview(found(*learned)))["schubert-4 (published)"]  # AOE did not run with it: nothing to be paired
    assert (alone["recipe"], alone["AOE"]) == ("quick", "96.00 ± 0.25 (digits)")


@pytest.fixture
def runs(result):
    """Return runs of AOE, learned vectors and two rivals, of as many seeds."""

    def make(row="schubert-4", seeds=3, **changes):
        accuracies = {"adelic": 0.96, "learned": 0.90, "fone": 0.93, "xval": 0.80}
        return [
            result(row, name, seed=s, accuracy=accuracy + (-1) ** s * len(name) / 2000, lookup=0.5, **changes)
            for s in range(seeds)
            for name, accuracy in accuracies.items()
        ]

    return make


def test_the_contrast_of_each_row_and_recipe(runs):
    found = comparisons(run_frame([*runs(), *runs("weaving-6", seeds=2), *runs("mheight-8", seeds=1)]))
    table = contrasts_table(found)
    weaving, schubert, mheight = (dict(zip(table.columns, line, strict=True)) for line in table.rows)
    assert (schubert["dataset"], schubert["recipe"]) == ("schubert-4 (published)", "quick")
    assert schubert["AOE − learned"].startswith("+5.98 (+5.")
    assert (schubert["look-up"], schubert["seeds"]) == ("50.00", "3")
    assert schubert["AOE"].endswith(" (digits)")
    assert weaving["AOE − learned"] == "+6.00 (+5.95 to +6.05)"
    assert mheight["AOE − learned"] == "+5.95"
    assert not any("p" in column.split() for column in table.columns)  # only declared contrasts are tested


def test_the_declared_contrasts_are_one_family(runs):
    """Three of one p in one table: Holm's first is three times as large, and so are all that follow."""
    names = ("schubert-4", "mheight-8", "weaving-6")
    alone = declared_contrast(comparisons(run_frame(runs()))[0])
    found = comparisons(run_frame([run for name in names for run in [*runs(name), *runs(name, recipe_name="worse")]]))
    table = overview(found)
    lines = [dict(zip(table.columns, line, strict=True)) for line in table.rows]
    tested = [line["adjusted p"] for line in lines if line["dataset"].split()[0] in names]
    assert tested == [p_text(3 * alone["p"])] * 3
    assert any("over the 3 lines" in note for note in table.notes)
    of_row = overview([one for one in found if one.first.row == "schubert-4"], "schubert-4")
    assert of_row.frame["adjusted p"].tolist() == ["–"]  # the family is not known


def test_the_rows_of_the_contrast(real_results, result):
    """The bootstrap over rows stands beside, where results keep predictions."""
    runs = [result(embedding=name, seed=s) for name in real_results for s in range(2)]
    (part,) = comparisons(run_frame(runs))
    contrast = declared_contrast(part)
    expected = discordance(*(part.models.runs[contrast[name]] for name in ("aoe", "learned")))
    line = dict(zip(contrasts_table([part]).columns, contrasts_table([part]).rows[0], strict=True))
    assert line["only AOE / only learned right"] == f"{expected['first']} / {expected['second']}"
    assert line["interval over examples"].count(" to ") == 1
    (part,) = comparisons(run_frame([replace(run, labels=None, predictions=None) for run in runs]))
    line = dict(zip(contrasts_table([part]).columns, contrasts_table([part]).rows[0], strict=True))
    assert (line["only AOE / only learned right"], line["interval over examples"]) == ("–", "–")


def test_contaminated_data_and_a_row_without_learned_vectors_have_no_contrast(runs, result):
    parts = comparisons(run_frame([*runs("weaving-6", contaminated=True), result("schubert-4")]))
    assert contrasts_table(parts).rows == ()
    assert contrasts_table(parts).to_markdown() == "## AOE and learned vectors, by recipe\n\nnot run\n"
    assert {line[3] for line in models_table(parts[:1]).rows} == {"–", "chosen"}


def test_every_model_of_a_dataset_with_its_difference_from_aoe(runs, result):
    """All recipes in one table; a model that no recipe trains is compared in the recipe that validation chooses."""
    trees = [result(embedding="trees", seed=s, accuracy=0.5, recipe={"name": "search"}) for s in range(3)]
    for run in trees:
        run.configuration["recipe"] = {"trials": 20}
    found = comparisons(run_frame([*runs(), *runs(recipe={"name": "worse"}), *trees]))
    table = models_table(found)
    by_model = {(line[0], line[1]): line for line in table.rows}
    assert len(by_model) == 2 * 4 + 1 + 2 + 5
    assert [line[0] for line in table.rows][8:11] == ["boosted trees", "look-up", "best baseline"]
    assert by_model["boosted trees", "search of 20 trials"][3].startswith("▲ +46.10 (")
    for recipe in ("quick", "worse"):
        assert by_model["AOE (digits)", recipe][3] == "chosen"
        assert by_model["xval", recipe][3].startswith("▲ +16.03 (")
        assert by_model["learned", recipe][3].startswith("+5.98 (")  # the declared pair, tested in the family alone
    assert by_model["ACD authors, MLP", "published"][2] == "93.1 ± 2.6"
    assert by_model["AOE paper, AOE", "published"][table.columns.index("loss")] == "0.3052"


def test_where_every_seed_has_the_same_difference_there_is_no_interval(result):
    """Three seeds that differ by the same rows: no interval of width 0, which would be a certainty."""
    accuracies = {"adelic": 0.75, "learned": 0.5, "fone": 0.625}
    runs = [
        result(embedding=name, seed=s, accuracy=accuracy + s / 8)
        for name, accuracy in accuracies.items()
        for s in range(3)
    ]
    (part,) = comparisons(run_frame(runs))
    declared, exploratory = contrasts_table([part]), models_table([part])
    assert declared.rows[0][5:7] == ("+25.00 (each seed)", "3")
    assert [line[3] for line in exploratory.rows[:3]] == ["chosen", "+12.50 (each seed)", "+25.00 (each seed)"]
    assert all("neither an interval nor a test" in table.notes[-1] for table in (declared, exploratory))
    runs[0].test["accuracy"] += 0.01
    (part,) = comparisons(run_frame(runs))
    tables_of_it = contrasts_table([part]), models_table([part])
    assert not any("neither an interval" in note for table in tables_of_it for note in table.notes)


def test_one_change_at_a_time(result):
    """The base is what most others of its embedding are one setting away from; two settings away is not a line."""

    def runs(accuracy, *, seeds=range(3), **changes):
        return [result(seed=s, accuracy=accuracy + 0.001 * s * s, **changes) for s in seeds]

    models = [
        *runs(0.95),
        *runs(0.90, model={"coordinates": "real"}),
        *runs(0.96, recipe={"pooling": "tokens"}),
        *runs(0.80, model={"coordinates": "real"}, recipe={"pooling": "tokens"}),
        *runs(0.85, embedding="learned", seeds=[0]),
        *runs(0.70, model={"precision": 3}, seeds=[7]),
    ]
    (part,) = comparisons(run_frame(models))
    table = changes_table(part)
    assert [(line[0], line[2], line[4]) for line in table.rows] == [
        ("none: AOE (digits)", "–", "3"),
        ("pooling=tokens", "+1.00", "3"),
        ("coordinates=real", "−5.00", "3"),
        ("learned", "−10.00", "1"),
    ]  # the last model has no seed in common
    assert table.rows[1][3] == "each seed"
    assert changes_table(comparisons(run_frame(runs(0.9)))[0]).rows == ()


def table_of(results, **options):
    """Return the table of the tasks with one class a row."""
    (table,) = tables(results, "runs", **options)
    return table


def lines_of(results, **options):
    """Return its lines, by column."""
    return [dict(zip(RUN_COLUMNS, row, strict=True)) for row in table_of(results, **options).rows]


def line_of(*results):
    (line,) = lines_of(results)
    return line


def test_one_run(result):
    figures = {"accuracy": 0.87654, "macro_f1": 1 / 3, "loss": 0.69314, "majority": 0.523, "lookup": 0.6}
    line = line_of(result(rule=0.97, rule_name="length", recipe={"epochs": 7}, **figures))
    assert line == {
        "dataset": "schubert-4 (published)",
        "model": "AOE (digits)",
        "training": "quick, 7 epochs, 1 seed",
        "majority class": "52.30",
        "look-up": "60.00",
        "best baseline": "97.00 (length)",
        "test accuracy": "87.65",
        "macro-F1": "33.33",
        "test loss": "0.6931",
        "published": "paper 87.89, ACD 94.6 ± 1.0",
    }


def test_the_best_trivial_rule_is_named_where_all_seeds_have_one(result):
    rules = [{"rule": 0.97, "rule_name": "length"}, {"rule": 0.99, "rule_name": "length"}]
    assert line_of(*(result(seed=s, **rule) for s, rule in enumerate(rules)))["best baseline"] == "98.00 (length)"
    rules[1]["rule_name"] = "prefixes"
    assert line_of(*(result(seed=s, **rule) for s, rule in enumerate(rules)))["best baseline"] == "98.00"
    assert line_of(result(rule=None, rule_name=None))["best baseline"] == "–"  # an older result


@pytest.mark.parametrize(
    ("row", "embedding", "changes", "published"),
    [
        ("weaving-6", "learned", {}, "paper 53.02"),
        ("weaving-6", "adelic", {}, "paper 100.00"),
        ("weaving-6", "adelic", {"features": "characters", "places": "late"}, "–"),  # is not the paper's model
        ("weaving-6", "fone", {}, "–"),
        ("weaving-6", "fone", {"edition": "levels"}, "ACD 85.9 ± 2.3"),  # the format that the ACD authors had
        ("schubert-4", "fone", {}, "ACD 94.6 ± 1.0"),
        ("schubert-4", "learned", {"split": "orbits"}, "–"),
        ("schubert-3", "adelic", {}, "–"),
    ],
)
def test_published_figures_stand_beside_ours(result, row, embedding, changes, published):
    assert line_of(result(row, embedding, **changes))["published"] == published


def test_all_rows(result):
    lines = lines_of([result("schubert-4", "adelic"), result("schubert-3")], all_rows=True)
    rows = [*map(as_published, published_rows()), "schubert-3 (published)"]
    assert list(dict.fromkeys(line["dataset"] for line in lines)) == rows
    assert len(lines) == 2 * 13 + 1
    run = [line["dataset"] for line in lines if line["test accuracy"] != "not run"]
    assert run == ["schubert-4 (published)", "schubert-3 (published)"]
    missing = next(line for line in lines if line["dataset"] == "quiver-11 (published)" and line["model"] == "learned")
    assert missing["published"] == "paper 45.13, ACD 92.9 ± 0.5"
    assert len(lines_of([result()])) == 1


def test_a_pipe_holds_every_figure_in_one_piece(result, capsys):
    table = table_of([*(result(seed=s, accuracy=0.9 + s / 100) for s in range(3)), result("schubert-3", "fone")])
    print_figures(table)
    text = capsys.readouterr().out
    rows = [[cell.strip() for cell in row.strip("│").split("│")] for row in text.splitlines() if row.startswith("│")]
    assert rows == [list(row) for row in table.rows]


def test_no_runs():
    (empty,) = tables([], "runs")
    assert (empty.rows, len(empty.to_csv().splitlines()), empty.to_markdown()) == ((), 1, "not run\n")
    assert len(table_of([], all_rows=True).rows) == 26
    print_figures(empty)
