"""What each part of AOE, and of the recipe around it, is worth: one change a line, five seeds, on the split `orbits`.

    python benchmarks/ablation.py            # 75 runs; finished ones are read
    python benchmarks/ablation.py --seeds 1 --only real p-adic

The recipe trains on images of rows, so that rows are divided by orbits. Results go to results/ablation;
`adelic report --results-dir results/ablation` compares them.
"""

import argparse
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from adelic import benchmark
from adelic.cli.options import Tick, progress_bar
from adelic.data.sources import TaskData
from adelic.training import EmbeddingConfig, Experiment, load_recipe

ROW = ("schubert", 4)
BASE: dict[str, Any] = {"features": "standardized"}
RECIPE: dict[str, Any] = {"symmetries": True, "compute": "bfloat16"}
VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "real": {"coordinates": "real"},
    "p-adic": {"coordinates": "p-adic"},
    "raw": {"features": "digits"},
    "characters": {"features": "characters"},
    "one-hot-digits": {"features": "one-hot-digits"},
    "linear-map": {"projection": "linear"},
    "primes-2": {"primes": (2,)},
    "primes-2-3": {"primes": (2, 3)},
    "precision-3": {"precision": 3},
    "fixed-positions": {"positional": "embedding"},
    "cls": {"pooling": "cls"},
    "best-epoch": {"checkpoint": "best"},
    "no-symmetries": {"symmetries": False},
    "learned": {"name": "learned"},
}


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="runs a variant (default: 5)")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), help="variants (default: all)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="run folders (default: runs)")
    parser.add_argument("--results", type=Path, default=Path("results/ablation"), help="(default: results/ablation)")
    chosen = parser.parse_args()
    configs = [configuration(VARIANTS[name], seed) for seed in range(chosen.seeds) for name in chosen.only]
    benchmark.run_matrix(configs, runs=chosen.runs, results=chosen.results, device="cpu", on_run=show)


def show(index: int, count: int, config: Experiment) -> AbstractContextManager[Tick]:
    """Return the progress bar of a run."""
    return progress_bar(f"{index + 1} of {count}: {config.label}")


def configuration(change: dict[str, Any], seed: int) -> Experiment:
    """Return the run of a variant."""
    of_recipe = {
        key: value for key, value in change.items() if key in ("positional", "pooling", "checkpoint", "symmetries")
    }
    of_embedding = {key: value for key, value in change.items() if key not in of_recipe}
    embedding = EmbeddingConfig.of(**(of_embedding if "name" in change else {"name": "adelic"} | BASE | of_embedding))
    recipe = load_recipe("compact", f"{ROW[0]}-{ROW[1]}", **RECIPE | of_recipe)
    return Experiment(data=TaskData(ROW[0], ROW[1], split="orbits"), model=embedding, recipe=recipe, seed=seed)


if __name__ == "__main__":
    main()
