"""The pages under docs/ keep their promises: figures come from committed results, commands exist."""

import contextlib
import doctest
import importlib
import io
import itertools
import json
import re
import shlex
import shutil
import tomllib
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from cyclopts.exceptions import CycloptsError

from adelic import acd
from adelic.cli import app
from adelic.data.registry import drawn_tasks
from adelic.data.sources import DrawnData
from adelic_lab import Experiment, published_rows
from adelic_lab.plans import gather, read_plan
from adelic_lab.report import arithmetic
from adelic_lab.runs.judging import development

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name not in ("reference", "results")),
]


def pages(**marked):
    """Return all pages as parameters, those with these names under the mark that they stand behind."""
    return [
        pytest.param(
            page, id=page.name, marks=[getattr(pytest.mark, mark) for mark in marked if page.stem in marked[mark]]
        )
        for page in PAGES
    ]


AUDIT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
RESULTS_OF = ROOT / "experiments" / "results"
RESULTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS_OF / "audit").glob("*.json"))
}


def test_every_task_edition_and_split_is_audited():
    found = {(a["task"], a["edition"], a["split"]) for a in RESULTS.values()}
    assert found == {
        (task.name, edition, split)
        for task in acd.TASKS.values()
        for edition in task.editions
        for split in ("published", *(["orbits"] if task.symmetries else []))
    }
    assert all(not a["commit"].endswith("+") for a in RESULTS.values())


def test_no_audited_orbits_overlap():
    """Whole orbits lie in one part: no image crosses over."""
    for a in RESULTS.values():
        if a["split"] == "orbits":
            assert {part["rows"] for parts in a["overlap"].values() for part in parts.values()} == {0}
            assert set(a["symmetries"].values()) == {0.0}


def sections():
    """Return the sections of docs/audit.md that name a task: (task, text)."""
    parts = re.split(r"^## .*\(`(\w+)`\)$", AUDIT, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_every_task_has_its_section():
    assert {task for task, _ in sections()} == set(acd.TASKS)


@pytest.mark.parametrize(("task", "text"), sections())
def test_every_percentage_is_a_measured_or_a_published_one(task, text):
    measured = {
        f"{100 * value:.1f}"
        for a in RESULTS.values()
        if a["task"] == task
        for value in [
            *(figure for f in a["findings"] for figure in (f["test"], f["everywhere"]) if figure is not None),
            *a["symmetries"].values(),
            *(part["share"] for parts in a["overlap"].values() for part in parts.values()),
            *a["lookup"].values(),
        ]
    }
    if task == "lattice":
        covers = json.loads((RESULTS_OF / "lattice_covers.json").read_text(encoding="utf-8"))
        measured |= {f"{100 * value:.1f}" for of_size in covers["sizes"].values() for value in of_size.values()}
    if task == "characters":
        found = json.loads((RESULTS_OF / "character_completion.json").read_text(encoding="utf-8"))
        measured |= {f"{100 * run['exact_match']:.1f}" for run in found["runs"]}
        rules = json.loads((RESULTS_OF / "character_rules.json").read_text(encoding="utf-8"))
        measured |= {f"{100 * run['by_residues']['exact']:.1f}" for run in rules["runs"]}
    figures = ("paper_aoe", "paper_baseline", "acd_logistic_regression", "acd_mlp", "acd_transformer")
    published = {
        f"{row.figures[figure].accuracy:.1f}"
        for row in published_rows().values()
        if row.task == task
        for figure in figures
    }
    for sentence in re.split(r"(?<=[.;:])\s", text.replace("\n", " ")):
        percentages = re.findall(r"(\d+\.\d)(?= %| and| to|,| or)", sentence) if "%" in sentence else []
        known = measured | (published if "published" in sentence or "paper" in sentence else set())
        assert set(percentages) <= known, sentence


def test_the_commands_are_there(works):
    found = re.findall(r"`adelic ([^`]+)`", "\n".join(page.read_text(encoding="utf-8") for page in PAGES))
    named = [shlex.split(command) for command in found]
    paths = {tuple(words[: 2 if words[0] == "data" else not words[0].startswith("-")]) for words in named}
    assert len(paths) > 10
    for path in paths:
        assert works(*path, "--help"), path


@pytest.mark.long
def test_the_tables_are_made_from_the_committed_results(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)  # the script goes there
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    assert importlib.import_module("tables").main(check=True), capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "plan", "results"),
    [
        ("arithmetic", "full", "arithmetic"),
        ("composition", ROOT / "experiments" / "arithmetic_composition.toml", "composition"),
    ],
)
def test_the_tables_of_a_plan_are_made_from_the_committed_results(name, plan, results):
    """By `adelic reproduce arithmetic`, which writes them."""
    page = (ROOT / "docs" / name / "tables.md").read_text(encoding="utf-8")
    made = arithmetic.show(gather(read_plan(plan, "arithmetic"), RESULTS_OF / results)).text
    assert f"<!-- table: arithmetic -->\n{made}\n<!-- end of table -->" in page
    for figure in re.findall(rf"\]\(({name}/[^)]+)\)", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")):
        assert (ROOT / "docs" / figure).exists()


@pytest.mark.parametrize("name", ["arithmetic", "arithmetic-details", "composition", "composition/tables"])
def test_further_tables_of_plans_and_excerpts_are_made_from_the_committed_results(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    tables = importlib.import_module("tables")
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    shown = [found for found in tables.MARKED.finditer(page) if re.match(r"(excerpt|arithmetic) ", found[2])]
    assert shown
    for found in shown:
        assert tables.filled(found) == found[0]


def test_the_rates_of_the_recipe_fresh_are_those_that_searches_found():
    page = (ROOT / "docs" / "number-theory" / "method.md").read_text(encoding="utf-8")
    files = sorted((RESULTS_OF / "number-theory-rates").glob("*.toml"))
    assert len(re.findall(r"–\d\d\.\d\d \|$", page, flags=re.MULTILINE)) == len(files) == 11
    for file in files:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        rates = [100 * trial["accuracy"] for trial in found["study"]["trials"]]
        assert len(rates) == 8
        best = f"{found['recipe']['learning_rate']:g} | {max(rates):.2f} | {min(rates):.2f}–{max(rates):.2f} |"
        assert best in page
    table = json.loads((RESULTS_OF / "number-theory-rates" / "counting-table.json").read_text(encoding="utf-8"))
    assert f"scores {100 * table['test']['accuracy']:.2f} from as many pairs" in page
    pairs = DrawnData("gcd", 200_000)
    asked = development(Experiment.choose(pairs, recipe="fresh", embedding="xval", seed=100)).y_validation
    assert f"The best constant answer scores {100 * np.bincount(asked).max() / len(asked):.2f} on validation" in page


def blocks(page, language):
    """Yield (line, text) of the code blocks of a page that are written in a language."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        yield text[: found.start(1)].count("\n"), found[1]


def run_program(code, names, where):
    """Run a block and compare what it prints with the comments behind and below its `print(…)`, but for white space."""
    promised = re.findall(r"^ *print\([^#\n]*\)((?:(?: +|\n *)# .*)+)$", code, flags=re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, where, "exec"), names)
    assert printed.getvalue().split() == re.sub(r"\s# ", " ", "".join(promised)).split(), where


# What other libraries say of themselves: x-transformers when imported, torch's ONNX exporter.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning:copyreg")
@pytest.mark.parametrize("page", pages(long=["pytorch", "arithmetic", "tutorial", "sklearn", "transformers"]))
def test_examples_run(page, tmp_path, monkeypatch):
    """Every block, in the page's order and with the names of those before it, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, code in blocks(page, "python"):
        if ">>>" in code:
            example = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            assert not runner.run(example, clear_globs=False).failed
            names = example.globs
        else:
            run_program(code, names, f"{page.name}, line {line}")


def pipelines(page):
    """Yield the lines of a page's shell blocks: the commands of each, as words, and whether they are piped or not."""
    for _, text in blocks(page, "sh"):
        for line in text.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line.replace("$(which adelic)", "adelic"), posix=True, punctuation_chars="|&;")
            lexer.whitespace_split = True
            words = list(lexer)
            ends = itertools.groupby(words, lambda word: word in ("|", "&&", ";"))
            if words:
                yield [list(group) for is_end, group in ends if not is_end]


def shell_commands():
    """Yield the words of each command in the shell blocks of the pages."""
    for page in PAGES:
        for commands_of_line in pipelines(page):
            for words in commands_of_line:
                yield pytest.param(words, id=f"{page.name}: {' '.join(words)}")


@pytest.mark.parametrize("words", list(shell_commands()))
def test_shell_commands_name_what_there_is(words):
    program, *arguments = words
    if program == "torchrun":
        program, *arguments = arguments[arguments.index("--") + 1 :]
    match program:
        case "adelic":
            check_options(arguments)
        case "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8").split()
            assert {f"{target}:" for target in arguments} <= set(makefile)
        case "python":
            assert (ROOT / arguments[0]).exists()
        case "pip":
            for folder, extras in re.findall(r"(\S*)\[(.*?)\]", " ".join(arguments)):
                file = ROOT / ("lab" if folder == "./lab" else "") / "pyproject.toml"
                project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
                assert set(extras.split(",")) <= set(project["optional-dependencies"])
        case _:
            assert program in ("git", "cd", "export")


def check_options(arguments):
    """Check that the command is there, takes these arguments and has these options; run nothing."""
    _, bound, _ = app().parse_args(arguments, exit_on_error=False, print_error=False, help_on_error=False)
    assert not [word for word in bound.args if str(word).startswith("--")]  # of commands that take -3 for a number


def test_options_that_do_not_exist_are_found():
    check_options(["explore", "7/5", "--with", "3/4"])
    for wrong in ("explore 7/5 --beside 3/4", "train schubert --seeds 0-4", "reproduce arithmetic --embeddings adelic"):
        with pytest.raises((CycloptsError, AssertionError)):
            check_options(wrong.split())


SHORTER = {
    "train": ["--epochs", "1", "--max-rows", "64", "--n-layers", "1"],
    "tune": ["--epochs", "1", "--max-rows", "64", "--n-layers", "1"],
    "trials": ["--trials", "2"],
    "reproduce": ["--epochs", "1", "--max-rows", "64", "--n-layers", "1", "--seeds", "0"],
    "models": ["--trials", "1", "--seeds", "0"],
    "solver": ["--steps", "5", "--examples", "100"],
    "drawn": ["--examples", "200", "--test-cases", "50", "--epochs", "1", "--n-layers", "1"],
    "number theory": ["--dry-run"],
    "arithmetic": ["addition", "--solvers", "xval", "--examples", "100", "--workers", "1"],
    "data verify": ["--n", "4"],
    "explore": ["--no-open"],
}
"""What is added to a command here, so that it takes seconds."""
NOT_RUN = {
    "quiver-11": "data sets of gigabytes or minutes",
    "schubert-6": "data sets of gigabytes or minutes",
    "experiments/results/further": "minutes; tests/benchmark/test_further_table.py runs such rows",
    "--n 6 --devices": "several devices",
    "--engine ray": "tests/benchmark/test_engines.py runs it",
    "adelic reproduce schubert-4 weaving-6 --seeds 0-4": "recipe paper; the same rows are run with quick",
    "--device cpu --devices 2": "tests/training/test_distributed.py runs it",
}
"""Part of a command -> why it is not run here."""


def shortened(arguments):
    """Return a command's words with those that make it short."""
    line = " ".join(arguments)
    kinds = [name for name in SHORTER if line.startswith(name)]
    if "--models" in line:
        kinds = ["models"]
    elif "parity:Parity" in line:  # this one takes a second, and warns of fewer examples
        kinds = []
    elif "--solver " in line:
        kinds = ["solver"]
    elif arguments[0] in ("train", "tune") and arguments[1] in drawn_tasks():
        kinds = ["drawn"]
    elif line.startswith(("reproduce number-theory", "reproduce columns")):
        kinds = ["number theory"]
    elif line.startswith("reproduce arithmetic"):
        kinds = ["arithmetic"]
    kinds += ["trials"] if line.startswith("tune ") else []
    return [*arguments, *(word for kind in kinds for word in SHORTER[kind])]


@pytest.mark.parametrize("page", pages(long=["reproduce", "method", "tutorial", "scaling", "rivals"], slow=["results"]))
def test_commands_run_in_a_clean_clone(page, works, tmp_path, monkeypatch):
    """Every `adelic` command of a page works, in the page's order, where nothing but the repository's files is."""
    lines = [
        commands_of_line
        for commands_of_line in pipelines(page)
        if commands_of_line[0][0] == "adelic" and not any(part in " ".join(commands_of_line[0]) for part in NOT_RUN)
    ]
    for folder in ("examples", "experiments") if lines else ():
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda url: True)
    for commands_of_line in lines:
        printed = ""
        for words in commands_of_line:
            printed = works(*shortened(words[1:]), stdin=printed)
        assert printed, commands_of_line
