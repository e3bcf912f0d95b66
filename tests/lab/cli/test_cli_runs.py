import io
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import rich.progress
from PIL import Image

from adelic.cli.options import with_options
from adelic.cli.progress import progress_bar
from adelic.data.sources import TaskData
from adelic_lab import Classical, EmbeddingConfig, Experiment, RandomSearch, load_recipe, run
from adelic_lab.config.options import Setting
from adelic_lab.search.studies import run_study

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


def test_a_name_that_no_file_can_have(runs, refused):
    assert "cannot read the run 'xxx" in refused("runs", "show", "x" * 300)


def test_control_codes_of_names_are_escaped_and_brackets_are_no_markup(runs, works):
    (runs / "run-0").rename(runs / "evil[bold]\x1b[31m")
    for command in (["list"], ["show", "evil"]):
        out = works("runs", *command)
        assert "\x1b" not in out
        assert "evil[bold]\\x1b[31m" in out
    works("runs", "show", "evil", "--plot", "evil.svg")
    assert b"evil[bold]\\x1b[31m" in Path("evil.svg").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="such names are Linux's")
def test_a_label_that_is_not_utf8(runs, works):
    label = os.fsdecode(b"b\xff")
    (runs / "run-0").rename(runs / label)
    for command in (["list"], ["show", label]):
        assert "b\\udcff" in works("runs", *command)
    works("runs", "show", label, "--plot", "curves.svg")
    assert b"b\\udcff" in Path("curves.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "--runs-dir", "nothing"], "--runs-dir"),
        (["list", "--runs-dir", "file"], "--runs-dir"),
        (["show"], "LABEL"),
        (["show", "run-9"], "did you mean 'run-"),
        (["show", "run"], "the beginning of 3 labels"),
        *((["show", name], f"unknown run '{name}'") for name in ("notes", "file", "..")),
        (["show", "run-0", "--plot", "curves.txt"], ".png, .svg or .pdf"),
        (["show", "broken", "--plot", "curves.png"], "no whole epoch yet"),
        (["show", "run-0", "--plot", "file/curves.png"], "file/curves.png"),
        (["lst"], 'Did you mean "list"'),
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
    told = "there are no runs in runs; `adelic train schubert --n 4 --recipe quick` makes one\n"
    assert works("runs", "list") == told
    (line,) = works("runs", "list", "--searches").splitlines()
    assert line.startswith("there are no searches in runs; `adelic tune ")


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
    plan = {"trials": 1, "epochs": 1, "seed": 0, "pruning": None, "progress": lambda *_: None}
    norm = {"norm": Setting(name="norm", tried=("post", "pre"))}
    run_study("mine-study", lambda *_: 0.875, norm, storage=path, **plan)
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
    assert "is a search without learning curves" in refused("runs", "show", search, "--plot", "curves.png")
    assert f"{search}-seed0: finished" in works("runs", "show", f"{search}-seed0")
    beginning = refused("runs", "show", search[:-1])
    assert f"is the beginning of 3 labels: {search}-seed0, {search}-seed1, {search}" in beginning
    assert "did you mean 'mine-study'? runs and searches in runs: " in refused("runs", "show", "mine-stdy")
    study.write_bytes(b"")
    assert "a search of `adelic tune`, damaged" in works("runs", "show", "mine-study")


def test_list_has_searches_in_json(runs, works, search, study):
    listed = json.loads(works("runs", "list", "--json"))
    kinds = {entry["label"]: (entry["kind"], entry["state"]) for entry in listed}
    assert kinds["run-0"] == kinds[f"{search}-seed0"] == ("run", "finished")
    assert (kinds[search], kinds["mine-study"]) == (("search", "finished"), ("search", "unfinished"))
    alone = json.loads(works("runs", "list", "--json", "--searches"))
    assert {entry["label"] for entry in alone} == {search, "mine-study"}


def test_time_left_of_a_resumed_run(monkeypatch):
    """Resumed at 900 of 1,000 steps, two seconds a step: what was done before says nothing about the speed."""
    now, bars = [0.0], []
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, to rich

    class Recorded(rich.progress.Progress):
        def __init__(self, *columns, **settings):
            super().__init__(*columns, **settings)
            bars.append(self)

    monkeypatch.setattr(rich.progress, "Progress", Recorded)
    with progress_bar("run") as progress:
        for done in range(901, 911):
            now[0] += 2
            progress(done, 1000, "epoch 10/10")
        assert bars[0].tasks[0].time_remaining == pytest.approx(180, abs=1)


def test_names_stand_in_a_progress_bar_as_they_are(capsys):
    with progress_bar("[bold]x\x1b[31m") as progress:
        progress(1, 1, "[/y], validation 1 %")
    assert r"[bold]x\x1b[31m" in capsys.readouterr().err


def test_a_name_that_ends_like_an_option_is_left_as_it_is():
    assert with_options("warmup-steps=-1 and steps=0", {"steps": "--steps"}) == "warmup-steps=-1 and --steps 0"


def test_tensorboard_by_flag(works):
    works(*TRAIN, "--tensorboard", "--run-dir", "mine")
    assert len(list(Path("mine/tensorboard").glob("events.out.tfevents.*"))) == 1
