"""The notebooks of examples/: their cells run, and they are committed with what these printed and drew."""

import ast
import json
import re
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LARGEST = 300_000


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def kinds(cell):
    """What sort of outputs a cell has."""
    return [(output["output_type"], sorted(output.get("data", ()))) for output in cell["outputs"]]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["collatz", "conics", "greatest-common-divisors"]
    for page in ("README.md", "docs/number-theory.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert all(f"examples/{path.name})" in text for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    """In a process of its own, to the outputs that are committed, but for their figures."""
    committed, again = read(path), nbformat.read(path, as_version=4)
    nbclient.NotebookClient(again, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    for old, new in zip(committed["cells"], again["cells"], strict=True):
        assert "".join(old["source"]) == new["source"]
        if old["cell_type"] == "code":
            assert (kinds(old), old["execution_count"]) == (kinds(new), new["execution_count"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_its_outputs(path):
    notebook = read(path)
    assert path.stat().st_size < LARGEST
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any("image/png" in output.get("data", ()) for cell in code for output in cell["outputs"])
    assert "/home/" not in path.read_text(encoding="utf-8")
    for cell in code:
        ast.parse("".join(cell["source"]))  # no commands of a shell or of Jupyter: plain Python


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path):
    texts = ["".join(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "markdown"]
    links = [link for text in texts for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert "../docs/number-theory.md" in links
    assert all(link.startswith("https://") or (path.parent / link).exists() for link in links)
