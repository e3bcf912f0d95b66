"""Run `adelic` commands in this process, and texts that are hostile to them."""

import contextlib
import io
import os
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import NamedTuple

from adelic.cli import main
from targets.case import LONGEST_LINE

CPU_SECONDS = 60
"""No command of these attacks has more than a few seconds of work to do; compiling and importing may be among it."""

HOSTILE = (
    "",
    " ",
    "-",
    "--",
    "x",
    "-x",
    "nan",
    "-inf",
    "1e5",
    "1e999999999",
    "1e-999999999",
    "0x10",
    "1_000",
    "7/0",
    "7//5",
    "0",
    "-1",
    "-0",
    "2",
    "3.5",
    "10**6",
    "1000000000",
    "-9223372036854775808",
    "1180591620717411303424",
    "٣",
    "①",
    "½",
    "…",
    "…12",
    "2:",
    ":1",
    "2:…1?1",
    "2,3,5",
    "2,,3",
    ",",
    "0-4",
    "5-2",
    "1-99999",
    "-5-",
    "a=b",
    "=",
    "name=",
    "seed=1",
    "cache=x",
    "progress=1",
    "n=3",
    "1h30m",
    "25m",
    "%s%n",
    "{}",
    "{0.__class__}",
    "[bold]x[/bold]",
    "[/]",
    "\x1b[31mred",
    "a\nb",
    "a\tb",
    "<script>alert(1)</script>",
    "'; drop table x; --",
    "ﬀ𝔸🎲",
    "\udcff",
    "\u202ereversed",
    "9" * 5000,
    "1/" + "7" * 5000,
    "z" * 300,
    "[" * 3000,
)


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


def hostile_text(rng: Random) -> str:
    """Return a hostile text, two of them in one, or random characters."""
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(HOSTILE)
    if kind < 0.85:
        return (rng.choice(HOSTILE) + rng.choice(HOSTILE))[:6000]
    return "".join(rng.choice("0123456789./-+eE:,…()?= \\\"'é") for _ in range(rng.randint(1, 20)))


def adelic(arguments: list[str], folder: Path, stdin: str = "") -> Outcome:
    """Run a command line in a folder, and assert what holds of every one.

    It exits with 0, 1 or 2; with 2 it says so in one line on standard error, or how it is used; and it takes no longer
    than `CPU_SECONDS` of this process.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace") for _ in range(2))
    before, place, given = warnings.showwarning, Path.cwd(), sys.stdin
    start = time.process_time()
    os.chdir(folder)
    try:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode(errors="surrogateescape")), encoding="utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(arguments)
                status = None
            except SystemExit as stop:
                status = stop.code
    except Exception as error:
        raise AssertionError(f"adelic {shown(arguments)} raises {type(error).__name__}: {error}"[:3000]) from error
    finally:
        os.chdir(place)
        sys.stdin, warnings.showwarning = given, before
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in map(_flushed, (out, err))]
    outcome = Outcome(status if isinstance(status, int) else -1, *texts)
    seconds = time.process_time() - start
    assert seconds < CPU_SECONDS, f"adelic {shown(arguments)} takes {seconds:.0f} s"
    assert outcome.status in (0, 1, 2), f"adelic {shown(arguments)} exits with {status!r}: {outcome.err[-2000:]}"
    assert "Traceback" not in outcome.err, f"adelic {shown(arguments)} prints a traceback: {outcome.err[-3000:]}"
    if outcome.status == 2:
        lines = [line for line in outcome.err.splitlines() if not line.startswith("adelic: warning: ")]
        is_usage = bool(lines) and lines[0].startswith("Usage: ")
        said = f"adelic {shown(arguments)} says {outcome.err[:3000]!r}"
        assert is_usage or (len(lines) >= 1 and lines[-1].startswith("adelic: ")), said
        assert is_usage or len(lines[-1]) < LONGEST_LINE, f"{len(lines[-1])} characters: {said}"
    return outcome


def _flushed(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    stream.flush()
    return stream


def shown(arguments: list[str]) -> str:
    """Return arguments as a test would have them, long ones cut."""
    return repr([a if len(a) <= 200 else a[:100] + f"…({len(a)} characters)" for a in arguments])
