"""The audit of root numbers: its counts on few curves; the page has the file's figures."""

import importlib
from pathlib import Path

import pytest

from adelic.data import DrawnData

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("root_number_audit")


def test_counts_of_few_curves(script):
    data = DrawnData("root-number", 6000, task_options=("max_prime=7",), test_cases=300, never_seen_cases=200)
    found = script.counted(data)
    assert list(found["moduli"])[-1] == "16"
    assert found["moduli"]["16"]["hold"] == 6000 > max(one["hold"] for one in list(found["moduli"].values())[:-1])
    for name, count in (("test", 300), ("new curves", 200)):
        split = found["splits"][name]
        assert split["questions"] == count >= split["known"] >= split["right_of_known"]
        assert split["right"] > 0.7 * count
        assert split["right_of_known"] / split["known"] > split["right"] / count
        assert split["with_all_classes_of_an_example"] < count / 2
        assert 0.35 < found["without_discriminant"][name] < 0.65
        assert 0.35 < found["drawn_signs"][name] < 0.65
