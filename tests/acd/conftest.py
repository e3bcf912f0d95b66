import json
from pathlib import Path
from typing import Any

import pytest

from adelic import acd

ORACLES = Path(__file__).parent.parent / "oracles"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store for every test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ADELIC_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def oracle():
    """Vectors made by other systems; each file's "meta" names the system."""

    def read(name: str) -> list[Any]:
        return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))["data"]

    return read


@pytest.fixture(scope="session")
def published_facts() -> dict[str, Any]:
    """The published counts, in the file from which the package's own facts were taken."""
    return json.loads((ORACLES / "acd_facts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def generated():
    """Rows of a task straight from its generator, kept for the whole session."""
    kept: dict[tuple[str, int, str], acd.Rows] = {}

    def generate(name: str, n: int, edition: str = "published") -> acd.Rows:
        key = (name, n, edition)
        if key not in kept:
            kept[key] = acd.TASKS[name].generate(acd.Request(n=n, edition=edition))
        return kept[key]

    return generate
