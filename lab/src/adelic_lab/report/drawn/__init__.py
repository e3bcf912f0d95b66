"""What the benchmarks of drawn tasks share: plans of runs, the scores of a run, and how a report is written.

`plans` reads a plan and runs what is left of it, `scores` says what a result got right, and `report` writes what a
benchmark shows. A further benchmark is a folder beside this one with two plans, full.toml and quick.toml, and a
function `show` from series to a `Report`; its command is one more of `adelic_lab.cli.reproduce.drawn`. Such are
`adelic_lab.report.arithmetic`, `number_theory` and `columns`.
"""

from adelic_lab.report.drawn.plans import Series, choose, experiments, gather, read_plan, run_plan
from adelic_lab.report.drawn.report import Report, write_report

__all__ = ["Report", "Series", "choose", "experiments", "gather", "read_plan", "run_plan", "write_report"]
