"""Accuracy against the number of training rows: a hundredth, a tenth and all of them, with equally many steps.

    python benchmarks/efficiency.py            # 180 runs; finished ones are read
    python benchmarks/efficiency.py --rows schubert-4 --seeds 1

On `orbits` splits, with images. A seed draws the split and the part of its training rows, so that five seeds are five
draws. The recipes are those of recipes/compact, which were chosen with all rows. Result files go to results/table.
"""

import argparse
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from adelic import benchmark
from adelic.cli.options import Tick, progress_bar
from adelic.training import Experiment

ROWS = ("schubert-4", "weaving-6", "mheight-8")
EMBEDDINGS = ("adelic", "learned", "xval", "fone")
SHARES = (100, 10, 1)
"""Of the rows one in so many."""


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, help="(default: all)")
    parser.add_argument("--embeddings", nargs="+", choices=EMBEDDINGS, default=EMBEDDINGS, help="(default: all)")
    parser.add_argument("--seeds", type=int, default=5, help="draws of the rows (default: 5)")
    parser.add_argument("--recipe", default="recipes/compact/{row}-{embedding}.toml", help="(default: recipes/compact)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="run folders (default: runs)")
    parser.add_argument("--results", type=Path, default=Path("results/table"), help="(default: results/table)")
    chosen = parser.parse_args()
    configs = [
        fewer_rows(config, share)
        for row in chosen.rows
        for share in SHARES
        for config in benchmark.plan(
            [row], chosen.embeddings, range(chosen.seeds), recipe=chosen.recipe, split="orbits"
        )
    ]
    benchmark.run_matrix(configs, runs=chosen.runs, results=chosen.results, device="cpu", on_run=show)


def fewer_rows(config: Experiment, share: int) -> Experiment:
    """Return the run on one row in so many, with as many steps as on all of them, or a few more."""
    if share == 1:
        return config
    recipe = config.recipe
    n_train = config.data.load(config.seed).provenance["rows"]["train"]
    rows = max(1, n_train // share)
    steps = recipe.epochs * -(-n_train // recipe.batch_size)
    epochs = -(-steps // -(-rows // recipe.batch_size))
    return replace(config, recipe=replace(recipe, max_rows=rows, epochs=epochs))


def show(index: int, count: int, config: Experiment) -> AbstractContextManager[Tick]:
    """Return the progress bar of a run."""
    return progress_bar(f"{index + 1} of {count}: {config.label}")


if __name__ == "__main__":
    main()
