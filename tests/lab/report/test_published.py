import json
from dataclasses import replace
from pathlib import Path
from tomllib import loads

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from adelic_lab import published_rows, read_results
from adelic_lab.config.recipes import load_recipe
from adelic_lab.report.frame import published_row, run_frame
from adelic_lab.report.published import Figure, split_row
from adelic_lab.report.statistics import corrected, difference

ROOT = Path(__file__).parents[3]
RECIPES = ROOT / "experiments" / "recipes" / "paper"


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
    run = read_results(ROOT / "experiments" / "results" / "demo")[0]
    chosen = {**run.configuration, "data": {**run.configuration["data"], "task_options": ["labelling=random"]}}
    assert published_row(run) == published_rows()["schubert-4"]
    assert published_row(replace(run, split="orbits")) is None
    assert published_row(replace(run, configuration=chosen)) is None


@pytest.mark.parametrize(
    ("row", "audit", "epochs", "max_rows", "shown"),
    [
        ("quiver-11", "quiver-11-published-canonical", 3, None, "3 epochs"),
        ("schubert-6", "schubert-6-published", 1, 3_782_954, "1 epoch, 3,782,954 examples"),
    ],
)
def test_the_page_of_the_papers_recipe_has_the_figures_of_a_few_epochs(
    table_results, row, audit, epochs, max_rows, shown
):
    page = (ROOT / "docs" / "results" / "paper-recipe.md").read_text(encoding="utf-8")
    runs = {run.embedding: run for run in table_results if (run.row, run.recipe) == (row, "paper")}
    assert sorted(runs) == ["adelic", "learned"]
    for run in runs.values():
        labels, answers = run.answers()
        assert (labels == answers).mean() == pytest.approx(run.test["accuracy"])
        recipe = run.configuration["recipe"]
        assert (recipe["epochs"], recipe.get("max_rows")) == (epochs, max_rows)
        assert f"A baseline without a network scores {100 * run.rule:.2f} %." in page
        assert f"Each took about {run.processor_seconds / 3600:.1f} core-hours." in page
    digits, learned = (f"{100 * runs[name].test['accuracy']:.2f} %" for name in ("adelic", "learned"))
    assert f"Raw digits score {digits} and learned vectors {learned}." in page
    paper = published_rows()[row].figures
    printed = (f"{paper[key].accuracy:.2f} % for" for key in ("paper_aoe", "paper_baseline"))
    assert "{} AOE and {} its baseline, after all epochs".format(*printed) in page
    assert runs["adelic"].features == "digits"
    assert f" of its {load_recipe('paper', row).epochs} epochs" in page
    audited = json.loads((ROOT / "experiments" / "results" / "audit" / f"{audit}.json").read_text(encoding="utf-8"))
    (linear,) = (one["test"] for one in audited["findings"] if one["name"] == "logistic regression (one-hot)")
    assert f"scores {100 * linear:.1f} %, trained on at most 50,000 examples." in page
    assert f"{row} (published) | paper, {shown} |" in page


def test_on_schubert_6_raw_digits_answer_two_classes(table_results):
    page = (ROOT / "docs" / "results" / "paper-recipe.md").read_text(encoding="utf-8")
    chosen = ("schubert-6", "paper", "adelic")
    (run,) = (run for run in table_results if (run.row, run.recipe, run.embedding) == chosen)
    labels, answers = run.answers()
    assert set(answers) == {0, 1}
    assert "Raw digits so far answer only 0 or 1." in page
    assert f"The answer is greater for {100 * (labels > 1).mean():.1f} % of the test examples." in page


def test_the_page_of_the_papers_recipe_has_the_figures_of_its_runs(table_results):
    page = (ROOT / "docs" / "results" / "paper-recipe.md").read_text(encoding="utf-8")
    names = {"schubert-4": "Schubert 4", "mheight-8": "mHeight 8", "weaving-6": "weaving 6"}
    runs = run_frame([one for one in table_results if one.row in names])
    runs = runs[(runs.recipe == "paper") & (runs.split == "published") & runs.label.isin(["AOE (digits)", "learned"])]
    seeds = runs.groupby(["row", "edition", "label"])
    assert set(seeds.size()) == {5}
    means = 100 * seeds.accuracy.mean()
    for row, name in names.items():
        paper = published_rows()[row].figures
        aoe, learned = (means[row, "published", label] for label in ("AOE (digits)", "learned"))
        published = (f"{paper[key].accuracy:.2f}".removesuffix(".00") for key in ("paper_aoe", "paper_baseline"))
        cells = (f"[{name}]({row}.md)", f"{aoe:.2f}", next(published), f"{learned:.2f}", next(published))
        assert f"| {' | '.join(cells)} |" in page
    for folder, power in (("per-class", 1.5), ("paper-rates", 0.5)):
        kept = read_results(ROOT / "experiments" / "results" / folder)
        for run in kept:
            labels, answers = run.answers()
            assert (labels == answers).mean() == pytest.approx(run.test["accuracy"])
            assert run.configuration["recipe"]["sampling_power"] == power
        frame = run_frame(kept)
        assert set(frame.groupby(["row", "label"]).size()) == {5}
        drawn = 100 * frame.groupby(["row", "label"])[["accuracy", "lookup", "rule"]].mean()
        for row, name in names.items():
            both = (drawn.accuracy[row, label] for label in ("AOE (digits)", "learned"))
            cells = (f"{rate:.2f}" for rate in (*both, drawn.lookup[row, "learned"], drawn.rule[row, "learned"]))
            assert f"| {name} | {' | '.join(cells)} |" in page
    for measure in ("accuracy", "loss"):  # of the searched rates
        by_row = frame.assign(accuracy=frame[measure]).groupby("row")
        pairs = {row: [one[one.embedding == name] for name in ("adelic", "learned")] for row, one in by_row}
        assert (corrected({row: difference(*pair) for row, pair in pairs.items()}).adjusted > 0.05).all()
    assert "no difference of accuracy or loss has p ≤ 0.05" in page
    for row in names:
        searches = [loads((RECIPES / f"{row}-{name}.toml").read_text()) for name in ("adelic", "learned")]
        rates = [[trial["values"]["learning-rate"] for trial in one["study"]["trials"]] for one in searches]
        assert rates[0] == rates[1]
        assert len(rates[0]) == 8
        (rate,) = {one["recipe"]["learning_rate"] for one in searches}
        its = frame[frame.row == row].run
        assert {run.configuration["recipe"]["learning_rate"] for run in its} == {rate}
        assert np.format_float_positional(rate) in page
    losses = runs[runs.edition == "published"].pivot(index=["row", "seed"], columns="label", values="loss")
    p = [stats.ttest_rel(one["AOE (digits)"], one.learned).pvalue for _, one in losses.groupby("row")]
    assert (losses.groupby("row").mean().diff(axis=1).learned < 0).all()
    assert min(multipletests(p, method="holm")[1]) > 0.05
    assert "AOE's loss is higher in the mean on all three.** By paired t-tests with Holm's correction no" in page
    leaky = runs[(runs.edition == "leaky") & (runs.accuracy == 1) & (runs.label == "AOE (digits)")]
    assert len(leaky) == 4
    assert "Four of five seeds of AOE score exactly 100 %" in page
    assert f"AOE's losses are then {leaky.loss.min():.2f} to {leaky.loss.max():.2f}." in page
    assert f"{means['weaving-6', 'leaky', 'AOE (digits)']:.2f}" == f"{means['weaving-6', 'leaky', 'learned']:.2f}"
    assert f"AOE and learned vectors both score {means['weaving-6', 'leaky', 'learned']:.2f} %" in page
