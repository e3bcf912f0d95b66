"""What tests of scripts share."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "experiments"


@pytest.fixture
def script(request, monkeypatch):
    """The script that a test file names as SCRIPT, as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module(request.module.SCRIPT)


@pytest.fixture
def figures(request):
    """The committed results of the script, which were made at a commit without changes."""
    found = json.loads((BENCHMARKS / "results" / f"{request.module.SCRIPT}.json").read_text(encoding="utf-8"))
    assert not found["commit"].endswith("+")
    return found


@pytest.fixture
def section():
    """Return a page's text, or that of a section, its lines joined."""

    def read(page, heading=None):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        if heading is not None:
            level = heading.split()[0]
            text = text.split(f"\n{heading}")[1].split(f"\n{level} ")[0]
        return " ".join(text.split())

    return read


@pytest.fixture
def shown():
    """Return what stands between the marks of a page."""

    def read(page, mark):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        (found,) = re.findall(rf"<!-- {re.escape(mark)} -->\n(.*?)<!-- end of \w+ -->", text, flags=re.DOTALL)
        return found.strip()

    return read
