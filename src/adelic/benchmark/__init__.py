"""Layer 4, the benchmark: the paper's rows, matrices of runs, statistics, tables, plots, the report."""

from adelic.errors import needs_extra

with needs_extra("adelic.benchmark", "torch"):
    from adelic.benchmark.engines import Budget, EmbeddedEngine, RayEngine
    from adelic.benchmark.matrix import plan, plan_classical, progress, run_matrix
    from adelic.benchmark.report import write_report
    from adelic.benchmark.results import Summary, read_results, summarise, with_finished_runs
    from adelic.benchmark.rows import Row, published_row, published_rows

__all__ = [
    "Budget",
    "EmbeddedEngine",
    "RayEngine",
    "Row",
    "Summary",
    "plan",
    "plan_classical",
    "progress",
    "published_row",
    "published_rows",
    "read_results",
    "run_matrix",
    "summarise",
    "with_finished_runs",
    "write_report",
]
