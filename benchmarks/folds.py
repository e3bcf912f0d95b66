"""Cross-validate models on the train and validation rows together: what a validation split of few rows cannot tell.

    python benchmarks/folds.py        # Schubert 4, the twelve models that were searched; those that are done are read

Each model is trained as its recipe says, once a fold, on the other folds. Test rows are never read.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import common
import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold

from adelic import benchmark
from adelic.cli.options import progress_bar
from adelic.training import RunConfig
from adelic.training.tuning import DevelopmentData, train_trial

FORMS = ("digits", "standardized", "characters", "one-hot-digits", "characters:late")
RIVALS = ("learned", "random", "one-hot", "fone", "xval", "periodic")  # no abacus: tokens of ACD have one digit


def main() -> None:
    """Cross-validate what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    models = [*(f"adelic:{form}" for form in FORMS), *RIVALS]
    parser.add_argument("--row", default="schubert-4", help="(default: schubert-4)")
    parser.add_argument("--models", nargs="+", default=models, help="as adelic reproduce --embeddings has them")
    parser.add_argument("--recipe", default="recipes/tuned/{row}-{embedding}.toml", help="(default: the tuned ones)")
    parser.add_argument("--folds", type=int, default=5, help="(default: 5)")
    parser.add_argument("--output", type=Path, default=common.RESULTS / "folds.json", help="(default: folds.json)")
    chosen = parser.parse_args()
    about = {"row": chosen.row, "recipe": chosen.recipe, "folds": chosen.folds}
    entries = {}
    if chosen.output.exists():
        stored = json.loads(chosen.output.read_text(encoding="utf-8"))
        if any(stored[key] != value for key, value in about.items()):
            parser.error(f"{chosen.output} has other folds; choose another --output")
        entries = {entry["model"]: entry for entry in stored["entries"]}
    for name in chosen.models:
        if name not in entries:
            (config,) = benchmark.plan([chosen.row], [name], [0], recipe=chosen.recipe)
            entries[name] = {"model": name, **cross_validate(config, chosen.folds)}
            common.write(
                chosen.output, "folds.py", ("torch", "numpy", "scikit-learn"), about | {"entries": [*entries.values()]}
            )


def cross_validate(config: RunConfig, folds: int) -> dict[str, object]:
    """Return accuracy and loss of each fold, for weights trained on the others."""
    data = DevelopmentData.load(config)
    X, y = np.concatenate([data.X_train, data.X_validation]), np.concatenate([data.y_train, data.y_validation])
    accuracies: list[float] = []
    losses: list[float] = []
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y))
    with progress_bar(f"{config.row} {config.model_label}") as tick:
        for fold, (train, held) in enumerate(splits):
            part = replace(data, X_train=X[train], y_train=y[train], X_validation=X[held], y_validation=y[held])

            def report(epoch: int, _: float, figures: dict[str, float], fold: int = fold) -> None:
                losses[fold:] = [figures["loss"]]
                tick(fold * config.recipe.epochs + epoch, folds * config.recipe.epochs, f"fold {fold + 1} of {folds}")

            accuracies.append(train_trial(config, part, torch.device("cpu"), report))
    return {"rows": len(y), "accuracies": accuracies, "losses": losses}


if __name__ == "__main__":
    main()
