"""What tests of benchmark scripts share."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def script(request, monkeypatch):
    """The script that a test file names as SCRIPT, as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module(request.module.SCRIPT)
