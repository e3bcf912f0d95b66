"""Measure how long every dataset of `adelic.acd` takes to build, and how much memory, against the targets.

    python experiments/acd_builds.py                           # the least published size of each task, in a minute
    python experiments/acd_builds.py --full --repetitions 3

Every build (generation, splits and the Parquet file) runs in a fresh process on one core, into a temporary store. The
least size of the same task and edition is built once before, in a separate process, so the compiled code is in
numba's cache and no compilation is measured. Seconds are those of `acd.build`, which loads the libraries it needs; peak
memory is the resident set of the whole process, libraries included.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import common

from adelic import acd
from adelic.errors import ConfigurationError

TARGET_SECONDS = {("lattice", 13): 60.0, ("schubert", 6): 180.0}
OTHER_SECONDS = 20.0
TARGET_BYTES = {("schubert", 6): 4 << 30}

Build = tuple[str, int, str]


def main(
    *,
    tasks: tuple[Literal[*acd.TASKS], ...] = tuple(acd.TASKS),
    sizes: tuple[int, ...] = (),
    repetitions: common.Positive = 1,
    full: bool = False,
    output: Path | None = None,
) -> bool:
    """Build, and write the results; exit code 1 if a target is missed.

    Args:
        tasks: which are built.
        sizes: instead of the published ones.
        repetitions: the median counts.
        full: all published sizes, in many minutes.
        output: file of the results.
    """
    builds = listed(tasks, sizes, full=full)
    if not builds:
        raise ConfigurationError(f"no task named has a size among {sizes}")
    entries = []
    for build in common.each(builds):
        entries.append(entry := measured(build, repetitions))
        gibibytes, met = entry["peak_bytes"] / (1 << 30), "in time and memory" if entry["met"] else "MISSED"
        common.say(f"{entry['seconds']:.2f} s, {gibibytes:.2f} GiB, {entry['rows']:,} rows: {met}")
    met = all(entry["met"] for entry in entries)
    results = {"cores_used": 1, "repetitions": repetitions, "builds": entries, "targets_met": met}
    common.write("acd_builds.json", ("numpy", "numba", "pyarrow"), results, output, full=full)
    return met


def listed(tasks: Iterable[str], sizes: Sequence[int], *, full: bool = False) -> list[Build]:
    """Return every (task, n, edition) to build, or each task's least published size if no sizes are given.

    A TaskSizeError says that one does not fit into this machine's memory.
    """
    found = []
    for task in map(acd.task, tasks):
        published = task.sizes if full else task.sizes[:1]
        chosen = [n for n in sizes if task.minimum <= n <= task.maximum] if sizes else published
        found += [(task.name, n, edition) for n in chosen for edition in task.editions]
    for name, n, edition in found:
        acd.TASKS[name].check_memory(n, edition)
    return found


def measured(build: Build, repetitions: int) -> dict[str, Any]:
    """Return the figures of one build, from separate processes on one core, next to its targets."""
    name, n, edition = build
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    sizes = (acd.TASKS[name].minimum, *[n] * repetitions)
    _, *runs = (common.in_a_process(measured_here, name, size, edition, **one_thread) for size in sizes)
    all_seconds, peak = [run["seconds"] for run in runs], max(run["peak_bytes"] for run in runs)
    found = {"task": name, "n": n, "edition": edition, "rows": runs[0]["rows"], "file_bytes": runs[0]["file_bytes"]}
    found |= {"seconds": statistics.median(all_seconds), "all_seconds": all_seconds, "peak_bytes": peak}
    found["estimated_bytes"] = acd.TASKS[name].estimate(n, edition).bytes
    seconds, most = TARGET_SECONDS.get((name, n), OTHER_SECONDS), TARGET_BYTES.get((name, n))
    met = found["seconds"] < seconds and (most is None or peak < most)
    return found | {"target_seconds": seconds, "target_bytes": most, "met": met}


def measured_here(name: str, n: int, edition: str) -> dict[str, Any]:
    """Build in this process, into a temporary store, and return the figures."""
    import resource  # not on Windows

    common.use_one_core()  # pyarrow's threads too
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        provenance = acd.build(name, n=n, edition=edition, cache=cache)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    rows, size = provenance["rows"]["all"], provenance["bytes"]
    return {"seconds": seconds, "peak_bytes": peak, "rows": rows, "file_bytes": size}


if __name__ == "__main__":
    common.run(main)
