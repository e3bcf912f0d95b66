"""The benchmark of columns: which form of AOE, or which rival, reads what is asked of number columns.

Its tasks are those of `adelic.columns`; each model is one small Transformer with another embedding, and all have the
same questions, steps and sizes. Plans are those of `adelic_lab.report.drawn`; `report` shows the results in one table.
"""

from adelic_lab.report.columns.report import show

__all__ = ["show"]
