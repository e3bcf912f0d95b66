"""A build that is killed at any moment leaves nothing that is half written, and the next one starts cleanly."""

import subprocess
import sys
import time
import warnings

import pytest

from adelic import acd

pytestmark = pytest.mark.usefixtures("cache")

TASK, SIZE = "schubert", 5

# Stops at a moment that its last argument names, says so, and waits to be killed.
BUILD = """
import sys
from pathlib import Path
from adelic import acd

cache, task, n, edition, moment = sys.argv[1:]

def stop():
    print("stopped", flush=True)
    sys.stdin.read()  # until it is killed

def progress(done, total, what):
    if what == moment and 2 * done >= total:
        stop()

replace = Path.replace

def stopping_replace(self, target):
    if moment == f"before {Path(target).name}":
        stop()
    return replace(self, target)

Path.replace = stopping_replace
acd.build(task, n=int(n), edition=edition, cache=cache, progress=progress)
"""

# moment -> the files that it finds; a star stands for what the killed process had in its temporary file's name.
MOMENTS = {
    "products": [],
    "zeros": [],
    "writing": [".data.parquet.*.tmp"],
    "before data.parquet": [".data.parquet.*.tmp"],
    "before manifest.json": [".manifest.json.*.tmp", "data.parquet"],
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """The SHA-256 of builds that nobody disturbed, by edition."""
    folder = tmp_path_factory.mktemp("intact")
    return {
        edition: acd.build(TASK, n=SIZE, edition=edition, cache=folder)["sha256"]
        for edition in ("published", "corrected")
    }


def kill_at(moment, cache, edition):
    """Start a build, and kill it (SIGKILL where there are signals) once it stands at the moment."""
    arguments = [str(cache), TASK, str(SIZE), edition, moment]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", BUILD, *arguments], **pipes) as process:
        assert process.stdout is not None
        reached = process.stdout.readline()
        process.kill()
    assert reached == "stopped\n"
    assert process.returncode != 0


def found(cache, edition):
    """The names of the files in the data set's folder, the changing part of temporary ones as a star."""
    folder = cache / "acd" / TASK / f"n{SIZE}" / edition / "seed0"
    names = sorted(path.name for path in folder.iterdir())
    return [f"{name[: name.rindex('.', 0, -4)]}.*.tmp" if name.endswith(".tmp") else name for name in names]


@pytest.mark.long
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_first_build_that_is_killed(moment, cache, intact):
    edition = "published"
    kill_at(moment, cache, edition)
    assert found(cache, edition) == MOMENTS[moment]
    with warnings.catch_warnings(action="error"):  # nothing is damaged, there only is no data set yet
        assert acd.load(TASK, n=SIZE, edition=edition).provenance["sha256"] == intact[edition]
    assert found(cache, edition) == ["data.parquet", "manifest.json"]


@pytest.mark.long
@pytest.mark.parametrize("moment", ["zeros", "writing", "before manifest.json"])
def test_a_further_build_that_is_killed(moment, cache, intact):
    """What was there stays: equal builds give equal bytes, so even new data beside the old manifest agree with it."""
    edition = "corrected"
    acd.build(TASK, n=SIZE, edition=edition)
    kill_at(moment, cache, edition)
    with warnings.catch_warnings(action="error"):
        assert acd.load(TASK, n=SIZE, edition=edition).provenance["sha256"] == intact[edition]
    assert acd.build(TASK, n=SIZE, edition=edition)["sha256"] == intact[edition]
    assert found(cache, edition) == ["data.parquet", "manifest.json"]


@pytest.mark.parametrize(("n", "delay"), [(9, 0), pytest.param(10, 0.05, marks=pytest.mark.long)])
def test_killed_without_notice(n, delay, cache):
    """No hooks: killed some time after its first temporary file appears, wherever it stands then."""
    code = "import sys; from adelic import acd; acd.build('mheight', n=int(sys.argv[2]), cache=sys.argv[1])"
    folder = cache / "acd" / "mheight" / f"n{n}" / "published" / "seed0"
    with subprocess.Popen([sys.executable, "-c", code, str(cache), str(n)]) as process:
        while process.poll() is None and not any(folder.glob("*.tmp")):
            time.sleep(0.001)
        time.sleep(delay)
        process.kill()
    d = acd.load("mheight", n=n)
    assert d.provenance["sha256"] == acd.build("mheight", n=n, cache=cache / "elsewhere")["sha256"]
    assert sorted(path.name for path in folder.iterdir()) == ["data.parquet", "manifest.json"]
