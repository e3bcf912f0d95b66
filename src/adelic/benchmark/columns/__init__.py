"""The benchmark of columns: which form of AOE, or which rival, reads what is asked of number columns.

Its tasks are those of `adelic.columns`; each model is one small Transformer with another embedding, and all have the
same questions, steps and sizes. Plans are those of `adelic.benchmark.drawn`; `report` shows the results in one table.
"""

from pathlib import Path

from adelic.benchmark import drawn
from adelic.benchmark.columns.report import to_markdown, write_report
from adelic.benchmark.drawn import Series

__all__ = ["read_plan", "to_markdown", "write_report"]


def read_plan(source: str | Path) -> list[Series]:
    """Return the series of a plan: "full", "quick" or a file, see `adelic.benchmark.drawn.read_plan`.

    >>> {series.task for series in read_plan("quick")} <= {series.task for series in read_plan("full")}
    True
    """
    return drawn.read_plan(source, __package__)
