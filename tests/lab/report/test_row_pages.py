"""docs/results/DATASET.md, and what experiments/tables.py makes besides."""

import importlib
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "results").glob("*-[0-9]*.md"))


@pytest.fixture
def tables(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    return importlib.import_module("tables")


def test_every_dataset_has_a_page_that_the_site_and_the_results_list(table_results):
    rows = {result.row for result in table_results}
    assert {page.stem for page in PAGES} == rows
    listed = re.findall(r"results/(\S+-\d+)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(rows)
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"results/(\S+-\d+)\.md", results))) == sorted(rows)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "results").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_is_read_to_its_end(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_models_of_its_dataset(page):
    """What they say is compared with what the command prints in tests/test_docs.py."""
    text = page.read_text(encoding="utf-8")
    (command,) = re.findall(r"<!-- table: adelic (.+?) -->\n.*?\n<!-- end of table -->", text, flags=re.DOTALL)
    assert f"--row {page.stem} " in command
    widths = [line.count("|") - 1 for line in text.splitlines() if line.startswith("|---")]
    assert widths
    assert max(widths) <= 8


def test_runs_are_recounted_in_three_lines(table_results, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "results" / "costs.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert len(code.splitlines()) == 3
    for row in {result.row for result in table_results}:
        names = {}
        exec(compile(code.replace("schubert-4", row), "costs.md", "exec"), names)
        runs = names["runs"].dropna(subset="right")
        assert len(names["runs"]) == sum(result.row == row for result in table_results)
        pd.testing.assert_series_equal(runs.recounted.astype(float), runs.accuracy, check_names=False)


def test_a_new_dataset_gets_a_page(tables, result, tmp_path, monkeypatch):
    monkeypatch.setattr(tables.common, "DOCS", tmp_path)
    monkeypatch.setattr(tables, "PAGES", tmp_path / "results")
    tables.PAGES.mkdir()
    results, page = [result("schubert-5"), result("schubert-5", "learned")], tables.PAGES / "schubert-5.md"
    new = tables.pages(results)[page]
    (mark,) = re.findall(r"<!-- table: adelic (.+?) -->\n<!-- end of table -->", new)
    assert mark.endswith("--row schubert-5 --markdown --table models")
    page.write_text("filled")  # then it is filled, not written anew
    assert tables.pages(results)[page] == "filled"


def test_the_rule_of_the_recipe_compact(tables):
    """The greatest mean accuracy, then the lower loss; but 1,000 steps if they are at most half a point below."""
    choose = tables.choose_compact
    assert choose({(1000, 0.0): (0.90, 0.3), (2000, 0.0): (0.905, 0.1)}) == (1000, 0.0)
    assert choose({(1000, 0.0): (0.8999, 0.3), (2000, 0.0): (0.905, 0.1)}) == (2000, 0.0)
    assert choose({(1000, 0.0): (0.90, 0.3), (1000, 0.1): (0.90, 0.2), (2000, 0.0): (0.89, 0.1)}) == (1000, 0.1)
    assert choose({(2000, 0.0): (0.95, 0.3), (2000, 0.1): (0.95, 0.2), (1000, 0.0): (0.5, 0.1)}) == (2000, 0.1)
