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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from targets.case import Case

ATTACKS = {
    "flint": "targets.rational",
    "algebraic": "targets.algebraic",
    "code": "targets.code",
    "threads": "targets.threads",
    "text": "targets.text",
    "commands": "targets.commands",
    "pages": "targets.pages",
    "files": "targets.files",
    "published": "targets.published",
    "determinism": "targets.runs",
    "kills": "targets.kills",
}
"""The module of each attack; its function `attack`, or the one with the attack's name, checks one case."""

SECONDS_A_CASE = 300
"""What takes longer hangs. Cases take seconds at most, those that train up to a minute."""


def attack(name: str) -> Callable[[Case], None]:
    """Return the function that checks one case of an attack."""
    found: Callable[[Case], None] = getattr(import_module(ATTACKS[name]), name)
    return found


def run(name: str, numbers: Iterator[int], seed: int, folder: Path, until: float = float("inf")) -> Counter[str]:
    """Check cases of an attack until a time (of `time.monotonic`); return what they counted.

    Raises:
        Failure: a case failed.
    """
    check, total = attack(name), Counter[str]()
    for number in numbers:
        case = Case.of(name, seed, number, folder)
        try:
            with _limited(SECONDS_A_CASE):
                check(case)
        except Exception as error:
            raise Failure(f"{name} --seed {seed} --case {number}", total) from error
        total += case.counts
        total["cases"] += 1
        if time.monotonic() >= until:
            break
    return total


class Failure(Exception):
    """A case that failed; its cause says how.

    Attributes:
        case: what repeats it.
        total: what was counted before.
    """

    def __init__(self, case: str, total: Counter[str]) -> None:
        super().__init__(case)
        self.case, self.total = case, total


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
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown attack {unknown[0]!r}; attacks: {', '.join(ATTACKS)}")
    failed = False
    for name in given.names or ATTACKS:
        with tempfile.TemporaryDirectory(prefix=f"adelic-attack-{name}-") as folder:
            os.environ["ADELIC_CACHE"] = str(Path(folder) / "cache")
            start = time.monotonic()
            if given.case is not None:
                numbers, until = iter([given.case]), float("inf")
            elif given.cases is not None:
                numbers, until = iter(range(given.first, given.first + given.cases)), float("inf")
            else:
                numbers, until = count(given.first), start + given.seconds
            try:
                total, verdict = run(name, numbers, given.seed, Path(folder), until), "held"
            except Failure as failure:
                traceback.print_exception(failure.__cause__)
                total, verdict, failed = failure.total, f"FAILED, repeat: python fuzz/attacks.py {failure.case}", True
        counted = ", ".join(f"{number:,} {what}" for what, number in sorted(total.items()))
        print(f"{name}: {verdict}; {counted}; {time.monotonic() - start:.0f} s", flush=True)  # noqa: T201
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
