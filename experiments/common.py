"""What the benchmarks have in common: runs that alternate, the numbers that they encode, results with their origin."""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numpy as np
import numpy.typing as npt

from adelic import AdeleSpace
from adelic.storage.files import atomic_write
from adelic.storage.provenance import machine, source_commit, versions

RESULTS = Path(__file__).resolve().parent / "results"
Seconds = dict[str, list[float]]
T = TypeVar("T")


def instructions() -> str:
    """Return the vector instructions that are compiled for here, "(restricted)" where the processor has others.

    >>> instructions().split()[0] in ("AVX-512", "AVX2", "NEON", "none")
    True
    """
    restricted = os.environ.get("NUMBA_CPU_FEATURES")
    features = restricted.split(",") if restricted else llvmlite.binding.get_host_cpu_features().flatten().split(",")
    known = {"+avx512f": "AVX-512", "+avx2": "AVX2", "+neon": "NEON"}
    found = [name for feature, name in known.items() if feature in features]
    return (found or ["none"])[0] + (" (restricted)" if restricted else "")


def restrict_instructions(name: str | None) -> None:
    """With "avx2", have numba and torch, before they are loaded, use the instructions of processors with AVX2 alone."""
    if name == "avx2":
        features = llvmlite.binding.get_host_cpu_features()
        features |= {key: False for key in features if key.startswith(("avx512", "avx10", "avxvnni", "amx"))}
        features = llvmlite.binding.FeatureMap(features)
        os.environ["NUMBA_CPU_NAME"] = llvmlite.binding.get_host_cpu_name()
        os.environ["NUMBA_CPU_FEATURES"] = features.flatten()
        os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


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


def say(text: str) -> None:
    """Print a line on standard error at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def each(things: Iterable[T], name: Callable[[T], object] = str) -> Iterator[T]:
    """Yield things, and before each say which one it is: whoever runs a benchmark sees from the start how far it is."""
    chosen = list(things)
    for k, thing in enumerate(chosen, start=1):
        say(f"{k} of {len(chosen)}: {name(thing)}")
        yield thing


def positive(text: str) -> int:
    """Return a number of the command line that counts something.

    >>> positive("3")
    3
    """
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def parser(doc: str | None, full: str = "", *, output: bool = True, **options: Any) -> argparse.ArgumentParser:
    """Return a script's parser, whose help is the script's docstring.

    Args:
        doc: the docstring.
        full: what `--full` takes; no such option if it is empty. Without it a script takes about a minute.
        output: whether there is `--output`, a file or a folder.
        options: see `add`.
    """
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if full:
        made.add_argument("--full", action="store_true", help=f"all that the committed results have: {full}")
    if output:
        part = ", without --full runs/experiments" if full else ""
        made.add_argument("--output", type=Path, help=f"where results go (default: experiments/results{part})")
    return add(made, **options)


def add(made: argparse.ArgumentParser, **options: Any) -> argparse.ArgumentParser:
    """Add options by name: a default and a help text, or all that `add_argument` takes; return the parser."""
    for name, about in options.items():
        if not isinstance(about, dict):
            default, text = about
            kind = positive if type(default) is int and default else type(default)
            about = {"type": kind, "default": default, "help": f"{text} (default: %(default)s)"}
        made.add_argument(f"--{name.replace('_', '-')}", **about)
    return made


def several(kind: Callable[[str], Any], text: str, **more: Any) -> dict[str, Any]:
    """Return an option of several values, for `add`."""
    return {"nargs": "+", "type": kind, "help": text} | more


def output(chosen: argparse.Namespace, name: str = "") -> Path:
    """Return where results go if no --output says it: to the committed ones, those of a part to `runs`."""
    is_full = getattr(chosen, "full", True)
    return chosen.output or (RESULTS if is_full else Path("runs", "experiments")) / name


def in_a_process(script: str, *words: str, **environment: str) -> Any:
    """Return the JSON that a script prints in a process of its own, with these variables of the environment, too."""
    command = [sys.executable, script, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def mean_percent(shares: Sequence[float], decimals: int) -> str:
    """Return the mean in percent, with the standard deviation if there are several.

    >>> mean_percent([0.5, 0.7], 1), mean_percent([], 1)
    ('60.0 ± 14.1', 'not run')
    """
    if not shares:
        return "not run"
    spread = f" ± {100 * statistics.stdev(shares):.{decimals}f}" if len(shares) > 1 else ""
    return f"{100 * statistics.mean(shares):.{decimals}f}{spread}"


def described(space: AdeleSpace) -> dict[str, Any]:
    """Return the parameters of a space for a file of results."""
    return {"primes": space.primes, "precision": space.precision, "fractional_digits": space.fractional_digits}


def write(path: Path, packages: Iterable[str], results: Mapping[str, Any]) -> None:
    """Write results with the command, machine, instructions, versions and commit that they come from."""
    script, *words = sys.argv
    origin = {
        "command": shlex.join(["python", f"experiments/{Path(script).name}", *words]),
        "machine": f"{machine()}, {instructions()}",
        "versions": versions(*packages),
        "commit": source_commit(),
    }
    atomic_write(path, json.dumps(origin | dict(results), indent=1) + "\n")
    say(f"written to {path}")


def between_marks(page: Path, mark: str, text: str) -> None:
    """Put a text between <!-- MARK --> and the next <!-- end of … --> of a page."""
    marks = rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end of \w+ -->)"
    old = page.read_text(encoding="utf-8")
    atomic_write(page, re.sub(marks, lambda found: f"{found[1]}{text}\n{found[2]}", old, flags=re.DOTALL))
