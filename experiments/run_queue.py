"""The commands in a file, one after the other, for as long as there is time.

A line is a command, adelic reproduce with the options that say what to run and --results-dir; after # is a remark.
What is worth most stands first. A run that has a result in that folder is not run again, one that was stopped goes on
from its last checkpoint, and one that another process has is left to it, so the same queue may be given in several
terminals. Each run has one thread, at the lowest priority, so there is a core for your work.
"""

import math
import os
import shlex
from pathlib import Path
from typing import NamedTuple

import common
import torch
from cyclopts.exceptions import CycloptsError

import adelic_lab
from adelic.cli import app
from adelic.cli.options import Duration, Flag, RunsDir, flags_of
from adelic.cli.outputs import check_folder
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.files import read_bytes
from adelic_lab import Experiment
from adelic_lab.cli.reproduce import BENCHMARKS, plan_of, runs_of_rows, show_run
from adelic_lab.runs.machine import keep_freed_memory

_PREFIX = ["adelic", "reproduce"]
_FLOPS = 6
"""Operations of training for each multiplication of a forward pass: additions as well, and twice as much backwards."""
_OF_THE_QUEUE = frozenset(
    {"runs_dir", "device", "workers", "budget", "engine", "address", "cpus_per_run", "gpus_per_run", "tensorboard"}
) | {"page", "report_dir", "dry_run"}
"""What a command in the file does not say: how its runs are executed and shown."""


class Line(NamedTuple):
    """A command of a queue: its text, what it trains, and the folder of the results."""

    text: str
    runs: list[Experiment]
    results: Path


def main(file: Path, *, runs_dir: RunsDir = Path("runs"), budget: Duration = math.inf, dry_run: Flag = False) -> None:
    """Carry out the commands in a file, and say what each still has to do.

    Args:
        file: with a command adelic reproduce … a line.
        runs_dir: folder of the run folders.
        budget: stop after this time, as 25m or 1h30m; by default there is no end.
        dry_run: train nothing.
    """
    keep_freed_memory()
    lines = read_queue(file)
    check_folder(runs_dir, "--runs-dir")
    for line in lines:
        check_folder(line.results, "--results-dir")
    if not dry_run:
        if hasattr(os, "nice"):  # Windows has other priorities
            os.nice(19)
        torch.set_num_threads(1)
        time, engine = adelic_lab.Budget(budget), adelic_lab.EmbeddedEngine(waits=False)
        how = {"runs": runs_dir, "device": "cpu", "engine": engine, "budget": time, "on_run": show_run}
        for line, left in _left(lines):
            if left and not time.spent:
                print(line.text, flush=True)  # noqa: T201
                adelic_lab.run_matrix(line.runs, results=line.results, **how)
    for line, left in _left(lines):
        work = _FLOPS * sum(adelic_lab.outstanding_work(run, runs_dir) for run in left if run.is_network)
        rest = f", about {work:.1e} FLOPs left" if work else ""
        print(f"{len(line.runs) - len(left)} of {len(line.runs)} done{rest}: {line.text}")  # noqa: T201


def _left(lines: list[Line]) -> list[tuple[Line, list[Experiment]]]:
    """Return each command with its runs that have no result yet; a folder of results is read once for all of them."""
    runs_of: dict[Path, list[Experiment]] = {}
    for line in lines:
        runs_of.setdefault(line.results, []).extend(line.runs)
    left_in = {folder: set(adelic_lab.outstanding(runs, folder)) for folder, runs in runs_of.items()}
    return [(line, [run for run in line.runs if run in left_in[line.results]]) for line in lines]


def read_queue(path: Path) -> list[Line]:
    """Return the commands in a file.

    Raises:
        StorageError: it cannot be read.
        ConfigurationError: a line is not a command for a queue; the message names it.
    """
    content = read_bytes(path, remedy="choose another file", streams=True)
    if content is None:
        raise ConfigurationError(f"there is no file {path}; it has a command adelic reproduce … a line")
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            words = shlex.split(line.decode(), comments=True)
            if words:
                found.append(_line(words))
        except (AdelicError, CycloptsError, ValueError) as error:
            raise ConfigurationError(f"{path} line {number}: {error}") from None
    return found


def _line(words: list[str]) -> Line:
    """Return a command of a queue."""
    if words[:2] != _PREFIX:
        raise ConfigurationError(f"{shlex.join(words)!r} does not begin with {shlex.join(_PREFIX)!r}")
    command, bound, _ = app().parse_args(words[1:], exit_on_error=False, print_error=False, help_on_error=False)
    for name in bound.arguments:
        if name in _OF_THE_QUEUE:
            raise ConfigurationError(
                f"{flags_of(command)[name]} does not belong into a queue, which says it for all lines"
            )
    bound.apply_defaults()
    what = {name: value for name, value in bound.arguments.items() if name not in _OF_THE_QUEUE}
    given = what.pop("results_dir")
    benchmark = next((name for name, each in BENCHMARKS.items() if each is command), None)
    if benchmark is None:
        return Line(shlex.join(words), runs_of_rows(**what), given)
    plan = plan_of(benchmark, **what)
    return Line(shlex.join(words), plan.chosen, given or plan.results)


if __name__ == "__main__":
    common.run(main)
