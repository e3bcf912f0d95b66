"""The arithmetic benchmark: which number representation learns arithmetic from how many examples.

Its problems are drawn tasks of `adelic.number_theory`, its representations the solvers of `adelic.training.solvers`.
Plans are those of `adelic.benchmark.drawn`; `report` and `figures` show the results, whose order is that of `groups`.
"""

from adelic.benchmark.arithmetic.report import show

__all__ = ["show"]
