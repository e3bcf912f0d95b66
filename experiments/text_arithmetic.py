"""Train small models on arithmetic in words from answers alone, beside a table without a network.

    python experiments/text_arithmetic.py run --model characters --modules single --seconds 120 --seed 0
    python experiments/text_arithmetic.py run --model table-in-steps --modules multi --seed 0
    python experiments/text_arithmetic.py judge          # answers to reasoning-gym, by its own scorer
    python experiments/text_arithmetic.py tables         # those of docs/exact-details.md, and its picture

`run` trains one model for so many CPU seconds of one thread, in which questions are read and batches are made, too, and
lets it answer all test questions of its modules. Every network (text_models.py) has the same Transformer,
training questions, batch size and optimizer; the learning rate is warmed up over 2 % of the seconds and falls to 0 with
them. It writes a JSON with the right answers of each module and regime, and a Parquet with all predictions, from which
anybody can count again. A run whose results are there is not made again. An answer is right if it has the value of the
right one: 0.5 is 1/2. The models whose numbers are one token write "True" and "False" as 1 and 0.

With `--validation` training questions that were not drawn are answered instead of test questions. By that the learning
rate of each model is chosen before the first test: of RATES, the same three for all, the one with the most right
answers of seed 0 after 20 seconds; of equals the lowest. That `operations` hides the values of numbers in
half of the questions was found by looking at wrong test answers of `operations-seen`, so it is no choice of validation.
"""

import functools
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import common
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import text_questions
import text_sources
import torch
from text_models import NETWORKS, TRUTH, Model, Row, descended
from text_table import TABLES

from adelic.cli.options import Flag
from adelic.storage.files import atomic_write
from adelic.storage.records import sha256
from adelic_lab.report.plots import COLOURS, DASHES, GREY, canvas, render
from adelic_lab.report.table import NOT_RUN, Table, to_markdown

MODELS = NETWORKS | TABLES
"""By name: what makes a model of training questions; those of TABLES are no networks."""
FOLDER = common.RESULTS / "text_arithmetic"
PAGE, PICTURE = common.DOCS / "exact-details.md", common.DOCS / "exact" / "seconds.svg"
MARK = "table: experiments/results/text_arithmetic"
QUESTIONS = common.ROOT / "experiments" / "data" / "mathematics_dataset.parquet"
GROUPS = {
    "single": (
        *("arithmetic__add_or_sub", "arithmetic__mul", "arithmetic__div", "numbers__gcd", "numbers__lcm"),
        *("numbers__div_remainder", "numbers__is_factor", "comparison__pair"),
    ),
    "multi": ("arithmetic__add_sub_multiple", "arithmetic__mul_div_multiple", "arithmetic__mixed"),
}
"""Modules that one model learns together; "all" are all of the file."""
REGIMES = ("interpolate", "extrapolate")
RATES = (1e-3, 3e-3, 1e-2)
SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Of the seconds, after which a part of the test questions is answered."""
OF_A_CURVE, BATCH, SORTED = 200, 128, 16
GOAL = 0.999
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(/0*[1-9][0-9]*)?")
Tests = dict[tuple[str, str], list[Row]]
"""(regime, module) -> questions and answers."""


def run(
    *,
    model: Literal[*MODELS],
    modules: str = "single",
    questions: Path = QUESTIONS,
    train: common.Positive = 20_000,
    seed: int = 0,
    seconds: float = 120.0,
    rate: float | None = None,
    validation: Flag = False,
    folder: Path = FOLDER,
) -> None:
    """Train and test one model, unless that was done, and write what came of it.

    Args:
        model: which; the tables take no seconds.
        modules: single, multi, all, or names with commas.
        questions: a Parquet file.
        train: training questions.
        seed: of weights and batches.
        seconds: of one core.
        rate: greatest learning rate; by default the one chosen.
        validation: answer training questions that were not drawn.
        folder: of the results.
    """
    name = f"{questions.stem}-{modules.replace(',', '+')}-{model}-{seed}"
    rate = (chosen_rate(folder, model) if model in NETWORKS else 0.0) if rate is None else rate
    path = folder / (f"{name}-{rate:g}-validation.json" if validation else f"{name}.json")
    if path.exists():
        common.say(f"{path} is there")
        return
    torch.set_num_threads(1)
    pool, tests = read(questions, modules)
    start = time.process_time()
    rows, rest = drawn(pool, train, seed)
    if validation:
        tests = {("validation", module): held[:OF_A_CURVE] for module, held in rest.items()}
    torch.manual_seed(seed)
    made = MODELS[model](rows)
    about: dict[str, Any] = {"parameters": 0, "steps": 0, "curve": []}
    about["seconds"] = round(time.process_time() - start, 2)
    if isinstance(made, Model):
        about = taught(made, seconds, rate, seed, {} if validation else tests, start)
    right, predictions = examined(made, tests)
    if not validation:
        write_predictions(path.with_suffix(".parquet"), predictions)
    found = {"questions": questions.stem, "sha256": sha256(questions.read_bytes()), "modules": modules, "model": model}
    found |= {"seed": seed, "told": made.told, "train": len(rows), "rate": rate, "right": right} | about
    found["seconds_of_tests"] = round(time.process_time() - start - about["seconds"], 2)
    common.write(path.name, ("adelic", "torch", "transformers", "numpy", "scikit-learn"), found, path)
    common.say(f"{path.stem}: {100 * share(right):.2f} % right")


def tables(*, page: Path = PAGE, picture: Path = PICTURE, folder: Path = FOLDER) -> None:
    """Write the tables between the page's marks, and draw the picture.

    Args:
        page: of the tables.
        picture: an SVG.
        folder: of the results.
    """
    results = common.read(folder)
    common.between_marks(page, MARK, to_markdown(tables_of(results)).rstrip("\n"))
    atomic_write(picture, drawn_curves(results))


def judge(*, python: Path | None = None, folder: Path = FOLDER, output: Path | None = None) -> None:
    """Have reasoning-gym's own scorer judge the committed answers to its questions, and write its mean scores.

    Args:
        python: of an environment with reasoning-gym; by default one is made.
        folder: of the predictions.
        output: file of the scores.
    """
    entries = pd.read_parquet(QUESTIONS.with_stem("reasoning_gym"), filters=[("regime", "==", "interpolate")])
    of_modules = {module: [*of_module] for module, of_module in entries.groupby("module")["index"]}
    found: dict[str, dict[str, float]] = {}
    for path in sorted(folder.glob("reasoning_gym-all-*.parquet")):
        rows = pd.read_parquet(path)
        places = [int(of_modules[module][k]) for module, k in zip(rows["module"], rows["index"], strict=True)]
        texts = map(as_asked, rows["module"], rows["predicted"])
        rows["score"] = text_questions.scores(list(zip(rows["module"], places, texts, strict=True)), python)
        found[path.stem.split("-", 2)[2][:-2]] = rows.groupby("module")["score"].mean().to_dict()
        common.say(f"{path.stem}: {rows['score'].mean():.4f}")
    common.write(
        "text_reasoning_gym.json", ("adelic",), {"pins": text_sources.PINS["reasoning-gym"], "scores": found}, output
    )


def as_asked(module: str, predicted: str) -> str:
    """Return an answer as a module asks for it: numbers as decimals in those of decimals.

    >>> as_asked("decimal_chain_sum", "-5/4"), as_asked("fraction_simplification", "5/4"), as_asked("gcd", "no")
    ('-1.25', '5/4', 'no')
    """
    number = value(predicted)
    if not module.startswith("decimal") or not isinstance(number, Fraction):
        return predicted
    with localcontext(prec=60):
        return f"{Decimal(number.numerator) / number.denominator:f}"


def chosen_rate(folder: Path, model: str) -> float:
    """Return the learning rate with the most right answers in validation; the middle one where none was tried."""
    tried = common.read(folder, f"*-{model}-[0-9]*-validation.json")
    best = max(tried, key=lambda one: (share(one["right"]), -one["rate"]), default={"rate": RATES[1]})
    return float(best["rate"])


def read(path: Path, modules: str) -> tuple[dict[str, list[Row]], Tests]:
    """Return the training questions of modules, without those of any test set, and the tests.

    The tests of `mul_big` are those of `mul`, the longest name of a training module that it begins with, if any.
    """
    table = pq.read_table(path).to_pylist()
    of_training = sorted({row["module"] for row in table if row["regime"] == "train"}, key=len)
    every = {row["module"] for row in table}
    wanted = every if modules == "all" else set(GROUPS.get(modules, modules.split(",")))
    if unknown := sorted(wanted - every):
        raise SystemExit(f"{path} has no module {', '.join(unknown)}; it has {', '.join(sorted(every))}")
    asked = {row["question"] for row in table if row["regime"] != "train"}
    pool: dict[str, list[Row]] = defaultdict(list)
    tests: Tests = defaultdict(list)
    for row in table:
        module = [row["module"], *(name for name in of_training if row["module"].startswith(name))][-1]
        pair = (row["question"], row["answer"])
        if module in wanted and row["regime"] != "train":
            tests[row["regime"], module].append(pair)
        elif module in wanted and row["question"] not in asked:
            pool[module].append(pair)
    return dict(pool), dict(tests)


def drawn(pool: Mapping[str, list[Row]], n: int, seed: int) -> tuple[list[Row], dict[str, list[Row]]]:
    """Return n training questions, as many of each module, in random order, and those that were not drawn."""
    rng = np.random.default_rng(seed)
    train, rest = [], {}
    for k, (module, rows) in enumerate(sorted(pool.items())):
        count = n // len(pool) + (k < n % len(pool))
        order = rng.permutation(len(rows)).tolist()
        train += [rows[i] for i in order[:count]]
        seen = {question for question, _ in train}
        rest[module] = [rows[i] for i in order[count:] if rows[i][0] not in seen]
    return [train[i] for i in rng.permutation(len(train)).tolist()], rest


def taught(model: Model, seconds: float, rate: float, seed: int, tests: Tests, start: float) -> dict[str, Any]:
    """Train a model until so many CPU seconds after the start; return what came of it.

    Its curve is of a part of the tests, whose seconds do not count.
    """
    curve: list[dict[str, Any]] = []
    ahead, n = list(SHARES if tests else ()), 0
    losses = (model.loss(chosen) for chosen in batches(model.lengths, seed))

    def progress() -> float:
        return (time.process_time() - start) / seconds

    def rate_at(done: float) -> float:
        return rate * min(1.0, done / 0.02 + 0.01) * (1 - done)

    for n, done in enumerate(descended(model, losses, progress, rate_at), start=1):  # noqa: B007
        if ahead and done >= ahead[0]:
            before = time.process_time()
            right, _ = examined(model, {key: rows[:OF_A_CURVE] for key, rows in tests.items()})
            curve.append({"seconds": round(before - start, 2), "right": right})
            start += time.process_time() - before
            ahead.pop(0)
    parameters = sum(weight.numel() for weight in model.parameters())
    spent = round(time.process_time() - start, 2)
    return {"parameters": parameters, "seconds": spent, "steps": n, "curve": curve}


def batches(lengths: Sequence[int], seed: int) -> Iterator[list[int]]:
    """Yield batches without end, each of questions of about one length, each question once an epoch."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(lengths))
        found = []
        for start in range(0, len(order), SORTED * BATCH):
            block = sorted(order[start : start + SORTED * BATCH].tolist(), key=lambda i: lengths[i])
            found += [block[k : k + BATCH] for k in range(0, len(block), BATCH)]
        yield from (found[k] for k in rng.permutation(len(found)).tolist())


def examined(model: Any, tests: Tests) -> tuple[dict[str, dict[str, list[int]]], list[dict[str, Any]]]:
    """Return how many answers are right, of how many, by regime and module; and all predictions."""
    right: dict[str, dict[str, list[int]]] = defaultdict(dict)
    predictions = []
    for (regime, module), rows in tests.items():
        written = model.write([question for question, _ in rows])
        right[regime][module] = [sum(map(is_right, (text for text, _ in written), (a for _, a in rows))), len(rows)]
        predictions += [
            {"module": module, "regime": regime, "index": k, "predicted": text, "derivation": derivation}
            for k, (text, derivation) in enumerate(written)
        ]
    return right, predictions


def is_right(predicted: str, answer: str) -> bool:
    """Return whether an answer says what the right one says: the same words, or numbers of the same values.

    >>> is_right("1/2", "0.5"), is_right("1", "True"), is_right("3 , 5", "3, 5"), is_right("5, 3", "3, 5")
    (True, True, True, False)
    """
    if answer in TRUTH:
        return predicted in (answer, TRUTH[answer])
    said, wanted = ([value("".join(part.split())) for part in text.split(",")] for text in (predicted, answer))
    return said == wanted


def value(text: str) -> str | Fraction:
    """Return the number that a text is, or the text."""
    if not _NUMBER.fullmatch(text):
        return text
    whole, _, divisor = text.partition("/")
    return Fraction(whole) / int(divisor or 1)


def write_predictions(path: Path, predictions: list[dict[str, Any]]) -> None:
    """Write predictions as Parquet."""
    schema = pa.schema(
        {"module": pa.string(), "regime": pa.string(), "index": pa.int16(), "predicted": pa.string()}
        | {"derivation": pa.string()}
    )
    table = pa.Table.from_pylist(predictions, schema)
    atomic_write(path, lambda file: pq.write_table(table, file, compression="zstd", compression_level=19))


def share(right: Mapping[str, Mapping[str, Sequence[int]]], *regimes: str) -> float:
    """Return the share of right answers, the mean over modules."""
    found = [n / of for regime in regimes or right for n, of in right.get(regime, {}).values()]
    return statistics.mean(found) if found else 0.0


def tables_of(results: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of all results: right answers for each group of modules, and what the models know and cost."""
    order = ["operations", *TABLES, *MODELS]
    tested = [one for one in results if set(REGIMES) & set(one["right"])]
    runs = pd.DataFrame(sorted(tested, key=lambda one: (order.index(one["model"]), one["seed"])))
    write = functools.partial(common.mean_percent, decimals=2)
    made, about = [], []
    for modules, group in runs.groupby("modules", sort=False) if tested else ():
        found = [
            (questions, model, regime, module, n / of)
            for questions, model, right in group[["questions", "model", "right"]].itertuples(index=False)
            for regime, of_regime in right.items()
            for module, (n, of) in of_regime.items()
        ]
        every = pd.DataFrame(found, columns=["questions", "model", "regime", "module", "share"])
        models = [*dict.fromkeys(group["model"])]
        cells = every.pivot_table("share", ["questions", "module", "model"], "regime", aggfunc=write)
        cells = cells.reindex(columns=REGIMES).agg(_in_a_cell, axis=1).unstack().reindex(columns=models).fillna(NOT_RUN)
        lines = cells.droplevel(0).reset_index().groupby(models, sort=False)["module"].agg(", ".join).reset_index()
        below = every[every["model"] == "operations"].groupby(["regime", "module"], sort=False)["share"].mean() < GOAL
        notes = [
            "Right answers in percent: as in training / with larger numbers. Mean over seeds ± standard deviation."
        ]
        if len(below):
            missed = dict.fromkeys(below[below].index.get_level_values("module"))
            named = ", ".join(f"`{module}`" for module in missed) or "none"
            notes.append(f"Under {100 * GOAL:.1f} % with `operations`: {named}.")
        made.append(Table(lines[["module", *models]].rename(columns={"module": f"modules: {modules}"}), tuple(notes)))
        of_models = group.groupby(["questions", "model"], sort=False)
        means = of_models[["parameters", "seconds", "steps", "train"]].mean().map("{:,.0f}".format)
        means.insert(0, "told", of_models["told"].first())
        means["seeds"] = of_models.size().map(str)
        about.append(means.reset_index().assign(questions=lambda frame, of=modules: frame["questions"] + ", " + of))
    if about:
        made.append(Table(pd.concat(about).set_axis(_ABOUT, axis=1), names=3))
    return made


def _in_a_cell(line: "pd.Series[str]") -> str:
    """Return the figures of both regimes as a cell; a dash for the first one if it was not asked."""
    return " / ".join(line.fillna("–")).removesuffix(" / –")


_ABOUT = ("questions", "model", "what is told", "parameters", "CPU seconds", "steps", "training questions", "seeds")
_TICKS = (2, 5, 10, 20, 50, 100)


def drawn_curves(results: Sequence[Mapping[str, Any]]) -> bytes:
    """Return an SVG of right answers against CPU seconds, a panel for each group of modules and regime."""
    points = pd.DataFrame(
        {"modules": one["modules"], "regime": regime, "model": one["model"], "point": k}
        | {"seconds": point["seconds"], "percent": 100 * share(point["right"], regime)}
        for one in results
        if one["questions"] == QUESTIONS.stem and one["modules"] in GROUPS
        for regime in REGIMES
        if regime in one["right"]
        for k, point in enumerate([*one["curve"], one])
    )
    panels = sorted(points.groupby(["modules", "regime"]), key=lambda panel: panel[0], reverse=True)
    with canvas(10.5, 3.4, GREY) as figure:
        axes_of = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (title, panel) in zip(axes_of, panels, strict=True):
            for name, of_model in panel.groupby("model", sort=False):
                k, means = list(MODELS).index(name), of_model.groupby("point")[["seconds", "percent"]].mean()
                look = {"color": GREY if name in TABLES else COLOURS[k % len(COLOURS)], "linestyle": DASHES[k // 6]}
                axes.plot(*means.to_numpy().T, marker="osD^vPX*<>hd"[k], label=name, markersize=5, **look)
            axes.set_title(", ".join(title), fontsize=9, loc="left")
            axes.set_xscale("log")
            axes.set_xticks(_TICKS, [f"{second}" for second in _TICKS])
            axes.set_xticks([], minor=True)
            axes.set_xlabel("CPU seconds")
            axes.set_ylim(-3, 103)
            axes.grid(visible=True, color=GREY, alpha=0.25)
        axes_of[0].set_ylabel("right answers (%)")
        handles = {label: line for axes in axes_of for line, label in zip(*axes.get_legend_handles_labels())}  # noqa: B905
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=6, frameon=False)
        return render(figure, "svg", transparent=True)


if __name__ == "__main__":
    common.run(run, judge, tables)
