"""Write the tables of README.md and docs/, docs/table.csv, and the figures and pages of docs/results, from the results.

They are between <!-- table: NAME --> and <!-- end of table -->. NAME is that of a file of experiments/results, or a
command that prints the table: adelic report --results-dir experiments/results/table --markdown --table overview;
or "arithmetic" or "columns", a plan of that benchmark and its folder of results; or "excerpt" before these, and
some columns and lines of that table behind them; or "searches", those of arithmetic_searches.py, or
"text_word_problems", those of that script.

Each dataset of experiments/results/table has a page docs/results/DATASET.md, which is made if it is missing; mkdocs.yml
has to list it.

python experiments/tables.py           # bring the pages up to date
python experiments/tables.py --check   # exit code 1 if a page's tables are not

Figures are not checked: each version of Matplotlib draws them a little differently.
"""

import importlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import common
import pandas as pd

import adelic_lab
from adelic.acd import TASKS
from adelic.cli import app
from adelic.cli.options import Flag
from adelic.errors import ConfigurationError
from adelic_lab import Result
from adelic_lab.cli.report import in_markdown
from adelic_lab.config.names import TITLES
from adelic_lab.plans import gather, read_plan
from adelic_lab.report import arithmetic, columns
from adelic_lab.report.page import figures
from adelic_lab.report.published import split_row
from adelic_lab.report.table import Table
from adelic_lab.report.tables import single_runs

PAGES = common.DOCS / "results"
ROW_PAGE = """# {row}

{task} Each table has every model that ran, the most accurate first; see also [the verdict](../results.md) and \
[the data](../audit.md). A heading names the edition of the data, unless it is the published one, and the split. \
On the split `orbits` all images of an example are in one part, so training may use them. Images are an example's \
equals under the task's symmetries. The model *learned* is `nn.Embedding`, a trained vector per number. \
A recipe is a set of hyperparameters, with a [body and a view](bodies-and-views.md). The body is the network, and the \
view is the numbers in which it reads an example. The recipe *searched compact* is `compact` with the best of four \
trials per embedding.

<!-- table: adelic report --results-dir experiments/results/table --row {row} --markdown --table models -->
<!-- end of table -->
"""
OF_THE_PACKAGE = {"arithmetic": arithmetic.show, "columns": columns.show}
"""Tables of plans that `adelic_lab` makes; those whose marks name neither plan nor results, tests compare."""
MARKED = re.compile(r"(<!-- table: ([^>]+) -->\n).*?(<!-- end of table -->)", flags=re.DOTALL)


def main(*, check: Flag = False) -> bool:
    """Write the pages, or check them.

    Args:
        check: write nothing, and say which pages are not up to date.
    """
    os.chdir(common.ROOT)  # the commands name folders of results
    results = read(Path("experiments", "results", "table"))
    wanted: dict[Path, str] = {} if check else drawings(results)
    wanted[common.DOCS / "table.csv"] = single_runs(results).to_csv()
    wanted |= {page: MARKED.sub(filled, text) for page, text in pages(results).items()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in () if check else stale:
        path.write_text(wanted[path], encoding="utf-8")
    if stale:
        said = "not up to date" if check else "brought up to date"
        sys.stdout.write(f"{said}: {', '.join(path.name for path in stale)}\n")
    return not (check and stale)


def pages(results: list[Result]) -> dict[Path, str]:
    """Return all pages with their texts; of a dataset that has none a new one, whose tables are empty."""
    new = {PAGES / f"{row}.md": row_page(row) for row in sorted({result.row for result in results})}
    every = (common.ROOT / "README.md", *sorted(common.DOCS.glob("*.md")), *sorted(common.DOCS.glob("*/*.md")))
    return new | {page: page.read_text(encoding="utf-8") for page in every}


def row_page(row: str) -> str:
    """Return the page of a dataset, its tables empty.

    >>> row_page("schubert-4").splitlines()[2].partition(" Each table")[0]
    'The Schubert structure constant of three permutations.'
    """
    title = TASKS[split_row(row)[0]].title
    return ROW_PAGE.format(row=row, task=title[0].upper() + title[1:] + ("" if title.endswith("?") else "."))


def drawings(results: list[Result]) -> dict[Path, str]:
    """Return the figures of docs/results, drawn anew."""
    drawn = figures(results)
    for path in PAGES.glob("*.svg"):
        if path.name not in drawn:
            raise ConfigurationError(f"{path}: no such figure; there are {', '.join(drawn)}")
    return {path: drawn[path.name] for path in sorted(PAGES.glob("*.svg"))}


def filled(match: re.Match[str]) -> str:
    """Return a table between its marks, as it stands there if it is not made here."""
    made = made_from(match[2], *shlex.split(match[2]))
    return match[0] if made is None else f"{match[1]}{made.strip()}\n{match[3]}"


def made_from(name: str, first: str, *words: str) -> str | None:
    """Return the table of a mark; None if others make it."""
    if first == "adelic":
        return printed(words)
    if first == "excerpt":
        benchmark, plan, folder, *chosen = words
        return excerpt(benchmark_text(benchmark, plan, folder), *chosen)
    if first in OF_THE_PACKAGE and words:
        return benchmark_text(first, *words)
    if name == "searches":
        return importlib.import_module("arithmetic_searches").table()
    if name == "text_word_problems":
        script = importlib.import_module(name)
        tables = script.tables_of(common.read(script.FOLDER))
        return "\n".join(one.to_markdown().partition("\n\n")[2] for one in tables)
    if name in OF_SPEEDS:
        return OF_SPEEDS[name]()
    if name in TABLES:
        results = common.loaded(name)
        command, machine, commit, versions = origin(results)
        at = f" at commit {commit}" if results.get("commit") else ""
        return f"{TABLES[name](results)}\n\n{command} on {machine}{at}; {versions}."
    if re.fullmatch(r"\w+", name) and name not in OF_THE_PACKAGE:
        raise ConfigurationError(f"there is no table {name!r}; known: {', '.join((*OF_SPEEDS, *TABLES))}")
    return None


@cache
def benchmark_text(benchmark: str, plan: str, folder: str) -> str:
    """Return the tables and notes of a plan, one of the package or a file, from its folder of results."""
    return OF_THE_PACKAGE[benchmark](gather(read_plan(plan, benchmark), Path(folder))).text


def excerpt(text: str, columns: str, *lines: str) -> str:
    r"""Return a table of some columns and lines of the tables in a text, in this order.

    Args:
        text: with tables in Markdown; lines of several tables that match the same pattern are joined.
        columns: their names, separated by semicolons, each with a title after " as "; solvers have titles without it.
        lines: a pattern for each line, of its cells with bars between them.

    >>> text = "| model | a | b |\n|---|---:|---:|\n| fone | 1 | 2 |\n| xval | 3 | 4 |"
    >>> print(excerpt(text, "model; b as B", "xval | *"))
    | model | B |
    |---|---:|
    | xval | 4 |
    """
    titles = {
        name: title or TITLES.get(name, name) for name, _, title in (c.partition(" as ") for c in columns.split("; "))
    }
    head: list[str] = []
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        head = head if head and cells else cells
        for pattern in lines:
            if fnmatchcase(" | ".join(cells), pattern):
                found[pattern] = dict(zip(head, cells, strict=True)) | found.get(pattern, {})
    if missing := [pattern for pattern in lines if pattern not in found]:
        raise ConfigurationError(f"no table has a line {missing[0]!r}")
    return table([*titles.values()], [[found[pattern].get(name, "") for name in titles] for pattern in lines])


@cache
def read(folder: Path) -> list[Result]:
    """Return the results in a folder, which many tables are made of."""
    return adelic_lab.read_results(folder)


def printed(words: Sequence[str]) -> str:
    """Return what a command prints."""
    _, bound, _ = app().parse_args(words, exit_on_error=False, print_error=False, help_on_error=False)
    bound.apply_defaults()
    given = bound.arguments
    if not given["markdown"]:
        raise ConfigurationError(f"adelic {shlex.join(words)}: it prints no table in Markdown")
    return in_markdown(read(given["results_dir"]), given["chosen"], row=given["row"], all_rows=given["all_rows"])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, the first column to the left, the others to the right.

    >>> print(table(["what", "ns"], [["a", "1"]]))
    | what | ns |
    |---|---:|
    | a | 1 |
    """
    return Table.of(tuple(head), tuple(map(tuple, rows))).to_markdown().rstrip()


def short(value: float) -> str:
    """Return a number with two decimals, from 10 on with none."""
    return f"{value:,.{2 if value < 10 else 0}f}"


def numbers_speed() -> str:
    """Return how many times as fast as something else arrays are computed with, by the instructions compiled for."""
    lines: dict[str, dict[str, list[str]]] = {}

    def add(
        task: str, other: str, kind: str, ratios: Sequence[float | None], target: float | None = None, spread: str = ""
    ) -> None:
        cells = [marked(ratio, target) + spread if ratio else "–" for ratio in ratios]
        lines.setdefault(f"{task}, against {other}", {})[kind] = [*cells, f"{target:g}" if target else "–"]

    for part, task, versus in (
        ("memory", "to float32", "filling the array"),
        ("libraries", "digits", ""),
        ("operations", "", "adding without carries"),
    ):
        native = common.loaded(f"encode_{part}")
        narrow = {} if part == "operations" else common.loaded(f"encode_{part}_avx2")["ratios"]
        for name, ratio in native["ratios"].items():
            kind, _, other = name.partition(", ")
            named = task or other
            named += f", {other}" if versus and task and other else ""
            add(named, versus or NAMES.get(other, other), kind, (ratio, narrow.get(name)), native["targets"].get(name))
    residues = common.loaded("encode_residues")["ratios"]
    for other in ("numpy", "galois"):
        found = [ratio for name, ratio in residues.items() if name.endswith(other)]
        add("+ and *, one digit", NAMES.get(other, other), "integers", (min(found), None), 1, f"–{short(max(found))}")
    decode = common.loaded("decode")
    for with_collector, words in (("", ""), ("_with_garbage_collector", ", Python's garbage collector on")):
        spread = " ({:.1f}–{:.1f})".format(*decode[f"range{with_collector}"])
        target = None if with_collector else decode["target_ratio"]
        add(f"`decode()`{words}", "gmpy2", "rationals", (decode[f"ratio{with_collector}"], None), target, spread)
    kinds = ("integers", "rationals")
    rows = [
        [name, *(cells.get(kind, ["–"] * 3)[i] for i in range(3) for kind in kinds)] for name, cells in lines.items()
    ]
    head = [f"{kind}{note}" for note in ("", ", AVX2 alone", ": target") for kind in kinds]
    return table(["task", *head], rows)


def padic_speed() -> str:
    """Return how many times as fast as FLINT arrays of p-adic numbers are."""
    rows = [
        [e["task"], f"{e['digits']}", marked(1 / e["ratio"], 1 / e["target"]), f"{1 / e['target']:g}"]
        for e in common.loaded("local_functions")["entries"]
        if e["size"] > 1
    ]
    return table(["function", "digits", "speed", "target"], rows)


NAMES = {"numpy": "NumPy", "flint": "python-flint", "pari": "PARI"}
"""Libraries as they write themselves, by their names in the results."""


def marked(ratio: float, target: float | None) -> str:
    r"""Return a speed, with a sign if it is below its target.

    >>> marked(6.634, 10), marked(13.2, 10), marked(0.4, None)
    ('6.63\xa0▼', '13', '0.40')
    """
    return short(ratio) + ("\u00a0▼" if target and ratio < target else "")


def numbers_sizes() -> str:
    """Return the time of a single number by its number of digits."""
    cells: dict[str, dict[int, str]] = {}
    for e in common.loaded("local_functions")["entries"]:
        if e["size"] == 1:
            times = f"{e['ratio']:.1f}{'' if e['met'] else chr(160) + '▼'}"
            cells.setdefault(e["task"], {})[e["digits"]] = f"{time(e['seconds']['adelic'])} ({times})"
    for e in sorted(common.loaded("big_integers")["entries"], key=lambda e: e["task"]):
        cells.setdefault(f"{e['task']}, `{e['type']}`", {})[e["digits"]] = time(e["seconds"])
    sizes = sorted({size for line in cells.values() for size in line})
    lines = [[name, *(line.get(size, "") for size in sizes)] for name, line in cells.items()]
    return table(["time by number of digits", *map("{:,}".format, sizes)], lines)


def time(seconds: float) -> str:
    r"""Return a time with two digits and its unit.

    >>> time(7.127e-05), time(0.0098), time(8.79), time(0.161)
    ('71\xa0µs', '9.8\xa0ms', '8.8\xa0s', '161\xa0ms')
    """
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{scale * seconds:.{1 if scale * seconds < 9.95 else 0}f}\u00a0{unit}"


def numbers_origins() -> str:
    """Return the commands, machines and versions that made the files of numbers."""
    encode = ("encode_libraries", "encode_libraries_avx2", "encode_operations", "encode_residues")
    rows = [[name, *origin(common.loaded(name))] for name in (*encode, "decode", "local_functions", "big_integers")]
    return table(["results", "command", "machine", "commit", "versions"], rows)


def origin(results: dict[str, Any]) -> list[str]:
    """Return a file's command, machine, commit and versions."""
    versions = ", ".join(f"{package} {version}" for package, version in results["versions"].items())
    return [f"`{results['command']}`", results["machine"], (results.get("commit") or "–")[:7], versions]


def training_speed() -> str:
    """Return how many times as fast as the stock loop training is, by length, and the cost of AOE in a step."""
    lines: dict[int, dict[str, str]] = {}
    rates = common.loaded("training_products_avx2")["gigaflops"]
    for kind, name in (("AVX-512", "training_throughput"), ("AVX2", "training_throughput_avx2")):
        results = common.loaded(name)
        for e in results["entries"]:
            line = lines.setdefault(e["length"], {})
            tokens = e["tokens_per_second"]
            line |= {f"{side}, {kind}": marked(ratio, results["target"]) for side, ratio in e["ratios"].items()}
            if kind == "AVX-512":
                line["stock, tokens/s"] = f"{tokens['stock']:,.0f}"
            else:
                most = results["threads"] / products_seconds(rates, e["length"])
                line["AVX2, products alone"] = short(most / tokens["stock"])
    for e in common.loaded("training_embedding")["entries"]:
        cost = "{mean:.3f} ({interval[0]:.3f}–{interval[1]:.3f})".format_map(e)
        lines.setdefault(e["length"], {})["AOE / learned, time of a step"] = cost
    head = ("stock, tokens/s", "float32, AVX-512", "bfloat16, AVX-512", "float32, AVX2", "AVX2, products alone")
    head += ("AOE / learned, time of a step",)
    rows = [[str(length), *(line.get(name, "") for name in head)] for length, line in sorted(lines.items())]
    return table(["length", *head], rows)


def products_seconds(rates: dict[str, dict[str, float]], length: int) -> float:
    """Return the seconds per token, on one core, of the products of our step, forwards and backwards.

    Args:
        rates: 10^9 operations per second, by layer; `ours` counts.
        length: numbers in an example. The last of six layers computes [CLS] alone, and keys and values of the others.

    >>> rates = {name: {"ours": 1.0} for name in importlib.import_module("training").LAYERS}
    >>> round(products_seconds(rates, 1_000_000) * 1e9 / (6 * 128**2 * (5 * 12 + 2)), 3)
    1.0
    """
    layers = importlib.import_module("training").LAYERS
    whole = {name: 6 * n * m / rates[name]["ours"] / 1e9 for name, (n, m) in layers.items()}
    first, *others = whole.values()
    return 5 * sum(whole.values()) + 2 / 3 * first + (first / 3 + sum(others)) / (length + 1)


def training_products() -> str:
    """Return the speed of a layer's products, torch's and ours, by the instructions of the processor."""
    both = [common.loaded(name)["gigaflops"] for name in ("training_products", "training_products_avx2")]
    rows = [[layer, *(f"{of[layer][side]:.0f}" for of in both for side in ("torch", "ours"))] for layer in both[0]]
    head = [f"{side}, {kind}" for kind in ("AVX-512", "AVX2") for side in ("torch", "ours")]
    return table(["10^9 operations per second and core, float32", *head], rows)


def compact(results: dict[str, Any]) -> str:
    """Return the candidates for the recipe `compact`, numbers of steps and dropout rates, and the chosen one.

    Each was trained once on three datasets with two embeddings; how to choose was written down before the first run.
    """
    candidates = pd.DataFrame(results["entries"]).groupby(["steps", "dropout"])
    found = {one: (runs["accuracy"].mean(), runs["loss"].mean()) for one, runs in candidates}
    chosen, counts, rows = choose_compact(found), candidates.size(), []
    for one, (accuracy, loss) in found.items():
        mark = "chosen" if one == chosen else ""
        rows.append([f"{one[0]:,}", f"{one[1]:g}", f"{counts[one]}", f"{100 * accuracy:.2f}", f"{loss:.4f}", mark])
    return table(["steps", "dropout", "trainings", "validation accuracy, %, mean", "validation loss, mean", ""], rows)


def choose_compact(means: dict[tuple[int, float], tuple[float, ...]]) -> tuple[int, float]:
    """Return the candidate with the greatest mean accuracy; if some are equal, the one with the lower mean loss.

    A candidate with 1,000 steps is preferred if it is at most half a point below the best.

    Args:
        means: (steps, dropout) -> mean accuracy and mean loss.

    >>> choose_compact({(1000, 0.0): (0.901, 0.3), (1000, 0.1): (0.9, 0.2), (2000, 0.0): (0.905, 0.1)})
    (1000, 0.0)
    """
    # Rounded, so that sums in another order are equal.
    score = {candidate: (round(accuracy, 9), -loss) for candidate, (accuracy, loss) in means.items()}
    best = max(score, key=score.get)
    short = max((candidate for candidate in score if candidate[0] == 1000), key=score.get, default=best)
    return short if round(score[best][0] - score[short][0], 9) <= 0.005 else best


def text_costs_step(results: dict[str, Any]) -> str:
    """Return the time of a training step with numbers as a multiple of that of the plain model."""
    columns = ("equipped", "four operations", "twelve operations", "twelve, 25 digits", "four, all learned")
    rows = []
    for row in results["rows"]:
        ratios = [f"{row['ratios'][column]['step']:.2f}" for column in columns]
        collator = f"{100 * row['ratios']['four operations']['share_of_collator']:.0f} %"
        rows.append([f"{row['model']}: {row['numbers']} numbers", *ratios, collator])
    head = ["texts of 96 tokens", *columns[:-1], "four, all tokens learned", "the batch's share, four"]
    return table(head, rows)


def text_costs_perplexity(results: dict[str, Any]) -> str:
    """Return the perplexity of prose before and after training on arithmetic, from the least to the greatest seed."""
    rows = []
    for kind, runs in pd.DataFrame(results["rows"]).groupby("model", sort=False):
        ends = [f"{runs['perplexity'].min():,.2f}", f"{runs['perplexity'].max():,.2f}"]
        token = runs["probability_of_the_number_token"].max()
        rows.append([kind, " to ".join(dict.fromkeys(ends)), f"{token:.1g}" if token else "–", str(len(runs))])
    return table(["model, after 300 steps", "perplexity of prose", "greatest mean probability of [NUM]", "seeds"], rows)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    made.__name__: made for made in (compact, text_costs_step, text_costs_perplexity)
}
"""What makes each table, by the name of its file of results."""
OF_SPEEDS = {
    made.__name__: made
    for made in (numbers_speed, padic_speed, numbers_sizes, numbers_origins, training_speed, training_products)
}
"""What makes the tables of docs/numbers.md, docs/padic.md and docs/performance.md, of other files."""

if __name__ == "__main__":
    common.run(main)
