import csv
import inspect
import json
import os
import re
import shlex
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from adelic.cli import app
from adelic.data.sources import TableData, TaskData
from adelic.nn import EMBEDDINGS
from adelic.storage.options import options
from adelic_lab import (
    CLASSICAL_MODELS,
    EmbeddingConfig,
    TrainConfig,
    published_rows,
    read_result,
    read_results,
    recipe_names,
)
from adelic_lab.config.names import PACKAGED, SOLVERS, TITLES

QUICK = ["--recipe", "quick", "--epochs", "1", "--n-layers", "1", "--device", "cpu"]
TRAIN = ["train", "schubert", "--n", "3", "--embedding", "learned", *QUICK]


def result_in(folder):
    return json.loads((Path(folder) / "result.json").read_text(encoding="utf-8"))


def test_the_help_names_each_solver_and_its_page_describes_each():
    words = helps_of("train")["solver"]
    assert SOLVERS.keys() <= TITLES.keys()
    page = (Path(__file__).parents[3] / re.search(r"docs/\S+\.md", words)[0]).read_text(encoding="utf-8")
    for name in (name.partition(":")[0] for name in PACKAGED):
        assert f"{name}, " in words or f"{name}. " in words
        assert f"`{name}`" in page


def helps_of(*words):
    """What the help of a command says of each keyword."""
    command = app().parse_commands(words)[1][-1].default_command
    keywords = inspect.signature(command).parameters.values()
    told = {keyword.name: getattr(keyword.annotation, "__metadata__", ()) for keyword in keywords}
    return {name: parameters[-1].help for name, parameters in told.items() if parameters}


def test_every_embedding_and_each_option_of_an_experiment_can_be_given():
    helps = helps_of("train")
    assert all(name in helps["embedding"] for name in EMBEDDINGS)
    for kind in (TaskData, TableData, EmbeddingConfig, TrainConfig):
        for name, option in options(kind).items():
            assert option.help in helps[name]
            assert option.help.endswith((".", "]"))


def test_train_and_again(works):
    out = works(*TRAIN)
    first, second = out.splitlines()
    folder = Path(second.removeprefix("run folder: "))
    assert folder.parent == Path("runs")
    result = result_in(folder)
    test = result["test"]
    rates = [result["majority"], result["lookup"], result["rule"], test["balanced_accuracy"], test["macro_f1"]]
    found = re.findall(r"(?<= )\d+\.\d\d(?= %)", first)
    assert found == [f"{100 * rate:.2f}" for rate in (test["accuracy"], *rates)]
    assert first.startswith("schubert-3 learned: test accuracy ")
    assert f"best baseline ({result['rule_name']}) " in first
    assert f"loss {test['loss']:.4f}, " in first
    assert first.endswith("it predicts one class only") == result["predicts_one_class"]
    before = (folder / "result.json").stat().st_mtime_ns
    assert works(*TRAIN) == out
    assert (folder / "result.json").stat().st_mtime_ns == before


def test_train_in_a_folder(works, refused):
    works(*TRAIN, "--run-dir", "mine")
    assert {path.name for path in Path("mine").iterdir()} == {
        "config.toml", "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE",
    }  # fmt: skip
    line = refused(*TRAIN, "--run-dir", "mine", "--seed", "1")
    assert "mine" in line
    assert "seed is 0 there and 1 here" in line
    assert "--restart" in line
    assert result_in("mine")["seed"] == 0
    works(*TRAIN, "--run-dir", "mine", "--seed", "1", "--restart")
    assert result_in("mine")["seed"] == 1


def repeated(works, *arguments):
    """Return the result of a training whose recorded command makes it once more."""
    works("train", *arguments, *QUICK, "--run-dir", "mine")
    mine = result_in("mine")
    works(*shlex.split(mine["command"])[1:], "--run-dir", "again", "--device", "cpu")
    again = result_in("again")
    assert (again["configuration"], again["test"]) == (mine["configuration"], mine["test"])
    return mine


def test_options_reach_the_run(works):
    data = "weaving --n 5 --edition levels --split orbits --symmetries --seed 4"
    model = "--features one-hot-digits --projection linear --primes 2,3 --precision 3 --fractional-digits 1"
    recipe = "--learning-rate 2e-3 --batch-size 50"
    found = repeated(works, *f"{data} --embedding adelic {model} {recipe}".split())["configuration"]
    assert found["data"] == {"task": "weaving", "n": 5, "edition": "levels", "split": "orbits"}
    space = {"primes": [2, 3], "precision": 3, "fractional_digits": 1}
    assert found["embedding"] == {"name": "adelic", "features": "one-hot-digits", "projection": "linear"} | space
    wanted = {"learning_rate": 2e-3, "batch_size": 50, "epochs": 1, "symmetries": True}
    assert found["recipe"].items() >= wanted.items()
    assert found["seed"] == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n", "99"], "schubert --n 99"),
        (["--n", "x"], "--n"),
        (["--n", "3", "--recipe", "paper"], "pass --learning-rate"),
        (["--epochs", "0"], "--epochs 0"),
        (["--learning-rate", "fast"], "--learning-rate"),
        (["--seed", "-1"], "seed"),
        (["--seed", "x"], "--seed"),
        (["--symmetries"], "use --split orbits, or --no-symmetries"),
        (
            ["--embedding", "learned", "--sigma", "0.1"],
            "--sigma belongs to the embeddings 'periodic' and 'union', not to 'learned'",
        ),
        (["--primes", "2,9"], "9 is not a prime"),
        (["--fractional-digits", "16"], "--fractional-digits 16"),
        (["--primes", "2,3,5,7,11,13,17,19,23,29,31", "--features", "one-hot-digits"], "projection"),
        (["--device", "potato"], "device"),
        (["--run-dir", "file/run"], "file/run"),
        (["--run-dir", "a" * 300], "too long"),
        (["--sed", "3"], "--seed"),
        (["more"], "more"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_errors_of_training(refused, folder, arguments, words):
    (folder / "file").write_text("")
    rest = [] if "--n" in arguments else ["--n", "3"]
    rest += [] if "--recipe" in arguments else ["--recipe", "quick"]
    rest += [] if "--epochs" in arguments else ["--epochs", "1"]
    assert words in refused("train", "schubert", *rest, *arguments)


@pytest.mark.parametrize(
    ("task", "n", "words"),
    [
        ("kl", 3, ("exact match", "baseline", "balanced", "macro-F1")),
        ("rsk", 4, ("exact match", "majority class")),
        ("characters", 5, ("exact match", "mean absolute error", "mean squared error", "baseline")),
    ],
)
def test_several_targets_and_numbers(works, task, n, words):
    out = works("train", task, "--n", n, "--embedding", "learned", "--max-rows", 16, *QUICK)
    assert all(word in out for word in (*words, f"{task}-{n} learned: test", "trained on 16 examples"))
    assert works("train", task, "--n", n, "--embedding", "learned", "--max-rows", 16, *QUICK) == out
    (label,) = (path.name for path in Path("runs").iterdir())
    assert "exact match" in works("runs", "show", label)


def test_divergence_is_one_clear_line(adelic):
    outcome = adelic(*TRAIN[:-4], "--epochs", "3", "--learning-rate", "1e30", "--device", "cpu")
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("adelic: ")]
    assert (outcome.status, "lower --learning-rate" in line, "Traceback" in outcome.err) == (2, True, False)


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("arguments", "signum", "words"),
    [
        (["train", "schubert", "--n", "3", "--embedding", "learned", "--run-dir", "runs/one"], signal.SIGINT, ""),
        (["reproduce", "schubert-4", "--embeddings", "learned"], signal.SIGTERM, "run 1 of 1: "),
    ],
    ids=["train, Ctrl-C", "reproduce, SIGTERM"],
)
def test_a_stopped_command_says_how_to_go_on(adelic, folder, raising, monkeypatch, arguments, signum, words):
    """Inside the first epoch of a run that would take days."""

    @contextmanager
    def stopping(title, **options):
        yield raising(3, signum)

    monkeypatch.setattr("adelic_lab.cli.experiments.progress_bar", stopping)
    monkeypatch.setattr("adelic_lab.cli.reproduce.progress_bar", stopping)
    outcome = adelic(*arguments, "--recipe", "quick", "--epochs", "100000", "--batch-size", "8", "--device", "cpu")
    assert outcome.status == 128 + signum, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("adelic: ")]
    assert "the same command goes on from there" in line
    assert words in line
    (run_folder,) = folder.glob("runs/*")
    names = {path.name for path in run_folder.iterdir()}
    assert {"config.toml", "checkpoint.safetensors"} <= names
    assert not names & {"DONE", "result.json"}


def test_dry_run(works, folder):
    out = works("reproduce", "schubert-4", "weaving-6", "--seeds", "0-2", "--recipe", "quick", "--dry-run")
    lines = out.splitlines()
    assert len(lines) == len(set(lines)) == 12
    assert lines[0] == (
        "adelic train schubert --n 4 --embedding adelic --features digits --recipe quick --epochs 30 --seed 0"
    )
    assert list(folder.iterdir()) == []
    everything = works("reproduce", "--dry-run").splitlines()
    assert all(line.startswith("adelic train ") for line in everything)
    assert any("--n 10" in line for line in everything)


def test_models_outside_the_transformer(works, folder):
    command = ["reproduce", "schubert-4", "--models", "majority,logistic", "--trials", "2", "--max-rows", "200"]
    assert works(*command, "--seeds", "0,1", "--dry-run").splitlines() == [
        f"adelic reproduce schubert-4 --models {name} --trials {trials} --max-rows 200 --seeds {seed}"
        for name, trials in (("majority", 1), ("logistic", 2))
        for seed in (0, 1)
    ]
    assert list(folder.iterdir()) == []
    out = works(*command)
    assert "majority class" in out
    assert "logistic" in out
    assert "AOE (" not in out
    assert works(*command) == "2 of 2 runs have a result in results and are not repeated.\n" + out
    assert len(read_results(folder / "results")) == 2
    assert {"| search, 1 trial, 200 examples, 1 seed |", "| search, 2 trials, 200 examples, 1 seed |"} <= set(
        re.findall(r"\| search, [^|]* \|", works("report", "--markdown"))
    )
    repeated = read_results(folder / "results")[0].command
    works(*shlex.split(repeated)[1:], "--results-dir", "again", "--runs-dir", "anew")
    again, first = (read_results(folder / name)[0] for name in ("again", "results"))
    assert (again.test, again.configuration) == (first.test, first.configuration)
    listed = json.loads(works("runs", "list", "--json"))
    runs = [(run["embedding"], run["state"]) for run in listed if run["kind"] == "run"]
    assert runs == [("logistic", "finished"), ("majority", "finished")]
    assert [(entry["state"], entry["trials"]) for entry in listed[2:]] == [("finished", 2), ("finished", 1)]


def test_both_kinds_of_models_in_one_matrix(works):
    command = ["reproduce", "schubert-4", "--models", "trees", "--recipe", "quick", "--dry-run"]
    assert len(works(*command).splitlines()) == 1
    kinds = [line.split()[1] for line in works(*command, "--embeddings", "adelic,learned").splitlines()]
    assert kinds == ["reproduce", "train", "train"]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory, adelic):
    """A real, small matrix: one row, one embedding, two seeds, one epoch, one layer."""
    folder = tmp_path_factory.mktemp("reproduced")
    command = ["reproduce", "schubert-4", "--embeddings", "learned", "--seeds", "0,1", *QUICK]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = adelic(*command)
    assert done.status == 0, done.out
    for seed, line in enumerate(done.err.splitlines()):  # one each epoch, without a terminal
        shown = f"[{seed + 1}/2] schubert-4 learned seed {seed} · epoch 1/1, validation "
        (path,) = folder.glob(f"runs/*-seed{seed}-*/metrics.jsonl")
        assert line == shown + f"{100 * json.loads(path.read_text())['validation']['accuracy']:.2f} %"
    return folder, command, done.out


def test_reproduce(reproduced, works, monkeypatch):
    folder, command, out = reproduced
    results = read_results(folder / "results")
    assert [(r.row, r.embedding, r.seed) for r in results] == [("schubert-4", "learned", seed) for seed in (0, 1)]
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json*")}
    assert len(before) == 5  # a result and metrics of each run, and the file of the row
    assert works(*command) == "2 of 2 runs have a result in results and are not repeated.\n" + out
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.json*")} == before


def test_report(reproduced, works, folder):
    results = reproduced[0] / "results"
    out = works("report", "--results-dir", results, "--output", "pages/page.html")
    assert [line for line in out.splitlines() if line.startswith("wrote ")] == [
        f"wrote pages/page{suffix}" for suffix in (".html", ".csv", ".md", "-tables.md")
    ]
    rows = list(csv.reader((folder / "pages" / "page.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2
    page = (folder / "pages" / "page.html").read_text(encoding="utf-8")
    markdown = (folder / "pages" / "page.md").read_text(encoding="utf-8")
    shown = re.sub("<[^>]*>", "", page.replace("</td>", "\n").replace("<td", "\n<td"))
    for cell in rows[1]:
        assert all(word in out for word in cell.split())  # the terminal's table breaks lines between words
        assert f"\n{cell}\n" in shown
        assert cell in markdown
    figures = [r.test["accuracy"] for r in read_results(results)]
    low, high = sorted(100 * figure for figure in figures)
    assert rows[1][6] == f"{(low + high) / 2:.2f} [{low:.2f}, {high:.2f}]"
    assert works("report", "--results-dir", results, "--markdown") == markdown
    overview = works("report", "--results-dir", results, "--markdown", "--table", "overview")
    assert overview.startswith("## Every dataset\n")
    tables = (folder / "pages" / "page-tables.md").read_text(encoding="utf-8")
    alone, _, note = overview.partition("\n- † ")  # a mark is explained once, at the end
    assert tables.startswith(alone)
    assert tables.rstrip().endswith(note.rstrip())


def test_report_shows_what_train_has_left(works):
    works(*TRAIN)
    trained, made = "| schubert-3 (published) | learned", "| schubert-4 (published) | learned"
    assert trained in works("report", "--markdown")
    works("reproduce", "schubert-4", "--embeddings", "learned", "--max-rows", "64", "--seeds", "0", *QUICK)
    both = works("report", "--markdown")
    assert (both.count(trained), both.count(made)) == (1, 1)  # each run once
    for option in ("--runs-dir", "--results-dir"):
        assert works("report", option, "runs", "--markdown") == both
        assert trained in works("report", option, next(Path("runs").glob("schubert-3-*")), "--markdown")
    assert "schubert-3" not in works("report", "--results-dir", "results", "--markdown")


@pytest.mark.filterwarnings("default:.*is left out:UserWarning")
def test_a_damaged_run_is_left_out_of_a_report_and_named(works, adelic, folder):
    works(*TRAIN)
    works(*TRAIN, "--seed", "1")
    damaged, _ = sorted((folder / "runs").iterdir())
    (damaged / "result.json").write_text("{", encoding="utf-8")
    outcome = adelic("report", "--markdown")
    assert (outcome.status, outcome.out.count("| schubert-3 (published) | learned")) == (0, 1)
    assert f"warning: {Path('runs') / damaged.name} is left out: " in outcome.err


def test_a_report_of_nothing_says_where_results_are(refused, folder):
    assert "no results in results and runs; `adelic train` and `adelic reproduce` make some" in refused("report")
    (folder / "results" / "table").mkdir(parents=True)
    (folder / "results" / "table" / "schubert-3.jsonl").write_text("", encoding="utf-8")
    assert f"--results-dir {Path('results/table')} has some" in refused("report")
    assert "no results in results/table;" in refused("report", "--results-dir", "results/table")


def test_report_of_all_rows(reproduced, works, folder):
    out = works("report", "--results-dir", reproduced[0] / "results", "--all-rows", "--markdown")
    for row in published_rows():
        assert f"| {row} (published) |" in out
    assert out.count("not run") == 25
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report"], "results"),
        (["report", "--results-dir", "missing"], "missing"),
        (["report", "--results-dir", "odd/odd.json"], "odd.json"),
        (["report", "--results-dir", "odd"], "odd.json"),
        (["report", "--results-dir", "a" * 300], "too long"),
        (["report", "--results-dir", "odd", "--table", "loss"], "--table belongs to --markdown"),
        (["reproduce", "nothing-4"], "unknown dataset"),
        (["reproduce", "--seeds", "0", "number-theory"], "number-theory comes first"),
        (["reproduce", "schubert-4", "--recipe", ""], "--recipe: the text is empty; write one, or leave the option"),
        (["train", "schubert", "--n", "3", "--embedding", ""], "--embedding: the text is empty"),
        (["train", "schubert", "--n", "abc"], "--n 'abc' must be a whole number"),
        (["train", "schubert", "--n", "3", "--node-rank", "-1"], "--node-rank -1 must lie from 0"),
        (["train", "schubert", "--n", "3", "--n-layers", "99", "--d-model", "65536"], "--n-layers 99, --d-model 65536"),
        (["train", "gcd", "--task-options", "limit"], "--task-options 'limit' must be NAME=VALUE"),
        (["reproduce", "schubert-4", "--workers", "0", "--dry-run"], "--workers 0 must be a whole number from 1"),
        (["reproduce", "schubert-4", "--address", "x", "--dry-run"], "belong to --engine ray"),
        (["reproduce", "schubert-4", "--report", "x", "--dry-run"], "that ends in .html"),
        (["reproduce", "schubert-4", "--report", "odd/odd.json/x.html"], "cannot write odd/odd.json/x.html: "),
        (["reproduce", "schubert-4", "--results-dir", "odd/odd.json", "--dry-run"], "choose another --results-dir"),
        (["reproduce", "schubert-4", "--runs-dir", "odd/odd.json/x"], "choose another --runs-dir"),
        (["reproduce", "arithmetic", "--report", "odd/odd.json", "--dry-run"], "choose another --report"),
        (["reproduce", "schubert-4", "--seeds", "a"], "'a' is not an integer"),
        (["reproduce", "schubert-4", "--seeds", "-1", "--dry-run"], "--seeds -1 must be a whole number from 0"),
        (["reproduce", "arithmetic", "--examples", "0", "--dry-run"], "--examples 0 must be a whole number from 1"),
        (["reproduce", "schubert-4", "--embeddings", ",", "--dry-run"], "embedding"),
        (["reproduce", "schubert-4", "--epochs", "-1"], "--epochs -1"),
        (["reproduce", "schubert-4", "--recipe", "quick", "--device", "potato"], "device"),
        (["reproduce", "schubert-4", "--recipe", "quick", "--report", "odd.html"], "odd.html: it is a folder"),
        (["reproduce", "schubert-4", "--models", "tree"], "did you mean 'trees'"),
        (["reproduce", "schubert-4", "--models", "mlp", "--n-layers", "3"], "--n-layers is for networks"),
        (["reproduce", "schubert-4", "--trials", "3"], "--trials belongs to --models"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_errors_of_reproduce_and_report(refused, folder, arguments, words):
    (folder / "odd").mkdir()
    (folder / "odd" / "odd.json").write_text("{}")
    (folder / "odd.html").mkdir()
    assert words in refused(*arguments)


@pytest.mark.parametrize("output", ["", "/", "file/page.html", "folder.html", "page.csv"])
def test_a_report_that_cannot_be_written(refused, folder, output):
    (folder / "file").write_text("")
    (folder / "folder.html").mkdir()
    (folder / "results").mkdir()
    assert refused("report", "--output", output)


@pytest.mark.long
def test_a_drawn_task_proposes_its_primes_and_digits(works, tmp_path):
    size = {"examples": 40, "test-cases": 20, "never-seen-cases": 20, "epochs": 1, "d-model": 8, "n-layers": 1}
    few = ["--task-options", "max_prime=5", "--embedding", "adelic", "--device", "cpu"]
    few += [word for name, value in size.items() for word in (f"--{name}", value)]
    text = works("train", "conic", *few, "--places", "agree", "--run-dir", tmp_path / "a")
    assert "AOE has the primes and digits that conic asks for, 2:5, 3:2, 5:2; --primes and --precision name" in text
    assert "--primes 2,3,5 --precision 2:5,3:2,5:2" in (tmp_path / "a" / "result.json").read_text(encoding="utf-8")
    text = works("train", "conic", *few, "--primes", "2,3", "--precision", 2, "--run-dir", tmp_path / "b")
    assert "asks for" not in text


def test_a_solver_that_cannot_be_imported_leaves_nothing_behind(refused):
    given = ("--examples", 100, "--solver", "adelic.nothing:y", "--run-dir", "mine")
    assert "cannot be imported" in refused("train", "gcd", *given)
    assert not Path("mine").exists()


def test_a_recipes_bfloat16_on_a_processor_without_it(works, tmp_path, monkeypatch):
    monkeypatch.setattr("adelic_lab.train.loop.is_quick", lambda compute, _: compute == "float32")
    folder = tmp_path / "run"
    arguments = ("train", "schubert", "--n", 3, "--recipe", "compact", "--epochs", 1, "--d-model", 16)
    out = works(*arguments, "--device", "cpu", "--run-dir", folder)
    assert "products were in float32, as the processor has no instructions for bfloat16" in out
    assert read_result(folder).compute == "float32"


def test_help_says_every_name_and_a_field_says_it_once():
    """Fields describe options: also those of names, and those that several commands have."""
    paths = (("train",), ("tune",), ("reproduce",), ("data", "build"), ("data", "audit"), ("data", "export"))
    helps = {path: helps_of(*path) for path in paths}
    assert all(name in helps["train",]["model"] for name in CLASSICAL_MODELS)
    assert all(name in helps["train",]["recipe"] for name in recipe_names())
    for name in ("seed", "runs_dir", "embedding", "recipe", "solver", "steps", "trials"):
        assert len({told[name] for told in helps.values() if name in told}) == 1
    assert helps["train",]["model"] == helps["reproduce",]["models"]
    for name in ("edition", "split"):
        assert helps["reproduce",][name] == helps["data", "build"][name]


def test_rows_that_the_paper_lacks_have_a_recipe(works):
    works("train", "schubert", "--n", 3, "--epochs", 1, "--n-layers", 1, "--device", "cpu", "--run-dir", "run")
    assert "--recipe compact" in result_in("run")["command"]
