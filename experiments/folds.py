"""Cross-validate models on the train and validation rows together: what a validation split of few rows cannot tell.

    python experiments/folds.py        # Schubert 4, the eleven models that were searched; those that are done are read

Each model is trained as its recipe says, once a fold, on the other folds. Where it is trained on images of rows, a fold
holds whole orbits, so that no image of a row that is held back is trained on. No test row is trained on, or judged.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import common
import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

import adelic_lab
from adelic.cli.options import progress_bar
from adelic.data import orbits, training_rows
from adelic_lab import Experiment
from adelic_lab.runs.development import TrainValidation
from adelic_lab.search.tuning import train_trial

FORMS = ("digits", "standardized", "characters", "one-hot-digits", "characters:late")
RIVALS = ("learned", "random", "one-hot", "fone", "xval", "periodic")  # no abacus: tokens of ACD have one digit


def main() -> None:
    """Cross-validate what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    models = [*(f"adelic:{form}" for form in FORMS), *RIVALS]
    parser.add_argument("--row", default="schubert-4", help="(default: schubert-4)")
    parser.add_argument("--models", nargs="+", default=models, help="as adelic reproduce --embeddings has them")
    parser.add_argument("--recipe", default="recipes/tuned/{row}-{embedding}.toml", help="(default: the tuned ones)")
    parser.add_argument("--split", choices=("orbits", "published"), default="orbits", help="(default: orbits)")
    parser.add_argument("--folds", type=int, default=5, help="(default: 5)")
    parser.add_argument("--output", type=Path, default=common.RESULTS / "folds.json", help="(default: folds.json)")
    chosen = parser.parse_args()
    about = {"row": chosen.row, "split": chosen.split, "recipe": chosen.recipe, "folds": chosen.folds}
    entries = {}
    if chosen.output.exists():
        stored = json.loads(chosen.output.read_text(encoding="utf-8"))
        if any(stored.get(key) != value for key, value in about.items()):
            parser.error(f"{chosen.output} has other folds; choose another --output")
        entries = {entry["model"]: entry for entry in stored["entries"]}
    for name in common.each(chosen.models):
        if name not in entries:
            (config,) = adelic_lab.plan([chosen.row], [name], [0], recipe=chosen.recipe, split=chosen.split)
            entries[name] = {"model": name, **cross_validate(config, chosen.folds)}
            common.write(
                chosen.output, "folds.py", ("torch", "numpy", "scikit-learn"), about | {"entries": [*entries.values()]}
            )


def cross_validate(config: Experiment, folds: int) -> dict[str, object]:
    """Return accuracy and loss of each fold, for weights trained on the others.

    Raises:
        LeakError: a row that is held back, or of the test split, is among those to train on.
    """
    data = TrainValidation.of(config.data.load(config.seed), max_rows=config.recipe.max_rows)
    symmetries = config.recipe.symmetries
    parts = [data.fold(held) for held in held_rows(data, folds, symmetries=symmetries)]
    for part in parts:
        training_rows(part, symmetries=symmetries)  # the guard, for all folds before the first step
    accuracies: list[float] = []
    losses: list[float] = []
    with progress_bar(f"{config.row} {config.model.label}") as progress:
        for fold, part in enumerate(parts):

            def report(epoch: int, _: float, figures: dict[str, float], fold: int = fold) -> None:
                losses[fold:] = [figures["loss"]]
                progress(
                    fold * config.recipe.epochs + epoch, folds * config.recipe.epochs, f"fold {fold + 1} of {folds}"
                )

            accuracies.append(train_trial(config, part, torch.device("cpu"), report))
    return {"rows": len(data.rows[1]), "accuracies": accuracies, "losses": losses}


def held_rows(data: TrainValidation, folds: int, *, symmetries: bool) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield for each fold which of `data.rows` it holds back, (rows,); each row is held back once.

    Args:
        data: what is divided; its classes are in every fold in proportion, as nearly as whole orbits allow.
        folds: how many.
        symmetries: whether orbits under the task's symmetries are kept together.
    """
    X, y = data.rows
    if symmetries:
        groups = orbits(X, y, data.symmetries)
        splits = StratifiedGroupKFold(folds, shuffle=True, random_state=0).split(X, y, groups)
    else:
        splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y)
    for _, held in splits:
        yield np.isin(np.arange(len(y)), held)


if __name__ == "__main__":
    main()
