from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def private_store(cache: Path) -> None:
    """An empty store for every test."""
