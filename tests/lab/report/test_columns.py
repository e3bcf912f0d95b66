"""The benchmark of columns: its plans, running and resuming one, the table."""

import shutil
from pathlib import Path

from adelic.columns import TASKS
from adelic.numbers.features import FEATURE_KINDS
from adelic_lab.plans import gather, read_plan
from adelic_lab.report.columns import show

ROOT = Path(__file__).parents[3]


def test_the_full_plan_has_every_form_on_every_task_that_can_have_it():
    full = read_plan("full", "columns")
    assert {series.task for series in full} == set(TASKS)
    forms = {}
    for series in full:
        model = series.experiments[0].model
        if not series.experiments[0].is_network:
            continue
        forms.setdefault(model.features or model.name, set()).add(series.task)
    assert forms.keys() >= set(FEATURE_KINDS) | {"learned", "fone", "xval", "periodic", "base-digits", "residues"}
    few = {name for name, task in TASKS.items() if task.vocabulary is not None}
    for name, tasks in forms.items():
        assert tasks == (few if name in ("standardized", "learned") else set(TASKS)), name


def test_models_have_equal_questions_and_recipes():
    full = read_plan("full", "columns")
    assert {series.examples for series in full} == {10_000}
    networks = [series for series in full if series.experiments[0].is_network]
    assert len({series.experiments[0].recipe for series in networks}) == 1


RESULTS = ROOT / "experiments" / "results" / "columns"


def test_the_page_has_the_table_of_the_committed_results():
    """See tests/test_docs.py for that of other forms."""
    table = show(gather(read_plan("full", "columns"), RESULTS)).text
    page = (ROOT / "docs" / "features" / "all-figures.md").read_text(encoding="utf-8")
    assert f"<!-- table: columns -->\n{table}\n<!-- end of table -->" in page


def test_a_plan_that_was_run_in_part_says_so(tmp_path):
    """Tasks without a result have no column, and a least is of all tasks alone."""
    shutil.copy(RESULTS / "weekday-10000.jsonl", tmp_path)
    text = show(gather(read_plan("full", "columns"), tmp_path)).text
    assert text.startswith("| model | weekday |\n")
    assert "the mean of 3 or 5 seeds" in text
    assert "No model has been run yet on these:\n\n- `sum-residue`: " in text
    (learned,) = [
        line
        for line in show(gather(read_plan("full", "columns"), RESULTS)).text.splitlines()
        if line.startswith("| learned")
    ]
    assert "| — |" in learned
    assert learned.endswith("|  |")  # no least of tasks that it cannot have
