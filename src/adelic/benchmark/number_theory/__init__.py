"""The number theory benchmark: which representation learns what divisibility, residues and signs decide.

Its tasks are drawn tasks of `adelic.number_theory`; its models are networks with every embedding, and solvers. Plans
are those of `adelic.benchmark.drawn`; `report`, `summary` and `figures` show the results.
"""

from pathlib import Path

from adelic.benchmark import drawn
from adelic.benchmark.drawn import Series
from adelic.benchmark.number_theory.report import to_markdown, write_report

__all__ = ["read_plan", "to_markdown", "write_report"]


def read_plan(source: str | Path) -> list[Series]:
    """Return the series of a plan: "full", "quick" or a file, see `adelic.benchmark.drawn.read_plan`.

    >>> {series.task for series in read_plan("quick")} <= {series.task for series in read_plan("full")}
    True
    """
    return drawn.read_plan(source, __package__)
