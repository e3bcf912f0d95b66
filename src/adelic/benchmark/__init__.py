"""The benchmark: matrices of runs, and from their results statistics, tables, figures and the report.

| module | what it does |
|---|---|
| `matrix`, `engines` | rows × embeddings × seeds as runs; executes them in one process, several, or on a Ray cluster |
| `files`, `results` | reads and writes result files; a `Summary` says what tables need of a model's runs |
| `rows` | the published figures, from published.toml and published_further.toml |
| `comparison`, `significance` | which models may be compared; tests and intervals, by SciPy and statsmodels |
| `table` | `Table`: columns, rows, notes; as Markdown, CSV, for the terminal, and by templates/report.html as HTML |
| `run_tables`, `row_tables`, `contrasts` | make the tables |
| `plots`, `row_plots` | draw the figures |
| `report` | puts tables and figures together: pages, CSV, HTML |

All of it may import `adelic.training` and what lies below that, and no module of the layers above. A result is an
`adelic.training.Result`, which alone knows the keys of its file. To add a table, write a function that returns a
`Table`, and name it in `report.tables` (and, for the HTML page, in templates/report.html); the command line's `--table`
lists the names, and a test compares both. To add a figure of a row, draw it in `row_plots` with the axes, colours and
legend of `plots`, and make it a `Part` of `report.RowSection`.
"""

from typing import TYPE_CHECKING, Any

from adelic.errors import needs_extra

with needs_extra("adelic.benchmark", "torch"):
    from adelic.benchmark.engines import Budget, EmbeddedEngine, RayEngine, WorkersEngine
    from adelic.benchmark.files import read_results, with_finished_runs
    from adelic.benchmark.matrix import outstanding, outstanding_work, plan, plan_classical, progress, run_matrix
    from adelic.benchmark.results import Summary, summarise
    from adelic.benchmark.rows import Row, published_rows
if TYPE_CHECKING:
    from adelic.benchmark.report import write_report

__all__ = [
    "Budget",
    "EmbeddedEngine",
    "RayEngine",
    "Row",
    "Summary",
    "WorkersEngine",
    "outstanding",
    "outstanding_work",
    "plan",
    "plan_classical",
    "progress",
    "published_rows",
    "read_results",
    "run_matrix",
    "summarise",
    "with_finished_runs",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import the report when it is first used: each process that runs a part of a matrix would wait for matplotlib."""
    if name == "write_report":
        with needs_extra("adelic.benchmark", "torch"):
            from adelic.benchmark.report import write_report
        return write_report
    raise AttributeError(f"module 'adelic.benchmark' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, the one not loaded yet included."""
    return __all__
