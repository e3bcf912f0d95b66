"""The pages under docs/ keep their promises: figures come from committed results, commands exist."""

import doctest
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from adelic import acd
from adelic.acd.auditing import to_markdown
from adelic.benchmark import published_rows
from adelic.benchmark.arithmetic import read_plan
from adelic.benchmark.arithmetic.entries import gather
from adelic.benchmark.arithmetic.report import to_markdown as to_arithmetic_table
from adelic.cli import commands

ROOT = Path(__file__).parent.parent
AUDIT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
RESULTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "results" / "audit").glob("*.json"))
}


def test_the_audits_table_is_made_from_the_committed_results():
    shown = re.search(r"<!-- table: results/audit -->\n(.*?)<!-- end of table -->", AUDIT, flags=re.DOTALL)
    assert shown is not None
    assert shown[1].strip() == to_markdown(RESULTS.values())


def test_every_task_and_edition_is_audited():
    found = {(a["task"], a["edition"]) for a in RESULTS.values()}
    assert found == {(task.name, edition) for task in acd.TASKS.values() for edition in task.editions}
    assert all(not a["commit"].endswith("+") for a in RESULTS.values())


def sections():
    """Return the sections of docs/audit.md that name a task: (task, text)."""
    parts = re.split(r"^## .*\(`(\w+)`\)$", AUDIT, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_every_task_has_its_section():
    assert {task for task, _ in sections()} == set(acd.TASKS)


@pytest.mark.parametrize(("task", "text"), sections())
def test_every_percentage_is_a_measured_or_a_published_one(task, text):
    measured = {
        f"{100 * value:.1f}"
        for a in RESULTS.values()
        if a["task"] == task
        for value in [
            *(figure for f in a["findings"] for figure in (f["test"], f["everywhere"]) if figure is not None),
            *a["symmetries"].values(),
        ]
    }
    figures = ("paper_aoe", "paper_baseline", "acd_logistic_regression", "acd_mlp", "acd_transformer")
    published = {
        f"{getattr(row, figure).accuracy:.1f}"
        for row in published_rows().values()
        if row.task == task
        for figure in figures
    }
    for sentence in re.split(r"(?<=[.;:])\s", text.replace("\n", " ")):
        percentages = re.findall(r"(\d+\.\d)(?= %| and| to|,| or)", sentence) if "%" in sentence else []
        known = measured | (published if "published" in sentence or "paper" in sentence else set())
        assert set(percentages) <= known, sentence


def test_the_commands_are_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    found = re.findall(r"`adelic ([^`]+)`", "\n".join(page.read_text(encoding="utf-8") for page in pages))
    assert found
    for command in found:
        words = shlex.split(command)
        path = words[:2] if words[0] == "data" else words[:1]
        assert CliRunner().invoke(commands, [*path, "--help"]).exit_code == 0, command


def test_the_tables_of_benchmarks_are_made_from_the_committed_results():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "tables.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_arithmetic_is_made_from_the_committed_results():
    """By `adelic reproduce arithmetic`, which writes both."""
    page = (ROOT / "docs" / "arithmetic.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- table: arithmetic -->\n(.*?)\n<!-- end of table -->", page, flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == to_arithmetic_table(gather(read_plan("full"), ROOT / "results" / "arithmetic"))
    for figure in re.findall(r"\]\((arithmetic/[^)]+)\)", page):
        assert (ROOT / "docs" / figure).exists()


def test_the_table_of_longer_trainings_is_made_from_the_committed_results():
    page = (ROOT / "docs" / "arithmetic.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- table: arithmetic (\S+) (\S+) -->\n(.*?)\n<!-- end of table -->", page, flags=re.DOTALL)
    assert shown is not None
    assert shown[3] == to_arithmetic_table(gather(read_plan(ROOT / shown[1]), ROOT / shown[2]))


def test_the_tables_of_reports_are_made_from_the_committed_results():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    found = re.findall(r"<!-- table: adelic (.*?) -->\n(.*?)<!-- end of table -->", text, flags=re.DOTALL)
    assert found
    for command, table in found:
        printed = CliRunner().invoke(commands, command.replace("results/", f"{ROOT}/results/").split())
        assert printed.exit_code == 0
        assert table.strip() == printed.output.strip()


# What other libraries say of themselves: x-transformers when imported, torch's ONNX exporter.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning:copyreg")
@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_examples_run(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed
