"""Layer 3, training: recipes, class-balanced sampling, the loop, checkpoints, run folders, search."""

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    from adelic.training.classical import CLASSICAL_MODELS
    from adelic.training.classical_runs import AnyConfig, ClassicalConfig, run_classical
    from adelic.training.configuration import EmbeddingConfig, RunConfig
    from adelic.training.distributed import run_distributed
    from adelic.training.listing import RunSummary, find_run, list_runs
    from adelic.training.recipes import Recipe, load_recipe, recipe_names
    from adelic.training.runner import read_result, run
    from adelic.training.sampler import ClassBalancedSampler
    from adelic.training.tuning import Search, StudyResult, tune

__all__ = [
    "CLASSICAL_MODELS",
    "AnyConfig",
    "ClassBalancedSampler",
    "ClassicalConfig",
    "EmbeddingConfig",
    "Recipe",
    "RunConfig",
    "RunSummary",
    "Search",
    "StudyResult",
    "find_run",
    "list_runs",
    "load_recipe",
    "read_result",
    "recipe_names",
    "run",
    "run_classical",
    "run_distributed",
    "tune",
]
