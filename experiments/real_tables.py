"""Boosted trees and a network on real tables whose numbers are read in several ways: docs/results/real-tables.md.

    pip install -r experiments/real-tables-requirements.txt
    python experiments/real_tables.py                          # about half an hour on one core; resumes
    python experiments/real_tables.py births iban --seeds 0    # some tables, one seed
    python experiments/real_tables_page.py                     # the tables of the page, from the results

Each line of experiments/results/real-tables is one model on one table, split, input and seed. The recipes were fixed
before the first run: LightGBM with its defaults, 100 rounds; a network of two hidden layers of 128, dropout 0.1, 600
steps of AdamW of 128 examples, learning rate 0.001, the weights of the best of 12 validations. Nothing is searched but
the σ of PLR: of three values that with the best validation of the first seed.
"""

import json
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from lightgbm import LGBMClassifier
from real_tables_sources import SOURCES, Table
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from skrub import DatetimeEncoder, TableVectorizer
from torch import nn

import adelic
from adelic.errors import ConfigurationError
from adelic.integrations.sklearn import AdelicEncoder
from adelic.nn import PeriodicEmbedding
from adelic.probing import Findings
from adelic.storage.provenance import machine, source_commit, versions
from adelic_lab.results.predictions import pack

Matrix = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.int64]
Frames = list[pd.DataFrame]
SEEDS = (0, 1, 2, 3, 4)
SIGMAS = (0.1, 1.0, 10.0)
WIDE = {"bases": (10,), "moduli": (11, 12, 24, 60, 97)}
MOST_COLUMNS = 10
STEPS, BATCH, WIDTH, PERIODS, EVERY = 600, 128, 128, 16, 50


def raw(frames: Frames) -> list[Matrix]:
    """Return the numbers as floats."""
    return [frame.astype(np.float64).to_numpy() for frame in frames]


def whole(frames: Frames, most: int = 6) -> Frames:
    """Return columns as integers: prices in cents; without those that have more than six digits after the point.

    >>> whole([pd.DataFrame({"price": [0.5, 1.25], "n": [1, 2]})])[0].to_numpy().tolist()
    [[50, 1], [125, 2]]
    """
    found: list[dict[str, Any]] = [{} for _ in frames]
    for name in frames[0]:
        columns = [frame[name].to_list() for frame in frames]
        kind = object if frames[0][name].dtype == object else np.int64
        wanted = (k for k in range(most + 1) if all(abs(x * 10**k - round(x * 10**k)) < 1e-6 for x in columns[0]))
        if (k := next(wanted, None)) is not None:
            for part, column in zip(found, columns, strict=True):
                part[name] = pd.Series([round(x * 10**k) for x in column], dtype=kind)
    return [pd.DataFrame(part) for part in found]


def decimal_digits(frames: Frames) -> list[Matrix]:
    """Return the decimal digits of each column, as many as the greatest number to train on has.

    >>> decimal_digits([pd.DataFrame({"n": [7, 120]}), pd.DataFrame({"n": [1034]})])[1]
    array([[0., 3., 4.]])
    """
    found: list[list[Matrix]] = [[np.empty((len(frame), 0))] for frame in frames]
    for name in (read := whole(frames))[0]:
        width = len(str(read[0][name].abs().max()))
        for digits, frame in zip(found, read, strict=True):
            texts = [str(abs(n)).zfill(width)[-width:] for n in frame[name].to_list()]
            digits.append(np.array([list(map(float, text)) for text in texts]))
    return [np.hstack(digits) for digits in found]


def encoded(codes: list[Matrix], frames: Frames, model: str) -> list[Matrix]:
    """Return codes and the raw numbers: codes as they are for trees, one-hot for a network."""
    if model == "MLP" and codes[0].shape[1]:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(codes[0])
        codes = [encoder.transform(part) for part in codes]
    return [np.hstack(both) for both in zip(raw(frames), codes, strict=True)]


def dated(table: Table, frames: Frames) -> Frames:
    """Return the columns that are dates, as dates."""
    return [pd.DataFrame({k: pd.Series(v)[frame.index] for k, v in table.dates.items()}) for frame in frames]


def adelic_features(table: Table, frames: Frames, model: str, wide: bool) -> list[Matrix]:
    """Return what `AdelicEncoder` makes of numbers; if wide, with decimal digits, more moduli, and parts of dates."""
    form = "one-hot-digits" if model == "MLP" else "digits"
    options: dict[str, Any] = {"features": form, "lossy": "ignore"}
    encoders = [(AdelicEncoder(**options | (WIDE if wide else {})), whole(frames))]
    if wide and table.dates:
        encoders.append((AdelicEncoder((), calendar=True, **options), dated(table, frames)))
    found = [[encoder.fit(parts[0]).transform(part) for part in parts] for encoder, parts in encoders]
    return [np.hstack(parts) for parts in zip(*found, strict=True)]


def dates_of_skrub(table: Table, frames: Frames) -> list[Matrix]:
    """Return what skrub's TableVectorizer makes of the table, its dates as dates, with weekdays."""
    vectorizer = TableVectorizer(datetime=DatetimeEncoder(resolution="minute", add_weekday=True))
    read = [frame.assign(**dates) for frame, dates in zip(frames, dated(table, frames), strict=True)]
    return [vectorizer.fit_transform(read[0]).to_numpy()] + [vectorizer.transform(part).to_numpy() for part in read[1:]]


class Network(nn.Module):
    """Two hidden layers; with sigma, each number first becomes its PLR vector, with frequencies that columns share."""

    def __init__(self, width: int, classes: int, sigma: float | None) -> None:
        super().__init__()
        self.plr = None if sigma is None else PeriodicEmbedding(None, PERIODS, n_frequencies=PERIODS, sigma=sigma)
        layers = [nn.Linear(a, b) for a, b in ((width * (PERIODS if sigma else 1), WIDTH), (WIDTH, WIDTH))]
        body = [part for layer in layers for part in (layer, nn.ReLU(), nn.Dropout(0.1))]
        self.body = nn.Sequential(*body, nn.Linear(WIDTH, classes))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return logits, (examples, classes), of standardized features (examples, width)."""
        return self.body(X if self.plr is None else self.plr.project(X[..., None]).flatten(1))


Fitted = tuple[float, float, Labels]
"""Validation accuracy and loss, and answers to the test."""


def network(parts: list[Matrix], y: Labels, valid: Labels, classes: int, seed: int, sigma: float | None) -> Fitted:
    """Train a network, and return what the weights with the best validation, accuracy before loss, answer."""
    torch.manual_seed(seed)
    scaler = StandardScaler().fit(parts[0])
    X, X_valid, X_test = (torch.tensor(scaler.transform(part), dtype=torch.float32) for part in parts)
    model, best, answers = Network(X.shape[1], classes, sigma), (-1.0, 0.0), np.empty(0, np.int64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    targets, asked = torch.tensor(y), torch.tensor(valid)
    for step in range(1, STEPS + 1):
        batch = torch.randint(len(X), (BATCH,))
        loss = nn.functional.cross_entropy(model(X[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            with torch.no_grad():
                logits = model.eval()(X_valid)
                scored = (logits.argmax(1) == asked).float().mean().item()
                score = scored, -nn.functional.cross_entropy(logits, asked).item()
                if score > best:
                    best, answers = score, model(X_test).argmax(1).numpy()
            model.train()
    return best[0], -best[1], answers


def trees(parts: list[Matrix], y: Labels, valid: Labels, seed: int) -> Fitted:
    """Fit LightGBM."""
    model = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1).fit(parts[0], y)
    shares = model.predict_proba(parts[1])
    columns = np.searchsorted(model.classes_, valid)
    known = np.isin(valid, model.classes_)
    right = np.where(known, shares[np.arange(len(valid)), np.minimum(columns, shares.shape[1] - 1)], 0)
    loss = float(-np.log(np.maximum(right, 1e-12)).mean())
    return float(np.mean(model.predict(parts[1]) == valid)), loss, model.predict(parts[2])


def matrices(table: Table, frames: Frames, found: Findings | None, way: str, model: str) -> list[Matrix]:
    """Return the three parts of a table as a model reads them in some way."""
    if way == "skrub":
        return dates_of_skrub(table, frames)
    if way == "decimal digits":
        return encoded(decimal_digits(frames), frames, model)
    if way.startswith("AOE"):
        return adelic_features(table, frames, model, wide=way != "AOE")
    if found is not None:
        return encoded([found.features(frame).astype(np.float64) for frame in frames], frames, model)
    return raw(frames)


def runs(table: Table) -> list[tuple[str, str]]:
    """Return the inputs and models of a table: skrub with dates, all of AOE's codes with few columns."""
    ways = ["raw", "PLR", "skrub", "decimal digits", "AOE", "AOE, wide", "probe"]
    if not table.dates:
        ways.remove("skrub")
    if table.frame.shape[1] > MOST_COLUMNS:
        ways.remove("AOE, wide")
    both = [(way, model) for way in ways for model in ("LightGBM", "MLP") if (way, model) != ("PLR", "LightGBM")]
    return [("none", "majority"), ("raw", "nearest"), ("probe", "rule"), *both]


def lines_of(
    table: Table, split: str, seed: int, wanted: Sequence[tuple[str, str]], sigma: float | None
) -> Iterator[dict[str, Any]]:
    """Yield the results of some inputs and models; the σ of PLR is chosen where none is given."""
    parts = table.parts(split, seed)
    frames = [table.frame.iloc[rows] for rows in parts]
    classes, codes = np.unique(table.target, return_inverse=True)
    y, valid, test = (codes[rows] for rows in parts)
    found: Findings | None = None
    for way, model in wanted:
        start, said = time.perf_counter(), {}
        if way == "probe" and found is None:
            found = adelic.probe(frames[0], table.target[parts[0]])
        of_probe = found if way == "probe" else None
        read = matrices(table, frames, of_probe, "raw" if model == "rule" else way, model)
        if model == "rule":
            said = {
                "findings": [one.sentence for one in of_probe[:MOST_COLUMNS]],
                "kinds": [one.kind for one in of_probe[:MOST_COLUMNS]],
            }
        if model == "majority":
            fitted = of_codes([np.zeros(len(part), np.int64) for part in parts], y, valid)
            said = {"labels": pack(test, len(classes)), "classes": classes.tolist()}
        elif model == "rule":
            fitted = of_codes(
                [one.codes(frame[one.column]) for one in of_probe[:1] for frame in frames]
                or [np.zeros(len(part), np.int64) for part in parts],
                y,
                valid,
            )
        elif model == "nearest":
            scaler = StandardScaler().fit(read[0])
            near = KNeighborsClassifier(1).fit(scaler.transform(read[0]), y)
            fitted = float(near.score(scaler.transform(read[1]), valid)), 0.0, near.predict(scaler.transform(read[2]))
        elif model == "LightGBM":
            fitted = trees(read, y, valid, seed)
        else:
            sigmas = (None,) if way != "PLR" else (sigma,) if sigma else SIGMAS
            tried = {one: network(read, y, valid, len(classes), seed, one) for one in sigmas}
            best = max(tried, key=lambda one: (tried[one][0], -tried[one][1]))
            fitted, sigma = tried[best], sigma or best
            said = {} if best is None else {"sigma": best}
        yield {
            "input": way,
            "model": model,
            "rows": [len(rows) for rows in parts],
            "features": read[0].shape[1],
            "accuracy": float(np.mean(fitted[2] == test)),
            "validation": {"accuracy": fitted[0], "loss": fitted[1]},
            "seconds": round(time.perf_counter() - start, 3),
            "predictions": pack(fitted[2], len(classes)),
        } | said


def of_codes(codes: list[Labels], y: Labels, valid: Labels) -> Fitted:
    """Answer with the most frequent class of a code in train; of codes that are not there, with that of all."""
    usual = np.bincount(y).argmax()
    table = {code: np.bincount(y[codes[0] == code]).argmax() for code in np.unique(codes[0]).tolist()}
    answers = [np.array([table.get(code, usual) for code in part.tolist()], np.int64) for part in codes[1:]]
    return float(np.mean(answers[0] == valid)), 0.0, answers[1]


def main(*tables: str, seeds: Sequence[int] = SEEDS, output: Path = common.RESULTS / "real-tables") -> None:
    """Train what has no result yet, and add a line for each run.

    Args:
        tables: some of them; all if none is named.
        seeds: of the splits and of the models.
        output: folder of the results, a file for each table and split.
    """
    if unknown := set(tables) - SOURCES.keys():
        raise ConfigurationError(f"no table {sorted(unknown)[0]}; there are {', '.join(SOURCES)}")
    torch.set_num_threads(1)
    common.use_one_core()
    output.mkdir(parents=True, exist_ok=True)
    for name in common.each(tables or SOURCES):
        package = SOURCES[name][1]
        used = {"numpy", "scikit-learn", "lightgbm", "skrub", "torch"} | ({package} - {"python"})
        origin = {
            "command": shlex.join(["python", "experiments/real_tables.py", *sys.argv[1:]]),
            "commit": source_commit(),
            "device": machine(),
            "versions": versions(*sorted(used)),
        }
        table = SOURCES[name][2]()
        for split in ("random", "time") if table.order is not None else ("random",):
            path = output / f"{name}-{split}.jsonl"
            kept = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
            done = {(one["input"], one["model"], one["seed"]) for one in kept}
            for seed in seeds:
                wanted = [run for run in runs(table) if (*run, seed) not in done]
                sigma = next((one["sigma"] for one in kept if "sigma" in one), None)
                for found in lines_of(table, split, seed, wanted, sigma):
                    kept.append({"dataset": name, "split": split, "seed": seed} | found | origin)
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(kept[-1]) + "\n")


if __name__ == "__main__":
    common.run(main)
