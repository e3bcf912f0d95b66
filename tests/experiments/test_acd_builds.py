import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from adelic import acd

SCRIPT = Path(__file__).parents[2] / "experiments" / "acd_builds.py"


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no module resource")
def test_figures_of_small_builds(tmp_path):
    output = tmp_path / "new" / "figures.json"
    done = run("--tasks", "schubert", "mheight", "--sizes", 3, "--repetitions", 2, "--output", output)
    assert done.returncode == 0, done.stderr
    results = json.loads(output.read_text())
    assert results["targets_met"] is True
    assert {"command", "machine", "versions", "commit", "repetitions"} <= results.keys()
    builds = {(entry["task"], entry["n"], entry["edition"]): entry for entry in results["builds"]}
    assert list(builds) == [("schubert", 3, edition) for edition in acd.TASKS["schubert"].editions]  # mheight has no 3
    for (task, n, edition), entry in builds.items():
        assert entry["rows"] == acd.TASKS[task].estimate(n, edition).rows
        assert len(entry["all_seconds"]) == 2
        assert 0 < min(entry["all_seconds"]) <= entry["seconds"] <= max(entry["all_seconds"]) < 20
        assert 10 << 20 < entry["peak_bytes"] < 4 << 30
    assert "schubert" in done.stderr


def test_every_size_that_a_task_has_is_built_in_each_edition(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    listed = importlib.import_module("acd_builds").listed
    editions = acd.TASKS["weaving"].editions
    assert listed(["weaving", "mheight"], [3, 5]) == [
        *(("weaving", n, edition) for n in (3, 5) for edition in editions),
        ("mheight", 5, "published"),
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["--tasks", "nothing"], "nothing"), (["--sizes", "-1"], "no task"), (["--repetitions", "0"], "at least 1")],
)
def test_bad_arguments(arguments, complaint):
    done = run(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr.splitlines()[-1]
