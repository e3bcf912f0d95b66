"""What the benchmarks have in common: runs that alternate, the numbers that they encode, results with their origin."""

import json
import os
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic import AdeleSpace
from adelic.storage.files import atomic_write
from adelic.storage.provenance import machine, source_commit, versions

RESULTS = Path(__file__).resolve().parent / "results"
Seconds = dict[str, list[float]]


def use_one_core() -> None:
    """Keep this process, and what it starts, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def interleaved(
    functions: Mapping[str, Callable[[], Any]], repetitions: int, clock: Callable[[], float] = time.perf_counter
) -> Seconds:
    """Run the functions in turn, so many times after a first one that does not count; return the seconds of each."""
    seconds: Seconds = {name: [] for name in functions}
    for repetition in range(repetitions + 1):
        for name, function in functions.items():
            start = clock()
            function()
            if repetition:
                seconds[name].append(clock() - start)
    return seconds


def medians(seconds: Seconds) -> dict[str, float]:
    """Return the median of each function's runs."""
    return {name: statistics.median(values) for name, values in seconds.items()}


def random_rationals(space: AdeleSpace, size: int, greatest: int = 10**9) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return random numerators and denominators up to `greatest`, the denominators units at every prime."""
    rng = np.random.default_rng(0)
    numerators = rng.integers(-greatest, greatest, size, endpoint=True)
    denominators = rng.integers(1, greatest, size, endpoint=True)
    while (bad := (denominators[:, None] % np.array(space.primes) == 0).any(axis=1)).any():
        denominators[bad] = rng.integers(1, greatest, int(bad.sum()), endpoint=True)
    return numerators, denominators


def described(space: AdeleSpace) -> dict[str, Any]:
    """Return the parameters of a space for a file of results."""
    return {"primes": space.primes, "precision": space.precision, "fractional_digits": space.fractional_digits}


def write(path: Path, script: str, packages: tuple[str, ...], results: Mapping[str, Any]) -> None:
    """Write results with the command, the machine, the versions and the commit that they come from."""
    origin = {
        "command": shlex.join(["python", f"benchmarks/{script}", *sys.argv[1:]]),
        "machine": machine(),
        "versions": versions(*packages),
        "commit": source_commit(),
    }
    atomic_write(path, json.dumps(origin | dict(results), indent=1) + "\n")
