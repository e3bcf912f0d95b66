"""The arithmetic benchmark: which number representation learns arithmetic from how many examples.

Its problems are drawn tasks of `adelic.number_theory`, its representations the solvers of `adelic.training.solvers`.
`plans` says which experiments there are, `entries` what their results say, `report` and `figures` show it.
"""

from adelic.benchmark.arithmetic.entries import finished, gather
from adelic.benchmark.arithmetic.plans import choose, read_plan, run_plan
from adelic.benchmark.arithmetic.report import to_markdown, write_report

__all__ = ["choose", "finished", "gather", "read_plan", "run_plan", "to_markdown", "write_report"]
