import json
from pathlib import Path

import pytest

from adelic.training import run


@pytest.fixture
def read_folder():
    """Return what two equal runs have in common: the metrics to the byte, the result but for times."""

    def read(folder: Path):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return (folder / "metrics.jsonl").read_bytes(), {k: v for k, v in result.items() if "seconds" not in k}

    return read


@pytest.fixture
def finished(tiny_config, tmp_path):
    """A finished run: its configuration, folder and result."""
    config, folder = tiny_config(), tmp_path / "finished"
    return config, folder, run(config, folder, device="cpu")
