"""The arithmetic benchmark: which number representation learns arithmetic from how many examples.

Its problems are drawn tasks of `adelic.number_theory`, its representations the solvers of `adelic.training.solvers`.
`plans` lists the experiments, `entries` summarises their results, `report` and `figures` show them.
"""

from adelic.benchmark.arithmetic.entries import gather
from adelic.benchmark.arithmetic.plans import choose, read_plan, run_plan
from adelic.benchmark.arithmetic.report import to_markdown, write_report

__all__ = ["choose", "gather", "read_plan", "run_plan", "to_markdown", "write_report"]
