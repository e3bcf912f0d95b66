"""The builds that are measured, and what a process of its own measures."""

import json
import sys

import pytest

from adelic import acd

SCRIPT = "acd_builds"


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no module resource")
def test_figures_of_small_builds(script, tmp_path, capsys):
    output = tmp_path / "new" / "figures.json"
    assert script.main(tasks=("schubert", "mheight"), sizes=(3,), repetitions=2, output=output)
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
    assert "schubert" in capsys.readouterr().err


def test_every_size_that_a_task_has_is_built_in_each_edition(script):
    editions = acd.TASKS["weaving"].editions
    assert script.listed(["weaving", "mheight"], [3, 5]) == [
        *(("weaving", n, edition) for n in (3, 5) for edition in editions),
        ("mheight", 5, "published"),
    ]
