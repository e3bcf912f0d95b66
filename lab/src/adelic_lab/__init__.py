"""The laboratory of `adelic`: train, tune, predict, reproduce, report.

| package | what it does |
|---|---|
| `config` | an `Experiment`: data, model, training and seed; its fields are the only description of an option |
| `models` | everything that can be fitted, with one protocol: `fit`, then `evaluate` and `predict` |
| `train` | what a training sees, its one loop, and one checkpoint |
| `search` | Optuna: recipes and options chosen by validation |
| `runs` | one run in its folder, and many runs: matrices, engines, lists of folders |
| `results` | a `Result`: a typed record, as JSON lines on disk |
| `report` | statistics, tables, plots, and the benchmarks with a plan |
| `cli` | the commands, which `adelic` finds by the entry points `adelic.commands` |

`config` and what reads results and lists runs need no torch, and `adelic runs list` does not wait for it.

>>> from adelic_lab import Experiment, recipe_names
>>> "paper" in recipe_names()
True
"""

import ast
import importlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from adelic.errors import needs_extra

if TYPE_CHECKING:
    from adelic_lab.config.embedding import EmbeddingConfig
    from adelic_lab.config.experiment import Experiment
    from adelic_lab.config.models import CLASSICAL_MODELS, Classical, RandomSearch, SolverConfig, Steps
    from adelic_lab.config.recipes import TrainConfig, load_recipe, recipe_names
    from adelic_lab.report.files import read_results, with_finished_runs
    from adelic_lab.report.page import write_report
    from adelic_lab.report.published import Row, published_rows
    from adelic_lab.results.result import Result
    from adelic_lab.runs.devices import run_distributed
    from adelic_lab.runs.engines import Budget, EmbeddedEngine, RayEngine, WorkersEngine
    from adelic_lab.runs.folders import (
        RunSummary,
        SearchSummary,
        find_any,
        find_run,
        list_runs,
        list_searches,
        read_result,
    )
    from adelic_lab.runs.matrix import outstanding, outstanding_work, plan, plan_classical, run_matrix
    from adelic_lab.runs.predicting import Predictions, predict, predictor
    from adelic_lab.runs.runner import run, trained_network
    from adelic_lab.search.dimensions import Search
    from adelic_lab.search.tuning import StudyResult, tune
    from adelic_lab.train.sampler import ClassBalancedSampler

# The imports above are the only list of public names: type checkers read it as it is, and `__getattr__` as text.
_HOMES = {
    alias.name: str(node.module)
    for node in ast.walk(ast.parse(resources.files(__name__).joinpath("__init__.py").read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("adelic_lab.")
    for alias in node.names
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import what is first used: the names of datasets need no torch, and a process that trains needs no matplotlib."""
    if name in _HOMES:
        with needs_extra("adelic_lab", "torch"):
            return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'adelic_lab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, those not loaded yet included."""
    return __all__
