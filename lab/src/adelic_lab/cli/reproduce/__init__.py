"""`adelic reproduce`: matrices of runs, and the benchmarks with a plan.

`rows` is for the data set's rows, `drawn` for benchmarks with a plan. One more benchmark with a plan is a command like
those of `drawn`.
"""

from collections.abc import Callable
from typing import Any

from cyclopts import App

from adelic_lab.cli.reproduce.drawn import BENCHMARKS
from adelic_lab.cli.reproduce.rows import reproduce_rows

reproduce = App(name="reproduce")
reproduce.default(reproduce_rows)
for name, benchmark in BENCHMARKS.items():
    reproduce.command(benchmark, name=name)


def benchmark_of(command: Callable[..., Any]) -> str | None:
    """Return the name of the benchmark that a command is for; None for that of rows."""
    return next((name for name, benchmark in BENCHMARKS.items() if benchmark is command), None)
