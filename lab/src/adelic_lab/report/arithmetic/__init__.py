"""The arithmetic benchmark: which number representation learns arithmetic from how many examples.

Its problems are drawn tasks of `adelic.number_theory`, its representations the solvers of `adelic_lab.models.solvers`.
Plans are those of `adelic_lab.report.drawn`; `report` and `figures` show the results, whose order is that of `groups`.
"""

from adelic_lab.report.arithmetic.report import show

__all__ = ["show"]
