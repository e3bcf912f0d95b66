"""What the benchmarks of drawn tasks share: plans of runs, and the scores of a run.

`plans` reads a plan and runs what is left of it, `scores` says what a result got right. A further benchmark is a folder
beside this one, with its plans and its report: `adelic.benchmark.arithmetic`, `number_theory` and `columns` are such.
"""

from adelic.benchmark.drawn.plans import Series, choose, experiments, read_plan, run_plan

__all__ = ["Series", "choose", "experiments", "read_plan", "run_plan"]
