"""The benchmark of columns: its plans, running and resuming one, the table."""

import re
from pathlib import Path

import pytest

from adelic.columns import TASKS
from adelic.numbers.features import FEATURE_KINDS
from adelic_lab.plans import experiments, gather, read_plan
from adelic_lab.report.columns import show
from adelic_lab.report.files import finished

ROOT = Path(__file__).parents[3]
SMALL = """
[[part]]
tasks = ["weekday", "magnitude"]
seeds = 2
examples = [200]
data = { test_cases = 50, confirmation_cases = 50 }
recipe = { epochs = 1, d_model = 16, n_layers = 1, n_heads = 2, d_feedforward = 16 }
run = [
    { label = "characters", embedding = { name = "adelic", features = "characters", projection = "linear" } },
    { label = "learned", tasks = ["weekday"], embedding = { name = "learned" } },
]
"""


def reproduced(folder, *further, invoke):
    given = f"reproduce columns --plan {folder}/small.toml --workers 1 --runs-dir {folder}/runs".split(" ")
    given += f"--results-dir {folder}/results --report {folder}/report".split(" ") + list(further)
    outcome = invoke(*given)
    assert outcome.status == 0, outcome.out
    return outcome.out


def test_the_full_plan_has_every_form_on_every_task_that_can_have_it():
    full = read_plan("full", "columns")
    assert {series.task for series in full} == set(TASKS)
    forms = {}
    for series in full:
        model = series.experiments[0].model
        forms.setdefault(model.features or model.name, set()).add(series.task)
    assert forms.keys() >= set(FEATURE_KINDS) | {"learned", "fone", "xval", "periodic", "base-digits", "residues"}
    few = {name for name, task in TASKS.items() if task.vocabulary is not None}
    for name, tasks in forms.items():
        assert tasks == (few if name in ("standardized", "learned") else set(TASKS)), name


def test_models_have_equal_questions_and_recipes():
    full = read_plan("full", "columns")
    assert len({(series.examples, series.experiments[0].recipe) for series in full}) == 1


@pytest.mark.slow  # the command is that of number theory, and its report is written by the same function
def test_a_plan_is_run_in_part_then_to_the_end(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    first = reproduced(tmp_path, "weekday", "--seeds", "0")
    assert "one seed" in first
    assert "| model | weekday |\n" in first  # nothing was run on magnitude
    assert "No model has been run yet on these:\n\n- `magnitude`: " in first
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("result.json")}
    assert len(kept) == 2
    whole = reproduced(tmp_path)
    assert "one seed" not in whole
    assert "2 seeds" in whole
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    plan = read_plan(tmp_path / "small.toml")
    there = finished(experiments(plan), tmp_path / "results")
    assert len(there) == 6
    learned = next(line for line in whole.splitlines() if line.startswith("| learned"))
    assert learned.split("|")[3].strip() == "—"
    assert learned.split("|")[4].strip() == ""  # no least of tasks that it cannot have
    assert (tmp_path / "report" / "table.md").read_text(encoding="utf-8").startswith("| model | weekday | magnitude |")


def test_the_page_has_the_table_of_the_committed_results():
    results = ROOT / "experiments" / "results" / "columns"
    table = show(gather(read_plan("full", "columns"), results)).text
    page = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    assert f"<!-- table: columns -->\n{table}\n<!-- end of table -->" in page
    assert (ROOT / "docs" / "features" / "table.md").read_text(encoding="utf-8") == table + "\n"
    (plan, folder, shown), *others = re.findall(
        r"<!-- table: columns (\S+) (\S+) -->\n(.*?)\n<!-- end of table -->", page, flags=re.DOTALL
    )
    assert not others
    assert shown == show(gather(read_plan(ROOT / plan), ROOT / folder)).text
