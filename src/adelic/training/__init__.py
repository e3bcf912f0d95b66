"""Layer 4, training: runs of an `Experiment`, each in its run folder, each ending in a `Result`.

The modules that define a run (`experiment`, `embedding`, `models`, `recipes`, and `dimensions` of a search), its
`result` with `metrics` and `predictions`, and `folders`, which reads and lists runs, need no torch; nor do `kinds` and
`renamed`, which check texts and read older names, and `signals`, which stops a run between two steps. `runs` has the
runner, `network.steps` the training loop; `network`, `classical` and `solvers` fit models; `search` chooses recipes. To
add an option, add a field in `embedding` or `recipes`; to add a model outside the Transformer, an entry of
`classical.models`; to add a solver, a class that `solver_names` names. Of adelic, `storage`, `numbers`, `data` and `nn`
may be imported.
"""

import importlib
from typing import TYPE_CHECKING, Any

from adelic.errors import needs_extra

if TYPE_CHECKING:
    from adelic.training.classical.models import CLASSICAL_MODELS
    from adelic.training.dimensions import Search
    from adelic.training.embedding import EmbeddingConfig
    from adelic.training.experiment import Experiment
    from adelic.training.folders.files import read_result
    from adelic.training.folders.listing import RunSummary, find_any, find_run, list_runs
    from adelic.training.folders.searches import SearchSummary, list_searches
    from adelic.training.models import Classical, RandomSearch, SolverConfig, Steps
    from adelic.training.network.distributed import run_distributed
    from adelic.training.network.sampler import ClassBalancedSampler
    from adelic.training.recipes import Recipe, load_recipe, recipe_names
    from adelic.training.result import Result
    from adelic.training.runs.predicting import Predictions, predict
    from adelic.training.runs.runner import run, trained_network
    from adelic.training.search.tuning import StudyResult, tune

_MODULES = {
    "classical.models": ("CLASSICAL_MODELS",),
    "embedding": ("EmbeddingConfig",),
    "experiment": ("Experiment",),
    "models": ("Classical", "RandomSearch", "SolverConfig", "Steps"),
    "network.distributed": ("run_distributed",),
    "network.sampler": ("ClassBalancedSampler",),
    "recipes": ("Recipe", "load_recipe", "recipe_names"),
    "result": ("Result",),
    "folders.files": ("read_result",),
    "folders.listing": ("RunSummary", "find_any", "find_run", "list_runs"),
    "runs.predicting": ("Predictions", "predict"),
    "runs.runner": ("run", "trained_network"),
    "folders.searches": ("SearchSummary", "list_searches"),
    "dimensions": ("Search",),
    "search.tuning": ("StudyResult", "tune"),
}
__all__ = [
    "CLASSICAL_MODELS",
    "ClassBalancedSampler",
    "Classical",
    "EmbeddingConfig",
    "Experiment",
    "Predictions",
    "RandomSearch",
    "Recipe",
    "Result",
    "RunSummary",
    "Search",
    "SearchSummary",
    "SolverConfig",
    "Steps",
    "StudyResult",
    "find_any",
    "find_run",
    "list_runs",
    "list_searches",
    "load_recipe",
    "predict",
    "read_result",
    "recipe_names",
    "run",
    "run_distributed",
    "trained_network",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Import what is first used."""
    for module, names in _MODULES.items():
        if name in names:
            with needs_extra("adelic.training", "torch"):
                return getattr(importlib.import_module(f"adelic.training.{module}"), name)
    raise AttributeError(f"module 'adelic.training' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, those not loaded yet included."""
    return __all__
