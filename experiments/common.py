"""What the benchmarks have in common: runs that alternate, the numbers that they encode, results with their origin."""

import json
import os
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, TypeVar

import llvmlite.binding
import numpy as np
import numpy.typing as npt
from cyclopts import App, Parameter
from cyclopts.validators import Number

from adelic import AdeleSpace
from adelic.data.drawn import Answers, Operands
from adelic.data.sources import DrawnData
from adelic.errors import AdelicError
from adelic.storage.files import atomic_write
from adelic.storage.provenance import machine, source_commit, versions
from adelic.storage.records import parse_object

ROOT = Path(__file__).resolve().parent.parent
RESULTS, DOCS = ROOT / "experiments" / "results", ROOT / "docs"
# Solvers have one name, experiments.solvers: numba's cache of a file is of no use under another one, and an error.
sys.path.append(str(ROOT))
Seconds = dict[str, list[float]]
T = TypeVar("T")
Positive = Annotated[int, Parameter(validator=Number(gte=1))]
Splits = dict[str, tuple[Operands, Answers]]


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


def run(*functions: Callable[..., Any]) -> None:
    """Run a script's function, of several the one that is named; the exit code is 1 if it returns False.

    Its keywords are the options, which its docstring describes; the help begins with the docstring of the script.
    """
    app = App(
        help=sys.modules["__main__"].__doc__,
        help_format="plaintext",
        version_flags=(),
        default_parameter=Parameter(negative=(), consume_multiple=True),
        result_action="return_value",
    )
    for function in functions:
        (app.command if len(functions) > 1 else app.default)(function)
    try:
        sys.exit(app() is False)
    except AdelicError as error:
        say(f"{Path(sys.argv[0]).stem}: {error}")
        sys.exit(2)


def in_a_process(function: Callable[..., T], *arguments: Any, **environment: str) -> T:
    """Return what a function returns in a separate process, with these variables of the environment from now on."""
    os.environ |= environment
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def mean_percent(shares: Iterable[float], decimals: int) -> str:
    """Return the mean in percent, with the standard deviation if there are several.

    >>> mean_percent([0.5, 0.7], 1), mean_percent([], 1)
    ('60.0 ± 14.1', 'not run')
    """
    shares = list(shares)
    if not shares:
        return "not run"
    spread = f" ± {100 * statistics.stdev(shares):.{decimals}f}" if len(shares) > 1 else ""
    return f"{100 * statistics.mean(shares):.{decimals}f}{spread}"


def write(
    name: str, packages: Iterable[str], results: Mapping[str, Any], output: Path | None = None, *, full: bool = True
) -> None:
    """Write results with the command, machine, instructions, versions and commit that they come from.

    They go to `output`, or else to a file of this name among the committed ones, those of a part to runs/experiments.
    """
    script, *words = sys.argv
    path = output or place(full=full) / name
    origin = {
        "command": shlex.join(["python", f"experiments/{Path(script).name}", *words]),
        "machine": f"{machine()}, {instructions()}",
        "versions": versions(*packages),
        "commit": source_commit(),
    }
    atomic_write(path, json.dumps(origin | dict(results), indent=1) + "\n")
    say(f"written to {path}")


def drawn_splits(questions: DrawnData, seed: int, *, confirmation: bool = False) -> tuple[Operands, Answers, Splits]:
    """Return the questions to train on, their answers, and the questions of each split with theirs.

    Those of `test` are the first ones, with confirmation all.
    """
    operands, answers = questions.questions(seed)
    tests = islice(questions.tests(seed, operands), None if confirmation else 1)
    test, right = map(np.concatenate, zip(*tests, strict=True))
    return operands, answers, {"test": (test, right)} | {k: (X, y) for k, X, y in questions.never_seen(seed, operands)}


def place(*, full: bool = True) -> Path:
    """Return the folder of results that are not written elsewhere."""
    return RESULTS if full else Path("runs", "experiments")


def read(folder: Path, files: str = "*.json") -> list[dict[str, Any]]:
    """Return the results in a folder."""
    return [parse_object(path.read_bytes()) for path in sorted(folder.glob(files))]


def loaded(name: str) -> dict[str, Any]:
    """Return the committed results of a name."""
    return parse_object((RESULTS / f"{name}.json").read_bytes())


def between_marks(page: Path, mark: str, text: str) -> None:
    """Put a text between <!-- MARK --> and the next <!-- end of … --> of a page."""
    marks = rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end of \w+ -->)"
    old = page.read_text(encoding="utf-8")
    atomic_write(page, re.sub(marks, lambda found: f"{found[1]}{text}\n{found[2]}", old, flags=re.DOTALL))
