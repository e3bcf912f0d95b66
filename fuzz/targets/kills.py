"""SIGKILL, SIGTERM and SIGINT at random moments, then the same command again: it ends as one that nobody disturbed.

The commands run in forks of this process, so that a case need not import everything anew. Only where there are forks.
"""

import os
import shutil
import signal
import sys
import time
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import adelic_lab
from adelic.cli import main
from targets import forks
from targets.case import Case
from targets.runs import outcome, random_config, weights

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_MOST = 4  # signals a case


class Job(NamedTuple):
    """A command that is disturbed.

    Attributes:
        arguments: the command line, in a folder that is the working folder and holds the store.
        result: what comes out, of that folder.
    """

    arguments: tuple[str, ...]
    result: Callable[[Path], Any]


def _train(*options: str) -> Job:
    small = ("--recipe", "quick", "--epochs", "3", "--batch-size", "16", "--device", "cpu", "--run-dir", "run")
    return Job(
        ("train", "schubert", "--n", "3", *small, *options),
        lambda folder: (outcome(folder / "run"), weights(folder / "run"), _names(folder / "run")),
    )


def _finished(folder: Path) -> int:
    """Return how many trials a search has finished; which they are depends on when it was killed."""
    study = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))["study"]
    return len([trial for trial in study["trials"] if trial["state"] == "complete"])


def _store(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("cache/acd/**/*") if path.is_file()}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


_TUNE = (
    "tune schubert --n 3 --embedding learned --recipe quick --epochs 2 --search learning-rate --trials 3 --pruning none"
)
JOBS = {
    "train": _train(),
    "train learned": _train("--embedding", "learned", "--seed", "1", "--checkpoint", "last"),
    "tune": Job(tuple(f"{_TUNE} --output recipe.toml".split()), _finished),
    "build": Job(("data", "build", "schubert", "--n", "5"), _store),
}


def kills(case: Case) -> None:
    """Disturb one command up to four times, let it end, and compare."""
    name = case.rng.choice(["train", "train", "train learned", "build", "tune"])
    job, expected, seconds = JOBS[name], *_undisturbed(name, case.folder)
    folder = case.folder / "disturbed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for _ in range(case.rng.randint(1, _MOST)):
        child = _start(job, folder)
        time.sleep(case.rng.uniform(0, 0.9 * seconds))
        number = case.rng.choice(SIGNALS)
        os.kill(child, number)
        status = forks.wait(child)
        if status in (-number, 128 + number):
            case.counts[f"{name}: {signal.Signals(number).name}"] += 1
        assert status in (0, -number, 128 + number), f"{name} ends with {status} after {number}: {_said(folder)}"
        assert "Traceback" not in _said(folder), _said(folder)
        if status == 0:  # it was done before the signal came
            case.counts["too late"] += 1
            break
    status = forks.wait(_start(job, folder))
    assert status == 0, f"{name} does not go on: {status}, {_said(folder)}"
    assert job.result(folder) == expected, f"{name} ends otherwise after it was disturbed"
    assert not list(folder.rglob("*.tmp")), f"left behind: {list(folder.rglob('*.tmp'))}"


def _undisturbed(name: str, folder: Path) -> tuple[Any, float]:
    """Return what comes out of a command that nobody disturbs, and how long it takes."""
    place = folder / f"whole {name}"
    took = place / "seconds"
    if not took.exists():
        place.mkdir()
        _import_everything(folder / "imports")
        start = time.monotonic()
        status = forks.wait(_start(JOBS[name], place))
        assert status == 0, f"{name} ends with {status}: {_said(place)}"
        took.write_text(str(time.monotonic() - start))
    return JOBS[name].result(place), float(took.read_text())


@cache
def _import_everything(folder: Path) -> None:
    """Train once, so that forks find loaded what takes seconds to load, and signals meet the work itself."""
    adelic_lab.run(random_config(Random(0), epochs=2), folder, device="cpu")


def _said(folder: Path) -> str:
    log = folder / "log"  # a fork that is killed at once has none
    return log.read_text(encoding="utf-8", errors="replace")[-3000:] if log.exists() else ""


def _run(job: Job, folder: Path) -> int:
    """Run a command in this process, which is a fork, in a folder; return its exit status."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ["ADELIC_CACHE"] = str(folder / "cache")
    status = 1
    with Path("log").open("w", encoding="utf-8") as log:
        sys.stdout = sys.stderr = log
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            main(list(job.arguments))
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        except KeyboardInterrupt:  # before the command listens, or after
            status = 130
    return status


def _start(job: Job, folder: Path) -> int:
    return forks.start(lambda: _run(job, folder))
