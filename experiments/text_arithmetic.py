"""Train small models on arithmetic in words from answers alone, beside a table without a network.

    python experiments/text_arithmetic.py run --model characters --modules single --seconds 120 --seed 0
    python experiments/text_arithmetic.py table --modules single --seed 0
    python experiments/text_arithmetic.py table --model table-in-steps --modules multi --seed 0
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

import argparse
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import common
import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from matplotlib.figure import Figure
from text_models import TRUTH, AdelicHead, Operations, OperationsSeen, Rewrite, Row
from text_rivals import Abacus, Characters, FoNE, XVal
from text_table import Table as TemplateTable
from text_table import TableInSteps

from adelic.storage.files import atomic_write
from adelic.storage.records import parse_object, sha256
from adelic_lab.report.plots import COLOURS, DASHES, GREY, render, style
from adelic_lab.report.table import Table, to_markdown

MODELS: dict[str, Callable[[Sequence[Row]], Any]] = {
    "operations": Operations,
    "operations-seen": OperationsSeen,
    "rewrite": Rewrite,
    "characters": Characters,
    "abacus": Abacus,
    "fone": FoNE,
    "xval": XVal,
    "adelic-head": AdelicHead,
}
"""By name: what makes a model of training questions."""
TABLES: dict[str, Callable[[Sequence[Row]], Any]] = {"table": TemplateTable, "table-in-steps": TableInSteps}
"""Likewise, without a network."""
ROOT = Path(__file__).resolve().parent.parent
FOLDER = common.RESULTS / "text_arithmetic"
PAGE, PICTURE = ROOT / "docs" / "exact.md", ROOT / "docs" / "exact" / "seconds.svg"
MARK = "table: experiments/results/text_arithmetic"
QUESTIONS = ROOT / "experiments" / "data" / "mathematics_dataset.parquet"
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


def main() -> None:
    """Make a run, or the tables of all."""
    parser = common.parser(__doc__, output=False)
    commands = parser.add_subparsers(dest="command", required=True)
    folder = {"folder": {"type": Path, "default": FOLDER}}
    shared = folder | {
        "modules": ("single", "single, multi, all, or names with commas"),
        "questions": {"type": Path, "default": QUESTIONS, "help": "a Parquet file"},
        "train": (20_000, "training questions"),
        "seed": (0, "of weights and batches"),
    }
    common.add(
        commands.add_parser("run", help="train a model"),
        model={"choices": MODELS, "required": True},
        seconds=(120.0, "of one core"),
        rate={"type": float, "help": "greatest learning rate (default: the one chosen)"},
        validation={"action": "store_true", "help": "answer training questions not drawn"},
        **shared,
    )
    without = commands.add_parser("table", help="make the table without a network")
    without.set_defaults(seconds=0.0, rate=0.0, validation=False)
    common.add(without, model={"choices": TABLES, "default": "table"}, **shared)
    common.add(
        commands.add_parser("tables", help="write the tables between the page's marks, and draw the picture"),
        page={"type": Path, "default": PAGE},
        picture={"type": Path, "default": PICTURE},
        **folder,
    )
    given = parser.parse_args()
    if given.command == "tables":
        results = [parse_object(path.read_bytes()) for path in sorted(given.folder.glob("*.json"))]
        text = to_markdown(tables(results)).replace("## ", "### ")
        common.between_marks(given.page, MARK, text.rstrip("\n"))
        atomic_write(given.picture, drawn_curves(results))
    else:
        run(given)


def run(given: argparse.Namespace) -> None:
    """Train and test one model, unless that was done, and write what came of it."""
    name = f"{given.questions.stem}-{given.modules.replace(',', '+')}-{given.model}-{given.seed}"
    rate = chosen_rate(given.folder, given.model) if given.rate is None else given.rate
    path = given.folder / (f"{name}-{rate:g}-validation.json" if given.validation else f"{name}.json")
    if path.exists():
        common.say(f"{path} is there")
        return
    torch.set_num_threads(1)
    pool, tests = read(given.questions, given.modules)
    clock = Clock()
    train, rest = drawn(pool, given.train, given.seed)
    if given.validation:
        tests = {("validation", module): rows[:OF_A_CURVE] for module, rows in rest.items()}
    torch.manual_seed(given.seed)
    model, steps, curve = trained(given, rate, train, tests, clock)
    spent = clock.seconds
    right, predictions = examined(model, tests)
    network = isinstance(model, torch.nn.Module)
    found = {
        "questions": given.questions.stem,
        "sha256": sha256(given.questions.read_bytes()),
        "modules": given.modules,
        "model": given.model,
        "seed": given.seed,
        "told": model.told,
        "train": len(train),
        "rate": rate,
        "parameters": sum(p.numel() for p in model.parameters()) if network else 0,
        "seconds": round(spent, 2),
        "seconds_of_tests": round(clock.since() - spent, 2),
        "steps": steps,
        "right": right,
        "curve": curve,
    }
    if not given.validation:
        write_predictions(path.with_suffix(".parquet"), predictions)
    common.write(path, ("adelic", "torch", "transformers", "numpy", "scikit-learn"), found)
    common.say(f"{path.stem}: {100 * share(right):.2f} % right")


def chosen_rate(folder: Path, model: str) -> float:
    """Return the learning rate with the most right answers in validation; the middle one where none was tried."""
    tried = [parse_object(path.read_bytes()) for path in folder.glob(f"*-{model}-[0-9]*-validation.json")]
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


def trained(
    given: argparse.Namespace, rate: float, train: Sequence[Row], tests: Tests, clock: Clock
) -> tuple[Any, int, list[dict[str, Any]]]:
    """Return a model that was trained until the clock has the seconds, its steps, and its curve."""
    if given.model in TABLES:
        return TABLES[given.model](train), 0, []
    model = MODELS[given.model](train)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    part = {key: rows[:OF_A_CURVE] for key, rows in tests.items()}
    curve: list[dict[str, Any]] = []
    ahead, steps = list(SHARES), 0
    for chosen in batches(model.lengths(), given.seed):
        done = clock.seconds / given.seconds
        if ahead and done >= ahead[0] and not given.validation:
            before = clock.since()
            curve.append({"seconds": round(clock.seconds, 2), "right": examined(model, part)[0]})
            clock.apart(clock.since() - before)
            ahead.pop(0)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, done / 0.02 + 0.01) * (1 - done)
        optimizer.zero_grad()
        model.loss(chosen).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
    return model, steps, curve


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
    if isinstance(model, torch.nn.Module):
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
    if isinstance(model, torch.nn.Module):
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


def tables(results: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of all results: for each set of questions one a regime, and one of what the models have."""
    groups: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    order = ["operations", *TABLES, *MODELS]
    for result in sorted(results, key=lambda one: (order.index(one["model"]), one["seed"])):
        if REGIMES[0] in result["right"] or REGIMES[1] in result["right"]:
            groups[result["questions"], result["modules"]][result["model"]].append(result)
    made = []
    for (questions, modules), models in groups.items():
        title = f"{questions}, {modules}"
        for regime in REGIMES:
            names = sorted({name for runs in models.values() for run in runs for name in run["right"].get(regime, {})})
            rows = [
                (name, *(common.mean_percent(shares(runs, regime, name), 2) for runs in models.values()))
                for name in names
            ]
            if rows:
                notes = ("Right answers in percent, mean over seeds ± standard deviation.", missed(models, regime))
                made.append(
                    Table.of(("module", *models), tuple(rows), tuple(filter(None, notes)), f"{title}: {regime}")
                )
        rows = [about(name, runs) for name, runs in models.items()]
        made.append(Table.of(_ABOUT, tuple(rows), title=f"{title}: models", names=2))
    return made


_ABOUT = ("model", "what is told", "parameters", "CPU seconds", "steps", "training questions", "seeds")


def about(name: str, runs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the row of a model."""
    means = [f"{statistics.mean(run[key] for run in runs):,.0f}" for key in ("parameters", "seconds", "steps", "train")]
    return (name, runs[0]["told"], *means, str(len(runs)))


def shares(runs: Sequence[Mapping[str, Any]], regime: str, module: str) -> list[float]:
    """Return the shares of right answers of the seeds that have a test."""
    found = [run["right"].get(regime, {}).get(module) for run in runs]
    return [n / of for n, of in filter(None, found)]


def missed(models: Mapping[str, Sequence[Mapping[str, Any]]], regime: str) -> str:
    """Return which modules the model with operations has below the goal."""
    runs = models.get("operations", ())
    names = sorted({name for run in runs for name in run["right"].get(regime, {})})
    below = [name for name in names if statistics.mean(shares(runs, regime, name)) < GOAL]
    if not names:
        return ""
    return f"Under {100 * GOAL:.1f} % with `operations`: {', '.join(below) or 'none'}."


_TICKS = (2, 5, 10, 20, 50, 100)


def drawn_curves(results: Sequence[Mapping[str, Any]]) -> bytes:
    """Return an SVG of right answers against CPU seconds, a panel for each group of modules and regime."""
    panels: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for regime in REGIMES:
            if regime in result["right"] and result["questions"] == QUESTIONS.stem and result["modules"] in GROUPS:
                panels[result["modules"], regime][result["model"]].append(result)
    with mpl.rc_context(style(GREY)):
        figure = Figure(figsize=(10.5, 3.4), layout="constrained")
        axes_of = figure.subplots(1, max(1, len(panels)), sharex=True, sharey=True, squeeze=False)[0]
        names = [*MODELS, *TABLES]
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
    main()
