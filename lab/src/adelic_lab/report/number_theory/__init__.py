"""The number theory benchmark: which representation learns what divisibility, residues and signs decide.

Its tasks are drawn tasks of `adelic.number_theory`; its models are networks with every embedding, and solvers. Plans
are those of `adelic_lab.report.drawn`; `report`, `divisors`, `figures` and `learning` show the results.
"""

from adelic_lab.report.number_theory.report import show

__all__ = ["show"]
