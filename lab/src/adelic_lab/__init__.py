"""The laboratory of `adelic`: train, tune, predict, reproduce, report.

| package | what it does |
|---|---|
| `config` | an `Experiment`: data, model, training and seed; its fields are the only description of an option |
| `models` | everything that can be fitted, behind one protocol: `fit`, then `evaluate` and `predict` |
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

import importlib
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
    from adelic_lab.runs.folder import read_result
    from adelic_lab.runs.listing import RunSummary, SearchSummary, find_any, find_run, list_runs, list_searches
    from adelic_lab.runs.matrix import outstanding, outstanding_work, plan, plan_classical, run_matrix
    from adelic_lab.runs.predicting import Predictions, predict
    from adelic_lab.runs.runner import run, trained_network
    from adelic_lab.search.dimensions import Search
    from adelic_lab.search.tuning import StudyResult, tune
    from adelic_lab.train.sampler import ClassBalancedSampler

_NAMES = {
    "config.embedding": ("EmbeddingConfig",),
    "config.experiment": ("Experiment",),
    "config.models": ("CLASSICAL_MODELS", "Classical", "RandomSearch", "SolverConfig", "Steps"),
    "config.recipes": ("TrainConfig", "load_recipe", "recipe_names"),
    "report.files": ("read_results", "with_finished_runs"),
    "report.page": ("write_report",),
    "report.published": ("Row", "published_rows"),
    "results.result": ("Result",),
    "runs.engines": ("Budget", "EmbeddedEngine", "RayEngine", "WorkersEngine"),
    "runs.folder": ("read_result",),
    "runs.listing": ("RunSummary", "SearchSummary", "find_any", "find_run", "list_runs", "list_searches"),
    "runs.matrix": ("outstanding", "outstanding_work", "plan", "plan_classical", "run_matrix"),
    "runs.predicting": ("Predictions", "predict"),
    "runs.runner": ("run", "trained_network"),
    "search.dimensions": ("Search",),
    "search.tuning": ("StudyResult", "tune"),
    "runs.devices": ("run_distributed",),
    "train.sampler": ("ClassBalancedSampler",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import what is first used: the names of rows need no torch, and a process that trains needs no matplotlib."""
    if name in _HOMES:
        with needs_extra("adelic_lab", "torch"):
            return getattr(importlib.import_module(f"adelic_lab.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'adelic_lab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, those not loaded yet included."""
    return __all__
