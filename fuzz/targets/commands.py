"""Random values for every option of every command: an exit code of 0, 1 or 2, no traceback, a few seconds of work.

The options are those of the commands' signatures. What a command would write goes to names inside the attack's folder,
sizes are the smallest ones or hostile, and what starts other processes, a browser or a network connection is left out.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

from adelic.cli import app
from adelic.cli.options import flags_of
from targets.case import Case
from targets.command_line import HOSTILE, adelic, hostile_text

TASKS = ("schubert", "mheight", "weaving", "lattice", "quiver", "grassmannian", "characters", "kl", "rsk")
NAMES = {
    "task": ("schubert",),
    "edition": ("published", "corrected", "leaky", "levels"),
    "split": ("published", "orbits"),
    "embedding": ("adelic", "learned", "random", "one-hot", "fone", "xval", "periodic", "abacus", "adelic:characters"),
    "embeddings": ("adelic,learned", "adelic:characters:late", "periodic:sigma=0.3", "fone:standardize"),
    "models": ("majority", "lookup", "logistic,trees"),
    "features": ("digits", "standardized", "characters", "one-hot-digits", "valuation-unit"),
    "projection": ("none", "linear"),
    "places": ("flat", "apart", "late"),
    "coordinates": ("all", "real", "p-adic"),
    "bases": ("10", "2-5"),
    "recipe": ("quick", "compact", "paper", "recipes/none.toml", "words.txt"),
    "checkpoint": ("best", "last"),
    "positional": ("embedding", "learned"),
    "pooling": ("cls", "tokens"),
    "compute": ("float32", "bfloat16"),
    "device": ("cpu", "meta", "cuda:99", "xpu"),
    "search": ("learning-rate", "norm,batch-size=8:16", "learning-rate=1e-4:1e-3", "epochs"),
    "pruning": ("median", "hyperband", "none"),
    "rows": ("schubert-3", "schubert-4", "mheight-8", "arithmetic"),
    "floats": ("error", "exact", "shortest", "limit:1000", "limit:0", "limit:x"),
    "operation": ("+", "-", "*", "/"),
    "numbers": ("7/5", "-3", "1.25", "22/19", "10000000000000000000000", "0"),
    "coordinates_of_decode": ("1.4", "?", "2:…011011", "3:…101212", "5:1.2", "7:…254130"),
    "solvers": ("fone", "base-digits:base=1000"),
    "solver": ("fone", "base-digits:base=1000"),
    "task_options": ("limit=5000", "limit=5000,outcomes=uniform"),
    "problems": ("addition", "sum"),
    "row": ("schubert-4", "schubert-3"),
    "labels": ("schubert-3", "0", "latest"),
}
INTEGERS = ("0", "-1", "1", "2", "3", "5", "16", "100000000", "1180591620717411303424", "", "x", "1.5", "nan")
SMALL = ("0", "-1", "1", "2", "x", "")
PATHS = ("words.txt", "none", "folder", "folder/none", "", "z" * 300, "\udcff", "binary", "a\nb", "[bold]", "-")
OUTPUTS = ("out.html", "out.json", "out.png", "out.svg", "out", "folder", "words.txt/x", "", "z" * 300, "new/x/y.html")

LEFT_OUT = frozenset({"engine", "address", "cpus_per_run", "gpus_per_run", "devices", "nodes", "node_rank", "storage"})
"""Options that lead to other processes, machines or data bases."""

# What is put behind the random options, where the last one counts: so that nothing long is started.
LAST = {
    ("train",): ["--max-rows", "16", "--n", "3", "--device", "cpu"],
    ("tune",): ["--max-rows", "16", "--n", "3", "--device", "cpu", "--trials", "1"],
    ("reproduce",): ["--dry-run"],
    ("reproduce", "arithmetic"): ["--dry-run"],
    ("explore",): ["--no-open"],
    ("data", "verify"): ["--n", "3"],
}
HARMLESS_EPOCHS = ("0", "-1", "1", "x", "")


def leaves() -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    """Yield each command with the words that call it."""
    whole = app()
    for name in [name for name in whole if not name.startswith("-")]:
        parser = whole[name]
        within = [((name, inner), parser[inner]) for inner in parser if not inner.startswith("-")]
        for words, each in [((name,), parser), *within]:
            if inspect.isfunction(each.default_command):
                yield words, each.default_command


@cache
def _all() -> tuple[tuple[tuple[str, ...], Callable[..., Any]], ...]:
    return tuple(leaves())


def commands(case: Case) -> None:
    """Run one command with random options."""
    folder = case.folder / "here"
    if not (folder / "folder").is_dir():
        (folder / "folder").mkdir(parents=True)
        (folder / "words.txt").write_text("1\n2\n3/4\nseven\n", encoding="utf-8")
        (folder / "binary").write_bytes(bytes(range(256)))
    words, command = case.rng.choice(_all())
    outcome = adelic(random_arguments(case.rng, words, command), folder, stdin=hostile_text(case.rng))
    case.counts[f"exits with {outcome.status}"] += 1


def random_arguments(rng: Random, words: tuple[str, ...], command: Callable[..., Any]) -> list[str]:
    """Return a command line: the words, random options and arguments, and what keeps the work small."""
    options: list[str] = []
    arguments: list[str] = []
    hostility = rng.choice([0.0, 0.1, 0.5])
    flags = flags_of(command)
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in flags:
            arguments += _argument(rng, words, parameter, hostility)
        elif name not in LEFT_OUT and (name == "n" or parameter.default is parameter.empty or rng.random() < 0.25):
            is_flag = "bool" in repr(parameter.annotation)
            options += [flags[name]] if is_flag else [flags[name], _value(rng, words, parameter, hostility)]
    line = [*options, *LAST.get(words, []), *arguments]
    if rng.random() < 0.05:
        line.insert(rng.randrange(len(line) + 1), rng.choice(["--help", "--nonsense", "-h", "--json"]))
    return [*words, *line]


def _argument(rng: Random, words: tuple[str, ...], parameter: inspect.Parameter, hostility: float) -> list[str]:
    """Return the values of a positional argument."""
    count = rng.randint(0, 3) if parameter.kind is parameter.VAR_POSITIONAL else 1
    name = "coordinates_of_decode" if words == ("decode",) else parameter.name
    return [
        hostile_text(rng) if rng.random() < hostility else rng.choice(NAMES.get(name, HOSTILE)) for _ in range(count)
    ]


def _value(rng: Random, words: tuple[str, ...], option: inspect.Parameter, hostility: float) -> str:
    """Return a value of an option: one that it takes, or a hostile one."""
    name, kind = option.name, repr(option.annotation)
    if "PATH" in kind or name in ("values", "labels", "file"):
        return rng.choice(OUTPUTS if name in ("output", "plot", "csv_file", "page") else PATHS)
    if name in ("epochs", "trials", "workers"):
        return rng.choice(HARMLESS_EPOCHS if name == "epochs" else SMALL)
    if name == "n":
        return rng.choice(["3", "3", "3", "0", "-1", "100000000", "x"] if words[0] != "data" else ["3", "0", "-1", "x"])
    if rng.random() < hostility:
        return hostile_text(rng)
    if name in NAMES:
        return rng.choice(NAMES[name])
    if "INTEGERS" in kind:
        return rng.choice(["2,3,5", "7", "0-2", "2,2", "4", "10007", "2147483647"])
    if "NAMES" in kind or "DURATION" in kind:
        return rng.choice(["25m", "labelling=random", "name=choice", "addition", "1s"])
    return rng.choice(INTEGERS)
