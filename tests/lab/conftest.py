import json
import shutil
from pathlib import Path

import pytest

from adelic_lab import run


@pytest.fixture
def read_folder():
    """Return what two equal runs have in common: the metrics to the byte, the result but for times."""

    def read(folder: Path):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return (folder / "metrics.jsonl").read_bytes(), {k: v for k, v in result.items() if "seconds" not in k}

    return read


@pytest.fixture(scope="session")
def trained(tiny_config, tmp_path_factory):
    config, folder = tiny_config(), tmp_path_factory.mktemp("trained") / "run"
    return config, folder, run(config, folder, device="cpu")


@pytest.fixture
def finished(trained, tmp_path):
    """A finished run: its configuration, a folder that is this test's alone, and its result."""
    config, folder, result = trained
    return config, shutil.copytree(folder, tmp_path / "finished", copy_function=shutil.copyfile), result
