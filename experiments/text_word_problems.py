"""Word problems in English, learned from answers alone: MAWPS, ASDiv-A and SVAMP, of the repository arkilpatel/SVAMP.

    python experiments/text_word_problems.py run DATA_FOLDER --dataset asdiv-a --fold 0 --seed 0
    python experiments/text_word_problems.py run DATA_FOLDER --dataset svamp --model table
    python experiments/text_word_problems.py tables              # Markdown

DATA_FOLDER is the folder `data` of that repository (Patel, Bhattamishra, Goyal, arXiv 2103.07191); its texts are not
ours. `run` trains on one fold for so many CPU seconds of one thread and answers its test problems, as they are and
without their questions. It reads the words, numbers and answers of training problems, and never an equation. It writes
a JSON with what was written for each test problem: the number, its derivation, which numbers of the problem it takes,
and its probability. An answer is right if it is within 1/10,000 of the right one, as in that repository.

With `--validation` a random fifth of the training problems is answered instead, and the test problems are not read. The
settings come from about ten such runs, of this script and of prototypes, on training problems of the first folds (which
are test problems of other folds); none was changed after a test. Two were not chosen so: the constants are frequent
ones of MAWPS' equations, which a person looked at, and irrelevant sentences are put in for SVAMP since its paper says
that it has such.
"""

import copy
import csv
import functools
import math
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import common
import numpy as np
import pandas as pd
import torch
from text_models import descended
from text_word_models import Problem, Reader, Solver, Templates

from adelic.cli.options import Flag
from adelic_lab.report.table import Table

FOLDER = common.RESULTS / "text_word_problems"
DATASETS = {"mawps": ("cv_mawps", 5), "asdiv-a": ("cv_asdiv-a", 5), "svamp": ("mawps-asdiv-a_svamp", 1)}
"""By name: the folder, and how many folds it has."""
CONSTANTS = {"mawps": (1, 2, 7, 12, 100), "asdiv-a": (), "svamp": (1, 2, 7, 12, 100)}
"""Numbers that a derivation may take though the text has none such: one, a half, weeks, dozens, percent and cents."""
SECONDS = {"mawps": 120.0, "asdiv-a": 120.0, "svamp": 300.0}
SETTINGS = {"width": 64, "layers": 2, "heads": 4, "key_features": 64, "dropout": (0.3, 0.4), "steps": 2}
TRAINING = {"rate": 2e-3, "decay": 0.01, "batch": 32, "unknown": 0.15}
IRRELEVANT = {"mawps": 0.0, "asdiv-a": 0.0, "svamp": 0.5}
"""The share of training problems into which an irrelevant sentence of another one is put."""
MODELS = {"table": "table without a network (answers)", "operations": "operations (answers)"}
PUBLISHED = {
    "Seq2Seq (equations)": (79.7, 55.5, 24.2),
    "GTS (equations)": (82.6, 71.4, 30.8),
    "Graph2Tree (equations)": (83.7, 77.4, 36.5),
    "Graph2Tree with RoBERTa (equations)": (88.7, 82.2, 43.8),
}


def run(
    data: Path,
    *,
    dataset: Literal[*DATASETS],
    fold: int = 0,
    seed: int = 0,
    model: Literal[*MODELS] = "operations",
    seconds: float | None = None,
    validation: Flag = False,
    folder: Path = FOLDER,
) -> None:
    """Train and test one model, unless that was done, and write what came of it.

    Args:
        data: the folder of the published data.
        dataset: which of them.
        fold: of the data set.
        seed: of weights and batches.
        model: which.
        seconds: of one core; by default those of the data set.
        validation: answer a fifth of the training problems.
        folder: of the results.
    """
    path = folder / f"{dataset}-{fold}-{model}-{seed}.json"
    if path.exists() and not validation:
        common.say(f"{path} is there")
        return
    torch.set_num_threads(1)
    train, tests = read(data, dataset, fold, validation=validation, seed=seed)
    told: dict[str, Any] = {"constants": CONSTANTS[dataset], **SETTINGS, **TRAINING, "irrelevant": IRRELEVANT[dataset]}
    told["seconds"] = seconds or SECONDS[dataset]
    start = time.process_time()
    torch.manual_seed(seed)
    if model == "table":  # constants make so many templates that it takes minutes
        told, about = {"constants": (), "steps": 2}, {}
        made: Any = Templates(train)
    else:
        made, about = trained(train, told, seed)
    spent = round(time.process_time() - start, 1)
    found = {"dataset": dataset, "fold": fold, "model": model, "seed": seed, "train": len(train), "told": told}
    found |= {"seconds": spent, **about} | {name: answered(made, problems) for name, problems in tests.items()}
    shares = [100 * statistics.mean(found[name]["right"]) for name in ("test", "without")]
    common.say("{}: {:.1f} %, without question {:.1f} %".format(path.stem, *shares))
    if not validation:
        common.write(path.name, ("adelic", "torch", "numpy"), found, path)
    else:
        likely = [made.probability(problem) for problem in tests["test"]]
        common.say(f"  mean probability of the answers {100 * statistics.mean(likely):.2f} {told} {about}")


def tables(*, folder: Path = FOLDER) -> None:
    """Write Markdown of the results.

    Args:
        folder: of the results.
    """
    sys.stdout.write("\n".join(table.to_markdown() for table in tables_of(common.read(folder))))


def read(
    folder: Path, dataset: str, fold: int, *, validation: bool, seed: int
) -> tuple[list[Problem], dict[str, list[Problem]]]:
    """Return the training problems, and the test problems as they are ("test") and without questions ("without")."""
    name, n_folds = DATASETS[dataset]
    of_fold = f"fold{fold}" if n_folds > 1 else ""
    if fold not in range(n_folds):
        raise SystemExit(f"{dataset} has the folds 0 to {n_folds - 1}, not {fold}")
    train = problems_of(folder / name / of_fold / "train.csv", "Question")
    if validation:
        order = np.random.default_rng(1000 + seed).permutation(len(train)).tolist()
        held, rest = ([train[i] for i in part] for part in (order[: len(order) // 5], order[len(order) // 5 :]))
        return rest, {"test": held, "without": held}
    test = folder / name / of_fold / "dev.csv"
    return train, {"test": problems_of(test, "Question"), "without": problems_of(test, "Body")}


def problems_of(path: Path, column: str) -> list[Problem]:
    """Return the problems of a CSV file, by the column that has the text; the column Equation is not read."""
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            numbers = tuple(number(text) for text in row["Numbers"].split())
            found.append(Problem(tuple(row[column].lower().split()), numbers, number(row["Answer"])))
    return found


def number(text: str) -> Fraction:
    """Return the number that a decimal stands for, 1/3 for 0.333333: thirds and sixths are written so there.

    >>> number("0.8333333333333334"), number("142.46"), number("17.0")
    (Fraction(5, 6), Fraction(7123, 50), Fraction(17, 1))
    """
    return Fraction(text).limit_denominator(1000)


def trained(train: Sequence[Problem], told: Mapping[str, Any], seed: int) -> tuple[Solver, dict[str, Any]]:
    """Return a model that was trained for so many CPU seconds; its weights are means over the last steps."""
    start = time.process_time()
    reader = Reader(train, unknown=told["unknown"], irrelevant=told["irrelevant"])
    model = Solver(reader, told["constants"], **{name: told[name] for name in SETTINGS})
    mean = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(
        model.parameters(), told["rate"], (0.9, 0.98), weight_decay=told["decay"], foreach=True
    )
    rng, steps = np.random.default_rng(seed), 0
    lengths = [len(problem.words) for problem in train]
    every = ([train[i] for i in chosen] for chosen in batches(lengths, told["batch"], rng))
    losses = (functools.partial(model.loss, problems, rng) for problems in every)

    def progress() -> float:
        return (time.process_time() - start) / told["seconds"]

    def rate(done: float) -> float:
        return told["rate"] * min(1.0, done / 0.05 + 0.01) * max(0.01, math.cos(done * math.pi / 2) ** 2)

    for steps, _ in enumerate(descended(optimizer, losses, progress, rate), start=1):
        with torch.no_grad():
            torch._foreach_lerp_([*mean.parameters()], [*model.parameters()], max(0.005, 1 / (steps + 1)))
    parameters = sum(weight.numel() for weight in model.parameters())
    return mean.eval(), {"steps": steps, "epochs": round(steps * told["batch"] / len(train)), "parameters": parameters}


def batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield batches without end, each of problems of about one length, each problem once an epoch."""
    while True:
        near = np.argsort(np.asarray(lengths) + rng.normal(0, 4, len(lengths)))
        parts = [near[k : k + size].tolist() for k in range(0, len(near), size)]
        yield from (parts[k] for k in rng.permutation(len(parts)).tolist())


def answered(model: Any, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return what is written for each problem: value, derivation, choice, probability, and which are right."""
    found: dict[str, list[Any]] = defaultdict(list)
    for start in range(0, len(problems), 50):
        part = problems[start : start + 50]
        written = model.write(part)
        values = [None if value is None else str(value) for value in written.values]
        found["values"] += values
        found["derivations"] += [None if text is None else str(text) for text in written.derivations]
        found["choices"] += [None if choice is None else list(choice) for choice in written.choices]
        found["probabilities"] += [round(float(p), 4) for p in written.probabilities]
        found["right"] += [is_right(value, p.answer) for value, p in zip(written.values, part, strict=True)]
    return found


def is_right(value: Fraction | None, answer: Fraction) -> bool:
    """Return whether a number is the right one, or within 1/10,000 of it."""
    return value is not None and abs(value - answer) < Fraction(1, 10_000)


def tables_of(results: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of all results: right answers, and what each model was told and took."""
    runs = pd.DataFrame(results)
    rows = [(name, *(f"{percent:.1f}" for percent in percents)) for name, percents in PUBLISHED.items()]
    for model, title in MODELS.items():
        for part, words in (("test", ""), ("without", ", questions cut off")):
            chosen = (runs[(runs["model"] == model) & (runs["dataset"] == name)] for name in DATASETS)
            rows.append((title + words, *(common.mean_percent(pooled(group, part), 1) for group in chosen)))
    about = []
    for (model, name), group in runs.groupby(["model", "dataset"]):
        means = [f"{group[key].fillna(0).mean():,.0f}" for key in ("seconds", "steps", "parameters")]
        told = ", ".join(f"{key} {value}" for key, value in group["told"].iloc[0].items())
        seeds = group["seed"].nunique()
        about.append((model, name, *means, f"{seeds} × {len(group) // seeds}", told))
    notes = (
        "Right answers in percent of all test problems of a data set's folds; mean and standard deviation over seeds.",
        "The published models learn from equations (arXiv 2103.07191), those below from answers alone.",
    )
    head = ("model", "dataset", "CPU seconds a fold", "steps", "parameters", "seeds × folds", "what is told")
    return [Table.of(("model", *DATASETS), rows, notes, "Word problems"), Table.of(head, about, (), "Models")]


def pooled(runs: pd.DataFrame, part: str) -> list[float]:
    """Return for each seed of which all folds were run the share of right answers."""
    return [
        statistics.mean(right for found in group[part] for right in found["right"])
        for _, group in runs.groupby("seed")
        if group["fold"].nunique() == DATASETS[group["dataset"].iloc[0]][1]
    ]


if __name__ == "__main__":
    common.run(run, tables)
