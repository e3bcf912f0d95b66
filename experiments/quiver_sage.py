"""Measure how long the mutation classes of the quiver task (n = 11) take here and in Sage, side by side.

    pip install -e '.[sage]'
    python experiments/quiver_sage.py                # one class, in a minute
    python experiments/quiver_sage.py --full
    python experiments/quiver_sage.py --classes A BB --repetitions 2

Both search the same class to the same depth from the same seed, in one process and one thread, in turn: for every
repetition some runs of ours, one of Sage, and as many of ours again. Sage gives its results as "dig6" strings, the form
in which it keeps them and thus its fastest one; ours are the canonical forms. Not measured: imports, the compilation of
our kernels (they are compiled once and cached), the seed of Sage. Afterwards the canonical forms of Sage's matrices are
compared with ours. The ratio is that of the medians of the processor time, which other programs on the machine disturb
less than the time on the clock; that ratio stands beside it.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import numpy as np
from rich.console import Console
from rich.table import Table

from adelic.acd import quiver
from adelic.storage.files import atomic_write
from adelic.storage.provenance import machine, source_commit, versions

N = 11
TARGET_RATIO = 20.0
SAGE_PACKAGES = ("passagemath-combinat", "passagemath-graphs", "passagemath-modules", "passagemath-repl")


def main() -> None:
    """Measure, print the table, write the results; exit code 1 if a class differs or a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", nargs="+", choices=quiver.TYPES, metavar="CLASS", help="default: DE")
    parser.add_argument("--repetitions", type=int, default=1, help="runs of Sage (default: 1)")
    parser.add_argument("--ours", type=int, default=5, help="runs of ours before and after each of Sage (default: 5)")
    parser.add_argument("--output", type=Path, help="default with --full: experiments/results/quiver_sage.json")
    common.add_full(parser, "every class, in many minutes")
    chosen = parser.parse_args()
    classes = chosen.classes or (quiver.TYPES if chosen.full else ["DE"])
    output = common.output(chosen, "quiver_sage.json")
    if min(chosen.repetitions, chosen.ours) < 1:
        parser.error("--repetitions and --ours must be at least 1")
    console = Console(width=110)
    load_before = os.getloadavg()
    entries = []
    for mutation_type in common.each(dict.fromkeys(classes)):
        entries.append(measured(mutation_type, chosen.repetitions, chosen.ours))
        console.print("{class}: {ratio:.0f} times as fast".format_map(entries[-1]), style="dim")
    console.print(table(entries))
    results = {
        "command": shlex.join(["python", "experiments/quiver_sage.py", *sys.argv[1:]]),
        "machine": machine(),
        "threads": 1,
        "load_average_before_and_after": [load_before, os.getloadavg()],
        "versions": versions("numpy", "numba", *SAGE_PACKAGES),
        "commit": source_commit(),
        "n": N,
        "runs_of_sage": chosen.repetitions,
        "runs_of_ours": 2 * chosen.ours * chosen.repetitions,
        "classes": entries,
        "targets_met": all(entry["met"] for entry in entries),
    }
    atomic_write(output, json.dumps(results, indent=1) + "\n")
    console.print(f"written to {output}")
    sys.exit(not results["targets_met"])


def measured(mutation_type: str, repetitions: int, ours_each: int) -> dict[str, Any]:
    """Return the figures of one class; ours and Sage's runs alternate."""
    depth = quiver.DEPTHS[mutation_type]
    sage = sage_quiver(mutation_type)
    assert np.array_equal(matrix_of(sage.b_matrix()), quiver.initial_seed(mutation_type, N)), "the seeds differ"

    def run_ours() -> quiver.MutationClass:
        return quiver.mutation_class(quiver.initial_seed(mutation_type, N), depth)

    def run_sage() -> list[Any]:
        # What sage.mutation_class does, less its check, by random mutations, that the class is finite.
        return list(sage.mutation_class_iter(depth=float("inf") if depth is None else depth, data_type="dig6"))

    run_ours()  # compiles, or reads what was compiled
    ours, theirs = [], []
    for _ in range(repetitions):
        ours += [timed(run_ours)[1] for _ in range(ours_each)]
        found, times = timed(run_sage)
        theirs.append(times)
        ours += [timed(run_ours)[1] for _ in range(ours_each)]
    ours_median, sage_median = (
        {clock: statistics.median(run[clock] for run in runs) for clock in ("wall", "processor")}
        for runs in (ours, theirs)
    )
    matrices = run_ours().matrices
    same = {form.tobytes() for form in matrices} == {form.tobytes() for form in forms_of(found)}
    ratio = sage_median["processor"] / ours_median["processor"]
    return {
        "class": mutation_type,
        "depth": depth,
        "count": len(matrices),
        "count_sage": len(found),
        "same_matrices": same,
        "seconds": ours_median,
        "seconds_sage": sage_median,
        "ratio": ratio,
        "ratio_wall": sage_median["wall"] / ours_median["wall"],
        "all_seconds": ours,
        "all_seconds_sage": theirs,
        "met": same and len(found) == len(matrices) and ratio >= TARGET_RATIO,
    }


def timed(function: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return the function's result, and the seconds it took on the clock and on the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    return result, {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}


def sage_quiver(mutation_type: str) -> Any:
    """Return Sage's quiver of this type."""
    import sage.all__sagemath_modules  # noqa: F401 - Sage makes no matrices without it
    from sage.combinat.cluster_algebra_quiver.quiver import ClusterQuiver

    affine = mutation_type in ("BB", "BD")
    return ClusterQuiver([mutation_type, N - 1, 1] if affine else [mutation_type, N])


def forms_of(found: list[Any]) -> np.ndarray:
    """Return our canonical forms of what Sage found, int8 of shape (count, n, n)."""
    from sage.combinat.cluster_algebra_quiver.mutation_class import _dig6_to_matrix

    return quiver.canonical_form(np.stack([matrix_of(_dig6_to_matrix(each)) for each in found]))


def matrix_of(matrix: Any) -> np.ndarray:
    """Return a matrix of Sage as an array."""
    return np.array([[int(entry) for entry in row] for row in matrix.rows()], np.int8)


def table(entries: list[dict[str, Any]]) -> Table:
    """Return the figures as a table."""
    shown = Table("class", title=f"mutation classes, n = {N}; seconds of processor time, medians")
    for head in ("depth", "matrices", "same in Sage", "Sage", "ours", "ratio", "ratio on the clock"):
        shown.add_column(head, justify="right")
    for entry in entries:
        shown.add_row(
            entry["class"],
            "all" if entry["depth"] is None else str(entry["depth"]),
            f"{entry['count']:,}",
            "yes" if entry["same_matrices"] else "NO",
            f"{entry['seconds_sage']['processor']:.1f}",
            f"{entry['seconds']['processor']:.3f}",
            f"{entry['ratio']:.0f}",
            f"{entry['ratio_wall']:.0f}",
        )
    return shown


if __name__ == "__main__":
    main()
