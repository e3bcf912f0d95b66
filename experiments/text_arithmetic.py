"""Train small models on arithmetic in words from answers alone, beside a table without a network.

    python experiments/text_arithmetic.py run --model characters --modules single --seconds 120 --seed 0
    python experiments/text_arithmetic.py run --model table-in-steps --modules multi --seed 0
    python experiments/text_arithmetic.py judge          # answers to reasoning-gym, by its own scorer
    python experiments/text_arithmetic.py tables         # those of docs/exact.md, and its picture

`run` trains one model for so many CPU seconds of one thread, in which questions are read and batches are made, too, and
lets it answer all test questions of its modules. Every model (text_models.py, text_rivals.py) has the same Transformer,
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
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from text_models import TRUTH, AdelicHead, Operations, OperationsSeen, Rewrite, Row, descended
from text_rivals import Abacus, Characters, FoNE, XVal
from text_table import Table as TemplateTable
from text_table import TableInSteps

from adelic.cli.options import Flag
from adelic.storage.files import atomic_write
from adelic.storage.records import sha256
from adelic_lab.report.plots import COLOURS, DASHES, GREY, canvas, render
from adelic_lab.report.table import NOT_RUN, Table, to_markdown

TABLES = {"table": TemplateTable, "table-in-steps": TableInSteps}
"""By name: what makes a model without a network of training questions."""
MODELS: dict[str, Callable[[Sequence[Row]], Any]] = {
    "operations": Operations,
    "operations-seen": OperationsSeen,
    "rewrite": Rewrite,
    "characters": Characters,
    "abacus": Abacus,
    "fone": FoNE,
    "xval": XVal,
    "adelic-head": AdelicHead,
    **TABLES,
}
"""Likewise, all."""
FOLDER = common.RESULTS / "text_arithmetic"
PAGE, PICTURE = common.DOCS / "exact.md", common.DOCS / "exact" / "seconds.svg"
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
    network = model not in TABLES
    name = f"{questions.stem}-{modules.replace(',', '+')}-{model}-{seed}"
    rate = (chosen_rate(folder, model) if network else 0.0) if rate is None else rate
    path = folder / (f"{name}-{rate:g}-validation.json" if validation else f"{name}.json")
    if path.exists():
        common.say(f"{path} is there")
        return
    torch.set_num_threads(1)
    pool, tests = read(questions, modules)
    clock = Clock()
    rows, rest = drawn(pool, train, seed)
    if validation:
        tests = {("validation", module): held[:OF_A_CURVE] for module, held in rest.items()}
    torch.manual_seed(seed)
    made, steps, curve = MODELS[model](rows), 0, []
    if network:
        steps, curve = taught(made, seconds, rate, seed, {} if validation else tests, clock)
    spent = clock.seconds
    right, predictions = examined(made, tests)
    if not validation:
        write_predictions(path.with_suffix(".parquet"), predictions)
    found = {"questions": questions.stem, "sha256": sha256(questions.read_bytes()), "modules": modules, "model": model}
    found |= {"seed": seed, "told": made.told, "train": len(rows), "rate": rate}
    found |= {"parameters": sum(p.numel() for p in made.parameters()) if network else 0, "seconds": round(spent, 2)}
    found |= {"seconds_of_tests": round(clock.since() - spent, 2), "steps": steps, "right": right, "curve": curve}
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
    text = to_markdown(tables_of(results)).replace("## ", "### ")
    common.between_marks(page, MARK, text.rstrip("\n"))
    atomic_write(picture, drawn_curves(results))


def judge(*, python: Path | None = None, folder: Path = FOLDER, output: Path | None = None) -> None:
    """Have reasoning-gym's own scorer judge the committed answers to its questions, and write its mean scores.

    Args:
        python: of an environment with reasoning-gym; by default one is made.
        folder: of the predictions.
        output: file of the scores.
    """
    entries: dict[str, list[int]] = defaultdict(list)
    for row in pq.read_table(
        QUESTIONS.with_stem("reasoning_gym"), filters=[("regime", "==", "interpolate")]
    ).to_pylist():
        entries[row["module"]].append(int(row["index"]))
    found: dict[str, dict[str, float]] = {}
    for path in sorted(folder.glob("reasoning_gym-all-*.parquet")):
        rows = pd.read_parquet(path)
        places = [entries[module][k] for module, k in zip(rows["module"], rows["index"], strict=True)]
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


class Clock:
    """CPU seconds of this process, of training and of all."""

    def __init__(self) -> None:
        self._start, self._apart = time.process_time(), 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds without those that were spent apart."""
        return self.since() - self._apart

    def since(self) -> float:
        """Return all seconds."""
        return time.process_time() - self._start

    def apart(self, seconds: float) -> None:
        """Leave out seconds."""
        self._apart += seconds


def taught(
    model: Any, seconds: float, rate: float, seed: int, tests: Tests, clock: Clock
) -> tuple[int, list[dict[str, Any]]]:
    """Train a model until the clock has the seconds; return its steps, and its curve on a part of the tests."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    part = {key: rows[:OF_A_CURVE] for key, rows in tests.items()}
    curve: list[dict[str, Any]] = []
    ahead, steps = list(SHARES if tests else ()), 0
    losses = (functools.partial(model.loss, chosen) for chosen in batches(model.lengths(), seed))
    rate_at = lambda done: rate * min(1.0, done / 0.02 + 0.01) * (1 - done)  # noqa: E731
    for done in descended(optimizer, losses, lambda: clock.seconds / seconds, rate_at):
        steps += 1
        if ahead and done >= ahead[0]:
            before = clock.since()
            curve.append({"seconds": round(clock.seconds, 2), "right": examined(model, part)[0]})
            clock.apart(clock.since() - before)
            ahead.pop(0)
    return steps, curve


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
    network = isinstance(model, torch.nn.Module)
    if network:
        model.eval()
    right: dict[str, dict[str, list[int]]] = {}
    predictions = []
    for (regime, module), rows in tests.items():
        written = model.write([question for question, _ in rows])
        count = sum(is_right(text, answer) for (text, _), (_, answer) in zip(written, rows, strict=True))
        right.setdefault(regime, {})[module] = [count, len(rows)]
        predictions += [
            {"module": module, "regime": regime, "index": k, "predicted": text, "derivation": derivation}
            for k, (text, derivation) in enumerate(written)
        ]
    if network:
        model.train()
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
    """Return the tables of all results: for each set of questions one a regime, and one of what the models have."""
    order = ["operations", *TABLES, *MODELS]
    tested = [one for one in results if set(REGIMES) & set(one["right"])]
    runs = pd.DataFrame(sorted(tested, key=lambda one: (order.index(one["model"]), one["seed"])))
    made = []
    for (questions, modules), group in runs.groupby(["questions", "modules"], sort=False) if tested else ():
        title, names = f"{questions}, {modules}", group["model"].unique()
        for regime in REGIMES:
            found = [
                (model, module, n / of)
                for model, right in zip(group["model"], group["right"], strict=True)
                for module, (n, of) in right.get(regime, {}).items()
            ]
            if found:
                shares = pd.DataFrame(found, columns=["model", "module", "share"])
                write = functools.partial(common.mean_percent, decimals=2)
                cells = shares.pivot_table("share", "module", "model", aggfunc=write).reindex(columns=names)
                texts = cells.fillna(NOT_RUN).reset_index()
                below = shares[shares["model"] == "operations"].groupby("module")["share"].mean() < GOAL
                notes = ["Right answers in percent, mean over seeds ± standard deviation."]
                if len(below):
                    missed = ", ".join(below.index[below]) or "none"
                    notes.append(f"Under {100 * GOAL:.1f} % with `operations`: {missed}.")
                made.append(Table(texts, tuple(notes), f"{title}: {regime}"))
        of_models = group.groupby("model", sort=False)
        means = of_models[["parameters", "seconds", "steps", "train"]].mean().map("{:,.0f}".format)
        means.insert(0, "told", of_models["told"].first())
        means["seeds"] = of_models.size().map(str)
        made.append(Table(means.reset_index().set_axis(_ABOUT, axis=1), title=f"{title}: models", names=2))
    return made


_ABOUT = ("model", "what is told", "parameters", "CPU seconds", "steps", "training questions", "seeds")
_TICKS = (2, 5, 10, 20, 50, 100)


def drawn_curves(results: Sequence[Mapping[str, Any]]) -> bytes:
    """Return an SVG of right answers against CPU seconds, a panel for each group of modules and regime."""
    panels: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for regime in REGIMES:
            if regime in result["right"] and result["questions"] == QUESTIONS.stem and result["modules"] in GROUPS:
                panels[result["modules"], regime][result["model"]].append(result)
    with canvas(10.5, 3.4, GREY) as figure:
        axes_of = figure.subplots(1, max(1, len(panels)), sharex=True, sharey=True, squeeze=False)[0]
        names = list(MODELS)
        for axes, ((modules, regime), models) in zip(axes_of, sorted(panels.items(), reverse=True), strict=False):
            for k, name in ((names.index(name), name) for name in models):
                points = defaultdict(list)
                for one in models[name]:
                    for at, point in enumerate([*one["curve"], one]):
                        points[at].append((point["seconds"], 100 * share(point["right"], regime)))
                means = [np.mean(points[at], axis=0) for at in sorted(points)]
                look = {"color": GREY if name in TABLES else COLOURS[k % len(COLOURS)], "linestyle": DASHES[k // 6]}
                axes.plot(*zip(*means, strict=True), marker="osD^vPX*<>hd"[k], label=name, markersize=5, **look)
            axes.set_title(f"{modules}, {regime}", fontsize=9, loc="left")
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
