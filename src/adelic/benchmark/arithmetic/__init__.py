"""The arithmetic benchmark: which number representation learns arithmetic from how many examples.

Its problems are drawn tasks of `adelic.number_theory`, its representations the solvers of `adelic.training.solvers`.
Plans are those of `adelic.benchmark.drawn`; `entries` summarises the results, `report` and `figures` show them.
"""

from collections.abc import Iterable
from pathlib import Path

from adelic.benchmark import drawn
from adelic.benchmark.arithmetic.entries import gather
from adelic.benchmark.arithmetic.report import to_markdown, write_report
from adelic.benchmark.drawn import Series

__all__ = ["gather", "read_plan", "to_markdown", "write_report"]


def read_plan(source: str | Path, *, own_solvers: Iterable[str] = ()) -> list[Series]:
    """Return the series of a plan: "full", "quick" or a file, see `adelic.benchmark.drawn.read_plan`.

    >>> {len(series.experiments) for series in read_plan("full")}
    {5}
    """
    return drawn.read_plan(source, __package__, own_solvers=own_solvers)
