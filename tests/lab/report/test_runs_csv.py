"""The table of single runs, from which anybody can count again."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from adelic import acd
from adelic_lab.report.tables import single_runs

ROOT = Path(__file__).parents[3]


def lines(results):
    return list(csv.DictReader(io.StringIO(single_runs(results).to_csv())))


def test_a_line_has_what_its_run_has(result):
    run = result("weaving-6", seed=3, recipe={"symmetries": True}, split="orbits", edition="levels")
    (line,) = lines([run])
    about = {"row": "weaving-6", "edition": "levels", "split": "orbits", "contaminated": "False"}
    how = {"model": "AOE (digits)", "recipe": "quick", "symmetries": "True", "seed": "3"}
    assert line.items() >= (about | how).items()
    assert json.loads(line["options"])["features"] == "digits"
    assert (int(line["train_rows"]), int(line["test_rows"])) == (run.rows["train"], run.rows["test"])
    for metric in ("accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error"):
        assert float(line[metric]) == run.test[metric]
    for key in ("majority", "lookup", "seconds", "parameters", "flops"):
        assert float(line[key]) == getattr(run, key)
    length = acd.task("weaving").length(6, "levels") + 1  # with [CLS]
    assert int(line["tokens"]) == run.rows["train"] * run.configuration["recipe"]["epochs"] * length
    assert (line["device"], line["command"]) == (run.device, run.command)


def test_what_is_not_known_is_empty(result):
    run = result("kl-5", exact_match=0.5, predictions=None, flops=None)
    del run.test["calibration_error"]
    outside = replace(
        run,
        embedding="mlp",
        search={"chosen": {"C": 2.5}},
        commit=None,
        configuration=run.configuration | {"recipe": {"name": "search", "trials": 3}},
    )
    first, second = lines([run, outside])
    assert (first["right"], first["flops"], first["calibration_error"]) == ("", "", "")
    assert (second["model"], second["options"], second["tokens"], second["commit"]) == ("MLP", '{"C": 2.5}', "", "")


def test_the_command_line_writes_it_and_nothing_else(tmp_path, result, monkeypatch, adelic):
    monkeypatch.chdir(tmp_path)
    runs = [result(), result("mheight-8", "learned")]
    Path("results").mkdir()
    Path("results/runs.jsonl").write_bytes(b"\n".join(run.sealed() for run in runs))
    done = adelic("report", "--results-dir", "results", "--csv", "new/runs.csv")
    assert (done.status, done.out) == (0, "wrote new/runs.csv\n")
    assert Path("new/runs.csv").read_text(encoding="utf-8") == single_runs(runs).to_csv()
    assert {path.name for path in Path().iterdir()} == {"new", "results"}
    adelic("report", "--results-dir", "results", "--csv", "one.csv", "--row", "mheight-8")
    assert Path("one.csv").read_text(encoding="utf-8") == single_runs(runs[1:]).to_csv()
    for wrong, words in (
        (["--markdown"], "--csv writes one file"),
        (["--row", "mheight-9"], "did you mean 'mheight-8'"),
    ):
        done = adelic("report", "--results-dir", "results", "--csv", "a.csv", *wrong)
        assert done.status
        assert words in done.out + done.err


def test_a_row_alone(tmp_path, result, adelic):
    runs = result(), result("mheight-8"), result(task="mine", n=None, edition=None, split="random")
    (tmp_path / "runs.jsonl").write_bytes(b"\n".join(run.sealed() for run in runs))
    options = ["report", "--results-dir", str(tmp_path), "--markdown", "--table", "models", "--row"]
    for row, title in (("schubert-4", "schubert-4 (published)"), ("mine", "mine (random)")):
        out = "".join(adelic(*options, row)[1:])
        assert [line for line in out.splitlines() if line.startswith("## ")] == [f"## {title}"]


@pytest.mark.parametrize(("row", "has_paper"), [("schubert-4", True), ("mine", False)])
def test_the_page_of_a_row_says_of_no_other_row_that_it_was_not_run(tmp_path, result, row, has_paper, adelic):
    runs = result(), result("mheight-8"), result(task="mine", n=None, edition=None, split="random")
    (tmp_path / "runs.jsonl").write_bytes(b"\n".join(run.sealed() for run in runs))
    page = tmp_path / "page.html"
    options = ["report", "--results-dir", str(tmp_path), "--output", str(page), "--row", row]
    assert adelic(*options).status == 0
    texts = [path.read_text(encoding="utf-8") for path in (page, tmp_path / "page-tables.md")]
    assert not any("mheight" in text or "Not run, of" in text for text in texts)
    assert ("The AOE paper’s figures" in texts[0]) == has_paper
    assert "--all-rows lists all" in adelic(*options, "--all-rows").err


# The committed files.


def test_the_committed_table_is_made_from_the_committed_results(table_results):
    text = (ROOT / "docs" / "table.csv").read_text(encoding="utf-8")
    assert text == single_runs(table_results).to_csv()
