"""Measure how long every data set of `adelic.acd` takes to build, and how much memory, against the targets.

    python experiments/acd_builds.py                           # the least published size of each task, in a minute
    python experiments/acd_builds.py --full --repetitions 3

Every build (generation, splits and the Parquet file) runs in a fresh process on one core, into a temporary store. The
least size of the same task and edition is built once before, in a process of its own, so that the compiled code is in
numba's cache and no compilation is measured. Seconds are those of `acd.build`, which loads the libraries it needs; peak
memory is the resident set of the whole process, libraries included.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from typing import Any

import common

from adelic import acd

TARGET_SECONDS = {("lattice", 13): 60.0, ("schubert", 6): 180.0}
OTHER_SECONDS = 20.0
TARGET_BYTES = {("schubert", 6): 4 << 30}

Build = tuple[str, int, str]


def main() -> None:
    """Build, and write the results; exit code 1 if a target is missed."""
    parser = common.parser(
        __doc__,
        "many minutes",
        tasks=common.several(str, "(default: all)", choices=list(acd.TASKS), default=list(acd.TASKS), metavar="TASK"),
        sizes=common.several(int, "instead of the published ones", metavar="N"),
        repetitions=(1, "the median counts"),
        one={"nargs": 3, "metavar": ("TASK", "N", "EDITION"), "help": argparse.SUPPRESS},
    )
    chosen = parser.parse_args()
    if chosen.one:
        name, n, edition = chosen.one
        sys.stdout.write(json.dumps(measured_here(name, int(n), edition)) + "\n")
        return
    builds = listed(chosen.tasks, chosen.sizes, full=chosen.full)
    if not builds:
        parser.error(f"no task named has a size among {chosen.sizes}")
    entries = []
    for build in common.each(builds):
        entries.append(entry := measured(build, chosen.repetitions))
        met = "in time and memory" if entry["met"] else "MISSED"
        common.say(
            f"{entry['seconds']:.2f} s, {entry['peak_bytes'] / (1 << 30):.2f} GiB, {entry['rows']:,} rows: {met}"
        )
    met = all(entry["met"] for entry in entries)
    results = {"cores_used": 1, "repetitions": chosen.repetitions, "builds": entries, "targets_met": met}
    common.write(common.output(chosen, "acd_builds.json"), ("numpy", "numba", "pyarrow"), results)
    sys.exit(not met)


def listed(tasks: list[str], sizes: list[int] | None, *, full: bool = False) -> list[Build]:
    """Return every (task, n, edition) to build, or each task's least published size if no sizes are given.

    A TaskSizeError says that one does not fit into this machine's memory.
    """
    found = []
    for name in tasks:
        task = acd.TASKS[name]
        published = task.sizes if full else task.sizes[:1]
        chosen = published if sizes is None else [n for n in sizes if task.minimum <= n <= task.maximum]
        found += [(name, n, edition) for n in chosen for edition in task.editions]
    for name, n, edition in found:
        acd.TASKS[name].check_memory(n, edition)
    return found


def measured(build: Build, repetitions: int) -> dict[str, Any]:
    """Return the figures of one build, from processes of their own, beside its targets."""
    name, n, edition = build
    in_a_process((name, acd.TASKS[name].minimum, edition))
    runs = [in_a_process(build) for _ in range(repetitions)]
    seconds = statistics.median(run["seconds"] for run in runs)
    peak = max(run["peak_bytes"] for run in runs)
    target_seconds = TARGET_SECONDS.get((name, n), OTHER_SECONDS)
    target_bytes = TARGET_BYTES.get((name, n))
    return {
        "task": name,
        "n": n,
        "edition": edition,
        "rows": runs[0]["rows"],
        "file_bytes": runs[0]["file_bytes"],
        "seconds": seconds,
        "all_seconds": [run["seconds"] for run in runs],
        "peak_bytes": peak,
        "estimated_bytes": acd.TASKS[name].estimate(n, edition).bytes,
        "target_seconds": target_seconds,
        "target_bytes": target_bytes,
        "met": seconds < target_seconds and (target_bytes is None or peak < target_bytes),
    }


def in_a_process(build: Build) -> dict[str, Any]:
    """Run one build in a fresh process, on one core, and return what it measured."""
    name, n, edition = build
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    return dict(common.in_a_process(__file__, "--one", name, str(n), edition, **one_thread))


def measured_here(name: str, n: int, edition: str) -> dict[str, Any]:
    """Build in this process, into a temporary store, and return the figures."""
    import resource  # not on Windows

    common.use_one_core()  # pyarrow's threads too
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        provenance = acd.build(name, n=n, edition=edition, cache=cache)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "seconds": seconds,
        "peak_bytes": peak,
        "rows": provenance["rows"]["all"],
        "file_bytes": provenance["bytes"],
    }


if __name__ == "__main__":
    main()
