"""Random cases against what the package promises, each checked by an independent truth.

    python fuzz/attacks.py                                  # every attack, a minute each
    python fuzz/attacks.py flint text --seconds 600 --seed 3
    python fuzz/attacks.py flint --seed 3 --case 1712       # one case again

See fuzz/README.md. The exit code is 1 where an attack found something.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded: a fork hangs that inherits its threads' pool

from targets.case import Case

ATTACKS = {
    "flint": "targets.rational",
    "algebraic": "targets.algebraic",
    "local": "targets.local",
    "code": "targets.code",
    "threads": "targets.threads",
    "text": "targets.text",
    "lossy": "targets.lossy",
    "commands": "targets.commands",
    "digits": "targets.digits",
    "configurations": "targets.configurations",
    "pages": "targets.pages",
    "files": "targets.files",
    "labels": "targets.labels",
    "searches": "targets.searches",
    "published": "targets.published",
    "determinism": "targets.runs",
    "kills": "targets.kills",
}
"""The module of each attack; its function of the attack's name checks one case."""

SECONDS_A_CASE = 300
"""What takes longer hangs. Cases take seconds at most, those that train up to a minute."""


def attack(name: str) -> Callable[[Case], None]:
    """Return the function that checks one case of an attack."""
    found: Callable[[Case], None] = getattr(import_module(ATTACKS[name]), name)
    return found


def run(
    name: str,
    numbers: Iterable[int],
    seed: int,
    folder: Path,
    *,
    until: float = float("inf"),
    failed: Callable[[int, Exception], bool],
) -> Counter[str]:
    """Check cases of an attack until a time (of `time.monotonic`); return what they counted.

    Args:
        name: of the attack.
        numbers: of the cases.
        seed: of the cases.
        folder: the attack's own.
        until: when to stop.
        failed: told of each case that fails; whether to stop then.
    """
    check, total = attack(name), Counter[str]()
    for number in numbers:
        case = Case.of(name, seed, number, folder)
        try:
            with _limited(SECONDS_A_CASE):
                check(case)
        except Exception as error:
            total["FAILURES"] += 1
            if failed(number, error):
                break
        total += case.counts
        total["cases"] += 1
        if time.monotonic() >= until:
            break
    return total


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer, where there are alarms (not on Windows)."""

    def ring(*_: Any) -> None:
        raise TimeoutError(f"not done within {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    """Parse the command line, run the attacks, print what each counted."""
    parser = argparse.ArgumentParser(description="Random cases against what the package promises.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ATTACKS)}; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each attack (default: 60)")
    parser.add_argument("--cases", type=int, help="for each attack, instead of --seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="only this one, to repeat it")
    parser.add_argument("--keep-going", action="store_true", help="after a failure, with the same attack")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown attack {unknown[0]!r}; attacks: {', '.join(ATTACKS)}")
    status = 0
    for name in given.names or ATTACKS:
        start = time.monotonic()

        def failed(number: int, error: Exception, name: str = name) -> bool:
            traceback.print_exception(error)
            repeat = f"python fuzz/attacks.py {name} --seed {given.seed} --case {number}"
            print(f"FAILED; this repeats it: {repeat}", file=sys.stderr, flush=True)  # noqa: T201
            return not given.keep_going

        last = None if given.cases is None else given.first + given.cases
        numbers = count(given.first) if last is None else range(given.first, last)
        until = start + given.seconds if last is None else float("inf")
        with private_folder(name) as folder:
            chosen = numbers if given.case is None else [given.case]
            total = run(name, chosen, given.seed, folder, until=until, failed=failed)
        status |= bool(total["FAILURES"])
        counted = ", ".join(f"{number:,} {what}" for what, number in sorted(total.items()) if number)
        verdict = "FAILED" if total["FAILURES"] else "held"
        print(f"{name}: {verdict}; {counted}; {time.monotonic() - start:.0f} s", flush=True)  # noqa: T201
    return status


@contextmanager
def private_folder(name: str) -> Iterator[Path]:
    """Make a folder for an attack, with the store in it, and remove it afterwards."""
    before = os.environ.get("ADELIC_CACHE")
    with tempfile.TemporaryDirectory(prefix=f"adelic-{name}-") as folder:
        os.environ["ADELIC_CACHE"] = str(Path(folder) / "cache")
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["ADELIC_CACHE"]
            else:
                os.environ["ADELIC_CACHE"] = before


if __name__ == "__main__":
    sys.exit(main())
