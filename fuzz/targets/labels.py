"""Runs of hostile names: each has a folder of its own, right in that of the runs, and is listed and reported."""

import csv
import shutil
from pathlib import Path

import adelic_lab
from adelic import AdelicError
from adelic.data.sources import TableData
from adelic_lab.report.files import write_result
from adelic_lab.runs.folders import list_runs, search_files
from adelic_lab.search.dimensions import Search
from targets.case import Case, check_error

PIECES = (
    *("..", ".", "/", "\\", "../../x/y", "/etc/x", "price/kg", "price-kg", "C:", "con", "NUL.txt", "~", "-", "--help"),
    *(
        "a",
        "b c",
        " ",
        "*",
        "?",
        "|",
        "<b>",
        "%s",
        "{x}",
        "$HOME",
        "`id`",
        "\t",
        "\n",
        "\0",
        "\x1b[31m",
        "\x85",
        "\u2028",
    ),
    *("价" * 90, "e\u0301", "é", "\U0001f3f4", "x" * 260, "seed0", "search", "trials.jsonl", "tune", "DONE"),
)
LONGEST = 255  # bytes that file systems take
NOT_IN_NAMES = set('/\\<>:"|?*') | {chr(i) for i in (*range(32), *range(127, 160))}
SUFFIXES = (".jsonl", ".db-journal", "-seed9223372036854775807")


def labels(case: Case) -> None:
    """Train two runs on a table whose columns, or name, are hostile."""
    shutil.rmtree(case.folder / "work", ignore_errors=True)
    runs = case.folder / "work" / "deep" / "runs"
    runs.mkdir(parents=True)
    first = _name(case)
    second = first.replace(case.rng.choice(["/", "\\", "-", ".", ":"]), "-") if case.chance(0.5) else _name(case)
    stem = _name(case).replace("/", "").replace("\0", "") or "x"
    table = runs.parent / f"{stem.encode()[:240].decode(errors='ignore')}.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("number", first, second), *((i, i % 2, i // 2 % 2) for i in range(100))])
    before = _tree(case.folder)
    trained, names = [], set[str]()
    for target in dict.fromkeys((first, second)):
        try:
            config = _config(case, table, target)
            names |= {config.label, config.search_label, config.data.label, _of_study(table, target)}
            for name in (config.label, config.search_label, config.data.label, _of_study(table, target)):
                _check(name)
            trained.append(adelic_lab.run(config, runs / config.label, device="cpu"))
        except AdelicError as error:
            check_error(error)
            case.counts["refused"] += 1
            continue
        write_result(runs.parent / "results", config, trained[-1])
    told = {str(result.configuration) for result in trained}
    assert {str(run.result and run.result.configuration) for run in list_runs(runs)} == told, "a run is not listed"
    assert len(adelic_lab.with_finished_runs([], runs)) == len(trained), "a run is not reported"
    searches = [label for label in search_files(runs) if label in names]
    assert len(searches) == len(trained), "a search is not listed"
    if trained:
        assert len(adelic_lab.read_results(runs.parent / "results")) == len(trained), "a result is not found again"
        assert {path.parent for path in (runs.parent / "results").rglob("*")} == {runs.parent / "results"}
    for path in _tree(case.folder) - before:
        inside = path.relative_to(runs.parent).parts
        assert inside[0] in ("runs", "results") and len(inside) <= 3, f"{path} was written"  # noqa: PT018
        assert len(inside) == 1 or inside[0] == "results" or inside[1] in names, f"{path} was written"
    case.counts["runs"] += len(trained)


def _name(case: Case) -> str:
    return "".join(case.rng.choice(PIECES) for _ in range(case.rng.randint(1, 4)))


def _config(case: Case, table: Path, target: str) -> adelic_lab.Experiment:
    data = TableData(str(table), target, columns=("number",))
    search = adelic_lab.RandomSearch(trials=1)
    return adelic_lab.Experiment(data=data, model=adelic_lab.Classical(name="majority"), recipe=search, seed=0)


def _of_study(table: Path, target: str) -> str:
    """Return the name of a search of a network."""
    data = TableData(str(table), target, columns=("number",))
    recipe = adelic_lab.load_recipe("quick", data.row)
    config = adelic_lab.Experiment(data=data, model=adelic_lab.EmbeddingConfig.of("learned"), recipe=recipe)
    return Search(config=config, dimensions=("norm",)).name


def _check(name: str) -> None:
    """Assert that a name is one of a file, on every system, whatever is put behind it."""
    assert not NOT_IN_NAMES & set(name), f"{name!r} has a character that file names lack"
    assert name[:1] not in ("", ".", "-", " "), f"{name!r} begins like something else"
    assert name == name.rstrip(" ."), f"{name!r} ends in what Windows cuts"
    for suffix in SUFFIXES:
        assert len((name + suffix).encode()) <= LONGEST, f"{name!r} is too long"


def _tree(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))
