import json
import os
import signal
import tomllib
from pathlib import Path

import pytest

from adelic_lab.search import tuning
from adelic_lab.search.dimensions import DIMENSIONS, OF_SOLVERS

TINY = ["schubert", "--n", "3", "--recipe", "quick", "--epochs", "1", "--n-layers", "1", "--device", "cpu"]
TUNE = ["tune", *TINY, "--embedding", "learned", "--search", "learning-rate,norm", "--trials", "2"]
FILE = Path("recipes/schubert-3-learned.toml")


def test_tune_and_train_with_it(works, refused, folder):
    out = works(*TUNE, "--plot", "study.png")
    assert "2 trials, 0 of them pruned" in out
    last = out.splitlines()[-1]
    assert last == f"train with it: adelic train schubert --n 3 --recipe {FILE}"
    assert (folder / "study.png").read_bytes().startswith(b"\x89PNG")
    (storage,) = (folder / "runs" / "tune").iterdir()
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))
    assert storage.name == found["study"]["name"] + ".db"
    assert found["embedding"] == {"name": "learned"}

    assert works(*TUNE, "--plot", "study.png") == out
    assert tomllib.loads(FILE.read_text(encoding="utf-8")) == found

    works("train", *TINY[:3], "--recipe", FILE, "--device", "cpu", "--run-dir", "mine")
    result = json.loads(Path("mine/result.json").read_text(encoding="utf-8"))
    chosen = {key: value for key, value in result["configuration"]["recipe"].items() if key != "name"}
    assert chosen == found["recipe"]
    assert result["embedding"] == "learned"
    assert f"--recipe {FILE}" in result["command"]
    # The search has seen what the run sees: the same data, seed and weights.
    assert result["validation"]["accuracy"] == found["study"]["best"]["validation_accuracy"]

    assert "another study" in refused(*TUNE, "--seed", "1")
    assert "no data base" not in works(*TUNE[:-1], "3")


def test_the_hint_names_the_data_that_the_recipe_was_found_with(works, folder):
    orbits = ["--edition", "corrected", "--split", "orbits", "--symmetries"]
    out = works("tune", *TINY, "--trials", "1", "--search", "norm", "--embedding", "learned", *orbits)
    file = Path("recipes/schubert-3-corrected-learned.toml")
    hint = f"train with it: adelic train schubert --n 3 --edition corrected --split orbits --recipe {file}"
    assert out.splitlines()[-1] == hint
    works(*hint.removeprefix("train with it: adelic ").split(), "--device", "cpu", "--epochs", "1")


def test_tune_a_drawn_task_and_train_with_it(works, folder):
    """The trained network is the best trial's: the same questions, seed and weights."""
    data = ["gcd", "--examples", "300", "--test-cases", "100", "--task-options", "limit=2000"]
    sizes = ["--batch-size", "50", "--n-layers", "1", "--n-heads", "2", "--d-model", "16", "--device", "cpu"]
    out = works(
        "tune", *data, *sizes, "--embedding", "base-digits", "--epochs", "2", "--search", "learning-rate", "--trials", 2
    )
    assert "2 trials, 0 of them pruned (*); 600 examples trained on in" in out
    file = Path("recipes/gcd-300-limit-2000-base-digits.toml")
    hint = out.splitlines()[-1].removeprefix("train with it: adelic ")
    assert hint == f"train {' '.join(data)} --recipe {file}"
    works(*hint.split(), "--device", "cpu", "--run-dir", "mine", "--never-seen-cases", "50")
    result = json.loads(Path("mine/result.json").read_text(encoding="utf-8"))
    best = tomllib.loads(file.read_text(encoding="utf-8"))["study"]["best"]
    assert result["validation"]["accuracy"] == best["validation_accuracy"]


def test_tune_a_solver_and_train_with_it(works, folder):
    data = ["addition", "--examples", "300", "--test-cases", "100", "--confirmation-cases", "100"]
    options = ["--search", "steps=0.5:1.0,learning-rate", "--trials", "2", "--steps", "20"]
    out = works("tune", *data, "--solver", "fone-placewise", *options)
    assert "2 trials, 0 of them pruned (*); trained in" in out
    hint = out.splitlines()[-1].removeprefix("train with it: adelic ")
    found = tomllib.loads(Path("recipes/addition-300-fone-placewise.toml").read_text(encoding="utf-8"))
    rate, steps = found["recipe"]["learning_rate"], found["recipe"]["steps"]
    assert hint == f"train {' '.join(data)} --solver fone-placewise --steps {steps} --learning-rate {rate} --seed 0"
    works(*hint.split(), "--run-dir", "mine")
    result = json.loads(Path("mine/result.json").read_text(encoding="utf-8"))
    assert result["configuration"]["recipe"] == {"name": "steps", "steps": steps, "learning_rate": rate}
    assert result["command"] == f"adelic {hint}"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["fone", "--bases", "2-5", "--standardize"], "fone:bases=2-5:standardize"),
        (["periodic", "--sigma", "0.3", "--published"], "periodic:sigma=0.3:published"),
        (["base-digits", "--base", "30"], "base-digits:base=30"),
        (["base-digits", "--base", "10"], "base-digits:base=10"),  # the default, and named
        (["residues", "--n-primes", "25"], "residues:n_primes=25"),
        (["adelic", "--projection", "linear", "--gain", "3"], "adelic:projection=linear:gain=3"),
        (["adelic", "--features", "characters", "--places", "late"], "adelic:characters:late"),
    ],
)
def test_the_file_of_a_form_is_that_which_reproduce_reads(works, folder, options, name):
    works("tune", *TINY, "--trials", "1", "--search", "norm", "--embedding", *options)
    (path,) = (folder / "recipes").iterdir()
    assert path.name == f"schubert-3-{name.replace(':', '-')}.toml"
    path.rename(path.with_name(path.name.replace("schubert-3", "schubert-4")))  # a row of the paper
    given = ["--embeddings", name, "--recipe", "recipes/{row}-{embedding}.toml"]
    (line,) = works("reproduce", "schubert-4", *given, "--dry-run").splitlines()
    assert f"--recipe recipes/schubert-4-{name.replace(':', '-')}.toml" in line


def test_a_storage_and_an_output(works, folder):
    command = TUNE[:-1]
    works(*command, "1", "--storage", "sqlite:///mine.db", "--output", "new/mine.toml")
    assert (folder / "mine.db").is_file()
    assert not (folder / "runs").exists()
    out = works(*command, "2", "--storage", "mine.db", "--output", "new/mine.toml", "--pruning", "median")
    assert "2 trials" in out
    assert len(tomllib.loads(Path("new/mine.toml").read_text(encoding="utf-8"))["study"]["trials"]) == 2


@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
@pytest.mark.parametrize("options", [[], ["--max-rows 20", "--compute bfloat16"]])
def test_the_recorded_command_repeats_the_study(works, options):
    works(*TUNE, *" ".join(options).split())
    before = FILE.read_text(encoding="utf-8")
    study = tomllib.loads(before)["study"]
    assert all(f" {option} " in study["command"] for option in options)
    works(*study["command"].split()[1:], "--device", "cpu")
    assert FILE.read_text(encoding="utf-8") == before


def test_help_lists_every_dimension(works):
    out = works("tune", "--help")
    lines = [line for line in out.splitlines() if not line.startswith("  --")]
    for name, dimension in [*DIMENSIONS.items(), *OF_SOLVERS.items()]:
        line = next(line for line in lines if line.split()[:1] == [name])
        lines.remove(line)
        assert str(dimension) in line
        assert ("*" in line.split()) == dimension.starred


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trials", "0"], "--trials 0"),
        (["--trials", "x"], "--trials"),
        (["--search", "sigma", "--embedding", "periodic", "--sigma", "1"], "drop --sigma"),
        (["--search", "epochs=0.5:9"], "--search epochs=0.5:9 is not a part of epochs"),
        (["--search", "epochs=0.5:9"], "write --search epochs=0.25:0.5, or epochs alone"),
        (["--storage", ""], "--storage: the text is empty"),
        (["--search", "norm,learning-rate", "--learning-rate", "1e-3"], "drop --learning-rate"),
        (["--storage", "nonsense://me:word@there"], "--storage"),
        (["--storage", "file"], "cannot use"),
        (["--storage", "file/x.db"], "cannot write"),
        (["--output", "file.toml"], "is not a recipe"),
        (["--output", "best.csv"], "--output best.csv is to be a file in TOML: give it a name that ends in .toml"),
        (["--output", "file/best.toml"], "cannot write file/best.toml: "),
        (["--plot", "file/study.png"], "cannot write file/study.png: "),
        (["--recipe", "none.toml"], "there is no recipe none.toml"),
        (["--recipe", "file.toml"], "file.toml is not a recipe"),
        (["--plot", ""], "--plot: the name is empty; name a file or a folder"),
        (["--plot", "z" * 300], "File name too long"),
        (["--plot", "study.xyz"], "give it a name that ends in .png, .svg or .pdf"),
    ],
    ids=str,
)
def test_errors_of_tuning(refused, folder, arguments, words):
    for name in ("file", "file.toml"):
        (folder / name).write_text("no TOML, and no data base; " * 100)
    assert words in refused(*TUNE, *arguments)
    assert not FILE.exists()


def test_a_recipe_and_a_picture_go_to_devices(works, folder, make_device):
    for name in ("recipe", "picture"):
        make_device(folder / name)
    assert "wrote picture" in works(*TUNE, "--output", "recipe", "--plot", "picture")
    assert all((folder / name).is_char_device() for name in ("recipe", "picture"))


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_an_interrupted_study_says_that_it_can_go_on(adelic, works, monkeypatch):
    """Ctrl-C within the second trial, of one step, which is finished; then the same command writes the recipe."""
    train = tuning.train_trial
    begun = []

    def interrupted(*arguments):
        begun.append(arguments)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return train(*arguments)

    monkeypatch.setattr(tuning, "train_trial", interrupted)
    outcome = adelic(*TUNE)
    assert outcome.status == 128 + signal.SIGINT
    assert "Traceback" not in outcome.err
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("adelic: ")]
    assert "interrupted" in line
    assert not FILE.exists()
    works(*TUNE)
    study = tomllib.loads(FILE.read_text(encoding="utf-8"))["study"]
    assert (study["failed"], len(study["trials"]), len(begun)) == (0, 2, 2)
