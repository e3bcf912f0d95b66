import io
import json
import os
import shutil
import sys
import time
from pathlib import Path

import click
import numpy as np
import optuna
import pytest
from PIL import Image

from adelic.cli import options
from adelic.data.sources import TaskData
from adelic_lab import Classical, EmbeddingConfig, Experiment, RandomSearch, load_recipe, run

QUICK = ["--recipe", "quick", "--epochs", "2", "--n-layers", "1", "--device", "cpu"]
TRAIN = ["train", "schubert", "--n", "3", "--embedding", "learned", *QUICK]
FEW = [word for kind in ("test", "confirmation", "never-seen") for word in (f"--{kind}-cases", "5")]


def tree():
    return {path: path.read_bytes() for path in sorted(Path("runs").rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two finished runs, one that is not, one that is damaged, and what is not a run."""
    runs = tmp_path_factory.mktemp("trained") / "runs"
    for seed in range(3):
        recipe = load_recipe("quick", "schubert-3", epochs=2, n_layers=1, batch_size=20 if seed == 1 else None)
        config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("learned"), recipe=recipe, seed=seed)
        run(config, runs / f"run-{seed}", device="cpu")
    for name in ("DONE", "result.json"):
        (runs / "run-2" / name).unlink()
    (runs / "broken").mkdir()
    (runs / "broken" / "config.toml").write_text("")
    (runs / "notes").mkdir()
    (runs / "notes" / "notes.txt").write_text("mine")
    return runs


@pytest.fixture
def runs(trained, folder):
    """A copy of them in the working directory."""
    return Path(shutil.copytree(trained, folder / "runs").relative_to(folder))


def table_lines(out):
    return {line.split()[1]: line for line in out.splitlines() if line.startswith("│")}


def test_an_unfinished_solver_has_no_epochs(folder, works):
    works("train", "addition", "--examples", "5", "--solver", "residue-table", "--run-dir", "runs/solver", *FEW)
    for name in ("DONE", "result.json"):
        (folder / "runs" / "solver" / name).unlink()
    assert "epoch" not in works("runs", "list")
    (found,) = json.loads(works("runs", "list", "--json"))
    assert (found["state"], found["epochs"], found["row"]) == ("unfinished", None, "addition-5")


def test_list(runs, works):
    lines = table_lines(works("runs", "list"))
    assert lines.keys() == {"run-0", "run-1", "run-2", "broken"}
    result = json.loads((runs / "run-0" / "result.json").read_text())
    for text in ("schubert-3", "learned", "quick", "finished", f"{result['test']['accuracy']:.2%}", "MB", " s "):
        assert text in lines["run-0"]
    assert "epoch 2 of 2" in lines["run-2"]
    assert "damaged" in lines["broken"]
    found = json.loads(works("runs", "list", "--json"))
    assert [run["label"] for run in found] == ["broken", "run-0", "run-1", "run-2"]
    assert found[1]["accuracy"] == result["test"]["accuracy"]
    assert found[1]["size"] == sum(path.stat().st_size for path in (runs / "run-0").iterdir())


def test_brackets_are_no_markup(runs, works):
    (runs / "run-0").rename(runs / "[bold]x")
    assert "[bold]x" in works("runs", "list")
    assert "[bold]x" in works("runs", "compare", "[bold]x", "run-1")


def test_show(runs, works):
    out = works("runs", "show", "run-0")
    result = json.loads((runs / "run-0" / "result.json").read_text())
    assert out.startswith(f"{Path('runs/run-0')}: finished, ")
    assert f"accuracy {result['test']['accuracy']:.4f}" in out
    curve = result["history"]["validation_accuracy"]
    assert f"{curve[0]:.2%} → {curve[1]:.2%}, best {max(curve):.2%} in epoch {1 + int(np.argmax(curve))}" in out
    assert "recipe.epochs = 2" in out
    assert 'data.task = "schubert"' in out
    shown = json.loads(works("runs", "show", "run-0", "--json"))
    assert shown["result"] == result
    assert [line["epoch"] for line in shown["metrics"]] == [1, 2]
    assert "problem: config.toml is damaged" in works("runs", "show", "broken")
    assert "epoch 2 of 2" in works("runs", "show", runs / "run-2")
    (runs / "run-1" / "result.json").write_text("{}")
    assert works("runs", "show", "run-1").count("--restart") == 1


@pytest.mark.parametrize("suffix", ["png", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("svg", "pdf"))])
def test_plot(runs, works, suffix):
    path = Path("pages", f"curves.{suffix}")
    works("runs", "show", "run-0", "--plot", path)
    content = path.read_bytes()
    if suffix == "png":
        image = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
        assert image.shape[1] > 1000
        assert (image == (0x00, 0x72, 0xB2)).all(axis=-1).sum() > 100  # the curves' colour
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    works("runs", "show", "run-0", "--plot", path)
    assert path.read_bytes() == content


def test_compare(runs, works):
    out = works("runs", "compare", "run-0", "run-1", "run-2", "--plot", "curves.svg")
    lines = table_lines(out)
    assert "recipe.batch_size" in lines
    assert lines["seed"].replace("│", "").split() == ["seed", "0", "1", "2"]
    assert "recipe.epochs" not in lines
    assert "data.task" not in lines
    results = [json.loads((runs / name / "result.json").read_text()) for name in ("run-0", "run-1")]
    for result in results:
        assert f"{result['test']['accuracy']:.2%}" in out
        assert f"{result['test']['loss']:.4f}" in out
    plot = Path("curves.svg").read_text(encoding="utf-8")
    assert all(f">run-{i}<" in plot for i in range(3))


def test_prune_says_and_then_does(runs, works):
    before = tree()
    out = works("runs", "prune")
    assert tree() == before
    assert "would delete checkpoint of runs/run-0 (finished" in out.replace(os.sep, "/")
    assert out.splitlines()[-1].startswith("would delete")
    assert "2 runs" in out
    works("runs", "prune", "--yes")
    gone = {runs / f"run-{i}" / "checkpoint.safetensors" for i in range(2)}
    assert tree() == {path: content for path, content in before.items() if path not in gone}
    assert "test accuracy" in works(*TRAIN, "--seed", "0", "--run-dir", "runs/run-0")
    assert "0 runs" in works("runs", "prune")


def test_prune_files_of_the_future(runs, works):
    """A clock was wrong: they are as old as can be for what may be running, and not old for --older-than."""
    future = time.time() + 1e7
    for path in runs.rglob("*"):
        os.utime(path, (future, future))
    assert "0 runs" in works("runs", "prune", "--older-than", "1")
    works("runs", "prune", "--state", "finished", "--state", "unfinished", "--yes")
    assert not list(runs.rglob("checkpoint.safetensors"))


@pytest.mark.parametrize("command", ["show", "compare", "prune"])
def test_a_name_that_no_file_can_have(runs, refused, command):
    assert "cannot read the run 'xxx" in refused("runs", command, "x" * 300)


def test_control_codes_of_names_are_escaped(runs, works):
    (runs / "run-0").rename(runs / "evil\x1b[31m")
    for command in (["list"], ["show", "evil"], ["compare", "evil", "run-1"], ["prune", "evil"]):
        out = works("runs", *command)
        assert "\x1b" not in out
        assert "evil\\x1b[31m" in out
    works("runs", "show", "evil", "--plot", "evil.svg")
    assert b"evil\\x1b[31m" in Path("evil.svg").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="such names are Linux's")
def test_a_label_that_is_not_utf8(runs, works):
    label = os.fsdecode(b"b\xff")
    (runs / "run-0").rename(runs / label)
    for command in (["list"], ["show", label], ["compare", label, "run-1"], ["prune", label]):
        assert "b\\udcff" in works("runs", *command)
    works("runs", "compare", label, "run-1", "--plot", "curves.svg")
    assert b"b\\udcff" in Path("curves.svg").read_bytes()


def test_prune_folders_by_state(runs, works):
    assert "left alone" in works("runs", "prune", "--state", "unfinished", "--folders", "--yes")
    assert (runs / "run-2" / "checkpoint.safetensors").exists()
    past = time.time() - 3 * 86400
    for path in (runs / "run-2").iterdir():
        os.utime(path, (past, past))
    arguments = ("runs", "prune", "--state", "unfinished", "--state", "finished", "--folders", "--yes")
    assert "0 runs" in works(*arguments, "--older-than", "4")
    assert "1 run" in works(*arguments, "--older-than", "2")
    assert not (runs / "run-2").exists()
    works(*arguments, "run-1")
    assert {path.name for path in runs.iterdir()} == {"run-0", "broken", "notes"}
    works("runs", "prune", "--state", "damaged", "--folders", "--yes")
    assert {path.name for path in runs.iterdir()} == {"run-0", "notes"}
    assert (runs / "notes" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "--runs-dir", "nothing"], "--runs-dir"),
        (["show"], "LABEL"),
        (["show", "run-9"], "did you mean 'run-"),
        (["show", "run"], "the beginning of 3 labels"),
        (["show", "notes"], "unknown run 'notes'"),
        (["show", "run-0", "--plot", "curves.txt"], ".png, .svg or .pdf"),
        (["show", "broken", "--plot", "curves.png"], "no whole epoch yet"),
        (["show", "run-0", "--plot", "file/curves.png"], "file/curves.png"),
        (["compare", "run-0"], "at least two"),
        (["compare", "run-0", "runs/run-0"], "at least two"),
        (["compare"], "LABELS"),
        (["prune", "--state", "old"], "--state"),
        (["prune", "--older-than", "-1"], "--older-than"),
        (["prune", "run-9", "--yes"], "unknown run"),
        (["lst"], "did you mean 'list'"),
    ],
    ids=" ".join,
)
def test_errors(runs, refused, arguments, words):
    Path("file").write_text("")
    before = tree()
    assert words in refused("runs", *arguments).replace(os.sep, "/")
    assert tree() == before


def test_an_empty_folder(works):
    Path("runs").mkdir()
    assert json.loads(works("runs", "list", "--json")) == []
    assert (
        works("runs", "list") == "there are no runs in runs; `adelic train schubert --n 4 --recipe quick` makes one\n"
    )
    (line,) = works("runs", "list", "--searches").splitlines()
    assert line.startswith("there are no searches in runs; `adelic tune ")
    assert "0 runs" in works("runs", "prune")


@pytest.fixture
def search(runs):
    """Return the label of the search of a model outside the Transformer, which has two finished runs."""
    experiments = [
        Experiment(data=TaskData("schubert", 3), model=Classical(name="majority"), recipe=RandomSearch(), seed=seed)
        for seed in range(2)
    ]
    for experiment in experiments:
        run(experiment, runs / experiment.label)
    return experiments[0].search_label


@pytest.fixture
def study(runs):
    """Return the file of a study of `adelic tune` with one trial, of long ago."""
    path = runs / "tune" / "mine-study.db"
    path.parent.mkdir()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name="mine-study", direction="maximize")
    study.add_trial(optuna.trial.create_trial(value=0.875))
    os.utime(path, (0, 0))
    return path


def test_show_says_what_a_search_is(runs, works, refused, search, study):
    for name in (search, runs / search, runs / search / "trials.jsonl"):
        out = works("runs", "show", name)
        where = str(runs / search / "trials.jsonl")
        assert out.startswith(f"{where}: the search of a model outside the Transformer, 1 trial, best validation accur")
        assert f"it chooses the options of {search}-seed0, {search}-seed1; `adelic runs show` shows each" in out
    for name in ("mine-study", "mine", study):
        out = works("runs", "show", name)
        assert out.startswith(f"{study}: a search of `adelic tune`, 1 trial, best validation accuracy 87.50%, ")
    shown = json.loads(works("runs", "show", "mine-study", "--json"))
    assert (shown["kind"], shown["best"], shown["state"]) == ("search", 0.875, "unfinished")
    assert "is a search, and has no learning curves" in refused("runs", "show", search, "--plot", "curves.png")
    assert f"{search}-seed0: finished" in works("runs", "show", f"{search}-seed0")
    beginning = refused("runs", "show", search[:-1])
    assert f"is the beginning of 3 labels: {search}-seed0, {search}-seed1, {search}" in beginning
    assert "did you mean 'mine-study'? runs and searches in runs: " in refused("runs", "show", "mine-stdy")
    study.write_bytes(b"")
    assert "a search of `adelic tune`, damaged" in works("runs", "show", "mine-study")


def test_a_search_is_not_compared_as_its_run(runs, works, refused, search):
    assert "is a search, not a run; `adelic runs show` shows what it is" in refused("runs", "compare", search, "run-0")
    assert f"1: {search}-seed0" in works("runs", "compare", f"{search}-seed0", "run-0")


def test_list_has_searches_in_json(runs, works, search, study):
    listed = json.loads(works("runs", "list", "--json"))
    kinds = {entry["label"]: (entry["kind"], entry["state"]) for entry in listed}
    assert (
        kinds.items()
        >= {
            "run-0": ("run", "finished"),
            f"{search}-seed0": ("run", "finished"),
            search: ("search", "finished"),
            "mine-study": ("search", "unfinished"),
        }.items()
    )
    alone = json.loads(works("runs", "list", "--json", "--searches"))
    assert {entry["label"] for entry in alone} == {search, "mine-study"}


def test_prune_deletes_searches_with_folders(runs, works, search, study):
    assert "search" not in works("runs", "prune")
    assert "left alone, since a search has no checkpoint; --folders deletes it" in works("runs", "prune", search)
    out = works("runs", "prune", search, "mine-study", "--folders")
    assert f"would delete search {runs / search / 'trials.jsonl'} (finished, " in out
    assert f"left alone, since it counts as unfinished; --state unfinished deletes it: {study}" in out
    assert "of 0 runs and 1 search; --yes deletes" in out
    assert "of 0 runs;" in works("runs", "prune", search, "--folders", "--older-than", "1")
    (runs / search / "trials.jsonl.bak").write_text("mine")
    works("runs", "prune", search, "--folders", "--yes")
    assert [path.name for path in (runs / search).iterdir()] == ["trials.jsonl.bak"]
    assert (runs / f"{search}-seed0" / "DONE").exists()
    assert study.exists()
    assert "and 1 search" in works("runs", "prune", "--state", "unfinished", "--folders", "--yes")
    assert not study.parent.exists()


def test_a_search_that_may_be_needed_is_not_pruned(runs, works, search, study):
    """A run that waits for it is not finished, or a study was written to in the last minutes."""
    (runs / f"{search}-seed1" / "DONE").unlink()
    os.utime(study)
    before = tree()
    works("runs", "prune", search, "--folders", "--yes")
    out = works("runs", "prune", search, "mine-study", "--state", "unfinished", "--folders", "--yes")
    assert out.count("left alone, since it may be running") == 2
    assert tree() == before
    study.write_bytes(b"")
    works("runs", "prune", "mine-study", "--state", "damaged", "--folders", "--yes")
    assert not study.exists()


def test_time_left_of_a_resumed_run(monkeypatch):
    """Resumed at 900 of 1,000 steps, two seconds a step: what was done before says nothing about the speed."""
    now, bars = [0.0], []
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, to rich

    class Recorded(options.Progress):
        def __init__(self, *columns, **settings):
            super().__init__(*columns, **settings)
            bars.append(self)

    monkeypatch.setattr(options, "Progress", Recorded)
    with options.progress_bar("run") as progress:
        for done in range(901, 911):
            now[0] += 2
            progress(done, 1000, "epoch 10/10")
        assert bars[0].tasks[0].time_remaining == pytest.approx(180, abs=1)


def test_names_stand_in_a_progress_bar_as_they_are(capsys):
    with options.progress_bar("[bold]x\x1b[31m") as progress:
        progress(1, 1, "[/y]")
    assert r"[bold]x\x1b[31m" in capsys.readouterr().err


def test_a_name_that_ends_like_an_option_is_left_as_it_is():
    steps = click.Option(["--steps"])
    assert options.with_options("warmup-steps=-1 and steps=0", [steps]) == "warmup-steps=-1 and --steps 0"


def test_tensorboard_by_flag(works):
    works(*TRAIN, "--tensorboard", "--run-dir", "mine")
    assert len(list(Path("mine/tensorboard").glob("events.out.tfevents.*"))) == 1
