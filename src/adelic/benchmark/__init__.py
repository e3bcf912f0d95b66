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
| `drawn` | what the benchmarks of drawn tasks share: plans, running them, reports |
| `arithmetic`, `number_theory`, `columns` | these benchmarks: plans as data, tables, figures |

All of it may import `adelic.training` and what lies below that, and no module of the layers above. A result is an
`adelic.training.Result`, which alone knows the keys of its file. To add a table, write a function that returns a
`Table`, and name it in `report.tables` (and, for the HTML page, in templates/report.html); the command line's `--table`
lists the names, and a test compares both. To add a figure of a row, draw it in `row_plots` with the axes, colours and
legend of `plots`, and make it a `Part` of `report.RowSection`.
"""

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adelic.errors import needs_extra

if TYPE_CHECKING:
    from adelic.benchmark.engines import Budget, EmbeddedEngine, RayEngine, WorkersEngine
    from adelic.benchmark.files import read_results, with_finished_runs
    from adelic.benchmark.matrix import outstanding, outstanding_work, plan, plan_classical, progress, run_matrix
    from adelic.benchmark.report import write_report
    from adelic.benchmark.results import Summary, summarise
    from adelic.benchmark.rows import Row, published_rows

with needs_extra("adelic.benchmark", "torch"):
    if find_spec("torch") is None:  # it is looked for, not loaded: the names of rows need none
        raise ModuleNotFoundError(name="torch")
_MODULES = {
    "engines": ("Budget", "EmbeddedEngine", "RayEngine", "WorkersEngine"),
    "files": ("read_results", "with_finished_runs"),
    "matrix": ("outstanding", "outstanding_work", "plan", "plan_classical", "progress", "run_matrix"),
    "report": ("write_report",),
    "results": ("Summary", "summarise"),
    "rows": ("Row", "published_rows"),
}
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
    """Import what is first used: rows need no torch, and a process that trains needs no matplotlib."""
    for module, names in _MODULES.items():
        if name in names:
            with needs_extra("adelic.benchmark", "torch"):
                return getattr(importlib.import_module(f"adelic.benchmark.{module}"), name)
    raise AttributeError(f"module 'adelic.benchmark' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, also those that are not loaded yet."""
    return __all__
