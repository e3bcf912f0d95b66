"""The number theory benchmark: which representation learns what divisibility, residues and signs decide.

Its tasks are drawn tasks of `adelic.number_theory`; its models are networks with every embedding, and solvers. `plans`
lists the experiments in series; `report`, `summary` and `figures` show their results.
"""

from adelic.benchmark.number_theory.plans import Series, choose, experiments, read_plan
from adelic.benchmark.number_theory.report import to_markdown, write_report

__all__ = ["Series", "choose", "experiments", "read_plan", "to_markdown", "write_report"]
