"""The benchmark of columns: which form of AOE, or which rival, reads what is asked of number columns.

Its tasks are those of `adelic.columns`; each model is one small Transformer with another embedding, and all have the
same questions, steps and sizes. The plan is data, read by `adelic.benchmark.number_theory`; `report` shows the results
in one table.
"""

from pathlib import Path

from adelic.benchmark.columns.report import to_markdown, write_report
from adelic.benchmark.number_theory.plans import Series, choose, experiments
from adelic.benchmark.number_theory.plans import read_plan as _read_plan

__all__ = ["Series", "choose", "experiments", "read_plan", "to_markdown", "write_report"]


def read_plan(source: str | Path) -> list[Series]:
    """Return the series of a plan, see `adelic.benchmark.number_theory.read_plan`.

    >>> {series.task for series in read_plan("quick")} <= {series.task for series in read_plan("full")}
    True
    """
    return _read_plan(source, __package__)
